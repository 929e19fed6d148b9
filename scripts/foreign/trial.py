"""An environment of others under trial, in this process: what is found is printed at once, a line of JSON each."""

import json
import os
import signal
import sys
import time
import warnings
from typing import Any

import _own  # noqa: F401
import gymnasium
import numpy as np

import agents
import agents.bridge
from agents.beginning import end_after
from agents.bridge.mirroring import mirrored
from agents.bridge.trial import Played
from foreign.catalogue import CATALOGUE, Entry

MOVES = 5
"""Moves that each planner makes."""

_SECONDS = 0.1
"""A move."""

_ACTING = 20.0
"""Seconds in which moves are begun, by each planner."""


def said(**found: Any) -> None:
    """Print what was found."""
    print(json.dumps(found), flush=True)


def begun(entry: Entry) -> Any:
    """Return the environment, remembered and reset."""
    env = agents.remember(entry.make())
    env.reset(seed=0)
    return env


def looked_at(env: Any) -> Any:
    """Return the view of who is to choose, in whatever API."""
    return agents.bridge.view(env, env.agents[0]) if hasattr(env, "agents") else agents.bridge.view(env)


def report(entry: Entry) -> None:
    """Print what the laws of planning come to."""
    found = agents.check_planning(begun(entry))
    said(laws=[list(law) for law in found.laws])


def act(entry: Entry, name: str) -> None:
    """Print how many moves a planner makes, and what it says that it is."""
    agent, env = agents.make(name, time_limit=_SECONDS, seed=0), begun(entry)
    played, moves = Played(looked_at(env).game, env), 0
    started = time.perf_counter()
    try:
        while moves < MOVES and time.perf_counter() - started < _ACTING:
            if not _choosing(played):
                played.reset(moves)
            played.step({who: agent.search(agents.bridge.view(env, who)).action for who in _choosing(played)})
            moves += 1
    finally:
        said(acted={"agent": name, "moves": moves, "picked": getattr(agent, "picked", "")})


def _choosing(played: Played) -> list[Any]:
    """Return who is to choose, an action that is."""
    return [who for who in played.choosing() if played.legal(who) != [None]]


def compare(entry: Entry, trajectories: int, seconds: float) -> None:
    """Print how many random trajectories of copies are those of the original."""
    env, started = begun(entry), time.perf_counter()
    played = Played(looked_at(env).game, env)
    done = steps = differences = 0
    first = ""
    while done < trajectories and time.perf_counter() - started < seconds:
        chance = np.random.default_rng(done)
        played.reset(done)
        for _ in range(int(chance.integers(entry.walk))):
            legal = {who: played.legal(who) for who in _choosing(played)}
            if legal:
                played.step({who: offered[int(chance.integers(len(offered)))] for who, offered in legal.items()})
        if not _choosing(played):  # the episode is over: from its beginning then
            played.reset(done)
        found = mirrored(agents.bridge.view(env, _choosing(played)[0]).state, done, entry.walk)
        done, steps = done + 1, steps + found.steps
        differences += bool(found.differs)
        first = first or found.differs
    said(compared={"trajectories": done, "steps": steps, "differences": differences, "first": first})


def main(name: str, trajectories: int, seconds: float) -> None:
    """Try an environment of the catalogue."""
    entry = next(entry for entry in CATALOGUE if entry.name == name)
    told: list[str] = []
    warnings.showwarning = lambda message, *_, **__: told.append(" ".join(str(message).split()))
    gymnasium.logger.min_level = gymnasium.logger.ERROR
    for what in (
        lambda: report(entry),
        lambda: act(entry, "mcts"),
        lambda: act(entry, "auto"),
        lambda: compare(entry, trajectories, seconds),
    ):
        try:
            what()
        except Exception as error:
            said(raised=f"{type(error).__name__}: {' '.join(str(error).split())}"[:300])
    said(warned=list(dict.fromkeys(told)))


def end_with_input() -> None:
    """End this process and those that it has started when its input ends: whoever began it holds that, and has ended.

    What asks for input later, as an environment may, is given none.
    """
    held, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)

    def end_group() -> None:
        if os.name == "posix" and os.getpgid(0) == os.getpid():
            os.killpg(0, signal.SIGKILL)

    end_after(lambda: os.read(held, 1), end_group)


if __name__ == "__main__":
    end_with_input()
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
