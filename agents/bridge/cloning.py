"""Copies of environments that save and restore their own state."""

from typing import Any

from gymnasium.utils import EzPickle

from agents.bridge.copying import Copy


class Clone:
    """A copy of an environment that saves and restores its own state.

    It has ``clone_state(include_rng=False)`` and ``restore_state(snapshot)``: snapshots without the random stream, in
    place of which the running one goes on. So the copy's stream runs on from simulation to simulation.

    Parameters
    ----------
    source : object
        The environment.

    Attributes
    ----------
    env : object
        Another environment in the same state.

    Raises
    ------
    TypeError
        If no other environment like it can be made.
    """

    def __init__(self, source: Any) -> None:
        self._snapshot = source.clone_state(include_rng=False)
        self._seeded = False
        self.env = _twin(source)
        self.restore()

    def restore(self) -> None:
        """Bring the copy back to where it was made."""
        self.env.restore_state(self._snapshot)

    def seed(self, seed: int) -> None:
        """Start the random stream of the copy, the first time."""
        if not self._seeded:
            self.env.reset(seed=seed >> 33)
            self.restore()
            self._seeded = True


def offers_clones(env: Any) -> bool:
    """Say whether an environment saves and restores its own state."""
    return callable(getattr(env, "clone_state", None)) and callable(getattr(env, "restore_state", None))


def _twin(source: Any) -> Any:
    """Return another environment like this one, in whatever state."""
    try:
        return Copy(source).env
    except TypeError:
        if not isinstance(source, EzPickle):
            raise
    twin: Any = type(source)(*source._ezpickle_args, **{**source._ezpickle_kwargs, "render_mode": None})
    twin.reset(seed=0)
    return twin


def copy_of(env: Any) -> Copy | Clone:
    """Return a copy of an environment by the best means that it offers."""
    return Clone(env) if offers_clones(env) else Copy(env)
