"""Live environments as planners see them."""

import math
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import gymnasium
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import parallel_to_aec_wrapper

from agents.base import own_view
from agents.bridge.copying.classes import has_table
from agents.bridge.foreseeing import foresee, foreseen
from agents.bridge.games import game_of_one, game_of_several, require_spaces
from agents.bridge.hidden import Hidden
from agents.bridge.kinds import in_cycle
from agents.bridge.layers import innermost, peeled
from agents.bridge.means import copier_of
from agents.bridge.observation_wrappers import lenses_in_turn, lenses_of, looking, through, veils_of
from agents.bridge.pool import PARTICLES
from agents.bridge.refusing import refused
from agents.bridge.remembering import History, Remember, RememberMoves, RememberTurns, fingerprint
from agents.bridge.states import ForeignState
from agents.bridge.step_wrappers import changing, dressed
from agents.budget import NO_LIMIT
from agents.wrappers import check_steps, check_wrappers, layers_of, repeats_of
from mcts_envs.core import errors
from mcts_envs.core.own_code import warn
from mcts_envs.core.view import Episode, View


def view(env: Any, agent: Any = None, *, observation: Any = None, info: Any = None) -> View:
    """Return the view of a live environment that planners take.

    Parameters
    ----------
    env : gymnasium.Env, pettingzoo.AECEnv or pettingzoo.ParallelEnv
        Wrapped or not. Its actions are ``Discrete``.
    agent : hashable, optional
        Who looks, in PettingZoo; by default the one that is to choose. A number, in a batch of games of ours.
    observation, info : object, optional
        What ``reset`` or ``step`` returned last, in case it holds an ``action_mask`` that the environment does not tell
        otherwise.

    Raises
    ------
    TypeError
        If it is no such environment, its actions are not discrete, or a wrapper changes them.
    ValueError
        If there is no such agent, or several choose at once and none is named.
    """
    if isinstance(env, gymnasium.Env) and agent is not None:
        raise ValueError(f"agent {agent!r} in a Gymnasium environment, which has one player; leave it out")
    own = own_view(env, agent)
    return foreign_view(env, agent, observation=observation, info=info) if own is None else own


def foreign_view(env: Any, agent: Any = None, *, observation: Any = None, info: Any = None) -> View:
    """Return the view of a live environment that is copied, whatever it says of itself; as for :func:`view`."""
    if isinstance(env, gymnasium.Env):
        check_wrappers(env, changing(layers_of(env)))
        live: Any = LiveSingle(env, observation, info)
        return View(live.game, live, 0, _episode(live))
    if not isinstance(env, (AECEnv, ParallelEnv)):
        raise TypeError(refused(env))
    layers, chooser = peeled(env)
    if isinstance(layers[-1], ParallelEnv):
        live = LiveParallel(layers, observation, info)
        agent = live.only_agent() if agent is None and chooser is None else chooser if agent is None else agent
    else:
        live = LiveAEC(layers)
        agent = live.selected() if agent is None else agent
    if agent not in live.game.numbers:
        raise ValueError(errors.unknown("agent", agent, map(str, live.game.numbers)))
    check_steps(layers)
    return View(live.game, live, live.game.numbers[agent], None if live.history is None else live.history.episode)


class _Live:
    """What is so of every live environment until it is said otherwise.

    It is ``silent`` where it does not say again what it has shown, and nothing else knows. ``time_limit`` is that of a
    search of it, in seconds; by ``luck`` is drawn what it hides, from among so many ``courses`` of the game.
    """

    version = 0
    at_root = True
    together = False
    time_limit = math.inf
    luck = 0
    courses = PARTICLES
    wrappers: Any = ()
    looks: Any = (), ()
    seen: Any

    @property
    def silent(self) -> bool:
        return self.seen is None

    def copy(self) -> ForeignState:
        """Return a copy to search from."""
        return _root(self)


class LiveSingle(_Live):
    """The present state of a Gymnasium environment; ``running`` is its episode, whatever is around it."""

    running: Any = None

    def __init__(self, env: Any, observation: Any, info: Any) -> None:
        self.env = innermost(env)
        require_spaces(self.env)
        self._layers = layers_of(env)
        self.wrappers = changing(self._layers)
        self.dressed = dressed(self.env, self.wrappers)
        self.history = _history(self._layers, Remember)
        self._told = observation, info
        self.veils = veils_of(self._layers)
        lenses, self._end = lenses_of(self._layers)
        self.lenses = self._lenses(lenses)
        self.looks = self._looks(lenses)
        seen = getattr(self.env, "observation_space", None)
        shown = next((lens.observation_space for lens in reversed(lenses)), seen)
        self.game = game_of_one(self.env, self.wrappers, getattr(env, "action_space", None), shown)

    def _lenses(self, lenses: list[Any]) -> tuple[list[Any], list[Any]]:
        """Return the observation wrappers, and those that what was observed last did not come through yet."""
        if self._told[0] is not None:
            return lenses, []
        at = next((i for i, layer in enumerate(self._layers) if isinstance(layer, Remember)), None)
        if at is None:  # what a search has foreseen came through none
            return lenses, lenses
        return lenses, [lens for lens in lenses if any(lens is layer for layer in self._layers[:at])]

    def _looks(self, lenses: list[Any]) -> tuple[Any, Any]:
        """Return the observation wrappers by which states are told apart, and those of the state observed last."""
        if self._told[0] is not None:
            return lenses, ()
        inner = range(self._end + 1, len(self._layers))
        at = next((place for place in inner if isinstance(self._layers[place], Remember)), len(self._layers))
        outside = [lens for lens in lenses if any(lens is layer for layer in self._layers[:at])]
        beyond = looking(outside)
        return [*lenses[: len(lenses) - len(outside)], *beyond], beyond

    def foresee(self, action: int, seconds: float) -> None:
        """Let the state be known again after an action; see :func:`agents.bridge.foreseeing.foresee`."""
        foresee(self, self.running, action, seconds)

    def elapsed(self) -> int | None:
        """Return how many steps the episode has taken; None where nothing counts them."""
        counts = [vars(layer)["_elapsed_steps"] for layer in self._layers if "_elapsed_steps" in vars(layer)]
        return counts[0] if counts else None

    @property
    def left(self) -> int:
        """Steps before a time limit."""
        times, limits = 1, []
        for layer in self._layers[:-1]:
            times *= repeats_of(layer)
            if {"_max_episode_steps", "_elapsed_steps"} <= vars(layer).keys():
                limits.append(-(-(layer._max_episode_steps - (layer._elapsed_steps or 0)) // times))
        if limits:
            return int(min(limits))
        spec = self.env.spec
        specs = [spec, gymnasium.registry.get(spec.id)] if spec else []  # gym.make takes the limit out of the first
        most = next((each.max_episode_steps for each in specs if each and each.max_episode_steps), NO_LIMIT)
        return -(-most // times)

    @property
    def bits(self) -> int:
        """Whether there is anything to choose."""
        for layer in self._layers:
            known = vars(layer)
            if known.get("_has_reset") is False or ("_elapsed_steps" in known and known["_elapsed_steps"] is None):
                raise _not_reset(self.env)
            if known.get("needs_reset") is True or (isinstance(layer, Remember) and layer.over):
                return 0
        return int(self.left > 0)

    @property
    def truncated(self) -> bool:
        """Whether the time limit was reached."""
        return self.left <= 0

    @property
    def seen(self) -> Any:
        """What was observed last, where something remembers it as states to come will show it."""
        kept = [layer.observation for layer in self._layers[self._end + 1 :] if isinstance(layer, Remember)]
        if self._told[0] is not None or kept:
            return kept[0] if self._told[0] is None else self._told[0]
        known = foreseen(self)
        return None if known is None else known.seen

    @property
    def shown(self) -> Any:
        """What was observed last through all wrappers, where something remembers it outside of what keeps the past."""
        at = next((i for i, layer in enumerate(self._layers) if isinstance(layer, Remember)), None)
        if self._told[0] is not None or at is None:
            return self._told[0]
        kept: Any = self._layers[at]
        lenses, end = lenses_of(self._layers[: at + 1])
        return None if end >= 0 or kept.observation is None else through(lenses, kept, kept.observation)

    @property
    def infos(self) -> Any:
        """The last ``info``, where something remembers it."""
        kept = [layer.info for layer in self._layers if isinstance(layer, Remember)]
        if self._told[1] is not None or kept:
            return kept[0] if self._told[1] is None else self._told[1]
        if has_table(self.env.__class__) and hasattr(self.env, "action_mask"):  # the taxi's
            return {"action_mask": self.env.action_mask(self.env.s)}
        known = foreseen(self)
        return None if known is None else known.infos


class LiveAEC(_Live):
    """The present state of a PettingZoo environment in which agents choose in turn."""

    left = NO_LIMIT
    seen = infos = None
    silent = False

    def __init__(self, layers: list[Any]) -> None:
        self.env = layers[-1]
        self._layers = layers
        self.veils = veils_of(layers)
        self.history = _history(layers, RememberTurns)
        self.together = bool(getattr(self.env, "metadata", {}).get("is_parallelizable"))
        lenses = lenses_in_turn(layers)
        self.lenses = lenses, lenses
        self.game = game_of_several("CYCLE" if self.together else "AEC", layers, lenses)

    def selected(self) -> Any:
        """Return the agent that is to choose."""
        if not hasattr(self.env, "agent_selection"):
            raise _not_reset(self.env)
        return self.env.agent_selection

    @property
    def bits(self) -> int:
        """Who is to choose."""
        if any(vars(layer).get("_has_reset") is False for layer in self._layers):
            raise _not_reset(self.env)
        agent = self.selected()
        if agent not in self.env.agents or self.env.terminations[agent] or self.env.truncations[agent]:
            return 0
        return in_cycle(self.env, self.game.numbers) if self.together else int(1 << self.game.numbers[agent])

    @property
    def truncated(self) -> bool:
        """Whether an agent was cut off."""
        return any(self.env.truncations.values())


_SAID = {RememberMoves: ("observations", "infos"), parallel_to_aec_wrapper: ("_observations", "infos")}
"""Layers that keep what a parallel environment said last, and where."""


class LiveParallel(_Live):
    """The present state of a PettingZoo environment in which all live agents choose at once."""

    veils: Any = ()
    left = NO_LIMIT
    truncated = False

    def __init__(self, layers: list[Any], observations: Any, infos: Any) -> None:
        self.env = layers[-1]
        self._layers = layers
        self.history = _history(layers, (RememberTurns, RememberMoves))
        for layer in layers:
            names = next((names for kind, names in _SAID.items() if isinstance(layer, kind)), None)
            if names is not None:
                observations = vars(layer).get(names[0]) if observations is None else observations
                infos = vars(layer).get(names[1]) if infos is None else infos
        self.seen, self.infos = observations, infos
        if self.seen is None and hasattr(self.env, "aec_env") and hasattr(self.env, "agents"):
            self.seen = {agent: self.env.aec_env.observe(agent) for agent in self.env.agents}
        lenses = lenses_in_turn(layers)
        self.lenses = lenses, lenses
        self.game = game_of_several("PARALLEL", layers, lenses)

    def only_agent(self) -> Any:
        """Return the agent that is to choose, if there is no other."""
        agents = self.env.agents if hasattr(self.env, "agents") else self.env.possible_agents
        if not agents:
            raise ValueError(f"nobody is to choose in {self.game.name}: the episode is over; call reset()")
        if len(agents) != 1:
            raise ValueError(
                f"{self.game.name} has {len(agents)} agents that choose at once; say for whom: "
                "agents.bridge.view(env, agent)"
            )
        return agents[0]

    @property
    def bits(self) -> int:
        """Who is to choose."""
        if not hasattr(self.env, "agents") or any(vars(layer).get("_has_reset") is False for layer in self._layers):
            raise _not_reset(self.env)
        return sum(1 << self.game.numbers[agent] for agent in self.env.agents)


def _root(live: Any) -> ForeignState:
    live.game.watch.begin()
    state = ForeignState(live.game)
    state.become(live, copier_of(live, state))
    where = live.game.notes.get("tells")
    said, shown = getattr(live, where or "seen"), where == "seen" and isinstance(live, LiveSingle)
    told = isinstance(said, Mapping) and (not shown or "action_mask" in said)  # a wrapper may have taken it out
    if where and not told and ("missed", where) not in live.game.notes:
        live.game.notes["missed", where] = True
        inside = ", inside of wrappers that change what it shows," if shown else ""
        warn(
            f"what is legal in {live.game.name} stands in its {'infos' if where == 'infos' else 'observations'}, of "
            "which nothing keeps the last: the first action is chosen among all; wrap it in agents.remember(env)"
            f"{inside} before reset",
        )
    state.hidden = Hidden(live)
    return state


def _not_reset(env: Any) -> ResetNeeded:
    return ResetNeeded(f"{type(env).__name__} was not reset; call reset() first")


def _history(layers: list[Any], kinds: Any) -> History | None:
    """Return what the outermost wrapper that remembers has kept; None if there is none, or it was not reset."""
    return next((layer.history for layer in layers if isinstance(layer, kinds)), None)


_AROUND: "WeakKeyDictionary[Episode, WeakKeyDictionary[Any, Episode]]" = WeakKeyDictionary()


def _episode(live: LiveSingle) -> Episode | None:
    """Return the token of the running episode in these wrappers: in others it pays something else."""
    live.running = episode = _running(live)
    if episode is None or not live.wrappers:
        return episode
    outermost = live.wrappers[0]
    if type(outermost).__hash__ is None:
        return None
    return _AROUND.setdefault(episode, WeakKeyDictionary()).setdefault(outermost, Episode())


_EPISODES: "WeakKeyDictionary[Any, tuple[int, int | None, Any, Episode]]" = WeakKeyDictionary()


def _running(live: LiveSingle) -> Episode | None:
    """Return the token of the running episode: where nothing counts its steps, of a new one unless it was foreseen."""
    if live.history is not None:
        return live.history.episode
    elapsed = live.elapsed()
    if type(live.env).__hash__ is None:
        return None
    if elapsed is None:
        known = foreseen(live)
        return Episode() if known is None else known.episode
    shown, chance = None if live.seen is None else fingerprint(live.seen), getattr(live.env, "_np_random", None)
    before, last, drawn, episode = _EPISODES.get(live.env, (0, None, None, None))
    other = elapsed == before and None not in (shown, last) and shown != last  # as after an episode of one step
    other |= chance is not drawn and None not in (chance, drawn)  # a reset with a seed makes another generator
    if episode is None or elapsed < before or other:
        episode = Episode()
    shown = last if shown is None and elapsed == before else shown
    _EPISODES[live.env] = elapsed, shown, drawn if chance is None else chance, episode
    return episode
