"""A study as a page of Markdown, written from its record and from nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill

from papers.measures import Line
from papers.record import Record, Run
from papers.study import Study, Table

UNPLAYED = "not yet played"
_WIDTH = 120
_HEAD = """Written by `python scripts/reproduce.py {}`; do not edit. Intervals are of 95 %. When and where it was
played, and what the words mean: [below](#how-it-was-played)."""
_HOW = """A figure is consistent with a published one if their intervals meet, and better or below if they do not. Few
games make wide intervals, with which much is consistent. A published rate without a number of games is taken as exact.
Scale 1 plays as many games as were published, or more. ms a move: where there was a choice, with whatever else the
machine had to do."""
_LEFT = ("verdict", "verdict on touchdowns", "verdict on ties", "side")


def write(study: Study, record: Record, pictured: bool = False) -> str:
    """Return the page of a study; ``pictured`` says whether there is a picture beside it."""
    ids = dict.fromkeys(
        record.entries[cell.key].run for t in study.tables for cell in t.cells if cell.key in record.entries
    )
    numbers = {id: number for number, id in enumerate(ids, 1)}
    parts = [f"# {study.title}", paragraph(study.source), paragraph(_HEAD.format(study.name))]
    if study.summary and (lines := study.summary.lines(record)):
        heads = study.summary.heads(record)
        parts += [paragraph(study.summary.note), markdown(heads, lines, heads[:1])]
        parts += [f"![{study.title}]({study.name}.png)"] if pictured else []
    parts += [paragraph(study.conclusion(record))] if study.conclusion and record.entries else []
    for table in study.tables:
        parts += _section(table, record, numbers)
        if table.draw and pictured:
            parts.append(f"![{table.title}]({study.name}.png)")
    if study.earlier:
        parts += ["## What was played before", *map(paragraph, study.earlier.split("\n\n"))]
    parts += ["## How it was played", paragraph(_HOW), all_runs(record.runs, numbers) or "Nothing has been played yet."]
    return "\n\n".join(part for part in parts if part) + "\n"


def paragraph(text: str, indent: str = "") -> str:
    """Return a text in lines of the page's width."""
    return fill(" ".join(text.split()), _WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def all_runs(runs: Mapping[str, Run], numbers: Mapping[str, int]) -> str:
    """Return the circumstances of runs, by their ids, as a numbered list."""
    return "\n".join(played_by(number, runs[id]) for id, number in numbers.items())


def played_by(number: int, run: Run) -> str:
    """Return the circumstances of a run as an item of a numbered list."""
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    edited = " with uncommitted changes" if run.changed else ""
    how = (
        f"{number}. `{run.command}`, {run.date}, commit `{run.commit}`{edited} (sources {run.code}); {run.machine}, "
        f"{run.cores} cores; Python {run.python}, {versions}"
    )
    return paragraph(how, "   ")


def _section(table: Table, record: Record, numbers: dict[str, int]) -> Iterator[str]:
    """Yield title, note, scale and lines of a table."""
    yield f"## {table.title}"
    yield paragraph(table.note)
    yield _scale(table, record, numbers)
    lines: list[Line] = []
    for cell in table.cells:
        entry = record.entries.get(cell.key)
        if entry is None or not entry.tally:
            found = [{**line, table.measure.ours: UNPLAYED} for line in table.measure.known(cell)]
        else:
            found = table.measure.lines(cell, entry.found)
        lines += [dict(zip(table.words, cell.words, strict=True)) | line for line in found]
    heads = [*table.words, *table.measure.columns]
    used = [head for head in heads if any(line.get(head) for line in lines)]
    yield markdown(used, [[line.get(head, "") for head in used] for line in lines], (*table.words, *_LEFT))


def _scale(table: Table, record: Record, numbers: dict[str, int]) -> str:
    """Say at which scale a table was played, and what is missing or does not count."""
    found = [record.entries[cell.key] for cell in table.cells if cell.key in record.entries]
    if not found:
        return "Not yet played."
    by_run = dict.fromkeys(entry.run for entry in found)
    words = [f"{record.runs[id].scale:g}" + (f" (run {numbers[id]})" if len(numbers) > 1 else "") for id in by_run]
    text = f"Played at scale {' and '.join(words)}."
    if len(found) < len(table.cells):
        text += f" {len(table.cells) - len(found)} of {len(table.cells)} lines are not yet played."
    if errors := sum(entry.errors for entry in found):
        text += f" {errors} boards are left out, because a game on them ended in an error."
    shares = [
        f"{', '.join(cell.words)} ({', '.join(f'{label} {100 * share:.0f} %' for label, share in starved.items())})"
        for cell in table.cells
        if cell.key in record.entries and (starved := record.entries[cell.key].starved)
    ]
    if shares:
        text += f" Other work ran beside, and who thought had a part of a core: {'; '.join(shares)}."
    return text


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str]) -> str:
    """Return a table of Markdown, aligned in its source too; columns are to the right but for those named."""
    widths = [max(3, *(len(row[at]) for row in [heads, *rows])) for at in range(len(heads))]
    sides = [head in left for head in heads]

    def line(cells: Sequence[str]) -> str:
        padded = [c.ljust(w) if side else c.rjust(w) for c, w, side in zip(cells, widths, sides, strict=True)]
        return f"| {' | '.join(padded)} |"

    rule = [("-" * w if side else "-" * (w - 1) + ":") for w, side in zip(widths, sides, strict=True)]
    return "\n".join([line(heads), line(rule), *map(line, rows)])
