"""What Numba calls a dispatcher: a function that is compiled or loaded when it is first needed, and as it is needed."""

import dis
import os
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numba
from numba.core import typeinfer
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError, NumbaExperimentalFeatureWarning, UnsupportedBytecodeError
from numba.core.registry import CPUDispatcher
from numba.core.typing import make_concrete_template

from mcts_envs.core import errors
from mcts_envs.core.compiling import early
from mcts_envs.core.compiling.cache import KernelCache
from mcts_envs.core.compiling.compiled import Machine, Pipeline, translate
from mcts_envs.core.compiling.interpreting import interpreted
from mcts_envs.core.compiling.signals import heed, put_off

if hasattr(os, "register_at_fork"):
    # A child has none of its parent's threads: it would wait for ever for one that compiles, and share its file's lock.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_child=global_compiler_lock.release,
        after_in_parent=global_compiler_lock.release,
    )


class Compiled(CPUDispatcher):  # type: ignore[misc]
    """A function of which machine code is made when Python calls it, or asks for its address; see :mod:`.compiled`."""

    def __init__(self, function: Any, local: Any = None, options: Any = None, pipeline: Any = Pipeline) -> None:
        super().__init__(function, local, options, pipeline)
        self._opened: list[Machine] = []  # Numba's part in C holds no references to what it calls

    def add_overload(self, result: Any) -> None:
        """Note what was compiled for some arguments."""
        self.overloads[tuple(result.signature.args)] = result

    def compile(self, signature: Any) -> Any:
        """Compile the function for a signature, unless a signal came before."""
        heed()
        with warnings.catch_warnings():
            # Function tables, and records: a caller who turns warnings into errors could compile nothing.
            warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
            return super().compile(signature)

    def _open(self, arguments: Any, machine: Machine) -> Any:
        """Let Python call the function with arguments of these types, and return what it calls."""
        self._opened.append(machine)
        self._insert([argument._code for argument in arguments], machine.call, False)
        return machine.call


class Inlined(Compiled):
    """A function that is compiled into its callers, for whatever arguments they have."""

    def compile(self, signature: Any) -> Any:
        """Compile the function for a signature, unless it calls itself: it would have no end within its callers."""
        if self.py_func.__globals__.get(self.__name__) is self and _loads(self.py_func, self.__name__):
            told = (
                f"{self.__name__} calls itself, and is compiled into its callers; write a loop, or give it a signature"
            )
            raise NumbaError(f"{told} of its own, as in @kernel(types.int64(types.int64))")
        return super().compile(signature)

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        with put_off(), global_compiler_lock:
            entry = super()._compile_for_args(*args, **kws)
            (result,) = (result for result in self.overloads.values() if result.entry_point is entry)
            return self._open(result.signature.args, translate(result, self.targetoptions["nogil"]))


def _loads(function: Any, name: str) -> bool:
    """Say whether a function reads a global of that name, and not an attribute alone."""
    return name in function.__code__.co_names and any(
        each.opname == "LOAD_GLOBAL" and each.argval == name for each in dis.get_instructions(function)
    )


class Kernel(Compiled):
    """A function that is compiled for its one signature, or loaded, when it is first needed.

    That is when it is called, unless it is for a first look (:mod:`.early`), when a kernel that calls it is compiled,
    or when its address is asked for.
    """

    declared: Any = None
    """The signature."""
    _cache: Any
    _compiling = False
    _machine: Any = None
    _absent = False

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The kernel in plain Python, with all that it calls."""
        return interpreted(self)

    @property
    def made(self) -> bool:
        """Whether there is machine code in this process."""
        return self._machine is not None

    def at_hand(self) -> bool:
        """Say whether there is machine code: made, or kept from before, which is loaded then."""
        if not self.made and not self._absent:
            with put_off(), global_compiler_lock:
                machine = self._kept().load_machine(self.declared, self.targetctx)
                if machine is None:
                    self._absent = True
                elif not self.made:
                    self._take(machine)
        return self.made

    def tell_of_first_look(self) -> None:
        """Say that the kernel runs in plain Python for now."""
        self._kept().tell_of_first_look()

    def ready(self) -> Machine:
        """Return the :class:`Machine` of its code, which is made or loaded unless that is done.

        Raises
        ------
        numba.core.errors.NumbaError
            If it does not compile: why, and where. ``NUMBA_FULL_TRACEBACKS=1`` shows all that Numba says.
        """
        if self._machine is None:
            with put_off(), global_compiler_lock:
                if self._machine is None:  # another thread may have been faster
                    kept, made = self._kept(), (self.declared, self.targetctx)
                    machine = kept.load_machine(*made)
                    if machine is None:
                        with kept.alone():  # and so may another process
                            machine = kept.load_machine(*made)
                            if machine is None:
                                (result,) = self._for_callers().overloads.values()
                                kept.tell()  # it may have been loaded
                                machine = translate(result, self.targetoptions["nogil"])
                                kept.save_machine(machine, *made)
                    self._take(machine)
        code: Machine = self._machine
        return code

    def _take(self, machine: Machine) -> None:
        self._open(self.declared.args, machine)
        self._can_compile, self._machine = False, machine

    def _kept(self) -> KernelCache:
        """Return where this kernel's code is kept."""
        if not isinstance(self._cache, KernelCache):
            self._cache = KernelCache(self.py_func)
        kept: KernelCache = self._cache
        return kept

    def _for_callers(self) -> "Kernel":
        """Compile the kernel for those that call it, or load that, unless it is done."""
        if not self.overloads:
            with put_off(), global_compiler_lock:
                # A kernel that calls itself asks while it is compiled.
                if not self.overloads and not self._compiling:
                    self._compiling = self._can_compile = True
                    try:
                        with self._kept().alone(), typeinfer.register_dispatcher(self):
                            self.compile(self.declared)
                    except (NumbaError, UnsupportedBytecodeError, KeyError) as error:
                        if numba.config.FULL_TRACEBACKS:
                            raise
                        raise NumbaError(errors.compilation(self.__name__, error)) from None
                    finally:
                        self._compiling, self._can_compile = False, self._machine is None
        return self

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return what Numba wants to know where another kernel calls this one."""
        self._for_callers()
        pysig, args = self._compiler.fold_argument_types(args, kws)
        name = self.__name__
        template = make_concrete_template(f"CallTemplate({name})", key=name, signatures=self.nopython_signatures)
        return template, pysig, args, {}

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        """Return what Numba is to call with these arguments, for which it has found nothing compiled."""
        if self._machine:
            return super()._compile_for_args(*args, **kws)
        if early.serves(self) and not early.takes_table(self) and not self.at_hand():
            if not early.fits(self, args):
                self._explain_matching_error(*args)
            return early.in_python(self)
        self.ready()
        return self  # which looks at the arguments: machine code takes them for what it was made for

    def _reduce_states(self) -> dict[str, Any]:
        return {**super()._reduce_states(), "sigs": [self.declared]}

    @classmethod
    def _rebuild(cls, sigs: list[Any], **states: Any) -> Any:
        self = super()._rebuild(sigs=[], **{**states, "can_compile": True})
        (self.declared,) = sigs
        return self
