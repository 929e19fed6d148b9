"""Games that a policy learns from, or is measured by: a job of them at a time, for whichever process plays them."""

import pickle
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import agents
import mcts_envs
from agents.base import Agent
from agents.learning.positions import Played, discounted, stacked, together
from mcts_envs.core.contract import RUNNING, Game
from mcts_envs.core.place import copy_except_rng
from mcts_envs.core.rng import below, choose, combine, draw, new_stream
from mcts_envs.core.starts import Starts
from mcts_envs.core.typing import Bytes, Floats, Ints, Singles
from mcts_envs.core.view import Episode, View

_LONGEST = 10_000
"""Steps after which a game is broken off: it may have no end."""

_OF_BATCHES = ("seat", "opponent", "starts", "observation_dtype", "illegal", "render_mode")
"""Settings of an environment that are not its game's."""


@dataclass(frozen=True)
class Job:
    """Some games to be played; what comes of them depends on nothing else.

    Attributes
    ----------
    env_id : str
    settings : dict
        Of the environment.
    players : tuple of bytes
        Pickles of what ``agents.make`` takes: the player of all seats; or one that plays a seat, or a team, which
        changes from game to game, and who plays the others.
    seed : int
        Where all randomness of the games starts.
    games : int
    openings : int
        Each game begins with up to so many random moves.
    discount : float
        Of rewards, a step of the game.
    explore : bool
        Draw moves in proportion to the visits of the search, where it does not draw them itself.
    learn : bool
        Whether positions are kept.
    """

    env_id: str
    settings: dict[str, Any]
    players: tuple[bytes, ...]
    seed: int
    games: int
    openings: int = 0
    discount: float = 1.0
    explore: bool = False
    learn: bool = True


def described(agent: Mapping[str, Any]) -> bytes:
    """Return a player for a job, from ``"agent"``, its name, and its settings."""
    return pickle.dumps(dict(agent))


def play(job: Job) -> Played:
    """Play the games of a job."""
    game, starts = _game(job.env_id, pickle.dumps(job.settings))
    thread = threading.get_ident()
    players, teams = [_player(each, thread) for each in job.players], len(game.teams)
    team_of = {seat: team for team, seats in enumerate(game.teams) for seat in seats}
    parts = []
    for number in range(job.games):
        stream = new_stream(int(combine(np.uint64(job.seed), np.uint64(number))))
        for player in players:
            player.reseed(int(draw(stream)))
        first = [seat for seat in range(game.players) if len(players) == 1 or team_of[seat] == number % teams]
        seated = [players[0] if seat in first else players[1] for seat in range(game.players)]
        parts.append(_play(game, starts, seated, stream, job))
    positions = together([part.positions for part in parts])
    rest = (np.concatenate([getattr(part, name) for part in parts]) for name in ("points", "rewards", "lengths"))
    return Played(positions, *rest)


@lru_cache(maxsize=2)
def _game(env_id: str, pickled: bytes) -> tuple[Game, Starts | None]:
    settings: dict[str, Any] = pickle.loads(pickled)
    own = {name: value for name, value in settings.items() if name not in _OF_BATCHES}
    env: Any = mcts_envs.make_vec(env_id, 1, **own)
    game: Game = env.unwrapped.game
    return game, Starts(game, settings["starts"]) if settings.get("starts") is not None else None


@lru_cache(maxsize=8)
def _player(pickled: bytes, thread: int) -> Agent:
    """Return a player, another one for each thread: two at the same time would draw from one stream."""
    settings = pickle.loads(pickled)
    return agents.make(settings.pop("agent"), **settings)


def _play(game: Game, starts: Starts | None, seated: Sequence[Agent], stream: Bytes, job: Job) -> Played:
    """Play one game."""
    state, episode, actions = game.new_state(), Episode(), np.zeros(game.players, np.int64)
    game.restart(state, int(draw(stream)))
    if starts is not None and (start := starts.draw(stream)) is not None:
        copy_except_rng(state, start)
    random_moves = below(stream, job.openings + 1) if job.openings else 0
    noted: list[tuple[Singles, Ints, Singles, float]] = []
    whose: list[tuple[int, int]] = []
    paid: list[Floats] = []
    rewards = np.zeros(game.players)
    while (bits := game.active(state)) and len(paid) < _LONGEST:
        actions[:] = 0
        for seat in [seat for seat in range(game.players) if bits >> seat & 1]:
            view = View(game, state, seat, episode)
            legal = view.legal_actions()
            if len(paid) < random_moves:
                actions[seat] = legal[below(stream, len(legal))]
                continue
            actions[seat], shares, found = _asked(seated[seat], view, legal, stream, job.explore)
            if job.learn:
                noted.append((view.observe(), legal, shares, found))
                whose.append((len(paid), seat))
        plays_on = [game.status(state, seat) == RUNNING for seat in range(game.players)]
        game.step(state, actions, rewards)
        paid.append(np.where(plays_on, rewards, 0.0))
    points = rewards.copy()
    game.outcome(state, points)
    sums = discounted(np.array(paid), job.discount)
    positions = stacked(noted, [sums[place] for place in whose], game.observation_shape)
    return Played(positions, points[None], np.sum(paid, 0)[None], np.array([len(paid)]))


def _asked(agent: Agent, view: View, legal: Ints, stream: Bytes, explore: bool) -> tuple[int, Singles, float]:
    """Return what an agent plays, what a policy should learn from it [k], and what the agent says that it is worth."""
    if len(legal) == 1:
        return int(legal[0]), np.ones(1, np.float32), np.nan
    agent.last_result = None
    action = agent.act(view)
    result = agent.last_result
    improved, visits = getattr(result, "improved", None), getattr(result, "visits", None)
    chosen: Singles = (legal == action).astype(np.float32)
    if improved is not None and visits is not None:
        weights = np.where(visits > 0, improved, 0.0)
        return action, improved[legal].astype(np.float32), _mean(weights, result.values)
    if visits is None or not explore:
        return action, chosen, np.nan
    shares = visits[legal] / visits[legal].sum()
    action = int(legal[choose(stream, shares, len(legal))])
    return action, shares.astype(np.float32), _mean(visits.astype(np.float64), result.values)


def _mean(weights: Floats, values: Floats) -> float:
    """Return the weighted mean of values [A], of which those without a weight may be NaN."""
    return float(np.dot(weights, np.nan_to_num(values)) / weights.sum())
