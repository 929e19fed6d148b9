"""Blackjack of Gymnasium: the dealer's second card is face down."""

from typing import Any

import numpy as np
from gymnasium.envs.toy_text.blackjack import BlackjackEnv

from agents.bridge.adapters import Adapter
from agents.bridge.shipped.rebound import derived, rebound

_DECK = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]


class Blackjack(Adapter):
    """Draws the dealer's second card from the deck, which never gets smaller."""

    def determinize(self, env: Any, agent: None, chance: np.random.Generator) -> None:
        """Draw the card that lies face down."""
        env.dealer[1] = _drawn(chance)

    def hastened(self, kind: Any) -> Any:
        """Return a class that draws the same cards without making an array of the deck."""
        return (
            derived(kind, step=rebound(BlackjackEnv.step, draw_card=_drawn)) if kind.step is BlackjackEnv.step else kind
        )


def _drawn(np_random: np.random.Generator) -> int:
    """Return the card that ``np_random.choice(deck)`` draws."""
    return _DECK[int(np_random.integers(len(_DECK)))]
