"""A search tree, given as the plain data of :meth:`SearchTree.to_json`, as text and as a drawing."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, count
from typing import Any, NamedTuple

from mcts_envs.core.contract import Game

_Data = dict[str, Any]
_BRANCH, _BELOW = ("├─ ", "└─ "), ("│  ", "   ")
_HEADINGS = ("visits", "player", "value", "→ player", "value", "actions")
HUGE = 1e7
"""Numbers from here on are written as powers of ten."""

_SHORTEST = 12
"""Characters that labels keep when lines are cut."""


class _Line(NamedTuple):
    """The label, then what was chosen (left half), then the situation after it (right half)."""

    label: str
    visits: int
    player: str = ""
    value: Sequence[float | None] = ()
    then_player: str = ""
    then_value: Sequence[float | None] = ()
    actions: str = ""


def as_text(game: Game, data: _Data, depth: int, width: int | None) -> str:
    """Return a tree as an indented table, ``depth`` decisions deep, in lines of up to ``width`` characters."""
    return _table(game, [_then(_Line("root", data["visits"]), data), *_node_lines(data, depth, "")], width)


def _node_lines(node: _Data, depth: int, indent: str) -> Iterator[_Line]:
    """Yield lines for what was done at a node."""
    choices = node["choices"]
    for place, choice in enumerate(choices):
        inner, players = indent, _joined(choice["players"])
        several = len(choice["players"]) > 1
        if len(choices) > 1:
            last = place == len(choices) - 1
            title = f"players {players} together" if several else f"player {players}"
            yield _Line(indent + _BRANCH[last] + title, choice["visits"])
            inner += _BELOW[last]
        for action, last in _marked(choice["actions"], choice["omitted"]):
            yield from _action_lines(action, "" if several else players, depth, inner, last)
        yield from _more(choice, choice["actions"], inner)


def _action_lines(action: _Data, player: str, depth: int, indent: str, last: bool) -> Iterator[_Line]:
    outcomes, below = action["outcomes"], indent + _BELOW[last]
    every = len(outcomes) + action["omitted"]
    line = _Line(indent + _BRANCH[last] + action["name"], action["visits"], player, [action["value"]] if player else [])
    if every > 1:
        yield line._replace(actions=f"{every} outcomes")
        for number, (outcome, final) in enumerate(_marked(outcomes, action["omitted"]) if depth > 1 else (), 1):
            yield _then(_Line(f"{below}{_BRANCH[final]}outcome {number}", outcome["visits"]), outcome)
            yield from _node_lines(outcome, depth - 1, below + _BELOW[final])
        if depth > 1:
            yield from _more(action, outcomes, below)
    elif outcomes:
        yield _then(line, outcomes[0])
        if depth > 1:
            yield from _node_lines(outcomes[0], depth - 1, below)
    else:
        yield line


def _then(line: _Line, node: _Data) -> _Line:
    """Fill in the right half of a line."""
    own = [choice for choice in node["choices"] if len(choice["players"]) == 1]
    return line._replace(
        then_player=_joined(choice["players"][0] for choice in own),
        then_value=[choice["value"] for choice in own],
        actions=_joined(choice["tried"] for choice in own),
    )


def _marked(shown: list[_Data], left: int) -> Iterator[tuple[_Data, bool]]:
    """Yield what is shown, and whether nothing comes after it."""
    for number, each in enumerate(shown, 1):
        yield each, number == len(shown) and not left


def _more(whole: _Data, shown: list[_Data], indent: str) -> Iterator[_Line]:
    if left := whole["omitted"]:
        visits = whole["visits"] - sum(each["visits"] for each in shown)
        yield _Line(f"{indent}{_BRANCH[True]}... {left} more", visits)


def _joined(given: Iterable[Any]) -> str:
    return ", ".join(map(str, given))


def _table(game: Game, lines: list[_Line], width: int | None) -> str:
    """Align the columns; those that name players only where there are several."""
    decimals = decimals_of(value for line in lines for value in (*line.value, *line.then_value) if value is not None)
    cells = [[game.name, *_HEADINGS]]
    for line in lines:
        value, then = (_joined(written(each, decimals) for each in half) for half in (line.value, line.then_value))
        cells.append([line.label, str(line.visits), line.player, value, line.then_player, then, line.actions])
    if game.players == 1:
        cells = [[*row[:2], row[3], *row[5:]] for row in cells]
        cells[0][3] = "→ value"
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if width is not None:
        widths[0] = min(widths[0], max(_SHORTEST, width - sum(2 + each for each in widths[1:])))
        ends = accumulate(widths, lambda before, own: before + 2 + own)
        widths = widths[: sum(end <= width for end in ends)]
    aligned = ([cut(label, widths[0]).ljust(widths[0]), *map(str.rjust, rest, widths[1:])] for label, *rest in cells)
    return "\n".join("  ".join(row).rstrip() for row in aligned)


def cut(label: str, width: int) -> str:
    """Return a label of up to so many characters."""
    return label if len(label) <= width else label[: width - 1] + "…"


def decimals_of(values: Iterable[float]) -> int:
    """Return the decimals that give the greatest of the numbers that are written in full four digits."""
    greatest = max((abs(value) for value in values if abs(value) < HUGE), default=0.0)
    return min(max(0, 3 - math.floor(math.log10(greatest))), 9) if greatest else 1


def written(value: float | None, decimals: int) -> str:
    """Return a number with so many decimals; a huge one, or one that is not finite, with four digits."""
    if value is None:
        return "-"
    if not abs(value) < HUGE:
        return f"{value:.4g}"
    return f"{round(value, decimals) + 0.0:.{decimals}f}"  # + 0.0: there is no -0


def as_dot(data: _Data) -> str:
    """Return a tree as a drawing in the language of Graphviz."""
    lines = ["rankdir=LR;", 'node [fontname="sans-serif"];', 'edge [fontname="sans-serif"];']
    lines += _dot_node("n0", data, count(1), max(1, data["visits"]))
    return "\n".join(["digraph search {", *(f"  {line}" for line in lines), "}"])


def _dot_node(name: str, node: _Data, fresh: Iterator[int], total: int) -> Iterator[str]:
    """Yield what draws a node and all below it; ``fresh`` numbers make names, ``total`` visits are drawn thickest."""
    choices = node["choices"]
    own = [choice for choice in choices if len(choice["players"]) == 1]
    values = (f"player {choice['players'][0]}{_valued(choice['value'])}" for choice in own)
    label = _quoted(counted(node["visits"], "visit"), *values)
    yield f"{name} [label={label}];"
    for place, choice in enumerate(choices):
        who = f"player {choice['players'][0]}: " if place < len(own) and len(choices) > 1 else ""
        for action in choice["actions"]:
            if who and len(own) < len(choices) and not action["outcomes"]:
                yield from _dot_box(name, action, who, fresh)
            else:
                yield from _dot_arrow(name, action, who, fresh, total)
        if choice["actions"]:
            yield from _dot_more(name, choice["omitted"], fresh)


def _dot_label(action: _Data, who: str) -> str:
    return _quoted(who + action["name"], f"{counted(action['visits'], 'visit')}{_valued(action['value'])}")


def _dot_box(start: str, action: _Data, who: str, fresh: Iterator[int]) -> Iterator[str]:
    name = f"n{next(fresh)}"
    yield f"{name} [shape=box, label={_dot_label(action, who)}];"
    yield f"{start} -> {name} [style=dotted, arrowhead=none];"


def _dot_arrow(start: str, action: _Data, who: str, fresh: Iterator[int], total: int) -> Iterator[str]:
    outcomes, name = action["outcomes"], f"n{next(fresh)}"
    yield f"{start} -> {name} [label={_dot_label(action, who)}, penwidth={_pen(action, total)}];"
    if len(outcomes) == 1 and not action["omitted"]:
        yield from _dot_node(name, outcomes[0], fresh, total)
        return
    yield f"{name} [shape=point];"
    for outcome in outcomes:
        child = f"n{next(fresh)}"
        yield f"{name} -> {child} [penwidth={_pen(outcome, total)}];"
        yield from _dot_node(child, outcome, fresh, total)
    yield from _dot_more(name, action["omitted"], fresh)


def _dot_more(start: str, left: int, fresh: Iterator[int]) -> Iterator[str]:
    if left:
        name = f"n{next(fresh)}"
        yield f"{name} [shape=plaintext, label={_quoted(f'... {left} more')}];"
        yield f"{start} -> {name} [style=dashed, arrowhead=none];"


def counted(number: int, noun: str) -> str:
    """Say how many there are of something."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _valued(value: float | None) -> str:
    return "" if value is None else f": {value:.4g}"


def _pen(data: _Data, total: int) -> str:
    return f"{0.5 + 4.5 * data['visits'] / total:.2f}"


def _quoted(*lines: str) -> str:
    """Quote a label: Graphviz reads backslashes and HTML's names of characters in it."""
    escaped = (line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
