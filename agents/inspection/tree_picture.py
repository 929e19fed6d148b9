"""A search tree, given as the plain data of :meth:`SearchTree.to_json`, as a picture.

The root is at the left, every decision one column further right. A box is an action: its name, its visits, and the mean
return of the player who chose it, in whose colour its edge is, the wider the more visited. A box without an edge of
its own colour is an outcome where chance decides, or says what is left out.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from agents.inspection.drawing import counted, cut, decimals_of, written
from mcts_envs.core.render import PLAYERS, Canvas, mix

_Data = dict[str, Any]
_BOX, _GAP, _ROW = 3.6, 1.1, 0.78
_LETTERS = 20
_INK, _LINE = "#2c2f36", "#8b9099"


class _Box(NamedTuple):
    """Two lines in a place: ``column`` counts from the root, ``y`` is its middle; ``share`` of the root's visits."""

    title: str
    note: str
    column: int
    y: float
    share: float
    colour: str
    parent: int


class _Layout:
    """Gives every box a place: leaves one below another, the others beside the middle of what follows them."""

    def __init__(self, data: _Data, values: list[float]) -> None:
        self.boxes: list[_Box] = []
        self._next, self._total, self._decimals = 0.0, max(1, data["visits"]), decimals_of(values)
        self._add("root", counted(data["visits"], "visit"), data["visits"], -1, 0, _LINE, [data])

    def _add(
        self, title: str, note: str, visits: int, parent: int, column: int, colour: str, below: list[_Data],
        more: int = 0,
    ) -> None:  # fmt: skip
        """Add a box, and what follows the nodes below it: actions of one node, or several outcomes."""
        own, top = len(self.boxes), self._next
        self.boxes.append(_Box(title, note, column, top, visits / self._total, colour, parent))
        if len(below) > 1 or more:
            for number, node in enumerate(below, 1):
                self._add(
                    f"outcome {number}",
                    counted(node["visits"], "visit"),
                    node["visits"],
                    own,
                    column + 1,
                    _LINE,
                    [node],
                )
            self._add_rest(more, visits - sum(node["visits"] for node in below), own, column + 1)
        elif below:
            self._add_actions(below[0], own, column + 1)
        if len(self.boxes) == own + 1:
            self._next += 1.0
        places = [box.y for box in self.boxes[own + 1 :] if box.parent == own] or [top]
        self.boxes[own] = self.boxes[own]._replace(y=(places[0] + places[-1]) / 2)

    def _add_actions(self, node: _Data, parent: int, column: int) -> None:
        several = len(node["choices"]) > 1
        for choice in node["choices"]:
            who = f"{'+'.join(map(str, choice['players']))}: " if several else ""
            colour = PLAYERS[choice["players"][0] % len(PLAYERS)] if len(choice["players"]) == 1 else _LINE
            for action in choice["actions"]:
                value = "" if action["value"] is None else f", {written(action['value'], self._decimals)}"
                note = counted(action["visits"], "visit") + value
                self._add(
                    who + action["name"],
                    note,
                    action["visits"],
                    parent,
                    column,
                    colour,
                    action["outcomes"],
                    action["omitted"],
                )
            self._add_rest(
                choice["omitted"], choice["visits"] - sum(a["visits"] for a in choice["actions"]), parent, column
            )

    def _add_rest(self, number: int, visits: int, parent: int, column: int) -> None:
        if number:
            self._add(f"... {number} more", counted(visits, "visit"), visits, parent, column, _LINE, [])


def as_picture(data: _Data) -> Canvas:
    """Return a tree as a picture."""
    boxes = _Layout(data, list(_values(data))).boxes
    columns, rows = 1 + max(box.column for box in boxes), max(box.y for box in boxes) + 1
    canvas = Canvas(columns * (_BOX + _GAP) - _GAP + 0.4, rows * _ROW + 0.3, "#ffffff")
    inner = canvas.at(0.2, 0.15 + _ROW / 2)
    for box in boxes[1:]:
        start, end = boxes[box.parent], box.column * (_BOX + _GAP)
        points = [
            (end - _GAP, start.y * _ROW),
            (end - 0.6 * _GAP, start.y * _ROW),
            (end - 0.4 * _GAP, box.y * _ROW),
            (end, box.y * _ROW),
        ]
        inner.line(points, box.colour, 0.03 + 0.22 * box.share)
    for box in boxes:
        place = inner.at(box.column * (_BOX + _GAP), box.y * _ROW)
        place.rectangle(0, -0.32, _BOX, 0.64, mix(box.colour, "#ffffff", 0.86), radius=0.12, outline=box.colour)
        place.text(0.14, -0.12, cut(box.title, _LETTERS), _INK, 0.27, anchor="start", bold=True)
        place.text(0.14, 0.16, box.note, _INK, 0.22, anchor="start")
    return canvas


def _values(node: _Data) -> Iterator[float]:
    """Yield the size of every value that is shown below a node."""
    for choice in node["choices"]:
        for action in choice["actions"]:
            if action["value"] is not None:
                yield abs(action["value"])
            for outcome in action["outcomes"]:
                yield from _values(outcome)
