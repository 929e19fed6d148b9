"""Play a game against agents, in a browser or in a terminal.

    python scripts/play.py WallSurvival-v0                        # you against best
    python scripts/play.py Football3-v0 --seats scripted,human --budget time=0.5
    python scripts/play.py LaneDefense3x3-v0 --terminal
    python scripts/play.py game.json                              # go on with a game that was saved
    python scripts/play.py FrozenLake-v1                          # alone, with hints by mcts
    python scripts/play.py pettingzoo.classic.connect_four_v3 --seats human,mcts

The page is served to this machine alone; its address holds a random token. Needs pip install "mcts-envs[play]".
Environments of others are played as they draw themselves, and their games are not saved.
"""

import socket
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import _own  # noqa: F401
import typer
from _line import begin
from _options import Budget, Settings
from _words import binding, refusal


def main(
    environment: Annotated[
        str,
        typer.Argument(metavar="ID", help="Environment, as for compare; or a saved game."),
    ],
    seats: Annotated[
        str | None, typer.Option(help="In their order, human or agents; default: you first, best in the others.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the first game.")] = 0,
    budget: Budget = None,
    hint: Annotated[str, typer.Option(help="Who is asked for hints.")] = "best",
    setting: Settings = None,
    terminal: Annotated[bool, typer.Option("--terminal", help="Play here, in text.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
    replay: Annotated[Path | None, typer.Option(help="Where the game, one of ours, is kept after every step.")] = None,
) -> None:
    """Play a game against agents, in a browser or in a terminal."""
    # Late, so that --help loads no game.
    from _following import saved_game

    from agents.arena import parse_budget, parse_settings
    from agents.playing.session import Session
    from mcts_envs.core.errors import writable

    try:
        if replay is not None:
            writable("replay", replay)
        game = saved_game(environment) or environment
        sitting = None if seats is None else [each.strip() for each in seats.split(",")]
        options = {"seed": seed, "hint": hint, "limits": parse_budget(budget), "keep": replay, "text": terminal}
        session = Session(game, sitting, **options, **parse_settings(setting or []))
        try:
            if terminal:
                from agents.playing.text_play import play

                play(session, write=typer.echo)  # which has colours on Windows too
            else:
                _serve(session, port, browser)
        finally:
            session.close()
    except Exception as error:
        raise refusal(error) from None


def _serve(session: Any, port: int, browser: bool) -> None:
    """Serve the page until Ctrl-C."""
    try:
        import uvicorn
    except ImportError as error:
        raise ImportError('playing in a browser needs uvicorn: pip install "mcts-envs[play]"; or --terminal') from error

    from agents.playing.server import Server

    with socket.socket() as bound:
        if sys.platform != "win32":  # where it would share a port in use
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with binding(port):
            bound.bind(("127.0.0.1", port))
        bound.listen()  # who opens the address at once waits
        number = bound.getsockname()[1]
        server = Server(session, (f"127.0.0.1:{number}", f"localhost:{number}"))
        address = f"http://127.0.0.1:{number}/{server.token}/"
        typer.echo(f"{address}\nCtrl-C ends it")
        if browser:
            threading.Timer(0.5, webbrowser.open, [address]).start()
        config = uvicorn.Config(server.app, log_level="warning", timeout_graceful_shutdown=1)
        serving = uvicorn.Server(config)
        leave = serving.handle_exit

        def end(*signal: Any) -> None:
            session.close()  # pages that wait for news have their answer, so that none is cut off
            leave(*signal)

        serving.handle_exit = end
        serving.run(sockets=[bound])


if __name__ == "__main__":
    begin(main)
