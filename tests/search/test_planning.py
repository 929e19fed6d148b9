"""Searches as they run: threads, budgets, slices, interruptions, and bounded memory. No formula of a policy."""

import math
import random
import signal
import threading
import time
from functools import cache, partial

import numpy as np
import pytest
from connect_four import GAME

import agents
from agents import budget as budget_module
from agents.mcts import MCTS
from agents.policies.signatures import SELECT, nth
from agents.search import plan as search_plan
from agents.search import running
from agents.search import tree as tree_module
from agents.search.records import Store
from agents.search.tree import EDGE, NODE, ROOT
from mcts_envs.core.kernel import kernel
from mcts_envs.core.view import View
from tests.search.arms import arms_view, first_view, lane
from tests.search.contents import as_lists, contents
from tests.toys import Tron, tic_tac_toe


class TestThreads:
    @pytest.mark.parametrize("threads", [2, 3])
    def test_they_share_the_simulations(self, threads):
        result, again = (MCTS(simulations=1000, threads=threads, seed=5).search(lane()) for _ in range(2))
        shares = [tree.count.simulations for tree in result.tree.trees]
        assert sum(shares) == result.simulations == result.visits.sum() == 1000
        assert max(shares) - min(shares) <= 1
        assert len(shares) == threads
        assert again.visits.tolist() == result.visits.tolist()
        assert np.array_equal(again.values, result.values, equal_nan=True)
        one, two = (contents(tree) for tree in result.tree.trees[:2])
        assert one != two
        assert MCTS(simulations=1000, threads=threads, seed=6).search(lane()).visits.tolist() != result.visits.tolist()

    @pytest.mark.parametrize("threads", [1, 2, 3])
    def test_they_share_the_steps(self, threads):
        result = MCTS(max_steps=6000, threads=threads).search(lane(10))
        assert 6000 <= result.steps < 6000 + threads * 200
        assert min(tree.count.steps for tree in result.tree.trees) >= 6000 // threads

    @pytest.mark.parametrize("threads", [1, 2])
    def test_time(self, threads):
        result = MCTS(time_limit=0.2, threads=threads).search(lane(10))
        assert 0.19 < result.seconds < 3.0
        assert result.simulations > 100

    @pytest.mark.parametrize("threads", [1, 2])
    def test_running_on(self, threads):
        search = MCTS(threads=threads).start(lane())
        with pytest.raises(ValueError, match="nothing was searched yet"):
            search.result()
        with pytest.raises(TypeError, match="a search needs a limit"):
            search.run()
        with pytest.raises(ValueError, match="simulations 0 is outside"):
            search.run(simulations=0)
        first = search.run(simulations=101).result()
        second = search.run(simulations=99).run(max_steps=1).result()
        assert (first.simulations, first.visits.sum()) == (101, 101)
        assert second.simulations == second.visits.sum() == 201
        assert (second.visits >= first.visits).all()
        assert second.seconds > first.seconds
        whole = MCTS(threads=threads).start(lane()).run(simulations=200).result()
        assert threads == 2 or whole.visits.sum() == second.visits.sum() - 1

    @pytest.mark.parametrize("threads", [1, 2])
    def test_stop(self, threads):
        search = MCTS(threads=threads).start(lane(10))
        runner = threading.Thread(target=search.run, kwargs={"time_limit": 60.0})
        runner.start()
        while not search.steps:
            time.sleep(0.01)
        assert search.result().visits.sum() > 0  # asked while it runs
        search.stop()
        runner.join(5.0)
        assert not runner.is_alive()
        found = search.result().simulations
        assert search.run(simulations=10).result().simulations == found + 10

    @pytest.mark.parametrize("made", range(1, 6))
    def test_a_growth_that_is_interrupted_changes_nothing(self, monkeypatch, made):
        search = MCTS().start(lane(10)).run(simulations=200)
        left = [made]

        def longer(array, size):
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
            return grow(array, size)

        grow = tree_module._longer
        monkeypatch.setattr(tree_module, "_longer", longer)
        with pytest.raises(KeyboardInterrupt):
            search.run(simulations=2000)
        tree = search.trees[0]
        assert len(tree.nodes) >= tree.count.node_room * NODE.itemsize
        assert len(tree.edges) >= tree.count.edge_room * EDGE.itemsize
        monkeypatch.undo()
        before = search.result().simulations
        assert search.run(simulations=1000).result().simulations == before + 1000

    def test_threads_that_are_not_waited_for_end_all_the_same(self, monkeypatch):
        class Impatient(running.ThreadPoolExecutor):
            def shutdown(self, *given, **settings):
                raise KeyboardInterrupt

        def interrupted(futures):
            while not search.steps:
                time.sleep(0.01)
            raise KeyboardInterrupt

        search, began = MCTS(threads=2).start(lane(10)), time.perf_counter()
        monkeypatch.setattr(running, "ThreadPoolExecutor", Impatient)
        monkeypatch.setattr(running, "as_completed", interrupted)
        with pytest.raises(KeyboardInterrupt):
            search.run(time_limit=60.0)
        monkeypatch.undo()
        search.run(simulations=10)
        assert time.perf_counter() - began < 30
        steps = search.steps
        time.sleep(0.1)
        assert search.steps == steps

    @pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals reach no thread there")
    @pytest.mark.parametrize("threads", [1, 2])
    def test_interrupts(self, threads, request):
        # What runs in the background of a shell ignores interrupts unless told otherwise.
        request.addfinalizer(partial(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT)))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        began = time.perf_counter()
        timer = threading.Timer(0.3, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            MCTS(time_limit=30.0, threads=threads).search(lane(10))
        assert time.perf_counter() - began < 10.0

    @pytest.mark.parametrize("threads", [1, 2])
    def test_errors_come_out(self, threads):
        def broken(*arguments):
            raise ArithmeticError("by design")

        with pytest.raises(ArithmeticError, match="by design"):
            MCTS(simulations=10, threads=threads, recommend=broken).search(lane())
        with pytest.raises(ValueError, match=r"returned 77, which is not legal; legal now: \[0 1 2"):
            MCTS(simulations=10, threads=threads, recommend=lambda *arguments: 77).search(lane())

        @kernel(SELECT)
        def faulty(candidates, store, stream):
            if nth(candidates, 0).visits == 3:
                raise ArithmeticError("by design")
            return 0

        view = lane()
        for game in (view.game, view.game.interpreted()):
            search = MCTS(threads=threads, select=faulty).start(View(game, view.state, 0))
            with pytest.raises(ArithmeticError, match="by design"):
                search.run(simulations=50)


@cache
def minimax(board, turn):
    """Return the value of a position for the player to move, and of every move."""
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    if any(all(board[i] == 2 - turn for i in line) for line in lines):
        return -1, {}
    moves = {}
    for i in range(9):
        if board[i] == 0:
            moves[i] = -minimax((*board[:i], 1 + turn, *board[i + 1 :]), 1 - turn)[0]
    return max(moves.values(), default=0), moves


def test_solved_positions():
    game, rng, asked = tic_tac_toe(), random.Random(7), 0
    while asked < 30:
        board, turn = (0,) * 9, 0
        for _ in range(rng.randrange(7)):
            moves = minimax(board, turn)[1]
            if not moves:
                break
            move = rng.choice(list(moves))
            board, turn = (*board[:move], 1 + turn, *board[move + 1 :]), 1 - turn
        best, moves = minimax(board, turn)
        if len(set(moves.values())) < 2:
            continue
        view = first_view(game, turn)
        game.place(view.state, {"board": list(board), "turn": turn})
        loop = ("open", "closed")[asked % 2]
        assert moves[MCTS(simulations=3000, loop=loop, seed=asked).search(view).action] == best, (board, turn)
        asked += 1


def bytes_of(tree):
    """Return how many bytes a tree takes, what policies keep included."""
    return sum(bytes_of(array) if isinstance(array, Store) else array.nbytes for array in tree)


class TestMemory:
    @pytest.mark.parametrize("threads", [1, 3])
    @pytest.mark.parametrize("budget", [{"simulations": 3000}, {"time_limit": 0.2}, {"max_steps": 60_000}])
    def test_max_nodes_bounds_all_trees_together(self, budget, threads):
        agent = MCTS(max_nodes=100, threads=threads, **budget)
        view = lane()
        for search in (agent.start(view).run(**budget), agent):
            trees = (search.search(view) if search is agent else search.result()).tree.trees
            assert len(trees) == threads
            assert 50 < sum(tree.count.nodes - ROOT - 1 for tree in trees) <= 100

    @pytest.mark.parametrize("settings", [{"fpu": 0.5}, {"fpu": 0.9}, {"select": "puct"}, {"select": "rave"}])
    def test_a_full_tree_still_takes_in_every_simulation(self, settings):
        result = MCTS(simulations=2000, max_nodes=8, **settings).search(first_view(GAME))
        assert result.visits.sum() == 2000

    def test_bytes_do_not_depend_on_the_number_of_actions(self):
        sizes = {}
        for arms in (9, 925):
            agent = MCTS(simulations=2000)
            tree = agent.search(arms_view(arms=arms)).tree.trees[0]
            sizes[arms] = bytes_of(tree) - arms * EDGE.itemsize  # kept free for the root
            assert tree.count.nodes == arms + ROOT + 1
        assert max(sizes.values()) <= 200 * 2000

    def test_a_search_in_time_takes_what_it_uses(self):
        """Memory for all nodes that a tree may have takes up to half a second to ask for."""
        search = MCTS(loop="closed").start(lane(10))
        (small,) = search.trees
        assert bytes_of(small) < 100_000
        (tree,) = search.run(simulations=3000).trees
        assert bytes_of(tree) < 300 * 2 * (3000 + 12_000)  # and room for a slice

    @pytest.mark.parametrize("kind", [lambda game: game, lambda game: as_lists(game)], ids=["bytes", "objects"])
    @pytest.mark.parametrize("make", [tic_tac_toe, lambda: Tron().game])
    def test_growing_changes_nothing(self, kind, make, monkeypatch):
        found = []
        for room in (1, 10_000):
            monkeypatch.setattr(search_plan, "FIRST_ROOM", room)
            search = MCTS(select="rave", simulate="mast", loop="closed", max_nodes=250).start(first_view(kind(make())))
            for _ in range(40):
                search.run(simulations=10)
            found.append((contents(search.trees[0]), search.statistics()[0].tolist(), search.steps))
        assert found[0] == found[1]
        assert len(search.result().tree) > 200

    @pytest.mark.parametrize("kind", [lambda game: game, lambda game: as_lists(game)], ids=["bytes", "objects"])
    @pytest.mark.parametrize("threads", [1, 2])
    def test_results_that_are_kept_stay_as_they_are_and_change_no_search(self, kind, threads):
        made = [1, 10, 200, 500]
        settings = {"select": "rave", "simulate": "mast", "loop": "closed", "threads": threads}
        view = first_view(kind(tic_tac_toe()))
        kept, unseen = (MCTS(**settings).start(view) for _ in range(2))
        results = [kept.run(simulations=count).result() for count in made]
        for count in made:
            unseen.run(simulations=count)
        for result, simulations in zip(results, np.cumsum(made), strict=True):
            root = result.tree.root
            assert result.simulations == result.visits.sum() == root.visits == simulations
            assert sum(edge.visits for edge in root.edges) == simulations
            assert result.principal_variation[0] == result.action
        assert [contents(tree) for tree in kept.trees] == [contents(tree) for tree in unseen.trees]

    def test_only_results_that_somebody_has_are_copied(self, monkeypatch):
        copies = []
        monkeypatch.setattr(running, "copy_of", lambda tree: copies.append(1) or tree_module.copy_of(tree))
        search = MCTS().start(lane()).run(simulations=10)
        for _ in range(3):
            assert search.result().tree.root.visits == search.simulations
            search.run(simulations=10)
        assert not copies
        root = search.result().tree.root
        search.run(simulations=10).run(simulations=10)
        assert (root.visits, len(copies)) == (40, 1)

    def test_a_result_that_another_thread_asks_for_while_a_tree_grows_shares_nothing_with_it(self, monkeypatch):
        results = []

        def asked(tree, simulations):
            grown = tree_module.enlarge(tree, simulations)
            if grown is not tree:
                results.append(search.result())
            return grown

        search = MCTS(loop="closed").start(lane()).run(simulations=10)
        monkeypatch.setattr(running, "enlarge", asked)
        search.run(simulations=2000)
        assert len(results) > 1
        for result in results:
            (kept,), (tree,) = result.tree.trees, search.trees
            assert not np.shares_memory(kept.slots, tree.slots)
            assert not np.shares_memory(kept.ranges, tree.ranges)

    def test_bytes_of_players_who_choose_at_once(self):
        tree = MCTS(simulations=2000).search(first_view(Tron().game)).tree.trees[0]
        assert bytes_of(tree) <= 300 * 2000

    @pytest.mark.parametrize(("tree_depth", "deepest"), [(3, 3), (None, 1000)])
    def test_depth(self, tree_depth, deepest):
        agent = MCTS(simulations=1200, tree_depth=tree_depth, rollout_depth=0)
        tree = agent.search(arms_view(arms=1, length=10**6)).tree.trees[0]
        depth = [0, 0]
        for parent in tree.nodes.view(NODE)["parent"][ROOT + 1 : tree.count.nodes]:
            depth.append(depth[parent] + 1)
        assert max(depth) == deepest

    def test_simulations_of_an_endless_game_end(self):
        assert MCTS(simulations=2).search(arms_view(length=10**9)).steps == 2 * 10_000


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("budget", [{"simulations": 2001}, {"max_steps": 30_001}])
@pytest.mark.parametrize("name", ["mcts", "flat_mc", "halving"])
def test_slices_change_nothing(name, budget, threads, monkeypatch):
    results = []
    for seconds in (1e-9, 1e-4, 0.005, math.inf):
        monkeypatch.setattr(budget_module, "SLICE_SECONDS", seconds if seconds < math.inf else 1e3)
        agent = agents.make(name, threads=threads, seed=3, **budget)
        result = agent.search(lane(10))
        results.append((result.visits.tolist(), result.values.tolist(), result.steps, agent.stream.tolist()))
    assert all(str(result) == str(results[0]) for result in results)
