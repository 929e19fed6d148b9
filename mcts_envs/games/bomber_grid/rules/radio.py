"""A code for the two words of the radio: where the sender sees an enemy.

The first word is 0 where none is in sight. Else it is one more than half of the row of the nearest enemy, rounded down,
and the second word half of its column: a block of 2 x 2 cells, six by six of which cover the board. Who listens and
does not see an enemy there takes it that one of those in the fog stands there, or one step away, for the words are one
step old. Nobody is believed who sends what is no block of the board, or one that can be seen to be empty.

In the variant ``radio`` of the game players think so: what a player cannot know is drawn as its mate's words have it,
and its own moves go with the words that it has to say.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, DETERMINIZE, LEGAL, STEP, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import below
from mcts_envs.games.bomber_grid.rules import hidden, kernels, memory
from mcts_envs.games.bomber_grid.rules.bits import (
    BOARD,
    EVERY_HIGH,
    EVERY_LOW,
    ZERO,
    any_of,
    beside,
    both,
    common,
    count,
    first,
    pair,
    remove,
    rest,
    single,
    without,
)
from mcts_envs.games.bomber_grid.rules.danger import others_of
from mcts_envs.games.bomber_grid.rules.hidden import nth
from mcts_envs.games.bomber_grid.rules.layout import STATE, WIDTH, WORDS
from mcts_envs.games.bomber_grid.rules.moves import is_alive
from mcts_envs.games.bomber_grid.rules.sight import enemies_of, mate_of, window

BLOCK = 2
"""Rows and columns of a block."""

FIXED = WORDS
"""Added to the first word of a player in states that it imagines: it goes on saying the same there, and others nothing,
so that a tree branches by moves alone."""


@kernel()
def words_of(s, player):
    """Return the words of a player's last move, ``8 * first + second``."""
    return WORDS * np.int64(s.words[player, 0]) + np.int64(s.words[player, 1])


@kernel(types.int64(BYTES, types.int64))
def report(state, player):
    """Return the words that a player has to say, ``8 * first + second``."""
    s = record(state, STATE)
    cells, here = enemies_of(s, player, window(state, player)), np.int64(s.stands[player])
    nearest, words = 4 * WIDTH, 0
    while any_of(cells):
        cell = first(cells)
        cells = rest(cells)
        steps = abs(cell // WIDTH - here // WIDTH) + abs(cell % WIDTH - here % WIDTH)
        if steps < nearest:
            nearest = steps
            words = WORDS * (1 + cell // WIDTH // BLOCK) + cell % WIDTH // BLOCK
    return words


@kernel(BOARD(types.int64))
def meant(words):
    """Return the cells in which the enemy may stand that words of the last step tell of; none if they tell of none."""
    top, left, block = BLOCK * (words // WORDS - 1), BLOCK * (words % WORDS), (ZERO, ZERO)
    if top >= 0:
        for row in range(top, min(top + BLOCK, WIDTH)):
            for column in range(left, min(left + BLOCK, WIDTH)):
                block = both(block, single(WIDTH * row + column))
    return both(block, beside(block))


@kernel(types.void(BYTES, types.int64))
def listen(state, observer):
    """Let an enemy in the fog stand where the mate saw one, if none does and there is room."""
    s, mate = record(state, STATE), mate_of(observer)
    if not is_alive(s, mate):
        return
    inside, seen = without((EVERY_LOW, EVERY_HIGH), pair(s.outside)), window(state, observer)
    told, enemies = meant(words_of(s, mate)), enemies_of(s, observer, inside)
    unseen = without(enemies, seen)
    if any_of(common(told, enemies)) or not any_of(unseen):
        return
    taken = both(both(pair(s.rigid), pair(s.wood)), both(pair(s.fire), others_of(s, -1)))
    for bomb in range(s.n_bombs):
        taken = both(taken, single(np.int64(s.bomb_cell[bomb])))
    free = without(without(common(told, inside), seen), taken)
    if any_of(free):
        cell, there = nth(unseen, below(state, count(unseen))), nth(free, below(state, count(free)))
        for player in range(s.players):
            if is_alive(s, player) and s.stands[player] == cell:
                s.stands[player] = there
        for kind in range(3):
            remove(s.items[kind], there)


@kernel()
def _have_heard(state, observer):
    """Take in what the mate said, and fix what there is to say."""
    listen(state, observer)
    s, words = record(state, STATE), report(state, observer)
    s.words[observer, 0], s.words[observer, 1] = FIXED + words // WORDS, words % WORDS


@kernel(DETERMINIZE)
def determinize(state, observer, seed):
    """Redraw all that a player cannot know, but as its mate's words have it."""
    hidden.determinize(state, observer, seed)
    if observer >= 0:
        _have_heard(state, observer)


@kernel(DETERMINIZE)
def determinize_remembered(state, observer, seed):
    """The same for players who remember."""
    memory.determinize(state, observer, seed)
    if observer >= 0:
        _have_heard(state, observer)


@kernel()
def _fixed(s):
    """Return the player whose words are fixed, or -1."""
    for player in range(s.players):
        if s.words[player, 0] >= FIXED:
            return player
    return -1


@kernel(LEGAL)
def legal(state, player, actions):
    """List the legal moves, each with the words that there are to say; where another's are fixed, without words."""
    k, fixed = kernels.legal_silent(state, player, actions), _fixed(record(state, STATE))
    words = report(state, player) if fixed < 0 else 0
    if fixed == player:
        words = words_of(record(state, STATE), player) - FIXED * WORDS
    for i in range(k):
        actions[i] += words
    return k


@kernel()
def _keep(s, player, first, second):
    """Write the words of a player again, if there is one."""
    if player >= 0:
        s.words[player, 0], s.words[player, 1] = first, second


@kernel(STEP)
def step(state, actions, rewards):
    """Make a step; fixed words stay."""
    s = record(state, STATE)
    player = _fixed(s)
    first, second = s.words[player, 0], s.words[player, 1]
    kernels.step(state, actions, rewards)
    _keep(s, player, first, second)


@kernel(STEP)
def step_remembered(state, actions, rewards):
    """The same where players remember."""
    s = record(state, STATE)
    player = _fixed(s)
    first, second = s.words[player, 0], s.words[player, 1]
    memory.step(state, actions, rewards)
    _keep(s, player, first, second)
