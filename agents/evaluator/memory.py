"""Memory by its address in compiled code: arrays that outlive the call, and room that ends with it."""

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, type_callable

ROOM = 16_384
"""Numbers of 4 bytes in the room of a call."""

_shared = (ctypes.c_char * (4 * ROOM))()


def array_at(address: int, size: int, dtype: Any) -> Any:
    """View ``size`` numbers from an address on as an array; nothing is checked or kept alive."""
    return np.frombuffer((ctypes.c_char * (size * np.dtype(dtype).itemsize)).from_address(address), dtype)


def room() -> int:
    """Return the address of room for ``ROOM`` numbers of 4 bytes, not cleared, which ends with the kernel it is in."""
    return ctypes.addressof(_shared)


def settle(address: int) -> None:
    """Have what was written from an address on be there, so that what follows reads it and not what it is a copy of.

    Compiled code may read memory twice where the source reads it once; if another thread writes to it, that is not the
    same.
    """


@type_callable(array_at)
def _type_array_at(context: Any) -> Any:
    def typer(address: Any, size: Any, dtype: Any) -> Any:
        return types.Array(dtype.dtype, 1, "C")

    return typer


@lower_builtin(array_at, types.Integer, types.Integer, types.Any)
def _lower_array_at(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    from numba.np.arrayobj import populate_array  # late, with all that Numba compiles arrays with

    kind = signature.return_type
    array = context.make_array(kind)(context, builder)
    size = context.cast(builder, arguments[1], signature.args[1], types.intp)
    each = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    data = builder.inttoptr(arguments[0], context.get_data_type(kind.dtype).as_pointer())
    populate_array(array, data=data, shape=[size], strides=[each], itemsize=each, meminfo=None)
    return array._getvalue()


@type_callable(room)
def _type_room(context: Any) -> Any:
    return lambda: types.int64


@lower_builtin(room)
def _lower_room(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    with builder.goto_entry_block():  # not cgutils.alloca_once, which clears what it allocates
        found = builder.alloca(ir.ArrayType(ir.IntType(64), ROOM // 2))
    return builder.ptrtoint(found, ir.IntType(64))


@type_callable(settle)
def _type_settle(context: Any) -> Any:
    return lambda address: types.void


@lower_builtin(settle, types.Integer)
def _lower_settle(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = ir.FunctionType(ir.VoidType(), [arguments[0].type])
    builder.asm(kind, "", "r,~{memory}", arguments, side_effect=True)  # no instruction: for the compiler alone
    return context.get_dummy_value()
