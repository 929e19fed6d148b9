"""Reproduce the published results of a source document, beside ours with intervals.

    python scripts/reproduce.py lane                 everything, as published or with more games
    python scripts/reproduce.py lane --scale 0.02    a quick look
    python scripts/reproduce.py wall                 the same for another paper

What has been played is kept below ``results/``; the same command goes on after an interruption.
"""

import importlib
import os
from pathlib import Path
from typing import Annotated

import _own  # noqa: F401
import typer
from _words import said

from mcts_envs.core.errors import unknown, writable

PAPERS = ("lane", "wall", "bomber", "football")
_REPORT = "report.md"


def main(
    paper: Annotated[str, typer.Argument(help=f"One of: {', '.join(PAPERS)}.")],
    scale: Annotated[float, typer.Option(min=0.001, max=100.0, help="Share of the games to play.")] = 1.0,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0: one for each core.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results/reproduce"),
) -> None:
    """Reproduce a paper."""
    if paper not in PAPERS:
        typer.secho(f"error: {unknown('paper', paper, PAPERS)}", err=True, fg="red")
        raise typer.Exit(2)
    folder = out / paper
    try:
        writable("out", folder, folder=True)
        writable("report", folder / _REPORT)
        folder.mkdir(parents=True, exist_ok=True)
        module = importlib.import_module(f"papers.{paper}")
        text = module.reproduce(folder, scale, workers or os.cpu_count() or 1, lambda line: typer.echo(line, err=True))
    except KeyboardInterrupt:
        typer.secho("interrupted; the same command goes on from here", err=True, fg="yellow")
        raise typer.Exit(130) from None
    except (ValueError, OSError) as error:
        typer.secho(f"error: {said(error)}", err=True, fg="red")
        raise typer.Exit(2) from error
    (folder / _REPORT).write_text(text)
    typer.echo(text)
    typer.echo(f"report: {folder / _REPORT}")


if __name__ == "__main__":
    typer.run(main)
