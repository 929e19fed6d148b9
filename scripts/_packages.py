"""Which modules hold kernels, by the package that people know, and which of them are compiled."""

import pkgutil
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import agents
import mcts_envs
from mcts_envs.core.compiling import cache


def packages() -> dict[str, dict[str, Path]]:
    """Return the modules that hold kernels with their sources, by package: each game, the core, the search."""
    found: dict[str, dict[str, Path]] = {}
    for package in (mcts_envs, agents):
        for module, source in _modules(package):
            parts = module.removeprefix("mcts_envs.games.").split(".")
            found.setdefault(parts[1] if parts[0] == "mcts_envs" else parts[0], {})[module] = source
    return found


def _modules(package: object) -> Iterator[tuple[str, Path]]:
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):  # type: ignore[attr-defined]
        source = Path(info.module_finder.path, info.name.rpartition(".")[2] + ".py")  # type: ignore[union-attr]
        if source.is_file() and any(
            f"\n@{decorator}" in source.read_text(encoding="utf-8") for decorator in ("kernel(", "policy(")
        ):
            yield info.name, source


def compiled(modules: Mapping[str, Path]) -> list[bool]:
    """Return whether compiled code is kept for this machine, of each module that has some of its own.

    Kernels without a signature are compiled into those that call them.
    """
    return [_is_kept(module, source) for module, source in modules.items() if _has_own_code(source)]


def _has_own_code(source: Path) -> bool:
    return re.search(r"\n@kernel\(\w", source.read_text(encoding="utf-8")) is not None


def _is_kept(module: str, source: Path) -> bool:
    own = cache.cache_directory(source, module)
    folders = [*cache.filled_directories(source, module), *([own, shipped() / own.name] if own else [])]
    return any(file.is_file() for folder in folders for file in folder.glob("*.[ki]*"))


def shipped() -> Path:
    """Return where compiled code lies that came with the package, if any did."""
    return Path(cache.__file__).parents[2] / "_compiled"
