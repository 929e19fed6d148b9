"""A first look at a game: in plain Python before it is compiled, with the same outcome."""

import itertools
import json
import os
import sys
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from numba import types
from numba.core.errors import NumbaError

import agents
import mcts_envs
from mcts_envs.core.compiling import early
from mcts_envs.core.compiling.signatures import BYTES
from mcts_envs.core.contract import ACTIVE, STEP
from mcts_envs.core.kernel import kernel
from tests.core.processes import python

GAMES = [
    ("LaneDefense3x3-v0", {}),
    ("LaneDefense5x9-v0", {}),
    ("WallSurvival-v0", {"opponent": "scripted"}),
    ("Bomber-v0", {"opponent": "rule_based"}),
    ("Football3-v0", {"opponent": "random_types"}),
]


def played(id: str, steps: int, **settings) -> list:
    """Return all that can be seen of a game in which a random and a scripted player choose in turn."""
    env = gymnasium.make(f"mcts_envs/{id}", render_mode="ansi", **settings).unwrapped
    players = agents.make("random", seed=1), agents.make("scripted", seed=2)
    seen, info = env.reset(seed=5)
    story = []
    for step in range(steps):
        story.append([seen.tolist(), info["action_mask"].tolist(), env.position()])
        action = players[step % 2].act(env)
        seen, reward, ended, cut, info = env.step(action)
        story.append([action, reward, ended, cut, info.get("outcome"), env.render()])
        if ended or cut:
            seen, info = env.reset()
    kept = env.clone_state()
    env.redraw(3)
    env.restore_state(kept)
    return json.loads(json.dumps([*story, kept.state.hex()], default=str))


def in_turn(id: str, steps: int) -> list:
    """Return what the agents of a PettingZoo environment see, where the first legal action is played."""
    env = mcts_envs.make_aec(id)
    env.reset(seed=5)
    story = []
    for _ in range(steps):
        seen, reward, ended, cut, _info = env.last()
        story.append([seen["observation"].tolist(), seen["action_mask"].tolist(), reward, ended, cut])
        env.step(None if ended or cut else int(seen["action_mask"].argmax()))
        if not env.agents:
            env.reset(seed=6)
    return json.loads(json.dumps(story))


def told(code: str) -> list:
    """Return what a process of its own prints as JSON, which finds no machine code until ``compiled()``."""
    before = """
import json
from mcts_envs.core.compiling import cache, early
from tests.core.test_early import *
kept, cache.KernelCache.load_machine = cache.KernelCache.load_machine, lambda *_: None
early.SECONDS = 1e9
def compiled():
    cache.KernelCache.load_machine = kept
    early.compile_at_once()
"""
    return json.loads(python(before + code))


def test_all_comes_out_as_in_compiled_code_and_nothing_is_compiled(tmp_path, monkeypatch):
    shown = [played(id, 12, **given) for id, given in GAMES], in_turn("Football3-v0", 8)
    monkeypatch.setenv("MCTS_ENVS_CACHE_DIR", str(tmp_path))
    alone, turns = told(
        "print(json.dumps([[played(id, 12, **given) for id, given in GAMES], in_turn('Football3-v0', 8)]))"
    )
    assert not [*tmp_path.rglob("*.kernel")]
    assert alone == shown[0]
    assert turns == shown[1]


def test_an_episode_goes_on_compiled_when_the_first_look_is_over():
    """With the machine code that this machine keeps, so that the test need not wait for it."""
    code = """
env = gymnasium.make("mcts_envs/Football3-v0").unwrapped
env.reset(seed=5)
story = []
for step in range(20):
    if step == 10:
        story.append(env.game.step.made)
        compiled()
    story.append(env.step(int(env.legal_actions()[-1]))[1])
story.append(env.game.step.made)
env.reset()
story.append(early.is_early(env._table))
batch = mcts_envs.make_vec("Football3-v0", num_envs=2)
story.append(batch.reset(seed=5)[0].shape[0])
print(json.dumps(story))
"""
    env = gymnasium.make("mcts_envs/Football3-v0").unwrapped
    env.reset(seed=5)
    paid = [env.step(int(env.legal_actions()[-1]))[1] for _ in range(20)]
    assert told(code) == [*paid[:10], False, *paid[10:], True, False, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked")
def test_a_process_that_is_forked_while_a_thread_compiles_waits_for_nobody():
    code = """
import os, signal, threading, time
from mcts_envs.core.compiling.dispatcher import global_compiler_lock
held = threading.Event()
def compiles():
    with global_compiler_lock:
        held.set()
        time.sleep(0.3)
threading.Thread(target=compiles).start()
held.wait()
if (child := os.fork()) == 0:
    signal.alarm(20)  # it ends a child that waits
    with global_compiler_lock:
        os._exit(7)
print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
"""
    assert told(code) == 7


@pytest.mark.slow
def test_a_batch_is_compiled_from_the_first_step_on():
    code = """
cache.KernelCache.load_machine = kept
batch = mcts_envs.make_vec("LaneDefense3x3-v0", num_envs=2)
batch.reset(seed=5)
print(json.dumps([batch.game.step.made, batch.step(batch.action_space.sample() * 0)[1].tolist()]))
"""
    batch = mcts_envs.make_vec("LaneDefense3x3-v0", num_envs=2)
    batch.reset(seed=5)
    assert told(code) == [True, batch.step(np.zeros(2, np.int64))[1].tolist()]


def test_what_is_broken_off_has_changed_nothing():
    def broken(state, actions, rewards):
        state[:] = 1
        raise KeyboardInterrupt

    state = np.zeros(8, np.uint8)
    with pytest.raises(KeyboardInterrupt):
        early.in_python(SimpleNamespace(plain=broken, declared=STEP))(state, np.zeros(1, np.int64), np.zeros(1))
    assert not state.any()


def ends_before(moment: int, call, *given) -> bool:
    """Say whether a function ends before Ctrl-C interrupts it, at a moment counted in its own instructions."""
    moments = itertools.count()

    def interrupt(_frame, event, _):
        if event == "opcode" and next(moments) == moment:
            raise KeyboardInterrupt
        return interrupt

    def called(frame, _event, _):
        frame.f_trace_opcodes = frame.f_code is call.__code__
        return interrupt if frame.f_trace_opcodes else None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        call(*given)
    except KeyboardInterrupt:
        return False
    finally:
        sys.settrace(before)
    return True


def test_ctrl_c_at_any_moment_leaves_the_states_of_a_call_as_before_or_as_after():
    def both(state, stream):
        state[0] = stream[0] = 1

    play = early.in_python(SimpleNamespace(plain=both, declared=types.void(BYTES, BYTES)))
    found = set()
    for moment in itertools.count():
        state, stream = np.zeros((2, 8), np.uint8)
        ended = ends_before(moment, play, state, stream)
        found.add((int(state[0]), int(stream[0])))
        if ended:
            break
    assert found == {(0, 0), (1, 1)}


def test_what_only_looks_undoes_nothing_that_another_thread_does_meanwhile():
    live = np.zeros(8, np.uint8)

    def looks(state):
        live[0] = 1  # as a step in another thread does
        return int(state[0])

    assert early.in_python(SimpleNamespace(plain=looks, declared=ACTIVE))(live) == 0
    assert live[0] == 1


def test_what_is_legal_is_looked_at_anew_where_a_step_is_broken_off():
    code = """
env = gymnasium.make("mcts_envs/LaneDefense3x3-v0").unwrapped
env.reset(seed=5)
def broken(*_):
    raise KeyboardInterrupt
plain, env.game.observe.plain = env.game.observe.plain, broken
try:
    env.step(int(env.legal_actions()[-1]))
except KeyboardInterrupt:
    env.game.observe.plain = plain
print(json.dumps([env.legal_actions().tolist(), env.view().legal_actions().tolist()]))
"""
    known, right = told(code)
    assert known == right


def test_time_in_plain_python_runs_out(monkeypatch):
    slow = SimpleNamespace(plain=lambda state: 1, declared=ACTIVE, __module__="mcts_envs.games.slow")
    monkeypatch.setattr(early, "_spent", 0.0)
    monkeypatch.setattr(early, "SECONDS", 1e-9)
    assert early.serves(slow)
    assert early.in_python(slow)(np.zeros(8, np.uint8)) == 1
    assert not early.serves(slow)


def test_arguments_that_compiled_code_refuses_are_refused_before_it_is_there_and_numbers_are_taken_alike():
    code = """
game = mcts_envs.make_aec("Football3-v0").unwrapped.game
state, seen = game.new_state(), np.zeros(game.observation_shape, np.float32).reshape(-1)
game.reset(state, np.uint64(5))
def refused(*given):
    try:
        return game.step(*given)
    except TypeError as error:
        return str(error)[:38]
def tried():
    game.observe(state, np.uint64(1), seen)
    two = np.zeros(2, np.int64)
    return [
        refused(state, two, two),
        refused(state, [0, 0], np.zeros(2)),
        refused(bytes(state), two, np.zeros(2)),
        game.legal(state, np.int8(1), np.zeros(game.actions, np.int64)),
        game.active(state=state),
        seen.tolist(),
    ]
before = tried()
compiled()
print(json.dumps([before, tried()]))
"""
    before, afterwards = told(code)
    assert before == afterwards
    assert before[:3] == ["No matching definition for argument ty"] * 3


def test_a_game_of_ones_own_shows_at_once_whether_it_compiles(monkeypatch):
    @kernel(ACTIVE)
    def active(state):
        return undefined  # noqa: F821

    monkeypatch.setattr(early, "_spent", 0.0)
    with pytest.raises(NumbaError, match="undefined"):
        active(np.zeros(8, np.uint8))
