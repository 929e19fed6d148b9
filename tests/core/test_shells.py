"""The shells of Windows: what they take away, how words are quoted for them, and pipes that nobody reads."""

import errno
import io
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import _commands
import pytest

from agents.spec import parse_value
from mcts_envs.core import outputs
from mcts_envs.core.shell import quoted


def test_words_are_quoted_as_the_shells_of_windows_take_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert quoted("a b") == "'a b'"
    monkeypatch.setattr(sys, "platform", "win32")
    assert quoted("a b") == '"a b"'
    assert quoted(r"C:\bots\my_bot.py:Bot") == r"C:\bots\my_bot.py:Bot"
    assert quoted('opponent={"self": 2}') == r'"opponent={\"self\": 2}"'


def test_words_in_braces_need_no_quotation_marks_which_shells_of_windows_take_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = "{self: 2, agents:mcts: 0.1}", "{choice: prioritized, weights: {scripted: [1, 3]}}", "[a, b]", "{a", "[x"
    compact = "{self:2,agents:mcts:0.1}", "{choice:prioritized,weights:{scripted:[1,3]}}"
    read = {"self": 2, "agents:mcts": 0.1}, {"choice": "prioritized", "weights": {"scripted": [1, 3]}}, ["a", "b"]
    assert [*map(parse_value, said)] == [*read, "{a", "[x"]
    assert [*map(parse_value, compact)] == [*read[:2]]
    monkeypatch.setitem(sys.modules, "yaml", None)  # of an extra
    assert parse_value("[a, b]") == "[a, b]"


class ClosedPipe(io.FileIO):
    """A pipe that nobody reads, as Windows has it."""

    def write(self, data: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")


class OutputToClosedPipe(outputs.Output, ClosedPipe):
    pass


def test_an_output_outlives_a_pipe_that_is_closed_as_windows_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OutputToClosedPipe(tmp_path / "pipe", "w") as output:
        with pytest.raises(OSError, match="Invalid argument"):
            output.write(b"elsewhere another error")
        monkeypatch.setattr(sys, "platform", "win32")
        assert (output.write(b"lost"), output.lost) == (4, 0)
    with (tmp_path / "pipe").open("w", encoding="cp1252") as pipe:
        for name in ("stdout", "__stdout__"):
            monkeypatch.setattr(sys, name, pipe)
        assert set(outputs.make_lasting()) >= {"stdout"}
    console = io.TextIOWrapper(io.BytesIO())  # whose raw stream is no file
    for name in ("stdout", "__stdout__"):
        monkeypatch.setattr(sys, name, console)
    assert "stdout" not in outputs.make_lasting()
    assert sys.stdout is console


@pytest.mark.parametrize(
    ("filename", "platform", "status"),
    [(None, "win32", None), ("a?b", "win32", OSError), (None, "linux", OSError)],
)
def test_a_command_ends_where_nobody_reads_on_as_windows_says_it(
    monkeypatch: pytest.MonkeyPatch, filename: str | None, platform: str, status: type[Exception] | None
) -> None:
    def printing(*_: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument", filename)

    closed: list[int] = []
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(_commands, "run", printing)
    monkeypatch.setattr(sys, "argv", ["mcts-envs", "list"])
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(fileno=lambda: 1))
    monkeypatch.setattr(os, "dup2", lambda new, old: closed.append(old))
    with pytest.raises(status) if status else nullcontext():
        _commands.main()
    assert closed == ([] if status else [1])
