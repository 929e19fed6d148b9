"""The search, written once: selection, expansion, simulation, backup.

The textbook form is C. Browne et al., "A Survey of Monte Carlo Tree Search Methods" (2012), algorithm 1. Compiled, it
runs on the games of the contract; its Python form (``mcts_envs.core.kernel.interpreted``) builds the same tree.

One simulation, in the order of this file from below (:func:`search`):

1. The root state is copied, and what the searching player cannot know is redrawn in it.
2. :func:`descend`: at each node every player to move selects one of its legal actions, from statistics of its own. The
   model makes the step, and those of an option; the edges and the key of the state that came out lead to the next node.
   A missing edge or node is added. The first node without visits ends the path, as do the end of the game, the horizon
   and a full tree.
3. :func:`simulate`: a rollout from there; an unfinished state is evaluated.
4. :func:`backup`: the returns go into the edges of the path.

No state is stored in a node. The key that tells outcomes apart is nothing in an *open loop* (an edge stands for all
its outcomes), that of the state in a *closed loop* (chance has nodes of its own), what the searching player knows of it
with *information sets* (P. Cowling, E. Powley, D. Whitehouse 2012, "Information Set Monte Carlo Tree Search"), and
then what others do leads to nodes of its own only where that player sees the difference.

All players have statistics of their own, or only the one who searches: then the others follow a fixed policy and are
drawn anew in every simulation, like chance. Mixed opponents have statistics and are drawn for in turn, and like chance
they tell no nodes apart (:mod:`agents.policies.opponents`). Node 0 and edge 0 mean none; they are blank rows that may
be read.
"""

from typing import Any

import numpy as np
from numba import types

from agents.evaluator.consult import ahead, give_up, waiting
from agents.policies.mean import add_returns
from agents.policies.opponents import IN_TREE, MIXED, draw_action, searches
from agents.policies.signatures import (
    Candidates,
    backup_of,
    leaf_of,
    noise_of,
    option_of,
    redraw_of,
    select_of,
    simulate_of,
    update_select_of,
    update_simulate_of,
)
from agents.search.records import CANDIDATE, PATH, SETTINGS, WORK, Path, Settings, Work, chooses, several, step_of_path
from agents.search.rollout import add_evaluation, clear_values
from agents.search.speculation import lose, undo
from agents.search.tree import (
    COUNT,
    EDGE,
    NODE,
    RANGE,
    ROOT,
    TREE,
    Tree,
    find_edge,
    find_or_add_child,
    is_leaf,
    new_edge,
    seat_of,
)
from mcts_envs.core.compiling.table import (
    TABLE,
    active_of,
    advise_of,
    determinize_of,
    evaluate_of,
    key_of,
    legal_of,
    step_of,
)
from mcts_envs.core.contract import BYTES, INTS
from mcts_envs.core.kernel import copy, kernel, record, row, word
from mcts_envs.core.rng import CHANCE, draw, scramble, seed_stream
from mcts_envs.core.typing import Bytes, Ints

OPEN_LOOP = -2  # the key_for of a search that tells no outcomes apart
ANY = -1  # in place of a given first action: select one

BAD_SELECT, BAD_SIMULATE, BAD_OPTION, BAD_LEGAL = 1, 2, 4, 8
"""Faults, as bits: what the policy returned, or the game lists as legal, is out of range."""

LEAF, CUT_OFF, TERMINAL = range(3)
"""How a path ends: at a node to roll out from, at the horizon, or with the game."""


@kernel()
def _gather(tree: Tree, work: Work, path: Path, node: int, player: int, k: int) -> None:
    """Gather what is known of the k legal actions of a player at a node."""
    for i in range(k):
        if work.legal[i] < 0 or work.legal[i] >= len(work.legal):
            count = row(tree.counters, 0, COUNT)
            count.faults, count.listed = BAD_LEGAL, work.legal[i]
            work.legal[i] = 0
        candidate = row(path.candidates, i, CANDIDATE)
        candidate.action = work.legal[i]
        candidate.edge = candidate.visits = 0
        candidate.sums = 0.0
        path.place_of[work.legal[i]] = i
    edge = seat_of(tree, node, player).head
    while edge:
        known = row(tree.edges, edge, EDGE)
        i = path.place_of[known.action]
        if i < k:
            candidate = row(path.candidates, i, CANDIDATE)
            if candidate.action == known.action:
                candidate.edge, candidate.visits, candidate.sums = edge, known.visits, known.sums
        edge = known.next


@kernel()
def _select(
    game: Any, policies: Any, how: Settings, tree: Tree, work: Work, path: Path, depth: int, player: int, to_move: int
) -> int:
    """Return the action that a player selects at the last node of a path, alone or at the same time as others."""
    k = legal_of(game)(work.state, player, work.legal)
    _gather(tree, work, path, path.nodes[depth], player, k)
    if how.prior:
        advise_of(game)(work.state, player, work.weights)
        for i in range(k):
            row(path.candidates, i, CANDIDATE).prior = work.weights[work.legal[i]]
    worth = 0.0
    if how.worth:
        evaluate_of(game)(work.state, work.rewards)
        worth = work.rewards[player] - work.base[player]
    seen = row(tree.ranges, player, RANGE)
    candidates = Candidates(
        k, len(work.legal), player, depth, player == how.player, seen.low, seen.high, worth, path.candidates
    )
    if how.opponents in (IN_TREE, MIXED) and several(to_move):
        noise_of(policies)(candidates, tree.noise, work.stream)
    selected = select_of(policies)(candidates, tree.select, work.stream)
    if selected < 0 or selected >= k:
        row(tree.counters, 0, COUNT).faults |= BAD_SELECT
        selected = 0
    return int(work.legal[selected])


@kernel()
def _choose(
    game: Any,
    policies: Any,
    how: Settings,
    tree: Tree,
    work: Work,
    path: Path,
    depth: int,
    to_move: int,
    arm: int,
    most: int,
) -> bool:
    """Let all active players choose edges at the last node; False if the tree is full, or waits for a network.

    Mixed opponents do without an edge where it would be the ``most``-th of the tree, so that the room for a simulation
    is bounded.
    """
    node = path.nodes[depth]
    for player in range(len(work.actions)):
        work.actions[player] = path.via[player] = 0
        work.played[depth, player] = -1
        if not chooses(to_move, player):
            continue
        if player == how.player and depth == 0 and arm != ANY:
            action = arm
            edge = find_edge(tree, node, player, action)
        elif searches(player, how.player, how.opponents, work.stream):
            action = _select(game, policies, how, tree, work, path, depth, player, to_move)
            edge = int(row(path.candidates, path.place_of[action], CANDIDATE).edge)
            if waiting(how.waits):
                continue  # to ask for the others too
        else:
            action = draw_action(game, work, player, how.opponents)
            if waiting(how.waits):
                continue
            edge = find_edge(tree, node, player, action) if how.opponents == MIXED else 0
        needed = player == how.player or how.opponents == IN_TREE
        if edge == 0 and (needed or (how.opponents == MIXED and row(tree.counters, 0, COUNT).edges < most)):
            edge = new_edge(tree, node, player, action)
        if edge == 0 and needed:
            return False
        path.via[player] = edge
        work.actions[player] = work.played[depth, player] = action
    return not waiting(how.waits)


@kernel()
def _step(game: Any, how: Settings, tree: Tree, work: Work, path: Path, depth: int) -> None:
    """Make the step that the players chose, and note edge and reward of each."""
    step_of(game)(work.state, work.actions, work.rewards)
    row(tree.counters, 0, COUNT).steps += 1
    for player in range(len(work.actions)):
        step = step_of_path(path, depth, player)
        step.edge, step.reward = path.via[player], work.rewards[player]
        if how.opponents == MIXED and player != how.player:
            path.via[player] = 0


@kernel()
def _choose_on(game: Any, policies: Any, how: Settings, tree: Tree, work: Work, depth: int, action: int) -> bool:
    """Let the option of the searching player choose, and a model for the others; False at its end."""
    me, to_move = how.player, active_of(game)(work.state)
    if to_move == 0 or (how.opponents in (IN_TREE, MIXED) and to_move & ~(1 << me)):
        return False
    for player in range(len(work.actions)):
        work.actions[player], work.played[depth, player] = 0, -1
        if not chooses(to_move, player):
            continue
        if player == me:
            k = legal_of(game)(work.state, me, work.legal)
            chosen = int(option_of(policies)(game, work, me, action, k))
            if chosen >= len(work.weights):
                row(tree.counters, 0, COUNT).faults |= BAD_OPTION
            if chosen < 0 or chosen >= len(work.weights):
                return False
        else:
            chosen = draw_action(game, work, player, how.opponents)
        work.actions[player] = work.played[depth, player] = chosen
    return not waiting(how.waits)


@kernel(types.int64(TABLE, TABLE, SETTINGS, TREE, WORK, PATH, types.int64))
def _extended_step(game: Any, policies: Any, how: Settings, tree: Tree, work: Work, path: Path, depth: int) -> int:
    """Make a step whose chance may be drawn before, and those of its option; return the depth that this leads to.

    The steps of an option have no edges and no nodes. It is a function of its own, so that searches without this are as
    fast as if there were none.
    """
    fresh, start, action = np.uint64(0), depth, work.actions[how.player]
    redrawn = False
    if how.redraws:
        fresh = word(work.state, 0)
        redraw_of(policies)(tree, work, path, depth)
        redrawn = word(work.state, 0) != fresh  # else its next step would draw the same as this one
    _step(game, how, tree, work, path, depth)
    depth += 1
    last = min(start + how.option_steps, how.horizon, how.tree_depth) if path.via[how.player] else depth
    while depth < last and _choose_on(game, policies, how, tree, work, depth, action):
        path.nodes[depth] = 0
        step_of(game)(work.state, work.actions, work.rewards)
        row(tree.counters, 0, COUNT).steps += 1
        for player in range(len(work.actions)):
            step = step_of_path(path, depth, player)
            step.edge, step.reward = 0, work.rewards[player]
        depth += 1
    if redrawn:
        record(work.state, CHANCE).stream = fresh
    return depth


@kernel()
def _reached(game: Any, how: Settings, tree: Tree, work: Work, path: Path, depth: int) -> int:
    """Return the node that the edges chosen at a depth have led to."""
    key = np.uint64(0)
    if how.key_for != OPEN_LOOP:
        key = key_of(game)(work.state, how.key_for)
    return find_or_add_child(tree, path.nodes[depth], path.via, key)


@kernel()
def descend(game: Any, policies: Any, how: Settings, tree: Tree, work: Work, path: Path, arm: int) -> tuple[int, int]:
    """Selection and expansion: walk from the root to a new node, the end, or a limit.

    Returns
    -------
    depth : int
        Length of the path, ``work.state`` is the state at its end.
    end : int
        ``LEAF``, ``CUT_OFF`` or ``TERMINAL``.
    """
    node, depth = int(ROOT), 0  # int(): keeps Numba from specialising on a literal
    count = row(tree.counters, 0, COUNT)
    most = count.edges + count.edges_each - 1  # the last one is the searching player's
    extended = how.redraws or how.option_steps > 1
    while True:
        path.nodes[depth] = node
        to_move = active_of(game)(work.state)
        if to_move == 0:
            return depth, TERMINAL
        if depth >= how.horizon:
            return depth, CUT_OFF
        if depth >= how.tree_depth or is_leaf(tree, node):
            return depth, LEAF
        if not _choose(game, policies, how, tree, work, path, depth, to_move, arm, most):
            return depth, LEAF
        end = depth + 1
        if extended:
            end = int(_extended_step(game, policies, how, tree, work, path, depth))
            if waiting(how.waits):
                return end, LEAF
        else:
            _step(game, how, tree, work, path, depth)
        node = _reached(game, how, tree, work, path, depth)
        depth = end


@kernel(types.void(TABLE, TREE, WORK))
def _note_fault(game: Any, tree: Tree, work: Work) -> None:
    """Note that a rollout chose no action of the game; it is the game's fault if it lists one that is none."""
    count, to_move = row(tree.counters, 0, COUNT), active_of(game)(work.state)
    count.faults |= BAD_SIMULATE
    for player in range(len(work.actions)):
        if chooses(to_move, player):
            for i in range(legal_of(game)(work.state, player, work.legal)):
                if work.legal[i] < 0 or work.legal[i] >= len(work.legal):
                    count.faults, count.listed = BAD_LEGAL, work.legal[i]


@kernel()
def simulate(game: Any, policies: Any, how: Settings, tree: Tree, work: Work, depth: int, end: int) -> int:
    """Simulation: fill in ``work.values``, the return of every player from the end of the path on; return its steps."""
    clear_values(work)
    if end == CUT_OFF:
        add_evaluation(game, work, 1.0)
    if end != LEAF:
        return 0
    limit = min(how.rollout_depth, how.horizon - depth)
    steps = int(simulate_of(policies)(game, how, work, tree.simulate, depth, limit))
    if steps < 0:
        _note_fault(game, tree, work)
        steps = 0
    row(tree.counters, 0, COUNT).steps += steps
    return steps


@kernel()
def backup(policies: Any, how: Settings, tree: Tree, work: Work, path: Path, depth: int, length: int) -> None:
    """Backup: find the return of every player from every step of the path on, and let the policies take it in."""
    row(tree.nodes, path.nodes[depth], NODE).visits += 1
    for t in range(depth - 1, -1, -1):
        row(tree.nodes, path.nodes[t], NODE).visits += 1
        for player in range(len(work.values)):
            step = step_of_path(path, t, player)
            step.value = work.values[player] = step.reward + how.discount * work.values[player]
    if not how.custom_backup:
        add_returns(tree, path, depth)  # the mean, built in
        return
    backup_of(policies)(tree, how, work, path, depth, length)
    update_select_of(policies)(tree, how, work, path, depth, length)
    update_simulate_of(policies)(tree, how, work, path, depth, length)


@kernel(types.void(TABLE, TABLE, TABLE, SETTINGS, BYTES, INTS, types.int64, types.int64, BYTES, WORK, PATH, TREE))
def search(
    game: Any,
    rollout_game: Any,
    policies: Any,
    how: Settings,
    root: Bytes,
    arms: Ints,
    simulations: int,
    max_steps: int,
    stream: Bytes,
    work: Work,
    path: Path,
    tree: Tree,
) -> None:
    """Add simulations to a tree.

    Parameters
    ----------
    game, rollout_game : function tables
        The game as the tree sees it, and as rollouts do.
    policies : function table
        See :mod:`agents.policies.signatures`.
    how : Settings
    root : uint8 array [size]
    arms : int64 array
        First actions of the searching player to simulate in turn; empty lets ``select`` choose at the root too. Where
        a network may have to be waited for, they are simulated once at most, and inverted (``~``) when they were.
    simulations, max_steps : int
        How many simulations to add; the model steps of the tree at which to stop.
    stream : uint8 array
        Seeds of simulations are drawn from it; with common random numbers one for a whole pass over the arms.
    work : Work
        ``work.stream`` is ``stream`` itself; with common random numbers another array, seeded anew for every arm.
    path : Path
    tree : Tree
    """
    count, seed, arm = row(tree.counters, 0, COUNT), np.uint64(0), ANY
    first, tried = seed, 0  # where the chance of the first that waits begins, and how many were tried since
    for i in range(simulations):
        began = word(stream, 0) if how.waits else np.uint64(0)
        if count.steps >= max_steps:
            break
        if len(arms):
            arm = arms[i % len(arms)]
        if not how.common_chance or i % len(arms) == 0:
            seed = draw(stream)
        if how.common_chance:
            seed_stream(work.stream, scramble(seed))
        steps = count.steps
        copy(work.state, root)
        determinize_of(game)(work.state, how.determinize_for, seed)
        if how.relative:
            evaluate_of(rollout_game)(work.state, work.base)  # which evaluates the end
        depth, end = descend(game, policies, how, tree, work, path, arm)
        if how.custom_backup:
            leaf_of(policies)(rollout_game, work, tree.select)
        length = depth + simulate(rollout_game, policies, how, tree, work, depth, end)
        if waiting(how.waits) or tried:
            give_up(how.waits)
            count.steps = steps
            first, tried = began if tried == 0 else first, tried + 1
            if how.common_chance:
                continue  # what the other arms of the pass ask is answered with it; their turn comes after it
            if len(arms) or tried == ahead(how.waits) or not lose(how.waits, tree, path, depth):
                break
            continue
        if how.waits and len(arms):
            arms[i % len(arms)] = ~arm
        backup(policies, how, tree, work, path, depth, length)
        count.simulations += 1
    if tried:
        undo(how.waits, tree)
        record(stream, CHANCE).stream = first
