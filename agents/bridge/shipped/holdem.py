"""Hold'em poker of RLCard, as PettingZoo has it: Leduc, limit and no limit."""

from typing import Any

import numpy as np

from agents.bridge.adapters import Adapter


class Holdem(Adapter):
    """Deals the other hands and the cards to come anew, from all that the player does not see."""

    def determinize(self, env: Any, agent: str, chance: np.random.Generator) -> None:
        """Deal anew; hands in Leduc are single cards."""
        game = env.env.game
        others = [player for player in game.players if player.player_id != env.possible_agents.index(agent)]
        deck = game.dealer.deck
        hands = [hand if isinstance(hand := player.hand, list) else [hand] for player in others]
        unseen = sorted([*deck, *(card for hand in hands for card in hand)], key=_named)
        unseen = [unseen[i] for i in chance.permutation(len(unseen))]
        for player, hand in zip(others, hands, strict=True):
            dealt = [unseen.pop() for _ in hand]
            player.hand = dealt if isinstance(player.hand, list) else dealt[0]
        deck[:] = unseen


def _named(card: Any) -> str:
    """Return the name of a card: sorted by it, what is dealt does not depend on where the cards were."""
    return str(card.get_index())
