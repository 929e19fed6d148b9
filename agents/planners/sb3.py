"""Policies that Stable-Baselines3 trained, as agents."""

from pathlib import Path
from typing import Any

from agents.base import Agent
from agents.learning.shipped import shipped_for
from agents.learning.storage import SavedPolicy, load
from mcts_envs.core import errors
from mcts_envs.core.contract import Game
from mcts_envs.core.rng import choose
from mcts_envs.core.view import View


class SB3Agent(Agent):
    """Plays a saved policy.

    A policy that wants action masks gets them; the choice of any other is taken as it is, so it may be illegal and then
    has the effect that the game documents. A policy that was trained on another observation of the game than the flat
    one is shown that one, recognised by its shape.

    Parameters
    ----------
    path : str or Path
        A zip that ``scripts/train.py`` or Stable-Baselines3 saved. Only load files from people you trust.
    algorithm : str, optional
        Needed only for a zip without sidecar: ``"ppo"``, ``"maskable_ppo"``, ``"a2c"``, ``"trpo"``, ``"dqn"``,
        ``"qrdqn"``.
    deterministic : bool
        Take the best action, or draw one with the policy's probabilities.
    seed : int
        Start of the agent's random stream.

    Raises
    ------
    FileNotFoundError, ValueError
        See :func:`agents.learning.storage.load`; also at the first move, if the policy does not fit the game.
    """

    name = "sb3"

    def __init__(
        self, path: str | Path, *, algorithm: str | None = None, deterministic: bool = True, seed: int = 0
    ) -> None:
        super().__init__(seed=seed)
        self.deterministic = errors.flag("deterministic", deterministic)
        self._policy = load(path, algorithm)
        self.name = f"sb3:{path}"
        self._known: tuple[Game, Game] | None = None

    def choose(self, view: View) -> int:
        """Return the policy's action."""
        return self._follow(self._policy, view)

    def _follow(self, policy: SavedPolicy, view: View) -> int:
        shown = View(self._shown(policy, view.game), view.state, view.player)
        observations = shown.observe()[None]
        masks = view.action_masks()[None] if policy.masked else None
        if self.deterministic:
            return int(policy.actions(observations, masks)[0])
        weights = policy.probabilities(observations, masks)[0]
        return int(choose(self.stream, weights, len(weights)))

    def _shown(self, policy: SavedPolicy, game: Game) -> Game:
        """Return the game with the observation that the policy was trained on."""
        if self._known is None or self._known[0] is not game:
            self._known = game, fitting(policy, game)
        return self._known[1]


class ShippedAgent(SB3Agent):
    """Plays the policy that comes with this package for the game at hand, which is known at the first move.

    Parameters
    ----------
    algorithm : {"ppo", "maskable_ppo"}
    deterministic : bool
        Take the best action, or draw one with the policy's probabilities.
    seed : int
        Start of the agent's random stream.

    Raises
    ------
    ValueError
        At the first move, if no policy is shipped for the game.
    """

    def __init__(self, algorithm: str, *, deterministic: bool = True, seed: int = 0) -> None:
        Agent.__init__(self, seed=seed)
        self.deterministic = errors.flag("deterministic", deterministic)
        self.name = self.algorithm = algorithm
        self._known = None
        self._policies: dict[str, SavedPolicy] = {}

    def choose(self, view: View) -> int:
        """Return the action of the policy for this game."""
        key = view.game.fingerprint
        if key not in self._policies:
            self._policies[key] = load(shipped_for(view.game, self.algorithm))
        return self._follow(self._policies[key], view)


def fitting(policy: SavedPolicy, game: Game) -> Game:
    """Return the game with an observation of the policy's shape.

    Raises
    ------
    ValueError
        If the policy was made for another game, another number of actions or an observation that the game has not.
    """
    spaces: Any = policy.model.observation_space, policy.model.action_space
    shape, actions = tuple(spaces[0].shape or ()), int(getattr(spaces[1], "n", 0))
    made_for = policy.about.get("game", game.name)
    candidates = [game] + [game.variant(name) for name, change in game.variants.items() if "observe" in change]
    for candidate in candidates:
        if made_for == game.name and actions == game.actions and candidate.observation_shape == shape:
            return candidate
    shapes = ", ".join(str(candidate.observation_shape) for candidate in candidates)
    raise ValueError(
        f"{policy.path} was trained for {made_for}, observations {shape} and {actions} actions; this is {game.name} "
        f"with observations {shapes} and {game.actions} actions: use a policy that was trained here"
    )
