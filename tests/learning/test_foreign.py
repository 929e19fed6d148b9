"""Policies from a Stable-Baselines3 script of one's own, and policies that play elsewhere than they were trained."""

import copy
import itertools
import json
import pickle
import shutil
import warnings
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from pettingzoo.classic.tictactoe import tictactoe

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import sb3_contrib.common.maskable.evaluation as maskable
from stable_baselines3 import DQN, PPO, HerReplayBuffer
from stable_baselines3.common.callbacks import CheckpointCallback
from stable_baselines3.common.envs import BitFlippingEnv
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize

import agents
import mcts_envs
from agents.arena import Plan, compare, parse_agents
from agents.bridge import Remember, view
from agents.learning.algorithms import one_thread
from agents.learning.loading import load_policy
from agents.learning.saved import moved, notices, storage
from agents.learning.saved.fitting import fitting
from agents.learning.saved.frames import Frames
from agents.learning.saved.notices import PolicyWarning
from agents.learning.saved.policy import NetworkPolicy
from agents.learning.saved.shipped import shipped
from agents.learning.searching import evaluator_for, read_policy
from agents.learning.training import train

LANES, DUEL = "LaneDefense3x3-v0", "BomberDuel-v0"
SMALL = {"n_steps": 32, "batch_size": 32, "n_epochs": 1, "policy_kwargs": {"net_arch": [8]}}
pytestmark = pytest.mark.usefixtures("quietly_anew")
TRUSTED = pytest.mark.filterwarnings("ignore:.* holds pickles")


def make(env_id, **settings):
    return gym.make(f"mcts_envs/{env_id}", **settings)


def script(folder, wrap):
    """Train as a script with Stable-Baselines3 alone does, and return the environment."""
    env = wrap(DummyVecEnv([lambda: make(LANES)]))
    env.seed(3)
    model = PPO("MlpPolicy", env, seed=0, device="cpu", **SMALL)
    model.learn(1024, callback=CheckpointCallback(512, str(folder), save_vecnormalize=True))
    return env


def seen_by_networks(monkeypatch, action):
    shown = []
    monkeypatch.setattr(NetworkPolicy, "actions", lambda self, *given: (shown.append((self, *given)), [action])[1])
    return shown


@pytest.fixture(scope="module")
def normalized(tmp_path_factory):
    folder = tmp_path_factory.mktemp("normalized")
    with one_thread():
        env = script(folder, VecNormalize)
    env.training = False
    path = folder / "rl_model_1024_steps.zip"
    return path, env, PPO.load(path, device="cpu")


@pytest.fixture(scope="module")
def safe(tmp_path_factory):
    """A masked policy of few steps, trained to choose among safe moves."""
    settings = {"mask": "safe", "opponent": "random", "max_steps": 100}
    with one_thread():
        return train(
            *(DUEL, "maskable_ppo"),
            out=tmp_path_factory.mktemp("safe"),
            timesteps=1024,
            n_envs=8,
            settings=settings,
            changes=SMALL,
            tensorboard=False,
            progress=False,
        ).path


def played(agent, env, games=5):
    """Return the states met and the actions chosen by an agent."""
    for seed in range(games):
        env.reset(seed=seed)
        over = False
        while not over:
            before = env.unwrapped.view().state.copy()
            yield before, (action := agent.act(env))
            _, _, terminated, truncated, _ = env.step(action)
            over = terminated or truncated


# Normalisation


@TRUSTED
@pytest.mark.parametrize("given", ["auto", "path"])
def test_statistics_of_vecnormalize_are_applied(normalized, given):
    path, env, model = normalized
    given = str(path.with_name("rl_model_vecnormalize_1024_steps.pkl")) if given == "path" else given
    agent = agents.make(f"sb3:{path}", algorithm="ppo", normalization=given)
    raw = agents.make(f"sb3:{path}", algorithm="ppo", normalization=False)
    single, others = make(LANES), 0
    game = single.unwrapped.game
    for state, action in played(agent, single):
        seen = mcts_envs.core.view.View(game, state, 0).observe()
        assert action == model.predict(env.normalize_obs(seen), deterministic=True)[0]
        others += action != model.predict(seen, deterministic=True)[0]
    assert others > 0
    single.reset(seed=0)
    assert raw.act(single) == model.predict(single.unwrapped.view().observe(), deterministic=True)[0]
    copied = pickle.loads(pickle.dumps(agent))
    assert copied.act(single) == agent.act(single) == copy.deepcopy(agent).act(single)


@TRUSTED
@pytest.mark.parametrize("norm_reward", [True, False])
def test_a_search_asks_a_model_in_memory_as_it_was_trained(tmp_path, norm_reward):
    env = script(tmp_path, lambda env: VecNormalize(env, norm_reward=norm_reward))
    model = PPO.load(tmp_path / "rl_model_1024_steps.zip", env=env, device="cpu")
    single = make(LANES)
    seen = single.reset(seed=0)[0][None]
    shown, unit = model.policy.obs_to_tensor(env.normalize_obs(seen))[0], env.ret_rms.var**0.5 if norm_reward else 1.0
    value = unit * model.policy.predict_values(shown).item()
    wanted = model.policy.get_distribution(shown).distribution.probs.detach().numpy()[0]
    loaded = load_policy(tmp_path / "rl_model_1024_steps.zip", normalization="auto")
    game, state, legal = single.unwrapped.game, single.unwrapped.view().state, single.unwrapped.action_masks()
    for policy in (model, loaded):
        evaluator, weights, values = evaluator_for(read_policy(policy), game), np.zeros(game.actions), np.zeros(1)
        evaluator.advise(state, 0, weights)
        evaluator.evaluate(state, values)
        np.testing.assert_allclose(weights, legal * wanted / wanted[legal].sum(), atol=1e-5)
        assert values[0] == pytest.approx(value, rel=1e-4)


@TRUSTED
@pytest.mark.parametrize(
    ("policy", "pickle_name"),
    [
        ("rl_model_2048_steps", "rl_model_vecnormalize_2048_steps.pkl"),
        ("best_model", "vecnormalize.pkl"),
        ("final", "final_vecnormalize.pkl"),
        ("mine", "mine.pkl"),
        ("ppo", "vec_normalize.pkl"),
        ("LaneDefense3x3-v0", "LaneDefense3x3-v0/vecnormalize.pkl"),
    ],
)
def test_statistics_beside_a_policy_are_warned_of_until_they_are_asked_for(normalized, tmp_path, policy, pickle_name):
    path, *_ = normalized
    shutil.copy(path, tmp_path / f"{policy}.zip")
    (tmp_path / pickle_name).parent.mkdir(exist_ok=True)
    shutil.copy(path.with_name("rl_model_vecnormalize_1024_steps.pkl"), tmp_path / pickle_name)
    (tmp_path / "rl_model_vecnormalize_9_steps.pkl").write_bytes(b"of another checkpoint")
    name = f"sb3:{tmp_path / policy}"
    with pytest.warns(PolicyWarning, match=rf"{Path(pickle_name).name} lies beside it .*n=auto.*load_policy"):
        agents.make(name, algorithm="ppo")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*lies beside")
        agents.make(name, algorithm="ppo")
        agents.make(name, algorithm="ppo", normalization=False)
        assert agents.make(name, algorithm="ppo", normalization="auto")._loaded.about["normalization"]["observations"]


@TRUSTED
def test_wrong_statistics(normalized, tmp_path):
    path, env, _ = normalized
    lone = shutil.copy(path, tmp_path / "lone.zip")
    with pytest.raises(FileNotFoundError, match=r"normalization=auto: there are no statistics beside .*lone\.zip"):
        agents.make(f"sb3:{lone}", algorithm="ppo", normalization="auto")
    with pytest.raises(FileNotFoundError, match=r"there are no statistics at .*nowhere"):
        agents.make(f"sb3:{lone}", algorithm="ppo", normalization=tmp_path / "nowhere.pkl")
    with pytest.raises(TypeError, match=r"normalization True is neither 'auto' nor a path of statistics nor False"):
        agents.make(f"sb3:{lone}", algorithm="ppo", normalization=True)
    for content, message in (
        (b"torn", "is damaged, or no pickle"),
        (pickle.dumps({}), "holds a dict, no VecNormalize"),
        (pickle.dumps(VecNormalize(mcts_envs.make_sb3_vec_env("LaneDefense10x10-v0"))), r"observations \(402,\), but"),
    ):
        (tmp_path / "wrong.pkl").write_bytes(content)
        with pytest.raises(ValueError, match=message):
            agents.make(f"sb3:{lone}", algorithm="ppo", normalization=str(tmp_path / "wrong.pkl"))
    broken = copy.deepcopy(env.obs_rms.var)
    try:
        env.obs_rms.var = -np.ones(38)
        env.save(tmp_path / "wrong.pkl")
    finally:
        env.obs_rms.var = broken
    with pytest.raises(ValueError, match=r"wrong\.pkl: .*a variance is not negative; save it anew"):
        agents.make(f"sb3:{lone}", algorithm="ppo", normalization=str(tmp_path / "wrong.pkl"))


# Frame stacks


@TRUSTED
@pytest.mark.parametrize(
    ("wrap", "observation", "settings"),
    [
        (lambda env: VecFrameStack(env, 4), "flat", {}),
        (lambda env: VecFrameStack(VecNormalize(env), 4), "flat", {"normalization": "auto"}),
        (lambda env: VecNormalize(VecFrameStack(env, 4)), "flat", {"normalization": "auto"}),
        (lambda env: VecFrameStack(env, 4), "planes", {}),
        (lambda env: VecFrameStack(env, 4, channels_order="first"), "planes", {}),
    ],
    ids=["flat", "normalized_frames", "normalized_stacks", "last", "first"],
)
def test_stacked_frames_are_those_of_vecframestack(tmp_path, monkeypatch, wrap, observation, settings):
    env = wrap(DummyVecEnv([lambda: make(LANES, observation=observation)]))
    model = PPO("MlpPolicy", env, seed=0, device="cpu", **SMALL).learn(512)
    model.save(tmp_path / "mine.zip")
    if (normalize := model.get_vec_normalize_env()) is not None:
        normalize.save(tmp_path / "vecnormalize.pkl")
        normalize.training = False
    agent = agents.make(f"sb3:{tmp_path / 'mine'}", algorithm="ppo", frame_stack=4, **settings)
    shown = seen_by_networks(monkeypatch, 9)
    single = env.unwrapped.envs[0]
    stacked, games = env.reset(), 0
    while games < 4:
        shown.clear()
        assert agent.act(single) == agent.act(single) == 9
        assert len(shown) == 2
        assert all(np.allclose(policy.normalized(seen), stacked, atol=1e-6) for policy, seen, _ in shown)
        stacked, _, dones, _ = env.step([int(single.unwrapped.legal_actions()[0])])
        games += dones[0]


@TRUSTED
def test_a_batch_of_games_and_two_players_have_stacks_of_their_own(tmp_path):
    env = VecFrameStack(DummyVecEnv([lambda: make(LANES) for _ in range(3)]), 2)
    model = PPO("MlpPolicy", env, seed=0, device="cpu", **SMALL)
    model.save(tmp_path / "mine")
    agent = agents.make(f"sb3:{tmp_path / 'mine'}", algorithm="ppo", frame_stack=2)
    agent.bind(env)
    env.seed(1)
    observations = env.reset()
    for _ in range(60):
        actions, _ = agent.predict(observations)
        assert np.array_equal(actions, model.predict(observations, deterministic=True)[0])
        observations, *_ = env.step(actions)


@TRUSTED
def test_stacked_frames_of_an_environment_of_others(tmp_path, monkeypatch):
    env = VecNormalize(VecFrameStack(DummyVecEnv([lambda: Remember(gym.make("CartPole-v1"))]), 3))
    model = PPO("MlpPolicy", env, seed=0, device="cpu", **SMALL).learn(128)
    model.save(tmp_path / "mine.zip")
    env.save(tmp_path / "vecnormalize.pkl")
    env.training = False
    name = f"sb3:{tmp_path / 'mine.zip'}:frame_stack=3:normalization=auto"
    assert [s.games for s in compare(Plan("CartPole-v1", parse_agents(name)), 3).summaries] == [3]
    agent = agents.make(f"sb3:{tmp_path / 'mine.zip'}", frame_stack=3, normalization="auto")
    shown = seen_by_networks(monkeypatch, 1)
    stacked, games = env.reset(), 0
    while games < 2:
        shown.clear()
        assert agent.act(env.unwrapped.envs[0]) == agent.act(env.unwrapped.envs[0]) == 1
        assert len(shown) == 2
        assert all(np.allclose(policy.normalized(seen), stacked, atol=1e-6) for policy, seen, _ in shown)
        stacked, _, dones, _ = env.step([games])
        games += dones[0]


def test_stacked_frames_where_players_of_others_meet(monkeypatch):
    monkeypatch.setattr(notices, "_said", set())
    env, frames, number = agents.remember(tictactoe.raw_env()), Frames(3), 0
    for _ in range(2):
        env.reset(seed=0)
        stacks = []
        for action in range(4):
            number += 1
            twice = [frames.stacked(view(env), np.full(1, number, np.float32), -1).tolist() for _ in range(2)]
            assert twice[0] == twice[1]
            stacks += twice[:1]
            env.step(action)
        first = number - 3
        assert stacks == [[0, 0, first], [0, 0, first + 1], [0, first, first + 2], [0, first + 1, first + 3]]
    env = tictactoe.raw_env()
    env.reset(seed=0)
    with pytest.warns(PolicyWarning, match=r"earlier frames are zeros .*; agents\.remember\(env\) does"):
        assert frames.stacked(view(env), np.ones(1, np.float32), -1).tolist() == [0, 0, 1]


@TRUSTED
def test_wrong_frame_stacks(tmp_path):
    env = VecFrameStack(DummyVecEnv([lambda: make(LANES)]), 4)
    PPO("MlpPolicy", env, device="cpu", **SMALL).save(tmp_path / "mine")
    single = make(LANES)
    single.reset(seed=0)
    name = f"sb3:{tmp_path / 'mine'}"
    with pytest.raises(ValueError, match=r"\(152,\).*frames that VecFrameStack stacked, give frame_stack=4"):
        agents.make(name, algorithm="ppo").act(single)
    with pytest.raises(ValueError, match="in stacks of 3 and"):
        agents.make(name, algorithm="ppo", frame_stack=3).act(single)
    with pytest.raises(ValueError, match="frame_stack 0 is outside"):
        agents.make(name, algorithm="ppo", frame_stack=0)
    agent = agents.make(name, algorithm="ppo", frame_stack=4)
    view = single.unwrapped.view()
    view.episode = None
    with pytest.warns(PolicyWarning, match="earlier frames are zeros .* for an opponent inside"):
        first = agent.act(view)
    assert agent.act(view) == first


# In comparisons


@TRUSTED
def test_a_comparison_plays_them_and_keeps_the_digests_of_their_files(normalized, tmp_path):
    path, *_ = normalized
    texts = (f"sb3:{path}:algorithm=ppo:normalization=auto", f"sb3:{path}:algorithm=ppo:normalization=false")
    plan = Plan(LANES, parse_agents(",".join(texts)))
    report = compare(plan, 5, folder=tmp_path / "results")
    assert report.finished
    assert not report.failed
    files = plan.configuration()["files"]
    assert [*files[texts[0]]] == ["rl_model_1024_steps.zip", "rl_model_vecnormalize_1024_steps.pkl"]
    assert [*files[texts[1]]] == ["rl_model_1024_steps.zip"]


# Elsewhere than in training


@pytest.mark.filterwarnings("ignore:.* was trained with")
@pytest.mark.parametrize("here", [{}, {"mask": "safe"}, {"observation": "planes"}])
def test_a_mask_goes_with_its_policy(safe, here):
    settings = {"opponent": "random", "max_steps": 100, "illegal": "raise"}
    policy = storage.load(safe)
    agent, env = agents.make(f"sb3:{safe}"), make(DUEL, **settings, **here)
    rules = make(DUEL, **settings, mask="safe").unwrapped.game
    limited = 0
    for state, action in itertools.islice(played(agent, env), 300):
        view = mcts_envs.core.view.View(rules.variant("safe"), state, 0)
        mask = view.action_masks()
        assert action == policy.actions(view.observe()[None], mask[None])[0]
        limited += not mask.all()
    assert limited > 20


@pytest.mark.filterwarnings("ignore:.* was trained with")
def test_a_mask_of_the_environment_holds_too(tmp_path, safe):
    path = shutil.copy(safe, tmp_path / "all.zip")
    about = json.loads(safe.with_suffix(".json").read_text())
    del about["settings"]["mask"]
    path.with_suffix(".json").write_text(json.dumps(about))
    storage.trust.written(path)
    env = make(DUEL, mask="safe", illegal="raise", max_steps=100)
    assert sum(1 for _ in played(agents.make(f"sb3:{path}"), env)) > 10


def test_masks_that_are_passed_limit_a_policy(safe):
    env = make(DUEL, mask="safe", opponent="random", max_steps=100)
    agent = agents.make(f"sb3:{safe}").bind(env)
    observation, _ = env.reset(seed=1)
    legal = np.flatnonzero(env.unwrapped.action_masks())
    for action in legal:
        assert agent.predict(observation, action_masks=np.arange(6) == action)[0] == action
    batch = mcts_envs.make_sb3_vec_env(DUEL, 4, mask="safe", opponent="random", max_steps=100)
    returns, _ = maskable.evaluate_policy(agent.bind(batch), batch, 8, return_episode_rewards=True)
    assert len(returns) == 8


def test_a_policy_for_flat_observations_plays_where_planes_are_shown():
    flat, planes = make(LANES), make(LANES, observation="planes")
    path = shipped(LANES, "ppo")
    for env in (flat, planes):
        env.reset(seed=2)
    assert planes.unwrapped.game.variant("flat").observation_shape == (38,)
    for name in ("ppo", f"sb3:{path}"):
        assert agents.make(name).act(planes) == agents.make(name).act(flat)
    assert fitting(storage.load(path), planes.unwrapped.game).observation_shape == (38,)


def test_what_differs_is_named_once(safe):
    there = {"mask": "safe", "opponent": "random", "max_steps": 100}
    for settings, named in (
        ({**there}, ""),
        ({**there, "opponent": None, "collapse": [], "viewer": 1, "observation": "planes", "illegal": "raise"}, ""),
        ({**there, "mask": "all"}, r"mask='safe' \(here 'all'\); this"),
        ({"mask": "safe", "fuse": 9}, r"max_steps=100 \(here 800\)|fuse=10 \(here 9\)"),
        ({**there, "opponent": ["rule_based"]}, r"opponent='random' \(here \['rule_based'\]\)"),
        ({**there, "seat": 1, "reward_tie": 0}, r"seat=0 \(here 1\), reward_tie=-1.0 \(here 0\)"),
    ):
        env = make(DUEL, **settings)
        env.reset(seed=0)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            for _ in range(2):
                agent = agents.make(f"sb3:{safe}")
                agent.act(env)
                agent.act(env)
        if not named:
            assert not heard
            continue
        (warning,) = heard
        assert warning.category is PolicyWarning
        with pytest.warns(PolicyWarning, match=named):
            warnings.warn(warning.message, PolicyWarning, stacklevel=1)


def test_a_shipped_policy_is_at_home():
    env = make("LaneDefense5x9-v0")
    env.reset(seed=0)
    assert "reward_kill" in storage.load(shipped("LaneDefense5x9-v0", "maskable_ppo")).about["settings"]
    assert agents.make("maskable_ppo").act(env) in range(181)


def test_what_differs_is_named_on_every_face(safe):
    here = {"mask": "all", "max_steps": 50}
    words = r"max_steps=100 \(here 50\)"
    aec = mcts_envs.make_aec(DUEL, **here)
    aec.reset(seed=0)
    batch = mcts_envs.make_vec(DUEL, 2, **here)
    sb3 = mcts_envs.make_sb3_vec_env(DUEL, 2, **here)
    dummy = DummyVecEnv([lambda: make(DUEL, **here)])
    with pytest.warns(PolicyWarning, match=rf"{words}; this"):  # nobody else's mask is meant where agents meet
        agents.make(f"sb3:{safe}").act(aec)
    for env in (batch, sb3, dummy):
        notices._said.clear()
        observations = env.reset()
        observations = observations[0] if env is batch else observations
        with pytest.warns(PolicyWarning, match=words):
            agents.make(f"sb3:{safe}").bind(env).predict(observations)
    aec.reset(seed=0)
    with pytest.warns(PolicyWarning, match="was trained with other rules or rewards than here"):
        agents.make(f"sb3:{safe}").act(aec.view())
    assert moved.settings_of(gym.make("CartPole-v1")) is None


def test_a_comparison_names_what_differs_once(safe, tmp_path):
    plan = Plan(DUEL, parse_agents(f"sb3:{safe},random"), {"max_steps": 40})
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert compare(plan, 2, folder=tmp_path).finished
    assert [str(warning.message).partition(" was trained with ")[2].partition(";")[0] for warning in heard] == [
        "max_steps=100 (here 40)"
    ]


# Trust


def test_files_of_others_are_warned_of_once_a_file(normalized, tmp_path, safe):
    path = shutil.copy(normalized[0], tmp_path / "theirs.zip")
    pickled = normalized[0].with_name("rl_model_vecnormalize_1024_steps.pkl")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for _ in range(2):
            agents.make(f"sb3:{path}", algorithm="ppo", normalization=pickled)
            agents.make(f"sb3:{safe}")
            agents.make(f"sb3:{shipped(LANES, 'ppo')}")
            agents.make("ppo").act(_started())
    assert [str(warning.message).partition(" holds pickles")[0].rpartition("/")[2] for warning in heard] == [
        "theirs.zip",
        "rl_model_vecnormalize_1024_steps.pkl",
    ]
    assert {warning.filename for warning in heard} == {__file__}
    assert "arbitrary code execution" in str(heard[0].message)
    assert "source that you trust" in str(heard[0].message)


def test_a_sidecar_proves_nothing(safe, tmp_path):
    for file in (safe, safe.with_suffix(".json")):
        shutil.copy(file, tmp_path)
    with pytest.warns(PolicyWarning, match="arbitrary code execution"):
        agents.make(f"sb3:{tmp_path / safe.name}")
    notices._said.clear()
    with pytest.warns(PolicyWarning, match="arbitrary code execution"):
        train(DUEL, out=tmp_path / "on", resume=tmp_path / safe.name, timesteps=1100, tensorboard=False, progress=False)


def _started():
    env = make(LANES)
    env.reset(seed=0)
    return env


@TRUSTED
@pytest.mark.parametrize("own", [{"n_steps": 3}, {"replay_buffer_class": HerReplayBuffer}], ids=["steps", "hindsight"])
def test_the_replay_buffer_of_a_dqn_does_not_matter(tmp_path, own, recwarn):
    env = BitFlippingEnv(4) if "n_steps" not in own else make(LANES)
    policy = "MlpPolicy" if "n_steps" in own else "MultiInputPolicy"
    model = DQN(policy, env, buffer_size=100, device="cpu", **own)
    model.save(tmp_path / "mine.zip")
    found = load_policy(tmp_path / "mine.zip").model.policy.state_dict()
    assert all(bool((found[name] == weights).all()) for name, weights in model.policy.state_dict().items())
    assert not [warning for warning in recwarn if "is ignored" in str(warning.message)]
