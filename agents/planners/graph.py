"""Search in a graph of states, for games of one player whose states recur."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from agents.budget import NO_LIMIT, Clock
from agents.inspection.ranking import Ranking, best_line
from agents.planner import Planner
from agents.results import Found
from agents.search.records import new_work
from mcts_envs.core import errors
from mcts_envs.core.contract import Game
from mcts_envs.core.rng import below, draw
from mcts_envs.core.view import View

MAX_HORIZON = 10_000

_SWEEPS = 30

_CERTAIN, _CHANCE = 0.003, 1.0
"""Exploration constants where nothing is left to chance, and where something is."""


Steps: TypeAlias = list[tuple["Place", int]]
"""States, and of each the place of an action among its legal ones."""


class Place:
    """What is known of a state: of each legal action, its visits, its value, and what came of it.

    Attributes
    ----------
    legal : list of int
    visits : list of int
    values : list of float
        Estimates of the return, in units of reward.
    outcomes : list of dict
        By the key of the next state: how often it came, and the sum of rewards; None is the end.
    value : float
        That of the best action; 0 before one was tried.
    hope, hopes : float, list of float
        The same values with the bonus for what was tried seldom, as soon as nothing is untried.
    untried : list of int
        Places in ``legal`` of those without a visit.
    """

    __slots__ = ("hope", "hopes", "legal", "outcomes", "untried", "value", "values", "visits")

    def __init__(self, legal: list[int]) -> None:
        self.legal, self.value, self.untried = legal, 0.0, [*range(len(legal))]
        self.hope, self.hopes = 0.0, [0.0] * len(legal)
        self.visits, self.values = [0] * len(legal), [0.0] * len(legal)
        self.outcomes: list[dict[int | None, list[float]]] = [{} for _ in legal]


@dataclass(frozen=True, eq=False, repr=False)
class GraphResult(Found):
    """What a search in a graph found.

    Attributes
    ----------
    action : int
        The action of the greatest value.
    value : float
        Its value: the discounted return, in units of reward.
    line : list of int
        The best actions from here on, as far as the likeliest outcomes are known.
    places : int
        States that are known.
    copies : Copies or None
        In an environment of others: how it was copied; None in ours.
    simulations, steps : int
    seconds : float
    game : Game
    view : View, optional
        The state that was searched from, as it was.
    """

    action: int
    value: float
    line: list[int]
    places: int
    copies: Any
    simulations: int
    steps: int
    seconds: float
    game: Game
    view: View | None = None

    def _found(self) -> str:
        return f"value={self.value:.4g}, states={self.places}"

    def _ranking(self, top: int) -> Ranking:
        return best_line(self.game, self.line, self.value, top)


class Graph(Planner[GraphResult]):
    """Trial-based search in a graph of states: what is learned of a state serves wherever it is met again.

    Simulations walk from the present state until they meet a new one. An action is worth the mean of its outcomes, a
    state as much as its best action. Walks follow values that have a bonus for what was tried seldom, in all that may
    come (MBIE-EB: A. Strehl and M. Littman 2008, "An analysis of model-based Interval Estimation for Markov Decision
    Processes"); the move is chosen by values without it, after value iteration. Where no action
    has led to two states, a walk ends when it comes round through what is known, and after one that met nothing new
    the next goes to the nearest state where an action is untried, so that in the end all is known. States are told
    apart by what their player observes of them. The graph is kept until the episode ends.

    It is for games of one player, in which what is observed tells all that matters, and comes again: mazes, slippery
    ice, taxis. Where a time limit ends an episode before the best line does, or before the horizon where chance
    decides, the move is chosen by backward induction over the steps that are left.

    Parameters
    ----------
    c : float, optional
        Exploration constant: the bonus for an action that was tried once, in ranges of the values met. By default 0.003
        as long as every action has shown one outcome alone, and 1 from then on: what fell badly once is tried again.
        0.003 hopes elsewhere for little more than was met so far.
    discount : float
        Discount of rewards a step.
    horizon : int
        Longest simulation in steps.
    **budget
        ``simulations`` (1000 when no budget is given), ``time_limit``, ``max_steps`` and ``seed`` as in
        :class:`agents.planner.Planner`.

    Raises
    ------
    ValueError, TypeError
        If a setting is not possible.
    """

    name = "graph"

    def __init__(self, *, c: float | None = None, discount: float = 0.99, horizon: int = 200, **budget: Any) -> None:
        super().__init__(**budget)
        self.c = c if c is None else errors.number("c", c, 0.0, 1e6)
        self.discount = errors.number("discount", discount, 0.0, 1.0)
        self.horizon = errors.integer("horizon", horizon, 1, MAX_HORIZON)

    def plan(self, view: View, clock: Clock) -> GraphResult:
        """Return what the search finds.

        Raises
        ------
        ValueError
            If the game is for several players.
        """
        game, memory = view.game, self.memory(view)
        self.check_alone(game)
        walk = _Walk(self, view, memory)
        clock.deadline -= min(memory.get("choice", 0.0), clock.budget.time_limit / 2)  # as long as it took last time
        while clock.slice(1):
            before = walk.steps
            walk.simulate()
            clock.spend(1, walk.steps - before)
        walk.settle(clock.deadline)
        began = time.perf_counter()
        value, line = walk.choice()
        memory["choice"] = time.perf_counter() - began
        made = clock.simulations, clock.steps, clock.seconds
        return GraphResult(line[0], value, line, len(walk.graph), walk.copies, *made, game, view.copied())


class _Walk:
    """Simulations from one state."""

    def __init__(self, planner: Graph, view: View, memory: dict[str, Any]) -> None:
        self._planner, self._game, self._player = planner, view.game, view.player
        state: Any = view.state.copy()
        self._left = planner.horizon
        if view.game.plain_lists:
            self._left = min(planner.horizon, state.left)
            state.left = NO_LIMIT  # cut off, a walk would look as if its last action ended the episode
        self._state, self._hidden = state, getattr(state, "hidden", None)
        self._work = new_work(view.game, planner.stream, 0, plain=view.game.plain_lists)
        self._memory = memory
        self.graph: dict[int, Place] = memory.setdefault("graph", {})
        self._key = int(view.game.key(view.state, view.player))
        if getattr(view.state, "seen", self) is None:  # the environment does not say again what it showed
            self.graph.pop(self._key, None)
        self.root = self.graph.setdefault(self._key, Place(self._offered(self._state)))
        self._low = self._high = 0.0
        self._longest = 1.0 / max(1.0 - planner.discount, 1.0 / self._left)  # in which bonuses can add up
        self.steps = self._made = 0
        self._nearest, self._news = self._untried(), True

    @property
    def copies(self) -> Any:
        """In an environment of others: how it was copied."""
        return None if self._hidden is None else self._hidden.copies(self._player)

    def _offered(self, state: Any) -> list[int]:
        legal = self._work.legal
        return [int(action) for action in legal[: self._game.legal(state, self._player, legal)]]

    def simulate(self) -> None:
        """Make a simulation; whenever their number has doubled, let values settle."""
        self._walk([] if self._news or self._memory.get("branches") else next(self._nearest, []))
        self._made += 1
        if self._made & (self._made - 1) == 0:
            self.settle(math.inf)

    def _untried(self) -> Iterator[Steps]:
        """Yield the way to every state where something is untried, last step first, the nearest states first."""
        before: dict[int, tuple[int, int]] = {}
        for key in (reached := [self._key]):  # which grows, as the graph does
            place = self.graph[key]
            while place.untried:
                way = []
                back = key
                while back != self._key:
                    back, i = before[back]
                    way.append((self.graph[back], i))
                yield way
            for i, outcomes in enumerate(place.outcomes):
                for after in outcomes:
                    if after is not None and after != self._key and after not in before:
                        before[after] = key, i
                        reached.append(after)

    def _walk(self, way: Steps) -> None:
        """Walk, at first the way that is given, to a new state, the end or the horizon; back up what it is worth."""
        game, work, player, graph = self._game, self._work, self._player, self.graph
        state: Any = work.state
        state[:] = self._state
        game.determinize(state, player, draw(self._planner.stream))
        place, path, met = self.root, [], set[int]()
        self._news = False
        for _ in range(self._left):
            i = way.pop()[1] if way and way[-1][0] is place else self._selected(place)
            if not place.visits[i]:
                self._news = True
                met.clear()
            work.actions[0] = place.legal[i]
            game.step(state, work.actions, work.rewards)
            self.steps += 1
            over = not game.active(state)
            key = None if over else int(game.key(state, player))
            place.visits[i] += 1
            self._note(place.outcomes[i], key, float(work.rewards[0]))
            path.append((place, i))
            if key is None:
                break
            if key not in graph:
                graph[key] = Place(self._offered(state))
                break
            if key in met and not self._memory.get("branches"):
                break
            self._back_up(place, i)  # or it would walk in circles
            met.add(key)
            place = graph[key]
        for place, i in reversed(path):
            self._back_up(place, i)

    def _note(self, outcomes: dict[int | None, list[float]], key: int | None, reward: float) -> None:
        """Count an outcome of an action."""
        outcome = outcomes.setdefault(key, [0, 0.0])
        if len(outcomes) > 1:
            self._memory["branches"] = self._memory["chance"] = True
        elif outcome[0] and not math.isclose(outcome[1], outcome[0] * reward, abs_tol=1e-9):
            self._memory["chance"] = True
        outcome[0] += 1
        outcome[1] += reward
        worth = reward + (self._planner.discount * self.graph[key].value if key in self.graph else 0.0)
        self._low, self._high = min(self._low, worth), max(self._high, worth)

    def _selected(self, place: Place) -> int:
        """Return the place of an action that was not tried yet, or of the one that is worth most with its bonus."""
        if place.untried:
            return int(place.untried.pop(below(self._planner.stream, len(place.untried))))
        return place.hopes.index(max(place.hopes))

    def _back_up(self, place: Place, i: int) -> None:
        total = hoped = 0.0
        discount, visits = self._planner.discount, place.visits[i]
        for key, (count, rewards) in place.outcomes[i].items():
            total += rewards
            hoped += rewards
            if key is not None:
                total += count * discount * self.graph[key].value
                hoped += count * discount * self._hope(self.graph[key])
        value = place.values[i] = total / visits
        self._low, self._high = min(self._low, value), max(self._high, value)
        place.hopes[i] = hoped / visits + self._bonus / math.sqrt(visits)
        place.value = max(value for value, visits in zip(place.values, place.visits, strict=True) if visits)
        place.hope = max(place.hopes)

    def _hope(self, place: Place) -> float:
        """Return what is hoped for at a place, by the values met so far, which may have grown since it was visited."""
        return self._unknown if place.untried else place.hope

    @property
    def _bonus(self) -> float:
        """For an action that was tried once."""
        c = self._planner.c
        if c is None:
            c = _CHANCE if self._memory.get("chance") else _CERTAIN
        return c * ((self._high - self._low) or 1.0)

    @property
    def _unknown(self) -> float:
        """What is hoped for where something was not tried yet: as much as anywhere, and a bonus at every step."""
        return self._high + self._bonus * self._longest

    def settle(self, deadline: float) -> None:
        """Sweep over the graph, once at least, until values do not change or the time is over: value iteration."""
        for _ in range(_SWEEPS):
            most = 0.0
            for place in reversed(self.graph.values()):
                before = place.value
                for i, visits in enumerate(place.visits):
                    if visits:
                        self._back_up(place, i)
                most = max(most, abs(place.value - before))
            if most <= 1e-4 * (self._high - self._low) or time.perf_counter() > deadline:
                break

    def choice(self) -> tuple[float, list[int]]:
        """Return what the best action is worth in the time that is left, and the best line through likely outcomes."""
        line, over = self._line(self._best)
        if self._left < self._planner.horizon and (self._memory.get("branches") or not over):
            worth, best = self._in_time()
            return worth[best(self._key, 0)], self._line(best)[0]
        return self.root.values[self._best(self._key, 0)], line

    def _best(self, key: int, t: int) -> int:
        """Return the place of the action that is worth most at a state, whatever the time."""
        place = self.graph[key]
        return max(range(len(place.legal)), key=lambda i: (place.visits[i] > 0, place.values[i], place.visits[i]))

    def _line(self, choose: Callable[[int, int], int]) -> tuple[list[int], bool]:
        """Return what ``choose(state, steps made)`` does, up to a circle or the new, and whether it ends in time."""
        line: list[int] = []
        met: set[int] = set()
        key: int | None = self._key
        while key is not None and key not in met and len(line) < self._left and any(self.graph[key].visits):
            met.add(key)
            place, i = self.graph[key], choose(key, len(line))
            line.append(place.legal[i])
            key = max(place.outcomes[i].items(), key=lambda known: known[1][0])[0]
        return line, key is None

    def _in_time(self) -> tuple[list[float], Callable[[int, int], int]]:
        """Return what the root's actions are worth in the steps that are left, and what is best: backward induction."""
        at = {key: n for n, key in enumerate(self.graph)}
        shape = len(at), self._game.actions
        rows = [
            (at[key] * shape[1] + i, len(at) if to is None else at[to], count / place.visits[i], paid / place.visits[i])
            for key, place in self.graph.items()
            for i, outcomes in enumerate(place.outcomes)
            for to, (count, paid) in outcomes.items()
        ]
        tried, to, share, paid = (np.array(column) for column in zip(*rows, strict=True))
        untried = np.bincount(tried, minlength=shape[0] * shape[1]).reshape(shape) == 0
        untried &= ~untried.all(1, keepdims=True)  # what was not left yet is worth 0
        worth, best = np.zeros(len(at) + 1), []
        for _ in range(self._left):
            after = paid + self._planner.discount * share * worth[to]
            each = np.bincount(tried, after, shape[0] * shape[1]).reshape(shape)
            each[untried] = -np.inf
            worth[:-1] = each.max(1)
            best.append(each.argmax(1))
        root, usual = each[at[self._key]].tolist(), self._best(self._key, 0)
        if root[usual] >= max(root) - 1e-6 * (self._high - self._low):
            best[-1][at[self._key]] = usual
        return root, lambda key, t: int(best[-1 - t][at[key]])
