"""Players of other packages, who choose in an environment within a time limit: gymcts, and OpenSpiel's bots."""

import copy
import logging
import random
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

import agents
from agents.bridge.adapters import adapter_of


class Chooser(Protocol):
    """A player of an episode."""

    def wrap(self, env: Any) -> Any:
        """Return an environment of one player, not yet reset, as this one needs it."""

    def act(self, env: Any) -> Any:
        """Return an action for who is to choose."""


class Ours:
    """A planner of this package.

    Parameters
    ----------
    name : str
    seconds : float
        A move.
    seed : int
    """

    def __init__(self, name: str, seconds: float, seed: int) -> None:
        self.agent = agents.make(name, time_limit=seconds, seed=seed)

    def wrap(self, env: Any) -> Any:
        """Return it remembered, so that what hides something can be replayed."""
        return agents.remember(env)

    def act(self, env: Any) -> Any:
        """Return what the planner does."""
        return self.agent.act(env)


class Gymcts:
    """The agent of gymcts, with its defaults and deep copies, simulation by simulation until the time is over.

    It is told no more than others are: chance of every copy is drawn anew, and so is what an adapter says to be hidden.
    Its rollouts end where an episode is cut off; as they are, they go on beyond.
    """

    def __init__(self, seconds: float, seed: int) -> None:
        logging.getLogger("gymcts").setLevel(logging.ERROR)
        random.seed(seed)
        self._seconds, self._chance = seconds, np.random.default_rng(seed)

    def wrap(self, env: Any) -> Any:
        """Return it in the wrapper that gymcts has for environments that know nothing of it."""
        from gymcts.gymcts_deepcopy_wrapper import DeepCopyMCTSGymEnvWrapper

        class Ending(DeepCopyMCTSGymEnvWrapper):  # type: ignore[misc]
            def step(self, action: Any) -> Any:
                seen, reward, terminated, truncated, info = super().step(action)
                return seen, reward, terminated or truncated, truncated, info

        return Ending(env)

    def act(self, env: Any) -> Any:
        """Return the best action after a search from the present state."""
        from gymcts.gymcts_agent import GymctsAgent

        chance = self._chance

        class Unknowing(GymctsAgent):  # type: ignore[misc]
            def _load_state(self, node: Any) -> None:
                self.env = copy.deepcopy(node.state)
                inner = self.env.unwrapped
                adapter = adapter_of(type(inner))
                if adapter is not None and adapter.determinize is not None:
                    adapter.determinize(inner, None, chance)
                inner.np_random = np.random.default_rng(chance.integers(2**63))

        deadline = time.perf_counter() + self._seconds
        agent = Unknowing(env=env)
        best = agent.vanilla_mcts_search(agent.search_root_node, 2)  # the second one gives the root its children
        while time.perf_counter() < deadline:
            best = agent.vanilla_mcts_search(agent.search_root_node, 1)
        return best


class OpenSpiel:
    """OpenSpiel's search in Python with random rollouts: MCTS, or ISMCTS where something is hidden.

    It counts simulations; so many are made as the time allows at the pace of its last move.
    """

    def __init__(self, seconds: float, seed: int) -> None:
        self._seconds, self._chance = seconds, np.random.RandomState(seed)
        self._pace = 0.0

    def wrap(self, env: Any) -> Any:
        """Return it as it is."""
        return env

    def act(self, env: Any) -> Any:
        """Return what the bot does."""
        state = env.unwrapped.game_state
        if not self._pace:
            self._timed(state, 5)
        return self._timed(state, max(2, int(self._seconds / self._pace)))

    def _timed(self, state: Any, simulations: int) -> int:
        started = time.perf_counter()
        action = int(_bot(state.get_game(), simulations, self._chance).step(state))
        self._pace = (time.perf_counter() - started) / simulations
        return action


_UCT_C = 2.0
"""OpenSpiel's own in its examples."""


def _bot(game: Any, simulations: int, chance: Any) -> Any:
    import pyspiel
    from open_spiel.python.algorithms import ismcts, mcts

    evaluator = mcts.RandomRolloutEvaluator(1, chance)
    if game.get_type().information == pyspiel.GameType.Information.PERFECT_INFORMATION:
        return mcts.MCTSBot(game, _UCT_C, simulations, evaluator, solve=False, random_state=chance)
    return ismcts.ISMCTSBot(game, evaluator, _UCT_C, simulations, random_state=chance)


CHOOSERS: dict[str, tuple[tuple[str, ...], Callable[[float, int], Chooser]]] = {
    "mcts": ((), lambda seconds, seed: Ours("mcts", seconds, seed)),
    "gymcts": (("gymcts",), Gymcts),
    "OpenSpiel": (("pyspiel", "open_spiel"), OpenSpiel),
    "rhea": ((), lambda seconds, seed: Ours("rhea", seconds, seed)),
}
"""By name: the modules without which there is none, and how one is made for so many seconds a move, and a seed."""


def chooser(name: str, seconds: float, seed: int) -> Chooser:
    """Return a player: one of these, or any agent of ours."""
    if name in CHOOSERS:
        return CHOOSERS[name][1](seconds, seed)
    return Ours(name, seconds, seed)
