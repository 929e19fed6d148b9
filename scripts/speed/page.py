"""The measured figures as a page of Markdown, written from what was kept of each part and from nothing else."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from papers.page import all_runs, markdown, paragraph
from papers.record import Run, read_lines, this_run, write_lines

from mcts_envs.core.writing import write_whole
from speed.figure import Figure

TITLES = {
    "api": "Environments and rules",
    "search": "Search",
    "training": "Training with PPO",
    "network": "Searches that consult a network",
    "rivals": "Beside other packages",
}
"""By part, in the order of the page."""

_HOW = """
    Written by `python scripts/benchmark.py`; do not edit. Every figure stands beside a yardstick that was measured in
    the same run, on one core but for threads; what counts is the comparison. Times are the least of several rounds in
    which both take turns; those of training are medians. "Published" and "measured" name yardsticks that were not run
    here. Load is the number of processes that wanted a core, averaged over a minute, before and after the part: this
    program is one. Threads gain nothing where the load is above the cores.
"""


@dataclass(frozen=True)
class Measured:
    """The figures of a part, and the circumstances: rounds, load before and after, who ran it."""

    part: str
    rounds: int
    load: tuple[float, float]
    figures: list[Figure]
    run: Run


def kept(file: Path) -> dict[str, Measured]:
    """Read what was measured, by part.

    Raises
    ------
    ValueError
        If a line is not what :func:`keep` writes.
    """
    parts = dict[str, Measured]()

    def take(given: dict[str, Any]) -> None:
        run, figures = Run(**given.pop("run")), [Figure(**figure) for figure in given.pop("figures")]
        parts[given["part"]] = Measured(**given | {"load": tuple(given["load"])}, figures=figures, run=run)

    read_lines(file, take, "benchmark", "its part is then not measured")
    return parts


def load() -> float:
    """Return how many processes wanted a core, over the last minute; 0 where the system does not count (Windows)."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def keep(pages: Path, part: str, rounds: int, before: float, figures: list[Figure]) -> bool:
    """Write down a part and the page; say whether it stands there now: one of more rounds would stay."""
    file = pages / "data" / "speed.jsonl"
    parts = kept(file)
    stands = part not in parts or parts[part].rounds <= rounds
    if stands:
        loads = round(before, 1), round(load(), 1)
        parts[part] = Measured(part, rounds, loads, figures, this_run("benchmark", 1.0))
    write_lines(file, (asdict(parts[name]) for name in TITLES if name in parts))
    write_whole(pages / "speed.md", write(parts).encode())
    return stands


def write(parts: dict[str, Measured]) -> str:
    """Return the page."""
    ran = [parts[name].run for name in TITLES if name in parts]
    runs = {run.id: run for run in ran}
    numbers = {id: number for number, id in enumerate(runs, 1)}
    lines = ["# Speed", paragraph(_HOW)]
    for name, title in TITLES.items():
        lines.append(f"## {title}")
        if name not in parts:
            lines.append(f"Not measured: `python scripts/benchmark.py {name}` does.")
            continue
        part = parts[name]
        before, after = part.load
        which = f"run {numbers[part.run.id]}, " if len(numbers) > 1 else ""
        lines.append(f"{which}{part.rounds} rounds; load {before} before and {after} after.".capitalize())
        lines.append(table(part.figures))
    lines += ["## Runs", all_runs(runs, numbers)]
    return "\n\n".join(lines) + "\n"


def _short(value: float) -> str:
    """Return a number in three digits."""
    return f"{float(f'{value:.3g}'):,g}"


def table(figures: Sequence[Figure]) -> str:
    """Return figures as a table of Markdown."""
    heads = ("what", "measured", "yardstick", "its figure", "comparison")
    rows = [
        (f.what.removeprefix("mcts_envs/"), f"{_short(f.value)} {f.unit}", f.yardstick, _short(f.reference), f.verdict)
        for f in figures
    ]
    return markdown(heads, rows, ("what", "yardstick"))
