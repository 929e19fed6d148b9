"""The search itself: its phases on hand-made trees, bandits, budgets, settings, and what it must not know."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from numba import types

import agents
from agents.mcts import MCTS
from agents.policies.least_visited import least_visited
from agents.policies.recommend import max_value, max_visits, mixed
from agents.policies.signatures import SELECT
from agents.policies.ucb1 import ucb1
from agents.policies.ucb1_forms import ucb1_in_order
from agents.search.records import PATH, SETTINGS, WORK, compiled, new_path, new_work, step_of_path
from agents.search.search import backup
from agents.search.tree import EDGE, NODE, RANGE, ROOT, TREE, new_edge
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.compiling.table import TABLE
from mcts_envs.core.contract import ACTIVE, EVALUATE, LEGAL, RESET, STATUS, STEP, Game, blank, state_dtype
from mcts_envs.core.kernel import interpreted, kernel, record
from mcts_envs.core.rng import coin, new_stream, seed_stream
from mcts_envs.core.view import View
from tests.search.lanes import lane
from tests.search.offers import offered, selected
from tests.toys import TicTacToe


@kernel(types.void(TABLE, SETTINGS, TREE, WORK, PATH, types.int64, types.int64))
def run_backup(policies, how, tree, work, path, depth, length):
    """The phase on its own, with the types that a search has."""
    backup(policies, how, tree, work, path, depth, length)


BANDIT = state_dtype([("steps", "i8"), ("length", "i8"), ("p", "f8", 4)])


@kernel(RESET)
def bandit_reset(state, seed):
    seed_stream(state, seed)
    record(state, BANDIT).steps = 0


@kernel(ACTIVE)
def bandit_active(state):
    s = record(state, BANDIT)
    return 1 if s.steps < s.length else 0


@kernel(LEGAL)
def bandit_legal(state, player, actions):
    for arm in range(4):
        actions[arm] = arm
    return 4


@kernel(STEP)
def bandit_step(state, actions, rewards):
    s = record(state, BANDIT)
    rewards[0] = 0.0
    if s.steps < s.length:
        rewards[0] = 1.0 if coin(state, s.p[actions[0]]) else 0.0
        s.steps += 1


@kernel(STATUS)
def bandit_status(state, player):
    s = record(state, BANDIT)
    return 0 if s.steps < s.length else 1


def bandit(p=(0.1, 0.4, 0.8, 0.3), length=1):
    """Four arms that pay 1 with these probabilities, pulled ``length`` times."""
    state = blank(BANDIT)
    s = record(state, BANDIT)
    s.length = length
    s.p[:] = p
    return Game("bandit", 1, 4, state, bandit_reset, bandit_active, bandit_legal, bandit_step, bandit_status)


def env_of(game, seed=0):
    env = GameEnv(game=game)
    env.reset(seed=seed)
    return env


class TestSelection:
    def select(self, policy, visits, sums, c=1.0, k=None):
        return selected(
            policy, offered(visits, sums, k=k), new_stream(1), **{} if policy is least_visited else {"c": c}
        )

    def test_ucb1_by_hand(self):
        visits, sums, c = [10, 5, 1], [6.0, 3.5, 0.2], 0.7
        bounds = [s / n + c * math.sqrt(math.log(16) / n) for s, n in zip(sums, visits, strict=True)]
        assert self.select(ucb1, visits, sums, c) == int(np.argmax(bounds))
        assert self.select(ucb1, visits, sums, 0.0) == 1

    def test_untried_actions_come_first(self):
        assert self.select(ucb1_in_order, [5, 0, 0], [5, 0, 0]) == 1
        stream = new_stream(3)
        assert {selected(ucb1, offered([5, 0, 0], [0, 0, 0]), stream) for _ in range(50)} == {1, 2}

    def test_only_the_first_k_entries_count(self):
        assert self.select(ucb1, [3, 4, 0, 0], [1.0, 3.0, 0.0, 0.0], 0.1, k=2) == 1

    def test_least_visited(self):
        assert self.select(least_visited, [3, 2, 2], [0, 0, 0]) == 1


class TestRecommendation:
    def test_max_visits_breaks_ties_by_value_then_order(self):
        legal = np.array([0, 2, 3])
        assert max_visits(np.array([5, 9, 5, 4]), np.array([0.1, 9, 0.3, 1.0]), legal, new_stream(0)) == 2
        assert max_visits(np.array([5, 0, 3, 5]), np.array([0.3, 0, 0.3, 0.3]), legal, new_stream(0)) == 0

    def test_max_visits_draws_one_where_nothing_was_paid(self):
        legal, visits, values = np.array([0, 2, 3]), np.array([6, 0, 5, 5]), np.array([0.0, np.nan, 0.0, 0.0])
        assert {max_visits(visits, values, legal, new_stream(k)) for k in range(30)} == {0, 2, 3}
        values[3] = -0.1
        assert {max_visits(visits, values, legal, new_stream(k)) for k in range(30)} == {0}
        values[[0, 2, 3]] = 15.0  # whoever is paid for lasting is safe by each
        assert {max_visits(visits, values, legal, new_stream(k)) for k in range(30)} == {0}

    def test_max_value_ignores_untried(self):
        assert max_value(np.array([1, 0, 1]), np.array([-5.0, np.nan, -4.0]), np.array([0, 1, 2]), new_stream(0)) == 2

    def test_mixed_draws_in_proportion_to_visits(self):
        visits, legal, stream = np.array([10, 99, 30, 0]), np.array([0, 2, 3]), new_stream(0)
        drawn = [mixed(visits, np.zeros(4), legal, stream) for _ in range(4000)]
        assert np.bincount(drawn, minlength=4)[[1, 3]].tolist() == [0, 0]
        assert drawn.count(2) == pytest.approx(3000, abs=4 * 28)


class TestBackup:
    @pytest.mark.parametrize("updates", [False, True], ids=["built in", "as a policy"])
    def test_discounted_returns_reach_every_edge_and_node(self, updates):
        agent = MCTS(discount=0.5)
        plan = agent.prepared(bandit())
        tree = plan.new_tree(10)
        work, path = new_work(bandit(), new_stream(0), 10), new_path(bandit(), 5)
        path.nodes[:3] = (1, 2, 3)
        steps = [interpreted(step_of_path)(path, t, 0) for t in range(2)]
        for step, node, reward in zip(steps, (1, 2), (1.0, 10.0), strict=True):
            step.edge, step.reward = interpreted(new_edge)(tree, node, 0, 0), reward
        work.values[0] = 100.0
        run_backup(
            plan.table, plan.settings._replace(custom_backup=updates), compiled(tree), work, compiled(path), 2, 2
        )
        edges, nodes = tree.edges.view(EDGE), tree.nodes.view(NODE)
        assert edges["sums"][1:3].tolist() == [1 + 0.5 * (10 + 0.5 * 100), 10 + 0.5 * 100]
        assert [step.value for step in steps] == [31.0, 60.0]
        assert edges["visits"][1:3].tolist() == [1, 1]
        assert nodes["visits"][1:4].tolist() == [1, 1, 1]
        assert tree.ranges.view(RANGE)[0].tolist() == (31.0, 60.0)


class TestBandit:
    def test_finds_the_best_arm_and_its_mean(self):
        result = MCTS(simulations=4000).search(env_of(bandit()))
        assert result.action == 2
        assert result.visits.sum() == result.simulations == 4000
        assert result.visits[2] > 3000
        assert result.values[2] == pytest.approx(0.8, abs=0.03)
        assert result.steps == 4000

    def test_flat_monte_carlo_shares_equally(self):
        result = agents.make("flat_mc", simulations=4000).search(env_of(bandit()))
        assert result.visits.tolist() == [1000] * 4
        assert result.values == pytest.approx([0.1, 0.4, 0.8, 0.3], abs=0.06)

    def test_one_step_samples_each_action(self):
        agent = agents.make("one_step", samples=500)
        assert agent.search(env_of(bandit(length=5))).visits.tolist() == [500] * 4
        assert agent.act(env_of(bandit(length=5))) == 2

    def test_one_step_does_what_is_legal_in_many_games_too(self):
        """The model plants whatever the plant coin says."""
        agent, states = agents.make("one_step", samples=1, model="paper_tree"), []
        for seed in range(16):
            env = lane(3, seed=seed)
            env.step(env.action_space.n - 1)
            states.append(env.unwrapped.view().state.copy())
        game, seeds = env.unwrapped.game, np.arange(16, dtype=np.uint64)
        found = agent.act_all(game, np.stack(states), np.zeros(16, np.int64), seeds)
        legal = [View(game, state, 0).legal_actions() for state in states]
        assert min(map(len, legal)) == 1
        assert all(action in offered for action, offered in zip(found, legal, strict=True))

    def test_horizon_and_discount(self):
        certain = bandit(p=(1.0, 1.0, 1.0, 1.0), length=10)
        search_for = lambda **settings: MCTS(simulations=50, **settings).search(env_of(certain)).values[0]  # noqa: E731
        assert search_for() == 10.0
        assert search_for(horizon=4) == 4.0
        assert search_for(discount=0.5) == pytest.approx(2.0, abs=0.01)

    def test_tree_depth(self):
        result = MCTS(simulations=500, tree_depth=1).search(env_of(bandit(length=10)))
        assert len(result.tree) == 5

    def test_normalization_makes_the_constant_free_of_scale(self):
        def visits(scale):
            settings = {"reward_kill": scale, "reward_eaten": -scale, "reward_win": 100.0 * scale}
            env = lane(3, seed=4, reward_loss=-200.0 * scale, **settings)
            return MCTS(simulations=300, c=0.3).search(env).visits.tolist()

        assert visits(1.0) == visits(1024.0)


class TestTree:
    def nodes(self, **settings):
        result = MCTS(**settings).search(lane(3, seed=2))
        (tree,) = result.tree.trees
        return tree.nodes.view(NODE)[: tree.count.nodes]

    @pytest.mark.parametrize("loop", ["open", "closed"])
    def test_visits_add_up(self, loop):
        nodes = self.nodes(simulations=2000, loop=loop)
        assert nodes["visits"][ROOT] == 2000
        below = np.zeros(len(nodes), int)
        for node in range(2, len(nodes)):
            assert 0 < nodes["parent"][node] < node
            below[nodes["parent"][node]] += nodes["visits"][node]
        inner = np.flatnonzero(nodes["first"][2:]) + 2
        own = nodes["visits"][inner] - below[inner]
        # A node's first visit ends there; in an open loop so do the games that are over by then.
        assert (own == 1).all() if loop == "closed" else (own >= 1).all()
        assert len(nodes) - 2 <= 2000

    def children(self, nodes):
        return int((nodes["parent"][2:] == ROOT).sum())

    def test_open_loop_has_one_child_an_action(self):
        assert self.children(self.nodes(simulations=3000, loop="open")) == 9

    def test_closed_loop_has_a_child_an_outcome(self):
        assert self.children(self.nodes(simulations=3000, loop="closed")) > 50

    def test_a_full_tree_goes_on_without_growing(self):
        result = MCTS(simulations=5000, max_nodes=100).search(lane(3, seed=2))
        assert result.simulations == 5000
        assert len(result.tree) <= 101
        assert result.visits.sum() == 5000


class TestTwoPlayers:
    def test_takes_the_win_and_blocks_the_loss(self):
        env = TicTacToe()
        agent = MCTS(simulations=2000, discount=1.0)
        for board, moves in (([1, 1, 0, 2, 2, 0, 0, 0, 0], {2}), ([1, 0, 0, 2, 2, 0, 0, 0, 1], {5})):
            env.reset(seed=0, options={"position": {"board": board, "turn": 0}})
            assert agent.act(env) in moves

    def test_perfect_play_draws(self):
        env = TicTacToe(opponent=MCTS(simulations=1500))
        agent = MCTS(simulations=1500)
        for seed in range(5):
            env.reset(seed=seed)
            agent.reseed(seed)
            over = False
            while not over:
                _, _, over, _, info = env.step(agent.act(env))
            assert info["outcome"] == 0.5


class TestClairvoyance:
    @pytest.mark.parametrize("loop", ["open", "closed", "information_set"])
    def test_states_that_differ_in_future_chance_give_the_same_search(self, loop):
        env = lane(3, seed=5).unwrapped
        position = env.position()
        results = []
        for seed in (1, 2, 3):
            env.reset(seed=seed, options={"position": position})
            results.append(MCTS(simulations=500, loop=loop, seed=9).search(env))
        for other in results[1:]:
            assert np.array_equal(other.visits, results[0].visits)
            assert np.array_equal(other.values, results[0].values, equal_nan=True)

    def test_forced_dice_are_not_foreseen(self):
        env = lane(3, seed=5).unwrapped
        position = env.position()
        env.reset(options={"position": position})
        plain = MCTS(simulations=500).search(env)
        env.reset(options={"position": {**position, "dice": [1, 1, 0, 1, 1, 1, 1, 2, 0, 1]}})
        assert np.array_equal(MCTS(simulations=500).search(env).visits, plain.visits)

    def test_search_leaves_the_environment_alone(self):
        env = lane(10, seed=5)
        before = env.unwrapped.clone_state()
        MCTS(simulations=500).search(env)
        assert env.unwrapped.clone_state() == before

    def test_a_fair_coin_is_not_beaten(self):
        """An agent that saw the next coin would win every bet; this one wins half."""
        env = env_of(bandit(p=(0.5, 0.5, 0.5, 0.5)))
        agent, wins = MCTS(simulations=40), 0.0
        for seed in range(400):
            env.reset(seed=seed)
            agent.reseed(seed)
            wins += env.step(agent.act(env))[1]
        assert abs(wins - 200) < 4 * 10


class TestBudgets:
    def test_same_seed_and_budget_give_the_same_result(self):
        env = lane(10, seed=1)
        first, second = (MCTS(simulations=700, seed=3).search(env) for _ in range(2))
        assert np.array_equal(first.visits, second.visits)
        assert not np.array_equal(first.visits, MCTS(simulations=700, seed=4).search(env).visits)

    def test_time(self):
        result = MCTS(time_limit=0.1).search(lane(10, seed=1))
        assert 0.09 < result.seconds < 5.0
        assert result.simulations > 100

    def test_model_steps(self):
        result = MCTS(max_steps=5000).search(lane(10, seed=1))
        assert 5000 <= result.steps < 5000 + 200

    def test_the_tightest_budget_counts(self):
        assert MCTS(simulations=10, time_limit=5.0, max_steps=10**9).search(lane()).simulations == 10

    def test_a_forced_move_costs_no_search(self):
        env = lane(3, seed=0)
        env.reset(options={"position": {"board": [0, 0, 2] + [0] * 6, "t": 3, "can_plant": False}})
        agent = MCTS(simulations=10)
        assert agent.act(env) == 9
        assert agent.last_result is None

    def test_game_over(self):
        env = env_of(bandit())
        env.step(0)
        with pytest.raises(ValueError, match="not to choose"):
            MCTS().search(env)


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"simulations": 0}, r"simulations 0 is outside \[1"),
            ({"simulations": 2.5}, "simulations 2.5 is float"),
            ({"time_limit": -1}, "time_limit in seconds -1.0 is outside"),
            ({"select": "ucb"}, "unknown select policy 'ucb'; did you mean 'ucb1'"),
            ({"recommend": 3}, "recommend 3 is neither a function"),
            ({"discount": 1.5}, "discount 1.5 is outside"),
            ({"horizon": 0}, "horizon 0 is outside"),
            ({"c": float("nan")}, "c nan is outside"),
            (
                {"bias": 1.0},
                "'bias' is a parameter of select='progressive_bias', not of select='ucb1', noise='uniform_noise'",
            ),
            ({"select": "progressive_bias", "bias": 1e10}, "bias 10000000000.0 is outside"),
            ({"opponents": "advise"}, "unknown opponents 'advise'; did you mean 'advised'"),
            ({"opponents": 3}, "unknown opponents 3; known: None, advised, mixed, uniform"),
            ({"opponent_model": "careful"}, "opponent_model 'careful' .* needs opponents='advised'"),
            ({"opponents": "advised", "opponent_model": 3}, "opponent_model 3 is no name"),
            ({"information": "none"}, "unknown information 'none'"),
            ({"information": "full", "loop": "information_set"}, "leaves nothing hidden to tell apart"),
            ({"relative": 2}, "relative 2 is not True or False"),
        ],
    )
    def test_bad_settings_are_refused_at_construction(self, settings, message):
        with pytest.raises((ValueError, TypeError), match=message):
            agents.make("mcts", **settings)

    def test_a_policy_that_is_not_compiled(self):
        with pytest.raises(TypeError, match="decorate it with @policy"):
            MCTS(select=lambda *arguments: 0)

    def test_a_policy_with_another_signature(self):
        with pytest.raises(TypeError, match=r"select has .*; decorate it with @kernel\(SELECT\)"):
            MCTS(select=kernel(LEGAL)(bandit_legal.py_func))

    def test_an_own_policy(self):
        @kernel(SELECT)
        def last(candidates, store, stream):
            return candidates.k - 1

        assert MCTS(select=last, simulations=30).search(lane()).visits.tolist() == [0] * 9 + [30]

    def test_an_own_evaluation_at_the_horizon(self):
        @kernel(EVALUATE)
        def hopeful(state, values):
            values[0] = 7.0

        certain = bandit(p=(1.0, 1.0, 1.0, 1.0), length=10)
        assert MCTS(simulations=20, horizon=3, evaluate=hopeful).search(env_of(certain)).values[0] == 10.0

    def test_unknown_model(self):
        with pytest.raises(ValueError, match="unknown variant of lane_defense 'worst'; did you mean 'worst_case'"):
            MCTS(model="worst").search(lane())

    def test_unknown_names(self):
        with pytest.raises(ValueError, match="unknown agent 'mtcs'; did you mean 'mcts'"):
            agents.make("mtcs")
        for called, name in (("UCT", "mcts"), ("IS-MCTS", "mcts"), ("minimax", "alpha_beta"), ("AlphaZero", "puct")):
            with pytest.raises(ValueError, match=f"unknown agent {called!r}; did you mean {name!r}"):
                agents.make(called)
        with pytest.raises(ValueError, match=r"unknown agent 'runs/model\.zip'; did you mean 'sb3:runs/model\.zip'"):
            agents.make("runs/model.zip")
        with pytest.raises(ValueError, match=r"unknown agent 'my_bot\.py'; did you mean 'my_bot\.py:CLASS'"):
            agents.make("my_bot.py")
        with pytest.raises(TypeError, match="not a name; save the model, and name its file: 'sb3:PATH'; names: "):
            agents.make(SimpleNamespace(predict=None))
        with pytest.raises(TypeError, match="unknown setting or parameter 'simulatons'; did you mean 'simulations'"):
            agents.make("mcts", simulatons=5)
        with pytest.raises(TypeError, match="unknown setting or parameter 'simulatons'; did you mean 'simulations'"):
            agents.make("flat_mc", simulatons=5)
        for called, name in (("sims", "simulations"), ("rollouts", "simulations"), ("exploration", "c")):
            with pytest.raises(TypeError, match=f"unknown setting or parameter {called!r}; did you mean {name!r}"):
                agents.make("mcts", **{called: 5})
        with pytest.raises(TypeError, match=r"'gamma' is a parameter of select='exp3' .*; did you mean 'discount'\?"):
            agents.make("mcts", gamma=0.9)
        with pytest.raises(TypeError, match="unknown setting or parameter 'colour'; known: backup, c, discount, "):
            agents.make("mcts", colour=5)

    def test_unknown_names_in_the_words_of_python_3_13(self, monkeypatch):
        def refuse(self, **settings):
            raise TypeError("MCTS.__init__() got an unexpected keyword argument 'cc'. Did you mean 'c'?")

        monkeypatch.setattr(MCTS, "__init__", refuse)
        with pytest.raises(TypeError, match="agent 'mcts' has no setting 'cc';"):
            agents.make("mcts", cc=3)
        with pytest.raises(TypeError, match=r"MCTS\.__init__"):  # not one that was given: a mistake in the class
            agents.make("mcts")

    def test_preset_of_another_game(self):
        with pytest.raises(ValueError, match="has no preset 'mcts_paper'"):
            agents.make("mcts_paper").act(env_of(bandit()))
