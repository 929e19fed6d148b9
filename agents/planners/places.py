"""What a search in a graph of states knows of them: outcomes of actions, and the values that follow from them."""

import itertools
import math
import time
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mcts_envs.core.typing import Floats

END = -1
"""The place after the last action of an episode."""

_CERTAIN, _CHANCE = 0.003, 1.0
"""Exploration constants where nothing is left to chance, and where something is."""

_SWEEPS = 1000
"""So many at most let values settle."""

_SETTLED, _HOPED = 1e-6, 1e-3
"""They have where none changes by more, and those with bonuses, in ranges of the values met."""


_MANY = 1000
"""Places up to which all are kept."""


class Places:
    """Places, which are states by what is seen of them, numbered as they are met, and their legal actions likewise.

    Parameters
    ----------
    discount : float
        Discount of rewards a step.
    c : float or None
        Exploration constant: the bonus for an action that was tried once, in ranges of the values met. None: 0.003 as
        long as every action has come out in one way alone, and 1 from then on.

    Attributes
    ----------
    number : dict of int
        The number of a place by its key.
    legal : list of list of int
        Of each place its legal actions. The first of them is action ``first[place]`` of all, the second the next.
    untried : list of list of int
        Of each place those of its actions that were not tried, counted from ``first[place]``.
    worth, hope : array of float
        What a place is worth: as much as the best action that was tried, at first 0; and the same of ``hopes``, as soon
        as nothing is untried.
    visits, values, hopes : array of float
        How often an action was tried; its value, in units of reward, -inf before that; and that with the bonus.
    outcomes : list of dict of int
        Of each action, by the place that it led to, where that outcome is in ``counts`` and ``paid``.
    counts, paid : array of float
        How often an outcome came, and the sum of its rewards.
    branches, chance : bool
        Whether an action has led to two places, and whether one has come out in two ways, of which that is one.
    tries : int
        How often all actions were tried for certain: what was not tried more often than that is sought.
    low, high : float
        The least and the greatest value that a search has met.
    """

    def __init__(self, discount: float, c: float | None, horizon: int) -> None:
        self._discount, self._c, self._horizon = discount, c, horizon
        self._most = 2 * _MANY  # places, before it is looked which can still be reached
        self.number: dict[int, int] = {}
        self.legal: list[list[int]] = []
        self.untried: list[list[int]] = []
        self.first = array("q")
        self.worth, self.hope = array("d"), array("d")
        self.visits, self.values, self.hopes = array("d"), array("d"), array("d")
        self.outcomes: list[dict[int, int]] = []
        self.counts, self.paid = array("d"), array("d")
        self._of, self._to = array("q"), array("q")  # of each outcome the action, and the place it led to
        self.branches = self.chance = False
        self.tries = 0
        self.low = self.high = 0.0
        self._longest = 1.0 / max(1.0 - discount, 1.0 / horizon)  # in which bonuses can add up

    def begin(self) -> None:
        """Begin a search."""
        self.low = self.high = 0.0

    @property
    def bonus(self) -> float:
        """For an action that was tried once."""
        c = self._c
        if c is None:
            c = _CHANCE if self.chance else _CERTAIN
        return c * ((self.high - self.low) or 1.0)

    @property
    def unknown(self) -> float:
        """What is hoped for where something was not tried yet: as much as anywhere, and a bonus at every step."""
        return self.high + self.bonus * self._longest

    def __len__(self) -> int:
        return len(self.number)

    def add(self, key: int, legal: list[int]) -> int:
        """Number a place, anew if it has a number, and return its number."""
        place = self.number[key] = len(self.legal)
        self.first.append(len(self.visits))
        self.legal.append(legal)
        self.untried.append([*range(len(legal))])
        self.worth.append(0.0)
        self.hope.append(0.0)
        self.visits.extend([0.0] * len(legal))
        self.values.extend([-math.inf] * len(legal))
        self.hopes.extend([0.0] * len(legal))
        self.outcomes.extend({} for _ in legal)
        return place

    def note(self, action: int, to: int, reward: float) -> None:
        """Count an outcome of an action."""
        outcomes = self.outcomes[action]
        row = outcomes.get(to)
        if row is None:
            row = outcomes[to] = len(self.counts)
            self._of.append(action)
            self._to.append(to)
            self.counts.append(0.0)
            self.paid.append(0.0)
            if len(outcomes) > 1:
                self.branches = self.chance = True
        elif not math.isclose(self.paid[row], self.counts[row] * reward, abs_tol=1e-9):
            self.chance = True
        self.visits[action] += 1.0
        self.counts[row] += 1.0
        self.paid[row] += reward
        self._met(reward if to == END else reward + self._discount * self.worth[to])

    def _met(self, value: float) -> None:
        self.low, self.high = min(self.low, value), max(self.high, value)

    def from_here(self, start: int) -> tuple["Places", int]:
        """Return what is known, and where a place is in it; without places that no known way leads to, if most are so.

        That is looked for whenever there are twice as many: else moves of a long episode would take longer and longer.
        """
        if len(self.legal) < self._most:
            return self, start
        reached = {END: END, start: 0}
        for place in (left := [start]):  # which grows
            for to in itertools.chain.from_iterable(self.outcomes[self.actions(place)]):
                if to not in reached:
                    reached[to] = len(left)
                    left.append(to)
        if 2 * len(left) > len(self.legal):
            self._most = 2 * len(self.legal)
            return self, start
        return self._of_these(left, reached), 0

    def _of_these(self, left: list[int], numbers: dict[int, int]) -> "Places":
        """Return what is known of some places, which have other numbers there."""
        made = Places(self._discount, self._c, self._horizon)
        made._most = 2 * max(_MANY, len(left))
        made.branches, made.chance, made.tries = self.branches, self.chance, self.tries
        made.low, made.high = self.low, self.high
        made.number = {key: numbers[place] for key, place in self.number.items() if place in numbers}
        for place in left:
            known = self.actions(place)
            made.first.append(len(made.visits))
            for name in ("legal", "untried", "worth", "hope"):
                getattr(made, name).append(getattr(self, name)[place])
            for name in ("visits", "values", "hopes"):
                getattr(made, name).extend(getattr(self, name)[known])
            for outcomes in self.outcomes[known]:
                rows = [*outcomes.values()]
                made._of.extend([len(made.outcomes)] * len(rows))
                made._to.extend(numbers[to] for to in outcomes)
                made.outcomes.append({numbers[to]: len(made.counts) + i for i, to in enumerate(outcomes)})
                made.counts.extend(self.counts[row] for row in rows)
                made.paid.extend(self.paid[row] for row in rows)
        return made

    def back_up(self, place: int, action: int) -> None:
        """Value an action of a place anew by what it led to."""
        total = hoped = 0.0
        visits, unknown = self.visits[action], self.unknown
        for to, row in self.outcomes[action].items():
            paid = self.paid[row]
            total += paid
            hoped += paid
            if to != END:
                weight = self.counts[row] * self._discount
                total += weight * self.worth[to]
                hoped += weight * (unknown if self.untried[to] else self.hope[to])
        value = self.values[action] = total / visits
        self._met(value)
        self.hopes[action] = hoped / visits + self.bonus / math.sqrt(visits)
        known = self.actions(place)
        self.worth[place] = max(self.values[known])
        self.hope[place] = max(self.hopes[known])

    def actions(self, place: int) -> slice:
        """Return where the actions of a place are among all."""
        first = self.first[place]
        return slice(first, first + len(self.legal[place]))

    def best(self, place: int) -> int:
        """Return the action that is worth most, counted from the first of its place: of equals the one tried most."""
        pairs = [*zip(self.values[known := self.actions(place)], self.visits[known], strict=True)]
        return pairs.index(max(pairs))

    def likeliest(self, action: int) -> int:
        """Return the place that an action that was tried led to most often."""
        return max(self.outcomes[action].items(), key=lambda known: self.counts[known[1]])[0]

    def sought(self, place: int) -> list[int]:
        """Return the actions of a place that were tried least, if that is to be done more often."""
        if not self.tries:
            return self.untried[place]
        visits = self.visits[self.actions(place)]
        return [i for i, tried in enumerate(visits) if tried <= self.tries]

    def ways(self, start: int) -> Iterator[list[tuple[int, int]]]:
        """Yield the way to every place where something is sought, nearest first: places and actions, last step first.

        What is learned of places between two of them is taken into account.
        """
        before: dict[int, tuple[int, int]] = {}
        for place in (reached := [start]):  # which grows
            while self.sought(place):
                way = []
                back = place
                while back != start:
                    back, action = before[back]
                    way.append((back, action))
                yield way
            known = self.actions(place)
            for action, outcomes in enumerate(self.outcomes[known], known.start):
                for to in outcomes:
                    if to not in (END, start) and to not in before:
                        before[to] = place, action
                        reached.append(to)

    def settle(self, deadline: float) -> None:
        """Sweep over all that is known until values do not change or the time is over: value iteration."""
        sweep = _Sweep(self, self._discount)
        sweep.settle_values(deadline)
        sweep.settle_hopes(deadline)

    def in_time(self, start: int, steps: int) -> tuple[Floats, Callable[[int, int], int]]:
        """Return what the actions of a place are worth in so many steps, and what is best: backward induction."""
        sweep, worth = _Sweep(self, self._discount), [np.zeros(len(self.legal) + 1)]
        for _ in range(steps - 1):
            worth.append(sweep.greatest(sweep.each(worth[-1])))
            if np.array_equal(worth[-1], worth[-2]):  # more steps change nothing
                break

        def values(place: int, t: int) -> Floats:
            after, known = worth[min(steps - t, len(worth)) - 1], self.actions(place)
            return np.array([self._value(action, after) for action in range(known.start, known.stop)])

        return values(start, 0), lambda place, t: int(values(place, t).argmax())

    def _value(self, action: int, worth: Floats) -> float:
        """Return what an action is worth by what places are; -inf if it was not tried."""
        rows = self.outcomes[action].items()
        total = sum(self.paid[row] + self._discount * self.counts[row] * worth[to] for to, row in rows)
        return float(total / self.visits[action]) if rows else -math.inf


class _Sweep:
    """All that is known as arrays of its own: those of the places could not grow as long as an error holds these."""

    def __init__(self, places: Places, discount: float) -> None:
        self._places = places
        self._of, self._to = np.array(places._of), np.array(places._to)
        self._first, self._visits = np.array(places.first), np.array(places.visits)
        visits = self._visits[self._of]
        self._paid = np.frombuffer(places.paid) / visits
        self._share = discount * np.frombuffer(places.counts) / visits
        self._untried = self._visits == 0
        self._never = np.maximum.reduceat(self._visits, self._first) == 0

    def each(self, worth: Floats) -> Floats:
        """Return what actions are worth by what places are, the end last."""
        after = self._paid + self._share * worth[self._to]
        each: Floats = np.bincount(self._of, after, len(self._visits)).astype(np.float64, copy=False)
        each[self._untried] = -np.inf
        return each

    def greatest(self, each: Floats) -> Floats:
        """Return what places are worth by what their actions are, the end last."""
        worth = np.maximum.reduceat(each, self._first)
        worth[self._never] = 0.0
        return np.append(worth, 0.0)

    def _settled(self, worth: Any, step: Callable[[Floats], Floats], least: float, deadline: float) -> Floats:
        """Repeat a step until places are worth no more or less by it, and return what actions are worth then."""
        worth, least = np.append(worth, 0.0), least * (self._places.high - self._places.low)
        for _ in range(_SWEEPS):
            each = step(worth)
            before, worth = worth, self.greatest(each)
            if np.abs(worth - before).max() <= least or time.perf_counter() > deadline:
                break
        return each

    def settle_values(self, deadline: float) -> None:
        """Let values settle, and look over which range they are."""
        places = self._places
        each = self._settled(places.worth, self.each, _SETTLED, deadline)
        np.frombuffer(places.values)[:], np.frombuffer(places.worth)[:] = each, self.greatest(each)[:-1]
        tried = each[~self._untried]
        places.low, places.high = min(places.low, tried.min()), max(places.high, tried.max())

    def settle_hopes(self, deadline: float) -> None:
        """Let values with bonuses settle."""
        places = self._places
        new = np.array([*map(bool, places.untried), False])
        bonus: Floats = places.bonus / np.sqrt(np.maximum(self._visits, 1.0))

        def step(hope: Floats) -> Floats:
            return self.each(np.where(new, places.unknown, hope)) + bonus

        each = self._settled(places.hope, step, _HOPED, deadline)
        np.frombuffer(places.hopes)[:], np.frombuffer(places.hope)[:] = each, self.greatest(each)[:-1]
