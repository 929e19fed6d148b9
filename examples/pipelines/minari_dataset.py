"""A Minari data set for offline learning, written from the games that a comparison recorded, and read back.

pip install "minari[hdf5]"
python scripts/compare.py LaneDefense3x3-v0 --agents best --episodes 50 --record --out results/recorded
python examples/pipelines/minari_dataset.py LaneDefense3x3-v0 results/recorded lane/best-v0
"""

import sys
from itertools import groupby
from pathlib import Path

import gymnasium
import minari
import numpy as np
from minari.data_collector import EpisodeBuffer

from agents.arena.storage import read_transitions
from mcts_envs.registry import find


def write(id, folder, name):
    """Write the recorded games of one agent, in a game for one, as a data set of this name, which must be new."""
    env = gymnasium.make(find(id).id)

    def seen(position):
        return env.reset(options={"position": position})[0].copy()

    episodes, last = [], {}
    games = groupby(read_transitions(Path(folder), 10**9), lambda move: (move["agent"], move["episode"]))
    for (agent, number), group in games:
        if agent != last.get("agent", agent):
            raise ValueError(f"{folder} has games of {last['agent']} and of {agent}: record one agent in a comparison")
        moves = list(group)
        last, shown = moves[-1], [seen(move["state"]) for move in moves]
        episodes.append(
            EpisodeBuffer(
                id=number,
                observations=np.stack([*shown, shown[-1]]),  # a position is none where the game is over
                actions=np.array([move["action"] for move in moves]),
                rewards=[move["reward"] for move in moves],
                terminations=[move["terminated"] for move in moves],
                truncations=[move["truncated"] for move in moves],
            )
        )
    return minari.create_dataset_from_buffers(
        name,
        episodes,
        env=env,
        algorithm_name=str(last["agent"]),
        description=f"Games of {last['agent']}; the last observation of a game is the one before its end.",
    )


if __name__ == "__main__":
    write(*sys.argv[1:4])
    dataset = minari.load_dataset(sys.argv[3])
    returns = [episode.rewards.sum() for episode in dataset.iterate_episodes()]
    print(f"{dataset.total_episodes} games, {dataset.total_steps} steps, mean return {np.mean(returns):.1f}")
