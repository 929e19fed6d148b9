"""The lander of Gymnasium, without wind and with four actions: each step asks for each thing once."""

from math import cos, sin, sqrt
from typing import Any

import numpy as np
from gymnasium.envs.box2d import lunar_lander as original

from agents.bridge.adapters import Adapter
from agents.bridge.shipped.rebound import derived

_step_of_gymnasium: Any = original.LunarLander.step


class Lander(Adapter):
    """Lets copies fly without what a step of the original asks twice, or checks of its action."""

    def hastened(self, kind: Any) -> Any:
        """Return a class with the same steps in the same order of operations."""
        return derived(kind, step=_step) if kind.step is _step_of_gymnasium else kind


def _step(env: Any, action: int) -> Any:
    """Return what ``LunarLander.step`` returns."""
    if env.continuous or env.enable_wind or env.render_mode is not None:
        return _step_of_gymnasium(env, action)
    lander, random, scale, fps = env.lander, env.np_random.random, original.SCALE, original.FPS
    half_width, half_height = original.VIEWPORT_W / scale / 2, original.VIEWPORT_H / scale / 2
    angle = lander.angle
    tip = sin(angle), cos(angle)
    dispersion = (-1.0 + 2.0 * random()) / scale, (-1.0 + 2.0 * random()) / scale
    fires = action in (1, 2, 3)  # an environment of one's own may have more actions
    if fires:
        _fire(lander, action, tip, dispersion)
    env.world.Step(1.0 / fps, 180, 60)
    pos, vel = lander.position, lander.linearVelocity
    x = (pos.x - half_width) / half_width
    y = (pos.y - (env.helipad_y + original.LEG_DOWN / scale)) / half_height
    vx, vy = vel.x * half_width / fps, vel.y * half_height / fps
    angle = lander.angle
    left, right = (1.0 if leg.ground_contact else 0.0 for leg in env.legs)
    shaping = -100 * sqrt(x * x + y * y) - 100 * sqrt(vx * vx + vy * vy) - 100 * abs(angle) + 10 * left + 10 * right
    reward = 0 if env.prev_shaping is None else shaping - env.prev_shaping
    env.prev_shaping = shaping
    if fires:
        reward -= 0.3 if action == 2 else 0.03
    over = env.game_over or abs(x) >= 1.0
    if over:
        reward = -100
    if not lander.awake:
        over, reward = True, 100
    seen = np.array([x, y, vx, vy, angle, 20.0 * lander.angularVelocity / fps, left, right], dtype=np.float32)
    return seen, reward, over, False, {}


def _fire(lander: Any, action: int, tip: tuple[float, float], dispersion: tuple[float, float]) -> None:
    """Fire the main engine, or that on the left or the right."""
    (sine, cosine), (along, across) = tip, dispersion
    pos, scale = lander.position, original.SCALE
    if action == 2:
        reach = original.MAIN_ENGINE_Y_LOCATION / scale + 2 * along
        ox, oy = sine * reach + -cosine * across, -cosine * reach - sine * across
        power, at = original.MAIN_ENGINE_POWER, (pos.x + ox, pos.y + oy)
    else:
        aside = 3 * across + (action - 2) * original.SIDE_ENGINE_AWAY / scale
        ox, oy = sine * along + -cosine * aside, -cosine * along - sine * aside
        power = original.SIDE_ENGINE_POWER
        at = pos.x + ox - sine * 17 / scale, pos.y + oy + cosine * original.SIDE_ENGINE_HEIGHT / scale
    lander.ApplyLinearImpulse((-ox * power, -oy * power), at, True)
