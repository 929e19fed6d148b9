"""What a training needs besides its policy, to come to the end to which it would have come without a break.

``NAME.resume.npz`` beside the policy ``NAME.zip``: the games under way, what a recurrent policy remembers of them,
where chance is, and the replay buffer of those who learn from one. A training is whole between its rollouts, and at the
end of ``learn``.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecFrameStack, VecMonitor, VecNormalize, VecTransposeImage
from stable_baselines3.common.vec_env.base_vec_env import VecEnvWrapper

from agents.learning.beside import beside, reading, write
from mcts_envs.core.api.by_index import Games

if TYPE_CHECKING:
    import torch
    from stable_baselines3.common.base_class import BaseAlgorithm

SUFFIX = ".resume.npz"

_SEEN = ("_last_obs", "_last_original_obs", "_last_episode_starts")
"""What a model saw last."""

_BUFFERS = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")
"""Of a replay buffer, each [buffer_size, n_envs, ...]."""

_WRAPPERS: dict[type[VecEnvWrapper], Callable[[Any], dict[str, npt.NDArray[Any]]]] = {
    VecNormalize: lambda env: {"returns": env.returns},
    VecMonitor: lambda env: {"returns": env.episode_returns, "lengths": env.episode_lengths},
    VecFrameStack: lambda env: {"frames": env.stacked_obs.stacked_obs},
    VecTransposeImage: lambda env: {},
}
"""The arrays in which wrappers remember the games under way; those of ``VecNormalize`` over all games are elsewhere."""


class GoOn(BaseCallback):
    """Let chance go on where it was, when the first rollout begins.

    Parameters
    ----------
    chance : mapping, optional
        None: it goes on from wherever it is.

    Attributes
    ----------
    found : bool
        Whether there are games to go on with.
    """

    def __init__(self, chance: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._chance = chance
        self.found = chance is not None

    def _on_rollout_start(self) -> None:
        if self._chance is not None:
            _set_chance(self.model, self._chance)
            self._chance = None

    def _on_step(self) -> bool:
        return True


def save(path: Path | str, model: "BaseAlgorithm") -> None:
    """Write what a model goes on with beside its policy ``path``; call it between rollouts, or after ``learn``.

    Raises
    ------
    ValueError
        If its environment is none of :func:`mcts_envs.make_sb3_vec_env`, or in a wrapper of which it is not known what
        it remembers.
    """
    base, wrappers = _layers(model)
    games = base.clone_games()
    arrays: dict[str, Any] = {f"games:{name}": value for name, value in games.arrays.items()}
    for name, value in _remembered(wrappers):
        arrays[f"wrapper:{name}"] = value
    for name in _SEEN:
        if (seen := getattr(model, name, None)) is not None:
            arrays[f"seen:{name}"] = seen
    arrays |= {f"memory:{i}": part.numpy(force=True) for i, part in enumerate(_memory(model))}
    buffer: Any = getattr(model, "replay_buffer", None)
    if buffer is not None:
        arrays |= {f"buffer:{name}": value[: buffer.size()] for name, value in _replayed(buffer).items()}
    about = {
        "timesteps": int(model.num_timesteps),
        "game": games.game,
        "seal": games.seal,
        "chance": _chance(model),
        "buffer": None if buffer is None else [buffer.pos, buffer.full],
    }
    write(beside(path, SUFFIX), about, arrays)


def load(path: Path | str, model: "BaseAlgorithm") -> GoOn:
    """Bring back what :func:`save` wrote beside a policy, into a model that was read from it.

    Nothing is changed, and ``learn`` begins with new games, if nothing lies there, or what lies there is of another
    number of steps.

    Returns
    -------
    GoOn
        The callback with which ``learn(..., reset_num_timesteps=False)`` goes on.

    Raises
    ------
    ValueError
        If it is damaged, or of an environment that was made otherwise, or the model has none.
    """
    file = beside(path, SUFFIX)
    if not file.is_file():
        return GoOn()
    layers = _layers(model)  # what is wrong with these is no damage
    with reading(file, "another environment", "remove it to go on with new games") as (about, arrays):
        if about["timesteps"] != model.num_timesteps:
            return GoOn()
        _restore(model, *layers, about, arrays)  # an array at a time: a replay buffer is large
        return GoOn(about["chance"])


def _layers(model: "BaseAlgorithm") -> tuple[Any, list[Any]]:
    """Return the batch itself, and the wrappers around it, the outermost first."""
    env, wrappers = model.get_env(), list[Any]()
    if env is None:
        kind = type(model).__name__
        raise ValueError(f"this {kind} has no environment; give it one, as in {kind}.load(path, env=env)")
    while isinstance(env, VecEnvWrapper):
        wrappers.append(env)
        env = env.venv
    if not hasattr(env, "clone_games"):
        raise ValueError(
            f"the games of a {type(env).__name__} cannot be saved all at once; make the environment with "
            "mcts_envs.make_sb3_vec_env"
        )
    for wrapper in wrappers:
        if not isinstance(wrapper, tuple(_WRAPPERS)):
            known = ", ".join(kind.__name__ for kind in _WRAPPERS)
            raise ValueError(f"what a {type(wrapper).__name__} remembers is not known; known: {known}")
    return env, wrappers


def _remembered(wrappers: list[Any]) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield the arrays of wrappers, each with a name of its own."""
    for i, wrapper in enumerate(wrappers):
        arrays = next(of for kind, of in _WRAPPERS.items() if isinstance(wrapper, kind))(wrapper)
        for name, value in arrays.items():
            yield f"{i}:{name}", value


def _memory(model: "BaseAlgorithm") -> list["torch.Tensor"]:
    """Return what a recurrent policy remembers of the games under way."""
    states = getattr(model, "_last_lstm_states", None)
    return [part for of in states or () for part in of]


def _replayed(buffer: Any) -> dict[str, npt.NDArray[Any]]:
    return {name: getattr(buffer, name) for name in _BUFFERS if hasattr(buffer, name)}


def _restore(
    model: "BaseAlgorithm",
    base: Any,
    wrappers: list[Any],
    about: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
) -> None:
    buffer: Any = getattr(model, "replay_buffer", None)
    names = {f"wrapper:{name}" for name, _ in _remembered(wrappers)}
    names |= {f"buffer:{name}" for name in (_replayed(buffer) if buffer is not None else ())}
    there = {name for name in arrays if name.startswith(("wrapper:", "buffer:"))}
    if names != there:
        raise ValueError(f"it has {', '.join(sorted(there))}, where {', '.join(sorted(names))} are wanted")
    live = {name.partition(":")[2]: arrays[name] for name in arrays if name.startswith("games:")}
    base.restore_games(Games(about["game"], live, about["seal"]))
    for name, value in _remembered(wrappers):
        value[...] = arrays[f"wrapper:{name}"]
    for name in _SEEN:
        if f"seen:{name}" in arrays:
            setattr(model, name, arrays[f"seen:{name}"])
    for i, part in enumerate(_memory(model)):
        part.copy_(part.new_tensor(arrays[f"memory:{i}"]))
    if buffer is not None:
        buffer.pos, buffer.full = about["buffer"]
        for name, value in _replayed(buffer).items():
            value[: buffer.size()] = arrays[f"buffer:{name}"]


def _chance(model: "BaseAlgorithm") -> dict[str, Any]:
    """Return where the generators are from which a training draws, JSON-able."""
    import torch

    version, words, spare = random.getstate()
    name, keys, *rest = np.random.get_state()  # noqa: NPY002 - Stable-Baselines3 draws from it
    return {
        "python": [version, [*words], spare],
        "numpy": [name, np.asarray(keys).tolist(), *rest],
        "torch": torch.get_rng_state().tolist(),
        "actions": model.action_space.np_random.bit_generator.state,
    }


def _set_chance(model: "BaseAlgorithm", chance: Mapping[str, Any]) -> None:
    import torch

    version, words, spare = chance["python"]
    random.setstate((version, tuple(words), spare))
    np.random.set_state(tuple(chance["numpy"]))  # noqa: NPY002
    torch.set_rng_state(torch.tensor(chance["torch"], dtype=torch.uint8))
    model.action_space.np_random.bit_generator.state = chance["actions"]
