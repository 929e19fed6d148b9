"""The PettingZoo APIs of all games: players one after the other (AEC), or all at once (parallel)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

from mcts_envs.core import errors
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.multi_base import Info, MultiAdapter, Observation
from mcts_envs.core.api.turn import NO_ACTION
from mcts_envs.core.contract import RUNNING, TERMINATED, TRUNCATED
from mcts_envs.core.rng import MAX_SEED, draw


class _Turn(NamedTuple):
    """Adapter state of the AEC API; all but ``chosen`` in the order of ``agents``."""

    agents: tuple[str, ...]
    rewards: tuple[float, ...]
    cumulative_rewards: tuple[float, ...]
    chosen: tuple[int, ...]
    events: tuple[tuple[tuple[str, Any], ...], ...]


class GameAECEnv(MultiAdapter, AECEnv):  # type: ignore[misc]
    """Any game as a PettingZoo AEC environment.

    Players who choose at the same time are asked one after the other, in the order of seats; the world steps when the
    last of them has chosen. A player who has ended gets one more turn, at once, in which it steps with None and leaves.
    ``infos`` hold ``action_mask``, ``illegal_action`` if the agent's last action was illegal, and at the agent's end
    ``outcome`` (points in [0, 1]) and ``is_success`` (the points are 1). Snapshots bring all of this back.

    Parameters
    ----------
    env_class : type
        The game's Gymnasium environment.
    illegal : {"accept", "raise"}
        What an illegal action does: the effect that the game documents, with ``info["illegal_action"]``, or a
        ``ValueError``. An action out of range or of the wrong type always raises.
    observation : str
        ``"flat"``, or a variant of the game with another ``observe``.
    observation_dtype : {"float32", "uint8"}
        As for :class:`~mcts_envs.core.api.env.GameEnv`.
    action_mask : {"observation", "info"}
        Where legal actions are told. By default observations are dictionaries with ``observation`` and
        ``action_mask``; with ``"info"`` they are the bare arrays, which wrappers such as SuperSuit's and RLlib's
        encoders want. ``infos`` hold the mask in any case.
    render_mode : {None, "ansi", "rgb_array", "human"}
        ``human`` shows every step in a window and needs ``pygame-ce``.
    **settings
        The settings of the game.
    """

    def __init__(self, env_class: type[GameEnv], **arguments: Any) -> None:
        MultiAdapter.__init__(self, env_class, **arguments)
        self.agent_selection = self.possible_agents[0]
        self.rewards: dict[str, float] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, Info] = {}
        self._events: dict[str, Info] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode.

        Parameters
        ----------
        seed : int, optional
            From 0 to 2^64 - 1. Without it the running random stream goes on.
        options : dict, optional
            ``{"position": dict}`` starts from that position, in the terms of :meth:`position`.

        Raises
        ------
        ValueError, TypeError
            If an option is unknown, the seed out of range, or a position against the rules. Nothing is changed then.
        """
        self._restart(seed, options)
        self.agents = self._running()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._events = {agent: {} for agent in self.agents}
        self._read()
        self._show()

    def step(self, action: Any) -> None:
        """Choose for ``agent_selection``; None for one who has ended. With no agents left this has no effect.

        Raises
        ------
        TypeError
            If the action is not an integer.
        ValueError
            If it is out of range, illegal in strict mode, or not None for an agent that has ended. Nothing is changed
            then.
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        self._live.check_started("step()")
        if not self.agents:
            return
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            self._select()
            return
        self._chosen[self._players[agent]], self._events[agent] = self._checked(agent, action)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if not self._to_choose():
            for ended, outcome in self._advance().items():
                self._events[ended] |= outcome
            self.rewards = {agent: float(self._rewards[self._players[agent]]) for agent in self.agents}
        self._accumulate_rewards()
        self._read()
        self._show()

    def redraw(self, seed: int) -> None:
        """Draw anew all that ``agent_selection`` cannot know: what is hidden from it, and all chance to come.

        Where players choose at the same time, that is also what others have chosen: any legal action, at random.

        Raises
        ------
        gymnasium.error.ResetNeeded
            Before the first reset.
        TypeError, ValueError
            If the seed is no integer, or out of range.
        """
        self._live.check_started("redraw()")
        seed = errors.integer("seed", seed, 0, MAX_SEED)
        observer = self._players[self.agent_selection]
        self._live.change(self.game.determinize, observer, np.uint64(seed))
        for other in np.flatnonzero(self._chosen != NO_ACTION).tolist():
            legal = self._live.view(other).legal_actions()
            self._chosen[other] = legal[int(draw(self._state) % np.uint64(len(legal)))]
        self._read()

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, Info]:
        """Return what PettingZoo's ``last`` does: observation, reward, ended, cut off and info of ``agent_selection``.

        Raises
        ------
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        self._live.check_started("last()")
        said: tuple[Any, float, bool, bool, Info] = super().last(observe)
        return said

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Return PettingZoo's iterator over those whose turn it is; raises like :meth:`last`."""
        self._live.check_started("agent_iter()")
        return super().agent_iter(max_iter)

    def _read(self) -> None:
        """Read from the state who has ended, what the infos say, and whose turn it is."""
        status = {agent: self._status(agent) for agent in self.agents}
        self.terminations = {agent: status[agent] == TERMINATED for agent in self.agents}
        self.truncations = {agent: status[agent] == TRUNCATED for agent in self.agents}
        self.infos = {a: {"action_mask": self._look_at(a)[1], **self._events[a]} for a in self.agents}
        self._select()

    def _select(self) -> None:
        """Turn to the first who has ended and not left, else to the first whose choice the world waits for."""
        ended = [agent for agent in self.agents if self.terminations[agent] or self.truncations[agent]]
        self.agent_selection = next(iter(ended or self._to_choose()), self.possible_agents[0])
        self._skip_agent_selection = None

    def _whose_turn(self) -> str:
        return self.agent_selection

    def _adapter_state(self) -> _Turn:
        agents = tuple(self.agents)
        # Less 0.0 is 0.0 too, and what is equal must be written alike.
        rewards = tuple(self.rewards[agent] + 0.0 for agent in agents)
        cumulative_rewards = tuple(self._cumulative_rewards[agent] + 0.0 for agent in agents)
        events = tuple(tuple(self._events[agent].items()) for agent in agents)
        return _Turn(agents, rewards, cumulative_rewards, tuple(self._chosen.tolist()), events)

    def _fits(self, adapter_state: _Turn) -> bool:
        in_order = adapter_state.agents, adapter_state.rewards, adapter_state.cumulative_rewards, adapter_state.events
        return (
            all(type(part) is tuple and len(part) == len(adapter_state.agents) for part in in_order)
            and set(adapter_state.agents) <= set(self.possible_agents)
            and type(adapter_state.chosen) is tuple
            and len(adapter_state.chosen) == len(self._chosen)
            and all(type(action) is int and NO_ACTION <= action < self.game.actions for action in adapter_state.chosen)
        )

    def _resume(self, adapter_state: _Turn) -> None:
        self.agents[:] = adapter_state.agents  # in place: conversions of PettingZoo hold the same list
        self.rewards = dict(zip(self.agents, adapter_state.rewards, strict=True))
        self._cumulative_rewards = dict(zip(self.agents, adapter_state.cumulative_rewards, strict=True))
        self._chosen[:] = adapter_state.chosen
        self._events = {agent: dict(events) for agent, events in zip(self.agents, adapter_state.events, strict=True)}
        self._read()


class GameParallelEnv(MultiAdapter, ParallelEnv):  # type: ignore[misc]
    """Any game as a PettingZoo parallel environment, for games in which players choose at the same time.

    The actions of players who are not to choose now are not read, and their masks are empty: of one who has died, say,
    whose team plays on. PettingZoo's ``aec_to_parallel`` has no room for such players; make this instead. Parameters
    and ``infos`` are those of :class:`GameAECEnv`.
    """

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, Info]]:
        """Start an episode; parameters and errors as for :meth:`GameAECEnv.reset`.

        Returns
        -------
        observations, infos : dict
            For each agent.
        """
        self._restart(seed, options)
        self.agents = self._running()
        self._show()
        return self._seen({agent: {} for agent in self.agents})

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]]:
        """Play one action of each agent that is to choose.

        Returns
        -------
        observations, rewards, terminations, truncations, infos : dict
            For each agent that was in the game before; all empty after the end.

        Raises
        ------
        TypeError
            If an action is not an integer.
        ValueError
            If one is missing, out of range, or illegal in strict mode, or if there is no such agent. Nothing is changed
            then.
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        self._live.check_started("step()")
        checked = {agent: self._checked(agent, actions[agent]) for agent in self._check_given(actions)}
        if not self.agents:
            return {}, {}, {}, {}, {}
        events: dict[str, Info] = {agent: {} for agent in self.agents}
        for agent, (action, event) in checked.items():
            self._chosen[self._players[agent]], events[agent] = action, event
        for ended, outcome in self._advance().items():
            events[ended] |= outcome
        status = {agent: self._status(agent) for agent in self.agents}
        rewards = {agent: float(self._rewards[self._players[agent]]) for agent in self.agents}
        observations, infos = self._seen(events)
        self.agents = [agent for agent in self.agents if status[agent] == RUNNING]
        self._show()
        terminations = {agent: now == TERMINATED for agent, now in status.items()}
        truncations = {agent: now == TRUNCATED for agent, now in status.items()}
        return observations, rewards, terminations, truncations, infos

    def _seen(self, events: dict[str, Info]) -> tuple[dict[str, Observation], dict[str, Info]]:
        """Return the observations and infos of the agents."""
        looks = {agent: self._look_at(agent) for agent in self.agents}
        observations = {agent: self._shown(*look) for agent, look in looks.items()}
        return observations, {agent: {"action_mask": looks[agent][1].copy(), **events[agent]} for agent in self.agents}


_OF_THE_GAME = (
    "action_masks",
    "action_meanings",
    "action_name",
    "clone_state",
    "game",
    "legal_actions",
    "position",
    "restore_state",
    "settings",
    "view",
)
"""What :class:`GameParallelEnv` has besides PettingZoo's methods."""


class _InTurns(turn_based_aec_to_parallel_wrapper):  # type: ignore[misc]
    """PettingZoo's conversion, which gives four things in place of five after the end, and reads what it is given."""

    def __getattr__(self, name: str) -> Any:
        """Return what this environment has of the game, which the converted one holds."""
        if name in _OF_THE_GAME:
            return getattr(self.aec_env, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def agents(self) -> list[str]:
        """The agents that are in the game: those of the converted environment, which may be restored or copied."""
        agents: list[str] = self.aec_env.agents
        return agents

    @agents.setter
    def agents(self, given: list[str]) -> None:
        """Pass over the conversion's own list."""

    def _repr_html_(self) -> str:
        return str(self.aec_env._repr_html_())

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Reset as the conversion does, and name the ``active_agent`` from the first infos on."""
        observations, infos = super().reset(seed, options)
        return observations, {a: {**info, "active_agent": self.aec_env.agent_selection} for a, info in infos.items()}

    def step(self, actions: Mapping[str, Any]) -> Any:
        """Step as the conversion does; after the end five empty dictionaries, as :class:`GameParallelEnv` does.

        Raises
        ------
        TypeError, ValueError
            As :meth:`GameParallelEnv.step` does.
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        self.aec_env._live.check_started("step()")
        self.aec_env._check_given(actions)
        return super().step(actions) if self.agents else ({}, {}, {}, {}, {})


def parallel(env_class: type[GameEnv], **arguments: Any) -> Any:
    """Return a game as a PettingZoo parallel environment; parameters as for :class:`GameAECEnv`.

    Games whose players choose in turns get PettingZoo's conversion of the AEC environment: in each step the action of
    the agent whose turn it is counts, which ``infos`` name ``active_agent``.
    """
    env = GameParallelEnv(env_class, **arguments)
    return env if env.game.simultaneous else _InTurns(GameAECEnv(env_class, **arguments))
