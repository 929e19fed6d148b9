"""Modules that people name: ``package.module``, or ``path/to/file.py``."""

import hashlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

COLON = re.compile(r"(?<!(?<![\w.-])[A-Za-z]):|:(?![\\/])")
"""What parts a file or a module from what is named in it; the colon of a drive, as in ``C:\\bots``, parts nothing."""


def named_modules(package: str) -> Callable[[str], ModuleType]:
    """Return the ``__getattr__`` of a package whose modules are imported when they are first named."""

    def module(name: str) -> ModuleType:
        called = f"{package}.{name}"
        if name.startswith("_") or importlib.util.find_spec(called) is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        return importlib.import_module(called)

    return module


def parted(name: str) -> tuple[str, str, str]:
    """Return a file or a module, the last colon, and what is named in it, like ``name.rpartition(":")``."""
    colons = [colon.start() for colon in COLON.finditer(name)]
    return (name[: colons[-1]], ":", name[colons[-1] + 1 :]) if colons else ("", "", name)


def load(source: str) -> ModuleType:
    """Import a module by its name or its file; it finds others beside it, and in the current folder.

    Two files of the same name may be loaded. What they import from beside them may not have the same name.

    Raises
    ------
    ValueError
        If there is none, or importing it raises.
    """
    if not source.endswith(".py"):
        _add_path(Path.cwd())
        try:
            return importlib.import_module(source)
        except (Exception, SystemExit) as error:
            cure = f"; give its file, path/to/{source}.py" if isinstance(error, ModuleNotFoundError) else ""
            raise ValueError(f"{source} cannot be imported ({_told(error)}){cure}") from error
    file = Path(source).expanduser().resolve()
    if not file.is_file():
        where = "" if Path(source).expanduser().is_absolute() else f" in {Path.cwd()}"
        raise ValueError(f"there is no file {source}{where}")
    name = _name(file)
    if name not in sys.modules:
        _add_path(file.parent)
        _execute(name, file, source)
    return sys.modules[name]


def file_of(source: str) -> Path | None:
    """Return the file of a module by its name or its file, as far as it can be found without importing it."""
    if source.endswith(".py"):
        return Path(source).expanduser().resolve()
    _add_path(Path.cwd())
    try:
        spec = importlib.util.find_spec(source)
    except (ImportError, ValueError, AttributeError):
        return None
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def _add_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _is_from(module: ModuleType | None, file: Path) -> bool:
    there = getattr(module, "__file__", None)
    return there is not None and Path(there).resolve() == file


def _name(file: Path) -> str:
    """Return a file's name as a module: another one where the plain one is taken."""
    spec = None if file.stem in sys.modules else importlib.util.find_spec(file.stem)
    free = file.stem not in sys.modules and (spec is None or Path(spec.origin or "").resolve() == file)
    if free or _is_from(sys.modules.get(file.stem), file):
        return file.stem
    return f"{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"


def _execute(name: str, file: Path, source: str) -> None:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        _check_found(file)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        cure = f"; {_as_module(file)}" if "attempted relative import" in str(error) else ""
        raise ValueError(f"{source} cannot be imported ({_told(error)}){cure}") from error


def _as_module(file: Path) -> str:
    """Return how a file of a package is named, for what it imports from beside it by a dot to be found."""
    from mcts_envs.core.compiling.sources import package_of  # late: that package names its modules by this one

    package = package_of(file)
    module = ".".join(file.relative_to(package.parent).with_suffix("").parts)
    return f"it is of a package: give its module, {module}, in the folder {package.parent}"


def _check_found(file: Path) -> None:
    """Check that what a file imports from beside it, directly or not, now or later, is what is found by that name."""
    from mcts_envs.core.compiling.sources import closure_of, plain_names  # late, as above

    closure = closure_of(file)
    named = plain_names(closure)
    for found in map(Path, closure[1:]):
        beside = found.parent if found.name == "__init__.py" else found
        if beside.parent != file.parent or beside.stem not in named:
            continue
        module = sys.modules.get(beside.stem)
        spec = importlib.util.find_spec(beside.stem) if module is None else None
        there = getattr(module, "__file__", None) or getattr(spec, "origin", None) or "that of Python"
        if Path(there).resolve() != found:
            raise ImportError(f"of its import {beside.stem} there are two, {found} and {there}; rename one")


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
