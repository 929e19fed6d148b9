"""The one Gymnasium API of all games: one player's view, with opponents playing inside."""

import copy
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mcts_envs.core import errors
from mcts_envs.core.api.adapter import (
    ActionNames,
    Configured,
    check_illegal,
    check_render_mode,
    checked_action,
    configured,
    observation_space,
    points_at_end,
    some,
)
from mcts_envs.core.api.live import SeatedGame
from mcts_envs.core.api.opponents import resolve_opponents
from mcts_envs.core.api.quantized import check_dtype, quantized
from mcts_envs.core.api.turn import NO_ACTION, fill_mask_and_observation, play_turn, step_alone
from mcts_envs.core.compiling.early import called_on, is_early, tables_at_hand
from mcts_envs.core.contract import TERMINATED, TRUNCATED, Game
from mcts_envs.core.place import start_state
from mcts_envs.core.rng import MAX_SEED, draw, seed_stream
from mcts_envs.core.showing import Pictured, show_wrapped
from mcts_envs.core.snapshot import Snapshot, check_fingerprint
from mcts_envs.core.typing import Bytes, Ints, Singles
from mcts_envs.core.view import View


class GameEnv(Configured, ActionNames, Pictured, gymnasium.Env[Singles | Bytes, np.int64]):
    """Any game as a Gymnasium environment.

    Parameters
    ----------
    seat : int
        Which player this environment is for.
    opponent : str, Player or list of them
        Who plays the other seats: ``"random"`` (default), ``"scripted"`` or another scripted player that the game
        names, ``"agents:NAME"``, ``"sb3:PATH"``, ``"module:Name"`` (a player, or a class that makes one) or a player; a
        list has one for each other seat, in order.
    illegal : {"accept", "raise"}
        What an illegal action does: the effect that the game documents, with ``info["illegal_action"]``, or a
        ``ValueError``. An action out of range or of the wrong type always raises.
    observation : str
        ``"flat"``, or a variant of the game with another ``observe``.
    observation_dtype : {"float32", "uint8"}
        Bytes are for observations in [0, 1]: each number x is ``round(255 x)``, in a quarter of the memory. Networks
        of Stable-Baselines3 divide ``planes`` by 255, like all pictures, and see x again, to within 1 / 510; take
        ``make_sb3_vec_env``, or ``VecTransposeImage(env, skip=True)`` around a batch of your own, since planes come
        first. Flat observations they take as they are, from 0 to 255. Views show float32 all the same.
    render_mode : {None, "ansi", "rgb_array", "human"}
        As in Gymnasium; ``human`` needs ``pygame-ce``.
    **settings
        The settings of the game.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}  # noqa: RUF012
    make_game: ClassVar[Callable[..., Game]] = staticmethod(lambda game: game)
    _live: SeatedGame

    def __init__(
        self,
        *,
        seat: int = 0,
        opponent: Any = None,
        illegal: str = "accept",
        observation: str = "flat",
        observation_dtype: str = "float32",
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        settings = copy.deepcopy(settings)  # the caller may change its own later
        self.game = game = configured(type(self).make_game, settings, observation)
        self.seat = errors.integer("seat", seat, 0, game.players - 1)
        in_bytes = check_dtype(game, observation_dtype)
        self.strict = check_illegal(illegal)
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._seats, self._model, self._external = resolve_opponents(game, self.seat, opponent)
        self.observation_space = observation_space(game, in_bytes)
        self.action_space = spaces.Discrete(game.actions)
        opponent = [*opponent] if isinstance(opponent, (list, tuple)) else opponent
        self._arguments = {"seat": self.seat, "opponent": opponent, "illegal": illegal, "observation": observation}
        self._arguments |= {"observation_dtype": observation_dtype, "render_mode": render_mode, **settings}

        self._live = live = SeatedGame(game, self.seat)
        self._state, self._stream = live.state, live.stream
        self._pending_reward, self._outcome = live.pending_reward, live.outcome
        self._stale = False
        self._status = TERMINATED
        self._actions = np.zeros(game.players, np.int64)
        self._rewards = np.zeros(game.players)
        self._legal = np.zeros(game.actions, np.int64)
        self._weights = np.zeros(game.actions)
        self._mask = np.zeros(game.actions, np.int8)
        self._shape = game.observation_shape
        self._size = int(np.prod(self._shape))
        self._in_bytes = in_bytes
        self._flat = len(self._shape) == 1
        self._alone = game.players == 1
        self._take_kernels()
        show_wrapped()

    def __reduce__(self) -> Any:
        kept = {name: getattr(self, name) for name in ("spec", "action_space", "_np_random", "_np_random_seed")}
        snapshot = self.clone_state() if self._live.started else None
        return _rebuilt, (type(self), self._arguments, self.game.fingerprint, kept, snapshot)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Singles | Bytes, dict[str, Any]]:
        """Start an episode.

        Parameters
        ----------
        seed : int, optional
            From 0 to 2^64 - 1. Without it the running random stream goes on.
        options : dict, optional
            ``{"position": dict}`` starts from that position, in the terms of :meth:`position`.

        Returns
        -------
        observation : array
            Of the type of ``observation_dtype``.
        info : dict
            ``action_mask``, int8 [A].

        Raises
        ------
        ValueError, TypeError
            If an option is unknown, the seed out of range, or a position against the rules. Nothing is changed then.
        """
        start = start_state(self.game, options or {})
        if seed is not None:
            seed = errors.integer("seed", seed, 0, MAX_SEED)
        super().reset(seed=seed)
        if is_early(self._table):
            self._take_kernels()
        with self._live.all_or_nothing() if self._external else nullcontext():
            seed_stream(self._stream, self._live.restart(seed, start, lambda: int(self.np_random.integers(2**63))))
            self._rewards[:] = 0.0
            self._pending_reward[0], self._outcome[0] = self._play(NO_ACTION), 0.0
        observation = self._observed()
        if self._status:
            self._note_outcome()
        return observation, {"action_mask": self._mask.copy()}

    def step(self, action: Any) -> tuple[Singles | Bytes, float, bool, bool, dict[str, Any]]:
        """Play one action, and the opponents until this player is to choose again.

        Rewards from before the player's first choice are paid with its first step. After the end a step has no effect
        and no reward.

        Returns
        -------
        observation : array
            Of the type of ``observation_dtype``.
        reward : float
        terminated, truncated : bool
        info : dict
            ``action_mask``, int8 [A]; ``illegal_action`` if the action was illegal; at the end ``outcome`` (points in
            [0, 1]) and ``is_success`` (the points are 1).

        Raises
        ------
        TypeError
            If the action is not an integer.
        ValueError
            If it is out of range, or illegal in strict mode. Nothing is changed then, nor where an agent that plays for
            others raises, or is interrupted.
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        if not self._live.started:
            self._live.check_started("step()")
        if type(action) is not int or not 0 <= action < self.game.actions:
            action = checked_action(action, self.game, self.legal_actions())
        if self._stale:
            self._observed()
        legal = self._mask[action] or self._status
        if not legal and self.strict:
            raise ValueError(f"action {action} is illegal; legal now: {some(self.legal_actions())}")
        before = self._status
        if self._alone:
            observation, reward = self._step_alone(action)
        else:
            reward, self._pending_reward[0] = self._play(action) + float(self._pending_reward[0]), 0.0
            observation = self._observed()
        if self._status and not before:
            self._note_outcome()
        info: dict[str, Any] = {"action_mask": self._mask.copy()}
        if not legal:
            info["illegal_action"] = True
        if self._status:
            info["outcome"] = float(self._outcome[0])
            info["is_success"] = info["outcome"] == 1.0
        return observation, reward, self._status == TERMINATED, self._status == TRUNCATED, info

    def clone_state(self, include_rng: bool = True) -> Snapshot:
        """Return a snapshot of the game, with its random stream and the inner opponents' unless told otherwise.

        Raises
        ------
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        return self._live.clone(include_rng)

    def restore_state(self, snapshot: Snapshot) -> None:
        """Bring a snapshot back; without a random stream in it the running one goes on.

        Forced dice (``position["dice"]``) come back with the random stream. Without it there are none afterwards: those
        still queued belonged to the game that was running.

        Raises
        ------
        TypeError, ValueError
            If it is no snapshot, or one of another game, other settings, another seat, another kind of API or another
            release, or if it is damaged: its seal does not fit. Nothing is changed then.
        """
        live = self._live
        live.check(snapshot)
        if not live.started:
            self.reset()
        live.load(snapshot)
        self._stale = True

    def redraw(self, seed: int) -> None:
        """Draw anew all that this player cannot know: what is hidden from it, and all chance to come.

        Raises
        ------
        gymnasium.error.ResetNeeded
            Before the first reset.
        TypeError, ValueError
            If the seed is no integer, or out of range.
        """
        self._live.check_started("redraw()")
        seed = errors.integer("seed", seed, 0, MAX_SEED)
        self._live.change(self.game.determinize, self.seat, np.uint64(seed))
        seed_stream(self._stream, draw(self._state))
        self._stale = True

    def position(self) -> dict[str, Any]:
        """Return the state as a readable, complete, JSON-able dictionary, without chance and settings.

        Raises
        ------
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        return self._live.position()

    def view(self) -> View:
        """Return the live state as this player sees it, which is what agents take.

        Raises
        ------
        gymnasium.error.ResetNeeded
            Before the first reset, as from all that looks at the state.
        """
        return self._live.view(self.seat)

    def legal_actions(self) -> Ints:
        """Return the legal actions [k] in ascending order; empty after the end."""
        self._live.check_started("legal_actions()")
        if self._stale:
            self._observed()
        return np.flatnonzero(self._mask)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are legal, as booleans [A] (sb3-contrib's spelling)."""
        self._live.check_started("action_masks()")
        if self._stale:
            self._observed()
        return self._mask.astype(np.bool_)

    def render(self) -> Any:
        """Return the picture (uint8 [H, W, 3]) or the text of the state, by ``render_mode``.

        Raises
        ------
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        return self._live.render(self.render_mode, "gym.make(id, render_mode='rgb_array')", self.seat)

    def get_keys_to_action(self) -> dict[str, int]:
        """Return the keys for ``gymnasium.utils.play.play``; none, with a warning, where the game has no keys.

        As long as no key is pressed ``play`` plays action 0, which must be to do nothing.
        """
        gymnasium.logger.warn(
            f"{self.game.name} has no keys: its {self.game.actions} actions are no moves of one figure; give your own: "
            "play(env, keys_to_action=..., noop=...), with env.unwrapped.action_meanings() beside you"
        )
        return {}

    def _take_kernels(self) -> None:
        """Take what the game is played with as it is now: compiled, or in plain Python for a first look."""
        self._table, self._advised = tables_at_hand(self.game.bare, self._model)
        kernels = play_turn, fill_mask_and_observation, step_alone
        self._turn, self._fill, self._make_step = (called_on(self._table, kernel) for kernel in kernels)

    def _observed(self) -> Singles | Bytes:
        """Read status and mask, and return a fresh observation."""
        out = np.empty(self._size, np.float32)
        self._status = self._fill(self._table, self._state, self.seat, self._legal, self._mask, out)
        self._stale = False
        seen = quantized(out) if self._in_bytes else out
        return seen if self._flat else seen.reshape(self._shape)

    def _note_outcome(self) -> None:
        """Keep the outcome of a game that has just ended for this player."""
        self._outcome[0] = points_at_end(self.game, self._state, self._rewards)[self.seat]

    def _step_alone(self, action: int) -> tuple[Singles | Bytes, float]:
        """Step a game for one player in one compiled call; return the observation and the reward."""
        out, self._stale = np.empty(self._size, np.float32), True
        self._status = self._make_step(
            self._table, self._state, action, self._actions, self._rewards, self._legal, self._mask, out
        )
        self._stale = False
        seen = quantized(out) if self._in_bytes else out
        return seen if self._flat else seen.reshape(self._shape), self._rewards.item()

    def _play(self, action: int) -> float:
        """Play an action and the opponents after it; return the sum of this player's rewards."""
        self._stale = True  # until it is looked at, should that be interrupted
        if not self._external:
            total: float = self._turn(
                self._table,
                self._advised,
                self._seats,
                self._state,
                self.seat,
                action,
                self._actions,
                self._rewards,
                self._legal,
                self._weights,
                self._stream,
            )
            return total
        with self._live.all_or_nothing():
            return self._play_with_agents(action)

    def _play_with_agents(self, action: int) -> float:
        """Play an action, with agents of other packages in the other seats, until this player is to choose again."""
        total = 0.0
        while self.game.status(self._state, self.seat) == 0:
            bits = self.game.active(self._state)
            if bits >> self.seat & 1:
                if action == NO_ACTION:
                    break
                self._actions[self.seat], action = action, NO_ACTION
            for other, opponent in self._external.items():
                if bits >> other & 1:
                    opponent.reseed(int(draw(self._stream)))
                    view = View(self.game, self._state, other)
                    self._actions[other] = checked_action(opponent.act(view), self.game, view.legal_actions())
            self._live.change(self.game.step, self._actions, self._rewards)
            total += float(self._rewards[self.seat])
        return total


def _rebuilt(
    cls: Any, arguments: dict[str, Any], fingerprint: str, kept: dict[str, Any], snapshot: Snapshot | None
) -> GameEnv:
    env: GameEnv = cls(**arguments)
    check_fingerprint("copied state", fingerprint, env.game)
    vars(env).update(kept)
    if snapshot is not None:
        env._live.check(snapshot)
        env._live.load(snapshot)
        env._observed()
    return env
