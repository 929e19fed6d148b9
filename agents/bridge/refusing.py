"""What is no environment that planners can look at, and what to give in its place."""

from typing import Any

_OTHERWISE = "; give the environment itself, not an observation of it"


def refused(env: Any) -> str:
    """Say why planners cannot look at something, and what to give in its place."""
    name = type(env).__name__
    if isinstance(env, type):
        return f"{env.__name__} is a class; give an environment of it, {env.__name__}()"
    if isinstance(env, str):
        return f"{env!r} is a name; give the environment, gymnasium.make({env!r})"
    if hasattr(env, "num_envs"):
        cure = "its envs[i]" if hasattr(env, "envs") else "one made by gymnasium.make"
        return f"{name} holds {env.num_envs} environments, and planners look at one: give {cure}"
    return (
        f"{name} is no environment that planners can look at: it is neither one of Gymnasium's or "
        f"PettingZoo's nor has it a view() of its own{_of_old(env) or _of_another_api(env) or _OTHERWISE}"
    )


def _of_old(env: Any) -> str:
    """Return the cure where something is an environment of OpenAI's gym, which came before Gymnasium; else nothing."""
    if not any(kind.__name__ == "Env" and kind.__module__ == "gym.core" for kind in type(env).__mro__):
        return ""
    return (
        ": it is one of OpenAI's gym; give shimmy.GymV21CompatibilityV0(env=env), or shimmy.GymV26CompatibilityV0(env="
        "env) where reset takes a seed (pip install shimmy), or an environment of Gymnasium that calls it"
    )


def _of_another_api(env: Any) -> str:
    """Return the cure where something is played by reset and step in an API of its own; else nothing."""
    if not all(callable(getattr(env, name, None)) for name in ("reset", "step")):
        return ""
    return (
        "; derive a class from gymnasium.Env (of several agents: from pettingzoo.AECEnv or ParallelEnv) that holds the "
        f"{type(env).__name__}, calls its reset and step, and has Discrete actions, and give one of these"
    )
