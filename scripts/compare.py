"""Compare agents: the same episodes for all, over several processes, with intervals.

    python scripts/compare.py LaneDefense3x3-v0 --agents random,scripted,mcts --budget simulations=1000 --episodes 200
    python scripts/compare.py WallSurvival-v0 --agents mobility,greedy,mcts --episodes 40 --set board_size=6
    python scripts/compare.py Bomber-v0 --agents mcts,one_step --against rule_based --episodes 50 --budget time=0.1
    python scripts/compare.py LaneDefense3x3-v0 --agents mcts,bold=mcts:c=2
    python scripts/compare.py WallSurvival-v0 --agents mcts,greedy --episodes 5000 --sprt elo0=0,elo1=20
    python scripts/compare.py --list

In games for two the agents play against each other, every start board from both seats. In games for more they are one
line-up, as many as players (an agent may come several times; in teams one for each team will do), or each plays against
those of --against; the seats of a board go round. The same command goes on after an interruption; a larger --episodes
adds to what is there.
"""

import math
import signal
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import _config
import _own  # noqa: F401
import typer
from _line import begin
from _options import Budget, Settings
from _words import command, going_on, refusal, typed

from mcts_envs.core.loading import parted
from mcts_envs.core.shell import quoted

if TYPE_CHECKING:
    from rich.console import Console

    from agents.arena import Report

_PLAIN_WIDTH = 160
_REPORT = "report.md"


def _list(wanted: bool) -> None:
    """Print what there is, and end."""
    if wanted:
        from _listing import listing

        typer.echo(listing())
        raise typer.Exit


def main(
    environment: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="A game of ours, or any of Gymnasium and PettingZoo; module:ID and FILE.py:ID import that.",
        ),
    ] = None,
    agents: Annotated[
        str | None, typer.Option(help="For example random,bold=mcts:c=1.4,sb3:PATH:deterministic=false.")
    ] = None,
    episodes: Annotated[
        int | None, typer.Option(help="For each agent; in games for several, boards for each line-up; default: 100.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Where all randomness comes from.")] = 0,
    budget: Budget = None,
    workers: Annotated[int, typer.Option(help="Processes; 0: one for each core that it may use.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder of the results; by default named after the plan.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Throw away what is there.")] = False,
    sprt: Annotated[
        str | None,
        typer.Option(metavar="TEST", help="Stop when it is decided, e.g. elo0=0,elo1=20,alpha=0.05,beta=0.05."),
    ] = None,
    record: Annotated[bool, typer.Option("--record", help="Keep states, actions and rewards of all moves.")] = False,
    replays: Annotated[
        bool, typer.Option("--replays", help="Keep every game, to be watched; for games of ours.")
    ] = False,
    picture: Annotated[Path | None, typer.Option("--plot", help="Draw win rates to this file (win_rates.png).")] = None,
    page: Annotated[
        Path | None, typer.Option("--report", help="Write all there is to see to this page (report.html).")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="AGENTS", help="In games for several: all others play against it, or them.")
    ] = None,
    cooperative: Annotated[
        bool, typer.Option("--cooperative", help="In games for several: one agent plays all players; returns count.")
    ] = False,
    move_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="An agent that takes longer for a move loses. inf: no limit.")
    ] = 600.0,
    episode_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="A game that takes longer is truncated.")
    ] = math.inf,
    memory_limit: Annotated[
        float | None,
        typer.Option(metavar="GB", help="Memory of a process, 0.5 or more; an agent that wants more loses (Linux)."),
    ] = None,
    setting: Settings = None,
    merge: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="Take the games of the same agents from there; without ID: of its plan."),
    ] = None,
    part: Annotated[
        str | None, typer.Option(metavar="K/N", help="Play only the K-th of N parts, as on one of N machines.")
    ] = None,
    executor: Annotated[
        str, typer.Option(metavar="local|ray", help="Where to play; ray: as tasks of a cluster (pip install ray).")
    ] = "local",
    _config_file: Annotated[
        Path | None,
        typer.Option("--config", is_eager=True, callback=_config.read, help="Take options from this file (match.yml)."),
    ] = None,
    _: Annotated[
        bool, typer.Option("--list", is_eager=True, callback=_list, help="Print all environments and agents, and end.")
    ] = False,
) -> None:
    """Compare agents in an environment."""
    # Late, so that --help and --list load no game.
    from _progress import Progress
    from rich.console import Console

    from agents.arena import Limits, Plan, compare, parse_budget, parse_meeting, parse_part, parse_settings, parse_sprt
    from agents.arena.comparison import MOST_EPISODES
    from agents.arena.interrupt import Interrupted
    from agents.arena.merging import plan_of
    from agents.arena.report.table import outlook
    from agents.arena.running.executing import executor_of
    from agents.arena.storage import default_folder
    from mcts_envs.core.cores import cores
    from mcts_envs.core.errors import integer

    live = Console().is_terminal
    console, progress = Console(width=None if live else _PLAIN_WIDTH, markup=False, emoji=False), Progress(live)
    begun = monotonic()
    _note(console, f"in {Path.cwd()}: {typed()}")
    try:
        _writable(out, picture, page)
        test = None if sprt is None else parse_sprt(sprt)
        ends = Limits(move_limit, episode_limit, memory_limit)
        if environment is None and agents is None and merge:
            _told(seed=seed, set=setting, budget=budget, against=against, record=record, cooperative=cooperative)
            plan, there = plan_of(merge, ends, replays)
        elif environment is None or agents is None:
            lacks = "ID" if environment is None else "--agents"
            raise ValueError(f"{lacks} is missing; compare ID --agents random,mcts, or --merge FOLDER alone")
        else:
            limits, settings = parse_budget(budget), parse_settings(setting or [])
            specs, opponent = parse_meeting(agents, against, limits)
            how = {"against": opponent, "limits": ends, "replays": replays, "cooperative": cooperative}
            plan = Plan(environment, specs, settings, seed, limits, record, **how)
            there = 100
        episodes = there if episodes is None else episodes
        plan.check()
        integer("episodes", episodes, 1, MOST_EPISODES)
        if ahead := outlook(plan, episodes, test):
            console.print(ahead, style="dim", highlight=False)
        if replays:
            out = out or default_folder(plan.configuration())
            console.print(_follow(plan.environment, out), highlight=False, soft_wrap=True)
        shown = {"watch": progress.watch, "every": progress.every, "tell": progress.tell}
        with progress.shown(console):
            report = compare(
                plan,
                episodes,
                workers=workers or cores(),
                folder=out,
                fresh=fresh,
                sprt=test,
                executor=executor_of(executor),
                merge=merge or (),
                part=parse_part(part),
                **shown,
            )
        show(report, picture, page, console)
        _note(console, f"after {timedelta(seconds=round(monotonic() - begun))}")
    except Exception as error:
        raise refusal(error) from None
    except Interrupted as error:
        on = f"{going_on(fresh)} goes on from here"
        console.print(f"interrupted; what was finished is kept, and {on}", style="yellow", soft_wrap=True)
        raise typer.Exit(128 + error.number) from None
    if report.signal is not None:
        how = signal.Signals(report.signal).name
        console.print(f"interrupted ({how}); {going_on(fresh)} goes on from here", style="yellow")
        raise typer.Exit(128 + report.signal)
    if not report.finished:
        console.print(f"{report.missing:,} games of other parts are missing; --merge takes them in", style="yellow")
    if report.failed:
        console.print(f"{going_on(fresh)} tries the episodes that ended in an error once more", style="yellow")


def _writable(out: Path | None, picture: Path | None, page: Path | None) -> None:
    """Raise before anything is played if what is wanted of it cannot be written there."""
    from agents.arena.report.plot import require_drawable
    from mcts_envs.core.errors import writable

    if picture is not None:
        require_drawable(picture)
    if page is not None:
        if page.suffix != ".html":
            raise ValueError(f"report {page}: it is a page; name it {page.stem or 'report'}.html")
        writable("report", page)
    if out is not None:
        writable("out", out, folder=True)
        writable("report", out / _REPORT)


def _told(**given: object) -> None:
    """Raise if options are given that folders which are merged say themselves."""
    if told := [f"--{name}" for name, value in given.items() if value]:
        raise ValueError(f"{', '.join(told)} beside --merge alone: the folders say it; leave it out")


def _follow(environment: str, folder: Path) -> str:
    """Return how the games of a comparison are watched while they are played."""
    source = "".join(parted(environment)[:2])  # of a game of one's own
    return f"to follow: {command('watch')} {quoted(f'{source}{_near(folder).as_posix()}')} --live"


def show(report: "Report", picture: Path | None, page: Path | None, console: "Console") -> None:
    """Keep a report beside the results, and as a picture and a page if wanted; then print it: who reads may be gone."""
    from agents.arena.page import write_page
    from agents.arena.report.plot import plot
    from agents.arena.report.table import render, write_markdown
    from agents.arena.storage import written

    with written(report.folder / _REPORT):
        write_markdown(report, report.folder / _REPORT)
    if picture is not None:
        plot(report, picture)
    if page is not None:
        write_page(report, page, typed())
    console.print(render(report))
    for what, path in (("results", report.folder), ("picture", picture), ("report", page)):
        if path is not None:
            console.print(f"{what}: {_near(path)}", highlight=False, soft_wrap=True)


def _note(console: "Console", text: str) -> None:
    """Say when, in a log that is read later, and elsewhere."""
    if not console.is_terminal:
        console.print(f"{datetime.now():%Y-%m-%d %H:%M:%S}, {text}", style="dim", highlight=False, soft_wrap=True)


def _near(path: Path) -> Path:
    """Return a path as seen from here, where it lies below."""
    here = Path.cwd()
    return path.absolute().relative_to(here) if path.absolute().is_relative_to(here) else path


if __name__ == "__main__":
    begin(main)
