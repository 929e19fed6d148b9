"""Compiled code in two forms: what other kernels are compiled with, and what this process runs.

Most kernels are called by kernels alone, which take over their code. So code is first kept as LLVM's, optimised, since
callers decide by that what to inline; it is translated, together with a wrapper that takes Python's arguments, for what
is called from Python or by its address.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import binding
from numba.core.bytecode import FunctionIdentity
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment
from numba.core.runtime import rtsys

from mcts_envs.core.compiling.meaning import meaning


class Inner(JITCodeLibrary):  # type: ignore[misc]
    """Code to link with, of which no machine code is made; what goes into all its callers is optimised there."""

    left_to_callers = False

    def _optimize_final_module(self) -> None:
        if not self.left_to_callers:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def bitcode(self) -> bytes:
        """Return the code as LLVM writes it."""
        self._ensure_finalized()
        return bytes(self._final_module.as_bitcode())

    @classmethod
    def of(cls, codegen: Any, name: str, bitcode: bytes) -> "Inner":
        """Return the library with this code."""
        library = cls(codegen, name)
        library._final_module = binding.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


class Entry:
    """What Numba knows a compiled function by: it is one of its own, and cannot be called."""


class Pipeline(Compiler):  # type: ignore[misc]
    """Numba's compiler, which stops before machine code and wrapper."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Compile a plain function."""
        state = self.state
        state.flags.no_compile = state.flags.no_cpython_wrapper = True
        state.library = Inner(state.targetctx.codegen(), function.__qualname__)
        state.library.left_to_callers = bool(state.flags.forceinline)
        result = super().compile_extra(function)._replace(entry_point=Entry())
        result.target_context.insert_user_function(result.entry_point, result.fndesc, [result.library])
        return result

    def _compile_bytecode(self) -> Any:
        # Numba numbers functions, and names their code by that: two functions of one name, which two processes have
        # kept under one number, would be one to the process that loads both.
        identity: FunctionIdentity = self.state.func_id
        identity.unique_id = f"{identity.unique_id}x{meaning(identity.func)[:16]}"
        return super()._compile_bytecode()


class Machine(NamedTuple):
    """Machine code of a function, loaded.

    Attributes
    ----------
    library : JITCodeLibrary
    fndesc, environment
        What Numba says of the function, and its environment.
    others : tuple
        Environments of functions in it.
    call : builtin
        The function, for Python.
    """

    library: Any
    fndesc: Any
    environment: Any
    others: tuple[Any, ...]
    call: Any

    @property
    def address(self) -> int:
        """Where the function lies, for compiled code."""
        with global_compiler_lock:  # LLVM has a lock too, and who forks waits for this one alone
            return int(self.library.get_pointer_to_function(self.fndesc.llvm_func_name))


def translate(result: Any, release_gil: bool) -> Machine:
    """Make machine code of a compiled function, and load it."""
    context, fndesc, environment = result.target_context, result.fndesc, result.environment
    library = JITCodeLibrary(context.codegen(), fndesc.qualname)
    library.enable_object_caching()
    context.create_cpython_wrapper(library, fndesc, environment, None, release_gil=release_gil)
    result.library._ensure_finalized()
    library._final_module.link_in(result.library._final_module, preserve=True)
    if result.library.left_to_callers:
        library._optimize_final_module()
    library._final_module.verify()
    library._finalize_final_module()
    names = [variable.name for variable in library._final_module.global_variables]
    found = (lookup_environment(name) for name in names if name.startswith("_ZN08NumbaEnv"))
    others = tuple(other for other in found if other is not None and other.can_cache())
    return _loaded(context, library, fndesc, environment, others)


def _loaded(context: Any, library: Any, fndesc: Any, environment: Any, others: tuple[Any, ...]) -> Machine:
    call = context.get_executable(library, fndesc, environment)
    for other in others:
        library.codegen.set_env(other.env_name, other)
    return Machine(library, fndesc, environment, others, call)


# What is kept on disk: of either form its code, and what Numba wants to know of it.


def inner_parts(result: Any) -> tuple[Any, ...]:
    """Return what :func:`inner_of` takes, to be pickled."""
    # These may not be pickled, and nobody asks for them.
    result.fndesc.typemap = result.fndesc.calltypes = None
    code = result.library.name, result.library.bitcode()
    return code, result.fndesc, result.environment, result.signature, tuple(result.reload_init)


def inner_of(context: Any, parts: tuple[Any, ...]) -> CompileResult:
    """Return the compiled function that was taken apart."""
    (name, bitcode), fndesc, environment, signature, reload_init = parts
    for initialize in reload_init:
        initialize()
    return compile_result(
        target_context=context,
        typing_context=context.typing_context,
        library=Inner.of(context.codegen(), name, bitcode),
        environment=environment,
        entry_point=Entry(),
        fndesc=fndesc,
        signature=signature,
        objectmode=False,
        lifted=(),
        reload_init=reload_init,
    )


def machine_parts(machine: Machine) -> tuple[Any, ...]:
    """Return what :func:`machine_of` takes, to be pickled."""
    code = machine.library.name, machine.library._get_compiled_object()
    module = machine.library._final_module
    named = (*module.functions, *module.global_variables)
    outside = [each.name for each in named if each.is_declaration and not each.name.startswith("llvm.")]
    return code, machine.fndesc, machine.environment, machine.others, outside


def machine_of(context: Any, parts: tuple[Any, ...]) -> Machine:
    """Load machine code that was taken apart.

    What prepares Numba to compile takes longer than to load a game: it is left to who compiles, unless the code calls
    what has no address before.
    """
    (name, code), fndesc, environment, others, outside = parts
    rtsys.initialize(context)
    if any(binding.address_of_symbol(each) is None for each in outside):
        context.refresh()
    library = JITCodeLibrary(context.codegen(), name)
    library.enable_object_caching()
    library._set_compiled_object(code)
    library._finalize_final_module()
    # Numba does not look into machine code; what it has no name for it does not look for.
    library.codegen._engine._defined_symbols |= {fndesc.llvm_func_name, fndesc.llvm_cpython_wrapper_name}
    return _loaded(context, library, fndesc, environment, others)
