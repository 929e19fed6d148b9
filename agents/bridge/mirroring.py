"""Walks in a copy of an environment, and the same ones in the environment itself."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from agents.bridge.cloning import drawn_from, runs_on
from agents.bridge.copying.chance import reseed
from agents.bridge.means import NATIVE
from agents.bridge.states import ForeignState, whole


class Mirrored(NamedTuple):
    """A walk in a copy beside the same walk in the original.

    Attributes
    ----------
    steps : int
        How many were compared.
    differs : str
        What differs first; empty where nothing does.
    """

    steps: int
    differs: str


def walk(state: ForeignState, choices: np.random.Generator, length: int) -> Iterator[Any]:
    """Play at random what is legal; yield what is shown to those who choose, and what was paid."""
    game = state.game
    actions, rewards, legal = [0] * game.players, [0.0] * game.players, [0] * game.actions
    for _ in range(length):
        players = [player for player in range(game.players) if game.active(state) >> player & 1]
        if not players:
            break
        for player in players:
            actions[player] = int(legal[int(choices.integers(game.legal(state, player, legal)))])
        game.step(state, actions, rewards)
        yield (
            state.bits,
            [game.key(state, player) for player in range(game.players) if state.bits >> player & 1],
            [*rewards],
        )


def mirrored(live: Any, seed: int, length: int) -> Mirrored:
    """Walk in a copy, and then in the original, and compare what they show, what they pay, and what they are.

    The original is played on, so that it has to be reset. Where chance is not part of a copy, both are seeded.

    Parameters
    ----------
    live : object
        ``view(env).state``.
    seed : int
        Of what is chosen, and of chance.
    length : int
        Steps at most.
    """
    copy, original = live.copy(), ForeignState(live.game)
    itself: Any = _Itself(live.env)
    original.become(live, itself)
    if live.game.notes["means"] == NATIVE and not runs_on(live.env):
        copy.seed(seed)
        reseed(drawn_from(live.env), seed)
    live.game.watch.determinize(seed)
    if whole(copy) != whole(original):
        return Mirrored(0, "the copy is not in the same state")
    ahead = list(walk(copy, np.random.default_rng(seed), length))
    live.game.watch.determinize(seed)
    steps = 0
    for expected, found in zip_longest(walk(original, np.random.default_rng(seed), length), ahead):
        if expected != found:
            return Mirrored(steps, f"step {steps + 1}: {_first(expected, found)}")
        steps += 1
    return Mirrored(steps, "" if whole(copy) == whole(original) else f"the state after step {steps}")


def _first(expected: Any, found: Any) -> str:
    if expected is None or found is None:
        return "one ends, the other does not"
    names = "who is to choose", "what is shown", "what is paid"
    return next(name for name, one, other in zip(names, expected, found, strict=True) if one != other)


class _Itself:
    """An environment in place of a copy."""

    def __init__(self, env: Any) -> None:
        self.env = env
