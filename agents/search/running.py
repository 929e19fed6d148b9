"""A search under way: it can be run on, asked and stopped at any time."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import Event, Lock
from typing import Any
from weakref import ref

import numpy as np

from agents.budget import NO_LIMIT, Clock, read_budget
from agents.evaluator.packed import Packed
from agents.inspection.search_tree import SearchTree, Trees
from agents.policies.signatures import needs_of
from agents.results import SearchResult, copies_of
from agents.search.plan import SearchPlan
from agents.search.records import compiled, new_path, new_work
from agents.search.search import OPEN_LOOP
from agents.search.tree import NODE, RANGE, ROOT, Tree, add_root_statistics, copy_of, enlarge, find_node
from agents.waiting import as_completed
from mcts_envs.core.contract import EVERYTHING, Game
from mcts_envs.core.kernel import row
from mcts_envs.core.rng import draw, new_stream
from mcts_envs.core.typing import Bytes, Floats, Ints
from mcts_envs.core.view import View

_ANY = np.zeros(0, np.int64)
_ARMS = 5
"""Where the arms are among the arguments of a search."""

_FEW = 4
"""In environments of others so many actions are tried once however short the time."""


class Search:
    """A search from one state, which is left as it is.

    Made by :meth:`agents.mcts.MCTS.start`. Each of several threads builds a tree of its own.

    Parameters
    ----------
    plan : SearchPlan
    view : View
        Where to search from, and for whom.
    streams : list of uint8 arrays
        One for each thread, and one for ``recommend``.
    nodes : int
        Nodes that each tree may grow to.
    previous : sequence of Tree, optional
        Of the search of an earlier move: what it found below this state is kept. Empty: of the first whose trees are.

    Attributes
    ----------
    plan : SearchPlan
    trees : list of Tree
        One for each thread.
    player : int
        Who searches.
    legal : int64 array [k]
        What the player may choose from.
    choice : int, optional
        The action to play, where a planner does not leave it to ``recommend``.
    improved : float64 array [A], optional
        What a planner has made of the prior, as probabilities.
    seconds : float
        How long it ran.
    """

    def __init__(
        self, plan: SearchPlan, view: View, streams: Sequence[Bytes], nodes: int, previous: Sequence[Tree] | None = None
    ) -> None:
        self.plan, self._streams, self._last_stream = plan, streams[:-1], streams[-1]
        self._root, self.player = plan.root(view.state), view.player
        self._game = view.game
        self.legal = legal_actions(plan.model, view)
        settings = plan.settings
        key_for = view.player if settings.key_for >= 0 else settings.key_for
        silent = key_for >= 0 and getattr(view.state, "silent", False)
        determinize_for = view.player if settings.determinize_for >= 0 else settings.determinize_for
        if not previous:
            plan.refuse_luck(self._root, determinize_for)
        self._settings = settings._replace(player=view.player, determinize_for=determinize_for, key_for=key_for)
        shown = self._redrawn if key_for == EVERYTHING else self._root  # or a kept tree would tell what is hidden
        key = 0 if key_for == OPEN_LOOP else int(plan.model.key(shown, key_for))
        if silent and previous is not None:  # what it shows tells it from none: it is found again where it is the same
            key = _key_of_all(plan, self._root)
            previous = previous if key else None
        if not previous:
            self.trees = [plan.new_tree(nodes) for _ in self._streams]
        else:
            self.trees = [_moved_down(plan, tree, key, nodes) for tree in previous]
        for tree in self.trees:
            row(tree.nodes, ROOT, NODE).key = key
            tree.count.viewer = max(key_for, EVERYTHING)
        longest = 1 + max(tree.count.max_nodes for tree in self.trees)  # a path meets no node twice
        depth = min(settings.tree_depth, settings.horizon, longest * settings.option_steps)
        self._longest = length = min(depth + settings.rollout_depth, settings.horizon)
        own = [new_stream(0) if settings.common_chance else stream for stream in self._streams]
        self._works = [new_work(plan.model, stream, length, plain=plan.plain) for stream in own]
        self._paths = [new_path(plan.model, depth, plain=plan.plain) for _ in self._streams]
        self._locks = [Lock() for _ in self.trees]
        self._packed: list[tuple[Tree, Packed] | None] = [None] * len(self.trees)
        self._shown: list[ref[Trees]] = []
        self._over = Event()
        self.seconds = 0.0
        self.choice: int | None = None
        self.improved: Floats | None = None

    @property
    def _least(self) -> int:
        """Simulations that are made however short the time: in environments of others no action is played untried."""
        return min(len(self.legal), _FEW) if self.plan.plain else 1

    def advised(self) -> int | None:
        """Return the legal action that the game advises most; None if it prefers none."""
        offered = self.advice()[self.legal]
        return None if offered.min() == offered.max() else int(self.legal[offered.argmax()])

    def advice(self) -> Floats:
        """Return what the game advises at the root [A], as a simulation sees it."""
        weights = np.zeros(self.plan.model.actions)
        self.plan.model.advise(self._redrawn, self.player, weights)
        return weights

    def worth(self) -> float:
        """Return what ``evaluate`` says that the root is worth to the player, as a simulation sees it."""
        values = np.zeros(self.plan.model.players)
        self.plan.model.evaluate(self._redrawn, values)
        return 0.0 if self._settings.relative else float(values[self.player])

    @cached_property
    def _redrawn(self) -> Bytes:
        """The root, in which what cannot be known is drawn anew."""
        state = self._root.copy()
        self.plan.model.determinize(state, self._settings.determinize_for, draw(new_stream(0)))
        return state

    @property
    def steps(self) -> int:
        """Steps of the model made so far."""
        return sum(tree.count.steps for tree in self.trees)

    @property
    def simulations(self) -> int:
        """Simulations made so far."""
        return sum(tree.count.simulations for tree in self.trees)

    def __repr__(self) -> str:
        made = f"simulations={self.simulations}, seconds={self.seconds:.3g}"
        return f"Search({self._game.name}, player {self.player}: {made})"

    def __reduce__(self) -> Any:
        raise TypeError("a search under way cannot be copied; keep its result()")

    def run(
        self, *, simulations: int | None = None, time_limit: float | None = None, max_steps: int | None = None
    ) -> "Search":
        """Search on, until the tightest limit is reached or another thread calls :meth:`stop`; return the search.

        Raises
        ------
        TypeError, ValueError
            If there is no limit, or one is not positive.
        """
        budget = read_budget(simulations, time_limit, max_steps)
        if budget is None:
            raise TypeError("a search needs a limit to run to: simulations, time_limit (seconds) or max_steps")
        for _ in self.spending(Clock(budget)):
            self.plan.answer()
        return self

    def spending(
        self, clock: Clock, arms: Ints = _ANY, whole_passes: bool = True, until: float | None = None
    ) -> Iterator[None]:
        """Search on for the budget of a clock; yield whenever the search waits for answers of a network.

        ``plan.answer()`` answers all that wait. First actions, if given, are simulated in turn and equally often, in
        whole passes unless told otherwise: a pass that has begun goes on past the budget's time, but is cut off at
        ``until`` (default: the end of that time).
        """
        parts, once = len(self.trees), max(1, len(arms))
        jobs: list[tuple[int, Clock, Ints]] = []
        first = 0
        for part, tree in enumerate(self.trees):
            share = clock.budget.share(part, parts, once if whole_passes else 1)
            # As if the threads took the arms one after another: all are tried equally often, whoever does it.
            own = Clock(share, clock.started, tree.count.simulations > 0, self._least)
            jobs.append((part, own, np.roll(arms, -first) if first else arms))
            first = 0 if whole_passes else (first + share.simulations) % once
        over, end = self._over, clock.deadline if until is None else until
        try:
            if parts == 1 or self.plan.settings.waits:
                yield from together(self._growing(*job, end, over) for job in jobs)
            else:
                self._grow_all(jobs, end, over)
        finally:
            if over.is_set():
                self._over = Event()
            self.seconds += clock.seconds

    def _grow_all(self, jobs: Sequence[tuple[int, Clock, Ints]], until: float, over: Event) -> None:
        with ThreadPoolExecutor(len(jobs)) as threads:
            try:
                futures = [threads.submit(list, self._growing(*job, until, over)) for job in jobs]
                for future in as_completed(futures):
                    future.result()
            finally:
                over.set()

    def stop(self) -> None:
        """End the search that another thread runs, within a few milliseconds; or else the next one."""
        self._over.set()

    def returns(self) -> tuple[float, float]:
        """Return the least and the greatest return of the player so far; ``low > high`` before the first."""
        seen = [row(tree.ranges, self.player, RANGE) for tree in self.trees]
        return min(float(each.low) for each in seen), max(float(each.high) for each in seen)

    def statistics(self) -> tuple[Ints, Floats]:
        """Return visits [A] and mean returns [A] at the root; NaN without a visit."""
        actions = self.plan.model.actions
        visits, sums = np.zeros(actions, np.int64), np.zeros(actions)
        for tree in self.trees:
            add_root_statistics(tree, self.player, visits, sums)
        with np.errstate(invalid="ignore"):
            return visits, sums / visits

    def _until_decided(self, clock: Clock) -> int:
        """Return after how many more simulations, at least, those left cannot change which action has most visits."""
        if len(self.legal) < 2:
            return NO_LIMIT
        second, first = np.partition(self.statistics()[0][self.legal], -2)[-2:]
        return clock.until_fewer_than(int(first - second), self._longest)

    def result(self) -> SearchResult:
        """Return what has been found so far, which stays as it is when the search goes on.

        Asked for while another thread searches, its tree may be a few milliseconds ahead of its visits.

        Raises
        ------
        ValueError
            If nothing was searched yet, or ``recommend`` returned an illegal action.
        """
        trees = Trees(self.trees)
        self._shown = [each for each in self._shown if each() is not None] + [ref(trees)]
        visits, values = self.statistics()
        if not visits.any():
            raise ValueError("nothing was searched yet; call run(simulations=...) first")
        action = self.recommended(visits, values) if self.choice is None else self.choice
        shown = SearchTree(trees, self._game)
        prior = self._prior() if self._settings.prior else None
        how = None if self.plan.evaluator is None else str(self.plan.evaluator.name)
        made = self.simulations, self.steps, self.seconds
        view = View(self._game, self._root, self.player)
        copies = copies_of(self._root, self._settings.determinize_for)
        return SearchResult(visits, values, action, shown, *made, prior, how, self.improved, view, copies)

    def recommended(self, visits: Ints, values: Floats) -> int:
        """Return what is to be played after these visits [A] with these mean returns [A].

        Raises
        ------
        ValueError
            If ``recommend`` returned an illegal action.
        """
        recommend = self.plan.recommend
        given = visits, values, self.legal, self._last_stream.copy()
        action = recommend(*given, self) if self.plan.recommends_from_search else recommend(*given)
        if not isinstance(action, int | np.integer) or action not in self.legal:
            raise ValueError(f"recommend {recommend!r} returned {action}, which is not legal; legal now: {self.legal}")
        return int(action)

    def _prior(self) -> Floats:
        """Return what the game advises at the root [A] as probabilities; equal ones where it advises nothing."""
        prior = np.zeros(self.plan.model.actions)
        weights = self.advice()[self.legal]
        prior[self.legal] = weights / weights.sum() if weights.any() else 1 / len(weights)
        return prior

    def _call(self, i: int, max_steps: int) -> Callable[[Ints, int], None]:
        """Return what simulates some arms so many times in a tree as it is now."""
        if self._settings.waits:
            return self._packed_call(i, max_steps)
        run, given = self.plan.search, self._arguments(i, max_steps)
        before, after = given[:_ARMS], given[_ARMS + 2 :]
        return lambda arms, simulations: run(*before, arms, simulations, *after)

    def _packed_call(self, i: int, max_steps: int) -> Callable[[Ints, int], None]:
        """Return the same for a search that waits: it is called for every leaf, so a tree's arguments are kept."""
        packed = self._packed[i]
        if packed is None or packed[0] is not self.trees[i]:
            packed = self.trees[i], Packed(self.plan.search, *self._arguments(i, max_steps))
            self._packed[i] = packed
        call = packed[1]
        call.put(_ARMS, _ANY)
        call.put(_ARMS + 2, max_steps)

        def again(arms: Ints, simulations: int) -> None:
            if len(arms):
                call.put(_ARMS, arms)
            call.put(_ARMS + 1, simulations)
            call()

        return again

    def _arguments(self, i: int, max_steps: int) -> tuple[Any, ...]:
        """Return what a tree's search is called with; arms and simulations are still to be put in."""
        plan, path, tree = self.plan, self._paths[i], self.trees[i]
        if not plan.interpreted:
            path, tree = compiled(path), compiled(tree)
        own = max_steps, self._streams[i], self._works[i], path, tree
        return *plan.games, plan.table, self._settings, self._root, _ANY, 0, *own

    def _own(self, i: int) -> Tree:
        """Return the tree to grow: a copy if somebody still has a result with this one."""
        tree = self.trees[i]
        kept = any((trees := each()) is not None and trees[i].ranges is tree.ranges for each in self._shown)
        return copy_of(tree) if kept else tree

    def _growing(self, i: int, clock: Clock, arms: Ints, until: float, over: Event) -> Iterator[None]:
        """Add simulations to one tree, alone; yield when those that are left wait for answers.

        Arms are simulated in whole passes, or in parts of a pass, which meet the same chance if they are to share it.
        """
        with self._locks[i]:
            plan, tree, stream = self.plan, self.trees[i], self._streams[i]
            made, again = tree.count, False
            once, rest, deadline, waits = max(1, len(arms)), arms, clock.deadline, self._settings.waits
            max_steps = min(made.steps + clock.budget.max_steps, NO_LIMIT)
            run, begun_ahead = self._call(i, max_steps), plan.evaluator.ahead if waits else 0
            before_pass = stream.copy()
            while not over.is_set():
                undecided = self._until_decided(clock) if plan.early_stop else NO_LIMIT
                if not undecided and clock.simulations:
                    break
                if (own := self._own(i)) is not tree:
                    tree = self.trees[i] = own
                    run, made = self._call(i, max_steps), tree.count
                begun = len(rest) < len(arms)
                most = len(rest) if begun or (waits and len(arms)) else max(1, undecided)
                count = clock.slice(most, once)
                if not count:
                    break
                room = enlarge(tree, count + begun_ahead)
                if room is not tree:
                    tree = self.trees[i] = room
                    run, made = self._call(i, max_steps), tree.count
                    continue  # that took time
                if (begun or again) and self._settings.common_chance:
                    stream[:] = before_pass
                elif not begun:
                    before_pass[:] = stream
                before, already, now = made.steps, made.simulations, rest[:count].copy()
                with plan.turn:
                    run(now, count)
                if made.faults:
                    raise ValueError(plan.fault(made.faults, made.listed))
                done = made.simulations - already if waits else count
                while done < count and not len(arms) and made.steps < max_steps:
                    began = time.perf_counter()
                    yield
                    if over.is_set() or not clock.resumed(began, done):
                        break
                    room = enlarge(self._own(i), count - done + begun_ahead)
                    if room is not tree:
                        tree = self.trees[i] = room
                        run, made = self._call(i, max_steps), tree.count
                    with plan.turn:
                        run(now, count - done)
                    if made.faults:
                        raise ValueError(plan.fault(made.faults, made.listed))
                    done = made.simulations - already
                if done:
                    clock.spend(done, made.steps - before)
                left = now[now >= 0] if waits else now[count:]
                rest = np.concatenate([left, rest[count:]]) if len(left) or count < len(rest) else arms
                clock.deadline = until if len(rest) < len(arms) else deadline
                if again := done < count:
                    yield


def together(searches: Iterable[Iterator[None]]) -> Iterator[None]:
    """Go on with each search until it waits or has ended; yield as long as one waits."""
    going = list(searches)
    while going := [search for search in going if next(search, going) is None]:
        yield


def _key_of_all(plan: SearchPlan, state: Bytes) -> int:
    """Return the key of all that an environment of others holds; 0 where it cannot be looked into."""
    try:
        return int(plan.model.key(state, EVERYTHING))
    except TypeError:
        return 0


def _moved_down(plan: SearchPlan, tree: Tree, key: int, nodes: int) -> Tree:
    """Return a tree with what another found from the most visited node of this key on; empty if there is none."""
    start = find_node(tree, key)
    below = int(tree.count.nodes) - start if start else 0
    moved = plan.new_tree(min(nodes + below, plan.max_nodes))
    if start:
        from agents.search.graft import graft

        moved = enlarge(moved, max(below, int(tree.count.edges)))
        graft(tree, start, moved)
        for kind, store in moved.stores.items():
            if not needs_of(plan.policies[kind]).lasting:
                store.per_tree[:] = 0.0
        moved.count.simulations = moved.count.steps = 0
    return moved


def legal_actions(model: Game, view: View) -> Ints:
    """Return the legal actions [k] that a model considers too; all legal ones if it considers none of them."""
    legal = view.legal_actions()
    if model.legal is view.game.legal:
        return legal
    actions = np.empty(model.actions, np.int64)
    considered = actions[: model.legal(view.state, view.player, actions)]
    both = considered[np.isin(considered, legal)]
    return both if len(both) else legal
