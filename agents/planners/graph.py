"""Search in a graph of states, for games of one player whose states recur."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from agents.budget import NO_LIMIT, Clock
from agents.inspection.ranking import Ranking, best_line
from agents.planner import Planner
from agents.planners.places import END, Places
from agents.results import Found, copies_of
from agents.search.records import new_work
from mcts_envs.core import errors
from mcts_envs.core.contract import Game
from mcts_envs.core.rng import below, draw
from mcts_envs.core.view import View

MAX_HORIZON = 10_000


Steps: TypeAlias = list[tuple[int, int]]
"""Places and actions, last step first."""


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
    Processes"); the move is chosen by values without it, after value iteration. Where no action has led to two states,
    a walk ends when it comes round through what is known, goes on through what is new for as many steps as it took to
    get there, and after one that met nothing new the next goes to the nearest state where an action is untried, so that
    in the end all is known; then all is tried again. States are told apart by what their player observes of them. The
    graph is kept until the episode ends.

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

    @property
    def recognizes(self) -> bool:
        """That places are found again by what is observed."""
        return True

    def plan(self, view: View, clock: Clock) -> GraphResult:
        """Return what the search finds.

        Raises
        ------
        ValueError
            If the game is for several players.
        """
        game, memory = view.game, self.memory(view)
        self.check_alone(game)
        clock.deadline -= min(memory.get("choice", 0.0), clock.budget.time_limit / 2)  # as long as it took last time
        walk = _Walk(self, view, memory, clock.deadline)
        try:
            while clock.slice(1):
                before = walk.steps
                walk.simulate()
                clock.spend(1, walk.steps - before)
            began = time.perf_counter()
            walk.places.settle(clock.deadline)
            value, line = walk.choice()
            memory["choice"] = time.perf_counter() - began
        finally:
            memory["places"] = walk.places
        made = clock.simulations, clock.steps, clock.seconds
        return GraphResult(line[0], value, line, len(walk.places), walk.copies(), *made, game, view.copied())


class _Walk:
    """Simulations from one state."""

    def __init__(self, planner: Graph, view: View, memory: dict[str, Any], deadline: float) -> None:
        self._planner, self._game, self._player, self._deadline = planner, view.game, view.player, deadline
        state: Any = view.state.copy()
        self._left = planner.horizon
        if view.game.plain_lists:
            self._left = min(planner.horizon, state.left)
            state.left = NO_LIMIT  # cut off, a walk would look as if its last action ended the episode
        self._state = state
        self._work = new_work(view.game, planner.stream, 0, plain=view.game.plain_lists)
        self._memory = memory
        kept = memory.pop("places", None)  # out of it: another thread that searches meanwhile grows a graph of its own
        self.places: Places = kept or Places(planner.discount, planner.c, planner.horizon)
        self.places.begin()
        key = int(view.game.key(view.state, view.player))
        known = self.places.number.get(key)
        if known is None or getattr(view.state, "silent", False):  # the environment shows nothing again
            known = self.places.add(key, self._offered(self._state))
        self.root: int
        self.places, self.root = self.places.from_here(known)
        self.steps = 0
        self._nearest, self._news = self.places.ways(self.root), True

    def copies(self) -> Any:
        """Return how an environment of others was copied."""
        return copies_of(self._state, self._player)

    def _offered(self, state: Any) -> list[int]:
        legal = self._work.legal
        return [int(action) for action in legal[: self._game.legal(state, self._player, legal)]]

    def simulate(self) -> None:
        """Make a simulation; whenever there are twice as many in the episode, let values settle."""
        way = None if self._news or self.places.branches else next(self._nearest, None)
        if way is None and not (self._news or self.places.branches):
            self.places.tries += 1  # all is known, unless chance has hidden something so far
            self._nearest = self.places.ways(self.root)
            way = next(self._nearest, None)
        self._walk(way)
        made = self._memory["walks"] = self._memory.get("walks", 0) + 1
        if made & (made - 1) == 0:
            self.places.settle(self._deadline)

    def _walk(self, way: Steps | None) -> None:
        """Walk, at first the way to what is sought, to a new state, the end or the horizon; back up what it is worth.

        Where no action has led to two states it goes on through what is new for as many steps as it took to get there.
        """
        game, work, player, places = self._game, self._work, self._player, self.places
        state: Any = work.state
        state[:] = self._state
        game.determinize(state, player, draw(self._planner.stream))
        place, path, met, far = self.root, [], set[int](), self._left
        self._news = False
        for t in range(self._left):
            if way and way[-1][0] == place:
                i = way.pop()[1] - places.first[place]
            else:
                i, way = self._selected(place, way == []), None
            action = places.first[place] + i
            if not places.visits[action]:
                met.clear()
                far = far if self._news else 2 * t + 2
                self._news = True
            work.actions[0] = places.legal[place][i]
            game.step(state, work.actions, work.rewards)
            self.steps += 1
            to, new = self._reached(state)
            places.note(action, to, float(work.rewards[0]))
            path.append((place, action))
            if to == END or (new and places.branches) or (not places.branches and (to in met or t + 1 >= far)):
                break
            if not new:
                places.back_up(place, action)  # or it would walk in circles
                met.add(to)
            place = to
        for place, action in reversed(path):
            places.back_up(place, action)

    def _reached(self, state: Any) -> tuple[int, bool]:
        """Return the place of a state, and whether it is new."""
        if not self._game.active(state):
            return END, False
        key = int(self._game.key(state, self._player))
        known = self.places.number.get(key)
        return (self.places.add(key, self._offered(state)), True) if known is None else (known, False)

    def _selected(self, place: int, seeks: bool) -> int:
        """Return an action that was not tried yet, or that is sought here, or that is worth most with its bonus."""
        places = self.places
        if untried := places.untried[place]:
            return int(untried.pop(below(self._planner.stream, len(untried))))
        if seeks and (sought := places.sought(place)):
            return sought[below(self._planner.stream, len(sought))]
        hopes = places.hopes[places.actions(place)]
        return hopes.index(max(hopes))

    def choice(self) -> tuple[float, list[int]]:
        """Return what the best action is worth in the time that is left, and the best line through likely outcomes."""
        places = self.places
        line, over = self._line(lambda place, t: places.best(place))
        if self._left < self._planner.horizon and (places.branches or not over):
            worth, best = places.in_time(self.root, self._left)
            usual = places.best(self.root)
            near = worth[usual] >= worth.max() - 1e-6 * (places.high - places.low)
            first = usual if near else int(worth.argmax())
            return float(worth[first]), self._line(lambda place, t: best(place, t) if t else first)[0]
        return places.worth[self.root], line

    def _line(self, choose: Callable[[int, int], int]) -> tuple[list[int], bool]:
        """Return what ``choose(state, steps made)`` does, up to a circle or the new, and whether it ends in time."""
        line: list[int] = []
        met = {END}
        place, places = self.root, self.places
        while place not in met and len(line) < self._left and any(places.visits[places.actions(place)]):
            met.add(place)
            i = choose(place, len(line))
            line.append(places.legal[place][i])
            place = places.likeliest(places.first[place] + i)
        return line, place == END
