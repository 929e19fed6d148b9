"""Noise that keeps players who choose at the same time from moving in step.

Players with the same statistics who select by the same rule would explore in step, and never see what comes of choosing
apart: M. Shafiei, N. Sturtevant, J. Schaeffer, "Comparing UCT versus CFR in Simultaneous Games" (2009), show how UCT
cycles so. M. Lanctot, V. Lisy, M. Winands, "Monte Carlo Tree Search in Simultaneous Move Games with Applications to
Goofspiel" (2013), draw among the actions whose bounds are nearly the greatest; here the means are varied.
"""

import math

from agents.policies.parameters import exploration, parameter_record
from agents.policies.signatures import NOISE, Candidates, nth, policy
from agents.policies.ucb1 import total_visits, unit
from agents.search.records import Store
from mcts_envs.core.kernel import row
from mcts_envs.core.rng import uniform as draw_uniform
from mcts_envs.core.typing import Bytes

PARAMETERS = {name: parameter for name, parameter in exploration().items() if name != "fpu"}
EXPLORATION = parameter_record(PARAMETERS)


@policy(NOISE, parameters=PARAMETERS)
def uniform_noise(candidates: Candidates, store: Store, stream: Bytes) -> None:
    """Vary the mean of each action by up to half of ``c sqrt(ln N / n)``."""
    given = row(store.parameters, 0, EXPLORATION)
    spread = given.c * unit(candidates, store) * math.sqrt(math.log(total_visits(candidates)))
    for i in range(candidates.k):
        nth(candidates, i).sums += (draw_uniform(stream) - 0.5) * spread * math.sqrt(nth(candidates, i).visits)


@policy(NOISE)
def no_noise(candidates: Candidates, store: Store, stream: Bytes) -> None:
    """Leave the statistics as they are."""
