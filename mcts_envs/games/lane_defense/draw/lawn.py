"""What the pictures of both lane games share: sky, house, lawn, graves, and the characters.

Characters are drawn inside the unit cell of the canvas that they are given, so ``canvas.at(column, lane)`` puts them on
the lawn and ``canvas.at(x, y, 0.6)`` on a card of the header.
"""

from collections.abc import Callable
from functools import lru_cache
from math import cos, hypot, pi, sin

from mcts_envs.core.render import Canvas, Point, mix

HOUSE, GRAVES = 1.5, 1.0
"""Cells left and right of the lawn."""

INK = "#2f2a3a"
_WRITING = 0.44
_SHADOW = "#1c3a12"
_COORDINATE = "#3b5a2e"
_SKIN, _SKIN_EDGE = "#bccb9e", "#7d8c66"
_STEEL, _STEEL_EDGE = "#b4c0cc", "#75828f"


def scene(rows: int, columns: int, header: float, line: float, dawn: float, lit: bool) -> tuple[Canvas, Canvas]:
    """Draw the ground of a game, with the numbers of lanes and columns as actions name them.

    Parameters
    ----------
    rows, columns : int
        Size of the lawn.
    header : float
        Height of the strip above it, in cells.
    line : float
        Where in the strip a line of writing stands, of which the stars keep clear.
    dawn : float
        How far the night is gone, from 0 to 1.
    lit : bool
        Whether there is light in the windows.

    Returns
    -------
    tuple of Canvas
        The whole picture, and the same with the origin at the left top corner of the lawn.
    """
    canvas = Canvas(HOUSE + columns + GRAVES, header + rows, "#8a7f94")
    lawn = canvas.at(HOUSE, header)
    for lane in range(rows):
        for column in range(columns):
            _grass(lawn.at(column, lane), lane, column)
    for column in range(columns):
        lawn.text(column + 0.8, 0.13, str(column), _COORDINATE, 0.2, bold=True)
    _graveyard(canvas.at(HOUSE + columns, header), rows)
    _house(canvas.at(0, header), rows, lit)
    for lane in range(rows):
        lawn.text(-0.2, lane + 0.22, str(lane), _COORDINATE, 0.22, bold=True)
    lawn.rectangle(0, 0, columns, 0.07, _SHADOW, opacity=0.14)
    _sky(canvas, header, line, dawn)
    return canvas, lawn


def badge(canvas: Canvas, text: str, paper: str, colour: str, icon: Callable[[Canvas], None] | None = None) -> None:
    """Draw a badge of 1.6 x 0.72 cells: a word, beside an icon if there is one."""
    canvas.rectangle(0, 0, 1.6, 0.72, paper, radius=0.2, outline=colour, stroke=0.05)
    if icon:
        icon(canvas.at(0.08, 0.06, 0.6))
    canvas.text(1.09 if icon else 0.8, 0.36, text, mix(colour, INK, 0.3), 0.28 if icon else 0.38, bold=True)


def result_badge(canvas: Canvas, result: str) -> None:
    """Draw the badge of a finished game: WON, LOST or TIME UP."""
    paper, colour = {"WON": ("#f4ffe6", "#4f9e3a"), "LOST": ("#ffe9e4", "#cf4b40")}.get(result, ("#efeaf7", "#7a6a9b"))
    canvas.rectangle(-0.06, -0.06, 1.72, 0.84, "#fff7c9", radius=0.25, opacity=0.45)
    badge(canvas, result, paper, colour)


def clock(t: int, night: int) -> str:
    """Return the step and the length of the night, the step alone when it is over."""
    return f"{t} / {night}" if t <= night else f"step {t}"


def sky_ink(dawn: float) -> str:
    """Return the colour of writing that is readable on the sky."""
    return "#ffffff" if dawn < 0.6 else INK


def sun(canvas: Canvas, x: float, y: float, radius: float) -> None:
    """Draw the sun with its rays; ``radius`` is that of its disc."""
    for i in range(8):
        turn = i / 8
        tips = [(x + r * radius * cos(2 * pi * turn), y + r * radius * sin(2 * pi * turn)) for r in (1.3, 1.7)]
        canvas.line(tips, "#ffc94d", 0.25 * radius)
    canvas.ellipse(x, y, radius, fill="#ffd75e", outline="#f2b134", stroke=0.14 * radius)


def bar(canvas: Canvas, x: float, y: float, width: float, share: float, colour: str, height: float = 0.09) -> None:
    """Draw a small bar that is filled up to ``share``."""
    canvas.rectangle(x, y, width, height, INK, radius=height / 2, opacity=0.75)
    inner = (width - 0.03) * max(0.0, min(share, 1.0))
    if inner > 0:
        canvas.rectangle(x + 0.015, y + 0.015, inner, height - 0.03, colour, radius=height / 2)


def leaf(canvas: Canvas, root: Point, tip: Point, bulge: float, colour: str, edge: str) -> None:
    """Draw a leaf from its root to its tip, ``bulge`` cells wide on each side."""
    outline = _leaf(root, tip, bulge)
    canvas.polygon(outline, colour, outline=edge, stroke=0.02)
    canvas.line([root, (root[0] + 0.75 * (tip[0] - root[0]), root[1] + 0.75 * (tip[1] - root[1]))], edge, 0.015)


def arc(x: float, y: float, rx: float, ry: float, start: float, end: float) -> list[Point]:
    """Return points of an ellipse between two angles in turns (0: right, 0.25: below)."""
    angles = [2 * pi * (start + (end - start) * i / 8) for i in range(9)]
    return [(x + rx * cos(angle), y + ry * sin(angle)) for angle in angles]


def eye(canvas: Canvas, x: float, y: float, radius: float, look: float = 0.0) -> None:
    """Draw a round eye that looks left (-1) to right (1)."""
    canvas.ellipse(x, y, radius, radius * 1.15, fill="#ffffff")
    canvas.ellipse(x + 0.35 * radius * look, y + 0.1 * radius, 0.58 * radius, fill=INK)
    canvas.ellipse(x + 0.35 * radius * look + 0.2 * radius, y - 0.2 * radius, 0.2 * radius, fill="#ffffff")


def shade(canvas: Canvas, x: float, y: float, rx: float) -> None:
    """Draw the shadow of what stands on the ground."""
    canvas.ellipse(x, y, rx, 0.07, fill=_SHADOW, opacity=0.22)


def shooter(canvas: Canvas, colour: str = "#84cf55", edge: str = "#4b8f36", mouth: float = 1.0) -> None:
    """Draw a sprout that spits to the right; ``mouth`` scales its mouth."""
    shade(canvas, 0.46, 0.88, 0.3)
    leaf(canvas, (0.45, 0.87), (0.13, 0.76), 0.075, "#6dbb48", "#4b8f36")
    leaf(canvas, (0.47, 0.87), (0.8, 0.77), 0.075, "#6dbb48", "#4b8f36")
    canvas.line([(0.46, 0.87), (0.44, 0.76), (0.45, 0.6)], "#5aa63d", 0.075)
    leaf(canvas, (0.32, 0.24), (0.09, 0.2), 0.06, colour, edge)
    leaf(canvas, (0.34, 0.22), (0.2, 0.06), 0.05, colour, edge)
    canvas.ellipse(0.74, 0.46, 0.15 * mouth, 0.13 * mouth, fill=colour, outline=edge, stroke=0.025)
    canvas.ellipse(0.44, 0.41, 0.27, 0.265, fill=colour, outline=edge, stroke=0.025)
    canvas.ellipse(0.65, 0.46, 0.11, 0.1 * mouth, fill=colour)
    canvas.ellipse(0.8, 0.46, 0.055 * mouth, 0.09 * mouth, fill=mix(edge, INK, 0.45))
    canvas.ellipse(0.33, 0.27, 0.1, 0.055, fill=mix(colour, "#ffffff", 0.4))
    eye(canvas, 0.41, 0.38, 0.062, 1)
    eye(canvas, 0.57, 0.37, 0.058, 1)
    canvas.ellipse(0.36, 0.5, 0.05, 0.03, fill=mix(colour, "#ff9e9e", 0.7))


def zombie(
    canvas: Canvas, coat: str = "#9a82c0", gear: Callable[[Canvas], None] | None = None, running: bool = False
) -> None:
    """Draw a zombie that walks to the left, with or without something on its head."""
    edge = mix(coat, INK, 0.45)
    shade(canvas, 0.53, 0.91, 0.3)
    stride = 0.1 if running else 0.03
    for side in (-1, 1):
        foot = 0.55 + side * (0.07 + stride)
        canvas.line([(0.55 + side * 0.07, 0.78), (foot, 0.88)], "#5d5a78", 0.11)
        canvas.ellipse(foot - 0.025, 0.905, 0.08, 0.045, fill=INK)
    canvas.line([(0.58, 0.66), (0.27, 0.73)], edge, 0.1)
    canvas.ellipse(0.22, 0.74, 0.055, fill=_SKIN, outline=_SKIN_EDGE, stroke=0.015)
    canvas.rectangle(0.37, 0.55, 0.37, 0.3, coat, radius=0.12, outline=edge, stroke=0.025)
    canvas.polygon([(0.41, 0.56), (0.57, 0.56), (0.46, 0.73)], "#f4efe4")
    canvas.polygon([(0.45, 0.57), (0.51, 0.57), (0.5, 0.72), (0.46, 0.76)], "#d0564d")
    canvas.line([(0.62, 0.65), (0.24, 0.62)], edge, 0.115)
    canvas.line([(0.62, 0.65), (0.25, 0.62)], coat, 0.075)
    canvas.ellipse(0.18, 0.615, 0.06, fill=_SKIN, outline=_SKIN_EDGE, stroke=0.015)
    canvas.ellipse(0.71, 0.39, 0.05, 0.065, fill=_SKIN, outline=_SKIN_EDGE, stroke=0.02)
    canvas.ellipse(0.49, 0.36, 0.235, 0.23, fill=_SKIN, outline=_SKIN_EDGE, stroke=0.025)
    for x, y in ((0.46, 0.07), (0.55, 0.05), (0.63, 0.085)):
        canvas.line([(0.54, 0.16), (x, y)], "#5f5747", 0.032)
    canvas.ellipse(0.6, 0.48, 0.05, 0.03, fill="#a9b88a")
    eye(canvas, 0.38, 0.34, 0.082, -0.9)
    eye(canvas, 0.575, 0.35, 0.06, -0.9)
    canvas.line([(0.3, 0.25), (0.45, 0.265)], _SKIN_EDGE, 0.035)
    canvas.line([(0.52, 0.28), (0.64, 0.265)], _SKIN_EDGE, 0.03)
    canvas.polygon(arc(0.44, 0.5, 0.1, 0.06, 0.0, -0.5), "#6d4351")
    canvas.rectangle(0.39, 0.452, 0.04, 0.035, "#ffffff")
    if gear:
        gear(canvas)


def cone(canvas: Canvas) -> None:
    """Put a traffic cone on a zombie's head."""
    sides = [(0.35, 0.25), (0.67, 0.25), (0.545, 0.03), (0.485, 0.03)]
    canvas.polygon(sides, "#f2964a", outline="#bf6a26", stroke=0.02)
    canvas.polygon([(0.405, 0.17), (0.62, 0.17), (0.583, 0.105), (0.447, 0.105)], "#fff3e0")
    canvas.line([(0.31, 0.26), (0.71, 0.26)], "#d97c34", 0.055)


def bucket(canvas: Canvas) -> None:
    """Put a bucket on a zombie's head."""
    canvas.polygon([(0.28, 0.27), (0.71, 0.27), (0.65, 0.04), (0.35, 0.04)], _STEEL, outline=_STEEL_EDGE, stroke=0.022)
    canvas.polygon([(0.38, 0.24), (0.45, 0.24), (0.455, 0.07), (0.4, 0.07)], "#dfe6ec")
    canvas.line([(0.26, 0.275), (0.73, 0.275)], _STEEL_EDGE, 0.06)
    canvas.line([(0.27, 0.27), (0.72, 0.27)], "#cdd6de", 0.03)


def torn_bucket(canvas: Canvas) -> None:
    """Put what shots have left of a bucket on a zombie's head, and a plaster beside it."""
    rim = [(0.52, 0.24), (0.73, 0.28), (0.72, 0.08), (0.63, 0.05), (0.6, 0.13), (0.55, 0.09), (0.57, 0.17)]
    canvas.polygon(rim, _STEEL, outline=_STEEL_EDGE, stroke=0.022)
    canvas.line([(0.51, 0.245), (0.74, 0.285)], _STEEL_EDGE, 0.05)
    for start, end in (((0.32, 0.24), (0.44, 0.17)), ((0.34, 0.17), (0.42, 0.24))):
        canvas.line([start, end], "#fff1dc", 0.07)


def headband(canvas: Canvas) -> None:
    """Tie a runner's headband around a zombie's head."""
    canvas.polygon([(0.68, 0.25), (0.86, 0.16), (0.83, 0.27), (0.88, 0.31)], "#e2574c")
    canvas.line([(0.33, 0.245), (0.5, 0.225), (0.68, 0.25)], "#e2574c", 0.075)
    canvas.line([(0.34, 0.245), (0.5, 0.225), (0.67, 0.25)], "#ffb3a8", 0.018)


def pips(canvas: Canvas, left: int, total: int) -> None:
    """Show at the foot of a cell how many of a zombie's hits are left."""
    for i in range(total):
        colour = "#e5484d" if i < left else "#e9e4d8"
        canvas.ellipse(0.87, 0.86 - 0.15 * i, 0.062, fill=colour, outline="#7c2a2e", stroke=0.022)


@lru_cache(maxsize=256)
def _leaf(root: Point, tip: Point, bulge: float) -> tuple[Point, ...]:
    (x0, y0), (x1, y1) = root, tip
    dx, dy = x1 - x0, y1 - y0
    wide = bulge / hypot(dx, dy)
    half = [(i / 6, wide * sin(pi * (i / 6) ** 0.8)) for i in range(7)]
    upper = [(x0 + dx * t - dy * b, y0 + dy * t + dx * b) for t, b in half]
    lower = [(x0 + dx * t + dy * b, y0 + dy * t - dx * b) for t, b in half[-2:0:-1]]
    return (*upper, *lower)


def _grass(cell: Canvas, lane: int, column: int) -> None:
    colours = ("#b3dd7c", "#aad673") if lane % 2 else ("#a0cf69", "#98c862")
    cell.rectangle(0, 0, 1, 1, colours[column % 2])
    spot = (lane * 37 + column * 61) % 17
    x, y = 0.15 + 0.045 * spot, 0.2 + 0.04 * ((spot * 7) % 17)
    if spot % 3 == 0:
        for lean in (-0.05, 0.0, 0.05):
            cell.line([(x, y), (x + lean, y - 0.09)], "#86b852", 0.02)
    elif spot % 7 == 1:
        for turn in range(5):
            angle = 0.4 * pi * turn
            cell.ellipse(x + 0.028 * cos(angle), y + 0.028 * sin(angle), 0.02, fill="#fdf6e3")
        cell.ellipse(x, y, 0.017, fill="#f4c542")


def _house(canvas: Canvas, rows: int, lit: bool) -> None:
    """Draw roof, wall and paving, and a window for each lane but the door's."""
    canvas.rectangle(0, 0, HOUSE, rows, "#d6cbbb")
    for step in range(2 * rows):
        shift = 0.06 * (1 - step % 2)
        canvas.rectangle(1.07, step / 2 + 0.04, 0.17 + shift, 0.42, "#e6ddd0", radius=0.07)
        canvas.rectangle(1.28 + shift, step / 2 + 0.04, 0.18 - shift, 0.42, "#e6ddd0", radius=0.07)
    canvas.rectangle(0, 0, 1.02, rows, "#f6e7c8")
    for plank in range(1, 4 * rows):
        canvas.line([(0.4, plank / 4), (1.0, plank / 4)], "#e9d6b0", 0.018)
    canvas.rectangle(0.98, 0, 0.06, rows, "#c9a77c")
    canvas.rectangle(0, 0, 0.36, rows, "#c66f57")
    for tile in range(3 * rows):
        for x in (0.12, 0.36):
            centre = (tile + (0.5 if x > 0.2 else 0.0)) / 3
            if 0 < centre < rows - 0.1:
                canvas.ellipse(x - 0.02, centre, 0.1, 0.16, fill="#d98068", outline="#b85f49", stroke=0.02)
    glass = "#ffe08a" if lit else "#5d5873"
    for lane in range(rows):
        if lane == rows // 2:
            canvas.rectangle(0.5, lane + 0.14, 0.42, 0.72, "#96624a", radius=0.1, outline="#ffffff", stroke=0.04)
            canvas.rectangle(0.57, lane + 0.22, 0.28, 0.24, glass, radius=0.06)
            canvas.ellipse(0.58, lane + 0.56, 0.03, fill="#ffd75e")
        else:
            canvas.rectangle(0.5, lane + 0.26, 0.42, 0.48, glass, radius=0.06, outline="#ffffff", stroke=0.05)
            canvas.line([(0.71, lane + 0.29), (0.71, lane + 0.71)], "#ffffff", 0.03)
            canvas.line([(0.53, lane + 0.5), (0.89, lane + 0.5)], "#ffffff", 0.03)


def _graveyard(canvas: Canvas, rows: int) -> None:
    canvas.rectangle(0, 0, GRAVES, rows, "#7f7691")
    for lane in range(rows):
        for i in range(4):
            canvas.ellipse(0.02, lane + 0.125 + 0.25 * i, 0.06 + 0.025 * ((lane + i) % 3), 0.15, fill="#7ba254")
        x, y = 0.48 + 0.06 * (lane % 2), lane + 0.5
        canvas.ellipse(x + 0.02, y + 0.31, 0.29, 0.08, fill="#675e79")
        canvas.rectangle(x - 0.2, y - 0.3, 0.4, 0.6, "#c9c6d3", radius=0.19, outline="#9c97ab", stroke=0.03)
        canvas.rectangle(x - 0.2, y + 0.1, 0.4, 0.2, "#c9c6d3")
        canvas.line([(x, y - 0.17), (x, y + 0.08)], "#9c97ab", 0.04)
        canvas.line([(x - 0.08, y - 0.09), (x + 0.08, y - 0.09)], "#9c97ab", 0.04)
        for lean in (-0.05, 0.0, 0.05):
            canvas.line([(x - 0.17, y + 0.34), (x - 0.17 + lean, y + 0.24)], "#5f8a46", 0.025)


def _sky(canvas: Canvas, height: float, line: float, dawn: float) -> None:
    """Draw the sky of the header: night at ``dawn`` 0, morning at 1."""
    top, horizon = mix("#2c2f63", "#86c5ee", dawn), mix("#6a5f9e", "#ffe2b0", dawn)
    bands = 10
    for i in range(bands):  # each down to the horizon, so that no gap is left between two
        y = height * i / bands
        canvas.rectangle(0, y, canvas.width, height - y, mix(top, horizon, i / (bands - 1)))
    for i in range(round(3 * canvas.width * max(0.0, 1 - 1.3 * dawn))):
        x, y = (i * 0.618 % 1) * canvas.width, (i * 0.377 % 1) * (height * 0.8 - _WRITING) + 0.06
        y += _WRITING if y > line - _WRITING / 2 else 0.0
        canvas.ellipse(x, y, 0.012 + 0.008 * (i % 3), fill=mix("#ffffff", top, dawn))
