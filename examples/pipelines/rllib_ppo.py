"""PPO with action masks by RLlib, ``python examples/pipelines/rllib_ppo.py ITERATIONS``.

In an environment of its own, since RLlib pins Gymnasium: ``pip install "ray[rllib]" torch==2.13.0``, then this package.
"""

import sys

import gymnasium
import numpy as np
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import mcts_envs  # noqa: F401  # registers the ids


class Masked(gymnasium.Wrapper):
    """Shows the mask beside the observation, as RLlib's module wants it."""

    def __init__(self, env):
        super().__init__(env)
        mask = gymnasium.spaces.Box(0.0, 1.0, (env.action_space.n,), np.float32)
        self.observation_space = gymnasium.spaces.Dict({"observations": env.observation_space, "action_mask": mask})

    def _shown(self, observation, info):
        return {"observations": observation, "action_mask": info["action_mask"].astype(np.float32)}

    def reset(self, *, seed=None, options=None):
        """Start a game."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._shown(observation, info), info

    def step(self, action):
        """Make a step; rewards between -2 and 2 suit PPO better than hundreds."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._shown(observation, info), reward / 50, terminated, truncated, info


register_env("lanes", lambda settings: Masked(gymnasium.make("mcts_envs/LaneDefense3x3-v0", **settings)))
module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"head_fcnet_hiddens": [64, 64]})
config = (
    PPOConfig()
    .environment("lanes")
    .env_runners(num_env_runners=0, num_envs_per_env_runner=16)
    .training(train_batch_size_per_learner=4096, minibatch_size=512, num_epochs=4, lr=1e-3, gamma=0.99)
    .rl_module(rl_module_spec=module)
    .debugging(seed=0)
)
algorithm = config.build_algo()
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 30):
    found = algorithm.train()["env_runners"]
    print(f"{found['num_env_steps_sampled_lifetime']:,.0f} steps; mean return {50 * found['episode_return_mean']:.1f}")
algorithm.stop()
