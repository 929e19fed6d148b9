"""Named agents for the bomber grid, as plain data.

``best`` searches its own actions while the others are drawn from a guess at them; rollouts go on carefully for itself
and by the same guess for the others. ``pessimist`` has everybody in a shallow tree, and then expects the worst.

The planners of the literature are those of two sources:

- D. Perez-Liebana et al., "Analysis of Statistical Forward Planning Methods in Pommerman" (AIIDE 2019), with its
  programs: ``osla_aiide``, ``rhea_aiide`` and ``mcts_aiide``. 200 simulations of 12 steps, own actions against random
  others; the heuristic counts from the root. MCTS has the constant sqrt(2) in ranges of the returns seen, does not
  walk into fire that burns in its rollouts, and plays the most visited action.
  Evolution has one individual, mutates half of its genes, and keeps what is left of it for the next move. One-step
  lookahead tries each action once and draws among equals.
- A student report on progressive bias and decaying rewards: ``mcts_bias``, which is ``mcts_aiide`` with ``bias / (1 +
  n)`` added in the selection (its two agents are ``bias=0`` and ``bias=1``) and returns that decay by 0.8 with every
  step. Its formulas take returns as they are, so here sqrt(2) is no share of their range. Its text multiplies a return
  once, whatever its depth, which is ``discount=1`` with ``c`` and ``bias`` divided by 0.8; its equation 2 is
  ``select="ucb_linear"`` (without a bias); ``recommend="max_value"`` ends with C = 0. Its other depth is
  ``horizon=20``.

Their forward model was the true state, hidden items included; where a player sees only a part of the board, these are
told no more than their player.
"""

import math
from typing import Any

_RANDOM: dict[str, Any] = {"opponents": "uniform", "evaluate": "aiide", "relative": True}
_ROLLOUTS: dict[str, Any] = {"simulate": "advised_own", "rollout_model": "out_of_fire"}
_MCTS: dict[str, Any] = {"agent": "mcts", "simulations": 200, "horizon": 12, "c": math.sqrt(2.0), **_RANDOM}
_BIAS: dict[str, Any] = {"select": "progressive_bias", "model": "unadvised", "bias": 1.0, "discount": 0.8}
_RHEA: dict[str, Any] = {"agent": "rhea", "simulations": 200, "length": 12, "population": 1, "mutation": 0.5}
_GUESS: dict[str, Any] = {"opponents": "advised", "opponent_model": "anybody"}
_CAREFUL: dict[str, Any] = {"simulate": "advised", "rollout_model": "careful"}


def presets(full_view: bool) -> dict[str, dict[str, Any]]:
    """Return the agents for boards that are seen as a whole, or not."""
    told = {"information": "full" if full_view else "own"}
    return {
        "best": {"agent": "mcts", "simulations": 1000, "horizon": 20, **_GUESS, **_CAREFUL},
        "pessimist": {"agent": "mcts", "simulations": 2000, "horizon": 4, "evaluate": "pessimistic"},
        "rule_based": {"agent": "scripted"},
        "careful": {"agent": "scripted", "model": "careful"},
        "random_safe": {"agent": "scripted", "model": "random_safe"},
        "osla_aiide": {"agent": "one_step", "samples": 1, "recommend": "max_value_drawn", **_RANDOM, **told},
        "rhea_aiide": {**_RHEA, **_RANDOM, **told},
        "mcts_aiide": {**_MCTS, **_ROLLOUTS, **told},
        "mcts_bias": {**_MCTS, **_BIAS, **_ROLLOUTS, **told},
    }
