"""Games of OpenSpiel, as Shimmy makes them environments, and Hanabi, as PettingZoo takes it from there."""

import copy
from typing import Any

import numpy as np

from agents.bridge.adapters import Adapter
from agents.bridge.shipped.hanabi import dealt_anew

_KEPT = (
    *("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards"),
    *("simultaneous_actions", "observations", "game_length"),
)


class OpenSpiel(Adapter):
    """Copies the game's own state, and lets the game deal anew what a player cannot know."""

    def copy(self, env: Any) -> Any:
        """Return the game, a copy of its state, and what the environment keeps beside it."""
        return env._env, env.game_state.clone(), {name: _plain(getattr(env, name, None)) for name in _KEPT}

    def restore(self, env: Any, snapshot: Any) -> None:
        """Take it over."""
        env._env, state, kept = snapshot
        env.game_state = state.clone()
        for name, value in kept.items():
            setattr(env, name, _plain(value))

    def key(self, env: Any) -> Any:
        """Return the game's history, and who has chosen what they are about to do."""
        pending = sorted(env.simultaneous_actions.items())
        return env.game_state.serialize(), pending, env.agents, env.agent_selection, env._cumulative_rewards

    def determinize(self, env: Any, agent: str, chance: np.random.Generator) -> None:
        """Draw anew what others chose at the same time, and let the game resample the rest.

        Raises
        ------
        NotImplementedError
            If something is hidden and the game cannot draw it anew.
        """
        state = env.game_state
        if state.is_terminal():
            return
        for other in list(env.simultaneous_actions):
            if other != agent and env.simultaneous_actions[other] is not None:
                legal = state.legal_actions(env.agents.index(other))
                env.simultaneous_actions[other] = legal[int(chance.integers(len(legal)))]
        kind = env.game_type
        if kind.information == kind.Information.IMPERFECT_INFORMATION:
            deal = dealt_anew if kind.short_name == "hanabi" else _resampled
            env.game_state = deal(state, env.possible_agents.index(agent), chance)
            env._update_action_masks()
            env._update_observations()


class Hanabi(OpenSpiel):
    """Hanabi of PettingZoo: the environment of OpenSpiel inside."""

    def copy(self, env: Any) -> Any:
        """Return what the environment inside keeps."""
        return super().copy(env.hanabi_env), list(env.agents)

    def restore(self, env: Any, snapshot: Any) -> None:
        """Take it over."""
        inside, env.agents = snapshot[0], list(snapshot[1])
        super().restore(env.hanabi_env, inside)
        self._follow(env)

    def key(self, env: Any) -> Any:
        """Return what tells the states inside apart."""
        return super().key(env.hanabi_env)

    def determinize(self, env: Any, agent: str, chance: np.random.Generator) -> None:
        """Deal the player's own hand anew."""
        super().determinize(env.hanabi_env, agent, chance)
        self._follow(env)

    def _follow(self, env: Any) -> None:
        for name in ("agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos"):
            setattr(env, name, getattr(env.hanabi_env, name))


def _resampled(state: Any, player: int, chance: np.random.Generator) -> Any:
    try:
        return state.resample_from_infostate(player, lambda: float(chance.random()))
    except Exception as error:  # of a class that is OpenSpiel's own
        raise NotImplementedError(f"{state.get_game().get_type().short_name} cannot be dealt anew: {error}") from error


def _plain(value: Any) -> Any:
    """Return a copy of a table or list, one level deep; arrays inside are never changed."""
    return copy.copy(value)
