"""Charts as inline SVG that is stretched to the width there is; words stand beside it, so that they stay readable."""

from collections.abc import Callable, Iterable, Sequence
from math import ceil, floor, isnan, log10
from typing import NamedTuple

from agents.arena.page.markup import Html, Part, tag
from agents.arena.statistics.estimates import Estimate

COLOURS = 6
"""How many the style sheet has."""
_ENOUGH_TICKS = 6


class Line(NamedTuple):
    """A row of a chart of intervals."""

    name: str
    figure: Estimate
    said: str


class Spread(NamedTuple):
    """A row of a chart of spreads: the 5th, 25th, 50th, 75th and 95th percentile."""

    name: str
    percentiles: Sequence[float]
    said: str


class Point(NamedTuple):
    """A point of a chart of strength against time, and in which group it is."""

    group: int
    time: float
    figure: Estimate
    said: str


class Axis:
    """Where a number stands, in percent of a width.

    Parameters
    ----------
    low, high : float
        What must be on it.
    """

    def __init__(self, low: float, high: float) -> None:
        if high <= low:
            low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
        step = 10.0 ** floor(log10(high - low))
        self.step = next(
            step * part for part in (0.1, 0.2, 0.25, 0.5, 1, 2) if (high - low) / (step * part) < _ENOUGH_TICKS
        )
        self.low, self.high = self.step * floor(low / self.step), self.step * ceil(high / self.step)

    @property
    def ticks(self) -> list[float]:
        """Round numbers, from end to end."""
        return [self.low + n * self.step for n in range(round((self.high - self.low) / self.step) + 1)]

    def at(self, value: float) -> float:
        """Return where a number stands; one beyond an end, as an infinite one, at that end."""
        return round(100.0 * min(max((value - self.low) / (self.high - self.low), 0.0), 1.0), 2)


def intervals(lines: Sequence[Line], axis: Axis, form: Callable[[float], str]) -> Html:
    """Return figures with their intervals, one below the other."""
    return _rows([(line.name, line.said, _interval(line.figure, axis)) for line in lines], axis, form)


def spreads(lines: Sequence[Spread], axis: Axis, form: Callable[[float], str]) -> Html:
    """Return spreads, one below the other."""
    return _rows([(line.name, line.said, _box(line.percentiles, axis)) for line in lines], axis, form)


def strength(points: Sequence[Point], groups: Sequence[str], axis: Axis, form: Callable[[float], str]) -> Html:
    """Return figures against the time of a move, which is on a logarithmic scale, joined group by group."""
    times = [log10(point.time) for point in points]
    wide = max(times) - min(times) or 1.0
    low, width = min(times) - 0.06 * wide, 1.12 * wide
    drawn: list[Part] = [_stroke(0, 100 - axis.at(tick), 100, 100 - axis.at(tick), "grid") for tick in axis.ticks]
    words: list[Part] = [
        tag("span", form(tick), class_="tick", style=f"left:0;top:{100 - axis.at(tick):g}%") for tick in axis.ticks
    ]
    for tick in _decades(low, low + width):
        x = 100 * (log10(tick) - low) / width
        drawn.append(_stroke(x, 0, x, 100, "grid"))
        words.append(tag("span", f"{tick:g} ms", class_="tick below", style=f"left:{x:.2f}%"))
    for number in range(len(groups)):
        mine = sorted((point for point in points if point.group == number), key=lambda point: point.time)
        places = [(100 * (log10(p.time) - low) / width, 100 - axis.at(p.figure.value)) for p in mine]
        colour = f"tone-{number % COLOURS}"
        path = " ".join(f"{x:.2f},{y:.2f}" for x, y in places)
        drawn.append(tag("polyline", points=path, class_=f"path {colour}", vector_effect="non-scaling-stroke"))
        for (x, y), point in zip(places, mine, strict=True):
            if not isnan(point.figure.low):
                ends = 100 - axis.at(point.figure.low), 100 - axis.at(point.figure.high)
                drawn.append(_stroke(x, ends[0], x, ends[1], f"interval {colour}"))
            drawn.append(_stroke(x, y, x, y, f"dot {colour}"))
            words.append(
                tag(
                    "span",
                    point.said,
                    class_=f"said{' left' if x > 90 else ''}{' under' if _is_below(point, points) else ''}",
                    style=f"left:{x:.2f}%;top:{y:.2f}%",
                )
            )
    legend = [tag("span", tag("i", class_=f"tone-{n % COLOURS}"), name) for n, name in enumerate(groups)]
    return tag(
        "div",
        tag("div", _svg(drawn), *words, class_="plane"),
        tag("p", *legend, class_="legend"),
        class_="chart strength",
    )


def _is_below(point: Point, points: Sequence[Point]) -> bool:
    """Return whether another group is higher where the same is said, so that this word goes under its point."""
    return any(
        (other.figure.value, -other.group) > (point.figure.value, -point.group)
        for other in points
        if other.said == point.said
    )


def _rows(rows: Iterable[tuple[str, str, list[Part]]], axis: Axis, form: Callable[[float], str]) -> Html:
    grid = [_stroke(axis.at(tick), 0, axis.at(tick), 100, "grid") for tick in axis.ticks]
    lines = [
        tag("li", tag("span", name, class_="name"), _svg([*grid, *drawn]), tag("span", said, class_="value"))
        for name, said, drawn in rows
    ]
    ticks = [tag("span", form(tick), style=f"left:{axis.at(tick):g}%") for tick in axis.ticks]
    return tag("ul", *lines, tag("li", tag("div", *ticks, class_="ticks"), class_="axis"), class_="chart rows")


def _interval(figure: Estimate, axis: Axis) -> list[Part]:
    drawn: list[Part] = []
    if not isnan(figure.low):
        drawn.append(_stroke(axis.at(figure.low), 50, axis.at(figure.high), 50, "interval"))
    if not isnan(figure.value):
        drawn.append(_stroke(axis.at(figure.value), 50, axis.at(figure.value), 50, "dot"))
    return drawn


def _box(percentiles: Sequence[float], axis: Axis) -> list[Part]:
    least, low, middle, high, most = map(axis.at, percentiles)
    box = tag("rect", x=low, y=22, width=max(round(high - low, 2), 0.2), height=56, class_="box")
    return [_stroke(least, 50, most, 50, "whisker"), box, _stroke(middle, 22, middle, 78, "middle")]


def _stroke(x1: float, y1: float, x2: float, y2: float, kind: str) -> Html:
    ends = {name: f"{value:.6g}" for name, value in (("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2))}
    return tag("line", **ends, class_=kind, vector_effect="non-scaling-stroke")


def _svg(parts: Iterable[Part]) -> Html:
    return tag("svg", *parts, viewBox="0 0 100 100", preserveAspectRatio="none", aria_hidden="true")


def _decades(low: float, high: float) -> list[float]:
    """Return round times on a logarithmic scale; several in a decade where there are few decades."""
    parts = (1,) if high - low > 2 else (1, 3) if high - low > 0.8 else (1, 1.5, 2, 3, 5, 7)
    known = [part * 10.0**power for power in range(floor(low) - 1, ceil(high) + 1) for part in parts]
    return [tick for tick in known if low <= log10(tick) <= high]
