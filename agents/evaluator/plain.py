"""A policy in a search that is plain Python: environments that are not ours, and games that are not compiled."""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.evaluator.batched import Consulted, consult
from mcts_envs.core.contract import RUNNING, Game
from mcts_envs.core.typing import Floats, Singles

_KEPT = 100_000

_BYTES = 2**28
"""Of the priors that are kept, at most."""


class PlainEvaluator:
    """A policy that is asked for one observation at a time; what it says of one is kept.

    Parameters
    ----------
    policy : Policy
    game : Game
        Shows what the policy sees, and what is legal for it.
    alike : callable
        ``alike(state)``: whether two players who move in turn are paid the same; by default not.
    """

    name = "plain"
    waits = 0
    rewards: tuple[tuple[str, float], ...] = ()

    def __init__(self, policy: Consulted, game: Game, alike: Callable[[Any], bool] = lambda state: False) -> None:
        self._policy, self._game, self._alike = policy, game, alike
        self._kept: dict[bytes, tuple[Floats, float]] = {}
        self._most = max(1, min(_KEPT, _BYTES // (8 * game.actions)))

    def advise(self, state: Any, player: int, weights: Any) -> None:
        """Fill in the probability of each action [A]."""
        weights[:] = self._asked(state, player)[0].tolist()

    def evaluate(self, state: Any, values: Any) -> None:
        """Fill in what a state is worth to each player [P].

        Of two, who is to move is asked, and the other has the opposite, or the same where both are paid alike; of more,
        of one team, or if both are to move, everyone who is still in the game is asked for itself.
        """
        to_move, players = int(self._game.active(state)), len(values)
        if players == len(self._game.teams) == 2 and to_move in (1, 2):
            value = self._asked(state, to_move - 1)[1]
            values[to_move - 1], values[2 - to_move] = value, value if self._alike(state) else -value
            return
        for player in range(players):
            running = self._game.status(state, player) == RUNNING
            values[player] = self._asked(state, player)[1] if running else 0.0

    def _asked(self, state: Any, player: int) -> tuple[Floats, float]:
        """Return the probability of each action and the value."""
        seen: Singles = np.zeros(int(np.prod(self._game.observation_shape)), np.float32)
        self._game.observe(state, player, seen)
        masks = self._legal(state, player)
        key = hashlib.blake2b(seen.tobytes() + masks.tobytes(), digest_size=16).digest()  # a picture has 100 KB
        if key not in self._kept:
            if len(self._kept) >= self._most:
                self._kept.clear()
            prior, values = consult(self._policy, self._game, seen[None], masks)
            self._kept[key] = prior[0], float(values[0])
        return self._kept[key]

    def _legal(self, state: Any, player: int) -> npt.NDArray[np.bool_]:
        mask = np.zeros((1, self._game.actions), bool)
        if int(self._game.active(state)) >> player & 1:
            legal = np.zeros(self._game.actions, np.int64)
            mask[0, legal[: self._game.legal(state, player, legal)]] = True
        return mask
