"""Policies with random weights, in states of all games."""

import itertools
import math
from pathlib import Path

import gymnasium as gym
import numpy as np

from agents.learning.saved.network import Layer, Network
from agents.learning.saved.policy import NetworkPolicy, Policy
from mcts_envs.core.rng import choose_among, draw, new_stream

LANES, ROSTER = "LaneDefense3x3-v0", "LaneDefense5x9-v0"
GAMES = [
    *((LANES, {}), (ROSTER, {}), ("LaneDefense10x10-v0", {}), ("WallSurvival-v0", {"board_size": 6})),
    *(("BomberDuel-v0", {}), ("Bomber-v0", {"view": 2}), ("BomberTeam-v0", {"view": 4}), ("Football1-v0", {})),
]


def make(env_id, **settings):
    env = gym.make(f"mcts_envs/{env_id}", **settings)
    env.reset(seed=0)
    return env


def game_of(env_id, **settings):
    return make(env_id, **settings).unwrapped.game


def random_policy(
    seen_in, hidden=(16, 8), activation="tanh", seed=0, outputs="logits", algorithm="maskable_ppo", **about
):
    """Return a policy with random weights."""
    game, rng = seen_in, np.random.default_rng(seed)

    def tower(last):
        sizes = [int(np.prod(game.observation_shape)), *hidden, last]
        return tuple(
            Layer(
                rng.normal(0, 1.5 / math.sqrt(a), (a, b)).astype(np.float32),
                rng.normal(0, 0.3, b).astype(np.float32),
                activation if i < len(hidden) else "identity",
            )
            for i, (a, b) in enumerate(itertools.pairwise(sizes))
        )

    value = tower(1) if outputs == "logits" else ()
    network = Network(tower(game.actions), value, outputs)
    space = {"shape": [*game.observation_shape], "dtype": "float32"}
    return NetworkPolicy(Path("random.npz"), algorithm, network, about={"observation_space": space, **about})


def positions(game, count=40, seed=0):
    """Yield states of a random game, those who choose in them, and their legal actions."""
    stream, state = new_stream(seed), game.new_state()
    actions, rewards = np.zeros(game.players, np.int64), np.zeros(game.players)
    legal, equal = np.zeros(game.actions, np.int64), np.ones(game.actions)
    game.restart(state, seed)
    for _ in range(count):
        to_move = game.active(state)
        if to_move == 0:
            game.restart(state, int(draw(stream) % 1000))
            continue
        for player in range(game.players):
            if to_move >> player & 1:
                k = game.legal(state, player, legal)
                yield state.copy(), player, legal[:k].copy()
                actions[player] = choose_among(stream, equal, legal, k)
        game.step(state, actions, rewards)


def told(policy, game, state, player, legal):
    """Return what a policy in NumPy says of the legal actions, and of the state."""
    seen, mask = np.zeros(int(np.prod(game.observation_shape)), np.float32), np.zeros((1, game.actions), bool)
    game.observe(state, player, seen)
    mask[0, legal] = True
    shown = seen.reshape(1, *policy.observation_shape)
    return policy.probabilities(shown, mask)[0], policy.values(shown, mask)[0]


def statistics(n, **more):
    rng = np.random.default_rng(5)
    observations = {"mean": rng.random(n).tolist(), "var": (0.1 + rng.random(n)).tolist(), "count": 9.0}
    return {"normalization": {"observations": {**observations, "clip": 2.0, "epsilon": 1e-8}, "rewards": None, **more}}


class Elsewhere(Policy):
    """A policy that is asked as it is, and not said in layers."""

    has_probabilities = True
    observation_shape = observation_dtype = action_count = None

    def __init__(self, policy):
        super().__init__(policy.path, policy.algorithm, about=policy.about)
        for name, value in {
            "inner": policy,
            "asked": [],
            "observation_shape": policy.observation_shape,
            "observation_dtype": policy.observation_dtype,
            "action_count": policy.action_count,
        }.items():
            object.__setattr__(self, name, value)

    def actions(self, observations, masks=None):
        return self.inner.actions(observations, masks)

    def probabilities(self, observations, masks=None):
        self.asked.append(len(observations))
        return self.inner.probabilities(observations, masks)

    def values(self, observations, masks=None):
        return self.inner.values(observations, masks)


class OneByOne(Elsewhere):
    """The same, whose numbers are rounded alike in batches of any size."""

    def probabilities(self, observations, masks=None):
        self.asked.append(len(observations))
        return self._each(self.inner.probabilities, observations, masks)

    def values(self, observations, masks=None):
        return self._each(self.inner.values, observations, masks)

    def _each(self, ask, observations, masks):
        rows = range(len(observations))
        return np.concatenate([ask(observations[[i]], None if masks is None else masks[[i]]) for i in rows])


PUCT = {"name": "mcts", "select": "puct", "evaluate": "policy"}
