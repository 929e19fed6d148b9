"""UCB1 that counts how often an action was legal: by hand, and in a search over information sets."""

import math

import numpy as np
import pytest

from agents import policies
from agents.mcts import MCTS
from agents.search.records import compiled
from agents.search.tree import EDGE, ROOT, find_edge
from mcts_envs.core.kernel import row
from mcts_envs.core.rng import new_stream
from tests.search.offers import offered, store_of
from tests.search.tables import END, table_game, view_of, within_chance

ucb1_available = policies.load("select", "ucb1_available")


@pytest.mark.parametrize("fpu", [None, 0.3])
def test_by_hand(fpu):
    rng = np.random.default_rng(2)
    for _ in range(200):
        visits, means = rng.integers(0, 9, 4), rng.uniform(-1, 1, 4)
        visits[0] += 1
        counts, c = visits + rng.integers(0, 20, 4), rng.uniform(0.1, 2)
        bounds = [
            mean + c * math.sqrt(math.log(count + 1) / n) if n else math.inf if fpu is None else fpu
            for n, mean, count in zip(visits, means, counts, strict=True)
        ]
        store = store_of(ucb1_available, edges=counts[:, None], c=c, fpu=fpu)
        chosen = ucb1_available(compiled(offered(visits, visits * means)), store, new_stream(1))
        assert bounds[chosen] == pytest.approx(max(bounds))
        assert store.per_edge[:, 0].tolist() == (counts + (visits > 0)).tolist()  # who has no visit has no edge


def hidden():
    """Return a game in which player 0 does not know whether player 1 has a second action, which is as good."""
    places = {0: (1, {0: (2, 0.0)}), 1: (1, {0: (3, 0.0)})}
    places |= {2: (2, {0: (END, 0.0), 1: (END, 0.0)}), 3: (2, {0: (END, 0.0)})}
    seen = np.arange(25)[:, None] + np.zeros((1, 2), int)
    seen[1], seen[3, 0] = 0, 2
    return table_game(places, seen=seen)


def test_an_action_counts_the_simulations_in_which_it_is_legal():
    simulations = 2000
    search = MCTS(select="ucb1_available", seed=4).start(view_of(hidden())).run(simulations=simulations)
    (tree,) = search.trees
    node = row(tree.edges, find_edge(tree, ROOT, 0, 0), EDGE).child
    always, sometimes = (find_edge(tree, node, 1, action) for action in (0, 1))
    counts = tree.select.per_edge[:, 0]
    assert simulations - 5 < counts[always] < simulations
    assert within_chance(counts[sometimes], simulations, 0.5)
    # Means are equal, so that both are tried as often where both are legal, but for what counts alone bring.
    assert abs(row(tree.edges, sometimes, EDGE).visits - simulations / 2 * 0.95) < 0.06 * simulations


def test_where_all_is_always_legal_it_is_ucb1_but_for_first_visits():
    arms = {a: [(1 - p, END, 0.0), (p, END, 1.0)] for a, p in enumerate((0.2, 0.5, 0.45))}
    game = table_game({0: (1, arms)}, players=1)
    ours, plain = (
        MCTS(select=name, simulations=3000, seed=1).search(view_of(game)) for name in ("ucb1_available", "ucb1")
    )
    assert np.abs(ours.visits - plain.visits).max() < 300
