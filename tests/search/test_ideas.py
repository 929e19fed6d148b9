"""Ideas of the field one by one, each against an answer that is known."""

from collections import Counter
from functools import cache
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest

from agents import policies
from agents.mcts import MCTS
from agents.policies.mcts_solver import proofs
from agents.policies.recommend import lcb, secure
from agents.policies.signatures import Candidates
from agents.search.records import CANDIDATE, compiled, rows
from agents.search.tree import ROOT, find_edge
from mcts_envs.core.kernel import interpreted
from mcts_envs.core.rng import new_stream
from mcts_envs.core.view import View
from tests.search.offers import store_of
from tests.search.tables import END, PLACES, at_once, roll, table_game, view_of, within_chance
from tests.toys import tic_tac_toe

edge_of = interpreted(find_edge)


def offer(visits, sums, **given):
    """Return candidates with edges 1, 2, ...; without a visit there is none."""
    known = [(i, i + 1 if n else 0, int(n), float(s), 0.0) for i, (n, s) in enumerate(zip(visits, sums, strict=True))]
    seen = {"low": 0.0, "high": 1.0, "player": 0, "depth": 0, "searching": True, "worth": 0.0, **given}
    return compiled(Candidates(k=len(known), actions=len(known), rows=rows(CANDIDATE, known, False), **seen))


def seen(low, high):
    """A search of which only the range of the returns is asked."""
    return SimpleNamespace(returns=lambda: (low, high))


class TestFinalMoves:
    LEGAL = np.arange(4)

    def test_secure_by_hand(self):
        # Range 2: 0.5 - 4 / 10 = 0.1, 0.9 - 4 / sqrt(10) = -0.36. Range 0.5: 0.5 - 1 / 10 = 0.4, 0.9 - 0.316 = 0.584.
        visits, values = np.array([100, 10, 0, 1]), np.array([0.5, 0.9, np.nan, 0.9])
        for high, action in ((1.0, 0), (-0.5, 1)):
            assert secure(visits, values, self.LEGAL, new_stream(0), seen(-1.0, high)) == action

    def test_lcb_by_hand(self):
        # Of 400, 100 and 50 visits the last are less than 15 %. 0.2 - 5 sqrt(0.96 / 400) = -0.045 and, for 100 visits,
        # 0.6 - 5 sqrt(0.64 / 100) = 0.2; with a mean of 0.3 it is 0.3 - 5 sqrt(0.91 / 100) = -0.177.
        visits = np.array([400, 100, 50, 0])
        for mean, action in ((0.6, 1), (0.3, 0)):
            values = np.array([0.2, mean, 0.9, np.nan])
            assert lcb(visits, values, self.LEGAL, new_stream(0), seen(-1.0, 1.0)) == action

    @pytest.mark.parametrize("recommend", ["secure", "lcb"])
    @pytest.mark.parametrize("threads", [1, 2])
    def test_in_a_search(self, recommend, threads):
        game = table_game({0: (1, {0: (END, 0.0), 1: (END, 1.0), 2: (END, 0.5)})})
        agent = MCTS(recommend=recommend, simulations=200, threads=threads)
        search = agent.start(view_of(game)).run(simulations=200)
        assert search.returns() == (0.0, 1.0)
        assert search.result().action == agent.search(view_of(game)).action == 1


class TestGrave:
    """A store for two players and two actions: 5 marks of RAVE, then whether one was met, and credit of two actions."""

    def chosen(self, visits, sums, own=(), met=1.0, **parameters):
        grave = policies.load("select", "grave")
        shared = np.zeros(15)
        shared[5:10] = met, 20.0, 10.0, 4.0, 3.6  # a reference, where the actions were credited with 0.5 and 0.9
        edges = np.array([[0.0, 0.0], *(own or [[0.0, 0.0]] * 2)])
        store = store_of(grave, edges=edges, tree=shared, **parameters)
        return grave(offer(visits, sums, depth=2), store, new_stream(1)), store.per_tree[5:10].tolist()

    def test_by_hand(self):
        # b = 20 / 24 and 4 / 8: 0.75 / 6 + 0.5 * 5 / 6 = 0.5417 and (0.25 + 0.9) / 2 = 0.575
        assert self.chosen([4, 4], [3.0, 1.0]) == (1, [1.0, 20.0, 10.0, 4.0, 3.6])
        # (0.1 + 0.9) / 2 = 0.5
        assert self.chosen([4, 4], [3.0, 0.4])[0] == 0
        # b = 4 / (8 + 0.5 * 16) = 0.25: 0.75 * 0.25 + 0.25 * 0.9 = 0.4125; b = 20 / (24 + 40): 0.75 * 0.6875 + 0.15625
        assert self.chosen([4, 4], [3.0, 1.0], credit_bias=0.5)[0] == 0

    def test_who_lends(self):
        own = [[6.0, 6.0], [2.0, 0.0]]
        lent = self.chosen([30, 30], [0.0, 0.0], own=own)
        assert lent == (0, [1.0, 6.0, 6.0, 2.0, 0.0])  # 60 visits are more than 50: the node itself
        assert self.chosen([20, 20], [0.0, 0.0], own=own)[1] == [1.0, 20.0, 10.0, 4.0, 3.6]
        assert self.chosen([20, 20], [0.0, 0.0], own=own, met=0.0)[1] == [1.0, 6.0, 6.0, 2.0, 0.0]

    def test_what_was_met_is_forgotten_at_the_end_of_the_way_down(self):
        """A simulation that is dropped to wait, and not backed up, lends nothing to the next."""
        game = at_once(3.0, -1.0, -1.0, 1.0)
        search = MCTS(select="grave", reference=0).start(view_of(game)).run(simulations=9)
        kept = search.trees[0].select.per_tree[1 + 2 * game.actions :].reshape(2, 1 + 2 * game.actions)
        assert not kept[:, 0].any()
        assert kept[:, 1:].any(axis=1).all()

    def test_untried_actions_count_their_credit(self):
        assert self.chosen([4, 0], [4 * 0.95, 0.0])[0] == 1  # 0.95 / 6 + 0.5 * 5 / 6 = 0.575 against 0.9
        assert self.chosen([4, 0], [4 * 0.95, 0.0], fpu=0.1)[0] == 0

    def test_in_a_search(self):
        """Action 1 always pays 1, and its credit is lent to new nodes: they try it first."""
        game = table_game({i: (1, {0: (i + 1, 0.0), 1: (i + 1, 1.0)}) for i in range(6)})
        result = MCTS(select="grave", reference=5, simulations=300, loop="closed").search(view_of(game))
        assert result.principal_variation[:5] == [1] * 5


@cache
def negamax(cells, mover):
    """Return what tic-tac-toe is worth to who moves, and what each of its actions is: 1, 0 or -1."""
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    if any(all(cells[i] == 2 - mover for i in line) for line in lines):
        return -1, {}
    worth = {}
    for i in (i for i in range(9) if cells[i] == 0):
        worth[i] = -negamax((*cells[:i], mover + 1, *cells[i + 1 :]), 1 - mover)[0]
    return max(worth.values(), default=0), worth


class TestSolver:
    def searched(self, moves, select="mcts_solver", simulations=600):
        game = tic_tac_toe()
        state, rewards = game.new_state(), np.zeros(2)
        game.reset(state, np.uint64(0))
        for move in moves:
            game.step(state, np.array([move, move]), rewards)
        agent = MCTS(select=select, loop="closed", recommend="proved")
        return agent.start(View(game, state, len(moves) % 2)).run(simulations=simulations)

    @pytest.mark.parametrize("select", ["mcts_solver", "puct_solver"])
    @pytest.mark.parametrize("seed", range(6))
    def test_what_is_proved_is_true(self, seed, select):
        """Against minimax; with five cells or fewer left, all of it is proved, and a best action is played."""
        moves = np.random.default_rng(seed).permutation(9)[: 2 + seed % 6].tolist()
        cells = [0] * 9
        for i, move in enumerate(moves):
            if negamax(tuple(cells), i % 2)[1]:
                cells[move] = 1 + i % 2
        best, worth = negamax(tuple(cells), len(moves) % 2)
        if not worth:
            return
        search = self.searched(moves, select)
        win, returns = proofs(search)
        known = {action: value for action, value in enumerate(returns) if not np.isnan(value)}
        assert win == 1.0
        assert known == {action: worth[action] for action in known}
        if len(worth) <= 5:
            assert worth[search.result().action] == best
            assert best == 1 or len(known) == len(worth)

    @pytest.mark.parametrize("refuted", [-1.0, -0.6])
    def test_what_is_proved_worse_is_not_played(self, refuted):
        """Action 0 pays 0.9 in the rollouts of most, but the reply 3 refutes it: it has 5 visits of 8."""
        replies = dict.fromkeys(range(3), (END, 0.9)) | {3: (END, refuted)}
        game = table_game({0: (1, {0: (1, 0.0), 1: (2, 0.0)}), 1: (2, replies), 2: (2, {0: (END, -0.5)})})
        search = MCTS(select="mcts_solver", recommend="proved").start(view_of(game)).run(simulations=8)
        assert proofs(search)[1][:2].tolist() == [refuted, -0.5]
        assert search.result().action == 1
        assert search.statistics()[1][:2].tolist() == [refuted, -0.5]  # means are what was proved

    def test_a_win_need_not_be_the_only_move_looked_at(self):
        game = table_game({0: (1, {0: (1, 0.0), 1: (END, 1.0)}), 1: (1, {0: (2, 0.0)}), 2: (1, {0: (END, 0.0)})})
        search = MCTS(select="mcts_solver", recommend="proved").start(view_of(game)).run(simulations=50)
        assert np.isnan(proofs(search)[1][0])
        assert proofs(search)[1][1] == 1.0
        assert search.statistics()[0][1] >= 48

    def test_nothing_is_proved_where_several_choose(self):
        search = MCTS(select="mcts_solver").start(view_of(at_once(1.0, -1.0, 0.5, 0.0))).run(simulations=100)
        assert np.isnan(proofs(search)[1]).all()

    @pytest.mark.parametrize(
        ("made", "why"),
        [
            ({"id": "LaneDefense3x3-v0"}, "lane_defense.*: chance decides"),
            ({"id": "Bomber-v0", "view": 4}, "bomber.*: something is hidden"),
        ],
    )
    def test_luck_is_refused(self, made, why):
        env = gym.make(f"mcts_envs/{made.pop('id')}", **made)
        env.reset(seed=0)
        with pytest.raises(ValueError, match=r"select='mcts_solver' is for games without chance"):
            MCTS(select="mcts_solver", simulations=5).search(env)

    @pytest.mark.parametrize("gamble", [0, 1, 2, 3])
    @pytest.mark.parametrize("after", [END, 1])
    def test_luck_is_refused_whichever_action_tries_it(self, gamble, after):
        there = dict.fromkeys(range(4), (END, 0.0)) | {gamble: [(0.5, after, 1.0), (0.5, END, -2.0)]}
        game = table_game({0: (1, there), 1: (2, {0: (END, 0.0)})})
        with pytest.raises(ValueError, match="chance decides"):
            MCTS(select="mcts_solver", simulations=5).search(view_of(game))

    def test_another_select_proves_nothing(self):
        with pytest.raises(ValueError, match="recommend='proved' plays by what select='mcts_solver' or"):
            MCTS(recommend="proved", simulations=5).search(view_of(at_once(1.0, 0.0, 0.0, 0.0)))


class TestImplicitMinimax:
    WORTH = np.zeros(PLACES)
    WORTH[[1, 2, 3, 4, 5]] = 3.0, 0.0, 5.0, -5.0, 1.0

    def game(self):
        """Action 0 leads to where the other picks worth 5 or -5, action 1 to worth 1; nothing is paid."""
        there = {0: (1, {0: (1, 0.0), 1: (2, 0.0)}), 1: (2, {0: (3, 0.0), 1: (4, 0.0)}), 2: (2, {0: (5, 0.0)})}
        beyond = {place: (1, {0: (END, 0.0)}) for place in (3, 4, 5)}
        return table_game({**there, **beyond}, worth=self.WORTH)

    def values(self, search):
        (tree,) = search.trees
        return [tree.select.per_edge[edge_of(tree, ROOT, 0, action)].tolist() for action in (0, 1)]

    def test_backed_up_by_hand(self):
        search = MCTS(select="implicit_minimax", loop="closed").start(view_of(self.game()))
        assert self.values(search.run(simulations=2)) == [[3.0, -3.0], [0.0, 0.0]]
        search = MCTS(select="implicit_minimax", tree_depth=2, loop="closed").start(view_of(self.game()))
        assert self.values(search.run(simulations=30)) == [[-5.0, 5.0], [1.0, -1.0]]

    def test_rewards_and_discount_count(self):
        game = table_game({0: (1, {0: (1, 2.0)}), 1: (1, {0: (2, 4.0)}), 2: (1, {0: (END, 0.0)})}, worth=16.0)
        search = MCTS(select="implicit_minimax", tree_depth=2, discount=0.5).start(view_of(game)).run(simulations=9)
        (tree,) = search.trees
        assert tree.select.per_edge[edge_of(tree, ROOT, 0, 0)].tolist() == [2 + 4 / 2 + 16 / 4, -8.0]

    @pytest.mark.parametrize(("alpha", "share"), [(1.0, 1.0), (0.0, 0.5)])
    def test_selection(self, alpha, share):
        agent = MCTS(select="implicit_minimax", alpha=alpha, tree_depth=2, loop="closed", simulations=400)
        visits = agent.search(view_of(self.game())).visits
        assert visits[1] / visits.sum() == pytest.approx(share, abs=0.05)

    def test_by_hand(self):
        select = policies.load("select", "implicit_minimax")
        kept = np.array([[0.0, 0.0], [0.2, 9.0], [0.9, 9.0]])
        for alpha, action in ((0.35, 0), (0.45, 1)):  # 0.6 - 0.4 alpha and 0.2 + 0.7 alpha: equal at 0.3636
            store = store_of(select, edges=kept, c=0.0, alpha=alpha)
            assert select(offer([5, 5], [3.0, 1.0]), store, new_stream(0)) == action


class TestDecisiveMoves:
    def first(self, game, seed):
        _, values, played = roll(policies.load("simulate", "decisive"), game, seed=seed)
        return played[0], values

    def test_a_win_at_once_is_played(self):
        on = dict.fromkeys((0, 1, 3), (1, 0.0))
        game = table_game({0: (2, {**on, 2: (END, -1.0)}), 1: (1, {0: (END, -1.0)})})
        assert {tuple(self.first(game, seed)[0]) for seed in range(20)} == {(-1, 2)}
        tie = table_game({0: (2, {**on, 2: (END, 0.0)}), 1: (1, {0: (END, -1.0)})})
        counts = Counter(self.first(tie, seed)[0][1] for seed in range(1200))
        assert all(within_chance(counts[action], 1200, 1 / 4) for action in range(4))

    def test_no_die_is_foreseen(self):
        """Action 0 wins in half of its throws; it is found to in half of the games, and then wins half of them."""
        lucky = [(0.5, 1, 0.0), (0.5, END, 1.0)]
        game = table_game({0: (1, {0: lucky, 1: (1, 0.0)}), 1: (2, {0: (END, -1.0)})})
        games = [self.first(game, seed) for seed in range(1600)]
        won = [values[0] > 0 for played, values in games if played[0] == 0]
        assert within_chance(len(won), 1600, 1 / 2 + 1 / 2 * 1 / 2)
        assert within_chance(sum(won), len(won), 1 / 2)

    def test_who_choose_at_once_do_not_look(self):
        counts = Counter(self.first(at_once(1.0, 1.0, 1.0, -1.0), seed)[0][0] for seed in range(900))
        assert within_chance(counts[0], 900, 1 / 2)
