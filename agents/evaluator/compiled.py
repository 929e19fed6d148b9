"""A network that runs in compiled code."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agents.evaluator.consult import outputs
from agents.evaluator.forward import ACTIVATIONS, LAYER, PASS
from agents.evaluator.memory import ROOM
from agents.evaluator.table import TableEvaluator
from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Bytes, Singles


class TooLargeError(ValueError):
    """Compiled code has no room for a network."""


class Dense(NamedTuple):
    """A dense layer: weights [inputs, outputs], bias [outputs], and the name of its activation."""

    weights: Singles
    bias: Singles
    activation: str


class Normalization(NamedTuple):
    """Observations are ``clip((x - shift) * factor, -bound, bound)``; arrays [inputs]."""

    shift: Singles
    factor: Singles
    bound: float


class CompiledEvaluator(TableEvaluator):
    """A network of dense layers, run in compiled code.

    Parameters
    ----------
    policy, value : sequence of Dense
        Two towers over the observation: a number for each action, and what the observation is worth; no value tower
        where the numbers are values of actions, of which the greatest counts.
    game : Game
        As for :class:`agents.evaluator.table.TableEvaluator`.
    normalization : Normalization, optional
    unit : float
        How much reward a value of 1 is.

    Raises
    ------
    TooLargeError
        If the inputs and outputs of all layers, and the actions, are more than ``ROOM // 2``.
    """

    name = "compiled"

    def __init__(
        self,
        policy: Sequence[Dense],
        value: Sequence[Dense],
        game: Game,
        normalization: Normalization | None = None,
        unit: float = 1.0,
    ) -> None:
        inputs = len(policy[0].weights)
        layers = _Layers(inputs)
        self._logits, self._value = layers.add(policy), layers.add(value) if value else -1
        self._length = layers.end + layers.end % 2
        if 2 * (self._length + game.actions) > ROOM:
            raise TooLargeError(
                f"the network has {self._length} inputs and outputs of layers in all, and compiled code has room for "
                f"{ROOM // 2 - game.actions}"
            )
        shift, factor, bound = normalization or (np.zeros(0, np.float32), np.zeros(0, np.float32), 0.0)
        plan = np.array(layers.rows, LAYER)
        run = (plan.ctypes.data, len(plan), inputs, self._length, normalization is not None)
        forward = np.array([(*run, shift.ctypes.data, factor.ctypes.data, bound)], PASS)
        super().__init__(game, forward=forward.ctypes.data, logits=self._logits, value=self._value, unit=unit)
        self._held = plan, forward, shift, factor, layers.weights  # compiled code has their addresses

    def outputs(self, state: Bytes, player: int) -> tuple[Singles, Singles]:
        """Return the numbers [A] and the value [1], empty without a tower for it, of what a player sees."""
        numbers = np.zeros(self._length, np.float32)
        outputs(self._address, state, player, numbers)
        logits = numbers[self._logits : self._logits + self.game.actions]
        return logits, numbers[self._value : self._value + 1] if self._value >= 0 else numbers[:0]


class _Layers:
    """Layers in the order in which they are to be run; their inputs and outputs follow the observation."""

    def __init__(self, inputs: int) -> None:
        self.rows: list[tuple[int, ...]] = []
        self.weights: list[Singles] = []
        self.end = self._inputs = inputs

    def add(self, tower: Sequence[Dense]) -> int:
        """Add a tower over the observation; return where its outputs begin."""
        source, inputs = 0, self._inputs
        for layer in tower:
            outputs = len(layer.bias)
            weights = np.concatenate([layer.bias[None], layer.weights]).astype(np.float32)
            self.weights.append(weights)
            address = int(weights.ctypes.data)
            self.rows.append((source, inputs, self.end, outputs, address, ACTIVATIONS[layer.activation]))
            source, inputs, self.end = self.end, outputs, self.end + outputs
        return source
