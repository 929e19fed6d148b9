"""A planner that looks at the environment and picks one of the others for it."""

import math
import time
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from gymnasium.spaces import Box, Dict, Tuple

import agents
from agents.budget import Budget, Clock
from agents.planner import Planner
from agents.search.patience import hurry
from mcts_envs.core.contract import TERMINATED, Game
from mcts_envs.core.rng import below, draw
from mcts_envs.core.view import View

_WALKS = 20
_LENGTH = 200
_STEPS = 1000
"""Random walks that are looked at: how many, how long each, and all of them."""

_FEW = 200
"""Steps that are looked at at least, where one player's games are short: 20 that end at once meet little again."""

_RECURRING = 0.5
"""Where fewer than this share of the states met are new, a graph of states is searched."""

_APART = 0.05
"""Where nothing is left to chance, what is observed does not tell the state if so much of what is done again comes out
in another way, as where it leaves out what the player holds."""

_SHORT, _LONG = 15, 60
"""Bounds of the horizon where there is no end in sight."""

_COURSES, _LINES = 4, 3
"""So often the same actions are done to see whether they lead to the same, and so many lines of actions."""

_SECONDS = 1.0
"""Random walks are looked at for so long, or for the time of a move, if that is longer, where moves have a time."""

_SIMULATIONS = 4
"""So many at least have time in a move, where steps are dear and the horizon is free: as many games where policies are
sought, as many simulations of each action where a tree is."""

_TRIED = 16
"""Actions of which a tree has time for so many simulations, at most."""

_LITTLE, _NUMBERS, _AHEAD = 1 / 3, 100, 150
"""Where chance has a smaller share, and no more numbers are observed, policies of them are sought, so far ahead."""

LASTING = 1.8
"""Horizon of who is paid for lasting, in lengths of a random game."""

DISCOUNT = 0.98
"""Of one player's rewards a step: what comes late comes seldom where play is not random any more, so that a loss at
once is worse than one at the end of a random game, and a reward at once better."""

_CURIOUS = 1.0
"""Exploration constant where something is hidden: finding it out pays only with what is done about it later."""

_RUNS = 300
"""Horizon of a line where nothing else tells one action from another."""


class Look(NamedTuple):
    """What random walks from a state have shown.

    Attributes
    ----------
    length : float
        Their median length in steps.
    ended : float
        Share of them that came to an end within 200 steps; of one player's, not by a limit of steps, which cuts none
        of them shorter than another.
    new : float
        Share of the states met that were met once only, by what the player observes.
    paid : float
        What every step paid that was not the last; NaN where they differ.
    longest : int
        Length of the longest.
    seconds : float
        What a step took.
    chance : float
        Share that chance has in what the same actions show, in the mean of a few lines: 0 where they show the same.
        Where numbers are observed, of their variance, in the mean; else 1.
    apart : float
        Of what was done again where the same was observed, the share that came out in another way, but for ends.
    barren : bool
        Whether nothing was paid, at ends either.
    """

    length: float
    ended: float
    new: float
    paid: float
    longest: int
    seconds: float
    chance: float
    apart: float = 0.0
    barren: bool = False


class Auto(Planner[Any]):
    """Looks at the environment, a few hundred steps of random play, and picks a planner and its settings.

    A game of ours is played by what is strongest there (``best``), or by :class:`agents.mcts.MCTS` if that takes no
    budget. Else, where one player moves whose states recur, and are told by what is observed or pay nothing at random,
    :class:`agents.planners.graph.Graph`. Else, where random games of one player go on and on and no step pays more than
    another, :class:`agents.planners.runs.Runs`. Else, where one player observes a few numbers, chance decides little
    and a move has time for a few short games, :class:`agents.planners.policy_search.PolicySearch`. Else
    :class:`agents.mcts.MCTS`: to the end where random games end soon; for one player who is paid for lasting, not much
    further than such games last; and to a horizon where they go on and on. Where something is hidden, its tree is of
    information sets, in which it pays to find out. One player's rewards are discounted, and where the same actions lead
    to the same and nothing is hidden, its tree is used again.

    Parameters
    ----------
    **budget
        ``simulations`` (1000 when no budget is given), ``time_limit``, ``max_steps`` and ``seed`` as in
        :class:`agents.planner.Planner`.

    Attributes
    ----------
    picked : str
        The agent that it last was, and why.
    """

    name = "auto"
    _transient = ("_agents",)

    def __init__(self, **budget: Any) -> None:
        super().__init__(**budget)
        self._agents: WeakKeyDictionary[Game, tuple[Any, str]] | None = None
        self.picked = ""

    def __repr__(self) -> str:
        return super().__repr__() + (f" = {self.picked}" if self.picked else "")

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({**state, "_agents": None})

    @property
    def recognizes(self) -> bool:
        """Whether a planner that was picked finds what it keeps by what is observed."""
        picked = () if self._agents is None else self._agents.values()
        return any(getattr(agent, "recognizes", False) for agent, _ in picked)

    def load(self, view: View) -> None:
        """Load nothing: the planner that is picked does, and the clock begins after that."""

    def plan(self, view: View, clock: Clock) -> Any:
        """Return what the planner that is picked for the game finds; the time of a look at it is not the search's."""
        looked = self._agents is not None and view.game in self._agents
        if not looked:
            hurry(view, Clock(Budget()), self.stream)
        agent = self.agent_for(view, clock.budget.time_limit)
        if not looked:
            if isinstance(agent, Planner) and clock.budget.time_limit < math.inf:
                agent.load(view)
            clock = Clock(clock.budget)
            hurry(view, clock, self.stream)
        return agent.plan(view, clock)

    def memory(self, view: View) -> dict[str, Any]:
        """Return what the planner that was picked keeps."""
        held = None if self._agents is None else self._agents.get(view.game)
        memory: dict[str, Any] = super().memory(view) if held is None else held[0].memory(view)
        return memory

    def agent_for(self, view: View, seconds: float = math.inf) -> Any:
        """Return the planner that is picked for a game, the first time after a look at it; ``seconds`` are a move's."""
        if self._agents is None:
            self._agents = WeakKeyDictionary()
        if view.game not in self._agents:
            name, settings, why = self._pick(view, seconds)
            agent: Any = agents.make(name, **settings)
            if name == "best":
                agent = agent.resolve(view.game)
            agent.stream = self.stream
            if isinstance(agent, Planner) and name != "best":
                agent.budget = self.budget
            self._agents[view.game] = agent, f"{agent!r}: {why}"
        agent, self.picked = self._agents[view.game]
        return agent

    def reseed(self, seed: int) -> None:
        """Start the random stream anew and forget all episodes and games, as at construction."""
        super().reseed(seed)
        self._agents = None

    def _pick(self, view: View, seconds: float) -> tuple[str, dict[str, Any], str]:
        """Return the name and the settings of a planner, and why it was picked."""
        limits = self._limits()
        if not view.game.plain_lists:
            best = agents.make("best").resolve(view.game)  # type: ignore[attr-defined]
            if best.takes_budget:
                return "best", limits, "a game of ours"
            return "mcts", limits, f"a game of ours, whose best, {best.name}, takes no budget"
        root: Any = view.state.copy()
        look = _look(root, view.player, self.stream, math.inf if seconds == math.inf else max(seconds, _SECONDS))
        hides = root.hidden.copies(view.player).particles or _hides(view.game, root)
        alone = view.game.players == 1
        endless = alone and look.ended < 0.5 and not math.isnan(look.paid)
        tells = not hides and (look.chance > 0 or look.apart < _APART)
        if alone and look.new < _RECURRING and (endless or look.barren or tells):
            return "graph", limits, f"one player, and {1 - look.new:.0%} of the states met were met before"
        settings: dict[str, Any] = {**limits}
        if endless:
            settings["horizon"] = int(min(max(seconds / 2 / look.seconds, _SHORT), _RUNS))
            return "runs", settings, f"random games of {look.longest} steps do not end, and pay the same all the way"
        ahead = seconds / _SIMULATIONS / look.seconds
        steered = alone and look.chance < _LITTLE and _steered(view.game) and not hides
        if steered and ahead >= _SHORT:
            settings["horizon"] = int(min(max(ahead, _LONG), _AHEAD))
            return "policy_search", settings, f"numbers are observed, and chance has a share of {look.chance:.0%}"
        if alone:  # whose games pay on the way; others are won at the end
            ahead /= min(view.game.actions, _TRIED)
        ahead = int(min(max(ahead, _SHORT), _LONG))
        if hides:
            settings |= {"loop": "information_set", "c": _CURIOUS}
        if alone:
            settings["discount"] = DISCOUNT
            if look.chance == 0 and not hides:
                settings |= {"loop": "information_set", "reuse": True}
            if look.ended < 0.5:
                settings["horizon"] = ahead
                return "mcts", settings, f"random games of {look.longest} steps do not end"
            if look.paid > 0:
                settings["horizon"] = int(min(max(LASTING * look.length, 2 * _SHORT), _LONG))
                return "mcts", settings, f"paid for lasting, and random games last {look.length:.0f} steps"
        if look.ended < 0.5:
            settings["rollout_depth"] = ahead
            return "mcts", settings, f"random games of {look.longest} steps do not end"
        return "mcts", settings, f"random games end after {look.length:.0f} steps"


def _look(root: Any, player: int, stream: Any, seconds: float) -> Look:
    """Play at random from a state, for so many seconds at most, and return what was seen."""
    started = time.perf_counter()
    game, work = root.game, root.game.new_state()
    actions, rewards, legal = [0] * game.players, [0.0] * game.players, [0] * game.actions
    lengths: list[int] = []
    cut: list[int] = []
    paid, ever = set[float](), set[float]()
    met: dict[int, int] = {}
    came: dict[tuple[int, int], tuple[float, int]] = {}
    ends = steps = again = apart = 0
    few = _FEW if game.players == 1 else 0
    while (len(lengths) < _WALKS and steps < _STEPS) or steps < few:
        if lengths and time.perf_counter() - started > seconds:
            break
        work[:] = root
        game.determinize(work, player, draw(stream))
        t, before = 0, None
        while t < _LENGTH and (bits := game.active(work)):
            for other in range(game.players):
                if bits >> other & 1:
                    actions[other] = legal[below(stream, game.legal(work, other, legal))]
            game.step(work, actions, rewards)
            t += 1
            if t >= _SHORT and time.perf_counter() - started > seconds:
                break
            ever.add(rewards[player])
            if game.active(work):
                paid.add(rewards[player])
                key = game.key(work, player)
                met[key] = met.get(key, 0) + 1
                if before is not None:
                    done, outcome = (before, actions[player]), (rewards[player], key)
                    again += done in came
                    apart += came.setdefault(done, outcome) != outcome
                before = key
        lengths.append(t)
        if not game.active(work):
            ended = game.players > 1 or game.status(work, player) == TERMINATED
            ends += ended
            cut += [] if ended else [t]
        steps += t
    once = len(met) / max(1, sum(met.values()))
    same, each = min(paid) if len(paid) == 1 else math.nan, (time.perf_counter() - started) / max(1, steps)
    lines = _LINES if each * _LINES * _COURSES * _SHORT < seconds else 1
    chance = float(np.mean([_chance(root, player, stream) for _ in range(lines)])) if game.players == 1 else 1.0
    ends += sum(each < max(lengths) for each in cut)
    unlike, share = apart / max(1, again), ends / len(lengths)
    return Look(float(np.median(lengths)), share, once, same, max(lengths), each, chance, unlike, ever == {0.0})


def _hides(game: Any, root: Any) -> bool:
    """Say whether an adapter draws anew what is hidden, in a game that hides something."""
    if not getattr(game, "redraws", False):
        return False
    return game.adapter.hides is None or bool(game.adapter.hides(root.env))


def _steered(game: Game) -> bool:
    """Say whether a few numbers that may be fractions are observed."""
    spaces, numbers = [game.seats[0].shown], 0  # type: ignore[attr-defined]
    while spaces:
        space: Any = spaces.pop()
        if isinstance(space, (Dict, Tuple)):
            spaces += space.values() if isinstance(space, Dict) else space.spaces
        elif isinstance(space, Box) and np.issubdtype(space.dtype, np.floating):
            numbers += math.prod(space.shape)
        else:
            return False
    return 0 < numbers <= _NUMBERS


def _chance(root: Any, player: int, stream: Any) -> float:
    """Return the share that chance has in what the same few actions from a state show."""
    game, legal, rewards = root.game, [0] * root.game.actions, [0.0]
    steered = _steered(game)
    line: list[int] = []
    courses, numbers = [], []
    for _ in range(_COURSES):
        work, shown = root.copy(), []
        game.determinize(work, player, draw(stream))
        for t in range(_SHORT):
            if not game.active(work):
                break
            count = game.legal(work, player, legal)
            if t == len(line):
                line.append(legal[below(stream, count)])
            if line[t] not in legal[:count]:
                return 1.0
            game.step(work, [line[t]], rewards)
            shown.append((work.bits, rewards[0], game.key(work, player)))
            if steered:
                game.observe(work, player, seen := np.zeros(game.observation_shape, np.float32))
                numbers.append(seen)
        courses.append(shown)
    if all(shown == courses[0] for shown in courses):
        return 0.0
    if not steered or any(len(shown) != len(courses[0]) for shown in courses):
        return 1.0
    rows = np.array(numbers, np.float64).reshape(_COURSES, len(courses[0]), -1)
    whole = rows.var((0, 1))
    moved = whole > 0
    return float((rows.var(0).mean(0)[moved] / whole[moved]).mean()) if moved.any() else 1.0
