"""What steps return, and what is wrong with it: a search cannot make up for that."""

from collections.abc import Iterable
from typing import Any

_SAID = "observation, reward, terminated, truncated, info"


SAY_IT = (
    "say it as info['action_mask'] or action_masks(), 1 or 0 for an action; where that is not yours to write, register "
    "an agents.bridge.Adapter with actions(env, agent)"
)
"""How planners are told what is legal."""


class StepError(TypeError, ValueError):
    """A step returned something that no step of its API returns."""


def wrong(said: Any, action: Any) -> StepError:
    """Return what is wrong with five things that could not be told apart, or with the reward among them."""
    if not isinstance(said, (tuple, list)):
        return StepError(f"step({action}) returned {_short(said)}; Gymnasium's returns 5 values: {_SAID}")
    if len(said) != 5:
        old = "; the old API returns 4, terminated and truncated in one" if len(said) == 4 else ""
        return StepError(f"step({action}) returned {len(said)} values; Gymnasium's returns 5: {_SAID}{old}")
    return _wrong_reward(said[1], action)


def tried(error: Exception, action: Any) -> None:
    """Note on what a step of a simulation has raised that it was one: nobody else has chosen that action."""
    if not callable(action):  # else an adapter played on
        error.add_note(f"a planner tried step({action}) ahead; if that is not legal there, {SAY_IT}")


def begun(said: Any) -> tuple[Any, Any]:
    """Return the observation and the info of a ``reset``.

    Raises
    ------
    TypeError
        If it returned something else.
    """
    if not isinstance(said, (tuple, list)) or len(said) != 2:
        raise TypeError(f"reset() returned {_short(said)}; Gymnasium's returns 2 values: observation, info")
    observation, info = said
    return observation, info


def asked(env: Any, wrappers: Iterable[Any]) -> bool:
    """Return whether an environment, or one of the wrappers around it, has ``action_masks``."""
    return any(hasattr(layer, "action_masks") for layer in (env, *wrappers))


def paid(reward: Any, action: Any) -> float:
    """Return a reward as a number.

    Raises
    ------
    StepError
        If it is none, or not finite.
    """
    try:
        number = float(reward)
    except (TypeError, ValueError):
        raise _wrong_reward(reward, action) from None
    if number - number:  # NaN where the number is not finite: the quickest way to tell
        raise _wrong_reward(reward, action)
    return number


def check_actions(space: Any, seat: Any, action: Any) -> None:
    """Check that a player can choose among as many actions after a step as before.

    Raises
    ------
    StepError
        If its space has another size, or begins with another action.
    """
    if (getattr(space, "n", None), getattr(space, "start", None)) != (seat.actions, seat.start):
        before = f"Discrete({seat.actions}{f', start={seat.start}' * bool(seat.start)})"
        raise StepError(
            f"step({action}) changed the action space from {before} to {space}; planners need one of the same size all "
            "along: make it Discrete(n) for the most actions there are, and say in info['action_mask'], or by "
            "action_masks(), which are legal now, 1 or 0 for each"
        )


def _wrong_reward(reward: Any, action: Any) -> StepError:
    kind = "not finite" if isinstance(reward, (float, int)) else f"{type(reward).__name__}, not a number"
    cure = "" if kind == "not finite" else ": make it one, in Gymnasium by wrappers.TransformReward(env, function)"
    return StepError(f"step({action}) pays {_short(reward)}, which is {kind}; rewards are finite numbers{cure}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
