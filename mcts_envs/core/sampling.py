"""States of random play, for the laws, and what a law asks of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Bytes, Floats, Ints

_ROOM = 4096
"""Places beyond the actions of a game, for kernels that list too many: compiled, they write on without a check."""


class LawError(AssertionError):
    """A game does something that the contract forbids."""


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
    """

    seeds: list[int]
    choices: list[list[Ints]]
    states: list[Bytes]
    ends: list[Bytes]


def require(condition: Any, law: str, message: str) -> None:
    """Raise :class:`LawError` unless the condition holds."""
    if not condition:
        raise LawError(f"{law}: {message}")


def legal_actions(game: Game, state: Bytes, player: int) -> Ints:
    """Return the legal actions [k] of an active player.

    Raises
    ------
    LawError
        If there are more than the game has: compiled players would read beyond them.
    """
    actions = np.full(game.actions + _ROOM, -1, np.int64)
    count = game.legal(state, player, actions)
    require(0 <= count <= game.actions, "legal actions", f"player {player} has {count}, and the game {game.actions}")
    return actions[:count]


def active_players(game: Game, state: Bytes) -> list[int]:
    """Return the players who are to choose now."""
    bits = game.active(state)
    return [player for player in range(game.players) if bits >> player & 1]


def sample(game: Game, episodes: int, max_steps: int, seed: int) -> Sample:
    """Play episodes uniformly at random.

    Raises
    ------
    LawError
        If one does not end within ``max_steps``, or somebody who is to choose has no legal action.
    """
    rng = np.random.default_rng(seed)
    result = Sample([], [], [], [])
    for episode in range(episodes):
        state, choices = game.new_state(), list[Ints]()
        result.seeds.append(seed + episode)
        game.reset(state, np.uint64(seed + episode))
        rewards = np.zeros(game.players)
        while players := active_players(game, state):
            require(len(choices) < max_steps, "games end", f"one was not over after {max_steps} steps of random play")
            result.states.append(state.copy())
            actions = np.zeros(game.players, np.int64)
            for player in players:
                legal = legal_actions(game, state, player)
                require(len(legal), "someone who is to choose can", f"player {player} has no legal action")
                actions[player] = rng.choice(legal)
            choices.append(actions)
            game.step(state, actions, rewards)
        result.choices.append(choices)
        result.ends.append(state)
    return result


def stepped(game: Game, state: Bytes, actions: Ints) -> tuple[Bytes, Floats]:
    """Return a copy of a state after a step, and the rewards."""
    after, rewards = state.copy(), np.zeros(game.players)
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
