"""What is settled about an agent's searches in a game, made once."""

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from agents.policies.opponents import MIXED, table_with
from agents.policies.parameters import pack
from agents.policies.rollout import uniform
from agents.policies.signatures import SIGNATURES, needs_of
from agents.search.inlining import interpreted_on_objects
from agents.search.luck import luck
from agents.search.patience import patient
from agents.search.records import Settings
from agents.search.search import BAD_LEGAL, BAD_OPTION, BAD_SELECT, search
from agents.search.tree import FIRST_ROOM, STORES, Kept, Tree, copy_of, new_tree
from mcts_envs.core import errors, rng
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import function_table, interpreted, record
from mcts_envs.core.typing import Bytes

_MIXED_EDGES = 2
"""Edges, times players, that a simulation may add where opponents are mixed, who add some at nodes that are not new."""


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """What an agent has settled about its searches in one game.

    Attributes
    ----------
    model, rollout_model : Game
        The game as the tree sees it, and as rollouts do.
    policies : dict
        ``select``, ``noise``, ``simulate``, ``backup`` and ``option``.
    parameters : dict
        What they are given, by name.
    recommend : callable
    settings : Settings
    max_nodes : int
    others : Game, optional
        The game whose advice the other players follow; None: that which the searching player is given.
    evaluator : evaluator, optional
        What is consulted in place of the game's advice and evaluation (:mod:`agents.evaluator`).
    rewards : tuple of pairs
        Fields of the state with values that are written into the root: what the evaluator's values are made of.
    patient : bool
        Whether rollouts that come to no end are cut (:mod:`agents.search.patience`).
    early_stop : bool
        Whether a search ends when the most visited action can no longer change.
    """

    model: Game
    rollout_model: Game
    policies: dict[str, Any]
    parameters: dict[str, Any]
    recommend: Callable[..., int]
    settings: Settings
    max_nodes: int
    others: Game | None = None
    evaluator: Any = None
    rewards: tuple[tuple[str, float], ...] = ()
    patient: bool = False
    early_stop: bool = False

    def root(self, state: Bytes) -> Bytes:
        """Return a copy of a state to search from."""
        found = state.copy()
        for name, value in self.rewards:
            record(found, self.model.layout)[name] = value
        return found

    def answer(self) -> None:
        """Answer what searches wait for."""
        self.evaluator.answer()

    @cached_property
    def turn(self) -> AbstractContextManager[Any]:
        """What a search holds while it runs: those that wait for answers take turns."""
        return self.evaluator.lock if self.settings.waits else nullcontext()

    @cached_property
    def recommends_from_search(self) -> bool:
        """Whether ``recommend`` takes the search too, beside what was found."""
        return len(inspect.signature(self.recommend).parameters) > 4

    def refuse_luck(self, state: Bytes, observer: int) -> None:
        """Refuse a selection that is wrong where chance decides or something is hidden, if that is so for an observer.

        Raises
        ------
        ValueError
        """
        select = self.policies["select"]
        if needs_of(select).certain and (why := luck(self.model, state, observer)):
            raise ValueError(
                f"select={select.__name__!r} is for games without chance in which nothing is hidden; in "
                f"{self.model.name} {why}: take another, such as 'ucb1'"
            )

    @cached_property
    def games(self) -> tuple[Any, Any]:
        """The game as the tree sees it, and as rollouts do, as the search takes them."""
        if self.others is None:
            return self.model.table, self.rollout_model.table
        return table_with(self.model, self.others), table_with(self.rollout_model, self.others)

    @cached_property
    def interpreted(self) -> bool:
        """Whether the game is plain Python, so that the search has to be."""
        return isinstance(self.model.table, tuple)

    @cached_property
    def _empty(self) -> dict[int, Tree]:
        """The last empty tree by its nodes: to copy one takes a fraction of the time that it takes to make one."""
        return {}

    @cached_property
    def plain(self) -> bool:
        """Whether records are Python objects, as an interpreted search of dear environments wants them."""
        return self.model.plain_lists

    @cached_property
    def table(self) -> Any:
        """The policies as the search takes them."""
        updates = {f"update_{kind}": needs_of(self.policies[kind]).update for kind in ("select", "simulate")}
        select = needs_of(self.policies["select"])
        kernels = {**self.policies, **updates, "leaf": select.leaf, "redraw": select.redraw}
        if self.interpreted:
            kernels = {name: _in_python(function, self.plain) for name, function in kernels.items()}
        hasten = getattr(self.rollout_model, "hastened", None)
        if hasten is not None and self.policies["simulate"] is uniform:
            kernels["simulate"] = hasten(kernels["simulate"])
        if self.patient:
            kernels["simulate"] = patient(kernels["simulate"], self.rollout_model)
        return function_table(kernels, SIGNATURES)

    @cached_property
    def kept(self) -> dict[str, Kept]:
        """What the policies keep."""
        kept = {}
        for kind in STORES:
            needs = needs_of(self.policies[kind])
            parameters = pack(needs.parameters, self.parameters, self.plain)
            edge = needs.edge(self.model) if callable(needs.edge) else needs.edge
            kept[kind] = Kept(int(edge), int(needs.tree(self.model)), parameters)
        return kept

    def new_tree(self, nodes: int) -> Tree:
        """Return an empty tree that may grow to so many nodes, or the greatest number allowed."""
        if self.plain:
            return self._empty_tree(nodes)
        if nodes not in self._empty:
            self._empty.clear()
            self._empty[nodes] = self._empty_tree(nodes)
        return copy_of(self._empty[nodes])

    def _empty_tree(self, nodes: int) -> Tree:
        actions, players, several = self.model.actions, self.model.players, self.model.simultaneous
        kept: Any = {
            "room": FIRST_ROOM,
            "reserve": actions * players if several else actions,
            "edges_each": _MIXED_EDGES * players if self.settings.opponents == MIXED else players if several else 1,
            "kept": self.kept,
            "plain": self.plain,
        }
        return new_tree(players, max(min(nodes, self.max_nodes), actions), **kept)

    @cached_property
    def search(self) -> Callable[..., None]:
        """The search, compiled or in plain Python."""
        if not self.interpreted:
            return search
        from agents.search.hastened import hastened, serves  # writes kernels out, which no compiled search needs

        python: Callable[..., None] = _in_python(search, self.plain)
        return hastened(python) if serves(self) else python

    def fault(self, faults: int, listed: int) -> str:
        """Say which policy returned what is out of range, or what the game lists."""
        if faults & BAD_LEGAL:
            return errors.listed(self.model.name, listed, self.model.actions)
        if faults & BAD_SELECT:
            return f"select {self.policies['select']!r} returned an index outside the k actions on offer"
        rollouts, actions = self.rollout_model.name, self.rollout_model.actions
        if faults & BAD_OPTION:
            return f"option {self.policies['option']!r} returned an action outside the {actions} of {self.model.name}"
        return f"simulate {self.policies['simulate']!r} returned an action outside the {actions} of {rollouts}"


_COMPILED = (rng.below, rng.coin, rng.combine, rng.draw, rng.uniform)
"""Kernels that stay compiled in an interpreted search: they know nothing of games and trees."""


@lru_cache(maxsize=64)
def _in_python(function: Any, objects: bool) -> Any:
    """Return the plain Python form of a kernel, for records that are objects or lie in bytes."""
    return (interpreted_on_objects if objects else interpreted)(function, _COMPILED)
