"""The interpreted search with UCB1, for players who choose in turn: selection in one function.

Python's time goes into calls and look-ups, and a search in an environment of others has little else to do between two
of its steps. So what ``descend`` and ``backup`` of :mod:`agents.search.search` make of ``ucb1`` and ``mean`` by calls
stands here in one piece, for records that are objects. Tree and chance are the same to the bit.
"""

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

from agents.policies.opponents import IN_TREE
from agents.policies.ucb1 import EXPLORATION, ucb1
from agents.search.inlining import interpreted_on_objects
from agents.search.records import Path, Settings, Work
from agents.search.search import ANY, CUT_OFF, LEAF, OPEN_LOOP, TERMINAL
from agents.search.search import backup as _backup
from agents.search.search import descend as _descend
from agents.search.tree import ROOT, Tree, find_or_add_child, new_edge
from mcts_envs.core.compiling.table import active_of, key_of, legal_of, step_of
from mcts_envs.core.kernel import row
from mcts_envs.core.rng import below, combine

_KERNELS: tuple[Any, ...] = _descend, _backup, find_or_add_child, new_edge
_any_descent, _any_backup, _child, _new_edge = (interpreted_on_objects(kernel, (below, combine)) for kernel in _KERNELS)


def serves(plan: Any) -> bool:
    """Return whether a plan is for such a search."""
    fpu = row(plan.kept["select"].parameters, 0, EXPLORATION).fpu if plan.policies["select"] is ucb1 else 0.0
    in_turn = plan.settings.opponents == IN_TREE and not plan.model.simultaneous
    plain = plan.plain and not plan.settings.waits and plan.settings.option_steps == 1
    return bool(plain and in_turn and math.isnan(fpu))


def hastened(search: Callable[..., None]) -> Callable[..., None]:
    """Return the interpreted search with the functions of this module in place of those that it calls."""
    plain = cast(FunctionType, search)
    scope = {**plain.__globals__, "descend": descend, "backup": backup}
    return FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__, plain.__closure__)


def descend(game: Any, policies: Any, how: Settings, tree: Tree, work: Work, path: Path, arm: int) -> tuple[int, int]:
    """Walk from the root to a new node, the end, or a limit: :func:`agents.search.search.descend`."""
    if arm != ANY:
        descent: tuple[int, int] = _any_descent(game, policies, how, tree, work, path, arm)
        return descent
    active, legal_actions, step, key_in = active_of(game), legal_of(game), step_of(game), key_of(game)
    nodes, edges, seats, count, ranges = tree.nodes, tree.edges, tree.seats, tree.counters[0], tree.ranges
    state, legal, actions, rewards, via = work.state, work.legal, work.actions, work.rewards, path.via
    played = work.played if how.custom_backup else None
    steps, key_for, players, given = path.steps, how.key_for, range(len(actions)), tree.select.parameters[0]
    deepest, node, depth, at, key = min(how.tree_depth, how.horizon), ROOT, 0, 0, 0
    while True:
        path.nodes[depth] = node
        to_move = active(state)
        if to_move == 0:
            return depth, TERMINAL
        if depth >= deepest:
            return depth, CUT_OFF if depth >= how.horizon else LEAF
        if node == 0 or (node != ROOT and nodes[node].visits == 0):
            return depth, LEAF
        player = int(to_move).bit_length() - 1
        k, edge_of = legal_actions(state, player, legal), {}
        edge = seats[node * len(players) + player].head
        while edge:
            known = edges[edge]
            edge_of[known.action] = edge
            edge = known.next
        action = _selected(legal[:k], edge_of, edges, ranges[player], given, work.stream)
        edge = edge_of.get(action) or _new_edge(tree, node, player, action)
        if edge == 0:
            return depth, LEAF
        for each in players:
            actions[each] = via[each] = 0
        via[player], actions[player] = edge, action
        if played is not None:
            played[depth] = -1
            played[depth, player] = action
        step(state, actions, rewards)
        count.steps += 1
        for each in players:
            made = steps[at]
            made.edge, made.reward = via[each], rewards[each]
            at += 1
        if key_for != OPEN_LOOP:
            key = key_in(state, key_for)
        child = edges[edge].child
        node = child if child and nodes[child].key == key else _child(tree, node, via, key)
        depth += 1


def _selected(legal: Any, edge_of: dict[int, int], edges: Any, seen: Any, given: Any, stream: Any) -> int:
    """Return one of the legal actions, of which some have edges: :func:`agents.policies.ucb1.ucb1`."""
    tried = [edges[edge_of[action]] for action in legal if action in edge_of]
    visits = [edge.visits for edge in tried]
    if len(tried) < len(legal) or not all(visits):
        untried = [action for action in legal if action not in edge_of or not edges[edge_of[action]].visits]
        return int(untried[below(stream, len(untried)) if len(untried) > 1 else 0])
    width, sqrt = seen.high - seen.low, math.sqrt
    unit = width if given.normalize and width > 0.0 else 1.0
    factor = given.c * unit * sqrt(math.log(sum(visits)))
    best, greatest = tried[0], -math.inf
    for edge in tried:
        share = 1.0 / edge.visits
        bound = edge.sums * share + factor * sqrt(share)
        if bound > greatest:
            best, greatest = edge, bound
    return int(best.action)


def backup(policies: Any, how: Settings, tree: Tree, work: Work, path: Path, depth: int, length: int) -> None:
    """Let every edge of the path take in the return after it: :func:`agents.search.search.backup`."""
    if how.custom_backup:
        _any_backup(policies, how, tree, work, path, depth, length)
        return
    nodes, edges, steps, values, discount = tree.nodes, tree.edges, path.steps, work.values, how.discount
    ranges, players = tree.ranges, range(len(values))
    nodes[path.nodes[depth]].visits += 1
    for t in range(depth - 1, -1, -1):
        nodes[path.nodes[t]].visits += 1
        for player in players:
            step = steps[t * len(players) + player]
            step.value = values[player] = step.reward + discount * values[player]
    for step, player in zip(steps[: depth * len(players)], [*players] * depth, strict=True):
        if step.edge:
            edge, value, seen = edges[step.edge], step.value, ranges[player]
            edge.visits += 1
            edge.sums += value
            if value < seen.low:
                seen.low = value
            if value > seen.high:
                seen.high = value
