"""The two players that need nothing but the game."""

import numpy as np

from agents.base import Agent
from mcts_envs.core.players import play_random, play_scripted
from mcts_envs.core.view import View


class RandomAgent(Agent):
    """Chooses uniformly among the legal actions."""

    name = "random"
    _play = staticmethod(play_random)

    def choose(self, view: View) -> int:
        """Return a legal action."""
        game = view.game
        legal, weights = np.empty(game.actions, np.int64), np.empty(game.actions)
        return int(self._play(game.table, view.state, view.player, legal, weights, self.stream))


class ScriptedAgent(RandomAgent):
    """Follows the game's own advice: a rule-based player."""

    name = "scripted"
    _play = staticmethod(play_scripted)
