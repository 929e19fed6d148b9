"""Playing a match: what each agent did, what it cost, and what went wrong."""

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from agents.arena.faults import agents_code, cut_off
from agents.arena.limits import Limits
from agents.arena.replays import Moves
from agents.arena.rows import DIGITS, Match, Row, Seat, Transition
from agents.arena.running import clock
from agents.arena.running.asking import Asked, Chair
from agents.spec import AgentSpec
from mcts_envs.core import errors
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.multi import GameAECEnv
from mcts_envs.core.players import Player

Seated: TypeAlias = Callable[[AgentSpec, int], Player]
"""``seated(spec, seat) -> agent``."""

_FINITE = (-sys.float_info.max, sys.float_info.max)


def play(
    env: Any,
    match: Match,
    row: Row,
    seated: Seated,
    transitions: list[Transition] | None = None,
    asked: Asked = lambda seat: None,
    limits: Limits = Limits(),  # noqa: B008 - it is frozen
    moves: Moves | None = None,
) -> None:
    """Play a match and fill its row in.

    Parameters
    ----------
    env : environment
        From :meth:`agents.arena.plan.Plan.make_env`: the AEC API where several agents meet.
    match : Match
    row : Row
        From :func:`agents.arena.rows.blank_row`.
    seated : callable
        ``seated(spec, seat) -> agent``.
    transitions : list, optional
        Takes a dictionary for each move: ``state``, ``action``, ``reward``, ``next_state``, ``terminated``,
        ``truncated``, with states in the terms of ``position()``. With several seats, ``seat`` says whose move it was,
        and ``reward`` is a list of all seats' rewards.
    asked : callable
        See :data:`agents.arena.running.asking.Asked`.
    limits : Limits
        Of its times: a move that takes longer loses the match, and a match that does is truncated.
    moves : list, optional
        Takes seat and action of each move.
    """
    chairs = []
    for seat, spec in enumerate(match.agents):
        row.last_asked = seat
        asked(-1 - seat)
        agent = seated(spec, seat)
        with agents_code():
            agent.reseed(row.seats[seat].agent_seed)
        own_limit = spec.settings.get("time_limit")
        own_limit = float(own_limit) if isinstance(own_limit, (int, float)) else math.inf
        chairs.append(Chair(seat, row.seats[seat], agent, asked, limits, own_limit))
    asked(None)
    row.last_asked = None
    moves = [] if moves is None else moves
    try:
        if hasattr(env, "possible_agents"):
            _play_together(env, chairs, row, transitions, moves, limits)
        else:
            _play_alone(env, chairs[0], row, transitions, moves, limits)
    finally:
        for chair in chairs:
            chair.stand_up()


def _late(row: Row, transitions: list[Transition] | None, begun: float, limits: Limits) -> bool:
    """Whether a match has been played for too long; the row says so then, and the last move that it was truncated."""
    row.truncated = limits.late(clock.seconds() - begun)
    if row.truncated is not None and transitions:
        transitions[-1]["truncated"] = True
    return row.truncated is not None


def _play_alone(
    env: Any, chair: Chair, row: Row, transitions: list[Transition] | None, moves: Moves, limits: Limits
) -> None:
    """Play in a Gymnasium environment: one of ours, or another one in :class:`agents.bridge.Remember`."""
    inner: Any = env.unwrapped
    ours, seat = isinstance(inner, GameEnv), row.seats[0]
    seat.outcome = 0.0 if ours else None
    factor = inner.game.discount if ours else 1.0
    strict = ours and inner.strict
    _, info = env.reset(seed=row.seed)
    first = int(env.action_space.start)
    actions = range(first, first + int(env.action_space.n))
    row.last_asked = 0
    state = inner.position() if transitions is not None else {}
    discount, over, begun = 1.0, False, clock.seconds()
    while not over and not _late(row, transitions, begun, limits):
        action = chair.ask(env, actions, info["action_mask"] if ours else None, strict)
        _, reward, terminated, truncated, info = env.step(action)
        moves.append((0, int(action)))
        over = terminated or truncated
        seat.length += 1
        reward = errors.number("reward", reward, *_FINITE)
        _pay(seat, reward, discount)
        discount *= factor
        if transitions is not None:
            after = inner.position()
            move = {"state": state, "action": int(action), "reward": reward, "next_state": after}
            transitions.append({**move, "terminated": terminated, "truncated": truncated})
            state = after
    ended = {} if row.truncated else info
    if ours:
        seat.outcome = float(ended.get("outcome", 0.0))
    seat.is_success = bool(ended.get("is_success", False))


def _play_together(
    env: Any,
    chairs: Sequence[Chair],
    row: Row,
    transitions: list[Transition] | None,
    moves: Moves,
    limits: Limits,
) -> None:
    """Play in an AEC environment, an agent in each seat."""
    env.reset(seed=row.seed)
    ours, discounts = isinstance(env, GameAECEnv), [1.0] * len(row.seats)
    factor, begun = env.game.discount if ours else 1.0, clock.seconds()
    while env.agents:
        name = env.agent_selection
        seat = env.possible_agents.index(name)
        if env.terminations[name] or env.truncations[name]:
            place = row.seats[seat]
            if ours:
                place.outcome = float(env.infos[name]["outcome"])
                place.is_success = bool(env.infos[name]["is_success"])
            place.ended = sum(each.length for each in row.seats)
            env.step(None)
            continue
        if _late(row, transitions, begun, limits):
            cut_off(row, env.game.teams if ours else [(each,) for each in range(len(row.seats))])
            break
        row.last_asked = seat
        if row.seats[seat].length:
            discounts[seat] *= factor
        moves.append((seat, _move(env, chairs[seat], row, discounts, transitions)))
    if not ours:
        _judge(row.seats)


def _move(env: Any, chair: Chair, row: Row, discounts: Sequence[float], transitions: list[Transition] | None) -> int:
    """Play one move of the agent whose turn it is, and pay all seats, each with its own discount; return it."""
    name, before = env.agent_selection, env.position() if transitions is not None else {}
    seat, ours = env.possible_agents.index(name), isinstance(env, GameAECEnv)
    space = env.action_space(name)
    actions = range(int(space.start), int(space.start + space.n))
    action = chair.ask(env, actions, _mask(env, name), not ours or env.strict)
    env.step(action)
    row.seats[seat].length += 1
    for paid, agent, discount in zip(row.seats, env.possible_agents, discounts, strict=True):
        _pay(paid, errors.number("reward", float(env.rewards.get(agent, 0.0)), *_FINITE), discount)
    if transitions is not None:
        rewards = [float(env.rewards.get(agent, 0.0)) for agent in env.possible_agents]
        ended = {"terminated": env.terminations[name], "truncated": env.truncations[name]}
        move = {"state": before, "seat": seat, "action": int(action), "reward": rewards, "next_state": env.position()}
        transitions.append({**move, **ended})
    return int(action)


def _mask(env: Any, name: str) -> Any:
    """Return which actions are legal for an agent, as PettingZoo tells it; None where it does not."""
    told = env.infos[name].get("action_mask")
    if told is None and not isinstance(env, GameAECEnv):
        seen = env.observe(name)
        told = seen.get("action_mask") if isinstance(seen, dict) else None
    return None if told is None else np.ravel(told)  # it may have the shape of the board


def _judge(seats: Sequence[Seat]) -> None:
    """Give those with the most rewards the point of a game that does not say who has won; nobody wins alone."""
    if len(seats) == 1:
        seats[0].outcome = None
        return
    for seat, points in zip(seats, points_of([seat.episode_return for seat in seats]), strict=True):
        seat.outcome = points
        seat.is_success = points == 1.0


def points_of(returns: Sequence[float]) -> list[float]:
    """Return the points of each seat where those with the most rewards share one, in whatever order they were paid."""
    most = max(returns)
    best = [math.isclose(each, most, rel_tol=10**-DIGITS, abs_tol=10**-DIGITS) for each in returns]
    return [1 / sum(best) if each else 0.0 for each in best]


def _pay(seat: Seat, reward: float, discount: float) -> None:
    seat.episode_return += reward
    seat.discounted_return += discount * reward
