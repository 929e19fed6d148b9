"""Let a policy learn from the search that it guides (expert iteration, AlphaZero's way of learning).

    python scripts/expert_iteration.py WallSurvival-v0 --set board_size=6 --minutes 60
    python scripts/expert_iteration.py examples/connect_four_cells.py:ConnectFourCells-v0 --imitate mcts --openings 8
    python scripts/expert_iteration.py Football1-v0 --imitate scripted --iterations 0     # behaviour cloning
    python scripts/expert_iteration.py WallSurvival-v0 --games 2048 --executor ray        # a cluster plays

In iteration 0 the policy learns what another player does; then a search that consults it plays all seats, and it learns
what the search found, and how the games ended. The result is a policy as scripts/train.py saves it. The same command
goes on after whatever ended it; a larger --iterations adds to what is there.
"""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import _own  # noqa: F401
import typer
from _line import begin
from _options import HyperParameters, Settings
from _words import refusal

NONE = "none"


def main(
    environment: Annotated[
        str, typer.Argument(metavar="ID", help="A game of ours or of yours; module:ID and FILE.py:ID import that.")
    ],
    algo: Annotated[
        str | None, typer.Option(help="ppo or maskable_ppo (default), or --start's: what the policy is saved as.")
    ] = None,
    iterations: Annotated[int, typer.Option(help="After iteration 0; 0: behaviour cloning.")] = 20,
    games: Annotated[int, typer.Option(help="Played in each iteration.")] = 256,
    minutes: Annotated[float | None, typer.Option(help="Time limit of this run; whichever comes first.")] = None,
    search: Annotated[
        str, typer.Option(help="gumbel:simulations=64, or mcts:select=puct:evaluate=policy:dirichlet_alpha=1.")
    ] = "gumbel:simulations=32",
    imitate: Annotated[str, typer.Option(help="Who plays in iteration 0; none: the search.")] = "best",
    imitate_games: Annotated[int | None, typer.Option(help="Games of iteration 0; default: --games.")] = None,
    start: Annotated[Path | None, typer.Option(help="A policy to begin with; then nobody is imitated.")] = None,
    openings: Annotated[int, typer.Option(help="Games begin with up to so many random moves.")] = 0,
    window: Annotated[int, typer.Option(help="Iterations to learn from, at most.")] = 20,
    epochs: Annotated[int, typer.Option(help="How often a position is learned from in its iteration.")] = 4,
    learning_rate: Annotated[float, typer.Option(help="At first; it falls to a tenth.")] = 1e-3,
    trust: Annotated[float, typer.Option(help="Part of a value that the search says; the rest is the result.")] = 0.5,
    match_games: Annotated[int, typer.Option(help="Of each new policy against the last, for you to see.")] = 16,
    workers: Annotated[
        int, typer.Option(min=0, help="Processes that play; 0: one for each core. With ray: tasks at a time; 0: all.")
    ] = 0,
    executor: Annotated[
        str, typer.Option(metavar="local|ray", help="Where games are played; ray: as tasks of a cluster.")
    ] = "local",
    seed: Annotated[int, typer.Option(help="Same seed and --iterations, same policy, where nobody plays by time.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder; default: runs/ENVIRONMENT/expert-SEED.")] = None,
    settings: Settings = None,
    parameters: HyperParameters = None,
) -> None:
    """Let a policy learn from the search that it guides."""
    # Late, so that --help loads no library.
    from agents.arena.running.executing import executor_of
    from agents.learning.expert import expert_iteration
    from agents.learning.expert_plan import Plan
    from agents.spec import parse_agent, parse_settings
    from mcts_envs.core.errors import writable

    def described(text: str) -> dict[str, object]:
        spec = parse_agent(text)
        return {"agent": spec.name, **spec.settings}

    folder = out or Path("runs") / environment.rpartition(":")[2].rpartition("/")[2] / f"expert-{seed}"
    try:
        writable("out", folder, folder=True)
        plan = Plan(
            iterations=iterations,
            games=games,
            search=described(search),
            imitate=None if imitate == NONE else described(imitate),
            imitate_games=imitate_games,
            openings=openings,
            window=window,
            epochs=epochs,
            learning_rate=learning_rate,
            trust=trust,
            match_games=match_games,
        )
        result = expert_iteration(
            environment,
            algo or (None if start else "maskable_ppo"),
            out=folder,
            plan=plan,
            minutes=minutes,
            seed=seed,
            settings=parse_settings(settings) if settings else None,
            changes=parse_settings(parameters or []),
            start=start,
            workers=workers or None,
            executor=executor_of(executor),
            report=_said(),
        )
    except Exception as error:
        raise refusal(error, {"algorithm": "--algo"}) from None
    if result.interrupted:
        how = "time is over" if result.signal is None else f"interrupted ({signal.Signals(result.signal).name})"
        kept = f"the games are kept in {folder}, and the same command goes on from here"
        typer.secho(f"{how}; {kept}", err=True, fg="yellow")
    if result.path is not None:
        last = len(result.history) - 1
        over = f"iteration {last} of {max(last, iterations)} is over"
        typer.echo(f"{over}, after {result.seconds:.0f} s in this run; saved {result.path}")
    if result.signal is not None:
        raise typer.Exit(128 + result.signal)


def _said() -> Callable[[str], None]:
    """Return who prints what iterations come to, and now and then how far one is."""
    from agents.learning.progress import Lines

    lines = Lines()

    def say(text: str) -> None:
        lines(text) if text.endswith("games") else typer.echo(text, err=True)

    return say


if __name__ == "__main__":
    begin(main)
