"""Policies that remember what they have seen of a game: those of ``RecurrentPPO`` of sb3-contrib."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.learning.saved.kept import Kept
from agents.learning.saved.policy import Policy
from agents.learning.saved.storage import SavedPolicy
from mcts_envs.core.view import View

RECURRENT = "recurrent_ppo"

_CURE = "play it as an agent, sb3:PATH, or train one with stacked frames or without memory"


class _Thought(NamedTuple):
    """What a policy makes of a state: the probability of each action [A], and its LSTM's hidden and cell states."""

    probabilities: npt.NDArray[np.float64]
    memory: Any


class Recollection:
    """A recurrent policy, with what it remembers of each game for each player.

    Parameters
    ----------
    policy : SavedPolicy
        Of ``RecurrentPPO``.
    """

    def __init__(self, policy: SavedPolicy) -> None:
        self._policy = policy
        self._thoughts: Kept[_Thought] = Kept("a recurrent policy remembers nothing")

    def probabilities(self, view: View, observation: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the probability of each action [A] after what a view shows and all that it showed before."""
        return self._thoughts.after(view, lambda last: self._next(last, observation)).probabilities

    def _next(self, last: _Thought | None, observation: npt.NDArray[Any]) -> _Thought:
        import torch

        policy: Any = self._policy.model.policy
        policy.set_training_mode(False)
        with torch.no_grad(), self._policy.cores():
            shown, _ = policy.obs_to_tensor(self._policy.shown(observation[None]))
            memory = 2 * (torch.zeros(policy.lstm_hidden_state_shape),) if last is None else last.memory
            distribution, memory = policy.get_distribution(shown, memory, torch.tensor([float(last is None)]))
            found = distribution.distribution.probs[0].numpy(force=True).astype(np.float64)
        return _Thought(found, memory)


def remembers(policy: Policy) -> bool:
    """Return whether a policy is recurrent."""
    return policy.algorithm == RECURRENT


def refuse(policy: Policy, what: str, cure: str = _CURE) -> None:
    """Raise ``ValueError`` if a policy is recurrent where it would be asked about single states."""
    if remembers(policy):
        raise ValueError(f"{policy.path} is a recurrent policy, which remembers what it has seen, and {what}; {cure}")
