"""Quicker forms of the interpreted search against the search as it is written: trees are bit-identical."""

import numpy as np
import pytest

import agents
from agents import bridge
from agents.bridge.states import ForeignGame
from agents.search import hastened
from tests.bridge.worlds import TAXI, Walk, mcts, playing
from tests.search.contents import contents

pytestmark = pytest.mark.filterwarnings("ignore")


def spiel(name):
    pytest.importorskip("pyspiel")
    env = pytest.importorskip("shimmy").OpenSpielCompatibilityV0(game_name=name)
    env.reset(seed=3)
    return env


def replayed():
    env = agents.remember(spiel("liars_dice"))
    env.reset(seed=3)
    return env


def masked():
    env = bridge.Remember(Walk(first=2, mask=(1, 0)))
    env.reset(seed=0)
    return env


def turns():
    from pettingzoo.classic import tictactoe_v3

    env = tictactoe_v3.env()
    env.reset(seed=0)
    return env


WORLDS = {
    "CartPole": lambda: playing("CartPole-v1", 3),
    "Blackjack": lambda: playing("Blackjack-v1", 3),
    "FrozenLake": lambda: playing("FrozenLake-v1", 3),
    "Taxi": lambda: playing(TAXI, 3),
    "masked": masked,
    "tictactoe": turns,
    "replayed": replayed,
    **{
        name: lambda name=name: spiel(name)
        for name in ("tic_tac_toe", "pig", "backgammon", "matrix_rps", "leduc_poker")
    },
}

SETTINGS = {
    "as it is": {},
    "closed": {"loop": "closed"},
    "short": {"rollout_depth": 3, "horizon": 5, "discount": 0.9},
    "full tree": {"max_nodes": 10},
    "kept for the policy": {"select": "grave"},
    "opponents": {"opponents": "uniform"},
}


def found(make, settings):
    result = mcts(25, seed=5, **settings).search(make())
    tree = result.tree.trees[0]
    return contents(tree), [(each.low, each.high) for each in tree.ranges], result.steps, result.action


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("make", WORLDS.values(), ids=WORLDS)
def test_quicker_forms_build_the_same_tree(make, settings, monkeypatch):
    quick = found(make, settings)
    monkeypatch.setattr(ForeignGame, "hastened", lambda game, simulate: simulate)
    monkeypatch.setattr(hastened, "serves", lambda plan: False)
    assert found(make, settings) == quick


def test_they_are_what_an_agent_uses():
    env = playing("CartPole-v1")
    plan = mcts().prepare(bridge.view(env).game)
    assert plan.search.__globals__["descend"].__module__ == "agents.search.hastened"
    assert (
        mcts(select="puct").prepare(bridge.view(env).game).search.__globals__["descend"].__module__
        == "agents.search.search"
    )
    simulate = object()
    assert plan.rollout_model.hastened(simulate) is not simulate


def test_chance_of_open_spiel_is_drawn_as_numpy_draws_it():
    pytest.importorskip("pyspiel")
    from agents.bridge.shipped.open_spiel import _drawn

    weights = np.random.default_rng(0)
    for n in range(1, 200):
        p = weights.dirichlet(np.ones(n)).tolist() if n % 2 else [1.0 / n] * n
        ours, theirs = np.random.default_rng(n), np.random.default_rng(n)
        assert [_drawn(ours, tuple(p)) for _ in range(5)] == [int(theirs.choice(n, p=p)) for _ in range(5)]
