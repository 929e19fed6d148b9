"""Policies of one's own in a search: a function of observations, whatever library or rule stands behind it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.learning.saved.policy import in_shares
from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Floats, Singles

Function = Callable[[Singles, npt.NDArray[np.bool_]], tuple[Any, Any]]
"""``(observations, masks) -> (probabilities, values)``: see :class:`FunctionPolicy`."""

_GREATEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class FunctionPolicy:
    """A function that a search consults.

    Parameters
    ----------
    function : callable
        ``(observations, masks) -> (probabilities, values)``. Observations, float32 [n, ...], are those of the players
        who are asked, as the game at hand shows them; masks, bool [n, A], their legal actions, all of them for who is
        not to choose. It returns the probability of each action [n, A], 0 or more, of which those that are illegal
        count nothing and the others are made to add up to 1; and what the observations are worth to these players [n],
        in rewards still to come. Arrays of NumPy or of what turns to them: tensors of PyTorch and arrays of JAX do.

    Raises
    ------
    TypeError
        If the function does not take two arguments.
    """

    function: Function

    def __post_init__(self) -> None:
        try:
            called = inspect.signature(self.function)
            if any(given.kind is given.VAR_POSITIONAL for given in called.parameters.values()):  # a module of PyTorch
                called = inspect.signature(getattr(self.function, "forward", self.function))
            called.bind(None, None)
        except TypeError as error:
            called_with = "is called with observations and masks"
            raise TypeError(f"policy {self.name} {called_with} ({error}); write a function of both") from None
        except ValueError:  # of what tells no signature
            return

    @property
    def name(self) -> str:
        """What the function is called."""
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))

    def shown(self, game: Game) -> "Shown":
        """Return the function as a search of a game asks it."""
        return Shown(self, tuple(game.observation_shape), game.actions)


def in_shape(game: Game) -> Game:
    """Return a game that shows arrays in the shape that an environment of others gives them, without PettingZoo's mask.

    Games of ours do so, and what is no array is flattened.
    """
    return next((game.variant(name) for name in ("array", "unmasked") if name in game.variants), game)


@dataclass(frozen=True)
class Shown:
    """A function that is shown observations of a game."""

    policy: FunctionPolicy
    observation_shape: tuple[int, ...]
    action_count: int
    in_bytes = False

    def consulted(self, observations: Singles, masks: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return the probability of each action [n, A] among those that the masks allow, and the values [n].

        Raises
        ------
        TypeError, ValueError
            If what the function returns is something else.
        """
        allowed = masks | ~masks.any(1, keepdims=True)
        try:
            said = self.policy.function(observations.copy(), allowed.copy())
        except Exception as error:
            shapes = f"observations {observations.shape} and masks {masks.shape}"
            error.add_note(f"policy {self.policy.name} was called with {shapes}")
            raise
        if not isinstance(said, tuple) or len(said) != 2:
            raise TypeError(f"policy {self.policy.name} returned {said!r:.80}; return (probabilities, values)")
        n = len(observations)
        prior = self._array("probabilities", said[0], (n, self.action_count))
        values = self._array("values", said[1], (n,))
        if (prior < 0.0).any():
            raise ValueError(
                f"policy {self.policy.name} returned a probability of {prior.min():.4g}; they are 0 or more: give "
                "the softmax of logits"
            )
        prior = np.where(allowed, prior, 0.0)
        self._require_finite("probabilities", prior)
        self._require_finite("values", values)
        return in_shares(prior, allowed), values

    def _array(self, what: str, given: Any, shape: tuple[int, ...]) -> Floats:
        # a tensor of PyTorch, which NumPy reads unless it is bfloat16
        detached = given.detach().cpu().double() if hasattr(given, "detach") else given
        try:
            found = np.asarray(detached, np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{what} of policy {self.policy.name} are no array ({error})") from None
        if found.shape == (*shape, 1):  # as networks of one output say it
            found = found[..., 0]
        if found.shape != shape:
            raise ValueError(f"{what} of policy {self.policy.name} have shape {found.shape}; return {shape}")
        return found

    def _require_finite(self, what: str, found: Floats) -> None:
        good = np.abs(found) <= _GREATEST
        if not good.all():
            raise ValueError(
                f"{what} of policy {self.policy.name} hold {found[~good][0]:.4g}, which is not finite in single "
                "precision: has its training diverged?"
            )
