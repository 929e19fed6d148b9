"""A kernel with its first argument settled: what ``functools.partial`` is to functions."""

import weakref
from functools import cached_property
from itertools import count
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

_serial = count()


class Jump(NamedTuple):
    """A function that calls a kernel with what stands in a cell as its first argument, and the code that it lies in."""

    address: int
    cell: npt.NDArray[np.int64]
    library: Any


_FREE: dict[int, list[Jump]] = {}
"""Jumps that nobody needs any more, by the address of the kernel: LLVM gives no memory of code back."""


class Bound:
    """A kernel whose first argument, an integer such as an address, is settled; other kernels call it by its address.

    Making it takes a millisecond, as it is a jump into the kernel, which is compiled once; where another one is gone it
    takes over that one's.

    Parameters
    ----------
    kernel : kernel
        With a signature, of which the first argument is int64.
    first : int
    owner : object
        Kept as long as this: what the address belongs to.
    """

    overloads: ClassVar[dict[Any, Any]] = {}
    """By this function tables know what is compiled."""

    def __init__(self, kernel: Any, first: int, owner: Any = None) -> None:
        signature = kernel.declared
        self.declared = signature.return_type(*signature.args[1:])
        self.__name__ = kernel.__name__
        self._kernel, self._first, self._owner = kernel, first, owner

    def __call__(self, *args: Any) -> Any:
        """Call the kernel from Python."""
        return self._kernel(self._first, *args)

    def __reduce__(self) -> Any:
        raise TypeError(f"{self.__name__} is bound to this process; make the agent anew in the other one")

    def ready(self) -> "Bound":
        """Return this, with its code made."""
        _ = self.address
        return self

    @cached_property
    def address(self) -> int:
        """Where the function lies, for compiled code."""
        target = self._kernel.ready().address
        free = _FREE.setdefault(target, [])
        try:
            jump = free.pop()
        except IndexError:
            with global_compiler_lock:
                jump = _jump(self._kernel, target)
        jump.cell[0] = self._first
        weakref.finalize(self, free.append, jump).atexit = False
        return jump.address


def _jump(kernel: Any, target: int) -> Jump:
    """Return a jump into a kernel, which lies at an address."""
    context, signature = cpu_target.target_context, kernel.declared
    name = f"bound_{kernel.__name__}_{next(_serial)}"
    library = JITCodeLibrary(context.codegen(), name)
    module = context.create_module(name)
    whole = context.call_conv.get_function_type(signature.return_type, signature.args)
    rest = context.call_conv.get_function_type(signature.return_type, signature.args[1:])
    function = ir.Function(module, rest, name)
    builder = ir.IRBuilder(function.append_basic_block())
    head = len(whole.args) - len(rest.args)
    returned = len(function.args) - sum(len(_words(context, kind)) for kind in signature.args[1:])
    assert head == 1, "the first argument is one word"
    cell, word = np.zeros(1, np.int64), ir.IntType(64)
    first = builder.load(builder.inttoptr(ir.Constant(word, cell.ctypes.data), word.as_pointer()))
    arguments = [*function.args[:returned], first, *function.args[returned:]]
    callee = builder.inttoptr(ir.Constant(word, target), whole.as_pointer())
    builder.ret(builder.call(callee, arguments))
    library.add_ir_module(module)
    library.finalize()
    return Jump(int(library.get_pointer_to_function(name)), cell, library)


def _words(context: Any, kind: Any) -> tuple[Any, ...]:
    return tuple(context.get_arg_packer([kind]).argument_types)
