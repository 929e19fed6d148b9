"""Named agents for wall survival, as plain data."""

from typing import Any


def presets() -> dict[str, dict[str, Any]]:
    """Return the agents: the reference's random player, one ply ahead, tree searches, and our best."""
    return {
        "random_walk": {"agent": "scripted", "model": "random_walk"},
        "greedy": {"agent": "scripted", "model": "greedy"},
        "mobility": {"agent": "one_step", "model": "mobility", "samples": 1},
        "mcts_voronoi": {
            "agent": "mcts",
            "select": "progressive_history",
            "loop": "open",
            "rollout_depth": 0,
            "evaluate": "threats",
            "time_limit": 0.1,
        },
        "mcts_report": {
            "agent": "mcts",
            "select": "virtual_child",
            "loop": "open",
            "simulate": "advised_own",
            "model": "report_tree",
            "rollout_model": "report",
            "first_move": {"time_limit": 29.8},
            "time_limit": 1.9,
        },
        "best": {"agent": "alpha_beta", "time_limit": 0.1},
        "best_with_policy": {
            "agent": "mcts",
            "select": "puct_solver",
            "recommend": "proved",
            "c": 0.5,
            "policy": "shipped",
            "evaluate": "policy",
            "time_limit": 0.1,
        },
    }
