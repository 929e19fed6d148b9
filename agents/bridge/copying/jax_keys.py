"""Keys of JAX that an environment keeps, as others keep a generator: found, and drawn anew."""

import functools
import re
import sys
from typing import Any

import numpy as np

from agents.bridge.copying.chance import successor
from agents.bridge.copying.classes import KINDS, module_of

_NAMED = re.compile(r"_*((prng|rng|random|jax|env|step|reset)_)?(key|rng|prng|seed)")
"""What a plain key is called: two numbers without a sign that are called otherwise may be anything."""

_LARGE = 2**16
"""A plain key has larger numbers once it is split; where a key to a door lies, say, has not."""


@functools.lru_cache(KINDS)
def is_of_jax(kind: type) -> bool:
    """Say whether objects of a class are arrays, or keys, of JAX."""
    return module_of(kind).startswith(("jax.", "jaxlib."))


@functools.lru_cache(KINDS)
def are_keys(kind: type) -> bool:
    """Say whether objects of a class are typed keys, one or an array of them."""
    return is_of_jax(kind) and kind.__name__ == "PRNGKeyArray"


def is_key(name: Any, value: Any) -> bool:
    """Say whether what is kept by a name is a key, typed or plain: chance to come follows from it."""
    kind: Any = type(value)
    if are_keys(kind):
        return bool(value.shape == ())
    if not is_of_jax(kind) or getattr(value, "shape", None) != (2,) or value.dtype != np.uint32:
        return False
    return isinstance(name, str) and _NAMED.fullmatch(name) is not None and int(np.asarray(value).max()) >= _LARGE


def drawn_anew(key: Any, seed: int) -> Any:
    """Return another key like this one, which follows from a seed alone."""
    random, numpy = sys.modules["jax"].random, sys.modules["jax"].numpy
    kind: Any = type(key)
    typed = are_keys(kind)
    numbers = []
    for _ in range(random.key_data(key).size if typed else key.size):
        seed = successor(seed)
        numbers.append(seed >> 32)
    made = numpy.asarray(np.array(numbers, np.uint32))
    return random.wrap_key_data(made, impl=random.key_impl(key)) if typed else made
