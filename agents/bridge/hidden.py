"""What an environment hides from its player: found out, and drawn anew by playing its past once more."""

import contextlib
import math
import weakref
from threading import Lock
from typing import Any, NamedTuple

from gymnasium import spaces

from agents.bridge.cloning import Deep, fresh
from agents.bridge.layers import down
from agents.bridge.means import DEEP, FAST, NATIVE, REPLAY, REPLAY_ANEW
from agents.bridge.pool import Pool
from agents.bridge.remembering import History
from agents.bridge.states import ForeignGame, ForeignState
from agents.bridge.step_wrappers import dressed
from agents.bridge.suspicion import go_apart, hidden_from
from mcts_envs.core.contract import EVERYTHING
from mcts_envs.core.own_code import warn

NOTHING, ADAPTER, SAMPLED = "nothing found", "drawn by the adapter", "drawn by replay"
SINCE = "drawn by replay since it was seen as it is"
AS_IT_IS, UNKNOWN, UNTOLD = "seen as it is", "not looked for", "not told: no two games showed the same"
HASTY = "nothing found in two seconds, as steps take long"

_OTHERS = 3
"""Players besides, the first in order, from whom something may be hidden: with many, to look for all takes long."""

_UNTOLD = (
    "nobody can tell whether {} hides something from {}: {}; if so, planning foresees "
    "what comes of it: register an agents.bridge.Adapter with determinize, or say information='full' and mean it"
)
_APART = (
    "{} is {}, and planning foresees what it hides from {}, or what chance draws where no seed reaches: games "
    "that began alike went on differently; draw what is to come from self.np_random, or say information='full' and "
    "mean it"
)
_FEWER = (
    "{} shows {} of the {} numbers that {} observes, and planning starts from all that is so: say information='full' "
    "and mean it"
)
_MANY = 1000
"""Numbers from which on fewer may tell as much, as those of a smaller picture."""

_NEVER_THE_SAME, _DEAR = "no two games showed it the same", "its steps take long, and a few games showed nothing of it"


_NOTES: dict[int, dict[Any, Any]] = {}
"""What is hidden by wrappers, by the identity of the outermost, which need have no hash, as long as it lives."""


class Copies(NamedTuple):
    """What a search in an environment of others stands on.

    Attributes
    ----------
    means : str
        How it was copied: ``"fast copy"``, say.
    hidden : str
        What became of what the player cannot know: ``"nothing found"`` that is hidden; ``"drawn by the adapter"`` or
        ``"drawn by replay"`` anew in each simulation; or ``"seen as it is"``, with ``information="full"``, or where
        neither is possible, which a warning has said; ``"drawn by replay since it was seen as it is"`` from then on in
        the episode: what came before, and what follows from it, is still seen; ``"not looked for"`` where games take
        too long to begin anew; ``"not told: no two games showed the same"``, as where observations are fractions;
        ``"nothing found in two seconds, as steps take long"`` where a step takes more than two milliseconds, and less
        was looked at.
    particles : int
        Courses of the game, drawn by replay, that showed the player the same.
    acceptance : float
        The share of these among the courses tried; NaN where none were.
    """

    means: str
    hidden: str
    particles: int = 0
    acceptance: float = float("nan")


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
        self._env, self._wrappers, self._veils = live.env, live.wrappers, live.veils
        beneath = down(live.history.env) if live.veils and live.history is not None else []
        self._outside = [veil for veil in live.veils if not any(veil is layer for layer in beneath)]
        self._said: Any = live.seen, live.infos
        self.time_limit: float = live.time_limit
        self._courses: int = live.courses
        self._luck: int = live.luck
        self._how: dict[int, str] = {}
        self._deciding = Lock()

    def redraw(self, state: ForeignState, observer: int, seed: int) -> None:
        """Draw anew, at the root, what a player cannot know."""
        if observer not in self._how:
            with self._deciding:  # one of several threads
                self._how[observer] = self._how.get(observer) or self._decided(observer)
        if self._how[observer] in (SAMPLED, SINCE):
            particles = self._pool(observer).particles
            course = particles[(seed >> 20) % len(particles)]
            state.deal(course)

    def copies(self, observer: int) -> Copies:
        """Return what a search for a player stands on."""
        means, how = str(self._game.notes["means"]), self._how.get(observer, AS_IT_IS)
        if self._game.redraws and observer != EVERYTHING:
            return Copies(means, ADAPTER)
        if how not in (SAMPLED, SINCE):
            return Copies(means, how)
        pool = self._pool(observer)
        return Copies(means, how, len(pool.particles), pool.acceptance)

    def _pool(self, observer: int) -> Pool:
        history, agent = self._history, self._game.seats[observer].name
        assert history is not None
        if agent not in history.pools:
            history.pools[agent] = Pool(self._game, history, agent, self._luck)
        pool: Pool = history.pools[agent]
        return pool

    def _decided(self, observer: int) -> str:
        """Find out what is hidden from a player, and what can be done about it."""
        game, name = self._game, self._game.seats[observer].name
        if game.notes["means"] in (DEEP, REPLAY, REPLAY_ANEW):
            return self._from_resets(observer)
        if game.notes["means"] not in (FAST, NATIVE):
            return UNKNOWN
        hides, whose, blind = self.found(observer), "its player" if name is None else str(name), observer
        if not hides:  # who comes later seldom sees the same twice
            others = [seat for seat in range(game.players) if seat != observer][:_OTHERS]
            if (other := next(filter(self.found, others), None)) is not None:
                hides, whose, blind = self.found(other), f"{game.seats[other].name}, and perhaps from {name}", other
        hasty = hides == () and "hasty" in game.notes
        if (hides is None or hasty) and game.players > 1:
            self._warn(observer, _UNTOLD.format(game.name, name, _DEAR if hasty else _NEVER_THE_SAME))
        if hides is None and (fewer := self._fewer()):
            self._warn(observer, fewer)
            return AS_IT_IS
        if not hides:
            return HASTY if hasty else UNTOLD if hides is None else NOTHING
        drawn = self._drawn(blind, hides)
        through = f", seen through {type(self._veils[0]).__name__}," if self._veils else ""
        if left := tuple(each for each in hides if each not in drawn):
            around = f", outside of {type(self._outside[0]).__name__}," if self._outside else ""
            cure = f"wrap it in agents.remember(env){around} before reset, so that it is drawn anew; or"
            self._warn(observer, _said(game.name + through, whose, left, cure))
        if not drawn:
            return AS_IT_IS
        pool = self._pool(observer)
        if pool.particles or not game.notes.get(("never alike", name)):  # else none fits from another reset
            pool.extend(self.time_limit, self._courses)
        if pool.kept:
            return SINCE if pool.from_here else SAMPLED
        pool.begin_here(*self._said)
        tried = f"none of {pool.tried} other courses" if pool.tried else "no course from another reset"
        self._warn(observer, _said(game.name + through, whose, hides, f"{tried} of the game fits what was seen;"))
        return AS_IT_IS

    def _drawn(self, observer: int, hides: tuple[str, ...]) -> tuple[str, ...]:
        """Return what a replay can draw of what is hidden: what is so to who looks where it is remembered."""
        if self._history is None:
            return ()
        return (self._found_through(self._veils[len(self._outside) :], observer) or ()) if self._outside else hides

    def _from_resets(self, observer: int) -> str:
        """Find out whether games of what has no fast copy hide something from a player, of which nothing is drawn."""
        game, name, history = self._game, self._game.seats[observer].name, self._history
        deep = game.notes["means"] == DEEP
        if ("apart", observer) not in game.notes:
            options = None if history is None else history.given.get("options")
            try:
                env = dressed(Deep(self._env).env, self._wrappers) if deep else fresh(history.env, self._env)  # type: ignore[union-attr]
                game.notes["apart", observer] = go_apart(game, env, name, options)
            except Exception:  # whatever another one raises where it is reset and stepped
                game.notes["apart", observer] = False
        if game.notes["apart", observer]:
            how, whose = "copied by copy.deepcopy" if deep else "replayed", "its player" if name is None else name
            self._warn(observer, _APART.format(game.name, how, whose))
        return AS_IT_IS if game.notes["apart", observer] else UNKNOWN

    def found(self, observer: int) -> tuple[str, ...] | None:
        """Return what games that show a player the same, in the wrappers around, were found to differ in."""
        return self._found_through(self._veils, observer)

    def _found_through(self, veils: tuple[Any, ...], observer: int) -> tuple[str, ...] | None:
        notes, key = self._notes(veils), ("hides", observer)
        if key not in notes:
            notes[key] = self._looked_for(observer, veils)
        found: tuple[str, ...] | None = notes[key]
        return found

    def noted(self, observer: int) -> tuple[str, ...]:
        """Return what was found so far that is hidden from a player."""
        return self._notes(self._veils).get(("hides", observer)) or ()

    def _looked_for(self, observer: int, veils: tuple[Any, ...]) -> tuple[str, ...] | None:
        options = None if self._history is None else self._history.given.get("options")
        env, name = dressed(self._env, self._wrappers), self._game.seats[observer].name
        if not veils:
            return hidden_from(self._game, env, name, options)
        if self._game.notes.get("tells") != "seen":  # else what is legal may be seen no more
            with contextlib.suppress(Exception):  # whatever a wrapper of others raises at what it has not met so far
                found = hidden_from(self._game, dressed(env, veils), name, options)
                if found is not None:
                    return found
        return self._found_through((), observer)

    def _notes(self, veils: tuple[Any, ...]) -> dict[Any, Any]:
        """Return where it is noted what is hidden: from what is seen through wrappers, other things may be."""
        if not veils:
            return self._game.notes
        outermost = veils[0]
        if id(outermost) not in _NOTES:
            weakref.finalize(outermost, _NOTES.pop, id(outermost), None)
            _NOTES[id(outermost)] = {}
        return _NOTES[id(outermost)]

    def _fewer(self) -> str:
        """Say that wrappers leave out some numbers of few that are observed; nothing if they do not."""
        if not self._veils:
            return ""
        inside, outside = self._env.observation_space, self._veils[0].observation_space
        if not isinstance(inside, spaces.Box) or not isinstance(outside, spaces.Box):
            return ""
        all_of_them, shown = math.prod(inside.shape), math.prod(outside.shape)
        if shown >= all_of_them or all_of_them > _MANY:
            return ""
        return _FEWER.format(type(self._veils[0]).__name__, shown, all_of_them, self._game.name)

    def _warn(self, observer: int, said: str) -> None:
        """Say something of a player, once; once more where the cure was taken, which is to remember."""
        said_before = "warned", observer, self._history is not None, *map(type, self._veils)
        if said_before not in self._game.notes:
            self._game.notes[said_before] = True
            warn(said)


def _said(game: str, whose: str, hides: tuple[str, ...], cure: str) -> str:
    return (
        f"{game} hides something from {whose}, in {', '.join(hides)}, and planning foresees what comes of it: "
        f"{cure} register an agents.bridge.Adapter with determinize; or say information='full' and mean it"
    )
