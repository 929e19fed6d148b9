"""Exp3 and regret matching: probabilities by hand, sums from step to step, and equilibria of matrix games."""

import math

import numpy as np
import pytest

from agents import policies
from agents.mcts import MCTS
from agents.policies.exp3 import CHANCE, DRAWN, GAINS, LAST, RETURNS, SHARES
from agents.policies.signatures import Candidates
from agents.search.records import CANDIDATE, compiled, rows
from agents.search.tree import ROOT, find_edge
from mcts_envs.core.rng import new_stream
from tests.search.offers import store_of
from tests.search.tables import at_once, view_of, within_chance

BOTH = pytest.mark.parametrize("name", ["exp3", "regret_matching"])
LOW, HIGH, GAMMA = -1.0, 3.0, 0.2


def probabilities(name, found):
    """Return how probable actions are after what each drew: ``[(x, p), ...]``, x as returned."""
    scaled = [[((x - LOW) / (HIGH - LOW), p) for x, p in of] for of in found]
    gains, k = np.array([sum(x / p for x, p in of) for of in scaled]), len(found)
    if name == "exp3":
        weights = np.exp(GAMMA * (gains - gains.max()) / k)
    else:
        weights = np.maximum(gains - sum(x for of in scaled for x, _ in of), 0.0)
    shares = weights / weights.sum() if weights.any() else np.full(k, 1 / k)
    return (1 - GAMMA) * shares + GAMMA / k


@BOTH
@pytest.mark.parametrize(
    "found",
    [
        [[(3.0, 0.5), (1.0, 0.3)], [(-1.0, 0.4)], [(2.0, 0.25)]],
        [[(-1.0, 0.5)], [(-1.0, 0.5)]],
        [[], [], [(3.0, 0.1)]],
    ],
)
def test_probabilities_by_hand(name, found):
    policy, k = policies.load("select", name), len(found)
    kept = np.zeros((k + 1, 6))
    for edge, of in enumerate(found, 1):
        kept[edge, GAINS], kept[edge, SHARES] = sum(x / p for x, p in of), sum(1 / p for _, p in of)
        kept[edge, RETURNS], kept[edge, DRAWN] = sum(x for x, _ in of), len(of)
    known = rows(CANDIDATE, [(i, i + 1, 5, 0.0, 0.0) for i in range(k)], False)
    seen = {"low": LOW, "high": HIGH, "player": 0, "depth": 0, "searching": True, "worth": 0.0}
    candidates = compiled(Candidates(k=k, actions=k, rows=known, **seen))
    store, stream, counts = store_of(policy, kept, [0.0], gamma=GAMMA), new_stream(1), np.zeros(k)
    wanted = probabilities(name, found)
    for _ in range(3000):
        chosen = policy(candidates, store, stream)
        counts[chosen] += 1
        assert store.per_edge[chosen + 1, CHANCE] == pytest.approx(wanted[chosen])
    assert all(within_chance(n, 3000, p) for n, p in zip(counts, wanted, strict=True))


@BOTH
def test_sums_from_step_to_step(name):
    search = MCTS(select=name, seed=3).start(view_of(at_once(3.0, -1.0, -1.0, 1.0)))
    search.run(simulations=2)  # in which every action is tried
    edges = [1, 2, 3, 4]
    for _ in range(50):
        before = search.trees[0].select.per_edge[edges].copy()
        search.run(simulations=1)
        after = search.trees[0].select.per_edge[edges]
        drawn = np.flatnonzero(after[:, DRAWN] - before[:, DRAWN])
        assert len(drawn) == 2  # one of each player's
        found = (after - before)[drawn]
        assert (found[:, SHARES] > 1.0).all()
        np.testing.assert_allclose(found[:, GAINS], found[:, RETURNS] * found[:, SHARES])
        assert (after[drawn, LAST] == search.simulations).all()
        assert sum(found[:, RETURNS]) == pytest.approx(0.0)
        assert abs(found[0, RETURNS]) in (1.0, 3.0)


@BOTH
def test_choices_of_a_model_are_not_counted(name):
    """They were not drawn with the p by which returns are weighed: the sums of 1 / p are as many as the decisions."""
    search = MCTS(select=name, opponents="mixed", seed=1).start(view_of(at_once(3.0, -1.0, -1.0, 1.0)))
    search.run(simulations=4000)
    (tree,) = search.trees
    for player, decisions in ((0, 4000), (1, 2000)):
        edges = [find_edge(tree, ROOT, player, action) for action in (0, 1)]
        drawn, shares = tree.select.per_edge[edges][:, [DRAWN, SHARES]].T
        assert drawn.sum() == pytest.approx(decisions, abs=150)
        assert shares == pytest.approx(drawn.sum(), rel=0.2)


@BOTH
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("pays", "share"), [((1, -1, -1, 1), 1 / 2), ((3, -1, -1, 1), 1 / 3)])
def test_equilibria(name, player, pays, share):
    view = view_of(at_once(*map(float, pays)), player)
    result = MCTS(select=name, recommend="mixed", simulations=20_000, seed=1).search(view)
    assert result.visits[0] / result.visits.sum() == pytest.approx(share, abs=0.06)


@BOTH
def test_alone_the_best_arm_is_drawn_most(name):
    view = view_of(at_once(5.0, 5.0, 1.0, 1.0))
    result = MCTS(select=name, simulations=5_000, seed=1).search(view)
    assert result.visits[0] > 0.85 * result.visits.sum()
    assert not math.isnan(result.values[1])
