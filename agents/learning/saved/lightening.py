"""Policies that weigh less on disk and play the same."""

from typing import Any

_BITS_DROPPED = 13
"""Of the 24 significant bits of a weight; half precision keeps as many as are left."""


def lighten(policy: Any) -> None:
    """Make a trained policy of Stable-Baselines3 one that compresses well.

    Weights of which the optimizer knows no gradient become 0: those of inputs that were always 0 still are the random
    numbers that they began as. What imitation or an earlier training learned of inputs that this one never met, or met
    no more in its last 100,000 steps of the optimizer, is lost with them. The others are rounded to the 11 significant
    bits of half precision, and stay 32-bit numbers. What the optimizer knows, two thirds of the file, is forgotten; who
    trains on begins with a new one.

    Parameters
    ----------
    policy : stable_baselines3.common.policies.BasePolicy
        With an optimizer; of one that is not Adam nothing is known about gradients.
    """
    import torch

    state = policy.optimizer.state
    with torch.no_grad():
        for weights in policy.parameters():
            squares = state.get(weights, {}).get("exp_avg_sq")
            if squares is not None:
                weights[squares == 0] = 0.0
            bits = weights.view(torch.int32)
            bits += 1 << (_BITS_DROPPED - 1)
            bits &= -1 << _BITS_DROPPED
    state.clear()
