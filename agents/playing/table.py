"""The game at which a session sits: one of ours, or an environment of others."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from agents.arena.plan import Plan
from agents.arena.replays import env_of
from agents.inspection.showing import decision
from agents.playing.foreign_table import ForeignTable
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.contract import Game
from mcts_envs.core.showing import text_of
from mcts_envs.core.view import View
from mcts_envs.page import frame, header, options
from mcts_envs.page.frames import COLOURING, Data
from mcts_envs.registry import ENTRIES, find, full_id
from mcts_envs.replay import Replay


class Table(Protocol):
    """A game under way, in which nobody sits yet.

    Attributes
    ----------
    plan : Plan
        Of its environment, settings and seed, without agents.
    saves : bool
        Whether its games have positions, and are saved and opened.
    """

    plan: Plan
    saves: bool

    @property
    def replay(self) -> Replay:
        """The game itself; ``ValueError`` if it is none that is saved."""

    @property
    def game(self) -> Game:
        """The game, as planners see it."""

    @property
    def choosing(self) -> list[int]:
        """Players who are to choose now; none when the game is over."""

    @property
    def returns(self) -> list[float]:
        """Sum of the rewards of each seat."""

    @property
    def outcome(self) -> list[float] | None:
        """Points of each seat at the end; None before, and where there are none."""

    @property
    def actions(self) -> list[list[int | None]]:
        """For each step what each seat chose, None for who was not to choose."""

    def header(self, names: list[str]) -> Data:
        """Return the document without a frame yet."""

    def frame(self, viewer: int | None, people: Sequence[int]) -> Data:
        """Return what the state looks like, to one player where the game draws that; these people are to choose."""

    def text(self, viewer: int | None, people: Sequence[int], coloured: bool) -> str:
        """Return what it looks like in a terminal, with colours or without."""

    def options(self, player: int) -> list[Data]:
        """Return the legal actions of a player who is to choose."""

    def decided(self, player: int, action: int) -> Data:
        """Return what a player chose, as a page shows it."""

    def play(self, actions: Mapping[int, int]) -> Any:
        """Make a step with what each who is to choose chose; if that fails nothing has changed."""

    def cut(self, steps: int) -> None:
        """Go back to where so many steps had been made; if that fails nothing has changed."""

    def choices(self) -> list[dict[int, int]]:
        """Return for each step what each player who was to choose chose."""

    def anew(self, seed: int) -> "Table":
        """Return another game of these settings at its beginning."""

    def lend(self, player: int, live: bool) -> Callable[[], tuple[Any, View]]:
        """Return what shows the present state to an agent, in another thread and while the game goes on.

        It returns what the agent is asked with, and a view of the player that tells what is legal. With ``live`` that
        is an environment, as agents of people's own want it.
        """

    def take_back(self) -> None:
        """Note that nobody thinks about the lent state any more."""

    def leave(self) -> None:
        """Let nobody wait for a step any more whose end is not in sight."""


def table_of(given: str | Replay, settings: dict[str, Any], seed: int, text: bool) -> Table:
    """Return a game at its beginning.

    Parameters
    ----------
    given : str or Replay
        An environment, or a game to be begun as this one was.
    settings : dict
    seed : int
    text : bool
        Whether an environment of others is to draw itself as text.

    Raises
    ------
    ValueError, TypeError
        If there is no such environment or setting.
    """
    if isinstance(given, Replay):
        return OwnTable(given.anew())
    if full_id(given) in ENTRIES:
        return OwnTable(Replay(given, seed=seed, **settings))
    return ForeignTable.of(Plan(given, (), settings, seed), text)


class OwnTable:
    """A game of ours."""

    saves = True

    def __init__(self, replay: Replay, keys: Mapping[str, int] | None = None) -> None:
        self._replay = replay
        self.plan = Plan(replay.id, (), replay.settings, replay.seed)
        self._keys = _keys_of(replay) if keys is None else keys

    @property
    def replay(self) -> Replay:
        """The game itself."""
        return self._replay

    @property
    def game(self) -> Game:
        """The game, as planners see it."""
        return self.replay.game

    @property
    def choosing(self) -> list[int]:
        """Players who are to choose now."""
        return self.replay.choosing

    @property
    def returns(self) -> list[float]:
        """Sum of the rewards of each seat."""
        found: list[float] = self.replay.returns.tolist()
        return found

    @property
    def outcome(self) -> list[float] | None:
        """Points of each seat at the end."""
        return self.replay.outcome

    @property
    def actions(self) -> list[list[int | None]]:
        """For each step what each seat chose."""
        return self.replay.actions

    def header(self, names: list[str]) -> Data:
        """Return the document without a frame yet."""
        return header(self.game, self.replay.id.removeprefix("mcts_envs/"), names)

    def frame(self, viewer: int | None, people: Sequence[int]) -> Data:
        """Return the state as its game draws it."""
        return frame(self.game, self.replay.state, viewer, viewer)

    def text(self, viewer: int | None, people: Sequence[int], coloured: bool) -> str:
        """Return the state as its game writes it."""
        text = text_of(self.game, self.replay.state, viewer, viewer) if self.game.text else str(self.replay)
        return text if coloured else COLOURING.sub("", text)

    def options(self, player: int) -> list[Data]:
        """Return the legal actions of a player who is to choose."""
        return options(self.game, self.replay.state, player, self._keys)

    def decided(self, player: int, action: int) -> Data:
        """Return what a player chose."""
        return decision(self.replay.view(player), action)

    def play(self, actions: Mapping[int, int]) -> Any:
        """Make a step."""
        return self.replay.play(actions)

    def cut(self, steps: int) -> None:
        """Go back to where so many steps had been made."""
        self.replay.cut(steps)

    def choices(self) -> list[dict[int, int]]:
        """Return for each step what each player who was to choose chose."""
        return self.replay.choices()

    def anew(self, seed: int) -> "OwnTable":
        """Return another game from the start."""
        return OwnTable(Replay(self.replay.id, seed=seed, **self.replay.settings), self._keys)

    def lend(self, player: int, live: bool) -> Callable[[], tuple[Any, View]]:
        """Return what shows copies of the state."""
        replay, choices, episode = self.replay, self.replay.choices(), self.replay.episode
        view = replay.view(player).copied()

        def look() -> tuple[Any, View]:
            if live:
                return env_of(self.plan, replay, choices, view), view
            return View(view.game, view.state.copy(), player, episode), view

        return look

    def take_back(self) -> None:
        """Copies need not come back."""

    def leave(self) -> None:
        """Rules of ours come to an end."""


def _keys_of(replay: Replay) -> dict[str, int]:
    """Return the keys of a game that has some, with the actions that they stand for."""
    entry = find(replay.id)
    env_class = entry.env_class()
    if env_class.get_keys_to_action is GameEnv.get_keys_to_action:
        return {}
    found: dict[str, int] = env_class(**{**entry.settings, **replay.settings}).get_keys_to_action()
    return found
