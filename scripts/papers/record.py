"""What has been played of a study, small enough to be committed: how often each result came out, and who played it."""

import hashlib
import json
import os
import platform
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import agents
import mcts_envs
from agents.arena.plan import circumstances
from agents.arena.statistics.estimates import Estimate, mean_points, wilson
from mcts_envs.core.compiling.sources import source_digest
from mcts_envs.core.writing import write_whole
from papers.measures import Cost, Found
from papers.study import Cell

_ROOT = Path(__file__).resolve().parents[2]
_GENERATED = "docs/results"
_FOLDERS = {"--out", "--pages"}


@dataclass(frozen=True)
class Run:
    """The circumstances of a run: what a reader needs to judge its figures, and to repeat it."""

    command: str
    scale: float
    commit: str
    changed: bool
    code: str
    date: str
    machine: str
    cores: int
    python: str
    versions: dict[str, str]

    @property
    def id(self) -> str:
        """What entries call it by."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:8]


def this_run(script: str, scale: float) -> Run:
    """Return the circumstances of this process, which runs ``scripts/<script>.py``."""
    here = circumstances()
    commit, changes = (
        _git("rev-parse", "--short=10", "HEAD"),
        _git("status", "--porcelain", "--", ".", f":!{_GENERATED}"),
    )
    code = "-".join(source_digest(Path(str(package.__file__)).parent)[:8] for package in (mcts_envs, agents))
    return Run(
        command=shlex.join(["python", f"scripts/{script}.py", *_told(sys.argv[1:])]),
        scale=scale,
        commit=commit or "unknown",
        changed=bool(changes),
        code=code,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        machine=_processor(),
        cores=os.cpu_count() or 1,
        python=here["python"],
        versions=here["versions"],
    )


def _told(arguments: Sequence[str]) -> list[str]:
    """Return the arguments without those that name folders: they are of a machine, and change no figure."""
    told: list[str] = []
    for before, argument in pairwise(["", *arguments]):
        if not {before, argument.partition("=")[0]} & _FOLDERS:
            told.append(argument)
    return told


@dataclass(frozen=True)
class Entry:
    """What has been measured of a cell.

    Attributes
    ----------
    cell, run : str
        Key of the cell, and id of the run.
    tally : list of [result, int]
        How many boards came out how.
    costs : dict
        By agent.
    errors : int
        Boards that do not count, because a game on them ended in an error.
    starved : dict
        Share of a core that planners with a time limit had while they thought, by agent, where other work took much.
    """

    cell: str
    run: str
    tally: list[list[Any]]
    costs: dict[str, Cost]
    errors: int = 0
    starved: dict[str, float] = field(default_factory=dict)

    @property
    def boards(self) -> int:
        """How many boards count."""
        return sum(count for _, count in self.tally)

    @property
    def found(self) -> Found:
        """What the tables are made of."""
        return Found([result for result, count in self.tally for _ in range(count)], self.costs)

    @property
    def share(self) -> Estimate:
        """Games won alone, or points of the player in games for two."""
        results = self.found.results
        if isinstance(results[0], list):
            return mean_points([float(np.mean(board)) for board in results])
        return wilson(sum(results), self.boards)


def tallied(results: Sequence[Any]) -> list[list[Any]]:
    """Return each result, once, with how often it came out; in an order of their own, whoever played them."""
    counts = Counter(json.dumps(result, sort_keys=True) for result in results)
    return [[json.loads(text), count] for text, count in sorted(counts.items())]


def read_lines(file: Path, take: Callable[[dict[str, Any]], None], script: str, without: str) -> None:
    """Hand over each line of a file of JSON lines, if it is there.

    Raises
    ------
    ValueError
        If a line is not what ``scripts/<script>.py`` writes; it ends with what follows ``without`` the line.
    """
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines() if file.exists() else (), 1):
        try:
            take(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(
                f"{file}, line {number}, is not what scripts/{script}.py writes ({error}); restore the file, or delete "
                f"the line: {without}"
            ) from error


def write_lines(file: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write a file of JSON lines, whole, and its folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, "".join(json.dumps(line) + "\n" for line in lines).encode())


@dataclass
class Record:
    """All that has been played of a study, as a file of JSON lines: runs, then entries.

    An entry gives way only to one of at least as many boards, so that a long run survives a quick look, or to one that
    was played afresh.

    Attributes
    ----------
    file : Path
    runs : dict
        By id.
    entries : dict
        By the key of the cell.
    """

    file: Path
    runs: dict[str, Run] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    _added: set[str] = field(default_factory=set, compare=False)
    _afresh: set[str] = field(default_factory=set, compare=False)

    @classmethod
    def read(cls, file: Path) -> "Record":
        """Read a file, if it is there.

        Raises
        ------
        ValueError
            If a line is not what :meth:`write` writes.
        """
        record = cls(file)
        read_lines(file, record._take, "reproduce", "its figures are then not yet played")
        return record

    def _take(self, given: dict[str, Any]) -> None:
        if "command" in given:
            run = Run(**given)
            self.runs[run.id] = run
            return
        costs = {name: Cost(**cost) for name, cost in given.pop("costs").items()}
        entry = Entry(**given, costs=costs)
        self.entries[entry.cell] = entry

    def share(self, cell: Cell) -> Estimate | None:
        """Return the share of a cell (:attr:`Entry.share`); None if it has not been played, or every game failed."""
        entry = self.entries.get(cell.key)
        return entry.share if entry and entry.boards else None

    def add(self, entry: Entry, run: Run, fresh: bool = False) -> bool:
        """Take an entry in, and say whether it stands now; one of more boards stays, unless it is thrown away."""
        old = self.entries.get(entry.cell)
        if fresh:
            self._afresh.add(entry.cell)
        elif old is not None and old.boards > entry.boards:
            return False
        self.runs[run.id], self.entries[entry.cell] = run, entry
        self._added.add(entry.cell)
        return True

    def write(self, keys: Sequence[str]) -> None:
        """Write the entries of these cells, in this order, and the runs that they come from.

        What another process has written since the file was read stays, but for cells that this one has played.
        """
        there = Record.read(self.file)
        self.runs = {**there.runs, **self.runs}
        for cell, entry in there.entries.items():
            if cell not in self._added or (cell not in self._afresh and entry.boards > self.entries[cell].boards):
                self.entries[cell] = entry
        kept = [self.entries[key] for key in dict.fromkeys(keys) if key in self.entries]
        used = dict.fromkeys(entry.run for entry in kept)
        lines = [asdict(self.runs[id]) for id in used] + [asdict(entry) for entry in kept]
        write_lines(self.file, [{k: v for k, v in line.items() if k != "starved" or v} for line in lines])


def total(costs: Mapping[str, Cost], name: str, seat: Any) -> Cost:
    """Return the costs of an agent with those of one more seat."""
    old = costs.get(name, Cost())
    return Cost(
        old.games + 1, old.moves + seat.length, old.decisions + seat.decisions, round(old.seconds + seat.seconds, 6)
    )


def _git(*words: str) -> str:
    if not (_ROOT / "pyproject.toml").is_file():  # installed; a repository around it is another's
        return ""
    try:
        done = subprocess.run(["git", *words], cwd=_ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def _processor() -> str:
    """Return the model of the processor."""
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in _lines(info) if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
