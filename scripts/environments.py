"""Try planning in environments of others, and write a page of what was found.

    python scripts/environments.py                        all that were not yet tried
    python scripts/environments.py CartPole-v1 chess_v6   these, anew
    python scripts/environments.py --report-only          the page anew; nothing is tried

Each is tried in a process of its own, with limits on time and memory, so that a crash is a line. What was found is kept
in ``docs/results/data`` at once, and the same command goes on after an interruption. Environments whose package is
missing are named as such: ``pip install -e ".[worlds]"`` brings all packages but ``mo-gymnasium`` and
``tetris-gymnasium``, which want pygame and an older JAX in place of what it has.
"""

import os
from pathlib import Path
from typing import Annotated

import _own  # noqa: F401
import typer
from _line import begin
from _pages import PAGES
from _words import refusal

from mcts_envs.core.errors import unknown, writable
from mcts_envs.core.writing import write_whole


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Environments, tried anew.")] = None,
    trajectories: Annotated[int, typer.Option(min=1, help="Random trajectories for each, at most.")] = 4000,
    seconds: Annotated[float, typer.Option(min=0.1, help="Seconds for these, for each, at most.")] = 20.0,
    limit: Annotated[float, typer.Option(min=1.0, help="Seconds for an environment in all.")] = 240.0,
    memory: Annotated[float, typer.Option(min=0.5, help="GiB of memory for it.")] = 6.0,
    pages: Annotated[Path, typer.Option(help="Folder of the page and of its data.")] = PAGES,
    report_only: Annotated[bool, typer.Option("--report-only", help="Write the page anew, and try nothing.")] = False,
) -> None:
    """Try environments of others."""
    # Late, so that --help loads nothing.
    from foreign.catalogue import CATALOGUE
    from foreign.page import Kept, write
    from foreign.running import tried
    from papers.record import this_run

    from agents.arena.interrupt import interruptible, signal_of

    entries = {entry.name: entry for entry in CATALOGUE}
    try:
        for name in names or ():
            if name not in entries:
                raise ValueError(unknown("environment", name, entries))
        writable("page", pages / "environments.md")
        writable("page", pages / "data", folder=True)
        kept = Kept.read(pages / "data" / "environments.jsonl")
        run = this_run("environments", 1.0)
        waiting = [name for name in names or entries if names or not kept.stands(name)]
        pages.mkdir(parents=True, exist_ok=True)
        with interruptible():
            for number, name in enumerate([] if report_only else waiting, 1):
                found = tried(entries[name], trajectories, seconds, limit, memory)
                typer.echo(f"{number} of {len(waiting)}: {name}: {found['end']}", err=True)
                kept.add(name, found, run)
                write_whole(pages / "environments.md", write(kept).encode())
        write_whole(pages / "environments.md", write(kept).encode())
    except KeyboardInterrupt as error:
        on = "what was tried is kept; name those that are left" if names else "the same command goes on from here"
        typer.secho(f"interrupted; {on}", err=True, fg="yellow")
        raise typer.Exit(128 + signal_of(error)) from None
    except (ValueError, OSError) as error:
        raise refusal(error) from None
    typer.echo(f"page: {pages / 'environments.md'}{os.linesep}{kept.summary()}")


if __name__ == "__main__":
    begin(main)
