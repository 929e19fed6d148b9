"""Exact values of walls, by alpha-beta to the end of the game."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import agents
from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Bytes
from mcts_envs.core.view import View

_TABLE = 2**20


@dataclass(frozen=True)
class Worth:
    """What a position is worth.

    Attributes
    ----------
    value : int, optional
        1: the player to move wins; 0: it is a tie; -1; None: not found within the steps that were allowed.
    plies : int, optional
        To the end of a won or lost game, both playing for it: the winner soonest, the loser latest.
    steps : int
        Of the model that it took.
    """

    value: int | None
    plies: int | None
    steps: int


class Solver:
    """Solves positions of a game of two in turns without chance, in which one wins what the other loses.

    Parameters
    ----------
    game : Game
    steps : int
        Of the model, for a position at most.
    """

    def __init__(self, game: Game, steps: int) -> None:
        self.game, self.steps = game, steps
        self._agent = agents.make("alpha_beta", depth=64, margin=None, max_steps=steps, table_size=_TABLE)

    def worth(self, state: Bytes) -> Worth:
        """Return what a state is worth to the player to move; at the end of a game, to the second player."""
        to_move = int(self.game.active(state))
        if not to_move:
            points = np.zeros(2)
            self.game.outcome(state, points)
            return Worth(int(np.sign(points[1] - points[0])), 0, 0)
        found = self._agent.search(View(self.game, state, to_move >> 1))
        known = found.end_in is not None or found.steps < self.steps
        value = (round(found.value) if found.end_in is None else int(np.sign(found.value))) if known else None
        return Worth(value, found.end_in, found.steps)

    def moves(self, state: Bytes) -> dict[int, int] | None:
        """Return what each legal action is worth to the player to move; None if one is not found."""
        mover, legal = int(self.game.active(state)) >> 1, np.zeros(self.game.actions, np.int64)
        found = {}
        for action in legal[: self.game.legal(state, mover, legal)]:
            after, rewards = state.copy(), np.zeros(2)
            self.game.step(after, np.full(2, action), rewards)
            worth = self.worth(after).value
            if worth is None:
                return None
            found[int(action)] = worth if not self.game.active(after) and mover == 1 else -worth
        return found


def state_of(game: Game, at: dict[str, Any]) -> Bytes:
    """Return the state of a position."""
    state: Bytes = game.new_state()
    game.restart(state, 0)
    game.place(state, at)
    return state
