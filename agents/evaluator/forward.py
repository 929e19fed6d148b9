"""The forward pass of a small network for one observation, in single precision.

Dense layers run over the inputs that are not 0, four at a time, so that sparse observations, which boards are, cost
less. The same network in NumPy is :class:`agents.learning.saved.network.Network`.
"""

from typing import Any

import numpy as np
from numba import types

from agents.evaluator.memory import array_at
from agents.search.records import record_type
from mcts_envs.core.api.batch import SINGLE_ROWS
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.typing import Singles

IDENTITY, RELU, TANH = range(3)
ACTIVATIONS = {"identity": IDENTITY, "relu": RELU, "tanh": TANH}

LAYER = record_type(source="i8", inputs="i8", target="i8", outputs="i8", weights="i8", activation="i8")
"""A dense layer: where its inputs and outputs lie in the room of the pass, how many they are, and the address of its
weights [1 + inputs, outputs], of which row 0 is the bias."""

PASS = record_type(
    layers="i8", count="i8", inputs="i8", length="i8", normalized="i8", shift="i8", factor="i8", bound="f8"
)
"""A forward pass: the address of its layers and how many they are, how many inputs it has, and how many numbers inputs
and outputs of all layers are; then, if inputs are ``normalized``, the addresses of what is subtracted from them and of
what they are multiplied by, and the bound of the result."""

_P = (0.99999997, 0.134381902, 0.00356415496, 2.17732268e-05, 1.5061784e-08)
_Q = (1.0, 0.467715109, 0.0261360112, 0.000339917749, 8.45365113e-07)
_P0, _P1, _P2, _P3, _P4 = (np.float32(p) for p in _P)
_Q0, _Q1, _Q2, _Q3, _Q4 = (np.float32(q) for q in _Q)
_BOUND = np.float32(8.0)

_0, _1, _2, _3, _4 = (np.uint64(i) for i in range(5))  # unsigned: Numba need not ask whether an index is negative
_ZERO = np.float32(0.0)


@kernel()
def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent as a quotient of polynomials in x, at most 4e-7 from it."""
    x = min(max(x, -_BOUND), _BOUND)
    s = x * x
    return x * (_P0 + s * (_P1 + s * (_P2 + s * (_P3 + s * _P4)))) / (_Q0 + s * (_Q1 + s * (_Q2 + s * (_Q3 + s * _Q4))))


@kernel()
def _activate(out: Any, n: Any, activation: int) -> None:
    if activation == RELU:
        for j in range(n):
            out[j] = max(out[j], _ZERO)
    elif activation == TANH:
        for j in range(n):
            out[j] = tanh(out[j])


@kernel()
def _nonzero(given: Any, inputs: Any, listed: Any) -> Any:
    """List the inputs that are not 0, and return how many they are."""
    count = _0
    for i in range(inputs):
        listed[count] = i
        if given[i] != _ZERO:
            count += _1
    return count


@kernel()
def _dense(layer: Any, numbers: int, listed: Any) -> None:
    """Run a layer on what lies from an address on."""
    n, inputs = np.uint64(layer.outputs), np.uint64(layer.inputs)
    given = array_at(numbers + 4 * layer.source, layer.inputs, np.float32)
    out = array_at(numbers + 4 * layer.target, layer.outputs, np.float32)
    weights = array_at(layer.weights, (layer.inputs + 1) * layer.outputs, np.float32)
    for j in range(n):
        out[j] = weights[j]
    count, i = _nonzero(given, inputs, listed), _0
    while i + _4 <= count:
        a, b = np.uint64(listed[i]), np.uint64(listed[i + _1])
        c, d = np.uint64(listed[i + _2]), np.uint64(listed[i + _3])
        x, y, z, w = given[a], given[b], given[c], given[d]
        a, b, c, d = (a + _1) * n, (b + _1) * n, (c + _1) * n, (d + _1) * n
        for j in range(n):
            out[j] += x * weights[a + j] + y * weights[b + j] + z * weights[c + j] + w * weights[d + j]
        i += _4
    while i < count:
        a = np.uint64(listed[i])
        x, a = given[a], (a + _1) * n
        for j in range(n):
            out[j] += x * weights[a + j]
        i += _1
    _activate(out, n, layer.activation)


@kernel(types.void(types.int64, types.int64))
def forward(network: int, numbers: int) -> None:
    """Run a pass.

    Parameters
    ----------
    network : address of a record PASS
    numbers : address
        Of the observation, which is normalised in place; the outputs of the layers follow it, and then there is room
        for as many numbers again.
    """
    net = row(network, 0, PASS)
    given = array_at(numbers, net.inputs, np.float32)
    if net.normalized:
        shift = array_at(net.shift, net.inputs, np.float64)
        factor = array_at(net.factor, net.inputs, np.float64)
        for i in range(np.uint64(net.inputs)):
            given[i] = min(max((np.float64(given[i]) - shift[i]) * factor[i], -net.bound), net.bound)
    listed = array_at(numbers + 4 * net.length, net.length, np.int32)
    for i in range(net.count):
        _dense(row(net.layers, i, LAYER), numbers, listed)


@kernel(types.void(types.int64, types.int64, SINGLE_ROWS, types.int64, SINGLE_ROWS))
def forward_all(network: int, numbers: int, observations: Singles, at: int, found: Singles) -> None:
    """Run a pass for each of some observations [n, inputs].

    Parameters
    ----------
    network, numbers : address
        As for :func:`forward`.
    observations : float32 array [n, inputs]
    at : int
        Where the outputs that are wanted begin in the room of the pass.
    found : float32 array [n, outputs]
        Is filled in with them.
    """
    given = array_at(numbers, observations.shape[1], np.float32)
    wanted = array_at(numbers + 4 * at, found.shape[1], np.float32)
    for k in range(observations.shape[0]):
        for i in range(observations.shape[1]):
            given[i] = observations[k, i]
        forward(network, numbers)
        for j in range(found.shape[1]):
            found[k, j] = wanted[j]
