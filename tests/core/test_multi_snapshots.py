"""Snapshots of the PettingZoo APIs: at any moment, without chance, into another game, damaged."""

import copy
import pickle

import pytest
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from mcts_envs.core.api.multi import GameAECEnv, parallel
from tests.core.several import choice, facts, long_stakes, next_action, same
from tests.toys import TOYS, Stakes, TicTacToe, Tron


def checked_everywhere(env, seed):
    """Play an episode, then bring back each of its moments in another environment and play on."""
    env.reset(seed=seed)
    moments, actions = [facts(env)], []
    while env.agents:
        actions.append(next_action(env))
        env.step(actions[-1])
        moments.append(facts(env))
    other = copy.deepcopy(env)
    for start in reversed(range(len(moments))):
        snapshot = pickle.loads(pickle.dumps(moments[start]["snapshot"]))
        assert hash(snapshot) == hash(moments[start]["snapshot"])
        other.restore_state(snapshot)
        assert same(facts(other), moments[start])
        for action, moment in list(zip(actions[start:], moments[start + 1 :], strict=True))[:12]:
            other.step(action)
            assert same(facts(other), moment)
    return moments


def test_snapshots_in_turns():
    checked_everywhere(GameAECEnv(TicTacToe), 0)


def test_snapshots_with_a_pending_choice():
    moments = checked_everywhere(GameAECEnv(Tron), 1)
    waiting = [moment for moment in moments if moment["agent_selection"] == "player_1" and moment["agents"]]
    assert any(moment["snapshot"].face.chosen != (-1, -1) for moment in waiting)


def test_snapshots_after_a_player_died():
    moments = checked_everywhere(GameAECEnv(Stakes, goal=12), long_stakes())
    assert any(len(moment["agents"]) == 2 and not any(moment["terminations"].values()) for moment in moments)
    dead = [m for m in moments if m["agents"] and m["terminations"][m["agent_selection"]]]
    assert dead
    assert all("outcome" in moment["infos"][moment["agent_selection"]] for moment in dead)


@pytest.mark.parametrize("toy", TOYS)
def test_parallel_snapshots(toy):
    env = parallel(toy)
    inner = env.unwrapped

    def advance():
        return env.step({a: choice(inner.view(a)) if len(inner.legal_actions(a)) else 0 for a in env.agents})

    env.reset(seed=4)
    advance()
    snapshot = inner.clone_state()
    histories = []
    for _ in range(2):
        inner.restore_state(snapshot)
        histories.append([])
        while env.agents:
            histories[-1].append(advance())
    assert len(histories[0]) > 1
    assert same(*histories)


@pytest.mark.parametrize("toy", TOYS)
def test_copies(toy):
    env = GameAECEnv(toy)
    assert not copy.deepcopy(env).agents
    env.reset(seed=5)
    env.step(next_action(env))
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert same(facts(twin), facts(env))
        twin.step(next_action(twin))
        assert not same(facts(twin), facts(env))
    both = parallel(toy)
    both.reset(seed=5)
    assert same(copy.deepcopy(both).unwrapped.clone_state(), both.unwrapped.clone_state())


@pytest.mark.parametrize("toy", TOYS)
def test_agents_of_a_parallel_environment_are_those_of_the_game(toy):
    env, fresh = parallel(toy), parallel(toy)
    assert env.agents == []
    env.reset(seed=4)
    begun = env.unwrapped.clone_state()
    while env.agents:
        env.step(dict.fromkeys(env.agents, 0))
    over = env.unwrapped.clone_state()
    fresh.unwrapped.restore_state(begun)
    assert fresh.agents == fresh.possible_agents
    assert fresh.step(dict.fromkeys(fresh.agents, 0))[0]
    for other in (fresh, copy.deepcopy(fresh)):
        other.reset(seed=1)
        other.unwrapped.restore_state(over)
        assert other.agents == []


def test_a_conversion_of_pettingzoo_itself_goes_on_after_restoring():
    env = turn_based_aec_to_parallel(GameAECEnv(TicTacToe))
    env.reset(seed=4)
    env.step(dict.fromkeys(env.agents, 0))
    begun = env.unwrapped.clone_state()
    while env.agents:
        env.step({env.aec_env.agent_selection: next_action(env.aec_env)})
    env.unwrapped.restore_state(begun)
    assert env.agents == env.possible_agents


@pytest.mark.parametrize("make", [GameAECEnv, parallel])
def test_copies_into_another_game_are_refused(make):
    env = make(Tron, size=8)
    env.reset(seed=0)
    env._arguments["size"] = 6
    with pytest.raises(ValueError, match=r"the copied state is of tron:.* and this environment is tron:"):
        copy.deepcopy(env)


def test_damaged_snapshots_are_refused():
    env, both = GameAECEnv(Tron), parallel(Tron)
    for face in (env, both):
        face.reset(seed=0)
    env.step(0)
    before, good = env.clone_state(), env.clone_state()
    turn = good.face
    faces = [turn._replace(rewards=()), turn._replace(chosen=(0,)), turn._replace(agents=("player_0", "player_7"))]
    faces += [turn._replace(events=None), turn._replace(agents=turn.agents[:1])]
    for bad in (*(good._replace(face=face) for face in faces), good._replace(state=good.state[8:])):
        with pytest.raises(
            ValueError, match=r"the snapshot is damaged: its (face|state) has .*; take it anew by clone"
        ):
            env.restore_state(bad)
        assert env.clone_state() == before
    before = both.clone_state()
    for bad in (before._replace(face=(1,)), before._replace(state=before.state + b"0")):
        with pytest.raises(ValueError, match="the snapshot is damaged"):
            both.restore_state(bad)
        assert both.clone_state() == before


@pytest.mark.parametrize("make", [GameAECEnv, parallel])
def test_snapshot_without_chance_drops_forced_dice(make):
    env = make(Stakes).unwrapped
    env.reset(seed=0)
    bare = env.clone_state(include_rng=False)
    env.reset(options={"position": {"chips": [4, 4, 4], "turn": 0, "dice": [1, 2, 3]}})
    env.restore_state(bare)
    assert "dice" not in env.position()


def test_snapshot_without_chance_keeps_the_running_stream():
    env = GameAECEnv(Stakes)
    env.reset(seed=0)
    bare, full = env.clone_state(include_rng=False), env.clone_state()
    assert bare != full
    assert not any(bare.state[:32])
    ends = set()
    for seed in range(8):
        env.reset(seed=seed)
        stream = env.clone_state().state[:32]
        env.restore_state(bare)
        assert env.clone_state().state[:32] == stream[:8] + bytes(24)
        assert env.clone_state().state[32:] == full.state[32:]
        env.step(0)
        ends.add(tuple(env.position()["chips"]))
    assert len(ends) == 2
    fresh = GameAECEnv(Stakes)
    fresh.restore_state(bare)
    assert any(fresh.clone_state().state[:8])
    assert fresh.clone_state().state[32:] == full.state[32:]


def test_snapshots_of_others_are_refused():
    env = GameAECEnv(Tron, size=8)
    env.reset(seed=0)
    env.step(next_action(env))
    before = facts(env)
    others = {"tron:": GameAECEnv(Tron, size=9), "stakes": GameAECEnv(Stakes), "another kind": parallel(Tron, size=8)}
    others["kind of API"] = Tron(size=8)
    for text, other in others.items():
        other.reset(seed=0)
        with pytest.raises(ValueError, match=text):
            env.restore_state(other.clone_state())
    with pytest.raises(TypeError, match="cannot restore dict; pass what clone_state"):
        env.restore_state({})
    with pytest.raises(ValueError, match="kind of API"):
        others["another kind"].restore_state(env.clone_state())
    with pytest.raises(ValueError, match="kind of API"):
        others["kind of API"].restore_state(env.clone_state())
    assert same(facts(env), before)
