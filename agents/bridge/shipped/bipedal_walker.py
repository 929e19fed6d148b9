"""The walker of Gymnasium: what earlier episodes left in its world decides how rounding goes."""

from typing import Any

from agents.bridge.adapters import Adapter
from agents.bridge.copying.box2d import renewed


class BipedalWalker(Adapter):
    """Gives each episode its own world, as the lunar lander's has."""

    def renew(self, env: Any) -> None:
        """Walk in a new world: contacts in one where others were before come in another order."""
        env._destroy()
        env.world = renewed(env.world)
