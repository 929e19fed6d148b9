"""The one batched API of all games: N games stepped by one compiled call."""

import copy
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from mcts_envs.core import errors
from mcts_envs.core.api import infos
from mcts_envs.core.api.adapter import (
    ActionNames,
    Configured,
    check_illegal,
    check_render_mode,
    configured,
    observation_space,
    seeds_of,
    some,
)
from mcts_envs.core.api.batch import DISABLED, NEXT_STEP, SAME_STEP, find_illegal, step_all
from mcts_envs.core.api.by_index import ByIndex
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.live import SeatedGame, begin
from mcts_envs.core.api.mixture import Players
from mcts_envs.core.api.opponents import resolve_opponents
from mcts_envs.core.api.parts import Part, for_each, parts_of
from mcts_envs.core.api.pool import Pool
from mcts_envs.core.api.quantized import check_dtype, quantize, step_all_quantized
from mcts_envs.core.api.turn import NO_ACTION, fill_mask_and_observation, play_turn
from mcts_envs.core.contract import RUNNING, TERMINATED, TRUNCATED
from mcts_envs.core.place import start_state
from mcts_envs.core.rng import CHANCE_BYTES, draw, seed_stream
from mcts_envs.core.showing import rendered
from mcts_envs.core.typing import Bytes, Floats, Ints, Masks, Singles
from mcts_envs.core.view import Episode

_MODES = {
    AutoresetMode.NEXT_STEP: NEXT_STEP,
    AutoresetMode.SAME_STEP: SAME_STEP,
    AutoresetMode.DISABLED: DISABLED,
}


class Played(NamedTuple):
    """One step of N games.

    Attributes
    ----------
    observations [N, ...], rewards [N], terminated [N], truncated [N], illegal [N]
        Fresh arrays.
    masks [N, A], points [N], final_masks [N, A], final_observations [N, ...]
        The batch's own, which the next step changes: what is legal now; of games that ended, the seat's points and, in
        same-step mode, what it saw at the end.
    """

    observations: Singles | Bytes
    rewards: Floats
    terminated: infos.Flags
    truncated: infos.Flags
    illegal: infos.Flags
    masks: Masks
    points: Floats
    final_masks: Masks
    final_observations: Singles | Bytes


class GameVectorEnv(ByIndex, Configured, ActionNames, VectorEnv[Singles | Bytes, Ints, npt.NDArray[Any]]):
    """N copies of one environment, with Gymnasium's vector interface and the same results as ``SyncVectorEnv``.

    Parameters
    ----------
    num_envs : int
        N.
    autoreset_mode : AutoresetMode or str
        ``"NextStep"`` (default), ``"SameStep"`` or ``"Disabled"`` (then reset ended games with
        ``reset(options={"reset_mask": bool array [N]})``). It is an argument like any other:
        ``gymnasium.make_vec(id, num_envs=N, autoreset_mode="SameStep")``, not one of ``vector_kwargs``.
    seat, opponent, illegal, observation, observation_dtype, render_mode, **settings
        As for :class:`~mcts_envs.core.api.env.GameEnv`; opponents are ``"random"`` or the scripted players of one
        name here.
    threads : int
        Among which the games are shared out in a step; what comes of it is the same.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}  # noqa: RUF012
    env_class: ClassVar[type[GameEnv]] = GameEnv

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        seat: int = 0,
        opponent: Any = None,
        illegal: str = "accept",
        observation: str = "flat",
        observation_dtype: str = "float32",
        render_mode: str | None = None,
        threads: int = 1,
        **settings: Any,
    ) -> None:
        settings = copy.deepcopy(settings)  # the caller may change its own later
        self.game = game = configured(type(self).env_class.make_game, settings, observation)
        self.num_envs = n = errors.integer("num_envs", num_envs, 1, 2**20)
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.seat = errors.integer("seat", seat, 0, game.players - 1)
        in_bytes = check_dtype(game, observation_dtype)
        self._strict = check_illegal(illegal)
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._seats, self._model, external = resolve_opponents(game, self.seat, opponent)
        if external:
            raise ValueError(
                f"opponent {opponent!r} cannot play in a batch, which is compiled: use 'random', 'scripted' "
                "or one name of a scripted player for all, gymnasium.make_vec(id, vectorization_mode='sync'), or "
                "mcts_envs.make_sb3_vec_env"
            )
        opponent = [*opponent] if isinstance(opponent, (list, tuple)) else opponent
        self._arguments = {"seat": seat, "opponent": opponent, "illegal": illegal, "observation": observation}
        self._arguments |= {"observation_dtype": observation_dtype, "threads": threads, **settings}
        self.single_observation_space = observation_space(game, in_bytes)
        self.single_action_space = gymnasium.spaces.Discrete(game.actions)
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)

        self.seats: Ints = np.full(n, self.seat)
        self._size = int(np.prod(game.observation_shape))
        self._pool = Pool((n, self._size), observation_dtype)
        self._step: Any = step_all_quantized if in_bytes else step_all
        self._template = game.new_state()
        self._states = np.tile(game.template, (n, 1))
        self._streams = np.zeros((n, CHANCE_BYTES), np.uint8)
        self._live = SeatedGame(game, self.seat)
        self._status = np.zeros(n, np.int64)
        self._pending, self._last = np.zeros(n), np.zeros((n, game.players))
        self._masks: Masks = np.zeros((n, game.actions), np.int8)
        self._final_observations = np.zeros((n, self._size), observation_dtype)
        self._final_masks: Masks = np.zeros((n, game.actions), np.int8)
        self._points = np.zeros((n, game.players))
        own: list[Any] = [self._states, self._streams, self._status, self._pending, self._last, self._masks]
        own += [self._final_observations, self._final_masks, self._points]
        self._parts = parts_of(game, errors.integer("threads", threads, 1, 1024), own, in_bytes)
        self._legal = self._parts[0].legal
        self._episodes: dict[int, Episode] = {}  # of the games that were looked at since they began
        self._restored_ends: dict[int, float] = {}

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Singles | Bytes, dict[str, Any]]:
        """Start all games, or those of a mask.

        Parameters
        ----------
        seed : int or list of (int or None), optional
            One seed for each game; an int ``s`` stands for ``s, s + 1, ...``. None: the running stream goes on.
        options : dict, optional
            ``position``: a position for the games that start; ``reset_mask``: bool array [N].

        Returns
        -------
        observations : array [N, ...]
        infos : dict
            ``action_mask``, int8 [N, A]; zeros for games that did not start.
        """
        errors.keys("option", options or {}, (), ("position", "reset_mask"))
        options = dict(options or {})
        chosen = self._reset_mask(options.pop("reset_mask", None))
        return self._restart(seeds_of(seed, self.num_envs), chosen, [start_state(self.game, options)] * self.num_envs)

    def reset_each(
        self, seed: int | Sequence[int | None] | None, options: Sequence[Mapping[str, Any]]
    ) -> tuple[Singles | Bytes, dict[str, Any]]:
        """Start all games, each with options of its own, like N single environments.

        Parameters
        ----------
        seed : int or list of (int or None), optional
            As for :meth:`reset`.
        options : list of dict
            For each game ``{}`` or ``{"position": dict}``.

        Returns
        -------
        observations, infos
            As from :meth:`reset`.

        Raises
        ------
        ValueError, TypeError
            Like :meth:`reset`. Nothing is changed then.
        """
        if len(options) != self.num_envs:
            raise ValueError(f"{len(options)} options for {self.num_envs} games; give one dictionary for each game")
        starts = [start_state(self.game, each or {}) for each in options]
        return self._restart(seeds_of(seed, self.num_envs), self._reset_mask(None), starts)

    def step(
        self, actions: Any
    ) -> tuple[Singles | Bytes, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Play one action [N] in each game.

        Returns
        -------
        observations : array [N, ...]
        rewards : float64 array [N]
        terminations, truncations : bool arrays [N]
        infos : dict
            ``action_mask``; ``illegal_action``, ``outcome``, ``is_success`` where there are any; in same-step mode the
            latter in ``final_info``, beside ``final_obs``. Each key has a companion ``_key``, bool [N].

        Raises
        ------
        TypeError, ValueError
            If the actions are not N integers in range, or one is illegal in strict mode. Nothing is changed then.
        gymnasium.error.ResetNeeded
            Before the first reset; in disabled mode also when a game has ended.
        """
        played = self.play(actions)
        ended = played.terminated | played.truncated
        result = infos.add({}, "action_mask", self._masks.copy(), np.ones(self.num_envs, np.bool_))
        events: infos.Infos = {}
        if played.illegal.any():
            infos.add(events, "illegal_action", played.illegal, played.illegal.copy())
        if ended.any():
            infos.add_ends(events, played.points, ended)
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                infos.add_finals(result, events, ended, played.final_masks, played.final_observations)
                events = {}
        return played.observations, played.rewards, played.terminated, played.truncated, result | events

    def play(self, actions: Any) -> Played:
        """Play one action [N] in each game, like :meth:`step`, and leave it to the caller to make infos of it."""
        chosen, illegal = self._checked(actions)
        n, shape = self.num_envs, self.game.observation_shape
        observations, rewards = self._pool.take(), np.empty(n)
        for_each(self._parts, lambda part: self._step_part(part, chosen, rewards, observations))
        if self._restored_ends:
            self._report_restored()
        terminated, truncated = self._status == TERMINATED, self._status == TRUNCATED
        if self._episodes:
            self._episodes = {i: episode for i, episode in self._episodes.items() if self._status[i] == RUNNING}
        return Played(
            observations.reshape(n, *shape),
            rewards,
            terminated,
            truncated,
            illegal,
            self._masks,
            self._points[:, self.seat],
            self._final_masks,
            self._final_observations.reshape(n, *shape),
        )

    def _step_part(self, part: Part, chosen: Ints, rewards: Floats, observations: Singles | Bytes) -> None:
        """Step some of the games, and fill in what comes of it."""
        rows = part.rows
        states, streams, status, pending, last, masks, *ends = part.games
        self._step(
            self.game.bare.table,
            self._model.table,
            self._template,
            self._seats,
            states,
            streams,
            self.seat,
            _MODES[self.autoreset_mode],
            chosen[rows],
            status,
            part.actions,
            pending,
            last,
            part.legal,
            part.weights,
            rewards[rows],
            observations[rows],
            masks,
            *ends,
            *part.seen,
        )

    def advice(self, players: Players, seeds: npt.NDArray[np.uint64]) -> Ints:
        """Return what players would do in each game [N] in place of its seat, whose chance starts from seeds [N].

        It is 0 where the seat has nothing to choose: the game was over before its first turn.
        """
        self._live.check_started("advice()")
        found, asked = np.zeros(self.num_envs, np.int64), self._masks.any(1)
        found[asked] = players.act_all(self.game, self._states[asked], self.seats[asked], seeds[asked])
        return found

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are legal, as booleans [N, A]."""
        self._live.check_started("action_masks()")
        return self._masks.astype(np.bool_)

    def render(self) -> tuple[Any, ...] | None:
        """Return a picture or a text for each game, by ``render_mode``.

        Raises
        ------
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        mode = self.render_mode
        if not self._live.can_render(mode, "gym.make_vec(id, render_mode='rgb_array')"):
            return None
        seats = self.seats.tolist()
        return tuple(rendered(self.game, s, mode, seat=seat) for s, seat in zip(self._states, seats, strict=True))

    def _reset_mask(self, given: Any) -> npt.NDArray[np.bool_]:
        if given is None:
            return np.ones(self.num_envs, np.bool_)
        mask = np.asarray(given)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(f"reset_mask {given!r} is not a bool array [{self.num_envs}] with at least one True")
        if not self._live.started and not mask.all():
            raise gymnasium.error.ResetNeeded("the first reset must start all games; leave reset_mask out")
        return mask

    def _restart(
        self, seeds: list[int | None], chosen: npt.NDArray[np.bool_], starts: Sequence[Bytes | None]
    ) -> tuple[Singles | Bytes, dict[str, Any]]:
        """Start the chosen games, with seeds and first states that were checked."""
        super().reset(seed=next((seed for seed in seeds if seed is not None), None))
        observations = np.empty((self.num_envs, self._size), self._final_observations.dtype)
        seen = self._parts[0].seen
        for i in range(self.num_envs):
            if chosen[i]:
                self._start(i, seeds[i], starts[i])
            row = seen[0][0] if seen else observations[i]
            fill_mask_and_observation(
                self.game.bare.table, self._states[i], self.seat, self._legal, self._masks[i], row
            )
            if seen:
                quantize(row, observations[i])
        self._status[chosen] = 0
        self._live.started = True
        masks = np.where(chosen[:, None], self._masks, np.int8(0))
        shaped = observations.reshape(self.num_envs, *self.game.observation_shape)
        return shaped, infos.add({}, "action_mask", masks, chosen)

    def _start(self, i: int, seed: int | None, start: Bytes | None) -> None:
        """Reset one game exactly as the single environment does."""
        state, stream = self._states[i], self._streams[i]
        if seed is None:
            seed = int(draw(state)) if self._live.started else int(self.np_random.integers(2**63))
        seed_stream(stream, begin(self.game, state, seed, start))
        self._episodes.pop(i, None)
        self._restored_ends.pop(i, None)
        self._last[i] = 0.0
        part = self._parts[0]
        work = part.actions, self._last[i], part.legal, part.weights
        tables = self.game.bare.table, self._model.table
        self._pending[i] = play_turn(*tables, self._seats, state, self.seat, NO_ACTION, *work, stream)

    def _checked(self, actions: Any) -> tuple[Ints, npt.NDArray[np.bool_]]:
        self._live.check_started("step()")
        try:
            given = np.asarray(actions)
        except ValueError:
            raise TypeError(f"actions {actions!r} are ragged; give {self.num_envs} integers") from None
        if given.shape != (self.num_envs,) or not np.issubdtype(given.dtype, np.integer):
            raise TypeError(f"actions of shape {given.shape} and type {given.dtype}; give {self.num_envs} integers")
        chosen = given.astype(np.int64)  # what is too large for it comes out negative, and is refused as well
        illegal = np.empty(self.num_envs, np.bool_)
        i = find_illegal(self._masks, chosen, illegal)
        if i < self.num_envs:
            legal = some(np.flatnonzero(self._masks[i]))
            raise ValueError(
                f"action {given[i]} of game {i} is outside Discrete({self.game.actions}); legal now: {legal}"
            )
        if self.autoreset_mode == AutoresetMode.DISABLED and self._status.any():
            i = int(self._status.argmax())
            raise gymnasium.error.ResetNeeded(f"game {i} has ended; call reset(options={{'reset_mask': bool [N]}})")
        if self._strict and illegal.any():
            i = int(illegal.argmax())
            raise ValueError(
                f"action {chosen[i]} of game {i} is illegal; legal now: {some(np.flatnonzero(self._masks[i]))}"
            )
        return chosen, illegal


def _autoreset_mode(given: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(given)
    except ValueError:
        raise ValueError(errors.unknown("autoreset mode", given, [mode.value for mode in AutoresetMode])) from None


@cache
def vectorized(env_class: type[GameEnv]) -> type[GameVectorEnv]:
    """Return the batched class of an environment class; that of any game is there already, so that it pickles."""
    if env_class is GameEnv:
        return GameVectorEnv
    name = f"{env_class.__name__}Vector"
    return type(
        name,
        (GameVectorEnv,),
        {"env_class": env_class, "__module__": env_class.__module__, "__doc__": env_class.__doc__},
    )
