"""A call of a kernel whose arguments stay in memory: made again, it costs Python a tenth of a call.

Numba takes apart every argument of a call, each array and each field of a record. A search that waits for a network is
called once for every leaf, with arguments of which three change.
"""

import ctypes
import struct
from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

_WORD = ir.IntType(64)
_serial = count()


class Packed:
    """A call that can be made again and again.

    Parameters
    ----------
    kernel : kernel
        With a signature that returns nothing.
    *arguments
        As for the kernel. They are kept; what they hold may change, and :meth:`put` replaces one.
    """

    def __init__(self, kernel: Any, *arguments: Any) -> None:
        self._kernel, self._arguments = kernel, list(arguments)
        self._kinds = kernel.declared.args
        self._library, self._run = _unpacking(kernel)
        parts = [list(_words(*pair)) for pair in zip(self._kinds, arguments, strict=True)]
        ends = np.cumsum([len(part) for part in parts]).tolist()
        self._places = [slice(end - len(part), end) for end, part in zip(ends, parts, strict=True)]
        self._packed = np.array([word for part in parts for word in part], np.int64)
        self._address = self._packed.ctypes.data

    def put(self, place: int, argument: Any) -> None:
        """Replace an argument."""
        self._arguments[place] = argument
        # a number at once: this is done at every leaf
        words = argument if type(argument) is int else list(_words(self._kinds[place], argument))
        self._packed[self._places[place]] = words

    def __call__(self) -> None:
        """Call the kernel.

        Raises
        ------
        Exception
            Whatever it raises.
        """
        if self._run(self._address):
            self._kernel(*self._arguments)  # which says what it was
            raise RuntimeError(f"{self._kernel.__name__} failed in a call, and not when it was called again")


def _words(kind: Any, given: Any) -> Iterator[int]:
    """Take an argument apart, into words of 8 bytes, as compiled functions are given it."""
    if isinstance(kind, types.BaseTuple):
        for of, part in zip(kind.types, given, strict=True):
            yield from _words(of, part)
    elif isinstance(kind, types.Array):
        # who owns it (nobody counts), its items, the size of each, where they lie, shape and strides
        yield from (0, 0, given.size, given.itemsize, given.ctypes.data, *given.shape, *given.strides)
    elif isinstance(kind, types.Float):
        yield struct.unpack("q", struct.pack("d", given))[0]
    else:
        yield int(given)


@cache
def _unpacking(kernel: Any) -> tuple[Any, Any]:
    """Return a library with a function that calls a kernel with the words at an address, and this for Python."""
    with global_compiler_lock:
        target, context, signature = kernel.ready().address, cpu_target.target_context, kernel.declared
        name = f"packed_{kernel.__name__}_{next(_serial)}"
        library = JITCodeLibrary(context.codegen(), name)
        module = context.create_module(name)
        whole = context.call_conv.get_function_type(signature.return_type, signature.args)
        words = context.get_arg_packer(signature.args).argument_types
        head = whole.args[: len(whole.args) - len(words)]  # where the kernel says what it returns, or raises
        function = ir.Function(module, ir.FunctionType(whole.return_type, [_WORD.as_pointer()]), name)
        builder = ir.IRBuilder(function.append_basic_block())
        arguments = [builder.alloca(kind.pointee) for kind in head]
        for i, kind in enumerate(words):
            word = builder.load(builder.gep(function.args[0], [_WORD(i)]))
            arguments.append(_as(builder, word, kind))
        callee = builder.inttoptr(_WORD(target), whole.as_pointer())
        status = builder.call(callee, arguments)
        builder.ret(status)
        library.add_ir_module(module)
        library.finalize()
        address = library.get_pointer_to_function(name)
    return library, ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(address)


def _as(builder: Any, word: Any, kind: Any) -> Any:
    """Return a word as the type of an argument."""
    if isinstance(kind, ir.PointerType):
        return builder.inttoptr(word, kind)
    if isinstance(kind, ir.DoubleType):
        return builder.bitcast(word, kind)
    return word if kind == _WORD else builder.trunc(word, kind)
