"""Paths with a drive, as Windows has them, wherever names of files are read."""

import os
from pathlib import Path

import pytest
from _following import comparison, saved_game

import agents
from agents.arena import parse_agents
from agents.arena.environments import id_of
from agents.arena.page import games
from agents.arena.report.cells import short_names
from mcts_envs.core import errors
from mcts_envs.core.loading import parted
from mcts_envs.registry import find


def test_paths_with_a_drive_are_read_as_agents() -> None:
    mine, policy = parse_agents(r"mine=C:\bots\my_bot.py:Bot:depth=3,sb3:D:\runs\best.zip:deterministic=false")
    assert (mine.label, mine.name, mine.settings) == ("mine", r"C:\bots\my_bot.py:Bot", {"depth": 3})
    assert (policy.name, policy.settings) == (r"sb3:D:\runs\best.zip", {"deterministic": False})
    (given,) = parse_agents(r"my_bot.py:Bot:path=D:\runs\best.zip:other=E:/a.zip:depth=3")
    assert (given.name, given.settings) == (
        "my_bot.py:Bot", {"path": r"D:\runs\best.zip", "other": "E:/a.zip", "depth": 3}
    )  # fmt: skip
    (consulting,) = parse_agents(r"mcts:policy=C:\a.zip:select=C:\p.py:bold:c=2")
    assert consulting.settings == {"policy": r"C:\a.zip", "select": r"C:\p.py:bold", "c": 2}


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (r"C:\bots\my_bot.py:Bot", (r"C:\bots\my_bot.py", ":", "Bot")),
        (r"C:\bots\my_bot.py", ("", "", r"C:\bots\my_bot.py")),
        (r"my_game.py:D:\runs\game.json", ("my_game.py", ":", r"D:\runs\game.json")),
        (r"C:\a.py:D:/b.json", (r"C:\a.py", ":", "D:/b.json")),
        ("a:b", ("a", ":", "b")),
        ("games.a:/runs/game.json", ("games.a", ":", "/runs/game.json")),
        ("mod/ale:ALE/Pong-v5", ("mod/ale", ":", "ALE/Pong-v5")),
        (":Pong-v5", ("", ":", "Pong-v5")),
    ],
)
def test_the_colon_of_a_drive_parts_no_name(name: str, parts: tuple[str, str, str]) -> None:
    assert parted(name) == parts


def test_a_path_with_a_drive_and_nothing_named_in_it_is_refused_as_one_without(tmp_path: Path) -> None:
    for refused in (lambda: find(r"C:\bots\results"), lambda: agents.make(r"C:\bots\my_bot.py")):
        with pytest.raises(ValueError, match="unknown"):
            refused()
    assert id_of(r"C:\bots\results").startswith("mcts_envs/")
    assert comparison(r"C:\bots\results") is None
    with pytest.raises(FileNotFoundError, match=r"no saved game C:\\bots\\game\.json;"):
        saved_game(r"C:\bots\game.json")


def test_paths_with_a_drive_are_short_in_tables() -> None:
    labels = [r"C:\Users\me\bots\b.py:Bot", r"sb3:D:\runs\b\a.zip"]
    assert list(short_names(labels).values()) == ["bots/b.py:Bot", "sb3:b/a.zip"]


def test_a_page_on_another_drive_is_linked_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "replays" / "a game.html"
    assert games._address(page, tmp_path) == "replays/a%20game.html"

    def two_drives(*_: object) -> str:
        raise ValueError("path is on mount 'C:', start on mount 'D:'")

    monkeypatch.setattr(os.path, "relpath", two_drives)
    assert games._address(page, tmp_path) == page.as_uri()


def test_a_drive_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda self: False)
    with pytest.raises(OSError, match=r"out runs cannot be written: there is no .*; give a folder of yours"):
        errors.writable("out", Path("runs"), folder=True)
