"""A kernel with its first argument settled: what ``functools.partial`` is to functions."""

from functools import cached_property
from itertools import count
from typing import Any, ClassVar

from llvmlite import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

_serial = count()


class Bound:
    """A kernel whose first argument, an integer such as an address, is settled; other kernels call it by its address.

    Making it takes a millisecond, as it is a jump into the kernel, which is compiled once.

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
        with global_compiler_lock:
            self._library, name = _jump(self._kernel, self._first)
        return int(self._library.get_pointer_to_function(name))


def _jump(kernel: Any, first: int) -> tuple[Any, str]:
    """Return a library with a function that calls a kernel with its first argument, and the name of that."""
    target, context, signature = kernel.ready().address, cpu_target.target_context, kernel.declared
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
    arguments = [*function.args[:returned], ir.Constant(whole.args[returned], first), *function.args[returned:]]
    callee = builder.inttoptr(ir.Constant(ir.IntType(64), target), whole.as_pointer())
    builder.ret(builder.call(callee, arguments))
    library.add_ir_module(module)
    library.finalize()
    return library, name


def _words(context: Any, kind: Any) -> tuple[Any, ...]:
    return tuple(context.get_arg_packer([kind]).argument_types)
