"""Games that a policy learns from, or is measured by: a job of them at a time, for whichever process plays them."""

import math
import pickle
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeGuard

import numpy as np

import agents
import mcts_envs
from agents.base import Agent
from agents.learning.algorithms import one_thread
from agents.learning.positions import Played, discounted, stacked, together
from agents.mcts import MCTS
from mcts_envs.core.api.adapter import checked_action
from mcts_envs.core.api.starts import Starts
from mcts_envs.core.contract import RUNNING, Game
from mcts_envs.core.place import copy_except_rng
from mcts_envs.core.rng import CHANCE_BYTES, below, choose, combine, draw, new_stream
from mcts_envs.core.typing import Bytes, Floats, Ints, Singles
from mcts_envs.core.view import Episode, View

_LONGEST = 10_000
"""Steps after which a game is broken off: it may have no end."""

_LOOKED_AT = 32
"""Steps of a game that tell whether it knows chance."""

_FEWEST, _MOST, _JOBS = 8, 64, 32
"""Games of a job at least and at most, and jobs of an iteration that has games enough: the games of a job ask a network
together, and are lost together where they are interrupted."""

_ROOM = 2**18
"""Numbers in the observations of all games of a job, which hold those of all their moves until they are over."""

_OF_BATCHES = ("seat", "opponent", "starts", "observation_dtype", "illegal", "render_mode", "threads")
"""Settings of an environment that are not its game's."""


Question = tuple[Agent, View]
Answer = tuple[int, Any]
"""An action, and the result of the search for it, if there is one."""

Playing = Generator[list[Question], list[Answer], Played]


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


def games_of_a_job(games: int, shape: Sequence[int]) -> int:
    """Return how many of the games of an iteration, observed in this shape, a job has."""
    return max(min(games // _JOBS, _MOST, _ROOM // math.prod(shape)), _FEWEST)


def described(agent: Mapping[str, Any]) -> bytes:
    """Return a player for a job, from ``"agent"``, its name, and its settings."""
    return pickle.dumps(dict(agent))


def play(job: Job) -> Played:
    """Play the games of a job: one after another, or all together where searches wait for a policy."""
    game, starts = _game(job.env_id, pickle.dumps(job.settings))
    thread = threading.get_ident()
    players, teams = [_player(each, thread) for each in job.players], len(game.teams)
    team_of = {seat: team for team, seats in enumerate(game.teams) for seat in seats}
    streams = [new_stream(int(combine(np.uint64(job.seed), np.uint64(number)))) for number in range(job.games)]

    def begun(number: int) -> Playing:
        first = [seat for seat in range(game.players) if len(players) == 1 or team_of[seat] == number % teams]
        seated = [players[0] if seat in first else players[1] for seat in range(game.players)]
        return _play(game, starts, seated, streams[number], job)

    def reseed(stream: Bytes) -> None:
        for player in players:
            player.reseed(int(draw(stream)))

    parts: list[Played] = []
    if waiting := [player for player in players if _waits(player, game)]:
        reseed(streams[0])
        for player in waiting:
            player.prepared(game).evaluator.forget()  # batches round, and those of other jobs otherwise
        with one_thread():
            parts = _together([begun(number) for number in range(job.games)])
    else:
        for number, stream in enumerate(streams):
            reseed(stream)
            parts += _together([begun(number)])
    positions = together([part.positions for part in parts])
    rest = (np.concatenate([getattr(part, name) for part in parts]) for name in ("points", "rewards", "lengths"))
    return Played(positions, *rest)


def repeats(env_id: str, settings: dict[str, Any]) -> bool:
    """Return whether a game goes the same way whenever the same is played, as far as some games show."""
    game, starts = _game(env_id, pickle.dumps(settings))

    def course(seed: int) -> list[bytes]:
        state, actions, rewards = game.new_state(), np.zeros(game.players, np.int64), np.zeros(game.players)
        states: list[bytes] = []
        game.restart(state, seed)
        while (bits := game.active(state)) and len(states) < _LOOKED_AT:
            for seat in (seat for seat in range(game.players) if bits >> seat & 1):
                actions[seat] = View(game, state, seat).legal_actions()[0]
            game.step(state, actions, rewards)
            states.append(state[CHANCE_BYTES:].tobytes())
        return states

    first = course(0)
    return starts is None and all(course(seed) == first for seed in range(1, 5))


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
    name: str = settings.pop("agent")
    return agents.make(name, **settings)


def _waits(agent: Agent, game: Game) -> TypeGuard[MCTS]:
    """Return whether an agent's searches in a game wait for a policy, so that several can wait together."""
    return isinstance(agent, MCTS) and agent.waits_in(game)


def _together(games: Sequence[Playing]) -> list[Played]:
    """Play games to their ends, a step of each at a time; what they ask an agent, it is asked at once."""
    going = dict(enumerate(games))
    answers: dict[int, list[Answer]] = {}
    played: dict[int, Played] = {}
    while going:
        asked: list[tuple[int, Question]] = []
        for number, game in list(going.items()):
            try:
                questions = game.send(answers[number]) if number in answers else next(game)
                asked += [(number, question) for question in questions]
            except StopIteration as end:
                played[number] = end.value
                del going[number]
        answers = {number: [] for number in going}
        for (number, _), answer in zip(asked, _answered([question for _, question in asked]), strict=True):
            answers[number].append(answer)
    return [played[number] for number in range(len(games))]


def _answered(questions: Sequence[Question]) -> list[Answer]:
    """Return what agents play, and the results of their searches."""
    found: list[Answer] = [(-1, None)] * len(questions)
    for agent in dict.fromkeys(agent for agent, _ in questions):
        places = [i for i, (asked, _) in enumerate(questions) if asked is agent]
        views = [questions[i][1] for i in places]
        if _waits(agent, views[0].game):
            answers: list[Answer] = [(result.action, result) for result in agent.search_all(views)]
        else:
            answers = [_acted(agent, view) for view in views]
        for i, answer in zip(places, answers, strict=True):
            found[i] = answer
    return found


def _acted(agent: Agent, view: View) -> Answer:
    agent.last_result = None
    action = checked_action(agent.act(view), view.game, view.legal_actions())  # kernels take what is out of range as is
    return action, agent.last_result


def _play(game: Game, starts: Starts | None, seated: Sequence[Agent], stream: Bytes, job: Job) -> Playing:
    """Play one game; yield what is to be asked in each step, and be sent the answers."""
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
        views = [View(game, state, seat, episode) for seat in range(game.players) if bits >> seat & 1]
        choices = [view.legal_actions() for view in views]
        if len(paid) < random_moves:
            for view, legal in zip(views, choices, strict=True):
                actions[view.player] = legal[below(stream, len(legal))]
        else:
            answers = yield [(seated[v.player], v) for v, legal in zip(views, choices, strict=True) if len(legal) > 1]
            told = iter(answers)
            for view, legal in zip(views, choices, strict=True):
                answer = next(told) if len(legal) > 1 else (int(legal[0]), None)
                actions[view.player], shares, found = _learned(answer, legal, stream, job.explore)
                if job.learn:
                    noted.append((view.observe(), legal, shares, found))
                    whose.append((len(paid), view.player))
        plays_on = [game.status(state, seat) == RUNNING for seat in range(game.players)]
        game.step(state, actions, rewards)
        paid.append(np.where(plays_on, rewards, 0.0))
    points = rewards.copy()
    game.outcome(state, points)
    sums = discounted(np.array(paid), job.discount)
    positions = stacked(noted, [sums[place] for place in whose], game.observation_shape)
    return Played(positions, points[None], np.sum(paid, 0)[None], np.array([len(paid)]))


def _learned(answer: Answer, legal: Ints, stream: Bytes, explore: bool) -> tuple[int, Singles, float]:
    """Return what is played, what a policy should learn from it [k], and what the agent says that it is worth."""
    action, result = answer
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
