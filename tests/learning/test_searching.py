"""Policies in the search: what compiled code says of states, who is asked, and what is refused."""

import copy
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

import agents
import mcts_envs
from agents.bridge import Remember
from agents.evaluator.compiled import CompiledEvaluator, Dense, TooLargeError
from agents.evaluator.plain import PlainEvaluator
from agents.learning.saved import fitting as fitting_module
from agents.learning.saved.fitting import fitting, learned_rewards
from agents.learning.saved.network import Layer, Network
from agents.learning.saved.shipped import shipped
from agents.learning.searching import evaluator_for, read_policy
from mcts_envs.core.contract import Game, blank, state_dtype
from mcts_envs.core.kernel import record
from mcts_envs.core.rng import draw, new_stream
from mcts_envs.registry import Entry
from tests.learning.policies import (
    GAMES,
    LANES,
    PUCT,
    ROSTER,
    Elsewhere,
    game_of,
    make,
    positions,
    random_policy,
    statistics,
    told,
)
from tests.learning.test_networks import untrained
from tests.toys import stakes, tic_tac_toe

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")


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
        for weights in evaluator._forward._held[-1]:
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
        policy = replace(random_policy(game), network=Network(layers, (), "action_values"), algorithm="dqn")
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
        inside, values = agent.prepared(game).model, np.zeros(1)
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

    @pytest.mark.parametrize("outputs", ["logits", "action_values"])
    @pytest.mark.parametrize("made", [lambda: game_of("BomberDuel-v0"), stakes], ids=["at once", "three in turns"])
    def test_compiled_and_plain_say_the_same(self, made, outputs):
        game = made()
        policy = random_policy(game, outputs=outputs)
        one, other = evaluator_for(policy, game), PlainEvaluator(policy, fitting(policy, game))
        for state, player, _ in positions(game, 20):
            asked = ("evaluate", game.players, ()), ("advise", game.actions, (player,))
            for name, size, arguments in asked if policy.has_probabilities else asked[:1]:
                here, there = np.zeros(size), np.zeros(size)
                getattr(one, name)(state, *arguments, here)
                getattr(other, name)(state, *arguments, there)
                np.testing.assert_allclose(here, there, atol=1e-5)

    @pytest.mark.parametrize(("teams", "sign"), [(((0,), (1,)), -1), (((0, 1),), 1)])
    def test_only_opponents_have_the_opposite(self, teams, sign):
        """On an empty board both see the same."""
        game = replace(tic_tac_toe(), teams=teams)
        policy, values = random_policy(game), np.zeros(2)
        game.restart(state := game.new_state(), 0)
        for evaluator in (evaluator_for(policy, game), PlainEvaluator(policy, fitting(policy, game))):
            evaluator.evaluate(state, values)
            assert values[1] == pytest.approx(sign * values[0])
            assert values[0] != 0.0


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

    @pytest.mark.slow
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
        with pytest.raises(ValueError, match="consulted by nothing"):
            agents.make("mcts", policy="ppo", simulate="advised", rollout_model="paper_rollout")
        with pytest.raises(FileNotFoundError, match=r"no policy .*nowhere"):
            agents.make("gumbel", policy="nowhere")
        with pytest.raises(FileNotFoundError, match=r"no policy nowhere\.zip"):
            agents.make("gumbel", policy="sb3:nowhere.zip")
        with pytest.raises(FileNotFoundError, match="do you mean 'ppo'"):
            agents.make("gumbel", policy="PPO")
        with pytest.raises(TypeError, match="a class; load a model"):
            agents.make("gumbel", policy=dict)
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
            with pytest.raises(ValueError, match=r"has no probabilities.*take 'mcts' with evaluate='policy'"):
                agents.make(**settings, policy=policy)
        assert agents.make("mcts", policy=policy, evaluate="policy", simulations=9).act(make(LANES)) >= 0

    def test_weights_that_are_no_numbers(self, tmp_path):
        pytest.importorskip("stable_baselines3")
        from stable_baselines3 import PPO

        path = untrained(tmp_path / "p.zip")
        model = PPO.load(path, device="cpu")
        with pytest.importorskip("torch").no_grad():
            model.policy.action_net.weight[0, 0] = math.nan
        with pytest.raises(ValueError, match="not finite"):
            agents.make("gumbel", policy=model)

    def test_continuous_actions(self, tmp_path):
        sb3 = pytest.importorskip("stable_baselines3")
        sb3.SAC("MlpPolicy", "Pendulum-v1", buffer_size=1, device="cpu").save(tmp_path / "sac.zip")
        sb3.A2C("MlpPolicy", "Pendulum-v1", device="cpu").save(tmp_path / "a2c.zip")
        for name, what in (("sac", "a policy of SAC, for continuous actions"), ("a2c", "only policies of Discrete")):
            with pytest.raises(ValueError, match=rf"{what}.*DiscretizeAction"):
                agents.make("gumbel", policy=tmp_path / f"{name}.zip")


STARS = state_dtype([("reward_kind", "u1"), ("turn", "u1"), ("rewards_left", "i2")])


def stars(reward_kind="many"):
    """A game whose rewards are named by a word; one field called after rewards is no setting."""
    state = blank(STARS)
    record(state, STARS).reward_kind = ("many", "few").index(reward_kind)
    toe = tic_tac_toe()
    parts = [getattr(toe, name) for name in ("reset", "active", "legal", "step", "status")]
    return Game("stars", 2, 9, state, *parts, layout=STARS, first_field="turn")


class TestRewardsOfTheTraining:
    """A policy's values are made of the rewards that it was trained with; so are those on the way to them."""

    @pytest.mark.parametrize(
        ("env_id", "settings", "learned"),
        [
            ("Football3-v0", {}, (("reward_touchdown", 1.0),)),
            ("Football3-v0", {"reward_touchdown": 1.0}, ()),
            (ROSTER, {"reward_win": 7.0}, (("reward_kill", 5.0), ("reward_win", 100.0))),
            (LANES, {}, ()),
        ],
    )
    def test_they_are_named_where_the_game_has_others(self, env_id, settings, learned):
        policy = shipped(env_id, "maskable_ppo")
        evaluator = agents.make("puct", policy=policy).prepare(game_of(env_id, **settings)).evaluator
        assert sorted(evaluator.rewards) == sorted(learned)

    @pytest.mark.parametrize("batch", [True, False])
    def test_a_model_in_memory_learned_those_of_its_environment(self, batch):
        ppo = pytest.importorskip("stable_baselines3").PPO
        env = mcts_envs.make_sb3_vec_env(LANES, 2, reward_kill=9.0) if batch else make(LANES, reward_kill=9.0)
        policy = read_policy(ppo("MlpPolicy", env, device="cpu"))
        assert evaluator_for(policy, game_of(LANES)).rewards == (("reward_kill", 9.0),)

    @pytest.mark.parametrize(
        ("about", "learned"),
        [
            ({"environment": "Stars-v0", "settings": {"reward_kind": "many"}}, ()),
            (
                {"environment": "Stars-v0", "settings": {"reward_kind": "few", "seat": 1}},
                (("reward_kind", 1),),
            ),
            ({"settings": {"reward_kind": "few"}}, ()),
            ({"settings": {"reward_kind": 1, "rewards_left": 9.0}}, (("reward_kind", 1),)),
        ],
    )
    def test_they_are_what_a_game_of_ones_own_makes_of_its_settings(self, about, learned, monkeypatch):
        monkeypatch.setattr(fitting_module, "find", {"Stars-v0": Entry("Stars-v0", "", {"game": stars})}.__getitem__)
        assert learned_rewards(random_policy(stars(), **about), stars()) == learned

    def test_nothing_is_found_where_the_training_paid_nothing(self):
        env = make(LANES)
        free = dict.fromkeys(("reward_kill", "reward_eaten", "reward_win", "reward_loss"), 0.0)
        policy = random_policy(env.unwrapped.game, settings=free)
        nothing = [layer._replace(weights=0 * layer.weights, bias=0 * layer.bias) for layer in policy.network.value]
        worthless = replace(policy, network=replace(policy.network, value=tuple(nothing)))
        before = env.unwrapped.clone_state()
        agent = {**PUCT, "policy": worthless, "simulations": 300, "seed": 0}
        assert np.nanmax(np.abs(agents.make(**agent).search(env).values)) == 0.0
        assert env.unwrapped.clone_state() == before
        paid = replace(worthless, about={**policy.about, "settings": {}})
        assert np.nanmax(np.abs(agents.make(**{**agent, "policy": paid}).search(env).values)) > 1.0

    def test_without_its_values_the_game_pays_as_it_does(self):
        env, policy = make("Football3-v0"), shipped("Football3-v0", "maskable_ppo")
        for given, paid in (({}, 1.0), ({"evaluate": None, "horizon": 5}, 0.0)):
            search = agents.make("puct", policy=policy, simulations=5, **given).start(env)
            root = search.plan.root(env.unwrapped.view().state)
            assert record(root, env.unwrapped.game.layout).reward_touchdown == paid

    def test_what_was_searched_is_kept(self):
        env, policy = make("Football3-v0"), shipped("Football3-v0", "maskable_ppo")
        agent = agents.make("puct", policy=policy, simulations=200, loop="closed", reuse=True)
        env.step(agent.act(env))
        assert agent.start(env).simulations == 0
        assert agent.search(env).visits.sum() > 200
