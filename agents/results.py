"""What planners hand back: a line for Python, a table for people and for notebooks."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from agents.inspection.ranking import Ranking, ranking
from agents.inspection.search_tree import SearchTree
from mcts_envs.core import errors
from mcts_envs.core.contract import Game
from mcts_envs.core.showing import name_of
from mcts_envs.core.typing import Floats, Ints
from mcts_envs.core.view import View

_SHOWN = 20

_OF_TREES = "tree", "visits", "values", "principal_variation"


def copies_of(root: Any, player: int) -> Any:
    """Return what a search for a player from a state of an environment of others stands on; None in games of ours."""
    hidden: Any = getattr(root, "hidden", None)
    return None if hidden is None else hidden.copies(player)


class Found(ABC):
    """What a search found: the action to play, and what it took."""

    action: int
    simulations: int
    steps: int
    seconds: float
    game: Game

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary()})"

    if not TYPE_CHECKING:  # else every attribute would pass

        def __getattr__(self, name: str) -> Any:
            """Say what there is in place of what other planners find: which one ``auto`` takes, it decides itself."""
            said = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in _OF_TREES:
                held = ", ".join(field.name for field in fields(self))
                said += f": it is not of a tree search, as agents.make('mcts') makes one. It has {held}, and table()"
            raise AttributeError(said, name=name, obj=self)

    def _repr_html_(self) -> str:
        return self._ranking(_SHOWN).to_html(self._summary())

    def table(self, top: int = _SHOWN) -> str:
        """Return what was found as a table in lines of up to 80 characters; a ``>`` marks the recommended action.

        Of a tree search these are the actions that were tried, the most visited first, with visits, their share, value,
        and prior if any, the recommended one in any case; of alpha-beta the best line; of evolution the first action of
        the best individual.

        Parameters
        ----------
        top : int
            List at most so many.

        Raises
        ------
        TypeError, ValueError
            If this is no positive integer.
        """
        return self._ranking(errors.integer("top", top, 1, 2**62)).to_text()

    def _summary(self) -> str:
        name = name_of(self._played(), self.action, self._player)
        spent = f"simulations={self.simulations}, steps={self.steps}, seconds={self.seconds:.3g}"
        return f"action={self.action} ({name}), {self._found()}, {spent}"

    @property
    def _player(self) -> int:
        """Who is to choose the action."""
        view: View | None = getattr(self, "view", None)
        return 0 if view is None else view.player

    def _played(self) -> Game:
        """Return the game that was searched."""
        return self.game

    @abstractmethod
    def _found(self) -> str:
        """Say what speaks for the action."""

    @abstractmethod
    def _ranking(self, top: int) -> Ranking:
        """Return the rows of the table, up to ``top``."""


@dataclass(frozen=True, eq=False, repr=False)
class SearchResult(Found):
    """What a search found.

    Attributes
    ----------
    visits : int64 array [A]
        Visits of the player's actions at the root.
    values : float64 array [A]
        Their mean returns, in units of reward; NaN without a visit.
    action : int
        The recommended action. Here and in all that a result holds, actions count from 0: in an environment of others
        whose ``Discrete`` space starts elsewhere add its ``start``, as ``agent.act(env)`` does.
    tree : SearchTree
        The tree, to look at: ``print(result.tree.to_text(depth=2))``.
    simulations, steps : int
        Simulations, and steps of the model in tree and rollouts, that this search made. The visits count those of an
        earlier search too, if its tree was used again.
    seconds : float
        How long it took.
    prior : float64 array [A], optional
        What the game advises, as probabilities, where ``select`` asks for it.
    evaluator : str, optional
        How a policy was asked: its network ``"compiled"``, or ``"batched"`` where the search waited for PyTorch; or,
        in a search that is plain Python, ``"plain"``.
    improved : float64 array [A], optional
        What ``gumbel`` has made of the prior, as probabilities: what a policy should learn from the search.
    view : View, optional
        The state that was searched from, as it was.
    copies : agents.bridge.Copies, optional
        In an environment of others: by what means it was copied, and what became of what the player cannot know.
    """

    visits: Ints
    values: Floats
    action: int
    tree: SearchTree
    simulations: int
    steps: int
    seconds: float
    prior: Floats | None = None
    evaluator: str | None = None
    improved: Floats | None = None
    view: View | None = None
    copies: Any = None

    @property
    def principal_variation(self) -> list[int | tuple[int, ...]]:
        """The recommended action and the most visited ones after it; tuples of those of players who choose at once."""
        return self.tree.principal_variation(None if self.view is None else {self.view.player: self.action})

    def _played(self) -> Game:
        return self.tree.game

    def _found(self) -> str:
        return f"visits={self.visits[self.action]}, value={self.values[self.action]:.4g}"

    def _ranking(self, top: int) -> Ranking:
        return ranking(self, top)
