"""Blackjack of Gymnasium: the dealer's second card is face down."""

from typing import Any

import numpy as np

from agents.bridge.adapters import Adapter

_DECK = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]


class Blackjack(Adapter):
    """Draws the dealer's second card from the deck, which never gets smaller."""

    def determinize(self, env: Any, agent: None, chance: np.random.Generator) -> None:
        """Draw the card that lies face down."""
        env.dealer[1] = _DECK[int(chance.integers(len(_DECK)))]
