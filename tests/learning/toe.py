"""Tic-tac-toe by file: ``tests/learning/toe.py:ToeByFile-v0``."""

import mcts_envs
from tests.toys import tic_tac_toe

mcts_envs.register("ToeByFile-v0", tic_tac_toe())
