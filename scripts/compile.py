"""Compile every game and the search for this machine now, instead of at their first use.

    python scripts/compile.py                  everything
    python scripts/compile.py football agents  the named packages, and the core
    python scripts/compile.py --workers 1      one process; by default one a core

What is compiled is kept in ``~/.cache/mcts_envs`` (or ``MCTS_ENVS_CACHE_DIR``), and later processes load it. Ctrl-C,
SIGTERM and SIGHUP end it, and the same command goes on.
"""

import importlib
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import active_children, get_context
from typing import Annotated

import _own  # noqa: F401
import typer
from _line import begin
from _packages import compiled, packages
from _words import refusal
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from mcts_envs.core import errors
from mcts_envs.core.cores import cores

_SECONDS_BETWEEN_LOOKS = 0.1
_one_begins = threading.Lock()  # how processes begin is set for all threads


def compile_module(name: str) -> int:
    """Compile all kernels of a module, or load them; return how many there are."""
    from mcts_envs.core.kernel import Kernel

    kernels = [value for value in vars(importlib.import_module(name)).values() if isinstance(value, Kernel)]
    for kernel in kernels:
        kernel.ready()
    return len(kernels)


def compile_package(modules: Iterable[str], advance: Callable[[], None]) -> None:
    """Compile the modules of a package, one after the other since they share kernels, in a process of its own."""
    from agents.beginning import beginning, end_with_parent  # late, so that --help loads no search

    with _one_begins, beginning():
        pool = ProcessPoolExecutor(1, get_context("spawn"), end_with_parent)
    with pool as process:
        for module in modules:
            with _one_begins, beginning():
                compiled = process.submit(compile_module, module)
            try:
                compiled.result()
            except BrokenProcessPool:
                why = "was ended from outside, as by the system where memory runs out (--workers 1 takes less)"
                raise RuntimeError(f"the process that compiled {module} {why}; the same command goes on") from None
            advance()


def stop(jobs: Collection[Future[None]]) -> None:
    """Begin no more packages, and end the processes of those at work, also of those that are just beginning."""
    for job in jobs:
        job.cancel()
    while wait(jobs, _SECONDS_BETWEEN_LOOKS).not_done:
        for process in active_children():
            process.terminate()


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
    from agents.arena.interrupt import Interrupted, interruptible

    try:
        with interruptible():
            _compile(known, (["core"], rest), workers or cores())
    except Interrupted as error:
        typer.secho(
            f"interrupted ({error}); what was compiled is kept, and the same command goes on", err=True, fg="yellow"
        )
        raise typer.Exit(128 + error.number) from None
    except (OSError, RuntimeError) as error:
        raise refusal(error) from None
    if lacking := [name for name in ("core", *rest) if not all(compiled(known[name]))]:
        what = "could not all be kept, and every process compiles anew"
        cure = "make room, or let MCTS_ENVS_CACHE_DIR name a folder that can be written to"
        typer.secho(f"error: compiled code of {', '.join(lacking)} {what}; {cure}", err=True, fg="red")
        raise typer.Exit(2)


def _compile(known: Mapping[str, Collection[str]], groups: Iterable[list[str]], workers: int) -> None:
    """Compile groups of packages, one group after the other, with a bar for each package."""
    columns = (TextColumn("{task.description:15}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns) as progress, ThreadPoolExecutor(workers) as threads:
        for group in groups:
            bars = {name: progress.add_task(name, total=len(known[name])) for name in group}
            jobs = [
                threads.submit(compile_package, known[name], partial(progress.advance, bars[name])) for name in group
            ]
            try:
                for job in as_completed(jobs):
                    job.result()
            finally:
                stop(jobs)


if __name__ == "__main__":
    begin(main)
