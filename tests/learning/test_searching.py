"""Policies in the search: what compiled code says of states, who is asked, and what is refused."""

import copy
import itertools
import math
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import agents
import mcts_envs
from agents.bridge import Remember
from agents.evaluator.batched import BatchedEvaluator
from agents.evaluator.compiled import CompiledEvaluator, Dense, TooLargeError
from agents.evaluator.plain import PlainEvaluator
from agents.learning.algorithms import algorithm_class
from agents.learning.fitting import fitting
from agents.learning.network import Layer, Network
from agents.learning.policy import NetworkPolicy, Policy
from agents.learning.searching import evaluator_for, read_policy
from mcts_envs.core.rng import choose_among, draw, new_stream
from tests.learning.test_networks import untrained

LANES, ROSTER = "LaneDefense3x3-v0", "LaneDefense5x9-v0"
GAMES = [
    *((LANES, {}), (ROSTER, {}), ("LaneDefense10x10-v0", {}), ("WallSurvival-v0", {"board_size": 6})),
    *(("BomberDuel-v0", {}), ("Bomber-v0", {"view": 2}), ("BomberTeam-v0", {"view": 4}), ("Football1-v0", {})),
]

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.notices.PolicyWarning")


def make(env_id, **settings):
    env = gym.make(f"mcts_envs/{env_id}", **settings)
    env.reset(seed=0)
    return env


def game_of(env_id, **settings):
    return make(env_id, **settings).unwrapped.game


def random_policy(
    seen_in, hidden=(16, 8), activation="tanh", seed=0, outputs="logits", algorithm="maskable_ppo", **about
):
    """Return a policy with random weights."""
    game, rng = seen_in, np.random.default_rng(seed)

    def tower(last):
        sizes = [int(np.prod(game.observation_shape)), *hidden, last]
        return tuple(
            Layer(
                rng.normal(0, 1.5 / math.sqrt(a), (a, b)).astype(np.float32),
                rng.normal(0, 0.3, b).astype(np.float32),
                activation if i < len(hidden) else "identity",
            )
            for i, (a, b) in enumerate(itertools.pairwise(sizes))
        )

    value = tower(1) if outputs == "logits" else ()
    network = Network(tower(game.actions), value, outputs)
    space = {"shape": [*game.observation_shape], "dtype": "float32"}
    return NetworkPolicy(Path("random.npz"), algorithm, network, about={"observation_space": space, **about})


def positions(game, count=40, seed=0):
    """Yield states of a random game, those who choose in them, and their legal actions."""
    stream, state = new_stream(seed), game.new_state()
    actions, rewards = np.zeros(game.players, np.int64), np.zeros(game.players)
    legal, equal = np.zeros(game.actions, np.int64), np.ones(game.actions)
    game.restart(state, seed)
    for _ in range(count):
        to_move = game.active(state)
        if to_move == 0:
            game.restart(state, int(draw(stream) % 1000))
            continue
        for player in range(game.players):
            if to_move >> player & 1:
                k = game.legal(state, player, legal)
                yield state.copy(), player, legal[:k].copy()
                actions[player] = choose_among(stream, equal, legal, k)
        game.step(state, actions, rewards)


def told(policy, game, state, player, legal):
    """Return what a policy in NumPy says of the legal actions, and of the state."""
    seen, mask = np.zeros(int(np.prod(game.observation_shape)), np.float32), np.zeros((1, game.actions), bool)
    game.observe(state, player, seen)
    mask[0, legal] = True
    shown = seen.reshape(1, *policy.observation_shape)
    return policy.probabilities(shown, mask)[0], policy.values(shown, mask)[0]


def statistics(n, **more):
    rng = np.random.default_rng(5)
    observations = {"mean": rng.random(n).tolist(), "var": (0.1 + rng.random(n)).tolist(), "count": 9.0}
    return {"normalization": {"observations": {**observations, "clip": 2.0, "epsilon": 1e-8}, "rewards": None, **more}}


class TestCompiledNetwork:
    @pytest.mark.parametrize(("env_id", "settings"), GAMES)
    def test_it_says_what_the_policy_says(self, env_id, settings):
        game = game_of(env_id, **settings)
        policy = random_policy(game)
        evaluator = evaluator_for(policy, game)
        assert isinstance(evaluator, CompiledEvaluator)
        weights, values = np.zeros(game.actions), np.zeros(game.players)
        for state, player, legal in positions(game):
            prior, value = told(policy, game, state, player, legal)
            for _ in range(2):  # the second is kept
                evaluator.advise(state, player, weights)
                evaluator.evaluate(state, values)
                np.testing.assert_allclose(weights, prior, atol=1e-5)
                np.testing.assert_allclose(values[player], value, atol=1e-5)

    @pytest.mark.parametrize("activation", ["identity", "relu", "tanh"])
    @pytest.mark.parametrize("hidden", [(), (1,), (5, 3), (64, 64), (33, 17, 9)])
    def test_networks_of_all_shapes(self, activation, hidden):
        game = game_of(LANES)
        policy = random_policy(game, hidden, activation, **statistics(38))
        evaluator = evaluator_for(policy, game)
        for state, player, legal in positions(game):
            weights = np.zeros(game.actions)
            evaluator.advise(state, player, weights)
            np.testing.assert_allclose(weights, told(policy, game, state, player, legal)[0], atol=2e-5)

    def test_rewards_that_were_normalised_count_in_full(self):
        game = game_of(LANES)
        plain = random_policy(game, **statistics(38))
        scaled = random_policy(game, **statistics(38, rewards={"mean": 0.0, "var": 25.0, "count": 9.0}))
        one, five = np.zeros(1), np.zeros(1)
        for state, _, _ in positions(game, 10):
            evaluator_for(plain, game).evaluate(state, one)
            evaluator_for(scaled, game).evaluate(state, five)
            assert five[0] == pytest.approx(5.0 * one[0], rel=1e-5)

    def test_of_two_who_move_in_turn_one_is_asked(self):
        game = game_of("WallSurvival-v0", board_size=6)
        policy = random_policy(game)
        evaluator, values = evaluator_for(policy, game), np.zeros(2)
        for state, player, legal in positions(game, 20):
            evaluator.evaluate(state, values)
            assert values[player] == pytest.approx(told(policy, game, state, player, legal)[1], abs=1e-5)
            assert values[1 - player] == -values[player]

    def test_of_many_all_who_live_are_asked(self):
        game = game_of("Bomber-v0")
        policy = random_policy(game)
        evaluator, values, dead = evaluator_for(policy, game), np.zeros(4), 0
        for state, _, _ in positions(game, 400):
            evaluator.evaluate(state, values)
            for player in range(4):
                if game.status(state, player):
                    assert values[player] == 0.0
                    dead += 1
        assert dead > 20

    def test_action_values_count_their_greatest(self):
        game = game_of(LANES)
        policy = random_policy(game, outputs="action_values", algorithm="dqn")
        evaluator, values = evaluator_for(policy, game), np.zeros(1)
        for state, player, legal in positions(game, 20):
            seen = np.zeros(38, np.float32)
            game.observe(state, player, seen)
            evaluator.evaluate(state, values)
            assert values[0] == pytest.approx(float(policy.network.scores(seen[None])[0, legal].max()), abs=1e-5)

    def test_what_was_said_is_kept_until_it_is_forgotten(self):
        game = game_of(LANES)
        policy = random_policy(game, ())
        evaluator, before, after = evaluator_for(policy, game), np.zeros(10), np.zeros(10)
        (state, player, _), *_ = positions(game, 5)
        evaluator.advise(state, player, before)
        for weights in evaluator._held[-1]:
            weights[:] = 0.0
        evaluator.advise(state, player, after)
        assert (after == before).all()
        evaluator.forget()
        evaluator.advise(state, player, after)
        assert len(set(after.tolist()) - {0.0}) == 1

    def test_a_torn_row_is_not_believed(self):
        game = game_of(LANES)
        evaluator, before, after = evaluator_for(random_policy(game), game), np.zeros(10), np.zeros(10)
        (state, player, _), *_ = positions(game, 5)
        evaluator.advise(state, player, before)
        _, *content = np.flatnonzero(evaluator._table)
        assert len(content) > 3
        evaluator._table[content[1]] += np.uint64(1)
        evaluator.advise(state, player, after)
        assert (after == before).all()

    def test_words_that_are_missing_do_not_make_up_for_each_other(self):
        game = game_of(LANES)
        layers = (Layer(np.zeros((38, 10), np.float32), np.zeros(10, np.float32), "identity"),)
        policy = replace(random_policy(game), network=Network(layers, layers[:1], "action_values"), algorithm="dqn")
        evaluator, values = evaluator_for(policy, game), np.full(10, 0.1)
        (state, player, _), *_ = [known for known in positions(game, 9) if len(known[2]) > 6]
        evaluator.advise(state, player, values)
        before = values.copy()
        words = evaluator._table[evaluator._table != 0]
        twice = next(word for word in words if (words == word).sum() == 2)
        evaluator._table[evaluator._table == twice] = 0
        evaluator.advise(state, player, values)
        assert (values == before).all()

    @pytest.mark.parametrize("model", ["paper_tree", "paper_tree_coin"])
    def test_a_model_may_tell_less_apart_than_is_shown(self, model):
        env = make(LANES)
        policy, game = random_policy(env.unwrapped.game), env.unwrapped.game
        agent = agents.make(**PUCT, model=model, policy=policy)
        inside, values = agent.prepared(game).inside, np.zeros(1)
        assert inside.key is not game.key
        state, legal = game.new_state(), np.zeros(game.actions, np.int64)
        game.restart(state, 0)
        position = game.position(state)
        for t, can_plant in ((0, True), (9, True), (9, False)):
            game.place(state, {**position, "t": t, "can_plant": can_plant})
            inside.evaluate(state, values)
            k = inside.legal(state, 0, legal)
            assert values[0] == pytest.approx(told(policy, inside, state, 0, legal[:k])[1], abs=1e-5)

    def test_one_that_is_too_large_is_refused(self):
        game = game_of(LANES)
        layers = [Dense(np.zeros((38, 9000), np.float32), np.zeros(9000, np.float32), "relu")]
        with pytest.raises(TooLargeError, match="18038 inputs and outputs of layers in all, and"):
            CompiledEvaluator(layers, layers, game)

    def test_one_that_is_too_large_is_asked_in_batches(self):
        env = make(LANES)
        policy = random_policy(env.unwrapped.game, (4096, 4096))
        assert agents.make("gumbel", policy=policy, simulations=9).search(env).evaluator == "batched"

    def test_statistics_of_another_size_are_those_of_frames(self):
        game = game_of(LANES)
        policy = random_policy(game, **statistics(20))
        assert isinstance(evaluator_for(policy, game), CompiledEvaluator)

    def test_compiled_and_plain_say_the_same(self):
        game = game_of("BomberDuel-v0")
        policy = random_policy(game)
        one, other = evaluator_for(policy, game), PlainEvaluator(policy, fitting(policy, game))
        for state, player, _ in positions(game, 20):
            for name, size, arguments in (("advise", game.actions, (player,)), ("evaluate", game.players, ())):
                here, there = np.zeros(size), np.zeros(size)
                getattr(one, name)(state, *arguments, here)
                getattr(other, name)(state, *arguments, there)
                np.testing.assert_allclose(here, there, atol=1e-5)


class TestSearch:
    def search(self, env, **settings):
        return agents.make(settings.pop("name", "mcts"), **{"simulations": 50, **settings}).search(env)

    def test_the_value_of_a_leaf_is_the_policys(self):
        env = make(LANES)
        game = env.unwrapped.game
        policy = random_policy(game)
        result = self.search(env, policy=policy, evaluate="policy", simulations=1)
        assert result.steps == 1
        evaluator, values, rewards = evaluator_for(policy, game), np.zeros(1), np.zeros(1)
        state = env.unwrapped.view().state.copy()
        stream = new_stream(0)
        own = new_stream(int(draw(stream)))
        game.determinize(state, 0, draw(own))
        game.step(state, np.array([result.action]), rewards)
        evaluator.evaluate(state, values)
        assert result.values[result.action] == rewards[0] + values[0]

    def test_the_prior_is_the_policys(self):
        env = make(ROSTER)
        policy = random_policy(env.unwrapped.game)
        view = env.unwrapped.view()
        wanted, _ = told(policy, view.game, view.state, 0, view.legal_actions())
        result = self.search(env, policy=policy, select="puct", evaluate="policy")
        np.testing.assert_allclose(result.prior, wanted, atol=1e-5)
        assert result.visits[result.prior == 0.0].sum() == 0

    @pytest.mark.parametrize(("env_id", "settings"), GAMES)
    @pytest.mark.parametrize("name", ["gumbel", "mcts"])
    def test_same_seed_same_tree_with_what_was_kept_or_without(self, env_id, settings, name):
        env = make(env_id, **settings)
        policy = random_policy(env.unwrapped.game)
        more = {"select": "puct", "evaluate": "policy"} if name == "mcts" else {}
        agent = agents.make(name, policy=policy, simulations=60, **more)
        first = agent.search(env)
        agent.reseed(0)
        again, anew = agent.search(env), self.search(env, name=name, policy=policy, simulations=60, **more)
        for other in (again, anew):
            assert other.visits.tolist() == first.visits.tolist()
            np.testing.assert_array_equal(other.values, first.values)

    def test_threads_share_what_was_said(self):
        env = make(ROSTER)
        policy = random_policy(env.unwrapped.game)
        settings = {"policy": policy, "select": "puct", "evaluate": "policy", "threads": 4, "simulations": 4000}
        one, other = (self.search(env, **settings) for _ in range(2))
        assert one.visits.tolist() == other.visits.tolist()

    def test_searches_in_several_threads_find_what_they_find_one_after_another(self):
        env = make(ROSTER)
        policy = random_policy(env.unwrapped.game)

        def found(run):
            agent = agents.make(**PUCT, policy=policy)
            searches = [agent.start(env) for _ in range(4)]
            run(searches)
            return [search.statistics()[1] for search in searches]

        def together(searches):
            with ThreadPoolExecutor(4) as threads:
                list(threads.map(lambda search: search.run(simulations=1500), searches))

        wanted = found(lambda searches: [search.run(simulations=1500) for search in searches])
        for _ in range(40):
            np.testing.assert_array_equal(found(together), wanted)

    @pytest.mark.parametrize("settings", [{"simulate": "advised"}, {"opponents": "advised"}, {"select": "puct"}])
    def test_rollouts_and_opponents_follow_it(self, settings):
        env = make("WallSurvival-v0", board_size=6)
        game = env.unwrapped.game
        one, other = (random_policy(game, seed=seed) for seed in (1, 2))
        values = [self.search(env, policy=policy, **settings).values for policy in (one, one, other)]
        np.testing.assert_array_equal(values[0], values[1])
        assert not np.array_equal(values[0], values[2], equal_nan=True)

    def test_a_rollout_before_the_value_counts_both(self):
        env = make(LANES)
        policy = random_policy(env.unwrapped.game)
        result = self.search(env, policy=policy, evaluate="policy", rollout_depth=3, simulations=20)
        assert 20 < result.steps <= 20 * 10

    def test_copies_and_pickles_play_on(self):
        env = make(LANES)
        agent = agents.make("gumbel", policy=random_policy(env.unwrapped.game), simulations=16)
        first = agent.search(env).visits.tolist()
        agent.reseed(0)
        for other in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
            assert other.search(env).visits.tolist() == first

    @pytest.mark.parametrize("name", ["flat_mc", "halving", "mcts"])
    def test_all_that_search_trees_take_a_policy(self, name):
        env = make(LANES)
        policy = random_policy(env.unwrapped.game)
        assert self.search(env, name=name, policy=policy, evaluate="policy").visits.sum() == 50

    def test_the_shipped_policy_needs_no_torch(self, monkeypatch):
        import sys

        monkeypatch.setitem(sys.modules, "torch", None)
        monkeypatch.setitem(sys.modules, "stable_baselines3", None)
        env = make(ROSTER)
        assert self.search(env, name="gumbel", policy="maskable_ppo").visits.sum() == 50


class Elsewhere(Policy):
    """A policy that is asked as it is, and not said in layers."""

    has_probabilities = True
    observation_shape = observation_dtype = action_count = None

    def __init__(self, policy):
        super().__init__(policy.path, policy.algorithm, about=policy.about)
        for name, value in {
            "inner": policy,
            "asked": [],
            "observation_shape": policy.observation_shape,
            "observation_dtype": policy.observation_dtype,
            "action_count": policy.action_count,
        }.items():
            object.__setattr__(self, name, value)

    def actions(self, observations, masks=None):
        return self.inner.actions(observations, masks)

    def probabilities(self, observations, masks=None):
        self.asked.append(len(observations))
        return self.inner.probabilities(observations, masks)

    def values(self, observations, masks=None):
        return self.inner.values(observations, masks)


PUCT = {"name": "mcts", "select": "puct", "evaluate": "policy"}


class TestBatched:
    @pytest.mark.parametrize(("env_id", "settings"), GAMES)
    @pytest.mark.parametrize("more", [PUCT, {**PUCT, "threads": 4, "dirichlet_alpha": 0.3}, {"name": "gumbel"}])
    def test_trees_are_those_of_the_compiled_network(self, env_id, settings, more):
        env = make(env_id, **settings)
        policy = random_policy(env.unwrapped.game)
        one = agents.make(**more, policy=policy, simulations=60)
        other = agents.make(**more, policy=Elsewhere(policy), simulations=60)
        equal = 0
        for seed in range(6):
            env.reset(seed=seed)
            here, there = one.search(env), other.search(env)
            assert (here.evaluator, there.evaluator) == ("compiled", "batched")
            assert here.simulations == there.simulations == 60 or here.visits.sum() == there.visits.sum()
            equal += (here.visits == there.visits).all()
        assert equal >= 5  # numbers are rounded otherwise, so that a tie may be broken otherwise

    def test_trees_of_several_threads_and_arms_of_a_pass_wait_for_one_batch(self):
        env = make(ROSTER)
        policy = random_policy(env.unwrapped.game)
        for more, most in (({**PUCT, "threads": 8}, 30), ({"name": "gumbel"}, 120)):
            elsewhere = Elsewhere(policy)
            agents.make(**more, policy=elsewhere, simulations=200).search(env)
            assert len(elsewhere.asked) <= most

    @pytest.mark.parametrize(("env_id", "settings"), GAMES)
    def test_a_tree_that_looks_ahead_is_the_same(self, env_id, settings, monkeypatch):
        env = make(env_id, **settings)
        policy = random_policy(env.unwrapped.game)
        found = []
        for ahead in (1, 4, 16):
            monkeypatch.setattr("agents.mcts.AHEAD", ahead)
            elsewhere = Elsewhere(policy)
            result = agents.make(**PUCT, policy=elsewhere, simulations=150).search(env)
            found.append(result)
            if ahead == 1:
                alone = len(elsewhere.asked)
            else:
                assert len(elsewhere.asked) < 0.75 * alone
        for result in found[1:]:
            assert (result.visits.tolist(), result.steps) == (found[0].visits.tolist(), found[0].steps)
            np.testing.assert_allclose(result.values, found[0].values, atol=1e-5)  # NumPy rounds otherwise in batches

    @pytest.mark.parametrize("more", [PUCT, {"name": "gumbel"}])
    def test_games_of_a_batch_wait_together(self, more):
        envs = mcts_envs.make_sb3_vec_env(f"mcts_envs/{ROSTER}", 8, seed=3)
        game = make(ROSTER).unwrapped.game
        policy = random_policy(game)
        elsewhere = Elsewhere(policy)
        agent = agents.make(**more, policy=elsewhere, simulations=30).bind(envs)
        seen = envs.reset()
        for _ in range(3):
            actions, _ = agent.predict(seen)
            seen, *_ = envs.step(actions)
        assert len(elsewhere.asked) < 3 * 45
        assert max(elsewhere.asked) > 8 if more is not PUCT else max(elsewhere.asked) == 8

    @pytest.mark.parametrize("nights", [(20, 20, 20), (20, 20, 30)])
    def test_environments_that_were_made_one_by_one(self, nights):
        vectors = pytest.importorskip("stable_baselines3.common.vec_env")
        envs = vectors.DummyVecEnv([partial(gym.make, f"mcts_envs/{LANES}", night=night) for night in nights])
        envs.seed(0)
        seen = envs.reset()
        elsewhere = Elsewhere(random_policy(game_of(LANES)))
        agent = agents.make("gumbel", policy=elsewhere, simulations=20).bind(envs)
        for _ in range(5):
            actions, _ = agent.predict(seen)
            seen, *_ = envs.step(actions)
        assert max(elsewhere.asked) > 1

    def test_searches_in_several_threads_take_turns(self):
        env = make(LANES)
        agent = agents.make(**PUCT, policy=Elsewhere(random_policy(env.unwrapped.game)))
        search = agent.start(env)
        with ThreadPoolExecutor(1) as threads:
            with search.plan.evaluator.lock:
                running = threads.submit(search.run, simulations=20)
                time.sleep(0.2)
                assert search.simulations == 0
            assert running.result(60).simulations == 20

    def test_an_answer_that_broke_off_is_asked_for_again(self):
        env = make(LANES)
        elsewhere = Elsewhere(random_policy(env.unwrapped.game))
        inside, view = agents.make("gumbel", policy=elsewhere).prepared(env.unwrapped.game).inside, env.unwrapped.view()
        object.__setattr__(elsewhere, "consulted", lambda *asked: (np.zeros((1, 3)), np.zeros(1)))
        weights = np.zeros(10)
        with pytest.raises(ValueError, match="broadcast"):
            inside.advise(view.state, 0, weights)
        del vars(elsewhere)["consulted"]
        inside.advise(view.state, 0, weights)
        wanted, _ = told(elsewhere, inside, view.state, 0, view.legal_actions())
        np.testing.assert_allclose(weights, wanted, atol=1e-6)

    def test_more_actions_than_there_is_room_for(self):
        game = game_of(LANES)
        with pytest.raises(ValueError, match="9000 actions, and a search with a policy room for 8192"):
            BatchedEvaluator(Elsewhere(random_policy(game)), replace(game, actions=9000))

    def test_a_convolution_searches(self, tmp_path):
        pytest.importorskip("torch")
        from agents.learning.networks import PlanesExtractor

        env = mcts_envs.make_sb3_vec_env(f"mcts_envs/{ROSTER}", 1, observation="planes")
        kwargs = {"features_extractor_class": PlanesExtractor, "normalize_images": False}
        model = algorithm_class("maskable_ppo")("CnnPolicy", env, seed=1, device="cpu", policy_kwargs=kwargs)
        agent = agents.make("gumbel", policy=model, simulations=32)
        result = agent.search(make(ROSTER))
        assert (result.evaluator, result.visits.sum()) == ("batched", 32)
        seen = make(ROSTER, observation="planes").unwrapped.view()
        wanted = agent.policy.probabilities(seen.observe()[None], seen.action_masks()[None])[0]
        np.testing.assert_allclose(result.prior, wanted, atol=1e-6)

    def test_layers_that_arrays_cannot_say_are_torchs(self, tmp_path):
        torch = pytest.importorskip("torch")
        path = untrained(tmp_path / "p.zip", policy_kwargs={"activation_fn": torch.nn.GELU})
        result = agents.make("gumbel", policy=path, simulations=20).search(make(LANES))
        assert result.evaluator == "batched"

    def test_an_end_of_time_before_the_first_answer(self):
        env = make(ROSTER)

        class Slow(Elsewhere):
            def values(self, observations, masks=None):
                time.sleep(0.02)
                return super().values(observations, masks)

        policy = Slow(random_policy(env.unwrapped.game))
        for more in (PUCT, {"name": "gumbel"}):
            result = agents.make(**more, policy=policy, time_limit=0.001).search(env)
            assert 1 <= result.visits.sum() <= 16

    def test_what_is_not_finite_is_refused(self):
        env = make(LANES)

        class Diverged(Elsewhere):
            def values(self, observations, masks=None):
                return np.full(len(observations), np.nan)

        with pytest.raises(ValueError, match="not finite"):
            agents.make("gumbel", policy=Diverged(random_policy(env.unwrapped.game))).search(env)


class TestForeign:
    def test_cart_pole_with_a_policy_of_ones_own(self, tmp_path):
        pytest.importorskip("stable_baselines3")
        path = untrained(tmp_path / "cart.zip", env_id="CartPole-v1")
        env = Remember(gym.make("CartPole-v1"))
        env.reset(seed=0)
        for settings in ({"name": "gumbel"}, {"name": "mcts", "select": "puct", "evaluate": "policy"}):
            agent = agents.make(**settings, policy=path, simulations=20)
            result = agent.search(env)
            assert result.visits.sum() == 20
            seen = np.array(env.observation, np.float32)[None]
            np.testing.assert_allclose(result.prior, agent.policy.probabilities(seen)[0], atol=1e-6)

    def test_it_says_how_it_gets_to_see(self, tmp_path):
        pytest.importorskip("stable_baselines3")
        env = gym.make("CartPole-v1")
        env.reset(seed=0)
        agent = agents.make("gumbel", policy=untrained(tmp_path / "cart.zip", env_id="CartPole-v1"))
        with pytest.raises(ValueError, match=r"wrap it in agents\.bridge\.Remember"):
            agent.act(env)


class TestMistakes:
    def test_settings(self):
        with pytest.raises(ValueError, match="evaluate='policy' needs a policy"):
            agents.make("mcts", evaluate="policy")
        with pytest.raises(ValueError, match="consulted by nothing"):
            agents.make("mcts", policy="ppo")
        with pytest.raises(ValueError, match="consulted by nothing"):
            agents.make("mcts", policy="ppo", opponents="advised", opponent_model="careful")
        with pytest.raises(FileNotFoundError, match=r"no policy .*nowhere"):
            agents.make("gumbel", policy="nowhere")
        with pytest.raises(TypeError, match="policy 3 is none of"):
            agents.make("gumbel", policy=3)

    def test_the_policy_of_another_game(self):
        policy = random_policy(game_of(LANES), game="lane_defense")
        with pytest.raises(ValueError, match="use a policy that was trained here"):
            agents.make("gumbel", policy=policy).act(make("WallSurvival-v0"))
        with pytest.raises(ValueError, match="no ppo policy is shipped"):
            agents.make("gumbel", policy="ppo").act(make("Football1-v0"))

    def test_layers_that_do_not_fit(self):
        game = game_of(LANES)

        def layer(inputs, outputs):
            return Layer(np.ones((inputs, outputs), np.float32), np.ones(outputs, np.float32), "relu")

        for policy, value in (([(38, 4), (9, 10)], [(38, 1)]), ([(38, 10)], [(50, 1)]), ([(38, 10)], [(38, 2)])):
            with pytest.raises(ValueError, match=r"after 4 outputs|do not fit the policy"):
                Network(tuple(layer(*sizes) for sizes in policy), tuple(layer(*sizes) for sizes in value))
        small = replace(random_policy(game), network=Network((layer(20, 10),), (layer(20, 1),)))
        with pytest.raises(ValueError, match=r"20 inputs, not the \(38,\) that it names"):
            evaluator_for(small, game)

    def test_what_is_observed_is_no_array(self):
        ppo = pytest.importorskip("stable_baselines3").PPO
        for wrapper in (gym.Wrapper, gym.wrappers.FlattenObservation):
            env = Remember(wrapper(gym.make("FrozenLake-v1")))
            env.reset(seed=0)
            agent = agents.make("gumbel", policy=ppo("MlpPolicy", env, device="cpu"), simulations=8)
            if wrapper is gym.Wrapper:
                with pytest.raises(ValueError, match="wrap the environment in FlattenObservation"):
                    agent.act(env)
            else:
                assert agent.search(env).visits.sum() == 8

    @pytest.mark.parametrize("of", ["values", "probabilities"])
    def test_what_is_not_finite_is_refused_in_plain_python_too(self, of):
        game = game_of(LANES)
        elsewhere = Elsewhere(random_policy(game))
        object.__setattr__(elsewhere, of, lambda seen, masks=None: np.full((1, 10) if of != "values" else 1, np.nan))
        with pytest.raises(ValueError, match="not finite"):
            PlainEvaluator(elsewhere, game).advise(next(positions(game, 1))[0], 0, np.zeros(10))

    def test_a_file_that_is_no_zip(self, tmp_path):
        (tmp_path / "p.zip").write_bytes(b"no zip")
        with pytest.raises(ValueError, match="damaged, or no policy"):
            agents.make("gumbel", policy=tmp_path / "p.zip")

    def test_action_values_are_no_prior(self):
        policy = random_policy(game_of(LANES), outputs="action_values", algorithm="dqn")
        for settings in ({"name": "gumbel"}, {"name": "mcts", "select": "puct"}):
            with pytest.raises(ValueError, match="has no probabilities"):
                agents.make(**settings, policy=policy)
        assert agents.make("mcts", policy=policy, evaluate="policy", simulations=9).act(make(LANES)) >= 0

    def test_bytes(self):
        policy = random_policy(game_of(LANES), settings={"observation_dtype": "uint8"})
        with pytest.raises(ValueError, match="observations in bytes"):
            read_policy(policy)

    def test_weights_that_are_no_numbers(self, tmp_path):
        pytest.importorskip("stable_baselines3")
        from stable_baselines3 import PPO

        path = untrained(tmp_path / "p.zip")
        model = PPO.load(path, device="cpu")
        with pytest.importorskip("torch").no_grad():
            model.policy.action_net.weight[0, 0] = math.nan
        with pytest.raises(ValueError, match="not finite"):
            agents.make("gumbel", policy=model)

    def test_recurrent_policies(self, tmp_path):
        contrib = pytest.importorskip("sb3_contrib")
        contrib.RecurrentPPO("MlpLstmPolicy", "CartPole-v1", device="cpu").save(tmp_path / "r.zip")
        with pytest.raises(ValueError, match="is a recurrent policy"):
            agents.make("gumbel", policy=tmp_path / "r.zip")
