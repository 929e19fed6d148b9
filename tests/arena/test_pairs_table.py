"""Tables and pictures of comparisons in games for two."""

import re
from pathlib import Path

import pytest

from agents.arena import compare
from agents.arena.report.plot import plot
from agents.arena.report.report import report
from agents.arena.statistics.estimates import paired_rates
from tests.arena.pairs import by_hand, fakes
from tests.arena.reports import printed

TABLES = """\
 #  agent    games           points %  won  tied  lost  length     ms  steps
 1  a            8  75.0 [24.7,100.0]    5     2     1     4.0  251.0     15
 2  c            8   62.5 [21.1,91.4]    4     2     2     4.0  251.0     15
 3  b            8    12.5 [0.0,71.4]    1     0     7     4.0  251.0     15
 agent    against  boards            points %  won  tied  lost  1st  2nd
 a        b             2  100.0 [32.6,100.0]    4     0     0  100  100
 a        c             2    50.0 [11.3,88.7]    1     2     1   50   50
 b        c             2     25.0 [0.0,78.1]    1     0     3    0   50
 #  agent       1     2      3
 1  a              50.0  100.0
 2  c        50.0         75.0
 3  b         0.0  25.0
 agent                 Elo          any time
 a                       0
 c         -72 [-294,+280]    +0 [-inf,+inf]
 b        -377 [-inf,+280]  -inf [-inf,+581]
"""


def test_the_tables(tmp_path: Path) -> None:
    met = {("a", "b"): [1, 1], ("b", "a"): [0, 0], ("a", "c"): [1, 0], ("c", "a"): [0.5, 0.5]}
    rows = by_hand({**met, ("b", "c"): [0, 0], ("c", "b"): [1, 0]})
    text = printed(report(fakes("a", "b", "c"), tmp_path, rows, 2, 1, 1.0))
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and "─" not in line]
    tables, said = lines[: len(TABLES.splitlines())], lines[len(TABLES.splitlines()) :]
    assert tables == TABLES.splitlines()
    assert "; 2 boards of seed 0, the same for all pairings, each from both seats; each agent's own budget" in said[0]
    assert said[1].startswith("points: a tie is half a point; Elo: more than a; any time: in their own games, and true")
    assert said[-2:] == [
        "doubtful: few boards: 2; intervals are rough below 20",
        "doubtful: a - b: a took every point, which tells only that it is stronger; give it nearer rivals",
    ]


def test_the_one_that_all_meet_has_no_rank(tmp_path: Path) -> None:
    met = {("a", "b"): [1, 1], ("b", "a"): [1, 0], ("a", "c"): [1, 1], ("c", "a"): [0, 0]}
    text = printed(report(fakes("a", "b", "c", against="a"), tmp_path, by_hand(met), 2, 1, 1.0))
    rows = [line.split()[:2] for line in text.splitlines()]
    assert rows[3:6] == [["1", "b"], ["2", "c"], ["-", "a"]]
    assert rows[10:12] == [["b", "a"], ["c", "a"]]
    assert text.count("#") == 1


def test_those_who_play_against_another_are_compared_board_by_board(tmp_path: Path) -> None:
    met = {("a", "h"): [1, 1, 0], ("h", "a"): [0, 0.5, 1], ("b", "h"): [1, 0, 0], ("h", "b"): [1, 1, 1]}
    rows = by_hand({**met, ("c", "h"): [1, 1, 1], ("h", "c"): [0, 0, 0]}, broken=("h", "b", 2))
    plan = fakes("a", "b", "c", "h", against="h")
    found = report(plan, tmp_path, rows, 3, 1, 1.0)
    assert [(d.agent, d.reference, d.pairs) for d in found.differences] == [("b", "a", 2), ("c", "a", 3), ("b", "c", 2)]
    assert found.differences[0].win_rate == paired_rates([0.5, 0.0], [1.0, 0.75])
    assert found.differences[1].win_rate == paired_rates([1.0, 1.0, 1.0], [1.0, 0.75, 0.0])
    text = printed(found)
    assert re.search(r"agent +minus +boards +points", text)
    assert "minus: on the same boards, against the same others" in text
    assert not report(fakes("a", "b", "c"), tmp_path, {}, 3, 1, 1.0).differences


@pytest.mark.parametrize("width", [60, 80, 200])
def test_tables_fit_the_terminal(tmp_path: Path, width: int) -> None:
    result = compare(fakes("a", "a_player_with_a_long_name:lowest=true", "c"), 3, folder=tmp_path)
    lines = printed(result, width).splitlines()
    assert max(map(len, lines)) <= width
    if width >= 80:
        assert sum("lost  length  " in line and line.rstrip().endswith("steps") for line in lines) == 1
        assert sum(line.rstrip().endswith("lost  1st  2nd") for line in lines) == 1
    assert not any(re.search(r"\[[^\]]*$", line) for line in lines if "intervals" not in line)  # none is broken


def test_points_are_drawn(tmp_path: Path) -> None:
    plot(compare(fakes("a", "b", "c"), 3, folder=tmp_path), tmp_path / "points.png")
    assert (tmp_path / "points.png").read_bytes().startswith(b"\x89PNG")
