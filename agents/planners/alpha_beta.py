"""Alpha-beta search with iterative deepening as an agent, for two players who take turns."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from agents.budget import Budget, Clock
from agents.inspection.ranking import Ranking, best_line
from agents.planner import Planner, variant_of
from agents.planners.frames import (
    BEST,
    BEST_SCORE,
    FRAME,
    GENERATION,
    LEAVES,
    LISTED,
    STEPS,
    UNIT,
    WIN,
    AlphaBetaSettings,
    Work,
    new_work,
)
from agents.planners.negamax import begin, search
from agents.results import Found
from agents.search.given import evaluation_of
from mcts_envs.core import errors
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import copy, interpreted, row
from mcts_envs.core.rng import combine, draw
from mcts_envs.core.view import View

MAX_DEPTH = 64
"""Plies that can be looked ahead."""


@dataclass(frozen=True, eq=False, repr=False)
class AlphaBetaResult(Found):
    """What an alpha-beta search found.

    Attributes
    ----------
    action : int
        The best action.
    value : float
        What the position is worth to the player to move, in [-1, 1]: as ``evaluate`` values the end of the principal
        variation, or the difference of points if the game is over there.
    depth : int
        Plies of the last iteration that was finished; 0 if none was.
    end_in : int, optional
        Plies to the forced win or loss that was found, if one was.
    principal_variation : list of int
        The best line found. It is cut short where it ran into the transposition table.
    simulations : int
        Lines that were looked at to their end.
    steps : int
        Steps of the model.
    seconds : float
        How long it took.
    game : Game
    view : View, optional
        The state that was searched from, as it was.
    """

    action: int
    value: float
    depth: int
    end_in: int | None
    principal_variation: list[int]
    simulations: int
    steps: int
    seconds: float
    game: Game
    view: View | None = None

    def _found(self) -> str:
        end = "" if self.end_in is None else f", end_in={self.end_in}"
        return f"value={self.value:.4g}, depth={self.depth}{end}"

    def _ranking(self, top: int) -> Ranking:
        return best_line(self.game, self.principal_variation or [self.action], self.value, top, self._player)


class AlphaBeta(Planner[AlphaBetaResult]):
    """Iterative-deepening alpha-beta search.

    For games of two players in turns without chance, in which one wins what the other loses. A game that is won (1
    point to 0 by ``outcome``) counts above any heuristic; among wins the sooner is better, among losses the later.
    Other results count as the difference of points, beside what ``evaluate`` expects. Rewards on the way to the end do
    not count: where they matter, ``outcome`` and ``evaluate`` have to say so. Where there is chance after all, one
    course of it is drawn for a whole search. The same state gives the same result, if the budget is not one of time.

    Parameters
    ----------
    depth : int, optional
        Plies to look ahead at most.
    evaluate : kernel or str, optional
        What a state at the depth limit is worth, ``(state, values[2])`` in [-1, 1], given itself or by its file, or the
        variant of the game that says so; by default the game's own ``evaluate``.
    margin : float, optional
        In the last plies leave out moves that would have to gain more than this, in terms of ``evaluate``, with every
        ply to come (futility pruning): more depth for the same time; forced wins and losses are still proven, but a
        win may not be the soonest. None: none is left out, and the value is that of plain minimax.
    table_size : int
        Positions that the transposition table holds (32 bytes each), rounded down to a power of 2; 0: no table. They
        lie in pairs: of those that belong to a pair, one place keeps the deepest search and the other the latest.
    **budget
        ``simulations`` (lines that are looked at to their end), ``time_limit``, ``max_steps`` (100,000 when neither a
        budget nor a depth is given) and ``seed`` as in :class:`agents.planner.Planner`. A budget may end a search
        within an iteration: the best action so far is played.

    Raises
    ------
    ValueError, TypeError
        If a setting is not possible.
    """

    name = "alpha_beta"

    def __init__(
        self,
        *,
        depth: int | None = None,
        evaluate: Callable[..., None] | str | None = None,
        margin: float | None = 0.1,
        table_size: int = 2**18,
        **budget: Any,
    ) -> None:
        super().__init__(**{"default": Budget(max_steps=100_000) if depth is None else Budget(), **budget})
        self.depth = MAX_DEPTH if depth is None else errors.integer("depth", depth, 1, MAX_DEPTH)
        self.evaluate = evaluation_of(evaluate, compiled=True)
        self.margin = None if margin is None else errors.number("margin", margin, 0.0, 2.0)
        self.table_size = errors.integer("table_size", table_size, 0, 2**28)
        self._settings = AlphaBetaSettings(
            buckets=1 << self.table_size.bit_length() - 2 if self.table_size > 1 else 0,
            margin=-1 if self.margin is None else int(self.margin * UNIT),
        )

    def plan(self, view: View, clock: Clock) -> AlphaBetaResult:
        """Return what the last iteration found.

        Raises
        ------
        ValueError
            If the game is not for two players in turns.
        """
        game, spare = self.prepared(view.game)
        try:
            work = spare.pop()
        except IndexError:  # another thread searches with them
            work = new_work(game, self.depth, self._settings.buckets)
        try:
            return self._search(view, clock, game, work)
        finally:
            spare.append(work)

    def _search(self, view: View, clock: Clock, game: Game, work: Work) -> AlphaBetaResult:
        """Search in these work arrays."""
        copy(work.states[0], view.state.copy())
        game.determinize(work.states[0], view.player, draw(self.stream))
        _clear(work)
        iterations = _Iterations(game, self._settings, work, clock)
        action, score, reached, line = int(view.legal_actions()[0]), 0, 0, list[int]()
        for depth in range(1, self.depth + 1):
            done = iterations.run(depth, action)
            found = int(work.counters[BEST_SCORE])
            if work.counters[BEST] >= 0 and (done or found >= -UNIT):
                action, score, line = int(work.counters[BEST]), found, iterations.line()
            elif work.counters[BEST] >= 0:
                # All that was looked at loses; what was not, need not.
                action = iterations.unfinished
                line = [action]
            if not done:
                break
            reached = depth
            if abs(score) > UNIT or not iterations.open:
                break
        end_in = WIN - abs(score) if abs(score) > UNIT else None
        value = score / UNIT if end_in is None else math.copysign(1.0, score)
        spent = clock.simulations, clock.steps, clock.seconds
        return AlphaBetaResult(action, value, reached, end_in, line, *spent, game, view.copied())

    def prepare(self, game: Game) -> tuple[Game, list[Work]]:
        """Return the game as the search sees it, and the work arrays in which nobody searches."""
        if game.players != 2 or game.simultaneous or len(game.teams) == 1:
            apart = "are one team" if game.players == 2 else "take turns" if game.players > 2 else "plays alone"
            how = "choose at the same time" if game.simultaneous else apart
            raise ValueError(
                f"alpha_beta plays games in which 2 players take turns; in {game.name}, {game.players} {how}: "
                "take 'mcts'"
            )
        model = variant_of(game, None, self.evaluate)
        return model, []


def _clear(work: Work) -> None:
    """Forget the last search."""
    work.counters[STEPS] = work.counters[LEAVES] = work.counters[LISTED] = 0
    work.counters[GENERATION] += 1
    work.killers[:] = -1
    work.answers[:] = -1
    work.history[:] = 0


class _Iterations:
    """The iterations of one search."""

    def __init__(self, game: Game, settings: AlphaBetaSettings, work: Work, clock: Clock) -> None:
        self._table, self._settings, self._work, self._clock = game.table, settings, work, clock
        self._name = game.name
        self._begin: Callable[..., Any]
        self._search: Callable[..., Any]
        self._begin, self._search = _plain() if isinstance(game.table, tuple) else (begin, search)

    def run(self, depth: int, first: int) -> bool:
        """Search to a depth, beginning with an action; return whether that was finished within the budget."""
        self._begin(self._table, self._settings, self._work, depth, first)
        clock, counters = self._clock, self._work.counters
        while count := clock.slice():
            # A line takes a step at least, so that many steps end no more lines than that.
            done = self._search(self._table, self._settings, self._work, clock.steps + count)
            if counters[LISTED]:
                raise ValueError(errors.listed(self._name, int(counters[LISTED]), self._work.moves.shape[1]))
            steps = int(counters[STEPS]) - clock.steps
            clock.spend(int(counters[LEAVES]) - clock.simulations, steps, done=steps)
            if done:
                return True
        return False

    @property
    def open(self) -> bool:
        """Whether a line of the last iteration was cut off before the end of the game."""
        return bool(row(self._work.frames, 0, FRAME).open)

    @property
    def unfinished(self) -> int:
        """The action at the root that was being looked at when the budget ended."""
        return int(self._work.moves[0, row(self._work.frames, 0, FRAME).index])

    def line(self) -> list[int]:
        """Return the principal variation."""
        length = int(row(self._work.frames, 0, FRAME).length)
        return [int(action) for action in self._work.line[0, :length]]


@cache
def _plain() -> tuple[Callable[..., Any], Callable[..., Any]]:
    return interpreted(begin, (combine,)), interpreted(search, (combine,))
