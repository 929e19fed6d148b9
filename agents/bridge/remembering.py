"""Wrappers that keep what was done with an environment and what it showed, for planners."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.wrappers import BaseParallelWrapper, BaseWrapper

from agents.bridge.adapters import adapter_of
from agents.bridge.copying.copies import own
from agents.bridge.copying.digest import digest
from agents.bridge.layers import innermost
from agents.bridge.refusing import refused
from agents.bridge.returned import begun, wrong
from agents.wrappers import masks_of, teller
from mcts_envs.core.view import Episode

_nothing_equals = itertools.count(-1, -1)


def fingerprint(shown: Any) -> int:
    """Return a hash of what was shown; a number of its own where it can be neither looked into nor pickled."""
    try:
        return digest(shown)
    except TypeError:
        return next(_nothing_equals)


class History:
    """What was done with an environment since its last reset, and what its players were shown.

    Parameters
    ----------
    env : environment
        The one inside, about to be reset.
    given : mapping
        What ``reset`` is given.

    Attributes
    ----------
    chance : object
        Where the environment's ``np_random`` stood before a reset without a seed; None where a seed was given, or it
        has none.
    actions : list
        What ``step`` was given, step by step.
    shown : list of dict
        From the reset on, by player: a hash of what each that was to choose was shown, and of what was legal for it. In
        Gymnasium the player is None.
    twins : list
        Environments in which it was done before, for :class:`agents.bridge.rewinding.Rewind`.
    pools : dict
        By player, the :class:`agents.bridge.hidden.Pool` of what the player could not know.
    episode : Episode
        What planners remember it by.
    """

    def __init__(self, env: Any, given: Mapping[str, Any]) -> None:
        _renew(env)
        self.env, self.given = env, own(dict(given))
        generator = None if self.given.get("seed") is not None else getattr(env.unwrapped, "np_random", None)
        self.chance = generator.bit_generator.state if isinstance(generator, np.random.Generator) else None
        self.actions: list[Any] = []
        self.shown: list[dict[Any, int]] = []
        self.twins: list[Any] = []
        self.pools: dict[Any, Any] = {}
        self.episode = Episode()

    def __getstate__(self) -> dict[str, Any]:
        """Return what is kept where this is copied or pickled: not environments, which may not allow it."""
        return {**vars(self), "twins": []}

    @property
    def known(self) -> bool:
        """Whether the reset can be repeated."""
        return self.given.get("seed") is not None or self.chance is not None

    def repeat(self, env: Any, draws: Callable[[bool], None], start: int | None = None) -> None:
        """Do all of it with another environment like this one, which draws only what it shows last.

        ``start`` are the steps that were made with it since the same reset, if it was reset.

        Raises
        ------
        ValueError
            If it shows something else.
        """
        if start is None:
            _renew(env)
            draws(not self.actions)
            if self.chance is not None:
                env.reset(seed=0)
                env.unwrapped.np_random.bit_generator.state = self.chance
            said = env.reset(**own(self.given))
        for t in range(start or 0, len(self.actions)):
            draws(t == len(self.actions) - 1)
            said = env.step(self.actions[t])
        draws(False)
        if type(env) is type(self.env) and shown_after(env, said) != self.shown[-1]:
            raise ValueError(
                f"with the same seed and actions, another {type(env.unwrapped).__name__} shows other things"
            )


def _renew(env: Any) -> None:
    """Let the adapter of an environment that is about to be reset make anew what earlier episodes have marked."""
    inside: Any = innermost(env)
    adapter = adapter_of(inside.__class__)
    if adapter is not None and adapter.renew is not None:
        adapter.renew(inside)


def shown_after(env: Any, said: Any) -> dict[Any, int]:
    """Return a hash of what each player that is to choose is shown, after ``reset`` or ``step`` said something.

    What is legal for it is shown too, and where several play, who is still in it. In an AEC environment nothing was
    said: None.
    """
    if isinstance(env, AECEnv):
        return _shown_in_turn(env)
    rewards = said[1] if len(said) > 2 else None
    if isinstance(env, ParallelEnv):
        paid = {agent: 0.0 if rewards is None else _number(rewards.get(agent, 0.0)) for agent in said[0]}
        told = {agent: _told(env, (said[-1] or {}).get(agent), agent) for agent in said[0] if agent in env.agents}
        left = list(env.agents)
        return {agent: fingerprint((seen, paid[agent], told.get(agent), left)) for agent, seen in said[0].items()}
    over = len(said) > 2 and bool(said[2] or said[3])
    legal = None if over else _told(env, said[-1], None)
    return {None: fingerprint((said[0], 0.0 if rewards is None else _number(rewards), legal))}


def _number(reward: Any) -> Any:
    """Return a reward as a number; as it is where a wrapper around makes one of it."""
    try:
        return float(reward)
    except (TypeError, ValueError):
        return reward


def _shown_in_turn(env: Any) -> dict[Any, int]:
    """Return a hash of what is shown to the agent that is to choose in an AEC environment, and who is still in it."""
    if not env.agents:
        return {}
    agent = env.agent_selection
    ended = [(name, env.terminations[name], env.truncations[name]) for name in env.agents]
    over = env.terminations[agent] or env.truncations[agent]
    legal = None if over else _told(env, env.infos.get(agent), agent)
    return {agent: fingerprint((env.observe(agent), float(env._cumulative_rewards[agent]), ended, legal))}


def _told(env: Any, info: Any, agent: Any) -> Any:
    """Return what tells the legal actions of an agent, apart from what it observes; None if nothing does."""
    inside: Any = innermost(env)
    adapter = adapter_of(inside.__class__)
    if adapter is not None and (listed := adapter.actions or adapter.legal) is not None:
        return listed(inside, agent)
    if isinstance(inside, gymnasium.Env) and (tells := teller(env)) is not None:
        return masks_of(tells)
    return info.get("action_mask") if isinstance(info, Mapping) else None


class Remember(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Keeps what ``reset`` and ``step`` said last, and what they were given, for planners.

    With it they know legal actions that only ``info["action_mask"]`` tells, and that an episode has ended. They can
    play the episode once more where the environment cannot be copied, and with other chance where it hides something.

    Attributes
    ----------
    observation, info : object
        What was said last; None before the first reset.
    over : bool
        Whether the episode has ended.
    history : History
        What was done since the last reset; None before the first.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.observation: Any = None
        self.info: Any = None
        self.over = False
        self.history: History | None = None

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """Reset the environment."""
        history = History(self.env, given)
        self.observation, self.info = begun(self.env.reset(**given))
        self.over = False
        history.shown.append(shown_after(self.env, (self.observation, self.info)))
        self.history = history
        return self.observation, self.info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Make a step."""
        said = self.env.step(action)
        try:
            self.observation, _, terminated, truncated, self.info = said
        except (TypeError, ValueError):
            raise wrong(said, action) from None
        self.over = bool(terminated or truncated)
        if self.history is not None:
            self.history.actions.append(action)
            self.history.shown.append(shown_after(self.env, said))
        return said


class RememberTurns(BaseWrapper):  # type: ignore[misc]
    """Keeps what was done with a PettingZoo environment in which agents choose in turn; see :class:`Remember`."""

    def __init__(self, env: AECEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self.history: History | None = None

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Reset the environment."""
        history = History(self.env, {"seed": seed, "options": options})
        self.env.reset(seed=seed, options=options)
        history.shown.append(shown_after(self.env, None))
        self.history = history

    def step(self, action: Any) -> None:
        """Make a step."""
        self.env.step(action)
        if self.history is not None:
            self.history.actions.append(action)
            self.history.shown.append(shown_after(self.env, None))


class RememberMoves(BaseParallelWrapper):  # type: ignore[misc]
    """Keeps what was done with a PettingZoo environment in which agents choose at once; see :class:`Remember`.

    Attributes
    ----------
    observations, infos : dict
        What was said last.
    """

    def __init__(self, env: ParallelEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self.history: History | None = None
        self.observations: Any = None
        self.infos: Any = None

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Reset the environment."""
        history = History(self.env, {"seed": seed, "options": options})
        self.observations, self.infos = begun(self.env.reset(seed=seed, options=options))
        history.shown.append(shown_after(self.env, (self.observations, self.infos)))
        self.history = history
        return self.observations, self.infos

    def step(self, actions: Any) -> Any:
        """Make a step."""
        said = self.env.step(actions)
        try:
            self.observations, _, _, _, self.infos = said
        except (TypeError, ValueError):
            raise wrong(said, actions) from None
        if self.history is not None:
            self.history.actions.append(dict(actions))
            self.history.shown.append(shown_after(self.env, said))
        return said


def remember(env: Any) -> Any:
    """Return an environment in a wrapper that keeps what is done with it, so that planners can do it again.

    Wrap before the first reset. Planners then replay what cannot be copied, and draw anew what the player to move
    cannot know. :class:`Remember` says more.

    Parameters
    ----------
    env : gymnasium.Env, pettingzoo.AECEnv or pettingzoo.ParallelEnv

    Raises
    ------
    TypeError
        If it is none of these.
    """
    for kind, wrapper in ((gymnasium.Env, Remember), (AECEnv, RememberTurns), (ParallelEnv, RememberMoves)):
        if isinstance(env, kind):
            return wrapper(env)
    raise TypeError(refused(env))
