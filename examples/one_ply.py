"""One-ply Monte Carlo, a planner of one's own for any game: ``python examples/one_ply.py`` plays it.

Every action is tried in turn, each time played on at random, and the best on average is chosen. Budgets, the only legal
move, interrupts and results come from :class:`agents.planner.Planner`.
"""

from typing import NamedTuple

import gymnasium
import numpy as np

import mcts_envs  # noqa: F401
from agents.budget import Budget
from agents.planner import Planner
from mcts_envs.core import errors
from mcts_envs.core.contract import RUNNING
from mcts_envs.core.rng import below, draw


class Result(NamedTuple):
    """The action to play, the mean return of each legal one, and what it took."""

    action: int
    values: np.ndarray
    simulations: int
    steps: int
    seconds: float


class OnePly(Planner[Result]):
    """Flat Monte Carlo in plain Python.

    Parameters
    ----------
    depth : int
        Steps after which a game is not played on.
    **budget
        Those of :class:`agents.planner.Planner`; 200 simulations by default.
    """

    name = "one_ply"

    def __init__(self, *, depth=100, **budget):
        super().__init__(**{"default": Budget(simulations=200), **budget})
        self.depth = errors.integer("depth", depth, 1, 10_000)

    def plan(self, view, clock):
        """Return what the legal actions are worth."""
        legal = view.legal_actions()
        sums, visits = np.zeros(len(legal)), np.zeros(len(legal))
        while clock.slice(1):  # plain Python can be interrupted anyway
            i = clock.simulations % len(legal)
            value, steps = self.play_out(view, legal[i])
            sums[i] += value
            visits[i] += 1
            clock.spend(1, steps)
        values = np.divide(sums, visits, out=np.full(len(legal), -np.inf), where=visits > 0)
        return Result(int(legal[values.argmax()]), values, clock.simulations, clock.steps, clock.seconds)

    def play_out(self, view, first):
        """Return the player's return after an action, where all play at random from then on, and the steps made."""
        game, state, total, steps = view.game, view.state.copy(), 0.0, 0
        game.determinize(state, view.player, draw(self.stream))
        legal, actions = np.empty(game.actions, np.int64), np.zeros(game.players, np.int64)
        rewards = np.zeros(game.players)
        while steps < self.depth and game.status(state, view.player) == RUNNING:
            for player in range(game.players):
                if game.active(state) >> player & 1:
                    actions[player] = legal[below(self.stream, game.legal(state, player, legal))]
            if steps == 0:
                actions[view.player] = first
            game.step(state, actions, rewards)
            total += rewards[view.player]
            steps += 1
        return total, steps


if __name__ == "__main__":
    env = gymnasium.make("mcts_envs/WallSurvival-v0")
    for seed in range(3):
        env.reset(seed=seed)
        agent, over = OnePly(time_limit=0.01, seed=seed), False
        while not over:
            _, _, over, _, info = env.step(agent.act(env))
        print(f"{agent}: outcome {info['outcome']}")
