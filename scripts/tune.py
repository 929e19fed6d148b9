"""Tune an agent: try settings on the same boards, and test the best against what is shipped.

    python scripts/tune.py WallSurvival-v0 --agent mcts --param c=0.1:2:log --budget simulations=200 --set board_size=6
    python scripts/tune.py LaneDefense3x3-v0 --agent mcts --param c=0.1:5:log --param discount=0.9:1 --budget time=0.01
    python scripts/tune.py Bomber-v0 --agent mcts --param select=ucb1,ucb1_tuned --against rule_based
    python scripts/tune.py my_game.py:MyGame-v0 --agent my_bot.py:Bot --param depth=1:8

Optuna chooses what is tried next (pip install -e ".[tune]"); who is worse than most after as many boards is given up.
In games for several the agent plays against itself as it is shipped, or against --against. The same command goes on
after an interruption; a larger --trials adds to what is there.
"""

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import _own  # noqa: F401
import typer
from _line import begin
from _options import Budget, Settings
from _words import going_on, refusal

if TYPE_CHECKING:
    from agents.arena.tuning import Tuned

_PAGE = "tuning.md"


def main(
    environment: Annotated[str, typer.Argument(metavar="ID", help="Environment, with or without mcts_envs/.")],
    agent: Annotated[str, typer.Option(help="What is tuned, with what stays as it is: mcts:horizon=30.")],
    param: Annotated[
        list[str], typer.Option(help="c=0.1:2:log, horizon=10:100 (whole) or select=ucb1,puct; repeatable.")
    ],
    against: Annotated[
        str | None, typer.Option(metavar="AGENT", help="Against whom, in games for several; by default as shipped.")
    ] = None,
    cooperative: Annotated[
        bool, typer.Option("--cooperative", help="In games for several: it plays all players; returns count.")
    ] = False,
    trials: Annotated[int, typer.Option(help="How many settings are tried.")] = 40,
    boards: Annotated[int, typer.Option(help="Boards of a trial; episodes in games for one.")] = 40,
    sprt: Annotated[
        str, typer.Option(metavar="TEST", help="Of the best on fresh boards, e.g. elo0=0,elo1=20; none: leave it out.")
    ] = "elo0=0,elo1=40",
    confirm: Annotated[int, typer.Option(help="Boards of that test at most.")] = 1000,
    seed: Annotated[int, typer.Option(help="Where all randomness comes from.")] = 0,
    budget: Budget = None,
    setting: Settings = None,
    workers: Annotated[int, typer.Option(help="Processes; 0: one for each core.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder of the results.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Throw away what is there.")] = False,
) -> None:
    """Tune an agent in an environment."""
    # Late, so that --help loads no game.
    from agents.arena import parse_agent, parse_budget, parse_settings, parse_sprt
    from agents.arena.interrupt import Interrupted
    from agents.arena.parameters import parse_parameter
    from agents.arena.tuning import Tried, Tuning, tune
    from mcts_envs.core.cores import cores
    from mcts_envs.core.errors import writable

    def tell(tried: Tried) -> None:
        typer.echo(_line(tried))

    try:
        limits = parse_budget(budget)
        tuning = Tuning(
            environment,
            parse_agent(agent, limits),
            tuple(map(parse_parameter, param)),
            boards,
            None if against is None else parse_agent(against, limits),
            parse_settings(setting or []),
            limits,
            seed,
            cooperative,
        )
        folder = out or Path("results") / "tune" / f"{_last(environment)}-{_last(tuning.agent.name)}"
        writable("page", folder / _PAGE)
        tuned = tune(
            tuning,
            trials,
            sprt=None if sprt == "none" else parse_sprt(sprt),
            confirm=confirm,
            workers=workers or cores(),
            folder=folder,
            fresh=fresh,
            tell=tell,
        )
        _show(tuned)
    except Exception as error:
        raise refusal(error) from None
    except Interrupted as error:
        _interrupted(error.number, fresh)
    if tuned.signal is not None:
        _interrupted(tuned.signal, fresh)


def _last(name: str) -> str:
    """Return of an environment or an agent, of a file maybe, what a folder may be called."""
    return Path(name).name.replace(":", "-")


def _interrupted(number: int, fresh: bool) -> None:
    name = signal.Signals(number).name
    typer.secho(f"interrupted ({name}); what was finished is kept, and {going_on(fresh)} goes on", fg="yellow")
    raise typer.Exit(128 + number)


def _line(tried: Any) -> str:
    """Return a trial in a line."""
    how = ", given up" if tried.given_up else ""
    return f"{tried.number:3} {_values(tried)}: {_found(tried)} on {tried.boards} boards{how}"


def _values(tried: Any) -> str:
    return " ".join(f"{name}={value}" for name, value in tried.values.items())


def _found(tried: Any) -> str:
    return f"{tried.found.value:.3f} [{tried.found.low:.3f}, {tried.found.high:.3f}]"


def _show(tuned: "Tuned") -> None:
    """Print what was found, and keep it beside the trials."""
    from rich.console import Console

    from agents.arena.report.table import render
    from mcts_envs.core.writing import write_whole

    page = tuned.folder / _PAGE
    write_whole(page, _page(tuned).encode())
    if tuned.test is not None:
        Console(width=None if Console().is_terminal else 160).print(render(tuned.test))
    typer.echo(_verdict(tuned))
    typer.echo(f"results: {page}")


def _page(tuned: "Tuned") -> str:
    """Return all trials, best first, and the verdict, as Markdown."""
    from papers.page import markdown, paragraph, played_by
    from papers.record import this_run

    tuning = tuned.tuning
    names = [parameter.name for parameter in tuning.parameters]
    how = (
        f"{len(tuned.trials)} trials of {tuning.boards} boards of seed {tuning.seed}; tuned: "
        + ", ".join(f"`{parameter}`" for parameter in tuning.parameters)
        + ". Found is the points against the agent as it is shipped, or against whom the command names, or alone the "
        "share of games won or the return, with 95 % intervals. Trials given up were worse than most after as many "
        "boards; their figures are of fewer."
    )
    lines = []
    for tried in sorted(tuned.trials, key=lambda tried: (tried.given_up, -tried.found.value)):
        cells = [str(tried.number), *(str(tried.values[name]) for name in names), _found(tried), str(tried.boards)]
        lines.append([*cells, "given up" if tried.given_up else ""])
    parts = [
        f"# Tuning `{tuning.agent.name}` in {tuning.environment}",
        paragraph(_verdict(tuned)),
        paragraph(how),
        played_by(1, this_run("tune", 1.0)),
        markdown(("trial", *names, "found", "boards", ""), lines, ()),
    ]
    return "\n\n".join(parts) + "\n"


def _verdict(tuned: "Tuned") -> str:
    """Return what is best, and whether it is shown to be better than what is shipped."""
    from agents.arena.report.table import verdict

    if tuned.best is None:
        return "No trial was played to its end."
    agent = tuned.tuning.written(tuned.best.values)
    best = f"Best: {_values(tuned.best)}, {_found(tuned.best)}; as an agent: {agent}"
    trial = None if tuned.test is None else tuned.test.trial
    if trial is None:
        return f"{best}. Not tested on fresh boards: being the best of many makes a setting look better than it is."
    advice = "take it" if trial.verdict == "H1" else "keep what is shipped"
    return f"{best}. On fresh boards: {verdict(trial)}; {advice}."


if __name__ == "__main__":
    begin(main)
