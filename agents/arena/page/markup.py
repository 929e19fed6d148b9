"""HTML that is put together from parts: what is not HTML already is text, and nothing of it can be anything else."""

from collections.abc import Container, Iterable
from html import escape
from typing import TypeAlias

from rich.table import Table
from rich.text import Text


class Html(str):
    """A text that is HTML."""

    __slots__ = ()


Part: TypeAlias = "str | Html | None"

_ALONE = ("line", "rect", "polyline", "meta")
"""Elements without an end."""


def tag(name: str, /, *parts: Part, **attributes: object) -> Html:
    """Return an element; ``class_`` is ``class``, and ``_`` in the name of an attribute is ``-``.

    Attributes that are None are left out.
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{said}/>" if name in _ALONE else f"<{name}{said}>{joined(parts)}</{name}>")


def joined(parts: Iterable[Part]) -> Html:
    """Return parts one after the other."""
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts if part is not None))


def breakable(name: str) -> Html:
    """Return a name that goes on below where one of its parts ends."""
    first, *others = name.split(":")
    return joined([first, *(part for other in others for part in (":", Html("<wbr/>"), other))])


def section(title: str, *parts: Part, about: str = "") -> Html:
    """Return a part of the page, under its title and a line that says what it shows."""
    return tag("section", tag("h2", title), tag("p", about, class_="quiet") if about else None, *parts)


def listing(heads: Iterable[str], rows: Iterable[Iterable[Part]], text: Container[int] = (0,)) -> Html:
    """Return a table, in which the columns with these numbers are text."""
    top = [tag("th", head, class_="text" if at in text else None) for at, head in enumerate(heads)]
    body = [
        tag("tr", *(tag("td", cell, class_="text" if at in text else None) for at, cell in enumerate(row)))
        for row in rows
    ]
    return _scrolling(tag("thead", tag("tr", *top)), tag("tbody", *body))


def table_html(table: Table) -> Html:
    """Return a table of the terminal."""
    sides = ["text" if column.justify == "left" else None for column in table.columns]
    top = [tag("th", str(column.header), class_=side) for column, side in zip(table.columns, sides, strict=True)]
    cells = zip(*(list(column.cells) for column in table.columns), strict=True)
    body = [
        tag("tr", *(tag("td", _plain(cell), class_=_kind(cell, side)) for cell, side in zip(row, sides, strict=True)))
        for row in cells
    ]
    return _scrolling(tag("thead", tag("tr", *top)), tag("tbody", *body))


def _scrolling(*parts: Part) -> Html:
    return tag("div", tag("table", *parts), class_="wide")


def _plain(cell: object) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)


def _kind(cell: object, side: str | None) -> str | None:
    """Return the classes of a cell: on which side it is written, and how."""
    styles = [str(cell.style), *(str(span.style) for span in cell.spans)] if isinstance(cell, Text) else []
    found = [word for word in ("bold", "red") if any(word in style for style in styles)]
    return " ".join([*([side] if side else []), *found]) or None
