"""M. Shahrade, M. Katz, "Colosseum Survival!" (COMP 424, McGill): its agent, statements and wishes; our players."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

import agents
from agents.arena.statistics.estimates import wilson
from mcts_envs.core.view import Episode, View
from mcts_envs.games.wall_survival.spec import wall_survival
from papers.measures import Means, Points, Rate, mean, percent
from papers.study import Cell, Entrant, Study, Table
from papers.wall_positions import Kind, after, dead_end, legal, mover, positions, solved, threatened, winning

WALL = "WallSurvival-v0"
WALK, UNIFORM, GREEDY, MOBILITY = (Entrant(name, name) for name in ("random_walk", "uniform", "greedy", "mobility"))
RIVALS = WALK, UNIFORM, GREEDY, MOBILITY


def _report(simulations: int, label: str = "", **settings: object) -> Entrant:
    name = f"mcts_report, {simulations}"
    return Entrant(f"{name}, {label}" if label else name, "mcts_report", {"simulations": simulations, **settings})


def _planner(simulations: int) -> Entrant:
    return Entrant(f"mcts_voronoi, {simulations:,}", "mcts_voronoi", {"simulations": simulations})


def _alpha_beta(steps: int) -> Entrant:
    return Entrant(f"alpha_beta, {steps:,} steps", "alpha_beta", {"max_steps": steps})


def _meet(size: int, boards: int, player: Entrant, opponent: Entrant, theirs: float | None = None, **more: Any) -> Cell:
    """Return a meeting on so many start boards, each played from both seats."""
    words, published = (f"{size}x{size}", player.label, opponent.label), None if theirs is None else Rate(theirs)
    return Cell(words, (player,), WALL, 2 * boards, {"board_size": size, **more}, opponent, published)


BUDGETS = {6: (35_000, 600_000, 100), 9: (18_000, 250_000, 100), 12: (12_000, 220_000, 30)}
"""By board: simulations and steps that stay below 0.1 seconds on one core of 2024, and start boards a pairing."""


def _strength() -> list[Cell]:
    cells = []
    for size, (simulations, steps, boards) in BUDGETS.items():
        half = _alpha_beta(steps // 2)
        cells += [
            _meet(size, boards, half, GREEDY, 100),
            _meet(size, boards, half, MOBILITY, 95),
            _meet(size, boards, _planner(simulations), MOBILITY, 90),
            _meet(size, boards, _planner(simulations), _alpha_beta(steps)),
        ]
    return cells


def _step_for_step() -> list[Cell]:
    """Our tree search and alpha-beta, first with as many steps of the model, then with as much time."""
    budgets: list[dict[str, Any]] = [{"max_steps": 20_000}, {"max_steps": 80_000}, {"time_limit": 0.02}]
    cells = []
    for size in (6, 9):
        for budget in budgets:
            (each,) = budget.values()
            label = f"{each:,} steps" if "max_steps" in budget else f"{1000 * each:.0f} ms"
            tree, full = (Entrant(f"{name}, {label}", name, budget) for name in ("mcts_voronoi", "alpha_beta"))
            cells.append(_meet(size, 100, tree, full))
    return cells


def _report_strength() -> list[Cell]:
    rivals = {WALK: 95, UNIFORM: None, GREEDY: None, MOBILITY: None}
    speeds = [(6, _report(500)), (6, _report(5000)), (12, _report(32)), (12, _report(300))]
    return [_meet(size, 50, player, rival, claim) for size, player in speeds for rival, claim in rivals.items()]


def _ideas() -> list[Cell]:
    """The report's agent with one idea changed, against itself."""
    tree, rollout = "report_tree", "report"
    changes: dict[str, dict[str, Any]] = {
        "no walls heuristic": {"model": "report_tree_plain"},
        "room in place of walls": {"model": "report_tree_room"},
        "ends seen as moves are listed": {"model": "report_tree_ends", "rollout_model": "report_ends"},
        "tree kept between moves": {"loop": "closed", "reuse": True},
        "classes 60/30/10": {"model": f"{tree}_bold", "rollout_model": f"{rollout}_bold"},
        "classes 20/45/35": {"model": f"{tree}_careful", "rollout_model": f"{rollout}_careful"},
        "uniform rollouts": {"simulate": "uniform"},
        **{f"c = {c}": {"c": c} for c in (0.25, 0.5, 1.0, 4.0)},
    }
    return [_meet(6, 100, _report(500, label, **change), _report(500)) for label, change in changes.items()]


def _optional_walls() -> list[Cell]:
    players = _report(500), _planner(2000)
    return [_meet(6, 30, player, rival, optional_wall=True) for player in players for rival in RIVALS]


def _measured(words: tuple[str, ...], label: str, number: int, measure: Callable[[int], Any]) -> Cell:
    return Cell(words, (Entrant(label, label),), WALL, number, measure=measure)


def _branching(player: Entrant, seed: int) -> list[int]:
    """Count the legal actions at every ply of a game that a player plays against itself on 12x12.

    Returns
    -------
    list
        At the start, in all, at most; the plies.
    """
    game, agent, counts = wall_survival(12), agents.make(player.agent, seed=seed), []
    state = game.new_state()
    game.reset(state, np.uint64(seed))
    while game.active(state):
        counts.append(len(legal(game, state)))
        state = after(game, state, agent.act(View(game, state, mover(game, state))))
    return [counts[0], sum(counts), max(counts), len(counts)]


def _average(games: Sequence[Sequence[int]]) -> str:
    return f"{sum(game[1] for game in games) / sum(game[3] for game in games):.0f}"


SIZES = Means(
    {
        "actions at the start": lambda games: mean([game[0] for game in games]),
        "on average": _average,
        "at most": lambda games: str(max(game[2] for game in games)),
        "plies": lambda games: mean([game[3] for game in games]),
        "longest": lambda games: str(max(game[3] for game in games)),
    }
)


@cache
def _spots(size: int, kind: Kind) -> Callable[[int], Any]:
    return positions(wall_survival(size), kind)


def _right(player: Entrant, kind: Kind, number: int) -> list[bool]:
    """Say whether a player is right in a position of a kind, on 6x6 and on 12x12."""
    return [
        solved(wall_survival(size), _spots(size, kind)(number), number, player.agent, dict(player.settings))
        for size in (6, 12)
    ]


def _ability(kind: Kind) -> Table:
    players: Sequence[Entrant] = (
        *(WALK, GREEDY, MOBILITY),
        *(_report(100), _report(1000), _report(1000, "no walls heuristic", model="report_tree_plain")),
        _report(1000, "room in place of walls", model="report_tree_room"),
        _report(1000, "ends seen as moves are listed", model="report_tree_ends", rollout_model="report_ends"),
        *(_planner(2000), _alpha_beta(20_000)),
    )
    titles = {winning: "a wall that wins", threatened: "a wall of the other's that wins", dead_end: "a dead end"}
    cells = [
        _measured((player.label,), f"{kind.__name__}: {player.label}", 50, partial(_right, player, kind))
        for player in players
    ]
    assert kind.__doc__ is not None
    note = f"{kind.__doc__} Right actions played, in percent of the positions of each board."
    return Table(f"What players see: {titles[kind]}", ("player",), _RIGHT, tuple(cells), note)


def _rate(board: int, found: Sequence[Sequence[bool]]) -> str:
    return percent(wilson(sum(right[board] for right in found), len(found)))


_RIGHT = Means({"6x6 %": partial(_rate, 0), "12x12 %": partial(_rate, 1)}, "positions")


def _kept_in(size: int, seed: int) -> list[float]:
    """Play a game against the random walk; return what share of a search each later move had to start from."""
    game = wall_survival(size)
    player, rival = agents.make("mcts_report", simulations=500, loop="closed", reuse=True), agents.make("random_walk")
    player.reseed(seed)
    rival.reseed(seed)
    state, shares, episode = game.new_state(), [], Episode()
    game.reset(state, np.uint64(seed))
    while game.active(state):
        mine = mover(game, state) == 0
        action = (player if mine else rival).act(View(game, state, mover(game, state), episode))
        if mine and player.last_result is not None:
            shares.append(round(float(player.last_result.visits.sum() - player.last_result.simulations) / 500, 4))
        state = after(game, state, action)
    return shares[1:]


def _shares(games: Sequence[Sequence[float]]) -> list[float]:
    return [share for game in games for share in game]


KEPT = Means(
    {
        "visits kept, % of a search": lambda games: f"{100 * np.mean(_shares(games)):.1f}",
        "no tree found, %": lambda games: f"{100 * np.mean(np.array(_shares(games)) == 0.0):.1f}",
        "moves": lambda games: str(len(_shares(games))),
    }
)


def _tables() -> list[Table]:
    words = "board", "player", "against"
    sizes = [
        _measured((player.label,), player.label, 25 if player is MOBILITY else 100, partial(_branching, player))
        for player in RIVALS
    ]
    kept = [_measured((f"{size}x{size}",), f"kept {size}", 10, partial(_kept_in, size)) for size in (6, 12)]
    stated = "The report states that its agent beats the random player; we take that for 95 %."
    statement: Mapping[str, str] = {"theirs": "stated %"}
    return [
        Table(
            "Our players, 0.1 seconds a move at most",
            words,
            Points("wanted %"),
            (*_strength(),),
            "Budgets are simulations, or steps of the model, that took so long at most on one core of 2024.",
        ),
        Table(
            "Tree search and alpha-beta, step for step",
            words,
            Points(),
            (*_step_for_step(),),
            """A step of alpha-beta takes a fourth of the time: it makes a move and values the state, where the tree
            search weighs all actions of every node on its way from the root, and keeps what it finds.""",
        ),
        Table("The report's agent", words, Points(**statement), (*_report_strength(),), stated),
        Table("The report's agent with one idea changed, against itself", words, Points(), (*_ideas(),)),
        Table("Rules in which a wall is optional", words, Points(), (*_optional_walls(),)),
        Table(
            "Size of the game on 12x12",
            ("both players",),
            SIZES,
            (*sizes,),
            'The report: "on average, over 200" actions, 291 in an extreme position; games of over 100 moves.',
        ),
        *map(_ability, (winning, threatened, dead_end)),
        Table(
            "A tree kept between moves",
            ("board",),
            KEPT,
            (*kept,),
            "The report's agent, 500 simulations, against the random walk.",
        ),
    ]


STUDY = Study(
    "wall",
    "Colosseum Survival!",
    """M. Shahrade and M. Katz's report (COMP 424, McGill): its agent, its statements, its wishes; and our players. The
    report gives no figures of strength. Its program managed 266, 76 and 17 simulations a second on boards of 6, 8 and
    12, so about 500 and 32 in the 1.9 seconds of a move on the smallest and the largest. Points: a tie is half a point;
    every start board is played from both seats.""",
    _tables,
)
