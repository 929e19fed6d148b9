"""A document in a notebook."""

from html import escape
from typing import Any

from mcts_envs.core.contract import Game
from mcts_envs.page.document import html, picture_html
from mcts_envs.page.frames import frame, frames_of, header, header_of, named, options
from mcts_envs.replay import Replay


class Shown:
    """A document that a notebook shows as a page in a frame; where no script runs, as a picture.

    Parameters
    ----------
    document : dict
        See :mod:`mcts_envs.page`.
    height : int
        Of the frame, in pixels.
    still : str, optional
        HTML that is shown where no script runs, or a notebook takes frames out; by default the last picture.
    """

    def __init__(self, document: dict[str, Any], height: int = 560, still: str | None = None) -> None:
        self.document, self.height = document, height
        self._still = picture_html(document["frames"][-1]) if still is None else still

    def __repr__(self) -> str:
        frames = len(self.document["frames"])
        return f"Shown({self.document['title']}, {frames} frame{'s' if frames > 1 else ''})"

    def to_html(self) -> str:
        """Return the page as a file of its own."""
        return html(self.document, self._still)

    def _repr_html_(self) -> str:
        # One above the other in the same cell: the frame covers the picture, if there is a frame.
        height = f"height:{self.height}px"
        return (
            f'<div style="display:grid"><div style="grid-area:1/1;max-{height};overflow:hidden">{self._still}</div>'
            f'<iframe style="grid-area:1/1;width:100%;{height};border:0;background:#fff" '
            f'title="{escape(self.document["title"])}" srcdoc="{escape(self.to_html())}"></iframe></div>'
        )


def show(env: Any) -> Shown:
    """Return the present state of an environment for a notebook: the board, who is to choose, and what is legal.

    Parameters
    ----------
    env : environment or Replay
        Of this package, of any API but the batched one, wrapped or not. Of a recorded game all is shown, move by move.

    Raises
    ------
    TypeError
        If it is another one.
    gymnasium.error.ResetNeeded
        Before the first reset.
    """
    if isinstance(env, Replay):
        return _game(env)
    inner = getattr(env, "unwrapped", env)
    if not isinstance(getattr(inner, "game", None), Game) or hasattr(inner, "num_envs"):
        raise TypeError(
            f"{type(inner).__name__} is no environment of mcts_envs for one game; show(env) takes those, "
            "and replays, and agents.show(result) what a search has found"
        )
    view = inner.view()
    spec = getattr(inner, "spec", None)
    document = header(view.game, spec.id.removeprefix("mcts_envs/") if spec else view.game.name)
    shown = frame(view.game, view.state, getattr(inner, "seat", None))
    document["frames"].append(
        shown | {"legal": [each for seat in shown["turn"] for each in options(view.game, view.state, seat)]}
    )
    return Shown(document)


def _game(replay: Replay) -> Shown:
    document = header_of(replay)
    for again, chosen, shown in frames_of(replay):
        shown["decisions"] = [named(again.game, again.state, player, action) for player, action in chosen.items()]
        document["frames"].append(shown)
    return Shown(document)
