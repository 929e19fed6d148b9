"""Trainings that diverge: weights grow beyond all bounds, until they are no numbers."""

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

_OF_DISTRIBUTIONS = "found invalid values"
"""What PyTorch says of probabilities that are no numbers, before a page of them."""


def not_finite(policy: Any) -> str | None:
    """Return the name of the first weights of a policy that are not finite, if any are."""
    import torch

    with torch.no_grad():
        if math.isfinite(sum(weights.sum() for weights in policy.parameters())):  # one question to a GPU
            return None
        return next((name for name, each in policy.named_parameters() if not bool(each.isfinite().all())), None)


@contextlib.contextmanager
def noticing(model: "BaseAlgorithm", cure: Callable[[], str]) -> Iterator[None]:
    """Say that a model has diverged, if it has when the block in which it learns is over, or failed.

    Raises
    ------
    RuntimeError
        If it has; says the ``cure``.
    """
    try:
        yield
    except Exception as error:
        if what := not_finite(model.policy) or ("what the policy says" if _OF_DISTRIBUTIONS in str(error) else None):
            raise _diverged(what, cure()) from error
        raise
    if what := not_finite(model.policy):
        raise _diverged(what, cure())


def _diverged(what: str, cure: str) -> RuntimeError:
    return RuntimeError(f"training has diverged: {what} is not finite, and is not saved; {cure}")
