"""A game as kernels take it: the addresses of its kernels, and what fetches each of them."""

from mcts_envs.core.compiling.signatures import SIGNATURES
from mcts_envs.core.compiling.signatures import TABLE as TABLE
from mcts_envs.core.kernel import slot

(
    reset_of,
    active_of,
    legal_of,
    step_of,
    status_of,
    outcome_of,
    key_of,
    determinize_of,
    evaluate_of,
    advise_of,
    observe_of,
) = (slot(index, SIGNATURES[name], __name__, f"{name}_of") for index, name in enumerate(SIGNATURES))
