"""Leduc hold'em of ``examples/leduc.py``: the game of OpenSpiel, and what a search in it may know."""

from itertools import permutations

import leduc  # examples/leduc.py
import numpy as np
import pytest

import agents
import mcts_envs
from mcts_envs.core.kernel import record
from mcts_envs.core.showing import draws_views, text_of
from mcts_envs.core.view import View

GAME = leduc.GAME


def played(seed, legal_at, step):
    """Play at random; return the cards and the chips of both."""
    random, state, rewards = np.random.default_rng(seed), GAME.new_state(), np.zeros(2)
    GAME.reset(state, np.uint64(seed))
    total, legal = np.zeros(2), np.zeros(3, np.int64)
    while bits := GAME.active(state):
        player = bits - 1
        k = GAME.legal(state, player, legal)
        legal_at(state, player, legal[:k].tolist())
        action = int(random.choice(legal[:k]))
        step(state, action)
        GAME.step(state, np.array([action, action]), rewards)
        total += rewards
    return total


def test_it_keeps_the_laws():
    mcts_envs.check_game("Leduc-v0")


def test_it_is_the_game_of_openspiel():
    pyspiel = pytest.importorskip("pyspiel")
    for seed in range(300):
        theirs = pyspiel.load_game("leduc_poker").new_initial_state()

        def deal(state, theirs=theirs):
            while theirs.is_chance_node():
                at = sum(move.player < 0 for move in theirs.full_history())  # cards that were dealt
                theirs.apply_action(int(record(state, leduc.STATE).deck[at]))

        def legal_at(state, player, legal, theirs=theirs, deal=deal):
            deal(state)
            assert (theirs.current_player(), theirs.legal_actions()) == (player, legal)

        ours = played(seed, legal_at, lambda state, action, theirs=theirs: theirs.apply_action(action))
        assert theirs.is_terminal()
        assert theirs.returns() == ours.tolist()


def test_all_unseen_cards_are_equally_likely():
    state, spare = GAME.new_state(), GAME.new_state()
    GAME.reset(state, np.uint64(5))
    own = int(record(state, leduc.STATE).deck[0])
    counts = np.zeros((2, 6))
    for seed in range(6000):
        spare[:] = state
        GAME.determinize(spare, 0, np.uint64(seed))
        deck = record(spare, leduc.STATE).deck
        assert (deck[0], sorted(deck.tolist())) == (own, list(range(6)))
        counts[0, deck[1]] += 1
        counts[1, deck[2]] += 1
    assert np.abs(np.delete(counts, own, axis=1) / 6000 - 0.2).max() < 4 * (0.16 / 6000) ** 0.5


def test_who_plays_at_a_screen_sees_no_card_of_the_other():
    state = GAME.new_state()
    GAME.reset(state, np.uint64(0))
    record(state, leduc.STATE).deck[:] = [0, 2, 4, 1, 3, 5]
    assert draws_views(GAME)
    assert text_of(GAME, state, viewer=0) == "cards J -, open -, stakes 1 1"
    assert text_of(GAME, state, viewer=1) == "cards - Q, open -, stakes 1 1"
    assert text_of(GAME, state) == "cards J Q, open -, stakes 1 1"


def test_who_is_told_the_truth_knows_whom_to_call():
    """All is raised, and a king is open: who is told calls with a queen against a jack, and folds against a king."""
    actions = {}
    for other in (0, 5):
        state, rewards = GAME.new_state(), np.zeros(2)
        GAME.reset(state, np.uint64(0))
        record(state, leduc.STATE).deck[:] = [2, other, 4, 1, 3, 5 - other]
        for move in (leduc.RAISE, leduc.CALL, leduc.RAISE, leduc.RAISE):
            GAME.step(state, np.array([move, move]), rewards)
        for information in ("full", "own"):
            search = agents.make("mcts", information=information, simulations=1000, seed=1)
            actions[information, other] = search.search(View(GAME, state, 0)).action
    assert (actions["full", 0], actions["full", 5]) == (leduc.CALL, leduc.FOLD)
    assert actions["own", 0] == actions["own", 5]


def worth(cloud, seat, choose=None):
    """Return what a seat gets against a player who chooses uniformly, from states that are likely in parts.

    States that look the same to the seat have one decision: the best there is, or what ``choose(view)`` says of each.
    """
    parts, total, legal = {}, 0.0, np.zeros(3, np.int64)
    for likely, state, paid in cloud:
        if GAME.active(state):
            parts.setdefault(int(GAME.key(state, seat)), []).append((likely, state, paid))
        else:
            total += likely * paid
    for part in parts.values():
        mover = GAME.active(part[0][1]) - 1
        actions = legal[: GAME.legal(part[0][1], mover, legal)].tolist()
        if mover == seat and choose:
            chosen = [choose(View(GAME, state, seat)) for _, state, _ in part]
            total += sum(worth(after(part, chosen, seat, only), seat, choose) for only in {*chosen})
        else:
            found = [worth(after(part, [action] * len(part), seat), seat, choose) for action in actions]
            total += max(found) if mover == seat else sum(found) / len(found)
    return total


def after(part, actions, seat, only=None):
    """Return states after the action for each; of those with one action only, if that is given."""
    cloud, rewards = [], np.zeros(2)
    for (likely, state, paid), action in zip(part, actions, strict=True):
        if only in (None, action):
            following = state.copy()
            GAME.step(following, np.full(2, action), rewards)
            cloud.append((likely, following, paid + rewards[seat]))
    return cloud


def deals():
    cloud = []
    for cards in permutations(range(6), 3):
        state = GAME.new_state()
        GAME.restart(state, 0)
        record(state, leduc.STATE).deck[:] = [*cards, *({*range(6)} - {*cards})]
        cloud.append((1 / 120, state, 0.0))
    return cloud


@pytest.mark.slow
def test_a_fair_search_comes_close_to_the_best_that_can_be_done_blind_and_no_further():
    """Against who chooses uniformly, over all deals: 2.09 chips a hand for who begins, and 2.66 for the other."""
    for seat, best in ((0, 2.0875), (1, 2.65972)):
        assert worth(deals(), seat) == pytest.approx(best, abs=1e-4)
        of = {}
        for information in ("own", "full"):
            settings = {"opponents": "uniform", "simulations": 4000, "information": information, "seed": 1}
            of[information] = worth(deals(), seat, agents.make("mcts", **settings).act)
        assert 0.9 * best < of["own"] <= best
        assert of["full"] > best
