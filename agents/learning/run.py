"""What is settled before a training begins, the model that it trains, and how that is saved."""

import datetime
import importlib.metadata
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcts_envs
from agents.learning.algorithms import algorithm_class
from agents.learning.hyperparameters import Hyperparameters, hyperparameters, named, resolved
from agents.learning.saved import normalizing, storage
from agents.learning.saved.fitting import check_board, layout
from agents.learning.saved.reading import read_model
from mcts_envs.core import errors
from mcts_envs.registry import find

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecEnv

    from agents.learning.selfplay import SelfPlay

_LIBRARIES = ("stable_baselines3", "sb3_contrib", "gymnasium", "torch", "numpy")


@dataclass(frozen=True)
class Run:
    """What is settled before a training begins.

    Attributes
    ----------
    env_id, algorithm : str
    out : Path
        The folder of the training.
    seed : int
    settings : dict
        Of the environment.
    hyper : Hyperparameters
    resume : Path or None
        The policy to go on from.
    about : dict
        Its sidecar; else empty.
    start : Path or None
        The policy whose weights the training begins with.
    begun : dict
        Its sidecar, as it was then; else empty.
    """

    env_id: str
    algorithm: str
    out: Path
    seed: int
    settings: dict[str, Any]
    hyper: Hyperparameters
    resume: Path | None
    about: dict[str, Any]
    start: Path | None = None
    begun: Mapping[str, Any] = field(default_factory=dict)

    @property
    def target(self) -> Path:
        """Where the policy goes at the end."""
        return self.out / f"{self.algorithm}.zip"

    @property
    def done(self) -> int:
        """Steps of the policy to go on from."""
        return int(self.about.get("timesteps", 0))


def planned(
    env_id: str,
    algorithm: str | None,
    out: Path,
    seed: int | None,
    settings: Mapping[str, Any] | None,
    changes: Mapping[str, Any] | None,
    resume: Path | str | None,
    start: Path | str | None = None,
) -> Run:
    """Return what a training is settled by; see :func:`agents.learning.training.train`."""
    entry = find(env_id)
    settings, changes = dictionary("settings", settings), dictionary("changes", changes)
    about: dict[str, Any] = {}
    begun: dict[str, Any] = {}
    source: Path | None = None
    if start is not None:
        if resume is not None:
            raise ValueError(f"start {start} and resume {resume}: a training begins with one or goes on from the other")
        start, begun, algorithm = storage.described(start, algorithm)
        _check_own(start, begun)
    if resume is not None:
        source, about, algorithm = storage.described(resume, algorithm, entry.id)
        _check_own(source, about)
        changes = {**about["hyperparameters"], **changes}
    first = about.get("seed", 0 if seed is None else seed)
    if seed not in (None, first):
        raise ValueError(f"seed {seed}: {source} was trained with seed {first}, and goes on with that; leave seed out")
    return Run(
        env_id=entry.id,
        algorithm=algorithm or "ppo",
        out=out,
        seed=errors.integer("seed", first, 0, 2**31 - 1),
        settings={**about.get("settings", {}), **settings},
        hyper=hyperparameters(algorithm or "ppo", entry.id, changes),
        resume=source,
        about=about,
        start=start,
        begun=begun,
    )


def dictionary(name: str, value: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return settings by name, none for None; raise ``TypeError`` if these are none."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} {value!r} is {type(value).__name__}, not a dictionary, as {{'name': value}}")
    return value


def _check_own(path: Path, about: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` if nobody says what a policy was trained on."""
    if "hyperparameters" not in about:
        raise ValueError(
            f"what {path} was trained on is unknown: it lies without the {path.stem}.json that scripts/train.py saves "
            "beside a policy; copy that too, or take the checkpoint before, if a kill came between the two; if a "
            "script of your own saved it, go on in that"
        )


def check_places(run: Run, tensorboard: bool) -> None:
    """Raise ``OSError`` if a training could not write where its files go: what lies there would be met at the end."""
    errors.writable("out", run.out, folder=True)
    folders = ["checkpoints", *(["tensorboard"] if tensorboard else [])]
    files = [f"{run.algorithm}{suffix}" for suffix in (".zip", ".json", ".resume.npz", ".selves.npz")]
    for name in (*folders, *files):
        path = run.out / name
        if path.exists() and path.is_dir() != (name in folders):
            kind = "folder" if path.is_dir() else "file"
            raise FileExistsError(f"{path} is a {kind}, where the training writes; move it away, or give another --out")


def protect(run: Run) -> None:
    """Raise ``FileExistsError`` if this training would replace one that it does not go on from, or lose its end."""
    same, done = _goes_on_there(run), max(run.done, _finished(run))
    if run.target.exists():
        steps = storage.described(run.target, run.algorithm)[1].get("timesteps", 0)
        if not same or steps > done:
            raise FileExistsError(f"{run.target} ({steps} steps) exists; train into another folder, or resume from it")
    steps, last = last_checkpoint(run.out, run.algorithm)
    if last is not None and (not same or steps > done):
        raise FileExistsError(
            f"{run.out} holds a training that was broken off after {steps} steps; "
            f"resume with --resume {last}, or choose another --out"
        )


def _goes_on_there(run: Run) -> bool:
    """Return whether a training goes on from a policy or a checkpoint of its own folder."""
    return run.resume is not None and run.out.resolve() in run.resume.resolve().parents


def _finished(run: Run) -> int:
    """Return the steps of the policy to which a training came before, whichever checkpoint is named; 0 if to none.

    It is another training where anything is to be otherwise.
    """
    if not _goes_on_there(run) or not run.target.exists():
        return 0
    about = storage.described(run.target, run.algorithm)[1]
    same = about.get("hyperparameters") == _written(run.hyper) and about.get("settings") == run.settings
    steps = int(about.get("timesteps", 0))
    return steps if same and steps >= run.hyper.n_timesteps else 0


def ended(run: Run) -> int:
    """Return the steps of a training that had come to its end before, else 0.

    Where the policy is not there, it was killed before the last save, and goes on for that.

    Raises
    ------
    ValueError
        If it has more steps than are asked.
    """
    if steps := _finished(run):
        return steps
    total = run.hyper.n_timesteps
    if total > run.done or not run.target.exists():
        return 0
    if total != storage.described(run.target, run.algorithm)[1].get("hyperparameters", {}).get("n_timesteps"):
        raise ValueError(f"timesteps {total}: {run.resume} has {run.done} already; ask for more than that in all")
    return run.done


def last_checkpoint(out: Path, algorithm: str) -> tuple[int, Path | None]:
    """Return the latest checkpoint in a training's folder that can be resumed from, and its steps."""
    there = (out / "checkpoints").glob(f"{algorithm}_*.zip")
    steps = {path: path.stem.removeprefix(f"{algorithm}_") for path in there if path.with_suffix(".json").exists()}
    return max(((int(text), path) for path, text in steps.items() if text.isdecimal()), default=(0, None))


def latest(out: Path, algorithm: str) -> Path | None:
    """Return the policy or checkpoint of a training's folder that has the most steps and can be resumed from."""
    steps, last = last_checkpoint(out, algorithm)
    target = out / f"{algorithm}.zip"
    whole = target.exists() and target.with_suffix(".json").exists()
    return target if whole and storage.described(target)[1].get("timesteps", 0) >= steps else last


def environment(run: Run, settings: Mapping[str, Any], n_envs: int, seed: int) -> "VecEnv":
    """Return a batch of the training's environments, normalised as in it."""
    from stable_baselines3.common.vec_env import VecNormalize

    env = mcts_envs.make_sb3_vec_env(run.env_id, n_envs, seed, **settings)
    if not run.hyper.normalize:
        return env
    normalized = VecNormalize(env, **{"gamma": run.hyper.model.get("gamma", 0.99), **run.hyper.normalize})
    if statistics := run.about.get("normalization"):
        normalizing.restore_normalization(normalized, statistics)
    return normalized


def made(run: Run, env: "VecEnv", log: str | None, device: str | None = None) -> "BaseAlgorithm":
    """Return the model of a training, new or read from the policy to go on from."""
    arguments = resolved(run.hyper.model)
    planes = len(env.observation_space.shape or ()) == 3
    if planes:
        from agents.learning.networks import PlanesExtractor

        arguments["policy_kwargs"] = {"features_extractor_class": PlanesExtractor, **arguments.get("policy_kwargs", {})}
    more: dict[str, Any] = {"seed": run.seed + run.done, "tensorboard_log": log}
    device = _device(device or ("auto" if planes else "cpu"))
    if run.resume is None:
        try:
            return algorithm_class(run.algorithm)(env=env, device=device, **more, **arguments)
        except (AssertionError, AttributeError, MemoryError, RuntimeError, TypeError) as error:
            raise ValueError(f"{run.algorithm} cannot train with these hyper-parameters: {error}") from error
    check_board(run.resume, run.about, env.get_attr("game", 0)[0])
    _check_fixed(run.resume, run.about, run)
    del arguments["policy"]
    model = read_model(run.resume, run.algorithm, env=env, device=device, **more, **arguments)
    storage.check_sidecar(run.resume, run.about, model)
    return model


def _device(name: str) -> str:
    """Return a device of PyTorch if it can be had; raise ``ValueError`` if not."""
    import torch

    try:
        torch.empty(0, device="cpu" if name == "auto" else name).cpu()
    except (RuntimeError, AssertionError, TypeError) as error:
        why = str(error).partition("\n")[0]
        raise ValueError(f"device {name!r} cannot be had here ({why}); give cpu or auto, or leave it out") from error
    return name


def begin(run: Run, model: "BaseAlgorithm") -> None:
    """Give a new model the weights of the policy to start with, and the statistics of its ``VecNormalize``.

    Raises
    ------
    ValueError
        If that policy is of another game, board, observation or network, or what it saw and learned from was normalised
        otherwise.
    """
    from stable_baselines3.common.vec_env import VecNormalize

    env = model.get_env()
    if run.start is None or env is None:
        return
    check_board(run.start, run.begun, env.get_attr("game", 0)[0])
    _check_fixed(run.start, run.begun, run)
    found = read_model(run.start, run.algorithm)
    storage.check_sidecar(run.start, run.begun, found)
    model.policy.load_state_dict(found.policy.state_dict())
    if isinstance(env, VecNormalize) and run.begun.get("normalization"):
        normalizing.restore_normalization(env, run.begun["normalization"])


def _check_fixed(path: Path, about: Mapping[str, Any], run: Run) -> None:
    """Raise ``ValueError`` if the weights of a policy mean nothing in a training."""
    ours = _fixed(run.settings, {**run.hyper.model, "normalize": run.hyper.normalize})
    for name, was in _fixed(about.get("settings", {}), about["hyperparameters"]).items():
        if was != ours[name]:
            raise ValueError(f"{path} was trained with {name} {was}, and this training has {ours[name]}; give the same")


def _fixed(settings: Mapping[str, Any], hyper: Mapping[str, Any]) -> dict[str, Any]:
    """Return of the settings and hyper-parameters of a training what its weights mean nothing without."""
    normalize = hyper.get("normalize")
    return {
        "observation": settings.get("observation", "flat"),
        "policy": hyper.get("policy"),
        "policy_kwargs": json.dumps(named(hyper.get("policy_kwargs") or {}), sort_keys=True),
        "normalize": {name: bool(normalize and normalize.get(name, True)) for name in ("norm_obs", "norm_reward")},
    }


def _started(run: Run) -> dict[str, Any] | None:
    """Return what the sidecar says of the policy that the training began with."""
    if run.start is None:
        return run.about.get("start")
    return {key: run.begun.get(key) for key in ("environment", "algorithm", "settings", "timesteps", "seed")}


def save(run: Run, model: "BaseAlgorithm", path: Path, past: "SelfPlay | None" = None, **more: Any) -> Path:
    """Write the model of a training with its sidecar, which says ``more`` too, and the past selves; return its path."""
    selves = {} if past is None else past.files(path, model)
    return storage.save(model, path, {**described(run, model), **more}, selves)


def described(run: Run, model: "BaseAlgorithm") -> dict[str, Any]:
    """Return the sidecar of the model of a training."""
    from stable_baselines3.common.vec_env import VecNormalize

    env = model.get_env()
    assert env is not None
    observations: Any = env.observation_space
    actions: Any = env.action_space
    game = env.get_attr("game", 0)[0]
    return {
        "algorithm": run.algorithm,
        "environment": run.env_id,
        "settings": run.settings,
        "game": game.name,
        "observation_space": {"shape": list(observations.shape), "dtype": str(observations.dtype)},
        "action_space": {"n": int(actions.n)},
        "layout": layout(game),
        "timesteps": int(model.num_timesteps),
        "seed": run.seed,
        **given(start=_started(run)),
        "hyperparameters": _written(run.hyper),
        "normalization": normalizing.normalization(env) if isinstance(env, VecNormalize) else None,
        "versions": {
            "mcts_envs": mcts_envs.__version__,
            **{name: importlib.metadata.version(name) for name in _LIBRARIES},
        },
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _written(hyper: Hyperparameters) -> dict[str, Any]:
    """Return hyper-parameters as a sidecar has them."""
    return {
        **hyper.model,
        "n_envs": hyper.n_envs,
        "n_timesteps": hyper.n_timesteps,
        "normalize": hyper.normalize or False,
        **given(self_play=hyper.self_play or None, imitate=hyper.imitate or None),
    }


def given(**values: Any) -> dict[str, Any]:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}
