"""Jumanji through its wrapper for Gymnasium: the state is a value that no step changes, with a key of chance in it."""

from dataclasses import replace
from typing import Any

from agents.bridge.adapters import Adapter


class Jumanji(Adapter):
    """Brings a copy back by its state, and draws the key in it anew."""

    def copy(self, env: Any) -> Any:
        """Return the state."""
        return env._state

    def restore(self, env: Any, snapshot: Any) -> None:
        """Take a state over."""
        env._state = snapshot

    def generators(self, env: Any) -> list[Any]:
        """Return what seeds the key of chance, where there is one."""
        return [_Key(env)] if hasattr(env._state, "key") else []

    def key(self, env: Any) -> Any:
        """Return all of the state but the key."""
        return {name: value for name, value in vars(env._state).items() if name != "key"}


class _Key:
    """The key of chance in the state of an environment."""

    def __init__(self, env: Any) -> None:
        self._env = env

    def seed(self, seed: int) -> None:
        """Draw the key anew."""
        import jax  # the environment has imported it

        state = self._env._state
        self._env._state = replace(state, key=jax.random.fold_in(state.key, seed))
