"""Policies of pictures, of arrays and of observations in bytes, alone and in a search."""

import tracemalloc
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import (
    FlattenObservation,
    FrameStackObservation,
    NormalizeObservation,
    RescaleObservation,
    TimeAwareObservation,
    TimeLimit,
)

import agents
import mcts_envs
from agents.bridge import Remember
from agents.evaluator.batched import BatchedEvaluator
from agents.evaluator.plain import PlainEvaluator
from agents.learning.expert_plan import Plan
from agents.learning.saved.notices import PolicyWarning
from agents.learning.searching import evaluator_for, read_policy
from mcts_envs.core.api.quantized import quantized
from mcts_envs.core.view import View
from tests.learning.policies import LANES, game_of, make, positions, random_policy

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")
SEARCHES = {"name": "gumbel"}, {"name": "mcts", "select": "puct", "evaluate": "policy"}


class Dot(gym.Env):
    """A dot in a picture that goes left or right."""

    action_space = spaces.Discrete(2)

    def __init__(self, shape=(40, 36, 3), dtype=np.uint8):
        self.observation_space = spaces.Box(0, 255, shape, dtype)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.made = int(self.np_random.integers(2, 6)), 0
        return self._shown(), {}

    def step(self, action):
        self.at, self.made = self.at + 2 * int(action) - 1, self.made + 1
        return self._shown(), float(self.at == 7), self.at in (0, 7), self.made >= 20, {}

    def _shown(self):
        shown = np.zeros(self.observation_space.shape, self.observation_space.dtype)
        shown.reshape(-1)[8 * self.at + self.made % 7] = 200
        return shown


def saved(path, env, kind="MlpPolicy"):
    stable_baselines3 = pytest.importorskip("stable_baselines3")
    model = stable_baselines3.PPO(kind, env, seed=0, device="cpu")
    model.save(path)
    return model


def said(model, observation):
    """Return the probabilities and the value that a model gives an observation as its environment shows it."""
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        shown, _ = model.policy.obs_to_tensor(observation)
        probabilities = model.policy.get_distribution(shown).distribution.probs[0].numpy()
        return probabilities, float(model.policy.predict_values(shown)[0, 0])


@pytest.mark.parametrize(
    ("kind", "shape", "dtype"),
    [
        ("CnnPolicy", (40, 36, 3), np.uint8),
        ("CnnPolicy", (3, 40, 36), np.uint8),
        ("MlpPolicy", (9, 8, 3), np.uint8),
        ("MlpPolicy", (9, 8), np.uint8),
        ("MlpPolicy", (9, 8), np.float32),
    ],
)
def test_environments_of_others(kind, shape, dtype, tmp_path):
    model = saved(tmp_path / "p.zip", Dot(shape, dtype), kind)
    env = Remember(Dot(shape, dtype))
    env.reset(seed=3)
    alone = agents.make(f"sb3:{tmp_path / 'p.zip'}", algorithm="ppo")
    for action in range(2):
        probabilities, _ = said(model, env.observation)
        chosen = int(model.predict(env.observation, deterministic=True)[0])
        assert alone.act(env) == chosen
        for settings in SEARCHES:
            result = agents.make(**settings, policy=tmp_path / "p.zip", simulations=9).search(env)
            np.testing.assert_allclose(result.prior, probabilities, atol=1e-5)
        env.step(action)


def test_the_value_of_a_picture(tmp_path):
    model = saved(tmp_path / "p.zip", Dot(), "CnnPolicy")
    env = Remember(Dot())
    env.reset(seed=1)
    agent = agents.make("mcts", policy=tmp_path / "p.zip", evaluate="policy", simulations=1, discount=1.0)
    result = agent.search(env)
    observation, reward, *_ = env.step(result.action)
    assert result.values[result.action] == pytest.approx(reward + said(model, observation)[1], abs=1e-5)


@pytest.mark.parametrize(
    ("trained", "here", "said"),
    [
        (
            lambda env: RescaleObservation(env, np.float32(0), np.float32(1)),
            lambda env: env,
            r"\[0\.0, 1\.0\], .*255\.0\]",
        ),
        (NormalizeObservation, lambda env: env, r"\[-inf, inf\], .*255\.0\]: .* function that makes"),
        (lambda env: env, NormalizeObservation, r"255\.0\], .*\[-inf, inf\]"),
    ],
)
@pytest.mark.filterwarnings("always::agents.learning.saved.notices.PolicyWarning")
def test_numbers_of_another_range_are_told(trained, here, said, tmp_path, quietly_anew):
    saved(tmp_path / "p.zip", trained(Dot((90,), np.float32)))
    env = Remember(here(Dot((90,), np.float32)))
    env.reset(seed=3)
    with pytest.warns(PolicyWarning, match=said):
        agents.make(f"sb3:{tmp_path / 'p.zip'}").act(env)
    env = Remember(trained(Dot((90,), np.float32)))
    env.reset(seed=3)
    with warnings.catch_warnings(record=True) as told:
        agents.make(f"sb3:{tmp_path / 'p.zip'}").act(env)
    assert not [each for each in told if "was trained on observations in" in str(each.message)]


class Position(gym.ObservationWrapper):
    """Shows where the dot is, which it asks the environment inside."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = spaces.Box(0, 20, (2,), np.float32)

    def observation(self, observation):
        return np.array([self.unwrapped.at, self.unwrapped.made], np.float32)


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda env: Remember(FlattenObservation(env)),
        lambda env: Remember(FlattenObservation(RescaleObservation(env, np.float32(0), np.float32(1)))),
        lambda env: FlattenObservation(Remember(RescaleObservation(env, np.float32(0), np.float32(1)))),
        lambda env: Remember(Position(env)),
    ],
)
def test_through_observation_wrappers(wrapped, tmp_path):
    model = saved(tmp_path / "p.zip", wrapped(Dot((9, 8), np.float32)))
    env = wrapped(Dot((9, 8), np.float32))
    observation, _ = env.reset(seed=3)
    alone = agents.make(f"sb3:{tmp_path / 'p.zip'}", algorithm="ppo")
    agent = agents.make(**SEARCHES[1], policy=tmp_path / "p.zip", simulations=1)
    for _ in range(2):
        assert alone.act(env) == int(model.predict(observation, deterministic=True)[0])
        result = agent.search(env)
        np.testing.assert_allclose(result.prior, said(model, observation)[0], atol=1e-5)
        observation, reward, terminated, *_ = env.step(result.action)
        ahead = 0.0 if terminated else said(model, observation)[1]
        assert result.values[result.action] == pytest.approx(reward + ahead, abs=1e-5)


def test_a_search_adds_nothing_to_running_statistics(tmp_path):
    saved(tmp_path / "p.zip", FlattenObservation(Dot((9, 8), np.float32)))
    env = Remember(NormalizeObservation(FlattenObservation(Dot((9, 8), np.float32))))
    env.reset(seed=3)
    count, mean = env.env.obs_rms.count, env.env.obs_rms.mean.copy()
    agents.make("gumbel", policy=tmp_path / "p.zip", simulations=8).act(env)
    assert env.env.obs_rms.count == count
    np.testing.assert_array_equal(env.env.obs_rms.mean, mean)


@pytest.mark.parametrize(
    ("wrapped", "shape"),
    [
        (lambda env: FrameStackObservation(env, 4), r"\(4, 9, 8\)"),
        (lambda env: TimeAwareObservation(env, normalize_time=True), r"\(73,\)"),
    ],
)
def test_what_keeps_something_of_the_past_is_refused(wrapped, shape, tmp_path):
    env = Remember(wrapped(TimeLimit(Dot((9, 8), np.float32), 20)))
    saved(tmp_path / "p.zip", env)
    env.reset(seed=3)
    with pytest.raises(ValueError, match=f"was trained on observations {shape}.*something of the past.*own_agent"):
        agents.make("gumbel", policy=tmp_path / "p.zip", simulations=8).act(env)


def test_games_of_ours_in_bytes():
    game = game_of(LANES)
    policy = random_policy(game, settings={"observation_dtype": "uint8"})
    evaluator = evaluator_for(policy, game)
    assert isinstance(evaluator, BatchedEvaluator)
    weights, values = np.zeros(game.actions), np.zeros(game.players)
    for state, player, legal in positions(game, 20):
        seen, mask = np.zeros(game.observation_shape, np.float32), np.zeros((1, game.actions), bool)
        game.observe(state, player, seen.reshape(-1))
        mask[0, legal] = True
        evaluator.advise(state, player, weights)
        evaluator.evaluate(state, values)
        np.testing.assert_allclose(weights, policy.probabilities(quantized(seen)[None], mask)[0], atol=1e-6)
        np.testing.assert_allclose(values[player], policy.values(quantized(seen)[None])[0], atol=1e-5)


def test_a_zip_trained_on_bytes_searches(tmp_path):
    pytest.importorskip("stable_baselines3")
    envs = mcts_envs.make_sb3_vec_env(f"mcts_envs/{LANES}", 1, seed=0, observation="planes", observation_dtype="uint8")
    model = saved(tmp_path / "p.zip", envs)
    env = make(LANES)
    view = env.unwrapped.view()
    probabilities, _ = said(model, quantized(View(view.game.variant("planes"), view.state, view.player).observe()))
    result = agents.make("mcts", select="puct", policy=tmp_path / "p.zip", evaluate="policy", simulations=20).search(
        env
    )
    legal = view.action_masks()
    np.testing.assert_allclose(result.prior, np.where(legal, probabilities, 0) / probabilities[legal].sum(), atol=1e-5)


def test_a_search_teaches_bytes_what_it_teaches_numbers(tmp_path):
    expert, storage = (pytest.importorskip(f"agents.learning.{name}") for name in ("expert", "saved.storage"))
    plan = Plan(iterations=0, games=2, imitate={"agent": "scripted"}, match_games=0, epochs=40, batch=64)
    small = {"n_envs": 1, "n_steps": 64, "batch_size": 64, "policy_kwargs": {"net_arch": [8]}}
    seen, said = make(LANES, observation="planes").reset(seed=0)[0][None], []
    for dtype, shown in (("float32", seen), ("uint8", quantized(seen))):
        settings = {"observation": "planes", "observation_dtype": dtype}
        learned = expert.expert_iteration(
            LANES, "ppo", out=tmp_path / dtype, plan=plan, changes=small, settings=settings, workers=1
        )
        policy = storage.load(learned.path)
        said.append((learned.history[0]["policy_loss"], policy.values(shown), policy.probabilities(shown)[0]))
    for numbers, in_bytes in zip(*said, strict=True):
        np.testing.assert_allclose(in_bytes, numbers, rtol=0.1)


def test_bytes_that_are_normalised_are_so_for_past_selves_and_searches():
    ppo, selfplay = pytest.importorskip("stable_baselines3").PPO, pytest.importorskip("agents.learning.selfplay")
    normalize = pytest.importorskip("stable_baselines3.common.vec_env").VecNormalize
    settings = {"board_size": 3, "observation": "planes", "observation_dtype": "uint8", "opponent": {"random": 1}}
    env = normalize(mcts_envs.make_sb3_vec_env("WallSurvival-v0", 2, seed=0, **settings))
    model = ppo("MlpPolicy", env, n_steps=8, batch_size=16, device="cpu").learn(16)
    view = env.env_method("view")[0]
    shown = env.normalize_obs(quantized(view.observe())[None])
    past = selfplay.PastSelf(model)._prepared(view.observe()[None])
    np.testing.assert_allclose(past, shown, atol=1e-6)
    values, wanted = np.zeros(2), env.ret_rms.var**0.5 * said(model, shown)[1]
    evaluator_for(read_policy(model), view.game).evaluate(view.state, values)
    assert values[view.player] == pytest.approx(wanted, rel=1e-4)


@pytest.mark.filterwarnings("ignore:Treating image space as channels-last")
def test_planes_that_were_turned_in_training_are_told(tmp_path):
    pytest.importorskip("sb3_contrib")
    env = make("LaneDefense5x9-v0", observation="planes", observation_dtype="uint8")
    saved(tmp_path / "turned.zip", env)
    with pytest.raises(ValueError, match=r"observations \(9, 18, 5\).* here; Stable-Baselines3 turned the planes"):
        agents.make(f"sb3:{tmp_path / 'turned.zip'}").act(env)


class Pictures:
    """A game of one, and a policy of it, in which every state is another picture."""

    observation_shape, actions, players, in_bytes = (400, 400, 3), 2, 1, False

    def observe(self, state, player, seen):
        seen[state] = 1.0

    def active(self, state):
        return 0

    def consulted(self, observations, masks):
        return np.full(masks.shape, 0.5), np.zeros(len(observations))


def test_what_was_said_of_pictures_is_kept_without_them():
    """A long game shows hundred thousands."""
    game, weights = Pictures(), np.zeros(2)
    evaluator = PlainEvaluator(game, game)
    tracemalloc.start()
    try:
        for state in range(20):
            evaluator.advise(state, 0, weights)
        assert tracemalloc.get_traced_memory()[0] < 8e6  # a picture has 1.9 MB
    finally:
        tracemalloc.stop()
