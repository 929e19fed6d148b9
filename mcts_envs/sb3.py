"""The batched API as a Stable-Baselines3 ``VecEnv``."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from mcts_envs.core import errors
from mcts_envs.core.api.by_index import Games
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.mixed import MixedVectorEnv, mixed, mixes
from mcts_envs.core.api.mixture import Mixture, Players
from mcts_envs.core.api.starts import Starts
from mcts_envs.core.api.vector import GameVectorEnv, Played, vectorized
from mcts_envs.core.rng import MAX_SEED
from mcts_envs.core.view import View

try:
    from stable_baselines3.common.preprocessing import is_image_space
    from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecTransposeImage
except ImportError as error:
    raise ImportError('Stable-Baselines3 is not installed; get it with: pip install "mcts-envs[rl]"') from error

_SHARED = ("game", "seat", "render_mode", "metadata", "spec", "settings", "action_name", "action_meanings")
_OF_A_VIEW = ("action_masks", "legal_actions", "observe")
_OF_A_GAME = ("position", "clone_state", "restore_state", "view")


class GameVecEnv(VecEnv):
    """N copies of one environment, stepped by one compiled call, for Stable-Baselines3 and sb3-contrib.

    Same seeds, same results as ``DummyVecEnv`` over single environments. ``get_attr`` and ``env_method`` know
    ``action_masks``, ``legal_actions``, ``position``, ``observe`` (in float32), ``view`` and ``render`` of each game,
    and what the games share (``game``, ``seat``, ``render_mode``, the two spaces).
    ``env_method("clone_state", indices=i)`` and ``env_method("restore_state", snapshot, indices=i)`` save and restore a
    game; the snapshots are those of the single environment.

    Parameters
    ----------
    env_class : type
        The Gymnasium environment.
    n_envs : int
        N.
    **settings
        See :class:`mcts_envs.core.api.env.GameEnv` and the environment's own page; opponents are ``"random"`` or
        scripted players here, and :class:`MixedVecEnv` has all others.

    Raises
    ------
    ValueError, TypeError
        If a setting is unknown or out of its bounds.
    """

    def __init__(self, env_class: type[GameEnv], n_envs: int = 1, **settings: Any) -> None:
        self._batch = batch = self._batched(env_class, n_envs, settings)
        n_envs = batch.num_envs  # an int: seeds are more than NumPy's integers hold
        self._attributes: list[dict[str, Any]] = [{} for _ in range(n_envs)]
        self._actions: npt.NDArray[Any] = np.zeros(n_envs, np.int64)
        self.game, self.settings = batch.game, batch.settings
        super().__init__(n_envs, batch.single_observation_space, batch.single_action_space)

    @staticmethod
    def _batched(env_class: type[GameEnv], n_envs: int, settings: Mapping[str, Any]) -> GameVectorEnv:
        return vectorized(env_class)(n_envs, autoreset_mode=AutoresetMode.SAME_STEP, **settings)

    @classmethod
    def monitored(cls, env_class: type[GameEnv], n_envs: int, seed: int | None, settings: Mapping[str, Any]) -> VecEnv:
        """Return the batch in a ``VecMonitor``, seeded for its first reset.

        The monitor's ``info["episode"]`` also has ``outcome`` and ``is_success``. Planes in bytes are a picture to
        Stable-Baselines3, which is told that they come first: by itself it takes the smallest axis for them, and would
        turn a board of 3 x 3.
        """
        env = (MixedVecEnv if mixes(settings) else cls)(env_class, n_envs, **settings)
        if seed is not None:
            env.seed(seed)
        monitor = _Monitor(env)
        return VecTransposeImage(monitor, skip=True) if is_image_space(env.observation_space) else monitor

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Take note of the seeds for the next reset: ``seed``, ``seed + 1``, ...; None draws the first.

        Raises
        ------
        TypeError, ValueError
            If it is not an integer in range or None.
        """
        if seed is not None:
            seed = errors.integer("seed", seed, 0, MAX_SEED - self.num_envs + 1)  # seeds of np.uint8 would go round
        return super().seed(seed)

    def reset(self) -> npt.NDArray[Any]:
        """Start all games, each with its own options, and return their observations [N, ...]."""
        observations, infos = self._batch.reset_each(self._seeds, self._options)
        self.reset_infos = [{"action_mask": mask} for mask in infos["action_mask"]]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Take note of the actions [N]."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the actions; games that end start anew at once.

        Returns
        -------
        observations : array [N, ...]
        rewards : float32 array [N]
        dones : bool array [N]
        infos : list of dict
            ``action_mask`` (of the last state, like the rest) and ``TimeLimit.truncated``; ``illegal_action`` if so; at
            the end ``terminal_observation``, ``outcome`` and ``is_success``.
        """
        played = self._batch.play(self._actions)
        infos: list[dict[str, Any]] = [
            {"action_mask": mask, "TimeLimit.truncated": False} for mask in played.masks.copy()
        ]
        for i in np.flatnonzero(played.illegal).tolist():
            infos[i]["illegal_action"] = True
        dones = played.terminated | played.truncated
        ended = np.flatnonzero(dones)
        if len(ended):
            self._note_ends(infos, played, ended)
        return played.observations, played.rewards.astype(np.float32), dones, infos

    def _note_ends(self, infos: list[dict[str, Any]], played: Played, ended: npt.NDArray[np.int64]) -> None:
        """Complete the infos of games that have ended, and keep what is legal at their new start."""
        rows = zip(
            ended.tolist(),
            played.final_masks[ended],
            played.truncated[ended].tolist(),
            played.points[ended].tolist(),
            played.final_observations[ended],
            strict=True,
        )
        for i, mask, cut, points, observation in rows:
            info = infos[i]
            self.reset_infos[i] = {"action_mask": info["action_mask"]}
            info["action_mask"], info["TimeLimit.truncated"] = mask, cut
            info["outcome"], info["is_success"] = points, points == 1.0
            info["terminal_observation"] = observation

    def advice(self, players: Players, seeds: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Return what players would do in each game [N]; see :meth:`mcts_envs.core.api.vector.GameVectorEnv.advice`."""
        return self._batch.advice(players, seeds)

    def clone_games(self) -> Games:
        """Return all games as they are now; see :meth:`mcts_envs.core.api.by_index.ByIndex.clone_games`."""
        return self._batch.clone_games()

    def restore_games(self, games: Games) -> None:
        """Bring all games back, so that the next step goes on with them; raises like the batch's own."""
        self._batch.restore_games(games)
        self.reset_infos = [{"action_mask": mask} for mask in games.arrays["_masks"]]
        self._reset_seeds()
        self._reset_options()

    def view(self, index: int = 0) -> View:
        """Return the live state of one game: what planners take."""
        return self._batch.view(index)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of each game.

        Raises
        ------
        AttributeError
            If games have none of this name.
        """
        return [self._attribute(i, attr_name) for i in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Note an attribute for each game, where ``get_attr`` finds it.

        Raises
        ------
        AttributeError
            If it is one of the game's own, which are fixed when the batch is made.
        """
        for i in self._get_indices(indices):
            if attr_name not in self._attributes[i] and self.has_attr(attr_name):
                raise AttributeError(f"{attr_name!r} is fixed; give settings to make_sb3_vec_env(id, n_envs, ...)")
            self._attributes[i][attr_name] = value

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method of each game; raises like :meth:`get_attr`."""
        if method_name == "action_masks":
            masks = self._masks()
            return [masks[i] for i in self._get_indices(indices)]
        return [method(*method_args, **method_kwargs) for method in self.get_attr(method_name, indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each game: there are no wrappers inside a batch."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """Return the picture of each game, uint8 [H, W, 3]; None in other render modes than ``rgb_array``."""
        if self.render_mode != "rgb_array":
            return [None] * self.num_envs
        return list(self._batch.render() or ())

    def close(self) -> None:
        """Close the batch."""
        self._batch.close()

    def _masks(self) -> npt.NDArray[np.bool_]:
        return self._batch.action_masks()

    def _attribute(self, i: int, name: str) -> Any:
        if name in self._attributes[i]:
            return self._attributes[i][name]
        if name in _OF_A_VIEW:  # asked for before the first reset too, to see whether there are masks
            return lambda: getattr(self.view(i), name)()
        if name == "over":
            return self.view(i).over
        if name in _OF_A_GAME:
            return partial(getattr(self._batch, name), i)
        if name == "render":
            return lambda: (self._batch.render() or [None] * self.num_envs)[i]
        if name in ("observation_space", "action_space"):
            return getattr(self._batch, f"single_{name}")
        if name in _SHARED:
            return getattr(self._batch, name, None)
        known = ", ".join((*_OF_A_VIEW, "over", *_OF_A_GAME, "render", *_SHARED))
        raise AttributeError(f"a game of the batch has no attribute {name!r}; it has {known}")


class MixedVecEnv(GameVecEnv):
    """The same with a mixture of opponents, one seat or all in turn (:class:`mcts_envs.core.api.mixed.MixedVectorEnv`).

    The same seed gives the same games, which are others than those of single environments: an opponent's choice at each
    move is drawn from a seed for that game and move. At the end of a game its info also has ``seat`` and ``opponents``,
    the names of those who played the other seats. Single games cannot be saved, only all of them (:meth:`clone_games`).
    """

    _batch: MixedVectorEnv

    @staticmethod
    def _batched(env_class: type[GameEnv], n_envs: int, settings: Mapping[str, Any]) -> GameVectorEnv:
        return mixed(env_class)(n_envs, **settings)

    @property
    def opponents(self) -> Mixture:
        """The opponents, whose weights may be changed between games."""
        return self._batch.opponents

    @property
    def starts(self) -> Starts | None:
        """The positions where games start, whose weights may be changed too."""
        return self._batch.starts

    def _note_ends(self, infos: list[dict[str, Any]], played: Played, ended: npt.NDArray[np.int64]) -> None:
        super()._note_ends(infos, played, ended)
        for i in ended.tolist():
            infos[i].update(self._batch.company(i))

    def _attribute(self, i: int, name: str) -> Any:
        return int(self._batch.seats[i]) if name == "seat" else super()._attribute(i, name)


class _Monitor(VecMonitor):
    """A ``VecMonitor`` that also notes the outcome, and works on games that have ended alone."""

    def step_wait(
        self,
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Step the batch and add ``episode`` to the infos of games that have ended."""
        observations, rewards, dones, infos = self.venv.step_wait()
        self.episode_returns += rewards
        self.episode_lengths += 1
        ended = np.flatnonzero(dones)
        if len(ended):
            seconds = round(time.time() - self.t_start, 6)
            for i, total, length in zip(
                ended.tolist(), self.episode_returns[ended], self.episode_lengths[ended], strict=True
            ):
                info = infos[i]
                noted = {"outcome": info["outcome"], "is_success": info["is_success"]}
                info["episode"] = {"r": total, "l": length, "t": seconds, **noted}
            self.episode_count += len(ended)
            self.episode_returns[ended] = self.episode_lengths[ended] = 0
        return observations, rewards, dones, infos
