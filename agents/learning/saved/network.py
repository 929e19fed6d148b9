"""Policy networks as plain arrays: an MLP of an actor-critic, or the Q network of a DQN, without PyTorch.

A file ``NAME.npz`` holds them (no pickle, so that nothing runs when it is read), with what the sidecar of the policy
says. :func:`agents.learning.export.export` writes one of what Stable-Baselines3 saved.
"""

import io
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.learning.saved import sidecar
from mcts_envs.core import errors
from mcts_envs.core.typing import Singles
from mcts_envs.core.writing import write_whole

if TYPE_CHECKING:
    from agents.evaluator.compiled import Tower

SUFFIX = ".npz"
FORMAT = 1
TOWERS = ("policy", "value")
OUTPUTS = ("logits", "action_values")
"""What the first tower says of each action."""

_SMALL = 2**18
"""Weights of layers behind the first, up to which compiled code is faster than NumPy."""

_CURE = "export the policy anew with agents.export"


def _relu(x: Singles) -> Singles:
    return np.maximum(x, np.float32(0.0))


def _same(x: Singles) -> Singles:
    return x


ACTIVATIONS: dict[str, Callable[[Singles], Singles]] = {"identity": _same, "relu": _relu, "tanh": np.tanh}


class NotLayersError(ValueError):
    """A network cannot be said in dense layers; PyTorch has to run it."""


class Layer(NamedTuple):
    """A dense layer: ``activation(x @ weights + bias)``.

    Attributes
    ----------
    weights : float32 array [inputs, outputs]
    bias : float32 array [outputs]
    activation : str
        One of :data:`ACTIVATIONS`.
    """

    weights: Singles
    bias: Singles
    activation: str


@dataclass(frozen=True)
class Network:
    """Two towers of dense layers over the same flat observation.

    Attributes
    ----------
    policy : tuple of Layer
        Says something of each action.
    value : tuple of Layer
        Says what the observation is worth; empty where nothing does.
    outputs : {"logits", "action_values"}
        What ``policy`` says.
    scale : float
        What observations are divided by: 255 for images, else 1.
    """

    policy: tuple[Layer, ...]
    value: tuple[Layer, ...]
    outputs: str = "logits"
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not self.policy:
            raise ValueError("the policy has no layer")
        for name in TOWERS:
            _check_shapes(name, getattr(self, name))
        if self.value and (len(self.value[0].weights) != self.inputs or len(self.value[-1].bias) != 1):
            raise ValueError("the values do not fit the policy")

    @property
    def towers(self) -> tuple[tuple[Layer, ...], tuple[Layer, ...]]:
        """Both towers."""
        return self.policy, self.value

    @property
    def inputs(self) -> int:
        """Numbers in an observation."""
        return len(self.policy[0].weights)

    @property
    def actions(self) -> int:
        """How many actions there are."""
        return len(self.policy[-1].bias)

    def scores(self, observations: npt.ArrayLike) -> Singles:
        """Return what the network says of each action [n, A] in observations [n, ...]."""
        return _through(self.policy, self._flat(observations))

    def scores_of_many(self, observations: npt.ArrayLike) -> Singles:
        """Return :meth:`scores`, rounded otherwise: of several observations, by compiled code where it is faster."""
        flat, tower = self._flat(observations), self._tower
        return _through(self.policy, flat) if tower is None or len(flat) == 1 else tower(flat)

    @cached_property
    def _tower(self) -> "Tower | None":
        """The policy in compiled code; None where later layers, whose inputs are not sparse, are large."""
        from agents.evaluator.compiled import Dense, Tower

        if sum(layer.weights.size for layer in self.policy[1:]) > _SMALL:
            return None
        return Tower([Dense(*layer) for layer in self.policy])

    def values(self, observations: npt.ArrayLike) -> Singles:
        """Return what observations [n, ...] are worth [n], in discounted rewards of the training.

        Raises
        ------
        ValueError
            If the network has no values.
        """
        flat = self._flat(observations)
        if self.value:
            return _through(self.value, flat)[:, 0]
        if self.outputs == "action_values":
            best: Singles = _through(self.policy, flat).max(1)
            return best
        raise ValueError("the network has no values; export a policy of an actor-critic or of DQN")

    def _flat(self, observations: npt.ArrayLike) -> Singles:
        given = np.asarray(observations, np.float32)
        flat = given.reshape(len(given), -1)
        return flat if self.scale == 1.0 else flat / np.float32(self.scale)


def _check_shapes(name: str, layers: tuple[Layer, ...]) -> None:
    """Raise ``ValueError`` unless each layer takes what the one before it gives: compiled code does not look."""
    before = None
    for i, (weights, bias, _) in enumerate(layers):
        if weights.ndim != 2 or bias.shape != weights.shape[1:] or before not in (None, len(weights)):
            raise ValueError(f"{name}.{i} has weights {weights.shape} and bias {bias.shape} after {before} outputs")
        before = len(bias)


def _through(layers: tuple[Layer, ...], x: Singles) -> Singles:
    for layer in layers:
        x = ACTIVATIONS[layer.activation](x.dot(layer.weights) + layer.bias)
    return x


def write(path: Path, network: Network, about: Mapping[str, Any]) -> None:
    """Write a network and its sidecar to one file, which appears whole or not at all."""
    arrays: dict[str, Any] = {}
    layout: dict[str, Any] = {"format": FORMAT, "outputs": network.outputs, "scale": network.scale}
    for tower in TOWERS:
        layers: tuple[Layer, ...] = getattr(network, tower)
        layout[tower] = [layer.activation for layer in layers]
        for i, layer in enumerate(layers):
            arrays |= {f"{tower}.{i}.weights": layer.weights, f"{tower}.{i}.bias": layer.bias}
    arrays["about"] = np.array(json.dumps({**about, "network": layout}, allow_nan=False))
    raw = io.BytesIO()
    np.savez_compressed(raw, **arrays)
    write_whole(path, raw.getvalue())


def read(path: Path) -> tuple[Network, dict[str, Any]]:
    """Return the network in a file, and its sidecar.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, or it is damaged or of another format; nothing of it is run.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no network {path}; give the path of an .npz that agents.export wrote")
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop("about")))
        layout = about.pop("network")
        if layout["format"] != FORMAT:
            raise ValueError(f"format {layout['format']}, and this release reads {FORMAT}")
        sidecar.check(about)
        network = _assembled(layout, arrays)
    except Exception as error:
        said = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path} is damaged, or no network of this package ({said:.200}); {_CURE}") from error
    return network, about


def _assembled(layout: Mapping[str, Any], arrays: Mapping[str, Any]) -> Network:
    errors.choice("outputs", layout["outputs"], OUTPUTS)
    scale = errors.number("scale", layout["scale"], 1e-9, 1e9)
    policy, value = (_tower(name, layout[name], arrays) for name in TOWERS)
    if layout["outputs"] == "logits" and not value:
        raise ValueError("logits without values, and a search would take one for the other")
    return Network(policy, value, layout["outputs"], scale)


def _tower(name: str, activations: Any, arrays: Mapping[str, Any]) -> tuple[Layer, ...]:
    layers: list[Layer] = []
    for i, activation in enumerate(activations):
        errors.choice("activation", activation, ACTIVATIONS)
        named = (f"{name}.{i}.{part}" for part in ("weights", "bias"))
        weights, bias = (check_numbers(part, arrays[part]) for part in named)
        layers.append(Layer(weights, bias, activation))
    return tuple(layers)


def check_numbers(name: str, given: Any) -> Singles:
    """Return weights as float32.

    Raises
    ------
    ValueError
        If they are not finite, or no numbers.
    """
    if np.asarray(given).dtype.kind not in "fiu":
        raise ValueError(f"{name} holds {np.asarray(given).dtype}, which are no numbers of a network")
    numbers = np.ascontiguousarray(given, np.float32)
    if not math.isfinite(float(np.abs(numbers).sum())):
        raise ValueError(f"{name} has values that are not finite: training has diverged; take an earlier checkpoint")
    return numbers
