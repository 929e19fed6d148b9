"""Searches while another thread plays on: they never look at a state that is half written."""

import threading

import pytest

import agents
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.multi import GameAECEnv
from mcts_envs.core.contract import ACTIVE, DETERMINIZE, LEGAL, RESET, STATUS, STEP, Game, blank, state_dtype
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import below, draw, seed_stream

SLOW = state_dtype([("first", "u8"), ("between", "u1", 600), ("second", "u8")])


@kernel()
def write_slowly(state):
    """Write one number in both places, the second some milliseconds later."""
    s = record(state, SLOW)
    number = draw(state)
    s.first = number
    for _ in range(3_000_000):
        s.between[below(state, 600)] += 1
    s.second = number


@kernel(RESET)
def reset(state, seed):
    seed_stream(state, seed)
    write_slowly(state)


@kernel(ACTIVE)
def active(state):
    return 1


@kernel(LEGAL)
def legal(state, player, actions):
    actions[0], actions[1] = 0, 1
    return 2


@kernel(STEP)
def step(state, actions, rewards):
    rewards[:] = 0.0
    write_slowly(state)


@kernel(STATUS)
def status(state, player):
    return 0


@kernel(DETERMINIZE)
def determinize(state, player, seed):
    seed_stream(state, seed)
    write_slowly(state)


SLOW_GAME = Game("slow", 1, 2, blank(SLOW), reset, active, legal, step, status, determinize=determinize, layout=SLOW)


class SlowEnv(GameEnv):
    make_game = staticmethod(lambda: SLOW_GAME)


@pytest.mark.parametrize("how", ["step", "reset", "redraw", "aec"])
def test_no_thread_sees_half_a_move(how):
    env = GameAECEnv(SlowEnv) if how == "aec" else SlowEnv()
    env.reset(seed=0)
    change = {"reset": lambda: env.reset(seed=1), "redraw": lambda: env.redraw(2)}.get(how, lambda: env.step(0))
    changing = threading.Thread(target=lambda: [change() for _ in range(5)])
    seen = []
    changing.start()
    while changing.is_alive():
        seen.append(record(env.view().still().state, SLOW))
    changing.join()
    assert seen
    assert all(s.first == s.second for s in seen)


def test_a_search_is_of_a_whole_state():
    env = SlowEnv()
    env.reset(seed=0)
    agent = agents.make("mcts", simulations=1, rollout_depth=1)
    playing = threading.Thread(target=lambda: [env.step(0) for _ in range(20)])
    roots = []
    playing.start()
    while playing.is_alive():
        roots.append(record(agent.search(env).view.state, SLOW))
    playing.join()
    assert roots
    assert all(s.first == s.second for s in roots)
