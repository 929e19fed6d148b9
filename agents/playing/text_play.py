"""A session in a terminal: the board as text, and actions by name, number or the beginning of a name."""

import os
import sys
from collections.abc import Callable
from typing import Any

from agents.arena.faults import message_of
from agents.playing.session import Session
from mcts_envs.core.showing import name_of

_HELP = "an action, by name or number; list, hint, undo, new, quit"
_COMMANDS = ("list", "help", "hint", "undo", "new", "quit")
_LISTED = 60

_LONG = 1.0
"""Seconds after which it is said for whom one waits."""


def play(session: Session, read: Callable[[str], str] = input, write: Callable[[str], None] = print) -> None:
    """Play until somebody quits, or input ends.

    Parameters
    ----------
    session : Session
    read, write : callable, optional
        In place of ``input`` and ``print``.
    """
    told = 0
    write(_HELP)
    while True:
        told = _wait(session, told, write)
        if session.over:
            points = session.table.outcome
            told_points = "" if points is None else f" points {points},"
            write(f"{_board(session)}\nover;{told_points} returns {session.table.returns}")
        people = session.people()
        if people:
            write(_board(session))
        try:
            text = read(f"player {people[0]}> " if people else "> ").strip()
        except (EOFError, KeyboardInterrupt):
            write("")  # what comes next, as the shell's prompt, begins a line
            return
        text = text.lower() if text.lower() in _COMMANDS else text
        if text in ("quit", "q"):
            return
        if not text:
            continue
        try:
            _do(session, text, write)
            told = 0 if text == "new" else told
        except (ValueError, TypeError) as error:
            write(f"{error}")
        except Exception as error:  # of rules of people's own, or of an agent that cannot be made
            write(f"{type(error).__name__}: {message_of(error)}")


def _board(session: Session) -> str:
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return session.table.text(session.viewer, session.people(), coloured)


def _wait(session: Session, told: int, write: Callable[[str], None]) -> int:
    """Wait until somebody who sits here is to choose, or the game is over; say what was chosen, and who thinks long."""
    waiting_for = ""
    while True:
        ready = session.people() or session.over or session.stuck  # what led there is in the news
        news = session.since()
        frames = news["frames"]
        for frame in frames[told:-1]:
            chosen = [f"{_who(news['names'], each['player'])}: {each['name']}" for each in frame["decisions"]]
            if chosen:  # or else they are hidden
                write("; ".join(chosen))
        told = len(frames) - 1
        if ready and not news["thinking"]:
            if news["said"]:
                write(news["said"])
            return told
        session.wait(news["serial"], _LONG)
        if news["thinking"] not in ("", waiting_for) and session.since()["serial"] == news["serial"]:
            waiting_for = news["thinking"]
            write(f"waiting for {waiting_for}")


def _who(names: list[str], player: int) -> str:
    """Return who sits in a seat, and in which where the name is that of several."""
    return names[player] if names.count(names[player]) == 1 else f"player {player}, {names[player]}"


def _do(session: Session, text: str, write: Callable[[str], None]) -> None:
    if text in ("undo", "hint"):
        session.ask({"do": text})
        return
    if text == "new":
        session.ask({"do": "new", "seed": None})
        return
    if session.over:
        raise ValueError("the game is over: undo, hint (a review), new or quit")
    options = session.since()["frames"][-1]["legal"]
    if text in ("list", "?", "help"):
        write(_HELP)
        write("\n".join(f"{each['action']:5} {each['name']}" for each in options[:_LISTED]))
        if len(options) > _LISTED:
            write(f"and {len(options) - _LISTED} more")
        return
    session.ask({"do": "choose", "step": len(session.table.actions), **_meant(session, options, text)})


def _meant(session: Session, options: list[dict[str, Any]], text: str) -> dict[str, int]:
    """Return the option that is meant: of that name or number, or the only one whose name begins so."""
    people = session.people()
    mine = [each for each in options if people and each["player"] == people[0]]
    called = [each for each in mine if text == each["name"]]  # it may be a number, and that of another one
    exact = called or [each for each in mine if text == str(each["action"])]
    found = exact or [each for each in mine if each["name"].startswith(text)]
    if not found:  # in another case, where that means one
        meant = [each for each in mine if each["name"].lower().startswith(text.lower())]
        found = [each for each in meant if each["name"].lower() == text.lower()] or meant
    if len(found) != 1:
        game = session.table.game
        if text.isdigit() and int(text) < game.actions:
            raise ValueError(
                f"{name_of(game, int(text), people[0] if people else 0)} is not legal now; list shows what is"
            )
        some = ", ".join(each["name"] for each in found[:8]) + (f" and {len(found) - 8} more" if len(found) > 8 else "")
        raise ValueError(f"{text!r} could be {some}" if found else f"{text!r} is no legal action; list shows them")
    return {"player": found[0]["player"], "action": found[0]["action"]}
