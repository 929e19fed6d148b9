"""The search, written once: selection, expansion, simulation, backup.

The textbook form is C. Browne et al., "A Survey of Monte Carlo Tree Search Methods" (2012), algorithm 1. Compiled, it
runs on the games of the contract; its Python form (``mcts_envs.core.kernel.interpreted``) builds the same tree.

Every simulation copies the root state, redraws what the player to move cannot know, and steps down the tree from
there: no state is stored in a node. What an edge leads to depends on the outcome key: the key of the state in a
*closed loop* (chance has nodes of its own), nothing in an *open loop* (an edge stands for all its outcomes).
"""

from typing import Any

import numpy as np
from numba import types

from agents.policies.signatures import select_of, simulate_of
from agents.tree import EDGES, NODES, ROOT, SIMULATIONS, STEPS, TREE, WORK, Tree, Work
from mcts_envs.core.contract import BYTES, TABLE, active_of, determinize_of, evaluate_of, key_of, legal_of, step_of
from mcts_envs.core.kernel import copy, kernel
from mcts_envs.core.rng import combine, draw
from mcts_envs.core.typing import Bytes

_NONE = np.uint64(0)
_ONE = np.uint64(1)


_ROLL_OUT, _EVALUATE, _ENDED = range(3)
"""What is to be done at the end of a path."""


@kernel()
def _gather(tree: Tree, work: Work, node: int, player: int, k: int) -> None:
    """Gather the statistics of the k legal actions of a player at a node; remember each action's edge."""
    for i in range(k):
        work.edge[work.legal[i]] = 0
    edge = tree.head[node, player]
    while edge:
        work.edge[tree.action[edge]] = edge
        edge = tree.next[edge]
    for i in range(k):
        edge = work.edge[work.legal[i]]
        work.visits[i] = tree.visits[edge]
        work.sums[i] = tree.sums[edge]
        work.squares[i] = tree.squares[edge]


@kernel()
def _new_edge(tree: Tree, node: int, player: int, action: int) -> int:
    edge = tree.counters[EDGES]
    tree.counters[EDGES] += 1
    tree.action[edge] = action
    tree.next[edge] = tree.head[node, player]
    tree.head[node, player] = edge
    return int(edge)


@kernel()
def _slot(tree: Tree, outcome: np.uint64) -> int:
    """Return where an outcome is in the table, or where it would go."""
    size = np.uint64(tree.slot_key.shape[0] - 1)
    slot = (outcome ^ (outcome >> np.uint64(32))) & size
    while tree.slot_key[slot] != _NONE and tree.slot_key[slot] != outcome:
        slot = (slot + _ONE) & size
    return int(slot)


@kernel()
def _new_node(tree: Tree, parent: int, slot: int, outcome: np.uint64) -> int:
    node = tree.counters[NODES]
    tree.counters[NODES] += 1
    tree.slot_key[slot] = outcome
    tree.slot_node[slot] = node
    tree.parent[node] = parent
    tree.sibling[node] = tree.first[parent]
    tree.first[parent] = node
    return int(node)


@kernel()
def _choose(
    functions: Any,
    policies: Any,
    tree: Tree,
    work: Work,
    node: int,
    depth: int,
    bits: int,
    c: float,
    normalize: bool,
    stream: Bytes,
) -> np.uint64:
    """Selection: let every active player choose an edge at a node; return the hash of node and edges.

    0 says that an edge would be new and the tree is full.
    """
    outcome = np.uint64(node)
    for player in range(work.values.shape[0]):
        work.path_edge[depth, player] = 0
        work.actions[player] = 0
        if not bits >> player & 1:
            continue
        k = legal_of(functions)(work.state, player, work.legal)
        _gather(tree, work, node, player, k)
        scale = c
        if normalize and tree.bounds[player, 1] > tree.bounds[player, 0]:
            scale *= tree.bounds[player, 1] - tree.bounds[player, 0]
        action = work.legal[select_of(policies)(k, work.visits, work.sums, work.squares, work.prior, scale, stream)]
        edge = work.edge[action]
        if edge == 0:
            if tree.counters[EDGES] >= tree.action.shape[0]:
                return _NONE
            edge = _new_edge(tree, node, player, action)
        work.actions[player] = action
        work.path_edge[depth, player] = edge
        outcome = combine(outcome, np.uint64(edge))
    return outcome | _ONE


@kernel()
def descend(
    functions: Any,
    policies: Any,
    tree: Tree,
    work: Work,
    player: int,
    tree_depth: int,
    horizon: int,
    c: float,
    normalize: bool,
    closed_loop: bool,
    stream: Bytes,
) -> tuple[int, int]:
    """Selection and expansion: walk from the root to a new node, the end, or a limit.

    Returns
    -------
    depth : int
        Length of the path, which lies in ``work.path_*``; ``work.state`` is the state at its end.
    then : int
        Whether to roll out from there, to evaluate, or neither.
    """
    node, depth = ROOT, 0
    while True:
        work.path_node[depth] = node
        bits = active_of(functions)(work.state)
        if bits == 0:
            return depth, _ENDED
        if depth >= horizon:
            return depth, _EVALUATE
        if depth >= tree_depth:
            return depth, _ROLL_OUT
        outcome = _choose(functions, policies, tree, work, node, depth, bits, c, normalize, stream)
        if outcome == _NONE:
            return depth, _ROLL_OUT
        step_of(functions)(work.state, work.actions, work.rewards)
        tree.counters[STEPS] += 1
        for other in range(work.values.shape[0]):
            work.path_reward[depth, other] = work.rewards[other]
        depth += 1
        if closed_loop:
            outcome = combine(outcome, key_of(functions)(work.state, player))
        outcome |= _ONE
        slot = _slot(tree, outcome)
        if tree.slot_key[slot] == _NONE:
            if tree.counters[NODES] >= tree.node_visits.shape[0]:
                work.path_node[depth] = 0
                return depth, _ROLL_OUT
            work.path_node[depth] = _new_node(tree, node, slot, outcome)
            return depth, _ENDED if active_of(functions)(work.state) == 0 else _ROLL_OUT
        node = tree.slot_node[slot]


@kernel()
def simulate(
    functions: Any, policies: Any, tree: Tree, work: Work, then: int, horizon: int, discount: float, stream: Bytes
) -> None:
    """Simulation: fill in ``work.values``, the return of every player from the end of the path on."""
    if then == _ROLL_OUT:
        tree.counters[STEPS] += simulate_of(policies)(
            functions,
            work.state,
            work.legal,
            work.weights,
            work.actions,
            work.rewards,
            work.values,
            horizon,
            discount,
            stream,
        )
    elif then == _EVALUATE:
        evaluate_of(functions)(work.state, work.values)
    else:
        work.values[:] = 0.0


@kernel()
def backup(tree: Tree, work: Work, depth: int, discount: float) -> None:
    """Backup: add each player's discounted return to every edge of the path, and a visit to every node."""
    tree.node_visits[work.path_node[depth]] += 1
    for step in range(depth - 1, -1, -1):
        tree.node_visits[work.path_node[step]] += 1
        for player in range(work.values.shape[0]):
            value = work.path_reward[step, player] + discount * work.values[player]
            work.values[player] = value
            edge = work.path_edge[step, player]
            if edge:
                tree.visits[edge] += 1
                tree.sums[edge] += value
                tree.squares[edge] += value * value
                tree.bounds[player, 0] = min(tree.bounds[player, 0], value)
                tree.bounds[player, 1] = max(tree.bounds[player, 1], value)


@kernel(
    types.void(
        TABLE,
        TABLE,
        TABLE,
        BYTES,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        types.float64,
        types.float64,
        types.boolean,
        types.boolean,
        BYTES,
        WORK,
        TREE,
    )
)
def search(
    functions: Any,
    rollout_functions: Any,
    policies: Any,
    root: Bytes,
    player: int,
    simulations: int,
    max_steps: int,
    tree_depth: int,
    horizon: int,
    c: float,
    discount: float,
    normalize: bool,
    closed_loop: bool,
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
        ``select`` and ``simulate``.
    root : uint8 array [size]
    player : int
        Who is to move: what this player cannot know is redrawn in every simulation.
    simulations, max_steps : int
        How many simulations to add; the model steps in ``tree.counters`` at which to stop.
    tree_depth, horizon : int
        Steps from the root at which the tree ends, and at which simulations are cut off and evaluated.
    c, discount : float
    normalize : bool
        Whether ``c`` is scaled by the range of the returns seen.
    closed_loop : bool
    stream : uint8 array
        The search's own chance.
    """
    for _ in range(simulations):
        if tree.counters[STEPS] >= max_steps:
            break
        copy(work.state, root)
        determinize_of(functions)(work.state, player, draw(stream))
        depth, then = descend(
            functions, policies, tree, work, player, tree_depth, horizon, c, normalize, closed_loop, stream
        )
        simulate(rollout_functions, policies, tree, work, then, horizon - depth, discount, stream)
        backup(tree, work, depth, discount)
        tree.counters[SIMULATIONS] += 1
