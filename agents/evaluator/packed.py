"""A call of a kernel whose arguments stay in memory: made again, it costs Python a tenth of a call.

Numba takes apart every argument of a call, each array and each field of a record. A search that waits for a network is
called once for every leaf, with arguments of which three change.
"""

import ctypes
import struct
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

_WORD = ir.IntType(64)
_FLOAT, _INTEGER = struct.Struct("d"), struct.Struct("q")
_serial = count()

Taker: TypeAlias = Callable[[Any, list[int]], None]
"""Takes an argument apart, and puts its words behind those in a list."""


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
        self._library, self._run, self._takers = _unpacking(kernel)
        words: list[int] = []
        self._places: list[slice] = []
        for take, argument in zip(self._takers, arguments, strict=True):
            first = len(words)
            take(argument, words)
            self._places.append(slice(first, len(words)))
        self._packed = np.array(words, np.int64)
        self._address = self._packed.ctypes.data

    def put(self, place: int, argument: Any) -> None:
        """Replace an argument."""
        self._arguments[place] = argument
        words: list[int] = []
        self._takers[place](argument, words)
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


def _taker(kind: Any) -> Taker:
    """Return what takes arguments of a type apart, into words of 8 bytes, as compiled functions are given them."""
    if isinstance(kind, types.BaseTuple):
        parts = [_taker(of) for of in kind.types]

        def take_parts(given: Any, words: list[int]) -> None:
            for take, part in zip(parts, given, strict=True):
                take(part, words)

        return take_parts
    if isinstance(kind, types.Array):
        return _take_array
    return _take_float if isinstance(kind, types.Float) else _take_int


def _take_array(given: Any, words: list[int]) -> None:
    try:
        address = ctypes.addressof(ctypes.c_char.from_buffer(given))  # a seventh of the time of given.ctypes
    except (TypeError, ValueError):  # nobody may write to it, or it is empty
        address = given.ctypes.data
    # who owns it (nobody counts), its items, the size of each, where they lie, shape and strides
    words.extend((0, 0, given.size, given.itemsize, address, *given.shape, *given.strides))


def _take_float(given: float, words: list[int]) -> None:
    words.append(_INTEGER.unpack(_FLOAT.pack(given))[0])


def _take_int(given: int, words: list[int]) -> None:
    words.append(int(given))


@cache
def _unpacking(kernel: Any) -> tuple[Any, Any, list[Taker]]:
    """Return a library with a function that calls a kernel with the words at an address, and this for Python.

    And what takes each argument apart into these words.
    """
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
    run = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(address)
    return library, run, [_taker(kind) for kind in signature.args]


def _as(builder: Any, word: Any, kind: Any) -> Any:
    """Return a word as the type of an argument."""
    if isinstance(kind, ir.PointerType):
        return builder.inttoptr(word, kind)
    if isinstance(kind, ir.DoubleType):
        return builder.bitcast(word, kind)
    return word if kind == _WORD else builder.trunc(word, kind)
