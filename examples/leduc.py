"""Leduc hold'em, a small poker in which a card is hidden, in one file: ``python examples/leduc.py`` plays it.

Six cards, two of each of three ranks. Both players stake 1 and get a card that the other does not see. In each of two
rounds they call or raise, twice at most, by 2 and then by 4; before the second a card is laid open. Who folds loses the
stakes; else a pair with the open card wins, or the higher rank. (F. Southey et al. 2005, "Bayes' Bluff: Opponent
Modelling in Poker"; moves are numbered as OpenSpiel has them.)

``determinize`` and ``key`` are all that a search needs to be fair: it draws anew the cards that its player has not
seen, and its tree tells apart what its player can.
"""

import gymnasium
import numpy as np

import agents
import mcts_envs
from mcts_envs.core.contract import (
    ACTIVE,
    DETERMINIZE,
    KEY,
    LEGAL,
    OBSERVE,
    OUTCOME,
    RESET,
    STATUS,
    STEP,
    Game,
    blank,
    state_dtype,
)
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import below, combine, seed_stream

CARDS, MOST = 6, 13
"""Cards 0 to 5, of rank card // 2; and the most that a player can stake."""

FOLD, CALL, RAISE = range(3)

# ``deck``: the cards of both players, the open one, and the rest; ``second``: whether it is the second round;
# ``history``: two bits for each move.
STATE = state_dtype(
    [
        ("deck", "u1", CARDS),
        ("staked", "u1", 2),
        ("turn", "u1"),
        ("second", "u1"),
        ("raises", "u1"),
        ("moves", "u1"),
        ("over", "u1"),
        ("history", "u8"),
    ]
)


@kernel()
def deal(state, first):
    """Shuffle the cards from one place on."""
    s = record(state, STATE)
    for i in range(CARDS - 1, first, -1):
        j = first + below(state, i + 1 - first)
        s.deck[i], s.deck[j] = s.deck[j], s.deck[i]


@kernel(RESET)
def reset(state, seed):
    """Shuffle, and stake 1 each."""
    seed_stream(state, seed)
    s = record(state, STATE)
    for i in range(CARDS):
        s.deck[i] = i
    s.staked[0] = s.staked[1] = 1
    s.turn = s.second = s.raises = s.moves = s.over = s.history = 0
    deal(state, 0)


@kernel(ACTIVE)
def active(state):
    """Players take turns; the first begins both rounds."""
    s = record(state, STATE)
    return 0 if s.over else 1 << s.turn


@kernel(LEGAL)
def legal(state, player, actions):
    """Fold what was raised, call, and raise twice a round at most."""
    s = record(state, STATE)
    count = 0
    if s.staked[1 - player] > s.staked[player]:
        actions[count] = FOLD
        count += 1
    actions[count] = CALL
    count += 1
    if s.raises < 2:
        actions[count] = RAISE
        count += 1
    return count


@kernel()
def strength(s, player):
    """Return what a hand is worth: a pair more than any rank."""
    mine, common = np.int64(s.deck[player]) // 2, np.int64(s.deck[2]) // 2
    return mine + 3 * np.int64(mine == common)


@kernel()
def pay(s, winner, rewards):
    """End the game: the loser's stake goes to the winner, nothing where there is none (-1)."""
    s.over = 1
    if winner >= 0:
        rewards[winner] = np.float64(s.staked[1 - winner])
        rewards[1 - winner] = -rewards[winner]


@kernel(STEP)
def step(state, actions, rewards):
    """Make a move; to fold where nothing was raised, or to raise too often, is to call."""
    s = record(state, STATE)
    rewards[0] = rewards[1] = 0.0
    if s.over:
        return
    player, move = s.turn, actions[s.turn]
    behind = s.staked[1 - player] > s.staked[player]
    if (move == FOLD and not behind) or (move == RAISE and s.raises == 2):
        move = CALL
    s.history = s.history << np.uint64(2) | np.uint64(move + 1)
    if move == FOLD:
        pay(s, 1 - player, rewards)
        return
    s.staked[player] = s.staked[1 - player]
    s.moves += 1
    if move == RAISE:
        s.staked[player] += 2 + 2 * s.second
        s.raises += 1
    elif s.moves > 1:
        if s.second:
            mine, other = strength(s, 0), strength(s, 1)
            pay(s, 0 if mine > other else 1 if other > mine else -1, rewards)
            return
        s.second, s.turn, s.raises, s.moves = 1, 0, 0, 0
        return
    s.turn = 1 - player


@kernel(STATUS)
def status(state, player):
    """The game ends for both."""
    return 1 if record(state, STATE).over else 0


@kernel(OUTCOME)
def outcome(state, points):
    """Count chips: half a point for none, all of it for the most that can be won."""
    for player in range(2):
        points[player] = 0.5 + points[player] / (2.0 * MOST)


@kernel(KEY)
def key(state, observer):
    """Tell apart all moves, the open card, and the cards that the observer sees; with -1 all that are dealt."""
    s = record(state, STATE)
    found = combine(s.history, np.uint64(s.second))
    for place in range(3):
        seen = s.second > 0 if place == 2 else observer in (-1, place)
        found = combine(found, np.uint64(1 + s.deck[place] if seen else 0))
    return found


@kernel(DETERMINIZE)
def determinize(state, observer, seed):
    """Deal anew what the observer has not seen; for -1, that is what is not dealt yet."""
    seed_stream(state, seed)
    s = record(state, STATE)
    first = 3 if s.second else 2
    if observer >= 0 and not s.over:
        other, place = 1 - observer, first + below(state, CARDS - first + 1)
        if place < CARDS:  # or else it is the card that the other has
            s.deck[other], s.deck[place] = s.deck[place], s.deck[other]
    deal(state, first)


@kernel(OBSERVE)
def observe(state, player, out):
    """Show the own card, the open one, both stakes and whose turn it is."""
    s = record(state, STATE)
    for i in range(len(out)):
        out[i] = 0.0
    out[np.int64(s.deck[player]) // 2] = 1.0
    if s.second:
        out[3 + np.int64(s.deck[2]) // 2] = 1.0
    out[6] = np.float32(s.staked[player]) / MOST
    out[7] = np.float32(s.staked[1 - player]) / MOST
    out[8] = np.float32(s.turn == player)


def text(state, viewer=None):
    """Return cards and stakes as a line; for a viewer without the other's card."""
    s = record(state, STATE)
    shown = viewer in (None, 0), viewer in (None, 1), s.second
    cards = ["JQK"[card // 2] if seen else "-" for card, seen in zip(s.deck[:3].tolist(), shown, strict=True)]
    return f"cards {cards[0]} {cards[1]}, open {cards[2]}, stakes {s.staked[0]} {s.staked[1]}"


GAME = Game(
    "leduc", 2, 3, blank(STATE), reset, active, legal, step, status, layout=STATE,
    outcome=outcome, key=key, determinize=determinize, observe=observe, observation_shape=(9,), text=text,
    action_name=("fold", "call", "raise").__getitem__,
)  # fmt: skip

mcts_envs.register("Leduc-v0", GAME)

if __name__ == "__main__":
    env, agent = gymnasium.make("Leduc-v0", render_mode="ansi"), agents.make("mcts", simulations=500)
    env.reset(seed=0)
    over = False
    while not over:
        action = agent.act(env)
        _, reward, over, _, _ = env.step(action)
        print(f"{GAME.action_name(action)}: {env.render()}")
    print(f"{reward:+.0f} chips")
