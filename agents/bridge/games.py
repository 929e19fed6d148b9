"""The game that environments of others of one class, made in one way, are."""

import functools
import math
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

from agents.bridge import kinds
from agents.bridge.adapters import adapter_of
from agents.bridge.copying.chance import Watch
from agents.bridge.copying.classes import takes_arguments
from agents.bridge.naming import name_of, names_of, names_within
from agents.bridge.returned import asked, tried
from agents.bridge.shapes import bounds, shaped, structure
from agents.bridge.states import ForeignGame, ForeignSeat
from agents.bridge.step_wrappers import acted_on
from mcts_envs.core.rng import CHANCE_BYTES

_TOO_LONG = 2**31
"""Numbers of a flattened observation from which on it has none, as of ``Discrete(2**40)``, of which one is 1."""

_MANY = 10_000
"""Actions above which a wrapper that numbers them all would not help."""


def game_of_one(env: Any, wrappers: tuple[Any, ...], actions: Any, shown: Any) -> ForeignGame:
    """Return the game that a Gymnasium environment is.

    Parameters
    ----------
    env : gymnasium.Env
        Unwrapped.
    wrappers : tuple of Wrapper
        Around it, that change what a step does.
    actions, shown : gymnasium.Space
        Of the environment in all its wrappers, and what is observed through them.

    Raises
    ------
    TypeError
        If its actions are not discrete, or another wrapper changes them.
    """
    outermost = wrappers[0] if wrappers else env
    _check_actions(env, outermost.action_space, actions)
    seat = _seat(None, actions, env.observation_space, shown)
    names = names_within(wrappers, env) if acted_on(outermost) else names_of(env)
    return _game(_kind_of(env, wrappers), env, (seat,), names, tuple(map(type, wrappers)))


def require_spaces(env: Any) -> None:
    """Raise ``TypeError`` if a Gymnasium environment, unwrapped, has no spaces: wrappers fail with less to say."""
    for space in ("action_space", "observation_space"):
        if getattr(env, space, None) is None:
            raise TypeError(f"{type(env).__name__} has no {space}; set self.{space} in its __init__")


def game_of_several(kind: str, layers: list[Any], lenses: list[Any]) -> ForeignGame:
    """Return the game that a PettingZoo environment is, the innermost of its layers, observed through some of these."""
    env = layers[-1]
    if isinstance(env, turn_based_aec_to_parallel_wrapper):
        raise TypeError(
            f"{type(env).__name__} asks all for an action and takes that of one; plan in the environment in turns that "
            "is inside, its aec_env"
        )
    agents = getattr(env, "possible_agents", None)
    if not agents:
        raise TypeError(f"{type(env).__name__} has no possible_agents; planners need to know who may play")
    for agent in agents if len(layers) > 1 else ():
        _check_actions(env, env.action_space(agent), layers[0].action_space(agent))
    seen = env, lenses[-1] if lenses else env
    seats = tuple(_seat(a, env.action_space(a), *(each.observation_space(a) for each in seen)) for a in agents)
    return _game(kind, env, seats, names_of(env))


def _kind_of(env: Any, wrappers: tuple[Any, ...]) -> str:
    """Return where a Gymnasium environment tells what is legal."""
    if asked(env, wrappers):
        return "ASKED"
    seen = env.observation_space
    return "SHOWN" if isinstance(seen, spaces.Dict) and "action_mask" in seen.spaces else "SINGLE"


def _seat(name: Any, actions: Any, seen: Any, shown: Any) -> ForeignSeat:
    if not isinstance(actions, spaces.Discrete):
        whose = "" if name is None else f" of {name}"
        raise TypeError(f"the action space{whose} is {actions}; planners need Discrete(n): {_cure(actions, name)}")
    return ForeignSeat(name, int(actions.n), int(actions.start), seen, shown)


def _cure(actions: Any, name: Any) -> str:
    """Say what makes such actions discrete."""
    if name is not None:
        return "make the actions discrete inside the environment"
    if isinstance(actions, spaces.Box):
        count = math.prod(actions.shape)
        few = f", which makes bins ** {count} actions, or in an ActionWrapper that offers a few" * (count > 2)
        return f"wrap it in gymnasium.wrappers.DiscretizeAction(env, bins){few}"
    factors, first = _places(actions)
    if not factors:
        return "wrap it in gymnasium.wrappers.TransformAction(env, function, spaces.Discrete(n)), or an ActionWrapper"
    total = math.prod(factors)
    if total > _MANY:
        return f"these are {total:.3g} actions; offer a few in an ActionWrapper"
    several = f"numpy.unravel_index(action, {factors})"
    if any(first):
        several = f"numpy.add({several}, {first})"
    if isinstance(actions, spaces.Dict):
        several = f"dict(zip({tuple(actions)}, {several}))"
    elif not isinstance(actions, spaces.Tuple) and not any(first):
        several = f"numpy.array({several})"
    return f"wrap it in gymnasium.wrappers.TransformAction(env, lambda action: {several}, spaces.Discrete({total}))"


def _places(actions: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return how many choices each place of an action has, and the first; nothing where there is more to it."""
    if isinstance(actions, spaces.MultiBinary):
        return ((2,) * actions.shape[0], (0,)) if len(actions.shape) == 1 else ((), ())
    if isinstance(actions, (spaces.Tuple, spaces.Dict)):  # of several agents, say, for whom one chooses
        parts: Any = actions.spaces.values() if isinstance(actions, spaces.Dict) else actions.spaces
        if not all(isinstance(part, spaces.Discrete) for part in parts):
            return (), ()
        return tuple(int(part.n) for part in parts), tuple(int(part.start) for part in parts)
    if isinstance(actions, spaces.MultiDiscrete) and actions.nvec.ndim == 1:
        return tuple(actions.nvec.tolist()), tuple(actions.start.tolist())
    return (), ()


def _name(env: Any) -> str:
    spec = getattr(env, "spec", None)
    return spec.id if spec else str(getattr(env, "metadata", {}).get("name", type(env).__name__))


def _made(env: Any) -> str | None:
    """Return what an environment was made with, None where nothing says so: other settings may hide other things."""
    spec = getattr(env, "spec", None)
    kind: Any = type(env)
    said = [getattr(*each, None) for each in ((env, "_ezpickle_args"), (env, "_ezpickle_kwargs"), (spec, "kwargs"))]
    return repr(said) if any(each is not None for each in said) or not takes_arguments(kind) else None


def _check_actions(env: Any, inside: Any, outside: Any) -> None:
    if outside != inside:
        raise TypeError(
            f"a wrapper of {type(env).__name__} turns its actions {inside} into {outside}; planners play the unwrapped "
            "environment: change the actions there"
        )


_MOST = 500
"""Games that are known: of environments made otherwise each time, as on maps drawn at random, only the latest."""

_GAMES: dict[Any, ForeignGame] = {}
_TURN = RLock()
_GAMES_OF_ONE: "WeakKeyDictionary[Any, dict[Any, ForeignGame]]" = WeakKeyDictionary()
"""Those of environments of which nothing says how they were made."""


def _game(
    kind: str, env: Any, seats: tuple[ForeignSeat, ...], names: tuple[str, ...], wrappers: tuple[type, ...] = ()
) -> ForeignGame:
    """Return the game that environments of this class, made in this way, with these players are: the same one."""
    cls: Any = type(env)
    made, adapter = _made(env), adapter_of(cls)
    games = _GAMES if made is not None or cls.__hash__ is None else _GAMES_OF_ONE.setdefault(env, {})
    key = kind, cls, _name(env), made, tuple((*seat[:3], repr(seat.shown)) for seat in seats), adapter, names, wrappers
    with _TURN:
        if (known := games.pop(key, None)) is None:
            known = _new(kind, env, seats, names, adapter)
        games[key] = known  # the latest last
        if len(games) > _MOST:
            del games[next(iter(games))]
    return known


def _new(kind: str, env: Any, seats: tuple[ForeignSeat, ...], names: tuple[str, ...], adapter: Any) -> ForeignGame:
    cls: Any = type(env)
    functions, shown = kinds.adapted(kind, adapter), [seat.shown for seat in seats]
    return ForeignGame(
        name=_name(env),
        players=len(seats),
        actions=max(seat.actions for seat in seats),
        template=np.zeros(CHANCE_BYTES + 8, np.uint8),
        observation_shape=(max(_size(seat.shown) for seat in seats),),
        simultaneous=kind in ("CYCLE", "PARALLEL"),
        action_name=functools.partial(name_of, seats[0].start, names),
        seats=seats,
        watch=Watch(cls.__name__, tried),
        adapter=adapter,
        copied_as=_copied_as(cls, adapter),
        called=functools.partial(_called, seats, names),
        structure=structure(shown),
        variants=shaped(functions["observe"], shown),
        **bounds(shown),
        **functions,
    )


def _called(seats: tuple[ForeignSeat, ...], names: tuple[str, ...], player: int, action: int) -> str:
    return name_of(seats[player].start, names, action)


def _copied_as(cls: Any, adapter: Any) -> Any:
    """Return the class of copies as an adapter has it; None where they are of their original's."""
    if adapter is None or adapter.hastened is None:
        return None
    made = adapter.hastened(cls)
    if not (isinstance(made, type) and issubclass(made, cls)):
        said = f"{type(adapter).__name__}.hastened({cls.__name__}) is {made!r}"
        raise TypeError(f"{said}; return a class that is derived from {cls.__name__}, or that itself")
    return None if made is cls else made


def _size(space: Any) -> int:
    """Return the length of a flattened observation; 0 where it has none, is too long, or its space does not say."""
    try:
        size = spaces.flatdim(space) if space.is_np_flattenable else 0
    except NotImplementedError:
        return 0
    return size if size < _TOO_LONG else 0
