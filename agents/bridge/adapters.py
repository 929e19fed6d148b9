"""Adapters: what classes of environments do not say themselves, told to planners."""

import functools
import importlib
from importlib.metadata import entry_points
from typing import Any

from agents.bridge.copying.classes import KINDS, name_of

GROUP = "mcts_envs.adapters"
"""Entry points of packages that bring adapters: the full name of a class of environments, and where its adapter is."""

SHIPPED = {
    "agents.bridge.functional.PgxEnvironment": "agents.bridge.shipped.pgx:Pgx",
    "gymnasium.envs.box2d.bipedal_walker.BipedalWalker": "agents.bridge.shipped.bipedal_walker:BipedalWalker",
    "gymnasium.envs.box2d.car_racing.CarRacing": "agents.bridge.shipped.car_racing:CarRacing",
    "gymnasium.envs.box2d.lunar_lander.LunarLander": "agents.bridge.shipped.lunar_lander:Lander",
    "gymnasium.envs.classic_control.acrobot.AcrobotEnv": "agents.bridge.shipped.acrobot:Acrobot",
    "gymnasium.envs.toy_text.blackjack.BlackjackEnv": "agents.bridge.shipped.blackjack:Blackjack",
    "jumanji.wrappers.JumanjiToGymWrapper": "agents.bridge.shipped.jumanji:Jumanji",
    "minigrid.minigrid_env.MiniGridEnv": "agents.bridge.shipped.minigrid:MiniGrid",
    "pettingzoo.classic.hanabi.hanabi.raw_env": "agents.bridge.shipped.open_spiel:Hanabi",
    "pettingzoo.classic.rlcard_envs.leduc_holdem.raw_env": "agents.bridge.shipped.holdem:Holdem",
    "pettingzoo.classic.rlcard_envs.texas_holdem.raw_env": "agents.bridge.shipped.holdem:Holdem",
    "pettingzoo.classic.rlcard_envs.texas_holdem_no_limit.raw_env": "agents.bridge.shipped.holdem:Holdem",
    "pettingzoo.classic.rps.rps.raw_env": "agents.bridge.shipped.rock_paper_scissors:RockPaperScissors",
    "shimmy.openspiel_compatibility.OpenSpielCompatibilityV0": "agents.bridge.shipped.open_spiel:OpenSpiel",
}
"""Classes of environments by full name, and where the adapters that come with this package are."""

_REGISTERED: dict[str, "Adapter"] = {}


class Adapter:
    """What an environment does not say itself: any of these methods; ``env`` is unwrapped, ``kind`` is its class.

    ``copy(env) -> snapshot`` and ``restore(env, snapshot)``
        The state, which another environment, made and reset in the same way, can take over: all that is to come is
        then the same, bit by bit, but for chance.
    ``generators(env) -> list``
        The random generators that steps of a copy draw from, where finding them takes long: all that it holds is looked
        through otherwise, before every simulation.
    ``key(env) -> object``
        What tells states apart, in plain data and arrays: everything but chance to come.
    ``determinize(env, agent, chance)``
        Draws anew, in place, what the agent cannot know, as likely as it can be: what it was shown stays as it is. The
        agent is PettingZoo's name of it, None in Gymnasium; ``chance`` is a ``numpy.random.Generator``. Where it raises
        NotImplementedError, what is hidden is drawn by replay, as if there were no such method.
    ``hides(env) -> bool``
        Whether there is anything that some player cannot know, where that differs between games of the class.
    ``legal(env, agent) -> bools [A]``
        Which actions are legal for the agent, who is to choose.
    ``actions(env, agent) -> list of int``
        The same as a list, counted from 0, where that is faster: one action at least.
    ``evaluate(env) -> floats [P]``
        What an unfinished state is worth to each player, in units of reward.
    ``play(env, draw, most) -> int``
        Plays on, in turns, as ``step`` would, where nothing is paid before the end: whoever chooses takes
        ``actions[draw(len(actions))]``, until the end or ``most`` steps are made. How many were: 0 leaves it to
        ``step``.
    ``draws(env, whether)`` with ``observe(env, agent) -> observation``
        Whether steps of a copy draw what they show, where that takes most of their time: simulations step without it,
        and ask ``observe`` for what is shown now, with or without, where they look at it.
    ``hastened(kind) -> class``
        A class derived from that of the environment, which copies are made: its steps take less time and come to the
        same, bit by bit. ``kind`` itself where there is none.
    ``renew(env)``
        Makes anew what earlier episodes have left their mark on, as a world that counts on: called before a reset of
        what :func:`agents.remember` remembers, so that another environment, reset in the same way, goes on as it does.
    """

    copy: Any = None
    restore: Any = None
    generators: Any = None
    key: Any = None
    determinize: Any = None
    hides: Any = None
    legal: Any = None
    actions: Any = None
    evaluate: Any = None
    play: Any = None
    draws: Any = None
    observe: Any = None
    hastened: Any = None
    renew: Any = None


def register(kind: type | str, adapter: Adapter) -> None:
    """Let planners look at a class of environments, and those derived from it, through an adapter.

    Parameters
    ----------
    kind : type or str
        The class of the unwrapped environment, or its full name, ``"package.module.Class"``, before it is imported. A
        package brings an adapter without a call by an entry point of the group ``mcts_envs.adapters`` with this name.
    adapter : Adapter
        In place of any that is known for the class.

    Raises
    ------
    TypeError
        If the adapter is none, or has one of two methods that go together.
    """
    if not isinstance(adapter, Adapter):
        raise TypeError(f"{adapter!r} is no agents.bridge.Adapter; derive its class from that and give an instance")
    for one, other in ("copy", "restore"), ("draws", "observe"):
        if (getattr(adapter, one) is None) != (getattr(adapter, other) is None):
            raise TypeError(f"{type(adapter).__name__} has one of {one} and {other}; give both, or neither")
    _REGISTERED[kind if isinstance(kind, str) else name_of(kind)] = adapter
    adapter_of.cache_clear()


@functools.lru_cache(KINDS)
def adapter_of(kind: Any) -> Adapter | None:
    """Return the adapter of a class of environments: its own, or that of the nearest class above it."""
    for base in kind.__mro__:
        name = name_of(base)
        if name in _REGISTERED:
            return _REGISTERED[name]
        if name in _brought():
            brought: type[Adapter] = _brought()[name].load()
            return brought()
        if name in SHIPPED:
            module, attribute = SHIPPED[name].split(":")
            kind_of_adapter: type[Adapter] = getattr(importlib.import_module(module), attribute)
            return kind_of_adapter()
    return None


@functools.cache
def _brought() -> dict[str, Any]:
    """Return the entry points of adapters by the names of classes."""
    return {found.name: found for found in entry_points(group=GROUP)}
