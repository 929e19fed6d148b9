"""What loses a game otherwise than by its rules: time, crashes, illegal moves, memory."""

import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from agents.arena.interrupt import Interrupted
from agents.arena.rows import Row
from agents.own import NoActionError
from mcts_envs.core.own_code import is_own

TIME, CRASH, ILLEGAL, MEMORY = "time", "crash", "illegal", "memory"
"""The reasons."""

_TRACEBACK_LINES = 12
_MOST_CHARACTERS = 4000
_REASON = "_lost_by"
_UNPRINTABLE = re.compile("[^\n\t -~\xa0-\ud7ff\ue000-\U0010ffff]")
"""What a terminal would take for a command, and what no file can encode."""
_FRAME = re.compile(r'^ *File "(.+)", line (\d+)', re.MULTILINE)


class LateError(TimeoutError):
    """Raised where a move took longer than it may."""


class IllegalMoveError(ValueError):
    """Raised where an agent chose what it may not choose."""


@contextmanager
def agents_code() -> Iterator[None]:
    """Note of whatever is raised in here that it is the fault of the agent that was asked last."""
    try:
        yield
    except Interrupted:
        raise
    except BaseException as error:
        vars(error)[_REASON] = _reason(error)
        raise


def _reason(error: BaseException) -> str:
    for kind, reason in ((LateError, TIME), ((IllegalMoveError, NoActionError), ILLEGAL)):
        if isinstance(error, kind):
            return reason
    return MEMORY if type(error).__name__.endswith("MemoryError") else CRASH  # NumPy has one of its own


@contextmanager
def caught(row: Row, teams: Sequence[tuple[int, ...]]) -> Iterator[None]:
    """Write an exception into a row instead of raising it, also one that would end the program.

    One in an agent's code loses it the match; others make the row an error. Where the person at the keyboard
    interrupts, it is :class:`agents.arena.interrupt.Interrupted`, and passes.
    """
    try:
        yield
    except Interrupted:
        raise
    except BaseException as error:
        reason = vars(error).get(_REASON)
        if reason is None:
            row.error = _told(error)
        else:
            forfeit(row, teams, reason, _told(error))


def forfeit(row: Row, teams: Sequence[tuple[int, ...]], reason: str, told: dict[str, str]) -> None:
    """Let the agent that was asked last lose a match: its team has no points, and the others still in it share one.

    Parameters
    ----------
    row : Row
    teams : sequence of tuple of int
        The seats of each team.
    reason : str
    told : dict
        ``type``, ``message`` and ``traceback``.
    """
    row.forfeit = {"reason": reason, **told}
    loser = next((team for team in teams if row.last_asked in team), ())
    _share(row, teams, loser)


def cut_off(row: Row, teams: Sequence[tuple[int, ...]]) -> None:
    """Let all teams that are still in a truncated match share its point; a game for one stays as it is."""
    if len(teams) > 1:
        _share(row, teams, ())


def _share(row: Row, teams: Sequence[tuple[int, ...]], loser: tuple[int, ...]) -> None:
    """End a match for all teams that are still in it: the loser has no points, and the others share one."""
    moves = sum(seat.length for seat in row.seats)
    playing = [team for team in teams if not any(row.seats[seat].ended for seat in team)]
    others = [team for team in playing if team != loser]
    for team in playing:
        for number in team:
            seat = row.seats[number]
            if seat.outcome is not None:
                seat.outcome = 1 / len(others) if team in others else 0.0
                seat.is_success = seat.outcome == 1.0
            if len(teams) > 1:
                seat.ended = moves + (team in others)


def in_words(told: Mapping[str, str]) -> str:
    """Return type and message of what a row says was raised, and the last line of one's own code on the way there."""
    frames = _FRAME.findall(told.get("traceback", ""))
    own = [each for each in frames if is_own(each[0])]
    place = f" ({Path(own[-1][0]).name}, line {own[-1][1]})" if own else ""
    said = f"{told['type']}: {told['message']}"
    return said if said.endswith(place) else said + place  # a SyntaxError says it itself


def _told(error: BaseException) -> dict[str, str]:
    """Return type, message and traceback of an exception."""
    tail = "\n".join(traceback.format_exc().strip().splitlines()[-_TRACEBACK_LINES:])
    told = {"type": type(error).__name__, "message": message_of(error), "traceback": tail[-_MOST_CHARACTERS:]}
    return {name: _UNPRINTABLE.sub("?", text) for name, text in told.items()}


def message_of(error: BaseException) -> str:
    """Return what an exception says, whoever wrote its class, as any terminal, file and page takes it."""
    try:
        message = str(error)
    except BaseException as another:
        message = f"(its message raises {type(another).__name__})"
    return _UNPRINTABLE.sub("?", message[:_MOST_CHARACTERS])
