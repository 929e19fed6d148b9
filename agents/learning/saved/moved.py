"""Policies that play in another environment than they were trained in: which settings differ."""

from collections.abc import Callable, Mapping
from typing import Any

from gymnasium.wrappers import DtypeObservation, FlattenObservation, ReshapeObservation, vector

from agents.learning.saved.fitting import own_mask
from agents.learning.saved.notices import notice
from agents.learning.saved.policy import Policy
from agents.wrappers import OF_OBSERVATIONS, layers_of
from mcts_envs.core.api.adapter import defaults
from mcts_envs.core.api.mixed import ALL
from mcts_envs.core.contract import Game
from mcts_envs.registry import ENTRIES

_FACE = {"seat": 0, "opponent": "random"}
"""Settings of an environment for one of several players, which say who else plays."""

_SAME_NUMBERS = (
    *(DtypeObservation, FlattenObservation, ReshapeObservation),
    *(vector.DtypeObservation, vector.FlattenObservation, vector.ReshapeObservation),
)


def inside(env: Any) -> Any:
    """Return the environment within all wrappers, the first of those that lie in this process of a batch."""
    first = _first(env)
    return getattr(env, "unwrapped", env) if first is None else first.unwrapped


def _first(env: Any) -> Any:
    """Return the first environment of a batch, in its wrappers; None where none lies in this process."""
    parts = getattr(getattr(env, "unwrapped", env), "envs", None)
    return parts[0] if parts else None


def worn(env: Any, kinds: tuple[type, ...] = OF_OBSERVATIONS) -> list[str]:
    """Return the wrappers around a game of ours that change the numbers that it shows, or a batch and its first.

    With other ``kinds`` of wrappers, those.
    """
    if not isinstance(getattr(inside(env), "game", None), Game):
        return []
    first = _first(env)
    layers = [*layers_of(env), *(() if first is None else layers_of(first))]
    found: list[type] = [type(layer) for layer in layers if isinstance(layer, kinds)]
    return [kind.__name__ for kind in found if not issubclass(kind, _SAME_NUMBERS)]


def settings_of(env: Any) -> dict[str, Any] | None:
    """Return the settings of an environment, wrapped, batched or not; None if it does not say, as a view."""
    found = getattr(inside(env), "settings", None)
    return found if isinstance(found, dict) else None


def tell(policy: Policy, game: Game, here: Mapping[str, Any] | None) -> None:
    """Warn, once, where a policy plays by other rules, for other rewards or against others than it was trained.

    Its observation and its mask are its own, and so no difference, unless the mask cannot be kept to, or other players
    inside the environment chose by it too.

    Parameters
    ----------
    policy : Policy
    game : Game
        Where it plays.
    here : mapping, optional
        The settings of that environment, if they are known.
    """
    entry = ENTRIES.get(policy.about.get("environment", ""))
    if entry is None or "settings" not in policy.about:
        return
    there = {**entry.settings, **policy.about["settings"]}
    if here is not None:
        differ = {**_of_the_face(there, here), **_of_the_game(entry.make_game(), there, here)}
        if own_mask(policy, game) is not game and "opponent" not in here:
            differ.pop("mask", None)
        words = ", ".join(f"{name}={was!r} (here {now!r})" for name, (was, now) in differ.items())
    else:
        makings = (there, {name: value for name, value in there.items() if name != "mask"})
        same = any(entry.game(making).fingerprint == game.fingerprint for making in makings)
        words = "" if same else "other rules or rewards than here"
    if words:
        notice(f"{policy.path} was trained with {words}; this is how it does here, not in its own environment")


def _of_the_face(there: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return what differs of who plays where, if this is an environment for one player.

    Whoever was trained from all seats knows each of them, and of a mixture every opponent.
    """
    pairs = {name: (_plain(there.get(name), name), _plain(here[name], name)) for name in _FACE if name in here}
    known = {"seat": there.get("seat") == ALL, "opponent": False}
    if isinstance(mixture := there.get("opponent"), Mapping):
        now = here.get("opponent")
        known["opponent"] = (
            now.keys() <= mixture.keys() if isinstance(now, Mapping) else _plain(now, "opponent") in mixture
        )
    return {name: (was, now) for name, (was, now) in pairs.items() if was != now and not known[name]}


def _of_the_game(
    make_game: Callable[..., Game], there: Mapping[str, Any], here: Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return what differs of the settings that the game plays by; others, such as those of pictures, do not count."""
    known = defaults(make_game)
    trained = {name: there.get(name, default) for name, default in known.items()}
    pairs = {name: (was, here.get(name, known[name])) for name, was in trained.items()}
    rules = make_game(**trained).fingerprint

    def matters(name: str, value: Any) -> bool:
        try:
            return make_game(**{**trained, name: value}).fingerprint != rules
        except (TypeError, ValueError):  # the one does not go with the others
            return True

    return {name: (was, now) for name, (was, now) in pairs.items() if repr(was) != repr(now) and matters(name, now)}


def _plain(value: Any, name: str) -> Any:
    """Return a seat or an opponent by name."""
    if isinstance(value, (list, tuple)):
        return [_plain(part, name) for part in value]
    if isinstance(value, Mapping):
        return dict(value)
    if value is None or isinstance(value, (str, int)):
        return _FACE[name] if value is None else value
    return getattr(value, "name", type(value).__name__)
