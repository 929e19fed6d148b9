"""Rollouts in which everybody chooses uniformly, each in one loop around the environment's own step.

They are what :mod:`agents.search.rollout` makes of the policy ``uniform``, with the same chance, step by step: only
that nothing is called or written down between two steps that nobody looks at before the rollout ends.
"""

import functools
from collections.abc import Callable
from typing import Any

from agents.bridge.returned import check_actions, paid, wrong
from agents.search.rollout import add_evaluation
from mcts_envs.core.kernel import interpreted
from mcts_envs.core.rng import below

Rollout = Callable[..., int]

_add_evaluation = interpreted(add_evaluation)


def single(masked: bool) -> Callable[[Rollout], Rollout]:
    """Return the rollout of Gymnasium environments, which always have a mask, or where their ``info`` holds one."""

    def rollout(table: Any, how: Any, work: Any, store: Any, depth: int, limit: int) -> int:
        state, stream, legal, discount = work.state, work.stream, work.legal, how.discount
        game, env, bits, left, infos = state.game, state.env, state.bits, state.left, state.infos
        watch, start, count = game.watch, game.seats[0].start, game.seats[0].actions
        step, held = state.dressed.step, vars(env)
        space = held.get("action_space")  # a property may make one each time, for 10 us: other steps look at that
        played = work.played if how.custom_backup else None
        total, weight, steps, seen, truncated = work.values[0], 1.0, 0, state.seen, state.truncated
        while bits and steps < limit:
            if masked or (infos and infos.get("action_mask") is not None):
                state.infos, state.seen = infos, seen
                action = legal[below(stream, game.legal(state, 0, legal))]
            else:
                action = below(stream, count)
            if played is not None:
                played[depth + steps, 0] = action
            said = watch.step(step, action + start)
            try:
                seen, reward, terminated, truncated, infos = said
                number = float(reward)
            except (TypeError, ValueError):
                raise wrong(said, action + start) from None
            if number - number:
                paid(reward, action + start)  # raises
            total += weight * number
            weight *= discount
            steps += 1
            left -= 1
            if terminated or truncated or left <= 0:
                bits, truncated = 0, bool(truncated) or not terminated
            elif held.get("action_space") is not space:
                check_actions(state.dressed.action_space, game.seats[0], action + start)
        if steps:
            work.values[0], state.seen, state.infos, state.left, state.bits = total, seen, infos, left, bits
            state.truncated, state.at_root = bool(truncated), False
            state.version += steps
        if bits:
            _add_evaluation(table, work, weight)
        return steps

    return lambda simulate: rollout


def played_by(play: Callable[..., int], chooser: Callable[[Any], int]) -> Callable[[Rollout], Rollout]:
    """Return the rollout of environments in turns that an adapter plays on (``Adapter.play``)."""

    def around(simulate: Rollout) -> Rollout:
        def rollout(table: Any, how: Any, work: Any, store: Any, depth: int, limit: int) -> int:
            state, stream, steps = work.state, work.stream, 0
            env, game, most = state.env, state.game, min(limit, state.left)
            if state.bits and most > 0 and not how.custom_backup:
                steps = game.watch.step(lambda draw: play(env, draw, most), functools.partial(below, stream))
            if not steps:
                return simulate(table, how, work, store, depth, limit)
            weight = 1.0
            for _ in range(steps - 1):
                weight *= how.discount
            for player, seat in enumerate(game.seats):
                work.values[player] += weight * float(env.rewards.get(seat.name, 0.0))
            state.left -= steps - 1
            state.version += steps - 1
            state.end_step(chooser(state), any(env.truncations.values()))
            _add_evaluation(table, work, weight * how.discount)
            return steps

        return rollout

    return around
