"""Environments of pgx, which are functions of JAX, in the API of PettingZoo."""

import functools
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from pettingzoo import AECEnv

from mcts_envs.core.errors import unknown


class PgxEnvironment(AECEnv, EzPickle):  # type: ignore[misc]
    """An environment of pgx as one of PettingZoo in which agents choose in turn.

    Player ``i`` of pgx is ``player_i``, and who begins is drawn where pgx draws it. An action that is not legal ends
    the game, as it does in pgx. Chance is drawn by keys whose seeds come from ``np_random``.

    Parameters
    ----------
    game : str or pgx.Env
        As :func:`pgx_environment` takes it.

    Attributes
    ----------
    game : pgx.Env
    pgx_state : pgx.State
        It never changes; each step brings another.
    np_random : numpy.random.Generator
        From the first reset on.
    """

    def __init__(self, game: Any) -> None:
        EzPickle.__init__(self, game)
        self.game = _made(game) if isinstance(game, str) else game
        self._begin, self._go_on, self._look = _compiled(self.game)
        self.metadata = {"name": f"pgx_{self.game.id}", "render_modes": [], "is_parallelizable": False}
        self.render_mode = None
        self.possible_agents = [f"player_{i}" for i in range(self.game.num_players)]
        self._numbers = {name: i for i, name in enumerate(self.possible_agents)}
        self.pgx_state: Any = None
        self.np_random: Any = None
        shown = self._begin(0)[0].observation
        bits, count = shown.dtype == bool, self.game.num_actions
        sees = spaces.Dict(
            {
                "observation": spaces.Box(0 if bits else -np.inf, 1 if bits else np.inf, shown.shape, _type(shown)),
                "action_mask": spaces.Box(0, 1, (count,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, sees)
        self.action_spaces = {name: spaces.Discrete(count) for name in self.possible_agents}

    def observation_space(self, agent: str) -> Any:
        """Return what an agent observes: ``"observation"``, that of pgx, and ``"action_mask"``."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the actions of pgx."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; without a seed, with the chance that is next."""
        if seed is not None or self.np_random is None:
            self.np_random = np.random.default_rng(seed)
        self.agents = self.possible_agents[:]
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._become(*self._begin(self._seed()))

    def step(self, action: Any) -> None:
        """Let the agent that is to choose do so."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if not self.action_spaces[agent].contains(action):
            raise ValueError(f"action {action!r} of {agent} is not in 0 to {self.action_spaces[agent].n - 1}")
        self._cumulative_rewards[agent] = 0.0
        self._become(*self._go_on(self.pgx_state, int(action), self._seed()))
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what an agent observes now; actions are legal for the one that is to choose."""
        shown = np.asarray(self._look(self.pgx_state, self._numbers[agent]))
        mask = np.zeros(self.action_spaces[agent].n, np.int8)
        mask[:] = self.infos.get(agent, {}).get("action_mask", 0)
        return {"observation": shown.astype(_type(shown)), "action_mask": mask}

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _seed(self) -> int:
        return int(self.np_random.integers(2**31))

    def _become(self, state: Any, told: Any) -> None:
        """Take over a state of pgx, and say what it says."""
        players, told = len(self.possible_agents), np.asarray(told)
        chooser, over, cut, *rewards = told[: players + 3].tolist()
        self.pgx_state = state
        self.agent_selection = self.possible_agents[int(chooser)]
        self.rewards = dict(zip(self.possible_agents, rewards, strict=True))
        self.terminations = dict.fromkeys(self.possible_agents, bool(over))
        self.truncations = dict.fromkeys(self.possible_agents, bool(cut))
        self.infos: dict[str, dict[str, Any]] = {name: {} for name in self.possible_agents}
        if not over and not cut:
            self.infos[self.agent_selection]["action_mask"] = told[players + 3 :].astype(np.int8)


def pgx_environment(game: Any) -> PgxEnvironment:
    """Return an environment of pgx in the API of PettingZoo, for planners and whoever else plays that.

    Parameters
    ----------
    game : str or pgx.Env
        The environment, or its id, ``"connect_four"``, as ``pgx.make`` takes it.

    Raises
    ------
    ImportError
        If pgx or JAX is not installed.
    ValueError
        If pgx has no environment of this id.
    """
    return PgxEnvironment(game)


@functools.cache
def _made(name: str) -> Any:
    try:
        import pgx
    except ImportError as error:
        raise ImportError("environments of pgx need it and JAX: pip install pgx jax") from error
    if name not in pgx.available_envs():
        raise ValueError(unknown("environment of pgx", name, pgx.available_envs()))
    return pgx.make(name)


@functools.cache
def _compiled(game: Any) -> tuple[Any, Any, Any]:
    """Return how a game begins, goes on and is looked at, compiled once for all environments of it.

    The first two return a state and, in one array, which takes a third of the time of five: who is to choose, whether
    the game has ended or was cut off, the rewards, and which actions are legal.
    """
    import jax

    def told(state: Any) -> tuple[Any, Any]:
        said = state.current_player, state.terminated, state.truncated, state.rewards, state.legal_action_mask
        return state, jax.numpy.concatenate([jax.numpy.float32(each).ravel() for each in said])

    def begin(seed: Any) -> tuple[Any, Any]:
        return told(game.init(jax.random.PRNGKey(seed)))

    def go_on(state: Any, action: Any, seed: Any) -> tuple[Any, Any]:
        return told(game.step(state, action, jax.random.PRNGKey(seed)))

    return jax.jit(begin), jax.jit(go_on), jax.jit(game._observe)


def _type(shown: Any) -> Any:
    return np.int8 if shown.dtype == bool else np.float32
