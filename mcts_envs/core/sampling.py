"""States of random play, for the laws, and what a law asks of them."""

import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcts_envs.core.contract import Game
from mcts_envs.core.narrow import NoRoomError
from mcts_envs.core.typing import Bytes, Floats, Ints

_ROOM = 4096
"""Places beyond the actions of a game, for kernels that list too many: compiled, they write on without a check."""


class LawError(AssertionError):
    """A game does something that the contract forbids."""


@contextmanager
def plainly() -> Iterator[None]:
    """Run interpreted kernels, in which a number that overflows and an index beyond its array are told.

    Raises
    ------
    LawError
        With the line of the game: compiled code would go on without a word.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            yield
        except IndexError as error:
            raise LawError(f"arrays have ends: {_line(error)}: {error}; compiled code goes beyond them") from error
        except (Warning, OverflowError) as error:
            raise LawError(f"numbers fit: {_line(error)}: {_without_room(error)}") from error


def _without_room(error: Exception) -> str:
    """Return what a number had no room in, and the cure."""
    if isinstance(error, NoRoomError):
        return str(error)
    what = "warns" if isinstance(error, Warning) else "fails"
    cure = "elements of arrays keep their type, np.int64 lifts them, and a negative number for np.uint64"
    return f"interpreted, a kernel {what}: {error}; {cure}"


def _line(error: BaseException) -> str:
    """Return where a kernel of a game raised an error, as ``file.py:12``."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).parent != Path(__file__).parent]
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}"


@dataclass(frozen=True)
class Sample:
    """Episodes of random play.

    Attributes
    ----------
    seeds : list of int
        Seed of each episode.
    choices : list of list of int64 arrays [P]
        The actions of each step.
    states : list of uint8 arrays
        States in which somebody is to choose.
    ends : list of uint8 arrays
        Final states.
    most : int
        Steps within which an episode must end.
    """

    seeds: list[int]
    choices: list[list[Ints]]
    states: list[Bytes]
    ends: list[Bytes]
    most: int


def require(condition: Any, law: str, message: str) -> None:
    """Raise :class:`LawError` unless the condition holds."""
    if not condition:
        raise LawError(f"{law}: {message}")


def legal_actions(game: Game, state: Bytes, player: int) -> Ints:
    """Return the legal actions [k] of an active player.

    Raises
    ------
    LawError
        If there are more than the game has: compiled players would read beyond them. Or some out of range, or twice.
    """
    law, room = "legal actions", np.full(game.actions + _ROOM, -1, np.int64)
    count = game.legal(state, player, room)
    require(0 <= count <= game.actions, law, f"player {player} has {count}, and the game {game.actions}")
    legal = room[:count]
    if ((legal >= 0) & (legal < game.actions)).all() and len(set(legal.tolist())) == count:
        return legal
    raise LawError(f"{law}: player {player} has {legal}, not distinct and in 0 .. {game.actions - 1}")


def active_players(game: Game, state: Bytes) -> list[int]:
    """Return the players who are to choose now."""
    bits = game.active(state)
    return [player for player in range(game.players) if bits >> player & 1]


def sample(game: Game, episodes: int, max_steps: int, seed: int) -> Sample:
    """Play episodes uniformly at random.

    Raises
    ------
    LawError
        If none begins, or one does not end within ``max_steps``, or somebody who is to choose has no legal action.
    """
    rng = np.random.default_rng(seed)
    result = Sample([], [], [], [], max_steps)
    for episode in range(episodes):
        state = game.new_state()
        result.seeds.append(seed + episode)
        game.reset(state, np.uint64(seed + episode))
        states, choices = play_on(game, state, rng, max_steps)
        result.states.extend(states)
        result.choices.append(choices)
        result.ends.append(state)
    cure = "active returns a bit for each who is to choose, as 1 << player"
    require(result.states, "games begin", f"nobody is to choose after reset; {cure}")
    return result


def play_on(game: Game, state: Bytes, rng: np.random.Generator, max_steps: int) -> tuple[list[Bytes], list[Ints]]:
    """Play uniformly at random to the end, in place; return the states on the way and the actions of each step.

    Raises
    ------
    LawError
        As for :func:`sample`.
    """
    states, choices, rewards = list[Bytes](), list[Ints](), np.zeros(game.players)
    while players := active_players(game, state):
        require(len(choices) < max_steps, "games end", f"one was not over after {max_steps} steps of random play")
        states.append(state.copy())
        actions = np.zeros(game.players, np.int64)
        for player in players:
            legal = legal_actions(game, state, player)
            require(len(legal), "someone who is to choose can", f"player {player} has no legal action")
            actions[player] = rng.choice(legal)
        choices.append(actions.copy())
        game.step(state, actions, rewards)
    return states, choices


def some(states: list[Bytes], most: int = 20) -> list[Bytes]:
    """Return about so many of the states, from all of play."""
    return states[:: max(1, len(states) // most)]


def stepped(game: Game, state: Bytes, actions: Ints) -> tuple[Bytes, Floats]:
    """Return a copy of a state after a step, and the rewards: NaN where the step set none."""
    after, rewards = state.copy(), np.full(game.players, np.nan)
    game.step(after, actions, rewards)
    return after, rewards


def some_choice(game: Game, state: Bytes) -> Ints:
    """Return the last legal action of every active player [P]."""
    actions = np.zeros(game.players, np.int64)
    for player in active_players(game, state):
        actions[player] = legal_actions(game, state, player)[-1]
    return actions


def seen(game: Game, state: Bytes, player: int) -> Any:
    """Return a player's observation."""
    out = np.full(int(np.prod(game.observation_shape)), np.nan, np.float32)
    game.observe(state, player, out)
    return out
