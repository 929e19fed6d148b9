"""Play a game between agents, and write it as a page to look at: the board, and what each search thinks.

    python scripts/watch.py WallSurvival-v0 --agents mcts,alpha_beta
    python scripts/watch.py LaneDefense5x9-v0 --agents best --budget simulations=500 --out night.html
    python scripts/watch.py Bomber-v0 --agents mcts,rule_based,rule_based,rule_based --seed 3 --live
    python scripts/watch.py Football3-v0 --agents best,scripted --replay game.json
    python scripts/watch.py game.json --out game.gif

The page is one file that fetches nothing: open it in a browser, send it, put it beside a paper. One agent plays all
seats, one for each team plays the team. It is the game that compare.py with the same seed plays as this episode with
the agents in these seats.
"""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import _own  # noqa: F401
import gymnasium
import typer
from _words import said

_MISTAKES = (ValueError, TypeError, ImportError, OSError, RuntimeError, gymnasium.error.Error)


def main(
    environment: Annotated[
        str, typer.Argument(metavar="ID", help="Environment, with or without mcts_envs/; or a replay, NAME.json.")
    ],
    agents: Annotated[str, typer.Option(help="In the order of seats, for example mcts,bold=mcts:c=1.4.")] = "best",
    seed: Annotated[int, typer.Option(help="Where all randomness comes from.")] = 0,
    episode: Annotated[int, typer.Option(min=0, help="Which episode of a comparison with these agents.")] = 0,
    budget: Annotated[
        str | None, typer.Option(help="For a move: simulations=1000, time=0.1 (seconds), steps=20000 (of the model).")
    ] = None,
    out: Annotated[Path, typer.Option(help="The file: a page, or a film, .gif or .mp4.")] = Path("watch.html"),
    replay: Annotated[Path | None, typer.Option(help="Where to keep the game as a replay that proves itself.")] = None,
    fps: Annotated[float, typer.Option(help="Of a film: moves a second.")] = 4.0,
    live: Annotated[bool, typer.Option("--live", help="Follow the game in a browser while it is played.")] = False,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Setting of the environment; repeatable.")
    ] = None,
) -> None:
    """Play a game between agents, and write it as a page to look at."""
    # Late, so that --help loads no game.
    from _live import serving

    from agents.arena import Plan, parse_budget, parse_meeting, parse_settings
    from agents.watching import replayed
    from mcts_envs.core.errors import writable
    from mcts_envs.filming import SUFFIXES, film
    from mcts_envs.replay import Replay

    try:
        writable("out", out)
        if replay is not None:
            writable("replay", replay)
        if environment.endswith(".json"):
            show(Replay.load(environment), out, fps)
            return
        limits = parse_budget(budget)
        specs, _ = parse_meeting(agents, None, limits)
        plan = Plan(environment, specs, parse_settings(setting or []), seed, limits)
        with serving() if live else nullcontext() as host:
            document = play(plan, episode, host)
            if replay is not None or out.suffix in SUFFIXES:
                kept = replayed(plan, episode, document)
                if replay is not None:
                    kept.save(replay)
            if out.suffix in SUFFIXES:
                film(kept, out, fps)
                typer.echo(f"{out}: {len(kept.actions)} moves")
            else:
                write(document, out)
            if host is not None:
                typer.pause("the page is served until you press a key ...")
    except _MISTAKES as error:
        typer.secho(f"error: {said(error)}", err=True, fg="red")
        raise typer.Exit(2) from error


def show(replay: Any, out: Path, fps: float) -> None:
    """Write a replay as a page or a film."""
    from agents.watching import documented
    from mcts_envs.filming import SUFFIXES, film

    if out.suffix in SUFFIXES:
        film(replay, out, fps)
        typer.echo(f"{out}: {len(replay.actions)} moves")
    else:
        write(documented(replay), out)


def play(plan: Any, episode: int, host: Any) -> dict[str, Any]:
    """Play an episode and return its document; where there is a host, it serves what has been played so far."""
    from rich.console import Console

    from agents.watching import watch

    if host is not None:
        typer.echo(f"live: {host.address}")
    with Console(stderr=True).status("playing") as status:

        def tell(document: dict[str, Any]) -> None:
            status.update(f"move {len(document['frames'])}")
            if host is not None:
                host.document = document

        return watch(plan, episode, tell)


def write(document: dict[str, Any], out: Path) -> None:
    """Write a document as a page."""
    from agents.watching import fitted

    text = fitted(document)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")
    moves = len(document["frames"]) - 1
    typer.echo(f"{out}: {moves} moves, {len(text.encode()) / 1e6:.1f} MB; open it in a browser")


if __name__ == "__main__":
    typer.run(main)
