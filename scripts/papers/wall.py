"""M. Shahrade, M. Katz, "Colosseum Survival!" (COMP 424, McGill): its agent, its statements, its wishes; our players.

The report gives no figures of strength. Its program managed 266, 76 and 17 simulations a second on boards of 6, 8 and
12, so about 500 and 32 in the 1.9 seconds of a move on the smallest and the largest.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import agents
from agents.arena.statistics import wilson
from mcts_envs.core.view import Episode, View
from mcts_envs.games.wall_survival.spec import wall_survival
from papers.duels import Duel, Player, play, table
from papers.tables import percent
from papers.wall_positions import after, collect, dead_end, legal, mover, solved, threatened, winning

WALL = "WallSurvival-v0"
WALK, UNIFORM, GREEDY, MOBILITY = (Player(name, name) for name in ("random_walk", "uniform", "greedy", "mobility"))


def _report(simulations: int, label: str = "", **settings: object) -> Player:
    name = f"mcts_report, {simulations}"
    return Player(f"{name}, {label}" if label else name, "mcts_report", {"simulations": simulations, **settings})


def _planner(simulations: int) -> Player:
    return Player(f"mcts_voronoi, {simulations:,}", "mcts_voronoi", {"simulations": simulations})


def _alpha_beta(steps: int) -> Player:
    return Player(f"alpha_beta, {steps:,} steps", "alpha_beta", {"max_steps": steps})


def _meet(size: int, boards: int, player: Player, opponent: Player, claim: str = "", **settings: object) -> Duel:
    return Duel(player, opponent, boards, WALL, {"board_size": size, **settings}, claim)


BUDGETS = {6: (35_000, 600_000, 100), 9: (18_000, 250_000, 100), 12: (12_000, 220_000, 30)}
"""By board: simulations and steps that stay below 0.1 seconds on one core of 2024, and start boards a pairing."""


def _strength() -> list[Duel]:
    duels = []
    for size, (simulations, steps, boards) in BUDGETS.items():
        half = _alpha_beta(steps // 2)
        duels += [
            _meet(size, boards, half, GREEDY, "all"),
            _meet(size, boards, half, MOBILITY, "95"),
            _meet(size, boards, _planner(simulations), MOBILITY, "90"),
            _meet(size, boards, _planner(simulations), _alpha_beta(steps)),
        ]
    return duels


def _report_strength() -> list[Duel]:
    rivals = [(WALK, "95"), (UNIFORM, ""), (GREEDY, ""), (MOBILITY, "")]
    speeds = [(6, _report(500)), (6, _report(5000)), (12, _report(32)), (12, _report(300))]
    return [_meet(size, 50, player, rival, claim) for size, player in speeds for rival, claim in rivals]


def _ideas() -> list[Duel]:
    """The report's agent with one idea changed, against itself."""
    tree, rollout = "report_tree", "report"
    changes = {
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


def _optional_walls() -> list[Duel]:
    rivals = WALK, UNIFORM, GREEDY, MOBILITY
    return [
        _meet(6, 30, player, rival, optional_wall=True) for player in (_report(500), _planner(2000)) for rival in rivals
    ]


def reproduce(folder: Path, scale: float, workers: int, say: Callable[[str], None]) -> str:
    """Play everything and return the report as Markdown.

    Parameters
    ----------
    folder : Path
    scale : float
        Share of the games to play.
    workers : int
    say : callable
        Is told what is being played.
    """
    sections = {
        "Our players, 0.1 seconds a move at most": _strength(),
        "The report's agent": _report_strength(),
        "The report's agent with one idea changed": _ideas(),
        "Rules in which a wall is optional": _optional_walls(),
    }
    folders = (folder / f"section-{number}" for number in itertools.count(1))
    text = ["# Colosseum Survival!", "", "Budgets are simulations, or steps of the model. Claims are percent.", ""]
    for title, duels in sections.items():
        scaled = [replace(duel, boards=max(2, round(duel.boards * scale))) for duel in duels]
        text += [f"## {title}", "", *table(scaled, play(scaled, next(folders), workers, say), "board_size"), ""]
    number = max(5, round(50 * scale))
    return "\n".join([*text, *_sizes(max(4, round(100 * scale)), say), *_abilities(number, say), *_kept(number, say)])


def _sizes(games: int, say: Callable[[str], None]) -> list[str]:
    """Say how many actions are legal on 12x12, and how long games are."""
    lines = [
        "## Size of the game on 12x12",
        "",
        'The report: "on average, over 200" actions, 291 in an extreme position; games of over 100 moves.',
        "",
        "| both players | games | actions at the start | on average | at most | plies on average | longest |",
        "|---|---|---|---|---|---|---|",
    ]
    for player in (WALK, UNIFORM, GREEDY, MOBILITY):
        say(f"size of the game: {player.label}")
        counts = [_branching(player, seed) for seed in range(games if player is not MOBILITY else max(2, games // 4))]
        start, every = [game[0] for game in counts], [count for game in counts for count in game]
        lengths = [len(game) for game in counts]
        figures = (
            f"{np.mean(start):.0f} | {np.mean(every):.0f} | {max(every)} | {np.mean(lengths):.0f} | {max(lengths)}"
        )
        lines.append(f"| {player.label} | {len(counts)} | {figures} |")
    return [*lines, ""]


def _branching(player: Player, seed: int) -> list[int]:
    """Return the number of legal actions at every ply of a game that a player plays against itself."""
    game, agent, counts = wall_survival(12), agents.make(player.agent, seed=seed), []
    state = game.new_state()
    game.reset(state, np.uint64(seed))
    while game.active(state):
        counts.append(len(legal(game, state)))
        state = after(game, state, agent.act(View(game, state, mover(game, state))))
    return counts


def _abilities(number: int, say: Callable[[str], None]) -> list[str]:
    """Say how often players find the winning wall, take the other's away, and escape from a dead end."""
    players: Sequence[Player] = (
        *(WALK, GREEDY, MOBILITY),
        *(_report(100), _report(1000), _report(1000, "no walls heuristic", model="report_tree_plain")),
        _report(1000, "room in place of walls", model="report_tree_room"),
        _report(1000, "ends seen as moves are listed", model="report_tree_ends", rollout_model="report_ends"),
        *(_planner(2000), _alpha_beta(20_000)),
    )
    lines = ["## What players see", ""]
    for kind in (winning, threatened, dead_end):
        assert kind.__doc__ is not None
        lines += [f"{kind.__doc__} Right actions played, %, in {number} positions a board:", ""]
        lines += ["| player | 6x6 | 12x12 |", "|---|---|---|"]
        boards = [(game, collect(game, kind, number)) for game in (wall_survival(6), wall_survival(12))]
        for player in players:
            say(f"{kind.__name__}: {player.label}")
            found = [(solved(game, spots, player.agent, player.settings), len(spots)) for game, spots in boards]
            lines.append(f"| {player.label} | {' | '.join(percent(wilson(*counts)) for counts in found)} |")
        lines.append("")
    return lines


def _kept(number: int, say: Callable[[str], None]) -> list[str]:
    """Say how much of its tree the report's agent would find again at its next move."""
    say("trees kept")
    lines = [
        "## A tree kept between moves",
        "",
        "| board | visits kept, % of a search | no tree found, % |",
        "|---|---|---|",
    ]
    for size in (6, 12):
        shares = [share for seed in range(number // 5) for share in _kept_in(size, seed)]
        lines.append(f"| {size} | {100 * np.mean(shares):.1f} | {100 * np.mean(np.array(shares) == 0.0):.1f} |")
    return [*lines, ""]


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
            shares.append(float(player.last_result.visits.sum() - player.last_result.simulations) / 500)
        state = after(game, state, action)
    return shares[1:]
