"""Environments in the dress of another API, or with other actions than planners take: they are told what to do."""

from typing import ClassVar

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from sb3_contrib import MaskablePPO
from sb3_contrib.common.wrappers import ActionMasker

import agents
from agents import bridge


class Takes(AECEnv):
    """Two take one or two of four stones, in turn; who is not to move may do nothing."""

    metadata, possible_agents = {"name": "takes_v0", "is_parallelizable": False}, ["a", "b"]
    render_mode = None

    def action_space(self, agent):
        return spaces.Discrete(2)

    def observation_space(self, agent):
        return spaces.Dict({"observation": spaces.Discrete(5), "action_mask": spaces.Box(0, 1, (2,), np.int8)})

    def observe(self, agent):
        return {"observation": self.left, "action_mask": np.full(2, agent == self.agent_selection, np.int8)}

    def reset(self, seed=None, options=None):
        self.agents, self.agent_selection, self.left = ["a", "b"], "a", 4
        self.rewards, self._cumulative_rewards = (dict.fromkeys("ab", 0.0) for _ in range(2))
        self.terminations, self.truncations = (dict.fromkeys("ab", False) for _ in range(2))
        self.infos = {"a": {}, "b": {}}

    def step(self, action):
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self.left = max(0, self.left - 1 - action)
        self.rewards = dict.fromkeys("ab", 0.0)
        if not self.left:
            self.rewards[self.agent_selection] = 1.0
            self.terminations = dict.fromkeys("ab", True)
        self.agent_selection = "b" if self.agent_selection == "a" else "a"
        self._accumulate_rewards()


@pytest.mark.parametrize("kept", [False, True])
def test_turns_in_the_dress_of_choices_at_once(kept):
    env = turn_based_aec_to_parallel(Takes())
    env = agents.remember(env) if kept else env
    env.reset(seed=1)
    planner = agents.make("mcts", simulations=200)
    with pytest.raises(TypeError, match=r"asks all for an action and takes that of one; plan in .* its aec_env"):
        planner.search(bridge.view(env, "a"))
    if not kept:
        assert planner.search(env.aec_env).action == 0  # three are left, and lose


class TakesAtOnce(Takes):
    """Says that both choose at once, which they do not."""

    metadata: ClassVar = {"name": "takes_v0", "is_parallelizable": True}


class Unmasked(TakesAtOnce):
    def observation_space(self, agent):
        return spaces.Discrete(5)

    def observe(self, agent):
        return self.left


def test_turns_that_are_said_to_be_choices_at_once():
    planner = agents.make("mcts", simulations=20)
    (masked := TakesAtOnce()).reset(seed=1)
    with pytest.raises(TypeError, match=r"allows none of 2 .*'is_parallelizable'\]=False if agents take turns"):
        planner.search(masked)
    (env := Unmasked()).reset(seed=1)
    with pytest.warns(UserWarning, match="but b is shown what a has chosen: say False there if they take turns"):
        planner.search(env)
    assert (env.left, env.agent_selection) == (4, "a")


_TWO, _THREE = spaces.Discrete(2), spaces.Discrete(3)


@pytest.mark.parametrize(
    ("actions", "most"),
    [
        (spaces.MultiDiscrete([2, 3]), 2),
        (spaces.MultiDiscrete([2, 3], start=[1, 0]), 4),
        (spaces.Tuple((_TWO, _THREE)), 2),
        (spaces.Tuple((_TWO, spaces.Discrete(3, start=1))), 3),  # of a sudoku, say
        (spaces.Dict(x=_TWO, y=_THREE), 2),
    ],
)
def test_other_actions_are_told_what_makes_them_discrete(actions, most):
    class Buttons(gym.Env):
        action_space, observation_space = actions, spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.t = 0
            return 0, {}

        def step(self, action):
            self.t += self.action_space.contains(action)
            x, y = action.values() if isinstance(action, dict) else action
            return self.t % 2, float(x * y), self.t == 2, False, {}

    env = Buttons()
    env.reset(seed=0)
    with pytest.raises(TypeError, match="TransformAction") as told:
        agents.make("mcts").search(env)
    env.action_space = spaces.Box(-1.0, 1.0, (8,))
    with pytest.raises(TypeError, match=r"makes bins \*\* 8 actions, or in an ActionWrapper that offers a few"):
        agents.make("mcts").search(env)
    env = Buttons()
    env.reset(seed=0)
    cure = str(told.value).partition("wrap it in ")[2]
    env = eval(cure, {"gymnasium": gym, "numpy": np, "spaces": spaces, "env": env})  # word for word
    result = agents.make("mcts", simulations=400, seed=0).search(env)
    assert result.action == 5
    assert result.values[5] == pytest.approx(2 * most, rel=0.13)


class Strict(gym.Env):
    """Counts to 9 by one to three, never twice by the same; says what may be done to who asks by name."""

    observation_space, action_space = spaces.Box(0, 12, (2,), np.float32), spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.sum, self.last = 0, 0
        return np.zeros(2, np.float32), {}

    def allowed(self):
        return np.arange(3) != self.last

    def step(self, action):
        assert self.allowed()[action]
        self.sum, self.last = self.sum + int(action) + 1, int(action)
        return np.array([self.sum, self.last], np.float32), float(self.sum == 9), self.sum >= 9, False, {}


def masking(env):
    return ActionMasker(env, lambda env: env.unwrapped.allowed())


def backwards(env):
    return gym.wrappers.TransformAction(env, lambda action: 2 - action, spaces.Discrete(3))


@pytest.mark.parametrize(
    ("around", "first"),
    [((masking,), 0), ((masking, backwards), 2), ((backwards, backwards, masking), 0), ((bridge.Remember, masking), 0)],
)
@pytest.mark.filterwarnings("error")
def test_a_wrapper_that_says_what_is_legal_is_asked_of_every_copy(around, first):
    env = Strict()
    for wrap in around:
        env = wrap(env)
    env.reset(seed=0)
    result = agents.make("mcts", simulations=60, seed=0).search(env)
    assert result.visits[first] == 0 < min(np.delete(result.visits, first))
    assert agents.make("random").act(env) != first


def test_what_is_legal_is_what_the_outermost_says():
    class Open(Strict):
        action_masks = Strict.allowed

    env = ActionMasker(Open(), lambda env: env.action_masks() & (np.arange(3) < 2))
    env.reset(seed=0)
    result = agents.make("mcts", simulations=60, seed=0).search(env)
    assert result.visits.tolist() == [0, 60, 0]


@pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")
def test_a_policy_with_masks_is_given_those_of_the_wrapper_of_its_training(tmp_path):
    model = MaskablePPO("MlpPolicy", masking(Strict()), seed=0, device="cpu", n_steps=8, batch_size=8)
    model.policy.action_net.bias.data[:] = model.policy.action_net.bias.new_tensor([5.0, 0.0, -5.0])
    model.save(tmp_path / "strict.zip")
    env = agents.remember(masking(Strict()))
    env.reset(seed=0)
    played, over = [], False
    while not over:
        played.append(agents.make(f"sb3:{tmp_path / 'strict.zip'}").act(env))
        over = env.step(played[-1])[2]
    assert played[:4] == [1, 0, 1, 0]
