"""Acrobot of Gymnasium: steps of five numbers, for which NumPy's arrays are slow."""

from typing import Any

import numpy as np
from gymnasium.envs.classic_control.acrobot import AcrobotEnv

from agents.bridge.adapters import Adapter
from agents.bridge.shipped.rebound import derived, rebound

_OWN = "step", "_dsdt"
_G, _RIGHT = 9.8, np.pi / 2.0


class Acrobot(Adapter):
    """Lets copies be integrated in numbers of Python."""

    def hastened(self, kind: Any) -> Any:
        """Return a class with the same steps in the same order of operations; sines are still NumPy's."""
        if any(getattr(kind, name) is not getattr(AcrobotEnv, name) for name in _OWN):
            return kind
        return derived(kind, step=rebound(AcrobotEnv.step, np=_Lists, rk4=_rk4), _dsdt=_slopes)


class _Lists:
    """What a step wants of NumPy."""

    @staticmethod
    def append(state: Any, torque: float) -> list[float]:
        return [*map(float, state), float(torque)]


def _rk4(derivs: Any, y0: list[float], t: Any) -> Any:
    """Return the state after a step of Runge and Kutta's method of fourth order, as Acrobot's function of the name."""
    dt = t[1] - t[0]
    half, sixth = dt / 2.0, dt / 6.0
    k1 = derivs(y0)
    k2 = derivs([y + half * k for y, k in zip(y0, k1, strict=True)])
    k3 = derivs([y + half * k for y, k in zip(y0, k2, strict=True)])
    k4 = derivs([y + dt * k for y, k in zip(y0, k3, strict=True)])
    slopes = zip(y0, k1, k2, k3, k4, strict=True)
    return np.array([y + sixth * (a + 2 * b + 2 * c + d) for y, a, b, c, d in slopes][:4])


def _slopes(env: Any, state: Any) -> tuple[float, ...]:
    """Return what ``AcrobotEnv._dsdt`` returns, in which each sine is taken once."""
    m1, m2, l1, inertia = env.LINK_MASS_1, env.LINK_MASS_2, env.LINK_LENGTH_1, env.LINK_MOI
    lc1, lc2 = env.LINK_COM_POS_1, env.LINK_COM_POS_2
    theta1, theta2, dtheta1, dtheta2, torque = state
    sine, cosine = float(np.sin(theta2)), float(np.cos(theta2))
    d1 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * cosine) + inertia + inertia
    d2 = m2 * (lc2**2 + l1 * lc2 * cosine) + inertia
    phi2 = m2 * lc2 * _G * float(np.cos(theta1 + theta2 - _RIGHT))
    phi1 = -m2 * l1 * lc2 * dtheta2**2 * sine - 2 * m2 * l1 * lc2 * dtheta2 * dtheta1 * sine
    phi1 = phi1 + (m1 * lc1 + m2 * l1) * _G * float(np.cos(theta1 - _RIGHT)) + phi2
    wanted = torque + d2 / d1 * phi1
    if env.book_or_nips != "nips":
        wanted -= m2 * l1 * lc2 * dtheta1**2 * sine
    ddtheta2 = (wanted - phi2) / (m2 * lc2**2 + inertia - d2**2 / d1)
    return dtheta1, dtheta2, -(d2 * ddtheta2 + phi1) / d1, ddtheta2, 0.0
