"""Rock, paper, scissors of PettingZoo: the first has chosen already when the second is asked."""

from typing import Any

import numpy as np

from agents.bridge.adapters import Adapter


class RockPaperScissors(Adapter):
    """Draws what the first has chosen."""

    def determinize(self, env: Any, agent: str, chance: np.random.Generator) -> None:
        """Draw the choice of the first, if the second is to choose."""
        first, second = env.possible_agents
        if env.agent_selection == second and env.agents:
            env.state[first] = int(chance.integers(env.action_space(first).n))
