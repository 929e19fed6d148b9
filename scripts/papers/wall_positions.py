"""Positions of wall survival that test one ability, and how often players have it."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

import agents
from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Bytes
from mcts_envs.core.view import View
from mcts_envs.games.wall_survival.rules.board import open_sides, stands
from mcts_envs.games.wall_survival.rules.ends import winning_wall

Position = tuple[Bytes, list[int]]
"""A state, and the actions that are right in it."""
Kind = Callable[[Game, Bytes], list[int]]
"""``kind(game, state)``: the right actions of a state, none if it is not of the kind."""


def mover(game: Game, state: Bytes) -> int:
    """Return the player to move."""
    return int(game.active(state)).bit_length() - 1


def after(game: Game, state: Bytes, action: int) -> Bytes:
    """Return the state after an action."""
    following, rewards = state.copy(), np.zeros(2)
    game.step(following, np.full(2, action), rewards)
    return following


def legal(game: Game, state: Bytes) -> list[int]:
    """Return the legal actions of the player to move."""
    actions = np.empty(game.actions, np.int64)
    return [int(a) for a in actions[: game.legal(state, mover(game, state), actions)]]


def walk(game: Game, seed: int) -> Iterator[Bytes]:
    """Yield the states of one game between players that choose uniformly and, every second seed, greedily too."""
    rng, state = np.random.default_rng(seed), game.new_state()
    game.reset(state, np.uint64(seed))
    weights = np.zeros(game.actions)
    while game.active(state):
        yield state
        actions = legal(game, state)
        if seed % 2 and rng.random() < 0.5:
            game.advise(state, mover(game, state), weights)
            actions = [a for a in actions if weights[a] > 0.0]
        state = after(game, state, int(rng.choice(actions)))


def wins(game: Game, state: Bytes) -> list[int]:
    """Return the actions that win at once."""
    player = mover(game, state)
    if winning_wall(state, player) < 0:
        return []
    found = []
    for action in legal(game, state):
        following, points = after(game, state, action), np.zeros(2)
        if not game.active(following):
            game.outcome(following, points)
            if points[player] == 1.0:
                found.append(action)
    return found


def safe(game: Game, state: Bytes) -> list[int]:
    """Return the actions that neither lose at once nor leave the other player a wall that wins."""
    player, found = mover(game, state), []
    for action in legal(game, state):
        following, points = after(game, state, action), np.zeros(2)
        if game.active(following):
            if winning_wall(following, 1 - player) < 0:
                found.append(action)
        else:
            game.outcome(following, points)
            if points[player] > 0.0:
                found.append(action)
    return found


def winning(game: Game, state: Bytes) -> list[int]:
    """Positions in which the player to move can win at once."""
    return wins(game, state)


def threatened(game: Game, state: Bytes) -> list[int]:
    """Positions without a win in which half of the actions or more, not all, lose at once or leave a wall that wins."""
    if wins(game, state):
        return []
    right = safe(game, state)
    return right if 0 < 2 * len(right) <= len(legal(game, state)) else []


def dead_end(game: Game, state: Bytes) -> list[int]:
    """Positions without a win in a cell with three walls, where at most a third of all actions saves the player."""
    if int(open_sides(state, stands(state, mover(game, state)))).bit_count() != 1 or wins(game, state):
        return []
    right = safe(game, state)
    return right if 0 < 3 * len(right) <= len(legal(game, state)) else []


def positions(game: Game, kind: Kind) -> Callable[[int], Position]:
    """Return a function that gives position number 0, 1, ... of a kind, one a game at most."""
    found: list[Position] = []
    more = _of_kind(game, kind)

    def at(number: int) -> Position:
        while len(found) <= number:
            found.append(next(more))
        return found[number]

    return at


def _of_kind(game: Game, kind: Kind) -> Iterator[Position]:
    for seed in count():
        for state in walk(game, seed):
            right = kind(game, state)
            if right:
                yield state.copy(), right
                break


def solved(game: Game, position: Position, seed: int, agent: str, settings: dict[str, Any]) -> bool:
    """Return whether an agent plays one of the right actions of a position."""
    state, right = position
    player = agents.make(agent, **settings)
    player.reseed(seed)
    return player.act(View(game, state, mover(game, state))) in right
