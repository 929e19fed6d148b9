"""The lander of Gymnasium, without wind and with four actions: each step asks for each thing once."""

from math import cos, sin, sqrt
from typing import Any

import numpy as np
from gymnasium.envs.box2d.lunar_lander import (
    FPS,
    LEG_DOWN,
    MAIN_ENGINE_POWER,
    MAIN_ENGINE_Y_LOCATION,
    SCALE,
    SIDE_ENGINE_AWAY,
    SIDE_ENGINE_HEIGHT,
    SIDE_ENGINE_POWER,
    VIEWPORT_H,
    VIEWPORT_W,
    LunarLander,
)

from agents.bridge.adapters import Adapter
from agents.bridge.shipped.rebound import derived

_step_of_gymnasium: Any = LunarLander.step
_HALF_WIDTH, _HALF_HEIGHT = VIEWPORT_W / SCALE / 2, VIEWPORT_H / SCALE / 2


class Lander(Adapter):
    """Lets copies fly without what a step of the original asks twice, or checks of its action."""

    def hastened(self, kind: Any) -> Any:
        """Return a class with the same steps in the same order of operations."""
        return derived(kind, step=_step) if kind.step is _step_of_gymnasium else kind


def _step(env: Any, action: int) -> Any:
    """Return what ``LunarLander.step`` returns."""
    if env.continuous or env.enable_wind or env.render_mode is not None:
        return _step_of_gymnasium(env, action)
    lander, random = env.lander, env.np_random.random
    angle = lander.angle
    tip = sin(angle), cos(angle)
    dispersion = (-1.0 + 2.0 * random()) / SCALE, (-1.0 + 2.0 * random()) / SCALE
    if action:
        _fire(lander, action, tip, dispersion)
    env.world.Step(1.0 / FPS, 180, 60)
    pos, vel = lander.position, lander.linearVelocity
    x = (pos.x - _HALF_WIDTH) / _HALF_WIDTH
    y = (pos.y - (env.helipad_y + LEG_DOWN / SCALE)) / _HALF_HEIGHT
    vx, vy = vel.x * _HALF_WIDTH / FPS, vel.y * _HALF_HEIGHT / FPS
    angle = lander.angle
    left, right = (1.0 if leg.ground_contact else 0.0 for leg in env.legs)
    shaping = -100 * sqrt(x * x + y * y) - 100 * sqrt(vx * vx + vy * vy) - 100 * abs(angle) + 10 * left + 10 * right
    reward = 0 if env.prev_shaping is None else shaping - env.prev_shaping
    env.prev_shaping = shaping
    if action:
        reward -= 0.3 if action == 2 else 0.03
    over = env.game_over or abs(x) >= 1.0
    if over:
        reward = -100
    if not lander.awake:
        over, reward = True, 100
    seen = np.array([x, y, vx, vy, angle, 20.0 * lander.angularVelocity / FPS, left, right], dtype=np.float32)
    return seen, reward, over, False, {}


def _fire(lander: Any, action: int, tip: tuple[float, float], dispersion: tuple[float, float]) -> None:
    """Fire the main engine, or that on the left or the right."""
    (sine, cosine), (along, across) = tip, dispersion
    pos = lander.position
    if action == 2:
        reach = MAIN_ENGINE_Y_LOCATION / SCALE + 2 * along
        ox, oy = sine * reach + -cosine * across, -cosine * reach - sine * across
        power, at = MAIN_ENGINE_POWER, (pos.x + ox, pos.y + oy)
    else:
        aside = 3 * across + (action - 2) * SIDE_ENGINE_AWAY / SCALE
        ox, oy = sine * along + -cosine * aside, -cosine * along - sine * aside
        power = SIDE_ENGINE_POWER
        at = pos.x + ox - sine * 17 / SCALE, pos.y + oy + cosine * SIDE_ENGINE_HEIGHT / SCALE
    lander.ApplyLinearImpulse((-ox * power, -oy * power), at, True)
