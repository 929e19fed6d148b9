"""What an environment hides from its player: found out, and drawn anew by playing its past once more."""

import warnings
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from agents.bridge.copying import Copy
from agents.bridge.means import FAST, NATIVE
from agents.bridge.played import Played, chance_apart
from agents.bridge.remembering import History
from agents.bridge.states import ForeignGame, ForeignState
from agents.bridge.suspicion import hidden_from
from mcts_envs.core.contract import EVERYTHING

PARTICLES = 32
"""Courses of the game that are kept, all with what the player was shown."""

TRIES = 2000
"""Courses that are tried for them before a search."""

NOTHING, ADAPTER, SAMPLED = "nothing found", "drawn by the adapter", "drawn by replay"
AS_IT_IS, UNKNOWN, UNTOLD = "seen as it is", "not looked for", "not told: no two games showed the same"


_UNTOLD = (
    "nobody can tell whether {} hides something from {}: no two games showed it the same; if so, planning foresees "
    "what comes of it: register an agents.bridge.Adapter with determinize, or say information='full' and mean it"
)


class Copies(NamedTuple):
    """What a search in an environment of others stands on.

    Attributes
    ----------
    means : str
        How it was copied: ``"fast copy"``, say.
    hidden : str
        What became of what the player cannot know: ``"nothing found"`` that is hidden; ``"drawn by the adapter"`` or
        ``"drawn by replay"`` anew in each simulation; or ``"seen as it is"``, with ``information="full"``, or where
        neither is possible, which a warning has said; ``"not looked for"`` where games take too long to begin anew;
        ``"not told: no two games showed the same"``, as where observations are fractions.
    particles : int
        Courses of the game, drawn by replay, that showed the player the same.
    acceptance : float
        The share of these among the courses tried; NaN where none were.
    """

    means: str
    hidden: str
    particles: int = 0
    acceptance: float = float("nan")


class Pool:
    """Courses that a game may have taken, as far as a player was shown: a particle filter that rejects.

    The game is played once more with other chance. The player does what it did, the others what is legal, at random;
    courses that show the player something else are dropped. The next search goes on from those that were kept.

    Parameters
    ----------
    game : ForeignGame
    history : History
    agent : object
        The player's name; None in Gymnasium.
    """

    def __init__(self, game: ForeignGame, history: History, agent: Any) -> None:
        self._game, self._history, self._agent = game, history, agent
        self._chance = np.random.default_rng(0)
        self._time = -1
        self.particles: list[Played] = []
        self.tried = self.kept = 0

    def extend(self) -> None:
        """Bring the courses to where the game is now."""
        now = len(self._history.actions)
        if self._time == now and self.particles:
            return
        self.tried = self.kept = 0
        with chance_apart(self._draw()):
            particles = self._gone_on(now) if self.particles else []
            self.particles = particles or self._begun(now)
            self.kept = len(self.particles)
        self._time = now

    @property
    def acceptance(self) -> float:
        """The share of courses tried last that were kept."""
        return self.kept / self.tried if self.tried else float("nan")

    def _draw(self) -> int:
        return int(self._chance.integers(2**31))

    def _begun(self, now: int) -> list[Played]:
        """Return courses from other resets on."""
        trial = Played(self._game, Copy(self._history.env).env)
        found: list[Played] = []
        options = self._history.given.get("options")
        while len(found) < PARTICLES and self.tried < TRIES:
            self.tried += 1
            trial.reset(self._draw(), options)
            if self._fits(trial, 0) and self._follows(trial, 0, now):
                found.append(trial.copy())
        return found

    def _gone_on(self, now: int) -> list[Played]:
        """Return courses that go on from those kept."""
        starts = [(course, Copy(course.env)) for course in self.particles]
        found: list[Played] = []
        while len(found) < PARTICLES and self.tried < TRIES:
            course, copy = starts[self.tried % len(starts)]
            self.tried += 1
            copy.restore()
            copy.seed(self._draw())
            trial = Played(self._game, copy.env, course.said, course.over)
            if self._follows(trial, self._time, now):
                found.append(trial.copy())
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


class Hidden:
    """What is done about what a live environment hides, at the root of a search.

    Parameters
    ----------
    live : object
        Of :mod:`agents.bridge.live`.
    """

    def __init__(self, live: Any) -> None:
        self._game: ForeignGame = live.game
        self._history: History | None = live.history
        self._env: Any = live.env
        self._how: dict[int, str] = {}
        self._deciding = Lock()

    def redraw(self, state: ForeignState, observer: int, seed: int) -> None:
        """Draw anew, at the root, what a player cannot know."""
        if observer not in self._how:
            with self._deciding:  # one of several threads
                self._how[observer] = self._how.get(observer) or self._decided(observer)
        if self._how[observer] == SAMPLED:
            particles = self._pool(observer).particles
            course = particles[(seed >> 20) % len(particles)]
            state.deal(course)

    def copies(self, observer: int) -> Copies:
        """Return what a search for a player stands on."""
        means, how = str(self._game.notes["means"]), self._how.get(observer, AS_IT_IS)
        if self._game.redraws and observer != EVERYTHING:
            return Copies(means, ADAPTER)
        if how != SAMPLED:
            return Copies(means, how)
        pool = self._pool(observer)
        return Copies(means, how, len(pool.particles), pool.acceptance)

    def _pool(self, observer: int) -> Pool:
        history, agent = self._history, self._game.seats[observer].name
        assert history is not None
        if agent not in history.pools:
            history.pools[agent] = Pool(self._game, history, agent)
        pool: Pool = history.pools[agent]
        return pool

    def _decided(self, observer: int) -> str:
        """Find out what is hidden from a player, and what can be done about it."""
        game, name = self._game, self._game.seats[observer].name
        if game.notes["means"] not in (FAST, NATIVE):
            return UNKNOWN
        if ("hides", observer) not in game.notes:
            game.notes["hides", observer] = hidden_from(game, self._env, name)
        hides = game.notes["hides", observer]
        if hides is None and game.players > 1:
            self._warn(observer, _UNTOLD.format(game.name, name))
        if not hides:
            return UNTOLD if hides is None else NOTHING
        if self._history is None:
            cure = "wrap it in agents.remember(env) before reset, so that it is drawn anew"
        else:
            pool = self._pool(observer)
            pool.extend()
            if pool.particles:
                return SAMPLED
            cure = f"none of {pool.tried} other courses of the game fits what was seen"
        self._warn(observer, _said(game, name, hides, cure))
        return AS_IT_IS

    def _warn(self, observer: int, said: str) -> None:
        """Say something of a player, once."""
        if ("warned", observer) not in self._game.notes:
            self._game.notes["warned", observer] = True
            warnings.warn(said, stacklevel=2)


def _said(game: ForeignGame, name: Any, hides: tuple[str, ...], cure: str) -> str:
    whose = "its player" if name is None else str(name)
    return (
        f"{game.name} hides something from {whose}, in {', '.join(hides)}, and planning foresees what comes of it: "
        f"{cure}; or register an agents.bridge.Adapter with determinize; or say information='full' and mean it"
    )
