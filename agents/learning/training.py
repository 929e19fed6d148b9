"""Training a policy on the batched API of an environment."""

import contextlib
import datetime
import importlib.metadata
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcts_envs
from agents.learning import normalizing, storage
from agents.learning.algorithms import algorithm_class, one_thread, takes_masks
from agents.learning.evaluation import CURVE
from agents.learning.fitting import check_board, layout
from agents.learning.hyperparameters import Hyperparameters, hyperparameters, resolved
from agents.learning.imitation import imitate
from agents.learning.settings import to_evaluate_in
from mcts_envs.core import errors
from mcts_envs.core.mixture import Mixture
from mcts_envs.registry import find

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecEnv

    from agents.learning.selfplay import SelfPlay

_LIBRARIES = ("stable_baselines3", "sb3_contrib", "gymnasium", "torch", "numpy")
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
        Duration of this training.
    interrupted : bool
        Whether Ctrl-C or SIGTERM ended it.
    """

    path: Path
    timesteps: int
    seconds: float
    interrupted: bool


def train(
    env_id: str,
    algorithm: str | None = None,
    *,
    out: Path | str,
    timesteps: int | None = None,
    minutes: float | None = None,
    seed: int = 0,
    n_envs: int | None = None,
    settings: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    resume: Path | str | None = None,
    checkpoint_every: int = 500_000,
    evaluate_every: int = 100_000,
    tensorboard: bool = True,
    progress: bool = True,
) -> Trained:
    """Train a policy and save it as ``out/ALGORITHM.zip``, with its sidecar.

    Checkpoints go to ``out/checkpoints``, TensorBoard's log to ``out/tensorboard``: the training's own curves, and as
    ``eval/*`` mean reward, length and win rate (``eval/success_rate``) of 64 games that it always plays with its best
    actions. Ctrl-C and SIGTERM end the training early and save the policy as it is then; so does the time limit.

    Parameters
    ----------
    env_id : str
        With or without ``mcts_envs/``.
    algorithm : {"ppo", "maskable_ppo"}, optional
        By default that of the policy to go on from, or ``"ppo"``.
    out : Path
    timesteps : int, optional
        Steps in all; by default those of the hyper-parameters. Falling learning rates reach 0 there.
    minutes : float, optional
        Time limit, above 0; the training ends with whichever comes first.
    seed : int
        Same seed, same weights, if it is not ended by time.
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
        A policy or checkpoint to go on from; its settings and hyper-parameters hold unless others are given.
    checkpoint_every, evaluate_every : int
        Steps between checkpoints, and between the evaluations that are logged.
    tensorboard, progress : bool
        Whether to log, and to show on stderr how far it is: a bar in a terminal, else a line every 30 seconds.

    Raises
    ------
    ValueError, TypeError
        If a name, a setting or a hyper-parameter is unknown, a number is out of its bounds, the policy to go on from is
        of another board, or nothing is left to train. Nothing is written then.
    FileExistsError
        If ``out`` holds a policy or checkpoints already, and this training does not go on from the last of them.
    FileNotFoundError
        If there is nothing at ``resume``.
    """
    errors.integer("checkpoint_every", checkpoint_every, 1, _LONGEST)
    errors.integer("evaluate_every", evaluate_every, 1, _LONGEST)
    if minutes is not None:
        errors.number("minutes", minutes, _SHORTEST, math.inf)
    changes = {**(changes or {}), **_given(n_envs=n_envs, n_timesteps=timesteps)}
    run = _plan(env_id, algorithm, Path(out), seed, settings, changes, resume)
    total = run.hyper.n_timesteps
    if total <= run.done:
        raise ValueError(f"timesteps {total}: {run.resume} has {run.done} already; ask for more than that in all")
    started = time.monotonic()
    with one_thread():
        model = _model(
            run,
            _environment(run, run.settings, run.hyper.n_envs, run.seed + run.done),
            str(run.out / "tensorboard") if tensorboard else None,
        )
        past = _self_play(run, model)
        if run.hyper.imitate and run.resume is None:
            _imitate(run, model, past, progress)
        evaluate_every = evaluate_every if tensorboard else 0
        interrupted = _learn(run, model, past, minutes, checkpoint_every, evaluate_every, progress)
    path = _save(run, model, run.target, past)
    return Trained(path, int(model.num_timesteps), time.monotonic() - started, interrupted)


@dataclass(frozen=True)
class _Run:
    """What is settled before a training begins."""

    env_id: str
    algorithm: str
    out: Path
    seed: int
    settings: dict[str, Any]
    hyper: Hyperparameters
    resume: Path | None
    about: dict[str, Any]

    @property
    def target(self) -> Path:
        return self.out / f"{self.algorithm}.zip"

    @property
    def done(self) -> int:
        return int(self.about.get("timesteps", 0))


def _plan(
    env_id: str,
    algorithm: str | None,
    out: Path,
    seed: int,
    settings: Mapping[str, Any] | None,
    changes: Mapping[str, Any],
    resume: Path | str | None,
) -> _Run:
    entry = find(env_id)
    about: dict[str, Any] = {}
    source: Path | None = None
    if resume is not None:
        source, about, algorithm = storage.described(resume, algorithm, entry.id)
        if "hyperparameters" not in about:
            raise ValueError(f"{source} was not saved by this training, so there is nothing to go on from; start anew")
        changes = {**about["hyperparameters"], **changes}
    run = _Run(
        env_id=entry.id,
        algorithm=algorithm or "ppo",
        out=out,
        seed=errors.integer("seed", about.get("seed", seed), 0, 2**31 - 1),
        settings=dict(about.get("settings", {}) if settings is None else settings),
        hyper=hyperparameters(algorithm or "ppo", entry.id, changes),
        resume=source,
        about=about,
    )
    _protect(run)
    return run


def _protect(run: _Run) -> None:
    """Raise ``FileExistsError`` if this training would replace one that it does not go on from, or lose its end."""
    same = run.resume is not None and run.out.resolve() in run.resume.resolve().parents
    if run.target.exists():
        steps = storage.described(run.target, run.algorithm)[1].get("timesteps", 0)
        if not same or steps > run.done:
            raise FileExistsError(f"{run.target} ({steps} steps) exists; train into another folder, or resume from it")
    steps, last = _last_checkpoint(run)
    if last is not None and (not same or steps > run.done):
        raise FileExistsError(
            f"{run.out} holds a training that was broken off after {steps} steps; "
            f"resume with --resume {last}, or choose another --out"
        )


def _last_checkpoint(run: _Run) -> tuple[int, Path | None]:
    """Return the latest checkpoint in the folder that can be resumed from, and its steps."""
    there = (run.out / "checkpoints").glob(f"{run.algorithm}_*.zip")
    steps = {path: path.stem.removeprefix(f"{run.algorithm}_") for path in there if path.with_suffix(".json").exists()}
    return max(((int(text), path) for path, text in steps.items() if text.isdecimal()), default=(0, None))


def _environment(run: _Run, settings: Mapping[str, Any], n_envs: int, seed: int) -> "VecEnv":
    from stable_baselines3.common.vec_env import VecNormalize

    env = mcts_envs.make_sb3_vec_env(run.env_id, n_envs, seed, **settings)
    if not run.hyper.normalize:
        return env
    normalized = VecNormalize(env, **{"gamma": run.hyper.model.get("gamma", 0.99), **run.hyper.normalize})
    if statistics := run.about.get("normalization"):
        normalizing.restore_normalization(normalized, statistics)
    return normalized


def _model(run: _Run, env: "VecEnv", log: str | None) -> "BaseAlgorithm":
    arguments = resolved(run.hyper.model)
    if len(env.observation_space.shape or ()) == 3:
        from agents.learning.networks import PlanesExtractor

        arguments["policy_kwargs"] = {"features_extractor_class": PlanesExtractor, **arguments.get("policy_kwargs", {})}
    more: dict[str, Any] = {"seed": run.seed + run.done, "tensorboard_log": log}
    device = "auto" if "Cnn" in str(arguments["policy"]) else "cpu"
    if run.resume is None:
        try:
            return algorithm_class(run.algorithm)(env=env, device=device, **more, **arguments)
        except AssertionError as error:
            raise ValueError(f"{run.algorithm} cannot train with these hyper-parameters: {error}") from error
    check_board(run.resume, run.about, env.get_attr("game", 0)[0])
    del arguments["policy"]
    model = storage.read_model(run.resume, run.algorithm, env=env, device=device, **more, **arguments)
    storage.check_sidecar(run.resume, run.about, model)
    return model


def _self_play(run: _Run, model: "BaseAlgorithm") -> "SelfPlay | None":
    """Return the callback that looks after a mixture of opponents, with the past selves of the policy resumed from."""
    from agents.learning.selfplay import SelfPlay

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
    return past


def _imitate(run: _Run, model: "BaseAlgorithm", past: "SelfPlay | None", progress: bool) -> None:
    """Let the policy learn what its teacher does, and keep that as the first checkpoint."""
    from agents.learning.progress import Lines

    shown: dict[str, Any] = {"report": Lines()} if progress else {}
    imitate(model, **run.hyper.imitate, **shown)
    _save(run, model, run.out / "checkpoints" / f"{run.algorithm}_0", past)


def _learn(
    run: _Run,
    model: "BaseAlgorithm",
    past: "SelfPlay | None",
    minutes: float | None,
    checkpoint_every: int,
    evaluate_every: int,
    progress: bool,
) -> bool:
    """Train, and return whether it was interrupted."""
    from agents.learning.callbacks import Limits, StopRequest, checkpoints, evaluations
    from agents.learning.progress import ProgressReport

    def checkpoint() -> None:
        _save(run, model, run.out / "checkpoints" / f"{run.algorithm}_{model.num_timesteps}", past)

    report = ProgressReport(run.hyper.n_timesteps, minutes)
    with StopRequest() as stop, contextlib.closing(report):
        callbacks = [checkpoints(checkpoint_every, run.done, checkpoint), Limits(minutes, stop)]
        if evaluate_every:
            env = _environment(run, to_evaluate_in(run.settings), _EVALUATIONS, CURVE + run.seed)
            callbacks.insert(1, evaluations(evaluate_every, run.done, env, _EVALUATIONS, takes_masks(model)))
        if past is not None:
            callbacks.append(past)
        if progress:
            callbacks.append(report)
        try:
            model.learn(
                run.hyper.n_timesteps - run.done,
                callback=callbacks,
                tb_log_name=run.algorithm,
                reset_num_timesteps=run.resume is None,
            )
        except KeyboardInterrupt:
            return True
        return stop.requested


def _save(run: _Run, model: "BaseAlgorithm", path: Path, past: "SelfPlay | None") -> Path:
    from stable_baselines3.common.vec_env import VecNormalize

    if past is not None:
        past.save(path, model)
    env = model.get_env()
    assert env is not None
    hyper = run.hyper
    observations: Any = env.observation_space
    actions: Any = env.action_space
    game = env.get_attr("game", 0)[0]
    about = {
        "algorithm": run.algorithm,
        "environment": run.env_id,
        "settings": run.settings,
        "game": game.name,
        "observation_space": {"shape": list(observations.shape), "dtype": str(observations.dtype)},
        "action_space": {"n": int(actions.n)},
        "layout": layout(game),
        "timesteps": int(model.num_timesteps),
        "seed": run.seed,
        "hyperparameters": {
            **hyper.model,
            "n_envs": hyper.n_envs,
            "n_timesteps": hyper.n_timesteps,
            "normalize": hyper.normalize or False,
            **_given(self_play=hyper.self_play or None, imitate=hyper.imitate or None),
        },
        "normalization": normalizing.normalization(env) if isinstance(env, VecNormalize) else None,
        "versions": {
            "mcts_envs": mcts_envs.__version__,
            **{name: importlib.metadata.version(name) for name in _LIBRARIES},
        },
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    return storage.save(model, path, about)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
