"""One policy for all players of a PettingZoo game, by SB3, no SuperSuit: ``pettingzoo_sb3.py BomberDuel-v0 300000``."""

import sys

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

import mcts_envs


class Shared(VecEnv):
    """A parallel environment as a batch with a place for each player; who is out waits for the next game."""

    def __init__(self, env):
        self.env, self.names, name = env, env.possible_agents, env.possible_agents[0]
        super().__init__(len(self.names), env.observation_space(name), env.action_space(name))
        self.unseen = np.zeros(self.observation_space.shape, np.float32)
        self.idle, self.free = np.eye(1, self.action_space.n, dtype=np.int8)[0], np.ones(self.action_space.n, np.int8)

    def _seen(self, observations, infos):
        told = {name: infos.get(name, {}).get("action_mask", self.free) for name in self.env.agents}
        self.masks = [told[name] if name in told and told[name].any() else self.idle for name in self.names]
        return np.stack([observations.get(name, self.unseen) for name in self.names])

    def reset(self):
        seed, self._seeds = self._seeds[0], [None] * self.num_envs
        return self._seen(*self.env.reset(seed=seed))

    def step_async(self, actions):
        self.actions = {name: int(a) for name, a in zip(self.names, actions, strict=True) if name in self.env.agents}

    def step_wait(self):
        observations, rewards, *ends, infos = self.env.step(self.actions)
        dones = np.array([any(end.get(name, False) for end in ends) for name in self.names])
        seen = self._seen(observations, infos) if self.env.agents else self.reset()
        paid = np.array([rewards.get(name, 0.0) for name in self.names], np.float32)
        return seen, paid, dones, [infos.get(name, {}) for name in self.names]

    def env_method(self, name, *arguments, indices=None, **options):
        return self.masks  # sb3-contrib asks for nothing but action_masks

    def get_attr(self, name, indices=None):
        return [getattr(self.env, name, None)] * self.num_envs

    def env_is_wrapped(self, wrapper, indices=None):
        return [False] * self.num_envs

    def set_attr(self, name, value, indices=None):
        setattr(self.env, name, value)

    def close(self):
        self.env.close()


if __name__ == "__main__":
    batch = VecMonitor(Shared(mcts_envs.make_parallel(sys.argv[1], action_mask="info")))
    model = MaskablePPO("MlpPolicy", batch, n_steps=256, batch_size=256, seed=0, verbose=1, device="cpu")
    model.learn(int(sys.argv[2])).save("runs/pettingzoo")
