"""Play a game between agents, and write it as a page to look at: the board, and what each search thinks.

    python scripts/watch.py WallSurvival-v0 --agents mcts,alpha_beta
    python scripts/watch.py LaneDefense5x9-v0 --agents best --budget simulations=500 --out night.html
    python scripts/watch.py Bomber-v0 --agents mcts,rule_based,rule_based,rule_based --seed 3 --live
    python scripts/watch.py Football3-v0 --agents best,scripted --replay saved.json
    python scripts/watch.py saved.json --agents mcts
    python scripts/watch.py saved.json --out saved.gif
    python scripts/watch.py my_game.py:saved.json
    python scripts/watch.py results/WallSurvival-v0-1f3c5e7a --live
    python scripts/watch.py CartPole-v1 --agents mcts:simulations=100

The page is one file that fetches nothing: open it in a browser, send it, put it beside a paper. One agent plays all
seats, one for each team plays the team. It is the game that compare.py with the same seed plays as this episode with
the agents in these seats. Ctrl-C ends it where it is, as SIGTERM does, and what was played is written. With --live a
browser follows it, and the page is served after its end until Ctrl-C. Of a game that was saved, an agent says what it
thinks of each decision, and which of them gave most away. With --live and the folder of a comparison that keeps
--replays, its games are shown while it runs. Environments of others are shown as they draw themselves.
"""

import signal
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from time import sleep
from typing import Annotated, Any, TypeAlias

import _own  # noqa: F401
import typer
from _line import begin
from _options import Budget, Settings
from _words import refusal

Game: TypeAlias = Callable[..., dict[str, Any]]
"""``game(tell=...)`` plays it, and returns it as a document."""

_PAGES = ("", ".html", ".htm")

_GAME = ("setting", "seed", "episode")
_ALL = (*_GAME, "agents", "budget", "out", "replay", "fps")


def main(
    context: typer.Context,
    environment: Annotated[
        str,
        typer.Argument(metavar="ID", help="Environment, as for compare; a saved game; or results, to follow."),
    ],
    agents: Annotated[
        str | None, typer.Option(help="In the order of seats, for example mcts,bold=mcts:c=1.4; default: best.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Where all randomness comes from.")] = 0,
    episode: Annotated[int, typer.Option(min=0, help="Which episode of a comparison with these agents.")] = 0,
    budget: Budget = None,
    out: Annotated[Path, typer.Option(help="The file: a page, or a film, .gif or .mp4.")] = Path("watch.html"),
    replay: Annotated[Path | None, typer.Option(help="Where to keep the game as a replay that proves itself.")] = None,
    fps: Annotated[float, typer.Option(help="Of a film: moves a second.")] = 4.0,
    live: Annotated[bool, typer.Option("--live", help="Follow the game in a browser while it is played.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --live; 0: any that is free.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open a browser, with --live.")] = True,
    setting: Settings = None,
) -> None:
    """Play a game between agents, and write it as a page to look at."""
    # Late, so that --help loads no game.
    from _following import comparison, saved_game
    from _live import serving

    from agents.arena import Plan, parse_budget, parse_meeting, parse_settings
    from agents.arena.replays import begun
    from agents.inspection.review import review, told
    from agents.stages import check_pictures
    from agents.watching import recorded, watch
    from mcts_envs.core.errors import writable

    try:
        if not live:
            refuse(context, ("port", "browser"), "only --live serves a page")
        if (results := comparison(environment)) is not None:
            refuse(context, _ALL, f"{results} is a comparison, whose games are shown as they were played")
            follow(results, live, port, browser)
            return
        for name, file in (("out", out), ("replay", replay)):
            if file is not None:
                writable(name, file)
        limits = parse_budget(budget)
        if (kept := saved_game(environment)) is not None:
            refuse(context, _GAME, f"{environment} is a saved game, which has its settings and seed")
            if agents is None:
                refuse(context, ("budget",), "nobody searches in a saved game unless --agents names who")
            check(out, replay, fps, lambda: kept)
            game, record = analysed(kept, agents, limits), lambda document: kept
        else:
            specs, _ = parse_meeting("best" if agents is None else agents, None, limits)
            plan = Plan(environment, specs, parse_settings(setting or []), seed, limits)
            ours = plan.discount is not None
            check(
                out, replay, fps, partial(begun, plan) if ours or replay is not None else partial(check_pictures, plan)
            )
            game, record = partial(watch, plan, episode), partial(recorded, plan, episode) if ours else None
        with serving(port, browser) if live else nullcontext() as host:
            document, failed = play(game, host)
            write(document, record, out, replay, fps)
            if kept is not None and agents is not None:
                typer.echo(told(review(document)))
            if failed is not None:
                raise failed
            if host is not None:
                typer.echo("the page is served until Ctrl-C")
                with suppress(KeyboardInterrupt):
                    while True:
                        sleep(1)
    except typer.Exit:
        raise
    except Exception as error:
        raise refusal(error) from None


def refuse(context: typer.Context, names: Iterable[str], why: str) -> None:
    """Raise if options were given that would change nothing."""
    parameters = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    given = [name for name in names if getattr(context.get_parameter_source(name), "name", "DEFAULT") != "DEFAULT"]
    if given:
        raise ValueError(f"{why}; leave {', '.join(parameters[name] for name in given)} out")


def check(out: Path, replay: Path | None, fps: float, begin: Callable[[], Any]) -> None:
    """Raise if what is wanted of a game cannot be written, before it is played.

    ``begin()`` begins its replay; for a game of others it raises if there are no pictures, and returns None.
    """
    from mcts_envs.filming import check_file, check_film, is_film

    filmed = is_film(out)
    if not filmed and out.suffix.lower() not in _PAGES:
        raise ValueError(f"out {out} is neither a page, .html, nor a film, .gif or .mp4; name it so")
    if filmed or replay is not None:
        begun = begin()
        if filmed and begun is None:
            check_file(out, fps)
        elif filmed:
            check_film(begun.game, out, fps)


def follow(folder: Path, live: bool, port: int, browser: bool) -> None:
    """Show one game after the other of a comparison, until Ctrl-C."""
    from _following import games
    from _live import serving
    from rich.console import Console
    from rich.text import Text

    if not live:
        raise ValueError(f"{folder} is a comparison; --live follows it, and the files of its folder replays are games")
    waiting = Console(stderr=True).status("waiting for a game")
    with serving(port, browser) as host, suppress(KeyboardInterrupt), waiting as status:
        typer.echo(f"live: {host.address}")
        for document in games(folder):
            host.document = document
            status.update(Text(document["title"]))


def analysed(replay: Any, agent: str | None, limits: dict[str, Any]) -> Game:
    """Return a saved game to be looked at, of which an agent says what it thinks if one is named."""
    import agents
    from agents.arena import parse_meeting
    from agents.watching import replayed

    specs = () if agent is None else parse_meeting(agent, None, limits)[0]
    if agent is not None and len(specs) != 1:
        raise ValueError(f"--agents {agent} names {len(specs)} agents; of a saved game one says what it thinks")
    start = replay.anew()
    for spec in specs if start.choosing else ():
        agents.make(spec.name, **spec.settings).act(start.view(start.choosing[0]))  # compiled before its clock runs
    return partial(replayed, replay, *(agents.make(spec.name, **spec.settings) for spec in specs))


def play(game: Game, host: Any) -> tuple[dict[str, Any], BaseException | None]:
    """Play a game and return its document, at Ctrl-C or where an agent fails what there is of it, and the failure.

    SIGTERM and SIGHUP are one: the command ends by their number. A host serves what there is of it so far.
    """
    from rich.console import Console

    from agents.arena.interrupt import interruptible, signal_of

    if host is not None:
        typer.echo(f"live: {host.address}")
    told: dict[str, Any] = {}
    with Console(stderr=True).status("playing") as status:

        def tell(document: dict[str, Any]) -> None:
            told.update(document)
            status.update(f"move {len(document['frames'])}; Ctrl-C ends it here, and writes what was played")
            if host is not None:
                host.document = document

        try:
            with interruptible():
                return game(tell=tell), None
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            if len(told.get("frames", ())) < 2:
                raise
            failed, how = error, "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
    typer.echo(f"{how}: the game is written as far as it was played", err=True)
    if isinstance(failed, KeyboardInterrupt):
        number = signal_of(failed)
        return told, None if number == signal.SIGINT else typer.Exit(128 + number)
    return told, failed


def write(
    document: dict[str, Any], record: Callable[..., Any] | None, out: Path, replay: Path | None, fps: float
) -> None:
    """Write a game as a page or a film, and as a replay if it is to be kept.

    ``record(document)`` makes that; None for a game of others, whose document has the pictures.
    """
    from agents.inspection.pixels import pictures
    from agents.watching import fitted
    from mcts_envs.core.writing import write_whole
    from mcts_envs.filming import film, is_film, write_film

    out.parent.mkdir(parents=True, exist_ok=True)
    moves, filmed = len(document["frames"]) - 1, is_film(out)
    game = record(document) if record is not None and (filmed or replay is not None) else None
    if replay is not None and game is not None:
        game.save(replay)
        typer.echo(f"{replay}: the game as a replay")
    if filmed:
        write_film(pictures(document), out, fps) if game is None else film(game, out, fps)
        typer.echo(f"{out}: {moves} moves, {size(out.stat().st_size)}")
    else:
        text = fitted(document).encode()
        write_whole(out, text)
        typer.echo(f"{out}: {moves} moves, {size(len(text))}; open it in a browser")


def size(count: int) -> str:
    """Return a number of bytes in words."""
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{max(1, round(count / 1e3))} KB"


if __name__ == "__main__":
    begin(main)
