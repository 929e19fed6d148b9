"""Policies of models that go on learning, as they are now."""

import copy
from typing import Any


def frozen(policy: Any) -> Any:
    """Return a policy of Stable-Baselines3 with memory of its own, which learns nothing more and draws nothing.

    What its last pass left, a distribution or features that somebody looks at, hangs on a graph, and is not copied.
    """
    import torch

    left: list[Any] = [value for module in policy.modules() for value in vars(module).values()]
    kept = {id(value): value.detach() for value in left if isinstance(value, torch.Tensor) and not value.is_leaf}
    drawn = getattr(policy, "action_dist", None)
    found = copy.deepcopy(policy, {**kept, id(drawn): copy.copy(drawn)})
    found.set_training_mode(False)
    return found
