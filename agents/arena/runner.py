"""Playing many episodes in one process or several; the same episodes come out either way."""

import contextlib
import multiprocessing
import os
import signal
import threading
import warnings
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection
from time import monotonic
from typing import Any

from agents.arena.episode import Transition, caught
from agents.arena.match import Match, Played, blank_row, play
from agents.arena.plan import Plan
from agents.arena.spec import AgentSpec
from agents.learning.notices import PolicyWarning
from mcts_envs.core import errors
from mcts_envs.core.players import Player

_CHUNK_SECONDS = 0.5
_MOST_JOBS = 64


class Room:
    """Where episodes are played: keeps the environment and the agents between episodes.

    Parameters
    ----------
    plan : Plan
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._env: Any = None
        self._agents: dict[tuple[str, int], Player] = {}

    def play(self, job: Match) -> Played:
        """Play a match; what it raises is in its row."""
        row = blank_row(job, self._plan.seed)
        transitions: list[Transition] = []
        with caught(row):
            if self._env is None:
                self._env = self._plan.make_env()
            play(self._env, job, row, self._seated, transitions if self._plan.record else None)
            if self._plan.keep:
                position = self._env.unwrapped.position()
                row.kept = {name: position[name] for name in self._plan.keep}
        if row.error is not None:
            self._env = None
            for seat, spec in enumerate(job.agents):
                self._agents.pop((spec.label, seat), None)
            transitions = []
        return Played(row, transitions)

    def _seated(self, spec: AgentSpec, seat: int) -> Player:
        """Return the agent of a seat; what it learns in one seat it does not know in another."""
        if (spec.label, seat) not in self._agents:
            self._agents[spec.label, seat] = self._plan.first_move(self._plan.make(spec), self._env)
        return self._agents[spec.label, seat]


def run(plan: Plan, jobs: Iterable[Match], workers: int = 1) -> Generator[Played]:
    """Play matches, episodes for one agent among them, and yield them as they finish.

    An exception in an agent ends up in the row of its episode. With several workers so does the death of a process: the
    episodes that may have been its end are played again, each alone, and the one that ends its process again is
    recorded as an error. Closing the generator, as Ctrl-C does, ends the workers at once.

    Parameters
    ----------
    plan : Plan
    jobs : iterable of Match
    workers : int
        Processes; 1 plays in this one.

    Raises
    ------
    ValueError, TypeError
        If ``workers`` is not from 1 to 1024.
    RuntimeError
        If worker processes cannot start.
    """
    todo = deque(jobs)
    workers = min(errors.integer("workers", workers, 1, 1024), max(len(todo), 1))
    if workers == 1:
        room = Room(plan)
        while todo:
            yield room.play(todo.popleft())
        return
    while todo:
        suspects: list[Match] = []
        yield from _together(plan, todo, workers, suspects)
        yield from _alone(plan, suspects)


def _together(plan: Plan, todo: deque[Match], workers: int, suspects: list[Match]) -> Iterator[Played]:
    """Play until nothing is left to do, or until a worker dies: then ``suspects`` has what was being played."""
    running: dict[Future[list[Played]], list[Match]] = {}
    chunk = 1
    with _pool(plan, workers) as pool:
        while (todo and not suspects) or running:
            while todo and not suspects and len(running) <= workers:
                jobs = [todo.popleft() for _ in range(min(chunk, len(todo)))]
                running[_submitted(pool, jobs)] = jobs
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                jobs = running.pop(future)
                try:
                    finished = future.result()
                except BrokenProcessPool:
                    suspects += jobs
                    continue
                yield from finished
                chunk = min(2 * len(finished), _MOST_JOBS)
                todo.extendleft(reversed(jobs[len(finished) :]))


def _alone(plan: Plan, suspects: list[Match]) -> Iterator[Played]:
    """Play episodes one at a time; a worker that dies now tells which episode kills it."""
    left = deque(suspects)
    while left:
        with _pool(plan, 1) as pool:
            while left:
                job = left.popleft()
                try:
                    yield from _submitted(pool, [job]).result()
                except BrokenProcessPool:
                    row = blank_row(job, plan.seed)
                    message = "the process that played this episode died, twice"
                    row.error = {"type": "BrokenProcessPool", "message": message, "traceback": ""}
                    yield Played(row, [])
                    break


@contextlib.contextmanager
def _pool(plan: Plan, workers: int) -> Iterator[ProcessPoolExecutor]:
    """Start processes; on the way out after an exception end them at once."""
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, _begin, (plan,))
    try:
        try:
            pool.submit(os.getpid).result()
        except BrokenProcessPool as error:
            raise RuntimeError(
                "worker processes cannot start: the plan's make function must be importable, and a script needs "
                '`if __name__ == "__main__":`; or play with workers=1'
            ) from error
        yield pool
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _submitted(pool: ProcessPoolExecutor, jobs: list[Match]) -> Future[list[Played]]:
    """Submit jobs; a pool that is broken already gives a future that says so."""
    try:
        return pool.submit(_play_some, jobs)
    except BrokenProcessPool as error:
        future: Future[list[Played]] = Future()
        future.set_exception(error)
        return future


_rooms: list[Room] = []


def _begin(plan: Plan) -> None:
    """Set a worker up: Ctrl-C is the parent's business, and a worker does not outlive its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    warnings.simplefilter("ignore", PolicyWarning)  # the plan's check has said it
    threading.Thread(target=_follow_parent, daemon=True).start()
    _rooms[:] = [Room(plan)]


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _play_some(jobs: list[Match]) -> list[Played]:
    """Play jobs in order until half a second is over; at least one, so that rows arrive steadily."""
    started = monotonic()
    finished: list[Played] = []
    for job in jobs:
        finished.append(_rooms[0].play(job))
        if monotonic() - started > _CHUNK_SECONDS:
            break
    return finished
