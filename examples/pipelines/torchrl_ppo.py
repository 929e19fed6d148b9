"""PPO with action masks by TorchRL (``pip install torchrl``): ``python examples/pipelines/torchrl_ppo.py 200000``."""

import sys

import torch
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.data import Binary, LazyTensorStorage, SamplerWithoutReplacement, TensorDictReplayBuffer
from torchrl.envs import ActionMask, GymEnv, SerialEnv, TransformedEnv
from torchrl.envs.libs.gym import default_info_dict_reader
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import mcts_envs  # noqa: F401  # registers the ids

steps, games, rollout = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000, 16, 64


def make(env_id="mcts_envs/LaneDefense3x3-v0"):
    """Make an environment whose mask stands in the tensordict, where ActionMask and the policy find it."""
    env = GymEnv(env_id, categorical_action_encoding=True)
    n = env.action_spec.space.n
    reader = default_info_dict_reader(["action_mask"], spec={"action_mask": Binary(n, shape=(n,), dtype=torch.bool)})
    env.set_info_dict_reader(reader)
    return TransformedEnv(env, ActionMask())


env = SerialEnv(games, make)
torch.manual_seed(env.set_seed(0))
inputs, actions = env.observation_spec["observation"].shape[-1], env.action_spec.space.n
policy, value = (
    torch.nn.Sequential(torch.nn.Linear(inputs, 64), torch.nn.Tanh(), torch.nn.Linear(64, outputs))
    for outputs in (actions, 1)
)
actor = ProbabilisticActor(
    TensorDictModule(policy, ["observation"], ["logits"]),
    in_keys={"logits": "logits", "mask": "action_mask"},
    distribution_class=MaskedCategorical,
    return_log_prob=True,
)
critic = ValueOperator(value, in_keys=["observation"])
advantages, loss_of = GAE(gamma=0.99, lmbda=0.95, value_network=critic), ClipPPOLoss(actor, critic, entropy_coeff=0.01)
optimizer = torch.optim.Adam(loss_of.parameters(), 1e-3)
shuffled = TensorDictReplayBuffer(
    storage=LazyTensorStorage(games * rollout), sampler=SamplerWithoutReplacement(), batch_size=256
)
for data in Collector(env, actor, frames_per_batch=games * rollout, total_frames=steps):
    data["next", "reward"] /= 50
    for _ in range(4):
        advantages(data)
        shuffled.extend(data.flatten(0, 1))
        for part in shuffled:
            found = loss_of(part)
            optimizer.zero_grad()
            (found["loss_objective"] + found["loss_critic"] + found["loss_entropy"]).backward()
            optimizer.step()
    won = data["next", "reward"][data["next", "done"]] > 0
    print(f"{won.float().mean():.1%} of the last {len(won)} games won")
