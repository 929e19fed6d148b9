"""A. Zhang, "Monte Carlo Tree Search Applied to Plants vs. Zombies": tables I and II, the ablations, the boards.

The paper played 100 games a figure. Its programs with search drew the plant coin at the first step too, against its
text; so do the rows with ``COIN``. ``author`` figures come from a port of its programs.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
from PIL import Image

import agents
from agents.arena import AgentSpec, Plan, compare
from agents.arena.storage import read_transitions
from agents.base import Agent
from papers.tables import Row, play, table

SMALL, LARGE = "LaneDefense3x3-v0", "LaneDefense10x10-v0"
COIN = {"first_plant_guaranteed": False}


def _tables() -> dict[str, list[Row]]:
    small = [
        Row("random", SMALL, "random", 20_000, wins=11, of=100),
        Row("MCTS, as the programs have it", SMALL, "mcts_paper", 4_000, {}, COIN, 39, 100),
        Row("MCTS, as the text has it", SMALL, "mcts_text", 4_000, {}, COIN, 39, 100),
    ]
    large = [
        Row("random", LARGE, "random", 20_000, wins=2, of=100),
        Row("MCTS, as the programs have it", LARGE, "mcts_paper", 1_000, {}, COIN, 95, 100),
        Row("MCTS, as the text has it", LARGE, "mcts_text", 4_000, {}, COIN, 95, 100),
    ]
    return {
        "Table I: win rates on 3x3": [*small, *_beyond(small[1])],
        "Table II: win rates on 10x10": [*large, *_beyond(large[1])],
    }


def _beyond(like: Row) -> list[Row]:
    """Our own players under the conditions of the paper's search."""
    return [
        replace(like, label="scripted player (H1)", agent="scripted", wins=None, of=0),
        replace(like, label="UCT, 1,000 simulations", agent="mcts", settings={"simulations": 1000}, wins=None, of=0),
    ]


def _best() -> list[Row]:
    """Our best player on the paper's boards; on 3x3 no player can exceed 71.02 %, and 52.69 % by coin."""
    return [
        Row(f"best, {board[11:-3]}, first plant {first}", board, "best", games, {}, settings)
        for board, games in ((SMALL, 8_000), (LARGE, 3_000))
        for first, settings in (("guaranteed", {}), ("by coin", COIN))
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


def _ablation(board: str) -> list[Row]:
    games, author = _AUTHOR[board]
    return [
        Row(label, board, "mcts_paper", games, settings, COIN, rate * games / 100, games)
        for (label, settings), rate in zip(_CHANGES.items(), author, strict=True)
    ]


def _depths(board: str, games: int) -> list[Row]:
    return [Row(f"d = {d}", board, "mcts_paper", games, {"horizon": d}, COIN) for d in range(1, 21)]


def reproduce(folder: Path, scale: float, workers: int, say: Callable[[str], None]) -> str:
    """Play everything, write pictures into the folder, and return the report as Markdown.

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
        **_tables(),
        "Beyond the paper: our best player, by search alone": _best(),
        "The paper's agent with one change, 3x3 (published: a port of the author's programs)": _ablation(SMALL),
        "The paper's agent with one change, 10x10 (published: a port of the author's programs)": _ablation(LARGE),
        "Rollouts cut off at depth d, 3x3": _depths(SMALL, 1_000),
        "Rollouts cut off at depth d, 10x10": _depths(LARGE, 200),
    }
    folders = (folder / f"section-{number}" for number in itertools.count(1))
    text = ["# Monte Carlo Tree Search Applied to Plants vs. Zombies", ""]
    for title, rows in sections.items():
        scaled = [replace(row, games=max(2, round(row.games * scale))) for row in rows]
        text += [f"## {title}", "", *table(scaled, play(scaled, next(folders), workers, say)), ""]
    text += _boards(folder, max(8, round(400 * scale)), workers, say)
    return "\n".join(text)


def _boards(folder: Path, games: int, workers: int, say: Callable[[str], None]) -> list[str]:
    """Say where the plants stand on winning 10x10 boards, and draw four of them."""
    say(f"{games} games on 10x10, recorded")
    plan = Plan(LARGE, (AgentSpec("mcts_paper", "mcts_paper"),), COIN, record=True)
    report = compare(plan, games, workers=workers, folder=folder / "boards")
    if not report.finished:
        raise KeyboardInterrupt
    moves = read_transitions(folder / "boards", games)
    won = [m["next_state"]["board"] for m in moves if m["terminated"] and m["reward"] > 0]
    plants = np.array(won).reshape(-1, 10, 10) == 1
    columns, lanes = plants.sum((0, 1)) / plants.sum(), plants.any(2).sum(1)
    picture = folder / "boards.png"
    _draw(picture)
    return [
        f"## Where the plants stand on {len(won)} winning boards of {games} games, 10x10",
        "",
        "| column | " + " | ".join(map(str, range(10))) + " |",
        "|---" * 11 + "|",
        "| share of plants % | " + " | ".join(f"{100 * share:.1f}" for share in columns) + " |",
        "",
        f"The left half holds {columns[:5].sum():.1%} of them. Lanes with a plant: {lanes.mean():.2f} of 10 on "
        f"average; all ten on {np.mean(lanes == 10):.1%} of the boards, at least eight on {np.mean(lanes >= 8):.1%}.",
        "",
        f"Four winning boards: {picture}",
        "",
    ]


def _draw(file: Path) -> None:
    """Draw the final boards of the first four games that the paper's agent wins."""
    env = gymnasium.make(f"mcts_envs/{LARGE}", render_mode="rgb_array", **COIN)
    frames: list[np.ndarray] = []
    for seed in range(100):
        if len(frames) == 4:
            break
        if _wins(env, agents.make("mcts_paper", seed=seed), seed):
            frames.append(np.asarray(env.render()))
    Image.fromarray(_grid(frames)).resize((frames[0].shape[1], frames[0].shape[0])).save(file)


def _wins(env: gymnasium.Env, agent: Agent, seed: int) -> bool:
    env.reset(seed=seed)
    over, info = False, {}
    while not over:
        _, _, over, _, info = env.step(agent.act(env))
    return bool(info["is_success"])


def _grid(frames: Sequence[np.ndarray]) -> np.ndarray:
    return np.vstack([np.hstack(frames[:2]), np.hstack(frames[2:])])
