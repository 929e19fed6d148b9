"""What trials found, kept as a file of JSON lines, and as a page of Markdown."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from papers.page import all_runs, markdown, paragraph
from papers.record import Run, read_lines, write_lines

from foreign.catalogue import CATALOGUE, Entry
from foreign.running import MISSING, RAN

_HOW = """
    Written by `python scripts/environments.py`; do not edit. Every environment is tried in a process of its own.
    `agents.check_planning` looks for the laws of planning there; `mcts` and `auto` make five moves each at 0.1 s, fewer
    where a simulation takes many seconds, with however many simulations a noisy machine has time for; and random
    trajectories of copies, which begin somewhere in an episode, are compared step by step with those of the original
    itself: who is to choose, what is shown, what is paid, and in the end everything that either holds.
"""

_COLUMNS = """
    Laws: those that fail, and those that could not be told (open), with what speaks for it below. Hidden is open where
    no two games showed the same, as where observations are fractions, and where games take too long to begin anew, as
    by replay; independence where compiled code holds the state, so that only what is shown can be compared; restoring
    where the same chance shows something else, because no copy holds it. Copies: the first means that passes its
    check. Copy: to bring a copy back. Hidden: what becomes of what the player cannot know. Chance: how many futures 16
    seeds have. Acted: moves of `mcts`, and of `auto`. Compared: trajectories, steps of them, and how many of the
    trajectories differ. Laws are looked at where an episode begins; "warned: foresees" says that something hidden
    could not be drawn anew later on. Atari's emulator leaves the action that a game may repeat ("sticky") out of its
    snapshots, so that the first step of a copy may differ.
"""


@dataclass
class Kept:
    """What was found, by name, and who found it."""

    file: Path
    runs: dict[str, Run] = field(default_factory=dict)
    found: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> "Kept":
        """Read a file, if it is there.

        Raises
        ------
        ValueError
            If a line is not what :meth:`add` writes.
        """
        kept = cls(file)
        read_lines(file, kept._take, "environments", "its environment is then tried again")
        return kept

    def _take(self, given: dict[str, Any]) -> None:
        if "command" in given:
            run = Run(**given)
            self.runs[run.id] = run
        else:
            self.found[given["name"]] = given

    def stands(self, name: str) -> bool:
        """Say whether an environment was tried, its package being there."""
        return name in self.found and self.found[name]["end"] != MISSING

    def add(self, name: str, found: dict[str, Any], run: Run) -> None:
        """Take in what was found, and write it down; a package that is missing takes nothing back.

        What another process has written since the file was read is taken in too.
        """
        there = Kept.read(self.file)
        self.runs, self.found = {**self.runs, **there.runs}, {**self.found, **there.found}
        if found["end"] == MISSING and self.stands(name):
            return
        self.runs[run.id] = run
        self.found[name] = {"name": name, "run": run.id, **found}
        kept = [self.found[entry.name] for entry in CATALOGUE if entry.name in self.found]
        lines = [asdict(self.runs[id]) for id in dict.fromkeys(each["run"] for each in kept)] + kept
        write_lines(self.file, lines)

    def summary(self) -> str:
        """Return what it comes to, in a sentence."""
        tried = [found for found in self.found.values() if found["end"] != MISSING]
        compared = [found["compared"] for found in tried if "compared" in found]
        acted = [found for found in tried if _acted(found, "mcts") and _acted(found, "auto")]
        keeping = [found for found in tried if "laws" in found and not _laws(found, "FAILS")]
        counts = ("trajectories", "steps", "differences")
        foreseeing = sum(map(_foresees, tried))
        walks, steps, differ = (sum(each[count] for each in compared) for count in counts)
        return (
            f"{len(tried)} of {len(CATALOGUE)} environments were tried: in {len(keeping)} no law fails, and in "
            f"{len(acted)} both planners acted; in {foreseeing} a warning said that something hidden is foreseen. Of "
            f"{walks:,} random trajectories of copies, {steps:,} steps in all, {differ:,} differ from the original."
        )


def _laws(found: dict[str, Any], verdict: str) -> list[list[str]]:
    return [law for law in found.get("laws", []) if law[1] == verdict]


def _foresees(found: dict[str, Any]) -> bool:
    return any("hides something from" in each and "nobody can tell" not in each for each in found.get("warned", ()))


def _said(found: dict[str, Any], name: str) -> str:
    return next((evidence for law, _, evidence in found.get("laws", []) if law == name), "")


def _acted(found: dict[str, Any], agent: str) -> int:
    return next((each["moves"] for each in found.get("acted", []) if each["agent"] == agent), 0)


def write(kept: Kept) -> str:
    """Return the page."""
    ids = dict.fromkeys(kept.found[entry.name]["run"] for entry in CATALOGUE if entry.name in kept.found)
    numbers = {id: number for number, id in enumerate(ids, 1)}
    lines = ["# Environments of others", paragraph(_HOW), paragraph(kept.summary()), paragraph(_COLUMNS)]
    for group in dict.fromkeys(entry.group for entry in CATALOGUE):
        entries = [entry for entry in CATALOGUE if entry.group == group]
        lines.append(f"## {group[0].upper()}{group[1:]}")
        heads = ("environment", "laws", "copies", "copy", "hidden", "chance", "acted", "compared", "differ")
        rows = [_row(entry, kept.found.get(entry.name)) for entry in entries]
        lines.append(markdown(heads, rows, ("environment", "laws", "copies", "hidden", "chance")))
        notes = [note for entry in entries for note in _notes(entry, kept.found.get(entry.name))]
        if notes:
            lines.append("\n".join(notes))
    lines += ["## Runs", all_runs(kept.runs, numbers)]
    return "\n\n".join(lines) + "\n"


def _row(entry: Entry, found: dict[str, Any] | None) -> tuple[str, ...]:
    """Return the cells of an environment."""
    if found is None:
        return (entry.name, "not yet tried", *[""] * 7)
    if found["end"] == MISSING:
        return (entry.name, f"{MISSING}: {', '.join(found['missing'])}", *[""] * 7)
    fails, leaves = (", ".join(law[0] for law in _laws(found, verdict)) for verdict in ("FAILS", "open"))
    foresees = "**warned: foresees**" if _foresees(found) else ""
    laws = "; ".join(part for part in (fails and f"**fails: {fails}**", foresees, leaves and f"open: {leaves}") if part)
    compared = found.get("compared")
    return (
        entry.name,
        (laws or "all hold") if "laws" in found else f"**{found['end']}**",
        _said(found, "copies").removeprefix("by ") if not _laws({"laws": found.get("laws", [])[1:2]}, "FAILS") else "",
        _said(found, "cost").partition(" to bring")[0],
        _said(found, "hidden").partition(";")[0].partition(":")[0],
        _said(found, "chance").partition(" of ")[0],
        f"{_acted(found, 'mcts')}, {_acted(found, 'auto')}",
        f"{compared['trajectories']:,} ({compared['steps']:,})" if compared else "-",
        f"{compared['differences']:,}" if compared else "-",
    )


def _notes(entry: Entry, found: dict[str, Any] | None) -> Iterator[str]:
    """Yield what is to be said below a table."""
    if found is None or found["end"] == MISSING:
        return
    told = [f"{law}: {evidence}" for law, _, evidence in [*_laws(found, "FAILS"), *_laws(found, "open")]]
    told += found.get("raised", [])
    if found.get("compared", {}).get("first"):
        told.append(f"first difference: {found['compared']['first']}")
    if found["end"] != RAN:
        told.append(found["end"])
    told += [f"warned: {warning}" for warning in found.get("warned", ())]
    picked = [each["picked"] for each in found.get("acted", []) if each["picked"]]
    told += [f"`auto` picked {each}" for each in picked]
    if told:
        yield paragraph(f"- `{entry.name}`: {'; '.join(told)}", "  ")
