"""Reproduce the published results of a source document, and write a page of them beside ours.

    python scripts/reproduce.py lane                    everything, as published or with more games
    python scripts/reproduce.py lane --scale 0.02       a quick look
    python scripts/reproduce.py wall --only "wall"      the tables whose titles hold these words, or by their numbers
    python scripts/reproduce.py bomber --report-only    the page anew, of what has been played; nothing is played

Every game is kept below ``results/`` at once, so that the same command goes on after an interruption. The page is made
of ``docs/results/data/``, which says how often each result came out; there a longer run stays, when a shorter follows.
"""

import importlib
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import _own  # noqa: F401
import typer
from _line import begin
from _pages import PAGES
from _words import going_on, refusal

from mcts_envs.core.cores import cores
from mcts_envs.core.errors import unknown, writable
from mcts_envs.core.writing import write_whole

if TYPE_CHECKING:
    from papers.record import Record
    from papers.study import Study, Table

PAPERS = ("lane", "wall", "bomber", "football", "policies", "answer", "ideas", "strength", "auto")


def main(
    paper: Annotated[str, typer.Argument(help=f"One of: {', '.join(PAPERS)}.")],
    scale: Annotated[float, typer.Option(min=0.001, max=100.0, help="Share of the games to play.")] = 1.0,
    only: Annotated[list[str] | None, typer.Option(help="Words of a table's title, or its number; repeatable.")] = None,
    workers: Annotated[int, typer.Option(min=0, max=1024, help="Processes; 0: one for each core.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder of the games.")] = Path("results/reproduce"),
    pages: Annotated[Path, typer.Option(help="Folder of the pages and of their data.")] = PAGES,
    report_only: Annotated[bool, typer.Option("--report-only", help="Write the page anew, and play nothing.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Throw away games and figures of these tables.")] = False,
) -> None:
    """Reproduce a paper."""
    if paper not in PAPERS:
        typer.secho(f"error: {unknown('paper', paper, PAPERS)}", err=True, fg="red")
        raise typer.Exit(2)
    # Late, so that --help loads no game.
    from papers.record import Record

    from agents.arena.interrupt import interruptible, signal_of

    try:
        for folder in (out / paper, pages / "data"):
            writable("out", folder, folder=True)
        writable("page", pages / f"{paper}.md")
        study: Study = importlib.import_module(f"papers.{paper}").STUDY
        record = Record.read(pages / "data" / f"{paper}.jsonl")
        tables = chosen(study, only or [])
        try:
            if not report_only:
                kept = pages / "data" / paper if study.rows else None
                with interruptible():
                    play(study, tables, record, out / paper, scale, workers or cores(), fresh, kept)
        finally:  # of what there is, if it was interrupted
            page = publish(study, record, pages)
    except KeyboardInterrupt as error:
        what = "; what it had not yet thrown away stays" if fresh else ""
        typer.secho(f"interrupted; {going_on(fresh)} goes on from here{what}", err=True, fg="yellow")
        raise typer.Exit(128 + signal_of(error)) from None
    except (ValueError, OSError) as error:
        raise refusal(error) from None
    typer.echo(page.read_text(encoding="utf-8"))
    typer.echo(f"page: {page}")


def chosen(study: "Study", only: Sequence[str]) -> "list[Table]":
    """Return the tables to be played: all, or those that are named.

    Raises
    ------
    ValueError
        If a name is no table's.
    """
    found = []
    for words in only:
        named = [table for number, table in enumerate(study.tables, 1) if words == str(number)]
        named = named or [table for table in study.tables if words.lower() in table.title.lower()]
        if not named:
            titles = "; ".join(f"{number} {table.title}" for number, table in enumerate(study.tables, 1))
            raise ValueError(f"only {words!r}: no table has this in its title; there are: {titles}")
        found += named
    titles = {table.title for table in found}
    return [table for table in study.tables if table.title in titles or not only]


def play(
    study: "Study",
    tables: "Sequence[Table]",
    record: "Record",
    out: Path,
    scale: float,
    workers: int,
    fresh: bool,
    kept: Path | None = None,
) -> None:
    """Play tables, what has not been played first, and write down what they came to after each comparison."""
    from papers.playing import play_table
    from papers.record import this_run

    run, keys = this_run("reproduce", scale), [cell.key for table in study.tables for cell in table.cells]
    for table in tables:
        longer, cells = 0, sorted(table.cells, key=lambda cell: cell.key in record.entries)
        told = replace(table, cells=tuple(cells))
        for found in play_table(told, run, out, workers, fresh, lambda line: typer.echo(line, err=True), kept):
            longer += not record.add(found, run, fresh)
            record.write(keys)
        if longer:
            typer.echo(f"{table.title}: {longer} figures stand on more games than these, and stay", err=True)


def publish(study: "Study", record: "Record", pages: Path) -> Path:
    """Write the page of a study, and its pictures, and return where it is."""
    from papers.page import write

    pages.mkdir(parents=True, exist_ok=True)
    pictures = [study.summary.draw(record)] if study.summary else []
    for table in study.tables:
        entry = record.entries.get(table.cells[0].key)
        pictures += [table.draw(entry.found.results)] if table.draw and entry else []
    for picture in filter(None, pictures):
        picture.save(drawn := io.BytesIO(), "PNG")
        write_whole(pages / f"{study.name}.png", drawn.getvalue())
    page = pages / f"{study.name}.md"
    write_whole(page, write(study, record, (pages / f"{study.name}.png").exists()).encode())
    return page


if __name__ == "__main__":
    begin(main)
