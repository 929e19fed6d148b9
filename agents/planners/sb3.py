"""Policies that Stable-Baselines3 trained, as agents."""

from pathlib import Path

from agents.base import Agent
from agents.learning.fitting import fitting
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
    one is shown that one, recognised by its shape. A copy or a pickle of the agent holds the path of the policy and
    reads it anew at its next move.

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
    _transient = ("_loaded", "_known")
    _loaded: SavedPolicy | None = None
    _known: tuple[Game, Game] | None = None

    def __init__(
        self, path: str | Path, *, algorithm: str | None = None, deterministic: bool = True, seed: int = 0
    ) -> None:
        super().__init__(seed=seed)
        self.deterministic = errors.flag("deterministic", deterministic)
        self.name = f"sb3:{path}"
        self._loaded = policy = load(path, algorithm)
        self._path, self._algorithm = policy.path.absolute(), algorithm

    def choose(self, view: View) -> int:
        """Return the policy's action."""
        policy = self._policy(view.game)
        shown = View(self._shown(policy, view.game), view.state, view.player)
        observations = shown.observe()[None]
        masks = view.action_masks()[None] if policy.masked else None
        if self.deterministic:
            return int(policy.actions(observations, masks)[0])
        weights = policy.probabilities(observations, masks)[0]
        return int(choose(self.stream, weights, len(weights)))

    def _policy(self, game: Game) -> SavedPolicy:
        if self._loaded is None:
            self._loaded = load(self._path, self._algorithm)
        return self._loaded

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

    _transient = ("_shipped", "_known")
    _shipped: tuple[str, SavedPolicy] | None = None

    def __init__(self, algorithm: str, *, deterministic: bool = True, seed: int = 0) -> None:
        Agent.__init__(self, seed=seed)
        self.deterministic = errors.flag("deterministic", deterministic)
        self.name = self.algorithm = algorithm

    def _policy(self, game: Game) -> SavedPolicy:
        """Return the policy that comes with the package for this game."""
        if self._shipped is None or self._shipped[0] != game.fingerprint:
            self._shipped = game.fingerprint, load(shipped_for(game, self.algorithm))
        return self._shipped[1]
