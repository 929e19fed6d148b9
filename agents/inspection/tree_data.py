"""A search tree as plain data, from which its other forms are made."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from agents.inspection.search_tree import Edge, JointAction, Node

_Data = dict[str, Any]
_Action = TypeVar("_Action", "Edge", "JointAction")


def node_data(node: "Node", depth: int, min_visits: int, breadth: int | None) -> _Data:
    """Return a node with what was done there for another ``depth`` decisions."""
    limits = min_visits, breadth
    edges = node.edges
    choices = [_choice_data(players, mean_of(own), own, depth, *limits) for players, own in by_players(edges).items()]
    for players, joint in by_players(node.joint_of(edges)).items():
        choices.append(_choice_data(players, math.nan, joint, depth, *limits))
    return {"visits": node.visits, "choices": choices}


def _choice_data(
    players: tuple[int, ...], value: float, actions: Sequence[Any], depth: int, min_visits: int, breadth: int | None
) -> _Data:
    shown = [each for each in actions[:breadth] if each.visits >= min_visits] if depth else []
    return {
        "players": list(players),
        "visits": sum(each.visits for each in actions),
        "value": _finite(value),
        "tried": len(actions),
        "actions": [_action_data(each, depth, min_visits, breadth) for each in shown],
        "omitted": len(actions) - len(shown),
    }


def _action_data(done: Any, depth: int, min_visits: int, breadth: int | None) -> _Data:
    outcomes = done.outcomes
    shown = [node for node in outcomes[:breadth] if node.visits >= min_visits]
    action, value = (done.action, _finite(done.value)) if len(done.players) == 1 else (list(done.action), None)
    return {
        "action": action,
        "name": done.name,
        "visits": done.visits,
        "value": value,
        "outcomes": [node_data(node, depth - 1, min_visits, breadth) for node in shown],
        "omitted": len(outcomes) - len(shown),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def mean_of(edges: "Sequence[Edge]") -> float:
    """Return the mean return over the simulations of all edges; NaN without one."""
    visits = sum(edge.visits for edge in edges)
    return sum(edge.value * edge.visits for edge in edges if edge.visits) / visits if visits else math.nan


def by_players(given: Sequence[_Action]) -> dict[tuple[int, ...], list[_Action]]:
    """Return actions by the players who did them."""
    groups: dict[tuple[int, ...], list[_Action]] = {}
    for each in given:
        groups.setdefault(each.players, []).append(each)
    return groups
