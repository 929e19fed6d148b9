"""PPO with action masks in one file, as CleanRL writes it: ``python examples/pipelines/cleanrl_ppo.py 500000``."""

import sys

import numpy as np
import torch
from torch.distributions import Categorical

import mcts_envs

steps, games, rollout, gamma, lam = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000, 64, 64, 0.99, 0.95
torch.manual_seed(0)
torch.set_num_threads(1)
envs = mcts_envs.make_vec("LaneDefense3x3-v0", games, autoreset_mode="SameStep")
n, actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
actor, critic = (
    torch.nn.Sequential(torch.nn.Linear(n, 64), torch.nn.Tanh(), torch.nn.Linear(64, outputs))
    for outputs in (actions, 1)
)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], 1e-3, eps=1e-5)


first, infos = envs.reset(seed=0)
observations, masks, won = torch.as_tensor(first), torch.as_tensor(infos["action_mask"]), []
for update in range(1, max(1, steps // (games * rollout)) + 1):
    seen = {name: [] for name in ("observation", "mask", "action", "logp", "value", "reward", "done")}
    for _ in range(rollout):
        with torch.no_grad():
            distribution = Categorical(logits=actor(observations).masked_fill(masks == 0, -1e8))
            action, value = distribution.sample(), critic(observations)[:, 0]
        after, reward, terminated, truncated, infos = envs.step(action.numpy())
        row = observations, masks, action, distribution.log_prob(action), value
        row += torch.as_tensor(reward / 50).float(), torch.as_tensor(terminated | truncated).float()
        for name, each in zip(seen, row, strict=True):
            seen[name].append(each.clone())
        if "final_info" in infos:
            won += infos["final_info"]["is_success"][infos["final_info"]["_is_success"]].tolist()
        observations, masks = torch.as_tensor(after.copy()), torch.as_tensor(infos["action_mask"].copy())
    data = {name: torch.stack(each) for name, each in seen.items()}
    advantages, last, following = torch.zeros(rollout, games), 0.0, critic(observations)[:, 0].detach()
    for t in reversed(range(rollout)):
        goes_on = 1.0 - data["done"][t]
        last = data["reward"][t] + gamma * goes_on * following - data["value"][t] + gamma * lam * goes_on * last
        advantages[t], following = last, data["value"][t]
    data |= {"advantage": advantages, "return": advantages + data["value"]}
    flat = {name: each.flatten(0, 1) for name, each in data.items()}
    for rows in np.array_split(np.random.default_rng(update).permutation(4 * rollout * games) % (rollout * games), 16):
        part = {name: each[rows] for name, each in flat.items()}
        distribution = Categorical(logits=actor(part["observation"]).masked_fill(part["mask"] == 0, -1e8))
        gain = (part["advantage"] - part["advantage"].mean()) / (part["advantage"].std() + 1e-8)
        ratio = (distribution.log_prob(part["action"]) - part["logp"]).exp()
        surrogate = torch.min(gain * ratio, gain * ratio.clamp(0.8, 1.2)).mean() + 0.01 * distribution.entropy().mean()
        loss = 0.5 * (critic(part["observation"])[:, 0] - part["return"]).square().mean() - surrogate
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
        optimizer.step()
print(f"{update * games * rollout:,} steps; won {np.mean(won[-500:]):.1%} of the last {len(won[-500:])} games")
