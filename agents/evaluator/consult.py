"""What a network advises and what states are worth to it, kept by the key of what the player knows.

What was said of a state is asked for again: whenever a search passes it, and after the move. So it is kept in a table
of fixed size, of which every row holds the last that fell there. Searches in several threads share it without locks: a
row bears its key combined with its content, so that one that another thread is writing is not taken for one's own
(R. Hyatt, T. Mann 2002, "A lock-less transposition table implementation for parallel search").
"""

import math
from typing import Any

import numpy as np
from numba import types

from agents.evaluator.forward import PASS, forward
from agents.evaluator.memory import array_at, room, settle
from agents.search.records import chooses, record_type, several
from mcts_envs.core.compiling.table import active_of, key_of, legal_of, observe_of, status_of
from mcts_envs.core.contract import BYTES, FLOATS, RUNNING, SIGNATURES, SINGLES
from mcts_envs.core.kernel import copy, kernel, row
from mcts_envs.core.rng import combine
from mcts_envs.core.typing import Bytes, Floats, Singles

EVALUATOR = record_type(
    game="i8",  # the address of the game's function table
    actions="i8",
    inputs="i8",  # numbers in an observation
    forward="i8",  # the address of the pass
    logits="i8",  # where they lie in the pass
    value="i8",  # likewise; -1: the greatest logit of a legal action, of who is not to choose that of all
    unit="f8",  # how much reward a value of 1 is
    opposed="i8",  # whether there are two players, and what one wins the other loses
    table="i8",  # the address of the table
    rows="i8",  # of it, a power of 2
    words="i8",  # of 8 bytes, in each: the seal, the value and the priors
    questions="i8",  # the address of a record QUESTIONS, where the network runs elsewhere; else 0
)
"""A network with its game."""

QUESTIONS = record_type(
    missed="i8",  # whether something was asked that is not known yet
    count="i8",  # questions
    room="i8",  # for questions
    keys="i8",  # the address of their keys
    observations="i8",  # likewise [count, inputs] float32
    masks="i8",  # likewise [count, actions] bytes: what is legal
    answers="i8",  # how many answers are kept besides the table
    answered="i8",  # the address of their keys
    answer="i8",  # likewise [answers, words - 1]
    ahead="i8",  # simulations that are begun before a tree waits
    trail="i8",  # entries of the trail in use
    trail_room="i8",
    trail_at="i8",  # its address
)
"""What is asked of a network outside compiled code, and its last answers.

Those are kept so long that no simulation, which may need several, loses one because two fall into one row."""

TRAIL = record_type(edge="i8", visits="i8", sums="f8")
"""What an edge of the tree was before it bore a virtual loss."""

_ENTRIES = len(SIGNATURES)
_ADDRESS = types.int64
_ZERO, _1, _2 = np.float32(0.0), np.uint64(1), np.uint64(2)  # unsigned: Numba need not ask whether an index is negative


@kernel()
def _run(of: Any, game: Any, state: Bytes, player: int, numbers: int) -> None:
    """Run the network on what a player sees, in room at an address."""
    observe_of(game)(state, player, array_at(numbers, of.inputs, np.float32))
    forward(of.forward, numbers)


@kernel(types.void(_ADDRESS, BYTES, types.int64, _ADDRESS))
def _ask(evaluator: int, state: Bytes, player: int, said: int) -> None:
    """Ask the network; write the value and the prior of each action, 0 where it is illegal, from an address on."""
    of = row(evaluator, 0, EVALUATOR)
    game, numbers = array_at(of.game, _ENTRIES, np.uint64), room()
    out = array_at(said, 2 * (of.words - 1), np.float32)
    for i in range(np.uint64(len(out))):
        out[i] = _ZERO
    legal = array_at(numbers + 8 * row(of.forward, 0, PASS).length, of.actions, np.int64)
    k = legal_of(game)(state, player, legal) if chooses(active_of(game)(state), player) else 0
    _run(of, game, state, player, numbers)
    logits = array_at(numbers + 4 * of.logits, of.actions, np.float32)
    greatest, total = np.float32(-math.inf), _ZERO
    for i in range(k):
        greatest = max(greatest, logits[legal[i]])
    for i in range(k):
        out[1 + legal[i]] = math.exp(logits[legal[i]] - greatest)
        total += out[1 + legal[i]]
    for i in range(k):
        out[1 + legal[i]] /= total
    if k == 0:  # who is not to choose
        for action in range(of.actions):
            greatest = max(greatest, logits[action])
    value = greatest if of.value < 0 else array_at(numbers + 4 * of.value, 1, np.float32)[0]
    out[0] = np.float32(of.unit * value)


@kernel()
def _sealed(key: np.uint64, content: Any) -> np.uint64:
    """Return a key combined with content, in which equal words do not make up for each other."""
    seal = key
    for i in range(np.uint64(len(content))):
        seal ^= content[i] * (_2 * i + _1)
    return seal


@kernel()
def _keep(of: Any, key: np.uint64, said: int) -> None:
    """Write what was said into its row of the table."""
    place = of.table + 8 * of.words * np.int64(key & np.uint64(of.rows - 1))
    kept, given = array_at(place, of.words, np.uint64), array_at(said, of.words - 1, np.uint64)
    for i in range(np.uint64(len(given))):
        kept[_1 + i] = given[i]
    kept[0] = _sealed(key, given)


@kernel()
def _answered(of: Any, key: np.uint64, said: int) -> bool:
    """Write the value and the priors from an address on, if they are among the last answers."""
    known, out = row(of.questions, 0, QUESTIONS), array_at(said, of.words - 1, np.uint64)
    keys = array_at(known.answered, known.answers, np.uint64)
    for i in range(known.answers):
        if keys[i] == key:
            copy(out, array_at(known.answer + 8 * i * len(out), len(out), np.uint64))
            return True
    return False


@kernel(types.void(_ADDRESS, types.uint64, BYTES, types.int64))
def _question(evaluator: int, key: np.uint64, state: Bytes, player: int) -> None:
    """Note what a player sees and may do, unless that was done or there is no room."""
    of = row(evaluator, 0, EVALUATOR)
    game, asked = array_at(of.game, _ENTRIES, np.uint64), row(of.questions, 0, QUESTIONS)
    asked.missed = 1
    keys = array_at(asked.keys, asked.room, np.uint64)
    for i in range(asked.count):
        if keys[i] == key:
            return
    if asked.count == asked.room:
        return
    keys[asked.count] = key
    observe_of(game)(state, player, array_at(asked.observations + 4 * asked.count * of.inputs, of.inputs, np.float32))
    mask = array_at(asked.masks + asked.count * of.actions, of.actions, np.uint8)
    for action in range(of.actions):
        mask[action] = np.uint8(0)
    if chooses(active_of(game)(state), player):
        legal = array_at(room(), of.actions, np.int64)
        for i in range(legal_of(game)(state, player, legal)):
            mask[legal[i]] = np.uint8(1)
    asked.count += 1


@kernel(types.void(_ADDRESS, types.int64, types.int64))
def take_in(evaluator: int, first: int, count: int) -> None:
    """Write so many answers from the first one on into the table."""
    of = row(evaluator, 0, EVALUATOR)
    known = row(of.questions, 0, QUESTIONS)
    keys = array_at(known.answered, known.answers, np.uint64)
    for j in range(first, first + count):
        i = j % known.answers
        _keep(of, keys[i], known.answer + 8 * i * (of.words - 1))


@kernel()
def _consult(evaluator: int, state: Bytes, player: int, said: int) -> None:
    """Write the value and the prior of each action from an address on: what is kept, or what the network says."""
    of = row(evaluator, 0, EVALUATOR)
    key = combine(key_of(array_at(of.game, _ENTRIES, np.uint64))(state, player), np.uint64(player))
    place = of.table + 8 * of.words * np.int64(key & np.uint64(of.rows - 1))
    kept, out = array_at(place, of.words, np.uint64), array_at(said, of.words - 1, np.uint64)
    for i in range(np.uint64(len(out))):
        out[i] = kept[_1 + i]
    settle(said)
    if _sealed(key, out) == kept[0]:
        return
    if of.questions:
        if not _answered(of, key, said):
            _question(evaluator, key, state, player)
            for i in range(len(out)):
                out[i] = np.uint64(0)
        return
    _ask(evaluator, state, player, said)
    _keep(of, key, said)


@kernel(types.void(_ADDRESS, BYTES, types.int64, FLOATS))
def network_advice(evaluator: int, state: Bytes, player: int, weights: Floats) -> None:
    """Fill in the prior probability of each action, 0 where it is illegal: ``advise`` of a game."""
    said = room()
    _consult(evaluator, state, player, said)
    prior = array_at(said + 4, len(weights), np.float32)
    for action in range(np.uint64(len(weights))):
        weights[action] = prior[action]


@kernel(types.void(_ADDRESS, BYTES, FLOATS))
def network_values(evaluator: int, state: Bytes, values: Floats) -> None:
    """Fill in what a state is worth to each player: ``evaluate`` of a game.

    Of two, who is to move is asked, and the other has the opposite; of more, of one team, or if both are to move,
    everyone who is still in the game is asked for itself.
    """
    of = row(evaluator, 0, EVALUATOR)
    game, said = array_at(of.game, _ENTRIES, np.uint64), room()
    value, to_move = array_at(said, 1, np.float32), active_of(game)(state)
    if of.opposed and not several(to_move):
        player = to_move - 1
        _consult(evaluator, state, player, said)
        values[player] = value[0]
        values[1 - player] = -values[player]
        return
    for player in range(len(values)):
        values[player] = 0.0
        if status_of(game)(state, player) == RUNNING:
            _consult(evaluator, state, player, said)
            values[player] = value[0]


@kernel(types.void(_ADDRESS, BYTES, types.int64, SINGLES))
def outputs(evaluator: int, state: Bytes, player: int, numbers: Singles) -> None:
    """Fill in all numbers of a pass over what a player sees: the normalised observation and the outputs of layers."""
    of, found = row(evaluator, 0, EVALUATOR), room()
    _run(of, array_at(of.game, _ENTRIES, np.uint64), state, player, found)
    out = array_at(found, len(numbers), np.float32)
    for i in range(len(numbers)):
        numbers[i] = out[i]


@kernel()
def waiting(questions: int) -> bool:
    """Return whether something was asked that is not known yet; no questions: False."""
    return questions != 0 and row(questions, 0, QUESTIONS).missed != 0


@kernel()
def give_up(questions: int) -> None:
    """Drop the simulation that waits, to begin another."""
    row(questions, 0, QUESTIONS).missed = 0


@kernel()
def ahead(questions: int) -> int:
    """Return how many simulations may be begun before the first answer."""
    return int(row(questions, 0, QUESTIONS).ahead)
