"""The PettingZoo APIs: PettingZoo's own tests, agreement with the other APIs, seeds, and what is paid."""

import copy
import pickle
import warnings
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from pettingzoo.utils.conversions import aec_to_parallel, parallel_to_aec

import agents
from mcts_envs.core.api.multi import GameAECEnv, GameParallelEnv, parallel
from mcts_envs.core.check import check_game
from mcts_envs.core.rng import draw
from mcts_envs.core.view import View
from tests.core.several import Fixed, aec_record, choice, next_action, same
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
    _, infos = converted.reset(seed=3)
    while env.agents:
        action = next_action(env)
        if action is None:
            env.step(None)
            continue
        agent = env.agent_selection
        assert {infos[other]["active_agent"] for other in converted.agents} == {agent}
        env.step(action)
        _, rewards, _, _, infos = converted.step({agent: action})
        assert rewards == env.rewards
    assert not converted.agents


@pytest.mark.parametrize("toy", [TicTacToe, Tron])
def test_parallel_environments_have_the_same_of_the_game(toy):
    env, other = parallel(toy), parallel(toy)
    env.reset(seed=3)
    other.reset(seed=4)
    for one in (other, copy.deepcopy(other), pickle.loads(pickle.dumps(other))):
        one.restore_state(env.clone_state())
        assert one.clone_state() == env.clone_state()
        assert one.settings == env.settings
        assert env.legal_actions("player_0").tolist() == np.flatnonzero(one.action_masks("player_0")).tolist()
        assert env.action_name(0) == one.action_meanings()[0]
        assert one.game.name == one.view("player_0").game.name
    with pytest.raises(AttributeError, match="has no attribute 'clone'"):
        env.clone()


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


def test_render_modes():
    env = GameAECEnv(TicTacToe, render_mode="ansi")
    env.reset(seed=0)
    env.step(4)
    assert env.render() == "...\n.X.\n..."
    env = GameAECEnv(TicTacToe)
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        assert env.render() is None


def test_closing_one_window_lets_the_other_be_shown(monkeypatch):
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    first, second = (GameAECEnv(TicTacToe, render_mode="human") for _ in range(2))
    first.reset(seed=0)
    second.reset(seed=0)
    first.close()
    second.step(4)
    second.close()


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
