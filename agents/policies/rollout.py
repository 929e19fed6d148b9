"""Rollouts: play a leaf on to the end, or to the horizon, and evaluate what is there."""

from typing import Any

from agents.policies.signatures import SIMULATE
from mcts_envs.core.contract import active_of, advise_of, evaluate_of, legal_of, step_of
from mcts_envs.core.kernel import kernel
from mcts_envs.core.rng import below, choose_among
from mcts_envs.core.typing import Bytes, Floats, Ints


@kernel()
def _play_out(
    functions: Any,
    state: Bytes,
    legal: Ints,
    weights: Floats,
    actions: Ints,
    rewards: Floats,
    values: Floats,
    horizon: int,
    discount: float,
    stream: Bytes,
    advised: bool,
) -> int:
    values[:] = 0.0
    weight, steps = 1.0, 0
    while True:
        bits = active_of(functions)(state)
        if bits == 0:
            return steps
        if steps >= horizon:
            break
        for player in range(values.shape[0]):
            if bits >> player & 1:
                count = legal_of(functions)(state, player, legal)
                if advised:
                    advise_of(functions)(state, player, weights)
                    actions[player] = choose_among(stream, weights, legal, count)
                else:
                    actions[player] = legal[below(stream, count)]
        step_of(functions)(state, actions, rewards)
        steps += 1
        for player in range(values.shape[0]):
            values[player] += weight * rewards[player]
        weight *= discount
    evaluate_of(functions)(state, rewards)
    for player in range(values.shape[0]):
        values[player] += weight * rewards[player]
    return steps


@kernel(SIMULATE)
def uniform(
    functions: Any,
    state: Bytes,
    legal: Ints,
    weights: Floats,
    actions: Ints,
    rewards: Floats,
    values: Floats,
    horizon: int,
    discount: float,
    stream: Bytes,
) -> int:
    """Let everybody choose uniformly among the legal actions."""
    return _play_out(functions, state, legal, weights, actions, rewards, values, horizon, discount, stream, False)


@kernel(SIMULATE)
def advised(
    functions: Any,
    state: Bytes,
    legal: Ints,
    weights: Floats,
    actions: Ints,
    rewards: Floats,
    values: Floats,
    horizon: int,
    discount: float,
    stream: Bytes,
) -> int:
    """Let everybody choose in proportion to the game's ``advise``."""
    return _play_out(functions, state, legal, weights, actions, rewards, values, horizon, discount, stream, True)
