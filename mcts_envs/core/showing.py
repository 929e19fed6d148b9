"""How a state is shown: a picture or a text, in which the player whose environment it is may be marked."""

import inspect
from collections.abc import Callable
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Bytes

if TYPE_CHECKING:
    from mcts_envs.core.render import Canvas


def picture_of(game: Game, state: Bytes, seat: int | None = None) -> "Canvas":
    """Return the picture of a state.

    Raises
    ------
    ValueError
        If the game has none.
    """
    if game.picture is None:
        raise ValueError(f"{game.name} has no picture; give its Game a picture function")
    canvas: Canvas = _drawn(game.picture, state, seat)
    return canvas


def text_of(game: Game, state: Bytes, seat: int | None = None) -> str:
    """Return the text of a state for a terminal.

    Raises
    ------
    ValueError
        If the game has none.
    """
    if game.text is None:
        raise ValueError(f"{game.name} has no text; give its Game a text function")
    return str(_drawn(game.text, state, seat))


class Pictured:
    """A face of one game that notebooks show by its picture, or by its name before the first reset."""

    game: Game
    _state: Bytes
    _started: bool

    def _repr_html_(self) -> str:
        if not self._started or self.game.picture is None:
            return f"<p>{escape(str(self))}{'' if self._started else ': call reset() to see the game'}</p>"
        svg = picture_of(self.game, self._state, getattr(self, "seat", None)).to_svg()
        return svg.replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)


def _drawn(draw: Callable[..., Any], state: Bytes, seat: int | None) -> Any:
    return draw(state, seat=seat) if _takes_seat(draw) else draw(state)


@lru_cache(maxsize=256)
def _takes_seat(draw: Callable[..., Any]) -> bool:
    return "seat" in inspect.signature(draw).parameters
