"""What a game that is watched looks like: ours as they are drawn, environments of others as they draw themselves."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from agents.arena.plan import Plan
from agents.inspection.pixels import drawn
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.contract import Game
from mcts_envs.core.render import PLAYERS
from mcts_envs.core.view import View
from mcts_envs.page import frame, header
from mcts_envs.page.frames import Data

PICTURE, TEXT = "rgb_array", "ansi"

WINDOW = "human"


class Stage(Protocol):
    """An environment of which a document is made.

    Attributes
    ----------
    env : environment
        In which the game is played.
    seats : list of int
        Those whose agents are asked, in their order.
    """

    env: Any
    seats: list[int]

    def header(self, title: str) -> Data:
        """Return the document without a frame yet."""

    def state(self, view: View) -> Any:
        """Return what tells the present state from another one."""

    def frame(self, view: View) -> Data:
        """Return what the state looks like in which a player is to choose."""

    def last(self) -> Data:
        """Return what the state looks like in which the game was left."""


class OwnStage:
    """A game of ours."""

    def __init__(self, env: Any, plan: Plan) -> None:
        self.env, self._inner = env, env.unwrapped
        self._opponent = str(plan.settings.get("opponent", "random"))
        self.seats = [self._inner.seat] if isinstance(self._inner, GameEnv) else list(range(self._inner.game.players))

    def header(self, title: str) -> Data:
        """Return the document without a frame yet."""
        game: Game = self._inner.game
        return header(game, title, [self._opponent] * game.players)

    def state(self, view: View) -> Any:
        """Return the bytes of the state."""
        return view.state.tobytes()

    def frame(self, view: View) -> Data:
        """Return the state as its game draws it."""
        return frame(view.game, view.state)

    def last(self) -> Data:
        """Return the present state as its game draws it."""
        env = self._inner
        return self.frame(env.view() if isinstance(env, GameEnv) else env.view(env.possible_agents[0]))


class ForeignStage:
    """An environment of others, made once more so that it draws itself, if it can.

    Parameters
    ----------
    env : environment
        Made by the plan.
    plan : Plan
    modes : sequence of str
        How it is to draw itself, the best first.
    plain : bool
        Whether its text is without colours.

    Attributes
    ----------
    plan : Plan
        Makes environments that draw themselves so.
    """

    def __init__(self, env: Any, plan: Plan, modes: Sequence[str] = (PICTURE, TEXT), plain: bool = True) -> None:
        self.plan, self.env, drew, why = drawing(env, plan, modes)
        self._why = why if drew is None else None
        self._plain = plain
        self._names = [str(name) for name in getattr(self.env, "possible_agents", ["player"])]
        self.seats = list(range(len(self._names)))
        self._now: Data = {}

    def header(self, title: str) -> Data:
        """Return the document without a frame yet."""
        colours = [PLAYERS[seat % len(PLAYERS)] for seat in self.seats]
        players = [
            {"seat": name, "colour": colour, "agent": None} for name, colour in zip(self._names, colours, strict=True)
        ]
        return {"title": title, "players": players, "frames": []}

    def state(self, view: View) -> Any:
        """Return what is seen while all choose at once; where they take turns, each turn is a state."""
        self.seen()
        return self._now if view.game.simultaneous else object()

    def frame(self, view: View) -> Data:
        """Return what was seen last, and who is to choose."""
        return {"turn": [view.player], "over": False} | self._now

    def last(self) -> Data:
        """Return what is seen now."""
        return {"turn": [], "over": True} | self.seen()

    @property
    def draws(self) -> bool:
        """Whether it draws itself."""
        return self._why is None

    def seen(self) -> Data:
        """Return what it draws now; where it cannot any more, as after an end, what it drew last, and a note of why."""
        if self._why is not None:
            self._now = {"text": self._why}
            return self._now
        try:
            drew, why = drawn(self.env, self._plain), "it draws nothing"
        except Exception as error:  # whatever its code raises
            drew, why = None, f"{type(error).__name__}: {error}"
        self._now = drew or {**self._now, "note": f"as it was drawn last; now {why}"}
        return self._now


def check_pictures(plan: Plan) -> None:
    """Raise ``ValueError`` if an environment of others draws no pictures of which a film could be made."""
    *_, drew, why = drawing(plan.make_env(), plan)
    if drew is None or "picture" not in drew:
        why = why if drew is None else f"{plan.id} draws text"
        raise ValueError(f"{why}, so there is no film of it; write a page, .html")


def drawing(env: Any, plan: Plan, modes: Sequence[str] = (PICTURE, TEXT)) -> tuple[Plan, Any, Data | None, str]:
    """Find how an environment of a plan draws itself best, without a window.

    Returns
    -------
    plan, env
        That make it so, and it; those that were given where it draws nothing.
    drew : dict or None
        What it drew after a reset.
    why : str
        Why it did not.
    """
    why = f"{plan.id} draws nothing"
    known = getattr(env, "metadata", {}).get("render_modes") or ()
    given = getattr(env, "render_mode", None)
    fixed = [] if given == WINDOW else [given]
    for mode in [mode for mode in modes if mode in known] if known and given in (None, WINDOW) else fixed:
        settings = plan.settings if mode == given else {**plan.settings, "render_mode": mode}
        other = replace(plan, settings=settings)
        try:
            made = other.make_env()
            made.reset(seed=plan.seed)
            if (drew := drawn(made)) is not None:
                return other, made, drew, ""
        except Exception as error:  # whatever its code raises: a library that is missing, say
            why += f"\n{mode or 'render()'}: {type(error).__name__}: {error}"
    return plan, env, None, why
