"""Searches as they run: grafted trees, reuse between moves, threads, budgets, slices, memory, sequential halving."""

import itertools
import math
import random
import signal
import threading
import time
from collections import Counter
from dataclasses import fields
from functools import cache, partial

import gymnasium as gym
import numpy as np
import pytest
from connect_four import GAME

import agents
from agents import running
from agents import tree as tree_module
from agents.graft import graft
from agents.mcts import MCTS
from agents.policies.signatures import SELECT
from agents.tree import (
    EDGE,
    EDGES,
    MAX_EDGES,
    MAX_NODES,
    NODE,
    NODES,
    PLAYERS,
    ROOT,
    SIMULATIONS,
    STEPS,
    WIDTH,
    enlarge,
)
from mcts_envs.core import contract
from mcts_envs.core.contract import Game, blank, state_dtype
from mcts_envs.core.env import GameEnv
from mcts_envs.core.kernel import kernel, record, row
from mcts_envs.core.multi import GameAECEnv
from mcts_envs.core.rng import seed_stream, uniform
from mcts_envs.core.view import View
from tests.toys import Stakes, TicTacToe, TicTacToeVector, Tron, tic_tac_toe

# Arms: the first pull pays 0.01 for the best arm, later ones the arm's number, and every one luck that has no arm.

ARMS = state_dtype([("arms", "i8"), ("best", "i8"), ("length", "i8"), ("pulls", "i8"), ("luck", "f8")])


@kernel(contract.RESET)
def arms_reset(state, seed):
    seed_stream(state, seed)
    record(state, ARMS).pulls = 0


@kernel(contract.ACTIVE)
def arms_active(state):
    s = record(state, ARMS)
    return 1 if s.pulls < s.length else 0


@kernel(contract.LEGAL)
def arms_legal(state, player, actions):
    s = record(state, ARMS)
    for arm in range(s.arms):
        actions[arm] = arm
    return s.arms


@kernel(contract.STEP)
def arms_step(state, actions, rewards):
    s = record(state, ARMS)
    rewards[0] = 0.0
    if s.pulls < s.length:
        rewards[0] = s.luck * uniform(state)
        if s.pulls > 0:
            rewards[0] += s.luck * actions[0]
        elif actions[0] == s.best:
            rewards[0] += 0.01
        s.pulls += 1


@kernel(contract.STATUS)
def arms_status(state, player):
    s = record(state, ARMS)
    return 0 if s.pulls < s.length else 1


def arms_game(arms=8, best=5, length=1, luck=1.0):
    state = blank(ARMS)
    s = record(state, ARMS)
    s.arms, s.best, s.length, s.luck = arms, best, length, luck
    return Game("arms", 1, arms, state, arms_reset, arms_active, arms_legal, arms_step, arms_status)


def arms_view(**settings):
    return first_view(arms_game(**settings))


def first_view(game, player=0):
    state = game.new_state()
    game.reset(state, np.uint64(0))
    return View(game, state, player)


def lane(size=3):
    env = gym.make(f"mcts_envs/LaneDefense{size}x{size}-v0").unwrapped
    env.reset(seed=1)
    return env.view()


STARTS = {"lane": lane, **{toy.__name__: lambda toy=toy: first_view(toy().game) for toy in (TicTacToe, Tron, Stakes)}}
EVERY_START = pytest.mark.parametrize("start", STARTS)


def contents(tree, start=ROOT):
    """Return what a tree knows of its nodes and edges by the way there: what was done, and what came of it."""
    players, width = int(tree.counters[PLAYERS]), int(tree.counters[WIDTH])
    found = {}

    def look(node, path):
        assert path not in found, "two nodes for one way"
        found[path] = (int(row(tree.nodes, node, NODE).visits),)
        for player in range(players):
            edge = tree.head[node * players + player]
            while edge:
                e = row(tree.edges, edge, EDGE)
                own = tree.own[edge * width : (edge + 1) * width]
                found[path, player, int(e.action)] = (int(e.visits), float(e.sums), float(e.squares), *map(float, own))
                edge = e.next
        child = row(tree.nodes, node, NODE).first
        while child:
            via = [tree.via[child * players + player] for player in range(players)]
            done = tuple(int(row(tree.edges, edge, EDGE).action) if edge else -1 for edge in via)
            c = row(tree.nodes, child, NODE)
            look(int(child), (*path, (done, int(c.key))))
            child = c.sibling

    look(start, ())
    return found


def added(*several):
    total = {}
    for each in several:
        for way, numbers in each.items():
            total[way] = tuple(map(sum, zip(total.get(way, (0,) * len(numbers)), numbers, strict=True)))
    return total


@EVERY_START
@pytest.mark.parametrize("loop", ["open", "closed"])
class TestGraft:
    def trees(self, start, loop, count=1, simulations=400):
        settings = {"select": "rave", "simulate": "mast", "loop": loop, "simulations": simulations}
        for seed in range(count):
            agent, view = MCTS(seed=seed, **settings), STARTS[start]()
            self.plan = agent._plan(view.game)
            yield agent.search(view).tree.trees[0]

    def test_moving_the_root_keeps_all_that_lies_below(self, start, loop):
        (tree,) = self.trees(start, loop)
        visits = tree.nodes.view(NODE)["visits"]
        for node in [*np.argsort(-visits, kind="stable")[1:5], tree.counters[NODES] - 1]:
            expected = contents(tree, node)
            target = enlarge(self.plan.new_tree(400), 400)
            graft(tree, node, target)
            assert contents(target) == expected
            assert target.shared.tolist() == tree.shared.tolist()
            nodes, edges = int(target.counters[NODES]), int(target.counters[EDGES])
            graft(tree, node, target)  # finds everything again
            assert contents(target) == added(expected, expected)
            assert (target.counters[NODES], target.counters[EDGES]) == (nodes, edges)

    def test_merging_adds_up(self, start, loop):
        one, other = self.trees(start, loop, count=2)
        both = []
        for pair in ((one, other), (other, one)):
            target = enlarge(self.plan.new_tree(800), 800)
            for tree in pair:
                graft(tree, ROOT, target)
            both.append(target)
        assert contents(both[0]) == contents(both[1]) == added(contents(one), contents(other))
        for tree in both:
            assert tree.counters[SIMULATIONS] == 800
            assert tree.counters[STEPS] == one.counters[STEPS] + other.counters[STEPS]
            low, high = np.minimum(one.bounds, other.bounds)[::2], np.maximum(one.bounds, other.bounds)[1::2]
            assert (tree.bounds[::2].tolist(), tree.bounds[1::2].tolist()) == (low.tolist(), high.tolist())
            assert tree.shared.tolist() == (one.shared + other.shared).tolist()

    @pytest.mark.parametrize("room", [10, 30, 100])
    def test_what_finds_no_room_is_left_out(self, start, loop, room):
        (tree,) = self.trees(start, loop)
        full, target = contents(tree), enlarge(self.plan.new_tree(room), 400)
        graft(tree, ROOT, target)
        kept = contents(target)
        assert kept.items() <= full.items()
        counters = target.counters
        assert counters[NODES] <= counters[MAX_NODES] <= room + 2
        assert counters[EDGES] <= counters[MAX_EDGES]
        if len(kept) < len(full):
            assert counters[NODES] == counters[MAX_NODES] or counters[EDGES] == counters[MAX_EDGES]


class Lists(Game):
    """A game whose trees are lists of objects."""

    plain_lists = True


def as_lists(game):
    plain = game.interpreted()

    def step(state, actions, rewards):
        paid = np.zeros(len(rewards))
        plain.step(state, np.array(actions), paid)
        rewards[:] = paid.tolist()

    return Lists(**{**{f.name: getattr(plain, f.name) for f in fields(Game)}, "step": step})


def below(tree, *actions):
    """Return the visits of the edges at a node, found by the actions that lead there in a game without chance."""
    edges = Counter()
    for way, numbers in contents(tree).items():
        if len(way) == 3 and isinstance(way[1], int) and tuple(max(done) for done, _ in way[0]) == actions:
            edges[way[2]] += numbers[0]
    return edges


class TestReuse:
    def test_visits_are_kept_and_added_to(self):
        env, agent = TicTacToe(), MCTS(simulations=300, loop="closed", reuse=True)
        env.reset(seed=3)
        first = agent.search(env)
        assert first.visits.sum() == 300
        before = env.position()["board"]
        env.step(first.action)
        (reply,) = [i for i, code in enumerate(env.position()["board"]) if code == 2 and before[i] == 0]
        kept = below(first.tree.trees[0], first.action, reply)
        second = agent.search(env)
        assert kept.total() > 10
        assert second.simulations == 300
        assert second.visits.sum() == 300 + kept.total()
        assert all(second.visits[action] >= visits for action, visits in kept.items())
        assert second.tree.trees[0].counters[SIMULATIONS] == 300

    @pytest.mark.parametrize("forget", ["reset", "reseed", "another game", "not found"])
    def test_forgetting(self, forget):
        env, agent = TicTacToe(), MCTS(simulations=300, loop="closed", reuse=True, seed=4)
        env.reset(seed=3)
        env.step(agent.search(env).action)
        if forget == "another game":
            env = TicTacToe()
            env.reset(seed=3)
            env.step(0)
        if forget == "reset":
            position = env.position()
            env.reset(options={"position": position})
        if forget == "reseed":
            agent.reseed(4)
        if forget == "not found":
            record_board = {"board": [0, 0, 0, 0, 0, 0, 0, 0, 1], "turn": 0}
            env.game.place(env.view().state, record_board)  # the first player's stone alone never comes up in turn
        result = agent.search(env)
        assert result.visits.sum() == 300
        if forget == "reseed":
            fresh = MCTS(simulations=300, loop="closed", reuse=True, seed=4).search(env)
            assert fresh.visits.tolist() == result.visits.tolist()

    def test_refused_in_an_open_loop(self):
        with pytest.raises(ValueError, match="reuse=True needs loop='closed' or 'information_set'"):
            MCTS(reuse=True, loop="open")

    @pytest.mark.parametrize("loop", ["closed", "information_set"])
    def test_one_agent_for_both_players(self, loop):
        env, agent = GameAECEnv(TicTacToe, illegal="raise"), MCTS(simulations=400, loop=loop, reuse=True)
        env.reset(seed=0)
        results, played = [], []
        while not env.terminations[env.agent_selection]:
            results.append(agent.search(env))
            kept = below(results[-3].tree.trees[0], *played[-2:]).total() if len(results) > 2 else 0
            assert results[-1].visits.sum() == 400 + kept
            played.append(results[-1].action)
            env.step(played[-1])
        assert env.rewards == {"player_0": 0.0, "player_1": 0.0}
        assert len(played) == 9

    @pytest.mark.parametrize("threads", [1, 2])
    @pytest.mark.parametrize("game", [GAME, tic_tac_toe()], ids=["connect_four", "tic_tac_toe"])
    def test_whole_games(self, game, threads):
        agent = MCTS(simulations=200, loop="closed", reuse=True, threads=threads, max_nodes=600)
        env, outcomes = GameEnv(game=game, illegal="raise"), []
        for seed in range(4):
            env.reset(seed=seed)
            over = False
            while not over:
                _, _, over, _, info = env.step(agent.act(env))
                if agent.last_result is not None:
                    assert len(agent.last_result.tree) <= 601
            outcomes.append(info["outcome"])
        assert sum(outcomes) >= 3.5  # against a random player

    @pytest.mark.parametrize("make", [TicTacToe, Stakes, Tron])
    def test_trees_of_objects_are_reused_alike(self, make):
        """Compiled, interpreted, and interpreted with trees of objects: the same visits move by move."""
        env, settings = make(), {"simulations": 60, "loop": "closed", "reuse": True, "select": "rave"}
        env.reset(seed=1)
        view = env.view()
        games = view.game, view.game.interpreted(), as_lists(view.game)
        players = [MCTS(**settings) for _ in games]
        for _ in range(3):
            results = [
                agent.search(View(game, view.state, view.player, view.episode))
                for agent, game in zip(players, games, strict=True)
            ]
            ways = [contents(result.tree.trees[0]) for result in results]
            assert ways[0] == ways[1] == ways[2]
            _, _, terminated, truncated, _ = env.step(results[0].action)
            if terminated or truncated:
                break

    def test_the_first_move_of_an_episode_has_a_budget_of_its_own(self):
        env, agent = TicTacToe(), MCTS(simulations=20, first_move={"simulations": 50})
        for seed in (0, 1):
            env.reset(seed=seed)
            assert [agent.search(env).simulations for _ in range(3)] == [50, 20, 20]
        view = env.view()
        assert agent.search(View(view.game, view.state, view.player)).simulations == 20  # no episode is known
        agent.reseed(0)
        assert [agent.search(env).simulations for _ in range(2)] == [50, 20]

    def test_first_moves_on_the_batched_face(self):
        env, agent = TicTacToeVector(num_envs=2), MCTS(simulations=20, first_move={"simulations": 50})
        env.reset(seed=2)
        fresh, begun = [True, True], 0
        for _ in range(30):
            for i in range(2):
                if env.view(i).legal_actions().size:
                    assert agent.search(env.view(i)).simulations == (50 if fresh[i] else 20)
                    begun += fresh[i]
                    fresh[i] = False
            *_, ended, _, _ = env.step(env.action_masks().argmax(axis=1))
            fresh = [before or bool(now) for before, now in zip(fresh, ended, strict=True)]
        assert begun > 8

    @pytest.mark.parametrize("given", [{}, {"seconds": 1}, {"simulations": 0}, 5])
    def test_first_move_is_checked(self, given):
        with pytest.raises((ValueError, TypeError), match=r"first_move|simulations 0 is outside"):
            MCTS(first_move=given)


class TestThreads:
    @pytest.mark.parametrize("threads", [2, 3])
    def test_they_share_the_simulations(self, threads):
        result, again = (MCTS(simulations=1000, threads=threads, seed=5).search(lane()) for _ in range(2))
        shares = [int(tree.counters[SIMULATIONS]) for tree in result.tree.trees]
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
        assert min(int(tree.counters[STEPS]) for tree in result.tree.trees) >= 6000 // threads

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
        assert len(tree.nodes) >= tree.counters[MAX_NODES] * NODE.itemsize
        assert len(tree.edges) >= tree.counters[MAX_EDGES] * EDGE.itemsize
        monkeypatch.undo()
        before = search.result().simulations
        assert search.run(simulations=1000).result().simulations == before + 1000

    def test_threads_that_are_not_waited_for_end_all_the_same(self, monkeypatch):
        class Impatient(running.ThreadPoolExecutor):
            def submit(self, *job):
                future = super().submit(*job)
                future.result = interrupt
                return future

            def shutdown(self, *given, **settings):
                raise KeyboardInterrupt

        def interrupt():
            while not search.steps:
                time.sleep(0.01)
            raise KeyboardInterrupt

        monkeypatch.setattr(running, "ThreadPoolExecutor", Impatient)
        search = MCTS(threads=2).start(lane(10))
        with pytest.raises(KeyboardInterrupt):
            search.run(time_limit=20.0)
        monkeypatch.undo()
        search.run(simulations=10)
        steps = search.steps
        time.sleep(0.1)
        assert search.steps == steps

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
        def faulty(options, stream):
            if options.visits[0] == 3:
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


class TestMemory:
    @pytest.mark.parametrize("threads", [1, 3])
    @pytest.mark.parametrize("budget", [{"simulations": 3000}, {"time_limit": 0.2}, {"max_steps": 60_000}])
    def test_max_nodes_bounds_all_trees_together(self, budget, threads):
        agent = MCTS(max_nodes=100, threads=threads, **budget)
        view = lane()
        for search in (agent.start(view).run(**budget), agent):
            trees = (search.search(view) if search is agent else search.result()).tree.trees
            assert len(trees) == threads
            assert 50 < sum(int(tree.counters[NODES]) - ROOT - 1 for tree in trees) <= 100

    @pytest.mark.parametrize("settings", [{"fpu": 0.5}, {"fpu": 0.9}, {"select": "puct"}, {"select": "rave"}])
    def test_a_full_tree_still_takes_in_every_simulation(self, settings):
        result = MCTS(simulations=2000, max_nodes=8, **settings).search(first_view(GAME))
        assert result.visits.sum() == 2000

    def test_bytes_do_not_depend_on_the_number_of_actions(self):
        sizes = {}
        for arms in (9, 925):
            agent = MCTS(simulations=2000)
            tree = agent.search(arms_view(arms=arms)).tree.trees[0]
            sizes[arms] = sum(array.nbytes for array in tree) - arms * EDGE.itemsize  # kept free for the root
            assert tree.counters[NODES] == arms + ROOT + 1
        assert max(sizes.values()) <= 200 * 2000

    def test_a_search_in_time_takes_what_it_uses(self):
        """Memory for all nodes that a tree may have takes up to half a second to ask for."""
        search = MCTS(loop="closed").start(lane(10))
        (small,) = search.trees
        assert sum(array.nbytes for array in small) < 100_000
        (tree,) = search.run(simulations=3000).trees
        assert sum(array.nbytes for array in tree) < 300 * 2 * (3000 + 12_000)  # and room for a slice

    @pytest.mark.parametrize("kind", [lambda game: game, lambda game: as_lists(game)], ids=["bytes", "objects"])
    @pytest.mark.parametrize("make", [tic_tac_toe, lambda: Tron().game])
    def test_growing_changes_nothing(self, kind, make, monkeypatch):
        found = []
        for room in (1, 10_000):
            monkeypatch.setattr(running, "FIRST_ROOM", room)
            search = MCTS(select="rave", simulate="mast", loop="closed", max_nodes=250).start(first_view(kind(make())))
            for _ in range(40):
                search.run(simulations=10)
            found.append((contents(search.trees[0]), search.statistics()[0].tolist(), search.steps))
        assert found[0] == found[1]
        assert len(search.result().tree) > 200

    def test_what_is_looked_at_follows_a_tree_that_grows(self):
        search = MCTS(loop="closed").start(lane()).run(simulations=10)
        tree = search.result().tree
        root, size = tree.root, len(tree)
        search.run(simulations=5000)
        assert root.visits == 5010
        assert len(tree) > size + 1000
        assert sum(edge.visits for edge in root.edges) == search.result().visits.sum()

    def test_bytes_of_players_who_choose_at_once(self):
        tree = MCTS(simulations=2000).search(first_view(Tron().game)).tree.trees[0]
        assert sum(array.nbytes for array in tree) <= 300 * 2000

    @pytest.mark.parametrize(("tree_depth", "deepest"), [(3, 3), (None, 1000)])
    def test_depth(self, tree_depth, deepest):
        agent = MCTS(simulations=1200, tree_depth=tree_depth, rollout_depth=0)
        tree = agent.search(arms_view(arms=1, length=10**6)).tree.trees[0]
        depth = [0, 0]
        for parent in tree.nodes.view(NODE)["parent"][ROOT + 1 : int(tree.counters[NODES])]:
            depth.append(depth[parent] + 1)
        assert max(depth) == deepest

    def test_simulations_of_an_endless_game_end(self):
        assert MCTS(simulations=2).search(arms_view(length=10**9)).steps == 2 * 10_000


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


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("budget", [{"simulations": 2001}, {"max_steps": 30_001}])
@pytest.mark.parametrize("name", ["mcts", "flat_mc", "halving"])
def test_slices_change_nothing(name, budget, threads, monkeypatch):
    results = []
    for seconds in (1e-9, 1e-4, 0.005, math.inf):
        monkeypatch.setattr(running, "_SLICE_SECONDS", seconds if seconds < math.inf else 1e3)
        agent = agents.make(name, threads=threads, seed=3, **budget)
        result = agent.search(lane(10))
        results.append((result.visits.tolist(), result.values.tolist(), result.steps, agent.stream.tolist()))
    assert all(str(result) == str(results[0]) for result in results)
