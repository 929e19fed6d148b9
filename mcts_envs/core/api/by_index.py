"""The games of a batch one at a time: saved, restored and looked at by index; and copies of the whole batch."""

import hashlib
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from mcts_envs.core import errors
from mcts_envs.core.api.adapter import points_at_end
from mcts_envs.core.api.live import SeatedGame
from mcts_envs.core.api.turn import fill_mask_and_observation
from mcts_envs.core.contract import RUNNING, Game
from mcts_envs.core.place import position_of
from mcts_envs.core.snapshot import Snapshot, check_fingerprint
from mcts_envs.core.typing import Bytes, Floats, Ints, Masks
from mcts_envs.core.view import Episode, View


class Games(NamedTuple):
    """All live games of a batch, saved.

    Attributes
    ----------
    game : str
        Fingerprint of the game, its settings, and the layout of its states.
    arrays : dict of arrays
        The first axis is that of the games.
    seal : str
        Hash of the arrays, by which damage is noticed.
    """

    game: str
    arrays: dict[str, npt.NDArray[Any]]
    seal: str


class ByIndex:
    """The live games of a batch."""

    lives_in: ClassVar[tuple[str, ...]] = ("_states", "_streams", "_status", "_pending", "_last", "_masks", "seats")
    """The arrays in which the games live; all others are for work."""

    game: Game
    seat: int
    num_envs: int
    autoreset_mode: AutoresetMode
    render_mode: str | None
    _arguments: dict[str, Any]
    reset: Callable[..., Any]
    _live: SeatedGame
    """Holds one of the games while it is saved or restored."""
    _size: int
    _states: Bytes
    _streams: Bytes
    _status: Ints
    _pending: Floats
    _last: Floats
    _masks: Masks
    _points: Floats
    _legal: Ints
    _episodes: dict[int, Episode]
    _restored_ends: dict[int, float]
    """Outcomes of games that were over when they were restored."""
    seats: Ints
    _in_turn = False
    """Whether all seats are played in turn."""

    def __reduce__(self) -> Any:
        # Not as it is: the tables of a game are addresses in this process.
        names = "spec", "closed", "action_space", "single_action_space", "_np_random", "_np_random_seed"
        kept = {name: getattr(self, name) for name in names}
        kept["started"] = self._live.started
        made = {"num_envs": self.num_envs, "autoreset_mode": self.autoreset_mode, "render_mode": self.render_mode}
        return _rebuilt, (type(self), made | self._arguments, kept, self._saved())

    def clone_games(self) -> Games:
        """Return all games as they are now, with what chance will bring them and who plays them.

        Raises
        ------
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        self._live.check_started("clone_games()")
        return self._saved()

    def restore_games(self, games: Games) -> None:
        """Bring all games back, into this batch or one that was made in the same way.

        Opponents who remember something, and the weights of a mixture, are not among what is saved.

        Raises
        ------
        TypeError
            If they are not what :meth:`clone_games` returned.
        ValueError
            If they are of another game, or of a batch of another kind or size, or damaged. Nothing is changed then.
        """
        if not isinstance(games, Games):
            raise TypeError(f"cannot restore {type(games).__name__}; pass what clone_games() returned")
        check_fingerprint("saved batch", games.game, self.game)
        if games.seal != _hashed(games.arrays):
            raise ValueError("the saved batch is damaged: its seal does not fit its bytes; save it anew")
        there, here = _shapes(games.arrays), _shapes(self._arrays())
        if there != here:
            raise ValueError(
                f"the saved batch has arrays {there}, and this one {here}; restore it into one that was "
                "made in the same way, with as many games"
            )
        seats = games.arrays["seats"]
        if not self._in_turn and (seats != self.seat).any():
            raise ValueError(f"the saved batch is for seats {np.unique(seats).tolist()}, and this one for {self.seat}")
        for name in self.lives_in:
            getattr(self, name)[:] = games.arrays[name]
        ends = games.arrays["_restored_ends"]
        self._restored_ends = {i: float(ends[i]) for i in np.flatnonzero(~np.isnan(ends)).tolist()}
        self._episodes.clear()
        self._live.started = True

    def _saved(self) -> Games:
        arrays = self._arrays()
        return Games(self.game.fingerprint, arrays, _hashed(arrays))

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of the arrays in which the games live."""
        arrays = {name: getattr(self, name).copy() for name in self.lives_in}
        arrays["_restored_ends"] = np.full(self.num_envs, np.nan)
        for i, outcome in self._restored_ends.items():
            arrays["_restored_ends"][i] = outcome
        return arrays

    def clone_state(self, index: int = 0, include_rng: bool = True) -> Snapshot:
        """Return a snapshot of one game: the one that the single environment would give, and takes.

        Raises
        ------
        ValueError, TypeError
            If there is no such game.
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        i = self._index(index)
        self._live.check_started("clone_state()")
        live = self._lifted(i)
        live.outcome[0] = self._outcome(i)
        return live.clone(include_rng)

    def restore_state(self, index: int, snapshot: Snapshot) -> None:
        """Bring a snapshot back into one game; see :meth:`mcts_envs.core.api.env.GameEnv.restore_state`.

        The next step plays on from there, also where the game had ended and was to be reset. If the snapshot is of an
        ended game, the next step has no effect, and reports the end.

        Raises
        ------
        TypeError, ValueError
            If there is no such game, or like :meth:`mcts_envs.core.api.env.GameEnv.restore_state`. Nothing is changed
            then.
        """
        i = self._index(index)
        self._live.check(snapshot)
        if not self._live.started:
            self.reset()
        live = self._lifted(i)
        live.load(snapshot)
        self._states[i], self._streams[i], self._pending[i] = live.state, live.stream, live.pending_reward[0]
        self._restored_ends.pop(i, None)
        out = np.empty(self._size, np.float32)
        if fill_mask_and_observation(self.game.bare.table, live.state, self.seat, self._legal, self._masks[i], out):
            self._restored_ends[i] = float(live.outcome[0])
        self._status[i], self._last[i] = 0, 0.0

    def position(self, index: int = 0) -> dict[str, Any]:
        """Return the state of one game as a dictionary; see :meth:`mcts_envs.core.api.env.GameEnv.position`."""
        self._live.check_started("position()")
        return position_of(self.game, self._states[self._index(index)])

    def view(self, index: int = 0) -> View:
        """Return the live state of one game as the seat sees it, which no other thread may look at during a ``step``.

        Raises
        ------
        gymnasium.error.ResetNeeded
            Before the first reset, as from all that looks at the states.
        """
        self._live.check_started("view()")
        i = self._index(index)
        return View(self.game, self._states[i], self.seat, self._episodes.setdefault(i, Episode()))

    def _index(self, index: Any) -> int:
        return errors.integer("index", index, 0, self.num_envs - 1)

    def _lifted(self, i: int) -> SeatedGame:
        """Return the live game with a copy of game i in it, all but its outcome."""
        live = self._live
        live.state[:], live.stream[:], live.pending_reward[0] = self._states[i], self._streams[i], self._pending[i]
        return live

    def _outcome(self, i: int) -> float:
        """Return the seat's points if the game is over now, else 0."""
        state = self._states[i]
        if self.game.status(state, self.seat) == RUNNING:
            return 0.0
        return self._restored_ends.get(i, float(points_at_end(self.game, state, self._last[i])[self.seat]))

    def _report_restored(self) -> None:
        """Give restored games that were over their own outcome: the rewards that led to it are not known here."""
        for i, outcome in [*self._restored_ends.items()]:
            self._points[i, self.seat] = outcome
            if self._status[i] == RUNNING or self.autoreset_mode == AutoresetMode.SAME_STEP:
                del self._restored_ends[i]  # it has started anew


def _shapes(arrays: dict[str, npt.NDArray[Any]]) -> str:
    found = ((name.strip("_"), value.dtype, [*value.shape]) for name, value in sorted(arrays.items()))
    return ", ".join(f"{name} {kind}{shape}" for name, kind, shape in found)


def _hashed(arrays: dict[str, npt.NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


def _rebuilt(cls: Any, arguments: dict[str, Any], kept: dict[str, Any], games: Games) -> Any:
    batch = cls(**arguments)
    batch.restore_games(games)
    batch._live.started = kept.pop("started")
    vars(batch).update(kept)
    return batch
