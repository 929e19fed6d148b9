"""Pictures of games: one drawing, read as pixels or as SVG, and a little colour for terminals.

A game draws once, in cells: x to the right, y downwards, one unit a cell, whatever the size in pixels will be::

    canvas = Canvas(3, 2, "#a7d676")
    canvas.ellipse(0.5, 0.5, 0.3, fill="#ffd34d")
    inner = canvas.at(1, 0)                      # the same canvas with its origin moved to the cell (1, 0)
    inner.text(0.5, 0.5, "7", "#333333", bold=True)
    canvas.to_rgb(64), canvas.to_svg()
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from math import ceil, floor, inf
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import numpy as np

from mcts_envs.core import errors
from mcts_envs.core.typing import Bytes

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

Point: TypeAlias = tuple[float, float]
Place: TypeAlias = tuple[float, float, float, float]
"""Part of a picture: left, top, width, height in cells."""

PLAYERS = ("#005a9c", "#d55e00", "#7cc8f2", "#f0e442")
"""A colour for each player, told apart with any colour vision: after M. Okabe, K. Ito, "Color Universal Design" (2008),
the two blues set further apart."""

PLAYER_NAMES = ("blue", "orange", "sky blue", "yellow")

_ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}
_BASELINE = 0.35  # of the font size: from the middle of a capital letter down to the baseline
_BOLD = 0.05  # of the font size: stroke around bold letters
_COLOURING = re.compile("\x1b\\[[0-9;]*m")
_ANSI = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")


class _Shape(NamedTuple):
    """One primitive. Rectangles and ellipses: two corners of their box; text: the left end of its baseline."""

    kind: str
    points: tuple[Point, ...]
    fill: str | None
    outline: str | None
    stroke: float
    opacity: float
    size: float = 0.0
    text: str = ""


@dataclass(frozen=True)
class Canvas:
    """A drawing in cell units.

    Colours are ``"#rrggbb"`` or names that CSS knows. Outlines of rectangles and ellipses lie inside the shape, those
    of polygons are centred on the edge. ``stroke`` is the width of a line; ``opacity`` holds for a shape as a whole.

    Parameters
    ----------
    width, height : float
        Size in cells.
    background : str
        Colour of what nothing covers.
    """

    width: float
    height: float
    background: str = "#ffffff"
    shapes: list[_Shape] = field(default_factory=list, repr=False)
    origin: Point = (0.0, 0.0)
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not (0 < self.width < inf and 0 < self.height < inf):
            raise ValueError(f"canvas of {self.width} x {self.height} cells; both must be positive and finite")

    def at(self, x: float, y: float, scale: float = 1.0) -> "Canvas":
        """Return this canvas with its origin moved to (x, y) and its unit multiplied; the drawing is shared."""
        origin = self.origin[0] + x * self.scale, self.origin[1] + y * self.scale
        return Canvas(self.width, self.height, self.background, self.shapes, origin, self.scale * scale)

    def rectangle(
        self, x: float, y: float, width: float, height: float, fill: str | None = None, *,
        radius: float = 0.0, outline: str | None = None, stroke: float = 0.04, opacity: float = 1.0,
    ) -> None:  # fmt: skip
        """Draw a rectangle by its left top corner; its corners are round if a ``radius`` is given."""
        radius = min(radius, width / 2, height / 2)
        self._add("rect", [(x, y), (x + width, y + height)], fill, outline, stroke, opacity, radius)

    def ellipse(
        self, x: float, y: float, rx: float, ry: float | None = None, *, fill: str | None = None,
        outline: str | None = None, stroke: float = 0.04, opacity: float = 1.0,
    ) -> None:  # fmt: skip
        """Draw an ellipse by its centre and radii, or a circle without ``ry``."""
        ry = rx if ry is None else ry
        self._add("ellipse", [(x - rx, y - ry), (x + rx, y + ry)], fill, outline, stroke, opacity)

    def polygon(
        self, points: Iterable[Point], fill: str | None = None, *,
        outline: str | None = None, stroke: float = 0.04, opacity: float = 1.0,
    ) -> None:  # fmt: skip
        """Draw a closed polygon through three or more points."""
        self._add("polygon", points, fill, outline, stroke, opacity)

    def line(self, points: Iterable[Point], colour: str, stroke: float = 0.04, *, opacity: float = 1.0) -> None:
        """Draw a line through two or more points, with round ends."""
        self._add("polyline", points, None, colour, stroke, opacity)

    def text(
        self, x: float, y: float, text: str, colour: str, size: float = 0.3, *,
        anchor: str = "middle", bold: bool = False, opacity: float = 1.0,
    ) -> float:  # fmt: skip
        """Write one line, and return its length in cells.

        Capital letters are centred on y, the ``anchor`` (start, middle or end) is at x.
        """
        if anchor not in _ANCHORS:
            raise ValueError(errors.unknown("text anchor", anchor, _ANCHORS))
        length = _length(text, size)
        start = x - _ANCHORS[anchor] * length, y + _BASELINE * size
        self._add("text", [start], colour, colour if bold else None, _BOLD * size, opacity, size, text)
        return length

    def number(self, columns: Iterable[int], rows: Iterable[int], colour: str, size: float = 0.22) -> None:
        """Number the columns of a board above it and its rows at its left; its left top corner is the origin."""
        for x, column in enumerate(columns):
            self.text(x + 0.5, -0.2, str(column), colour, size)
        for y, row in enumerate(rows):
            self.text(-0.22, y + 0.5, str(row), colour, size)

    def point_at(self, x: float, y: float, colour: str) -> None:
        """Draw a small triangle that points down at something: the mark of one's own seat."""
        self.polygon([(x - 0.13, y - 0.2), (x + 0.13, y - 0.2), (x, y)], colour, outline="#ffffff", stroke=0.03)

    def draw(self, other: "Canvas") -> None:
        """Draw all of another drawing, its background included, with its left top corner at the origin."""
        self.rectangle(0, 0, other.width, other.height, other.background)
        (left, top), scale = self.origin, self.scale
        for shape in other.shapes:
            points = tuple([(left + x * scale, top + y * scale) for x, y in shape.points])
            self.shapes.append(shape._replace(points=points, stroke=shape.stroke * scale, size=shape.size * scale))

    def to_rgb(self, cell: int = 64) -> Bytes:
        """Return the picture as pixels, uint8 [H, W, 3]; H and W are even, as video codecs want them.

        Parameters
        ----------
        cell : int
            Pixels a cell, from 1 to 512.
        """
        from PIL import Image, ImageDraw  # late, here and below: most processes draw nothing

        cell = errors.integer("cell", cell, 1, 512)
        fine = 2 if cell >= 48 else 3  # painted this many times larger, then averaged
        width, height = (2 * ceil(length * cell / 2 - 1e-9) * fine for length in (self.width, self.height))
        image = Image.new("RGB", (width, height), _ink(self.background))
        draw = ImageDraw.Draw(image)
        for shape in self.shapes:
            if shape.opacity < 1:
                _blend(image, shape, fine * cell)
            else:
                _paint(draw, shape, fine * cell)
        return np.array(image.reduce(fine))

    def to_svg(self) -> str:
        """Return the same picture as a standalone SVG document, shown at 64 pixels a cell where nothing scales it."""
        width, height, pixels = _number(self.width), _number(self.height), (64 * self.width, 64 * self.height)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_number(pixels[0])}" height="{_number(pixels[1])}" '
            f'viewBox="0 0 {width} {height}" font-family="Aileron, Helvetica, Arial, sans-serif" '
            'stroke-linecap="round" stroke-linejoin="round">'
        )
        ground = f'<rect width="{width}" height="{height}" fill="{self.background}"/>'
        return "\n".join([head, ground, *map(_element, self.shapes), "</svg>\n"])

    _repr_svg_ = to_svg

    def _add(
        self, kind: str, points: Iterable[Point], fill: str | None, outline: str | None,
        stroke: float, opacity: float, size: float = 0.0, text: str = "",
    ) -> None:  # fmt: skip
        (left, top), scale = self.origin, self.scale
        placed = tuple([(left + x * scale, top + y * scale) for x, y in points])
        width = stroke * scale if outline else 0.0
        self.shapes.append(_Shape(kind, placed, fill, outline, width, opacity, size * scale, text))


@lru_cache(maxsize=1024)
def mix(first: str, second: str, share: float) -> str:
    """Return the colour between two: the first at ``share`` 0, the second at 1."""
    pairs = zip(_ink(first) or (), _ink(second) or (), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def on(colour: str) -> str:
    """Return black or white, whichever is read more easily on a colour."""
    red, green, blue = _ink(colour) or (0, 0, 0)
    return "#1d1b19" if 0.299 * red + 0.587 * green + 0.114 * blue > 128 else "#ffffff"


def in_lines(parts: Iterable[str], between: str, width: int = 80) -> list[str]:
    """Join parts of a text, coloured or not, to lines of up to so many characters."""
    lines: list[str] = []
    for part in parts:
        if lines and visible(lines[-1] + between + part) <= width:
            lines[-1] += between + part
        else:
            lines.append(part)
    return lines


def visible(text: str) -> int:
    """Return how many characters of a coloured text are seen."""
    return len(_COLOURING.sub("", text))


def ansi(text: str, colour: str, *, bold: bool = False) -> str:
    """Return text in one of the eight colours of a terminal: black, red, green, yellow, blue, magenta, cyan, white.

    Raises
    ------
    ValueError
        If the colour is none of them.
    """
    if colour not in _ANSI:
        raise ValueError(errors.unknown("terminal colour", colour, _ANSI))
    return f"\x1b[{'1;' if bold else ''}{30 + _ANSI.index(colour)}m{text}\x1b[0m"


def _paint(draw: "ImageDraw.ImageDraw", shape: _Shape, scale: float, left: int = 0, top: int = 0) -> None:
    """Paint a shape at ``scale`` pixels a cell on an image whose first pixel is (left, top) of the whole."""
    pixels = [(x * scale - left, y * scale - top) for x, y in shape.points]
    fill, outline = _ink(shape.fill), _ink(shape.outline)
    stroke = max(1, round(shape.stroke * scale)) if outline else 0
    if shape.kind in ("rect", "ellipse"):
        (x0, y0), (x1, y1) = ((round(x), round(y)) for x, y in pixels)
        box = (x0, y0, max(x1 - 1, x0), max(y1 - 1, y0))  # Pillow paints the last pixel too
        if shape.kind == "ellipse":
            draw.ellipse(box, fill, outline, stroke)
        else:
            radius, side = round(shape.size * scale), min(box[2] - box[0], box[3] - box[1])
            if radius and 2 * radius > side - 3:  # Pillow leaves a gap or fails where corners almost touch
                radius = side // 2 + 1
            draw.rounded_rectangle(box, radius, fill, outline, stroke)
    elif shape.kind == "text":
        font = _font(max(1.0, shape.size * scale))
        draw.text(pixels[0], shape.text, fill, font, "ls", stroke_width=round(shape.stroke * scale / 2))
    else:
        if fill:
            draw.polygon(pixels, fill)
        if outline:
            path = [*pixels, pixels[0], pixels[1]] if shape.kind == "polygon" else pixels
            draw.line(path, outline, stroke, joint="curve" if stroke > 4 else None)
            half = (stroke - 1) / 2
            for x, y in (path[0], path[-1]):  # round ends
                draw.ellipse((x - half, y - half, x + half, y + half), outline)


def _blend(image: "Image.Image", shape: _Shape, scale: float) -> None:
    """Paint a translucent shape: blend the part of the image around it with the same part painted over."""
    from PIL import Image, ImageDraw

    margin = max(shape.stroke, 2 * shape.size if shape.text else 0.0) + 2 / scale
    xs, ys = zip(*shape.points, strict=True)
    right = max(xs) + (_length(shape.text, shape.size) if shape.text else 0.0)
    x0, y0 = max(floor((min(xs) - margin) * scale), 0), max(floor((min(ys) - margin) * scale), 0)
    x1 = min(ceil((right + margin) * scale), image.width)
    y1 = min(ceil((max(ys) + margin) * scale), image.height)
    if x0 < x1 and y0 < y1:
        before = image.crop((x0, y0, x1, y1))
        after = before.copy()
        _paint(ImageDraw.Draw(after), shape, scale, x0, y0)
        image.paste(Image.blend(before, after, shape.opacity), (x0, y0))


def _element(shape: _Shape) -> str:
    """Return a shape as an SVG element."""
    style = f'fill="{shape.fill or "none"}"'
    style += f' stroke="{shape.outline}" stroke-width="{_number(shape.stroke)}"' if shape.outline else ""
    style += f' opacity="{_number(shape.opacity)}"' if shape.opacity < 1 else ""
    if shape.kind in ("polygon", "polyline"):
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
        return f'<{shape.kind} points="{points}" {style}/>'
    x, y = shape.points[0]
    if shape.kind == "text":
        place = f'x="{_number(x)}" y="{_number(y)}" font-size="{_number(shape.size)}"'
        length = f'textLength="{_number(_length(shape.text, shape.size))}" lengthAdjust="spacingAndGlyphs"'
        words = escape(shape.text, quote=False).replace("  ", "\u00a0\u00a0")  # of spaces in a row a browser shows one
        return f"<text {place} {length} {style}>{words}</text>"
    # SVG centres a stroke on the edge: draw the box smaller by half a stroke on each side.
    half = shape.stroke / 2
    width, height = (max(b - a - shape.stroke, 0.0) for a, b in zip(*shape.points, strict=True))
    if shape.kind == "ellipse":
        centre = f'cx="{_number(x + half + width / 2)}" cy="{_number(y + half + height / 2)}"'
        return f'<ellipse {centre} rx="{_number(width / 2)}" ry="{_number(height / 2)}" {style}/>'
    radius = _number(max(shape.size - half, 0.0))
    place = f'x="{_number(x + half)}" y="{_number(y + half)}" width="{_number(width)}" height="{_number(height)}"'
    return f'<rect {place} rx="{radius}" {style}/>'


@lru_cache(maxsize=1024)
def _ink(colour: str | None) -> tuple[int, int, int] | None:
    if colour is None:
        return None
    from PIL import ImageColor

    red, green, blue = ImageColor.getrgb(colour)[:3]
    return red, green, blue


@lru_cache(maxsize=64)
def _font(size: float) -> "ImageFont.FreeTypeFont":
    from PIL import ImageFont

    return cast("ImageFont.FreeTypeFont", ImageFont.load_default(size))  # raises ImportError without FreeType


@lru_cache(maxsize=1024)
def _length(text: str, size: float) -> float:
    return _font(100.0).getlength(text) * size / 100


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")
