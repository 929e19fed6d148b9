"""Whether two players who move in turn are paid the same, as in Hanabi: found out by playing a few games."""

from typing import Any

import numpy as np

from agents.bridge.copying.copies import Copy
from agents.bridge.means import FAST, NATIVE
from agents.bridge.states import ForeignGame, ForeignState
from agents.bridge.trial import Played, chance_apart

_GAMES, _STEPS = 8, 60
"""Games that are begun, and steps of all of them together."""


def paid_alike(state: Any) -> bool:
    """Return whether all players were paid the same, whenever they were paid something, in games at random.

    Draws alone, at the end of a game and each worth as much, do not show it. Of games of ours their teams say it.
    """
    if not isinstance(state, ForeignState):
        return False
    notes = state.game.notes
    if notes.get("means") not in (FAST, NATIVE):  # a copy of it is no world of its own
        return False
    if "paid alike" not in notes:
        try:
            with chance_apart(0):
                notes["paid alike"] = _found(state.game, state.env)
        except Exception:  # it is not copied, or whatever one of others raises where it is reset and stepped
            notes["paid alike"] = False
    return bool(notes["paid alike"])


def _found(game: ForeignGame, live: Any) -> bool:
    made, chance = Copy(live), np.random.default_rng(0)
    played, env = Played(game, made.env, held=made.held), made.env
    steps, midway = 0, False
    totals = []
    for seed in range(_GAMES):
        played.reset(seed)
        totals.append(0.0)
        while played.choosing() and steps < _STEPS:
            played.play(None, None, chance)
            steps += 1
            paid = {float(env.rewards.get(seat.name, 0.0)) for seat in game.seats}
            if len(paid) > 1:
                return False
            totals[-1] += max(paid)
            midway |= totals[-1] != 0.0 and not any(env.terminations.values())
        if steps == _STEPS:
            break
    return midway or len({*totals} - {0.0}) > 1
