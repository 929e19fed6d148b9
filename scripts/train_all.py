"""Train the policies of the list, each from several seeds, and make the best of each ready with its model card.

    python scripts/train_all.py                       everything; hours
    python scripts/train_all.py --scale 0.001         a look: as much of the steps, the time and the games
    python scripts/train_all.py --only Football       the policies whose names hold this word

The list is agents/learning/hyperparams/baselines.yml. The same command goes on after whatever ended it. In
OUT/NAME/best lie the policy, its card, and the learning curves of all seeds as data and as a picture.
"""

import signal
from functools import partial
from pathlib import Path
from typing import Annotated

import _own  # noqa: F401
import typer
from _line import begin
from _words import refusal


def main(
    scale: Annotated[float, typer.Option(min=1e-5, max=100.0, help="Share of steps, time and games.")] = 1.0,
    only: Annotated[list[str] | None, typer.Option(help="Word of a policy's name; repeatable.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Trainings of each policy.")] = 3,
    games: Annotated[int, typer.Option(min=1, help="Of each evaluation.")] = 1000,
    workers: Annotated[int, typer.Option(min=0, help="Trainings at the same time; 0: one for each core.")] = 0,
    file: Annotated[Path | None, typer.Option(help="Another list.")] = None,
    out: Annotated[Path, typer.Option(help="Folder.")] = Path("runs/baselines"),
) -> None:
    """Train all policies."""
    # Late, so that --help loads no library.
    from agents.arena.interrupt import interruptible, signal_of
    from agents.learning.baseline_list import baselines
    from agents.learning.baselines import train_all
    from agents.learning.jobs import local
    from mcts_envs.core.errors import writable

    try:
        writable("out", out, folder=True)
        known = baselines(file)
        chosen = [each for each in known if not only or any(word in each.name for word in only)]
        if not chosen:
            raise ValueError(
                f"only {only}: no policy has this in its name; there are: {', '.join(k.name for k in known)}"
            )
        folder = out if scale == 1.0 else out / f"scale-{scale:g}"
        with interruptible(), local(workers or None) as crew:
            for path in train_all(chosen, folder, crew, seeds, games, scale, partial(typer.echo, err=True)):
                typer.echo(path)
    except KeyboardInterrupt as error:
        number = signal_of(error)
        name = signal.Signals(number).name
        typer.secho(
            f"interrupted ({name}); what was trained is kept, and the same command goes on", err=True, fg="yellow"
        )
        raise typer.Exit(128 + number) from None
    except (ValueError, TypeError, OSError, ImportError, RuntimeError) as error:
        raise refusal(error) from None


if __name__ == "__main__":
    begin(main)
