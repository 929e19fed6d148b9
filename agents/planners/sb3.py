"""Policies that Stable-Baselines3 trained, as agents."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.learning.loading import load_policy, load_shipped, quickest
from agents.learning.saved.fitting import fitting, own_mask
from agents.learning.saved.frames import Frames, axis_of
from agents.learning.saved.moved import settings_of, tell, worn
from agents.learning.saved.normalizing import Given, chosen
from agents.learning.saved.notices import notice
from agents.learning.saved.policy import Policy
from agents.learning.saved.recurrent import Recollection, refuse, remembers
from agents.learning.saved.shipped import SEARCHED, at_home
from mcts_envs.core import errors
from mcts_envs.core.api.mixed_turns import drawn, shown
from mcts_envs.core.api.quantized import as_bytes
from mcts_envs.core.contract import Game
from mcts_envs.core.rng import choose
from mcts_envs.core.typing import Bytes, Ints, Singles
from mcts_envs.core.view import View

_MOST_FRAMES = 1000

_AT_ONCE = "take one that sees single frames and has no memory"


class SB3Agent(Agent):
    """Plays a saved policy.

    What a policy knows of its training from its sidecar goes with it: it is shown the observation that it was trained
    on, and one that takes masks chooses among the actions that it was trained to choose among, whatever the environment
    shows and allows besides; actions that are illegal here are never among them. Other rules, rewards or opponents than
    those of its training are warned of, once. The choice of a policy without masks is taken as it is, so it may be
    illegal and then has the effect that the game documents.

    A copy or a pickle of the agent holds the path of the policy and reads it anew at its next move.

    Parameters
    ----------
    path : str or Path
        A zip that ``scripts/train.py`` or Stable-Baselines3 saved, which needs both it and PyTorch, and which runs what
        its author put into it: only load files from people you trust. A network of dense layers then plays as plain
        arrays, which choose as ``predict`` of Stable-Baselines3 does, faster. Or an ``.npz`` that ``agents.export``
        made of one: plain arrays, which need neither and run nothing.
    algorithm : str, optional
        For a zip that does not say which made it: ``"ppo"``, ``"maskable_ppo"``, ``"recurrent_ppo"``, ``"a2c"``,
        ``"trpo"``, ``"dqn"``, ``"qrdqn"``. A recurrent policy remembers what it was shown of each game since the first
        state that the agent was asked about; where ``restore_state`` leads back, it remembers what came after too,
        until ``reseed``.
    normalization : str, Path or False, optional
        For a policy that was trained under ``VecNormalize``: the pickle that ``VecNormalize.save`` or
        ``CheckpointCallback`` wrote, or ``"auto"`` for that beside the policy. Observations are then normalised with
        its statistics, which stay as they are; rewards are not. By default the sidecar decides, and a pickle beside a
        policy without one is warned of; False says that it does not matter.
    frame_stack : int
        For a policy that was trained under ``VecFrameStack``: its ``n_stack``. The stack begins with the first state of
        a game that the agent is asked about, after zeros, and grows with each further one; see
        :class:`agents.learning.saved.frames.Frames`.
    deterministic : bool
        Take the best action, or draw one with the policy's probabilities.
    seed : int
        Start of the agent's random stream.

    Raises
    ------
    FileNotFoundError, ValueError
        See :func:`agents.learning.saved.storage.load`; also at the first move, if the policy does not fit the game.
    """

    name = "sb3"
    _transient: tuple[str, ...] = ("_loaded", "_frames", "_recollection", "_here", "_worn")
    _loaded: Policy | None = None
    _frames: Frames | None = None
    _recollection: Recollection | None = None
    _frame_stack = 1
    _here: dict[str, Any] | None = None
    _worn: Sequence[str] = ()

    def __init__(
        self,
        path: str | Path,
        *,
        algorithm: str | None = None,
        normalization: Given = None,
        frame_stack: int = 1,
        deterministic: bool = True,
        seed: int = 0,
    ) -> None:
        super().__init__(seed=seed)
        self.deterministic = errors.flag("deterministic", deterministic)
        self._frame_stack = errors.integer("frame_stack", frame_stack, 1, _MOST_FRAMES)
        self.name = f"sb3:{path}"
        policy = quickest(load_policy(path, algorithm, normalization, frame_stack))
        self._path, self._algorithm = policy.path.absolute(), algorithm
        pickled = chosen(policy.path, normalization)
        self._normalization = normalization if pickled is None else pickled.absolute()
        self._loaded = policy

    def act(self, env: Any) -> int:
        """Return an action for whoever is to choose in an environment (wrapped or not) or a view."""
        self._here, self._worn = settings_of(env), worn(env)
        return super().act(env)

    def bind(self, env: Any) -> Agent:
        """Let :meth:`predict` act on this live environment, or batch of them, and return the agent itself."""
        self._here, self._worn = settings_of(env), worn(env)
        return super().bind(env)

    def reseed(self, seed: int) -> None:
        """Start the random stream anew and forget all games, as at construction."""
        super().reseed(seed)
        self._frames = self._recollection = None

    def choose(self, view: View) -> int:
        """Return the policy's action."""
        return self._choose(view, None)

    def choose_among(self, view: View, mask: npt.NDArray[np.bool_]) -> int:
        """Return the policy's action among those that a mask [A] allows, if it takes masks."""
        return self._choose(view, mask)

    def check_seat(self, game: Game, at_once: bool) -> None:
        """Raise ``ValueError`` if the policy does not fit a game, or is to remember many games at once."""
        super().check_seat(game, at_once)
        if at_once and self._frame_stack > 1:
            raise ValueError(
                f"{self.name} stacks {self._frame_stack} frames, so it cannot play many games at once; {_AT_ONCE}"
            )
        if at_once:
            refuse(self._policy(game), "cannot play many games at once", _AT_ONCE)

    def act_all(self, game: Game, states: Bytes, players: Ints, seeds: Any) -> Ints:
        """Return an action [k] for each of the players [k] who look at states [k, size], in one forward.

        Seeds [k] decide where the policy draws its actions.

        Raises
        ------
        ValueError
            If the policy stacks frames or is recurrent: states of many games have no history.
        """
        self.check_seat(game, at_once=True)
        policy, (seen, limited) = self._policy(game), self.prepared(game)
        observations, masks = shown(seen, states, players)
        if policy.in_bytes:
            observations = as_bytes(game, observations)
        if limited is not game:
            both = masks & shown(limited, states, players)[1]
            masks = np.where(both.any(1, keepdims=True), both, masks)
        if self.deterministic:
            return policy.actions(observations, masks if policy.masked else None)
        return drawn(policy.probabilities(observations, masks if policy.masked else None), seeds)

    def _choose(self, view: View, mask: npt.NDArray[np.bool_] | None) -> int:
        policy = self._policy(view.game)
        shown, limited = self.prepared(view.game)
        observation = self._observation(policy, shown, view)
        masks = _narrowed(view, limited, mask)[None] if policy.masked else None
        if remembers(policy):
            weights = self._recalled(policy, view, observation)
        elif self.deterministic:
            return int(policy.actions(observation[None], masks)[0])
        else:
            weights = policy.probabilities(observation[None], masks)[0]
        return int(weights.argmax()) if self.deterministic else int(choose(self.stream, weights, len(weights)))

    def _recalled(self, policy: Any, view: View, observation: Singles | Bytes) -> npt.NDArray[np.float64]:
        if self._recollection is None:
            self._recollection = Recollection(policy)
        return self._recollection.probabilities(view, observation)

    def _policy(self, game: Game) -> Policy:
        if self._loaded is None:
            saved = load_policy(self._path, self._algorithm, self._normalization, self._frame_stack)
            self._loaded = quickest(saved)
        return self._loaded

    def _arrive(self, policy: Policy, game: Game) -> None:
        """Say in what this game differs from that of the training."""
        tell(policy, game, self._here)
        if self._worn and "settings" not in policy.about:
            notice(
                f"{policy.path} is shown what {game.name} itself shows, not what {', '.join(self._worn)} makes of it; "
                "if it was trained behind that, let an agent of your own do the same (docs/own_agent.md)"
            )

    def _observation(self, policy: Policy, shown: Game, view: View) -> Singles | Bytes:
        """Return what the policy is shown, with earlier frames if it wants them."""
        seen = View(shown, view.state, view.player).observe()
        frame = as_bytes(shown, seen) if policy.in_bytes else seen
        if self._frame_stack == 1:
            return frame
        if self._frames is None:
            self._frames = Frames(self._frame_stack)
        whole = policy.observation_shape
        axis = axis_of(frame.shape, self._frame_stack, whole)
        assert axis is not None, "fitting has seen to it"
        return self._frames.stacked(view, policy.normalized(frame[None])[0], axis)

    def prepare(self, game: Game) -> tuple[Game, Game]:
        """Return the game with the observation, and with the legal actions, that the policy was trained on."""
        policy = self._policy(game)
        seen = fitting(policy, game, self._frame_stack), own_mask(policy, game)
        self._arrive(policy, game)
        return seen


def _narrowed(view: View, limited: Game, mask: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.bool_]:
    """Return the actions [A] that are legal here and, where any are, were so in training."""
    here = view.action_masks() if mask is None else mask
    if limited is view.game:
        return here
    both: npt.NDArray[np.bool_] = here & View(limited, view.state, view.player).action_masks()
    return both if both.any() else here


class ShippedAgent(SB3Agent):
    """Plays the policy that comes with this package for the game at hand, which is known at the first move.

    Parameters
    ----------
    algorithm : {"ppo", "maskable_ppo", "dqn", "expert_iteration"}
    deterministic : bool
        Take the best action, or draw one with the policy's probabilities.
    seed : int
        Start of the agent's random stream.

    Raises
    ------
    ValueError
        At the first move, if no policy is shipped for the game.
    """

    _transient = ("_shipped",)
    _shipped: tuple[str, Policy] | None = None

    def __init__(self, algorithm: str, /, *, deterministic: bool = True, seed: int = 0) -> None:
        Agent.__init__(self, seed=seed)
        self.deterministic = errors.flag("deterministic", deterministic)
        errors.choice("algorithm of a shipped policy", algorithm, (*SEARCHED, "dqn"))
        self.name = self.algorithm = algorithm

    def _policy(self, game: Game) -> Policy:
        """Return the policy that comes with the package for this game."""
        if self._shipped is None or self._shipped[0] != game.fingerprint:
            self._shipped = game.fingerprint, load_shipped(game, self.algorithm)
        return self._shipped[1]

    def _arrive(self, policy: Policy, game: Game) -> None:
        """Say nothing of the rewards that it learned from, where it was made for this game."""
        if not at_home(policy.path, game):
            super()._arrive(policy, game)
