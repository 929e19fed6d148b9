"""Compare agents: the same episodes for all, over several processes, with intervals.

    python scripts/compare.py LaneDefense3x3-v0 --agents random,scripted,mcts --budget simulations=1000 --episodes 200
    python scripts/compare.py WallSurvival-v0 --agents mobility,greedy,mcts --episodes 40 --set board_size=6
    python scripts/compare.py Bomber-v0 --agents mcts,one_step --against rule_based --episodes 50 --budget time=0.1

In games for two the agents play against each other, every start board from both seats. In games for more they are one
line-up, as many as players (an agent may come several times; in teams one for each team will do), or each plays against
those of --against; the seats of a board go round. The same command goes on after an interruption; a larger --episodes
adds to what is there.
"""

import os
from pathlib import Path
from typing import Annotated

import _own  # noqa: F401
import gymnasium
import typer
from rich.console import Console
from rich.live import Live

from agents.arena import Plan, Report, compare, parse_budget, parse_meeting, parse_settings
from agents.arena.plot import plot, require_drawable
from agents.arena.table import render, write_markdown

_PLAIN_WIDTH = 160
_MISTAKES = (ValueError, TypeError, ImportError, OSError, gymnasium.error.Error)


def main(
    environment: Annotated[str, typer.Argument(metavar="ID", help="Environment, with or without mcts_envs/.")],
    agents: Annotated[str, typer.Option(help="For example random,mcts:c=1.4,sb3:PATH:deterministic=false.")],
    episodes: Annotated[int, typer.Option(help="For each agent; in games for several, boards for each line-up.")] = 100,
    seed: Annotated[int, typer.Option(help="Where all randomness comes from.")] = 0,
    budget: Annotated[
        str | None, typer.Option(help="For a move: simulations=1000, time=0.1 (seconds), steps=20000 (of the model).")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes; 0: one for each core.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder of the results; by default named after the plan.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Throw away what is there.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Keep states, actions and rewards of all moves.")] = False,
    picture: Annotated[Path | None, typer.Option("--plot", help="Draw win rates to this file (win_rates.png).")] = None,
    against: Annotated[
        str | None, typer.Option(metavar="AGENTS", help="In games for several: all others play against it, or them.")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Setting of the environment; repeatable.")
    ] = None,
) -> None:
    """Compare agents in an environment."""
    console = Console(width=None if Console().is_terminal else _PLAIN_WIDTH)
    try:
        if picture is not None:
            require_drawable(picture)
        limits = parse_budget(budget)
        specs, opponent = parse_meeting(agents, against, limits)
        settings = parse_settings(setting or [])
        plan = Plan(environment, specs, settings, seed, limits, record, against=opponent)
        with Live(console=console, auto_refresh=False, transient=True) as live:

            def watch(report: Report) -> None:
                live.update(render(report), refresh=True)

            processes, seen_by = workers or os.cpu_count() or 1, watch if console.is_terminal else None
            report = compare(plan, episodes, workers=processes, folder=out, fresh=fresh, watch=seen_by)
        show(report, picture, console)
    except _MISTAKES as error:
        typer.secho(f"error: {error}", err=True, fg="red")
        raise typer.Exit(2) from error
    if not report.finished:
        console.print("interrupted; the same command goes on from here", style="yellow")
        raise typer.Exit(130)
    if report.failed:
        console.print("the same command tries the episodes that ended in an error once more", style="yellow")


def show(report: Report, picture: Path | None, console: Console) -> None:
    """Print a report, and keep it beside the results and, if wanted, as a picture."""
    console.print(render(report))
    write_markdown(report, report.folder / "report.md")
    console.print(f"results: {report.folder}", highlight=False, soft_wrap=True)
    if picture is not None:
        plot(report, picture)
        console.print(f"picture: {picture}", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    typer.run(main)
