"""The players that need nothing but the game."""

import numpy as np

from agents.base import Agent
from mcts_envs.core.compiling.early import called_on, tables_at_hand
from mcts_envs.core.contract import Game
from mcts_envs.core.players import play_random, play_scripted, random_model
from mcts_envs.core.rng import below
from mcts_envs.core.view import View


class UniformAgent(Agent):
    """Chooses uniformly among the legal actions.

    Parameters
    ----------
    model : str, optional
        Variant of the game whose legal actions count.
    seed : int
    """

    name = "uniform"
    _play = staticmethod(play_random)

    def __init__(self, *, model: str | None = None, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self.model = model

    def choose(self, view: View) -> int:
        """Return a legal action."""
        if view.game.plain_lists:  # not ours and not compiled: it has no script either
            actions = view.legal_actions()
            return int(actions[below(self.stream, len(actions))])
        game = self.prepared(view.game)
        legal, weights = np.empty(game.actions, np.int64), np.empty(game.actions)
        (table,) = tables_at_hand(game)
        play = called_on(table, self._play)
        return int(play(table, view.state, view.player, legal, weights, self.stream))

    def prepare(self, game: Game) -> Game:
        """Return the game in the model that the agent plays by."""
        return game.variant(self.model) if self.model else game


class RandomAgent(UniformAgent):
    """The random player of the literature on a game: uniform, in the model that the game's preset ``random`` names.

    The lane paper's, for one, never waits when it may plant. Without such a preset it is the uniform player.
    """

    name = "random"

    def prepare(self, game: Game) -> Game:
        """Return the game in the model that the agent plays by."""
        model = self.model or random_model(game)
        return game.variant(model) if model else game


class ScriptedAgent(UniformAgent):
    """Follows the game's own advice: a rule-based player. In a game without advice it is the uniform player.

    Parameters
    ----------
    model : str, optional
        Variant of the game whose ``advise`` is followed.
    seed : int
    """

    name = "scripted"
    _play = staticmethod(play_scripted)

    def prepare(self, game: Game) -> Game:
        """Return the game with the advice that the agent follows."""
        return game.variant(self.model, "advise") if self.model else game
