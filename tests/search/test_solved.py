"""Whole searches in games small enough to solve: chance, hidden information, opponents, and choices at once."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import mcts_envs
from agents.mcts import MCTS
from agents.planners.determinized import Determinized
from agents.planners.flat import FlatMonteCarlo, OneStep
from agents.planners.halving import SequentialHalving
from agents.search.tree import EDGE, NODE
from mcts_envs.core.contract import default_evaluate
from mcts_envs.core.kernel import record
from mcts_envs.core.view import View
from tests.search.contents import contents
from tests.search.tables import (
    END,
    PLACES,
    TABLES,
    always_first,
    at_once,
    chain,
    only_the_viewers,
    outcomes_of,
    roll,
    second_is_out,
    table_game,
    tables_evaluate,
    view_of,
    within_chance,
)

DEALS = list(itertools.permutations(range(3), 2))


def cards(player, own, other):
    """Two hidden cards of 0, 1, 2: a player passes (0), or bets (1) that the own one is higher: it wins 1 or loses 2.

    Before that it can look at the other card, which costs 1/4 (2), and wait (3), once each.
    """
    places, seen = {}, np.repeat(np.arange(PLACES)[:, None], 2, axis=1)
    for i, (mine, theirs) in enumerate(DEALS):
        for j, (looked, waited) in enumerate(itertools.product((0, 1), repeat=2)):
            place, sign = 4 * i + j, 1 - 2 * player
            moves = {0: (END, 0), 1: (END, sign if mine > theirs else -2 * sign)}
            moves |= {} if looked else {2: (place + 2, -sign / 4)}
            moves |= {} if waited else {3: (place + 1, 0)}
            places[place] = 1 + player, moves
            seen[place, player] = place if looked else 100 + 4 * mine + j
    return view_of(table_game(places, seen=seen), player, at=4 * DEALS.index((own, other)))


def secret(player, at_once):
    """A player takes 0.4 (1), or guesses (0) which of two the other has done unseen, before or at once, for 1 or -1."""
    own, sign, guess = 1 + player, 1 - 2 * player, {END - 2: (0, 1), END - 1: (1, 0)}
    places = {at: (own, {right: (END, sign), wrong: (END, -sign)}) for at, (right, wrong) in guess.items()}
    if at_once:
        pairs = {pair: (END - 2 + pair[1 - player], 0.0) for pair in itertools.product((0, 1), repeat=2)}
        places[0] = 3, {pair: (END, 0.4 * sign) if pair[player] else went for pair, went in pairs.items()}
    else:
        places[0] = own, {0: (1, 0.0), 1: (END, 0.4 * sign)}
        places[1] = 3 - own, {0: (END - 2, 0.0), 1: (END - 1, 0.0)}
    seen = np.repeat(np.arange(PLACES)[:, None], 2, axis=1)
    seen[END - 1, player] = END - 2
    return view_of(table_game(places, seen=seen), player)


class TestHiddenInformation:
    def search(self, view, **settings):
        settings = {"simulations": 5000, "loop": "information_set", "recommend": "max_value", **settings}
        return MCTS(**settings).search(view)

    @pytest.mark.parametrize("player", [0, 1])
    @pytest.mark.parametrize("own", [0, 1, 2])
    @pytest.mark.parametrize("loop", ["information_set", "open", "closed"])
    def test_a_hidden_card_does_not_matter(self, player, own, loop):
        others = [other for other in range(3) if other != own]
        first, second = (self.search(cards(player, own, other), loop=loop, simulations=500) for other in others)
        assert np.array_equal(first.visits, second.visits)
        assert np.array_equal(first.values, second.values, equal_nan=True)

    @pytest.mark.parametrize("player", [0, 1])
    def test_true_values(self, player):
        # With the middle card a blind bet is worth (1 - 2) / 2, and who has looked wins 1 half of the time.
        result = self.search(cards(player, 1, 0))
        assert result.action in (2, 3)
        assert result.values[[0, 2]] == pytest.approx([0.0, 0.25], abs=0.08)
        assert result.values[3] < 0.3
        assert self.search(cards(player, 0, 1)).action == 0
        assert self.search(cards(player, 2, 1)).values[1] == 1.0

    def test_an_open_loop_cannot_use_what_it_looked_at(self):
        assert self.search(cards(0, 1, 0), loop="open").values[2] < -0.2

    def test_a_closed_loop_acts_on_cards_that_it_dealt_itself(self):
        assert self.search(cards(0, 1, 0), loop="closed").values[3] == pytest.approx(0.5, abs=0.08)

    @pytest.mark.parametrize("budget", [{"simulations": 80_000}, {"max_steps": 160_000}])
    def test_trees_of_their_own_believe_that_the_card_will_be_known(self, budget):
        """To look is best (as above), but who knows the card already in each tree sees no use in it, and bets."""
        found = [Determinized(seed=1, samples=40, **budget).search(cards(0, 1, other)) for other in (0, 2)]
        assert np.array_equal(found[0].visits, found[1].visits)
        assert found[0].action in (1, 3)
        assert found[0].visits[2] < 0.05 * found[0].visits.sum()
        assert found[0].values[1] == pytest.approx(-0.5, abs=0.75)
        assert len(found[0].tree.trees) == 40
        spent = {"simulations": found[0].simulations, "max_steps": found[0].steps}
        assert all(0.9 * limit < spent[name] <= 1.01 * limit for name, limit in budget.items())

    @pytest.mark.parametrize("refused", [{"information": "own"}, {"reuse": True}])
    def test_what_trees_of_their_own_cannot_do(self, refused):
        with pytest.raises(TypeError, match="determinized has no setting"):
            Determinized(**refused)
        with pytest.raises(ValueError, match="recommend='lcb' looks at one search"):
            Determinized(recommend="lcb")
        with pytest.raises(TypeError, match="call search"):
            Determinized().start(cards(0, 1, 0))

    @pytest.mark.parametrize("settings", [{}, {"threads": 3}, {"select": "rave"}, {"reuse": True}])
    @pytest.mark.parametrize("at_once", [False, True])
    @pytest.mark.parametrize("player", [0, 1])
    def test_what_others_do_unseen_is_not_known(self, player, at_once, settings):
        """To guess what the other did in secret wins half of the time, and 0.4 are sure."""
        view = secret(player, at_once)
        result = self.search(view, simulations=3000, **settings)
        assert result.action == 1
        assert result.values[0] < 0.4
        assert self.search(view, simulations=3000, loop="closed").values[0] > 0.9

    @pytest.mark.parametrize("at_once", [False, True])
    def test_what_they_do_unseen_tells_no_nodes_apart(self, at_once):
        view = secret(0, at_once)
        result = self.search(view, simulations=500)
        before = result.tree.root if at_once else result.tree.root.edges[-1].children[0]
        guesses = [child for child in before.children if child.edges]
        assert [node.action for node in guesses] == [0 if at_once else None]
        assert guesses[0].visits == sum(edge.visits for edge in guesses[0].edges) + 1
        plain = View(view.game.interpreted(), view.state, 0)
        assert contents(self.search(plain, simulations=500).tree.trees[0]) == contents(result.tree.trees[0])

    @pytest.mark.parametrize(("model", "score"), [(None, 0.25), ("cheat", 0.5)])
    def test_cheating_would_score_more(self, model, score):
        best = [np.nanmax(self.search(cards(0, 1, other), model=model).values) for other in (0, 2)]
        assert np.mean(best) == pytest.approx(score, abs=0.08)


GAMBLE = {
    0: (1, {0: [(0.3, 1, 0.0), (0.7, 2, 0.0)], 1: (END, 0.5)}),
    1: (1, {0: (END, 1.0), 1: (END, -1.0)}),
    2: (1, {0: (END, -1.0), 1: (END, 1.0)}),
}


def solve(places, place=0):
    """Return what each player gets from a place on if everybody, in turn, plays for the best."""
    if place not in places:
        return np.zeros(2)
    who, moves = places[place]
    return max((value_of(places, given) for given in moves.values()), key=lambda value: value[who - 1])


def value_of(places, given):
    return sum(p * (np.array(pays) + solve(places, to)) for p, to, pays in outcomes_of(given))


class TestChance:
    def search(self, places, **settings):
        return MCTS(c=0.5, **settings).search(view_of(table_game(places)))

    def test_a_closed_loop_sees_what_came_of_it(self):
        result = self.search(GAMBLE, simulations=8000, loop="closed")
        assert result.values[:2] == pytest.approx([1.0, 0.5], abs=0.05)
        edge = next(edge for edge in result.tree.root.edges if edge.action == 0)
        assert len(edge.children) == 2
        assert within_chance(min(child.visits for child in edge.children), edge.visits, 0.3)

    def test_an_open_loop_finds_the_best_blind_plan(self):
        result = self.search(GAMBLE, simulations=8000, loop="open")
        assert result.action == 1
        assert -0.4 < result.values[0] < 0.45  # 0.7 - 0.3 at best
        assert all(len(edge.children) == 1 for edge in result.tree.root.edges)

    @pytest.mark.parametrize("seed", range(6))
    def test_small_games_are_solved(self, seed):
        rng, places = np.random.default_rng(seed), {}
        for place in range(10):  # the first player at 0, the second at 1 to 3, the first again at 4 to 9
            below = (1, 4) if place == 0 else (4, 10) if place < 4 else (END, END + 1)
            places[place] = 1 + (0 < place < 4), {}
            for action in range(3):
                p, to, pays = rng.uniform(0.2, 0.8), rng.integers(*below, 2), rng.uniform(-1, 1, 2)
                places[place][1][action] = [(1 - p, to[0], pays[0]), (p, to[1], pays[1])]
        values = [value_of(places, places[0][1][action])[0] for action in range(3)]
        result = self.search(places, simulations=40_000, loop="closed", recommend="max_value")
        assert values[result.action] > max(values) - 0.05
        assert result.values[result.action] == pytest.approx(max(values), abs=0.08)


SECOND_ADVISED = {"advice": (1.0, 3.0, 0.0, 0.0)}
"""The second player takes 1 in three of four games."""


class TestOpponents:
    """Players who follow a policy of their own while one searches: what each action is worth against it."""

    def values(self, game, player=0, **settings):
        settings = {"simulations": 3000, "select": "least_visited", **settings}
        return MCTS(**settings).search(view_of(game, player)).values[:2]

    def matrix(self, **given):
        pays = {(0, 0): 4.0, (0, 1): 0.0, (1, 0): -4.0, (1, 1): 2.0}
        game = table_game({0: (3, {pair: (END, pay) for pair, pay in pays.items()})}, **given)
        return replace(game, variants={"first": {"advise": always_first}})

    @pytest.mark.parametrize("player", [0, 1])
    @pytest.mark.parametrize("loop", ["open", "closed", "information_set"])
    def test_at_the_same_time(self, loop, player):
        game = self.matrix(**SECOND_ADVISED)
        uniform, advised = ([2.0, -1.0], [1.0, 0.5]) if player == 0 else ([0.0, -1.0], [2.0, -1.5])
        assert self.values(game, player, loop=loop, opponents="uniform") == pytest.approx(uniform, abs=0.3)
        assert self.values(game, player, loop=loop, opponents="advised") == pytest.approx(advised, abs=0.3)

    def test_whose_advice_they_follow(self):
        game = self.matrix(**SECOND_ADVISED)
        settings = {"opponents": "advised", "opponent_model": "first"}
        assert self.values(game, **settings).tolist() == [4.0, -4.0]
        # In rollouts, too, the searching player goes by its own advice: 0 in one game of four.
        game = table_game({0: (1, {0: (1, 0.0)}), 1: (3, {(a, b): (END, 10 * a + b) for a in (0, 1) for b in (0, 1)})})
        game = replace(self.with_advice(game), variants={"first": {"advise": always_first}})
        result = MCTS(simulate="advised", tree_depth=1, simulations=4000, **settings).search(view_of(game))
        assert result.values[0] == pytest.approx(7.5, abs=0.6)

    def with_advice(self, game):
        state = game.template.copy()
        record(state, TABLES).advice[:] = (1, 3, 0, 0)
        return replace(game, template=state)

    @pytest.mark.parametrize("loop", ["open", "closed"])
    def test_in_turns(self, loop):
        places = {0: (1, {0: (1, 0.0), 1: (2, 0.0)}), 1: (2, {0: (END, 4.0), 1: (END, 0.0)})}
        places[2] = 2, {0: (END, -4.0), 1: (END, 2.0)}
        game = self.with_advice(table_game(places))
        assert self.values(game, loop=loop, opponents="uniform") == pytest.approx([2.0, -1.0], abs=0.3)
        assert self.values(game, loop=loop, opponents="advised") == pytest.approx([1.0, 0.5], abs=0.3)
        # Of themselves they would choose the best for them.
        first, second = self.values(game, loop=loop, select="ucb1", c=1.0)
        assert first < 0.5
        assert second < -2.0

    @pytest.mark.parametrize("loop", ["open", "closed", "information_set"])
    def test_mixed_ones_follow_the_advice_in_half_of_their_decisions(self, loop):
        places = {0: (1, {0: (1, 0.0), 1: (2, 0.0)}), 1: (2, {0: (END, 4.0), 1: (END, 0.0)})}
        places[2] = 2, {0: (END, -4.0), 1: (END, 2.0)}
        game = replace(table_game(places), variants={"first": {"advise": always_first}})
        given = {"opponents": "mixed", "opponent_model": "first", "loop": loop, "select": "ucb1"}
        # Else they choose what is best for them: 1 after 0, and 0 after 1.
        first, second = self.values(game, **given)
        assert first == pytest.approx(2.0, abs=0.3)
        assert second < -2.0
        assert MCTS(simulations=200, **given).search(view_of(game)).tree.principal_variation() == [0]

    def test_mixed_ones_come_to_the_same_in_slices_of_any_length(self, monkeypatch):
        env = mcts_envs.make_aec("Football1-v0")
        env.reset(seed=2)
        found = set()
        for seconds in (1e-5, 1e-3, 5.0):
            monkeypatch.setattr("agents.budget.SLICE_SECONDS", seconds)
            result = MCTS(simulations=1000, opponents="mixed", loop="open", rollout_depth=2, seed=3).search(env)
            count = result.tree.trees[0].count
            assert count.edges < count.edge_room
            found.add((result.steps, tuple(result.visits)))
        assert len(found) == 1

    def test_choices_of_mixed_ones_tell_no_nodes_apart(self):
        pays = {(a, b): (1, 0.0) for a in (0, 1) for b in (0, 1)}
        game = table_game({0: (3, pays), 1: (3, dict.fromkeys(pays, (END, 1.0)))})
        counts = []
        for opponents in (None, "mixed"):
            tree = MCTS(simulations=200, loop="open", opponents=opponents).search(view_of(game)).tree
            assert tree.to_text(depth=2)
            assert {edge.player for edge in tree.root.edges} == {0, 1}
            counts.append(len(tree.root.children))
        assert counts == [4, 2]

    def test_only_the_searching_player_has_edges(self):
        for player in (0, 1):
            result = MCTS(simulations=200, opponents="uniform").search(view_of(self.matrix(), player))
            assert {edge.player for edge in result.tree.root.edges} == {player}
            assert result.tree.to_text(depth=2)
            assert result.tree.trees[0].edges.view(EDGE)["visits"].sum() == 200

    def test_forced_first_actions(self):
        agents = FlatMonteCarlo, SequentialHalving
        for agent in agents:
            result = agent(simulations=4000, opponents="advised").search(view_of(self.matrix(**SECOND_ADVISED)))
            assert result.values[:2] == pytest.approx([1.0, 0.5], abs=0.3)
            assert result.action == 0
        for opponents in (None, "uniform"):
            result = OneStep(samples=2000, opponents=opponents).search(view_of(self.matrix()))
            assert result.values[:2] == pytest.approx([2.0, -1.0], abs=0.3)


class TestOneStepForMany:
    """It plays as it does for one: what each of two actions is worth decides, and it differs by the setting."""

    def played(self, game, player=0, **settings):
        agent, view = OneStep(samples=4, **settings), view_of(game, player)
        found = agent.act_all(game, view.state[None].copy(), np.array([player]), np.array([5], np.uint64))
        assert found.tolist() == [agent.search(view).action]
        return int(found[0])

    @pytest.mark.parametrize(
        ("settings", "action"),
        [({}, 1), ({"relative": True}, 0), ({"discount": 0.1}, 0), ({"rollout_model": "low"}, 0)],
    )
    def test_as_for_one(self, settings, action):
        """Be paid 1 and end, or go on to what is worth 9, from 10."""
        places = {0: (1, {0: (END, 1.0), 1: (1, 0.0)}), 1: (1, {0: (END, 0.0)})}
        game = table_game(places, worth=np.r_[10.0, [9.0] * 24])
        game = replace(game, variants={"low": {"evaluate": default_evaluate}})
        assert self.played(game, **settings) == action

    def test_who_is_out_is_not_evaluated(self):
        places = {0: (2, {0: (END, (0.0, 0.5)), 1: (1, 0.0)}), 1: (1, {0: (END, 0.0)})}
        assert self.played(table_game(places, worth=-9.0), player=1) == 1
        assert self.played(replace(table_game(places, worth=-9.0), status=second_is_out), player=1) == 0


class TestInformation:
    @pytest.mark.parametrize("loop", ["open", "closed"])
    def test_the_whole_state_is_told(self, loop):
        # The informed player bets on the higher card, and only on that.
        for own, other, action in ((1, 0, 1), (1, 2, 0), (2, 0, 1), (0, 2, 0)):
            view = cards(0, own, other)
            view.game = replace(view.game, determinize=only_the_viewers)
            result = MCTS(simulations=300, loop=loop, information="full", recommend="max_value").search(view)
            assert result.values[action] == max(0.0, result.values[1]) == np.nanmax(result.values)

    def test_relative_evaluation(self):
        game = chain([0.0] * 9, worth=10.0 + np.arange(PLACES) ** 2, players=1)
        view = view_of(game, at=2)
        assert MCTS(simulations=1, horizon=3).search(view).values[0] == 10 + 25
        for settings in ({}, {"rollout_depth": 0, "tree_depth": 3}):
            found = MCTS(simulations=9, horizon=3, relative=True, **settings).search(view).values[0]
            assert found == 25 - 4 if not settings else found < 25 - 4
        discounted = MCTS(simulations=1, horizon=3, relative=True, discount=0.5).search(view)
        assert discounted.values[0] == (25 - 4) / 8

    @pytest.mark.parametrize(("settings", "gain"), [({}, 21), ({"tree_depth": 1}, 21), ({"rollout_depth": 0}, 14.75)])
    def test_relative_evaluation_is_by_the_model_of_rollouts(self, settings, gain):
        variants = {"blind": {"evaluate": default_evaluate}, "seeing": {"evaluate": tables_evaluate}}
        game = replace(chain([0.0] * 9, worth=10.0 + np.arange(PLACES) ** 2, players=1), variants=variants)
        for inside, outside, value in (("blind", "seeing", gain), ("seeing", "blind", 0)):
            models = {"model": inside, "rollout_model": outside}
            agent = MCTS(simulations=4, horizon=3, relative=True, **models, **settings)
            assert agent.search(view_of(game, at=2)).values[0] == value

    def test_who_is_out_of_the_game_is_not_evaluated(self):
        game = replace(chain([1.0, 0.0, 0.0, 0.0], worth=100.0), status=second_is_out)
        view = view_of(game)
        assert MCTS(simulations=1, horizon=2).search(view).values[0] == 101
        _, values, _ = roll(MCTS(simulate="uniform").simulate, game, limit=2)
        assert values == [101.0, -1.0]


class TestSimultaneousChoices:
    def test_both_players_choose_at_the_root(self):
        for player in (0, 1):
            result = MCTS(simulations=400).search(view_of(at_once(1.0, -2.0, 3.0, -4.0), player))
            edges = {(edge.player, edge.action): edge for edge in result.tree.root.edges}
            assert sorted(edges) == [(0, 0), (0, 1), (1, 0), (1, 1)]
            assert edges[0, 0].visits + edges[0, 1].visits == edges[1, 0].visits + edges[1, 1].visits == 400
            assert [edges[player, action].visits for action in (0, 1)] == result.visits[:2].tolist()
            assert [edges[player, action].value for action in (0, 1)] == result.values[:2].tolist()
            (tree,) = result.tree.trees
            assert tree.nodes.view(NODE)["visits"][2:6].sum() == 400
            assert np.count_nonzero(tree.edges.view(EDGE)["child"]) == 2  # of the searching player's actions

    @pytest.mark.parametrize("player", [0, 1])
    def test_dominant_actions_are_found(self, player):
        game = at_once((1, 0), (2, 4), (3, 1), (4, 3))  # action 1 pays either player more, whatever the other does
        result = MCTS(simulations=3000).search(view_of(game, player))
        assert result.action == 1
        assert result.visits[1] > 2700

    def test_prisoners_defect(self):
        result = MCTS(simulations=3000).search(view_of(at_once((3, 3), (0, 5), (5, 0), (1, 1))))
        assert result.action == 1

    def test_nobody_foresees_the_others_choice(self):
        result = MCTS(simulations=4000).search(view_of(at_once(1.0, -1.0, -1.0, 1.0)))
        assert result.visits[:2] / 4000 == pytest.approx([0.5, 0.5], abs=0.1)
        assert result.values[:2] == pytest.approx([0.0, 0.0], abs=0.1)

    def test_mixed_plays_in_proportion(self):
        view = view_of(at_once(3.0, -1.0, -1.0, 1.0))
        results = [MCTS(simulations=60, recommend="mixed", seed=seed).search(view) for seed in range(400)]
        shares = np.array([result.visits[1] / 60 for result in results])
        played = sum(result.action == 1 for result in results)
        assert 0.1 < shares.mean() < 0.9
        assert abs(played - shares.sum()) < 4 * math.sqrt((shares * (1 - shares)).sum())
