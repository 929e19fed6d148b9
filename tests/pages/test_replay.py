"""Replays: a game comes back as it was played, or is refused with a word that says why."""

import json
import os
import tracemalloc

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

import agents
import mcts_envs
from mcts_envs.filming import film, write_film
from mcts_envs.games.lane_defense.tables import ROSTERS
from mcts_envs.replay import FORMAT, SEAL, Replay, seal

GAMES = [
    ("LaneDefense3x3-v0", "random", {}),
    ("WallSurvival-v0", "greedy", {"board_size": 5}),
    ("BomberDuel-v0", "rule_based", {}),
    ("Football1-v0", "scripted", {}),
]


def played(id, agent, settings, seed=3):
    replay = Replay(id, seed=seed, **settings)
    players = [agents.make(agent, seed=player) for player in range(replay.game.players)]
    while not replay.over:
        replay.play({player: int(players[player].act(replay.view(player))) for player in replay.choosing})
    return replay


@pytest.fixture(scope="module")
def game():
    return played("WallSurvival-v0", "greedy", {"board_size": 4})


@pytest.mark.parametrize(("id", "agent", "settings"), GAMES)
def test_it_comes_back(tmp_path, id, agent, settings):
    replay = played(id, agent, settings)
    replay.save(tmp_path / "game.json")
    again = Replay.load(tmp_path / "game.json")
    assert again.hashes == replay.hashes
    assert (again.outcome, again.returns.tolist()) == (replay.outcome, replay.returns.tolist())
    states = list(again.states())
    assert len(states) == len(replay.actions) + 1
    assert np.array_equal(states[-1], replay.state)


def test_the_outcome_of_a_game_without_one_is_made_of_its_last_rewards(tmp_path):
    replay = played("connect_four:ConnectFour-v0", "random", {})
    assert sorted(replay.returns) == [-1.0, 1.0]
    assert replay.outcome == [float(each > 0) for each in replay.returns]
    replay.save(tmp_path / "game.json")
    assert Replay.load(tmp_path / "game.json").outcome == replay.outcome


@pytest.mark.parametrize("given", ["x", None, {}])
def test_a_game_in_the_settings_is_refused(tmp_path, given):
    written = json.loads(played("connect_four:ConnectFour-v0", "random", {}).to_json())
    (tmp_path / "game.json").write_text(resealed({**written, "settings": {"game": given}}))
    with pytest.raises(ValueError, match="a game is no setting"):
        Replay.load(tmp_path / "game.json")


def test_it_is_the_game_of_an_environment_with_this_seed():
    env = mcts_envs.make_aec("WallSurvival-v0", board_size=5)
    env.reset(seed=8)
    assert np.array_equal(env.view(env.agent_selection).state, Replay("WallSurvival-v0", seed=8, board_size=5).state)


def test_it_is_taken_back_and_goes_on(game):
    half = Replay(game.id, seed=game.seed, **game.settings)
    for chosen in game.actions[:3]:
        half.play({player: action for player, action in enumerate(chosen) if action is not None})
    half.cut(1)
    assert half.hashes == game.hashes[:2]
    with pytest.raises(ValueError, match="steps"):
        half.cut(2)


def test_only_actions_of_those_who_are_to_choose_are_played(game):
    replay = Replay(game.id, seed=game.seed, **game.settings)
    before = replay.state.copy()
    for actions in ({}, {1: 0}, {0: 10**6}, {0: True}, {0: "1"}, {0: 0, 1: 0}):
        with pytest.raises((ValueError, TypeError), match=r"are to choose|outside|not an integer"):
            replay.play(actions)
    for actions in (3, [0]):
        with pytest.raises(TypeError, match=r"actions .* are (int|list); give a mapping such as \{0: 3\}"):
            replay.play(actions)
    assert np.array_equal(replay.state, before)
    assert replay.actions == []


def test_an_illegal_action_has_its_effect_as_in_an_environment(tmp_path):
    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=4)
    replay, over = Replay("LaneDefense3x3-v0", seed=4), False
    while not over:
        *_, terminated, truncated, info = env.step(3)
        replay.play({0: 3})
        over = terminated or truncated
    assert info["illegal_action"]
    assert replay.outcome == [info["outcome"]]
    replay.save(tmp_path / "game.json")
    assert Replay.load(tmp_path / "game.json").hashes == replay.hashes


def test_a_position_to_begin_with(game):
    replay = Replay(game.id, seed=1, position=Replay(game.id, seed=2, **game.settings).position_now(), **game.settings)
    assert replay.position_now() == Replay(game.id, seed=2, **game.settings).position_now()


def test_settings_and_positions_of_numpy_are_written(tmp_path):
    position = {"board": np.array([0] * 8 + [2]), "t": np.int64(3), "can_plant": np.True_}
    replay = Replay("LaneDefense3x3-v0", position=position, p_new=np.float32(0.3), night=np.int16(9))
    position["t"] = 4  # which is the caller's own
    replay.play({0: 9})
    replay.save(tmp_path / "game.json")
    assert Replay.load(tmp_path / "game.json").hashes == replay.hashes


def test_what_a_file_cannot_hold_is_named():
    roster = ROSTERS["standard"]
    with pytest.raises(TypeError, match="is Roster; a replay holds numbers, words, lists and dictionaries"):
        Replay("LaneDefense5x9-v0", roster=roster).to_json()


def resealed(written):
    return json.dumps({**written, SEAL: seal(written)})


def damaged(change):
    def with_it(written):
        written.update(change)

    return with_it


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damaged({"seed": 4}), r"step 0 leads to another state: .* the game.s rules were since \(mcts_envs"),
        (
            lambda written: written["actions"][0].__setitem__(0, 63),
            "in step 1|step 1 leads to another",
        ),
        (lambda written: (written["actions"].append([None] * 2), written["hashes"].append("")), "the game is over"),
        (lambda written: written["actions"].pop(), "steps and"),
        (lambda written: (written["actions"].pop(), written["hashes"].pop()), "returns are"),
        (damaged({"outcome": [1.0, 1.0]}), "outcome are"),
        (damaged({"game": "wall_survival:0:0:0", "mcts_envs": "0.1"}), "written by mcts_envs 0.1"),
        (damaged({"id": "os:system"}), "none of an environment"),
        (damaged({"id": "Nowhere-v0"}), "unknown environment"),
        (damaged({"settings": {"opponent": "sb3:evil.zip"}}), "unknown setting 'opponent'"),
        (damaged({"settings": []}), "another kind"),
        (damaged({"players": [1, 2]}), "another kind"),
        (damaged({"actions": [["1"]]}), "another kind"),
        (damaged({"more": 1}), r"has \['more'\] besides"),
        (damaged({"format": "mcts_envs replay 9"}), "none that is known|no replay that is known"),
    ],
)
def test_what_was_changed_and_sealed_again_is_refused(tmp_path, game, change, message):
    written = json.loads(game.to_json())
    change(written)
    (tmp_path / "game.json").write_text(resealed(written))
    with pytest.raises(ValueError, match=message):
        Replay.load(tmp_path / "game.json")


@pytest.mark.parametrize("part", ["seed", "actions", "hashes", "returns", "players", SEAL])
def test_what_was_changed_is_told_before_anything_is_played(tmp_path, monkeypatch, game, part):
    text = game.to_json()
    (tmp_path / "game.json").write_text(json.dumps(json.loads(text), indent=1))
    assert Replay.load(tmp_path / "game.json").to_json() == text  # laid out otherwise, it says the same
    monkeypatch.setattr(Replay, "__init__", lambda *_, **__: pytest.fail("it was played"))
    at = text.index(f'"{part}":') + len(part) + 4
    digit = next(index for index in range(at, len(text)) if text[index] in "0123456789]")
    other = {"]": '"x"]'}.get(text[digit]) or str((int(text[digit]) + 1) % 10)
    (tmp_path / "game.json").write_text(text[:digit] + other + text[digit + 1 :])
    with pytest.raises(ValueError, match="is damaged: what it says is not what was sealed"):
        Replay.load(tmp_path / "game.json")


def test_a_replay_of_before_the_seal_is_read(tmp_path, game):
    written = json.loads(game.to_json())
    del written[SEAL]
    (tmp_path / "game.json").write_text(json.dumps(written | {"format": "mcts_envs replay 1"}))
    assert Replay.load(tmp_path / "game.json").hashes == game.hashes


def test_a_replay_appears_whole_or_not_at_all(tmp_path, monkeypatch, game):
    file = tmp_path / "game.json"
    game.save(file)
    before = file.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        Replay(game.id, seed=1, **game.settings).save(file)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, "\x00", FORMAT])
def test_what_is_no_replay_is_refused(tmp_path, text):
    (tmp_path / "game.json").write_text(text)
    with pytest.raises(ValueError, match="is no replay"):
        Replay.load(tmp_path / "game.json")


def test_films(tmp_path, game):
    film(game, tmp_path / "game.gif", pixels=96)
    with Image.open(tmp_path / "game.gif") as picture:
        assert picture.n_frames > 1
        assert abs(picture.width - 96) < 48
    film(game, tmp_path / "again.GIF", pixels=96)
    assert (tmp_path / "again.GIF").read_bytes() == (tmp_path / "game.gif").read_bytes()
    pytest.importorskip("imageio_ffmpeg")
    film(game, tmp_path / "game.MP4", pixels=96)
    assert (tmp_path / "game.MP4").read_bytes()[4:8] == b"ftyp"


@pytest.mark.parametrize("name", ["game.gif", "game.mp4"])
def test_a_film_appears_whole_or_not_at_all(tmp_path, monkeypatch, game, name):
    if name.endswith("mp4"):
        pytest.importorskip("imageio_ffmpeg")
    file = tmp_path / name
    film(game, file, pixels=96)
    before = file.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=f"No space left on device: .*{name}"):
        film(game, file, fps=8.0, pixels=128)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", ["film.gif", "film.mp4"])
def test_a_long_film_is_not_in_memory_as_pictures(tmp_path, name):
    if name.endswith("mp4"):
        pytest.importorskip("imageio_ffmpeg")
    write_film([np.zeros((2, 2, 3), np.uint8)], tmp_path / name, 4.0)  # imports
    tracemalloc.start()
    try:
        write_film((np.full((300, 300, 3), 4 * number, np.uint8) for number in range(60)), tmp_path / name, 4.0)
        assert tracemalloc.get_traced_memory()[1] < 5e6  # of 16
    finally:
        tracemalloc.stop()


def test_a_film_that_ffmpeg_breaks_off_is_not_said_to_be_written(tmp_path, monkeypatch, game):
    library = pytest.importorskip("imageio_ffmpeg")
    monkeypatch.setattr(library, "count_frames_and_secs", lambda path: (1, 0.25))
    with pytest.raises(OSError, match=r"ffmpeg wrote 1 of .* pictures in .*; make room there"):
        film(game, tmp_path / "game.mp4", pixels=96)
    assert not list(tmp_path.iterdir())


def test_films_of_another_kind(tmp_path, game):
    for path, options, message in (
        ("a.avi", {}, "neither"),
        ("a.gif", {"fps": 0}, "fps"),
        ("a.gif", {"pixels": 1}, "pixels"),
    ):
        with pytest.raises(ValueError, match=message):
            film(game, tmp_path / path, **options)
    with pytest.raises(TypeError, match=r"list is no replay; film\(replay, path\) takes those"):
        film([], tmp_path / "a.gif")


@pytest.mark.parametrize(("player", "error"), [(1.5, TypeError), ("0", TypeError), (2, ValueError), (-1, ValueError)])
def test_a_view_is_of_a_player(player, error):
    with pytest.raises(error, match=f"player {player!r} is"):
        Replay("WallSurvival-v0", board_size=4).view(player)


@pytest.mark.parametrize("players", [2, "ab", None])
def test_players_are_names(players):
    with pytest.raises(TypeError, match=f"players {players!r} is .* a setting of your game that is called so"):
        Replay("WallSurvival-v0", board_size=4, players=players)
