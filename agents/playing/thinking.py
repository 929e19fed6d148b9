"""What agents are asked while a session goes on, in a thread of its own."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from agents.arena.faults import message_of
from agents.base import from_0
from agents.inspection.showing import decision
from agents.watching import asked, replayed
from mcts_envs.core.view import View
from mcts_envs.page.frames import Data
from mcts_envs.replay import Replay


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
            return {}, f"{self.name} failed: {type(error).__name__}: {message_of(error)}"


def thought(agent: Any, shown: Any, view: View) -> Data:
    """Return what an agent chooses that is shown this, as a page shows it; a view of its own tells what is legal."""
    action, found, seconds = asked(agent, shown)
    number = from_0(view, action)
    if number not in view.legal_actions():
        raise ValueError(f"it chose {action}, which is not legal")
    return decision(view, number, found, round(seconds, 4))


def reviewed(saved: str, adviser: Any, wanted: Callable[[], bool]) -> Data:
    """Return a saved game with what an adviser finds of each choice, as long as that is wanted.

    Raises
    ------
    ValueError
        If the adviser does not search.
    InterruptedError
        If it is wanted no more.
    """

    def tell(document: Data) -> None:
        if not wanted():
            raise InterruptedError("the game went on")

    return replayed(Replay.from_json(saved), adviser, tell)


def with_review(frames: Sequence[Data], found: Sequence[Data]) -> list[Data]:
    """Return frames in which choices that nobody had searched for show what a review found of them."""
    new = []
    for frame, seen in zip(frames, found, strict=True):
        by_player = {each["player"]: each for each in seen["decisions"]}
        decisions = [
            each if "search" in each else by_player.get(each["player"], {}) | each for each in frame["decisions"]
        ]
        new.append(frame | {"decisions": decisions})
    return new
