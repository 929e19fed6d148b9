"""Courses that a game may have taken, as far as a player was shown: what is hidden, drawn by playing again."""

import math
import time
from typing import Any

import numpy as np

from agents.bridge.copying.copies import Copy
from agents.bridge.remembering import History
from agents.bridge.states import ForeignGame
from agents.bridge.trial import Played, chance_apart

PARTICLES = 100
"""Courses of the game that are kept, all with what the player was shown."""

TRIES = 2000
"""Courses that are tried for them before a search."""

_EACH = TRIES // PARTICLES
"""Tries to go on from a course, once its time is over."""

_SHARE = 1 / 3
"""Share of the time of a search in which more than one course is looked for."""

_PATIENCE = 10
"""Times of a search, after which none is looked for any more, though none was found."""

_HOPE = 0.1
"""Courses are begun anew where all tries together may be expected to find so many."""


class Pool:
    """Courses that a game may have taken: a particle filter that rejects.

    The game is played once more with other chance. The player does what it did, the others what is legal, at random;
    courses that show the player something else are dropped. The next search goes on from those that were kept. Where a
    search has a time limit, there are as many as can be found in a third of it, or the first that is found in ten times
    as much as all of it.

    Parameters
    ----------
    game : ForeignGame
    history : History
    agent : object
        The player's name; None in Gymnasium.
    luck : int
        What they are drawn by: of the search that is the first to ask.

    Attributes
    ----------
    particles : list of Played
        From which the next search goes on.
    tried, kept : int
        Courses that were tried last, and those that showed the player the same.
    from_here : bool
        Whether they all begin where no other fitted, with what was hidden there as it is.
    """

    def __init__(self, game: ForeignGame, history: History, agent: Any, luck: int) -> None:
        self._game, self._history, self._agent = game, history, agent
        self._chance = np.random.default_rng(luck)
        self._time, self._wanted = -1, PARTICLES
        self._odds = 1.0  # of a course from another reset on to show the same
        self._until = self._given_up = math.inf
        self.particles: list[Played] = []
        self.tried = self.kept = 0
        self.from_here = False

    def extend(self, time_limit: float = math.inf, wanted: int = PARTICLES) -> None:
        """Bring so many courses to where the game is now, for a search that may take so many seconds.

        What a first search has found out before, how to copy and what is hidden, may have taken longer: courses are
        looked for all the same.
        """
        now = len(self._history.actions)
        if self._time == now and self.particles:
            return
        began = time.perf_counter()
        self._until, self._given_up = (began + share * time_limit for share in (_SHARE, _PATIENCE))
        self.tried, self._wanted = 0, wanted
        with chance_apart(self._draw()):
            found = self._gone_on(now) if self.particles else []
            self._odds *= len(found) / self.tried if found else 1.0 / max(1, self.tried)
            if not found and self._odds * TRIES > _HOPE:
                self.tried = 0
                found = self._begun(now)
                self._odds = len(found) / self.tried
        self.particles, self.kept, self._time = found, len(found), now

    def begin_here(self, seen: Any, infos: Any) -> None:
        """Let courses to come begin where the game is now, as no other fits; ``seen`` and ``infos`` were said last."""
        made = Copy(self._history.env)
        here = Played(self._game, made.env, (seen, infos), held=made.held)
        self.particles, self._odds, self._time = [here], 0.0, len(self._history.actions)
        self.from_here = True

    @property
    def acceptance(self) -> float:
        """The share of courses tried last that were kept."""
        return self.kept / self.tried if self.tried else float("nan")

    def _draw(self) -> int:
        return int(self._chance.integers(2**31))

    def _enough(self, found: int, least: int) -> bool:
        """Say whether no more courses are to be tried: once the time is over one is enough, but so many are tried."""
        if found >= self._wanted or self.tried >= TRIES or (self.tried and time.perf_counter() > self._given_up):
            return True
        return (found > 0 or self.tried >= least) and time.perf_counter() > self._until

    def _begun(self, now: int) -> list[Played]:
        """Return courses from other resets on."""
        made = Copy(self._history.env)
        trial = Played(self._game, made.env, held=made.held)
        found: list[Played] = []
        options = self._history.given.get("options")
        while not self._enough(len(found), TRIES):
            self.tried += 1
            trial.reset(self._draw(), options)
            if self._fits(trial, 0) and self._follows(trial, 0, now):
                found.append(trial.copy())
        return found

    def _gone_on(self, now: int) -> list[Played]:
        """Return courses that go on from those kept."""
        copies: dict[int, Copy] = {}
        found: list[Played] = []
        while not self._enough(len(found), _EACH * len(self.particles)):
            at = self.tried % len(self.particles)
            self.tried += 1
            course = self.particles[at]
            if at in copies:
                copies[at].restore()
            else:
                copies[at] = Copy(course.env)
            copies[at].seed(self._draw())
            trial = Played(self._game, copies[at].env, course.said, course.over, copies[at].held)
            if self._follows(trial, self._time, now):
                found.append(trial)
                del copies[at]  # it is the course's now
        return found

    def _follows(self, trial: Played, start: int, end: int) -> bool:
        """Play from one step to another; return whether the player is shown what it was shown."""
        for t in range(start, end):
            own = self._history.actions[t]
            if not trial.choosing():
                return False
            trial.play(self._agent, own[self._agent] if isinstance(own, dict) else own, self._chance)
            if not self._fits(trial, t + 1):
                return False
        return True

    def _fits(self, trial: Played, t: int) -> bool:
        return not trial.over and trial.shown.get(self._agent) == self._history.shown[t].get(self._agent)
