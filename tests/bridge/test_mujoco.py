"""Worlds that MuJoCo simulates: copies hold all that compiled code does, and go on bit by bit as the original."""

import gc

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import agents
from agents.bridge.copying.copies import Copy
from agents.bridge.copying.digest import digest

mujoco = pytest.importorskip("mujoco")

_BALL = """
<mujoco>
  <option timestep="0.01" density="1.2"/>
  <worldbody>
    <geom type="plane" size="2 2 .1"/>
    <body name="ball" pos="0 0 .3"><freejoint/><geom size=".1" mass=".1"/><site name="middle"/></body>
    <body name="arm" pos="1 0 .5">
      <joint name="turn" axis="0 1 0"/><geom type="capsule" size=".05" fromto="0 0 0 -.9 0 0"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="turn" gear="3"/></actuator>
</mujoco>
"""


class Ball(gym.Env):
    """A ball that an arm hits; it keeps views, as many do, and the wind rises with every step."""

    observation_space = spaces.Box(-np.inf, np.inf, (7,))
    action_space = spaces.Discrete(3)

    def __init__(self):
        self.at_first = None  # before the data in the order of attributes
        self.model = mujoco.MjModel.from_xml_string(_BALL)
        self.data = mujoco.MjData(self.model)
        self.ball = self.data.body("ball")
        self.at_first = self.data.qvel[:3]
        self.arm = self.data.joint("turn").qpos
        self.wind = self.model.opt.wind
        self.camera = mujoco.MjvCamera()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        mujoco.mj_resetData(self.model, self.data)
        self.wind[:] = 0.0
        self.model.body_mass[1] = self.np_random.uniform(0.05, 0.2)
        return self._shown(), {}

    def _shown(self):
        weighs = self.model.body_mass[1:2]  # nothing is hidden
        return np.concatenate([self.ball.xpos, self.at_first[:1], self.arm, self.data.qacc_warmstart[:1], weighs])

    def step(self, action):
        before = float(self.ball.xpos[0])  # derived in the step before this one
        self.data.ctrl[0] = action - 1.0
        self.wind[0] += 0.5
        self.model.body_mass[1] += 0.001
        mujoco.mj_step(self.model, self.data, nstep=3)
        return self._shown(), float(self.ball.xpos[0]) - before, bool(self.ball.xpos[2] < 0.0), False, {}


class Few(gym.ActionWrapper):
    """A handful of actions, drawn once."""

    def __init__(self, env, count=5):
        super().__init__(env)
        box, chance = env.action_space, np.random.default_rng(0)
        self.of = [chance.uniform(box.low, box.high).astype(box.dtype) for _ in range(count)]
        self.action_space = spaces.Discrete(count)

    def action(self, action):
        return self.of[action]


def played(env, actions):
    said = []
    for action in actions:
        seen, reward, ended, cut, info = env.step(action)
        said.append((seen.tobytes(), float(reward), ended, cut, repr(info)))
    data = env.unwrapped.data
    arrays = {name: getattr(data, name) for name in dir(data) if name[0] != "_"}
    return said, data.time, {name: each.tobytes() for name, each in arrays.items() if _lasts(data, each)}


def _lasts(data, array):
    """Say whether an array lies in the data's buffer, and not where each step puts contacts and forces anew."""
    if not isinstance(array, np.ndarray) or not array.size:
        return False
    return 0 <= array.ctypes.data - data.qpos.ctypes.data < data.nbuffer


@pytest.mark.parametrize("name", ["Ball", "InvertedDoublePendulum-v5", "Walker2d-v5", "Ant-v5"])
def test_copies_go_on_bit_by_bit_as_the_original_however_often_they_are_brought_back(name):
    env = Ball() if name == "Ball" else gym.make(name).unwrapped
    env.reset(seed=3)
    env.action_space.seed(0)
    played(env, [env.action_space.sample() for _ in range(20)])
    actions, before = [env.action_space.sample() for _ in range(50)], digest(env)
    copy = Copy(env)
    found = []
    for junk in 0, 7, 30:
        played(copy.env, actions[:junk])
        copy.restore()
        found.append(played(copy.env, actions))
    assert digest(env) == before
    assert [played(env, actions)] * 3 == found


def test_what_an_environment_keeps_of_its_data_and_model_looks_into_those_of_a_copy():
    env = Ball()
    env.reset(seed=0)
    copied = Copy(env).env
    for one, other in (copied, env), (Copy(copied).env, copied):
        assert not np.shares_memory(one.data.qvel, other.data.qvel)
        assert not np.shares_memory(one.model.body_mass, other.model.body_mass)
        assert np.shares_memory(one.at_first, one.data.qvel)
        assert np.shares_memory(one.arm, one.data.qpos)
        assert np.shares_memory(one.wind, one.model.opt.wind)
        assert np.shares_memory(one.ball.xpos, one.data.xpos)


def test_what_each_step_puts_elsewhere_cannot_be_kept():
    env = Ball()
    env.reset(seed=0)
    for _ in range(50):
        env.step(1)
    env.near = env.data.contact.dist
    assert env.near.size
    with pytest.raises(TypeError, match="puts elsewhere in each step, as of contacts; ask the data for it"):
        Copy(env)


def test_the_laws_of_planning_hold():
    for env in Ball(), Few(gym.make("InvertedPendulum-v5")), Few(gym.make("Hopper-v5")):
        env.reset(seed=1)
        report = agents.check_planning(env)
        assert report, report
        assert report["copies"].evidence == "by fast copy"


@pytest.mark.parametrize("name", ["walker-walk", "manipulator-bring_ball"])
def test_what_dm_control_finds_by_name_is_the_copy_s(name):
    pytest.importorskip("dm_control")
    gym.register_envs(pytest.importorskip("shimmy"))
    env = Few(gym.make(f"dm_control/{name}-v0"))
    env.reset(seed=1)
    copied = Copy(env.unwrapped).env
    gc.collect()  # what nothing but the Copy held has gone
    for one, other in (copied, env.unwrapped), (Copy(copied).env, copied):
        mine, others = one._env.physics, other._env.physics
        assert np.shares_memory(np.asarray(mine.named.data.qpos), mine.data.ptr.qpos)
        assert not np.shares_memory(np.asarray(mine.named.data.qpos), others.data.ptr.qpos)
        assert np.shares_memory(mine._warnings, mine.data.warning.number)
        assert not np.shares_memory(mine.named.model.body_mass[:], others.named.model.body_mass[:])
        assert all(np.shape(field[:]) is not None for field in mine.named.data._asdict().values())
    report = agents.check_planning(env)
    assert report, report
    assert report["copies"].evidence == "by fast copy"
