"""Who plays in rollouts, and how: uniformly, or as the game advises."""

from typing import Any

from agents.policies.opponents import ask
from agents.policies.signatures import SIMULATE, policy
from agents.search.records import Settings, Store, Work
from mcts_envs.core.rng import below, choose_among


@policy(SIMULATE)
def uniform(game: Any, how: Settings, work: Work, store: Store, player: int, k: int) -> int:
    """Let everybody choose uniformly among the legal actions."""
    return int(work.legal[below(work.stream, k)])


@policy(SIMULATE, prior=True)
def advised(game: Any, how: Settings, work: Work, store: Store, player: int, k: int) -> int:
    """Let everybody choose in proportion to the game's ``advise``, the others to that of ``opponent_model``."""
    ask(game, work, player, player == how.player)
    return choose_among(work.stream, work.weights, work.legal, k)


@policy(SIMULATE, prior=True)
def advised_own(game: Any, how: Settings, work: Work, store: Store, player: int, k: int) -> int:
    """Let the player who searches choose in proportion to the game's ``advise``, all others uniformly."""
    if player != how.player:
        return int(work.legal[below(work.stream, k)])
    ask(game, work, player, True)
    return choose_among(work.stream, work.weights, work.legal, k)
