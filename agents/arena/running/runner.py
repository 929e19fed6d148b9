"""Playing many episodes in this process or in others; the same episodes come out either way."""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from multiprocessing.connection import wait
from types import TracebackType
from typing import Any, cast

from agents.arena.faults import CRASH, TIME, forfeit
from agents.arena.interrupt import interruptible
from agents.arena.plan import Plan, played_on
from agents.arena.rows import Match, Played
from agents.arena.running.clock import Clock
from agents.arena.running.room import Room
from agents.arena.running.worker import Job, Result, Worker
from mcts_envs.core import errors
from mcts_envs.core.cores import most_processes

_SECONDS_BETWEEN_LOOKS = 0.1
_TRIES = 3
"""Worker processes in a row that may be killed from outside as they begin."""


class Crew:
    """Those who play the episodes of a plan: worker processes, or this one.

    An exception in an agent loses it the episode, also one that would end a program. With worker processes so does a
    move that takes longer than the plan allows, the death of a process, and memory that runs out. The last two may come
    from what was played before, so that the episode is played again in a fresh process first. What is nobody's fault,
    as when the environment raises or a process is killed from outside, is an error in the row of the episode.

    Parameters
    ----------
    plan : Plan
    workers : int, optional
        Processes; None plays in this one, which no limit and no crash can be kept from.

    Raises
    ------
    ValueError, TypeError
        If ``workers`` is not from 1 to 1024 (on Windows 60), or the plan has limits and no worker processes to keep to
        them.
    """

    def __init__(self, plan: Plan, workers: int | None = None) -> None:
        if workers is not None:
            errors.integer("workers", workers, 1, most_processes())
        elif plan.limits:
            raise ValueError("limits need processes that can be ended; give workers=1 or more")
        self._plan = plan
        self._size = workers
        self._workers: list[Worker] = []
        self._killed, self._clock = 0, Clock()

    def __enter__(self) -> "Crew":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(at_once=kind is not None)

    @property
    def processes(self) -> int:
        """How many play."""
        return self._size or 1

    def turn_to(self, plan: Plan) -> None:
        """Play by another plan from now on, in the same processes if it has the same limits."""
        if plan.limits != self._plan.limits:
            self.close()
        self._plan = plan
        for worker in self._workers:
            worker.turn_to(plan)

    def close(self, at_once: bool = True) -> None:
        """End the processes; those at work are not waited for."""
        for worker in self._workers:
            worker.kill() if at_once or worker.jobs else worker.dismiss()
        for worker in self._workers:
            worker.end()
        self._workers = []

    def check(self) -> None:
        """Let every agent make a move, so that mistakes are found before anything is played.

        Raises
        ------
        ValueError
            If an agent cannot be made, or cannot play in the environment.
        RuntimeError
            If worker processes cannot start.
        """
        specs = list(dict.fromkeys(self._plan.agents))
        refusals = self._done(specs, 1) if self._size else map(Room(self._plan).refusal, specs)
        for spec, refusal in zip(specs, refusals, strict=True):
            if refusal is not None:
                raise ValueError(f"agent {spec.label!r}: {refusal}")

    def play(self, jobs: Iterable[Match]) -> Generator[Played]:
        """Play matches, episodes for one agent among them, and yield them as they finish.

        Raises
        ------
        RuntimeError
            If worker processes cannot start.
        """
        if self._size:
            yield from cast("Iterator[Played]", self._done(jobs, self._size))
            return
        room = Room(self._plan)
        for job in jobs:
            with interruptible():
                played = room.play(job)
            yield played

    def _done(self, jobs: Iterable[Job], size: int) -> Iterator[Result]:
        """Have jobs done by as many processes, and yield what comes of them."""
        todo = deque(jobs)
        while todo or any(worker.jobs for worker in self._workers):
            self._hand_out(todo, size)
            wait([worker.connection for worker in self._workers], _SECONDS_BETWEEN_LOOKS)
            for worker in list(self._workers):
                yield from self._of(worker, todo)

    def _hand_out(self, todo: deque[Any], size: int) -> None:
        """Give work to those who have none, the first of them alone if one is to do it all, in order."""
        while len(self._workers) < min(size, len(todo) + sum(bool(worker.jobs) for worker in self._workers)):
            self._workers.append(Worker(self._plan))
        for worker in self._workers[:size]:
            if todo and not worker.jobs:
                worker.give([todo.popleft() for _ in range(min(worker.ahead, len(todo)))])

    def _of(self, worker: Worker, todo: deque[Any]) -> Iterator[Result]:
        """Yield the results of a worker; where it has ended, is overdue or is spoilt, put an end to it."""
        for result in worker.results():
            self._killed = 0
            if _out_of_memory(result) and not worker.fresh:
                self._dismiss(worker, todo)
                return
            worker.check_off()
            yield result
            if _out_of_memory(result):
                self._dismiss(worker, todo)
                return
        ended = worker.ended
        self._clock.now()
        limits, since = self._plan.limits, self._clock.resumed  # a worker knows better for how long it stood still
        overdue = None if ended else worker.overdue(limits, since)  # whoever has ended keeps nobody waiting
        if not (overdue or ended):
            return
        if not worker.ready and not overdue:
            self._killed += 1
            if not worker.killed or self._killed == _TRIES:
                raise RuntimeError(_KILLED if worker.killed else _CANNOT_START)
            self._dismiss(worker, todo)
            return
        worker.kill()
        for result in worker.results():  # what it said last
            worker.check_off()
            yield result
        overdue = overdue and worker.overdue(limits, since)
        if worker.jobs and (overdue or worker.fresh):
            job = worker.jobs.popleft()
            yield self._lost(job, worker, overdue)
        self._dismiss(worker, todo)

    def _dismiss(self, worker: Worker, todo: deque[Any]) -> None:
        """End a worker; what it has not done is the first to be done by the next."""
        worker.kill()
        todo.extendleft(reversed(worker.jobs))
        self._workers.remove(worker)

    def _lost(self, job: Job, worker: Worker, overdue: str | None) -> Result:
        """Return the result of a job that ended its process, or had to be ended with it."""
        if not isinstance(job, Match):
            return None
        row = self._plan.blank_row(job)
        row.last_asked, row.played_on = worker.seat, played_on()
        kind, message = ("TimeoutError", overdue) if overdue else ("ProcessDied", worker.epitaph())
        told = {"type": kind, "message": message, "traceback": ""}
        if worker.thinking and (overdue is not None or not worker.killed):
            forfeit(row, self._plan.teams, TIME if overdue else CRASH, told)
        else:
            row.error = told
        return Played(row, [])


_CANNOT_START = (
    "worker processes cannot start: the plan's make function must be importable, a script needs "
    '`if __name__ == "__main__":`, and a memory limit must leave room for the libraries; or play with workers=None'
)

_KILLED = (
    f"{_TRIES} worker processes in a row were killed as they began, by the system if memory ran out; make room, or ask "
    "for fewer workers"
)


def _out_of_memory(result: Result) -> bool:
    """Whether an episode ended for want of memory: what was played before may still hold it."""
    error = result.row.fault if isinstance(result, Played) else None
    return error is not None and error["type"].endswith("MemoryError")  # NumPy has one of its own
