"""Playing a match: what each agent did, what it cost, and what went wrong."""

import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from agents.arena.interrupt import Interrupted
from agents.arena.replays import Moves
from agents.arena.rows import Match, Row, Seat, Transition
from agents.arena.spec import AgentSpec
from mcts_envs.core import errors
from mcts_envs.core.env import GameEnv
from mcts_envs.core.multi import GameAECEnv
from mcts_envs.core.players import Player
from mcts_envs.core.typing import Masks

Asked: TypeAlias = Callable[[int], None]
Seated: TypeAlias = Callable[[AgentSpec, int], Player]
"""``seated(spec, seat) -> agent``."""

_TRACEBACK_LINES = 12
_MOST_CHARACTERS = 4000
_FINITE = (-sys.float_info.max, sys.float_info.max)
_SOME = np.ones(2, np.int8)
"""Stands for a mask where nobody needs to know what is legal."""


def play(
    env: Any,
    match: Match,
    row: Row,
    seated: Seated,
    transitions: list[Transition] | None = None,
    asked: Asked = lambda seat: None,
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
        ``asked(seat)`` is called before each question to an agent, ``asked(-1 - seat)`` before it is made ready.
    moves : list, optional
        Takes seat and action of each move.
    """
    players = []
    for seat, spec in enumerate(match.agents):
        row.last_asked = seat
        asked(-1 - seat)
        players.append(seated(spec, seat))
        players[seat].reseed(row.seats[seat].agent_seed)
    row.last_asked = None
    moves = [] if moves is None else moves
    if isinstance(env, GameAECEnv):
        _play_together(env, players, row, transitions, asked, moves)
    else:
        _play_alone(env, players[0], row, transitions, asked, moves)


def _play_alone(
    env: Any, agent: Player, row: Row, transitions: list[Transition] | None, asked: Asked, moves: Moves
) -> None:
    """Play in a Gymnasium environment: one of ours, or another one in :class:`agents.bridge.Remember`."""
    inner: Any = env.unwrapped
    ours, seat = isinstance(inner, GameEnv), row.seats[0]
    seat.outcome = 0.0 if ours else None
    factor = inner.game.discount if ours else 1.0
    _, info = env.reset(seed=row.seed)
    row.last_asked = 0
    state = inner.position() if transitions is not None else {}
    discount, over = 1.0, False
    while not over:
        asked(0)
        action = ask(env, agent, info["action_mask"] if ours else _SOME, seat)
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
    if ours:
        seat.outcome = float(info.get("outcome", 0.0))
    seat.is_success = bool(info.get("is_success", False))


def _play_together(
    env: GameAECEnv,
    players: Sequence[Player],
    row: Row,
    transitions: list[Transition] | None,
    asked: Asked,
    moves: Moves,
) -> None:
    """Play in an AEC environment, an agent in each seat."""
    env.reset(seed=row.seed)
    discounts = [1.0] * len(row.seats)
    while env.agents:
        name = env.agent_selection
        seat = env.possible_agents.index(name)
        if env.terminations[name] or env.truncations[name]:
            place = row.seats[seat]
            place.outcome = float(env.infos[name]["outcome"])
            place.is_success = bool(env.infos[name]["is_success"])
            place.ended = sum(each.length for each in row.seats)
            env.step(None)
            continue
        row.last_asked = seat
        asked(seat)
        if row.seats[seat].length:
            discounts[seat] *= env.game.discount
        moves.append((seat, _move(env, players[seat], row, discounts, transitions)))


def _move(
    env: GameAECEnv, player: Player, row: Row, discounts: Sequence[float], transitions: list[Transition] | None
) -> int:
    """Play one move of the agent whose turn it is, and pay all seats, each with its own discount; return it."""
    name, before = env.agent_selection, env.position() if transitions is not None else {}
    seat = env.possible_agents.index(name)
    action = ask(env, player, env.infos[name]["action_mask"], row.seats[seat])
    env.step(action)
    row.seats[seat].length += 1
    rewards = [float(env.rewards.get(agent, 0.0)) for agent in env.possible_agents]
    for paid, reward, discount in zip(row.seats, rewards, discounts, strict=True):
        _pay(paid, reward, discount)
    if transitions is not None:
        ended = {"terminated": env.terminations[name], "truncated": env.truncations[name]}
        move = {"state": before, "seat": seat, "action": int(action), "reward": rewards, "next_state": env.position()}
        transitions.append({**move, **ended})
    return int(action)


def _pay(seat: Seat, reward: float, discount: float) -> None:
    seat.episode_return += reward
    seat.discounted_return += discount * reward


def ask(env: Any, agent: Player, mask: Masks, seat: Seat) -> int:
    """Ask an agent for an action; where there is a choice by the mask [A], add up what it costs.

    Nobody is asked in a game that was over before the agent's first move: the next step ends it, whatever it is.
    """
    choices = np.count_nonzero(mask)
    if choices < 2:
        return agent.act(env) if choices else 0
    started = time.perf_counter()
    action = agent.act(env)
    seat.seconds += time.perf_counter() - started
    seat.decisions += 1
    if (result := getattr(agent, "last_result", None)) is not None:
        seat.simulations += int(result.simulations)
        seat.model_steps += int(result.steps)
    return action


@contextmanager
def caught(row: Row) -> Iterator[None]:
    """Write an exception into a row instead of raising it, also one that would end the program.

    Where the person at the keyboard interrupts, it is :class:`agents.arena.interrupt.Interrupted`, and passes.
    """
    try:
        yield
    except Interrupted:
        raise
    except BaseException as error:
        try:
            message = str(error)
        except BaseException as another:
            message = f"(its message raises {type(another).__name__})"
        tail = traceback.format_exc().strip().splitlines()[-_TRACEBACK_LINES:]
        row.error = {"type": type(error).__name__, "message": message[:_MOST_CHARACTERS]}
        row.error["traceback"] = "\n".join(tail)[-_MOST_CHARACTERS:]
