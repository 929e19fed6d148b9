"""Policies one by one: selection against its formulas, rollouts, and statistics of a policy's own, by hand."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from agents import policies
from agents.mcts import MCTS
from agents.policies.mast import mast
from agents.policies.parameters import exploration
from agents.policies.progressive_history import progressive_history
from agents.policies.progressive_widening import progressive_widening
from agents.policies.puct import puct
from agents.policies.rave import credit_all_moves, rave
from agents.policies.signatures import SELECT, policy
from agents.policies.ucb1 import in_returns
from agents.policies.virtual_child import virtual_child
from agents.search.records import STEP, compiled, new_path, new_work
from agents.search.tree import EDGE, ROOT, STORES, Kept, find_edge, new_edge, new_tree
from mcts_envs.core.kernel import interpreted
from mcts_envs.core.rng import below, new_stream
from tests.search.offers import offered, selected
from tests.search.tables import ACTIONS, END, PLACES, chain, roll, table_game, view_of, within_chance


@policy(SELECT)
def told(candidates, store, stream):
    """Choose 1 where the first player does not search, or below the root."""
    return 1 if candidates.searching != (candidates.player == 0) or candidates.depth == 1 else 0


SPREADS = {
    "ucb1": lambda c, total, n: c * math.sqrt(math.log(total) / n),
    "ucb1_in_order": lambda c, total, n: c * math.sqrt(math.log(total) / n),
    "ucb1_tutorial": lambda c, total, n: 2 * c * math.sqrt(2 * math.log(total) / n),
    "ucb1_lecture": lambda c, total, n: c * math.sqrt(2 * math.log(total) / n),
    "ucb1_log10": lambda c, total, n: c * math.sqrt(math.log10(total) / n),
    "ucb1_sqrt2": lambda c, total, n: c * math.sqrt(math.log(total) / n),
    "ucb_linear": lambda c, total, n: c * math.sqrt(total) / n,
    "rave": lambda c, total, n: c * math.sqrt(math.log(total) / n),
}
"""What is added to the mean of an action with n of ``total`` visits."""


class TestSelection:
    @pytest.mark.parametrize("urgency", [False, True])
    @pytest.mark.parametrize("name", SPREADS)
    def test_formulas(self, name, urgency):
        rng = np.random.default_rng(1)
        for _ in range(300):
            visits = rng.integers(0 if urgency else 1, 30, rng.integers(2, 7))
            visits[0] += 1
            means, own = rng.uniform(-1, 1, len(visits)), rng.integers(0, 9, (len(visits), 2)).astype(float)
            c, fpu, total = rng.uniform(0.05, 2), rng.uniform(-1, 2) if urgency else math.nan, int(visits.sum())
            bounds = []
            for n, mean, (count, returns) in zip(visits, means, own, strict=True):
                weight = math.sqrt(1000 / (3 * total + 1000)) if name == "rave" and count else 0.0
                value = (1 - weight) * mean + (weight * returns / count if count else 0.0)
                bounds.append(value + SPREADS[name](c, total, n) if n else fpu)
            chosen = selected(
                policies.load("select", name),
                offered(visits, visits * means),
                new_stream(1),
                edges=own,
                c=c,
                fpu=None if math.isnan(fpu) else fpu,
            )
            assert bounds[chosen] == pytest.approx(max(bounds), abs=1e-9)

    @pytest.mark.parametrize(
        ("name", "c", "normalize", "gap"),
        [  # sqrt(ln 10 / 1) - sqrt(ln 10 / 9) = 1.517427 - 0.505809 = 1.011618
            ("ucb1", 0.5, True, 0.505809),
            ("ucb1_in_order", 10.0, False, 10.116178),
            ("ucb1_tutorial", 0.707, False, 2.022931),  # 2 * 0.707 * 1.414214 * 1.011618
            ("ucb1_lecture", 1.0, False, 1.430644),
            ("ucb1_log10", 2.0, False, 1.333333),  # 2 (1 - 1/3)
            ("ucb1_sqrt2", math.sqrt(2), False, 1.430644),
            ("ucb_linear", math.sqrt(2), False, 3.975232),  # sqrt(2) sqrt(10) (1 - 1/9)
            ("puct", 1.25, True, 0.790569),  # 1.25 * 1/2 * sqrt(10) (1/2 - 1/10)
            ("rave", 0.5, True, 0.505809),
        ],
    )
    def test_constants_that_a_name_brings(self, name, c, normalize, gap):
        """After 9 visits of one action and 1 of the other, this lead in the mean keeps the other one waiting."""
        agent, none = MCTS(select=name), np.zeros((2, 2))
        assert (agent.parameters["c"], agent.parameters["normalize"]) == (c, normalize)
        for lead, chosen in ((gap - 1e-4, 1), (gap + 1e-4, 0)):
            candidates = offered([9, 1], [9 * (lead - 1), -1], prior=[1, 1])
            assert selected(agent.select, candidates, new_stream(0), edges=none) == chosen
        other = MCTS(select=name, c=0.0, normalize=not normalize)
        assert (other.parameters["c"], other.parameters["normalize"]) == (0.0, not normalize)

    @pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
    def test_epsilon_greedy_takes_the_best_but_in_its_share(self, share):
        """Of three actions the best has 1 - share + share / 3 of the choices, the others share / 3 each."""
        greedy, stream = policies.load("select", "epsilon_greedy"), new_stream(7)
        offer = offered([5, 2, 9], [1.0, 1.6, 4.5])  # means 0.2, 0.8, 0.5
        chosen = Counter(selected(greedy, offer, stream, random_share=share) for _ in range(3000))
        for action, expected in enumerate([share / 3, 1 - share + share / 3, share / 3]):
            assert chosen[action] / 3000 == pytest.approx(expected, abs=0.035)  # four standard errors
        assert {selected(greedy, offered([0, 2, 0], [0, 2.0, 0]), stream) for _ in range(40)} == {0, 2}  # untried first

    def test_rave_by_hand(self):
        # N = 10: weight sqrt(1000 / 1030) = 0.985329; 0.014671 * 0.2 + 0.985329 * 0.9 = 0.889730, plus c * 0.505809
        # for 9 visits; 0.014671 * 1 + 0.985329 * 0.25 = 0.261003, plus c * 1.517427 for 1 visit: equal at c = 0.621506
        for c, chosen in ((0.6214, 0), (0.6216, 1)):
            kept = [[20.0, 18.0], [8.0, 2.0]]
            assert selected(rave, offered([9, 1], [1.8, 1.0]), new_stream(0), edges=kept, c=c) == chosen

    def test_puct_by_hand(self):
        rng = np.random.default_rng(2)
        for _ in range(200):
            sums, fpu = np.array([*rng.uniform(-3, 9, 2), 0.0]), (None, -0.5, 1.0)[rng.integers(3)]
            means = sums[0] / 2, sums[1] / 7, sums.sum() / 9 if fpu is None else fpu
            shares = 0.6 / 3, 0.3 / 8, 0.1 / 1  # c sqrt(N) = 2 * 3 times prior / (1 + n)
            bounds = [mean + 6 * share for mean, share in zip(means, shares, strict=True)]
            chosen = selected(puct, offered([2, 7, 0], sums, [6, 3, 1]), new_stream(0), c=2.0, fpu=fpu)
            assert bounds[chosen] == pytest.approx(max(bounds))
        assert selected(puct, offered([0, 0, 0], [0, 0, 0], [1, 5, 2]), new_stream(0), c=1.0) == 1

    def test_progressive_history_by_hand(self):
        rng = np.random.default_rng(3)
        for depth in (0, 1):
            for _ in range(100):
                sums, shared = np.array([*rng.uniform(-3, 9, 2), 0.0]), np.zeros(12)
                # Visits and means of the second player's histories.
                shared[6:10] = 4.0, rng.uniform(-4, 4), 2.0, rng.uniform(-2, 2)
                mean, root = sums.sum() / 9, math.sqrt(math.log(9))
                bounds = [
                    sums[0] / 2 + 0.7 * root / math.sqrt(2) + 0.3 * (shared[7] - mean) / 2,
                    sums[1] / 7 + 0.7 * root / math.sqrt(7) + 0.3 * (shared[9] - mean) / 7,
                    mean + 0.7 * root,
                ]
                candidates = offered([2, 7, 0], sums, player=1, depth=depth)
                chosen = selected(progressive_history, candidates, new_stream(0), tree=shared, c=0.7)
                # At the root what was never tried comes first.
                assert chosen == 2 if depth == 0 else bounds[chosen] == pytest.approx(max(bounds))

    def test_progressive_history_in_a_search(self):
        # The first player's action 1 always pays 1; it gets most visits at every node once it is known to.
        places = {i: (1, {0: (i + 1, 0.0), 1: (i + 1, 1.0)}) for i in range(6)}
        result = MCTS(select="progressive_history", simulations=200).search(view_of(table_game(places)))
        assert result.principal_variation[:4] == [1, 1, 1, 1]

    @pytest.mark.parametrize(
        ("visits", "chosen"),
        [
            ([0, 0, 0, 0], {1, 3}),  # the two that are advised most, at random
            ([0, 1, 0, 0], {1}),  # one of sqrt(1)
            ([0, 2, 0, 0], {3}),  # one, fewer than sqrt(2)
            ([0, 3, 0, 1], {3}),  # two of sqrt(4): 0.5 + 0.6 sqrt(ln 4) > 0.7 + 0.6 sqrt(ln 4 / 3)
            ([0, 3, 0, 2], {2}),  # two, fewer than sqrt(5)
            ([0, 3, 5, 1], {3}),  # three of sqrt(9)
            ([1, 20, 1, 1], {1}),  # all: the best mean
        ],
    )
    def test_progressive_widening_by_hand(self, visits, chosen):
        means = np.array([-9.0, 0.7, 0.0, 0.5])
        c = 0.0 if min(visits) else 0.6
        given = offered(visits, means * visits, [1, 5, 2, 5])
        assert {selected(progressive_widening, given, new_stream(seed), c=c) for seed in range(50)} == chosen

    @pytest.mark.parametrize(("simulations", "tried"), [(1, [3]), (2, [3]), (3, [1, 3]), (5, [1, 3]), (6, [1, 2, 3])])
    def test_progressive_widening_in_a_search(self, simulations, tried):
        # All is worth 0: the best-advised legal action first, another one when more than 1, 4, 9 visits were made.
        game = table_game({0: (1, dict.fromkeys(range(4), (END, 0.0)))}, advice=(1, 4, 2, 9))
        result = MCTS(select="progressive_widening", simulations=simulations).search(view_of(game))
        assert np.flatnonzero(result.visits).tolist() == tried

    def test_virtual_child_by_hand(self):
        # N = 10: (2.25 - 0.05 * 3) / 9 + 2 sqrt(log10 10 / 9) = 0.233333 + 0.666667 = 0.9, and -1 - 0.05 + 2 = 0.95:
        # both less than 1, so an untried action is drawn; with 1.0 more, 1.011111 wins.
        prior = [3.5, 1.25, 2.75, 4.0]
        for more, chosen in ((0.0, 2), (0.89, 2), (0.91, 0), (1.0, 0)):
            given = offered([9, 1, 0, 0], [2.25 + more, -1.0, 0, 0], prior)
            assert selected(virtual_child, given, new_stream(0), c=2.0) == chosen
        for bonus, chosen in ((-0.06, 0), (-0.04, 1)):  # both tried: 0.9 against 0.95 and a little less or more
            given = offered([9, 1], [2.25, -1.0 + bonus], prior[:2])
            assert selected(virtual_child, given, new_stream(0), c=2.0) == chosen

    def test_virtual_child_draws_by_weight(self):
        def drawn(searching):
            visits, prior = [4, 0, 0, 4], [0.1, 2.25, 1.75, 0.3]
            given = offered(visits, [-4.0, 0, 0, -4.0], prior, searching=searching)
            return [selected(virtual_child, given, new_stream(seed), c=0.1) for seed in range(2000)]

        assert set(drawn(True)) == set(drawn(False)) == {1, 2}
        assert within_chance(drawn(True).count(1), 2000, 0.25)  # the searcher's own: 0.25 of 1
        assert within_chance(drawn(False).count(1), 2000, 0.5)  # another player's: uniform

    def test_virtual_child_counts_as_the_urgency_says(self):
        for fpu, chosen in ((None, 2), (0.5, 0)):
            given = offered([9, 1, 0], [5.0, -3.0, 0], [0.5] * 3)
            assert selected(virtual_child, given, new_stream(0), c=0.0, fpu=fpu) == chosen

    def test_policies_see_who_searches_and_how_deep(self):
        places = {0: (1, {0: (1, 0.0), 1: (1, 0.0)}), 1: (2, {0: (END, 0.0), 1: (END, 0.0)})}
        assert MCTS(select=told, simulations=9).search(view_of(table_game(places))).principal_variation == [0, 1]
        places = {0: (2, {0: (1, 0.0), 1: (1, 0.0)}), 1: (1, {0: (END, 0.0), 1: (END, 0.0)})}
        assert MCTS(select=told, simulations=9).search(view_of(table_game(places), 1)).principal_variation == [1, 1]

    def test_puct_takes_the_games_advice(self):
        game = table_game({0: (1, dict.fromkeys(range(3), (END, 0.0)))}, advice=(1, 4, 0, 9))
        # All is worth 0, so 1 + n is in proportion to the prior; the advice on an illegal action does not count.
        assert MCTS(select="puct", simulations=98).search(view_of(game)).visits.tolist() == [19, 79, 0, 0]

    def test_progressive_bias_by_hand(self):
        # N = 10, c = 0.1: 0.9 + 0.1 sqrt(ln 10 / 9) + 2 h / 10 = 0.950581 + 0.2 h against
        # 0.1 + 0.1 sqrt(ln 10 / 1) + 3 h / 2 = 0.251743 + 1.5 h; equal at h = 0.537568.
        for bias, chosen in ((0.5375, 0), (0.5377, 1)):
            given, select = offered([9, 1], [8.1, 0.1], [2, 3]), policies.load("select", "progressive_bias")
            assert selected(select, given, new_stream(0), c=0.1, bias=bias) == chosen
        found = MCTS(select="progressive_bias").parameters
        assert found == {"c": math.sqrt(2), "normalize": False, "fpu": None, "bias": 1.0}

    def test_progressive_bias_in_a_search(self):
        game = table_game({0: (1, dict.fromkeys(range(3), (END, 0.0)))}, advice=(1, 4, 2, 9))
        visits = MCTS(select="progressive_bias", c=0.0, bias=0.5, simulations=70).search(view_of(game)).visits
        # All is worth 0, so 1 + n is in proportion to the advice.
        assert visits.tolist() == pytest.approx([9.4, 40.7, 19.9, 0], abs=1.0)
        plain = MCTS(select="ucb1_sqrt2", simulations=70, seed=3).search(view_of(game))
        biased = MCTS(select="progressive_bias", bias=0.0, simulations=70, seed=3).search(view_of(game))
        assert np.array_equal(plain.visits, biased.visits)

    @pytest.mark.parametrize("name", SPREADS)
    def test_the_order_of_untried_actions(self, name):
        select, given, stream = policies.load("select", name), offered([3, 0, 0, 0], [9, 0, 0, 0]), new_stream(5)
        counts = Counter(selected(select, given, stream, edges=np.zeros((4, 2))) for _ in range(900))
        if name == "ucb1_in_order":
            assert counts == {1: 900}
        else:
            assert sorted(counts) == [1, 2, 3]
            assert all(within_chance(count, 900, 1 / 3) for count in counts.values())

    @pytest.mark.parametrize("normalize", [False, True])
    def test_constants_count_in_ranges_of_the_returns_seen(self, normalize):
        @policy(SELECT, parameters=exploration(), tree=lambda game: 3)
        def noting(candidates, store, stream):
            store.per_tree[0], store.per_tree[1] = in_returns(candidates, store)
            store.per_tree[2] += 1
            return below(stream, candidates.k)

        game = table_game({0: (1, {0: (END, -3.0), 1: (END, 5.0)})})
        search = MCTS(select=noting, c=0.5, fpu=0.25, normalize=normalize).start(view_of(game))
        noted = search.run(simulations=1).result().tree.trees[0].select.per_tree
        assert noted.tolist() == [0.5, 0.25, 1.0]
        search.run(simulations=30)
        assert noted.tolist() == ([0.5 * 8, -3 + 0.25 * 8, 31] if normalize else [0.5, 0.25, 31])

    @pytest.mark.parametrize(("fpu", "visits"), [(0.9, [20, 0, 0, 0]), (1.1, [18, 1, 1, 0])])
    def test_urgency_in_a_search(self, fpu, visits):
        game = table_game({0: (1, {0: (END, 1.0), 1: (END, 0.0), 2: (END, 0.0)})})
        agent = MCTS(select="ucb1_in_order", c=0.0, fpu=fpu, simulations=20)
        assert agent.search(view_of(game)).visits.tolist() == visits


ROLLOUTS = pytest.mark.parametrize("name", sorted(policies.names("simulate")))


class TestRollouts:
    @ROLLOUTS
    @pytest.mark.parametrize(
        ("limit", "steps", "value"),
        [  # places are worth 100, 101, ...
            (0, 0, 100.0),
            (1, 1, 3 + 101 / 2),
            (3, 3, 3 + 5 / 2 + 7 / 4 + 103 / 8),
            (4, 4, 3 + 5 / 2 + 7 / 4 + 11 / 8),
            (9, 4, 3 + 5 / 2 + 7 / 4 + 11 / 8),
        ],
    )
    def test_limit_discount_and_evaluation(self, name, limit, steps, value):
        game = chain([3, 5, 7, 11], worth=100.0 + np.arange(PLACES))
        found = roll(MCTS(simulate=name).simulate, game, 2, limit, 0.5)
        assert found[:2] == (steps, [value, -value])

    @ROLLOUTS
    def test_what_was_played(self, name):
        game = chain([1, 1, 1, 1], who=(1, 2, 2, 3), actions=(2, 1, 0, (1, 2)))
        _, _, played = roll(MCTS(simulate=name).simulate, game, 3, 6)
        assert played[:7] == [[77, 77]] * 3 + [[2, -1], [-1, 1], [-1, 0], [1, 2]]

    @pytest.mark.parametrize(("name", "first", "second"), [("uniform", 1 / 2, 1 / 2), ("advised", 3 / 4, 3 / 4)])
    @pytest.mark.parametrize("averages", [False, True])
    def test_how_often(self, name, first, second, averages):
        """Two players have actions 0 and 2; how often do they take 2? Advice is 1 : 9 : 3, averages -4 and -2."""
        if averages:  # with these MAST takes the better one in 60 %, and in half of the rest
            name, first, second = "mast", 0.8, 0.2
        pairs = itertools.product((0, 2), repeat=2)
        game = table_game({0: (3, dict.fromkeys(pairs, (END, 0)))}, advice=(1, 9, 3, 9))
        shared = np.array([[[2, -8], [1, 5], [3, -6], [1, 5]], [[4, -8], [0, 0], [2, -8], [0, 0]]], float).ravel()
        simulate = MCTS(simulate=name).simulate
        counts = Counter(tuple(roll(simulate, game, shared=shared, seed=i)[2][0]) for i in range(800))
        assert sorted(counts) == [(0, 0), (0, 2), (2, 0), (2, 2)]
        for pair, p in {(2, 2): first * second, (2, 0): first * (1 - second), (0, 2): (1 - first) * second}.items():
            assert within_chance(counts[pair], 800, p)

    def test_mast_tries_what_was_never_played_first(self):
        game = table_game({0: (1, {0: (END, 0), 1: (END, 0), 2: (END, 0)})})
        shared = np.array([[[5, 50], [0, 0], [0, 0], [1, 99]], [[0, 0]] * 4], float).ravel()
        counts = Counter(roll(mast, game, shared=shared, seed=i)[2][0][0] for i in range(1500))
        for action, p in enumerate((0.4 / 3, 0.3 + 0.4 / 3, 0.3 + 0.4 / 3)):
            assert within_chance(counts[action], 1500, p)

    @pytest.mark.parametrize("loop", ["open", "closed"])
    @pytest.mark.parametrize("tree_depth", [None, 1, 3])
    @pytest.mark.parametrize("rollout_depth", [None, 0, 2])
    @pytest.mark.parametrize("horizon", [None, 1, 4])
    def test_limits_of_tree_rollout_and_horizon(self, horizon, rollout_depth, tree_depth, loop):
        """With one action a step, simulation i has a path of i steps and a rollout after it."""
        pays, worth, values, steps = [1, 2, 4, 8, 16, 32], np.arange(PLACES) * 10.0, [], 0
        for i in range(1, 9):
            end = min(6, horizon or 99)
            path = min(i, end, tree_depth or 99)
            length = min(path + (99 if rollout_depth is None else rollout_depth), end)
            steps += length
            values.append(sum(0.5**i * pays[i] for i in range(length)) + (0.5**length * worth[length]) * (length < 6))
        limits = {"horizon": horizon, "rollout_depth": rollout_depth, "tree_depth": tree_depth, "loop": loop}
        result = MCTS(simulations=8, discount=0.5, **limits).search(view_of(chain(pays, worth=worth, players=1)))
        assert result.steps == steps
        assert result.values[0] == pytest.approx(np.mean(values))

    @pytest.mark.parametrize(("settings", "value"), [({}, 4), ({"model": "twice"}, 8), ({"rollout_model": "twice"}, 7)])
    def test_models_of_tree_and_rollouts(self, settings, value):
        game = chain([1, 1, 1, 1], players=1)
        assert MCTS(simulations=1, **settings).search(view_of(game)).values[0] == value


class TestOwnStatistics:
    def test_mast_credits_all_that_was_played(self):
        game = chain([1, 2, 4, 8], who=(1, 2, 3), actions=(2, 1, (2, 0)))
        tree = MCTS(simulations=3, simulate="mast", discount=0.5).search(view_of(game)).tree.trees[0]
        table, value = tree.simulate.per_tree.reshape(2, ACTIONS, 2), 1 + 2 / 2 + 4 / 4 + 8 / 8
        assert table[0].tolist() == [[0, 0], [0, 0], [9, 9 * value], [0, 0]]  # steps 0, 2 and 3 of three simulations
        assert table[1].tolist() == [[3, -3 * value], [3, -3 * value], [0, 0], [0, 0]]

    def test_mast_learns_what_goes_well(self):
        game = table_game({i: (1, {0: (i + 1, 0.0), 1: (i + 1, 1.0)}) for i in range(20)}, players=1)
        agent = MCTS(simulations=400, simulate="mast", tree_depth=1, select="least_visited")
        table = agent.search(view_of(game)).tree.trees[0].simulate.per_tree.reshape(ACTIONS, 2)
        assert table[:, 0].sum() == 400 * 20
        # The better action: half of the first steps, 80 % of the others.
        assert table[1, 0] == pytest.approx(400 * (0.5 + 19 * 0.8), abs=4 * math.sqrt(400 * 19 * 0.8 * 0.2))

    def test_rave_credits_by_hand(self):
        game = table_game({0: (1, {0: (END, 0)})})
        kept = {**dict.fromkeys(STORES, Kept()), "select": Kept(edge=2, tree=9), "backup": Kept(edge=1)}
        tree, add = new_tree(2, 9, kept=kept), interpreted(new_edge)
        work, path, how = new_work(game, new_stream(0), 8), new_path(game, 4), MCTS().prepare(game).settings
        mine = [add(tree, ROOT, 0, action) for action in (0, 1, 2)]
        theirs = [add(tree, 2, 1, action) for action in (0, 1, 2)]
        last = [add(tree, 3, 0, action) for action in (1, 2)]
        tree.edges.view(EDGE)["visits"][:] = 1
        tree.edges.view(EDGE)["visits"][theirs[2]] = 0  # of a simulation that was dropped: not tried
        path.nodes[:4] = (ROOT, 2, 3, 4)
        steps = path.steps.view(STEP)
        steps["edge"][:6] = (mine[0], 0, 0, theirs[1], last[0], 0)
        steps["value"][:6] = (10.0, -10.0, 20.0, -20.0, 30.0, -30.0)
        work.played[:5] = ((0, -1), (-1, 1), (1, -1), (-1, 2), (1, -1))  # two steps of the rollout at the end
        for _ in range(2):
            credit_all_moves(compiled(tree), how, work, compiled(path), 3, 5)
        own = tree.select.per_edge
        assert own[mine].tolist() == [[2, 20], [2, 20], [0, 0]]  # 1 was played twice, counts once
        assert own[theirs].tolist() == [[0, 0], [2, -40], [0, 0]]
        assert own[last].tolist() == [[2, 60], [0, 0]]
        assert not own[0].any()
        assert not tree.backup.per_edge.any()

    def test_rave_in_a_search(self):
        """Action 0 is followed by 1 of the same player, action 1 by 0 of the other: only 1 may be lent a return."""
        places = {0: (1, {0: (1, 1), 1: (2, 1)}), 1: (1, {1: (END, 2)}), 2: (2, {0: (END, 4)})}
        found = set()
        for seed in range(12):
            tree = MCTS(select="rave", simulations=2, seed=seed).search(view_of(table_game(places))).tree.trees[0]
            edges = [interpreted(find_edge)(tree, ROOT, 0, action) for action in (0, 1)]
            found.add((edges[0] > edges[1], *tree.select.per_edge[edges].ravel().tolist()))
        assert found == {(False, 1, 3, 1, 5), (True, 1, 3, 2, 8)}

    def test_selection_and_rollouts_keep_theirs_apart(self):
        view, kept = view_of(chain([1, 2, 4])), []
        for select, simulate in (("rave", "uniform"), ("rave", "mast"), ("ucb1", "mast")):
            tree = MCTS(select=select, simulate=simulate, simulations=5).search(view).tree.trees[0]
            kept.append((tree.select.per_tree.tolist(), tree.simulate.per_tree.tolist()))
        assert kept[1] == (kept[0][0], kept[2][1])
        assert [tuple(map(len, each)) for each in kept] == [
            (1 + 2 * ACTIONS, 0),
            (1 + 2 * ACTIONS, 4 * ACTIONS),
            (0, 4 * ACTIONS),
        ]
