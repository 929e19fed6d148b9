"""The page of a report: what it says, that it stands alone, and that nothing from outside becomes part of it."""

import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from agents.arena import Plan, compare, parse_meeting
from agents.arena.page import page, write_page
from agents.arena.page.charts import Axis, Point, strength
from agents.arena.report.report import Report
from agents.arena.statistics.estimates import Estimate
from tests.arena import single

EVIL = '</td><script>alert("1")</script>'
ALONE = {"meta", "wbr", "line", "rect", "polyline"}


class Checked(HTMLParser):
    """A page that was read: its elements, its addresses and its text; every element ends."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, name: str, attributes: Any) -> None:
        self.seen.append(name)
        self.links += [value for key, value in attributes if key in ("href", "src")]
        assert not any(key.startswith("on") for key, _ in attributes)
        if name not in ALONE:
            self.open.append(name)

    def handle_startendtag(self, name: str, attributes: Any) -> None:
        self.seen.append(name)

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data + " "


GAMES = [
    ("LaneDefense3x3-v0", "random,scripted", {}),
    ("WallSurvival-v0", "random,greedy,few=mcts:simulations=4,many=mcts:simulations=40", {"board_size": 4}),
    ("BomberTeam-v0", "scripted,random", {"max_steps": 20}),
    ("Bomber-v0", "scripted,random,scripted,random", {"max_steps": 20}),
    ("CartPole-v1", "random,again=random", {}),
]


@pytest.mark.parametrize(("id", "names", "settings"), GAMES)
def test_it_says_all_there_is_to_say(tmp_path: Path, id: str, names: str, settings: dict[str, Any]) -> None:
    ours = not id.startswith("CartPole")
    plan = Plan(id, parse_meeting(names, None)[0], settings, seed=5, replays=ours)
    report = compare(plan, 2, folder=tmp_path / "rows & more")
    write_page(report, tmp_path / "out" / "report.html", "mcts-envs compare 'a b'")
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    found = Checked(text)
    for said in (
        id,
        "mcts-envs compare 'a b'",
        "all randomness from 5",
        "numpy",
        "Standing",
        "Lengths",
        "Clocks",
        "slowest",
        str(tmp_path),
    ):
        assert said in found.text
    assert {spec.label for spec in plan.agents} <= set(found.text.split())
    assert escape("default-src 'none'") in text
    assert not {"script", "img", "link", "iframe"} & set(found.seen)
    assert bool(found.links) == ours
    for link in found.links:
        assert link.startswith("../rows%20%26%20more/replays/")
        assert (
            (tmp_path / "rows & more" / "replays" / Path(link).name)
            .read_text(encoding="utf-8")
            .startswith("<!doctype html>")
        )
    assert ("All against all" in found.text) == ("many" in names)
    assert ("Strength against time" in found.text) == ("many" in names)


def test_an_unfinished_one_and_one_without_a_game_are_written_too(tmp_path: Path) -> None:
    def interrupt(found: Report) -> None:
        raise KeyboardInterrupt

    plan = single.fakes(*single.TWO)
    report = compare(plan, 9, folder=tmp_path, watch=interrupt)
    found = Checked(page(report))
    assert "Unfinished" in found.text
    assert re.search(r"of 18 episodes played", found.text)
    Checked(page(replace(report, rows={}, summaries=[], differences=[], failed=[])))


def test_nothing_from_outside_becomes_part_of_it(tmp_path: Path) -> None:
    good, bad = "good:base=random", "bad:base=random:accident=confuse"
    report = compare(single.fakes(good, bad), 3, folder=tmp_path)
    for row in report.forfeited:
        row.forfeit = {"reason": "crash", "type": EVIL, "message": EVIL, "traceback": EVIL}
    named = [replace(summary, agent=EVIL + summary.agent) for summary in report.summaries]
    found = Checked(page(replace(report, summaries=named, differences=[]), command=EVIL))
    assert "script" not in found.seen
    assert found.text.count(EVIL) >= 5


def test_axes_end_in_round_numbers() -> None:
    assert Axis(0.03, 0.97).ticks == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert Axis(3.0, 3.0).at(3.0) == 50.0
    assert [Axis(0.0, 1.0).at(end) for end in (float("-inf"), -1.0, 2.0, float("inf"))] == [0.0, 0.0, 100.0, 100.0]
    for low, high in ((0.0, 1e-9), (-3.0, 1e6), (0.4, 0.41)):
        axis = Axis(low, high)
        assert 2 <= len(axis.ticks) <= 8
        assert 0.0 <= axis.at(low) <= axis.at(high) <= 100.0


def test_figures_of_which_nothing_is_known_are_left_out(tmp_path: Path) -> None:
    report = compare(single.fakes(*single.TWO), 1, folder=tmp_path)
    nothing = Estimate(*(3 * [float("nan")]))
    unknown = [replace(s, win_rate=nothing, mean_return=nothing) for s in report.summaries]
    assert "nan" not in page(replace(report, summaries=unknown))


def test_times_are_written_in_the_unit_that_they_round_to():
    from agents.arena.page.games import clock

    times = (0.0, 0.5, 0.9994, 0.9996, 1.0, 59.94, 59.96, 60.0, 90.0, 3596.0, 3599.0, 3600.0, 9000.0)
    written = ["0 ms", "500 ms", "999 ms", "1 s", "1 s", "59.9 s", "1 min", "1 min", "1.5 min"]
    written += ["59.9 min", "1 h", "1 h", "2.5 h"]
    assert [clock(each) for each in times] == written


def test_words_of_two_agents_with_the_same_budget_do_not_lie_on_each_other() -> None:
    lower, higher = (
        Point(group, 5.8 + 0.2 * group, Estimate(value, 0.0, 1.0), "800") for group, value in ((0, 0.7), (1, 0.8))
    )
    first = [Point(group, 1.0, Estimate(0.1, 0.0, 1.0), "50") for group in (0, 1)]
    drawn = str(strength([*first, lower, higher], ["a", "b"], Axis(0.0, 1.0), str))
    assert re.findall(r'class="(said[a-z ]*)"', drawn) == ["said", "said left under", "said under", "said left"]
