"""A line of actions in runs, kept from move to move and bettered by chance."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents.budget import Clock
from agents.inspection.ranking import Ranking, best_line
from agents.planner import Planner
from agents.results import Found, copies_of
from agents.search.records import new_work
from mcts_envs.core import errors
from mcts_envs.core.contract import Game
from mcts_envs.core.rng import below, draw
from mcts_envs.core.view import View

MAX_HORIZON = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class RunsResult(Found):
    """What the search for a line found.

    Attributes
    ----------
    action : int
        The first action of the line.
    value : float
        The return of the line when it was last tried, in units of reward.
    line : list of int
        Its actions, as far as they were tried.
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
    copies: Any
    simulations: int
    steps: int
    seconds: float
    game: Game
    view: View | None = None

    def _found(self) -> str:
        return f"value={self.value:.4g}, steps ahead={len(self.line)}"

    def _ranking(self, top: int) -> Ranking:
        return best_line(self.game, self.line, self.value, top)


class Runs(Planner[RunsResult]):
    """Evolution of one line of actions, in which the same action is done several times in a row.

    Random play gets nowhere where it takes many equal actions to move anything: a car in a valley, a pendulum. A line
    drawn in runs may. The best one is kept until the episode ends, shifted by the action that was made, and tried
    again at each move; children of it, in which a part is drawn anew, replaced by one action, or left out, take its
    place unless they are worse: a (1 + 1) evolution strategy with a shift buffer, as in
    :class:`agents.planners.rhea.Rhea`. It is for games of one player in which chance decides little.

    Parameters
    ----------
    horizon : int
        Length of a line in steps; it is drawn on as the episode goes on.
    longest : int
        Longest run that is drawn, in steps.
    discount : float
        Discount of rewards a step.
    **budget
        ``simulations`` (1000 when no budget is given), ``time_limit``, ``max_steps`` and ``seed`` as in
        :class:`agents.planner.Planner`.

    Raises
    ------
    ValueError, TypeError
        If a setting is not possible.
    """

    name = "runs"

    def __init__(self, *, horizon: int = 200, longest: int = 32, discount: float = 1.0, **budget: Any) -> None:
        super().__init__(**budget)
        self.horizon = errors.integer("horizon", horizon, 1, MAX_HORIZON)
        self.longest = errors.integer("longest", longest, 1, MAX_HORIZON)
        self.discount = errors.number("discount", discount, 0.0, 1.0)

    def plan(self, view: View, clock: Clock) -> RunsResult:
        """Return what the search finds.

        Raises
        ------
        ValueError
            If the game is for several players.
        """
        game, memory = view.game, self.memory(view)
        self.check_alone(game)
        trial = Trial(view, self.stream, self.horizon, self.discount)
        line: list[int] = memory.get("line", [])[self.moved(view, memory) :]
        value = None
        while clock.slice(1):
            before = trial.steps
            tried = line if value is None else self._child(line, game.actions)
            got, made = trial.follow(self._along(tried, game.actions))
            if value is None or got >= value:
                line, value = made, got
            clock.spend(1, trial.steps - before)
        memory["line"] = line
        assert value is not None
        spent = clock.simulations, clock.steps, clock.seconds
        return RunsResult(line[0], value, line, trial.copies(), *spent, game, view.copied())

    def _along(self, line: list[int], actions: int) -> Callable[[Any, list[int]], int]:
        """Return what follows a line, and draws on where it ends."""
        drawn = [*line]

        def choose(state: Any, made: list[int]) -> int:
            if len(made) == len(drawn):
                drawn.extend(self.run(actions))
            return drawn[len(made)]

        return choose

    def run(self, actions: int) -> list[int]:
        """Return an action, drawn, as often as is drawn: all orders of magnitude are as likely."""
        most = 1 << below(self.stream, 1 + (self.longest - 1).bit_length())
        length = 1 + below(self.stream, min(most, self.longest))
        return [below(self.stream, actions)] * length

    def _child(self, line: list[int], actions: int) -> list[int]:
        """Return a line like another one: the rest drawn anew, a run put in its place or between, or one left out."""
        at, run = below(self.stream, len(line)), self.run(actions)
        kind = below(self.stream, 4)
        if kind == 0:
            return line[:at] + run
        if kind == 1:
            return line[:at] + run + line[at:]
        if kind == 2:
            return line[:at] + line[at + len(run) :]
        return line[:at] + run + line[at + len(run) :]


class Trial:
    """Simulations from one state.

    Parameters
    ----------
    view : View
        Of the only player.
    stream : ndarray
        Of chance.
    horizon : int
        Their longest, in steps.
    discount : float
        Of rewards a step.

    Attributes
    ----------
    steps : int
        That were made in all of them.
    paid : list of float
        What the steps of the last one paid.
    """

    def __init__(self, view: View, stream: Any, horizon: int, discount: float) -> None:
        self._game, self._player, self._stream = view.game, view.player, stream
        self._horizon, self._discount = horizon, discount
        self._state, self._work = view.state.copy(), new_work(view.game, stream, 0, plain=view.game.plain_lists)
        self.steps = 0
        self.paid: list[float] = []

    def copies(self) -> Any:
        """Return how an environment of others was copied."""
        return copies_of(self._state, self._player)

    def follow(self, choose: Callable[[Any, list[int]], int]) -> tuple[float, list[int]]:
        """Do what ``choose(state, made)`` says, or what is legal instead; return the return, and what was made."""
        game, player, stream, work = self._game, self._player, self._stream, self._work
        state: Any = work.state
        state[:] = self._state
        game.determinize(state, player, draw(stream))
        made: list[int] = []
        paid = self.paid = []
        total, weight = 0.0, 1.0
        while game.active(state) and len(made) < self._horizon:
            action = choose(state, made)
            count = game.legal(state, player, work.legal)
            if count < game.actions and action not in work.legal[:count]:
                action = int(work.legal[below(stream, count)])
            work.actions[0] = action
            game.step(state, work.actions, work.rewards)
            made.append(action)
            paid.append(float(work.rewards[0]))
            total += weight * paid[-1]
            weight *= self._discount
        self.steps += len(made)
        if game.active(state):
            game.evaluate(state, work.rewards)
            total += weight * float(work.rewards[0])
        return total, made
