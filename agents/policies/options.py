"""Options: an action in the tree that lasts, so that a plan of few choices reaches far.

R. Sutton, D. Precup, S. Singh, "Between MDPs and semi-MDPs: A Framework for Temporal Abstraction in Reinforcement
Learning" (1999); in Monte Carlo tree search, with options that repeat an action: E. Powley, D. Whitehouse, P. Cowling,
"Monte Carlo Tree Search with Macro-Actions and Heuristic Route Planning for the Physical Travelling Salesman Problem"
(2012); with scripts that run until a condition holds: M. de Waard, D. Roijers, S. Bakkes, "Monte Carlo Tree Search with
Options for General Video Game Playing" (2016).

An option begins with an action that is legal where the searching player chooses, and goes on by one of these policies
for ``option_steps`` steps of the game at most, its first included. Within it there are no nodes: the edge of its first
action leads to the state at its end. Rewards on the way are discounted step by step, and horizon and ``tree_depth``
count steps. The others move in between: who follows a model (``opponents="uniform"`` or ``"advised"``) is drawn for;
where others choose who search, the option ends, so that they can answer. Players who all search and take turns are
therefore searched as ever, but for the steps in a row of one of them.

Only the first action is played. The next search may choose something else: that is never worse than to see the option
through, if values are known (Sutton et al., theorem 2). Rollouts are as they are.
"""

from typing import Any

from agents.policies.parameters import Parameter
from agents.policies.signatures import OPTION, policy
from agents.search.records import Work
from mcts_envs.core.compiling.table import advise_of
from mcts_envs.core.rng import choose_among

PARAMETERS = {"option_steps": Parameter(10, 1, 1000, "Steps of the game that an option lasts at most.")}


@policy(OPTION)
def primitive(game: Any, work: Work, player: int, action: int, k: int) -> int:
    """Choose again at every step: no options."""
    return -1


@policy(OPTION, parameters=PARAMETERS)
def repeat(game: Any, work: Work, player: int, action: int, k: int) -> int:
    """Repeat the action as long as it is legal."""
    for i in range(k):
        if work.legal[i] == action:
            return action
    return -1


@policy(OPTION, parameters=PARAMETERS, prior=True)
def follow(game: Any, work: Work, player: int, action: int, k: int) -> int:
    """Go on as the game advises, or a policy that is consulted."""
    advise_of(game)(work.state, player, work.weights)
    return choose_among(work.stream, work.weights, work.legal, k)
