"""How a state is shown: a picture or a text, in which the player whose environment it is may be marked."""

import inspect
import sys
from collections.abc import Callable
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Bytes

if TYPE_CHECKING:
    from mcts_envs.core.api.live import LiveGame
    from mcts_envs.core.render import Canvas


def picture_of(game: Game, state: Bytes, seat: int | None = None, viewer: int | None = None) -> "Canvas":
    """Return the picture of a state, of a seat's environment and as a viewer may know it where the game draws that.

    Raises
    ------
    ValueError
        If the game has none.
    """
    if game.picture is None:
        raise ValueError(f"{game.name} has no picture; give its Game a picture function")
    canvas: Canvas = drawn(game.picture, state, seat, viewer)
    return canvas


def text_of(game: Game, state: Bytes, seat: int | None = None, viewer: int | None = None) -> str:
    """Return the text of a state for a terminal; seat and viewer as for :func:`picture_of`.

    Raises
    ------
    ValueError
        If the game has none.
    """
    if game.text is None:
        raise ValueError(f"{game.name} has no text; give its Game a text function")
    return str(drawn(game.text, state, seat, viewer))


def draws_views(game: Game) -> bool:
    """Return whether a game can be drawn as one player may know it: its functions have a keyword ``viewer``."""
    return any("viewer" in _keywords(draw) for draw in (game.picture, game.text) if draw is not None)


def name_of(game: Game, action: int, player: int = 0) -> str:
    """Return what a game calls an action of a player, on one line; in environments of others each has its own."""
    called = getattr(game, "called", None)
    return " ".join(str(game.action_name(action) if called is None else called(player, action)).split())


def rendered(game: Game, state: Bytes, mode: str, cell: int = 64, seat: int | None = None) -> Any:
    """Return the picture (uint8 [H, W, 3]) or the text of a state, as shown to a seat if there is one.

    Raises
    ------
    ValueError
        If the game cannot be drawn in this mode.
    """
    return text_of(game, state, seat) if mode == "ansi" else picture_of(game, state, seat).to_rgb(cell)


class Pictured:
    """An environment of one game that notebooks show by its picture, or by its name before the first reset."""

    game: Game
    _live: "LiveGame"

    def _repr_html_(self) -> str:
        live = self._live
        if not live.started or self.game.picture is None:
            return f"<p>{escape(str(self))}{'' if live.started else ': call reset() to see the game'}</p>"
        svg = picture_of(self.game, live.state, getattr(self, "seat", None)).to_svg()
        return svg.replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)


def show_wrapped() -> None:
    """Have a notebook show a wrapped environment as its inside, since Gymnasium's wrappers hide private names."""
    session = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if session is not None:
        session.display_formatter.formatters["text/html"].for_type_by_name("gymnasium.core", "Wrapper", _of_wrapper)


def _of_wrapper(wrapper: Any) -> str | None:
    """Return what the wrapper's own class shows, or what our environment inside of it does; None: nothing special."""
    shown = wrapper if hasattr(type(wrapper), "_repr_html_") else wrapper.unwrapped
    own = shown is wrapper or isinstance(shown, Pictured)
    html: str | None = shown._repr_html_() if own else None
    return html


def drawn(draw: Callable[..., Any], state: Bytes, seat: int | None, viewer: int | None) -> Any:
    """Return what a picture or text function makes of a state, told what it asks for by its keywords."""
    asked = {"seat": seat} if viewer is None else {"seat": seat, "viewer": viewer}
    return draw(state, **{name: value for name, value in asked.items() if name in _keywords(draw)})


@lru_cache(maxsize=256)
def _keywords(draw: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(draw).parameters)
