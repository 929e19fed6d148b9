"""Whether an environment hides something from its player that matters: found out by playing a few games."""

import contextlib
import itertools
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from agents.bridge.cloning import drawn_from
from agents.bridge.copying.chance import reseed
from agents.bridge.copying.copies import Copy
from agents.bridge.layers import innermost
from agents.bridge.remembering import fingerprint
from agents.bridge.states import ForeignGame
from agents.bridge.trial import Played, chance_apart
from mcts_envs.core.contract import EVERYTHING

_GAMES = 64
_FEW_GAMES = 4
"""Games that are begun; few where observations are seldom equal, being fractions or more than so many numbers."""

_LARGE = 1000
_STEPS = 4
_PAIRS, _LINES, _FUTURE = 64, 4, 12
"""Pairs of games that showed the same and are not: so many are played on, in lines of their own, for so many steps."""

_SECONDS, _DEAR, _LARGE_DEAR = 2.0, 0.002, 0.02
"""After that less is looked at, after twice that no game is begun any more, where steps take so many seconds each, or
so many with what is done about them: copies and keys of an environment that holds much."""

_DEAREST = 4
"""A step counts as so many dear ones at most: one in many that waits for a busy machine makes the others not dear."""

_LEAST_GAMES, _LEAST_PAIRS = 8, 2
"""Games, and pairs of games of one length in one line each, that are looked at however long it takes."""

_ALIKE = -1
"""In place of a length: of pairs that seem to be in the same state, of which what a seed decides later is no part."""

_OVER = object()


class _Haste:
    """Whether the time for a look is over; who waits for longer is told what for.

    Parameters
    ----------
    game : ForeignGame
        What is looked at; it notes ``"waited for"`` where that was said.

    Attributes
    ----------
    cut : bool
        Whether something was left out.
    """

    def __init__(self, game: ForeignGame) -> None:
        self._game = game
        self._began = time.perf_counter()
        self._steps, self._spent = 0, 0.0
        self.cut = False

    def timed(self, step: Callable[..., None], *given: Any) -> None:
        """Make a step, or a reset, and note how long it takes."""
        began = time.perf_counter()
        step(*given)
        ended = time.perf_counter()
        self._spent += min(ended - began, _DEAREST * _DEAR)
        self._steps += 1
        if ended - self._began > _SECONDS and "waited for" not in self._game.notes:
            self._game.notes["waited for"] = True
            with contextlib.suppress(OSError, ValueError):  # nobody reads it, or it is closed
                what = f"looking for what {self._game.name} hides, once; searches with information='full' do without"
                print(f"agents: {what}", file=sys.stderr, flush=True)

    def late(self, times: int = 1) -> bool:
        """Say whether so many times the time for a look are over: whoever asks leaves something out then."""
        seconds = time.perf_counter() - self._began
        dear = self._spent >= self._steps * _DEAR or seconds > self._steps * _LARGE_DEAR
        late = seconds > times * _SECONDS and dear
        self.cut |= late
        return late


class _Met:
    """A game as it was met, which is not played on as long as this is used.

    Parameters
    ----------
    seed : int
        Of its reset.
    played : Played
    """

    def __init__(self, seed: int, played: Played) -> None:
        self.seed, self.played = seed, played

    @cached_property
    def key(self) -> int | None:
        """What tells its state apart, but for chance to come; None if it has no key."""
        try:
            key: int = self.played.game.key(self.played.state, EVERYTHING)
        except TypeError:
            return None
        return key

    def differs(self, other: "_Met") -> bool:
        """Say whether another game is in another state: any that has no key may be."""
        return self.key is None or self.key != other.key


def hidden_from(game: ForeignGame, env: Any, agent: Any, options: Any = None) -> tuple[str, ...] | None:
    """Return the attributes in which games differ that show a player the same, if what is to come depends on them.

    Two games that showed the same, with the same actions of the player, are played on with the same actions and the
    same chance. An empty answer is no proof. None says that no two games showed the same, so that nothing can be told.
    Where steps take so long that only part of it is looked at, the game notes ``"hasty"``; where something is found,
    but no games of two seeds showed the same, ``("never alike", agent)``.

    Parameters
    ----------
    game : ForeignGame
    env : object
        The environment, unwrapped; it is copied.
    agent : object
        The player's name; None in Gymnasium.
    options : mapping, optional
        What a reset takes besides a seed. Where it wants more, nothing can be told.
    """
    met: dict[Any, list[_Met]] = {}
    pairs: Counter[int] = Counter()
    found: tuple[str, ...] = ()
    compared, haste = False, _Haste(game)
    try:
        with chance_apart(0):
            for seed, known, played in _situations(game, env, agent, options, haste):
                others = met.setdefault(known, [])
                here = _Met(seed, played)
                for other in others:
                    compared |= other.seed != seed  # games of one seed tell of choices alone
                    if found or not (other.seed != seed or here.differs(other)):
                        continue
                    count, tried = len(known) if here.differs(other) else _ALIKE, pairs.total()
                    more = count != _ALIKE and not haste.late()
                    if tried < _PAIRS and (pairs[count] < _LEAST_PAIRS or more):
                        pairs[count] += 1
                        lines = range(_LINES * tried, _LINES * (tried + 1))
                        apart = _told_apart(played, other.played, agent, lines, haste)
                        if apart and count == _ALIKE:  # two copies of one game may go on differently, by a set's order
                            apart = not _told_apart(other.played, other.played, agent, lines, haste)
                        if apart:
                            found = _differences(played, other.played)
                if found and compared:
                    return found
                if not others or (len(others) < 3 and here.differs(others[0])):
                    others.append(_Met(seed, played.copy()))
    except (TypeError, NotImplementedError):  # what cannot be copied cannot be compared
        return None
    if found:
        game.notes["never alike", agent] = True
        return found
    if haste.cut:
        game.notes["hasty"] = True
    return () if compared else None


def go_apart(game: ForeignGame, env: Any, agent: Any, options: Any = None) -> bool:
    """Say whether games that begin alike go on differently, with the same actions and the same chance.

    So it is where a reset has drawn what the player does not see, or where chance lies that no seed reaches: of what is
    replayed no more can be told.

    Parameters
    ----------
    game : ForeignGame
    env : object
        One that nobody else plays, in its wrappers.
    agent : object
    options : mapping, optional
        What a reset takes besides a seed.
    """
    courses: dict[Any, list[Any]] = {}
    haste = _Haste(game)
    for line, seed in itertools.product(range(_LINES), range(_LEAST_GAMES)):
        if line and len(courses) == line * _LEAST_GAMES:
            return False  # no two begin alike
        with chance_apart(0):
            played, chance = Played(game, env), np.random.default_rng(line)
            haste.timed(played.reset, seed, options)
            reseed(drawn_from(innermost(env)), 0)
            begun = line, played.shown.get(agent)
            shown: list[Any] = []
            while begun[1] is not None and len(shown) < _FUTURE and (names := played.choosing()):
                legal = played.legal(agent) if agent in names else []
                own = legal[int(chance.integers(len(legal)))] if legal else None
                haste.timed(played.play, agent, own, chance)
                shown.append(played.shown.get(agent))
                if haste.late():
                    return False
        if courses.setdefault(begun, shown) != shown:
            return True
        if haste.late():
            break
    return False


def _situations(
    game: ForeignGame, env: Any, agent: Any, options: Any, haste: _Haste
) -> Iterator[tuple[int, Any, Played]]:
    """Play games for a few steps; yield the seed, what the player knows, and the game, whenever it is to choose.

    Those that are begun late are played until the player is to choose for the first time. Where others play, each
    seed is played twice: games of fractions show the same only where others have chosen what nobody has seen yet.
    """
    made, chance, times = Copy(env), np.random.default_rng(0), 1 + (game.players > 1)
    played = Played(game, made.env, held=made.held)
    begun, games = 0, _GAMES
    while begun < games and (begun < _LEAST_GAMES or not haste.late(2)):
        try:
            seed = begun // times
            haste.timed(played.reset, seed, options)
        except Exception as error:
            raise NotImplementedError from error
        known: list[Any] = []
        for t in range(_STEPS):
            if agent in played.shown:
                seen = _numbers(played, agent)
                if seen.size > _LARGE or not np.array_equal(seen, np.round(seen)):
                    games = _FEW_GAMES
                known.append(played.shown[agent])
                yield seed, tuple(known), played
            if not played.choosing() or t == _STEPS - 1 or (known and begun >= _FEW_GAMES and haste.late()):
                break
            own = None
            if agent in played.choosing():
                legal = played.legal(agent)
                own = legal[(seed % 2 * t) % len(legal)]
                known.append(own)
            haste.timed(played.play, agent, own, chance)
        begun += 1


def _numbers(played: Played, agent: Any) -> Any:
    """Return the numbers in what a player is shown [n]."""
    shown = played.observation(agent)
    flat: list[Any] = []
    parts = [shown]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            parts.extend(part.values())
        elif isinstance(part, (tuple, list)):
            parts.extend(part)
        elif isinstance(part, (np.ndarray, np.generic, float, int)):
            flat.append(np.asarray(part, np.float64).ravel())
    return np.concatenate(flat) if flat else np.zeros(0)


def _differences(one: Played, other: Played) -> tuple[str, ...]:
    """Return the attributes in which two environments differ that are not in the same state."""
    held, others = vars(innermost(one.env)), vars(innermost(other.env))
    names = [name for name in held if name in others and name != "_np_random_seed"]
    found = [name for name in names if fingerprint((held[name],)) != fingerprint((others[name],))]
    return tuple(found) or ("what its seed decides",)


def _told_apart(one: Played, other: Played, agent: Any, lines: range, haste: _Haste) -> bool:
    """Say whether two games show a player different things, or pay others differently, played on in so many lines.

    Late, in one, not as far.
    """
    games = [(each, Copy(each.env)) for each in (one, other)]
    for seed in lines:
        if seed > lines.start and haste.late():
            return False
        both = [_shown(*each, agent, seed, haste) for each in games]
        if any(shown != seen for shown, seen in zip(*both, strict=False)):
            return True
    return False


def _shown(played: Played, copy: Copy, agent: Any, seed: int, haste: _Haste) -> list[Any]:
    """Return what a player is shown when everybody goes on at random from a copy, with all chance from a seed.

    And what all are paid: what others hold in hand decides what they choose, if nothing else.
    """
    shown: list[Any] = []
    with chance_apart(seed):
        chance = np.random.default_rng(seed)
        copy.restore()
        copy.seed(seed)
        trial = Played(played.game, copy.env, played.said, played.over)
        while len(shown) < _FUTURE and not (len(shown) > _STEPS and haste.late()):
            names = trial.choosing()
            if not names:
                return [*shown, _OVER]
            legal = trial.legal(agent) if agent in names else []
            haste.timed(trial.play, agent, legal[int(chance.integers(len(legal)))] if legal else None, chance)
            shown.append((trial.shown.get(agent), trial.paid))
    return shown
