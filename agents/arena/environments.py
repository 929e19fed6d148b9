"""Environments by how people name them: ids of Gymnasium, modules of PettingZoo, functions of one's own."""

import difflib
import importlib.util
import re
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import gymnasium
import pettingzoo
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

import mcts_envs
from agents import bridge
from agents.bridge.layers import in_turns
from agents.reading import digest_of, read
from agents.wrappers import named
from mcts_envs.core import errors
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.multi import GameAECEnv
from mcts_envs.core.compiling.sources import closure_digest
from mcts_envs.core.loading import file_of, load, parted
from mcts_envs.core.own_code import is_own
from mcts_envs.registry import ENTRIES, full_id, registered_with_pettingzoo

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
    ImportError
        If a library that a game of PettingZoo needs is missing.
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
        env = in_turns(env)  # looked at, it is copied as what it is
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


def read_again(name: str) -> None:
    """Read again what was edited of the files that make an environment, as beside a notebook.

    Raises
    ------
    ValueError
        If one cannot be imported.
    """
    if source := parted(name)[0]:
        read(source)
    for module in _makers(name):
        if isinstance(module, str):
            read(module)


def digests_of(name: str) -> dict[str, str]:
    """Hash the files that make an environment: the one in its name, and those of one's own that it is registered from.

    Raises
    ------
    ValueError
        If it was defined in a notebook or at a prompt.
    """
    source = file_of(parted(name)[0])
    found = {} if source is None else {source.name: closure_digest(source)[:16]}
    for maker in _makers(name):
        named = isinstance(maker, str)
        if (file := _file(name, maker)) != source:
            digest = closure_digest(file) if named else digest_of(maker, file)
            found[maker if named else maker.__module__] = digest[:16]
    return found


def _makers(name: str) -> list[Any]:
    """Return what an id, or a module, stands for: modules by name, functions, classes, the kernels of a game.

    Those of one's own alone: what is installed has a release.
    """
    known, registered = id_of(name), _of_pettingzoo(name)
    makers: list[Any] = [] if parted(name)[1] else [name]
    if known in ENTRIES:
        game = ENTRIES[known].settings.get("game")
        parts = [game] if callable(game) else getattr(game, "__dict__", {}).values()
        makers = [part for part in parts if callable(part)]
    elif known in gymnasium.registry:
        makers = [gymnasium.registry[known].entry_point]
    elif registered is not None:
        makers = [ids[registered].entry_point for ids in _REGISTERED.values() if registered in ids]
    makers = [maker.partition(":")[0] if isinstance(maker, str) else maker for maker in makers]
    return [maker for maker in makers if _is_own(maker)]


def _is_own(maker: Any) -> bool:
    """Say whether this is a module of one's own, or a function or a class from one."""
    module = sys.modules.get(getattr(maker, "__module__", None) or "")
    file = file_of(maker) if isinstance(maker, str) else getattr(module, "__file__", None)
    return is_own(str(file)) if file is not None else getattr(module, "__name__", None) == "__main__"


def _file(name: str, maker: Any) -> Path:
    file = file_of(maker) if isinstance(maker, str) else getattr(sys.modules[maker.__module__], "__file__", None)
    if file is None:
        raise ValueError(
            f"environment {name!r} is in no file, by which results would know whether it was edited: write it to one, "
            f"in a notebook by %%writefile my_game.py, and give my_game.py:{name}"
        )
    return Path(file).resolve()


def _made(name: str, settings: dict[str, Any]) -> Any:
    known = id_of(name)
    if known in gymnasium.registry:
        return gymnasium.make(known, disable_env_checker=True, **settings)
    if (registered := _of_pettingzoo(name)) is not None:
        try:
            return pettingzoo.make("aec" if registered in _REGISTERED["aec"] else "parallel", registered, **settings)
        except Exception as error:  # PettingZoo's own class, for a library that is missing
            if isinstance(error.__cause__, ImportError):
                raise ImportError(f"{error} ({error.__cause__})") from error
            raise
    source, colon, asked = parted(name)
    if known != name or ("/" in name and not colon):
        if near := _near(asked):
            raise ValueError(f"unknown environment {asked!r}; did you mean {', '.join(near)}?")
        unknown = errors.unknown("environment", asked, mcts_envs.environment_ids())
        cure = "" if colon else f"; name the file or the package of another one, FILE.py:{asked} or PACKAGE:{asked}"
        raise ValueError(unknown + cure)
    maker: Any = getattr(load(source), asked) if source else _maker(name)
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
