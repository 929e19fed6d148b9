"""Training a policy on the batched face of an environment."""

import datetime
import importlib.metadata
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcts_envs
from agents.learning import storage
from agents.learning.algorithms import algorithm_class, one_thread
from agents.learning.hyperparameters import Hyperparameters, hyperparameters, resolved
from agents.learning.shipped import entry_of
from mcts_envs.core import errors

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecEnv

_LIBRARIES = ("stable_baselines3", "sb3_contrib", "gymnasium", "torch", "numpy")


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
    tensorboard: bool = True,
    progress: bool = True,
) -> Trained:
    """Train a policy and save it as ``out/ALGORITHM.zip``, with its sidecar.

    Checkpoints go to ``out/checkpoints``, TensorBoard's log to ``out/tensorboard``. Ctrl-C and SIGTERM end the training
    early and save the policy as it is then; so does the time limit.

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
        Time limit; the training ends with whichever comes first.
    seed : int
        Same seed, same policy, if it is not ended by time.
    n_envs : int, optional
        Environments in the batch.
    settings : dict, optional
        Settings of the environment.
    changes : dict, optional
        Hyper-parameters in place of those of the file.
    resume : Path, optional
        A policy or checkpoint to go on from; its settings and hyper-parameters hold unless others are given.
    checkpoint_every : int
        Steps between checkpoints.
    tensorboard, progress : bool
        Whether to log, and to show a progress bar.

    Raises
    ------
    ValueError, TypeError
        If a name, a setting or a hyper-parameter is unknown, or nothing is left to train.
    FileExistsError
        If ``out`` holds a policy already, and this training does not go on from it.
    FileNotFoundError
        If there is nothing at ``resume``.
    """
    changes = {**(changes or {}), **_given(n_envs=n_envs, n_timesteps=timesteps)}
    run = _plan(env_id, algorithm, Path(out), seed, settings, changes, resume)
    total = run.hyper.n_timesteps
    if total <= run.done:
        raise ValueError(f"timesteps {total}: {run.resume} has {run.done} already; ask for more than that in all")
    started = time.monotonic()
    with one_thread():
        model = _model(run, _environment(run), str(run.out / "tensorboard") if tensorboard else None)
        interrupted = _learn(run, model, minutes, checkpoint_every, progress)
    path = _save(run, model, run.target)
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
    entry = entry_of(env_id)
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
    """Raise ``FileExistsError`` if this training would replace a policy that it does not go on from."""
    if not run.target.exists():
        return
    same = run.resume is not None and run.out.resolve() in run.resume.resolve().parents
    steps = storage.described(run.target, run.algorithm)[1].get("timesteps", 0)
    if not same or steps > run.done:
        raise FileExistsError(f"{run.target} ({steps} steps) exists; train into another folder, or resume from it")


def _environment(run: _Run) -> "VecEnv":
    from stable_baselines3.common.vec_env import VecNormalize

    env = mcts_envs.make_sb3_vec_env(run.env_id, run.hyper.n_envs, run.seed + run.done, **run.settings)
    if not run.hyper.normalize:
        return env
    normalized = VecNormalize(env, **{"gamma": run.hyper.model.get("gamma", 0.99), **run.hyper.normalize})
    if statistics := run.about.get("normalization"):
        storage.restore_normalization(normalized, statistics)
    return normalized


def _model(run: _Run, env: "VecEnv", log: str | None) -> "BaseAlgorithm":
    arguments = resolved(run.hyper.model)
    more: dict[str, Any] = {"seed": run.seed + run.done, "tensorboard_log": log}
    device = "auto" if "Cnn" in str(arguments["policy"]) else "cpu"
    if run.resume is None:
        return algorithm_class(run.algorithm)(env=env, device=device, **more, **arguments)
    del arguments["policy"]
    return storage.read_model(run.resume, run.algorithm, env=env, device=device, **more, **arguments)


def _learn(run: _Run, model: "BaseAlgorithm", minutes: float | None, checkpoint_every: int, progress: bool) -> bool:
    """Train, and return whether it was interrupted."""
    from agents.learning.callbacks import Checkpoints, Limits, StopRequest

    def checkpoint(timesteps: int) -> None:
        _save(run, model, run.out / "checkpoints" / f"{run.algorithm}_{timesteps}")

    with StopRequest() as stop:
        callbacks = [Checkpoints(checkpoint_every, checkpoint), Limits(minutes, stop)]
        try:
            model.learn(
                run.hyper.n_timesteps - run.done,
                callback=callbacks,
                tb_log_name=run.algorithm,
                reset_num_timesteps=run.resume is None,
                progress_bar=progress,
            )
        except KeyboardInterrupt:
            return True
        return stop.requested


def _save(run: _Run, model: "BaseAlgorithm", path: Path) -> Path:
    from stable_baselines3.common.vec_env import VecNormalize

    env = model.get_env()
    assert env is not None
    hyper = run.hyper
    observations: Any = env.observation_space
    actions: Any = env.action_space
    about = {
        "algorithm": run.algorithm,
        "environment": run.env_id,
        "settings": run.settings,
        "game": env.get_attr("game", 0)[0].name,
        "observation_space": {"shape": list(observations.shape), "dtype": str(observations.dtype)},
        "action_space": {"n": int(actions.n)},
        "timesteps": int(model.num_timesteps),
        "seed": run.seed,
        "hyperparameters": {
            **hyper.model,
            "n_envs": hyper.n_envs,
            "n_timesteps": hyper.n_timesteps,
            "normalize": hyper.normalize or False,
        },
        "normalization": storage.normalization(env) if isinstance(env, VecNormalize) else None,
        "versions": {
            "mcts_envs": mcts_envs.__version__,
            **{name: importlib.metadata.version(name) for name in _LIBRARIES},
        },
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    return storage.save(model, path, about)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
