"""Networks in zips of Stable-Baselines3, read without it and without PyTorch; nothing that a zip holds is run.

PyTorch saves tensors as raw numbers, and a pickle that says which are whose. Of that pickle names and shapes are taken,
and anything else in it is refused.
"""

import io
import math
import pickle
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from agents.learning.saved import sidecar
from agents.learning.saved.network import Layer, Network, check_numbers
from agents.learning.saved.policy import NetworkPolicy
from mcts_envs.core.typing import Singles

_ACTOR, _CRITIC, _VALUES = "mlp_extractor.policy_net", "mlp_extractor.value_net", "q_net.q_net"
_ACTIVATIONS = {"torch.nn:ReLU": "relu", "torch.nn:Tanh": "tanh"}


def read_zip(path: Path) -> NetworkPolicy:
    """Return the policy in a zip that has its sidecar beside it: of PPO, MaskablePPO or DQN, an MLP over numbers.

    Raises
    ------
    ValueError
        If the zip holds something else.
    """
    about = sidecar.read(path.with_suffix(".json"))
    try:
        kwargs = about["hyperparameters"].get("policy_kwargs") or {}
        with ZipFile(path) as file:
            weights = _tensors(file.read("policy.pth"))
        given = kwargs.get("activation_fn")
        if any(name.startswith(_VALUES) for name in weights):
            tower = _tower(weights, _VALUES, _ACTIVATIONS[given or "torch.nn:ReLU"])
            network = Network(tower, (), "action_values")
        else:
            activation = _ACTIVATIONS[given or "torch.nn:Tanh"]
            policy, value = _tower(weights, _ACTOR, activation), _tower(weights, _CRITIC, activation)
            network = Network((*policy, _layer(weights, "action_net")), (*value, _layer(weights, "value_net")))
    except Exception as error:
        raise ValueError(f"{path} holds no MLP of PPO, MaskablePPO or DQN that can be read ({error!s:.200})") from error
    return NetworkPolicy(path, about["algorithm"], network, about=about)


def _tower(weights: Mapping[str, Singles], name: str, activation: str) -> tuple[Layer, ...]:
    """Return the layers of a tower; the last of values of actions has no activation."""
    places = sorted(int(key.split(".")[-2]) for key in weights if key.startswith(name) and key.endswith(".weight"))
    layers = [_layer(weights, f"{name}.{place}", activation) for place in places]
    if name == _VALUES:
        layers[-1] = layers[-1]._replace(activation="identity")
    return tuple(layers)


def _layer(weights: Mapping[str, Singles], name: str, activation: str = "identity") -> Layer:
    matrix, bias = (check_numbers(name, weights[f"{name}.{part}"]) for part in ("weight", "bias"))
    return Layer(np.ascontiguousarray(matrix.T), bias, activation)


def _tensors(content: bytes) -> dict[str, Singles]:
    """Return the tensors that PyTorch saved in a file, by name."""
    with ZipFile(io.BytesIO(content)) as file:
        (order,) = (name for name in file.namelist() if name.endswith("/data.pkl"))
        found: dict[str, Singles] = _Order(file, order.removesuffix("data.pkl")).load()
    return found


class _Order(pickle.Unpickler):
    """Reads which numbers are whose, and knows nothing else."""

    def __init__(self, file: ZipFile, folder: str) -> None:
        super().__init__(io.BytesIO(file.read(f"{folder}data.pkl")))
        self._file, self._folder = file, folder

    def find_class(self, module: str, name: str) -> Any:
        """Return one of the three things that a file of 32-bit tensors names."""
        known = {"collections.OrderedDict": OrderedDict, "torch._utils._rebuild_tensor_v2": _tensor}
        if f"{module}.{name}" == "torch.FloatStorage":
            return np.float32
        if f"{module}.{name}" not in known:
            raise pickle.UnpicklingError(f"{module}.{name} is nothing that tensors of 32-bit numbers need")
        return known[f"{module}.{name}"]

    def persistent_load(self, pid: Any) -> Singles:
        """Return the numbers under a key."""
        return np.frombuffer(self._file.read(f"{self._folder}data/{pid[2]}"), "<f4")


def _tensor(numbers: Singles, start: int, shape: Sequence[int], strides: Sequence[int], *_: Any) -> Singles:
    """Return a tensor from its numbers, which lie in C order."""
    if list(strides) != [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]:
        raise pickle.UnpicklingError(f"a tensor {shape} lies in strides {strides}")
    return numbers[start : start + math.prod(shape)].reshape(shape)
