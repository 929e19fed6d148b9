"""States that a search has foreseen: where nothing remembers what was shown, they are known by what is in them.

In a state that holds the same everything goes on alike but for chance, whatever episode it is: what was found out about
its future is true of it.
"""

import math
import time
import timeit
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from agents.bridge.copying.copies import own
from agents.bridge.copying.digest import contents, digest
from agents.bridge.kinds import held
from mcts_envs.core.contract import EVERYTHING
from mcts_envs.core.view import Episode

_PARTS = 4
"""Looking through the environment may take such a part of the time for it: that is done some ten times a move."""

_OUTCOMES, _MISSES = 16, 4
"""So many outcomes of an action are looked at, fewer where so many in turn brought nothing new."""


class Foreseen(NamedTuple):
    """A state's episode, and what the environment says when it comes to it."""

    episode: Episode
    seen: Any
    infos: Any


_UNTOLD = Foreseen(Episode(), None, None)

_FORESEEN: "WeakKeyDictionary[Any, dict[int, Foreseen]]" = WeakKeyDictionary()
"""Of each live environment that was searched, by the key of all that it will hold."""


def foreseen(live: Any) -> Foreseen | None:
    """Return what a search has foreseen of the state of a live environment; None where none has, or need not have."""
    if live.history is not None or type(live.env).__hash__ is None or live.env not in _FORESEEN:
        return None
    key = _key(live)
    return None if key is None else _FORESEEN[live.env].get(key)


def foresee(live: Any, episode: Episode, action: int, seconds: float) -> None:
    """Note what may come of an action, and of which episode that is, unless something remembers it.

    Parameters
    ----------
    live : LiveSingle
    episode : Episode
    action : int
        Counted from 0.
    seconds : float
        The time for it. One outcome is noted at least, but where to look through the environment takes too much of it.
    """
    if live.history is not None or type(live.env).__hash__ is None or _dear(live, seconds / _PARTS):
        return
    if (here := _key(live)) is None:
        return
    told = _FORESEEN.get(live.env, {}).get(here, _UNTOLD)  # not what is told with this view: it came through wrappers
    ends, misses, known = time.perf_counter() + seconds, 0, {here: told._replace(episode=episode)}
    root, work = live.copy(), live.game.new_state()
    for seed in range(_OUTCOMES):
        work[:] = root
        live.game.determinize(work, EVERYTHING, seed)
        live.game.step(work, [action], [0.0])
        key = _key(work)
        if key is None:
            return
        misses = misses + 1 if key in known else 0
        known[key] = _agreed(known.get(key), Foreseen(episode, *own((work.seen, work.infos))))
        if misses == _MISSES or time.perf_counter() > ends:
            break
    _FORESEEN[live.env] = known


def _agreed(before: Foreseen | None, now: Foreseen) -> Foreseen:
    """Return what was foreseen, without what is not said twice alike of one state: it is drawn anew at each step."""
    if before is None:
        return now
    alike = [contents(was) == contents(said) is not None for was, said in zip(before[1:], now[1:], strict=True)]
    return Foreseen(now.episode, *(said if same else None for said, same in zip(now[1:], alike, strict=True)))


def _dear(live: Any, seconds: float) -> bool:
    """Say whether it takes longer to look through an environment; that is tried twice, and noted."""
    if seconds < math.inf and "looked through in" not in live.game.notes:
        live.game.notes["looked through in"] = min(timeit.repeat(lambda: _key(live), number=1, repeat=2))
    return bool(seconds < live.game.notes.get("looked through in", 0.0))


def _key(state: Any) -> int | None:
    """Return the key of all that an environment holds, whatever time is left; None if it cannot be looked into.

    Its own snapshots may leave out what only a reset changes.
    """
    tells = held(state)
    own_word = state.game.adapter is None and tells is not state.env
    try:
        return digest((state.bits, tells, contents(state.env) if own_word else None))
    except TypeError:
        return None
