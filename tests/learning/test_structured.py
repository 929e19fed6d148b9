"""Policies on observations that are no arrays: numbers, several of them, dictionaries, and PettingZoo's with a mask."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import pettingzoo
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import agents
from agents.bridge import Remember, view
from agents.learning.algorithms import one_thread
from agents.learning.loading import load_policy
from agents.learning.saved.notices import PolicyWarning
from agents.learning.searching import evaluator_for, read_policy
from mcts_envs import make_sb3_vec_env
from mcts_envs.core.view import View

PICTURE = spaces.Box(0, 255, (36, 37, 3), np.uint8)
TOGETHER = spaces.Dict(
    picture=PICTURE,
    place=spaces.Discrete(5),
    speed=spaces.Box(-1.0, 1.0, (2, 3, 4), np.float32),
    pair=spaces.MultiDiscrete([3, 4]),
    bits=spaces.MultiBinary(3),
)
SPACES = [TOGETHER["place"], TOGETHER["pair"], TOGETHER["bits"], TOGETHER]
TRUSTED = pytest.mark.filterwarnings("ignore:.* holds pickles")


@pytest.fixture(autouse=True)
def _quietly():
    with one_thread():
        yield


class Shows(gym.Env):
    """Shows what a space draws, another at each step, and pays for the action of that number."""

    action_space = spaces.Discrete(3)

    def __init__(self, space):
        self.observation_space = space

    def _seen(self):
        self.observation_space.seed(self.t)
        return self.observation_space.sample()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self._seen(), {}

    def step(self, action):
        self.t += 1
        return self._seen(), float(action == self.t % 3), self.t == 6, False, {}


def trained(space):
    kind = "MultiInputPolicy" if isinstance(space, spaces.Dict) else "MlpPolicy"
    small = {"n_steps": 32, "batch_size": 16, "n_epochs": 2, "policy_kwargs": {"net_arch": [8]}}
    return PPO(kind, Shows(space), device="cpu", seed=0, learning_rate=0.01, **small)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_a_search_hears_what_the_policy_says_of_the_observation(space):
    model, env = trained(space), Remember(Shows(space))
    model.learn(64)
    seen, _ = env.reset(seed=0)
    for _ in range(3):
        at = view(env)
        evaluator, prior, values = evaluator_for(read_policy(model), at.game), np.zeros(3), np.zeros(1)
        evaluator.advise(at.state, 0, prior)
        evaluator.evaluate(at.state, values)
        shown, _ = model.policy.obs_to_tensor(seen)
        wanted = model.policy.get_distribution(shown).distribution.probs.detach().numpy()[0]
        np.testing.assert_allclose(prior, wanted, atol=1e-6)
        np.testing.assert_allclose(values, model.policy.predict_values(shown).detach().numpy()[0], atol=1e-5)
        seen, *_ = env.step(1)
    assert agents.make("mcts", select="puct", policy=model, evaluate="policy", simulations=8).search(env).simulations


def test_a_model_of_a_class_derived_from_an_algorithm_is_one_of_it():
    class Clipped(PPO):
        """Learns in another way."""

    model = Clipped("MlpPolicy", Shows(spaces.Discrete(5)), n_steps=16, batch_size=16, device="cpu")
    assert read_policy(model).algorithm == "ppo"


@TRUSTED
@pytest.mark.parametrize("saved", [False, True])
def test_dictionaries_are_normalised_as_in_training(tmp_path, saved):
    space = spaces.Dict(TOGETHER.spaces | {"far": spaces.Box(-1e4, 1e4, (2,), np.float32)})
    batch = VecNormalize(DummyVecEnv([lambda: Shows(space)]), norm_obs_keys=["speed", "far"], clip_obs=0.7)
    small = {"n_steps": 32, "batch_size": 16, "n_epochs": 2, "policy_kwargs": {"net_arch": [8]}}
    model = PPO("MultiInputPolicy", batch, device="cpu", seed=0, **small).learn(64)
    batch.training = False
    given = model
    if saved:
        model.save(tmp_path / "one.zip")
        batch.save(tmp_path / "vecnormalize.pkl")
        given = load_policy(tmp_path / "one.zip", algorithm="ppo", normalization="auto")
    env = Remember(Shows(space))
    seen, _ = env.reset(seed=0)
    for _ in range(3):
        at, prior, values = view(env), np.zeros(3), np.zeros(1)
        evaluator = evaluator_for(read_policy(given), at.game)
        evaluator.advise(at.state, 0, prior)
        evaluator.evaluate(at.state, values)
        shown, _ = model.policy.obs_to_tensor(batch.normalize_obs(seen))
        wanted = model.policy.get_distribution(shown).distribution.probs.detach().numpy()[0]
        np.testing.assert_allclose(prior, wanted, atol=1e-6)
        worth = model.policy.predict_values(shown).detach().numpy()[0]
        np.testing.assert_allclose(values / np.sqrt(batch.ret_rms.var + 1e-8), worth, atol=1e-5)
        if saved:
            agent = agents.make(f"sb3:{tmp_path / 'one.zip'}", algorithm="ppo", normalization="auto")
            assert agent.act(env) == model.predict(batch.normalize_obs(seen), deterministic=True)[0]
        seen, *_ = env.step(1)


def test_statistics_as_for_an_evaluation_do_not_say_what_values_count(quietly_anew):
    env = VecNormalize(DummyVecEnv([lambda: gym.make("CartPole-v1")]), training=False, norm_reward=False)
    model = PPO("MlpPolicy", env, device="cpu")
    with pytest.warns(PolicyWarning, match="PPO: its VecNormalize has training=False and norm_reward=False"):
        read_policy(model)
    env.ret_rms.var = np.array(9.0)
    env.norm_reward = True
    assert read_policy(model).unit == pytest.approx(3.0)


@TRUSTED
@pytest.mark.filterwarnings("error::agents.learning.saved.notices.PolicyWarning")
@pytest.mark.parametrize("where", ["memory", "disk", "arrays"])
def test_bytes_are_normalised_as_in_training(tmp_path, quietly_anew, where):
    env = VecNormalize(make_sb3_vec_env("LaneDefense3x3-v0", 2, observation="planes", observation_dtype="uint8"))
    kwargs = {"policy_kwargs": {"normalize_images": False}, "device": "cpu", "seed": 0}
    model = PPO("MlpPolicy", env, n_steps=16, batch_size=32, **kwargs).learn(32)
    env.training = False
    seen, at = env.normalize_obs(env.venv.reset())[:1], env.env_method("view")[0]
    given = model
    if where != "memory":
        model.save(tmp_path / "mine.zip")
        env.save(str(tmp_path / "mine.pkl"))
        given = load_policy(tmp_path / "mine.zip", normalization="auto")
    if where == "arrays":
        given = load_policy(agents.export(tmp_path / "mine.zip", normalization="auto"))
    policy, values = read_policy(given), np.zeros(1)
    assert policy.in_bytes
    evaluator_for(policy, at.game).evaluate(at.state, values)
    worth = model.policy.predict_values(model.policy.obs_to_tensor(seen)[0]).item()
    assert values[0] / np.sqrt(env.ret_rms.var + 1e-8) == pytest.approx(worth, abs=1e-5)


@TRUSTED
@pytest.mark.parametrize("algorithm", [PPO, DQN], ids=lambda algorithm: algorithm.__name__)
def test_a_saved_policy_acts_as_it_predicts(tmp_path, algorithm):
    env = Remember(gym.make("FrozenLake-v1"))
    model = algorithm("MlpPolicy", env, device="cpu", seed=0)
    model.save(tmp_path / "lake.zip")
    agent = agents.make(f"sb3:{tmp_path / 'lake.zip'}", algorithm=algorithm.__name__.lower())
    seen, _ = env.reset(seed=1)
    ended = False
    while not ended:
        action = agent.act(env)
        assert action == model.predict(seen, deterministic=True)[0]
        seen, _, terminated, truncated, _ = env.step(env.action_space.sample())
        ended = terminated or truncated


def test_dictionaries_with_a_mask_show_the_observation():
    class Alone(gym.Env):
        observation_space, action_space = spaces.Box(0, 1, (3, 3, 2), np.int8), spaces.Discrete(9)

    env = pettingzoo.make("aec", "classic/tictactoe-v3")
    model = MaskablePPO("MlpPolicy", Alone(), device="cpu", seed=0)
    env.reset(seed=0)
    for action in (4, 0, 8):
        at, seen = view(env), env.observe(env.agent_selection)
        prior = np.zeros(9)
        evaluator_for(read_policy(model), at.game).advise(at.state, at.player, prior)
        shown, _ = model.policy.obs_to_tensor(seen["observation"])
        masks = seen["action_mask"].astype(bool)
        wanted = model.policy.get_distribution(shown, masks).distribution.probs.detach().numpy()[0]
        np.testing.assert_allclose(prior, wanted, atol=1e-6)
        assert agents.make("gumbel", policy=model, simulations=8).act(env) in np.flatnonzero(masks)
        env.step(action)


def test_dictionaries_in_another_order_are_told_apart():
    parts = {"near": spaces.Discrete(2), "far": spaces.Discrete(2)}
    model = trained(spaces.Dict([*parts.items()]))
    remembered = Remember(Shows(spaces.Dict([*parts.items()][::-1])))
    remembered.reset(seed=0)
    with pytest.raises(ValueError, match="use a policy that was trained here"):
        agents.make("gumbel", policy=model, simulations=8).act(remembered)


def test_another_structure_is_refused():
    model = trained(TOGETHER["place"])
    for env, shows in (
        (Shows(TOGETHER["pair"]), r"MultiDiscrete\(\[3 4\]\)"),
        (Shows(spaces.Discrete(6)), r"Discrete\(6\)"),
        (Shows(spaces.Box(0, 1, (5,), np.float32)), r"arrays \(5,\)"),
    ):
        remembered = Remember(env)
        remembered.reset(seed=0)
        with pytest.raises(ValueError, match=rf"on Discrete\(5\) and 3 actions; Shows shows {shows} and has 3"):
            agents.make("gumbel", policy=model, simulations=8).act(remembered)
    flat = PPO("MlpPolicy", Shows(spaces.Box(0, 1, (4,), np.float32)), device="cpu")
    remembered = Remember(Shows(TOGETHER["place"]))
    remembered.reset(seed=0)
    with pytest.raises(ValueError, match="train yours on the environment as it is or in FlattenObservation"):
        agents.make("gumbel", policy=flat, simulations=8).act(remembered)


def test_the_mask_of_a_models_training_goes_with_it():
    model = MaskablePPO("MlpPolicy", make_sb3_vec_env("BomberDuel-v0", 1, seed=0, mask="safe"), device="cpu")
    env = gym.make("mcts_envs/BomberDuel-v0")
    env.reset(seed=3)
    agent, safe = agents.make("puct", policy=model, simulations=4), env.unwrapped.game.variant("safe", "legal")
    kept = 0
    for _ in range(12):
        view = env.unwrapped.view()
        allowed = View(safe, view.state, view.player).action_masks()
        assert agent.search(env).prior[~allowed].sum() == 0.0
        kept += int((view.action_masks() & ~allowed).sum())
        env.step(int(np.flatnonzero(allowed)[-1]))
    assert kept > 5
