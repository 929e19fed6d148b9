"""Quitters, a game for four or for two teams, and plans of comparisons in it."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from agents.arena import AgentSpec, Plan, parse_agent, parse_meeting
from agents.arena.lineups import Lineup
from agents.arena.rows import Seat
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.contract import ACTIVE, LEGAL, OUTCOME, RESET, STATUS, STEP, Game, blank, state_dtype
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.players import BuiltIn
from mcts_envs.core.rng import seed_stream
from tests import toys

# Quitters: four players choose at once between going (0) and staying (1); the last who stays wins; after six steps
# those who have stayed share the win. In teams everybody plays on until one team has gone.

QUITTERS = state_dtype([("alive", "u1"), ("t", "u1"), ("over", "u1"), ("in_teams", "u1")])
LIMIT, FIRST_TEAM = 6, 0b0101


@kernel(RESET)
def quit_reset(state, seed):  # type: ignore[no-untyped-def]
    seed_stream(state, seed)
    s = record(state, QUITTERS)
    s.alive, s.t, s.over = 15, 0, 0


@kernel(ACTIVE)
def quit_active(state):  # type: ignore[no-untyped-def]
    s = record(state, QUITTERS)
    return 0 if s.over else s.alive


@kernel(LEGAL)
def quit_legal(state, player, actions):  # type: ignore[no-untyped-def]
    actions[0], actions[1] = 0, 1
    return 2


@kernel(STEP)
def quit_step(state, actions, rewards):  # type: ignore[no-untyped-def]
    s = record(state, QUITTERS)
    rewards[:] = 0.0
    if s.over:
        return
    alive = s.alive
    for player in range(4):
        if alive >> player & 1 and actions[player] == 0:
            alive -= 1 << player
    s.alive = alive
    s.t += 1
    one_team = alive & FIRST_TEAM == 0 or alive & ~FIRST_TEAM == 0
    if s.t == LIMIT or (one_team if s.in_teams else alive & (alive - 1) == 0):
        s.over = 1


@kernel(STATUS)
def quit_status(state, player):  # type: ignore[no-untyped-def]
    s = record(state, QUITTERS)
    return np.int64(s.over or (not s.in_teams and s.alive >> player & 1 == 0))


@kernel(OUTCOME)
def quit_outcome(state, points):  # type: ignore[no-untyped-def]
    s = record(state, QUITTERS)
    alive = s.alive
    left = 0
    for player in range(4):
        left += alive >> player & 1
    first, second = alive & FIRST_TEAM != 0, alive & ~FIRST_TEAM != 0
    for player in range(4):
        if s.in_teams:
            own, other = (first, second) if player % 2 == 0 else (second, first)
            points[player] = 0.5 + 0.5 * (np.float64(own) - np.float64(other))
        else:
            points[player] = 1.0 / left if alive >> player & 1 else 0.0


def quitters(in_teams: bool = False) -> Game:
    state = blank(QUITTERS)
    record(state, QUITTERS).in_teams = in_teams
    return Game(
        name="quitters",
        players=4,
        actions=2,
        template=state,
        reset=quit_reset,
        active=quit_active,
        legal=quit_legal,
        step=quit_step,
        status=quit_status,
        outcome=quit_outcome,
        simultaneous=True,
        teams=((0, 2), (1, 3)) if in_teams else (),
        position=lambda state: {"alive": int(record(state, QUITTERS).alive), "t": int(record(state, QUITTERS).t)},
    )


class Quitters(GameEnv):
    """Quitters."""

    make_game = staticmethod(quitters)


QUIT, TURNS, BOMBER, TEAM = "Quitters-v0", "ThreeStakes-v0", "Bomber-v0", "BomberTeam-v0"
for id, game in ((QUIT, Quitters), (TURNS, toys.Stakes)):
    gymnasium.register(id, game)


class Quitter(BuiltIn):
    """Goes in its move number ``at`` (0: never; -1: at random); or breaks in its second move where its seed allows."""

    def __init__(self, at: int = -1, breaks: bool = False) -> None:
        super().__init__("random")
        self.at, self.breaks, self.moves, self.seed = at, breaks, 0, 0

    def reseed(self, seed: int) -> None:
        super().reseed(seed)
        self.moves, self.seed = 0, seed

    def act(self, env: Any) -> int:
        self.moves += 1
        if self.breaks and self.moves == 2 and self.seed and self.seed % 5 == 0:
            raise RuntimeError("the agent broke")
        return super().act(env) if self.at < 0 else int(self.moves != self.at)


def make_quitter(spec: AgentSpec) -> Quitter:
    return Quitter(**spec.settings)


def quit_plan(agents: str, against: str | None = None, in_teams: bool = False, **more: Any) -> Plan:
    specs, labels = parse_meeting(agents, against)
    settings = {"in_teams": True} if in_teams else {}
    return Plan(more.pop("id", QUIT), specs, settings, make=make_quitter, against=labels, **more)


def labels_of(agents: Sequence[AgentSpec]) -> str:
    return "".join(spec.label for spec in agents)


def specs(text: str) -> tuple[AgentSpec, ...]:
    return tuple(map(parse_agent, text))


def met(plan_lineups: Sequence[Lineup]) -> list[str]:
    return ["-".join(map(labels_of, lineup)) for lineup in plan_lineups]


def seat(label: str, outcome: float, ended: int = 9) -> Seat:
    return Seat(label, 1, outcome, ended=ended, length=4, decisions=2, seconds=0.004, model_steps=30)
