"""Rows of a comparison as flat records."""

import pytest

from agents.arena import Plan, compare, parse_meeting, records


def test_each_seat_of_each_game_is_a_record(tmp_path):
    players, _ = parse_meeting("random,greedy", None)
    report = compare(Plan("WallSurvival-v0", players, {"board_size": 4}), 3, folder=str(tmp_path))
    found = records(str(tmp_path))
    assert report.finished
    assert len(found) == 3 * 2 * 2
    assert sorted({(each["episode"], each["seat"], each["agent"]) for each in found}) == sorted(
        (episode, seat, agent) for episode in range(3) for seat in range(2) for agent in ("random", "greedy")
    )
    for first, second in zip(found[::2], found[1::2], strict=True):
        assert (first["seat"], second["seat"]) == (0, 1)
        assert first["outcome"] + second["outcome"] == 1.0
        assert first["seed"] == second["seed"]
        assert (first["others"], second["others"]) == (second["agent"], first["agent"])
        assert first["error"] is first["forfeit"] is first["truncated"] is None
        assert not any(isinstance(value, dict | list) for value in first.values())


def test_what_ended_a_game_is_a_word(tmp_path):
    (tmp_path / "bot.py").write_text("class Bot:\n    def act(self, env):\n        return 10**6\n")
    players, _ = parse_meeting(f"{tmp_path}/bot.py:Bot,random", None)
    compare(Plan("WallSurvival-v0", players, {"board_size": 4}), 1, folder=tmp_path / "out")
    assert {each["forfeit"] for each in records(tmp_path / "out")} == {"illegal"}


def test_no_results(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no results"):
        records(tmp_path)
