"""Environments: what the Gymnasium API costs, one by one and batched, and the rules inside compiled code."""

import time
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

import mcts_envs
from mcts_envs.core.compiling.table import TABLE, active_of, legal_of, reset_of, step_of
from mcts_envs.core.contract import BYTES, FLOATS, INTS, types
from mcts_envs.core.cores import cores
from mcts_envs.core.kernel import copy, kernel
from mcts_envs.core.rng import below, draw, new_stream
from speed.figure import Figure, least


class Empty(gym.Env):
    """An environment that does nothing: what Gymnasium itself costs."""

    def __init__(self, size: int, actions: int) -> None:
        self.observation_space = spaces.Box(0, 1, (size,), np.float32)
        self.action_space = spaces.Discrete(actions)
        self._observation = np.zeros(size, np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Return an observation."""
        super().reset(seed=seed)
        return self._observation.copy(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the same observation."""
        return self._observation, 0.0, False, False, {}


def steps(id: str, rounds: int) -> list[Figure]:
    """Measure a step of Gymnasium against an empty one, of a batch against a single one, and of threads against one."""
    env = gym.make(id)
    env.reset(seed=0)
    size, count = env.observation_space.shape[0], int(env.action_space.n)
    spec = gym.envs.registration.EnvSpec("Empty-v0", entry_point=lambda: Empty(size, count))
    empty = gym.make(spec, disable_env_checker=True)
    empty.reset()
    number = cores()
    batch, shared = (mcts_envs.make_vec(id, 1024, threads=threads) for threads in (1, number))
    batch.reset(seed=0), shared.reset(seed=0)
    rows = np.random.default_rng(0).integers(0, count, (20, 1024))
    flat = rows.reshape(-1).tolist()
    inner = env.unwrapped

    def step_only(stepped: gym.Env) -> tuple[int, float]:
        resetting = 0.0
        for action in flat:
            if stepped.step(action)[2]:
                started = time.perf_counter()
                stepped.reset()
                resetting += time.perf_counter() - started
        return len(flat), resetting

    def step_single() -> int:
        for action in flat:
            if env.step(action)[2]:
                env.reset()
        return len(flat)

    def step_batch(stepped: gym.vector.VectorEnv) -> int:
        for row in rows:
            stepped.step(row)
        return rows.size

    def save_and_restore() -> int:
        for _ in flat:
            inner.restore_state(inner.clone_state())
        return len(flat)

    bare, nothing, single, many, several, saved = least(
        rounds,
        lambda: step_only(env),
        lambda: step_only(empty),
        step_single,
        lambda: step_batch(batch),
        lambda: step_batch(shared),
        save_and_restore,
    )
    faster, gain = f"{single / many:.1f} x faster", f"{many / several:.2f} x faster"
    return [
        Figure(f"{id}: step of gym.make", bare, "us", "an empty environment", nothing, f"+{bare - nothing:.2f} us"),
        Figure(f"{id}: clone + restore", saved, "us", "a step", bare, f"{saved / bare:.2f} of it"),
        Figure(f"{id}: 1,024 batched, resets too", many, "us a step", "a single step", single, faster),
        Figure(f"{id}: 1,024 batched, {number} threads", several, "us a step", "one thread", many, gain),
    ]


@kernel(types.int64(TABLE, BYTES, BYTES, INTS, INTS, FLOATS, types.int64))
def play_random_steps(functions, state, stream, legal, actions, rewards, steps):
    """Play uniformly at random, game after game."""
    for _ in range(steps):
        if active_of(functions)(state) == 0:
            reset_of(functions)(state, draw(stream))
        bits = active_of(functions)(state)
        for player in range(actions.shape[0]):
            if bits >> player & 1:
                actions[player] = legal[below(stream, legal_of(functions)(state, player, legal))]
        step_of(functions)(state, actions, rewards)
    return steps


@kernel(types.int64(BYTES, BYTES, types.int64))
def copy_states(target, source, copies):
    """Copy a state there and back."""
    for _ in range(copies):
        copy(target, source)
        source[0] = target[0] ^ np.uint8(0)
        copy(source, target)
    return 2 * copies


def rules(id: str, rounds: int) -> list[Figure]:
    """Measure random play inside compiled code against the same play through Gymnasium."""
    env = gym.make(id).unwrapped
    env.reset(seed=0)
    game, stream = env.game, new_stream(0)
    state = game.new_state()
    game.reset(state, 0)
    work = np.zeros(game.actions, np.int64), np.zeros(game.players, np.int64), np.zeros(game.players)
    rng = np.random.default_rng(0)

    def gymnasium() -> int:
        for _ in range(2_000):
            if env.step(int(rng.choice(env.legal_actions())))[2]:
                env.reset()
        return 2_000

    other = game.new_state()
    inside, outside, copied = least(
        rounds,
        lambda: play_random_steps(game.table, state, stream, *work, 200_000),
        gymnasium,
        lambda: copy_states(other, state, 100_000),
    )
    what, times = f"{id}: random play, compiled", f"{outside / inside:.0f} x faster"
    copies = Figure(
        f"{id}: copies, compiled", 1 / copied, "M/s", "random steps", 1 / inside, f"{inside / copied:.1f} x"
    )
    return [Figure(what, 1 / inside, "M steps/s", "the same through Gymnasium", 1 / outside, times), copies]
