"""Stable-Baselines3 as its own scripts have it: VecNormalize and EvalCallback; the policy plays, alone and searching.

python examples/pipelines/sb3_script.py --steps 200000
"""

import argparse
from pathlib import Path

import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.vec_env import VecNormalize

import agents
import mcts_envs
from agents.learning.loading import load_policy
from mcts_envs.registry import find


def main():
    """Train, keep the best policy, and the last with its statistics, which then plays, alone and in the search."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--id", default="LaneDefense3x3-v0")
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--out", type=Path, default=Path("runs/sb3"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    env = VecNormalize(mcts_envs.make_sb3_vec_env(given.id, 32, seed=0), norm_obs=False)
    watched = VecNormalize(mcts_envs.make_sb3_vec_env(given.id, 32, seed=10_000), norm_obs=False, norm_reward=False)
    best = EvalCallback(watched, best_model_save_path=str(given.out), eval_freq=160, n_eval_episodes=64)
    model = PPO("MlpPolicy", env, n_steps=64, batch_size=512, ent_coef=0.01, learning_rate=1e-3, seed=0, device="cpu")
    model.learn(given.steps, callback=best)
    model.save(given.out / "last")
    env.save(given.out / "vecnormalize.pkl")

    game, last = gymnasium.make(find(given.id).id), given.out / "last.zip"
    game.reset(seed=1)
    name = game.unwrapped.game.action_name
    print("the policy plays", name(agents.make(f"sb3:{last}", normalization="auto").act(game)))
    statistics = load_policy(last, normalization="auto")
    print("in the search it plays", name(agents.make("gumbel", policy=statistics, simulations=32).act(game)))


if __name__ == "__main__":
    main()
