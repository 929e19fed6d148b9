"""PUCT as AlphaZero has it: its constant and its noise by hand, and whole trees against mctx."""

import json
import math
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import agents
from agents.mcts import MCTS
from agents.policies.puct import puct
from agents.search.records import CANDIDATE, compiled
from mcts_envs.core.kernel import row
from mcts_envs.core.rng import new_stream
from mcts_envs.core.view import View
from tests.search.arms import lane
from tests.search.given_trees import PlainPUCT, given_view, visits_in
from tests.search.offers import offered, selected, store_of
from tests.search.test_interpreted import assert_equal
from tests.toys import Stakes, TicTacToe

TREES = json.loads((Path(__file__).parents[1] / "data/mctx.json").read_text())
RUNS = [(tree, run) for tree in TREES for run in tree["runs"] if run["policy"] == "puct"]
ALPHAZERO = {"c": 1.25, "c_base": 19652, "normalize": False}


def priors(candidates):
    return [row(candidates.rows, i, CANDIDATE).prior for i in range(candidates.k)]


class TestConstant:
    def test_choices_by_hand(self):
        """Values 0: n / (1 + N) follows the prior 0.5, 0.3, 0.2 whatever c is, as priors over 1 + n show."""
        visits, chosen = [0, 0, 0], []
        for _ in range(10):
            chosen.append(selected(puct, offered(visits, [0.0] * 3, [5, 3, 2]), new_stream(0), **ALPHAZERO))
            visits[chosen[-1]] += 1
        # 5, 3, 2; 2.5, 3, 2; 2.5, 1.5, 2; 1.67, 1.5, 2; 1.67, 1.5, 1; 1.25, 1.5, 1; 1.25, 1, 1; 1, 1, 1 ...
        assert chosen[:7] == [0, 1, 0, 2, 0, 1, 0]
        assert visits == [5, 3, 2]

    @pytest.mark.parametrize(
        ("c_base", "c"),
        [(19652, 1.250610), (4, 2.636294)],  # N = 11: 1.25 + log(19664 / 19652), 1.25 + log(16 / 4)
    )
    def test_c_grows_with_visits(self, c_base, c):
        """After 9 visits and 1, a lead of c sqrt(11) 1/2 (1/2 - 1/10) in the mean keeps the other one waiting."""
        for lead, wanted in ((0.663325 * c - 1e-4, 1), (0.663325 * c + 1e-4, 0)):
            given = offered([9, 1], [9 * lead, 0.0], prior=[1, 1])
            assert selected(puct, given, new_stream(0), **{**ALPHAZERO, "c_base": c_base}) == wanted

    def test_in_ranges_of_returns(self):
        for high, chosen in ((1.0, 0), (2.0, 1)):
            given = offered([9, 1], [9.0, 0.0], prior=[1, 1], low=0.0, high=high)
            assert selected(puct, given, new_stream(0), c=1.25, c_base=19652) == chosen

    @pytest.mark.parametrize("name", ["c_base", "dirichlet_alpha", "dirichlet_fraction"])
    def test_bounds(self, name):
        for bad in (-1.0, math.nan, "much"):
            with pytest.raises((ValueError, TypeError), match=name):
                agents.make("mcts", select="puct", **{name: bad})


class TestNoise:
    @pytest.mark.parametrize("alpha", [0.03, 0.3, 1.0, 10.0])
    def test_mean_and_variance(self, alpha):
        """Of Dirichlet(alpha, ..., alpha) with k parts: 1 / k, and (k - 1) / k^2 / (k alpha + 1)."""
        k, n, stream = 4, 4000, new_stream(3)
        drawn = np.empty((n, k))
        for i in range(n):
            given = offered([0] * k, [0.0] * k, [8, 4, 2, 2])
            selected(puct, given, stream, tree=np.zeros(k), dirichlet_alpha=alpha, dirichlet_fraction=1.0)
            drawn[i] = priors(given)
            stream[:] = new_stream(i)
        np.testing.assert_allclose(drawn.sum(axis=1), 1.0)
        variance = (k - 1) / k**2 / (k * alpha + 1)
        np.testing.assert_allclose(drawn.mean(axis=0), 1 / k, atol=4 * math.sqrt(variance / n))
        np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.12)

    def test_fraction(self):
        given, store = offered([0, 0], [0.0, 0.0], [3, 1]), store_of(puct, tree=[2.0, 6.0], dirichlet_alpha=0.3)
        puct(compiled(given), store, new_stream(0))
        assert priors(given) == pytest.approx([0.75 * 0.75 + 0.25 * 0.25, 0.75 * 0.25 + 0.25 * 0.75])
        given = offered([0, 0], [0.0, 0.0], [0, 0])
        puct(compiled(given), store, new_stream(0))
        assert priors(given) == pytest.approx([0.75 * 0.5 + 0.25 * 0.25, 0.75 * 0.5 + 0.25 * 0.75])

    def test_it_is_drawn_once_and_takes_no_chance_from_the_search(self):
        store, stream = store_of(puct, tree=[0.0] * 3, dirichlet_alpha=0.3), new_stream(5)
        puct(compiled(offered([0, 0], [0.0, 0.0], [1, 1])), store, stream)
        first = store.per_tree.copy()
        assert (first[:2] > 0).all()
        assert first[2] == 0
        assert (stream == new_stream(5)).all()
        puct(compiled(offered([0, 0, 0], [0.0] * 3, [1, 1, 1])), store, new_stream(6))
        assert (store.per_tree[:2] == first[:2]).all()
        assert store.per_tree[2] > 0

    @pytest.mark.parametrize("elsewhere", [{"depth": 1}, {"searching": False}])
    def test_only_at_the_root_for_who_searches(self, elsewhere):
        given = offered([0, 0], [0.0, 0.0], [3, 1], **elsewhere)
        store = store_of(puct, tree=[0.0] * 2, dirichlet_alpha=1)
        puct(compiled(given), store, new_stream(0))
        assert (priors(given), store.per_tree.tolist()) == ([3, 1], [0.0, 0.0])

    @pytest.mark.parametrize("toy", [TicTacToe, Stakes])
    def test_in_a_search(self, toy):
        env = toy()
        env.reset(seed=1)
        visits = []
        noise = {"dirichlet_alpha": 0.3}
        for seed, given in ((0, {}), (0, noise), (0, noise), (1, noise)):
            result = MCTS(select="puct", simulations=60, rollout_depth=0, seed=seed, **given).search(env)
            visits.append(result.visits.tolist())
            assert bool(result.tree.trees[0].select.per_tree.any()) == bool(given)
        assert visits[1] == visits[2]
        assert visits[0] != visits[1] != visits[3]

    def test_it_is_drawn_anew_for_each_move(self):
        env, drawn = TicTacToe(), []
        env.reset(seed=1)
        agent = MCTS(select="puct", simulations=200, rollout_depth=0, loop="closed", reuse=True, dirichlet_alpha=0.3)
        for _ in range(2):
            result = agent.search(env)
            drawn.append(result.tree.trees[0].select.per_tree.copy())
            assert np.flatnonzero(drawn[-1]).tolist() == env.legal_actions().tolist()
            env.step(result.action)
        assert result.visits.sum() > 200
        both = (drawn[0] > 0) & (drawn[1] > 0)
        assert (drawn[0] != drawn[1])[both].all()

    def test_compiled_equals_interpreted(self):
        view, given = lane(), {"dirichlet_alpha": 0.1, **ALPHAZERO}
        plain = View(view.game.interpreted(), view.state, view.player)
        one, other = (MCTS(select="puct", simulations=40, **given).search(seen) for seen in (view, plain))
        assert_equal((one, other))

    def test_any_environment(self):
        lake = gym.make("FrozenLake-v1")
        lake.reset(seed=0)
        agent = agents.make("mcts", select="puct", simulations=40, dirichlet_alpha=0.3, c_base=19652)
        assert agent.search(lake).visits.sum() == 40


class TestAgainstMctx:
    @pytest.mark.parametrize("unvisited", ["zero", "mean"])
    def test_the_same_trees(self, unvisited):
        """Each node has the visits that mctx gives it, where an action without one counts 0, or the mean."""
        runs = [(tree, run) for tree, run in RUNS if run["unvisited"] == unvisited]
        assert len(runs) == 36
        for tree, run in runs:
            settings = {"discount": tree["discount"], "rollout_depth": 0, "loop": "closed", **ALPHAZERO}
            fpu = 0.0 if unvisited == "zero" else None
            agent = agents.make("mcts", select="puct", simulations=run["simulations"], fpu=fpu, **settings)
            assert visits_in(agent.search(given_view(tree)), len(tree["values"]), tree["branches"]) == run["visits"]
            plain = PlainPUCT(tree, fpu)
            plain.run(run["simulations"])
            assert plain.found() == run["visits"]
