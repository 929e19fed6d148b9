"""Compiling all games at once can be ended: nothing more begins, and how it ended is told."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import active_children
from multiprocessing.process import BaseProcess
from typing import Any

import compile
import pytest
import typer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself Ctrl-C there")


class Modules(list[str]):
    """Many to compile; something is done before the second of them."""

    def __init__(self, then: Callable[[], object] = list) -> None:
        super().__init__(["mcts_envs.core.cores"] * 2000)
        self.then, self.begun = then, False

    def __iter__(self) -> Iterator[str]:
        self.begun = True
        yield self[0]
        self.then()
        yield from self[1:]


def warmed(monkeypatch: pytest.MonkeyPatch, **packages: list[str]) -> int:
    others = active_children()  # of other tests, which are left alone

    def own() -> list[BaseProcess]:
        return [process for process in active_children() if process not in others]

    monkeypatch.setattr(compile, "active_children", own)
    monkeypatch.setattr(compile, "packages", lambda: packages)
    with pytest.raises(typer.Exit) as ended:
        compile.main(None, 1)
    assert not own()
    return ended.value.exit_code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_ends_the_compiling_waits_for_no_package(monkeypatch: Any, capsys: Any, number: signal.Signals) -> None:
    first, later = Modules(partial(signal.pthread_kill, threading.main_thread().ident, number)), Modules()
    later.pop()  # the larger come first
    assert warmed(monkeypatch, core=Modules()[:1], first=first, later=later) == 128 + number
    assert not later.begun
    said = f"interrupted ({number.name}); what was compiled is kept, and the same command goes on\n"
    assert capsys.readouterr().err == said


def test_a_process_that_was_killed_is_told_with_what_to_do(monkeypatch: Any, capsys: Any) -> None:
    killed = Modules(lambda: [process.kill() for process in compile.active_children()])
    assert warmed(monkeypatch, core=killed) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: the process that compiled mcts_envs.core.cores was ended from outside")
    assert said.endswith("(--workers 1 takes less); the same command goes on\n")


def test_what_could_not_be_kept_is_no_success(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(compile, "compiled", lambda modules: [bool(modules)])
    assert warmed(monkeypatch, core=[], toy=["mcts_envs.core.cores"]) == 2
    assert capsys.readouterr().err.startswith("error: compiled code of core could not all be kept, and every process ")
