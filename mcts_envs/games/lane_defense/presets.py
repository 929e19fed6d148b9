"""Named agents for both games of lane defense, as plain data."""

from typing import Any


def classic(cells: int = 9) -> dict[str, dict[str, Any]]:
    """The paper's random player, its search as its programs have it and as its text has it, and our best.

    c = 10; k_max simulations, of which the first only makes the root. The programs cut simulations off after d = 20
    steps; the text rolls out to the end and draws the zombies' moves there. Two details of the programs are left out:
    situations reached on different ways are not merged, and a tree that has filled the board plays on instead of
    counting 0.
    """
    search = {
        "agent": "mcts",
        "simulations": 19 if cells <= 9 else 149,
        "select": "ucb1_in_order",
        "c": 10.0,
        "normalize": False,
        "discount": 0.95,
        "loop": "closed",
        "model": "paper_tree",
        "recommend": "max_value",
        "takes_budget": False,
    }
    return {
        "best": {"agent": "halving", "simulations": 2000 if cells <= 9 else 3000, "discount": 0.9},
        "random": {"agent": "random", "model": "planting"},
        "mcts_paper": {**search, "rollout_model": "paper_rollout", "horizon": 20},
        "mcts_text": {**search, "rollout_model": "paper_rollout_sampled"},
    }


def roster() -> dict[str, dict[str, Any]]:
    """Return our best of the roster game: rollouts follow the script, which is left only for what is clearly better."""
    return {"best": {"agent": "halving", "simulations": 4000, "simulate": "advised", "discount": 0.98, "margin": 2.5}}
