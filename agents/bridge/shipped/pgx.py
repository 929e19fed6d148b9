"""Games of pgx in which something is hidden."""

from typing import Any

import numpy as np

from agents.bridge.adapters import Adapter

_DECKS = {"kuhn_poker": [0, 1, 2], "leduc_holdem": [0, 0, 1, 1, 2, 2]}
_PUBLIC = 2
"""The place of Leduc's public card, which lies face down in the first round."""


class Pgx(Adapter):
    """Deals poker anew; what other games hide, if anything, has to be drawn by replay."""

    def determinize(self, env: Any, agent: str, chance: np.random.Generator) -> None:
        """Deal the other hand, and the card to come, from all that the player does not see.

        Raises
        ------
        NotImplementedError
            In other games.
        """
        if env.game.id not in _DECKS:
            raise NotImplementedError(f"{env.game.id} cannot be dealt anew")
        state, deck = env.pgx_state, _DECKS[env.game.id].copy()
        cards = np.array(state._cards)
        known = [env.possible_agents.index(agent)]
        if len(cards) > _PUBLIC and state._round > 0:
            known.append(_PUBLIC)
        for place in known:
            deck.remove(cards[place])
        places = [place for place in range(len(cards)) if place not in known]
        cards[places] = chance.permutation(deck)[: len(places)]
        env.pgx_state = state.replace(_cards=cards)
