"""What actions of players are called whose action spaces begin with different numbers."""

import agents
from agents.arena import Plan
from agents.inspection.showing import decision
from agents.playing.foreign_table import ForeignTable
from tests.arena.test_paid import HERE, squares


def says():
    """Return the game where the second player chooses, 1 or 2."""
    env = agents.remember(squares())
    env.reset(seed=0)
    env.step(0)
    return env


def test_results_and_trees_call_actions_as_their_player_does():
    env = says()
    result = agents.make("mcts", simulations=40, seed=0).search(env)
    assert result.action == 0
    assert "action=0 (1)" in str(result)
    assert result.table(1).splitlines()[1].split()[:2] == [">", "1"]
    assert {(edge.player, edge.action): edge.name for edge in result.tree.root.edges} == {(1, 0): "1", (1, 1): "2"}
    assert {edge.name for node in result.tree.root.children for edge in node.edges} == {"1", "2", "3"}
    line = agents.make("alpha_beta", depth=2).search(env)
    first, second = (row.replace(">", " ").split()[0] for row in line.table().splitlines()[1:3])
    assert (first, int(second)) == (str(line.action + 1), line.principal_variation[1])
    shown = decision(agents.bridge.view(env), result.action, result)
    assert (shown["name"], [row["name"] for row in shown["search"]["actions"]]) == ("1", ["1", "2"])


def test_people_choose_among_actions_as_their_player_calls_them():
    table = ForeignTable.of(Plan(f"{HERE}:squares", ()), text=True)
    table.play({0: 3})
    assert [option["name"] for option in table.options(1)] == ["1", "2"]
