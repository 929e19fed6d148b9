"""Compiled searches against interpreted ones: trees are bit-identical for every policy."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from agents import policies
from agents.mcts import MCTS
from agents.search.records import Store
from agents.search.tree import Tree
from mcts_envs.core.defaults import default_advise
from mcts_envs.core.kernel import interpreted
from mcts_envs.core.view import View
from tests.search.lanes import home_of
from tests.toys import Stakes, Tron

ALL_POLICIES = [
    pytest.param(select, simulate, loop, marks=[pytest.mark.slow] if (i + j + 2 * k) % 4 else [])
    for i, select in enumerate(sorted(policies.names("select")))
    for j, simulate in enumerate(sorted(policies.names("simulate")))
    for k, loop in enumerate(("open", "closed"))
]
"""Each selection once in each loop, with all kinds of rollouts in turn; the other combinations are longer checks."""


def assert_equal(results):
    """Check that the trees of two searches are the same to the bit, what policies keep included."""
    for name, compiled, plain in zip(Tree._fields, *(result.tree.trees[0] for result in results), strict=True):
        parts = zip(compiled, plain, strict=True) if isinstance(compiled, Store) else [(compiled, plain)]
        for ours, theirs in parts:
            assert np.array_equal(ours, theirs), name


class TestCompiledEqualsInterpreted:
    @pytest.mark.parametrize(("select", "simulate", "loop"), ALL_POLICIES)
    def test_trees_are_equal(self, select, simulate, loop):
        results = [
            MCTS(simulations=40, select=select, simulate=simulate, loop=loop, discount=0.9, seed=5).search(view)
            for view in self.views(home_of(select))
        ]
        assert_equal(results)

    @pytest.mark.parametrize("backup", sorted(policies.names("backup")))
    @pytest.mark.parametrize("toy", [Tron, Stakes])
    def test_several_players_too(self, toy, backup):
        env = toy()
        env.reset(seed=2)
        results = [MCTS(simulations=60, backup=backup, loop="closed").search(view) for view in self.views(env)]
        assert_equal(results)

    @pytest.mark.parametrize(
        "settings",
        [
            {"opponents": "uniform"},
            {"opponents": "advised", "simulate": "advised", "opponent_model": "drawn"},
            {"opponents": "advised", "simulate": "advised_own", "loop": "closed"},
            {"opponents": "mixed", "opponent_model": "drawn", "loop": "open"},
            {"opponents": "uniform", "information": "full", "relative": True, "horizon": 5},
        ],
    )
    @pytest.mark.parametrize("toy", [Tron, Stakes])
    def test_with_opponents(self, toy, settings):
        env = toy()
        env.reset(seed=2)
        view = env.view()
        game = replace(view.game, variants={"drawn": {"advise": default_advise}})
        results = []
        for each in (game, game.interpreted()):
            variants = {"drawn": {"advise": default_advise if each is game else interpreted(default_advise)}}
            seen = View(replace(each, variants=variants), view.state, view.player)
            results.append(MCTS(simulations=60, **settings).search(seen))
        assert_equal(results)

    def views(self, env):
        view = env.view()
        return view, View(view.game.interpreted(), view.state, view.player)

    def test_everything_runs_without_the_compiler(self):
        code = (
            "import gymnasium as gym, mcts_envs, agents;"
            "env = gym.make('mcts_envs/LaneDefense3x3-v0'); env.reset(seed=3);"
            "r = agents.make('mcts', simulations=60, seed=2).search(env); print(r.visits.tolist(), r.steps);"
            "wall = gym.make('mcts_envs/WallSurvival-v0', board_size=3); wall.reset(seed=3);"
            "print(repr(wall.step(wall.unwrapped.action_masks().argmax())[1:4]));"
            "cart = gym.make('CartPole-v1'); cart.reset(seed=3);"
            "print(agents.make('mcts', simulations=60, seed=2).search(cart).visits.tolist())"
        )
        outputs = [
            subprocess.run(
                [sys.executable, "-W", "ignore", "-c", code],
                capture_output=True,
                text=True,
                check=True,
                env={**__import__("os").environ, "NUMBA_DISABLE_JIT": flag},
            ).stdout
            for flag in ("0", "1")
        ]
        assert outputs[0] == outputs[1]
        assert outputs[0].startswith("[")
