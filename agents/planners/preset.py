"""Agents that a game describes: named settings of other agents, as plain data."""

from typing import Any

import agents
from agents.base import Agent, view_of
from agents.budget import LIMITS
from mcts_envs.core.api.mixture import many
from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Bytes, Ints
from mcts_envs.core.view import View
from mcts_envs.registry import ENTRIES

EVERYWHERE = {"best": {"agent": "mcts"}, "best_with_policy": {"agent": "puct"}}
"""What these names are in a game that does not say."""


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

    _transient = ("_agents",)

    def __init__(self, *, preset: str, seed: int = 0, **settings: Any) -> None:
        super().__init__(seed=seed)
        self.name = preset
        self._settings = settings
        self._agents: dict[str, Any] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({**state, "_agents": {}})

    def __repr__(self) -> str:
        """Return the name and the settings given; once it has played, the agent that it last was besides."""
        behind = f" = {[*self._agents.values()][-1]!r}" if self._agents else ""
        return super().__repr__() + behind

    def resolve(self, game: Game) -> Any:
        """Return the agent behind the name in a game; that of :data:`EVERYWHERE` where a game does not say.

        Raises
        ------
        ValueError
            If the game has no such preset.
        """
        if game.fingerprint not in self._agents:
            presets = {**EVERYWHERE, **game.presets}
            if self.name not in presets:
                known = ", ".join(sorted(presets))
                owners = ", ".join(id.split("/")[-1] for id, entry in ENTRIES.items() if self.name in entry.presets)
                raise ValueError(f"{game.name} has no preset {self.name!r}, which is one of {owners}; it has: {known}")
            described = {key: value for key, value in presets[self.name].items() if key != "takes_budget"}
            if not self._settings.keys().isdisjoint(LIMITS):
                described = {name: value for name, value in described.items() if name not in (*LIMITS, "first_move")}
            agent = agents.make(described.pop("agent"), **{**described, **self._settings})
            if isinstance(agent, PresetAgent):
                agent = agent.resolve(game)
            agent.stream = self.stream
            self._agents[game.fingerprint] = agent
        return self._agents[game.fingerprint]

    def reseed(self, seed: int) -> None:
        """Start the random stream anew, as at construction."""
        for agent in self._agents.values():
            agent.reseed(seed)
        super().reseed(seed)

    def choose(self, view: View) -> int:
        """Return a legal action."""
        agent = self.resolve(view.game)
        action = int(agent.choose(view))
        self.last_result = agent.last_result
        return action

    def check_seat(self, game: Game, at_once: bool) -> None:
        """Raise ``ValueError`` if the agent behind the name cannot play a game, or there is none."""
        self.resolve(game).check_seat(game, at_once)

    def act_all(self, game: Game, states: Bytes, players: Ints, seeds: Any) -> Ints:
        """Return an action [k] for each of the players [k], as the agent behind the name does."""
        return many(self.resolve(game)).act_all(game, states, players, seeds)

    def search(self, env: Any) -> Any:
        """Search as the agent behind the name does."""
        return self.resolve(view_of(env).game).search(env)

    def start(self, env: Any) -> Any:
        """Start a search as the agent behind the name does."""
        return self.resolve(view_of(env).game).start(env)
