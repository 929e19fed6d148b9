"""Trees used again: grafted, merged, and found again after a move."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from connect_four import GAME

from agents.budget import Budget
from agents.mcts import MCTS
from agents.search.graft import graft
from agents.search.tree import NODE, RANGE, ROOT, enlarge
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.multi import GameAECEnv
from mcts_envs.core.kernel import record
from mcts_envs.core.view import Episode, View
from tests.search.arms import first_view, lane
from tests.search.contents import as_lists, contents
from tests.search.tables import END, PLACES, TABLES, only_the_viewers, table_game, view_of
from tests.search.test_solved import secret
from tests.toys import Stakes, TicTacToe, TicTacToeVector, Tron, tic_tac_toe

STARTS = {"lane": lane, **{toy.__name__: lambda toy=toy: first_view(toy().game) for toy in (TicTacToe, Tron, Stakes)}}
EVERY_START = pytest.mark.parametrize("start", STARTS)


def added(*several):
    total = {}
    for each in several:
        for way, numbers in each.items():
            total[way] = tuple(map(sum, zip(total.get(way, (0,) * len(numbers)), numbers, strict=True)))
    return total


def kept_for_all(tree):
    """Return what policies keep for the whole tree."""
    return [number for store in tree.stores.values() for number in store.per_tree.tolist()]


@EVERY_START
@pytest.mark.parametrize("loop", ["open", "closed"])
class TestGraft:
    def trees(self, start, loop, count=1, simulations=400):
        settings = {"select": "rave", "simulate": "mast", "loop": loop, "simulations": simulations}
        for seed in range(count):
            agent, view = MCTS(seed=seed, **settings), STARTS[start]()
            self.plan = agent.prepared(view.game)
            yield agent.search(view).tree.trees[0]

    def test_moving_the_root_keeps_all_that_lies_below(self, start, loop):
        (tree,) = self.trees(start, loop)
        visits = tree.nodes.view(NODE)["visits"]
        for node in [*np.argsort(-visits, kind="stable")[1:5], tree.count.nodes - 1]:
            expected = contents(tree, node)
            target = enlarge(self.plan.new_tree(400), 400)
            graft(tree, node, target)
            assert contents(target) == expected
            assert kept_for_all(target) == kept_for_all(tree)
            nodes, edges = target.count.nodes, target.count.edges
            graft(tree, node, target)  # finds everything again
            assert contents(target) == added(expected, expected)
            assert (target.count.nodes, target.count.edges) == (nodes, edges)

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
            assert tree.count.simulations == 800
            assert tree.count.steps == one.count.steps + other.count.steps
            seen, first, second = (each.ranges.view(RANGE) for each in (tree, one, other))
            assert seen["low"].tolist() == np.minimum(first["low"], second["low"]).tolist()
            assert seen["high"].tolist() == np.maximum(first["high"], second["high"]).tolist()
            assert kept_for_all(tree) == [a + b for a, b in zip(kept_for_all(one), kept_for_all(other), strict=True)]

    @pytest.mark.parametrize("room", [10, 30, 100])
    def test_what_finds_no_room_is_left_out(self, start, loop, room):
        (tree,) = self.trees(start, loop)
        full, target = contents(tree), enlarge(self.plan.new_tree(room), 400)
        graft(tree, ROOT, target)
        kept = contents(target)
        assert kept.items() <= full.items()
        count = target.count
        assert count.nodes <= count.node_room <= room + 2
        assert count.edges <= count.edge_room
        if len(kept) < len(full):
            assert count.nodes == count.node_room or count.edges == count.edge_room


def below(tree, *actions):
    """Return the visits of the edges at a node, found by the actions that lead there in a game without chance."""
    edges = Counter()
    for way, numbers in contents(tree).items():
        if len(way) == 3 and isinstance(way[1], int) and tuple(max(done) for done, _ in way[0]) == actions:
            edges[way[2]] += numbers[0]
    return edges


@pytest.mark.parametrize("at_once", [False, True])
def test_what_others_do_unseen_stays_one_node(at_once):
    agent, view = MCTS(simulations=400), secret(0, at_once)
    tree = agent.search(view).tree.trees[0]
    target = enlarge(agent.prepared(view.game).new_tree(400), 400)
    for times in (1, 2):
        graft(tree, ROOT, target)
        assert contents(target) == added(*[contents(tree)] * times)
        assert target.count.nodes == tree.count.nodes


@pytest.mark.parametrize("at_once", [False, True])
def test_a_search_goes_on_in_the_nodes_that_were_grafted(at_once):
    view, agent = secret(0, at_once), MCTS(simulations=400, reuse=True)
    view.episode = Episode()
    nodes = [len(agent.search(view).tree) for _ in range(3)]
    assert nodes == nodes[:1] * 3
    assert len(MCTS(simulations=1200, threads=3).search(view).tree) == nodes[0]


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
        assert second.tree.trees[0].count.simulations == 300

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

    def test_refused_where_values_count_from_the_root(self):
        with pytest.raises(ValueError, match="counts from two roots; leave one of them out"):
            MCTS(reuse=True, relative=True)

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

    @pytest.mark.parametrize("loop", ["closed", "information_set"])
    def test_a_tree_of_before_does_not_tell_what_is_hidden(self, loop):
        """Chance leads to place 1 or 2, which look alike, and one of two bets wins: nobody can know which."""
        bets = {1: (1.0, -1.0), 2: (-1.0, 1.0)}
        places = {at: (1, {0: (END, first), 1: (END, second)}) for at, (first, second) in bets.items()}
        seen = [[0, 0], [1, 1], [1, 1], *([at, at] for at in range(3, PLACES))]
        game = table_game({0: (1, {0: [(0.5, 1, 0.0), (0.5, 2, 0.0)]}), **places}, seen=seen)
        start = view_of(replace(game, determinize=only_the_viewers))
        for seed in range(5):
            played = []
            for at in bets:
                agent, view = MCTS(simulations=50, loop=loop, reuse=True, seed=seed), start.copied()
                view.episode = Episode()
                agent.search(view)
                record(view.state, TABLES).at = at
                played.append(agent.search(view).visits.tolist())
            assert played[0] == played[1]

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

    def test_without_one_a_budget_set_later_holds_from_the_first_move_on(self):
        env, agent = TicTacToe(), MCTS(simulations=20)
        env.reset(seed=1)
        agent.budget = Budget(simulations=30)
        assert [agent.search(env).simulations for _ in range(2)] == [30, 30]

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
