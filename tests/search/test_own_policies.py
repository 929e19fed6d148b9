"""Policies of a user's own, and the parameters of all: declared, given, shown, carried along, refused."""

import copy
import importlib
import math
import pickle
import pydoc
import subprocess
import sys
from functools import partial
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import agents
from agents import policies
from agents.mcts import MCTS
from agents.policies.implicit_minimax import value_leaf
from agents.policies.mean import mean as mean_backup
from agents.policies.noise import no_noise
from agents.policies.parameters import Parameter, parameter_record
from agents.policies.rave import rave
from agents.policies.signatures import BACKUP, NOISE, SELECT, SIMULATE, policy
from agents.policies.ucb1_tuned import add_squares, ucb1_tuned
from agents.spec import parse_agent
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.rng import below, new_stream
from mcts_envs.core.view import View
from tests.search.arms import arms_view, lane
from tests.search.contents import as_lists
from tests.search.offers import offered, selected
from tests.search.tables import END, at_once, chain, table_game, view_of

ROOT = Path(__file__).parents[2]


def test_a_program_that_is_packed_without_sources_is_told_so(monkeypatch, tmp_path):
    monkeypatch.setattr(policies, "__file__", str(tmp_path / "__init__.pyc"))
    with pytest.raises(ImportError, match=r"has no Python files, by which .* PyInstaller by collect_all\('agents'\)"):
        policies.names.__wrapped__("select")


class TestParameters:
    def test_by_default_given_and_none(self):
        usual = {"c": 0.5, "normalize": True, "fpu": None}
        assert MCTS().parameters == usual
        assert MCTS(select="rave").parameters == {**usual, "equivalence": 1000.0}
        assert MCTS(select="rave", equivalence=300, c=None).parameters == {**usual, "equivalence": 300}
        assert MCTS(c=1, fpu=0.25, normalize=False).parameters == {"c": 1, "normalize": False, "fpu": 0.25}
        assert MCTS(simulate="mast", epsilon=0.1).parameters == {**usual, "epsilon": 0.1}

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"select": "rave", "equivalence": -1}, r"equivalence -1.0 is outside \[0"),
            ({"select": "rave", "equivalence": "many"}, "equivalence 'many'"),
            ({"simulate": "mast", "epsilon": 1.5}, r"epsilon 1.5 is outside \[0.0, 1.0\]"),
            ({"normalize": 2}, "normalize 2 is not True or False"),
            ({"select": "rave", "equivalance": 3}, "setting or parameter 'equivalance'; did you mean 'equivalence'"),
            ({"epsilon": 0.1}, "'epsilon' is a parameter of simulate='mast', not of select='ucb1'"),
            ({"history": 0.1}, "'history' is a parameter of select='progressive_history', not of"),
        ],
    )
    def test_what_is_refused(self, settings, message):
        with pytest.raises((ValueError, TypeError), match=message):
            agents.make("mcts", **settings)

    def test_a_name_means_the_same_to_all_policies(self):
        for given, c in (({}, 1.25), ({"c": 0.75}, 0.75)):
            kept = MCTS(select="puct", **given).prepare(at_once(1, 2, 3, 4)).kept
            assert kept["select"].parameters.view(float)[0] == kept["noise"].parameters.view(float)[0] == c

    def test_they_change_the_search(self):
        one, other, usual = (
            MCTS(select="rave", simulations=300, **given).search(lane())
            for given in ({"equivalence": 0.0}, {"equivalence": 1000}, {})
        )
        assert one.visits.tolist() != other.visits.tolist() == usual.visits.tolist()

    def test_they_are_shown_copied_and_pickled(self):
        agent = agents.make("mcts", select="rave", equivalence=300, simulations=20)
        assert repr(agent) == "mcts(simulations=20, select='rave', equivalence=300)"
        for twin in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
            assert (repr(twin), twin.parameters) == (repr(agent), agent.parameters)
            assert (
                twin.search(lane()).visits.tolist()
                == agents.make("mcts", select="rave", equivalence=300, simulations=20).search(lane()).visits.tolist()
            )

    def test_in_presets(self):
        env = lane(10)
        resolved = agents.make("mcts_paper").resolve(env.game)
        assert agents.make("mcts_paper", c=3.0).resolve(env.game).parameters == {**resolved.parameters, "c": 3.0}

    def test_from_the_command_line(self, tmp_path):
        line = [sys.executable, "scripts/compare.py", "LaneDefense3x3-v0", "--episodes", "2", "--workers", "1"]
        line += ["--agents", "mcts:select=rave:equivalence=300:simulations=20", "--out", str(tmp_path / "found")]
        found = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
        assert found.returncode == 0, found.stderr
        assert "equivalence=300" in found.stdout

    @pytest.mark.parametrize("kind", ["select", "noise", "simulate", "backup"])
    def test_documentation_lists_them(self, kind):
        for name in policies.names(kind):
            declared = policies.load(kind, name)
            for parameter in declared.needs.parameters:
                assert f"    {parameter} : " in declared.__doc__
        assert "equivalence : float in [0, 1e+09], default 1000.0. K: the borrowed" in rave.__doc__
        assert "epsilon : float in [0, 1], default 0.4" in pydoc.render_doc(policies.load("simulate", "mast"))

    def test_a_name_that_a_record_has_itself(self):
        with pytest.raises(ValueError, match=r"cannot have a field named 'mean': np\.record has it"):
            parameter_record({"mean": Parameter(0.0, 0.0, 1.0, "")})


class TestNoise:
    """Two players in the same place: without noise they choose alike, always."""

    def edges(self, **settings):
        found = []
        for seed in range(8):
            search = MCTS(select="ucb1_in_order", seed=seed, **settings).start(view_of(at_once(*[(1, 1), (0, 0)] * 2)))
            for _ in range(30):
                before = self.visits(search)
                search.run(simulations=1)
                found.append(self.visits(search) - before)
        return np.array(found)

    def visits(self, search):
        visits = np.zeros((2, 2), int)
        for edge in search.result().tree.root.edges if search.steps else ():
            visits[edge.player, edge.action] = edge.visits
        return visits

    def test_without_it_players_move_in_step(self):
        chosen = self.edges(noise="no_noise")
        assert (chosen[:, 0] == chosen[:, 1]).all()

    def test_with_it_they_do_not(self):
        chosen = self.edges()
        assert (chosen[:, 0] != chosen[:, 1]).any()
        assert np.array_equal(chosen, self.edges(noise="uniform_noise"))

    def test_one_who_chooses_alone_has_none(self):
        given = {"simulations": 300, "seed": 2}
        with_it, without = (MCTS(**given, noise=noise).search(lane()) for noise in ("uniform_noise", "no_noise"))
        assert with_it.visits.tolist() == without.visits.tolist()


@policy(SIMULATE)
def never_first(game, how, work, store, player, k):
    """Choose uniformly, but action 0 only where nothing else is legal."""
    action = work.legal[below(work.stream, k)]
    while action == 0 and k > 1:
        action = work.legal[below(work.stream, k)]
    return int(action)


FAR = parameter_record({"returned": Parameter(0, -1e9, 1e9, "")})


@policy(SIMULATE, parameters={"returned": Parameter(0, -1e9, 1e9, "What it returns.")})
def returning(game, how, work, store, player, k):
    return int(row(store.parameters, 0, FAR).returned)


OWN_FILE = '''
"""A selection of a user's own, in a file of its own: it alternates between the action least often chosen first."""

from agents.policies.parameters import Parameter, parameter_record
from agents.policies.signatures import BACKUP, SELECT, nth, policy
from agents.search.records import step_of_path
from mcts_envs.core.kernel import kernel, row

PARAMETERS = {"weight": Parameter(1.0, 0.0, 10.0, "What a visit counts."), "first": Parameter(False, 0, 1, "Action 0.")}
GIVEN = parameter_record(PARAMETERS)


@kernel(BACKUP)
def count(tree, how, work, path, depth, length):
    """Count the weight of each edge of the path, and all of them for the tree."""
    for t in range(depth):
        for player in range(len(path.via)):
            step = step_of_path(path, t, player)
            if step.edge:
                weight = row(tree.select.parameters, 0, GIVEN).weight
                tree.select.per_edge[step.edge, 0] += weight
                tree.select.per_tree[0] += weight


@policy(SELECT, parameters=PARAMETERS, edge=1, tree=lambda game: 1, update=count)
def least_counted(candidates, store, stream):
    """Take the action that counts least."""
    if row(store.parameters, 0, GIVEN).first:
        return 0
    least, of = 0, 1e9
    for i in range(candidates.k):
        counted = store.per_edge[nth(candidates, i).edge, 0] if nth(candidates, i).edge else 0.0
        if counted < of:
            least, of = i, counted
    return least
'''


@pytest.fixture
def least_counted(tmp_path, monkeypatch):
    (tmp_path / "my_selection.py").write_text(OWN_FILE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("my_selection").least_counted
    del sys.modules["my_selection"]


class TestOwnSelection:
    def test_statistics_and_parameters_of_its_own(self, least_counted):
        result = MCTS(select=least_counted, weight=2.5, simulations=40).search(arms_view(arms=4))
        tree = result.tree.trees[0]
        assert result.visits.tolist() == [10] * 4
        assert sorted(tree.select.per_edge[tree.select.per_edge > 0]) == [25.0] * 4
        assert tree.select.per_tree.tolist() == [100.0]
        assert MCTS(select=least_counted, first=True, simulations=9).search(arms_view(arms=4)).visits[0] == 9
        with pytest.raises(ValueError, match=r"weight 11.0 is outside \[0.0, 10.0\]"):
            MCTS(select=least_counted, weight=11)

    def test_compiled_interpreted_and_in_objects(self, least_counted):
        view, agent = lane(), partial(MCTS, select=least_counted, loop="closed", simulations=60)
        for game in (view.game.interpreted(), as_lists(view.game)):
            ours, theirs = (agent().search(View(each, view.state, 0)) for each in (view.game, game))
            assert ours.visits.tolist() == theirs.visits.tolist()
            assert np.array_equal(ours.values, theirs.values, equal_nan=True)


OWN_EVALUATION = """
from mcts_envs.core.contract import EVALUATE
from mcts_envs.core.kernel import kernel


@kernel(EVALUATE)
def cheerful(state, values):
    values[0] = 0.375
    values[1] = -0.375


def uncompiled(state, values):
    values[:] = 0.375
"""


class TestOwnEvaluation:
    def test_it_is_named_by_its_file(self, tmp_path):
        file = tmp_path / "my_evaluation.py"
        file.write_text(OWN_EVALUATION)
        env = gymnasium.make("mcts_envs/WallSurvival-v0", board_size=5)
        env.reset(seed=1)
        for written in ("mcts:rollout_depth=0:tree_depth=1", "alpha_beta:depth=1", "rhea:length=1"):
            spec = parse_agent(f"{written}:evaluate={file}:cheerful")
            assert spec.policies() == {"evaluate": file}
            result = agents.make(spec.name, **spec.settings, simulations=5).search(env)
            assert 0.375 in (result.values if "mcts" in written else [result.value])
        for name in ("alpha_beta", "rhea"):
            with pytest.raises(TypeError, match="is not compiled; decorate it with @kernel"):
                agents.make(name, evaluate=f"{file}:uncompiled")


class TestOwnRollout:
    def test_action_0_is_never_played(self):
        # Action 1 pays 1 and action 0 nothing, so a rollout that never plays 0 is paid at every step after the first.
        game = table_game({i: (1, {0: (i + 1, 0.0), 1: (i + 1, 1.0)}) for i in range(6)}, players=1)
        result = MCTS(simulate=never_first, tree_depth=1, simulations=50).search(view_of(game))
        assert result.values[:2].tolist() == [5.0, 6.0]
        assert MCTS(tree_depth=1, simulations=50).search(view_of(game)).values[0] < 4.5

    def test_where_nothing_else_is_legal(self):
        assert MCTS(simulate=never_first, simulations=5).search(view_of(chain([1, 2, 4], players=1))).values[0] == 7.0

    @pytest.mark.parametrize("returned", [-1, 4, 10**9, -(10**9)])
    @pytest.mark.parametrize("kind", [lambda game: game, lambda game: game.interpreted(), as_lists])
    def test_an_action_out_of_range_does_no_harm(self, returned, kind):
        view = view_of(chain([1, 2, 4, 8]))
        search = MCTS(simulate=returning, returned=returned).start(View(kind(view.game), view.state, 0))
        with pytest.raises(ValueError, match=r"simulate .*returning.* returned an action outside the 4 of tables"):
            search.run(simulations=10)

    def test_a_legal_one_is_played(self):
        assert MCTS(simulate=returning, simulations=5).search(view_of(chain([1, 2, 4], players=1))).values[0] == 7.0


class TestOldForms:
    """What policies took before is refused, with what they take now."""

    def test_selection(self):
        def old(options, stream):
            return 0

        message = r"old\(options, stream\) is no select policy: that takes \(candidates, store, stream\) now, where nth"
        with pytest.raises(TypeError, match=message):
            policy(SELECT)(old)
        with pytest.raises(TypeError, match=message):
            MCTS(select=kernel(SELECT)(old))

    def test_statistics(self):
        @kernel(BACKUP)
        def update(tree, work, shared, depth, length, column, discount):
            pass

        @policy(SELECT, update=update)
        def first(candidates, store, stream):
            return 0

        with pytest.raises(TypeError, match=r"update\(tree, work, .* is no backup policy: that takes"):
            MCTS(select=first)

    def test_rollout(self):
        with pytest.raises(TypeError, match=r"is no simulate policy: that takes \(game, how, .* it returns one action"):

            @policy(SIMULATE)
            def old(functions, work, shared, depth, limit, discount, stream):
                return 0

    def test_a_rollout_that_is_no_policy(self):
        @kernel(SIMULATE)
        def bare(game, how, work, store, player, k):
            return 0

        with pytest.raises(TypeError, match=r"not in the loop of a rollout; decorate it with @policy\(SIMULATE\)"):
            MCTS(simulate=bare)


class TestUCB1Tuned:
    def test_by_hand(self):
        rng, tuned = np.random.default_rng(4), policies.load("select", "ucb1_tuned")
        for _ in range(300):
            visits, means = rng.integers(1, 30, 4), rng.uniform(-1, 2, 4)
            squares = visits * (means**2 + rng.uniform(0, 1, 4))
            total, low, high, c = visits.sum(), -1.5, rng.uniform(2, 5), rng.uniform(0.1, 2)
            bounds = []
            for n, mean, square in zip(visits, means, squares, strict=True):
                variance = (square / n - mean**2) / (high - low) ** 2 + math.sqrt(2 * math.log(total) / n)
                bounds.append(mean + c * (high - low) * math.sqrt(math.log(total) / n * min(0.25, variance)))
            given = offered(visits, visits * means, low=low, high=high)
            kept = np.column_stack([visits * means, squares])
            chosen = selected(tuned, given, np.zeros(32, np.uint8), edges=kept, c=c)
            assert bounds[chosen] == pytest.approx(max(bounds))

    def test_on_a_bandit(self):
        """Each simulation takes the arm of the greatest bound, by the returns that came before."""
        arms = {a: [(1 - p, END, 0.0), (p, END, 1.0)] for a, p in enumerate((0.2, 0.5, 0.45))}
        search = MCTS(select="ucb1_tuned", seed=3).start(view_of(table_game({0: (1, arms)}, players=1)))
        returns = [[], [], []]
        for _ in range(400):
            before, sums = search.statistics()[0][:3], [sum(each) for each in returns]
            bounds = [self.bound(each, int(before.sum()), returns) for each in returns]
            search.run(simulations=1)
            visits, values = search.statistics()
            (arm,) = np.flatnonzero(visits[:3] - before)
            assert bounds[arm] == pytest.approx(max(bounds))
            returns[arm].append(round(values[arm] * visits[arm] - sums[arm]))
        assert len(returns[0]) < min(len(returns[1]), len(returns[2]))

    def bound(self, own, total, returns):
        if not own:
            return 1e9
        seen = [each for arm in returns for each in arm]
        unit = max(seen) - min(seen) or 1.0
        mean, log = np.mean(own), math.log(total)
        spread = min(0.25, np.var(own) / unit**2 + math.sqrt(2 * log / len(own)))
        return mean + unit * math.sqrt(log / len(own) * spread)


class TestWhatPoliciesKeep:
    def test_a_leaf_that_nothing_would_take_in_is_refused(self):
        with pytest.raises(TypeError, match="leaf is for a select that has an update"):
            policy(SELECT, leaf=value_leaf)(lambda candidates, store, stream: 0)
        with pytest.raises(TypeError, match="certain and redraw are for a select"):
            policy(BACKUP, certain=True)(mean_backup.py_func)

        def seen(game, store):
            """Another form than it has."""

        @policy(SELECT, update=add_squares, leaf=seen)
        def first(candidates, store, stream):
            return 0

        with pytest.raises(TypeError, match=r"seen\(game, store\) is no leaf policy: that takes \(game, work, store\)"):
            MCTS(select=first)

    def test_noise_and_backup_declare_no_update(self):
        with pytest.raises(TypeError, match="is noise, which keeps no statistics; leave out edge, tree and update"):
            policy(NOISE, edge=1)(no_noise.py_func)
        with pytest.raises(TypeError, match="is a backup, which keeps its statistics itself; leave out update"):
            policy(BACKUP, update=add_squares)(mean_backup.py_func)

    def test_noise_that_lifts_a_mean_leaves_ucb1_tuned_a_number(self):
        # Returns from 20 to 30, the first action's mean lifted by 2.2 above the root of the mean of the squares.
        offer = offered([10, 10], [272.0, 200.0], low=20.0, high=30.0)
        kept = [[250.0, 10 * (25.0**2 + 8.0)], [200.0, 10 * 20.0**2]]
        assert selected(ucb1_tuned, offer, new_stream(0), edges=kept) == 0

    def test_noise_does_not_vary_the_variance(self):
        """Else it would depend on how far from 0 the returns of players who choose at once are."""
        here, there = (
            MCTS(select="ucb1_tuned", simulations=500).search(view_of(at_once(far + 3, far - 1, far - 1, far + 1)))
            for far in (0, 1024)
        )
        assert here.visits.tolist() == there.visits.tolist()

    def test_parameters_of_one_search_are_its_own(self):
        game = chain([1.0])
        plan = MCTS(select="rave").prepared(game)
        one, other = plan.new_tree(10), plan.new_tree(10)
        one.select.parameters[:] = 0
        assert other.select.parameters.any()
