"""Environments of pgx: played through the API of PettingZoo, copied exactly, dealt anew."""

import subprocess
import sys

import numpy as np
import pytest

import agents
from agents import bridge
from agents.bridge.hidden import ADAPTER, NOTHING
from agents.bridge.mirroring import mirrored
from tests.bridge.worlds import mcts

ODD = 0x9E3779B97F4A7C15


def begun(name, seed=1):
    pytest.importorskip("pgx")
    env = bridge.pgx_environment(name)
    env.reset(seed=seed)
    return env


def test_nothing_of_jax_is_imported_unasked():
    code = "import sys, agents.bridge; agents.bridge.pgx_environment; assert not {'jax', 'pgx'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_who_has_no_pgx_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pgx", None)
    with pytest.raises(ImportError, match="pip install pgx jax"):
        bridge.pgx_environment("no such game")


def test_what_pgx_does_not_have_is_named():
    pytest.importorskip("pgx")
    with pytest.raises(ValueError, match="unknown environment of pgx 'conect_four'; did you mean 'connect_four'"):
        bridge.pgx_environment("conect_four")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["kuhn_poker", "tic_tac_toe"])
def test_pettingzoo_finds_its_api(name, capsys):
    from pettingzoo.test import api_test

    api_test(begun(name), num_cycles=50)


def test_it_is_the_game_of_pgx():
    env, choices = begun("tic_tac_toe"), np.random.default_rng(0)
    step, state = sys.modules["jax"].jit(env.game.step), env.pgx_state
    while not state.terminated:
        assert env.agent_selection == f"player_{state.current_player}"
        seen = env.observe(env.agent_selection)
        assert np.array_equal(seen["observation"], state.observation)
        assert np.array_equal(seen["action_mask"], state.legal_action_mask)
        action = int(choices.choice(np.flatnonzero(state.legal_action_mask)))
        state = step(state, action)
        env.step(action)
    assert all(env.terminations.values())
    assert list(env.rewards.values()) == state.rewards.tolist()
    with pytest.raises(ValueError, match=r"action 9 of player_. is not in 0 to 8"):
        begun("tic_tac_toe").step(9)


@pytest.mark.parametrize("name", ["tic_tac_toe", "kuhn_poker", "leduc_holdem"])
def test_all_laws_of_planning_hold(name):
    pytest.importorskip("pgx")
    env = agents.remember(bridge.pgx_environment(name))
    env.reset(seed=1)
    report = agents.check_planning(env)
    assert all(law.verdict == "holds" for law in report.laws), report
    assert agents.make("auto", time_limit=0.02, seed=0).act(env) in range(9)


@pytest.mark.parametrize("name", ["tic_tac_toe", "leduc_holdem"])
def test_copies_are_exact_and_keys_tell_states_apart(name):
    env, keys = begun(name), set()
    for seed in range(4):
        env.reset(seed=seed)
        view = bridge.view(env)
        keys.add(view.game.key(view.state, -1))
        found = mirrored(view.state, seed, 20)
        assert found.steps > 1
        assert not found.differs
    assert len(keys) > 1


@pytest.mark.slow  # it compiles for some seconds
def test_chance_to_come_is_drawn_anew_and_the_environment_left_alone():
    env = begun("2048")
    view = bridge.view(env)
    root, boards = view.state.copy(), set()
    before, chance = env.pgx_state, env.np_random.bit_generator.state
    for seed in range(30):
        state = root.copy()
        view.game.determinize(state, 0, seed * ODD % 2**64)
        legal = [0] * 4
        view.game.legal(state, 0, legal)
        view.game.step(state, legal[:1], [0.0])
        boards.add(state.env.pgx_state._board.tobytes())
    assert len(boards) > 10
    assert env.pgx_state is before
    assert env.np_random.bit_generator.state == chance
    assert mcts(4, horizon=3).search(env).copies.hidden == NOTHING


@pytest.mark.parametrize(("name", "draws"), [("kuhn_poker", 2), ("leduc_holdem", 3)])
def test_cards_are_dealt_anew(name, draws):
    env = begun(name)
    mine = env.possible_agents.index(env.agent_selection)
    view = bridge.view(env)
    root, state, hands = view.state.copy(), view.game.new_state(), {}
    own = int(env.pgx_state._cards[mine])
    for seed in range(400):
        state[:] = root
        view.game.determinize(state, view.player, seed * ODD % 2**64)
        cards = np.asarray(state.env.pgx_state._cards)
        assert cards[mine] == own
        hands[int(cards[1 - mine])] = hands.get(int(cards[1 - mine]), 0) + 1
    assert len(hands) == draws
    expected = {0: 1, 1: 1, 2: 1} if name == "kuhn_poker" else {0: 2, 1: 2, 2: 2}
    expected[own] -= 1
    for card, count in hands.items():
        assert abs(count / 400 - expected[card] / sum(expected.values())) < 0.1


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_holdem"])
def test_the_card_of_the_other_changes_no_search(name):
    env, found = begun(name), []
    mine = env.possible_agents.index(env.agent_selection)
    for card in range(3):
        cards = np.array(env.pgx_state._cards)
        if name == "leduc_holdem" or card != cards[mine]:
            cards[1 - mine] = card
            env.pgx_state = env.pgx_state.replace(_cards=cards)
            found.append(mcts(60, seed=4).search(env))
    assert len(found) > 1
    for other in found[1:]:
        assert np.array_equal(found[0].values, other.values, equal_nan=True)
    assert found[0].copies.hidden == ADAPTER


def test_a_win_is_taken_and_a_loss_blocked():
    for moves, best in ([0, 3, 1, 4], 2), ([0, 3, 8, 4], 5):
        env = begun("tic_tac_toe")
        for move in moves:
            env.step(move)
        assert mcts(200, seed=1).act(env) == best


def test_a_king_is_not_folded_at_kuhn():
    bet = 0
    for seed in range(6):
        env = begun("kuhn_poker", seed)
        env.step(bet)
        card = int(env.pgx_state._cards[env.possible_agents.index(env.agent_selection)])
        if card != 1:  # a jack always loses, a king always wins
            assert mcts(100, seed=seed).act(env) == (bet if card == 2 else 1)
