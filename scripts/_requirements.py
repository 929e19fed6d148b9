"""What the package needs, by extra: as its pyproject.toml says in a checkout, and its metadata where it is installed.

Imports nothing but Python's own, since it is asked where something is missing.
"""

import operator
import re
import tomllib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

NAME = "mcts-envs"
_PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
_LINE = re.compile(r'([\w.-]+)(?:\[[^]]*\])?\s*([^;]*?)\s*(?:;.*extra == [\'"]([\w-]+)[\'"].*)?')
_BOUND = re.compile(r"(>=|<=|==|<|>)\s*([\w.]+)")
_HOLDS = {">=": operator.ge, "<=": operator.le, "==": operator.eq, "<": operator.lt, ">": operator.gt}
_DISTRIBUTIONS = {"pil": "pillow", "pygame": "pygame-ce", "pyspiel": "open-spiel", "yaml": "pyyaml"}
"""Of modules that are named otherwise."""


@dataclass(frozen=True)
class Requirement:
    """A distribution that is needed: by the package itself, or by an extra of it."""

    name: str
    bound: str
    extra: str = ""

    @property
    def release(self) -> str | None:
        """The release that is installed; None if there is none."""
        try:
            return metadata.version(self.name)
        except metadata.PackageNotFoundError:
            return None

    @property
    def met(self) -> bool:
        """Whether it is installed, in a release that will do."""
        here = self.release
        bounds = _BOUND.findall(self.bound)
        return here is not None and all(_HOLDS[sign](_numbers(here), _numbers(there)) for sign, there in bounds)


def requirements() -> list[Requirement]:
    """Return all that is needed, that of the package itself first."""
    found = [_LINE.fullmatch(line) for line in _lines()]
    listed = [Requirement(one[1], one[2], one[3] or "") for one in found if one is not None]
    return [one for one in listed if one.name != NAME]


def cure(module: str) -> str:
    """Return the line that installs what brings a module, if this package asks for it."""
    wanted = _plain(_DISTRIBUTIONS.get(module.lower(), module))
    extras = [one.extra for one in requirements() if _plain(one.name) == wanted]
    if not extras:
        return "install what brings it"
    return install("" if "" in extras else extras[0])


def install(extra: str = "") -> str:
    """Return the line that installs the package with an extra: from here in a checkout, else from the index."""
    extras = f"[{extra}]" if extra else ""
    return f'pip install -e ".{extras}"' if _PROJECT.is_file() else f'pip install "{NAME}{extras}"'


def _lines() -> list[str]:
    if not _PROJECT.is_file():
        return metadata.requires(NAME) or []
    project = tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].items()
    return project["dependencies"] + [f'{line}; extra == "{extra}"' for extra, lines in extras for line in lines]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _numbers(release: str) -> tuple[int, ...]:
    """Return a release to be compared: 2.0 is 2."""
    numbers = [int(part) for part in re.findall(r"\d+", release.partition("+")[0])]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
