"""The lane games keep every law, with all their faces."""

import pytest

import mcts_envs
from mcts_envs.registry import ENTRIES


@pytest.mark.parametrize("id", [id for id in ENTRIES if "LaneDefense" in id])
def test_environments_keep_the_laws(id):
    mcts_envs.check_game(id, episodes=2)
