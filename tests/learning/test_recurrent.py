"""Policies of RecurrentPPO, which remember what they have seen of a game."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from pettingzoo.classic.tictactoe import tictactoe

pytest.importorskip("sb3_contrib")

import sb3_contrib as contrib
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import agents
import mcts_envs
from agents.arena import Plan, compare, parse_agents
from agents.bridge import Remember
from agents.learning.loading import load_policy
from agents.learning.saved.notices import PolicyWarning

SMALL = {"n_steps": 32, "batch_size": 32, "n_epochs": 1, "policy_kwargs": {"net_arch": [8], "lstm_hidden_size": 8}}

pytestmark = [pytest.mark.usefixtures("quietly_anew"), pytest.mark.filterwarnings("ignore:.* holds pickles")]


def saved(path, make, wrap=lambda env: env, steps=256):
    """Train a policy, save it, and return its environment and the model."""
    env = wrap(DummyVecEnv([make]))
    env.seed(0)
    model = contrib.RecurrentPPO("MlpLstmPolicy", env, seed=0, device="cpu", **SMALL).learn(steps)
    for weights in model.policy.lstm_actor.parameters():
        weights.data *= 4  # so that what was seen decides
    model.save(path)
    return env, model


def lanes():
    return gym.make("mcts_envs/LaneDefense3x3-v0")


def compared(agent, model, env, games=4):
    """Play with an agent, and return how often it did as the model that remembers, and as one that does not."""
    alike, forgetful, moves = 0, 0, 0
    for seed in range(games):
        env.seed(seed)
        seen, memory, starts = env.reset(), None, np.ones(1, bool)
        while True:
            wanted, memory = model.predict(seen, state=memory, episode_start=starts, deterministic=True)
            single = env.unwrapped.envs[0]
            chosen = agent.act(single)
            assert agent.act(single) == chosen, "looking twice at a state is looking once"
            alike += chosen == wanted[0]
            forgetful += model.predict(seen, deterministic=True)[0][0] == wanted[0]
            moves += 1
            seen, _, starts, _ = env.step(wanted)
            if starts[0]:
                break
    return alike, forgetful, moves


@pytest.mark.parametrize("wrap", [lambda env: env, VecNormalize], ids=["plain", "normalized"])
def test_it_plays_as_its_model_does_with_its_memory(tmp_path, wrap):
    env, model = saved(tmp_path / "mine.zip", lanes, wrap)
    settings = {}
    if isinstance(env, VecNormalize):
        env.save(tmp_path / "vecnormalize.pkl")
        env.training, settings = False, {"normalization": "auto"}
    agent = agents.make(f"sb3:{tmp_path / 'mine.zip'}", **settings)
    alike, forgetful, moves = compared(agent, model, env)
    assert alike == moves > forgetful


def test_an_environment_of_others(tmp_path):
    env, model = saved(tmp_path / "pole.zip", lambda: Remember(gym.make("CartPole-v1")), steps=128)
    alike, _, moves = compared(agents.make(f"sb3:{tmp_path / 'pole.zip'}"), model, env)
    assert alike == moves
    name = f"sb3:{tmp_path / 'pole.zip'}"
    assert [s.games for s in compare(Plan("CartPole-v1", parse_agents(name)), 3).summaries] == [3]


def test_a_batch_of_games_has_memories_of_its_own(tmp_path):
    _, model = saved(tmp_path / "mine.zip", lanes)
    env = DummyVecEnv([lanes] * 3)
    agent = agents.make(f"sb3:{tmp_path / 'mine.zip'}").bind(env)
    env.seed(1)
    seen, memory, starts = env.reset(), None, np.ones(3, bool)
    for _ in range(60):
        wanted, memory = model.predict(seen, state=memory, episode_start=starts, deterministic=True)
        assert np.array_equal(agent.predict(seen)[0], wanted)
        seen, _, starts, _ = env.step(wanted)


def test_two_players_of_one_game_and_their_draws(tmp_path):
    walls = {"board_size": 4, "opponent": "random_walk"}
    saved(tmp_path / "walls.zip", lambda: gym.make("mcts_envs/WallSurvival-v0", **walls), steps=64)
    env = mcts_envs.make_aec("WallSurvival-v0", board_size=4)
    one, other = (agents.make(f"sb3:{tmp_path / 'walls.zip'}", deterministic=False, seed=3) for _ in range(2))
    for agent in (one, other):
        env.reset(seed=0)
        played = []
        for _ in env.agent_iter():
            over = any(env.last()[2:4])
            played.append(None if over else agent.act(env))
            env.step(played[-1])
        agent.played = played
    assert one.played == other.played
    assert len(one.played) > 4


def test_reseed_forgets_all_games_as_at_construction(tmp_path):
    saved(tmp_path / "mine.zip", lanes)
    env, drawn = lanes(), []
    agent = agents.make(f"sb3:{tmp_path / 'mine.zip'}", deterministic=False, seed=5)
    env.reset(seed=1)
    snapshot = env.unwrapped.clone_state()
    for _ in range(2):
        env.unwrapped.restore_state(snapshot)
        agent.reseed(5)
        for action in range(3):
            chosen = agent.act(env)
            drawn.append((chosen, *agent._recollection.probabilities(env.unwrapped.view(), None)))
            env.step(action)
    assert drawn[:3] == drawn[3:]


def test_a_copy_reads_it_anew(tmp_path):
    env, _ = saved(tmp_path / "mine.zip", lanes)
    agent = agents.make(f"sb3:{tmp_path / 'mine.zip'}")
    env.reset()
    first = agent.act(env.envs[0])
    assert pickle.loads(pickle.dumps(agent)).act(env.envs[0]) == copy.deepcopy(agent).act(env.envs[0]) == first


def test_where_nothing_tells_episodes_apart_a_warning_says_so(tmp_path):
    env, model = saved(tmp_path / "mine.zip", lanes)
    seen = env.reset()
    view = env.envs[0].unwrapped.view()
    view.episode = None
    agent = agents.make(f"sb3:{tmp_path / 'mine.zip'}")
    with pytest.warns(PolicyWarning, match="a recurrent policy remembers nothing where .* an opponent inside"):
        first = agent.act(view)
    assert agent.act(view) == first == model.predict(seen, deterministic=True)[0][0]


def test_whoever_asks_about_single_states_is_refused(tmp_path):
    env, model = saved(tmp_path / "mine.zip", lanes, steps=32)
    for given in (tmp_path / "mine.zip", model, load_policy(tmp_path / "mine.zip")):
        with pytest.raises(ValueError, match=r"is a recurrent policy.* a search asks about single states"):
            agents.make("gumbel", policy=given)
    with pytest.raises(ValueError, match="plain arrays remember nothing"):
        agents.export(tmp_path / "mine.zip")
    agent = agents.make(f"sb3:{tmp_path / 'mine.zip'}")
    env.reset()
    view = env.envs[0].unwrapped.view()
    with pytest.raises(ValueError, match="cannot play many games at once"):
        agent.act_all(view.game, view.state[None], np.zeros(1, np.int64), np.zeros(1, np.uint64))


def test_an_opponent_who_cannot_play_is_refused_where_it_is_named(tmp_path):
    walls = {"board_size": 4, "opponent": "random_walk"}
    saved(tmp_path / "walls.zip", lambda: gym.make("mcts_envs/WallSurvival-v0", **walls), steps=32)
    saved(tmp_path / "lanes.zip", lanes, steps=32)
    one, other = (f"sb3:{tmp_path / name}.zip" for name in ("walls", "lanes"))
    for opponent in (one, {one: 1, "greedy": 1}):
        with pytest.raises(ValueError, match="cannot play many games at once; take one that sees single frames"):
            mcts_envs.make_sb3_vec_env("WallSurvival-v0", 2, board_size=4, opponent=opponent)
    for make in (gym.make, mcts_envs.make_sb3_vec_env):
        with pytest.raises(ValueError, match=r"was trained on observations .* use a policy that was trained here"):
            make("mcts_envs/WallSurvival-v0", board_size=4, opponent=other)


class OwnPolicy(RecurrentActorCriticPolicy):
    """A policy class of somebody's own."""


def test_a_policy_class_of_ones_own_is_recognised(tmp_path):
    contrib.RecurrentPPO(OwnPolicy, lanes(), device="cpu", **SMALL).save(tmp_path / "own")
    assert load_policy(tmp_path / "own").algorithm == "recurrent_ppo"


@pytest.mark.parametrize("algorithm", ["ppo", "a2c"])
def test_another_algorithm_does_not_play_it_without_its_memory(tmp_path, algorithm):
    saved(tmp_path / "mine.zip", lanes, steps=32)
    with pytest.raises(ValueError, match=f"a RecurrentActorCriticPolicy, which is no policy of {algorithm}; name"):
        agents.make(f"sb3:{tmp_path / 'mine.zip'}", algorithm=algorithm)


def test_a_game_of_others_for_two(tmp_path):
    """Each player has a memory of its own: the board that it saw at its last move, not what the other saw."""
    space = tictactoe.raw_env().observation_space("player_1")["observation"]

    class Shown(gym.Env):
        observation_space, action_space = space, gym.spaces.Discrete(9)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return np.zeros(space.shape, space.dtype), {}

        def step(self, action):
            return np.zeros(space.shape, space.dtype), 0.0, True, False, {}

    _, model = saved(tmp_path / "ttt.zip", Shown, steps=32)
    env, agent = agents.remember(tictactoe.raw_env()), agents.make(f"sb3:{tmp_path / 'ttt.zip'}")
    env.reset(seed=0)
    memories = {}
    for action in range(5):
        who = env.agent_selection
        seen = np.asarray(env.observe(who)["observation"])
        start = np.array([who not in memories])
        wanted, memories[who] = model.predict(
            seen[None], state=memories.get(who), episode_start=start, deterministic=True
        )
        assert agent.act(env) == wanted[0]
        env.step(action)
