"""Training a policy on the batched API of an environment."""

import contextlib
import math
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.learning.algorithms import one_thread, takes_masks
from agents.learning.beside import beside
from agents.learning.diverging import noticing
from agents.learning.evaluation import CURVE
from agents.learning.expert_folder import PLAN
from agents.learning.imitation import checked, imitate
from agents.learning.run import (
    Run,
    begin,
    check_places,
    dictionary,
    ended,
    environment,
    given,
    latest,
    made,
    planned,
    protect,
    save,
)
from agents.learning.settings import to_evaluate_in
from agents.locking import only_writer, staying
from mcts_envs.core import errors
from mcts_envs.core.api.mixture import Mixture, many
from mcts_envs.core.writing import naming

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.callbacks import BaseCallback

    from agents.learning.selfplay import SelfPlay

_SHORTEST, _LONGEST = 1e-3, 10**12
"""Minutes, steps."""

_EVALUATIONS = 64
"""Games of an evaluation during the training, all at once."""


@dataclass(frozen=True)
class Trained:
    """How a training ended.

    Attributes
    ----------
    path : Path
        The saved policy.
    timesteps : int
        Steps in all, those before a resume included.
    seconds : float
        Duration of this training; 0 if it had come to its end before.
    signal : int, optional
        What ended it early: Ctrl-C, SIGTERM or SIGHUP.
    """

    path: Path
    timesteps: int
    seconds: float
    signal: int | None = None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C, SIGTERM or SIGHUP ended it."""
        return self.signal is not None


def train(
    env_id: str,
    algorithm: str | None = None,
    *,
    out: Path | str,
    timesteps: int | None = None,
    minutes: float | None = None,
    seed: int | None = None,
    n_envs: int | None = None,
    settings: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    resume: Path | str | None = None,
    start: Path | str | None = None,
    device: str | None = None,
    checkpoint_every: int = 500_000,
    evaluate_every: int = 100_000,
    tensorboard: bool = True,
    progress: bool = True,
) -> Trained:
    """Train a policy and save it as ``out/ALGORITHM.zip``, with its sidecar.

    Checkpoints, which come between rollouts, go to ``out/checkpoints``, TensorBoard's log to ``out/tensorboard``: the
    training's own curves, and as ``eval/*`` mean reward, length and win rate (``eval/success_rate``) of 64 games that
    it always plays with its best actions. Ctrl-C, SIGTERM and SIGHUP end the training early and save the policy as it
    is then; so does the time limit.

    Parameters
    ----------
    env_id : str
        With or without ``mcts_envs/``.
    algorithm : {"ppo", "maskable_ppo", "dqn"}, optional
        By default that of the policy to go on from or to begin with, or ``"ppo"``.
    out : Path
    timesteps : int, optional
        Steps in all; by default those of the hyper-parameters. Falling learning rates reach 0 there. A training that
        has come to its end before is left as it is.
    minutes : float, optional
        Time limit, above 0; the training ends with whichever comes first.
    seed : int, optional
        Same seed, same weights on the CPU, if it is not ended by time; also where it was killed and resumed. By default
        0, or that of the policy to go on from, which cannot have another.
    n_envs : int, optional
        Environments in the batch.
    settings : dict, optional
        Settings of the environment. With ``observation="planes"`` the network begins with convolutions
        (:class:`agents.learning.networks.PlanesExtractor`), unless the hyper-parameters name another extractor.
    changes : dict, optional
        Hyper-parameters in place of those of the file. Two are not the algorithm's: ``self_play``, the arguments of
        :class:`agents.learning.selfplay.SelfPlay`, for opponents with weights, and ``imitate``, those of
        :func:`agents.learning.imitation.imitate`, which comes first, is outside the limits of steps and time, and
        leaves a checkpoint of 0 steps.
    resume : Path, optional
        A policy or checkpoint to go on from; its settings and hyper-parameters hold unless others are given. The games
        go on too (:mod:`agents.learning.resuming`), unless settings, ``n_envs`` or the replay buffer are others now.
    start : Path, optional
        A policy to begin with, the zip that this function saved: a new training with its weights, in any environment of
        the same game where the observation has the same meaning. Network and normalisation must be the same.
    device : str, optional
        Where PyTorch learns: ``"cpu"``, ``"cuda"``, ``"auto"``. By default networks with convolutions learn on a GPU,
        if there is one, and others on the CPU: those gain most by a GPU where the batches are large.
    checkpoint_every, evaluate_every : int
        Steps between checkpoints, and between the evaluations that are logged.
    tensorboard, progress : bool
        Whether to log, and to show on stderr how far it is: a bar in a terminal, else a line every 30 seconds.

    Raises
    ------
    ValueError, TypeError
        If a name, a setting or a hyper-parameter is unknown, a number is out of its bounds, the policy to go on from is
        of another board, or has more steps than these. Nothing is written then.
    FileExistsError
        If ``out`` holds a policy or checkpoints already, and this training does not go on from the last of them; or an
        expert iteration; or a file where a folder goes, or a folder where a file goes.
    BlockingIOError
        If another training is writing to ``out``.
    FileNotFoundError
        If there is nothing at ``resume`` or ``start``.
    RuntimeError
        If weights are no longer finite; the checkpoints of before are left.
    """
    errors.integer("checkpoint_every", checkpoint_every, 1, _LONGEST)
    errors.integer("evaluate_every", evaluate_every, 1, _LONGEST)
    if minutes is not None:
        errors.number("minutes", minutes, _SHORTEST, math.inf)
    if timesteps is not None:
        errors.number("timesteps", timesteps, 1, _LONGEST)
    tensorboard, progress = errors.flag("tensorboard", tensorboard), errors.flag("progress", progress)
    changes = {**dictionary("changes", changes), **given(n_envs=n_envs, n_timesteps=timesteps)}
    run = planned(env_id, algorithm, errors.path("out", out), seed, settings, changes, resume, start)
    if (run.out / PLAN).is_file() and (run.out / "games").is_dir():
        raise FileExistsError(f"{run.out} holds an expert iteration, which would be lost; give another --out")
    check_places(run, tensorboard)
    protect(run)
    if steps := ended(run):
        return Trained(run.target, steps, 0.0)
    started = time.monotonic()
    with one_thread(), contextlib.ExitStack() as stack:
        model = made(
            run,
            environment(run, run.settings, run.hyper.n_envs, run.seed + run.done),
            str(run.out / "tensorboard") if tensorboard else None,
            device,
        )
        begin(run, model)
        past = _self_play(run, model, progress)
        teaches = bool(run.hyper.imitate) and run.resume is None
        _rehearse(run, [checked(model, **run.hyper.imitate)] if teaches else [])
        run.out.mkdir(parents=True, exist_ok=True)
        stack.enter_context(only_writer(run.out, "training"))
        protect(run)  # again: one that wrote to it may just have ended
        if teaches:
            _imitate(run, model, progress)
        first = 0 if teaches else run.done + checkpoint_every
        evaluate_every = evaluate_every if tensorboard else 0
        came = _learn(run, model, past, minutes, (checkpoint_every, first), evaluate_every, progress)
    return Trained(run.target, int(model.num_timesteps), time.monotonic() - started, came)


def _self_play(run: Run, model: "BaseAlgorithm", progress: bool) -> "SelfPlay | None":
    """Return the callback that looks after a mixture of opponents, with the past selves of the policy resumed from."""
    from agents.learning.selfplay import SUFFIX, SelfPlay

    env = model.get_env()
    if not isinstance(getattr(env.unwrapped if env else None, "opponents", None), Mixture):
        if run.hyper.self_play:
            raise ValueError(
                f"self_play {run.hyper.self_play} is for trainings against a mixture of opponents; set opponent to "
                "weights, as in {'self': 1}, or leave it out"
            )
        return None
    past = SelfPlay(**run.hyper.self_play)
    if run.resume is not None:
        past.load(run.resume, model)
        file = beside(run.resume, SUFFIX)
        if progress and not file.is_file():
            print(f"goes on without past selves and results against opponents: no {file}", file=sys.stderr)
    return past


def _rehearse(run: Run, teachers: list[Any]) -> None:
    """Ask all who will choose in a training for a move, also who is seldom drawn, in a batch of its own.

    Raises
    ------
    ValueError
        If one cannot play here, as a policy of another game.
    """
    batch: Any = environment(run, run.settings, 1, run.seed).unwrapped
    with contextlib.closing(batch):
        batch.reset()
        opponents = [opponent.players for opponent in batch.opponents.all] if hasattr(batch, "opponents") else []
        for players in filter(None, [*opponents, *map(many, teachers)]):
            batch.advice(players, np.zeros(1, np.uint64))


def _imitate(run: Run, model: "BaseAlgorithm", progress: bool) -> None:
    """Let the policy learn what its teacher does."""
    from agents.learning.progress import Lines

    shown: dict[str, Any] = {"report": Lines()} if progress else {}
    imitate(model, **run.hyper.imitate, **shown)


def _saver(run: Run, model: "BaseAlgorithm", past: "SelfPlay | None") -> Callable[[Path, bool], None]:
    """Return what saves a training as it is, which is whole or not."""
    from agents.learning import resuming

    began, before = time.monotonic(), float(run.about.get("seconds", 0.0))
    folder = run.out / "checkpoints"

    def keep(path: Path, whole: bool) -> None:
        if whole and path != run.target:  # where a checkpoint is, this is
            resuming.save(path, model)
        save(run, model, path, past, seconds=round(before + time.monotonic() - began, 3))
        if whole and path == run.target:  # whoever ended the training may not wait for more than the policy
            resuming.save(path, model)
        old = {*folder.glob(f"{run.algorithm}_*{resuming.SUFFIX}"), beside(run.target, resuming.SUFFIX)}
        if whole:
            old.discard(beside(path, resuming.SUFFIX))
        for file in old:  # only the last is resumed from; a replay buffer is large
            file.unlink(missing_ok=True)

    return keep


def _learn(
    run: Run,
    model: "BaseAlgorithm",
    past: "SelfPlay | None",
    minutes: float | None,
    checkpoints: tuple[int, int],
    evaluate_every: int,
    progress: bool,
) -> int | None:
    """Train, save the policy and return the signal that interrupted it.

    Checkpoints come every so many steps, the first at so many.
    """
    from agents.learning.callbacks import Checkpoints, Ended, Finite, Limits, StopRequest, evaluations
    from agents.learning.logs import logging
    from agents.learning.progress import ProgressReport

    came: int | None = None
    keep = _saver(run, model, past)

    def checkpoint() -> None:
        keep(run.out / "checkpoints" / f"{run.algorithm}_{model.num_timesteps}", True)

    report = ProgressReport(run.hyper.n_timesteps, minutes)
    with StopRequest() as stop, contextlib.closing(report):
        limits = Limits(minutes, stop)
        callbacks = [Finite(), _resumed(run, model, progress), Checkpoints(*checkpoints, checkpoint), limits]
        if evaluate_every:
            env = environment(run, to_evaluate_in(run.settings), _EVALUATIONS, CURVE + run.seed)
            masked = takes_masks(model)
            callbacks.append(evaluations(evaluate_every, run.done, env, _EVALUATIONS, masked, limits.over))
        if past is not None:
            callbacks.append(past)
        if progress:
            callbacks.append(report)
        cure = "resume its last checkpoint where that lies now, or begin anew"
        with naming(run.out), staying(run.out, cure), logging(model, run.algorithm, run.resume is None):
            try:
                with noticing(model, lambda: _slower(run)), contextlib.suppress(Ended):
                    model.learn(
                        run.hyper.n_timesteps - run.done,
                        callback=callbacks,
                        reset_num_timesteps=run.resume is None,
                    )
            except KeyboardInterrupt:
                came = signal.SIGINT
            keep(run.target, not (came or limits.broken))
        return stop.signal or came


def _slower(run: Run) -> str:
    """Return how a training that has diverged may go on."""
    last = latest(run.out, run.algorithm)
    how = "begin anew" if last is None else f"resume with --resume {last}, or an earlier checkpoint,"
    return f"{how} with a lower learning_rate than {run.hyper.model.get('learning_rate', 'the default')}"


def _resumed(run: Run, model: "BaseAlgorithm", progress: bool) -> "BaseCallback":
    """Bring back the games of the training that is resumed, if they and the replay buffer are not to be others now."""
    from agents.learning import resuming

    if run.resume is None:
        return resuming.GoOn()
    others = _other_games(run)
    found = resuming.GoOn() if others else resuming.load(run.resume, model)
    if progress and not found.found:
        cure = "give what it was, and the games under way go on"
        nothing = f"no {beside(run.resume, resuming.SUFFIX)} of as many steps"
        why = f"{', '.join(others)}; {cure}" if others else nothing
        print(f"goes on with new games: {why}", file=sys.stderr)
    return found


def _other_games(run: Run) -> list[str]:
    """Return, in words, what makes the games under way of the training that is resumed of no use: all but threads."""
    settings, hyper = run.about.get("settings", {}), run.about.get("hyperparameters", {})
    now = {"n_envs": run.hyper.n_envs, **run.hyper.model}
    pairs = [(name, settings, run.settings) for name in sorted({*settings, *run.settings} - {"threads"})]
    pairs += [(name, hyper, now) for name in ("n_envs", "buffer_size", "optimize_memory_usage")]

    def said(name: str, values: Mapping[str, Any]) -> str:
        return repr(values[name]) if name in values else "its default"

    return [
        f"{name} is {said(name, new)} and was {said(name, old)}"
        for name, old, new in pairs
        if old.get(name) != new.get(name)
    ]
