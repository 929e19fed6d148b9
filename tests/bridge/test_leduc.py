"""PettingZoo's Leduc hold'em, solved: what the search wins from a player who draws, against what can be won."""

import functools
import itertools

import numpy as np
import pytest

from agents import bridge
from tests.bridge.worlds import mcts

pytest.importorskip("rlcard")

CARDS = [rank + suit for rank in "JQK" for suit in "SH"]


def deals():
    """Return how likely each deal of ranks is: mine, the other's, the public one."""
    chances = {}
    for dealt in itertools.permutations(CARDS, 3):
        ranks = "".join(card[0] for card in dealt)
        chances[ranks] = chances.get(ranks, 0.0) + 1 / 120
    return chances


class Table:
    """The game for seat 0, in all deals at once; what was said is a tuple of actions."""

    def __init__(self, env):
        self.env, self.root = env, bridge.view(env).state
        self.first = env.possible_agents.index(env.agent_selection)

    def dealt(self, ranks):
        """Return the state at the start with these ranks."""
        state = self.root.copy()
        game = state.env.env.game
        cards = sorted(
            [*game.dealer.deck, *(player.hand for player in game.players)], key=lambda card: card.get_index()
        )
        mine, other, public = (cards.pop([card.rank for card in cards].index(rank)) for rank in ranks)
        game.players[0].hand, game.players[1].hand = mine, other
        game.dealer.deck[:] = [*cards, public]
        return state

    @functools.cache  # noqa: B019  (two tables live as long as the module)
    def after(self, ranks, said):
        """Return the state, who is to choose (None at the end), among what, and what was paid to me."""
        state, paid = (self.after(ranks, said[:-1])[0].copy() if said else self.dealt(ranks)), [0.0, 0.0]
        if said:
            state.game.step(state, [said[-1]] * 2, paid)
        if not state.bits:
            return state, None, (), paid[0]
        chooser, legal = state.bits.bit_length() - 1, [0] * 4
        return state, chooser, tuple(legal[: state.game.legal(state, chooser, legal)]), 0.0

    def known(self, ranks, said):
        """Return what I know of the deal."""
        shown = self.after(ranks, said)[0].env.env.game.public_card is not None
        return ranks[0], ranks[2] if shown else None

    def value(self, chances, said, decide):
        """Return what I am paid in some deals, by their chances; ``decide`` finds it for those that look alike to me.

        The other draws among what is legal, whatever its card.
        """
        _, chooser, legal, _ = self.after(next(iter(chances)), said)
        if chooser is None:
            return sum(chance * self.after(ranks, said)[3] for ranks, chance in chances.items())
        if chooser != 0:
            return sum(self.value(chances, (*said, action), decide) for action in legal) / len(legal)
        groups = {}
        for ranks, chance in chances.items():
            groups.setdefault(self.known(ranks, said), {})[ranks] = chance
        return sum(decide(self, group, said, legal) for group in groups.values())


def best(table, group, said, legal):
    return max(table.value(group, (*said, action), best) for action in legal)


def drawn(table, group, said, legal):
    return sum(table.value(group, (*said, action), drawn) for action in legal) / len(legal)


def seeing(table, group, said, legal):
    return sum(
        max(table.value({ranks: chance}, (*said, action), seeing) for action in legal)
        for ranks, chance in group.items()
    )


def searched(**settings):
    """Return decisions of the search, one for all that I know and what was said."""

    @functools.cache
    def action(table, known, said):
        ranks = next(ranks for ranks in deals() if table.known(ranks, said) == known)
        return mcts(1000, seed=1, **settings).act(table.after(ranks, said)[0].env)

    def decide(table, group, said, legal):
        chosen = action(table, table.known(next(iter(group)), said), said)
        return table.value(group, (*said, chosen), decide)

    return decide


@functools.cache
def tables():
    """Return a game that I begin, and one that the other does."""
    from pettingzoo.classic.rlcard_envs import leduc_holdem

    found, seed = {}, 0
    while len(found) < 2:
        env = leduc_holdem.env()
        env.reset(seed=seed)
        table, seed = Table(env), seed + 1
        found.setdefault(table.first, table)
    return tuple(found.values())


def paid(decide):
    """Return what I am paid a hand from either seat, in big blinds."""
    return np.mean([table.value(deals(), (), decide) for table in tables()])


@pytest.mark.slow
def test_what_can_be_won_is_known():
    assert paid(best) == pytest.approx(1.4716, abs=1e-4)
    assert paid(seeing) == pytest.approx(1.6188, abs=1e-4)  # with the other's card in sight, and the next
    assert paid(drawn) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_the_search_wins_from_who_draws_what_can_be_won():
    assert 1.42 < paid(searched(opponents="uniform")) <= paid(best) + 1e-9
