"""Policies against formulas, rollouts and statistics by hand, and searches against games small enough to solve."""

import itertools
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from agents import policies
from agents.mcts import MCTS
from agents.planners.flat import FlatMonteCarlo, OneStep
from agents.planners.halving import SequentialHalving
from agents.policies.mast import mast
from agents.policies.progressive_history import progressive_history
from agents.policies.progressive_widening import progressive_widening
from agents.policies.puct import puct
from agents.policies.rave import credit_all_moves, rave
from agents.policies.signatures import SELECT, Options, policy
from agents.policies.virtual_child import virtual_child
from agents.tree import EDGE, NODE, ROOT, find_edge, new_edge, new_tree, new_work
from mcts_envs.core import contract
from mcts_envs.core.contract import Game, blank, default_determinize, state_dtype
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import below, coin, combine, new_stream, seed_stream
from mcts_envs.core.view import View

# A game of tables: at each place some players choose, and chance picks one of two outcomes. Players see where they are,
# or one of several places that look the same to them: their information set.

PLACES, ACTIONS = 25, 4
END = PLACES - 1
TABLES = state_dtype(
    [
        ("at", "i8"),
        ("who", "i8", PLACES),
        ("seen", "i8", (PLACES, 2)),
        ("allowed", "i8", (PLACES, 2)),
        ("chance", "f8", (PLACES, ACTIONS, ACTIONS)),
        ("to", "i8", (PLACES, ACTIONS, ACTIONS, 2)),
        ("pay", "f8", (PLACES, ACTIONS, ACTIONS, 2, 2)),
        ("worth", "f8", (PLACES, 2)),
        ("advice", "f8", ACTIONS),
    ]
)


@kernel(contract.RESET)
def tables_reset(state, seed):
    seed_stream(state, seed)
    record(state, TABLES).at = 0


@kernel(contract.ACTIVE)
def tables_active(state):
    s = record(state, TABLES)
    return s.who[s.at]


@kernel(contract.LEGAL)
def tables_legal(state, player, actions):
    s = record(state, TABLES)
    count = 0
    for action in range(ACTIONS):
        if s.allowed[s.at, player] >> action & 1:
            actions[count] = action
            count += 1
    return count


@kernel(contract.STEP)
def tables_step(state, actions, rewards):
    s = record(state, TABLES)
    at, who = s.at, s.who[s.at]
    first = actions[0] if who & 1 else 0
    second = actions[1] if who & 2 else 0
    outcome = 1 if who and coin(state, s.chance[at, first, second]) else 0
    for player in range(rewards.shape[0]):
        rewards[player] = s.pay[at, first, second, outcome, player] if who else 0.0
    if who:
        s.at = s.to[at, first, second, outcome]


@kernel(contract.STATUS)
def tables_status(state, player):
    s = record(state, TABLES)
    return 0 if s.who[s.at] else 1


@kernel(contract.KEY)
def tables_key(state, observer):
    s = record(state, TABLES)
    return combine(np.uint64(7), np.uint64(s.at if observer < 0 else s.seen[s.at, observer]))


@kernel(contract.DETERMINIZE)
def tables_determinize(state, observer, seed):
    seed_stream(state, seed)
    s = record(state, TABLES)
    seen, alike = s.seen[s.at, observer], 0
    for place in range(PLACES):
        if s.seen[place, observer] == seen:
            alike += 1
            if below(state, alike) == 0:
                s.at = place


@kernel(contract.EVALUATE)
def tables_evaluate(state, values):
    s = record(state, TABLES)
    for player in range(values.shape[0]):
        values[player] = s.worth[s.at, player]


@kernel(contract.ADVISE)
def tables_advise(state, player, weights):
    for action in range(ACTIONS):
        weights[action] = record(state, TABLES).advice[action]


@kernel(contract.STEP)
def step_for_twice(state, actions, rewards):
    tables_step(state, actions, rewards)
    for player in range(rewards.shape[0]):
        rewards[player] *= 2.0


@kernel(contract.ADVISE)
def always_first(state, player, weights):
    for action in range(ACTIONS):
        weights[action] = 1.0 if action == 0 else 0.0


@kernel(contract.DETERMINIZE)
def only_the_viewers(state, observer, seed):
    if observer >= 0:
        tables_determinize(state, observer, seed)
    else:
        seed_stream(state, seed)


@kernel(contract.STATUS)
def second_is_out(state, player):
    return 1 if player == 1 else tables_status(state, player)


KERNELS = {name: globals()[f"tables_{name}"] for name in ("reset", "active", "legal", "step", "status", "key")}
KERNELS |= {"determinize": tables_determinize, "evaluate": tables_evaluate, "advise": tables_advise}
VARIANTS = {"cheat": {"determinize": default_determinize}, "twice": {"step": step_for_twice}}


def outcomes_of(given):
    """Write ``(to, pay)`` out as ``[(probability, to, pays)]``; what one number pays the first, the second loses."""
    outcomes = given if isinstance(given, list) else [(1.0, *given)]
    return [(p, to, pay if isinstance(pay, tuple) else (pay, -pay)) for p, to, pay in outcomes]


def table_game(places, worth=0.0, advice=1.0, seen=None, players=2):
    """Return the game of ``{place: (who, {action or pair of actions: outcomes})}``; it ends everywhere else."""
    state = blank(TABLES)
    s = record(state, TABLES)
    s.worth[:, 0], s.worth[:, 1], s.advice[:] = worth, -np.asarray(worth), advice
    s.seen[:] = np.arange(PLACES)[:, None] if seen is None else seen
    for place, (who, moves) in places.items():
        s.who[place] = who
        for actions, given in moves.items():
            pair = actions if isinstance(actions, tuple) else (actions, 0) if who == 1 else (0, actions)
            for player in range(2):
                s.allowed[place, player] |= (who >> player & 1) << pair[player]
            for i, (probability, to, pays) in enumerate(outcomes_of(given)):
                s.to[place][pair][i], s.pay[place][pair][i] = to, pays
                s.chance[place][pair] = i * probability
    simultaneous = any(who == 3 for who, _ in places.values())
    return Game("tables", players, ACTIONS, state, simultaneous=simultaneous, variants=VARIANTS, **KERNELS)


def view_of(game, player=0, at=0):
    state = game.new_state()
    game.reset(state, np.uint64(0))
    record(state, TABLES).at = at
    return View(game, state, player)


def chain(pays, who=(1,), actions=(0,), **given):
    """Return a game of one legal action a step: who chooses, and what, comes round again and again."""
    places = {i: (who[i % len(who)], {actions[i % len(actions)]: (i + 1, pay)}) for i, pay in enumerate(pays)}
    return table_game(places, **given)


def at_once(*pays):
    """Return the matrix game in which two players choose 0 or 1: what is paid for 00, 01, 10 and 11."""
    return table_game({0: (3, {(i // 2, i % 2): (END, pay) for i, pay in enumerate(pays)})})


def within_chance(count, n, p):
    """Say whether a count of n trials lies within four standard deviations."""
    return abs(count - n * p) < 4 * math.sqrt(n * p * (1 - p))


def options(visits, sums, c, fpu=math.nan, **given):
    k, zeros = len(visits), np.zeros(2 * len(visits))
    arrays = {"squares": zeros, "prior": zeros, "own": zeros, "shared": zeros, **given}
    return Options(k, 0, 0, 0, np.arange(k), np.array(visits), np.array(sums, float), **arrays, c=c, fpu=fpu)


@policy(SELECT)
def told(options, stream):
    """Choose 1 where the first player does not search, or below the root."""
    return 1 if options.searcher == 1 or options.depth == 1 else 0


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
            given = options(visits, visits * means, c, fpu, own=own.ravel())
            assert bounds[MCTS(select=name).select(given, new_stream(1))] == pytest.approx(max(bounds), abs=1e-9)

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
        agent = MCTS(select=name)
        assert (agent.c, agent.normalize) == (c, normalize)
        for lead, chosen in ((gap - 1e-4, 1), (gap + 1e-4, 0)):
            assert agent.select(options([9, 1], [9 * (lead - 1), -1], agent.c), new_stream(0)) == chosen
        other = MCTS(select=name, c=0.0, normalize=not normalize)
        assert (other.c, other.normalize) == (0.0, not normalize)

    def test_rave_by_hand(self):
        # N = 10: weight sqrt(1000 / 1030) = 0.985329; 0.014671 * 0.2 + 0.985329 * 0.9 = 0.889730, plus c * 0.505809
        # for 9 visits; 0.014671 * 1 + 0.985329 * 0.25 = 0.261003, plus c * 1.517427 for 1 visit: equal at c = 0.621506
        for c, chosen in ((0.6214, 0), (0.6216, 1)):
            given = options([9, 1], [1.8, 1.0], c, own=np.array([20.0, 18.0, 8.0, 2.0]))
            assert rave(given, new_stream(0)) == chosen

    def test_puct_by_hand(self):
        rng = np.random.default_rng(2)
        for _ in range(200):
            sums, fpu = np.array([*rng.uniform(-3, 9, 2), 0.0]), rng.choice([math.nan, -0.5, 1.0])
            means = sums[0] / 2, sums[1] / 7, sums.sum() / 9 if math.isnan(fpu) else fpu
            shares = 0.6 / 3, 0.3 / 8, 0.1 / 1  # c sqrt(N) = 2 * 3 times prior / (1 + n)
            bounds = [mean + 6 * share for mean, share in zip(means, shares, strict=True)]
            given = options([2, 7, 0], sums, 2.0, fpu, prior=np.array([6.0, 3.0, 1.0]))
            assert bounds[puct(given, new_stream(0))] == pytest.approx(max(bounds))
        assert puct(options([0, 0, 0], [0, 0, 0], 1.0, prior=np.array([1.0, 5.0, 2.0])), new_stream(0)) == 1

    def test_progressive_history_by_hand(self):
        rng = np.random.default_rng(3)
        for depth in (0, 1):
            for _ in range(100):
                sums, shared = np.array([*rng.uniform(-3, 9, 2), 0.0]), np.zeros(12)
                shared[6:10] = 4.0, rng.uniform(-4, 4), 2.0, rng.uniform(-2, 2)  # the second player's: 4, 2, 0 visits
                mean, root = sums.sum() / 9, math.sqrt(math.log(9))
                bounds = [
                    sums[0] / 2 + 0.7 * root / math.sqrt(2) + 0.3 * (shared[7] / 4 - mean) / 2,
                    sums[1] / 7 + 0.7 * root / math.sqrt(7) + 0.3 * (shared[9] / 2 - mean) / 7,
                    mean + 0.7 * root,
                ]
                given = options([2, 7, 0], sums, 0.7, shared=shared)._replace(player=1, depth=depth)
                chosen = progressive_history(given, new_stream(0))
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
        given = options(visits, means * visits, c, prior=np.array([1.0, 5.0, 2.0, 5.0]))
        assert {progressive_widening(given, new_stream(seed)) for seed in range(50)} == chosen

    @pytest.mark.parametrize(("simulations", "tried"), [(1, [3]), (2, [3]), (3, [1, 3]), (5, [1, 3]), (6, [1, 2, 3])])
    def test_progressive_widening_in_a_search(self, simulations, tried):
        # All is worth 0: the best-advised legal action first, another one when more than 1, 4, 9 visits were made.
        game = table_game({0: (1, dict.fromkeys(range(4), (END, 0.0)))}, advice=(1, 4, 2, 9))
        result = MCTS(select="progressive_widening", simulations=simulations).search(view_of(game))
        assert np.flatnonzero(result.visits).tolist() == tried

    def test_virtual_child_by_hand(self):
        # N = 10: (2.25 - 0.05 * 3) / 9 + 2 sqrt(log10 10 / 9) = 0.233333 + 0.666667 = 0.9, and -1 - 0.05 + 2 = 0.95:
        # both less than 1, so an untried action is drawn; with 1.0 more, 1.011111 wins.
        prior = np.array([3.5, 1.25, 2.75, 4.0])
        for more, chosen in ((0.0, 2), (0.89, 2), (0.91, 0), (1.0, 0)):
            given = options([9, 1, 0, 0], [2.25 + more, -1.0, 0, 0], 2.0, prior=prior)
            assert virtual_child(given, new_stream(0)) == chosen
        for bonus, chosen in ((-0.06, 0), (-0.04, 1)):  # both tried: 0.9 against 0.95 and a little less or more
            given = options([9, 1], [2.25, -1.0 + bonus], 2.0, prior=prior[:2])
            assert virtual_child(given, new_stream(0)) == chosen

    def test_virtual_child_draws_by_weight(self):
        def drawn(searcher):
            visits, prior = [4, 0, 0, 4], np.array([0.1, 2.25, 1.75, 0.3])
            given = options(visits, [-4.0, 0, 0, -4.0], 0.1, prior=prior)._replace(searcher=searcher)
            return [virtual_child(given, new_stream(seed)) for seed in range(2000)]

        assert set(drawn(0)) == set(drawn(1)) == {1, 2}
        assert within_chance(drawn(0).count(1), 2000, 0.25)  # the searcher's own: 0.25 of 1
        assert within_chance(drawn(1).count(1), 2000, 0.5)  # another player's: uniform

    def test_virtual_child_counts_as_the_urgency_says(self):
        for fpu, chosen in ((math.nan, 2), (0.5, 0)):
            given = options([9, 1, 0], [5.0, -3.0, 0], 0.0, fpu, prior=np.full(3, 0.5))
            assert virtual_child(given, new_stream(0)) == chosen

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
            given = options([9, 1], [8.1, 0.1], 0.1, prior=np.array([2.0, 3.0]))._replace(bias=bias)
            assert MCTS(select="progressive_bias").select(given, new_stream(0)) == chosen
        agent = MCTS(select="progressive_bias")
        assert (agent.c, agent.bias, agent.normalize) == (math.sqrt(2), 1.0, False)

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
        select, given, stream = MCTS(select=name).select, options([3, 0, 0, 0], [9, 0, 0, 0], 1.0), new_stream(5)
        counts = Counter(select(given, stream) for _ in range(900))
        if name == "ucb1_in_order":
            assert counts == {1: 900}
        else:
            assert sorted(counts) == [1, 2, 3]
            assert all(within_chance(count, 900, 1 / 3) for count in counts.values())

    @pytest.mark.parametrize("normalize", [False, True])
    def test_constants_count_in_ranges_of_the_returns_seen(self, normalize):
        @policy(SELECT, tree=lambda game: 3)
        def noting(options, stream):
            options.shared[0], options.shared[1] = options.c, options.fpu
            options.shared[2] += 1
            return below(stream, options.k)

        game = table_game({0: (1, {0: (END, -3.0), 1: (END, 5.0)})})
        search = MCTS(select=noting, c=0.5, fpu=0.25, normalize=normalize).start(view_of(game))
        noted = search.run(simulations=1).result().tree.trees[0].shared
        assert noted.tolist() == [0.5, 0.25, 1.0]
        search.run(simulations=30)
        assert noted.tolist() == ([0.5 * 8, -3 + 0.25 * 8, 31] if normalize else [0.5, 0.25, 31])

    @pytest.mark.parametrize(("fpu", "visits"), [(0.9, [20, 0, 0, 0]), (1.1, [18, 1, 1, 0])])
    def test_urgency_in_a_search(self, fpu, visits):
        game = table_game({0: (1, {0: (END, 1.0), 1: (END, 0.0), 2: (END, 0.0)})})
        agent = MCTS(select="ucb1_in_order", c=0.0, fpu=fpu, simulations=20)
        assert agent.search(view_of(game)).visits.tolist() == visits


def roll(simulate, game, depth=0, limit=50, discount=1.0, shared=(), seed=0):
    """Return steps, returns, and what was played in a rollout from the first state."""
    tree = new_tree(game.players, 4, shared=len(shared))
    tree.shared[:] = shared
    work = new_work(game, tree, 4, depth + limit, 0, len(shared))
    work.played[:] = 77
    game.reset(work.state, np.uint64(seed))
    steps = simulate(game.table, work, work.simulate_shared, depth, limit, discount, new_stream(seed))
    return steps, work.values.tolist(), work.played.reshape(-1, game.players).tolist()


ROLLOUTS = pytest.mark.parametrize("name", sorted(policies.SIMULATION))
NO_AVERAGES = np.zeros(2 * 2 * ACTIONS)


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
        found = roll(MCTS(simulate=name).simulate, game, 2, limit, 0.5, NO_AVERAGES)
        assert found[:2] == (steps, [value, -value])

    @ROLLOUTS
    def test_what_was_played(self, name):
        game = chain([1, 1, 1, 1], who=(1, 2, 2, 3), actions=(2, 1, 0, (1, 2)))
        _, _, played = roll(MCTS(simulate=name).simulate, game, 3, 6, shared=NO_AVERAGES)
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
        counts = Counter(tuple(roll(simulate, game, shared=shared, seed=i)[2][0]) for i in range(1500))
        assert sorted(counts) == [(0, 0), (0, 2), (2, 0), (2, 2)]
        for pair, p in {(2, 2): first * second, (2, 0): first * (1 - second), (0, 2): (1 - first) * second}.items():
            assert within_chance(counts[pair], 1500, p)

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
        table, value = tree.shared.reshape(2, ACTIONS, 2), 1 + 2 / 2 + 4 / 4 + 8 / 8
        assert table[0].tolist() == [[0, 0], [0, 0], [9, 9 * value], [0, 0]]  # steps 0, 2 and 3 of three simulations
        assert table[1].tolist() == [[3, -3 * value], [3, -3 * value], [0, 0], [0, 0]]

    def test_mast_learns_what_goes_well(self):
        game = table_game({i: (1, {0: (i + 1, 0.0), 1: (i + 1, 1.0)}) for i in range(20)}, players=1)
        agent = MCTS(simulations=400, simulate="mast", tree_depth=1, select="least_visited")
        table = agent.search(view_of(game)).tree.trees[0].shared.reshape(ACTIONS, 2)
        assert table[:, 0].sum() == 400 * 20
        # The better action: half of the first steps, 80 % of the others.
        assert table[1, 0] == pytest.approx(400 * (0.5 + 19 * 0.8), abs=4 * math.sqrt(400 * 19 * 0.8 * 0.2))

    def test_rave_credits_by_hand(self):
        game = table_game({0: (1, {0: (END, 0)})})
        tree = new_tree(2, 9, width=3, shared=9)
        work = new_work(game, tree, 4, 8, 9)
        mine = [new_edge(tree, ROOT, 0, 2, action) for action in (0, 1, 2)]
        theirs = [new_edge(tree, 2, 1, 2, action) for action in (0, 1, 2)]
        last = [new_edge(tree, 3, 0, 2, action) for action in (1, 2)]
        work.path_node[:4] = (ROOT, 2, 3, 4)
        work.path_edge[:6] = (mine[0], 0, 0, theirs[1], last[0], 0)
        work.path_return[:6] = (10.0, -10.0, 20.0, -20.0, 30.0, -30.0)
        work.played[:10] = (0, -1, -1, 1, 1, -1, -1, 2, 1, -1)  # two steps of the rollout at the end
        for _ in range(2):
            credit_all_moves(tree, work, work.select_shared, 3, 5, 1, 1.0)
        own = tree.own.reshape(-1, 3)
        assert own[mine].tolist() == [[0, 2, 20], [0, 2, 20], [0, 0, 0]]  # 1 was played twice, counts once
        assert own[theirs].tolist() == [[0, 0, 0], [0, 2, -40], [0, 2, -40]]
        assert own[last].tolist() == [[0, 2, 60], [0, 0, 0]]
        assert not own[0].any()

    def test_rave_in_a_search(self):
        """Action 0 is followed by 1 of the same player, action 1 by 0 of the other: only 1 may be lent a return."""
        places = {0: (1, {0: (1, 1), 1: (2, 1)}), 1: (1, {1: (END, 2)}), 2: (2, {0: (END, 4)})}
        found = set()
        for seed in range(12):
            tree = MCTS(select="rave", simulations=2, seed=seed).search(view_of(table_game(places))).tree.trees[0]
            edges = [find_edge(tree, ROOT, 0, 2, action) for action in (0, 1)]
            found.add((edges[0] > edges[1], *tree.own.reshape(-1, 2)[edges].ravel().tolist()))
        assert found == {(False, 1, 3, 1, 5), (True, 1, 3, 2, 8)}

    def test_selection_and_rollouts_keep_theirs_apart(self):
        view, shared = view_of(chain([1, 2, 4])), []
        for select, simulate in (("rave", "uniform"), ("rave", "mast"), ("ucb1", "mast")):
            result = MCTS(select=select, simulate=simulate, simulations=5).search(view)
            shared.append(result.tree.trees[0].shared.tolist())
        assert shared[1] == shared[0] + shared[2]
        assert [len(each) for each in shared] == [1 + 2 * ACTIONS, 1 + 6 * ACTIONS, 4 * ACTIONS]


DEALS = list(itertools.permutations(range(3), 2))


def cards(player, own, other):
    """Two hidden cards of 0, 1, 2: a player passes (0), or bets (1) that the own one is higher: it wins 1 or loses 2.

    Before that it can look at the other card, which costs 1/4 (2), and wait (3), once each.
    """
    places, seen = {}, np.repeat(np.arange(PLACES)[:, None], 2, axis=1)
    for i, (mine, theirs) in enumerate(DEALS):
        for j, (looked, waited) in enumerate(itertools.product((0, 1), repeat=2)):
            place, sign = 4 * i + j, 1 - 2 * player
            moves = {0: (END, 0), 1: (END, sign if mine > theirs else -2 * sign)}
            moves |= {} if looked else {2: (place + 2, -sign / 4)}
            moves |= {} if waited else {3: (place + 1, 0)}
            places[place] = 1 + player, moves
            seen[place, player] = place if looked else 100 + 4 * mine + j
    return view_of(table_game(places, seen=seen), player, at=4 * DEALS.index((own, other)))


class TestHiddenInformation:
    def search(self, view, **settings):
        settings = {"simulations": 5000, "loop": "information_set", "recommend": "max_value", **settings}
        return MCTS(**settings).search(view)

    @pytest.mark.parametrize("player", [0, 1])
    @pytest.mark.parametrize("own", [0, 1, 2])
    @pytest.mark.parametrize("loop", ["information_set", "open", "closed"])
    def test_a_hidden_card_does_not_matter(self, player, own, loop):
        others = [other for other in range(3) if other != own]
        first, second = (self.search(cards(player, own, other), loop=loop, simulations=500) for other in others)
        assert np.array_equal(first.visits, second.visits)
        assert np.array_equal(first.values, second.values, equal_nan=True)

    @pytest.mark.parametrize("player", [0, 1])
    def test_true_values(self, player):
        # With the middle card a blind bet is worth (1 - 2) / 2, and who has looked wins 1 half of the time.
        result = self.search(cards(player, 1, 0))
        assert result.action in (2, 3)
        assert result.values[[0, 2]] == pytest.approx([0.0, 0.25], abs=0.08)
        assert result.values[3] < 0.3
        assert self.search(cards(player, 0, 1)).action == 0
        assert self.search(cards(player, 2, 1)).values[1] == 1.0

    def test_an_open_loop_cannot_use_what_it_looked_at(self):
        assert self.search(cards(0, 1, 0), loop="open").values[2] < -0.2

    def test_a_closed_loop_acts_on_cards_that_it_dealt_itself(self):
        assert self.search(cards(0, 1, 0), loop="closed").values[3] == pytest.approx(0.5, abs=0.08)

    @pytest.mark.parametrize(("model", "score"), [(None, 0.25), ("cheat", 0.5)])
    def test_cheating_would_score_more(self, model, score):
        best = [np.nanmax(self.search(cards(0, 1, other), model=model).values) for other in (0, 2)]
        assert np.mean(best) == pytest.approx(score, abs=0.08)


GAMBLE = {
    0: (1, {0: [(0.3, 1, 0.0), (0.7, 2, 0.0)], 1: (END, 0.5)}),
    1: (1, {0: (END, 1.0), 1: (END, -1.0)}),
    2: (1, {0: (END, -1.0), 1: (END, 1.0)}),
}


def solve(places, place=0):
    """Return what each player gets from a place on if everybody, in turn, plays for the best."""
    if place not in places:
        return np.zeros(2)
    who, moves = places[place]
    return max((value_of(places, given) for given in moves.values()), key=lambda value: value[who - 1])


def value_of(places, given):
    return sum(p * (np.array(pays) + solve(places, to)) for p, to, pays in outcomes_of(given))


class TestChance:
    def search(self, places, **settings):
        return MCTS(c=0.5, **settings).search(view_of(table_game(places)))

    def test_a_closed_loop_sees_what_came_of_it(self):
        result = self.search(GAMBLE, simulations=8000, loop="closed")
        assert result.values[:2] == pytest.approx([1.0, 0.5], abs=0.05)
        edge = next(edge for edge in result.tree.root.edges if edge.action == 0)
        assert len(edge.children) == 2
        assert within_chance(min(child.visits for child in edge.children), edge.visits, 0.3)

    def test_an_open_loop_finds_the_best_blind_plan(self):
        result = self.search(GAMBLE, simulations=8000, loop="open")
        assert result.action == 1
        assert -0.4 < result.values[0] < 0.45  # 0.7 - 0.3 at best
        assert all(len(edge.children) == 1 for edge in result.tree.root.edges)

    @pytest.mark.parametrize("seed", range(6))
    def test_small_games_are_solved(self, seed):
        rng, places = np.random.default_rng(seed), {}
        for place in range(10):  # the first player at 0, the second at 1 to 3, the first again at 4 to 9
            below = (1, 4) if place == 0 else (4, 10) if place < 4 else (END, END + 1)
            places[place] = 1 + (0 < place < 4), {}
            for action in range(3):
                p, to, pays = rng.uniform(0.2, 0.8), rng.integers(*below, 2), rng.uniform(-1, 1, 2)
                places[place][1][action] = [(1 - p, to[0], pays[0]), (p, to[1], pays[1])]
        values = [value_of(places, places[0][1][action])[0] for action in range(3)]
        result = self.search(places, simulations=40_000, loop="closed", recommend="max_value")
        assert values[result.action] > max(values) - 0.05
        assert result.values[result.action] == pytest.approx(max(values), abs=0.08)


SECOND_ADVISED = {"advice": (1.0, 3.0, 0.0, 0.0)}
"""The second player takes 1 in three of four games."""


class TestOpponents:
    """Players who follow a policy of their own while one searches: what each action is worth against it."""

    def values(self, game, player=0, **settings):
        settings = {"simulations": 3000, "select": "least_visited", **settings}
        return MCTS(**settings).search(view_of(game, player)).values[:2]

    def matrix(self, **given):
        pays = {(0, 0): 4.0, (0, 1): 0.0, (1, 0): -4.0, (1, 1): 2.0}
        game = table_game({0: (3, {pair: (END, pay) for pair, pay in pays.items()})}, **given)
        return replace(game, variants={"first": {"advise": always_first}})

    @pytest.mark.parametrize("player", [0, 1])
    @pytest.mark.parametrize("loop", ["open", "closed", "information_set"])
    def test_at_the_same_time(self, loop, player):
        game = self.matrix(**SECOND_ADVISED)
        uniform, advised = ([2.0, -1.0], [1.0, 0.5]) if player == 0 else ([0.0, -1.0], [2.0, -1.5])
        assert self.values(game, player, loop=loop, opponents="uniform") == pytest.approx(uniform, abs=0.3)
        assert self.values(game, player, loop=loop, opponents="advised") == pytest.approx(advised, abs=0.3)

    def test_whose_advice_they_follow(self):
        game = self.matrix(**SECOND_ADVISED)
        settings = {"opponents": "advised", "opponent_model": "first"}
        assert self.values(game, **settings).tolist() == [4.0, -4.0]
        # In rollouts, too, the searching player goes by its own advice: 0 in one game of four.
        game = table_game({0: (1, {0: (1, 0.0)}), 1: (3, {(a, b): (END, 10 * a + b) for a in (0, 1) for b in (0, 1)})})
        game = replace(self.with_advice(game), variants={"first": {"advise": always_first}})
        result = MCTS(simulate="advised", tree_depth=1, simulations=4000, **settings).search(view_of(game))
        assert result.values[0] == pytest.approx(7.5, abs=0.6)

    def with_advice(self, game):
        state = game.template.copy()
        record(state, TABLES).advice[:] = (1, 3, 0, 0)
        return replace(game, template=state)

    @pytest.mark.parametrize("loop", ["open", "closed"])
    def test_in_turns(self, loop):
        places = {0: (1, {0: (1, 0.0), 1: (2, 0.0)}), 1: (2, {0: (END, 4.0), 1: (END, 0.0)})}
        places[2] = 2, {0: (END, -4.0), 1: (END, 2.0)}
        game = self.with_advice(table_game(places))
        assert self.values(game, loop=loop, opponents="uniform") == pytest.approx([2.0, -1.0], abs=0.3)
        assert self.values(game, loop=loop, opponents="advised") == pytest.approx([1.0, 0.5], abs=0.3)
        # Of themselves they would choose the best for them.
        first, second = self.values(game, loop=loop, select="ucb1", c=1.0)
        assert first < 0.5
        assert second < -2.0

    def test_only_the_searching_player_has_edges(self):
        for player in (0, 1):
            result = MCTS(simulations=200, opponents="uniform").search(view_of(self.matrix(), player))
            assert {edge.player for edge in result.tree.root.edges} == {player}
            assert result.tree.to_text(depth=2)
            assert result.tree.trees[0].edges.view(EDGE)["visits"].sum() == 200

    def test_forced_first_actions(self):
        agents = FlatMonteCarlo, SequentialHalving
        for agent in agents:
            result = agent(simulations=4000, opponents="advised").search(view_of(self.matrix(**SECOND_ADVISED)))
            assert result.values[:2] == pytest.approx([1.0, 0.5], abs=0.3)
            assert result.action == 0
        for opponents in (None, "uniform"):
            result = OneStep(samples=2000, opponents=opponents).search(view_of(self.matrix()))
            assert result.values[:2] == pytest.approx([2.0, -1.0], abs=0.3)


class TestInformation:
    @pytest.mark.parametrize("loop", ["open", "closed"])
    def test_the_whole_state_is_told(self, loop):
        # The informed player bets on the higher card, and only on that.
        for own, other, action in ((1, 0, 1), (1, 2, 0), (2, 0, 1), (0, 2, 0)):
            view = cards(0, own, other)
            view.game = replace(view.game, determinize=only_the_viewers)
            result = MCTS(simulations=300, loop=loop, information="full", recommend="max_value").search(view)
            assert result.values[action] == max(0.0, result.values[1]) == np.nanmax(result.values)

    def test_relative_evaluation(self):
        game = chain([0.0] * 9, worth=10.0 + np.arange(PLACES) ** 2, players=1)
        view = view_of(game, at=2)
        assert MCTS(simulations=1, horizon=3).search(view).values[0] == 10 + 25
        for settings in ({}, {"rollout_depth": 0, "tree_depth": 3}):
            found = MCTS(simulations=9, horizon=3, relative=True, **settings).search(view).values[0]
            assert found == 25 - 4 if not settings else found < 25 - 4
        discounted = MCTS(simulations=1, horizon=3, relative=True, discount=0.5).search(view)
        assert discounted.values[0] == (25 - 4) / 8

    def test_who_is_out_of_the_game_is_not_evaluated(self):
        game = replace(chain([1.0, 0.0, 0.0, 0.0], worth=100.0), status=second_is_out)
        view = view_of(game)
        assert MCTS(simulations=1, horizon=2).search(view).values[0] == 101
        _, values, _ = roll(MCTS(simulate="uniform").simulate, game, limit=2)
        assert values == [101.0, -1.0]


class TestSimultaneousChoices:
    def test_both_players_choose_at_the_root(self):
        for player in (0, 1):
            result = MCTS(simulations=400).search(view_of(at_once(1.0, -2.0, 3.0, -4.0), player))
            edges = {(edge.player, edge.action): edge for edge in result.tree.root.edges}
            assert sorted(edges) == [(0, 0), (0, 1), (1, 0), (1, 1)]
            assert edges[0, 0].visits + edges[0, 1].visits == edges[1, 0].visits + edges[1, 1].visits == 400
            assert [edges[player, action].visits for action in (0, 1)] == result.visits[:2].tolist()
            assert [edges[player, action].value for action in (0, 1)] == result.values[:2].tolist()
            (tree,) = result.tree.trees
            assert tree.nodes.view(NODE)["visits"][2:6].sum() == 400
            assert not tree.edges.view(EDGE)["child"].any()

    @pytest.mark.parametrize("player", [0, 1])
    def test_dominant_actions_are_found(self, player):
        game = at_once((1, 0), (2, 4), (3, 1), (4, 3))  # action 1 pays either player more, whatever the other does
        result = MCTS(simulations=3000).search(view_of(game, player))
        assert result.action == 1
        assert result.visits[1] > 2700

    def test_prisoners_defect(self):
        result = MCTS(simulations=3000).search(view_of(at_once((3, 3), (0, 5), (5, 0), (1, 1))))
        assert result.action == 1

    def test_nobody_foresees_the_others_choice(self):
        result = MCTS(simulations=4000).search(view_of(at_once(1.0, -1.0, -1.0, 1.0)))
        assert result.visits[:2] / 4000 == pytest.approx([0.5, 0.5], abs=0.1)
        assert result.values[:2] == pytest.approx([0.0, 0.0], abs=0.1)

    def test_mixed_plays_in_proportion(self):
        view = view_of(at_once(3.0, -1.0, -1.0, 1.0))
        results = [MCTS(simulations=60, recommend="mixed", seed=seed).search(view) for seed in range(400)]
        shares = np.array([result.visits[1] / 60 for result in results])
        played = sum(result.action == 1 for result in results)
        assert 0.1 < shares.mean() < 0.9
        assert abs(played - shares.sum()) < 4 * math.sqrt((shares * (1 - shares)).sum())
