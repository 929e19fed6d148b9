"""Positions in which a wrong move costs, and how agents do in them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np

import agents
from agents.arena.statistics.estimates import Estimate, mean_points, wilson
from agents.spec import AgentSpec
from exact import lane, wall
from exact.solving import Solver, state_of
from mcts_envs.core.contract import Game
from mcts_envs.core.view import View

_AS_GOOD = 1e-3
"""Points; moves that lose less count as best."""

_SECONDS_BETWEEN_LINES = 10.0


@dataclass(frozen=True)
class Question:
    """A position, and what each legal action is worth to the player to move: 1 a win, 0.5 a tie, 0 a loss.

    ``illegal`` is what any other action is worth, where the game takes it.
    """

    at: dict[str, Any]
    moves: dict[int, float]
    illegal: float | None = None

    def loss(self, action: int) -> float:
        """Return what an action loses.

        Raises
        ------
        ValueError
            If it is illegal, and the game does not take it.
        """
        worth = self.moves.get(action, self.illegal)
        if worth is None:
            raise ValueError(f"action {action} is illegal in {self.at}; legal are {[*self.moves]}")
        return max(self.moves.values()) - worth


def on_walls(size: int, wanted: int, seed: int, steps: int) -> Iterator[Question]:
    """Yield positions in which not all moves are worth the same, from random games on boards drawn at random.

    Of each game one, drawn among its positions of that kind: those of one game are alike. There may be fewer than are
    wanted.
    """
    game, rng, starts, found = wall.game_of(size), np.random.default_rng(seed), [*wall.boards(size)], 0
    solver = Solver(game, steps)
    for _ in range(20 * wanted):
        board = starts[int(rng.integers(len(starts)))]
        states = [*wall.played_from(game, state_of(game, wall.position(board, size)), rng)]
        for i in rng.permutation(len(states)):
            moves = solver.moves(states[i])
            if moves is not None and len({*moves.values()}) > 1:
                yield Question(dict(game.position(states[i])), {move: (w + 1) / 2 for move, w in moves.items()})
                found += 1
                break
        if found == wanted:
            return


def on_lanes(wanted: int, seed: int) -> Iterator[Question]:
    """Yield positions in which the worst move costs a hundredth of a point, of each game one, drawn at random."""
    game, rng, found = lane.game_of(), np.random.default_rng(seed), 0
    survival = lane.Survival(game)
    while found < wanted:
        asked = [
            Question(at, moves := survival.moves(at), illegal=moves[lane.WAIT])
            for at in lane.played(survival, game, rng)
        ]
        costly = [each for each in asked if max(each.moves.values()) - min(each.moves.values()) > 0.01]
        if costly:
            yield costly[int(rng.integers(len(costly)))]
            found += 1


def heard(questions: Iterable[Question], count: int, what: str, say: Callable[[str], None]) -> Iterator[Question]:
    """Yield questions, and say now and then how many of so many there were."""
    said = monotonic()
    for number, question in enumerate(questions):
        if monotonic() - said > _SECONDS_BETWEEN_LINES:
            say(f"{what}: {number} of {count} positions")
            said = monotonic()
        yield question


@dataclass(frozen=True)
class Judged:
    """How an agent does: the share of best moves, and what its moves lose, in points."""

    label: str
    settings: str
    best: Estimate
    regret: Estimate


def check(game: Game, specs: Sequence[AgentSpec]) -> None:
    """Ask agents for a move on a start board, so that mistakes are found before anything is solved."""
    state = game.new_state()
    game.restart(state, 0)
    for spec in specs:
        agents.make(spec.name, **spec.settings).act(View(game, state, int(game.active(state)) >> 1))


def judge(
    game: Game, asked: Sequence[Question], specs: Sequence[AgentSpec], say: Callable[[str], None]
) -> Iterator[Judged]:
    """Ask agents for a move in each position, and yield how they do; what uniform choice would lose comes first."""
    lost = [[question.loss(action) for action in question.moves] for question in asked]
    share = float(np.mean([np.mean([loss < _AS_GOOD for loss in losses]) for losses in lost]))
    regret = float(np.mean([np.mean(losses) for losses in lost]))
    yield Judged("a random move", "", Estimate(share, share, share), Estimate(regret, regret, regret))
    for spec in specs:
        agent, losses = agents.make(spec.name, **spec.settings), []
        for number, question in enumerate(heard(asked, len(asked), spec.label, say)):
            agent.reseed(number)
            state = state_of(game, question.at)
            action = agent.act(View(game, state, int(game.active(state)) >> 1))
            losses.append(question.loss(action))
        right = sum(loss < _AS_GOOD for loss in losses)
        settings = ", ".join(f"{name}={value}" for name, value in spec.settings.items())
        say(f"{spec.label}: {100 * right / len(losses):.1f} % best moves")
        yield Judged(spec.label, settings, wilson(right, len(losses)), mean_points(losses))
