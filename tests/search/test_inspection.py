"""Looking at search trees: walked, as data, drawn, and their principal variation."""

import json
import pickle
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from threading import Thread
from xml.etree import ElementTree

import numpy as np
import pytest

from agents.inspection.search_tree import SearchTree
from agents.inspection.showing import search_data
from agents.mcts import MCTS
from agents.search.graft import _graft
from agents.search.records import compiled
from agents.search.tree import NODE, ROOT, new_tree
from mcts_envs.core.kernel import row
from tests.search.trees import BOTH_KINDS, SEARCHES, Builder, at_once, in_turns, searched, walk, whoever_is_next
from tests.toys import Stakes, TicTacToe, Tron, stakes, tic_tac_toe, tron


class TestWalking:
    @BOTH_KINDS
    def test_by_hand(self, objects):
        tree = in_turns(objects)
        root = tree.root
        assert (root.visits, root.players, root.parent, root.action) == (20, (0,), None, None)
        assert [(edge.action, edge.name, edge.visits, edge.value) for edge in root.edges] == [
            (4, "1,1", 12, 0.5),
            (0, "0,0", 7, 0.25),
            (8, "2,2", 1, -1.0),
        ]
        assert root.values == {0: 0.3375}
        best = root.edges[0]
        assert best.children == best.outcomes
        assert [node.visits for node in best.children] == [8, 4]
        assert {node.parent for node in best.children} == {root}
        assert {node.action for node in best.children} == {4}
        assert repr(tree) == "SearchTree(tic_tac_toe: 20 visits, 8 nodes)"
        assert repr(root) == "Node(20 visits, player 0 to choose, 3 edges)"
        assert repr(root.edges[2]) == "Edge(player 0, action 8: 2,2, 1 visit, -1)"

    def test_at_once(self):
        root = at_once().root
        assert root.players == (0, 1)
        assert [(edge.player, edge.action, edge.visits) for edge in root.edges] == [
            (0, 1, 4), (0, 0, 2), (1, 2, 5), (1, 3, 1)
        ]  # fmt: skip
        assert [(joint.action, joint.visits, len(joint.outcomes)) for joint in root.joint_actions] == [
            ((1, 2), 3, 2), ((0, 2), 2, 1), ((1, 3), 1, 1)
        ]  # fmt: skip
        assert [node.action for node in root.edges[0].children] == [(1, 2), (1, 2), (1, 3)]
        assert root.edges[0].outcomes == ()

    @pytest.mark.parametrize(("make", "loop"), SEARCHES)
    def test_visits_add_up(self, make, loop):
        result = searched(make, loop)
        nodes = list(walk(result.tree.root))
        assert len(nodes) == len(set(nodes)) == len(result.tree) > 100
        assert nodes[0].visits == 400
        for node in nodes:
            chosen = sum(child.visits for child in node.children)
            assert chosen == node.visits if node.id == ROOT else chosen <= node.visits
            for player in node.players:
                done = sum(edge.visits for edge in node.edges if edge.player == player)
                assert done == chosen if make is not Stakes else done <= chosen
            for edge in node.edges:
                assert edge.visits == sum(child.visits for child in edge.children) > 0
                assert all(child.parent == node for child in edge.children)
                assert loop == "closed" or make is Tron or len(edge.children) == 1
            for joint in node.joint_actions:
                assert all(child.action == joint.action for child in joint.outcomes)
        for edge in nodes[0].edges:
            if edge.player == 0:
                assert edge.visits == result.visits[edge.action]
                assert edge.value == pytest.approx(result.values[edge.action])

    def test_a_full_tree(self):
        tree = searched(Tron, "open", max_nodes=20).tree
        assert len(tree) <= 21
        assert sum(joint.visits for joint in tree.root.joint_actions) <= 400
        assert tree.to_text(depth=10)
        assert tree.to_dot(depth=10, min_visits=1, breadth=None)
        assert tree.principal_variation()

    def test_pickling(self):
        trees, game = searched(Stakes, "closed", threads=2).tree.trees, replace(stakes(), picture=None, text=None)
        tree = SearchTree(trees, game)
        assert pickle.loads(pickle.dumps(tree)).to_text() == tree.to_text()
        assert list(map(repr, pickle.loads(pickle.dumps(tree.root)).edges)) == list(map(repr, tree.root.edges))


def statistics(node, path=()):
    """Count visits and returns of every edge, and visits of every node, by the way that leads there."""
    source = node._source
    found = Counter({path: node.visits})
    for edge in node.edges:
        found[path, edge.player, edge.action] += edge.visits
        found[path, edge.player, edge.action, "value"] += edge.visits * edge.value
    for child in node.children:
        found.update(statistics(child, (*path, (child.action, int(row(source.tree.nodes, child.id, NODE).key)))))
    return found


class TestThreads:
    @pytest.mark.parametrize(("make", "loop"), SEARCHES)
    def test_merged_trees_are_sums(self, make, loop):
        result = searched(make, loop, threads=2)
        one, two = (SearchTree([tree], result.tree.game) for tree in result.tree.trees)
        merged = result.tree.root
        both, each = statistics(merged), (statistics(one.root), statistics(two.root))
        ways = set(both) | set(each[0]) | set(each[1])
        assert [both[way] for way in ways] == pytest.approx([each[0][way] + each[1][way] for way in ways], abs=1e-9)
        assert merged.visits == 400
        assert max(len(one), len(two)) < len(result.tree) < len(one) + len(two)
        mine = {edge.action: edge.visits for edge in merged.edges if edge.player == 0}
        assert mine == {action: visits for action, visits in enumerate(result.visits) if visits}

    def test_trees_of_objects(self):
        tree = in_turns(objects=True).trees[0]
        doubled = SearchTree([tree, tree], tic_tac_toe())
        assert doubled.root.visits == 40
        assert [edge.visits for edge in doubled.root.edges] == [24, 14, 2]
        assert len(doubled) == 8

    @pytest.mark.parametrize(("make", "loop"), SEARCHES)
    def test_what_a_search_under_way_adds_is_left_out(self, make, loop):
        tree = searched(make, loop).tree.trees[0]
        maps = [np.full(size + 500, 77, np.int32) for size in (40, 50, tree.players)]
        known = [each[: len(each) - 500] for each in maps]
        for each in known:
            each[:] = 0
        merged = new_tree(tree.players, 1000, edges_each=int(tree.count.edges_each))
        _graft(compiled(tree), ROOT, compiled(merged), *known)
        assert all((each[-500:] == 77).all() for each in maps)
        assert 10 < merged.count.nodes <= 40
        whole, part = (
            {(edge.player, edge.action, edge.visits) for edge in SearchTree([each], make().game).root.edges}
            for each in (tree, merged)
        )
        assert part
        assert part <= whole

    def test_looked_at_while_it_is_searched(self):
        env = TicTacToe()
        env.reset(seed=0)
        search = MCTS(threads=2, loop="closed").start(env).run(simulations=100)
        thread = Thread(target=search.run, kwargs={"simulations": 100_000})
        thread.start()
        while thread.is_alive():
            assert len(search.result().tree) > 0
        thread.join()


class TestJson:
    @pytest.mark.parametrize(("make", "loop"), SEARCHES)
    def test_round_trip(self, make, loop):
        tree = searched(make, loop).tree
        data = tree.to_json(depth=2)
        assert json.loads(json.dumps(data, allow_nan=False)) == data
        assert set(data) == {"visits", "choices"}
        for choice in data["choices"]:
            assert set(choice) == {"players", "visits", "value", "tried", "actions", "omitted"}
            assert choice["visits"] == sum(action["visits"] for action in choice["actions"]) == 400
            assert choice["tried"] == len(choice["actions"])
            for action in choice["actions"]:
                assert set(action) == {"action", "name", "visits", "value", "outcomes", "omitted"}

    def test_limits(self):
        tree = searched(Stakes, "closed").tree

        def depth(node):
            below = [depth(o) for c in node["choices"] for a in c["actions"] for o in a["outcomes"]]
            return max(below, default=0) + any(c["actions"] for c in node["choices"])

        assert [depth(tree.to_json(depth=d)) for d in (1, 2, 3)] == [1, 2, 3]
        cut = tree.to_json(min_visits=20, breadth=2)["choices"][0]
        assert cut["omitted"] == 1
        assert len(cut["actions"]) == 2
        assert min(o["visits"] for a in cut["actions"] for o in a["outcomes"]) >= 20

    def test_long_lines(self):
        build, node = Builder(1, 50), ROOT
        build.tree = new_tree(1, 150)
        for _ in range(150):
            node = build.outcome(node, {0: build.edge(node, 0, 0, 1, 1.0)}, 1)
        tree = SearchTree([build.tree], tic_tac_toe())
        assert tree.principal_variation() == [0] * 150
        assert len(tree.to_text(depth=100).splitlines()) == 102
        assert json.dumps(tree.to_json(depth=100)).count('"action"') == 100
        assert tree.to_dot(depth=100, breadth=None).count("->") == 100


QUOTED = r'"(?:[^"\\]|\\.)*"'
ATTRIBUTES = rf"\[\w+=(?:{QUOTED}|[\w.]+)(?:, \w+=(?:{QUOTED}|[\w.]+))*\]"


def parsed(dot):
    """Return the attributes of the nodes of a drawing, and its arrows; fail if it is not well-formed."""
    first, *lines, last = dot.splitlines()
    assert (first, last) == ("digraph search {", "}")
    nodes, arrows = {}, []
    for line in lines:
        match = re.fullmatch(rf"  (?:(\w+)|(\w+) -> (\w+)) ({ATTRIBUTES});|  rankdir=LR;", line)
        assert match, line
        node, start, end, attributes = match.groups()
        if node:
            assert node not in nodes
            nodes[node] = attributes
        elif start:
            arrows.append((start, end))
    defaults = nodes.pop("node"), nodes.pop("edge")
    assert all("fontname" in default for default in defaults)
    return nodes, arrows


class TestDot:
    @pytest.mark.parametrize(("make", "loop"), SEARCHES)
    def test_it_is_a_tree(self, make, loop, tmp_path):
        tree = searched(make, loop).tree
        dot = tree.to_dot()
        nodes, arrows = parsed(dot)
        assert 10 < len(nodes) < 200
        assert sorted(end for _, end in arrows) == sorted(set(nodes) - {"n0"})
        assert {start for start, _ in arrows} <= set(nodes)
        if shutil.which("dot"):
            subprocess.run(["dot", "-Tsvg", "-o", tmp_path / "tree.svg"], input=dot, text=True, check=True)

    def test_by_hand(self):
        nodes, arrows = parsed(in_turns().to_dot())
        assert nodes["n0"] == r'[label="20 visits\nplayer 0: 0.3375"]'
        assert len(arrows) == len(nodes) - 1 == 3 + 2 + 4
        assert sum("shape=point" in attributes for attributes in nodes.values()) == 2
        assert r'n0 -> n1 [label="1,1\n12 visits: 0.5", penwidth=3.20];' in in_turns().to_dot()
        together, _ = parsed(at_once().to_dot())
        assert sum("shape=box" in attributes for attributes in together.values()) == 4
        assert "player 2: 1" in whoever_is_next().to_dot()

    def test_what_is_left_out_is_said(self):
        nodes, _ = parsed(in_turns().to_dot(breadth=1))
        assert [re.findall(r"\d+ more", attributes) for attributes in nodes.values() if "more" in attributes] == [
            ["1 more"], ["1 more"], ["2 more"]
        ]  # fmt: skip

    def test_names_are_escaped(self, tmp_path):
        game = replace(tic_tac_toe(), action_name=lambda action: f'"\\N" & [<{action}>]; }}\n-> ä')
        dot = SearchTree(in_turns().trees, game).to_dot()
        parsed(dot)
        assert r'"\"\\N\" &amp; [<4>]; } -> ä\n12 visits: 0.5"' in dot
        if shutil.which("dot"):
            subprocess.run(["dot", "-Tsvg", "-o", tmp_path / "tree.svg"], input=dot, text=True, check=True)


class TestPrincipalVariation:
    @BOTH_KINDS
    def test_by_hand(self, objects):
        assert in_turns(objects).principal_variation() == [4, 2]
        assert at_once(objects).principal_variation() == [(1, 2), (0, 3)]
        assert whoever_is_next(objects).principal_variation() == [2, 1]

    def test_ties(self):
        build = Builder(1, 9)
        for action, value in ((7, 0.1), (3, 0.5), (5, 0.5), (1, 0.2)):
            build.edge(ROOT, 0, action, 2, value)
        build.edge(ROOT, 0, 0, 1, 1.0)
        tree = SearchTree([build.tree], tic_tac_toe())
        assert [edge.action for edge in tree.root.edges] == [3, 5, 1, 7, 0]
        assert tree.principal_variation() == [3]

    def test_best_actions_that_were_never_done_together_end_it(self):
        build = Builder(2, 6, simultaneous=True)
        mine = [build.edge(ROOT, 0, 0, 4, 0.0), build.edge(ROOT, 0, 1, 2, 0.0)]
        theirs = [build.edge(ROOT, 1, 0, 2, 0.0), build.edge(ROOT, 1, 1, 4, 0.0)]
        build.outcome(ROOT, {0: mine[0], 1: theirs[0]}, 4)
        build.outcome(ROOT, {0: mine[1], 1: theirs[1]}, 2)
        assert SearchTree([build.tree], tron()).principal_variation() == [(0, 1)]

    @pytest.mark.parametrize(("make", "loop"), SEARCHES)
    def test_of_searches(self, make, loop):
        result = searched(make, loop)
        line = result.principal_variation
        assert len(line) > 2
        first = line[0][0] if make is Tron else line[0]
        assert result.visits[first] == result.visits.max()
        node = result.tree.root
        for action in line[:-1]:
            node = next(child for child in node.children if child.action == action)
        if make is TicTacToe:  # elsewhere an action may lead to several nodes
            assert not any(child.edges for child in node.children if child.action == line[-1])

    @pytest.mark.parametrize("env", [TicTacToe(), Tron()])
    def test_of_a_result_it_begins_with_what_is_recommended(self, env):
        env.reset(seed=1)
        result = MCTS(simulations=60, recommend=lambda visits, *_: np.argmin(visits + 99 * (visits == 0))).search(env)
        assert result.visits[result.action] < result.visits.max()
        assert np.ravel(result.principal_variation[0])[0] == result.action
        assert search_data(result)["line"][0]["action"] == result.action


@pytest.mark.parametrize(("env", "loop"), [(Stakes, "closed"), (TicTacToe, "open"), (Tron, "open")])
def test_pictures_of_trees_show_what_their_text_does(env, loop):
    env = env()
    env.reset(seed=1)
    tree = MCTS(simulations=200, loop=loop).search(env).tree
    drawn = ElementTree.fromstring(tree._repr_svg_())
    words = [each.text for each in drawn if each.tag.endswith("text")]
    assert words[:2] == ["root", "200 visits"]
    first = tree.root.edges[0]
    assert any(word.endswith(first.name) for word in words)
    assert any(word.startswith(f"{first.visits} visits, ") for word in words)
    assert ("outcome 1" in words) == (loop == "closed")
    assert tree.to_picture(depth=1).to_rgb(8).ndim == 3
