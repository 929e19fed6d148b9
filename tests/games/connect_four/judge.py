"""How often a policy of ``ConnectFourCells-v0`` plays a best move, alone and in the search.

python -m tests.games.connect_four.judge POLICY.zip

A move is best if it keeps what the position is worth: a win, or else a draw. The positions and what moves are worth in
them are in ``tests/data``, by the exact solver beside this file: 500 of random games, in which a wrong move costs
something, and 1,000 of games in which UCT with 1,000 simulations met itself (``tests/data/record_connect_four.py``).
"""

import json
import sys
from pathlib import Path

import numpy as np

import agents
from agents.arena.statistics.estimates import wilson
from mcts_envs.core.view import View

ROOT = Path(__file__).parents[3]
POSITIONS, EVEN = (
    json.loads((ROOT / "tests" / "data" / f"{name}.json").read_text()) for name in ("connect_four", "connect_four_even")
)
SEARCHES = (0, 16, 64, 256, 1000)


def state_after(game, moves):
    state, rewards = game.new_state(), np.zeros(2)
    game.restart(state, 0)
    for column in map(int, moves):
        game.step(state, np.full(2, column), rewards)
    return state


def best_moves(game, agent, worths=POSITIONS):
    """Return for each position whether the agent's move is best."""
    found = []
    for moves, worth in worths.items():
        state = state_after(game, moves)
        action = agent.act(View(game, state, game.active(state) >> 1))
        found.append(worth[action] == max(worth))
    return np.array(found)


def judge(game, policy, worths):
    """Print the shares of best moves in some positions."""
    chance = np.mean([np.mean([w == max(worth) for w in worth if w > -2]) for worth in worths.values()])
    print(f"{len(worths):,} positions; of the legal moves {chance:.1%} are best")
    drawn = np.array([max(worth) == 0 for worth in worths.values()])
    for simulations in SEARCHES:
        options = {"policy": policy, "simulations": simulations, "gumbel_scale": 0.0, "discount": 0.99}
        agent = agents.make("gumbel", **options) if simulations else agents.make(f"sb3:{policy}")
        found = best_moves(game, agent, worths)
        share = wilson(found.sum(), len(found))
        name = f"gumbel, {simulations} simulations" if simulations else "policy alone"
        print(f"{name:25} {share.value:6.1%} [{share.low:.1%}, {share.high:.1%}]  drawn {found[drawn].mean():.1%}")
    agent = agents.make("mcts", simulations=1000)
    print(f"{'uct, 1000 simulations':25} {best_moves(game, agent, worths).mean():6.1%}")


def main():
    """Print the shares."""
    sys.path.insert(0, str(ROOT / "examples"))
    from connect_four_cells import CELLS

    for worths in (POSITIONS, EVEN):
        judge(CELLS, sys.argv[1], worths)


if __name__ == "__main__":
    main()
