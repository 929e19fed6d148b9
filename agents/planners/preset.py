"""Agents that a game describes: named settings of other agents, as plain data."""

from typing import Any

import agents
from agents.base import Agent, view_of
from agents.budget import LIMITS
from mcts_envs.core.contract import Game
from mcts_envs.core.view import View


class PresetAgent(Agent):
    """The agent that the game at hand describes under a name.

    Parameters
    ----------
    preset : str
        A name in ``Game.presets``.
    seed : int
    **settings
        Override those of the preset. A budget takes the place of the preset's, whatever its terms.
    """

    _transient = ("_game", "_agent")
    _game: Game | None = None
    _agent: Agent | None = None

    def __init__(self, *, preset: str, seed: int = 0, **settings: Any) -> None:
        super().__init__(seed=seed)
        self.name = preset
        self._settings = settings

    def resolve(self, game: Game) -> Agent:
        """Return the agent behind the name in a game.

        Raises
        ------
        ValueError
            If the game has no such preset.
        """
        if self._agent is None or self._game is not game:
            if self.name not in game.presets:
                known = ", ".join(sorted(game.presets)) or "none"
                raise ValueError(f"{game.name} has no preset {self.name!r}; it has: {known}")
            described = dict(game.presets[self.name])
            if not self._settings.keys().isdisjoint(LIMITS):
                described = {name: value for name, value in described.items() if name not in LIMITS}
            self._agent = agents.make(described.pop("agent"), **{**described, **self._settings})
            self._agent.stream = self.stream
            self._game = game
        return self._agent

    def choose(self, view: View) -> int:
        """Return a legal action."""
        agent = self.resolve(view.game)
        action = agent.choose(view)
        self.last_result = agent.last_result
        return action

    def search(self, env: Any) -> Any:
        """Search as the agent behind the name does."""
        return self.resolve(view_of(env).game).search(env)  # type: ignore[attr-defined]
