"""Interpreted kernels on records that are Python objects, without the calls that their compiled form does not have.

A kernel reads records through functions of one line (``nth``, ``seat_of``, and ``row`` under them all). The compiler
puts these into their callers; in Python each would be a call, and there are several for every action that a search
looks at. So they are put into their callers here too: ``nth(candidates, i).visits`` becomes
``candidates.rows[i].visits``.
"""

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar, cast

from mcts_envs.core.kernel import interpreted, row

Function = TypeVar("Function", bound=Callable[..., Any])

_NAMES = (ast.Name, ast.Attribute, ast.Constant)
_PURE = (
    *(*_NAMES, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context),
)
"""Parts of expressions that change nothing, so that it does not matter when they are computed."""


class _Line(NamedTuple):
    """A function of one line: its parameters, and the expression of them that it returns."""

    parameters: list[str]
    value: ast.expr


_Lines = dict[Any, _Line | None]


def interpreted_on_objects(function: Function, compiled: Iterable[Any] = ()) -> Function:
    """Return the plain Python form of a kernel for records that are objects (:func:`agents.search.records.objects`).

    It is that of :func:`mcts_envs.core.kernel.interpreted`, in which functions of one line are put into those that call
    them, in it and in all kernels that it calls. One whose source cannot be found stays as it is, which is slower.
    """
    plain = interpreted(function, compiled)
    lines: _Lines = {}
    codes = [(made, _written_out(made, lines)) for made in _made_for(function, plain, set())]
    for made, code in codes:
        made.__code__ = code
    return plain


def _made_for(kernel: Any, plain: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the Python forms of a kernel and of those that it calls, which are nobody else's."""
    if kernel is plain or not isinstance(plain, FunctionType) or id(plain) in seen:
        return
    seen.add(id(plain))
    yield plain
    source = kernel.py_func
    for name in source.__code__.co_names:
        yield from _made_for(source.__globals__.get(name), plain.__globals__.get(name), seen)
    for original, made in zip(source.__closure__ or (), plain.__closure__ or (), strict=True):
        yield from _made_for(original.cell_contents, made.cell_contents, seen)


def _written_out(function: Any, lines: _Lines) -> CodeType:
    """Return the code of a function with functions of one line put into it."""
    definition = _definition(function)
    return function.__code__ if definition is None else _code_of(_Writer(function, lines).visit(definition), function)


def _definition(function: Any) -> ast.FunctionDef | None:
    """Return the source of a function; None if there is none, or another by now than the function was made from."""
    try:
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, SyntaxError, TypeError, ValueError):
        return None
    if not isinstance(definition, ast.FunctionDef):
        return None
    definition.decorator_list = []
    ast.increment_lineno(definition, function.__code__.co_firstlineno - 1)
    ours, theirs = _code_of(definition, function), function.__code__
    parts = "co_code", "co_names", "co_consts", "co_varnames", "co_freevars"
    return definition if all(getattr(ours, part) == getattr(theirs, part) for part in parts) else None


def _code_of(definition: ast.FunctionDef, function: Any) -> CodeType:
    """Compile a definition among the modules and the variables from around it that a function has."""
    names, cells = function.__code__.co_names, function.__code__.co_freevars
    modules = [f"import {name}" for name in names if isinstance(function.__globals__.get(name), ModuleType)]
    whole = ast.parse("\n".join([*modules, f"def around({', '.join(cells)}): pass"]))
    cast(ast.FunctionDef, whole.body[-1]).body = [definition]
    code = compile(whole, function.__code__.co_filename, "exec", dont_inherit=True)
    for name in ("around", definition.name):
        code = next(part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == name)
    return code


class _Writer(ast.NodeTransformer):
    """Puts functions of one line into one that calls them by the names of its globals."""

    def __init__(self, function: Any, lines: _Lines) -> None:
        code = function.__code__
        self._globals, self._lines = function.__globals__, lines
        self._own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Return what a called function of one line returns, where that is no other than the call."""
        self.generic_visit(node)
        called = node.func
        if not isinstance(called, ast.Name) or called.id in self._own or node.keywords:
            return node
        line = _line(self._globals.get(called.id), self._lines)
        if line is None or len(line.parameters) != len(node.args) or not all(map(_is_pure, node.args)):
            return node
        given = dict(zip(line.parameters, node.args, strict=True))
        uses = [part.id for part in ast.walk(line.value) if isinstance(part, ast.Name)]
        if any(uses.count(name) > 1 and not isinstance(each, _NAMES) for name, each in given.items()):
            return node
        value = copy.deepcopy(line.value)
        for part in ast.walk(value):
            ast.copy_location(part, node)
        return cast(ast.expr, _Filled(given).visit(value))


class _Filled(ast.NodeTransformer):
    """Puts expressions in place of names."""

    def __init__(self, given: dict[str, ast.expr]) -> None:
        self._given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._given.get(node.id, node)


def _is_pure(expression: ast.expr) -> bool:
    """Return whether an expression changes nothing and calls nothing but ``len``."""
    return all(isinstance(part, _PURE) or _is_length(part) for part in ast.walk(expression))


def _is_length(part: ast.AST) -> bool:
    return isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "len"


def _line(function: Any, lines: _Lines) -> _Line | None:
    """Return what a function is, if it is of one line that looks up nothing but numbers; else None."""
    if not isinstance(function, FunctionType):
        return None
    if function not in lines:
        lines[function] = None  # in case it calls itself
        lines[function] = _read_line(_at if function is row else function, lines)
    return lines[function]


def _at(raw: Any, index: Any, dtype: Any) -> Any:
    return raw[index]


def _read_line(function: Any, lines: _Lines) -> _Line | None:
    definition = _definition(function)
    if definition is None:
        return None
    *before, last = definition.body
    if not isinstance(last, ast.Return) or last.value is None or len(before) > bool(ast.get_docstring(definition)):
        return None
    parameters = [parameter.arg for parameter in definition.args.args]
    value = _Writer(function, lines).visit(last.value)
    around = inspect.getclosurevars(function)
    known = {name: each for name, each in {**around.globals, **around.nonlocals}.items() if name not in parameters}
    numbers: Any = {name: ast.Constant(each) for name, each in known.items() if type(each) in (int, float)}
    value = _Filled(numbers).visit(value)
    names = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
    return _Line(parameters, value) if names <= {*parameters, "len"} and _is_pure(value) else None
