"""A. Zhang, "Monte Carlo Tree Search Applied to Plants vs. Zombies": tables I and II, the ablations, the boards."""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from PIL import Image

from agents.arena.lineups import Teams
from agents.arena.rows import Row
from papers.measures import Found, Line, Measure, Rate, Wins
from papers.study import Cell, Entrant, Study, Table

NIGHT = 20
"""Steps after which no zombie comes."""
SMALL, LARGE = "LaneDefense3x3-v0", "LaneDefense10x10-v0"
COIN = {"first_plant_guaranteed": False}
"""The paper's programs with search drew the plant coin at the first step too, against its text."""


def _cell(
    label: str,
    environment: str,
    agent: str,
    games: int,
    settings: Mapping[str, Any] | None = None,
    published: Rate | None = None,
    rules: Mapping[str, Any] | None = None,
) -> Cell:
    rules = COIN if rules is None else rules
    return Cell((label,), (Entrant(label, agent, settings or {}),), environment, games, rules, published=published)


def _table(board: str, random: Rate, search: Rate, games: int) -> list[Cell]:
    """Return a table of the paper, then our own players under the conditions of its search."""
    return [
        _cell("random", board, "random", 20_000, published=random, rules={}),
        _cell("MCTS, as the programs have it", board, "mcts_paper", games, published=search),
        _cell("MCTS, as the text has it", board, "mcts_text", 4_000, published=search),
        _cell("scripted player (H1)", board, "scripted", games),
        _cell("UCT, 1,000 simulations", board, "mcts", games, {"simulations": 1000}),
    ]


def _best() -> list[Cell]:
    return [
        _cell(f"{board[11:-3]}, first plant {first}", board, "best", games, rules=rules)
        for board, games in ((SMALL, 8_000), (LARGE, 3_000))
        for first, rules in (("guaranteed", {}), ("by coin", COIN))
    ]


_CHANGES = {
    "unchanged": {},
    "rollouts sampled": {"rollout_model": "paper_rollout_sampled"},
    "tree sampled": {"model": "paper_tree_sampled"},
    "clock runs in the tree": {"model": "paper_tree_clock"},
    "ends recognised in the tree": {"model": "paper_tree_judged"},
    "coin drawn in the tree": {"model": "paper_tree_coin"},
    "rollouts to the end": {"horizon": None},
    "final move by visits": {"recommend": "max_visits"},
    "c = 100": {"c": 100.0},
}
_AUTHOR = {
    SMALL: (4_000, (41.8, 38.3, 41.3, 42.0, 41.1, 40.2, 41.7, 40.1, 42.3)),
    LARGE: (600, (96.7, 70.0, 89.7, 95.8, 96.8, 97.2, 97.3, 96.0, 94.5)),
}


def _ablation(board: str) -> list[Cell]:
    games, author = _AUTHOR[board]
    return [
        _cell(label, board, "mcts_paper", games, settings, Rate(rate, games))
        for (label, settings), rate in zip(_CHANGES.items(), author, strict=True)
    ]


def _depths(board: str, games: int) -> list[Cell]:
    return [_cell(f"{depth}", board, "mcts_paper", games, {"horizon": depth}) for depth in range(1, 21)]


class Plants(Measure):
    """Where the plants stand on the boards that are won."""

    columns = *map(str, range(10)), "left half %", "lanes with a plant", "all ten lanes %", "boards won"
    ours = "left half %"
    keep = ("board",)

    def result(self, cell: Cell, rows: Sequence[Row], teams: Teams) -> str:
        """Return the last board, a digit for each cell, or nothing where the game was lost."""
        (row,) = rows
        assert row.kept is not None
        return "".join(map(str, row.kept["board"])) if row.seats[0].is_success else ""

    def lines(self, cell: Cell, found: Found) -> list[Line]:
        """Return the share of the plants in each column, and how many lanes have one."""
        plants = np.array([[int(c) == 1 for c in board] for board in found.results if board]).reshape(-1, 10, 10)
        columns, lanes = plants.sum((0, 1)) / max(1, plants.sum()), plants.any(2).sum(1)
        line = {str(column): f"{100 * share:.1f}" for column, share in enumerate(columns)}
        line["left half %"] = f"{100 * columns[:5].sum():.1f}"
        line["lanes with a plant"] = f"{lanes.mean():.2f}"
        line["all ten lanes %"] = f"{100 * np.mean(lanes == 10):.1f}"
        return [line | {"boards won": f"{len(plants):,}"}]


def draw(results: Sequence[str]) -> Image.Image | None:
    """Draw four boards that were won as at the end of the night, None where there are not as many."""
    won = [board for board in results if board][:4]
    if len(won) < 4:
        return None
    env = gymnasium.make(f"mcts_envs/{LARGE}", render_mode="rgb_array", **COIN)
    frames = []
    for board in won:
        position = {"board": [int(c) for c in board], "t": NIGHT, "can_plant": True}
        env.reset(options={"position": position})
        frames.append(np.asarray(env.render()))
    grid = np.vstack([np.hstack(frames[:2]), np.hstack(frames[2:])])
    return Image.fromarray(grid).resize((frames[0].shape[1], frames[0].shape[0]))


def _tables() -> list[Table]:
    wins, port = Wins(), "Published: a port of the author's programs, as many games as at scale 1."
    return [
        Table("Table I: win rates on 3x3", ("player",), wins, (*_table(SMALL, Rate(11, 100), Rate(39, 100), 4_000),)),
        Table("Table II: win rates on 10x10", ("player",), wins, (*_table(LARGE, Rate(2, 100), Rate(95, 100), 1_000),)),
        Table(
            "Our best player, by search alone",
            ("board",),
            wins,
            (*_best(),),
            "No player can exceed 71.02 % on 3x3, and 52.69 % by coin.",
        ),
        Table("The paper's agent with one change, 3x3", ("change",), wins, (*_ablation(SMALL),), port),
        Table("The paper's agent with one change, 10x10", ("change",), wins, (*_ablation(LARGE),), port),
        Table("Rollouts cut off at a depth, 3x3", ("depth",), wins, (*_depths(SMALL, 1_000),)),
        Table("Rollouts cut off at a depth, 10x10", ("depth",), wins, (*_depths(LARGE, 200),)),
        Table(
            "Where the plants stand on winning boards, 10x10",
            ("player",),
            Plants(),
            (_cell("mcts_paper", LARGE, "mcts_paper", 400),),
            "Share of the plants in each column, in percent, on the last boards of games that the paper's agent wins; "
            "below four of these boards.",
            draw,
        ),
    ]


STUDY = Study(
    "lane",
    "Monte Carlo Tree Search Applied to Plants vs. Zombies",
    """A. Zhang's paper: its tables I and II, what becomes of its agent when one thing is changed, and where its plants
    stand. The paper played 100 games a figure. Its programs with search drew a coin for the first plant too, against
    its text; so do all rows here but those of the random player.""",
    _tables,
)
