"""Which algorithm made a zip of Stable-Baselines3, as far as the zip says: read without unpickling anything."""

import json
import zipfile
from pathlib import Path

_RECURRENT = "sb3_contrib.common.recurrent.policies"
_BY_MODULE = {
    "sb3_contrib.common.maskable.policies": "maskable_ppo",
    "sb3_contrib.qrdqn.policies": "qrdqn",
    _RECURRENT: "recurrent_ppo",
    "stable_baselines3.dqn.policies": "dqn",
}
_CONTINUOUS = {
    "stable_baselines3.sac.policies": "SAC",
    "stable_baselines3.td3.policies": "TD3 or DDPG",
    "sb3_contrib.crossq.policies": "CrossQ",
    "sb3_contrib.tqc.policies": "TQC",
}
_UNREAD = {
    "sbx.": "was saved by SBX, whose networks are JAX's and not read here",
    "sb3_contrib.ars.": "is a policy of ARS, which is not read here",
}
_ACTOR_CRITICS = "stable_baselines3.common.policies"
_BY_BUFFER = {
    "stable_baselines3.common.buffers": _ACTOR_CRITICS,
    "sb3_contrib.common.maskable.buffers": "sb3_contrib.common.maskable.policies",
}
"""The policies that go with each module's rollout buffers: these tell of a policy class of somebody's own."""


def algorithm_in(path: Path) -> str | None:
    """Return the name of the algorithm; None if the zip does not say.

    Raises
    ------
    ValueError
        If its actions are continuous, or its network is not read here.
    """
    try:
        with zipfile.ZipFile(path) as file:
            said = json.loads(file.read("data"))
        module = said["policy_class"]["__module__"]
        if not module.startswith((*_UNREAD,)) and module not in {*_BY_MODULE, *_CONTINUOUS, _ACTOR_CRITICS}:
            buffer = said["rollout_buffer_class"]
            module = _BY_BUFFER.get(buffer["__module__"], module) if buffer else _RECURRENT  # RecurrentPPO names none
    except (AttributeError, KeyError, OSError, RecursionError, TypeError, ValueError, zipfile.BadZipFile):
        return None
    if module in _CONTINUOUS:
        raise ValueError(
            f"{path} is a policy of {_CONTINUOUS[module]}, for continuous actions; those of games are Discrete: train "
            "one of PPO or DQN, of continuous actions in gymnasium.wrappers.DiscretizeAction(env, bins)"
        )
    for start, what in _UNREAD.items():
        if module.startswith(start):
            raise ValueError(
                f"{path} {what}; load it there, and let an agent of your own play it (docs/own_agent.md), or a search "
                "ask it by a function (docs/policies.md)"
            )
    if module != _ACTOR_CRITICS:
        return _BY_MODULE.get(module)
    return "trpo" if "cg_max_steps" in said else "ppo" if "clip_range" in said else "a2c"
