"""Play a game between agents, and write it as a page to look at: the board, and what each search thinks.

    python scripts/watch.py WallSurvival-v0 --agents mcts,alpha_beta
    python scripts/watch.py LaneDefense5x9-v0 --agents best --budget simulations=500 --out night.html
    python scripts/watch.py Bomber-v0 --agents mcts,rule_based,rule_based,rule_based --seed 3 --live
    python scripts/watch.py saved.json --agents mcts

The page is one file that fetches nothing: open it in a browser, send it, put it beside a paper. One agent plays all
seats, one for each team plays the team. It is the game that compare.py with the same seed plays as this episode with
the agents in these seats. Of a game that was saved, an agent says what it thinks of each decision.
"""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import _own  # noqa: F401
import gymnasium
import typer
from _words import said

Game: TypeAlias = Callable[..., dict[str, Any]]
"""``game(tell=...)`` plays it, and returns it as a document."""

_MISTAKES = (ValueError, TypeError, ImportError, OSError, RuntimeError, gymnasium.error.Error)


def main(
    environment: Annotated[
        str, typer.Argument(metavar="ID", help="Environment, with or without mcts_envs/, or the file of a saved game.")
    ],
    agents: Annotated[
        str | None, typer.Option(help="In the order of seats, for example mcts,bold=mcts:c=1.4; default: best.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Where all randomness comes from.")] = 0,
    episode: Annotated[int, typer.Option(min=0, help="Which episode of a comparison with these agents.")] = 0,
    budget: Annotated[
        str | None, typer.Option(help="For a move: simulations=1000, time=0.1 (seconds), steps=20000 (of the model).")
    ] = None,
    out: Annotated[Path, typer.Option(help="The file.")] = Path("watch.html"),
    live: Annotated[bool, typer.Option("--live", help="Follow the game in a browser while it is played.")] = False,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Setting of the environment; repeatable.")
    ] = None,
) -> None:
    """Play a game between agents, and write it as a page to look at."""
    # Late, so that --help loads no game.
    from _live import serving

    from agents.arena import Plan, parse_budget, parse_meeting, parse_settings
    from agents.watching import watch
    from mcts_envs.core.errors import writable

    try:
        writable("out", out)
        limits = parse_budget(budget)
        if Path(environment).is_file():
            game = saved(environment, agents, limits)
        else:
            specs, _ = parse_meeting("best" if agents is None else agents, None, limits)
            game = partial(watch, Plan(environment, specs, parse_settings(setting or []), seed, limits), episode)
        with serving() if live else nullcontext() as host:
            write(game, out, host)
            if host is not None and sys.stdin.isatty():
                input("the page is served until you press Enter ")
    except _MISTAKES as error:
        typer.secho(f"error: {said(error)}", err=True, fg="red")
        raise typer.Exit(2) from error


def saved(file: str, agent: str | None, limits: dict[str, Any]) -> Game:
    """Return a saved game to be looked at, of which an agent says what it thinks if one is named."""
    import agents
    from agents.arena import parse_agent
    from agents.watching import replayed
    from mcts_envs.replay import Replay

    spec = None if agent is None else parse_agent(agent, limits)
    return partial(replayed, Replay.load(file), None if spec is None else agents.make(spec.name, **spec.settings))


def write(game: Game, out: Path, host: Any) -> None:
    """Write a game to a file; where there is a host, it serves what there is of it so far."""
    from rich.console import Console

    from agents.watching import fitted

    if host is not None:
        typer.echo(f"live: {host.address}")
    with Console(stderr=True).status("playing") as status:

        def tell(document: dict[str, Any]) -> None:
            status.update(f"move {len(document['frames'])}")
            if host is not None:
                host.document = document

        document = game(tell=tell)
    text = fitted(document)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")
    moves = len(document["frames"]) - 1
    typer.echo(f"{out}: {moves} moves, {len(text.encode()) / 1e6:.1f} MB; open it in a browser")


if __name__ == "__main__":
    typer.run(main)
