"""Train a policy with Stable-Baselines3 or sb3-contrib.

    python scripts/train.py LaneDefense10x10-v0 --algo ppo --minutes 10
    python scripts/train.py LaneDefense10x10-v0 --resume runs/LaneDefense10x10-v0/ppo-0/ppo.zip --timesteps 8000000

Ctrl-C, SIGTERM and SIGHUP end early and save the policy; the status is 128 and the signal's number, as of comparisons.
`tensorboard --logdir runs` shows the curves, eval/success_rate among them: the games won by the policy's best actions.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import _own  # noqa: F401
import typer
from _line import begin
from _options import HyperParameters, Settings
from _words import refusal

if TYPE_CHECKING:
    from agents.learning.training import Trained


def main(
    environment: Annotated[
        str, typer.Argument(metavar="ID", help="A game of ours or of yours; module:ID and FILE.py:ID import that.")
    ],
    algo: Annotated[str | None, typer.Option(help="ppo (default), maskable_ppo or dqn.")] = None,
    timesteps: Annotated[int | None, typer.Option(help="Steps in all; default: the hyper-parameter file's.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Time limit; whichever comes first.")] = None,
    seed: Annotated[int | None, typer.Option(help="Same seed, same weights; default: 0, or --resume's.")] = None,
    n_envs: Annotated[int | None, typer.Option(help="Environments in the batch.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of ALGO.zip, the policy; default: runs/ENVIRONMENT/ALGO-SEED, or --resume's."),
    ] = None,
    settings: Settings = None,
    parameters: HyperParameters = None,
    resume: Annotated[Path | None, typer.Option(help="Policy or checkpoint to go on from.")] = None,
    start: Annotated[Path | None, typer.Option(help="Policy whose weights to begin a new training with.")] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda or auto; default: cpu, but auto for networks with convolutions.")
    ] = None,
    checkpoint_every: Annotated[int, typer.Option(help="Steps between checkpoints.")] = 500_000,
    evaluate_every: Annotated[int, typer.Option(help="Steps between evaluations for TensorBoard (eval/*).")] = 100_000,
    games: Annotated[
        int, typer.Option(min=0, max=10**9, help="Fresh games to evaluate the policy with afterwards.")
    ] = 1000,
) -> None:
    """Train a policy; Ctrl-C ends early and saves it."""
    # Late, so that --help loads no library.
    from agents.learning.evaluation import evaluate
    from agents.learning.saved.storage import described
    from agents.learning.training import train
    from agents.spec import parse_settings

    try:
        if (source := start or resume) is not None:
            algo = described(source, algo)[2]
        out = out or folder(environment, f"{algo or 'ppo'}-{seed or 0}", resume)
        result = train(
            environment,
            algo,
            out=out,
            timesteps=timesteps,
            minutes=minutes,
            seed=seed,
            n_envs=n_envs,
            settings=parse_settings(settings) if settings else None,
            changes=parse_settings(parameters or []),
            resume=resume,
            start=start,
            device=device,
            checkpoint_every=checkpoint_every,
            evaluate_every=evaluate_every,
        )
    except Exception as error:
        raise refusal(error, {"algorithm": "--algo"}, partial(going_on, out, algo)) from None
    typer.echo(told(result))
    if result.signal is not None:
        raise typer.Exit(128 + result.signal)
    if games:
        try:
            found = evaluate(result.path, games)
        except Exception as error:
            raise refusal(error) from None
        share, points, mean = found.wins / found.games, found.points.mean(), found.returns.mean()
        parts = "" if points == share else f", {points:.1%} of the points"  # ties, shares
        typer.echo(f"won {found.wins} of {found.games} games ({share:.1%}){parts}; mean return {mean:.4g}")


def folder(environment: str, name: str, resume: Path | None) -> Path:
    """Return where the policy goes: a folder of its own, or that of the training to go on with."""
    if resume is None:
        return Path("runs") / environment.rpartition(":")[2].rpartition("/")[2] / name
    return resume.parent.parent if resume.parent.name == "checkpoints" else resume.parent


def told(result: "Trained") -> str:
    """Return how a training ended, and how it goes on."""
    if not result.seconds:
        return f"{result.path} has its {result.timesteps:,} steps already; more --timesteps in all would train on"
    end = "interrupted after" if result.interrupted else "trained for"
    on = f"; --resume {result.path} goes on" if result.interrupted else ""
    return f"{end} {result.timesteps:,} steps, {result.seconds:.0f} s; saved {result.path}{on}"


def going_on(out: Path | None, algorithm: str | None) -> str:
    """Return how a training goes on that could not write."""
    from agents.learning.run import latest

    last = latest(out, algorithm or "ppo") if out else None
    return f"resume with --resume {last}" if last else "begin anew"


if __name__ == "__main__":
    begin(main)
