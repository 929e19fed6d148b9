"""The code of the radio: what is said, how it is taken, and that it gives nothing away that is not known."""

import numpy as np
import pytest

import agents
from agents.mcts import MCTS
from mcts_envs import check_game
from mcts_envs.core.kernel import record
from mcts_envs.core.view import Episode, View
from mcts_envs.games.bomber_grid.position import cells_of
from mcts_envs.games.bomber_grid.rules import radio
from mcts_envs.games.bomber_grid.rules.layout import DOWN, STATE, WIDTH
from mcts_envs.games.bomber_grid.spec import bomber_grid
from tests.games.bomber_grid.situations import disguise, moves_of, some_states

GAME = bomber_grid(mode="radio", view=2)
REMEMBERING = bomber_grid(mode="radio", view=2, memory=True)


def open_board(game, *cells):
    """Return a state without inner walls and items, in which players 0 to 3 stand on these cells (row, column)."""
    state = game.new_state()
    game.reset(state, np.uint64(1))
    s = record(state, STATE)
    s.rigid[:], s.wood[:], s.items[:] = s.outside, 0, 0
    s.stands[: len(cells)] = [WIDTH * row + column for row, column in cells]
    return state


def with_words(state, player, words):
    """Return the state after a player has said these words, ``8 * first + second``."""
    other = state.copy()
    record(other, STATE).words[player] = divmod(words, 8)
    return other


def drawn(game, state, player, count=60):
    """Return states as a player imagines them, in the variant that listens."""
    states = [state.copy() for _ in range(count)]
    for seed, each in enumerate(states):
        game.variant("radio").determinize(each, player, np.uint64(seed))
    return states


def where(state, player):
    return divmod(int(record(state, STATE).stands[player]), WIDTH)


def test_what_is_said_is_where_the_nearest_enemy_in_sight_stands():
    assert radio.report(open_board(GAME, (5, 5), (0, 0), (5, 6), (10, 10)), 0) == 0  # the one in sight is the mate
    assert radio.report(open_board(GAME, (5, 5), (5, 7), (5, 6), (4, 5)), 0) == 8 * (1 + 4 // 2) + 5 // 2
    assert radio.report(open_board(GAME, (5, 5), (5, 7), (5, 6), (10, 10)), 0) == 8 * (1 + 5 // 2) + 7 // 2
    dead = open_board(GAME, (5, 5), (5, 7), (5, 6), (10, 10))
    record(dead, STATE).alive &= ~0b10
    assert radio.report(dead, 0) == 0


def test_what_is_meant_is_the_block_and_what_is_a_step_away():
    for row in range(WIDTH):
        for column in range(WIDTH):
            mate = (0, 0) if row else (10, 10)
            state = open_board(GAME, (row, column), (row, column), mate)
            meant = cells_of(radio.meant(radio.report(state, 0)))
            assert {(row, column)} <= meant
            around = {(row + down, column + across) for down, across in ((0, 1), (0, -1), (1, 0), (-1, 0))}
            assert {cell for cell in around if min(cell) >= 0 and max(cell) < WIDTH} <= meant
            assert len(meant) <= 12
    no_blocks = [words for words in range(64) if not cells_of(radio.meant(words))]
    assert no_blocks == [words for words in range(64) if words < 8 or words >= 56 or words % 8 > 5]


@pytest.mark.parametrize("game", [GAME, REMEMBERING], ids=["fog", "memory"])
def test_an_enemy_in_the_fog_is_taken_to_stand_where_the_mate_sees_one(game):
    silent = open_board(game, (0, 0), (10, 9), (10, 10), (0, 10))
    told = with_words(silent, 2, 8 * (1 + 10 // 2) + 9 // 2)
    block = cells_of(radio.meant(8 * 6 + 4))
    for state in drawn(game, told, 0):
        assert {where(state, 1), where(state, 3)} & block
        assert len({where(state, player) for player in range(4)}) == 4
    elsewhere = [{where(state, 1), where(state, 3)} & block for state in drawn(game, silent, 0)]
    assert sum(map(bool, elsewhere)) < 30
    shares = np.mean([where(state, 1) in block for state in drawn(game, told, 0)])
    assert 0.2 < shares < 0.9  # it may be either of the two


def test_nobody_is_believed_who_says_what_cannot_be():
    state = open_board(GAME, (5, 5), (10, 10), (0, 0), (0, 10))
    in_sight, no_block, by_the_dead = 8 * (1 + 5 // 2) + 5 // 2, 8 * 7 + 7, 8 * 6 + 5
    for words in (in_sight, no_block):
        for each, other in zip(drawn(GAME, state, 0), drawn(GAME, with_words(state, 2, words), 0), strict=True):
            assert [where(each, player) for player in (1, 3)] == [where(other, player) for player in (1, 3)]
    record(state, STATE).alive &= ~0b100
    for each, other in zip(drawn(GAME, state, 0), drawn(GAME, with_words(state, 2, by_the_dead), 0), strict=True):
        assert where(each, 1) == where(other, 1)


def test_an_enemy_who_is_seen_stays():
    state = with_words(open_board(GAME, (5, 5), (5, 7), (0, 0), (0, 10)), 2, 8 * 5 + 4)
    for each in drawn(GAME, state, 0):
        assert where(each, 1) == (5, 7)
        assert where(each, 3) in cells_of(radio.meant(8 * 5 + 4))


@pytest.mark.parametrize("memory", [False, True])
def test_best_says_what_it_sees(memory):
    game, spoken = bomber_grid(mode="radio", view=4, memory=memory), set()
    for state in some_states(game, 12, seed=3):
        player = int(record(state, STATE).alive).bit_length() - 1
        action = agents.make("best", simulations=40).act(View(game, state, player))
        assert action % 64 == radio.report(state, player)
        assert action in moves_of(game, state, player)
        spoken.add(action % 64)
    assert len(spoken) > 1


def test_words_do_not_tell_what_is_hidden():
    rng, differ = np.random.default_rng(4), 0
    for state in some_states(GAME, 8, seed=3):
        player = int(record(state, STATE).alive).bit_length() - 1
        state = with_words(state, player ^ 2, 8 * int(rng.integers(1, 7)) + int(rng.integers(6)))
        other = disguise(state, player, rng)
        differ += GAME.key(other, -1) != GAME.key(state, -1)
        agent = {"simulations": 60, "horizon": 8, "loop": "open", "model": "radio"}
        first, second = (MCTS(**agent, seed=2).search(View(GAME, each, player)) for each in (state, other))
        assert np.array_equal(first.visits, second.visits)
        assert first.action == second.action
    assert differ > 6


def test_compiled_equals_interpreted():
    state = with_words(open_board(GAME, (0, 0), (10, 9), (10, 10), (0, 10)), 2, 8 * 6 + 4)
    plain = GAME.interpreted()
    for one, other in zip(drawn(GAME, state, 0, 5), drawn(plain, state, 0, 5), strict=True):
        assert one.tolist() == other.tolist()


def test_words_are_shown_to_those_who_hear_them():
    state = open_board(GAME, (5, 5), (5, 6), (0, 0), (0, 10))
    for player in range(4):
        state = with_words(state, player, 8 * 3 + player)
    assert [f"says 3 {player}" in GAME.text(state) for player in range(4)] == [True] * 4
    assert [f"says 3 {player}" in GAME.text(state, viewer=0) for player in range(4)] == [True, False, True, False]
    assert "says" not in GAME.text(with_words(open_board(GAME, (5, 5)), 0, 0))


@pytest.mark.slow
@pytest.mark.parametrize("game", [GAME, REMEMBERING], ids=["fog", "memory"])
def test_the_variant_keeps_the_laws(game):
    check_game(game.variant("radio"))


@pytest.mark.parametrize("game", [GAME, REMEMBERING], ids=["fog", "memory"])
def test_what_is_imagined_looks_as_what_is(game):
    """That words are fixed is in no observation, and in keys only as far as what is legal differs."""
    model, rewards = game.variant("radio"), np.zeros(4)
    state = with_words(open_board(game, (5, 5), (5, 7), (5, 4), (0, 10)), 0, 8 * 2 + 3)
    for imagined in drawn(game, state, 0, 5):
        assert radio.report(imagined, 0)
        assert moves_of(model, imagined, 0) == moves_of(model, state, 0)
        assert game.key(imagined, 0) == game.key(state, 0)
        assert not record(imagined, STATE).words[2].any()
        for _ in range(3):
            for player in range(4):
                seen = View(game, imagined, player).observe()
                assert seen.min() >= 0.0
                assert seen.max() <= 1.0
            made = moves_of(model, imagined, 0)[0]
            assert made % 64 == radio.report(state, 0)
            model.step(imagined, np.array([made, 0, 0, 0]), rewards)
            assert divmod(made % 64, 8) == tuple(record(imagined, STATE).words[0])


def test_advice_goes_with_the_words_that_there_are_to_say():
    state = open_board(GAME, (5, 5), (5, 7), (5, 4), (0, 10))
    model, silent, heard = GAME.variant("radio"), np.zeros(GAME.actions), np.zeros(GAME.actions)
    for each in (state, *drawn(GAME, state, 0, 5)):
        GAME.advise(each, 0, silent)
        model.advise(each, 0, heard)
        said = moves_of(model, each, 0)
        assert said[0] == radio.report(state, 0) > 0
        assert heard[said].tolist() == silent[[64 * move for move in range(6)]].tolist()
        assert np.count_nonzero(heard) == np.count_nonzero(heard[said]) > 0


def test_states_with_the_same_key_have_the_same_words():
    state = open_board(GAME, (5, 5), (5, 7), (5, 4), (0, 10))
    model, rewards = GAME.variant("radio"), np.zeros(4)
    (later,) = drawn(GAME, state, 0, 1)
    model.step(later, np.array([moves_of(model, later, 0)[0], 64 * DOWN, 0, 0]), rewards)
    now = later.copy()
    model.determinize(now, 0, np.uint64(0))
    assert moves_of(model, later, 0) != moves_of(model, now, 0)
    assert GAME.key(later, 0) != GAME.key(now, 0)
    assert GAME.key(now, 0) == model.key(now, 0)


def test_a_search_goes_on_from_the_last_one():
    game = bomber_grid(mode="radio", view=4)
    state, episode = open_board(game, (0, 0), (10, 10), (0, 10), (10, 0)), Episode()
    agent = MCTS(model="radio", opponents="advised", reuse=True, simulations=200, horizon=4)
    first = agent.search(View(game, state, 0, episode))
    game.step(state, np.array([first.action, 0, 0, 0]), np.zeros(4))
    assert agent.search(View(game, state, 0, episode)).visits.sum() > 210
