"""The study of `auto` against others at equal time: what is played, what is left out, and what the page says of it."""

import importlib.util
from dataclasses import replace

import pytest
from papers import auto
from papers.playing import play_table
from papers.record import Record, this_run
from papers.study import Table

from agents.arena.statistics.estimates import Estimate

pytestmark = pytest.mark.filterwarnings("ignore:.*the time limit of 0.001 s, which cannot be kept:UserWarning")

SHORT = replace(auto.GROUNDS[1], milliseconds=1, games=2)


def played(tmp_path, monkeypatch, ground, rivals):
    """Return the record of an environment that is played, what was said, and the entries."""
    monkeypatch.setattr(auto, "GROUNDS", (replace(ground, rivals=rivals),))
    cells = tuple(auto.cells_of(0))
    table = Table(ground.title, ("against",), auto.Difference(ground.stakes), cells)
    said: list[str] = []
    run, record = this_run("reproduce", 1.0), Record(tmp_path / "auto.jsonl")
    entries = list(play_table(table, run, tmp_path, 1, False, said.append))
    for entry in entries:
        record.add(entry, run)
    return record, said, entries


def test_there_are_twenty_two_environments():
    assert len(auto.GROUNDS) == 22
    assert len({ground.title for ground in auto.GROUNDS}) == 22


def test_episodes_of_one_player_begin_alike(tmp_path, monkeypatch):
    record, said, (entry,) = played(tmp_path, monkeypatch, SHORT, ("mcts",))
    assert entry.boards == 2
    assert all(0.0 <= score <= 1.0 for each in entry.found.results for score in each["scores"])
    assert said == ["FrozenLake-v1, not slippery: mcts"]
    assert "Of 1 environments 1 were played. In 1 no interval" in auto.conclusion(record)
    assert auto.Verdicts().lines(record)[0][0] == SHORT.title


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of modules of PettingZoo
@pytest.mark.parametrize("stakes", [False, True])
def test_games_for_two_are_played_from_both_seats(stakes, tmp_path, monkeypatch):
    pytest.importorskip("pygame")
    ground = next(ground for ground in auto.GROUNDS if ground.title.startswith("tictactoe"))
    ground = replace(ground, milliseconds=1, games=2, stakes=stakes)
    _, _, (entry,) = played(tmp_path, monkeypatch, ground, ("rhea",))
    for each in entry.found.results:
        assert sum(each["scores"]) == (0.0 if stakes else 1.0)
        assert len(each["ms"]) == 2


def test_what_is_not_installed_is_left_out_with_a_word(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    _, said, entries = played(tmp_path, monkeypatch, SHORT, ("gymcts",))
    assert said == ["FrozenLake-v1, not slippery: gymcts is left out: not here: gymcts"]
    assert not entries


def test_a_verdict_is_the_side_on_which_the_interval_lies():
    assert auto.verdict(Estimate(1.0, 0.5, 2.0)) == auto.BETTER
    assert auto.verdict(Estimate(-1.0, -2.0, -0.5)) == auto.WORSE
    assert auto.verdict(Estimate(1.0, 0.0, 2.0)) == auto.LEVEL


def test_a_line_says_both_means_and_the_difference():
    results = [{"scores": [-13.0, -100.0 - at], "ms": [20.0, 21.0]} for at in range(3)]
    (line,) = auto.Difference(True).lines(None, auto.Found(results, {}))
    assert line["auto"] == "-13.0"
    assert line["its rival"] == "-101.0"
    assert line["verdict"] == auto.BETTER
    assert line["difference"].startswith("+88.0 [+85.5, +90.5]")


@pytest.mark.parametrize("name", ["gymcts", "OpenSpiel"])
def test_others_choose_in_time(name):
    modules = auto.CHOOSERS[name][0]
    if any(importlib.util.find_spec(module) is None for module in modules):
        pytest.skip(f"{name} is not installed")
    ground = auto.GROUNDS[1] if name == "gymcts" else next(g for g in auto.GROUNDS if g.title.startswith("pig"))
    player = auto.CHOOSERS[name][1](0.01, 1)
    env = player.wrap(ground.make())
    env.reset(seed=1)
    assert player.act(env) in range(4)
