"""Named agents for the bomber grid, as plain data.

``best`` looks four steps ahead. In half of their decisions the others do what a guess at them says, in the other half
they search too; what a state is worth is pessimistic, and the nearer an enemy the better; where the board collapses it
keeps to where a way leads inside. With a radio it tells its mate where it sees an enemy, and listens; the others say
nothing. ``gatherer`` is the same, but goes for items and wood first: it wins games that else are tied, above all of
those who do not search. ``pessimist`` is a tree of everybody with a pessimistic evaluation that does not hunt, and does
not see the board collapse. ``mcts_model`` searches its own actions while the others are drawn from the guess alone;
rollouts go on carefully for itself and by the same guess for the others: it is as good against players who are as
guessed, and loses to those who search.

The planners of the literature are those of two sources:

- D. Perez-Liebana et al., "Analysis of Statistical Forward Planning Methods in Pommerman" (AIIDE 2019), with its
  programs: ``osla_aiide``, ``rhea_aiide`` and ``mcts_aiide``. 200 simulations of 12 steps, own actions against random
  others; the heuristic counts from the root. MCTS has the constant sqrt(2) in ranges of the returns seen, does not
  walk into fire that burns in its rollouts, and plays the most visited action.
  Evolution has one individual, mutates half of its genes, and keeps what is left of it for the next move. In its
  program the individual is tried out anew beside every child, which takes its place only if it is better, so 200
  iterations are 401 simulations; the text alone can be read as 200 children, each tried out once, against a value that
  stands: ``reevaluate=False, simulations=200``, which is weaker. One-step lookahead tries each action once and draws
  among equals. Its rule-based player, ``rule_based_aiide``, is less careful than SimpleAgent; of its two versions
  ``rule_based_aiide_wary`` is the one that evolution met with a view of 1.
- A student report on progressive bias and decaying rewards: ``mcts_bias``, which is ``mcts_aiide`` with ``bias / (1 +
  n)`` added in the selection (its two agents are ``bias=0`` and ``bias=1``) and returns that decay by 0.8 with every
  step, as in its equation 4. Its formulas take returns as they are, so here sqrt(2) is no share of their range.
  ``mcts_bias_once`` is after its text, which multiplies a return once, whatever its depth: that is to leave returns
  alone and divide ``c`` and ``bias`` by 0.8 (so 1.25 in it is h = 1). Equation 2 is ``select="ucb_linear"`` (without a
  bias); ``recommend="max_value"`` ends with C = 0. Its other depth is ``horizon=20``.

Their forward model was the true state, hidden items included; where a player sees only a part of the board, these are
told no more than their player: the fog is redrawn. In the program it was taken for passages, with the others where they
really were. Evolution played no better so in games with a view of 1.
"""

import math
from typing import Any

GAMMA = 0.8
"""Of the report: what a return is multiplied with."""

_RANDOM: dict[str, Any] = {"opponents": "uniform", "evaluate": "aiide", "relative": True}
_ROLLOUTS: dict[str, Any] = {"simulate": "advised_own", "rollout_model": "out_of_fire"}
_OPEN: dict[str, Any] = {"loop": "open"}
_MCTS: dict[str, Any] = {"agent": "mcts", "simulations": 200, "horizon": 12, "c": math.sqrt(2.0), **_OPEN, **_RANDOM}
_BIAS: dict[str, Any] = {"select": "progressive_bias", "bias": 1.0, "discount": GAMMA}
_ONCE: dict[str, Any] = {"discount": 1.0, "c": math.sqrt(2.0) / GAMMA, "bias": 1.0 / GAMMA}
_RHEA: dict[str, Any] = {
    "agent": "rhea",
    "simulations": 401,
    "length": 12,
    "population": 1,
    "mutation": 0.5,
    "reevaluate": True,
}
_GUESS: dict[str, Any] = {"opponents": "advised", "opponent_model": "anybody"}
_HUNT: dict[str, Any] = {"horizon": 4, "evaluate": "hunting", "opponents": "mixed", "opponent_model": "anybody"}
_CAREFUL: dict[str, Any] = {"simulate": "advised", "rollout_model": "careful"}


def presets(full_view: bool = True, radio: bool = False) -> dict[str, dict[str, Any]]:
    """Return the agents for boards that are seen as a whole, or not, and for players with a radio or without."""
    moves, words = ({"model": "silent"}, {"model": "radio"}) if radio else ({}, {})
    told = {"information": "full" if full_view else "own", **moves}
    bias = _BIAS | told | {"model": "silent_unadvised" if radio else "unadvised"}
    return {
        "best": {"agent": "mcts", "simulations": 2000, **_HUNT, **_OPEN, **words},
        "gatherer": {"agent": "mcts", "simulations": 2000, **_HUNT, "evaluate": "gathering", **_OPEN, **words},
        "pessimist": {"agent": "mcts", "simulations": 2000, "horizon": 4, "evaluate": "pessimistic", **_OPEN, **moves},
        "rule_based": {"agent": "scripted"},
        "rule_based_aiide": {"agent": "scripted", "model": "rule_based_aiide"},
        "rule_based_aiide_wary": {"agent": "scripted", "model": "rule_based_aiide_wary"},
        "careful": {"agent": "scripted", "model": "careful"},
        "random_safe": {"agent": "scripted", "model": "random_safe"},
        "osla_aiide": {"agent": "one_step", "samples": 1, "recommend": "max_value_drawn", **_RANDOM, **told},
        "rhea_aiide": {**_RHEA, **_RANDOM, **told},
        "mcts_aiide": {**_MCTS, **_ROLLOUTS, **told},
        "mcts_model": {"agent": "mcts", "simulations": 1000, "horizon": 20, **_OPEN, **_GUESS, **_CAREFUL, **moves},
        "mcts_bias": {**_MCTS, **_ROLLOUTS, **bias},
        "mcts_bias_once": {**_MCTS, **_ROLLOUTS, **bias, **_ONCE},
    }
