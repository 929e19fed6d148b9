"""Solve small games: what they are worth to the best player, and how often agents play a best move.

    python scripts/solve.py wall --size 3 --size 4                  every start board, up to symmetry
    python scripts/solve.py lane --agents mcts,best,ppo --budget simulations=1000

The page is docs/results/exact.md. Positions in which a wrong move costs are kept beside it, and agents are judged by
them: the share of best moves, and the regret, in points.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import _own  # noqa: F401
import typer
from _line import begin
from _options import Budget
from _pages import PAGES
from _words import refusal


class Solved(StrEnum):
    """The games that are solved: walls of 3x3 to 5x5, and lane defense on 3x3."""

    WALL = "wall"
    LANE = "lane"


def main(
    game: Annotated[Solved, typer.Argument(help="Wall survival, or 3x3 lane defense.")],
    size: Annotated[
        list[int] | None, typer.Option(min=3, max=5, help="Of boards of walls, without a default; repeatable.")
    ] = None,
    agents: Annotated[str | None, typer.Option(help="Who is judged, for example mcts,best.")] = None,
    budget: Budget = None,
    steps: Annotated[int, typer.Option(min=1, help="Of the model, for a position of walls at most.")] = 3_000_000,
    positions: Annotated[int, typer.Option(min=1, help="By which agents are judged.")] = 300,
    seed: Annotated[int, typer.Option(min=0, help="Of these positions, and of agents.")] = 0,
    pages: Annotated[Path, typer.Option(help="Folder of the page and of its data.")] = PAGES,
) -> None:
    """Solve a small game, and judge agents by exact values."""
    # Late, so that --help loads no game.
    from exact import lane, wall
    from exact.judging import check
    from exact.page import Page

    from agents.arena import parse_agents, parse_budget
    from agents.arena.interrupt import interruptible, signal_of
    from mcts_envs.core.errors import writable

    try:
        writable("page", pages / "exact.md")
        writable("data", pages / "data" / "exact.json.gz")
        specs = parse_agents(agents, parse_budget(budget)) if agents else ()
        page = Page(pages)
        if game is Solved.LANE:
            if size:
                raise ValueError(f"--size {size[0]} is of walls; lane defense is solved on 3x3: leave it out")
            check(lane.game_of(), specs)
            with interruptible():
                page.solve_lanes()
                page.judge_lanes(specs, positions, seed, typer.echo)
        else:
            if not size:
                raise ValueError("--size is missing, which board: solve.py wall --size 3")
            check(wall.game_of(size[0]), specs)
            with interruptible():
                for each in dict.fromkeys(size):
                    page.solve(each, steps, typer.echo)
                    page.judge(each, specs, positions, seed, steps, typer.echo)
    except (ValueError, TypeError, ImportError, OSError) as error:
        raise refusal(error) from None
    except KeyboardInterrupt as error:
        on = "what was solved is kept, and the same command goes on from here"
        typer.secho(f"interrupted; {on}", err=True, fg="yellow")
        raise typer.Exit(128 + signal_of(error)) from None
    typer.echo(f"page: {pages / 'exact.md'}")


if __name__ == "__main__":
    begin(main)
