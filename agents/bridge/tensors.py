"""How PyTorch's tensors are copied, as those of a network that plays for somebody in the environment."""

import sys
from typing import Any

from agents.bridge.classes import name_of
from agents.bridge.opaque import copy_opaque

_LARGE = 10_000
"""Numbers from which on a tensor is put back only if PyTorch has counted a change to it: ``.data`` leaves none."""

_KINDS = "torch.Tensor", "torch.nn.parameter.Parameter"


def is_tensor(kind: type) -> bool:
    """Say whether a class is one of PyTorch's own of tensors."""
    return name_of(kind) in _KINDS


def copy_tensor(into: Any, value: Any) -> Any:
    """Copy a tensor and its gradient, and note how their numbers are put back in place."""
    gradient = into.of(value.grad) if value.is_leaf else None
    opaque = into.opaque
    made = copy_opaque(into, value)
    if not _is_plain(made):
        return made
    into.opaque = opaque
    made.grad = gradient
    into._others += [(_put_gradient, (made, gradient)), (_Kept(made).put_back, ())]
    return made


def _is_plain(tensor: Any) -> bool:
    """Say whether a tensor's numbers lie in memory one by one, each in a place of its own."""
    torch: Any = sys.modules["torch"]
    dense = tensor.layout is torch.strided and tensor.device.type != "meta"
    apart = dense and all(stride or size < 2 for stride, size in zip(tensor.stride(), tensor.shape, strict=True))
    return bool(apart and not tensor.is_quantized and not tensor.is_inference())


def _put_gradient(made: Any, gradient: Any) -> None:
    if made.grad is not gradient:
        made.grad = gradient


class _Kept:
    """What a tensor of a copy held when it was made."""

    def __init__(self, made: Any) -> None:
        self._made, self._numbers, self._version = made, made.detach().clone(), made._version

    def put_back(self) -> None:
        """Give the tensor its numbers again."""
        if self._made._version != self._version or self._numbers.numel() < _LARGE:
            self._made.data.copy_(self._numbers)
            self._version = self._made._version
