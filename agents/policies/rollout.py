"""Rollouts: play a leaf on to the end, or to a limit, and evaluate what is there."""

from typing import Any

from agents.policies.opponents import ask
from agents.policies.signatures import SIMULATE, policy
from agents.tree import Work
from mcts_envs.core.contract import RUNNING, active_of, evaluate_of, legal_of, status_of, step_of
from mcts_envs.core.kernel import kernel
from mcts_envs.core.rng import below, choose_among
from mcts_envs.core.typing import Bytes, Floats


@kernel()
def begin(work: Work) -> None:
    """Set the returns to 0."""
    for player in range(len(work.values)):
        work.values[player] = 0.0


@kernel()
def offer(functions: Any, work: Work, step: int, player: int, bits: int) -> int:
    """Fill in a player's legal actions in ``work.legal`` and return how many there are; 0 if it is not to choose."""
    work.actions[player] = 0
    work.played[step * len(work.values) + player] = -1
    if not bits >> player & 1:
        return 0
    return int(legal_of(functions)(work.state, player, work.legal))


@kernel()
def take(work: Work, step: int, player: int, action: int) -> None:
    """Let a player choose an action in this step."""
    work.actions[player] = action
    work.played[step * len(work.values) + player] = action


@kernel()
def advance(functions: Any, work: Work, weight: float) -> None:
    """Make the step, and add the rewards times a weight to ``work.values``."""
    step_of(functions)(work.state, work.actions, work.rewards)
    for player in range(len(work.values)):
        work.values[player] += weight * work.rewards[player]


@kernel()
def evaluate_end(functions: Any, work: Work, weight: float) -> None:
    """Add what an unfinished state is worth, times a weight, to the ``work.values`` of those who are still in the game.

    Others have been paid for the end of theirs.
    """
    if active_of(functions)(work.state):
        evaluate_of(functions)(work.state, work.rewards)
        for player in range(len(work.values)):
            if status_of(functions)(work.state, player) == RUNNING:
                work.values[player] += weight * (work.rewards[player] - work.base[player])


@policy(SIMULATE)
def uniform(functions: Any, work: Work, shared: Floats, depth: int, limit: int, discount: float, stream: Bytes) -> int:
    """Let everybody choose uniformly among the legal actions."""
    begin(work)
    weight = 1.0
    for step in range(depth, depth + limit):
        bits = active_of(functions)(work.state)
        if bits == 0:
            return step - depth
        for player in range(len(work.values)):
            count = offer(functions, work, step, player, bits)
            if count:
                take(work, step, player, work.legal[below(stream, count)])
        advance(functions, work, weight)
        weight *= discount
    evaluate_end(functions, work, weight)
    return limit


@policy(SIMULATE)
def advised(functions: Any, work: Work, shared: Floats, depth: int, limit: int, discount: float, stream: Bytes) -> int:
    """Let everybody choose in proportion to the game's ``advise``, the others to that of ``opponent_model``."""
    begin(work)
    weight = 1.0
    for step in range(depth, depth + limit):
        bits = active_of(functions)(work.state)
        if bits == 0:
            return step - depth
        for player in range(len(work.values)):
            count = offer(functions, work, step, player, bits)
            if count:
                ask(functions, work, player)
                take(work, step, player, choose_among(stream, work.weights, work.legal, count))
        advance(functions, work, weight)
        weight *= discount
    evaluate_end(functions, work, weight)
    return limit


@policy(SIMULATE)
def advised_own(
    functions: Any, work: Work, shared: Floats, depth: int, limit: int, discount: float, stream: Bytes
) -> int:
    """Let the player who searches choose in proportion to the game's ``advise``, all others uniformly."""
    begin(work)
    weight, searcher = 1.0, work.searcher[0]
    for step in range(depth, depth + limit):
        bits = active_of(functions)(work.state)
        if bits == 0:
            return step - depth
        for player in range(len(work.values)):
            count = offer(functions, work, step, player, bits)
            if count and player == searcher:
                ask(functions, work, player)
                take(work, step, player, choose_among(stream, work.weights, work.legal, count))
            elif count:
                take(work, step, player, work.legal[below(stream, count)])
        advance(functions, work, weight)
        weight *= discount
    evaluate_end(functions, work, weight)
    return limit
