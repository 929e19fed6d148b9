"""Positions in which a wrong move costs, and how agents do in them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import agents
from agents.arena.spec import AgentSpec
from agents.arena.statistics import Estimate, mean_points, wilson
from exact.solving import Solver
from exact.wall import Board, boards, game_of, played_from, position, state_of
from mcts_envs.core.view import View


@dataclass(frozen=True)
class Question:
    """A position with what each legal action is worth to the player to move: 1, 0 or -1."""

    at: dict[str, Any]
    moves: dict[int, int]


def questions(size: int, starts: Sequence[Board], wanted: int, seed: int, steps: int) -> list[Question]:
    """Return positions in which not all moves are worth the same, from random games on boards drawn at random.

    Of each game one, drawn among its positions of that kind: those of one game are alike.
    """
    game, rng, found = game_of(size), np.random.default_rng(seed), []
    solver = Solver(game, steps)
    for _ in range(20 * wanted):
        board = starts[int(rng.integers(len(starts)))]
        states = [*played_from(game, state_of(game, position(board, size)), rng)]
        for i in rng.permutation(len(states)):
            moves = solver.moves(states[i])
            if moves is not None and len({*moves.values()}) > 1:
                found.append(Question(dict(game.position(states[i])), moves))
                break
        if len(found) == wanted:
            break
    return found


@dataclass(frozen=True)
class Judged:
    """How an agent does: the share of best moves, and what its moves lose, in points."""

    label: str
    settings: str
    best: Estimate
    regret: Estimate


def check(size: int, specs: Sequence[AgentSpec]) -> None:
    """Ask agents for a move on a start board, so that mistakes are found before anything is solved."""
    game = game_of(size)
    state = state_of(game, position(next(iter(boards(size))), size))
    for spec in specs:
        agents.make(spec.name, **spec.settings).act(View(game, state, int(game.active(state)) >> 1))


def judge(
    size: int, asked: Sequence[Question], specs: Sequence[AgentSpec], say: Callable[[str], None]
) -> Iterator[Judged]:
    """Ask agents for a move in each position, and yield how they do; what uniform choice would lose comes first."""
    game = game_of(size)
    chance = [1 - np.mean([worth == max(q.moves.values()) for worth in q.moves.values()]) for q in asked]
    lost = [float(np.mean([(max(q.moves.values()) - worth) / 2 for worth in q.moves.values()])) for q in asked]
    share = 1 - float(np.mean(chance))
    yield Judged("a random move", "", Estimate(share, share, share), Estimate(*3 * (float(np.mean(lost)),)))
    for spec in specs:
        agent, losses = agents.make(spec.name, **spec.settings), []
        for number, question in enumerate(asked):
            agent.reseed(number)
            state = state_of(game, question.at)
            action = agent.act(View(game, state, int(game.active(state)) >> 1))
            losses.append((max(question.moves.values()) - question.moves[action]) / 2)
        right = sum(loss == 0 for loss in losses)
        settings = ", ".join(f"{name}={value}" for name, value in spec.settings.items())
        say(f"{spec.label}: {100 * right / len(losses):.1f} % best moves")
        yield Judged(spec.label, settings, wilson(right, len(losses)), mean_points(losses))
