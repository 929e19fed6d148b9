"""Policies that are asked in batches: trees are the same, batches are full, and nobody waits for ever."""

import gc
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count

import gymnasium as gym
import numpy as np
import pytest

import agents
import mcts_envs
from agents.budget import Budget, Clock
from agents.evaluator.batched import BatchedEvaluator
from agents.learning.algorithms import algorithm_class
from agents.learning.playing import games_of_a_job
from agents.search.tree import root_edge
from tests.learning.policies import GAMES, LANES, PUCT, ROSTER, Elsewhere, OneByOne, game_of, make, random_policy, told
from tests.learning.test_networks import untrained

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")


@pytest.mark.parametrize("kind", ["compiled", "batched"])
def test_the_table_of_an_agent_goes_with_it(kind):
    """Of 16 MB: expert iteration makes agents of each policy, and Python's collector knows nothing of its size."""
    env = make(LANES)
    policy = random_policy(env.unwrapped.game)
    agent = agents.make("gumbel", policy=policy if kind == "compiled" else Elsewhere(policy), simulations=4)
    assert agent.search(env).evaluator == kind
    kept = weakref.ref(agent.prepared(env.unwrapped.game).evaluator)
    gc.collect()
    gc.disable()
    try:
        del agent
        assert kept() is None
    finally:
        gc.enable()


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
        assert equal >= 4  # with gumbel three trees in forty of this duel differ

    def test_trees_of_several_threads_and_arms_of_a_pass_wait_for_one_batch(self):
        env = make(ROSTER)
        policy = random_policy(env.unwrapped.game)
        for more, most in (({**PUCT, "threads": 8}, 30), ({"name": "gumbel"}, 120)):
            elsewhere = Elsewhere(policy)
            agents.make(**more, policy=elsewhere, simulations=200).search(env)
            assert len(elsewhere.asked) <= most

    def test_a_search_goes_on_without_the_arms_of_before(self):
        env = make("WallSurvival-v0", board_size=4)
        env.reset(seed=1)
        policy = random_policy(env.unwrapped.game)
        visits = []
        for given in (policy, Elsewhere(policy)):
            search = agents.make("mcts", select="puct", evaluate="policy", policy=given).start(env)
            for _ in search.spending(Clock(Budget(16)), search.legal[:2]):
                search.plan.answer()
            visits.append(search.run(simulations=200).statistics()[0])
        assert np.array_equal(*visits)
        assert visits[0][search.legal[2:]].sum() > 100

    @pytest.mark.parametrize(
        ("env_id", "settings", "more"),
        [
            *((*game, {}) for game in GAMES),
            ("WallSurvival-v0", {}, {"opponents": "advised"}),
            pytest.param("BomberTeam-v0", {}, {"opponents": "mixed", "loop": "open"}, marks=pytest.mark.slow),
            ("BomberTeam-v0", {}, {"opponents": "uniform", "option": "follow", "option_steps": 4}),
            (LANES, {}, {"select": "double_progressive_widening"}),
            ("BomberDuel-v0", {}, {"select": "exp3"}),
            ("BomberDuel-v0", {}, {"select": "exp3", "opponents": "mixed"}),
            ("BomberDuel-v0", {}, {"select": "regret_matching"}),
            ("BomberDuel-v0", {}, {"select": "rave", "simulate": "mast", "rollout_depth": 3}),
            (
                "Football1-v0",
                {},
                {"select": "grave", "reference": 10, "c": 0.3, "simulate": "mast", "rollout_depth": 4},
            ),
        ],
    )
    def test_a_tree_that_looks_ahead_is_the_same(self, env_id, settings, more, monkeypatch):
        env = make(env_id, **settings)
        policy = random_policy(env.unwrapped.game)
        found = []
        for ahead in (1, 4, 16):
            monkeypatch.setattr("agents.mcts.AHEAD", ahead)
            elsewhere = OneByOne(policy)
            result = agents.make(**{**PUCT, **more}, policy=elsewhere, simulations=150).search(env)
            found.append(result)
            if ahead == 1:
                alone = len(elsewhere.asked)
            else:
                assert len(elsewhere.asked) < 0.75 * alone
        for result in found[1:]:
            assert (result.visits.tolist(), result.steps) == (found[0].visits.tolist(), found[0].steps)
            np.testing.assert_array_equal(result.values, found[0].values)

    @pytest.mark.parametrize(
        ("games", "shape", "of_a_job"),
        [(12, (9,), 8), (1500, (6, 7, 6), 46), (12_000, (6, 7, 6), 64), (12_000, (46, 15, 26), 14), (256, (10**6,), 8)],
    )
    def test_a_job_has_as_many_games_as_are_played_together(self, games, shape, of_a_job):
        assert games_of_a_job(games, shape) == of_a_job

    @pytest.mark.parametrize("env_id", [LANES, "Football1-v0", "BomberDuel-v0"])
    def test_arms_of_a_pass_take_their_turns(self, env_id):
        env = make(env_id)
        network, found = random_policy(env.unwrapped.game), []
        for policy in (network, OneByOne(network)):
            result = agents.make(
                "halving", evaluate="policy", policy=policy, margin=0.5, rollout_depth=2, simulations=300
            ).search(env)
            tree, tried = result.tree.trees[0], np.flatnonzero(result.visits)
            paired = [tree.backup.per_edge[root_edge(tree, result.view.player, action)] for action in tried]
            found.append((result.visits, result.values, np.array(paired)))
        for compiled, batched in zip(*found, strict=True):
            np.testing.assert_allclose(compiled, batched, atol=1e-3)

    @pytest.mark.parametrize("env_id", [LANES, "WallSurvival-v0"])
    def test_one_arm_alone(self, env_id):
        env = make(env_id)
        policy = Elsewhere(random_policy(env.unwrapped.game))
        result = agents.make("gumbel", policy=policy, considered=1, simulations=50).search(env)
        assert (result.visits[result.action], result.visits.sum()) == (50, 50)

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
        assert len(elsewhere.asked) < 3 * 16
        assert max(elsewhere.asked) > 8 if more is not PUCT else max(elsewhere.asked) == 8

    @pytest.mark.parametrize("more", [PUCT, {"name": "gumbel"}])
    def test_the_same_is_asked_in_the_same_batches_however_long_it_takes(self, more, monkeypatch):
        env, asked = make(ROSTER), []
        for second in (1e-7, 1e-2):
            ticks = count()
            monkeypatch.setattr("time.perf_counter", lambda ticks=ticks, second=second: next(ticks) * second)
            views = []
            for seed in range(4):
                env.reset(seed=seed)
                views.append(env.unwrapped.view())
            elsewhere = Elsewhere(random_policy(env.unwrapped.game))
            agents.make(**more, policy=elsewhere, simulations=60).search_all(views[:3])
            agents.make(**more, policy=elsewhere, simulations=60).search_all(views[3:])
            agents.make(**more, policy=elsewhere, simulations=60).search(views[3])
            asked.append(elsewhere.asked)
        assert asked[0] == asked[1]

    @pytest.mark.parametrize("more", [{"name": "determinized", "select": "puct", "evaluate": "policy"}, PUCT])
    def test_a_batch_of_one_is_searched_as_one(self, more):
        env = make("Bomber-v0", view=2)
        env.reset(seed=4)
        policy = random_policy(env.unwrapped.game)
        alone, other = (agents.make(**more, policy=Elsewhere(policy), simulations=40, seed=7) for _ in range(2))
        wanted = alone.search(env)
        assert other.choose_all([env.unwrapped.view()], [None]) == [wanted.action]
        assert other.last_result.visits.tolist() == wanted.visits.tolist()

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
        inside, view = agents.make("gumbel", policy=elsewhere).prepared(env.unwrapped.game).model, env.unwrapped.view()
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
            BatchedEvaluator(Elsewhere(random_policy(game)), replace(game, actions=9000, symmetries=()))

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

    def test_rollouts_ask_for_what_they_meet_and_no_more(self):
        env = make("Football3-v0")
        elsewhere = Elsewhere(random_policy(env.unwrapped.game))
        result = agents.make("mcts", policy=elsewhere, simulate="advised", simulations=2).search(env)
        assert sum(elsewhere.asked) <= result.steps

    def test_what_is_not_finite_is_refused(self):
        env = make(LANES)

        class Diverged(Elsewhere):
            def values(self, observations, masks=None):
                return np.full(len(observations), np.nan)

        with pytest.raises(ValueError, match="not finite"):
            agents.make("gumbel", policy=Diverged(random_policy(env.unwrapped.game))).search(env)


@pytest.mark.parametrize("remembered", [False, True])
def test_a_policy_is_asked_as_it_plays_not_as_it_learns(remembered):
    """Layers that draw, or look at a whole batch, in training only: dropout and batch normalization."""
    ppo, torch = pytest.importorskip("stable_baselines3").PPO, pytest.importorskip("torch")
    env = agents.remember(gym.make("CartPole-v1")) if remembered else make(LANES)
    env.reset(seed=0)
    model = ppo("MlpPolicy", env, seed=0, device="cpu")
    width = model.policy.mlp_extractor.latent_dim_pi
    for tower in (model.policy.mlp_extractor.policy_net, model.policy.mlp_extractor.value_net):
        tower.append(torch.nn.Dropout(0.5)).append(torch.nn.BatchNorm1d(width))
    model.policy.set_training_mode(True)
    first, second = (agents.make("puct", policy=model, simulations=20).search(env) for _ in range(2))
    assert first.evaluator in ("plain", "batched")
    assert np.array_equal(first.values, second.values, equal_nan=True)
