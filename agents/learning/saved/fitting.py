"""Which policies fit which games: the same game on the same board, whatever its probabilities and rewards.

A policy whose observation is the same on any board fits all of them.
"""

import contextlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from agents.learning.saved.frames import Shape, axis_of
from agents.learning.saved.notices import notice
from agents.learning.saved.policy import Policy
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import record
from mcts_envs.registry import find

_GREATEST = float(np.finfo(np.float32).max)


def layout(game: Game) -> dict[str, list[int]]:
    """Return the shape of each observation variant of a game.

    Boards of 3 x 4 and of 4 x 3 have flat observations of the same size; their planes tell them apart.
    """
    return {name: [*variant.observation_shape] for name, variant in _observations(game).items()}


def check_board(path: Path, about: Mapping[str, Any], game: Game) -> None:
    """Check that a policy was made for the board of a game, as far as its sidecar says.

    Parameters
    ----------
    path : Path
        Of the policy; for the message.
    about : mapping
        Its sidecar; of the two layouts, what both know is compared.
    game : Game

    Raises
    ------
    ValueError
        If it was made for another game or another board.
    """
    made_for, actions = about.get("game", game.name), about.get("action_space", {}).get("n", game.actions)
    if made_for != game.name or actions != game.actions:
        raise ValueError(
            f"{path} was trained for {made_for} with {actions} actions; this is {game.name} with {game.actions}: "
            "use a policy that was trained here"
        )
    here, there = layout(game), about.get("layout", {})
    own = about.get("settings", {}).get("observation", "flat")
    if sees_alike_anywhere(game, own):
        there = {name: shape for name, shape in there.items() if name == own}
    for name, shape in there.items():
        if shape != here.get(name, shape):
            raise ValueError(
                f"{path} was trained on another board of {game.name}: its {name} have shape {tuple(shape)}, "
                f"here {tuple(here[name])}; use a policy that was trained here"
            )


def check_actions(path: Path, space: Any) -> None:
    """Raise ``ValueError`` unless the actions of a policy are numbers from 0 on, as Stable-Baselines3 plays them."""
    if not isinstance(space, spaces.Discrete):
        wrapper = "DiscretizeAction(env, bins)"
        if not isinstance(space, spaces.Box):
            wrapper = "TransformAction(env, function, Discrete(n))"
        raise ValueError(
            f"{path} has actions {space}; only policies of Discrete ones will do: train one in a wrapper that numbers "
            f"them, as gymnasium.wrappers.{wrapper}"
        )
    if space.start:
        raise ValueError(
            f"{path} has actions {space}, of which Stable-Baselines3 plays 0 to {space.n - 1}: train one in "
            f"gymnasium.wrappers.TransformAction(env, lambda action: action + {space.start}, Discrete({space.n}))"
        )


def sees_alike_anywhere(game: Game, observation: str) -> bool:
    """Return whether an observation of a game is the same on any board."""
    return bool(game.variants.get(observation, {}).get("any_board", False))


def fitting(policy: Policy, game: Game, frame_stack: int = 1) -> Game:
    """Return the game with the observation that the policy was trained on.

    Where that had other bounds than the game's, as with other settings or behind a wrapper, a warning says so.

    Parameters
    ----------
    policy : Policy
        Its sidecar may name the observation; else it is recognised by its shape.
    game : Game
        Showing any observation.
    frame_stack : int
        Frames in an observation of the policy.

    Raises
    ------
    ValueError
        If the policy was made for another game or board, another number of actions or an observation that the game
        has not.
    """
    check_board(policy.path, policy.about, game)
    shape, actions = policy.observation_shape, policy.action_count
    variants = _observations(game)
    named = variants.get(policy.about.get("settings", {}).get("observation", "flat"))
    candidates = [game if named is None or named.observe is game.observe else named, game, *variants.values()]
    for candidate in candidates if actions == game.actions else []:
        alike = policy.structure is None or _same(policy.structure, _structure(candidate))
        if alike and axis_of(candidate.observation_shape, frame_stack, shape) is not None:
            _tell_bounds(policy, candidate)
            return candidate
    if policy.structure is not None:
        if frame_stack > 1 and actions == game.actions and _same(policy.structure, _structure(game)):
            raise ValueError(
                f"frame_stack={frame_stack}: {policy.structure} is no array, and is not stacked; leave it out"
            )
        raise ValueError(
            f"{policy.path} was trained on {policy.structure} and {actions} actions; {game.name} shows "
            f"{_structure(game) or f'arrays {game.observation_shape}'} and has {game.actions}: use a policy that was "
            "trained here"
        )
    shapes = ", ".join(dict.fromkeys(str(candidate.observation_shape) for candidate in candidates))
    stacked = f" in stacks of {frame_stack}" if frame_stack > 1 else ""
    raise ValueError(
        f"{policy.path} was trained on observations {shape} and {actions} actions; this is {game.name} "
        f"with observations {shapes}{stacked} and {game.actions} actions: use a policy that was trained here"
        f"{_unpacked(game) or _hint(shape, [candidate.observation_shape for candidate in candidates]) + _past(game)}"
    )


def own_mask(policy: Policy, game: Game) -> Game:
    """Return the game with the legal actions that the policy was trained to choose among.

    That is the variant of the game that the setting ``mask`` of its training names; the game itself for a policy
    without masks, or one that was trained to choose among all.
    """
    name = policy.about.get("settings", {}).get("mask") if policy.masked else None
    return game.variant(name, "legal") if name and "legal" in game.variants.get(name, ()) else game


def learned_rewards(policy: Policy, game: Game) -> tuple[tuple[str, float], ...]:
    """Return the rewards that the values of a policy are made of, as fields of the state, where a game has others.

    They are those of the environment of its training, or, where that is not known here, numbers among its settings.
    """
    here, settings = rewards_of(game), policy.about.get("settings", {})
    there = {**here, **{name: value for name, value in settings.items() if isinstance(value, int | float)}}
    with contextlib.suppress(KeyError, ValueError, TypeError):
        there = {**here, **rewards_of(find(policy.about["environment"]).game(settings))}
    return tuple((name, float(there[name])) for name, value in here.items() if there[name] != value)


def rewards_of(game: Game) -> dict[str, float]:
    """Return the settings of a game that are rewards: numbers in the state called so, before all that changes."""
    if game.layout is None:
        return {}
    found, state = {}, record(game.template, game.layout)
    for name, (kind, place, *_) in game.layout.fields.items():
        if name.startswith("reward") and kind.kind in "iuf" and (place < game.settings.stop or not game.first_field):
            found[name] = float(state[name])
    return found


def _tell_bounds(policy: Policy, game: Game) -> None:
    """Warn if a policy was trained on numbers of another range than a game shows."""
    seats = getattr(game, "seats", ())  # of environments of others, whose dictionaries have no bounds in common
    if not all(isinstance(seat.shown, spaces.Box) for seat in seats):
        return
    if policy.observation_bounds is None:
        return
    here = tuple(map(_bound, (game.observation_low, game.observation_high)))
    there = tuple(map(_bound, policy.observation_bounds))
    if there == here:
        return
    cure = "name a function that makes the environment in that wrapper, or " if seats else ""
    notice(
        f"{policy.path} was trained on observations in {[*there]}, {game.name} shows them in {[*here]}: it had other "
        f"settings, or a wrapper that changed them, which is not done here; {cure}let an agent of your own do it "
        "(docs/own_agent.md)"
    )


def _bound(bound: float) -> float:
    """Return a bound as Float32 has it; the greatest number, as older environments wrote it, is none."""
    return float(np.float32(bound)) if abs(bound) < _GREATEST else math.copysign(math.inf, bound)


def _same(ours: Any, theirs: Any) -> bool:
    """Return whether two spaces are equal, and flatten in the same order: dictionaries are equal in any."""
    return bool(ours == theirs) and (not isinstance(ours, Mapping) or [*ours] == [*theirs])


def _structure(game: Game) -> Any:
    """Return the space of what an environment of others shows, if that is no array; else None."""
    return getattr(game, "structure", None)


def _unpacked(game: Game) -> str:
    """Say that what an environment of others shows is no array, and how a policy for it is made, and compared."""
    if (shown := _structure(game)) is None:
        return ""
    return (
        f"; what it shows, {shown}, is flattened for policies on arrays: train yours on the environment as it is or in "
        "FlattenObservation, or compare it by a class of your own with predict (docs/own_agent.md)"
    )


def _past(game: Game) -> str:
    """Say that of an environment of others wrappers are not looked through that keep something of the past."""
    if not game.plain_lists:
        return ""
    return (
        "; or, if a wrapper shows it that keeps something of the past, as stacked frames or the time, do that inside "
        "of the environment, or let an agent of your own with predict play it (docs/own_agent.md)"
    )


def _hint(whole: Shape, shapes: list[Shape]) -> str:
    """Say that planes were turned, or which number of stacked frames would make up an observation."""
    if whole not in shapes and sorted(whole) in map(sorted, shapes):
        return "; Stable-Baselines3 turned the planes: train in make_sb3_vec_env, or VecTransposeImage(env, skip=True)"
    counts = {math.prod(whole) // math.prod(shape) for shape in shapes}
    found = sorted(n for n in counts if n > 1 and any(axis_of(shape, n, whole) is not None for shape in shapes))
    if not found:
        return ""
    return (
        f"; or, if it was trained on frames that VecFrameStack stacked, give frame_stack={found[0]} to 'sb3:PATH' (a "
        "search sees single states, and cannot ask it)"
    )


def _observations(game: Game) -> dict[str, Game]:
    return {name: game.variant(name) for name, change in game.variants.items() if "observe" in change}
