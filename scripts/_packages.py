"""Which modules hold kernels, by the package that people know."""

import pkgutil
from collections.abc import Iterator
from pathlib import Path

import agents
import mcts_envs


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
