"""Agents that play the games of :mod:`mcts_envs`: planners, scripted players and trained policies."""

import difflib
import importlib
import re
from typing import TYPE_CHECKING, Any, Literal, overload

from mcts_envs.core import errors, loading

if TYPE_CHECKING:
    from agents.base import Agent
    from agents.mcts import MCTS

MCTS_ENVS = True
"""Tells this package from the others that are imported under the name ``agents``."""

_SHIPPED = "agents.planners.sb3:ShippedAgent"

NAMES = {
    "alpha_beta": "agents.planners.alpha_beta:AlphaBeta",
    "auto": "agents.planners.auto:Auto",
    "determinized": "agents.planners.determinized:Determinized",
    "dqn": _SHIPPED,
    "expert_iteration": _SHIPPED,
    "flat_mc": "agents.planners.flat:FlatMonteCarlo",
    "graph": "agents.planners.graph:Graph",
    "gumbel": "agents.planners.gumbel:Gumbel",
    "halving": "agents.planners.halving:SequentialHalving",
    "maskable_ppo": _SHIPPED,
    "mcts": "agents.mcts:MCTS",
    "one_step": "agents.planners.flat:OneStep",
    "policy_search": "agents.planners.policy_search:PolicySearch",
    "ppo": _SHIPPED,
    "puct": "agents.planners.puct:PUCT",
    "random": "agents.planners.builtin:RandomAgent",
    "rhea": "agents.planners.rhea:Rhea",
    "runs": "agents.planners.runs:Runs",
    "scripted": "agents.planners.builtin:ScriptedAgent",
    "uniform": "agents.planners.builtin:UniformAgent",
}
"""Agents by name; the module is imported when the agent is made."""

_CALLED = {
    "a2c": "sb3:PATH",
    "alphazero": "puct",
    "ismcts": "mcts",
    "minimax": "alpha_beta",
    "muzero": "gumbel",
    "negamax": "alpha_beta",
    "pimc": "determinized",
    "ucb": "mcts",
    "ucb1": "mcts",
    "uct": "mcts",
}
"""What these are called elsewhere, or the nearest to it that there is."""


@overload
def make(
    name: Literal["determinized", "flat_mc", "gumbel", "halving", "mcts", "one_step", "puct"],
    *,
    seed: int = 0,
    **settings: Any,
) -> "MCTS": ...
@overload
def make(name: str, *, seed: int = 0, **settings: Any) -> "Agent": ...
def make(name: str, *, seed: int = 0, **settings: Any) -> "Agent":
    """Return an agent.

    Parameters
    ----------
    name : str
        One of :func:`names`, ``"sb3:PATH"`` for a policy that Stable-Baselines3 trained, or a class or function of
        one's own, ``"path/to/file.py:Class"`` or ``"package.module:Class"`` (:mod:`agents.own`). Names that a game
        brings (``"mcts_paper"``) get their settings from the game at the first move.
    seed : int
        Start of the agent's random stream.
    **settings
        Settings of the agent, such as ``simulations=1000``; ``mcts-envs info NAME`` lists them.

    Raises
    ------
    ValueError
        If the name is unknown, or a setting is out of its bounds.
    TypeError
        If the agent has no such setting.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"agent {name!r} is {type(name).__name__}, not a name{errors.unsaved(name)}; names: {', '.join(names())}"
        )
    if written := re.search(r"(?<!^sb3):(\w+)=", name):
        raise ValueError(
            f"agent {name!r} has settings in its name, as scripts/compare.py takes them; here they are arguments: "
            f"agents.make({name[: written.start()]!r}, {written[1]}=...)"
        )
    if name.startswith("sb3:"):
        if not name[4:]:
            raise ValueError("agent 'sb3:' names no policy; write the path of a zip behind it: sb3:model.zip")
        return _load("agents.planners.sb3:SB3Agent", name, {"path": name[4:], "seed": seed, **settings})
    if name in NAMES:
        return _load(NAMES[name], name, {"seed": seed, **settings}, *[name] * (NAMES[name] == _SHIPPED))
    if name in names():
        return _load("agents.planners.preset:PresetAgent", name, {"preset": name, "seed": seed, **settings})
    if loading.parted(name)[1]:
        from agents import own

        return own.make(name, seed, settings)
    called = errors.saved(name) or _CALLED.get(re.sub(r"[^a-z0-9]", "", name.lower()))
    called = f"{name}:CLASS" if name.endswith(".py") else called
    raise ValueError(errors.unknown("agent", name, [*names(), "sb3:PATH", "FILE.py:CLASS"], called))


def names() -> list[str]:
    """Return the names of all agents, those that games bring included."""
    from mcts_envs.registry import ENTRIES

    return sorted({*NAMES, *(preset for entry in ENTRIES.values() for preset in entry.presets)})


def takes_budget(name: str) -> bool:
    """Say whether an agent takes a budget: ``simulations``, ``time_limit`` (seconds) or ``max_steps`` (of the model).

    Its class says so (``Agent.takes_budget``), one of your own too. A name that games bring takes one if that of any of
    them does, whose preset may refuse it.
    """
    from mcts_envs.registry import ENTRIES

    if name in NAMES:
        return bool(_class(NAMES[name]).takes_budget)
    if loading.parted(name)[1] and not name.startswith("sb3:"):
        from agents import own

        return bool(getattr(own.class_of(name), "takes_budget", False))
    brought = [entry.presets[name] for entry in ENTRIES.values() if name in entry.presets]
    return any(takes_budget(str(preset["agent"])) for preset in brought if preset.get("takes_budget", True))


def export(path: Any, to: Any = None, **settings: Any) -> Any:
    """Write the network of a policy of Stable-Baselines3 as plain arrays; see :func:`agents.learning.export.export`.

    ``agents.make("sb3:NAME.npz")`` then plays it without Stable-Baselines3 and PyTorch.
    """
    from agents.learning.export import export as write

    return write(path, to, **settings)


def show(result: Any, env: Any = None) -> Any:
    """Return a search for a notebook, as a page: board, actions, tree; see :func:`agents.inspection.showing.show`."""
    from agents.inspection.showing import show as shown

    return shown(result, env)


def picture(result: Any, env: Any = None, **settings: Any) -> Any:
    """Return a position with what a search thinks drawn on it, as SVG or pixels: :mod:`agents.inspection.overlay`."""
    from agents.inspection.overlay import picture as drawn

    return drawn(result, env, **settings)


def remember(env: Any) -> Any:
    """Return an environment in a wrapper that keeps what is done with it; see :func:`agents.bridge.remember`.

    Wrap an environment of others before its first reset: planners then replay what cannot be copied, and draw anew what
    the player cannot know.
    """
    from agents import bridge

    return bridge.remember(env)


def check_planning(env: Any) -> Any:
    """Check the laws of planning in an environment of others; see :func:`agents.bridge.checking.check_planning`.

    Print what it returns: which laws hold, what speaks for it, and what is hidden.
    """
    from agents import bridge

    return bridge.check_planning(env)


if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)


def _class(path: str) -> Any:
    module, attribute = path.split(":")
    return getattr(importlib.import_module(module), attribute)


def _load(path: str, name: str, settings: dict[str, Any], *given: Any) -> "Agent":
    kind = _class(path)
    try:
        agent: Agent = kind(*given, **settings)
    except TypeError as error:
        refused = re.search(r"keyword arguments?:? '(\w+)'", str(error))  # Python 3.13 adds a guess of its own
        if refused is None or refused[1] not in settings:
            raise
        from agents.settings import settings_of

        known = settings_of(kind)
        close = difflib.get_close_matches(refused[1], known, n=1)
        meant = f"; did you mean {close[0]!r}? Known:" if close else "; known:"
        raise TypeError(
            f"agent {name!r} has no setting {refused[1]!r}{meant} {', '.join(sorted(known)) or 'none'}; class {path}"
        ) from None
    return agent
