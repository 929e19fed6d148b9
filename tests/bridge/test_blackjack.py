"""Blackjack, solved: the card that lies face down is not told, and the search plays nearly as well as one can then."""

import functools
import itertools
import math

import gymnasium as gym
import numpy as np
import pytest

from agents.bridge.hidden import ADAPTER, AS_IT_IS
from tests.bridge.worlds import mcts, playing, same_whatever_is_hidden

DECK = [(card, 1 / 13 if card < 10 else 4 / 13) for card in range(1, 11)]


def worth(total, ace):
    return total + 10 if ace and total + 10 <= 21 else total


@functools.cache
def dealer_ends(total, ace):
    """Return how likely the dealer ends with each sum; 0 is a bust."""
    if worth(total, ace) >= 17:
        return {worth(total, ace) if total <= 21 else 0: 1.0}
    ends = {}
    for card, p in DECK:
        for end, q in dealer_ends(total + card, ace or card == 1).items():
            ends[end] = ends.get(end, 0.0) + p * q
    return ends


@functools.cache
def stick(mine, shown, down=None):
    """Return what it is worth to stick, with the card that lies face down known or not."""
    paid = 0.0
    for card, p in DECK if down is None else [(down, 1.0)]:
        for end, q in dealer_ends(shown + card, 1 in (shown, card)).items():
            paid += p * q * ((mine > end) - (mine < end))
    return paid


@functools.cache
def hit(total, ace, shown, down=None):
    paid = 0.0
    for card, p in DECK:
        paid += p * (-1.0 if total + card > 21 else best(total + card, ace or card == 1, shown, down))
    return paid


def best(total, ace, shown, down=None):
    return max(stick(worth(total, ace), shown, down), hit(total, ace, shown, down))


def natural(shown, down=None):
    """Return what it is worth to stick with an ace and a ten: they lose to nothing, and draw with their like."""
    return sum(p * (sorted((shown, card)) != [1, 10]) for card, p in (DECK if down is None else [(down, 1.0)]))


def value_of_game(seen):
    """Return the best mean reward of a hand, for who sees the card that lies face down or not."""
    paid = 0.0
    for first, p in DECK:
        for second, q in DECK:
            for shown, r in DECK:
                hand = first + second, 1 in (first, second), shown
                below = [(down, s) for down, s in DECK] if seen else [(None, 1.0)]
                has_natural = sorted((first, second)) == [1, 10]
                for down, s in below:
                    paid += p * q * r * s * (natural(shown, down) if has_natural else best(*hand, down))
    return paid


def value_of(decided):
    """Return the mean reward of a hand for who decides so, and as is best where nothing is decided."""

    @functools.cache
    def paid(total, ace, shown):
        action = decided.get((worth(total, ace), shown, int(worth(total, ace) != total)))
        if action is None:
            return best(total, ace, shown)
        if not action:
            return stick(worth(total, ace), shown)
        return sum(p * (-1.0 if total + card > 21 else paid(total + card, ace or card == 1, shown)) for card, p in DECK)

    def begun(first, second, shown):
        sticks = not decided.get((21, shown, 1), 0)
        if sorted((first, second)) == [1, 10] and sticks:
            return natural(shown)
        return paid(first + second, 1 in (first, second), shown)

    hands = itertools.product(DECK, DECK, DECK)
    return sum(p * q * r * begun(a, b, shown) for (a, p), (b, q), (shown, r) in hands)


def hand_of(env):
    mine, shown, _ = env.unwrapped._get_obs()
    total = sum(env.unwrapped.player)
    return total, 1 in env.unwrapped.player, shown, mine


def regrets(agent, hands, fair=True):
    """Return how much less than the best move each decision is worth to who does not see the card."""
    env, lost = gym.make("Blackjack-v1"), []
    for seed in range(hands):
        env.reset(seed=seed)
        over = False
        while not over:
            total, ace, shown, mine = hand_of(env)
            action = agent.act(env)
            lost.append(best(total, ace, shown) - (hit(total, ace, shown) if action else stick(mine, shown)))
            _, _, over, _, _ = env.step(action)
    return lost


def test_the_best_at_blackjack_is_known():
    assert value_of_game(seen=False) == pytest.approx(-0.0431, abs=0.0005)
    assert value_of_game(seen=True) > 0.03


def test_the_card_that_lies_face_down_changes_no_search():
    env = playing("Blackjack-v1")
    env.unwrapped.player, env.unwrapped.dealer = [10, 6], [10, 1]

    def put(card):
        env.unwrapped.dealer[1] = card

    changes = [functools.partial(put, card) for card in (1, 5, 7, 10)]
    result = same_whatever_is_hidden(env, changes)
    assert result.copies.hidden == ADAPTER
    told = [mcts(150, seed=4, information="full").search(env).copies.hidden for change in changes[:1]]
    assert told == [AS_IT_IS]


def test_blackjack_is_played_well_without_looking():
    lost = regrets(mcts(1000), 25)
    assert -1e-9 < np.mean(lost) < 0.03


@pytest.mark.slow
def test_blackjack_pays_what_it_can_and_no_more():
    """5,000 hands; what is decided for an observation is decided once, as it depends on nothing else."""
    env, paid, agent, hands, decided = gym.make("Blackjack-v1"), [], mcts(1000), 5000, {}
    for seed in range(hands):
        seen, _ = env.reset(seed=seed)
        over = False
        while not over:
            if seen not in decided:
                decided[seen] = agent.act(env)
            seen, reward, over, _, _ = env.step(decided[seen])
        paid.append(reward)
    error, fair = np.std(paid) / math.sqrt(hands), value_of_game(seen=False)
    assert fair - 0.01 - 3 * error < np.mean(paid) < fair + 3 * error
    assert fair - 0.01 < value_of(decided) <= fair
    assert np.sum(regrets(mcts(1000), 150)) / 150 < 0.02
