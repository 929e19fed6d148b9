"""Compile every game and the search for this machine now, instead of at their first use.

    python scripts/compile.py                  everything
    python scripts/compile.py football agents  the named packages, and the core
    python scripts/compile.py --workers 1      one process; by default one a core

What is compiled is kept in ``~/.cache/mcts_envs`` (or ``MCTS_ENVS_CACHE_DIR``), and later processes load it.
"""

import importlib
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Annotated

import _own  # noqa: F401
import typer
from _line import begin
from _packages import packages
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from mcts_envs.core import errors
from mcts_envs.core.cores import cores


def compile_module(name: str) -> int:
    """Compile all kernels of a module, or load them; return how many there are."""
    from mcts_envs.core.kernel import Kernel

    kernels = [value for value in vars(importlib.import_module(name)).values() if isinstance(value, Kernel)]
    for kernel in kernels:
        kernel.ready()
    return len(kernels)


def compile_package(modules: Iterable[str], advance: Callable[[], None]) -> None:
    """Compile the modules of a package, one after the other since they share kernels, in a process of its own."""
    from agents.beginning import end_with_parent  # late, so that --help loads no search

    with ProcessPoolExecutor(1, get_context("spawn"), end_with_parent) as process:
        for module in modules:
            process.submit(compile_module, module).result()
            advance()


def main(
    names: Annotated[list[str] | None, typer.Argument(help="packages, such as football or agents")] = None,
    workers: Annotated[int, typer.Option(min=0, help="processes; 0: one for each core")] = 0,
) -> None:
    """Compile games and search for this machine."""
    known = packages()
    for name in names or []:
        if name not in known:
            raise typer.BadParameter(errors.unknown("package", name, known))
    # The core first: all others stand on it, and processes that work side by side would each compile it.
    rest = sorted({*(names or known)} - {"core"}, key=lambda name: -len(known[name]))
    columns = (TextColumn("{task.description:15}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns) as progress, ThreadPoolExecutor(workers or cores()) as threads:
        for group in (["core"], rest):
            bars = {name: progress.add_task(name, total=len(known[name])) for name in group}
            jobs = [
                threads.submit(compile_package, known[name], partial(progress.advance, bars[name])) for name in group
            ]
            for job in jobs:
                job.result()


if __name__ == "__main__":
    begin(main)
