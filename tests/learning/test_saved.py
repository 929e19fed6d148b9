"""Saved policies and those that come with the package: what is refused, copied, and how well it plays."""

import copy
import importlib
import json
import pickle
import sys
import warnings
import zipfile
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.distributions import CategoricalDistribution
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork

import agents
import mcts_envs
from agents.learning.evaluation import evaluate
from agents.learning.loading import load_policy
from agents.learning.saved import storage
from agents.learning.saved.fitting import fitting
from agents.learning.saved.notices import PolicyWarning
from agents.learning.saved.policy import NetworkPolicy
from agents.learning.saved.shipped import FOLDER, made_for, shipped, shipped_for
from agents.learning.searching import read_policy
from tests.learning.quick import make, quick

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")
IDS = ("LaneDefense3x3-v0", "LaneDefense10x10-v0", "LaneDefense5x9-v0")


def without(zipped, name):
    """Return the path of a policy's zip that does not say what its policy is."""
    with zipfile.ZipFile(zipped) as source, zipfile.ZipFile(name, "w") as target:
        for part in source.namelist():
            target.writestr(part, b"{}" if part == "data" else source.read(part))
    return name


def test_a_zip_without_sidecar_says_its_algorithm(tmp_path, trained):
    path = tmp_path / "mine.zip"
    path.write_bytes(trained["ppo"].read_bytes())
    with pytest.raises(ValueError, match="does not say which algorithm"):
        agents.make(f"sb3:{without(path, tmp_path / 'silent.zip')}")
    env = make(IDS[0])
    env.reset(seed=0)
    expected = agents.make(f"sb3:{trained['ppo']}").act(env)
    assert agents.make(f"sb3:{path}", algorithm="ppo").act(env) == expected
    assert agents.make(f"sb3:{path}").act(env) == expected
    with pytest.raises(ValueError, match="no policy of maskable_ppo"):
        agents.make(f"sb3:{path}", algorithm="maskable_ppo")
    with pytest.raises(ValueError, match="dqn"):
        agents.make(f"sb3:{path}", algorithm="dqn")
    with pytest.raises(ValueError, match="did you mean 'ppo'"):
        agents.make(f"sb3:{path}", algorithm="pppo")


class OwnPolicy(ActorCriticPolicy):
    """A policy class of somebody's own."""


class OwnMaskedPolicy(MaskableActorCriticPolicy):
    """One with masks."""


@pytest.mark.parametrize(
    ("learner", "policy", "name"),
    [(PPO, OwnPolicy, "ppo"), (A2C, OwnPolicy, "a2c"), (MaskablePPO, OwnMaskedPolicy, "maskable_ppo")],
)
def test_a_policy_class_of_ones_own_is_recognised(tmp_path, learner, policy, name):
    env = make(IDS[0])
    env.reset(seed=0)
    learner(policy, env, device="cpu", n_steps=64).save(tmp_path / "own")
    assert storage.load(tmp_path / "own").algorithm == name
    settings = {"policy": str(tmp_path / "own.zip"), "evaluate": "policy", "simulations": 4}
    assert agents.make("mcts", select="puct", **settings).act(env) in range(10)


class DoubtfulPolicy(ActorCriticPolicy):
    """One that is less sure than its layers, and always content."""

    def get_distribution(self, obs):
        found = super().get_distribution(obs)
        return found.proba_distribution(0.1 * found.distribution.logits)

    def predict_values(self, obs):
        return 0.0 * super().predict_values(obs) + 5.0


class StubbornPolicy(ActorCriticPolicy):
    """One that plays the last action, whatever its layers say."""

    def _predict(self, observation, deterministic=False):
        return 0 * super()._predict(observation, deterministic) + 9


class Last(CategoricalDistribution):
    """A distribution whose best action is the last one."""

    def mode(self):
        return 0 * super().mode() + 9


class LastPolicy(ActorCriticPolicy):
    """One that draws by it."""

    def __init__(self, *given, **settings):
        super().__init__(*given, **settings)
        self.action_dist = Last(int(self.action_space.n))


class WorstNetwork(QNetwork):
    """A network that takes the action of the least value."""

    def _predict(self, observation, deterministic=True):
        return self(observation).argmin(1)


class WorstPolicy(DQNPolicy):
    """One that has it."""

    network = WorstNetwork

    def make_q_net(self):
        return self.network(**self._update_features_extractor(self.net_args, features_extractor=None))


class DuelingNetwork(QNetwork):
    """A network whose layers are no sequence."""

    def __init__(self, *given, **settings):
        super().__init__(*given, **settings)
        self.q_net = torch.nn.Bilinear(38, 38, 10)

    def forward(self, observation):
        return self.q_net(observation, observation)


class DuelingPolicy(WorstPolicy):
    """One that has it."""

    network = DuelingNetwork


class UnbiasedPolicy(ActorCriticPolicy):
    """One whose last layer adds nothing."""

    def __init__(self, *given, **settings):
        super().__init__(*given, **settings)
        self.action_net = torch.nn.Linear(64, 10, bias=False)


@pytest.mark.parametrize(
    ("learner", "policy", "plain"),
    [
        (PPO, OwnPolicy, True),
        (PPO, UnbiasedPolicy, True),
        (PPO, StubbornPolicy, False),
        (PPO, LastPolicy, False),
        (DQN, WorstPolicy, False),
        (DQN, DuelingPolicy, False),
    ],
)
def test_an_agent_plays_what_a_policy_class_of_ones_own_predicts(learner, policy, plain, tmp_path):
    env = make(IDS[0])
    env.reset(seed=0)
    model = learner(policy, env, device="cpu")
    model.save(tmp_path / "own")
    agent = agents.make(f"sb3:{tmp_path / 'own'}", algorithm=learner.__name__.lower())
    assert isinstance(agent._loaded, NetworkPolicy) == plain
    assert agent.act(env) == model.predict(env.unwrapped.view().observe(), deterministic=True)[0]


@pytest.mark.parametrize("activation", ["Tanh", "GELU"])
def test_a_search_asks_the_methods_of_a_policy_class_of_ones_own(tmp_path, activation):
    env = make(IDS[0])
    seen, _ = env.reset(seed=0)
    model = PPO(DoubtfulPolicy, env, device="cpu", policy_kwargs={"activation_fn": getattr(torch.nn, activation)})
    with torch.no_grad():
        model.policy.action_net.weight *= 1000.0
    wanted = model.policy.get_distribution(model.policy.obs_to_tensor(seen)[0]).distribution.probs.numpy(force=True)[0]
    policy = read_policy(model)
    prior, values = policy.consulted(seen[None], np.ones((1, 10), bool))
    np.testing.assert_allclose(prior[0], wanted, atol=1e-6)
    assert values.tolist() == [5.0]
    model.save(tmp_path / "own.zip")
    with pytest.raises(ValueError, match=r"says by DoubtfulPolicy.get_distribution what no layers say"):
        agents.export(tmp_path / "own.zip")


@pytest.mark.parametrize("activation", ["Tanh", "GELU"])
def test_a_search_keeps_the_weights_of_a_model_that_learns_on(activation):
    small = {"n_steps": 32, "batch_size": 32, "policy_kwargs": {"activation_fn": getattr(torch.nn, activation)}}
    model = PPO("MlpPolicy", make(IDS[0]), learning_rate=0.1, device="cpu", **small)
    seen = np.ones((1, 38), np.float32)
    for _ in range(2):
        policy = read_policy(model)
        before = policy.values(seen), policy.probabilities(seen)
        model.learn(32)
        assert np.array_equal(before[0], policy.values(seen))
        assert np.array_equal(before[1], policy.probabilities(seen))
        assert before[0] != read_policy(model).values(seen)


def test_a_policy_without_probabilities(tmp_path):
    DQN("MlpPolicy", make(IDS[0]), device="cpu", buffer_size=10).save(tmp_path / "q")
    env = make(IDS[0])
    env.reset(seed=0)
    assert agents.make(f"sb3:{tmp_path / 'q'}", algorithm="dqn").act(env) in range(10)
    with pytest.raises(ValueError, match="no probabilities"):
        agents.make(f"sb3:{tmp_path / 'q'}", algorithm="dqn", deterministic=False).act(env)


def test_a_small_network_keeps_to_one_core(trained, monkeypatch):
    policy, seen = storage.load(trained["maskable_ppo"]), []
    policy.model.policy.action_net.register_forward_hook(lambda *_: seen.append(torch.get_num_threads()))
    shown, masks = np.zeros((3, *policy.observation_shape), np.float32), np.ones((3, policy.action_count), bool)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        for most, threads in ((storage._SMALL, 1), (1, 3)):
            monkeypatch.setattr(storage, "_SMALL", most)
            policy.__dict__.pop("small", None)
            policy.actions(shown, masks), policy.probabilities(shown, masks), policy.consulted(shown, masks)
            assert seen == [threads] * 3
            assert torch.get_num_threads() == 3
            seen.clear()
    finally:
        torch.set_num_threads(before)


def test_wrong_files(tmp_path, trained):
    with pytest.raises(FileNotFoundError, match=r"there is no policy .*none\.zip"):
        agents.make(f"sb3:{tmp_path / 'none'}")
    (tmp_path / "torn.zip").write_bytes(trained["ppo"].read_bytes()[:5000])
    with pytest.raises(ValueError, match="is damaged"):
        storage.load(tmp_path / "torn", "ppo")
    half = tmp_path / "half.zip"
    storage.load(trained["ppo"]).model.save(half)
    with zipfile.ZipFile(half) as whole:
        behind_another_zip = whole.getinfo("policy.optimizer.pth").header_offset
    half.write_bytes(half.read_bytes()[:behind_another_zip])
    with pytest.raises(ValueError, match="as if it was damaged"):
        storage.load(tmp_path / "half")
    (tmp_path / "torn.json").write_text("{")
    with pytest.raises(ValueError, match="is no JSON"):
        storage.load(tmp_path / "torn")
    (tmp_path / "torn.json").write_text("[]")
    with pytest.raises(ValueError, match="describes no policy"):
        storage.load(tmp_path / "torn")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("hello", "world")
    with pytest.raises(ValueError, match="is damaged, or no policy of ppo"):
        storage.load(tmp_path / "other", "ppo")
    with pytest.raises(ValueError, match="was made by 'ppo'"):
        storage.load(trained["ppo"], "maskable_ppo")
    with pytest.raises(ValueError, match="not for mcts_envs/LaneDefense10x10-v0"):
        storage.load(trained["ppo"], env_id="mcts_envs/LaneDefense10x10-v0")


def test_a_policy_whose_classes_lie_elsewhere_names_the_module(tmp_path, monkeypatch):
    from_torch = "from stable_baselines3.common.torch_layers import FlattenExtractor"
    (tmp_path / "my_net.py").write_text(f"{from_torch}\n\n\nclass Net(FlattenExtractor):\n    pass\n")
    with monkeypatch.context() as there:
        there.syspath_prepend(tmp_path)
        kind = importlib.import_module("my_net").Net
        PPO("MlpPolicy", "CartPole-v1", policy_kwargs={"features_extractor_class": kind}).save(tmp_path / "own.zip")
    del sys.modules["my_net"]
    with pytest.raises(ValueError, match=r"wants the module 'my_net', which is not found here; let PYTHONPATH name"):
        storage.load(tmp_path / "own.zip")


def test_weights_that_are_not_finite_are_refused_however_they_are_to_play(tmp_path):
    model = DQN("MlpPolicy", gym.make("CartPole-v1"), buffer_size=100, device="cpu")
    model.q_net.q_net[0].weight.data[:] = float("nan")  # whose best action would ever be the first
    model.save(tmp_path / "torn.zip")
    with pytest.raises(
        ValueError, match=r"q_net\.q_net\.0\.weight is not finite: training has diverged; take an earlier"
    ):
        agents.make(f"sb3:{tmp_path / 'torn.zip'}")


def test_a_policy_of_several_switches_is_none_of_numbered_actions(tmp_path):
    class Switches(gym.ActionWrapper):
        action_space = gym.spaces.MultiBinary(2)

        def action(self, action):
            return int(action[0])

    PPO("MlpPolicy", Switches(gym.make("CartPole-v1")), device="cpu").save(tmp_path / "two.zip")
    with pytest.raises(ValueError, match="only policies of Discrete ones will do"):
        agents.export(tmp_path / "two.zip")
    with pytest.raises(ValueError, match=r"only policies of Discrete ones will do: train one in a wrapper that"):
        agents.make(f"sb3:{tmp_path / 'two.zip'}")


def test_a_policy_for_another_game_is_refused(trained):
    for env_id in IDS[1:]:
        env = make(env_id)
        env.reset(seed=0)
        with pytest.raises(ValueError, match="use a policy that was trained here"):
            agents.make(f"sb3:{trained['ppo']}").act(env)


def test_a_policy_for_another_board_of_the_same_size_is_refused(tmp_path):
    path = quick(tmp_path, settings={"rows": 3, "columns": 4}).path
    assert json.loads(path.with_suffix(".json").read_text())["layout"] == {"planes": [6, 3, 4]}
    agent = agents.make(f"sb3:{path}")
    same, other = make(IDS[0], rows=3, columns=4, p_new=0.5), make(IDS[0], rows=4, columns=3)
    assert same.observation_space == other.observation_space
    for env in (same, other):
        env.reset(seed=0)
    assert agent.act(same) in range(13)
    with pytest.raises(ValueError, match=r"another board .* \(6, 3, 4\), here \(6, 4, 3\); use a policy"):
        agent.act(other)
    with pytest.raises(ValueError, match="another board"):
        evaluate(path, 2, settings={"rows": 4, "columns": 3})
    with pytest.raises(ValueError, match="another board"):
        quick(tmp_path, resume=path, timesteps=2048, settings={"rows": 4, "columns": 3})


GOOD_MOMENTS = {"mean": [0.0] * 38, "var": [1.0] * 38, "count": 9.0, "clip": 10.0, "epsilon": 1e-8}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("algorithm", ["ppo"], r"algorithm \['ppo'\] is list, not a name"),
        ("algorithm", "pppo", "did you mean 'ppo'"),
        ("environment", 3, "environment 3 is int, not an environment id"),
        ("settings", None, "settings None is NoneType, not an object"),
        ("timesteps", -1, r"timesteps -1 is outside \[0,"),
        ("seed", "0", "seed '0' is str, not an integer"),
        ("hyperparameters", [], r"hyperparameters \[\] is list"),
        ("observation_space", {"shape": 38}, r"observation_space\.shape 38 is int, not a list of sizes"),
        ("observation_space", {"shape": [37]}, r"observation_space\.shape is of size \[37\], but \[38\]"),
        ("action_space", {}, "action_space lacks 'n'"),
        ("action_space", {"n": 11}, r"action_space\.n is of size 11, but 10"),
        ("layout", {"planes": ["3"]}, r"layout\.planes\[0\] '3' is str"),
        ("normalization", [], r"normalization \[\] is list"),
        ("normalization", {"observations": {"mean": [0]}}, "normalization lacks 'rewards'"),
        (
            "normalization",
            {"rewards": None, "observations": {"mean": [0]}},
            r"normalization\.observations lacks 'clip'",
        ),
        ("normalization", {"rewards": 1, "observations": None}, r"normalization\.rewards 1 is int"),
        *(
            ("normalization", {"rewards": None, "observations": {**GOOD_MOMENTS, **change}}, message)
            for change, message in (
                ({"mean": "x"}, r"normalization\.observations\.mean 'x' is no array of numbers"),
                ({"mean": [float("nan")] * 38}, r"mean has values that are not finite"),
                ({"mean": [0.0]}, r"mean has shape \(1,\) and .*var \(38,\)"),
                ({"mean": [0.0], "var": [1.0]}, r"mean is of size \[1\], but \[38\]"),
                ({"var": [-1.0] * 38}, r"var has the value -1\.0"),
                ({"clip": 0}, r"clip 0\.0 is outside"),
                ({"epsilon": None}, r"epsilon None is NoneType"),
            )
        ),
    ],
)
def test_damaged_sidecars(tmp_path, trained, field, value, message):
    path = tmp_path / "ppo.zip"
    path.write_bytes(trained["ppo"].read_bytes())
    about = json.loads(trained["ppo"].with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps({**about, field: value}))
    with pytest.raises(
        ValueError, match=rf"ppo\.json: .*{message}.*restore the file, or remove it and name the algorithm"
    ):
        agents.make(f"sb3:{path}")


def test_a_short_sidecar_is_enough(tmp_path, trained):
    path = tmp_path / "mine.zip"
    path.write_bytes(trained["ppo"].read_bytes())
    path.with_suffix(".json").write_text('{"algorithm": "ppo", "note": "mine"}')
    env = make(IDS[0])
    env.reset(seed=0)
    assert agents.make(f"sb3:{path}").act(env) == agents.make(f"sb3:{trained['ppo']}").act(env)
    with pytest.raises(ValueError, match="names its environment"):
        evaluate(path, 2)


@pytest.mark.parametrize("name", ["sb3", "ppo"])
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
def test_copies_play_on(trained, monkeypatch, tmp_path, name, duplicate):
    monkeypatch.chdir(trained["ppo"].parent)
    env = make(IDS[0])
    env.reset(seed=0)
    agent = agents.make("sb3:ppo" if name == "sb3" else name, deterministic=False, seed=3)
    agent.act(env)
    monkeypatch.chdir(tmp_path)
    other = duplicate(agent)
    assert len(pickle.dumps(agent)) < 1000
    assert [other.act(env) for _ in range(20)] == [agent.act(env) for _ in range(20)]


# The policies that come with the package

RULE_BASED = {"opponent": "rule_based", "seat": "all"}
MOBILITY = {"opponent": "agents:mobility", "seat": "all"}


@pytest.mark.parametrize(
    ("env_id", "algorithm", "board", "others", "floor"),
    [
        ("LaneDefense3x3-v0", "ppo", {}, {}, 0.55),
        ("LaneDefense3x3-v0", "maskable_ppo", {}, {}, 0.55),
        ("LaneDefense3x3-v0", "dqn", {}, {}, 0.55),
        ("LaneDefense10x10-v0", "ppo", {}, {}, 0.80),
        ("LaneDefense10x10-v0", "dqn", {}, {}, 0.70),
        ("LaneDefense5x9-v0", "maskable_ppo", {}, {}, 0.77),
        ("Football1-v0", "maskable_ppo", {}, {"opponent": "random_types"}, 0.97),
        ("Football1-v0", "maskable_ppo", {}, {"opponent": "scripted", "seat": 1}, 0.75),
        ("Football3-v0", "maskable_ppo", {}, {"opponent": "random_types"}, 0.93),
        ("Football3-v0", "maskable_ppo", {}, {"opponent": "scripted", "seat": 1}, 0.60),
        pytest.param("Football5-v0", "maskable_ppo", {}, {"opponent": "random_types"}, 0.58, marks=pytest.mark.slow),
        pytest.param("Bomber-v0", "maskable_ppo", {}, RULE_BASED, 0.68, marks=pytest.mark.slow),
        ("BomberDuel-v0", "maskable_ppo", {}, RULE_BASED, 0.75),
        pytest.param("BomberTeam-v0", "maskable_ppo", {}, RULE_BASED, 0.70, marks=pytest.mark.slow),
        ("WallSurvival-v0", "maskable_ppo", {"board_size": 6}, MOBILITY, 0.82),
        ("WallSurvival-v0", "expert_iteration", {"board_size": 6}, MOBILITY, 0.58),
        ("WallSurvival-v0", "expert_iteration", {"board_size": 9}, {"opponent": "greedy", "seat": "all"}, 0.5),
    ],
)
def test_shipped_policies_beat_random_clearly(env_id, algorithm, board, others, floor):
    path = shipped(env_id, algorithm, **board)
    assert path.stat().st_size < 2**21
    with zipfile.ZipFile(path) as archive:
        assert "system_info.txt" not in archive.namelist()
    assert (path.parent / "README.md").is_file()
    found = evaluate(path, 40, settings={**board, **others})
    assert found.wins / found.games > floor
    env = make(env_id, **board)
    env.reset(seed=0)
    agent = agents.make(algorithm)
    assert agent.act(env) == agents.make(f"sb3:{path}").act(env)
    assert shipped_for(env.unwrapped.game, algorithm) == path


def test_no_policy_is_shipped_for_other_settings():
    env = make(IDS[0], p_new=0.1)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"no ppo policy is shipped for lane_defense .*scripts/train\.py"):
        agents.make("ppo").act(env)
    with pytest.raises(ValueError, match="no nothing policy"):
        shipped(IDS[0], "nothing")
    with pytest.raises(ValueError, match="no ppo policy is shipped for mcts_envs/LaneDefense3x3-v0, rows=4"):
        shipped(IDS[0], "ppo", rows=4)
    folders = {made_for(path.parent)[0] for path in FOLDER.glob("*/*.zip")}
    assert folders <= {name.split("/")[-1] for name in mcts_envs.environment_ids()}


def test_observations_that_a_wrapper_scaled_in_training_are_warned_of(tmp_path, quietly_anew):
    scaled = gym.wrappers.RescaleObservation(make(IDS[0]), np.float32(-1), np.float32(1))
    model = PPO("MlpPolicy", scaled, seed=0, device="cpu", policy_kwargs={"net_arch": [8]})
    model.save(tmp_path / "scaled")
    agents.export(tmp_path / "scaled.zip", to=tmp_path / "arrays.npz")
    env = make(IDS[0])
    env.reset(seed=0)
    with pytest.warns(PolicyWarning, match=r"PPO was trained behind RescaleObservation, and a search asks it about"):
        search = agents.make("puct", policy=model, simulations=4)
    for agent in (
        agents.make(f"sb3:{tmp_path / 'scaled.zip'}"),
        agents.make(f"sb3:{tmp_path / 'arrays.npz'}"),
        search,
    ):
        with pytest.warns(PolicyWarning, match=r"trained on observations in \[-1.0, 1.0\], .* in \[0.0, 1.0\]"):
            agent.act(env)
    own = replace(env.unwrapped.game, name="own", layout=None, position=None)
    with pytest.warns(PolicyWarning, match=r"own shows them in \[0.0, 1.0\]"):
        fitting(load_policy(tmp_path / "arrays.npz"), own)


def test_a_wrapper_that_changes_numbers_where_a_policy_plays_is_warned_of(tmp_path, trained):
    env = gym.wrappers.TransformObservation(make(IDS[0]), np.negative, None)
    env.reset(seed=0)
    PPO("MlpPolicy", make(IDS[0]), device="cpu").save(tmp_path / "mine")
    with pytest.warns(PolicyWarning, match=r"is shown what lane_defense itself shows, not what TransformObservation"):
        agents.make(f"sb3:{tmp_path / 'mine'}").act(env)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*not what .* makes of it")
        agents.make(f"sb3:{tmp_path / 'mine'}").act(gym.wrappers.FlattenObservation(env.env))
        agents.make(f"sb3:{trained['ppo']}").act(env)  # whose sidecar says that it was trained without
