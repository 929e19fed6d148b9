"""Double progressive widening against answers that are known: where chance has hundreds of outcomes, and where two."""

import numpy as np
import pytest

from agents.mcts import MCTS
from agents.policies.double_progressive_widening import DRAWS, OUTCOMES
from agents.search.running import Search
from agents.search.tree import NODE, ROOT, find_edge
from mcts_envs.core import contract
from mcts_envs.core.contract import Game, blank, state_dtype
from mcts_envs.core.kernel import interpreted, kernel, record
from mcts_envs.core.rng import below, new_stream, seed_stream
from mcts_envs.core.view import View
from tests.search.tables import END, table_game, view_of, within_chance

# Parity: go on and see one of many numbers, or take 0.75. Who has seen a number says whether it is odd, and is paid 1
# if that is right: going on is worth 1, and to who guesses, as rollouts do, 0.5.

NUMBERS = 1000
PARITY = state_dtype([("t", "u1"), ("number", "u2")])
GO_ON, TAKE = 0, 1


@kernel(contract.RESET)
def parity_reset(state, seed):
    seed_stream(state, seed)
    s = record(state, PARITY)
    s.t = s.number = 0


@kernel(contract.ACTIVE)
def parity_active(state):
    return 1 if record(state, PARITY).t < 2 else 0


@kernel(contract.LEGAL)
def parity_legal(state, player, actions):
    actions[0], actions[1] = 0, 1
    return 2


@kernel(contract.STEP)
def parity_step(state, actions, rewards):
    s = record(state, PARITY)
    rewards[0] = 0.0
    if s.t == 0 and actions[0] == GO_ON:
        s.number = below(state, NUMBERS)
    elif s.t == 0:
        rewards[0], s.t = 0.75, 2
        return
    elif s.t == 1:
        rewards[0] = 1.0 if s.number % 2 == actions[0] else 0.0
    s.t += 1


@kernel(contract.STATUS)
def parity_status(state, player):
    return 1 if record(state, PARITY).t > 1 else 0


def parity():
    kernels = {name: globals()[f"parity_{name}"] for name in ("reset", "active", "legal", "step", "status")}
    game = Game("parity", 1, 2, blank(PARITY), **kernels)
    state = game.new_state()
    game.reset(state, np.uint64(0))
    return View(game, state, 0)


def widening(**settings):
    return MCTS(**{"select": "double_progressive_widening", "exponent": 1.0, "c": 1.5, "simulations": 2000, **settings})


def counted(search, action):
    """Return visits of a root action, draws after it, its outcomes, and the visits of their nodes."""
    (tree,) = search.trees
    edge = interpreted(find_edge)(tree, ROOT, 0, action)
    nodes = tree.nodes.view(NODE)[ROOT + 1 : tree.count.nodes]
    kept, visits = tree.select.per_edge[edge], search.statistics()[0][action]
    return int(visits), int(kept[DRAWS]), int(kept[OUTCOMES]), nodes[nodes["parent"] == ROOT]["visits"].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_a_plan_goes_beyond_hundreds_of_outcomes(seed):
    found = widening(seed=seed).search(parity())
    assert found.action == GO_ON
    assert found.values[GO_ON] > 0.85
    plain = widening(seed=seed, select="ucb1", loop="closed", exponent=None).search(parity())
    assert plain.action == TAKE


def test_outcomes_grow_as_a_power_of_visits():
    for exponent, outcomes in ((0.5, 1.0), (0.25, 3.0)):
        search = widening(outcome_exponent=exponent, outcomes=outcomes).start(parity()).run(simulations=3000)
        visits, draws, nodes, _ = counted(search, GO_ON)
        assert visits > 2000
        assert nodes == pytest.approx(outcomes * visits**exponent, abs=1)
        assert nodes <= draws <= nodes + 6  # a number that came twice


def two_outcomes(pays=(0.0, 1.0)):
    """One action, then chance: place 2 in three of ten, place 1 in the others."""
    there = {i: (1, {0: (END, pay)}) for i, pay in enumerate(pays, 1)}
    return view_of(table_game({0: (1, {0: [(0.7, 1, 0.0), (0.3, 2, 0.0)]}), **there}))


def test_with_few_outcomes_the_value_is_exact():
    search = widening().start(two_outcomes()).run(simulations=4000)
    visits, draws, outcomes, each = counted(search, 0)
    assert outcomes == len(each) == 2
    assert draws > visits - 20  # from the ninth visit on, or when the second came, all are new
    assert within_chance(visits * search.statistics()[1][0], visits, 0.3)
    assert sum(each) == visits


def test_outcomes_come_again_as_often_as_they_came():
    """Two draws at most, all alike: of both outcomes, if both came, each has half of the visits."""
    shares = []
    for seed in range(12):
        search = widening(outcomes=1.5, outcome_exponent=0.0, seed=seed).start(two_outcomes()).run(simulations=400)
        visits, draws, outcomes, each = counted(search, 0)
        assert outcomes == len(each) == 2
        shares.append(abs(min(each) / visits - 1 / draws))
    assert max(shares) < 0.1


def test_what_comes_later_is_not_repeated():
    """One outcome of the first action is kept; the chance after it stays open, and no rollout is seen again."""
    places = {0: (1, {0: (1, 0.0)}), 1: (1, {0: [(0.5, END, 0.0), (0.5, END, 1.0)]})}
    for depth in (1, 2):
        search = widening(outcomes=0.0, tree_depth=depth).start(view_of(table_game(places))).run(simulations=2000)
        visits, draws, outcomes, _ = counted(search, 0)
        assert (draws, outcomes) == (1, 1)
        sums = visits * search.statistics()[1][0]
        assert within_chance(sums, visits, 0.5) if depth == 1 else sums in (0.0, 1.0, visits - 1, visits)


def test_steps_of_a_model_have_chance_of_their_own():
    """The other moves twice, by a model, and a coin falls each time: that they differ is worth 1."""
    coin, places = (0.5, 0.5), {0: (1, {0: (1, 0.0)})}
    places[1] = (2, {0: [(p, to, 0.0) for p, to in zip(coin, (2, 3), strict=True)]})
    for place, pays in ((2, (0.0, 1.0)), (3, (1.0, 0.0))):
        places[place] = (2, {0: [(p, END, pay) for p, pay in zip(coin, pays, strict=True)]})
    for opponents in ("uniform", "mixed"):
        found = widening(opponents=opponents).search(view_of(table_game(places)))
        assert within_chance(2000 * found.values[0], 2000, 0.5)


def test_without_a_closed_loop_only_actions_widen():
    for loop in ("open", "information_set"):
        agents = [widening(loop=loop, select=f"{kind}progressive_widening") for kind in ("double_", "")]
        visits = [agent.search(parity()).visits.tolist() for agent in agents]
        assert visits[0] == visits[1]


def test_draws_outlive_a_move():
    """A kept tree makes the draws of before: what they led to is found again."""
    view = two_outcomes()
    first = widening(reuse=True, outcomes=2.0, outcome_exponent=0.0).start(view).run(simulations=50)
    again = Search(first.plan, view, [new_stream(i) for i in (1, 2)], 500, first.trees).run(simulations=50)
    assert counted(again, 0)[1:3] == counted(first, 0)[1:3]
    assert again.trees[0].select.per_tree[0] == first.trees[0].select.per_tree[0] > 0
