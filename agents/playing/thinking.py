"""What agents are asked while a session goes on, in a thread of its own."""

from collections.abc import Callable
from typing import Any, NamedTuple

from agents.base import from_0
from agents.inspection.showing import decision
from agents.watching import asked
from mcts_envs.core.view import View
from mcts_envs.page.frames import Data


class Job(NamedTuple):
    """Something to think about.

    Attributes
    ----------
    think : callable
        Returns what is to be taken.
    name : str
        Who thinks.
    take : callable
        ``take(what, failed)``, with the word for what went wrong, if anything did.
    """

    think: Callable[[], Data]
    name: str
    take: Callable[[Data, str], None]

    def done(self) -> tuple[Data, str]:
        """Think, and return what is to be taken and what went wrong."""
        try:
            return self.think(), ""
        except BaseException as error:  # also one that would end the program, or nobody would think any more
            return {}, f"{self.name} failed: {type(error).__name__}: {error}"


def thought(agent: Any, shown: Any, view: View) -> Data:
    """Return what an agent chooses that is shown this, as a page shows it; a view of its own tells what is legal."""
    action, found, seconds = asked(agent, shown)
    number = from_0(view, action)
    if number not in view.legal_actions():
        raise ValueError(f"it chose {action}, which is not legal")
    return decision(view, number, found, round(seconds, 4))
