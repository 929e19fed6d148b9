"""The page of a game: what it is fed with, and that a file of it stands alone and runs nothing but its own script."""

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from html import escape, unescape
from xml.etree import ElementTree

import gymnasium as gym
import numpy as np
import pytest
from connect_four import GAME as CONNECT_FOUR

import mcts_envs
from mcts_envs import page
from mcts_envs.core.kernel import record
from mcts_envs.core.place import state_from_position
from mcts_envs.core.sampling import LawError, active_players, legal_actions, sample, stepped
from mcts_envs.games.bomber_grid.rules.layout import STATE as BOMBER
from mcts_envs.games.bomber_grid.rules.layout import WIDTH
from mcts_envs.games.football.rules.layout import PUSH
from mcts_envs.games.football.rules.layout import STATE as FOOTBALL
from mcts_envs.page.document import packed
from mcts_envs.replay import Replay

EVIL = '</script><img src="x" onerror="alert(1)"><script>alert(2)</script>'


def game_of(id, **settings):
    return gym.make(f"mcts_envs/{id}", **settings).unwrapped.game


def begun(game, seed=0):
    state = game.new_state()
    game.reset(state, seed)
    return state


def unpacked(text):
    return json.loads(gzip.decompress(base64.b64decode(text)))


def document_of(game, title="a title", agents=()):
    return page.header(game, title, agents) | {"frames": [page.frame(game, begun(game))]}


def test_players_are_called_and_coloured_as_the_picture_has_them():
    assert page.header(game_of("Football1-v0"), "", ["mcts", "random"])["players"] == [
        {"seat": "home", "colour": "#b32a1c", "agent": "mcts"},
        {"seat": "away", "colour": "#2b64c4", "agent": "random"},
    ]
    bombers = page.header(game_of("Bomber-v0"), "")["players"]
    assert [each["seat"] for each in bombers] == ["0 (blue)", "1 (orange)", "2 (sky blue)", "3 (yellow)"]
    assert page.header(CONNECT_FOUR, "")["players"][1] == {"seat": "player 1", "colour": "#d55e00", "agent": None}


def test_a_state_is_a_picture_or_else_a_text_or_else_a_word():
    drawn = page.frame(game_of("LaneDefense3x3-v0"), begun(game_of("LaneDefense3x3-v0")))
    assert (drawn["turn"], drawn["over"]) == ([0], False)
    ElementTree.fromstring(drawn["picture"])
    coloured = replace(CONNECT_FOUR, text=lambda state: "\x1b[1;31mX\x1b[0m")
    assert page.frame(coloured, begun(coloured))["text"] == "X"
    bare = replace(CONNECT_FOUR, text=None)
    assert page.frame(bare, begun(bare))["text"] == "connect_four has no drawing"


def test_options_are_the_legal_actions_with_their_names_places_and_keys():
    env = gym.make("mcts_envs/BomberDuel-v0").unwrapped
    env.reset(seed=1)
    game, state = env.game, env.view().state
    found = {each["name"]: each for each in page.options(game, state, 0, env.get_keys_to_action())}
    assert list(found) == ["stop", "up", "down", "left", "right", "bomb"]
    assert {name: each.get("key") for name, each in found.items()} == {
        "stop": None,
        "up": "w",
        "left": "a",
        "down": "s",
        "right": "d",
        "bomb": " ",
    }
    assert found["stop"]["place"] == found["bomb"]["place"]
    assert [each["player"] for each in page.options(game, state, 1)] == [1] * 6
    turns = game_of("WallSurvival-v0")
    assert page.options(turns, begun(turns), 1) == []


PLACES = [
    ("LaneDefense3x3-v0", {}, None, 0, "plant 1,2", [3.5, 2.0, 1.0, 1.0]),
    ("LaneDefense3x3-v0", {}, None, 0, "wait", None),
    ("LaneDefense5x9-v0", {}, None, 0, "wall 4,0", [1.5, 5.25, 1.0, 1.0]),
    ("LaneDefense5x9-v0", {}, None, 0, "wait", None),
    ("WallSurvival-v0", {}, None, 0, "2,3 left", [3.45, 3.45, 0.25, 0.5]),
    ("WallSurvival-v0", {"optional_wall": True}, None, 0, "2,3", [3.75, 3.5, 0.4, 0.4]),
    ("Football1-v0", {}, None, 0, "end turn", None),
    ("Football1-v0", {}, None, 0, "ball to 1,2", [3.5, 3.2, 1.0, 1.0]),  # home sees the pitch mirrored
    ("Football1-v0", {}, None, 1, "ball to 1,2", [0.5, 3.2, 1.0, 1.0]),
]


@pytest.mark.parametrize(("id", "settings", "position", "player", "name", "place"), PLACES)
def test_actions_lie_where_the_picture_has_them(id, settings, position, player, name, place):
    game = game_of(id, **settings)
    (action,) = [each for each in range(game.actions) if game.action_name(each) == name]
    found = game.where(begun(game), player, action)
    assert found == (None if place is None else pytest.approx(place))


def test_a_footballer_is_found_where_he_stands_and_is_pushed():
    game = game_of("Football1-v0")
    position = {
        "players": {"home": [{"at": [3, 2]}], "away": [{"at": [2, 2]}]},
        "ball": {"at": [1, 1], "carried": False},
        "to_act": "home",
    }
    state = state_from_position(game, position)
    names = {game.action_name(each): each for each in range(game.actions)}
    assert game.where(state, 0, names["start block with 1"]) == pytest.approx((2.5, 3.2, 1, 1))
    assert game.where(state, 0, names["block opponent 1"]) == pytest.approx((1.5, 3.2, 1, 1))


def test_bombers_walk_and_footballers_are_pushed_to_the_place_of_the_action():
    moved = pushed = 0
    bomber, football = game_of("Bomber-v0"), game_of("Football5-v0")
    played = sample(bomber, 2, 900, 0)
    for state, actions in zip(played.states, (each for choices in played.choices for each in choices), strict=True):
        after, _ = stepped(bomber, state, actions)
        for player in active_players(bomber, state):
            row, column = divmod(int(record(after, BOMBER).stands[player]), WIDTH)
            if record(state, BOMBER).stands[player] != record(after, BOMBER).stands[player]:
                assert bomber.where(state, player, int(actions[player])) == pytest.approx(
                    (column + 0.4, row + 1.75, 1, 1)
                )
                moved += 1
    for state in sample(football, 4, 3000, 0).states:
        before = record(state, FOOTBALL)
        for player in active_players(football, state) if before.phase == PUSH else ():
            for action in legal_actions(football, state, player):
                after, _ = stepped(football, state, np.full(2, action))
                who = int(before.tasks[before.waiting - 1]) >> 8 & 255
                row, column = divmod(int(record(after, FOOTBALL).square[who]), 18)
                assert football.where(state, player, int(action)) == pytest.approx((column - 0.5, row + 1.2, 1, 1))
                ahead = (column - int(before.square[who]) % 18) * (1 if player else -1)  # home attacks to the left
                told = {"forward": 1, "back": -1}.get(football.action_name(int(action)).split()[-1], 0)
                assert told == ahead
                pushed += 1
    assert moved > 20
    assert pushed > 5


def test_a_place_off_the_picture_is_refused():
    game = replace(game_of("LaneDefense3x3-v0"), variants={}, where=lambda state, player, action: (0.0, 0.0, 99.0, 1.0))
    with pytest.raises(LawError, match="places lie on the picture: action 0 is at"):
        mcts_envs.check_game(game, episodes=1, faces=False)
    with pytest.raises(LawError, match="but no picture"):
        mcts_envs.check_game(replace(game, picture=None), episodes=1, faces=False)


@pytest.mark.parametrize("id", ["LaneDefense5x9-v0", "WallSurvival-v0", "BomberDuel-v0", "Football3-v0"])
def test_a_file_stands_alone(id):
    text = page.html(document_of(game_of(id)))
    assert re.findall(r"https?://[^\s\"')]+", text) == ["http://www.w3.org/2000/svg"]  # a name, not fetched
    assert not re.search(r"""\b(src|href)=(?!["']?data:)|@import|url\(|\bimport\s*\(""", text)
    assert len(text) < 200_000


def test_a_file_runs_its_own_script_alone():
    text = page.html(document_of(game_of("LaneDefense3x3-v0")))
    (policy,) = re.findall('Content-Security-Policy" content="([^"]+)"', text)
    (script,) = re.findall('<script type="module">(.*?)</script>', text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"
    assert re.findall("<script[^>]*>", text) == ['<script type="text/plain" id="data">', '<script type="module">']


def test_no_name_gets_out_of_its_place():
    named = replace(CONNECT_FOUR, action_name=lambda action: EVIL, text=lambda state: EVIL)
    document = document_of(named, EVIL, [EVIL, EVIL])
    document["frames"][0]["legal"] = page.options(named, begun(named), 0)
    text = page.html(document)
    assert EVIL not in text
    assert f"<title>{escape(EVIL)}</title>" in text
    assert (text.count("<script"), text.count("<img")) == (2, 0)
    (data,) = re.findall('id="data">(.*?)</script>', text, re.DOTALL)
    assert unpacked(data)["frames"][0]["legal"][0]["name"] == EVIL
    shown = page.Shown(document)._repr_html_()
    assert "<script" not in shown
    assert "<img" not in shown


def test_what_is_packed_is_the_document():
    game = game_of("WallSurvival-v0")
    document = document_of(game)
    document["frames"] += [page.frame(game, begun(game, seed)) for seed in (1, 2)]
    given = unpacked(packed(document))
    for frame, own in zip(given["frames"], document["frames"], strict=True):
        assert "\n".join(given["lines"][line] for line in frame["picture"]) == own["picture"]
    assert len(given["lines"]) < sum(len(frame["picture"].split("\n")) for frame in document["frames"]) / 2
    with pytest.raises(ValueError, match="JSON compliant"):
        packed(document | {"frames": [{"text": "", "returns": [float("nan")]}]})


def test_a_notebook_shows_an_environment():
    env = gym.make("mcts_envs/WallSurvival-v0", board_size=4)
    env.reset(seed=0)
    shown = mcts_envs.show(env)
    (frame,) = shown.document["frames"]
    assert {each["action"] for each in frame["legal"]} == set(env.unwrapped.legal_actions().tolist())
    assert repr(shown) == "Shown(WallSurvival-v0, 1 frame)"
    outside, inside = shown._repr_html_().split("srcdoc=")
    assert 'src="data:image/svg+xml;base64,' in outside
    assert unescape(inside).count("<!doctype html>") == 1
    together = mcts_envs.make_parallel("BomberDuel-v0")
    together.reset(seed=0)
    assert {each["player"] for each in mcts_envs.show(together).document["frames"][0]["legal"]} == {0, 1}


def test_a_notebook_shows_a_recorded_game():
    game = Replay("WallSurvival-v0", seed=7, board_size=4, players=["ann", "ben"])
    while not game.over:
        game.play({player: int(game.view(player).legal_actions()[0]) for player in game.choosing})
    shown = mcts_envs.show(game)
    assert repr(shown) == f"Shown(WallSurvival-v0, seed 7, {len(game.actions) + 1} frames)"
    frames = shown.document["frames"]
    assert [{each["player"]: each["action"] for each in frame["decisions"]} for frame in frames[:-1]] == game.choices()
    assert (frames[-1]["points"], frames[-1]["decisions"]) == (game.outcome, [])
    assert [player["agent"] for player in shown.document["players"]] == ["ann", "ben"]


def test_what_is_no_game_of_ours_is_not_shown():
    with pytest.raises(TypeError, match="CartPoleEnv is no environment of mcts_envs"):
        mcts_envs.show(gym.make("CartPole-v1"))
    with pytest.raises(TypeError, match=r"agents.show\(result\) what a search has found"):
        mcts_envs.show("a result")
    with pytest.raises(TypeError, match="for one game"):
        mcts_envs.show(mcts_envs.make_vec("LaneDefense3x3-v0", 2))
    with pytest.raises(gym.error.ResetNeeded):
        mcts_envs.show(gym.make("mcts_envs/LaneDefense3x3-v0"))
