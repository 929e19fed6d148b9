"""What the two PettingZoo APIs have in common."""

import copy
import secrets
from collections.abc import Mapping
from typing import Any

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
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.live import SharedGame
from mcts_envs.core.api.quantized import check_dtype, quantized
from mcts_envs.core.api.turn import NO_ACTION, fill_mask_and_observation
from mcts_envs.core.compiling.early import called_on, is_early, tables_at_hand
from mcts_envs.core.contract import RUNNING
from mcts_envs.core.place import start_state
from mcts_envs.core.rng import CHANCE_BYTES, MAX_SEED
from mcts_envs.core.showing import Pictured
from mcts_envs.core.snapshot import Snapshot, check_fingerprint, check_snapshot, damaged
from mcts_envs.core.typing import Bytes, Ints, Masks, Singles
from mcts_envs.core.view import View

Observation = dict[str, npt.NDArray[Any]] | Singles | Bytes
Info = dict[str, Any]

RENDER_MODES = ["human", "ansi", "rgb_array"]

MASK_PLACES = ("observation", "info")
"""Where the action mask is told: in dictionaries of observations and in ``infos``, or in ``infos`` alone."""


class MultiAdapter(Configured, ActionNames, Pictured):
    """The live game, its agents and spaces, and everything that does not depend on whose turn it is."""

    _live: SharedGame

    def __init__(
        self,
        env_class: type[GameEnv],
        *,
        illegal: str = "accept",
        observation: str = "flat",
        observation_dtype: str = "float32",
        action_mask: str = "observation",
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        settings = copy.deepcopy(settings)  # the caller may change its own later
        self.game = game = configured(env_class.make_game, settings, observation)
        self._in_bytes = check_dtype(game, observation_dtype)
        self.strict = check_illegal(illegal)
        self._plain = errors.choice("place of the action mask", action_mask, MASK_PLACES) == "info"
        check_render_mode(render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self.metadata = {
            "name": game.name,
            "render_modes": list(RENDER_MODES),
            "render_fps": env_class.metadata["render_fps"],
            "is_parallelizable": game.simultaneous,
        }
        self._arguments: dict[str, Any] = {"illegal": illegal, "observation": observation, "action_mask": action_mask}
        self._arguments |= {"observation_dtype": observation_dtype, "render_mode": render_mode, **settings}
        self._env_class = env_class

        self.possible_agents = [f"player_{player}" for player in range(game.players)]
        self.agents: list[str] = []
        self._players = {agent: player for player, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: self._new_observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(game.actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(0.0, 1.0, (game.template.size - CHANCE_BYTES,), np.float32)

        self._live = SharedGame(game)
        self._state = self._live.state
        self._chosen = np.full(game.players, NO_ACTION, np.int64)
        self._rewards = np.zeros(game.players)
        self._window: Any = None
        self._take_kernels()

    def __reduce__(self) -> Any:
        snapshot = self.clone_state() if self._live.started else None
        made = type(self), self._env_class, self._arguments, self.game.fingerprint, snapshot
        return _rebuilt, made, {"action_spaces": self.action_spaces}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations: always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions: always the same object."""
        return self.action_spaces[agent]

    def observe(self, agent: str) -> Observation:
        """Return what an agent sees: ``observation``, and ``action_mask``, int8 [A].

        With ``action_mask="info"`` it is the bare observation.
        """
        self._live.check_started("observe()")
        return self._shown(*self._look_at(agent))

    def state(self) -> Singles:
        """Return the whole state, hidden parts included: its bytes without the chance header, scaled to [0, 1]."""
        self._live.check_started("state()")
        return self._state[CHANCE_BYTES:].astype(np.float32) / np.float32(255.0)

    def position(self) -> dict[str, Any]:
        """Return the state as a readable, complete, JSON-able dictionary, without chance and settings.

        Raises
        ------
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        return self._live.position()

    def view(self, agent: str | None = None) -> View:
        """Return the live state as an agent sees it (default: whose turn it is), which is what planners take.

        Raises
        ------
        ValueError
            If there is no such agent.
        gymnasium.error.ResetNeeded
            Before the first reset, as from all that looks at the state.
        """
        self._live.check_started("view()")
        return self._live.view(self._player(self._whose_turn() if agent is None else agent))

    def legal_actions(self, agent: str | None = None) -> Ints:
        """Return an agent's legal actions [k] in ascending order; empty when it is not to choose."""
        return self.view(agent).legal_actions()

    def action_masks(self, agent: str | None = None) -> npt.NDArray[np.bool_]:
        """Return which actions are legal for an agent, as booleans [A]."""
        return self.view(agent).action_masks()

    def render(self) -> Any:
        """Return the picture (uint8 [H, W, 3]) or the text of the state, or show it, by ``render_mode``."""
        in_window = self.render_mode == "human"
        mode = "rgb_array" if in_window else self.render_mode
        rendered = self._live.render(mode, "make the environment with render_mode='rgb_array'")
        if not in_window:
            return rendered
        self._window = self._window or _Window()
        self._window.show(rendered, self.metadata["render_fps"])
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def clone_state(self, include_rng: bool = True) -> Snapshot:
        """Return a snapshot of the game and of all that this API tells, with the random stream unless told otherwise.

        Raises
        ------
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        self._live.check_started("clone_state()")
        return self._live.clone(include_rng, self._adapter_state())

    def restore_state(self, snapshot: Snapshot) -> None:
        """Bring a snapshot back; without a random stream in it the running one goes on.

        Forced dice (``position["dice"]``) come back with the random stream. Without it there are none afterwards: those
        still queued belonged to the game that was running.

        Raises
        ------
        TypeError, ValueError
            If it is no snapshot, or one of another game, other settings, another kind of API or another release, or if
            it is damaged: its seal does not fit. Nothing is changed then.
        """
        check_snapshot(self.game, snapshot, type(self._adapter_state()))
        if not self._fits(snapshot.face):
            raise damaged("face", snapshot.face, f"what {type(self).__name__} keeps beside the state")
        self._live.check(snapshot)
        if not self._live.started:
            self._restart(None, None)
        self._live.load(snapshot)
        self._resume(snapshot.face)

    def _restart(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Reset the state with the same chance as the Gymnasium environment."""
        # PettingZoo's own test sends the meaningless option "options".
        if isinstance(options, Mapping):
            options = {key: value for key, value in options.items() if key != "options"}
        start = start_state(self.game, options or {})
        if seed is not None:
            seed = errors.integer("seed", seed, 0, MAX_SEED)
        if is_early(self._table):
            self._take_kernels()
        self._live.restart(seed, start, lambda: secrets.randbits(63))
        self._rewards[:] = 0.0
        self._chosen[:] = NO_ACTION

    def _take_kernels(self) -> None:
        """Take what the game is played with as it is now: compiled, or in plain Python for a first look."""
        (self._table,) = tables_at_hand(self.game.bare)
        self._fill = called_on(self._table, fill_mask_and_observation)

    def _advance(self) -> dict[str, Info]:
        """Step the world with the chosen actions; return how it came out for the agents that ended now."""
        self._live.change(self.game.step, np.maximum(self._chosen, 0), self._rewards)
        self._chosen[:] = NO_ACTION
        ended = [agent for agent in self.agents if self._status(agent) != RUNNING]
        points = points_at_end(self.game, self._state, self._rewards) if ended else self._rewards
        outcomes = {agent: float(points[self._players[agent]]) for agent in ended}
        return {agent: {"outcome": outcome, "is_success": outcome == 1.0} for agent, outcome in outcomes.items()}

    def _checked(self, agent: str, action: Any) -> tuple[int, Info]:
        """Return an action as an int, and what there is to say about it."""
        legal = self.legal_actions(agent)
        number = checked_action(action, self.game, legal)
        if number in legal:
            return number, {}
        if self.strict:
            raise ValueError(f"action {number} of {agent} is illegal; legal now: {some(legal)}")
        return number, {"illegal_action": True}

    def _to_choose(self) -> list[str]:
        """Return the agents whose choice the world waits for."""
        bits = self.game.active(self._state)
        return [a for a, p in self._players.items() if bits >> p & 1 and self._chosen[p] == NO_ACTION]

    def _check_given(self, actions: Mapping[str, Any]) -> list[str]:
        """Return whose choice the world waits for; raise unless each of them is given one, and nobody unknown."""
        if not isinstance(actions, Mapping):
            raise TypeError(f"actions {actions!r} are {type(actions).__name__}, not a dictionary of actions by agents")
        for agent in actions:
            self._player(agent)
        to_choose = self._to_choose()
        if missing := [agent for agent in to_choose if agent not in actions]:
            raise ValueError(f"no action of {', '.join(missing)}; give one of each of {', '.join(to_choose)}")
        return to_choose

    def _running(self) -> list[str]:
        return [agent for agent in self.possible_agents if self._status(agent) == RUNNING]

    def _status(self, agent: str) -> int:
        return int(self.game.status(self._state, self._players[agent]))

    def _look_at(self, agent: str) -> tuple[Singles | Bytes, Masks]:
        game, player = self.game, self._player(agent)
        observation, mask = np.empty(game.observation_shape, np.float32), np.empty(game.actions, np.int8)
        work = np.empty(game.actions, np.int64)
        self._fill(self._table, self._state, player, work, mask, observation.reshape(-1))
        return quantized(observation) if self._in_bytes else observation, mask

    def _shown(self, observation: Singles | Bytes, mask: Masks) -> Observation:
        return observation if self._plain else {"observation": observation, "action_mask": mask}

    def _player(self, agent: str) -> int:
        return self._players[errors.choice("agent", agent, self._players)]

    def _new_observation_space(self) -> spaces.Space[Any]:
        space: spaces.Space[Any] = observation_space(self.game, self._in_bytes)
        mask = spaces.Box(0, 1, (self.game.actions,), np.int8)
        return space if self._plain else spaces.Dict({"observation": space, "action_mask": mask})

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _whose_turn(self) -> str:
        return next(iter(self._to_choose()), self.possible_agents[0])

    def _adapter_state(self) -> tuple[Any, ...]:
        """Return what this API tells that is not in the state of the game."""
        return ()

    def _fits(self, adapter_state: Any) -> bool:
        """Return whether this may come from :meth:`_adapter_state`."""
        return not adapter_state

    def _resume(self, adapter_state: Any) -> None:
        """Go on from a state that was just restored."""
        self.agents[:] = self._running()


class _Window:
    """The window of human mode, which environments share as pygame has but one."""

    def __init__(self) -> None:
        try:
            import pygame
        except ImportError as error:
            raise ImportError('human mode needs a window: pip install "mcts-envs[human]"') from error
        self._pygame = pygame
        self._clock = pygame.time.Clock()

    def show(self, picture: npt.NDArray[np.uint8], fps: float) -> None:
        """Show a picture [H, W, 3], at most ``fps`` of them a second."""
        pygame, size = self._pygame, picture.shape[1::-1]
        surface = pygame.display.get_surface()
        if surface is None or surface.get_size() != size:
            pygame.display.init()
            surface = pygame.display.set_mode(size)
        surface.blit(pygame.surfarray.make_surface(picture.swapaxes(0, 1)), (0, 0))
        pygame.event.pump()
        pygame.display.flip()
        self._clock.tick(fps)

    def close(self) -> None:
        """Close the window."""
        self._pygame.display.quit()


def _rebuilt(cls: Any, env_class: Any, arguments: Any, fingerprint: str, snapshot: Snapshot | None) -> Any:
    env = cls(env_class, **arguments)
    check_fingerprint("copied state", fingerprint, env.game)
    if snapshot is not None:
        env.restore_state(snapshot)
    return env
