"""Comparisons in games for two: games, players with accidents, and results by hand."""

import os
from collections.abc import Mapping
from dataclasses import replace

import gymnasium

from agents.arena import AgentSpec, Plan, parse_agent
from agents.arena.rows import Row, Seat
from mcts_envs.core.contract import STEP
from mcts_envs.core.kernel import kernel
from mcts_envs.core.players import BuiltIn
from mcts_envs.core.view import View
from tests import toys


@kernel(STEP)
def step_paid(state, actions, rewards):  # type: ignore[no-untyped-def]
    mover = 1 if toys.ttt_active(state) == 2 else 0
    toys.ttt_step(state, actions, rewards)
    rewards[mover] += 0.125


class Paid(toys.TicTacToe):
    """Tic-tac-toe in which every move is paid."""

    make_game = staticmethod(lambda: replace(toys.tic_tac_toe(), step=step_paid))


TURNS, PAID, AT_ONCE, THREE = "Turns-v0", "Paid-v0", "AtOnce-v0", "Three-v0"
for id, game in ((TURNS, toys.TicTacToe), (PAID, Paid), (AT_ONCE, toys.Tron), (THREE, toys.Stakes)):
    gymnasium.register(id, game)


class Fake(BuiltIn):
    """A random player; one that takes the lowest legal action; or one with an accident in its second move."""

    def __init__(self, lowest: bool = False, accident: str = "", every: int = 5) -> None:
        super().__init__("random")
        self.lowest, self.accident, self.every, self.moves, self.seed = lowest, accident, every, 0, 0

    def reseed(self, seed: int) -> None:
        super().reseed(seed)
        self.moves, self.seed = 0, seed

    def act(self, env: object) -> int:
        self.moves += 1
        if self.accident and self.seed and self.seed % self.every == 0 and self.moves == 2:
            if self.accident == "raise":
                raise RuntimeError("the agent broke")
            os._exit(3)
        view: View = env.unwrapped.view()  # type: ignore[attr-defined]
        return int(view.legal_actions()[0]) if self.lowest else super().act(env)


def make_fake(spec: AgentSpec) -> Fake:
    return Fake(**spec.settings)


def fakes(*texts: str, id: str = TURNS, **more: object) -> Plan:
    return Plan(id, tuple(parse_agent(text) for text in texts), make=make_fake, **more)  # type: ignore[arg-type]


def by_hand(outcomes: Mapping[tuple[str, str], list[float]], broken: tuple[str, str, int] | None = None) -> dict:
    """Return rows in which the first seat had these outcomes on boards 0, 1, ..."""
    rows = {}
    for (first, second), given in outcomes.items():
        for board, points in enumerate(given):
            costs = {"length": 4, "decisions": 2, "model_steps": 30}
            seats = [Seat(first, 1, points, seconds=0.004, **costs), Seat(second, 2, 1 - points, seconds=1.0, **costs)]
            row = Row(board, 0, seats)
            if broken == (first, second, board):
                row.last_asked, row.error = 1, {"type": "OSError", "message": "no more", "traceback": ""}
            rows[row.key] = row
    return rows
