"""Named players of football-lite as plain data."""

import math
from typing import Any

_ITERATIONS = {1: (2038, 1592), 3: (1735, 688), 5: (1299, 555), 7: (1111, 448), 11: (951, 361)}
"""Iterations a decision of the tutorial's search by size, without and with rollouts; between its sizes, size 7 has
the geometric mean of 5 and 11."""

_AHEAD = {1: (60, 1.0), 3: (40, 2.5), 5: (40, 2.0), 7: (60, 2.0), 11: (80, 2.0)}
"""Decisions that ``best`` looks ahead, mostly to the end of the other team's next turn, and its margin, by size: the
fewer rollouts in its time, the more caution."""

_TUTORIAL = {
    "agent": "mcts",
    "select": "ucb1_in_order",
    "c": 2.0 * math.sqrt(2.0) * 0.707,
    "loop": "closed",
    "model": "tutorial",
}


def presets(size: int = 11) -> dict[str, dict[str, Any]]:
    """Return the named players of a size.

    - ``best``: sequential halving over rollouts in which both coaches follow the tactical player, so that an action is
      judged as the beginning of a whole activation; another than his is played if it is ahead of it by a margin. It
      begins no pass, hand-off or foul, of which he would make nothing. With seven a side or more it values a match as
      :func:`mcts_envs.games.football.players.values.evaluate_fitted` does.
    - ``mcts_widening``: a tree in which every outcome of the dice has a node of its own, actions are looked at in the
      order of :mod:`mcts_envs.games.football.players.ordering`, more with every visit, and states are evaluated at
      once; kept from decision to decision.
    - ``mcts_tutorial``: the search of the botbowl engine's tutorial, UCB1 with ``mean + 2 c sqrt(2 ln N / n)``,
      c = 0.707, untried actions in list order, without rollouts; ``mcts_tutorial_turn`` with random ones, drawn by
      type of action, until the next team turn. Each team counts its own value, so that a defeat is -1 to whoever
      suffers it.
    - ``tactical``: the stronger scripted player.
    - ``random_types``, ``random_active``: random players, see :mod:`mcts_envs.games.football.players.random_players`.
    """
    plain, rollouts = _ITERATIONS[size]
    horizon, margin = _AHEAD[size]
    return {
        "best": {
            "agent": "halving",
            "model": "tactical_fitted" if size >= 7 else "tactical",
            "simulate": "advised",
            "margin": margin,
            "horizon": horizon,
            "time_limit": 0.05,
        },
        "mcts_widening": {
            "agent": "mcts",
            "model": "ordered",
            "select": "progressive_widening",
            "loop": "closed",
            "rollout_depth": 0,
            "reuse": True,
            "time_limit": 0.05,
        },
        "mcts_tutorial": {**_TUTORIAL, "rollout_depth": 0, "simulations": plain},
        "mcts_tutorial_turn": {
            **_TUTORIAL,
            "simulate": "advised",
            "rollout_model": "tutorial_turn",
            "simulations": rollouts,
        },
        "tactical": {"agent": "scripted", "model": "tactical"},
        "random_types": {"agent": "scripted", "model": "random_types"},
        "random_active": {"agent": "scripted", "model": "random_active"},
    }
