"""Hashes of sources: of a whole package, or of all that one file is compiled from."""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.M)
_TYPES_ONLY = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+.*\n|\n)*", re.M)
_OWN = Path(__file__).resolve().parents[2]


def package_of(source: Path) -> Path:
    """Return the folder of the outermost package in which a file lies; its own folder where it is in none."""
    folder = source.resolve().parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def source_digest(package: Path) -> str:
    """Hash the Python sources of a package, or of the one folder that holds a single file outside any package."""
    files = package.rglob("*.py") if (package / "__init__.py").exists() else package.glob("*.py")
    return _digest(sorted(map(str, files)))


def closure_digest(source: Path) -> str:
    """Hash a file and all that it imports, directly or not, from its own package (or folder) and from this one.

    A kernel is compiled together with those that it calls, and Numba alone would not see changes in their files.
    """
    return _digest(closure_of(source))


def kernels_in(folder: Path) -> int:
    """Count the kernels in the files of a folder, or in one file."""
    files = folder.rglob("*.py") if folder.is_dir() else [folder]
    return sum(len(re.findall(rb"^@(?:kernel|policy)\(", file.read_bytes(), re.M)) for file in files)


def closure_of(source: Path) -> list[str]:
    """Return a file, and all that it imports, directly or not, from its own package (or folder) and from this one.

    From its folder too where that is of a package: who loads the file alone finds there what is imported by name.
    """
    source = source.resolve()
    package = package_of(source)
    first, below, whole = str(source), str(package), (package / "__init__.py").exists()
    own, found, left = f"{_OWN}{os.sep}", {first}, [first]
    beside = "" if first.startswith(own) else str(source.parent)
    while left:
        file = left.pop()
        # Single files come and go beside an open notebook; what is there of a package stays.
        imported = _imported if whole or file.startswith(own) else _imported.__wrapped__
        with contextlib.suppress(OSError):
            stat = os.stat(file)
            new = imported(file, stat.st_mtime_ns, stat.st_size, below, beside) - found
            found |= new
            left += new
    # Ours come last: the order, and so the hash, shall not depend on where they are installed.
    return [first, *sorted(found - {first}, key=lambda file: (file.startswith(own), file))]


def plain_names(files: Iterable[str]) -> set[str]:
    """Return the first names of what files of people's own import, but for what they import by a dot."""
    named: set[str] = set()
    for file in files:
        if not file.startswith(f"{_OWN}{os.sep}"):
            stat = os.stat(file)
            named |= {name.partition(".")[0] for name in _read(file, stat.st_mtime_ns, stat.st_size)[1]}
    return named


def _digest(files: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for file in files:
        with contextlib.suppress(OSError):
            stat = os.stat(file)
            digest.update(_read(file, stat.st_mtime_ns, stat.st_size)[0])
    return digest.hexdigest()


@cache
def _imported(file: str, modified: int, size: int, package: str, beside: str) -> frozenset[str]:
    """Return the files that a file imports, from its package and from a folder beside it, if there is one."""
    found: set[str] = set()
    for name in _read(file, modified, size)[1]:
        level = len(name) - len(name.lstrip("."))
        top = name.partition(".")[0]
        above, inside, _ = f"{package}{os.sep}".rpartition(f"{os.sep}{top}{os.sep}")
        if level:
            found.update(_files(os.path.join(os.path.dirname(file), *[os.pardir] * (level - 1)), name[level:]))
        elif top == _OWN.name:
            found.update(_files(str(_OWN.parent), name))
        else:
            if inside:  # a folder above is called so: a package, with an __init__.py or without
                found.update(_files(above or os.sep, name))
            if beside:
                found.update(*(_files(beside, part) for part in (top, name)))
    return frozenset(found)


def _files(root: str, name: str) -> Iterator[str]:
    """Yield the file of a module below a folder, or of its package; nothing for a name that is neither."""
    path = os.path.join(root, *name.split(".")) if name else root
    for file in (f"{path}.py", os.path.join(path, "__init__.py")):
        if os.path.isfile(file):
            yield os.path.realpath(file)


@cache
def _read(file: str, modified: int, size: int) -> tuple[bytes, tuple[str, ...]]:
    """Return the hash of a file's name and text, however its lines end, and the dotted names that it imports.

    Of ``from a import b`` both ``a`` and ``a.b`` are names: ``b`` may be a module.
    """
    raw = Path(file).read_bytes().replace(b"\r\n", b"\n")
    text = _TYPES_ONLY.sub("", raw.decode("utf-8-sig", errors="replace").replace("\\\n", " "))
    names: list[str] = []
    for origin, parts, modules in _IMPORT.findall(text):
        listed = [part.split(" as ")[0].strip() for part in re.sub(r"#[^\n]*|[()]", "", parts or modules).split(",")]
        listed = [name for name in listed if re.fullmatch(r"[\w.]+", name)]
        between = "" if origin.endswith(".") or not origin else "."
        names += [origin, *(origin + between + name for name in listed)] if origin else listed
    return hashlib.sha256(os.path.basename(file).encode() + raw).digest(), tuple(names)
