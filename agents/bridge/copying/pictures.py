"""Copies of what environments draw on, or collide by, in pygame and in Pillow."""

import functools
from collections.abc import Callable
from typing import Any

from agents.bridge.copying.classes import KINDS, module_of, name_of


def _copy_surface(into: Any, value: Any) -> Any:
    into._surfaces[id(value)] = made = value.copy()
    return made


def _copy_bitmask(into: Any, value: Any) -> Any:
    made, kept = value.copy(), value.copy()
    into._others.append((_redraw, (made, kept)))
    return made


def _redraw(made: Any, kept: Any) -> None:
    made.clear()
    made.draw(kept, (0, 0))


def _copy_image(into: Any, value: Any) -> Any:
    made, kept = value.copy(), value.copy()
    into._dicts.append((vars(made), vars(made).copy()))
    into._others.append((made.im.paste, (kept.im, (0, 0, *kept.size))))
    return made


def _copy_pen(into: Any, value: Any) -> Any:
    """Copy what draws on an image: it holds the pixels of that."""
    made = type(value)(into.of(value._image), value.mode)
    held = {name: into.of(item) for name, item in vars(value).items() if name not in ("im", "draw")}
    vars(made).update(held)
    into._dicts.append((vars(made), vars(made).copy()))
    return made


_COPIED: dict[str, Callable[[Any, Any], Any]] = {
    "pygame.mask": _copy_bitmask,
    "pygame.surface": _copy_surface,
    "PIL.Image.Image": _copy_image,
    "PIL.ImageDraw.ImageDraw": _copy_pen,
}
"""By the module of a class, or the name of one of its bases."""

PIXELS = frozenset(_COPIED) - {"pygame.mask"}
"""What only shows a game."""


@functools.lru_cache(KINDS)
def drawn(kind: type) -> str:
    """Return what of these a class is; empty where it is none."""
    names = module_of(kind), *map(name_of, kind.__mro__)
    return next((name for name in names if name in _COPIED), "")


def copy_drawn(into: Any, value: Any) -> Any:
    """Return the copy of what is drawn on, or drew."""
    kind: Any = type(value)
    return _COPIED[drawn(kind)](into, value)
