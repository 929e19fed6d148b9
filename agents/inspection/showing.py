"""What a search found, as the plain data of a page (:mod:`mcts_envs.page`), and in a notebook."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from agents.base import view_of
from agents.inspection.drawing import counted
from agents.inspection.pixels import drawn
from agents.inspection.ranking import listed, ranked
from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Bytes, Ints
from mcts_envs.core.view import View
from mcts_envs.page import Shown, frame, header
from mcts_envs.page.document import image_html
from mcts_envs.page.frames import Data, named

_SHOWN = 12
_LINE = 8
_DEPTH, _BREADTH, _NODES = 8, 12, 120
"""Of a tree: decisions deep, actions of a player and outcomes of an action, and actions in all."""

_OTHERS = {
    "reset": "an environment, not a search; mcts_envs.show(env) shows it if it is a game of ours, "
    "and {call} what agent.search(env) returns",
    "result": "a search under way; call .result(), and {call} that",
    "best_line": "the tree of a search; {call} the result that it belongs to",
    "act": "an agent; {call} what its search(env) returns",
}
"""What is no result, by what it has, and what to do."""


def search_data(result: Any, view: View | None = None) -> Data:
    """Return what a search found as plain data.

    Parameters
    ----------
    result : SearchResult or any other result of a planner
    view : View, optional
        The state that was searched from; by default the one that the result holds.
    """
    view = getattr(result, "view", None) if view is None else view
    action = getattr(result, "action", None)  # an agent of one's own may tell no more than what a move cost it
    data: Data = {"action": None if action is None else int(action), "value": _finite(getattr(result, "value", None))}
    for name in ("simulations", "steps", "seconds"):
        data[name] = _finite(getattr(result, name, None))
    if hasattr(result, "visits") and hasattr(result, "tree"):
        data["value"] = _finite(result.values[result.action])
        data |= _tried(result, view)
        least = 1 + result.tree.visits_of_rank(_NODES)  # all else would be thrown away
        data["tree"] = pruned(result.tree.to_json(_DEPTH, least, _BREADTH), _NODES)
        line = result.tree.best_line(None if view is None else {view.player: result.action})[:_LINE]
        steps = [{edge.player: edge.action for edge in step} for step in line]
        data["line"] = list(_places(result.tree.game, view, steps))
    elif view is not None and hasattr(result, "principal_variation"):
        data["actions"] = [named(view.game, view.state, view.player, data["action"]) | {"value": data["value"]}]
        data["line"] = list(_places(view.game, view, list(result.principal_variation)[:_LINE]))
    elif hasattr(result, "table"):
        data["text"] = str(result.table())
    return data


def decision(view: View, action: int | None, result: Any = None, seconds: float | None = None) -> Data:
    """Return what a player chose, and how it came to that."""
    data: Data = {"player": view.player, "action": None}
    if action is not None:
        data |= named(view.game, _board(view), view.player, action)
    if seconds is not None:
        data["seconds"] = seconds
    return data if result is None else data | {"search": search_data(result, view)}


def show(result: Any, env: Any = None) -> Shown:
    """Return a search for a notebook, as a page: the board with what it thinks on it, its actions, its tree.

    Parameters
    ----------
    result : SearchResult or another result of a planner, or a list of them
        What ``agent.search(env)`` returned. Of several, as of a search that goes on, each is a frame of the page.
    env : environment, optional
        In the state that was searched from, where the result does not hold that. One of others that draws itself, made
        with ``render_mode="rgb_array"``, is the picture.

    Raises
    ------
    TypeError
        If this is no result, but for example an environment, an agent, or a search under way.
    ValueError
        If neither the result holds a state nor an environment is given, or the results are of several games, or none.
    """
    several = type(result) in (list, tuple)  # an agent's own result may be a named tuple
    results = list(result) if several else [result]
    if not results:
        raise ValueError("there is no result in the list; give those of agent.search(env) or search.result()")
    views = [searched(each, env, "show") for each in results]
    game = views[0].game
    for view in views[1:]:
        _check_same(view.game, game)
    from agents.inspection.overlay import picture

    title = f"{game.name}: {counted(len(results), 'result') if several else 'a search'}"
    document = header(game, title)
    for each, view in zip(results, views, strict=True):
        document["frames"].append(_looks(view, env) | {"decisions": [decision(view, None, each)]})
    still = image_html(picture(results[-1], views[-1]).to_svg()) if game.picture else None
    return Shown(document, still=still)


def _looks(view: View, env: Any) -> Data:
    """Return what a state looks like; of an environment of others that draws itself, what it draws."""
    if _board(view) is not None:
        return frame(view.game, view.state)
    seen: Data = {"text": view.game.name}
    if getattr(env, "render_mode", None) in ("rgb_array", "ansi"):
        try:
            seen = drawn(env) or seen
        except Exception as error:  # whatever its code raises: a library that is missing, say
            seen = {"text": f"{view.game.name} draws nothing\n{type(error).__name__}: {error}"}
    return {"turn": [view.player]} | seen


def searched(result: Any, env: Any, call: str) -> View:
    """Return the state that a result was searched from: its own, or that of an environment.

    Raises
    ------
    TypeError
        If this is no result; ``call`` is what wanted one.
    ValueError
        If there is no state, or it is one of another game.
    """
    kind = type(result).__name__
    for name, cure in _OTHERS.items():
        if callable(getattr(result, name, None)):
            raise TypeError(f"{kind} is {cure}".format(call=call))
    if not any(hasattr(result, name) for name in ("action", "simulations", "steps")):
        raise TypeError(f"{call} takes a result, what agent.search(env) returns; this is {kind}: {result!r:.60}")
    held: View | None = getattr(result, "view", None)
    view = held if env is None else view_of(env)
    if view is None:
        raise ValueError(f"{kind} does not hold the state that was searched; call {call}(result, env)")
    for known in (held, getattr(result, "tree", None), result):
        if isinstance(game := getattr(known, "game", None), Game):
            _check_same(view.game, game)
    return view


def _check_same(given: Game, game: Game) -> None:
    """Refuse the state of another game than was searched."""
    if given.fingerprint != game.fingerprint:
        same = " with other settings" if given.name == game.name else ""
        raise ValueError(f"the search was one of {game.name}, and the state is one of {given.name}{same}")


def _tried(result: Any, view: View | None) -> Data:
    """Return the actions at the root, the most visited first."""
    order, prior = ranked(result.visits, result.values), getattr(result, "prior", None)
    game, player = result.tree.game, 0 if view is None else view.player
    rows = []
    shown = listed(order.tolist(), result.action, _SHOWN)
    for action in shown:
        row = named(game, _board(view), player, action)
        row |= {"visits": int(result.visits[action]), "value": _finite(result.values[action])}
        rows.append(row if prior is None else row | {"prior": _finite(prior[action])})
    left = [action for action in order.tolist() if action not in shown]
    heat = _heat(game, view, order, result)
    return {"actions": rows, "omitted": {"actions": len(left), "visits": int(result.visits[left].sum())}, "heat": heat}


def _heat(game: Game, view: View | None, actions: Ints, result: Any) -> list[Data]:
    """Return visits and mean value of all places on the picture that actions have, added up where they share one."""
    places: dict[tuple[float, ...], list[float]] = {}
    for action in map(int, actions):
        row = named(game, _board(view), 0 if view is None else view.player, action)
        if row["place"]:
            sums = places.setdefault(tuple(row["place"]), [0, 0.0])
            sums[0] += int(result.visits[action])
            sums[1] += float(result.visits[action] * result.values[action])
    return [
        {"place": list(place), "visits": visits, "value": _finite(total / visits)}
        for place, (visits, total) in places.items()
    ]


def _places(game: Game, view: View | None, steps: Sequence[Any]) -> Iterator[Data]:
    """Yield the actions of a line with their places, as far as one course of chance can follow it.

    A step holds actions by player, or is the action of the only one who is to choose. One that is none ends the line.
    """
    state = None if (board := _board(view)) is None else board.copy()
    if state is not None and view is not None:
        game.determinize(state, view.player, np.uint64(0))
    for step in steps:
        bits = 0 if state is None else int(game.active(state))
        able = [player for player in range(game.players) if bits >> player & 1]
        chosen = step if isinstance(step, dict) else {able[0] if able else 0: int(step)}
        if not all(0 <= action < game.actions for action in chosen.values()):  # of a planner of one's own
            return
        if not chosen.keys() <= set(able):
            state = None
        for player, action in chosen.items():
            yield named(game, state, player, action)
        if len(chosen) < len(able):  # what the others did, who are out of sight, told no nodes apart
            state = None
        if state is not None:
            actions = np.zeros(game.players, np.int64)
            actions[list(chosen)] = list(chosen.values())
            game.step(state, actions, np.zeros(game.players))


def _board(view: View | None) -> Bytes | None:
    """Return the state of a view, None where it is no state of ours."""
    return view.state if view is not None and isinstance(view.state, np.ndarray) else None


def pruned(tree: Data, nodes: int) -> Data:
    """Return a tree with its most visited actions alone, so many at most."""
    visits = sorted((each["visits"] for each in _actions(tree)), reverse=True)
    least = visits[nodes] + 1 if len(visits) > nodes else 0
    return _without(tree, least)


def _actions(node: Data) -> Iterator[Data]:
    for choice in node["choices"]:
        for action in choice["actions"]:
            yield action
            for outcome in action["outcomes"]:
                yield from _actions(outcome)


def _without(node: Data, least: int) -> Data:
    """Return a node without what has fewer visits."""
    choices = []
    for choice in node["choices"]:
        kept = [action for action in choice["actions"] if action["visits"] >= least]
        actions = []
        for action in kept:
            outcomes = [_without(outcome, least) for outcome in action["outcomes"] if outcome["visits"] >= least]
            left_out = action["omitted"] + len(action["outcomes"]) - len(outcomes)
            value = None if action["value"] is None else float(f"{action['value']:.5g}")
            actions.append({**action, "value": value, "outcomes": outcomes, "omitted": left_out})
        left = choice["omitted"] + len(choice["actions"]) - len(kept)
        choices.append({**choice, "actions": actions, "omitted": left})
    return {**node, "choices": choices}


def _finite(value: Any) -> Any:
    """Return a number as JSON has it, None in place of NaN."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, int | np.integer) else float(f"{float(value):.6g}")
