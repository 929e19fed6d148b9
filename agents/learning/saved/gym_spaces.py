"""Files of Stable-Baselines3 before 2.0, whose pickled spaces are those of Gym, from which Gymnasium came."""

import importlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_MODULES = (
    *("gym", "gym.spaces", "gym.spaces.space", "gym.spaces.box", "gym.spaces.discrete", "gym.spaces.dict"),
    *("gym.spaces.multi_binary", "gym.spaces.multi_discrete", "gym.spaces.tuple", "gym.utils", "gym.utils.seeding"),
)

_one_reads = threading.RLock()
"""The modules are those of all threads."""


@contextmanager
def unpickled_as_gymnasium(content: bytes) -> Iterator[None]:
    """Let the spaces of Gym in a pickle become those of Gymnasium, which reads what Gym's were made of.

    Gym need not be there, and is not touched where it is; pickles without its spaces are read as ever.
    """
    if b"gym.spaces" not in content:
        yield
        return
    ours = {name: importlib.import_module(name.replace("gym", "gymnasium", 1)) for name in _MODULES}
    with _one_reads:
        theirs = {name: sys.modules[name] for name in ours if name in sys.modules}
        sys.modules.update(ours)
        try:
            yield
        finally:
            for name in ours:
                del sys.modules[name]
            sys.modules.update(theirs)
