"""What is said about a policy: each thing once in a process."""

from mcts_envs.core.own_code import warn

_said: set[str] = set()


class PolicyWarning(UserWarning):
    """A policy may not be what it seems, or not where it was trained; its play goes on all the same."""


def notice(message: str) -> None:
    """Warn of something, unless this process has done so before."""
    if message not in _said:
        _said.add(message)
        warn(message, PolicyWarning)
