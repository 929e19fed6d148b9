"""A code for the two words of the radio: where the sender sees an enemy.

The first word is 0 where none is in sight. Else it is one more than half of the row of the nearest enemy, rounded down,
and the second word half of its column: a block of 2 x 2 cells, six by six of which cover the board. Who listens and
does not see an enemy there takes it that one of those in the fog stands there, or one step away, for the words are one
step old. Nobody is believed who sends what is no block of the board, or one that can be seen to be empty.

In the variant ``radio`` of the game players think so: what a player cannot know is drawn as its mate's words have it,
and its own moves go with the words that it has to say. In what it imagines it goes on saying the same, and others say
nothing, so that a tree branches by moves alone: the words are fixed, in the field ``aim``.
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
    pair,
    remove,
    single,
    without,
)
from mcts_envs.games.bomber_grid.rules.danger import others_of
from mcts_envs.games.bomber_grid.rules.hidden import nth
from mcts_envs.games.bomber_grid.rules.layout import STATE, WIDTH, WORDS
from mcts_envs.games.bomber_grid.rules.moves import is_alive
from mcts_envs.games.bomber_grid.rules.sight import (
    BLOCK,
    enemies_of,
    fixed_words,
    mate_of,
    report,
    window,
    words_for,
    words_of,
)


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
def _fix(s, player, words):
    """Fix what a player has to say; -1: nobody."""
    for other in range(s.players):
        s.aim[other] = 1 + words if other == player else 0


@kernel()
def _have_heard(state, observer):
    """Take in what the mate said, and fix what there is to say."""
    listen(state, observer)
    _fix(record(state, STATE), observer, report(state, observer))


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


@kernel(LEGAL)
def legal(state, player, actions):
    """List the legal moves, each with the words that go with it."""
    k, words = kernels.legal_silent(state, player, actions), words_for(state, player)
    for i in range(k):
        actions[i] += words
    return k


@kernel()
def _set_aside(s):
    """Let nobody's words be fixed; return whose were, or -1, and the words."""
    player, words = fixed_words(s)
    _fix(s, -1, 0)
    return player, words


@kernel(STEP)
def step(state, actions, rewards):
    """Make a step; fixed words stay."""
    s = record(state, STATE)
    player, words = _set_aside(s)
    kernels.step(state, actions, rewards)
    _fix(s, player, words)


@kernel(STEP)
def step_remembered(state, actions, rewards):
    """The same where players remember."""
    s = record(state, STATE)
    player, words = _set_aside(s)
    memory.step(state, actions, rewards)
    _fix(s, player, words)
