"""How PyTorch's tensors are copied, as those of a network that plays for somebody in the environment."""

import sys
from typing import Any

import numpy as np

from agents.bridge.copying.classes import name_of
from agents.bridge.copying.opaque import copy_opaque

_KINDS = "torch.Tensor", "torch.nn.parameter.Parameter"


def is_tensor(kind: type) -> bool:
    """Say whether a class is one of PyTorch's own of tensors."""
    return name_of(kind) in _KINDS


def copy_tensor(into: Any, value: Any) -> Any:
    """Copy a tensor, its gradient and its attributes, and note how they are put back in place."""
    gradient = into.of(value.grad) if value.is_leaf else None
    held = {name: into.of(item) for name, item in vars(value).items()}
    learns, opaque = value.requires_grad and value.is_leaf, into.opaque
    _lend(into, value)
    made = copy_opaque(into, value.detach())  # a parameter would be copied apart from what shares its memory
    made = made.requires_grad_(learns) if name_of(type(value)) == _KINDS[0] else type(value)(made, learns)
    made.grad = gradient
    vars(made).update(held)
    _note_memory(into, value)
    if _is_plain(made):
        into.opaque = opaque
        into._dicts.append((vars(made), held))
        place = made.data  # the same memory, of which no changes are counted
        into._others.append((_put_back, (made, place, place.clone(), learns, gradient)))
    return made


def in_memory_of_tensor(into: Any, value: Any) -> Any:
    """Return the copy of an array that lies in the memory of a tensor; None where none was copied that it lies in."""
    begin = address = value.__array_interface__["data"][0]
    if is_tensor(type(value.base)):
        into.of(value.base)
        begin = value.base.untyped_storage().data_ptr()
    elif value.base is not None:
        return None
    memory = into._memo.get(("memory", begin))
    if memory is None or address - begin + value.nbytes > memory.nbytes:
        return None
    return np.ndarray(value.shape, value.dtype, memory, address - begin, value.strides)


def _lend(into: Any, value: Any) -> None:
    """Let a tensor's copy lie in the memory of the copy of an array, if the tensor lies in the array's own."""
    if (storage := _storage_of(value)) is None:
        return
    array = into._memo.get(("memory", storage.data_ptr()))
    if array is not None and array.flags.writeable and array.nbytes >= storage.nbytes():
        torch: Any = sys.modules["torch"]
        memory = torch.from_numpy(array.ravel("K").view(np.uint8)).untyped_storage()
        into._memo.setdefault("torch", {}).setdefault(storage._cdata, memory)  # where deep copies of storages are


def _note_memory(into: Any, value: Any) -> None:
    """Note the memory of a tensor's copy for arrays that lie in it."""
    storage = _storage_of(value)
    copied = None if storage is None else into._memo.get("torch", {}).get(storage._cdata)
    if copied is not None:
        torch: Any = sys.modules["torch"]
        into._memo["memory", storage.data_ptr()] = torch.empty(0, dtype=torch.uint8).set_(copied).numpy()


def _storage_of(tensor: Any) -> Any:
    """Return the memory of a tensor; None where no array can lie in it."""
    strided = tensor.layout is sys.modules["torch"].strided and tensor.device.type == "cpu"
    return tensor.untyped_storage() if strided and tensor.numel() else None


def _is_plain(tensor: Any) -> bool:
    """Say whether a tensor's numbers lie in memory one by one, each in a place of its own."""
    torch: Any = sys.modules["torch"]
    dense = tensor.layout is torch.strided and tensor.device.type != "meta"
    apart = dense and all(stride or size < 2 for stride, size in zip(tensor.stride(), tensor.shape, strict=True))
    return bool(apart and not tensor.is_quantized and not tensor.is_inference())


def _put_back(made: Any, place: Any, numbers: Any, learns: bool, gradient: Any) -> None:
    """Give a tensor its memory, numbers and gradient again: by ``.data`` another shape or type may have come."""
    made.data = place
    place.copy_(numbers)
    if not made.is_leaf:  # what has a gradient was added to it, which would be remembered
        made.detach_()
    if made.requires_grad != learns:
        made.requires_grad_(learns)
    if made.grad is not gradient:
        made.grad = gradient
