"""Adapters of games of OpenSpiel, and of Atari's: exact copies, and what is hidden drawn anew."""

import gymnasium as gym
import numpy as np
import pytest

import agents
from agents import bridge
from agents.bridge import means
from agents.bridge.adapters import adapter_of
from agents.bridge.cloning import generators_in
from agents.bridge.copying.digest import digest
from agents.bridge.mirroring import mirrored

pytestmark = pytest.mark.filterwarnings("ignore")


def spiel(name):
    pytest.importorskip("pyspiel")
    return pytest.importorskip("shimmy").OpenSpielCompatibilityV0(game_name=name)


def hanabi(**settings):
    pytest.importorskip("pyspiel")
    return pytest.importorskip("pettingzoo.classic.hanabi_v5").env(**settings)


def draws(env, agent, count=12):
    """Yield the environment with what an agent cannot know drawn anew."""
    view = bridge.view(env, agent)
    work = view.state.copy()
    for chance in range(count):
        work[:] = root = view.state.copy()
        assert root.env is not work.env
        view.game.determinize(work, view.player, chance * 0x9E3779B97F4A7C15 % 2**64)
        yield work.env


def played(env, seed, steps):
    """Play at random, and say whether the game goes on."""
    env.reset(seed=seed)
    choices = np.random.default_rng(seed)
    for _ in range(steps):
        agent = env.agent_selection
        if env.terminations[agent] or env.truncations[agent]:
            return False
        env.step(int(choices.choice(np.flatnonzero(env.infos[agent]["action_mask"]))))
    agent = env.agent_selection
    return not (env.terminations[agent] or env.truncations[agent])


@pytest.mark.parametrize(
    "name", ["tic_tac_toe", "backgammon", "leduc_poker", "hanabi", "goofspiel", "othello", "oshi_zumo"]
)
def test_copies_of_games_of_open_spiel_are_exact(name):
    env, compared = spiel(name), 0
    for seed in range(12):
        if played(env, seed, seed % 4):
            live = bridge.view(env).state
            found = mirrored(live, seed, 20)
            assert live.game.notes["means"] == means.NATIVE
            assert not found.differs
            compared += found.steps
    assert compared > 30


@pytest.mark.parametrize(
    ("name", "chances"), [("tic_tac_toe", 0), ("pig", 1), ("backgammon", 1), ("leduc_poker", 1), ("goofspiel", 1)]
)
def test_chance_of_open_spiel_is_drawn_from_what_its_adapter_says(name, chances):
    env = spiel(name)
    env.reset(seed=0)
    for looked in (env, bridge.view(env).state.copy().env):
        said = adapter_of(type(looked)).generators(looked)
        assert said == generators_in(looked)[:chances]
        assert len(said) == chances


@pytest.mark.parametrize("name", ["leduc_poker", "hanabi"])
def test_what_a_player_cannot_know_is_dealt_anew_in_open_spiel(name):
    env, others = spiel(name), set()
    for seed in range(6):
        if not played(env, seed, seed):
            continue
        agent = env.agent_selection
        seen = digest((env.observe(agent), env.infos[agent]))
        for drawn in draws(env, agent):
            assert digest((drawn.observe(agent), drawn.infos[agent])) == seen
            others.add(digest([drawn.observe(name) for name in drawn.possible_agents]))
    assert len(others) > 12


def test_a_search_in_hanabi_draws_no_pictures(monkeypatch):
    env = hanabi(render_mode="rgb_array")
    env.reset(seed=0)
    view = bridge.view(env)
    copy = view.state.copy().env
    monkeypatch.setattr(type(env.unwrapped), "render", lambda self: pytest.fail("a picture was drawn"))
    action = int(view.legal_actions()[0])
    copy.step(action)
    assert copy.render_mode == "rgb_array"
    monkeypatch.undo()
    env.step(action)
    assert digest(copy.observe(copy.agent_selection)) == digest(env.observe(env.agent_selection))
    assert copy.render().shape == env.render().shape


def test_the_own_hand_in_hanabi_is_drawn_from_what_the_hints_leave():
    env = hanabi()
    hands = set()
    for seed in range(4):
        assert played(env, seed, 3 + seed)
        agent = env.agent_selection
        me = env.possible_agents.index(agent)
        before = str(env.unwrapped.hanabi_env.game_state).partition("Deck size")
        for drawn in draws(env, agent, 30):
            state = str(drawn.hanabi_env.game_state).partition("Deck size")
            assert state[2] == before[2]
            mine, theirs = (text[0].split("-----\n")[me].splitlines() for text in (state, before))
            cards = [line for line in mine if "||" in line]
            assert len(cards) == sum("||" in line for line in theirs)
            for line in cards:
                held, _, known = line.partition("||")
                assert all(sign in known.rpartition("|")[2] for sign in held.strip())
            hands.add(tuple(cards))
    assert len(hands) > 100


def test_the_second_to_choose_in_a_simultaneous_game_does_not_know_what_the_first_chose():
    env = spiel("matrix_rps")
    env.reset(seed=0)
    env.step(0)
    assert {drawn.simultaneous_actions["player_0"] for drawn in draws(env, "player_1")} == {0, 1, 2}


def test_where_a_game_cannot_deal_anew_its_past_is_replayed():
    env = agents.remember(spiel("liars_dice"))
    env.reset(seed=0)
    result = agents.make("mcts", simulations=30, seed=0).search(env)
    assert result.copies.hidden == "drawn by replay"


@pytest.mark.parametrize(
    ("name", "hides"), [("breakthrough", False), ("pig", False), ("leduc_poker", True), ("goofspiel", True)]
)
def test_auto_searches_information_sets_where_something_is_hidden(name, hides):
    env = spiel(name)
    env.reset(seed=1)
    agent = agents.make("auto", simulations=10)
    agent.act(env)
    assert ("information_set" in agent.picked) == hides


def test_games_of_one_class_are_told_apart():
    one, other = spiel("hex"), spiel("hex(board_size=11)")
    for env in (one, other):
        env.reset(seed=0)
    assert bridge.view(one).game is not bridge.view(other).game


def test_copies_of_atari_have_the_random_stream_too():
    gym.register_envs(pytest.importorskip("ale_py"))
    env = gym.make("ALE/Freeway-v5", frameskip=4)
    env.reset(seed=3)
    for _ in range(20):
        env.step(1)
    copy = bridge.view(env).state.copy()
    walk = [1, 2, 0, 1, 1, 2, 1, 0] * 3
    ahead = [copy.env.step(action)[0] for action in walk]
    assert all((env.step(action)[0] == seen).all() for action, seen in zip(walk, ahead, strict=True))


def test_chance_of_atari_is_not_foreseen():
    gym.register_envs(pytest.importorskip("ale_py"))
    env = gym.make("ALE/Breakout-v5")
    env.reset(seed=3)
    laws = agents.check_planning(env)
    assert laws["fidelity"].verdict == "holds"
    assert not laws["chance"].evidence.startswith("1 future")
