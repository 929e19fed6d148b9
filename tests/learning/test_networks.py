"""Policies as plain arrays: what PyTorch says, without it; what cannot be said, or is damaged, is refused."""

import copy
import importlib
import io
import itertools
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import zipfile
from itertools import chain
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import MultiBinary, MultiDiscrete

import agents
from agents.learning.algorithms import algorithm_class
from agents.learning.export import network_of
from agents.learning.loading import load_policy
from agents.learning.saved import network as networks
from agents.learning.saved import storage
from agents.learning.saved.fitting import check_actions
from agents.learning.saved.policy import read_network
from agents.learning.saved.shipped import FOLDER, made_for
from agents.learning.saved.weights import read_zip
from agents.spec import parse_agent
from mcts_envs import make_sb3_vec_env

LANES = "mcts_envs/LaneDefense3x3-v0"

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")


def untrained(path, algorithm="ppo", env_id=LANES, policy="MlpPolicy", **arguments):
    env = make_sb3_vec_env(env_id, 1) if env_id.startswith("mcts_envs/") else gymnasium.make(env_id)
    model = algorithm_class(algorithm)(policy, env, seed=1, device="cpu", **arguments)
    model.save(path)
    return path


def test_observations_without_bounds(tmp_path):
    """JSON has no infinite numbers; those of CartPole's velocities have no bounds."""
    path = untrained(tmp_path / "p.zip", env_id="CartPole-v1")
    saved, ours = storage.load(path, "ppo"), load_policy(agents.export(path, algorithm="ppo"))
    assert ours.observation_bounds == saved.observation_bounds == (-np.inf, np.inf)
    assert ours.about["observation_space"]["bounds"] == [None, None]


def test_bounds_that_numbers_hardly_hold(tmp_path):
    env = gymnasium.make("CartPole-v1")
    most = np.finfo(np.float64).max
    for space in (gymnasium.spaces.Box(-most, most, (4,), np.float64), gymnasium.spaces.Box(0, 2**63 - 1, (4,), int)):
        shown = gymnasium.wrappers.TransformObservation(env, lambda seen: seen, space)
        model = algorithm_class("ppo")("MlpPolicy", shown, device="cpu")
        assert network_of(model.policy, tmp_path).inputs == 4


def positions(count, env_id=LANES, seed=0, **settings):
    env = gymnasium.make(env_id, **settings)
    rng, seen, masks = np.random.default_rng(seed), [], []
    observation, info = env.reset(seed=seed)
    while len(seen) < count:
        seen.append(observation)
        masks.append(info["action_mask"].astype(bool))
        observation, _, terminated, truncated, info = env.step(int(rng.choice(np.flatnonzero(masks[-1]))))
        if terminated or truncated:
            observation, info = env.reset()
    return np.array(seen), np.array(masks)


class TestExport:
    @pytest.mark.parametrize("shared", [True, False])
    @pytest.mark.parametrize("activation", ["Tanh", "ReLU"])
    @pytest.mark.parametrize("algorithm", ["a2c", "maskable_ppo", "ppo", "trpo"])
    def test_an_actor_critic_says_what_torch_says(self, tmp_path, algorithm, activation, shared):
        import torch

        kwargs = {"activation_fn": getattr(torch.nn, activation), "net_arch": {"pi": [32, 16], "vf": [8]}}
        kwargs["share_features_extractor"] = shared
        path = untrained(tmp_path / "p.zip", algorithm, policy_kwargs=kwargs)
        saved, ours = storage.load(path, algorithm), load_policy(agents.export(path, algorithm=algorithm))
        seen, masks = positions(60)
        given = masks if ours.masked else None
        assert ours.masked == (algorithm == "maskable_ppo")
        assert ours.actions(seen, given).tolist() == saved.actions(seen, given).tolist()
        np.testing.assert_allclose(ours.probabilities(seen, given), saved.probabilities(seen, given), atol=1e-6)
        with torch.no_grad():
            values = saved.model.policy.predict_values(torch.as_tensor(seen)).numpy()[:, 0]
        np.testing.assert_allclose(ours.network.values(seen), values, atol=1e-5)

    @pytest.mark.parametrize("algorithm", ["dqn", "qrdqn"])
    def test_action_values_are_those_of_torch(self, tmp_path, algorithm):
        path = untrained(tmp_path / "q.zip", algorithm, buffer_size=100)
        saved, ours = storage.load(path, algorithm), load_policy(agents.export(path, algorithm=algorithm))
        seen, _ = positions(60)
        assert ours.actions(seen).tolist() == saved.actions(seen).tolist()
        assert ours.network.values(seen).tolist() == ours.network.scores(seen).max(1).tolist()
        with pytest.raises(ValueError, match="no probabilities"):
            ours.probabilities(seen)

    def test_normalisation_goes_with_it(self, tmp_path):
        path = untrained(tmp_path / "p.zip")
        rng = np.random.default_rng(0)
        statistics = {"mean": rng.normal(size=38).tolist(), "var": rng.random(38).tolist(), "count": 5.0}
        about = {
            "algorithm": "ppo",
            "normalization": {"rewards": None, "observations": {**statistics, "clip": 10.0, "epsilon": 1e-8}},
        }
        path.with_suffix(".json").write_text(json.dumps(about))
        saved, ours = storage.load(path), load_policy(agents.export(path))
        seen, _ = positions(40)
        np.testing.assert_allclose(ours.probabilities(seen), saved.probabilities(seen), atol=1e-6)
        assert np.abs(ours.normalized(seen) - seen).max() > 0.1

    def test_images_are_scaled_as_in_training(self, tmp_path):
        env = make_sb3_vec_env(LANES, 1)
        space = gymnasium.spaces.Box(0, 255, (3, 36, 36), np.uint8)
        env.observation_space = space
        model = algorithm_class("ppo")("MlpPolicy", env, seed=1, device="cpu")
        model.save(tmp_path / "p.zip")
        saved = storage.load(tmp_path / "p.zip", "ppo")
        ours = load_policy(agents.export(tmp_path / "p.zip", algorithm="ppo"))
        seen = np.random.default_rng(0).integers(0, 256, (5, 3, 36, 36), dtype=np.uint8)
        assert ours.in_bytes
        np.testing.assert_allclose(ours.probabilities(seen), saved.probabilities(seen), atol=1e-6)

    def test_where_it_is_written(self, tmp_path):
        path = untrained(tmp_path / "p.zip")
        assert agents.export(path, algorithm="ppo") == tmp_path / "p.npz"
        assert agents.export(path, tmp_path / "other.npz", algorithm="ppo").is_file()
        assert sorted(file.name for file in tmp_path.iterdir()) == ["other.npz", "p.npz", "p.zip"]

    def test_what_arrays_cannot_say_is_refused_by_name(self, tmp_path):
        import torch

        path = untrained(tmp_path / "elu.zip", policy_kwargs={"activation_fn": torch.nn.ELU})
        with pytest.raises(ValueError, match=r"has a ELU, which plain arrays cannot say; they know Linear, .*ReLU"):
            agents.export(path, algorithm="ppo")
        path = untrained(tmp_path / "one_hot.zip", env_id="FrozenLake-v1")
        with pytest.raises(ValueError, match="sees a Discrete through a FlattenExtractor; only a flattened Box"):
            agents.export(path, algorithm="ppo")
        path = untrained(tmp_path / "continuous.zip", env_id="Pendulum-v1")
        with pytest.raises(ValueError, match=r"has actions Box.*Discrete"):
            agents.export(path, algorithm="ppo")
        path = untrained(tmp_path / "nan.zip")
        model = algorithm_class("ppo").load(path)
        with torch.no_grad():
            model.policy.action_net.weight[0, 0] = torch.nan
        model.save(path)
        with pytest.raises(ValueError, match="not finite: training has diverged"):
            agents.export(path, algorithm="ppo")
        assert not list(tmp_path.glob("*.npz"))


@pytest.mark.parametrize("actions", [MultiDiscrete([3, 2]), MultiBinary(3)])
def test_several_actions_at_once_are_numbered_by_another_wrapper_than_continuous_ones(actions):
    with pytest.raises(ValueError, match=r"Discrete ones will do.*TransformAction\(env, function, Discrete\(n\)\)"):
        check_actions(Path("p.zip"), actions)


def test_a_path_from_home_is_found_and_its_file_is_known_to_results(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    path = untrained(tmp_path / "p.zip")
    for text in ("sb3:~/p.zip", "gumbel:policy=~/p:simulations=2"):
        spec = parse_agent(text)
        assert spec.policy() == path
        agents.make(spec.name, **spec.settings)
    with pytest.raises(FileNotFoundError, match=re.escape(f"no policy {tmp_path}")):
        agents.make("sb3:~/other.zip")


class TestPlaying:
    def test_an_agent_plays_as_with_torch(self, tmp_path, trained):
        for algorithm, path in trained.items():
            exported = agents.make(f"sb3:{agents.export(path, tmp_path / f'{algorithm}.npz')}")
            agent, model, env = agents.make(f"sb3:{path}"), storage.load(path).model, gymnasium.make(LANES)
            observation, info = env.reset(seed=3)
            while len(env.unwrapped.legal_actions()):
                masks = {"action_masks": info["action_mask"]} if algorithm == "maskable_ppo" else {}
                action = int(model.predict(observation, deterministic=True, **masks)[0])
                assert agent.act(env) == exported.act(env) == action
                observation, _, _, _, info = env.step(action)

    @pytest.mark.parametrize("activation", ["identity", "relu", "tanh"])
    def test_compiled_code_says_of_many_what_numpy_says(self, activation):
        rng, sizes = np.random.default_rng(0), [50, 33, 7, 5]
        layers = tuple(
            networks.Layer(
                rng.normal(size=(one, other)).astype(np.float32), rng.normal(size=other).astype(np.float32), activation
            )
            for one, other in itertools.pairwise(sizes)
        )
        network = networks.Network(layers, (), scale=2.0)
        shown = (rng.normal(size=(5, 20, 5)) * (rng.random((5, 20, 5)) < 0.3)).astype(np.float32)[:, ::2]
        expected = network.scores(shown)
        for each in (network, pickle.loads(pickle.dumps(network)), copy.deepcopy(network)):
            assert each._tower is not None
            np.testing.assert_allclose(each.scores_of_many(shown), expected, rtol=1e-5, atol=1e-5)
        assert np.array_equal(network.scores_of_many(shown[:1]), network.scores(shown[:1]))

    def test_large_networks_are_left_to_numpy(self):
        wide = networks.Layer(np.ones((600, 600), np.float32), np.zeros(600, np.float32), "relu")
        network = networks.Network((wide, wide), ())
        assert network._tower is None
        seen = np.eye(600, dtype=np.float32)[:3]
        assert np.array_equal(network.scores_of_many(seen), network.scores(seen))

    def test_what_is_shipped_plays_searches_and_opposes_without_any_extra(self):
        extras = "torch stable_baselines3 sb3_contrib pandas yaml scipy rich typer filelock matplotlib"
        code = (
            "import sys\n"
            f"for name in {extras!r}.split(): sys.modules[name] = None\n"
            "import gymnasium, mcts_envs, agents\n"
            f"env = gymnasium.make({LANES!r}); env.reset(seed=0)\n"
            "print(agents.make('ppo').act(env), agents.make('maskable_ppo', deterministic=False).act(env))\n"
            "print(agents.make('puct', simulations=8).act(env))\n"
            "gymnasium.make('mcts_envs/WallSurvival-v0', opponent='agents:mcts:simulations=8').reset(seed=0)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.split()) == 3

    @pytest.mark.parametrize("path", sorted(FOLDER.glob("*/*.zip")), ids=lambda path: f"{path.parent.name}-{path.stem}")
    def test_what_is_shipped_is_read_as_pytorch_reads_it(self, path):
        saved, ours = storage.load(path), read_zip(path)
        assert ours.about == saved.about
        here, there = ours.network, network_of(saved.model.policy, saved.path)
        assert (here.outputs, here.scale) == (there.outputs, there.scale)
        for mine, its in zip(chain(*here.towers), chain(*there.towers), strict=True):
            assert mine.activation == its.activation
            assert np.array_equal(mine.weights, its.weights)
            assert np.array_equal(mine.bias, its.bias)
        name, board = made_for(path.parent)
        observation = saved.about["settings"].get("observation", "flat")
        seen, masks = positions(100, f"mcts_envs/{name}", observation=observation, **board)
        given = masks if ours.masked else None
        assert ours.actions(seen, given).tolist() == saved.actions(seen, given).tolist()

    def test_a_zip_that_would_run_something_is_refused(self, tmp_path):
        class Evil:
            def __reduce__(self):
                return os.mkdir, (str(tmp_path / "ran"),)

        shipped_zip = next(FOLDER.glob("LaneDefense3x3-v0/ppo.zip"))
        shutil.copy(shipped_zip.with_suffix(".json"), tmp_path / "p.json")
        for order in (pickle.dumps(Evil()), b"torn"):
            inner = io.BytesIO()
            with zipfile.ZipFile(inner, "w") as file:
                file.writestr("archive/data.pkl", order)
            with zipfile.ZipFile(tmp_path / "p.zip", "w") as file:
                file.writestr("policy.pth", inner.getvalue())
            with pytest.raises(ValueError, match=r"p\.zip holds no MLP of PPO, MaskablePPO or DQN that can be read"):
                read_zip(tmp_path / "p.zip")
        assert not (tmp_path / "ran").exists()

    def test_another_game_is_refused(self, tmp_path):
        path = agents.export(untrained(tmp_path / "p.zip"), algorithm="ppo")
        env = gymnasium.make("mcts_envs/WallSurvival-v0")
        env.reset(seed=0)
        with pytest.raises(ValueError, match=r"p\.npz was trained .* 10 actions; this is wall_survival"):
            agents.make(f"sb3:{path}").act(env)

    def test_settings_that_do_not_go_with_arrays(self, tmp_path):
        path = agents.export(untrained(tmp_path / "p.zip"), algorithm="ppo")
        with pytest.raises(ValueError, match="was made by 'ppo', not by 'dqn'"):
            agents.make(f"sb3:{path}", algorithm="dqn")
        with pytest.raises(ValueError, match=r"give it to agents\.export"):
            agents.make(f"sb3:{path}", normalization="auto")
        with pytest.raises(FileNotFoundError, match=r"nothing\.npz; give the path of an \.npz"):
            agents.make(f"sb3:{tmp_path / 'nothing.npz'}")


class TestDamage:
    @pytest.fixture
    def path(self, tmp_path):
        return agents.export(untrained(tmp_path / "p.zip"), algorithm="ppo")

    def damaged(self, path, change):
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        change(arrays)
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match=r"p\.npz.*export the policy anew") as caught:
            read_network(path)
        return str(caught.value)

    def about(self, arrays, **change):
        said = json.loads(str(arrays["about"]))
        for name, value in change.items():
            said["network"][name] = value
        arrays["about"] = np.array(json.dumps(said))

    def test_cut_or_overwritten(self, path):
        whole = path.read_bytes()
        for content in (whole[: len(whole) // 2], b"", b"no archive", whole[:100] + bytes(200) + whole[300:]):
            path.write_bytes(content)
            with pytest.raises(ValueError, match="is damaged, or no network"):
                read_network(path)

    def test_other_contents(self, path):
        assert "there is no 'policy.0.bias'" in self.damaged(path, lambda arrays: arrays.pop("policy.0.bias"))

    def test_other_sizes(self, path):
        def narrower(arrays):
            arrays["policy.1.weights"] = arrays["policy.1.weights"][:5]

        assert "policy.1 has weights (5, 64) and bias (64,) after 64 outputs" in self.damaged(path, narrower)

    def test_numbers_that_are_none(self, path):
        def poisoned(arrays):
            arrays["value.0.bias"][3] = np.inf

        assert "value.0.bias has values that are not finite" in self.damaged(path, poisoned)

    @pytest.mark.parametrize("dtype", ["U8", np.complex64])
    def test_what_is_no_number_of_a_network(self, path, dtype):
        def other(arrays):
            arrays["value.0.bias"] = arrays["value.0.bias"].astype(dtype)

        assert "which are no numbers of a network" in self.damaged(path, other)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"format": 2}, "format 2, and this release reads 1"),
            ({"outputs": "prices"}, "unknown outputs 'prices'"),
            ({"policy": ["tanh", "softplus", "identity"]}, "unknown activation 'softplus'"),
            ({"policy": []}, "the policy has no layer"),
            ({"value": []}, "logits without values"),
            ({"scale": 0}, "scale 0"),
        ],
    )
    def test_another_layout(self, path, change, said):
        assert said in self.damaged(path, lambda arrays: self.about(arrays, **change))

    def test_pickles_are_not_opened(self, path):
        def trapped(arrays):
            arrays["policy.0.bias"] = np.array([print], object)

        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        trapped(arrays)
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match="allow_pickle=False"):
            read_network(path)

    def test_a_sidecar_of_another_network(self, path):
        network, about = networks.read(path)
        networks.write(path, network, {**about, "observation_space": {"shape": [5]}})
        with pytest.raises(ValueError, match="says 5 inputs and 10 actions, its network has 38 and 10"):
            read_network(path)

    def test_writing_is_whole_or_not_at_all(self, path, monkeypatch):
        before = path.read_bytes()
        network, about = networks.read(path)

        def full(file, **arrays):
            file.write(b"half")
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(np, "savez_compressed", full)
        with pytest.raises(OSError, match="No space left"):
            networks.write(path, network, about)
        assert path.read_bytes() == before
        assert zipfile.is_zipfile(path)
        assert [file.name for file in path.parent.glob(".*")] == []


def test_a_policy_whose_classes_were_edited_is_not_called_damaged(tmp_path, monkeypatch):
    pytest.importorskip("stable_baselines3")
    (tmp_path / "edited_net.py").write_text(
        "import torch\nfrom stable_baselines3.common.torch_layers import FlattenExtractor\n\n\n"
        "class Net(FlattenExtractor):\n    size = 3\n\n    def __init__(self, space):\n"
        "        super().__init__(space)\n        self.unused = torch.nn.Linear(self.size, 1)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    net = importlib.import_module("edited_net").Net
    path = untrained(tmp_path / "own.zip", policy_kwargs={"features_extractor_class": net})
    monkeypatch.setattr(net, "size", 4)
    with pytest.raises(ValueError, match=r"weights of another network than .* size mismatch .*; bring back"):
        storage.load(path)


@pytest.mark.filterwarnings("ignore:Could not deserialize")
@pytest.mark.parametrize("name", ["policy_class", "policy_kwargs"])
def test_a_policy_whose_classes_were_renamed_does_not_play_as_another_network(tmp_path, monkeypatch, name):
    """Stable-Baselines3 goes on with the default network, which has the same weights."""
    pytest.importorskip("stable_baselines3")
    (tmp_path / "renamed_net.py").write_text(
        "import torch\nfrom stable_baselines3.common.policies import ActorCriticPolicy\n\n\n"
        "class Bent(torch.nn.Sigmoid):\n    pass\n\n\nclass Own(ActorCriticPolicy):\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("renamed_net")
    own = {"policy": module.Own} if name == "policy_class" else {"policy_kwargs": {"activation_fn": module.Bent}}
    path = untrained(tmp_path / "own.zip", **own)
    monkeypatch.delattr(module, "Own" if name == "policy_class" else "Bent")
    with pytest.raises(ValueError, match=rf"has a {name} that cannot be made here \(Can't get attr.*; bring back"):
        storage.load(path, "ppo")


def test_actions_that_do_not_count_from_0_are_refused_however_they_are_to_play(tmp_path):
    """Stable-Baselines3 plays 0, 1, 2 in a space of 1, 2, 3: which of them was learned, nobody knows."""

    class FromOne(gymnasium.ActionWrapper):
        action_space = gymnasium.spaces.Discrete(2, start=1)

        def action(self, action):
            return min(action, 1)

    pytest.importorskip("stable_baselines3")
    model = algorithm_class("ppo")("MlpPolicy", FromOne(gymnasium.make("CartPole-v1")), device="cpu")
    model.save(tmp_path / "own.zip")
    for play in (
        lambda: agents.make(f"sb3:{tmp_path / 'own.zip'}"),
        lambda: agents.export(tmp_path / "own.zip"),
        lambda: agents.make("puct", policy=model),
    ):
        with pytest.raises(ValueError, match=r"start=1\), of which .* plays 0 to 1: train one in .*action \+ 1, Discr"):
            play()
