"""Solve small games: what start boards of wall survival are worth, and how often planners play a best move.

    python scripts/solve.py --size 3 --size 4                       every start board, up to symmetry
    python scripts/solve.py --size 4 --agents mcts,best --budget simulations=1000

The page is docs/results/exact.md. Positions in which a wrong move costs are kept beside it, and agents are judged by
them: the share of best moves, and the regret, half a point for each step from a win to a tie to a loss.
"""

from pathlib import Path
from typing import Annotated

import _own  # noqa: F401
import typer
from _pages import PAGES
from _words import said


def main(
    size: Annotated[list[int], typer.Option(min=3, max=5, help="Of the boards; repeatable.")],
    agents: Annotated[str | None, typer.Option(help="Who is judged, for example mcts,best.")] = None,
    budget: Annotated[
        str | None, typer.Option(help="For a move: simulations=1000, time=0.1 (seconds), steps=20000 (of the model).")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Of the model, for a position at most.")] = 3_000_000,
    positions: Annotated[int, typer.Option(min=1, help="By which agents are judged.")] = 300,
    seed: Annotated[int, typer.Option(min=0, help="Of these positions, and of agents.")] = 0,
    pages: Annotated[Path, typer.Option(help="Folder of the page and of its data.")] = PAGES,
) -> None:
    """Solve start boards of wall survival, and judge agents by exact values."""
    # Late, so that --help loads no game.
    from exact.judging import check
    from exact.page import Page

    from agents.arena import parse_agents, parse_budget
    from mcts_envs.core.errors import writable

    try:
        writable("page", pages / "exact.md")
        writable("page", pages / "data", folder=True)
        specs = parse_agents(agents, parse_budget(budget)) if agents else ()
        page = Page(pages)
        check(size[0], specs)
        for each in dict.fromkeys(size):
            page.solve(each, steps, typer.echo)
            if specs:
                page.judge(each, specs, positions, seed, steps, typer.echo)
    except (ValueError, TypeError, ImportError, OSError) as error:
        typer.secho(f"error: {said(error)}", err=True, fg="red")
        raise typer.Exit(2) from error
    except KeyboardInterrupt:
        typer.secho("interrupted; what was solved is kept, and the same command goes on from here", fg="yellow")
        raise typer.Exit(130) from None
    typer.echo(f"page: {pages / 'exact.md'}")


if __name__ == "__main__":
    typer.run(main)
