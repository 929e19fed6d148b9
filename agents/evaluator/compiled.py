"""Networks that run in compiled code."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.evaluator.consult import outputs
from agents.evaluator.forward import ACTIVATIONS, LAYER, PASS, forward_all
from agents.evaluator.memory import ROOM
from agents.evaluator.table import TableEvaluator
from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Bytes, Floats, Singles


class TooLargeError(ValueError):
    """Compiled code has no room for a network."""


class Dense(NamedTuple):
    """A dense layer: weights [inputs, outputs], bias [outputs], and the name of its activation."""

    weights: Singles
    bias: Singles
    activation: str


class Normalization(NamedTuple):
    """Observations are ``clip((x - shift) * factor, -bound, bound)``; arrays [inputs].

    In double precision: of a number that hardly ever changes the factor is great, and the difference next to nothing.
    """

    shift: Floats
    factor: Floats
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
        forward = Forward([policy, value] if value else [policy], normalization)
        self._logits, self._value, self._length = forward.ends[0], forward.ends[1] if value else -1, forward.length
        if 2 * (self._length + game.actions) > ROOM:
            raise TooLargeError(
                f"the network has {self._length} inputs and outputs of layers in all, and compiled code has room for "
                f"{ROOM // 2 - game.actions}"
            )
        super().__init__(game, forward=forward.address, logits=self._logits, value=self._value, unit=unit)
        self._forward = forward  # compiled code has its address

    def outputs(self, state: Bytes, player: int) -> tuple[Singles, Singles]:
        """Return the numbers [A] and the value [1], empty without a tower for it, of what a player sees."""
        numbers = np.zeros(self._length, np.float32)
        outputs(self._address, state, player, numbers)
        logits = numbers[self._logits : self._logits + self.game.actions]
        return logits, numbers[self._value : self._value + 1] if self._value >= 0 else numbers[:0]


class Forward:
    """A forward pass of towers over the same observation.

    Parameters
    ----------
    towers : sequence of sequences of Dense
    normalization : Normalization, optional

    Attributes
    ----------
    address : int
        Of a record :data:`agents.evaluator.forward.PASS`, while this object lives.
    length : int
        How many numbers inputs and outputs of all layers are.
    ends : list of int
        Where the outputs of each tower begin among them.
    """

    def __init__(self, towers: Sequence[Sequence[Dense]], normalization: Normalization | None = None) -> None:
        inputs = len(towers[0][0].weights)
        layers = _Layers(inputs)
        self.ends = [layers.add(tower) for tower in towers]
        self.length = layers.end + layers.end % 2
        shift, factor, bound = normalization or (np.zeros(0), np.zeros(0), 0.0)
        plan = np.array(layers.rows, LAYER)
        run = (plan.ctypes.data, len(plan), inputs, self.length, normalization is not None)
        record = np.array([(*run, shift.ctypes.data, factor.ctypes.data, bound)], PASS)
        self.address = int(record.ctypes.data)
        self._held = plan, record, shift, factor, layers.weights  # compiled code has their addresses


class Tower:
    """A tower that is run for many observations, one after another, in one thread.

    NumPy would begin threads for so few, which wait for each other for milliseconds where other processes work.

    Parameters
    ----------
    layers : sequence of Dense
    """

    def __init__(self, layers: Sequence[Dense]) -> None:
        self._layers, self._forward, self._outputs = tuple(layers), Forward([layers]), len(layers[-1].bias)

    def __reduce__(self) -> Any:
        return Tower, (self._layers,)  # addresses are of this process

    def __call__(self, observations: Singles) -> Singles:
        """Return the outputs [n, m] of observations [n, inputs]."""
        forward, found = self._forward, np.empty((len(observations), self._outputs), np.float32)
        numbers = np.empty(2 * forward.length, np.float32)
        given = np.ascontiguousarray(observations, np.float32)
        forward_all(forward.address, int(numbers.ctypes.data), given, forward.ends[0], found)
        return found


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
