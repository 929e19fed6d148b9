"""How long, and in how much memory, an episode may be played."""

import math
import sys
from dataclasses import dataclass

from mcts_envs.core import errors

_LEAST_SECONDS = 0.01
_PREPARATION_SECONDS = 600.0
_GB = 10**9
_LEAST_GB = 0.5
"""What the libraries and the largest game take."""


@dataclass(frozen=True)
class Limits:
    """What ends an episode from outside; its row tells the reason.

    Results do not depend on limits, but for the episodes that they end. A move that takes too long, and memory that
    runs out while an agent chooses, lose it the episode; an episode that takes too long is truncated after the move
    under way, since no move alone took too long.

    Attributes
    ----------
    move : float
        Seconds from one question to an agent until the next: its move, and what the environment does after it.
    episode : float
        Seconds for an episode, from the first question on; no move may take longer either. What comes before that
        (agents are made, code is compiled) may take ten minutes, or as long as a move if that is more.
    memory : float, optional
        GB that a process may ask for, 0.5 or more, since its libraries are included (with torch about 1). It is
        the system's ``RLIMIT_DATA``, which Linux alone has.

    Raises
    ------
    ValueError, TypeError
        If a limit is no positive number, or leaves no room for the libraries, or this system cannot limit memory.
    """

    move: float = math.inf
    episode: float = math.inf
    memory: float | None = None

    def __post_init__(self) -> None:
        errors.number("move limit", self.move, _LEAST_SECONDS, math.inf)
        errors.number("episode limit", self.episode, _LEAST_SECONDS, math.inf)
        if self.memory is not None:
            if errors.number("memory limit", self.memory, 0.0, 1e6) < _LEAST_GB:
                raise ValueError(
                    f"memory limit {self.memory:g} GB is less than the {_LEAST_GB:g} that the libraries need; give "
                    f"{_LEAST_GB:g} or more, 1.5 for policies, or leave it out"
                )
            if sys.platform != "linux":
                raise ValueError(f"memory limit {self.memory:g}: {sys.platform} has none; leave it out")

    def __bool__(self) -> bool:
        """Whether there are any."""
        return self != Limits()

    def apply(self) -> None:
        """Limit the memory of this process and of those that it starts."""
        if self.memory is not None and sys.platform != "win32":
            import resource

            allowed = round(self.memory * _GB)
            resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))

    @property
    def of_a_move(self) -> tuple[float, str]:
        """Seconds that no move may exceed, and the option that says so."""
        return min((self.move, "--move-limit"), (self.episode, "--episode-limit"), key=lambda limit: limit[0])

    def late(self, seconds: float) -> str | None:
        """Say which limit an episode that is played for so long exceeds."""
        return f"no end within {self.episode:g} s (--episode-limit)" if seconds > self.episode else None

    def exceeded(self, in_move: float, preparing: bool) -> str | None:
        """Say which limit a move exceeds that takes so many seconds."""
        if preparing:
            allowed = max(self.move, _PREPARATION_SECONDS) if self.move < math.inf else self.move
            return f"the agent was not ready within {allowed:g} s" if in_move > allowed else None
        limit, option = self.of_a_move
        return f"no move within {limit:g} s ({option})" if in_move > limit else None
