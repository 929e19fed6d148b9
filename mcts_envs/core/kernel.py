"""The one decorator that owns every Numba flag, and the primitives under all kernels.

A kernel is a plain Python function over flat arrays that Numba compiles with an explicit signature. Its Python body
stays usable: :func:`interpreted` gives it back, with everything that it calls interpreted too.
"""

import importlib
import sys
import types as python_types
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import NumbaError
from numba.extending import (
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
    type_callable,
)

from mcts_envs.core import errors
from mcts_envs.core.compiling.dispatcher import Inlined, Kernel
from mcts_envs.core.compiling.interpreting import interpreted as interpreted
from mcts_envs.core.typing import Bytes

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(signature: Any = None, *, nogil: bool = True) -> Callable[[Function], Function]:
    """Compile a function when it is first needed, release the GIL in it, and cache the result on disk.

    A kernel allocates nothing (``np.zeros`` and the like are refused), so that arrays need no reference counts in it:
    they would cost more than all the rest. Functions that stand in no file (notebook cells) are compiled anew in every
    process.

    Parameters
    ----------
    signature : numba signature, optional
        One of the aliases in :mod:`mcts_envs.core.contract`. Functions that are passed to other kernels need one.
        Without it the function is compiled into those that call it.
    nogil : bool
        Whether the GIL is released where Python calls it. With the GIL held no other thread sees half of what it does.

    Raises
    ------
    TypeError
        If the decorator stands without brackets.
    """
    if isinstance(signature, python_types.FunctionType):
        raise TypeError(
            f"@kernel stands without brackets above {signature.__name__}; write @kernel(STEP), or another signature of "
            "mcts_envs.core.contract, or @kernel() for a function that is compiled into its callers"
        )

    def decorate(function: Function) -> Function:
        if numba.config.DISABLE_JIT:
            return function
        options = {"nopython": True, "nogil": nogil, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
        if signature is None:
            return cast(Function, Inlined(function, {}, {**options, "forceinline": True}))
        compiled = Kernel(function, {}, options)
        compiled.declared = signature
        return cast(Function, compiled)

    return decorate


class _Carried(NamedTuple):
    """A kernel that cannot be imported under its name, and what was noted about it as ``needs``."""

    function: Any
    needs: Any


def reference(function: Any) -> Any:
    """Return ``"module:name"`` for a kernel that can be imported under its name; anything else as it is.

    Pickles of games and agents hold references: the code of a kernel need not travel, and its address must not.
    """
    if hasattr(function, "py_func"):
        module, name = function.__module__, function.__qualname__
        if getattr(sys.modules.get(module), name, None) is function and module != "__main__":
            return f"kernel {module}:{name}"
        if hasattr(function, "needs"):
            return _Carried(function, function.needs)
    return function


def resolve(given: Any) -> Any:
    """Return the kernel that :func:`reference` described; anything else as it is."""
    if isinstance(given, _Carried):
        given.function.needs = given.needs
        return given.function
    if isinstance(given, str) and given.startswith("kernel "):
        module, name = given.removeprefix("kernel ").split(":")
        return getattr(importlib.import_module(module), name)
    return given


def function_table(kernels: Mapping[str, Any], signatures: Mapping[str, Any]) -> Any:
    """Return a table of named kernels as other kernels take them, in the order of the signatures (see :func:`slot`).

    Raises
    ------
    TypeError
        If a kernel was compiled with another signature: called through an address it would corrupt memory.
    """
    functions = [kernels[name] for name in signatures]
    if any(not hasattr(function, "overloads") for function in functions):
        return tuple(interpreted(function) for function in functions)
    for name, function in zip(signatures, functions, strict=True):
        if getattr(function, "declared", None) != signatures[name]:
            found = str(getattr(function, "declared", "no signature"))[:80]
            raise TypeError(f"{name} has {found}, not that of {name.upper()}; decorate it with @kernel({name.upper()})")
    return np.array([function.ready().address for function in functions], np.uint64)


def slot(index: int, signature: Any, module: str, name: str) -> Callable[[Any], Any]:
    """Return a primitive that fetches the function at one place of a function table; it is to stand at module.name.

    Compiled, a table is an array of addresses; interpreted, a tuple of Python functions. Passing functions as
    arguments instead costs about 30 us for each of them and call, because Numba asks Python for every address.
    """

    def fetch(table: Any) -> Any:
        return table[index]

    fetch.__module__, fetch.__name__, fetch.__qualname__ = module, name, name
    function_type = types.FunctionType(signature)

    @type_callable(fetch)
    def _type_fetch(context: Any) -> Any:
        return lambda table: function_type

    @lower_builtin(fetch, types.Array)
    def _lower_fetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        entry = builder.load(builder.gep(array.data, [ir.Constant(ir.IntType(64), index)]))
        function = cgutils.create_struct_proxy(function_type)(context, builder)
        function.jit_addr = builder.inttoptr(entry, context.get_value_type(types.voidptr))
        return function._getvalue()

    return fetch


# The primitives. Their Python bodies serve interpreted mode; the lowered forms below cost what C would: no reference
# count for a record (13 ns saved a call), a plain memcpy for a copy, one load for a word.


def record(raw: Bytes, dtype: Any) -> Any:
    """View the first bytes of a state as one aligned record whose fields can be read and written."""
    return raw[: dtype.itemsize].view(dtype)[0]


def row(raw: Any, index: Any, dtype: Any) -> Any:
    """View one of the equal records that lie one after another in an array of bytes, or from an address on.

    In interpreted code a list of objects with the record's attributes serves too.
    """
    if isinstance(raw, list):
        return raw[index]
    return raw[index * dtype.itemsize : (index + 1) * dtype.itemsize].view(dtype)[0]


def copy(target: Any, source: Any) -> None:
    """Copy one array over another of the same type and size: a state, a row of numbers."""
    target[:] = source


def word(raw: Bytes, index: int) -> np.uint64:
    """Return the ``index``-th 8 bytes of a state as one unsigned integer."""
    return np.uint64(raw[8 * index : 8 * index + 8].view(np.uint64)[0])


_NARROW = frozenset((np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32))


class Record(np.void):  # type: ignore[misc]
    """A record in interpreted code, of which integers are read as compiled code reads them (see :class:`_Lifted`)."""

    __slots__ = ()

    def __getitem__(self, name: Any) -> Any:
        value = np.void.__getitem__(self, name)
        return np.int64(value) if type(value) in _NARROW else value

    def __getattribute__(self, name: str) -> Any:
        try:  # fields first: a lookup that fails in Python costs more than all the rest
            return self[name]
        except (KeyError, ValueError):
            return np.void.__getattribute__(self, name)

    __setattr__ = np.void.__setitem__


def record_dtype(fields: Iterable[Any]) -> Any:
    """Return the aligned type of a record for :func:`record` and :func:`row`.

    An integer field takes as many bytes as it says, and reading it gives 64 bits: sums and differences of fields cannot
    overflow. Elements of array fields keep their type; ``np.int64`` lifts them.

    Parameters
    ----------
    fields : iterable of tuples
        As ``numpy.dtype`` takes them: ``("turn", "u1")``, ``("cells", "u1", 9)``.
    """
    return np.dtype((Record, np.dtype(list(fields), align=True)))


class _Lifted(types.Record):  # type: ignore[misc]
    """A record in compiled code: reading an integer field narrower than 64 bits gives int64.

    A load that extends what it loads costs nothing, and LLVM knows from it that a byte is small and not negative.
    """

    def __init__(self, stored: Any) -> None:
        fields = [(name, field._asdict()) for name, field in stored.fields.items()]
        super().__init__(fields, stored.size, stored.aligned)
        self.stored = stored

    def typeof(self, name: str) -> Any:
        """Return the type that reading a field gives, and to which what is assigned is converted."""
        if name not in self.fields:
            raise NumbaError(errors.unknown("field", name, self.fields))
        kind = self.stored.typeof(name)
        return types.int64 if isinstance(kind, types.Integer) and kind.bitwidth < 64 else kind


_lifted = cache(_Lifted)
register_model(_Lifted)(models.RecordModel)


@lower_getattr_generic(_Lifted)
def _lower_read(context: Any, builder: Any, record: Any, value: Any, name: str) -> Any:
    read = context.get_getattr(record.stored, name)(context, builder, record.stored, value, name)
    return context.cast(builder, read, record.stored.typeof(name), record.typeof(name))


@lower_setattr_generic(_Lifted)
def _lower_write(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> Any:
    record, value = signature.args
    return context.get_setattr(name, types.void(record.stored, value))(builder, arguments)


@type_callable(record)
def _type_record(context: Any) -> Any:
    def typer(raw: Any, dtype: Any) -> Any:
        return _lifted(dtype.dtype)

    return typer


@lower_builtin(record, types.Array, types.DType)
def _lower_record(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.bitcast(array.data, context.get_value_type(signature.return_type))


@type_callable(row)
def _type_row(context: Any) -> Any:
    def typer(raw: Any, index: Any, dtype: Any) -> Any:
        return _lifted(dtype.dtype)

    return typer


@lower_builtin(row, types.Array, types.Integer, types.DType)
def _lower_row(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    index = context.cast(builder, arguments[1], signature.args[1], types.intp)
    offset = builder.mul(index, context.get_constant(types.intp, signature.return_type.size))
    return builder.bitcast(builder.gep(array.data, [offset]), context.get_value_type(signature.return_type))


@lower_builtin(row, types.Integer, types.Integer, types.DType)
def _lower_row_at(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    index = context.cast(builder, arguments[1], signature.args[1], types.intp)
    offset = builder.mul(index, context.get_constant(types.intp, signature.return_type.size))
    address = builder.add(arguments[0], offset)
    return builder.inttoptr(address, context.get_value_type(signature.return_type))


@type_callable(copy)
def _type_copy(context: Any) -> Any:
    def typer(target: Any, source: Any) -> Any:
        return types.none

    return typer


@lower_builtin(copy, types.Array, types.Array)
def _lower_copy(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    target = context.make_array(signature.args[0])(context, builder, arguments[0])
    source = context.make_array(signature.args[1])(context, builder, arguments[1])
    cgutils.raw_memcpy(builder, target.data, source.data, source.nitems, source.itemsize)
    return context.get_dummy_value()


@type_callable(word)
def _type_word(context: Any) -> Any:
    def typer(raw: Any, index: Any) -> Any:
        return types.uint64

    return typer


@lower_builtin(word, types.Array, types.Integer)
def _lower_word(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    index = context.cast(builder, arguments[1], signature.args[1], types.intp)
    words = builder.bitcast(array.data, ir.IntType(64).as_pointer())
    load = builder.load(builder.gep(words, [index]))
    load.align = 1
    return load


def lowest(bits: int) -> int:
    """Return the position of the lowest set bit of a 64-bit integer; 64 if there is none."""
    value = int(bits) & 0xFFFFFFFFFFFFFFFF
    return (value & -value).bit_length() - 1 if value else 64


def count_bits(bits: int) -> int:
    """Return how many bits of a 64-bit integer are set."""
    return (int(bits) & 0xFFFFFFFFFFFFFFFF).bit_count()


@type_callable(lowest)
@type_callable(count_bits)
def _type_bits(context: Any) -> Any:
    def typer(bits: Any) -> Any:
        return types.int64 if bits in (types.int64, types.uint64) else None

    return typer


@lower_builtin(lowest, types.Integer)
def _lower_lowest(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))


@lower_builtin(count_bits, types.Integer)
def _lower_count_bits(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.ctpop(arguments[0])
