"""The page of speed: what it is written from, and what stays there."""

from pathlib import Path

import pytest
from speed.figure import Figure
from speed.page import TITLES, keep, kept, write

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
FIGURE = Figure("a step", 1.8, "us", "nothing", 0.2, "9.0 x")


def test_the_page_is_what_its_data_say():
    assert (RESULTS / "speed.md").read_text() == write(kept(RESULTS / "data" / "speed.jsonl"))


def test_a_part_is_kept_with_its_circumstances(tmp_path):
    assert keep(tmp_path, "api", 3, 0.25, [FIGURE])
    page = (tmp_path / "speed.md").read_text()
    assert "1. `python scripts/benchmark.py" in page
    assert "3 rounds; load 0.2 before and" in page
    assert "| a step |   1.8 us | nothing   |        0.2 |      9.0 x |" in page
    assert page.count("Not measured: `python scripts/benchmark.py") == len(TITLES) - 1


def test_figures_of_more_rounds_stay(tmp_path):
    assert keep(tmp_path, "api", 15, 0.0, [FIGURE])
    assert not keep(tmp_path, "api", 3, 0.0, [])
    assert keep(tmp_path, "search", 3, 0.0, [])
    parts = kept(tmp_path / "data" / "speed.jsonl")
    assert {name: (part.rounds, part.figures) for name, part in parts.items()} == {
        "api": (15, [FIGURE]),
        "search": (3, []),
    }
    assert keep(tmp_path, "api", 15, 0.0, [])


@pytest.mark.parametrize("line", ["{", "[]", '{"part": "api"}', "7"])
def test_damaged_data_are_refused(line, tmp_path):
    (tmp_path / "speed.jsonl").write_text(line)
    with pytest.raises(ValueError, match=r"line 1, is not what scripts/benchmark\.py writes"):
        kept(tmp_path / "speed.jsonl")
