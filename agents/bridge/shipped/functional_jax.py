"""Functions of JAX in Gymnasium's API: the state is a value that no step changes, with a key of chance beside it."""

from typing import Any

from agents.bridge.adapters import Adapter


class Functional(Adapter):
    """Brings a copy of Gymnasium's ``FunctionalJaxEnv`` back by its state, and draws its key anew."""

    state, chance = "state", "rng"

    def copy(self, env: Any) -> Any:
        """Return the state and the key."""
        return getattr(env, self.state), getattr(env, self.chance)

    def restore(self, env: Any, snapshot: Any) -> None:
        """Take a state and a key over."""
        for name, value in zip((self.state, self.chance), snapshot, strict=True):
            setattr(env, name, value)

    def generators(self, env: Any) -> list[Any]:
        """Return what seeds the key."""
        return [_Key(env, self.chance)]

    def key(self, env: Any) -> Any:
        """Return the state without the key."""
        return getattr(env, self.state)


class Gymnax(Functional):
    """The same of ``GymnaxToGymWrapper``."""

    state, chance = "env_state", "key"


class _Key:
    """The key of chance of an environment."""

    def __init__(self, env: Any, name: str) -> None:
        self._env, self._name = env, name

    def seed(self, seed: int) -> None:
        """Draw the key anew."""
        import jax  # the environment has imported it

        setattr(self._env, self._name, jax.random.fold_in(getattr(self._env, self._name), seed))
