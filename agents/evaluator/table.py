"""What evaluators that are asked in compiled code have in common: a game, and a table of what was said."""

import math
from typing import Any, ClassVar

import numpy as np

from agents.evaluator.bound import Bound
from agents.evaluator.consult import EVALUATOR, network_advice, network_values
from mcts_envs.core.contract import Game

_BYTES = 2**24


class TableEvaluator:
    """Base of evaluators that are the ``advise`` and ``evaluate`` of a game.

    Parameters
    ----------
    game : Game
        Shows what the network sees; its legal actions are those that the network chooses among.
    **fields
        Of the record :data:`agents.evaluator.consult.EVALUATOR`.

    Attributes
    ----------
    name : str
        How the network is run; search results bear it.
    waits : int
        The setting ``waits`` of a search.
    rewards : tuple of pairs
        What values are made of, by field of the state, where the game has others.
    """

    name: ClassVar[str]
    waits = 0
    rewards: tuple[tuple[str, float], ...] = ()
    _bound: ClassVar[type[Bound]] = Bound

    def __init__(self, game: Game, **fields: Any) -> None:
        words = 2 + game.actions // 2
        rows = 2 ** int(math.log2(_BYTES / (8 * words)))
        self.game, self._game_table, self._table = game, game.table, np.zeros(rows * words, np.uint64)
        given = {
            "game": self._game_table.ctypes.data,
            "actions": game.actions,
            "opposed": game.players == 2 and len(game.teams) == 2,
            "inputs": math.prod(game.observation_shape),
            "table": self._table.ctypes.data,
            "rows": rows,
            "words": words,
            **fields,
        }
        self._record = np.zeros(1, EVALUATOR)
        for name, value in given.items():
            self._record[name] = value

    @property
    def advise(self) -> Bound:
        """The network's prior, in place of a game's ``advise``; not kept, or table and kernel would hold each other."""
        return self._bound(network_advice, self._address, self)

    @property
    def evaluate(self) -> Bound:
        """The network's value, in place of a game's ``evaluate``."""
        return self._bound(network_values, self._address, self)

    @property
    def _address(self) -> int:
        return int(self._record.ctypes.data)

    def forget(self) -> None:
        """Empty the table: the network, or the game, has changed."""
        self._table[:] = 0
