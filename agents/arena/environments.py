"""Environments by how people name them: ids of Gymnasium, modules of PettingZoo, functions of one's own."""

import difflib
import importlib.util
import re
from itertools import chain
from typing import Any

import gymnasium
import pettingzoo
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import parallel_to_aec

import mcts_envs
from agents import bridge
from agents.wrappers import named
from mcts_envs.core import errors
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.multi import GameAECEnv
from mcts_envs.core.loading import load, parted
from mcts_envs.registry import full_id, registered_with_pettingzoo

_VERSION = re.compile(r"_v(\d+)$")
_ONE_SEAT = ("opponent", "seat")
_REGISTERED = registered_with_pettingzoo()


def make(name: str, settings: dict[str, Any]) -> Any:
    """Make an environment: a Gymnasium one, or an AEC one where agents meet. Those of others remember what is done.

    Parameters
    ----------
    name : str
        An id of Gymnasium; ``"module:ID"``, where the module registers it; a module of PettingZoo,
        ``"pettingzoo.classic.tictactoe_v3"``, or its registered id, ``"classic/tictactoe-v3"``; or
        ``"module:function"`` of one that makes it.
    settings : dict

    Raises
    ------
    ValueError
        If there is no such environment, a setting is out of its bounds, or a game of ours is in a wrapper that changes
        observations or actions.
    TypeError
        If there is no such setting, the actions are not discrete, or it is no environment.
    """
    env = _made(name, settings)
    inner: Any = env.unwrapped
    if isinstance(inner, GameEnv):
        _check_bare(name, env)
        spec: Any = env.spec
        given = settings if spec is None else spec.kwargs
        if inner.game.players == 1 or not given.keys().isdisjoint(_ONE_SEAT):
            return env
        return GameAECEnv(type(inner), **given)
    if isinstance(inner, GameAECEnv):
        return inner
    if isinstance(env, ParallelEnv):
        env = parallel_to_aec(env)  # looked at, it is copied as what it is
    if isinstance(env, AECEnv):
        _check_discrete(name, env)
    else:
        bridge.view(env)
    return bridge.remember(env)


def id_of(name: str) -> str:
    """Return the id by which an environment is known; its name, if that is of PettingZoo or a function of one's own."""
    module, colon, rest = parted(name)
    if _of_pettingzoo(name) or (not colon and _is_module(name)):
        return name
    known = full_id(name)
    return name if known not in gymnasium.registry and colon and callable(getattr(load(module), rest, None)) else known


def _made(name: str, settings: dict[str, Any]) -> Any:
    known = id_of(name)
    if known in gymnasium.registry:
        return gymnasium.make(known, disable_env_checker=True, **settings)
    if (registered := _of_pettingzoo(name)) is not None:
        return pettingzoo.make("aec" if registered in _REGISTERED["aec"] else "parallel", registered, **settings)
    if known != name:
        colon, asked = parted(name)[1:]
        if near := _near(asked):
            raise ValueError(f"unknown environment {asked!r}; did you mean {', '.join(near)}?")
        unknown = errors.unknown("environment", asked, mcts_envs.environment_ids())
        cure = "" if colon else f"; name the file or the package of another one, FILE.py:{asked} or PACKAGE:{asked}"
        raise ValueError(unknown + cure)
    source, _, function = parted(name)
    maker: Any = getattr(load(source), function) if source else _maker(name)
    env = maker(**settings)
    if not isinstance(env, (gymnasium.Env, AECEnv, ParallelEnv)):
        raise TypeError(f"{name} makes {env!r}, which is no environment of Gymnasium or PettingZoo")
    return env


def _near(name: str) -> list[str]:
    """Return ids of Gymnasium, and of PettingZoo by the last part of theirs, that look much like a name."""
    ids = {id.rpartition("/")[2]: id for id in chain(*_REGISTERED.values())}
    ids |= {id: id for id in gymnasium.registry}
    return [ids[found] for found in difflib.get_close_matches(_VERSION.sub(r"-v\1", name), ids, 3, 0.8)]


def _maker(module: str) -> Any:
    """Return the function ``env`` of a module, as those of PettingZoo have it."""
    loaded = load(module)
    if not callable(getattr(loaded, "env", None)):
        raise ValueError(f"module {module} has no function env, as those of PettingZoo have; write {module}:FUNCTION")
    return loaded.env


def _is_module(name: str) -> bool:
    """Say whether this names a module, as ``pettingzoo.classic.tictactoe_v3`` does."""
    if "." not in name or "/" in name or name.endswith(".py"):
        return False
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _of_pettingzoo(name: str) -> str | None:
    """Return the id by which PettingZoo knows one of its environments, or the module of one; None if it knows none."""
    known = _VERSION.sub(r"-v\1", name.removeprefix("pettingzoo.").replace(".", "/"))
    return known if any(known in ids for ids in _REGISTERED.values()) else None


def _check_bare(name: str, env: Any) -> None:
    """Raise if a wrapper around a game of ours changes what is seen or done: agents are asked about the game itself."""
    for wrapper in named(env, gymnasium.ObservationWrapper, gymnasium.ActionWrapper):
        raise ValueError(
            f"{name} puts {wrapper} around a game of ours, which no agent would notice; name the game itself, and let "
            "an agent of your own, with predict(observation), do what the wrapper does"
        )


def _check_discrete(name: str, env: AECEnv[Any, Any, Any]) -> None:
    """Raise unless agents and their discrete actions are told beforehand."""
    if not getattr(env, "possible_agents", None):
        raise TypeError(f"{name} has no possible_agents; a comparison needs to know who may play")
    for agent in env.possible_agents:
        if not isinstance(space := env.action_space(agent), spaces.Discrete):
            raise TypeError(f"{name}: the action space of {agent} is {space}; planners need Discrete(n)")
