"""Agents by name, bound to environments, and in Stable-Baselines3's evaluation."""

import copy
import pickle
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from pettingzoo.classic.tictactoe import tictactoe

import agents
import mcts_envs
from agents.policies.puct import puct
from mcts_envs.core.api.env import GameEnv
from mcts_envs.registry import ENTRIES, Entry
from tests.toys import tic_tac_toe

ID = "mcts_envs/LaneDefense3x3-v0"


def wins(agent, env, games):
    """Return the share of games won; the i-th game and the agent are seeded with i."""
    won = 0
    for seed in range(games):
        env.reset(seed=seed)
        agent.reseed(seed)
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(agent.act(env))
            over = terminated or truncated
        won += info["is_success"]
    return won / games


@pytest.mark.parametrize("name", ["random", "scripted", "one_step", "flat_mc", "mcts", "mcts_paper", "mcts_text"])
@pytest.mark.parametrize("id", [ID, "mcts_envs/LaneDefense10x10-v0"])
def test_every_agent_plays_legally_and_repeatably(name, id):
    def game():
        env = gym.make(id, illegal="raise")
        agent = agents.make(name, seed=5)
        env.reset(seed=1)
        actions = []
        over = False
        while not over:
            actions.append(agent.act(env))
            _, _, terminated, truncated, _ = env.step(actions[-1])
            over = terminated or truncated
        return actions

    assert game() == game()


@pytest.mark.parametrize("name", ["random", "scripted", "one_step", "mcts"])
def test_agents_play_the_richer_game(name):
    env = gym.make("mcts_envs/LaneDefense5x9-v0", illegal="raise")
    agent = agents.make(name, **({"simulations": 20} if name == "mcts" else {}))
    env.reset(seed=0)
    for _ in range(30):
        _, _, terminated, _, _ = env.step(agent.act(env))
        if terminated:
            break


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size", "games", "published"),
    [
        ("mcts_paper", 3, 600, 0.419),
        pytest.param("mcts_text", 3, 1500, 0.384, marks=pytest.mark.slow),
        pytest.param("mcts_paper", 10, 200, 0.958, marks=pytest.mark.slow),
        pytest.param("mcts_text", 10, 100, 0.748, marks=pytest.mark.slow),
    ],
)
def test_the_papers_agent_wins_as_often_as_published(name, size, games, published):
    env = gym.make(f"mcts_envs/LaneDefense{size}x{size}-v0", first_plant_guaranteed=False)
    error = (published * (1 - published) / games) ** 0.5
    assert wins(agents.make(name), env, games) == pytest.approx(published, abs=4 * error + 0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size", "games", "published", "tolerance"),
    [
        ("mcts_paper", 3, 4000, 0.419, 0.03),
        ("mcts_text", 3, 4000, 0.384, 0.03),
        ("mcts_paper", 10, 1000, 0.958, 0.02),
        ("mcts_text", 10, 4000, 0.748, 0.02),
    ],
)
def test_the_papers_agent_over_many_games(name, size, games, published, tolerance):
    env = gym.make(f"mcts_envs/LaneDefense{size}x{size}-v0", first_plant_guaranteed=False)
    assert wins(agents.make(name), env, games) == pytest.approx(published, abs=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "published", "tolerance"), [(3, 0.1098, 0.0066), (10, 0.0066, 0.0017)])
def test_the_random_player_over_many_games(size, published, tolerance):
    env = gym.make(f"mcts_envs/LaneDefense{size}x{size}-v0")
    assert wins(agents.make("random"), env, 20_000) == pytest.approx(published, abs=tolerance)


def test_search_beats_chance_and_flat_search():
    env = gym.make(ID)
    rates = {name: wins(agents.make(name), env, 60) for name in ("random", "one_step", "mcts")}
    assert rates["mcts"] > 0.55
    assert rates["random"] < 0.25


def test_agents_accept_wrapped_environments_and_views():
    env = gym.wrappers.FlattenObservation(gym.make(ID))
    env.reset(seed=3)
    choices = {agents.make("mcts", simulations=200).act(e) for e in (env, env.unwrapped, env.unwrapped.view())}
    assert len(choices) == 1


def test_agents_refuse_what_they_cannot_look_into():
    env = gym.make("Pendulum-v1")
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r"planners need Discrete\(n\)"):
        agents.make("random").act(env)


class TestPredict:
    def test_unbound(self):
        with pytest.raises(RuntimeError, match="bind"):
            agents.make("mcts").predict(np.zeros(38, np.float32))

    def test_single_and_batch(self):
        env = gym.make(ID)
        observation, _ = env.reset(seed=3)
        agent = agents.make("mcts", simulations=100).bind(env)
        action, state = agent.predict(observation)
        assert action.shape == ()
        assert state is None
        actions, _ = agent.predict(observation[None])
        assert actions.shape == (1,)

    @pytest.mark.parametrize("kind", ["make_vec", "make_sb3_vec_env"])
    def test_a_batch_is_not_one_game(self, kind):
        pytest.importorskip("stable_baselines3")
        batch, agent = getattr(mcts_envs, kind)("LaneDefense3x3-v0", 3), agents.make("mcts", simulations=20)
        observations = batch.reset()
        for ask in (agent.act, agent.search, agents.make("random").act):
            with pytest.raises(TypeError, match=r"holds 3 games.*env\.unwrapped\.view\(i\).*bind\(env\)"):
                ask(batch)
        assert agent.act(batch.unwrapped.view(2)) in batch.unwrapped.view(2).legal_actions()
        actions, _ = agent.bind(batch).predict(observations[0] if kind == "make_vec" else observations)
        assert actions.shape == (3,)

    @pytest.mark.parametrize("make", [tictactoe.env, lambda: mcts_envs.make_aec("WallSurvival-v0", board_size=3)])
    def test_agents_that_take_turns(self, make):
        env = make()
        env.reset(seed=1)
        agent = agents.make("random").bind(env)
        for player in env.possible_agents:
            observation, *_ = env.last()
            for seen in (observation, observation["observation"]):
                action, _ = agent.predict(seen)
                assert observation["action_mask"][action]
                assert env.agent_selection == player
            env.step(int(action))

    def test_observation_of_another_environment(self):
        env, other = gym.make(ID), gym.make(ID)
        env.reset(seed=3)
        observation, _ = other.reset(seed=4)
        agent = agents.make("random").bind(env)
        with pytest.raises(ValueError, match="not that of the bound environment"):
            agent.predict(observation)
        with pytest.raises(ValueError, match="2 observations for 1 bound"):
            agent.predict(np.stack([observation, observation]))

    @pytest.mark.parametrize(
        "wrap",
        [
            lambda env: gym.wrappers.RescaleObservation(env, -1, 1),
            lambda env: gym.wrappers.FrameStackObservation(env, 4),
        ],
    )
    def test_environments_with_another_observation_are_played_too(self, wrap):
        env = wrap(gym.make(ID))
        observation, _ = env.reset(seed=3)
        action, _ = agents.make("scripted").bind(env).predict(observation)
        assert action.shape == ()
        env.step(int(action))
        vec_env = pytest.importorskip("stable_baselines3.common.vec_env").DummyVecEnv([lambda: env])
        actions, _ = agents.make("scripted").bind(vec_env).predict(vec_env.reset())
        assert actions.shape == (1,)

    def test_evaluate_policy(self):
        evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
        monitor = pytest.importorskip("stable_baselines3.common.monitor")
        env = monitor.Monitor(gym.make(ID))
        agent = agents.make("mcts", simulations=100).bind(env)
        returns, lengths = evaluation.evaluate_policy(agent, env, n_eval_episodes=5, return_episode_rewards=True)
        assert len(returns) == len(lengths) == 5

    def test_evaluate_policy_on_a_batch(self):
        evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
        env = mcts_envs.make_sb3_vec_env("LaneDefense3x3-v0", n_envs=4, seed=1)
        agent = agents.make("scripted").bind(env)
        returns, _ = evaluation.evaluate_policy(agent, env, n_eval_episodes=200, return_episode_rewards=True)
        assert np.mean(np.array(returns) > 0) > 0.5

    def test_evaluate_policy_of_sb3_contrib_passes_masks(self):
        evaluation = pytest.importorskip("sb3_contrib.common.maskable.evaluation")
        batch = mcts_envs.make_sb3_vec_env("LaneDefense3x3-v0", n_envs=3, seed=1)
        single = gym.make(ID)
        for env, agent in ((batch, agents.make("mcts", simulations=20)), (single, agents.make("scripted"))):
            returns, _ = evaluation.evaluate_policy(
                agent.bind(env), env, n_eval_episodes=5, return_episode_rewards=True, warn=False
            )
            assert len(returns) == 5

    def test_a_planner_does_not_choose_what_the_masks_forbid(self):
        env = gym.make(ID)
        observation, _ = env.reset(seed=3)
        agent = agents.make("scripted").bind(env)
        action, _ = agent.predict(observation, action_masks=env.unwrapped.action_masks())
        assert action == agent.predict(observation[None], action_masks=[np.ones(10)])[0][0]
        others = np.arange(10) != action
        with pytest.raises(ValueError, match=rf"scripted chose action {action}, .* but not in action_masks; pass the"):
            agent.predict(observation, action_masks=others)
        with pytest.raises(ValueError, match=r"action_masks of shape \(9,\) for 1 games of 10 actions"):
            agent.predict(observation, action_masks=np.ones(9))


def test_agents_can_be_copied_and_pickled_after_a_search():
    env = gym.make(ID)
    env.reset(seed=3)
    agent = agents.make("mcts", simulations=50, seed=4).bind(env)
    agent.act(env)
    for twin in (pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent), copy.copy(agent)):
        first, second = twin.search(env), copy.deepcopy(agent).search(env)
        assert np.array_equal(first.visits, second.visits)
        with pytest.raises(RuntimeError, match="bind"):
            twin.predict(env.unwrapped.view().observe())


def test_agents_show_their_budget_and_the_settings_that_are_not_the_default():
    shown = {
        "mcts(simulations=1000)": agents.make("mcts"),
        "mcts(simulations=20, select='puct', c=0.5)": agents.make("mcts", simulations=20, select="puct", c=0.5),
        "mcts(time_limit=0.1, select=puct, loop='open')": agents.make("mcts", time_limit=0.1, select=puct, loop="open"),
        "mcts(simulations=1000, threads=2, seed=3)": agents.make("mcts", seed=3, threads=2),
        "one_step(samples=8)": agents.make("one_step"),
        "alpha_beta(max_steps=100000)": agents.make("alpha_beta"),
        "random()": agents.make("random"),
        "ppo()": agents.make("ppo"),
        "best(time_limit=0.1)": agents.make("best", time_limit=0.1),
    }
    for line, agent in shown.items():
        assert repr(agent) == repr(pickle.loads(pickle.dumps(agent))) == line
    best, env = agents.make("best", simulations=30), gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=1)
    best.act(env)
    assert repr(best) == "best(simulations=30) = halving(simulations=30, discount=0.9)"


def test_planners_of_a_game_of_ones_own_take_budgets_unless_they_bring_theirs(monkeypatch):
    brought = {
        "searcher": {"agent": "mcts", "horizon": 5},
        "published": {"agent": "mcts", "simulations": 19, "takes_budget": False},
        "rules": {"agent": "scripted"},
    }
    game = replace(tic_tac_toe(), presets=brought)
    monkeypatch.setitem(
        ENTRIES, "Own-v0", Entry("Own-v0", "mcts_envs.core.api.env:GameEnv", {"game": game}, 2, brought)
    )
    assert [agents.takes_budget(name) for name in brought] == [True, False, False]
    env = GameEnv(game=game)
    env.reset(seed=1)
    for name in brought:
        agent = agents.make(name)
        assert agent.act(env) in range(9)
    assert agents.make("published").search(env).simulations == 19


def test_a_policy_without_a_path_is_refused():
    with pytest.raises(ValueError, match="agent 'sb3:' names no policy; write the path of a zip behind it"):
        agents.make("sb3:")
    for name in ("mcts", "sb3:model.zip", "my_bot.py:Bot"):
        with pytest.raises(ValueError, match=rf"here they are arguments: agents.make\('{name}', depth=...\)"):
            agents.make(f"{name}:depth=3:c=1")
    with pytest.raises(FileNotFoundError, match=r"there is no policy lr=0\.1/model\.zip"):
        agents.make("sb3:lr=0.1/model.zip")
    for setting in ("algorithm", "path"):
        with pytest.raises(TypeError, match=f"'ppo' has no setting '{setting}'; known: deterministic, seed;"):
            agents.make("ppo", **{setting: "dqn"})


@pytest.mark.parametrize(
    ("id", "behind"),
    [
        ("LaneDefense3x3-v0", "puct(simulations=8)"),
        ("Football1-v0", "puct(simulations=8)"),
        ("WallSurvival-v0", "mcts(simulations=8, select='puct_solver'"),
    ],
)
def test_the_strongest_search_with_what_is_shipped_has_one_name(id, behind):
    agent, env = agents.make("best_with_policy", simulations=8), gym.make(f"mcts_envs/{id}")
    env.reset(seed=0)
    if id != "WallSurvival-v0":
        assert agent.search(env).simulations == 8
        assert behind in repr(agent)
    else:
        with pytest.raises(ValueError, match="no policy is shipped for"):
            agent.act(env)
        env = gym.make(f"mcts_envs/{id}", board_size=6)
        env.reset(seed=0)
        agent.act(env)
        assert behind in repr(agent)


COUNTING = """
class Counting:
    def predict(self, observation, state=None, episode_start=None, action_masks=None):
        begins = bool(episode_start[0])
        assert begins == (state is None)
        self.count = 1 if begins else state + 1
        return int(action_masks.argmax()), self.count
"""


@pytest.mark.parametrize("env_id", [ID, "mcts_envs/WallSurvival-v0", "remembered CliffWalking-v1"])
def test_what_predict_hands_on_is_kept_for_each_episode(env_id, tmp_path):
    (tmp_path / "counting.py").write_text(COUNTING)
    agent = agents.make(f"{tmp_path / 'counting.py'}:Counting")
    envs = [gym.make(env_id.removeprefix("remembered ")) for _ in range(2)]
    one, other = map(agents.remember, envs) if "remembered" in env_id else envs
    for env in (one, other):
        env.reset(seed=1)
        for count in (1, 2, 3):
            env.step(agent.act(env))
            assert agent._own.count == count
    one.step(agent.act(one))
    assert agent._own.count == 4
    one.reset(seed=2)
    agent.act(one)
    assert agent._own.count == 1
    assert copy.deepcopy(agent)._memory is None


def test_where_nothing_tells_episodes_apart_it_is_kept_until_reseed(tmp_path):
    (tmp_path / "counting.py").write_text(COUNTING)
    agent, env = agents.make(f"{tmp_path / 'counting.py'}:Counting"), tictactoe.env()
    env.reset(seed=1)
    for count in (1, 1, 2, 2, 3):
        env.step(agent.act(env))
        assert agent._own.count == count
    agent.reseed(1)
    env.reset(seed=1)
    agent.act(env)
    assert agent._own.count == 1
