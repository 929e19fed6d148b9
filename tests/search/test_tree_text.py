"""Search trees and results of searches as text."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import agents
from agents.inspection.search_tree import SearchTree
from agents.mcts import MCTS
from agents.search.tree import ROOT, new_tree
from tests.search.trees import BOTH_KINDS, Builder, at_once, in_turns, whoever_is_next
from tests.toys import Stakes, TicTacToe, stakes, tic_tac_toe

IN_TURNS = """\
tic_tac_toe      visits  player   value  → player   value     actions
root                 20                         0   0.338           3
├─ 1,1               12       0   0.500                    2 outcomes
│  ├─ outcome 1       8                         1  -0.429           2
│  │  ├─ 0,2          4       1  -0.750
│  │  └─ 0,1          3       1   0.000
│  └─ outcome 2       4                         1   0.333           1
│     └─ 1,0          3       1   0.333
├─ 0,0                7       0   0.250         1  -0.125           1
│  └─ 1,2             6       1  -0.125
└─ 2,2                1       0  -1.000"""

AT_ONCE = """\
tron                      visits  player   value  → player          value     actions
root                           6                      0, 1  0.500, -0.500        2, 2
├─ player 0                    6
│  ├─ 1                        4       0   0.500
│  └─ 0                        2       0   0.500
├─ player 1                    6
│  ├─ 2                        5       1  -0.500
│  └─ 3                        1       1  -0.500
└─ players 0, 1 together       6
   ├─ 1 + 2                    3                                           2 outcomes
   │  ├─ outcome 1             2                      0, 1  1.000, -1.000        1, 1
   │  │  ├─ player 0           1
   │  │  │  └─ 0               1       0   1.000
   │  │  └─ player 1           1
   │  │     └─ 3               1       1  -1.000
   │  └─ outcome 2             1
   ├─ 0 + 2                    2
   └─ 1 + 3                    1"""

WHOEVER_IS_NEXT = """\
stakes          visits  player   value  → player           value  actions
root                 9                         0          0.0000        1
└─ 2                 9       0  0.0000      1, 2  0.5000, 0.2500     1, 1
   ├─ player 1       3
   │  └─ 0           3       1  0.5000
   └─ player 2       5
      └─ 1           5       2  0.2500"""

BROAD_BY_ONE = """\
tic_tac_toe          visits  player    value  → player    value     actions
root                     20                          0   0.3375           3
├─ 1,1                   12       0   0.5000                     2 outcomes
│  ├─ outcome 1           8                          1  -0.4286           2
│  │  ├─ 0,2              4       1  -0.7500
│  │  └─ ... 1 more       3
│  └─ ... 1 more          4
└─ ... 2 more             8"""

SEVEN_VISITS = """\
tic_tac_toe          visits  player   value  → player    value     actions
root                     20                         0   0.3375           3
├─ 1,1                   12       0  0.5000                     2 outcomes
│  ├─ outcome 1           8                         1  -0.4286           2
│  │  └─ ... 2 more       7
│  └─ ... 1 more          4
├─ 0,0                    7       0  0.2500         1  -0.1250           1
│  └─ ... 1 more          6
└─ ... 1 more             1"""


class TestText:
    @BOTH_KINDS
    @pytest.mark.parametrize(
        ("build", "expected"),
        [(in_turns, IN_TURNS), (at_once, AT_ONCE), (whoever_is_next, WHOEVER_IS_NEXT)],
        ids=["in turns", "at once", "whoever is next"],
    )
    def test_by_hand(self, build, expected, objects):
        assert build(objects).to_text() == expected

    def test_depth_counts_decisions(self):
        lines = in_turns().to_text(depth=1).splitlines()
        assert [line.split()[1] for line in lines[2:]] == ["1,1", "0,0", "2,2"]
        assert lines[2].endswith("2 outcomes")
        assert in_turns().to_text(depth=100) == IN_TURNS

    def test_what_is_left_out_is_said(self):
        assert in_turns().to_text(breadth=1) == BROAD_BY_ONE
        assert in_turns().to_text(min_visits=7) == SEVEN_VISITS

    def test_lines_are_cut_to_a_width(self):
        whole = IN_TURNS.splitlines()
        assert max(map(len, whole)) == 69
        assert in_turns().to_text(width=69) == IN_TURNS
        assert in_turns().to_text(width=66).splitlines()[3] == whole[3].replace("outcome 1", "outco…")
        for width in (20, 40, 64, 68):
            lines = in_turns().to_text(width=width).splitlines()
            assert max(map(len, lines)) <= width
            assert lines[0].startswith("tic_tac_toe")
            assert lines[8].split()[1:3] == ["0,0", "7"]

    def test_one_player_needs_no_numbers(self):
        build = Builder(1, 3)
        build.outcome(ROOT, {0: build.edge(ROOT, 0, 1, 3, -199.96)}, 3)
        game = replace(tic_tac_toe(), players=1, teams=(), action_name=lambda action: f"walk\n to  {action}")
        assert SearchTree([build.tree], game).to_text().splitlines() == [
            "tic_tac_toe   visits   value  → value  actions",
            "root               3           -200.0        1",
            "└─ walk to 1       3  -200.0",
        ]

    def test_an_empty_tree(self):
        tree = SearchTree([new_tree(2, 3)], tic_tac_toe())
        assert tree.to_text().splitlines()[1].split() == ["root", "0"]
        assert tree.to_json() == {"visits": 0, "choices": []}
        assert tree.principal_variation() == []
        assert "0 visits" in tree.to_dot()

    def test_edges_without_a_visit(self):
        build = Builder(1, 1)
        build.edge(ROOT, 0, 1, 0, 0.0)
        tree = SearchTree([build.tree], tic_tac_toe())
        assert math.isnan(tree.root.edges[0].value)
        assert tree.to_text(min_visits=0).splitlines()[2].split()[-3:] == ["0", "0", "-"]
        assert tree.to_json(min_visits=0)["choices"][0]["actions"][0]["value"] is None
        assert tree.principal_variation() == []

    def test_limits_are_checked(self):
        tree = in_turns()
        for call in (tree.to_text, tree.to_json, tree.to_dot):
            with pytest.raises(ValueError, match=r"depth 0 is outside \[1, 100\]"):
                call(depth=0)
            with pytest.raises(ValueError, match="min_visits -1 is outside"):
                call(min_visits=-1)
            with pytest.raises(ValueError, match="breadth 0 is outside"):
                call(breadth=0)
        with pytest.raises(ValueError, match=r"width 5 is outside \[20, 10000\]"):
            tree.to_text(width=5)


# What Python and notebooks show.


@pytest.mark.parametrize("select", ["ucb1", "puct"])
def test_a_result_is_one_line_and_a_table_of_80_columns(select):
    env = Stakes()
    env.reset(seed=1)
    result = MCTS(simulations=300, select=select).search(env)
    assert "\n" not in repr(result)
    assert re.match(
        r"SearchResult\(action=\d \(.+\), visits=\d+, value=.+simulations=300, steps=\d+, sec", repr(result)
    )
    head, *lines = result.table().split("\n")
    assert head.split() == ["action", "visits", "share", "value", *(["prior"] if select == "puct" else [])]
    visits = [int(line.split()[-4 if select == "puct" else -3]) for line in lines]
    assert visits == sorted(result.visits[result.visits > 0], reverse=True)
    (chosen,) = [line for line in lines if line.startswith("> ")]
    assert result.tree.game.action_name(result.action) in chosen
    assert (result.prior is None) == (select == "ucb1")
    assert result.prior is None or result.prior.sum() == pytest.approx(1.0)
    assert result.table(1).split("\n")[-1].startswith("  ... ")
    assert result._repr_html_().count("<tr>") == len(lines) + 1
    with pytest.raises(ValueError, match="top 0"):
        result.table(0)


def test_results_of_other_planners_are_a_line_and_a_table_too():
    env = TicTacToe()
    env.reset(seed=1)
    found = agents.make("alpha_beta", depth=3, margin=None).search(env)
    assert re.fullmatch(r"AlphaBetaResult\(action=\d \(.+\), value=.+, depth=3, simul.+, seconds=.+\)", repr(found))
    head, first, *others = found.table().split("\n")
    assert head.split() == ["action", "ply", "value"]
    assert first.split() == [">", *found.game.action_name(found.action).split(), "1", f"{found.value:.4g}"]
    assert [line.split()[-1] for line in others] == ["2", "3"]
    assert found.table(1).endswith("  ... 2 more")
    evolved = agents.make("rhea", simulations=50).search(env)
    assert re.fullmatch(r"RheaResult\(action=\d \(.+\), value=.+, simulations=50, steps=.+\)", repr(evolved))
    assert evolved.table().split("\n")[1].startswith("> ")
    assert evolved._repr_html_().startswith("<table>")
    with pytest.raises(AttributeError, match=r"'tree': it is not of a tree search, .*'mcts'.* It has action, value"):
        evolved.tree  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'trees'$"):
        evolved.trees  # noqa: B018


@pytest.mark.parametrize("odd", [np.nan, np.inf, -1e200, 1e7])
def test_numbers_that_are_not_finite_or_huge_are_short_in_tables(odd):
    env = Stakes()
    env.reset(seed=1)
    result = MCTS(simulations=300).search(env)
    values = result.values.copy()
    values[np.flatnonzero(result.visits)[0]] = odd
    shown = replace(result, values=values).table()
    assert f"{odd:.4g}" in shown
    assert max(map(len, shown.split("\n"))) <= 80
    others = [line.split()[-1] for line in shown.split("\n")[1:] if f"{odd:.4g}" not in line]
    assert others
    assert all(text in result.table() for text in others)  # with as many decimals as ever


def test_long_names_of_actions_are_cut_in_the_table():
    env = Stakes()
    env.reset(seed=1)
    result = MCTS(simulations=100).search(env)
    result = replace(result, tree=SearchTree(result.tree.trees, replace(stakes(), action_name=lambda action: "x" * 99)))
    assert max(map(len, result.table().split("\n"))) == 80
    assert "…" in result.table()


def test_a_search_under_way_is_one_line():
    env = TicTacToe()
    env.reset(seed=1)
    search = MCTS().start(env)
    assert repr(search.run(simulations=50)).startswith("Search(tic_tac_toe, player 0: simulations=50, seconds=")
    assert repr(env.view()) == "View(tic_tac_toe, player 0)"
    assert len(repr(env.clone_state())) < 80
