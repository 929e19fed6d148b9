"""Sequential halving: its budget, its rounds, and that it finds the best arm."""

import itertools
from collections import Counter

import numpy as np
import pytest

import agents
from tests.search.arms import arms_view, first_view
from tests.toys import TicTacToe, tic_tac_toe


class TestHalving:
    def search(self, view, **settings):
        return agents.make("halving", **settings).search(view)

    @pytest.mark.parametrize("threads", [1, 2])
    @pytest.mark.parametrize("tree_depth", [1, 3])
    def test_rounds_by_hand(self, threads, tree_depth):
        """240 simulations in 3 rounds of 80: 10 for each of 8 arms, 20 for each of 4, 40 for each of 2."""
        result = self.search(arms_view(length=3), simulations=240, threads=threads, tree_depth=tree_depth)
        assert sorted(result.visits) == [10] * 4 + [30] * 2 + [70] * 2
        assert result.visits[result.action] == 70
        assert result.simulations == 240
        assert (len(result.tree) > 9) == (tree_depth > 1)

    @pytest.mark.parametrize("threads", [1, 2, 3])
    @pytest.mark.parametrize("simulations", [1, 2, 5, 7, 8, 9, 23, 24, 100, 1001])
    def test_the_budget_is_never_exceeded(self, simulations, threads):
        result = self.search(arms_view(), simulations=simulations, threads=threads)
        assert result.simulations == result.visits.sum() <= simulations
        assert result.simulations == simulations or simulations > 8
        assert result.simulations > simulations - 16
        assert result.visits[result.action] == result.visits.max()

    @pytest.mark.parametrize("threads", [1, 2])
    @pytest.mark.parametrize("max_steps", [5, 50, 500, 5000])
    def test_the_budget_in_steps(self, max_steps, threads):
        result = self.search(arms_view(length=5), max_steps=max_steps, threads=threads)
        assert result.steps < max_steps + 5 * threads
        assert result.steps > 0.8 * max_steps

    def test_the_budget_in_seconds(self):
        result = self.search(arms_view(length=5), time_limit=0.2)
        assert 0.15 < result.seconds < 3.0
        assert result.visits[result.action] > result.visits.sum() / 8

    @pytest.mark.parametrize("name", ["halving", "flat_mc"])
    def test_a_pass_is_cut_off_by_time(self, name):
        """A pass over these arms takes some 0.3 seconds; what was tried so far is ranked."""
        agent = agents.make(name, time_limit=0.002)
        for _ in range(2):
            result = agent.search(arms_view(arms=900, length=9000))
            assert 1 <= result.simulations < 450
            assert result.visits.max() == 1
            assert result.values[result.action] == np.nanmax(result.values)

    @pytest.mark.parametrize("length", [1, 4])
    @pytest.mark.parametrize("threads", [1, 2])
    def test_common_chance_takes_luck_out(self, length, threads):
        found = Counter()
        for seed, common_chance in itertools.product(range(20), (True, False)):
            view, settings = arms_view(length=length), {"common_chance": common_chance, "threads": threads}
            found[common_chance] += self.search(view, simulations=100, seed=seed, **settings).action == 5
        assert found[True] == 20
        assert found[False] < 12

    def test_the_better_of_the_last_two_is_recommended(self):
        for seed in range(40):
            result = self.search(arms_view(), max_steps=243, seed=seed, common_chance=False)
            assert result.values[result.action] == result.values[np.argsort(-result.visits)[:2]].max()

    def test_and_what_an_earlier_search_found_does_not_outvote_it(self):
        """With 7 actions 3 rounds make 19, 33 and 67 trials; those of earlier searches come on top."""
        for seed in range(30):
            env, settings = TicTacToe(), {"tree_depth": 5, "loop": "closed", "reuse": True}
            env.reset(seed=seed)
            agent = agents.make("halving", simulations=400, seed=seed, **settings)
            env.step(agent.search(env).action)
            result = agent.search(env)
            last = np.flatnonzero(result.visits >= 19 + 33 + 67)
            assert len(last) == 2
            assert result.values[result.action] == result.values[last].max()

    def test_two_players(self):
        game = tic_tac_toe()
        for turn, board, best in ((0, [1, 1, 0, 2, 2, 0, 0, 0, 0], 2), (1, [1, 1, 0, 0, 2, 0, 0, 0, 0], 2)):
            view = first_view(game, turn)
            game.place(view.state, {"board": board, "turn": turn})
            for tree_depth in (1, 4):
                assert self.search(view, simulations=1000, tree_depth=tree_depth).action == best

    def test_start_is_refused(self):
        with pytest.raises(TypeError, match="halving shares a known budget"):
            agents.make("halving").start(arms_view())

    def test_flat_planners_share_equally_between_threads_too(self):
        assert agents.make("flat_mc", simulations=40, threads=3).search(arms_view()).visits.tolist() == [5] * 8
        assert agents.make("one_step", samples=1, threads=2).search(arms_view()).visits.tolist() == [1] * 8

    def test_flat_planners(self):
        view = arms_view(length=3, luck=0.0)
        for threads in (1, 2):
            result = agents.make("flat_mc", simulations=80, threads=threads).search(view)
            assert (result.visits.tolist(), result.action) == ([10] * 8, 5)
            assert (len(result.tree.trees), len(result.tree)) == (threads, 9)
        result = agents.make("one_step", samples=3).search(view)
        assert (result.visits.tolist(), result.steps) == ([3] * 8, 24)
        assert result.values.tolist() == [0.01 if arm == 5 else 0.0 for arm in range(8)]
