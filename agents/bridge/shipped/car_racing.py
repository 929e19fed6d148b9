"""Car racing of Gymnasium: a picture takes thirty times as long as the physics of a step."""

from typing import Any

import numpy as np

from agents.bridge.adapters import Adapter
from agents.bridge.copying.box2d import renewed

_NOTHING = np.zeros((96, 96, 3), np.uint8)
_NOTHING.flags.writeable = False


class CarRacing(Adapter):
    """Lets simulations step without pictures, draws one where it is looked at, and gives each race its own world."""

    def draws(self, env: Any, whether: bool) -> None:
        """Say whether steps draw."""
        vars(env).pop("_render", None)
        if not whether:
            env._render = lambda mode: _NOTHING

    def observe(self, env: Any, agent: None) -> Any:
        """Return the picture of what is."""
        return type(env)._render(env, "state_pixels")

    def renew(self, env: Any) -> None:
        """Race in a new world: contacts in one where others were before come in another order."""
        env._destroy()
        env.world = renewed(env.world)
