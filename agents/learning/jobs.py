"""Jobs for an executor, whose results are kept in files as they come: what is there is not done again."""

import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from agents.beginning import beginning, end_with_parent
from agents.learning import playing, positions
from agents.learning.playing import Job
from mcts_envs.core import errors
from mcts_envs.core.cores import cores, most_processes
from mcts_envs.core.writing import naming

_SECONDS_BETWEEN_LOOKS = 0.2
_SECONDS_TO_SAVE = 30.0
_TRIES = 3


class Here(Executor):
    """An executor that does at once, in this process, what it is given."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        """Return the future of a call, which is over."""
        future: Future[Any] = Future()
        future.set_result(function(*args, **options))
        return future


class Processes(Executor):
    """An executor of so many processes of this machine; where one was killed, all begin anew with the next job."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool = self._begun()
        self._stopped = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        """Return the future of a call in one of the processes, which the first call begins."""
        if self._stopped:
            self.shutdown()
            self._pool, self._stopped = self._begun(), False
        with beginning():
            try:
                return self._pool.submit(_called, function, *args, **options)
            except BrokenProcessPool:
                self._pool = self._begun()
                return self._pool.submit(_called, function, *args, **options)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes; those at work are waited for, and where something went wrong are told to stop first."""
        if kind is not None:
            self.stop()
        self.shutdown()

    def stop(self) -> None:
        """Tell the processes, once, to stop what they are at; the next job has new ones."""
        if self._stopped:
            return
        self._stopped = True
        if self._end is not None:
            self._end.set()
        else:
            for process in list((self._pool._processes or {}).values()):
                process.terminate()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; once they were told to stop, with jobs left undone."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures or self._stopped)

    def _begun(self) -> ProcessPoolExecutor:
        spawn = multiprocessing.get_context("spawn")
        with beginning(), naming(Path("/dev/shm")):  # where the locks lie that they share
            # On Windows a signal would end them before they have saved.
            self._end = spawn.Event() if sys.platform == "win32" else None
            return ProcessPoolExecutor(self._count, spawn, _settle, (self._end,))


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
    return Processes(count)


class _Told:
    """Whether this process, one that does jobs, is at work, and was told to stop."""

    working = stop = False


def _called(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Do a job; once one was interrupted, no more of those that were given out ahead."""
    if _Told.stop:
        raise KeyboardInterrupt
    _Told.working = True
    try:
        return function(*args, **options)
    except KeyboardInterrupt:
        _Told.stop = True
        raise
    finally:
        _Told.working = False


def _stop(number: int, frame: FrameType | None) -> None:
    _Told.stop = True
    if _Told.working:
        raise KeyboardInterrupt


def _settle(end: Any) -> None:
    """Let Ctrl-C reach the process alone that gives out the jobs, and end with it, however it ends, or when told to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    end_with_parent(_save)
    if end is not None:
        threading.Thread(target=_follow, args=(end,), daemon=True).start()


def _follow(end: Any) -> None:
    end.wait()
    _end()


def _end() -> None:
    """Stop the job at work by a signal, which a training takes as a wish to stop."""
    _Told.stop = True
    if _Told.working and sys.platform == "win32":
        signal.raise_signal(signal.SIGTERM)  # os.kill would end the process
    elif _Told.working:
        os.kill(os.getpid(), signal.SIGTERM)  # not to this thread: the main one, which may wait for something, hears it


def _save() -> None:
    """Stop the job at work, and wait until it has."""
    _end()
    given_up = time.monotonic() + _SECONDS_TO_SAVE
    while _Told.working and time.monotonic() < given_up:
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def play_all(
    crew: Executor,
    jobs: Mapping[Path, Job],
    over: Callable[[], bool],
    told: Callable[[int], None] = lambda games: None,
    at_once: float = math.inf,
) -> bool:
    """Have jobs played, and their games written to the files that name them; return whether all are there.

    A job that fails, as when its process was killed, is given out again: it plays the same games.

    Parameters
    ----------
    crew : Executor
    jobs : dict
        By file.
    over : callable
        Whether to stop; jobs that are under way are lost then, and processes of this machine stop them.
    told : callable
        Is told how many games there are, as they come.
    at_once : int, optional
        Jobs that the executor has at a time; by default all.

    Raises
    ------
    RuntimeError
        If a job fails time and again, with what the executor says.
    """
    todo = deque(path for path in jobs if not path.is_file())
    games = sum(job.games for job in jobs.values()) - sum(jobs[path].games for path in todo)
    going: dict[Future[Any], Path] = {}
    failed: Counter[Path] = Counter()

    def keep(path: Path, future: Future[Any]) -> None:
        nonlocal games
        try:
            played = future.result()
        except Exception as error:
            failed[path] += 1
            if failed[path] == _TRIES:
                raise RuntimeError(f"a job of the executor failed {_TRIES} times; at last: {error}") from error
            todo.append(path)
            return
        positions.write(path, played)
        games += jobs[path].games
        told(games)

    try:
        while todo or going:
            if over():
                return False
            begin = bool(todo) and len(going) < at_once
            if begin:
                path = todo.popleft()
                going[crew.submit(playing.play, jobs[path])] = path
            for future in wait(going, 0 if begin else _SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED).done:
                keep(going.pop(future), future)
        return True
    finally:
        give_up(crew, going)


def give_up(crew: Executor, futures: Iterable[Future[Any]]) -> None:
    """Give up what an executor has not done; processes of this machine stop what is under way too.

    They cancel the rest as they end: over a future that was cancelled before, the pool of Python 3.11 fails where a
    process ends that has only begun, and the others are waited for without an end.
    """
    left = [future for future in futures if not future.done()]
    if left and isinstance(crew, Processes):
        crew.stop()
        return
    for future in left:
        future.cancel()
