"""Functions of one's own as policies in a search."""

import json
import pickle
import types
import zipfile

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest

import agents
from agents.arena.plan import Plan
from agents.learning.loading import load_policy
from agents.learning.searching import read_policy
from agents.spec import parse_agent
from tests.learning.policies import GAMES, game_of, random_policy
from tests.search.arms import first_view
from tests.toys import tic_tac_toe

NETWORK = """
import numpy as np

def network(observations, masks):
    prior = np.zeros(masks.shape)
    prior[:, {best}] = 1.0
    return prior, np.zeros(len(observations))
"""


def equal(observations, masks):
    return masks / masks.sum(1, keepdims=True), np.zeros(len(observations))


class Shows(gym.Env):
    """An environment that shows something of a space."""

    action_space = gym.spaces.Discrete(2)

    def __init__(self, space):
        self.observation_space = space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.step(0)[0], {}

    def step(self, action):
        space = self.observation_space
        return self.np_random.integers(0, 9, space.shape).astype(space.dtype), 0.0, False, False, {}


class Gathering(pettingzoo.AECEnv):
    """Ten moves in turn: a 1 is paid to both, or by the other."""

    metadata = {"name": "gathering"}  # noqa: RUF012

    def __init__(self, shared):
        self.shared, self.possible_agents = shared, ["a", "b"]

    def observation_space(self, agent):
        return gym.spaces.Box(0, 10, (1,))

    def action_space(self, agent):
        return gym.spaces.Discrete(2)

    def observe(self, agent):
        return np.float32([self.moves])

    def reset(self, seed=None, options=None):
        self.agents, self.moves, self.agent_selection = [*self.possible_agents], 0, "a"
        for name, value in (
            ("rewards", 0.0),
            ("_cumulative_rewards", 0.0),
            ("terminations", False),
            ("truncations", False),
        ):
            setattr(self, name, dict.fromkeys(self.agents, value))
        self.infos = {agent: {} for agent in self.agents}

    def step(self, action):
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        mover = self.agent_selection
        self.agent_selection = "b" if mover == "a" else "a"
        self.rewards = {mover: float(action), self.agent_selection: float(action if self.shared else -action)}
        self.moves += 1
        self.terminations = dict.fromkeys(self.agents, self.moves == 10)


def made(env_id, **settings):
    env = gym.make(env_id, **settings)
    env = env if env_id.startswith("mcts_envs/") else agents.remember(env)
    env.reset(seed=3)
    return env


class TestSearch:
    @pytest.mark.parametrize(("env_id", "settings"), GAMES)
    def test_a_function_that_says_what_a_policy_says_makes_the_same_tree(self, env_id, settings):
        env = made(f"mcts_envs/{env_id}", **settings)
        policy = random_policy(game_of(env_id, **settings))
        results = [
            agents.make("puct", policy=each, simulations=60, seed=5).search(env)
            for each in (policy, lambda observations, masks: policy.consulted(observations, masks))
        ]
        assert [result.evaluator for result in results] == ["compiled", "batched"]
        assert results[0].visits.tolist() == results[1].visits.tolist()
        np.testing.assert_allclose(results[0].values, results[1].values, atol=1e-4)

    @pytest.mark.parametrize(
        ("env_id", "settings", "shape"),
        [
            ("mcts_envs/LaneDefense3x3-v0", {"observation": "planes"}, (6, 3, 3)),
            ("mcts_envs/WallSurvival-v0", {"board_size": 4}, None),
            ("CartPole-v1", {}, (4,)),
            ("FrozenLake-v1", {}, (16,)),
        ],
    )
    def test_it_is_shown_what_the_environment_shows(self, env_id, settings, shape):
        env, asked = made(env_id, **settings), []

        def network(observations, masks):
            asked.append((observations, masks))
            return equal(observations, masks)

        agents.make("gumbel", policy=network, simulations=20).act(env)
        for observations, masks in asked:
            assert observations.dtype == np.float32
            assert masks.dtype == bool
            assert observations.shape[1:] == (shape or env.observation_space.shape)
            assert masks.shape == (len(observations), env.action_space.n)
            assert masks.any(1).all()

    @pytest.mark.parametrize("space", [gym.spaces.Box(0, 255, (8, 6, 3), np.uint8), gym.spaces.Box(0.0, 9.0, (2, 5))])
    def test_arrays_of_environments_of_others_keep_their_shape(self, space):
        env, asked = agents.remember(Shows(space)), []
        observation, _ = env.reset(seed=3)

        def network(observations, masks):
            asked.append(observations)
            return equal(observations, masks)

        agents.make("gumbel", policy=network, simulations=20).act(env)
        assert asked[0].shape == (1, *space.shape)
        assert (asked[0][0] == observation).all()

    @pytest.mark.parametrize(("shared", "value"), [(True, 0.5), (False, -0.5)])
    def test_whoever_is_paid_like_the_one_to_move_has_its_value(self, shared, value):
        env = Gathering(shared)
        env.reset(seed=3)

        def network(observations, masks):
            return equal(observations, masks)[0], np.full(len(observations), 0.5)

        result = agents.make("puct", policy=network, simulations=3).search(env)
        looked_at = np.flatnonzero(result.visits == 1)
        assert result.values[looked_at].tolist() == [action + value for action in looked_at]

    def test_of_pettingzoo_it_is_shown_the_board_without_the_mask(self):
        asked = []

        def network(observations, masks):
            asked.append((observations, masks))
            return equal(observations, masks)

        env = pytest.importorskip("pettingzoo.classic.connect_four_v3").env()
        env.reset(seed=3)
        agents.make("gumbel", policy=network, simulations=20).act(env)
        assert {observations.shape for observations, _ in asked} == {(1, 6, 7, 2)}
        assert {masks.shape for _, masks in asked} == {(1, 7)}

    @pytest.mark.parametrize("env_id", ["mcts_envs/LaneDefense3x3-v0", "CartPole-v1"])
    def test_the_prior_leads_and_illegal_actions_have_none(self, env_id):
        env = made(env_id)
        legal = agents.bridge.view(env).legal_actions()
        best = int(legal[-1])

        def network(observations, masks):
            prior = np.full(masks.shape, 3.0)
            prior[:, best] = 300.0
            return prior, np.zeros(len(observations))

        result = agents.make("puct", policy=network, simulations=50).search(env)
        assert result.visits.argmax() == best
        illegal = np.setdiff1d(np.arange(env.action_space.n), legal)
        assert not result.visits[illegal].any()
        assert result.prior[legal].sum() == pytest.approx(1.0)
        assert result.prior[best] == pytest.approx(300.0 / (300.0 + 3.0 * (len(legal) - 1)))

    def test_its_values_are_those_of_leaves(self):
        env = made("CartPole-v1")
        result = agents.make("puct", policy=lambda o, m: (m * 1.0, o[:, 2] * 0 + 7.0), simulations=20).search(env)
        assert result.values.max() > 7.0

    def test_a_probability_of_nothing_is_equal_shares(self):
        env = made("CartPole-v1")
        result = agents.make("puct", policy=lambda o, m: (m * 0.0, np.zeros(len(o))), simulations=20).search(env)
        assert result.prior.tolist() == [0.5, 0.5]

    def test_what_it_does_to_its_arguments_changes_nothing(self):
        env = made("mcts_envs/LaneDefense3x3-v0")

        def spoiling(observations, masks):
            said = equal(observations, masks)
            observations[:], masks[:] = 9.0, False
            return said

        found = [agents.make("puct", policy=each, simulations=80).search(env).visits for each in (equal, spoiling)]
        assert found[0].tolist() == found[1].tolist()

    def test_a_game_of_ones_own(self):
        game = tic_tac_toe()
        view = first_view(game, 0)
        game.place(view.state, {"board": [1, 1, 0, 2, 2, 0, 0, 0, 0], "turn": 0})
        result = agents.make("gumbel", policy=equal, simulations=200).search(view)
        assert result.action == 2

    def test_tensors_that_are_learned(self):
        torch = pytest.importorskip("torch")
        layer, env = torch.nn.Linear(4, 3), made("CartPole-v1")

        def network(observations, masks):
            said = layer(torch.from_numpy(observations))
            return said[:, :2].softmax(1), said[:, 2:]

        assert agents.make("gumbel", policy=network, simulations=16).act(env) in (0, 1)

    @pytest.mark.parametrize("kind", ["float16", "bfloat16", "float64"])
    def test_tensors_of_any_precision(self, kind):
        torch = pytest.importorskip("torch")

        def network(observations, masks):
            prior = torch.tensor([[0.25, 0.75]] * len(observations), dtype=getattr(torch, kind), requires_grad=True)
            return prior, prior[:, :1]

        result = agents.make("puct", policy=network, simulations=16).search(made("CartPole-v1"))
        assert result.prior.tolist() == [0.25, 0.75]

    def test_what_can_be_called_is_a_function_whatever_else_it_has(self):
        class Network:
            policy = predict = None

            def __call__(self, observations, masks):
                return equal(observations, masks)

        assert agents.make("puct", policy=Network(), simulations=9).act(made("CartPole-v1")) in (0, 1)

    def test_an_agent_with_it_is_pickled(self):
        agent = pickle.loads(pickle.dumps(agents.make("gumbel", policy=equal, simulations=16)))
        assert agent.act(made("CartPole-v1")) in (0, 1)


class TestRefusals:
    @pytest.mark.parametrize(
        ("network", "said"),
        [
            (lambda o, m: m * 1.0, r"return \(probabilities, values\)"),
            (lambda o, m: (m * 1.0, np.zeros(len(o)), 0), r"return \(probabilities, values\)"),
            (lambda o, m: (m - 2.0, np.zeros(len(o))), "a probability of -1; they are 0 or more: give the softmax"),
            (lambda o, m: (m * np.nan, np.zeros(len(o))), "probabilities of policy .* hold nan, which is not finite"),
            (lambda o, m: (m * 1.0, np.full(len(o), np.inf)), "values of policy .* hold inf, which is not finite"),
            (lambda o, m: (m * 1.0, np.full(len(o), -1e39)), r"values of policy .* hold -1e\+39, which is not finite"),
            (lambda o, m: (m[:, :1] * 1.0, np.zeros(len(o))), r"have shape \(1, 1\); return \(1, 2\)"),
            (lambda o, m: (m * 1.0, np.zeros(7)), r"have shape \(7,\); return \(1,\)"),
            (lambda o, m: (m * 1.0, "much"), "values of policy .* are no array"),
        ],
    )
    def test_of_what_it_returns(self, network, said):
        with pytest.raises((ValueError, TypeError), match=said):
            agents.make("puct", policy=network, simulations=20).act(made("CartPole-v1"))

    def test_what_it_raises_says_what_it_was_called_with(self):
        def broken(observations, masks):
            return observations[:, 99], None

        with pytest.raises(IndexError) as raised:
            agents.make("puct", policy=broken, simulations=20).act(made("CartPole-v1"))
        assert "broken was called with observations (1, 4) and masks (1, 2)" in raised.value.__notes__[0]

    def test_of_other_arguments(self):
        with pytest.raises(TypeError, match="is called with observations and masks"):
            agents.make("puct", policy=lambda observation: observation)

        class Module:
            def __call__(self, *given, **settings):
                return self.forward(*given, **settings)

            def forward(self, observations):
                return observations

        with pytest.raises(TypeError, match=r"policy Module is called with .*; write a function of both"):
            agents.make("puct", policy=Module())

    def test_of_a_class(self):
        class Network:
            def __call__(self, observations, masks):
                return equal(observations, masks)

        with pytest.raises(TypeError, match="a class; load a model with it first"):
            agents.make("puct", policy=Network)
        assert agents.make("puct", policy=Network(), simulations=9).act(made("CartPole-v1")) in (0, 1)

    def test_of_a_model_that_is_called_as_one_of_stable_baselines(self):
        pytest.importorskip("stable_baselines3")
        model = types.new_class("PPO")()
        model.predict, model.policy = print, object()
        with pytest.raises(ValueError, match=r"is no model of Stable-Baselines3 .*give a function that asks it"):
            read_policy(model)

    def test_of_a_model_of_another_library(self):
        class Other:
            policy = predict = None

        with pytest.raises(ValueError, match=r"unknown algorithm 'Other'.*or give a function \(docs/policies.md\)"):
            read_policy(Other())

    @pytest.mark.parametrize(
        ("module", "said"),
        [
            ("sbx.ppo.policies", "was saved by SBX.*ask it by a function"),
            ("sb3_contrib.ars.policies", "is a policy of ARS.*ask it by a function"),
            ("sb3_contrib.crossq.policies", "is a policy of CrossQ, for continuous actions"),
        ],
    )
    def test_of_what_an_algorithm_saved_that_is_not_read(self, tmp_path, module, said):
        pytest.importorskip("stable_baselines3")
        data = {"policy_class": {"__module__": module}, "rollout_buffer_class": {"__module__": "x"}}
        with zipfile.ZipFile(tmp_path / "model.zip", "w") as file:
            file.writestr("data", json.dumps(data))
        with pytest.raises(ValueError, match=said):
            read_policy(tmp_path / "model.zip")
        with pytest.raises(ValueError, match=said):
            load_policy(tmp_path / "model.zip", "ppo")

    def test_of_a_file_of_another_library(self, tmp_path):
        (tmp_path / "net.onnx").write_bytes(b"")
        with pytest.raises(ValueError, match=r"net\.onnx is no zip of Stable-Baselines3.*ask it by a function"):
            read_policy(tmp_path / "net.onnx")

    def test_of_a_policy_that_was_saved_under_a_name_with_a_dot(self, tmp_path):
        path = tmp_path / "ppo_lr0.001"
        pytest.importorskip("stable_baselines3").PPO("MlpPolicy", "CartPole-v1", device="cpu").save(path)
        with pytest.raises(ValueError, match=r"ppo_lr0\.001 is a zip of .* rename it to .*/ppo_lr0\.001\.zip$"):
            read_policy(path)

    def test_of_the_policy_of_a_model(self):
        model = pytest.importorskip("stable_baselines3").PPO("MlpPolicy", "CartPole-v1", device="cpu")
        with pytest.raises(TypeError, match=r"is a part of a model of Stable-Baselines3, .* give the model"):
            read_policy(model.policy)


class TestCommands:
    def test_a_function_is_named_by_its_file_and_an_edited_one_is_another_configuration(self, tmp_path):
        file, prints = tmp_path / "net.py", []
        spec = parse_agent(f"puct:policy={file}:network:simulations=9")
        assert spec.settings == {"policy": f"{file}:network", "simulations": 9}
        for best in (0, 1):
            file.write_text(NETWORK.format(best=best))
            prints.append(Plan("CartPole-v1", (spec,), {}, 0, {}).configuration()["files"])
        assert prints[0] != prints[1]
        agent = agents.make("puct", policy=f"{file}:network", simulations=9)
        assert agent.act(made("CartPole-v1")) == 1

    def test_of_a_name_that_is_not_there(self, tmp_path):
        (tmp_path / "other_net.py").write_text(NETWORK.format(best=0))
        with pytest.raises(ValueError, match="unknown policy 'net'"):
            agents.make("puct", policy=f"{tmp_path}/other_net.py:net")

    def test_of_a_file_without_a_name(self):
        with pytest.raises(ValueError, match=r"my_net.py is no policy but code; .* in it, my_net.py:NAME"):
            agents.make("puct", policy="my_net.py")
