"""Hanabi of OpenSpiel: its players see all hands but their own."""

from typing import Any

import numpy as np

_COLORS, _RANKS = "RYGWB", "12345"
_CHANCE = -1


def dealt_anew(state: Any, player: int, chance: np.random.Generator) -> Any:
    """Return the game as it would be with another hand of the player, which fits all hints and all cards seen.

    Every such hand is as likely as its cards are many: cards are drawn one by one from those that fit the hints, with
    replacement, and the hand is kept with the probability by which drawing without replacement is less likely.
    """
    game, past = state.get_game(), state.full_history()
    given = game.get_parameters()
    if given.get("observation_type") in (2, "seer"):  # sees its own hand
        return state
    ranks, colors = given.get("ranks", 5), given.get("colors", 5)
    held = _held(past, player, game.num_players(), given.get("hand_size", 5 if game.num_players() < 4 else 4))
    unseen = np.tile([3, *[2] * (ranks - 2), 1], colors)
    for at, move in enumerate(past):
        if move.player == _CHANCE and at not in held:
            unseen[move.action] -= 1
    fits = [np.flatnonzero(fit & (unseen > 0)) for fit in _hints(state, player, colors, ranks)]
    hand = _hand(fits, unseen, chance)
    actions = [int(move.action) for move in past]
    for at, card in zip(held, hand, strict=True):
        actions[at] = card
    made = game.new_initial_state()
    for action in actions:
        made.apply_action(action)
    return made


def _hand(fits: list[Any], unseen: Any, chance: np.random.Generator) -> list[int]:
    """Draw a card from each list, no card more often than there are unseen ones."""
    while True:
        hand = [int(chance.choice(cards, p=unseen[cards] / unseen[cards].sum())) for cards in fits]
        kept = np.prod([(unseen[card] - hand[:n].count(card)) / unseen[card] for n, card in enumerate(hand)])
        if chance.random() < kept:
            return hand


def _held(past: Any, player: int, players: int, size: int) -> list[int]:
    """Return at which moves the cards were dealt that a player holds, the oldest first."""
    hands: list[list[int]] = [[] for _ in range(players)]
    for at, move in enumerate(past):
        if move.player == _CHANCE:
            next(hand for hand in hands if len(hand) < size).append(at)
        elif move.action < 2 * size:  # a card is discarded, or played
            del hands[move.player][move.action % size]
    return hands[player]


def _hints(state: Any, player: int, colors: int, ranks: int) -> list[Any]:
    """Return for each card of a player which cards it may be, after all hints [colors * ranks]."""
    block = str(state).partition("Hands:\n")[2].partition("Deck size")[0].split("-----\n")[player]
    found = []
    for line in (line for line in block.splitlines() if "||" in line):  # another says whose turn it is
        may_be = line.rpartition("|")[2]
        of_color = np.array([color in may_be for color in _COLORS[:colors]])
        of_rank = np.array([rank in may_be for rank in _RANKS[:ranks]])
        found.append((of_color[:, None] & of_rank).ravel())
    return found
