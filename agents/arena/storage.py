"""Results on disk: a line for each finished episode, safe against being interrupted at any moment."""

import hashlib
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from errno import ENOENT
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any

from agents.arena.plan import NAMED, circumstances, files_where
from agents.arena.replays import REPLAYS, file_of, has_replay, keep_replay, tidy_replays
from agents.arena.rows import Key, Match, Played, Row, Transition, row_of
from agents.locking import only_writer
from mcts_envs.core import errors

EPISODES = "episodes.jsonl"
TRANSITIONS = "transitions.jsonl"
_SECONDS_BETWEEN_SYNCS = 0.25
_CLOCKS = ("seconds", "p99", "slowest", "overruns", "cpu")


def default_folder(configuration: Mapping[str, Any]) -> Path:
    """Return a folder under ``results/`` that is the same for the same configuration and differs for others.

    The code does not count, nor do files that settings name: after a change of them, the same command finds the same
    folder, and is told.
    """
    files = files_where(configuration["files"], lambda label, name: NAMED not in name)
    text = json.dumps({**configuration, "code": "", "files": files}, sort_keys=True)
    name = str(configuration["environment"]).rpartition("/")[2].rpartition(":")[2]
    return Path("results") / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def read_header(folder: Path) -> dict[str, Any]:
    """Return the first line in a folder: the configuration, and under which circumstances it was begun.

    Raises
    ------
    ValueError
        If it is damaged.
    """
    with (folder / EPISODES).open("rb") as file:
        return _header(folder / EPISODES, file.readline())


def read_rows(folder: Path, scored: bool = False) -> dict[Key, Row]:
    """Return the rows in a folder by their keys, as in :class:`Results`."""
    lines = (folder / EPISODES).read_bytes().split(b"\n")[1:-1]
    return {row.key: row for row in (_row(folder / EPISODES, n, line, scored) for n, line in enumerate(lines, 2))}


def read_transitions(folder: Path, episodes: int) -> Iterator[Transition]:
    """Yield the recorded moves of the first ``episodes`` episodes of each agent or pairing, episode by episode.

    Moves are as in :class:`Results`. Those of episodes that were played again later are left out.
    """
    rows = read_rows(folder)
    with (folder / TRANSITIONS).open("rb") as file:
        for row in rows.values():
            if row.transitions is not None and row.episode < episodes:
                offset, size = row.transitions
                file.seek(offset)
                yield from map(json.loads, file.read(size).splitlines())


class Results:
    """The results of a comparison in a folder.

    The first line of ``episodes.jsonl`` holds the configuration, every other line a finished episode
    (:class:`agents.arena.rows.Row`). Lines are only ever appended; of two lines about the same episode the later
    one counts. A torn last line is dropped when the folder is opened again.

    ``transitions.jsonl`` has a line for each move of the recorded episodes: ``agent`` (in games for several
    ``agents``, by seat), ``episode``, ``step``, and what :func:`agents.arena.running.play.play` says. An episode's
    transitions are on disk before its line is.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    configuration : dict
        From :meth:`agents.arena.plan.Plan.configuration`.
    fresh : bool
        Throw away what is there.
    replays : bool
        Whether replays are kept: then games that have lost theirs are forgotten, and replays without a game removed.
    scored : bool
        Whether every game is won or lost: then a row without points is a damaged one.

    Attributes
    ----------
    rows : dict
        By their keys: ``(labels by seat, number) -> Row``.

    Raises
    ------
    ValueError
        If the folder holds results of another configuration, or a damaged file.
    BlockingIOError
        If another comparison is writing to the folder.
    OSError
        If something cannot be written, as on a full disk; what was added before is kept.
    """

    def __init__(
        self,
        folder: Path,
        configuration: Mapping[str, Any],
        fresh: bool = False,
        *,
        replays: bool = False,
        scored: bool = False,
    ) -> None:
        self.folder, self._place = folder, folder.absolute()  # an agent in this process may go to another folder
        self._scored = scored
        self.rows: dict[Key, Row] = {}
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            stack.enter_context(only_writer(folder, "comparison"))
            if fresh:
                for name in (EPISODES, TRANSITIONS):
                    (folder / name).unlink(missing_ok=True)
                tidy_replays(folder)
            self._lines = stack.enter_context(_opened(folder / EPISODES, self._read(configuration)))
            if self._lines.tell() == 0:
                header = {"configuration": configuration, "circumstances": circumstances()}
                _append(self._lines, json.dumps(header) + "\n")
            self._moves = stack.enter_context(self._open_transitions()) if configuration["record"] else None
            self._replays = replays
            if replays:
                self.rows = {key: row for key, row in self.rows.items() if has_replay(folder, row)}
                tidy_replays(folder, self.rows.values())
            self._synced = 0.0
            self._open = stack.pop_all()

    def __enter__(self) -> "Results":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Make sure that everything is on disk, close the files, and let others write."""
        with self._open:
            self._sync()

    def has(self, job: Match) -> bool:
        """Return whether a match is there; one that ended in an error is not, and will be tried again."""
        row = self.rows.get(job.key)
        return row is not None and row.error is None

    def add(self, played: Played) -> None:
        """Write a finished match: safe from the end of this process at once, from that of the machine soon."""
        row = _lean(played.row)
        if self._moves is not None and row.fault is None:
            offset = self._moves.tell()
            _append(self._moves, _moves(row, played.transitions))
            row.transitions = [offset, self._moves.tell() - offset]
        if self._replays:
            with written(self.folder / REPLAYS):
                row.replay = keep_replay(self.folder, row.key, played.replay)
        _append(self._lines, json.dumps(asdict(row)) + "\n")
        self.rows[row.key] = row
        if monotonic() - self._synced > _SECONDS_BETWEEN_SYNCS:
            self._sync()

    def take(self, folder: Path, configuration: Mapping[str, Any], jobs: Iterable[Match]) -> None:
        """Take in the games of another folder that are not here.

        Those that ended in an error stay there, and those whose moves or replay are not there any more, or not whole,
        as when a folder is copied while it is written to. Of a comparison with other agents besides, these are the
        ``jobs`` whose agents are the same there.

        Raises
        ------
        ValueError
            If what it holds is played otherwise than ``configuration``, or is a game that came out otherwise here.
        BlockingIOError
            If a comparison is writing to it.
        OSError
            If there are no results.
        """
        if folder.resolve() == self.folder.resolve():
            return
        if not (folder / EPISODES).is_file():
            raise FileNotFoundError(f"{folder} holds no results; merge folders that a comparison has written to")
        with only_writer(folder, "comparison"):
            header = read_header(folder)["configuration"]
            check_same(_circumstances(header), _circumstances(configuration), folder, "Merge what is played alike")
            wanted = None if header == configuration else _in_common(header, configuration, folder, jobs)
            for row in read_rows(folder, self._scored).values():
                there = self.rows.get(row.key)
                if row.error is not None or not (wanted is None or row.key in wanted):
                    continue
                if there is None or there.error is not None:
                    played = _with_what_is_beside(folder, row, self._replays)
                    if played is not None:
                        self.add(played)
                elif (ours := _facts(there)) != (theirs := _facts(row)):
                    odd = next(name for name in ours if ours[name] != theirs[name])
                    raise ValueError(
                        f"{' - '.join(row.agents)}, episode {row.episode}, is in {folder} and {self.folder} and came "
                        f"out otherwise ({odd}): it depends on time or on chance that no seed tells; delete one of the "
                        "two lines"
                    )

    def _sync(self) -> None:
        for stream in (self._moves, self._lines):
            if stream is not None:
                with written(Path(stream.name)):
                    os.fsync(stream.fileno())
                    file = self._place / Path(stream.name).name
                    if not os.path.samestat(os.stat(file), os.fstat(stream.fileno())):  # it would be read by nobody
                        raise FileNotFoundError(ENOENT, "another file is in its place")
        self._synced = monotonic()

    def _open_transitions(self) -> Any:
        """Open the transitions after the last episode that is whole; episodes that lack theirs are forgotten."""
        file = self.folder / TRANSITIONS
        there = file.stat().st_size if file.exists() else 0
        ends = {key: sum(row.transitions) for key, row in self.rows.items() if row.transitions}
        for key in [key for key, end in ends.items() if end > there]:
            del self.rows[key]
        return _opened(file, max((end for end in ends.values() if end <= there), default=0))

    def _read(self, configuration: Mapping[str, Any]) -> int:
        """Read the file of episodes and return how many of its bytes are whole lines."""
        file = self.folder / EPISODES
        content = file.read_bytes() if file.exists() else b""
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), 1):
            if number > 1:
                row = _row(file, number, line, self._scored)
                self.rows[row.key] = row
                continue
            check_same(_header(file, line)["configuration"], configuration, self.folder)
        return whole


def _header(file: Path, line: bytes) -> dict[str, Any]:
    """Read the first line of a file of episodes."""
    try:
        found: dict[str, Any] = json.loads(line)
        return {**found, "configuration": {**found["configuration"]}}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{file}, line 1, which says what is compared, is damaged ({error}); bring it back from a copy, "
            "choose another folder with --out, or start anew with --fresh"
        ) from error


def _lean(row: Row) -> Row:
    """Let a row share the texts that others have too: there may be a great many."""
    row.played_on = sys.intern(row.played_on)
    for seat in row.seats:
        seat.agent = sys.intern(seat.agent)
    return row


def _row(file: Path, number: int, line: bytes, scored: bool) -> Row:
    """Read a line of a file of episodes."""
    try:
        return _lean(row_of(json.loads(line), scored))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _damaged(file, number, error) from error


def _with_what_is_beside(folder: Path, row: Row, replays: bool) -> Played | None:
    """Return a row with its moves and its replay; None if moves, or a replay where ``replays`` are kept, were lost."""
    moves, whole = _recorded(folder, row), row.replay is not None and has_replay(folder, row)
    if moves is None or (replays and row.replay is not None and not whole):
        return None
    for move in moves:
        for name in (*row.where, "step"):
            del move[name]
    text = file_of(folder, row.key).read_text(encoding="utf-8") if whole else ""
    return Played(replace(row, transitions=None, replay=None), moves, text)


def _recorded(folder: Path, row: Row) -> list[Transition] | None:
    """Return the moves of a row, none if none were recorded; None if they are not there any more, or not whole."""
    if row.transitions is None:
        return []
    offset, size = row.transitions
    try:
        with (folder / TRANSITIONS).open("rb") as file:
            if os.fstat(file.fileno()).st_size < offset + size:
                return None
            file.seek(offset)
            moves = [json.loads(line) for line in file.read(size).splitlines()]
    except (FileNotFoundError, ValueError):
        return None
    where = {**row.where}.items()
    return moves if all(isinstance(move, dict) and where <= move.items() for move in moves) else None


def _facts(row: Row) -> dict[str, Any]:
    """Return what must be equal wherever and whenever a game is played: all but clocks, and where it lies."""
    seats = {
        f"{name} of seat {number}": value
        for number, seat in enumerate(row.seats)
        for name, value in asdict(seat).items()
        if name not in _CLOCKS
    }
    return {"seed": row.seed, **seats, "kept": row.kept, "forfeit": row.forfeit and row.forfeit["reason"]}


def _damaged(file: Path, number: int, error: Exception) -> ValueError:
    return ValueError(
        f"{file}, line {number}, is not what a comparison writes ({error}); delete the line (its episode is played "
        "again), choose another folder with --out, or start anew with --fresh"
    )


@contextmanager
def written(file: Path) -> Iterator[None]:
    """Let an error say which file could not be written, and what to do."""
    try:
        yield
    except OSError as error:
        first = "leave its folder there" if isinstance(error, FileNotFoundError) else errors.room(error)
        cure = f"{first}, and the same command, without --fresh, goes on"
        raise OSError(error.errno, f"{error.strerror or error}: {file} cannot be written; {cure}") from error


def _circumstances(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return how games are played: all of a configuration but who plays."""
    who = configuration.get("agents", {})
    files = {name: digests for name, digests in configuration.get("files", {}).items() if name not in who}
    rest = {name: value for name, value in configuration.items() if name not in ("agents", "matches", "lineups")}
    return {**rest, "files": files, "seats": configuration.get("matches", {}).get("seats")}


def _in_common(
    there: Mapping[str, Any], here: Mapping[str, Any], folder: Path, jobs: Iterable[Match]
) -> frozenset[Key]:
    """Return the keys of those matches whose agents are the same in two configurations."""
    played, digests = there.get("agents", {}), there.get("files", {})
    alike = {
        label
        for label, agent in here["agents"].items()
        if played.get(label) == agent and digests.get(label) == here["files"].get(label)
    }
    if not alike:
        raise ValueError(
            f"{folder} holds games of {', '.join(played)}, and none of these agents is the same as one of "
            f"{', '.join(here['agents'])}, settings and files included; leave it out"
        )
    return frozenset(job.key for job in jobs if {*job.key[0]} <= alike)


def check_same(
    there: Mapping[str, Any],
    here: Mapping[str, Any],
    folder: Path,
    cure: str = "Choose another folder with --out, or throw them away with --fresh; in Python folder and fresh",
) -> None:
    """Raise ``ValueError``, with what differs, unless the configurations of two comparisons are the same."""
    changed = [key for key in {**there, **here} if there.get(key) != here.get(key)]
    differences = [
        "the code of mcts_envs or agents has changed since"
        if key == "code"
        else f"{key} {_unlike(there.get(key), here.get(key))}, now {_unlike(here.get(key), there.get(key))}"
        for key in changed
    ]
    if differences:
        raise ValueError(f"{folder} holds results of another configuration: {'; '.join(differences)}. {cure}")


def _unlike(value: Any, other: Any) -> str:
    """Return what of a value is otherwise in another one: of dictionaries those entries alone."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        value = {name: each for name, each in value.items() if name not in other or other[name] != each}
    return json.dumps(value)


def _moves(row: Row, transitions: list[Transition]) -> str:
    return "".join(json.dumps({**row.where, "step": step, **move}) + "\n" for step, move in enumerate(transitions))


def _opened(file: Path, size: int) -> Any:
    """Open a file for appending after its first ``size`` bytes, and cut off what follows them."""
    with written(file):
        stream = file.open("ab", buffering=0)
        stream.truncate(size)
        stream.seek(size)
    return stream


def _append(stream: io.FileIO, text: str) -> None:
    with written(Path(str(stream.name))):
        left = memoryview(text.encode())
        while left:
            left = left[stream.write(left) :]
