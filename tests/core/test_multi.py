"""The PettingZoo faces: PettingZoo's own tests, snapshots at any moment, and agreement with the other faces."""

import copy
import pickle
import warnings
import zlib
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.utils.conversions import aec_to_parallel, parallel_to_aec

import agents
import mcts_envs
from mcts_envs.core.check import check_game
from mcts_envs.core.multi import GameAECEnv, GameParallelEnv, parallel
from mcts_envs.core.rng import draw
from mcts_envs.core.view import View
from tests.toys import TOYS, Stakes, TicTacToe, Tron

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the module imports an environment of PettingZoo in a way that it deprecates
    from pettingzoo.test import (
        api_test,
        max_cycles_test,
        parallel_api_test,
        parallel_seed_test,
        render_test,
        seed_test,
        state_test,
    )

# PettingZoo's test knows by name which of its own environments may show a dictionary, and warns about all others.
about_dictionaries = [
    pytest.mark.filterwarnings(f"ignore:{message}")
    for message in (
        "Observation is not a NumPy array",
        "Observation space for each agent probably should be",
        r"Action mask numpy array is all zeros \(no legal actions\)",
    )
]


def with_filters(function):
    for mark in about_dictionaries:
        function = mark(function)
    return function


def choice(view):
    """A fixed policy: the same legal action for the same state and player."""
    legal = view.legal_actions()
    return int(legal[zlib.crc32(view.state.tobytes() + bytes([view.player])) % len(legal)])


def next_action(env):
    agent = env.agent_selection
    return None if env.terminations[agent] or env.truncations[agent] else choice(env.view())


def facts(env):
    """All that an AEC environment tells."""
    return {
        "agents": list(env.agents),
        "agent_selection": env.agent_selection,
        "rewards": {agent: float(reward) for agent, reward in env.rewards.items()},
        "cumulative_rewards": {agent: float(reward) for agent, reward in env._cumulative_rewards.items()},
        "terminations": dict(env.terminations),
        "truncations": dict(env.truncations),
        "infos": copy.deepcopy(env.infos),
        "observations": {agent: env.observe(agent) for agent in env.possible_agents},
        "state": env.state(),
        "snapshot": env.clone_state(),
    }


def same(one, other):
    return data_equivalence(one, other, exact=True)


def long_stakes():
    """Return a seed with which a player drops out long before the end."""
    for seed in range(200):
        env = GameAECEnv(Stakes, goal=12)
        env.reset(seed=seed)
        while env.agents:
            alone = len(env.agents) == 2 and not any(env.terminations.values())
            env.step(next_action(env))
            if alone and len(env.agents) == 2:
                return seed
    raise AssertionError("no such seed")


@pytest.mark.parametrize("toy", TOYS)
class TestPettingZooTests:
    @with_filters
    def test_aec(self, toy):
        api_test(GameAECEnv(toy), num_cycles=300)
        api_test(GameAECEnv(toy, illegal="raise"), num_cycles=300)
        seed_test(lambda: GameAECEnv(toy), num_cycles=100)

    def test_bare_observations_give_no_warning_to_ignore(self, toy):
        api_test(GameAECEnv(toy, action_mask="info"), num_cycles=300)
        seed_test(lambda: GameAECEnv(toy, action_mask="info"), num_cycles=100)
        parallel_api_test(parallel(toy, action_mask="info"), num_cycles=300)
        parallel_seed_test(lambda: parallel(toy, action_mask="info"), num_cycles=100)

    def test_parallel(self, toy):
        parallel_api_test(parallel(toy), num_cycles=300)
        parallel_seed_test(lambda: parallel(toy), num_cycles=100)

    def test_state(self, toy):
        state_test(GameAECEnv(toy), parallel(toy))

    def test_render(self, toy, monkeypatch):
        pytest.importorskip("pygame")
        monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
        render_test(lambda **more: GameAECEnv(toy, **more))


@pytest.mark.parametrize("toy", TOYS)
def test_toys_keep_the_laws(toy):
    check_game(toy, faces=False)


def test_max_cycles():
    module = SimpleNamespace(
        parallel_env=lambda max_cycles: parallel(Tron, size=20, max_steps=max_cycles),
        env=lambda max_cycles: GameAECEnv(Tron, size=20, max_steps=max_cycles),
    )
    max_cycles_test(module)


def test_faces_of_a_game():
    assert isinstance(parallel(Tron), GameParallelEnv)
    turns = parallel(TicTacToe)
    assert isinstance(turns.unwrapped, GameAECEnv)
    env = GameAECEnv(Tron, size=6)
    assert str(env) == "tron"
    assert env.metadata["is_parallelizable"]
    assert not turns.metadata["is_parallelizable"]
    assert env.possible_agents == ["player_0", "player_1"]
    env.reset(seed=0)
    assert set(env.observe("player_0")) == {"observation", "action_mask"}
    assert env.observation_space("player_0") is env.observation_space("player_0")
    assert env.observation_space("player_0")["action_mask"].dtype == np.int8
    assert env.action_space("player_0") is not env.action_space("player_1")
    assert not np.shares_memory(env.observe("player_0")["observation"], env.observe("player_0")["observation"])
    assert env.infos["player_0"]["action_mask"].tolist() == env.observe("player_0")["action_mask"].tolist()
    square = GameAECEnv(TicTacToe, observation="square")
    square.reset(seed=0)
    assert square.observe("player_1")["observation"].shape == (3, 3, 3)


@pytest.mark.parametrize("toy", TOYS)
def test_bare_observations_are_those_of_the_dictionaries(toy):
    usual, bare = parallel(toy), parallel(toy, action_mask="info")
    agent = bare.possible_agents[0]
    assert isinstance(bare.observation_space(agent), gymnasium.spaces.Box)
    assert bare.observation_space(agent) == usual.observation_space(agent)["observation"]
    (shown, told), (alone, infos) = usual.reset(seed=3), bare.reset(seed=3)
    while bare.agents:
        assert same({agent: each["observation"] for agent, each in shown.items()}, alone)
        assert same(told, infos)
        actions = {agent: int(infos[agent]["action_mask"].argmax()) for agent in bare.agents}
        shown, _, _, _, told = usual.step(actions)
        alone, _, _, _, infos = bare.step(actions)
    assert bare.step({}) == ({}, {}, {}, {}, {})  # SuperSuit's black_death ends by it
    again = pickle.loads(pickle.dumps(bare))
    assert again.observation_space(agent) == bare.observation_space(agent)
    with pytest.raises(ValueError, match="unknown place of the action mask 'infos'; did you mean 'info'"):
        parallel(toy, action_mask="infos")


# Snapshots


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
    others = {"tron:": GameAECEnv(Tron, size=9), "stakes": GameAECEnv(Stakes), "_Turn": parallel(Tron, size=8)}
    others["kind of face"] = Tron(size=8)
    for text, other in others.items():
        other.reset(seed=0)
        with pytest.raises(ValueError, match=text):
            env.restore_state(other.clone_state())
    with pytest.raises(TypeError, match="cannot restore dict; pass what clone_state"):
        env.restore_state({})
    with pytest.raises(ValueError, match="kind of face"):
        others["_Turn"].restore_state(env.clone_state())
    with pytest.raises(ValueError, match="kind of face"):
        others["kind of face"].restore_state(env.clone_state())
    assert same(facts(env), before)


# Agreement between the faces


class Fixed:
    """The fixed policy as an opponent."""

    def act(self, env):
        return choice(env.unwrapped.view())

    def reseed(self, seed):
        pass


def aec_record(env, seed):
    """Play the fixed policy; return what each agent was told at each of its turns."""
    env.reset(seed=seed)
    told = {agent: [] for agent in env.possible_agents}
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        told[agent].append((observation["observation"], reward, terminated, truncated, info))
        env.step(next_action(env))
    return told


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("toy", "settings"), [(TicTacToe, {}), (Tron, {"max_steps": 5}), (Stakes, {"max_steps": 9})])
def test_gymnasium_face_agrees(toy, settings, seed):
    told = aec_record(GameAECEnv(toy, **settings), seed)
    for seat, turns in enumerate(told.values()):
        env = toy(seat=seat, opponent=Fixed(), **settings)
        observation, _ = env.reset(seed=seed)
        assert same(observation, turns[0][0])
        rewards = [turns[0][1] + turns[1][1], *(turn[1] for turn in turns[2:])]
        for turn, reward in zip(turns[1:], rewards, strict=True):
            assert not any(turn[2:4]) or turn is turns[-1]
            result = env.step(choice(env.view()))
            assert same(result, (turn[0], reward, *turn[2:]))


@pytest.mark.parametrize("seed", range(4))
def test_parallel_face_agrees(seed):
    told = aec_record(GameAECEnv(Tron), seed)
    for env in (parallel(Tron), aec_to_parallel(GameAECEnv(Tron))):
        observations, infos = env.reset(seed=seed)
        for agent, turns in told.items():
            assert same(observations[agent]["observation"], turns[0][0])
        turn = 0
        while env.agents:
            turn += 1
            actions = {agent: choice(env.unwrapped.view(agent)) for agent in env.agents}
            observations, rewards, terminations, truncations, infos = env.step(actions)
            for agent, turns in told.items():
                seen = (observations[agent]["observation"], rewards[agent], terminations[agent], truncations[agent])
                assert same((*seen, infos[agent]), turns[turn])
        assert all(len(turns) == turn + 1 for turns in told.values())
    assert set(told) == set(env.possible_agents)


def test_conversion_to_aec_agrees():
    env, converted = GameAECEnv(Tron), parallel_to_aec(parallel(Tron))
    env.reset(seed=2)
    converted.reset(seed=2)
    for agent in env.agent_iter():
        assert agent == converted.agent_selection
        observation, reward, *ends, _ = converted.last()
        assert same(env.last()[:4], (observation, float(reward), *ends))
        action = next_action(env)
        env.step(action)
        converted.step(action)


@pytest.mark.parametrize("toy", [TicTacToe, Stakes])
def test_turns_as_parallel_agree(toy):
    env, converted = GameAECEnv(toy), parallel(toy)
    env.reset(seed=3)
    converted.reset(seed=3)
    while env.agents:
        action = next_action(env)
        if action is None:
            env.step(None)
            continue
        agent = env.agent_selection
        env.step(action)
        rewards = converted.step({agent: action})[1]
        assert rewards == env.rewards
    assert not converted.agents


@pytest.mark.parametrize("toy", TOYS)
def test_seeds(toy):
    env, single = GameAECEnv(toy), toy(opponent=Fixed())
    both = parallel(toy)
    for seed in (7, None, None, 2**64 - 1, None):
        env.reset(seed=seed)
        both.reset(seed=seed)
        single.reset(seed=seed)
        assert env.clone_state().state == both.unwrapped.clone_state().state
        assert env.clone_state().state == single.clone_state().state
    streams = set()
    for _ in range(5):
        fresh = GameAECEnv(toy)
        fresh.reset()
        streams.add(fresh.clone_state().state[:8])
    assert len(streams) == 5


def totals_of_the_rules(game, seed):
    """Play the fixed policy on the kernels alone; return the sum of each player's rewards."""
    state, actions, rewards = game.new_state(), np.zeros(game.players, np.int64), np.zeros(game.players)
    game.reset(state, np.uint64(seed))
    draw(state)
    totals = np.zeros(game.players)
    while bits := game.active(state):
        for player in range(game.players):
            if bits >> player & 1:
                actions[player] = choice(View(game, state, player))
        game.step(state, actions, rewards)
        totals += rewards
    return totals


@pytest.mark.parametrize("toy", TOYS)
def test_everybody_is_paid_once(toy):
    successes = 0
    for seed in range(20):
        env = GameAECEnv(toy)
        told = aec_record(env, seed)
        totals = totals_of_the_rules(env.game, seed)
        for total, turns in zip(totals, told.values(), strict=True):
            assert sum(turn[1] for turn in turns) == total
            *before, (_, _, terminated, truncated, info) = turns
            assert terminated != truncated
            assert not any("outcome" in turn[4] or turn[2] or turn[3] for turn in before)
            assert info["is_success"] is (info["outcome"] == 1.0)
            assert info["is_success"] == (total > 0.5)
            successes += info["is_success"]
    assert successes > 5


# Actions, options, positions


@pytest.mark.parametrize(
    ("action", "error", "text"),
    [
        (9, ValueError, r"action 9 is outside Discrete\(9\); legal now: 0, 1, 2"),
        (-1, ValueError, r"action -1 is outside Discrete\(9\)"),
        (1.0, TypeError, "action 1.0 is float, not an integer"),
        ("1", TypeError, "action '1' is str"),
        (True, TypeError, "action True is a boolean"),
        (None, TypeError, "action None is NoneType"),
        (np.array([1, 2]), TypeError, "is ndarray, not an integer"),
    ],
)
def test_impossible_actions(action, error, text):
    env = GameAECEnv(TicTacToe)
    env.reset(seed=0)
    before = facts(env)
    with pytest.raises(error, match=text):
        env.step(action)
    assert same(facts(env), before)
    env = parallel(Tron)
    env.reset(seed=0)
    snapshot = env.clone_state()
    with pytest.raises(error):
        env.step({"player_0": 0, "player_1": action})
    assert env.clone_state() == snapshot


@pytest.mark.parametrize("action", [3, np.int64(3), np.array(3), np.uint8(3)])
def test_possible_types_of_actions(action):
    env = GameAECEnv(TicTacToe)
    env.reset(seed=0)
    env.step(action)
    assert env.position()["board"][3] == 1


def test_illegal_actions():
    env = GameAECEnv(TicTacToe)
    env.reset(seed=0)
    for action in (4, 4):
        env.step(action)
    assert env.position()["board"] == [2, 0, 0, 0, 1, 0, 0, 0, 0]
    assert env.infos["player_1"]["illegal_action"] is True
    assert "illegal_action" not in env.infos["player_0"]
    for action in (1, 2):
        env.step(action)
    assert "illegal_action" not in env.infos["player_1"]
    strict = GameAECEnv(TicTacToe, illegal="raise")
    strict.reset(seed=0)
    strict.step(4)
    before = facts(strict)
    with pytest.raises(ValueError, match="action 4 of player_1 is illegal; legal now: 0, 1, 2, 3, 5, 6, 7, 8"):
        strict.step(4)
    assert same(facts(strict), before)


def test_illegal_actions_at_the_same_time():
    env, strict = parallel(Tron), parallel(Tron, illegal="raise")
    for face in (env, strict):
        face.reset(seed=0)
    infos = env.step({"player_0": 3, "player_1": 0})[4]
    assert infos["player_0"]["illegal_action"] is True
    assert "illegal_action" not in infos["player_1"]
    snapshot = strict.clone_state()
    with pytest.raises(ValueError, match="action 3 of player_0 is illegal; legal now: 0, 1, 2"):
        strict.step({"player_0": 3, "player_1": 0})
    with pytest.raises(ValueError, match="no action of player_1; give one of each of player_0, player_1"):
        strict.step({"player_0": 0})
    with pytest.raises(ValueError, match=r"unknown agent 'player_3'.* did you mean"):
        strict.step({"player_0": 0, "player_1": 0, "player_3": 0})
    assert strict.clone_state() == snapshot


def test_the_dead_only_leave():
    env = GameAECEnv(Stakes)
    env.reset(seed=0, options={"position": {"chips": [1, 4, 4], "turn": 0, "dice": [0]}})
    env.step(0)
    assert (env.agent_selection, env.terminations["player_0"]) == ("player_0", True)
    assert (env.rewards["player_0"], env.infos["player_0"]["outcome"]) == (-1.0, 0.0)
    assert len(env.legal_actions()) == 0
    before = facts(env)
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.step(0)
    assert same(facts(env), before)
    env.step(None)
    assert env.agents == ["player_1", "player_2"]
    assert env.agent_selection == "player_1"
    with pytest.raises(ValueError, match="unknown agent 'player_5'"):
        env.observe("player_5")


def test_after_the_end_and_before_the_start():
    env = GameAECEnv(TicTacToe)
    for what in (
        env.clone_state,
        env.position,
        env.state,
        env.render,
        lambda: env.observe("player_0"),
        lambda: env.step(0),
    ):
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before"):
            what()
    both = parallel(Tron)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before step"):
        both.step({})
    aec_record(env, 0)
    before = facts(env)
    env.step(0)
    env.step(None)
    assert same(facts(env), before)
    both.reset(seed=0)
    while both.agents:
        both.step(dict.fromkeys(both.agents, 0))
    assert both.step({}) == ({}, {}, {}, {}, {})


def test_positions():
    env = GameAECEnv(TicTacToe)
    position = {"board": [1, 1, 0, 2, 2, 0, 0, 0, 0], "turn": 1}
    env.reset(seed=0, options={"position": position})
    assert env.position() == position
    assert env.agent_selection == "player_1"
    env.step(5)
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert env.infos["player_1"]["is_success"] is True
    stakes = GameAECEnv(Stakes)
    position = {"chips": [0, 2, 3], "turn": 1, "t": 0, "dice": [0, 5]}
    stakes.reset(seed=0, options={"position": position})
    assert stakes.position() == position
    assert stakes.agents == ["player_1", "player_2"]
    stakes.step(0)
    assert stakes.position() == {"chips": [0, 1, 3], "turn": 2, "t": 1, "dice": [5]}


@pytest.mark.parametrize(
    ("options", "seed", "error", "text"),
    [
        ({"postion": {}}, None, ValueError, "unknown option key 'postion'; did you mean 'position'"),
        ({"position": {"board": [0] * 9}}, None, ValueError, "position lacks 'turn'"),
        ({"position": {"board": [0] * 8, "turn": 0}}, None, ValueError, "has 8 cells; it must have 9"),
        ({"position": {"board": [3] * 9, "turn": 0}}, None, ValueError, r"\['board'\]\[0\] 3 is outside \[0, 2\]"),
        ({"position": 5}, None, TypeError, "position is int, not a dictionary"),
        (None, -1, ValueError, r"seed -1 is outside \[0,"),
        (None, 2**64, ValueError, r"seed 18446744073709551616 is outside"),
        (None, 1.5, TypeError, "seed 1.5 is float"),
    ],
)
def test_impossible_resets(options, seed, error, text):
    env = GameAECEnv(TicTacToe)
    env.reset(seed=1)
    env.step(2)
    before = facts(env)
    with pytest.raises(error, match=text):
        env.reset(seed=seed, options=options)
    assert same(facts(env), before)


@pytest.mark.parametrize("make", [GameAECEnv, parallel])
def test_impossible_settings(make):
    with pytest.raises(TypeError, match="unknown setting 'sise'; did you mean 'size'"):
        make(Tron, sise=9)
    with pytest.raises(TypeError, match="unknown setting 'opponent'"):
        make(Tron, opponent="random")
    with pytest.raises(ValueError, match=r"size 99 is outside \[4, 20\]"):
        make(Tron, size=99)
    with pytest.raises(ValueError, match="unknown render mode 'svg'"):
        make(Tron, render_mode="svg")
    with pytest.raises(ValueError, match="unknown observation 'plane'"):
        make(Tron, observation="plane")
    with pytest.raises(ValueError, match="unknown way with illegal actions 'rise'; did you mean 'raise'"):
        make(Tron, illegal="rise")


def test_games_for_one_have_no_such_face():
    for make in (mcts_envs.make_aec, mcts_envs.make_parallel):
        with pytest.raises(ValueError, match=r"is a game for one player: use gymnasium\.make"):
            make("LaneDefense3x3-v0")
        with pytest.raises(ValueError, match="did you mean"):
            make("LaneDefense3x4-v0")
        with pytest.raises(TypeError, match="id 5 is int, not a name such as"):
            make(5)


def test_render_modes():
    env = GameAECEnv(TicTacToe, render_mode="ansi")
    env.reset(seed=0)
    env.step(4)
    assert env.render() == "...\n.X.\n..."
    env = GameAECEnv(TicTacToe)
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        assert env.render() is None


@pytest.mark.parametrize("toy", TOYS)
def test_agents_play(toy):
    players = [agents.make("scripted", seed=1), agents.make("random", seed=2), agents.make("mcts", simulations=8)]
    env = GameAECEnv(toy, max_steps=20) if toy is not TicTacToe else GameAECEnv(toy)
    env.reset(seed=0)
    for agent in env.agent_iter():
        _, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else players[int(agent[-1])].act(env))
    both = parallel(Tron, illegal="raise")
    both.reset(seed=0)
    while both.agents:
        both.step({agent: player.act(both.view(agent)) for agent, player in zip(both.agents, players, strict=False)})


@pytest.mark.parametrize("toy", TOYS)
def test_the_toys_keep_every_law(toy):
    check_game(toy, episodes=3)


def test_planners_are_bound_to_the_multiplayer_face():
    face = GameAECEnv(TicTacToe)
    face.reset(seed=1)
    agent = agents.make("mcts", simulations=50).bind(face)
    action, _ = agent.predict(face.observe(face.agent_selection)["observation"])
    face.step(int(action))
    action, _ = agent.predict(face.observe(face.agent_selection)["observation"])
    assert face.action_masks()[action]
    view = face.view()
    assert agents.make("uniform").bind(view).predict(view.observe())[0] in face.legal_actions()
