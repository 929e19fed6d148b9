"""Rolling horizon evolution: sequences of actions that are bred, tried out in the model and selected.

D. Perez, S. Samothrakis, S. Lucas, P. Rohlfshagen, "Rolling Horizon Evolution versus Tree Search for Navigation in
Single-Player Real-Time Games" (2013). In each generation one child takes the place of the worst individual unless it
is worse; with a single individual that is the (1 + 1) scheme of D. Perez-Liebana et al., "Analysis of Statistical
Forward Planning Methods in Pommerman" (2019).
"""

import math
from typing import Any, NamedTuple

from numba import types

from agents.policies.opponents import draw_action
from agents.search.records import WORK, Work, chooses, numba_type, several
from mcts_envs.core.compiling.table import TABLE, active_of, determinize_of, evaluate_of, legal_of, status_of, step_of
from mcts_envs.core.contract import BYTES, FLOATS, INTS, RUNNING
from mcts_envs.core.kernel import copy, kernel
from mcts_envs.core.rng import below, coin, draw
from mcts_envs.core.typing import Bytes, Floats, Ints

SIMULATIONS, STEPS = range(2)
"""Places in ``counters``: simulations, and steps of the model, made so far."""


class Evolution(NamedTuple):
    """How to evolve, as compiled code wants it.

    Attributes
    ----------
    player, determinize_for, opponents : int
        As in :class:`agents.search.records.Settings`.
    samples : int
        In how many simulations an individual is tried out.
    mutation, discount : float
    relative : bool
        As in :class:`agents.search.records.Settings`.
    reevaluate : bool
        Whether all individuals are tried out anew beside each child, which has to be better than one of them.
    """

    player: int
    determinize_for: int
    opponents: int
    samples: int
    mutation: float
    discount: float
    relative: bool
    reevaluate: bool


_I8 = types.int64
EVOLUTION = numba_type(Evolution)
GENES = types.int64[:, ::1]


@kernel(types.void(GENES, _I8, BYTES))
def draw_genes(genes: Ints, alleles: int, stream: Bytes) -> None:
    """Draw all genes but those of the last row, which is room for a child."""
    for i in range(genes.shape[0] - 1):
        for j in range(genes.shape[1]):
            genes[i, j] = below(stream, alleles)


@kernel()
def _play(game: Any, settings: Evolution, first: Ints, genes: Ints, place: int, work: Work) -> int:
    """Play an individual in ``work.state``: each gene is a place among the legal actions, modulo their number.

    Those at the root are given, since a model may have others than the game. The player's return goes to
    ``work.values[0]``. Return the steps made: until the genes are used up or the player's game is over, and at most as
    many for each player. A step in which several choose takes a gene even if the player, dead while its team plays on,
    is not among them.
    """
    player, length, used, steps = settings.player, genes.shape[1], 0, 0
    total, weight = 0.0, 1.0
    while used < length and steps < length * len(work.values) and status_of(game)(work.state, player) == RUNNING:
        to_move = active_of(game)(work.state)
        for other in range(len(work.values)):
            work.actions[other] = 0
            if not chooses(to_move, other):
                continue
            if other == player:
                if steps == 0:
                    work.actions[player] = first[genes[place, 0] % len(first)]
                else:
                    count = legal_of(game)(work.state, player, work.legal)
                    work.actions[player] = work.legal[genes[place, used] % count]
            else:
                work.actions[other] = draw_action(game, work, other, settings.opponents)
        step_of(game)(work.state, work.actions, work.rewards)
        total += weight * work.rewards[player]
        weight *= settings.discount
        steps += 1
        if chooses(to_move, player) or several(to_move):
            used += 1
    if status_of(game)(work.state, player) == RUNNING:
        evaluate_of(game)(work.state, work.rewards)
        total += weight * (work.rewards[player] - work.base[player])
    work.values[0] = total
    return steps


@kernel()
def _rate(
    game: Any,
    settings: Evolution,
    root: Bytes,
    first: Ints,
    genes: Ints,
    place: int,
    counters: Ints,
    work: Work,
) -> float:
    """Return the fitness of an individual: its mean return."""
    total = 0.0
    for _ in range(settings.samples):
        copy(work.state, root)
        determinize_of(game)(work.state, settings.determinize_for, draw(work.stream))
        if settings.relative:
            evaluate_of(game)(work.state, work.base)
        counters[STEPS] += _play(game, settings, first, genes, place, work)
        counters[SIMULATIONS] += 1
        total += work.values[0]
    return total / settings.samples


@kernel()
def _parent(fitness: Floats, stream: Bytes) -> int:
    """Return the better of two individuals drawn."""
    one, other = below(stream, len(fitness)), below(stream, len(fitness))
    return one if fitness[one] >= fitness[other] else other


@kernel()
def _breed(genes: Ints, fitness: Floats, alleles: int, mutation: float, stream: Bytes) -> None:
    """Write a child to the last row: each gene from either parent, or, with the chance of a mutation, a new one."""
    child = len(fitness)
    mother, father = _parent(fitness, stream), _parent(fitness, stream)
    for i in range(genes.shape[1]):
        genes[child, i] = genes[mother, i] if mother == father or coin(stream, 0.5) else genes[father, i]
        if coin(stream, mutation):
            genes[child, i] = below(stream, alleles)


@kernel(types.void(TABLE, EVOLUTION, BYTES, INTS, GENES, FLOATS, _I8, _I8, INTS, WORK))
def evolve(
    game: Any,
    settings: Evolution,
    root: Bytes,
    first: Ints,
    genes: Ints,
    fitness: Floats,
    evaluations: int,
    max_steps: int,
    counters: Ints,
    work: Work,
) -> None:
    """Try out individuals and breed new ones.

    Parameters
    ----------
    game : function table
        The game, with or without ``others`` (see :mod:`agents.policies.opponents`).
    settings : Evolution
    root : uint8 array [size]
    first : int64 array [k]
        The legal actions there.
    genes : int64 array [N + 1, L]
        The population, and room for a child.
    fitness : float64 array [N]
        Mean return of each; NaN before it was tried out.
    evaluations, max_steps : int
        How many individuals to try out, though a generation is finished; the model steps in ``counters`` at which to
        stop.
    counters : int64 array [2]
        See :data:`SIMULATIONS`.
    work : Work
    """
    size, rated, tried = len(fitness), 0, 0
    while rated < len(fitness) and not math.isnan(fitness[rated]):
        rated += 1
    while tried < evaluations and counters[STEPS] < max_steps:
        tried += 1
        if rated < size:
            fitness[rated] = _rate(game, settings, root, first, genes, rated, counters, work)
            rated += 1
            continue
        _breed(genes, fitness, len(work.legal), settings.mutation, work.stream)
        value = _rate(game, settings, root, first, genes, size, counters, work)
        if settings.reevaluate:
            for i in range(size):
                fitness[i] = _rate(game, settings, root, first, genes, i, counters, work)
                tried += 1
        worst = 0
        for i in range(1, size):
            worst = i if fitness[i] < fitness[worst] else worst
        if value > fitness[worst] or (value == fitness[worst] and not settings.reevaluate):
            fitness[worst] = value
            for i in range(genes.shape[1]):
                genes[worst, i] = genes[size, i]
