"""The search, written once: selection, expansion, simulation, backup.

The textbook form is C. Browne et al., "A Survey of Monte Carlo Tree Search Methods" (2012), algorithm 1. Compiled, it
runs on the games of the contract; its Python form (``mcts_envs.core.kernel.interpreted``) builds the same tree.

Every simulation copies the root state, redraws what the player to move cannot know, and steps down the tree from
there: no state is stored in a node. What an edge leads to depends on the outcome key: nothing in an *open loop* (an
edge stands for all its outcomes), the key of the state in a *closed loop* (chance has nodes of its own), what the
searching player knows of it with *information sets* (P. Cowling, E. Powley, D. Whitehouse 2012, "Information Set Monte
Carlo Tree Search").

All players have statistics of their own, or only the one who searches: then the others follow a fixed policy and are
drawn anew in every simulation, like chance.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types

from agents.policies.mean import add_returns
from agents.policies.opponents import IN_TREE, draw_action
from agents.policies.rollout import begin, evaluate_end
from agents.policies.signatures import Options, backup_of, select_of, simulate_of, update_select_of, update_simulate_of
from agents.tree import (
    EDGE,
    FAULTS,
    NODE,
    PLAYERS,
    ROOT,
    SIMULATIONS,
    STEPS,
    TREE,
    WIDTH,
    WORK,
    Tree,
    Work,
    find_edge,
    new_edge,
    outcome_of,
)
from mcts_envs.core.contract import (
    BYTES,
    INTS,
    TABLE,
    active_of,
    advise_of,
    determinize_of,
    evaluate_of,
    key_of,
    legal_of,
    step_of,
)
from mcts_envs.core.kernel import copy, kernel, row
from mcts_envs.core.rng import draw, scramble, seed_stream, uniform
from mcts_envs.core.typing import Bytes, Ints

OPEN_LOOP = -2
"""The ``observer`` of a search that tells no outcomes apart."""

_ROLL_OUT, _EVALUATE, _ENDED = range(3)
"""What is to be done at the end of a path."""


class Settings(NamedTuple):
    """How to search, as compiled code wants it.

    Attributes
    ----------
    player : int
        Who searches.
    viewer : int
        What this player cannot know is redrawn in every simulation; -1: only future chance.
    opponents : int
        What the other players do in the tree, see :mod:`agents.policies.opponents`.
    observer : int
        Whose key tells outcomes apart: a player, -1 for everything but future chance, -2 for nobody (open loop).
    tree_depth, horizon : int
        Steps from the root at which the tree ends, and at which simulations are cut off and evaluated.
    rollout_depth : int
        Steps after which a rollout is cut off and evaluated.
    c, fpu, bias : float
        See :class:`agents.policies.signatures.Options`.
    discount : float
    common_chance : bool
        Whether each pass over given arms lets them share the chance of game and rollouts (common random numbers).
    normalize : bool
        Whether ``c`` and ``fpu`` count in ranges of the returns seen.
    prior : bool
        Whether ``select`` wants what the game advises.
    relative : bool
        Whether ``evaluate`` counts as its change since the root.
    width : int
        How many statistics of its own ``select`` keeps for an edge: the first.
    simulate_column, backup_column : int
        Where those of the other policies begin.
    mean : bool
        Whether ``backup`` is the mean of returns, which is built in.
    update_select, update_simulate : bool
        Whether the policies keep statistics of their own.
    """

    player: int
    viewer: int
    opponents: int
    observer: int
    tree_depth: int
    horizon: int
    rollout_depth: int
    c: float
    fpu: float
    bias: float
    discount: float
    common_chance: bool
    normalize: bool
    prior: bool
    relative: bool
    width: int
    simulate_column: int
    backup_column: int
    mean: bool
    update_select: bool
    update_simulate: bool


_I8, _F8, _B1 = types.int64, types.float64, types.boolean
SETTINGS = types.NamedTuple((*[_I8] * 7, *[_F8] * 4, *[_B1] * 4, *[_I8] * 3, *[_B1] * 3), Settings)


@kernel()
def _gather(tree: Tree, work: Work, settings: Settings, node: int, player: int, k: int) -> None:
    """Gather the statistics of the k legal actions of a player at a node; remember each action's edge."""
    for i in range(k):
        work.edge[work.legal[i]] = 0
    edge = tree.head[node * tree.counters[PLAYERS] + player]
    while edge:
        found = row(tree.edges, edge, EDGE)
        work.edge[found.action] = edge
        edge = found.next
    for i in range(k):
        edge = work.edge[work.legal[i]]
        found = row(tree.edges, edge, EDGE)
        work.visits[i] = found.visits
        work.sums[i] = found.sums
        work.squares[i] = found.squares
        for j in range(settings.width):
            work.own[i * settings.width + j] = tree.own[edge * tree.counters[WIDTH] + j]


@kernel()
def _blur(work: Work, k: int, c: float, stream: Bytes) -> None:
    """Vary the statistics of actions by up to half of the term ``c sqrt(ln N / n)``.

    Players who choose at once and have the same statistics would else explore in step, and never see what comes of
    choosing apart.
    """
    total = 0
    for i in range(k):
        total += work.visits[i]
    spread = c * math.sqrt(math.log(max(1, total)))
    for i in range(k):
        work.sums[i] += (uniform(stream) - 0.5) * spread * math.sqrt(work.visits[i])


@kernel()
def _select(
    functions: Any,
    policies: Any,
    settings: Settings,
    tree: Tree,
    work: Work,
    node: int,
    depth: int,
    player: int,
    several: bool,
    stream: Bytes,
) -> int:
    """Return the action that a player selects at a node, alone or at the same time as others."""
    k = legal_of(functions)(work.state, player, work.legal)
    _gather(tree, work, settings, node, player, k)
    if settings.prior:
        advise_of(functions)(work.state, player, work.weights)
        for i in range(k):
            work.prior[i] = work.weights[work.legal[i]]
    c, fpu, bias = settings.c, settings.fpu, settings.bias
    low, high = tree.bounds[2 * player], tree.bounds[2 * player + 1]
    if settings.normalize and high > low:
        c, fpu, bias = c * (high - low), low + fpu * (high - low), bias * (high - low)
    if several:
        _blur(work, k, c, stream)
    options = Options(
        k,
        player,
        settings.player,
        depth,
        work.legal,
        work.visits,
        work.sums,
        work.squares,
        work.prior,
        work.own,
        work.select_shared,
        c,
        fpu,
        bias,
    )
    picked = select_of(policies)(options, stream)
    if picked < 0 or picked >= k:
        tree.counters[FAULTS] += 1
        picked = 0
    return int(work.legal[picked])


@kernel()
def _choose(
    functions: Any,
    policies: Any,
    settings: Settings,
    tree: Tree,
    work: Work,
    node: int,
    depth: int,
    bits: int,
    forced: int,
    stream: Bytes,
) -> bool:
    """Selection: let every active player choose an edge at a node; False if one would be new and the tree is full.

    ``forced`` is an action of the searching player, or -1.
    """
    players = tree.counters[PLAYERS]
    for player in range(players):
        work.path_edge[depth * players + player] = 0
        work.played[depth * players + player] = -1
        work.actions[player] = 0
        if not bits >> player & 1:
            continue
        if settings.opponents != IN_TREE and player != settings.player:
            action = draw_action(functions, work, player, settings.opponents, stream)
            work.actions[player] = action
            work.played[depth * players + player] = action
            continue
        several = settings.opponents == IN_TREE and bits & (bits - 1) != 0
        if forced >= 0 and player == settings.player:
            action = forced
            edge = find_edge(tree, node, player, players, action)
        else:
            action = _select(functions, policies, settings, tree, work, node, depth, player, several, stream)
            edge = int(work.edge[action])
        if edge == 0:
            edge = new_edge(tree, node, player, players, action)
            if edge == 0:
                return False
        work.actions[player] = action
        work.played[depth * players + player] = action
        work.path_edge[depth * players + player] = edge
    return True


@kernel()
def descend(
    functions: Any, policies: Any, settings: Settings, tree: Tree, work: Work, arm: int, stream: Bytes
) -> tuple[int, int]:
    """Selection and expansion: walk from the root to a new node, the end, or a limit.

    Parameters
    ----------
    functions, policies, settings, tree, work, stream
        As for :func:`search`.
    arm : int
        The first action of the searching player; -1 lets it select one.

    Returns
    -------
    depth : int
        Length of the path, which lies in ``work.path_*``; ``work.state`` is the state at its end.
    then : int
        Whether to roll out from there, to evaluate, or neither.
    """
    players = tree.counters[PLAYERS]
    node, depth = int(ROOT), 0  # as variables: a constant would be compiled for apart
    while True:
        work.path_node[depth] = node
        bits = active_of(functions)(work.state)
        if bits == 0:
            return depth, _ENDED
        if depth >= settings.horizon:
            return depth, _EVALUATE
        outside = node == 0 or (node != ROOT and row(tree.nodes, node, NODE).visits == 0)
        if outside or depth >= settings.tree_depth:
            return depth, _ROLL_OUT
        forced = arm if depth == 0 else -1
        if not _choose(functions, policies, settings, tree, work, node, depth, bits, forced, stream):
            return depth, _ROLL_OUT
        step_of(functions)(work.state, work.actions, work.rewards)
        tree.counters[STEPS] += 1
        for player in range(players):
            work.path_reward[depth * players + player] = work.rewards[player]
        key = np.uint64(0)
        if settings.observer != OPEN_LOOP:
            key = key_of(functions)(work.state, settings.observer)
        node = outcome_of(tree, node, work.path_edge, depth * players, players, key)
        depth += 1


@kernel()
def simulate(
    functions: Any, policies: Any, settings: Settings, tree: Tree, work: Work, then: int, depth: int, stream: Bytes
) -> int:
    """Simulation: fill in ``work.values``, the return of every player from the end of the path on; return its steps."""
    if then == _ROLL_OUT:
        limit = min(settings.rollout_depth, settings.horizon - depth)
        steps = simulate_of(policies)(functions, work, work.simulate_shared, depth, limit, settings.discount, stream)
        tree.counters[STEPS] += steps
        return int(steps)
    begin(work)
    if then == _EVALUATE:
        evaluate_end(functions, work, 1.0)
    return 0


@kernel()
def backup(policies: Any, settings: Settings, tree: Tree, work: Work, depth: int, length: int) -> None:
    """Backup: find the return of every player from every step of the path on, and let the policies take it in."""
    players = tree.counters[PLAYERS]
    row(tree.nodes, work.path_node[depth], NODE).visits += 1
    for step in range(depth - 1, -1, -1):
        row(tree.nodes, work.path_node[step], NODE).visits += 1
        for player in range(players):
            place = step * players + player
            work.values[player] = work.path_reward[place] + settings.discount * work.values[player]
            work.path_return[place] = work.values[player]
    if settings.mean:
        add_returns(tree, work, depth)
    else:
        column = settings.backup_column
        backup_of(policies)(tree, work, work.backup_shared, depth, length, column, settings.discount)
    if settings.update_select:
        update_select_of(policies)(tree, work, work.select_shared, depth, length, 0, settings.discount)
    if settings.update_simulate:
        column = settings.simulate_column
        update_simulate_of(policies)(tree, work, work.simulate_shared, depth, length, column, settings.discount)


@kernel(types.void(TABLE, TABLE, TABLE, SETTINGS, BYTES, INTS, _I8, _I8, BYTES, WORK, TREE))
def search(
    functions: Any,
    rollout_functions: Any,
    policies: Any,
    settings: Settings,
    root: Bytes,
    arms: Ints,
    simulations: int,
    max_steps: int,
    stream: Bytes,
    work: Work,
    tree: Tree,
) -> None:
    """Add simulations to a tree.

    Parameters
    ----------
    functions, rollout_functions : function tables
        The game as the tree sees it, and as rollouts do.
    policies : function table
        See :mod:`agents.policies.signatures`.
    settings : Settings
    root : uint8 array [size]
    arms : int64 array
        First actions to simulate in turn; empty lets ``select`` choose at the root too.
    simulations, max_steps : int
        How many simulations to add; the model steps in ``tree.counters`` at which to stop.
    stream : uint8 array
        The search's own chance.
    work : Work
    tree : Tree
    """
    count = len(arms)
    chance, arm, luck = np.uint64(0), -1, stream
    for i in range(simulations):
        if tree.counters[STEPS] >= max_steps:
            break
        if count == 0:
            chance = draw(stream)
        else:
            arm = arms[i % count]
            if i % count == 0 or not settings.common_chance:
                chance = draw(stream)
            if settings.common_chance:
                luck = work.luck
                seed_stream(luck, scramble(chance))
        copy(work.state, root)
        determinize_of(functions)(work.state, settings.viewer, chance)
        if settings.relative:
            evaluate_of(functions)(work.state, work.base)
        depth, then = descend(functions, policies, settings, tree, work, arm, luck)
        steps = simulate(rollout_functions, policies, settings, tree, work, then, depth, luck)
        backup(policies, settings, tree, work, depth, depth + steps)
        tree.counters[SIMULATIONS] += 1
