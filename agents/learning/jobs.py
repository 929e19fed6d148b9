"""Jobs for an executor, whose results are kept in files as they come: what is there is not done again."""

import multiprocessing
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

from agents.learning import playing, positions
from agents.learning.playing import Job
from mcts_envs.core import errors
from mcts_envs.core.cores import cores, most_processes

_SECONDS_BETWEEN_LOOKS = 0.2


class Here(Executor):
    """An executor that does at once, in this process, what it is given."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        """Return the future of a call, which is over."""
        future: Future[Any] = Future()
        future.set_result(function(*args, **options))
        return future


def local(workers: int | None = None) -> Executor:
    """Return an executor of so many processes of this machine, by default one for each core; 1: this process.

    Raises
    ------
    ValueError, TypeError
        If this is no number from 1 to 1024, on Windows 60.
    """
    count = errors.integer("workers", cores() if workers is None else workers, 1, most_processes())
    if count == 1:
        return Here()
    return ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _leave_interrupts)


def _leave_interrupts() -> None:
    """Let Ctrl-C reach the process alone that gives out the jobs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def play_all(
    crew: Executor, jobs: Mapping[Path, Job], over: Callable[[], bool], told: Callable[[int], None] = lambda games: None
) -> bool:
    """Have jobs played, and their games written to the files that name them; return whether all are there.

    Parameters
    ----------
    crew : Executor
    jobs : dict
        By file.
    over : callable
        Whether to stop; jobs that are under way are lost then.
    told : callable
        Is told how many games there are, as they come.
    """
    going: dict[Future[Any], Path] = {}
    games = sum(job.games for path, job in jobs.items() if path.is_file())

    def keep(seconds: float) -> None:
        nonlocal games
        for future in wait(going, timeout=seconds, return_when=FIRST_COMPLETED).done:
            path = going.pop(future)
            positions.write(path, future.result())
            games += jobs[path].games
            told(games)

    try:
        for path, job in jobs.items():
            if not path.is_file():
                if over():
                    return False
                going[crew.submit(playing.play, job)] = path
                keep(0)
        while going:
            if over():
                return False
            keep(_SECONDS_BETWEEN_LOOKS)
        return True
    finally:
        for future in going:
            future.cancel()
