"""Playing where somebody else has processes: any ``concurrent.futures`` executor, Ray, SLURM through submitit.

A task plays a few matches, in a process of its own beside it, which can be ended where an agent hangs and is kept for
the next task. Tasks hold nothing that another one needs: one that is lost is given out again.
"""

import atexit
import hashlib
import pickle
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from functools import cache
from time import sleep
from types import TracebackType
from typing import Any

from agents.arena.plan import Plan
from agents.arena.rows import Match, Played
from agents.arena.running.runner import Crew
from mcts_envs.core import errors

_TRIES = 3
_SECONDS_OF_A_TASK = 2.0
_MOST_AT_ONCE = 256
_SECONDS_BETWEEN_LOOKS = 0.1
_KNOWN = ("local", "ray")

_crews: dict[str, Crew] = {}
"""Those of this process, by plan; a task finds the one that played before."""


def play_matches(plan: Plan, matches: Sequence[Match]) -> list[Played]:
    """Play matches in a process beside this one: a task, as executors take it."""
    key = hashlib.blake2b(pickle.dumps(plan)).hexdigest()
    if key not in _crews:
        while _crews:
            _crews.popitem()[1].close()
        _crews[key] = Crew(plan, 1)
        atexit.register(_crews[key].close)
    return list(_crews[key].play(matches))


class RemoteCrew:
    """Those who play the episodes of a plan, where an executor puts them.

    See also :class:`agents.arena.running.runner.Crew`.

    Parameters
    ----------
    plan : Plan
    executor : concurrent.futures.Executor
        Or anything with ``submit(function, *arguments)``, whose jobs have ``done()`` and ``result()``.
    workers : int
        Tasks at a time.

    Raises
    ------
    ValueError, TypeError
        If ``workers`` is not from 1 to 100,000.
    """

    def __init__(self, plan: Plan, executor: Any, workers: int) -> None:
        self._plan, self._executor = plan, executor
        self._size = errors.integer("workers", workers, 1, 100_000)
        self._tasks: dict[Any, tuple[list[Match], int]] = {}

    @property
    def processes(self) -> int:
        """Tasks at a time."""
        return self._size

    def __enter__(self) -> "RemoteCrew":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give up tasks that have not begun."""
        for task in self._tasks:
            task.cancel()
        self._tasks = {}

    def check(self) -> None:
        """Let every agent make a move, here, so that mistakes are found before anything is played."""
        with Crew(self._plan, 1) as crew:
            crew.check()

    def play(self, jobs: Iterable[Match]) -> Generator[Played]:
        """Play matches and yield them as they finish.

        Raises
        ------
        RuntimeError
            If a task fails time and again, with what the executor says.
        """
        todo, at_once = deque(jobs), 1
        again: deque[tuple[list[Match], int]] = deque()
        while todo or again or self._tasks:
            while (todo or again) and len(self._tasks) < self._size:
                some, tries = again.popleft() if again else (_taken(todo, at_once), 1)
                self._tasks[self._executor.submit(play_matches, self._plan, some)] = some, tries
            for task in _finished(list(self._tasks)):
                some, tries = self._tasks.pop(task)
                try:
                    played = task.result()
                except Exception as error:
                    if tries == _TRIES:
                        raise RuntimeError(f"a task of the executor failed {_TRIES} times; at last: {error}") from error
                    again.append((some, tries + 1))
                    continue
                quick = sum(each.row.took for each in played) < _SECONDS_OF_A_TASK  # where it plays may begin slowly
                at_once = min(2 * at_once, _MOST_AT_ONCE) if quick else max(at_once // 2, 1)
                yield from played


class RayExecutor(Executor):
    """Ray as an executor: each call is a task; one whose worker dies is begun again by Ray itself.

    The cluster is the one that is running (``RAY_ADDRESS``, ``ray.init``), else one on this machine.

    Raises
    ------
    ImportError
        If Ray is not installed.
    """

    def __init__(self) -> None:
        try:
            import ray
        except ImportError as error:
            raise ImportError('the executor ray needs it: pip install "mcts-envs[ray]"') from error
        self._remote = cache(ray.remote)  # Ray sends a function to its workers anew each time that it is made remote
        if not ray.is_initialized():
            ray.init(log_to_driver=False)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Begin a task."""
        future: Future[Any] = self._remote(fn).remote(*args, **kwargs).future()
        return future


def executor_of(name: str) -> Executor | None:
    """Return an executor by its name; None for processes of this machine.

    Raises
    ------
    ValueError
        If there is none of this name.
    ImportError
        If it is not installed.
    """
    errors.choice("executor", name, _KNOWN)
    return RayExecutor() if name == "ray" else None


def _taken(todo: deque[Match], count: int) -> list[Match]:
    return [todo.popleft() for _ in range(min(count, len(todo)))]


def _finished(tasks: Sequence[Any]) -> list[Any]:
    """Return those tasks that have finished, after waiting a little for the first."""
    if all(isinstance(task, Future) for task in tasks):
        return list(wait(tasks, timeout=_SECONDS_BETWEEN_LOOKS, return_when=FIRST_COMPLETED).done)
    done = [task for task in tasks if task.done()]
    if not done:
        sleep(_SECONDS_BETWEEN_LOOKS)
    return done
