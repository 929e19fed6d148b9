"""A process that plays, as it looks from inside and from outside."""

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any, TypeAlias

from agents.arena.interrupt import SIGNALS
from agents.arena.limits import Limits
from agents.arena.plan import Plan
from agents.arena.rows import Match, Played
from agents.arena.running import clock
from agents.arena.running.room import Room
from agents.beginning import beginning, end_with_parent
from agents.learning.saved.notices import PolicyWarning
from agents.spec import AgentSpec

Job: TypeAlias = Match | AgentSpec
"""A match to be played, or an agent to be checked."""
Result: TypeAlias = Played | str | None
"""Of a match, and of a check: what is wrong with the agent."""

_SPAWN = multiprocessing.get_context("spawn")
_ASKED, _SEAT, _THINKS = range(3)
_MOST_AHEAD = 64
_QUICK_SECONDS = 0.25
_SECONDS_TO_LEAVE = 2.0
_CONSOLE_CLOSED = 0xC000013A  # how Windows ends a process at Ctrl-Break, or with its console
_FROM_OUTSIDE = [*(-number for number in SIGNALS), -getattr(signal, "SIGKILL", signal.SIGTERM), _CONSOLE_CLOSED]
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def _shared(numbers: int) -> Any:
    """Return numbers that processes share, which lie in a file.

    Raises
    ------
    OSError
        If there is no room for them.
    """
    try:
        return _SPAWN.RawArray(ctypes.c_double, numbers)
    except OSError as error:
        raise OSError(
            f"no room for {8 * numbers} bytes that processes share ({error.strerror}); make room in the "
            "temporary folder and in /dev/shm, or raise the limit on the size of files (ulimit -f)"
        ) from error


class Worker:
    """A process, seen from the one that started it.

    Parameters
    ----------
    plan : Plan

    Attributes
    ----------
    connection : Connection
        Can be waited for.
    jobs : deque
        Those handed out and not yet answered, in order; the first is the one in work.
    fresh : bool
        Whether it has answered no job yet.
    ready : bool
        Whether it has got as far as to take jobs.
    ahead : int
        How many jobs are to be handed out at once: as many as are done quickly.
    """

    def __init__(self, plan: Plan) -> None:
        self.connection, theirs = _SPAWN.Pipe()
        self._pulse = _shared(3)
        self._process = _SPAWN.Process(target=serve, args=(theirs, self._pulse, plan))
        with beginning():
            self._process.start()
        theirs.close()
        self._closed = False
        self.jobs: deque[Any] = deque()
        self.fresh, self.ready = True, False
        self.ahead, self._given = 1, 0.0

    def turn_to(self, plan: Plan) -> None:
        """Let it play by another plan; it has no jobs."""
        self.ahead = 1
        self._say(plan)

    def give(self, jobs: Sequence[Job]) -> None:
        """Hand out jobs."""
        self.jobs.extend(jobs)
        self._given = monotonic()
        self._say(jobs)

    def _say(self, what: Plan | Sequence[Job] | None) -> None:
        with contextlib.suppress(OSError):  # it is gone, as will be noticed
            self.connection.send(what)

    def results(self) -> Iterator[Result]:
        """Yield the results that have arrived, each the one of the first of the jobs; :meth:`check_off` then."""
        try:
            while not self._closed and self.connection.poll():
                result = self.connection.recv()
                if not self.ready:
                    self.ready = True
                    continue
                yield result
        except Exception:  # it has ended, in the middle of a word perhaps
            self._closed = True
            self._process.join(_SECONDS_TO_LEAVE)

    def check_off(self) -> None:
        """Note that the first of the jobs is done."""
        self.jobs.popleft()
        self.fresh = False
        if not self.jobs:
            quick = monotonic() - self._given < _QUICK_SECONDS
            self.ahead = min(2 * self.ahead, _MOST_AHEAD) if quick else max(self.ahead // 2, 1)

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        return self._closed or not self._process.is_alive()

    @property
    def seat(self) -> int:
        """The seat that was asked last in the episode that is played."""
        seat = int(self._pulse[_SEAT])
        return seat if seat >= 0 else -1 - seat

    @property
    def thinking(self) -> bool:
        """Whether an agent was choosing, or being made, rather than the environment at work."""
        return bool(self._pulse[_THINKS])

    @property
    def killed(self) -> bool:
        """Whether the process was told to end, by the system or a person, which is not the fault of what it played."""
        return self._process.exitcode in _FROM_OUTSIDE

    def overdue(self, limits: Limits, since: float) -> str | None:
        """Say which limit the job in work exceeds, of whose time only what follows ``since`` is known to count."""
        asked = self._pulse[_ASKED]
        return limits.exceeded(monotonic() - max(asked, since), self._pulse[_SEAT] < 0) if asked else None

    def epitaph(self) -> str:
        """Say how the process ended."""
        code = self._process.exitcode
        if code is None or code >= 0:
            return f"the process that played it ended itself (exit code {code})"
        by = signal.Signals(-code).name
        killed = " (by the system, if memory ran out)" if by == "SIGKILL" else ""
        return f"the process that played it was ended by {by}{killed}"

    def dismiss(self) -> None:
        """Tell the process to end."""
        self._say(None)

    def end(self) -> None:
        """Let the process end by itself, if it soon does."""
        self._process.join(_SECONDS_TO_LEAVE)
        self.kill()

    def kill(self) -> None:
        """End the process, and those that it has started, at once."""
        pid = self._process.pid
        with contextlib.suppress(OSError):
            if pid is not None and sys.platform != "win32":
                os.killpg(pid, signal.SIGKILL)
        if self._process.is_alive():
            self._process.kill()
        self._process.join()


def serve(connection: "Connection[Any, Any]", pulse: Any, plan: Plan) -> None:
    """Do jobs until the connection ends; what a worker process does."""
    _settle()

    def asked(seat: int | None) -> None:
        if seat is None:
            pulse[_THINKS] = 0.0
            return
        pulse[_ASKED], pulse[_SEAT], pulse[_THINKS] = monotonic(), seat, 1.0

    clock.keep()
    room, home = Room(plan, asked), os.getpid()
    plan.limits.apply()
    with contextlib.suppress(EOFError, OSError):  # the parent has gone, or an agent has closed the connection
        connection.send("ready")
        while (jobs := connection.recv()) is not None:
            if isinstance(jobs, Plan):
                room = Room(jobs, asked)
                continue
            for job in jobs:
                asked(-1)
                if isinstance(job, Match):
                    warnings.simplefilter("ignore", PolicyWarning)  # the check has said it
                result = room.play(job) if isinstance(job, Match) else room.refusal(job)
                if os.getpid() != home:  # an agent has forked, and this is its child
                    os._exit(0)
                pulse[_ASKED] = pulse[_THINKS] = 0.0
                connection.send(result)


def _settle() -> None:
    """Ctrl-C is the parent's business, its output is not an agent's, and a worker does not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with contextlib.suppress(OSError):  # there is none below a window without a console, as that of IDLE on Windows
        os.dup2(2, 1)
    if sys.platform != "win32":
        os.setsid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    end_with_parent(_end_group)


def _end_group() -> None:
    """End this process and those that agents have started."""
    if sys.platform != "win32":
        os.killpg(0, signal.SIGKILL)
