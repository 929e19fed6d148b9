"""The games of a batch one at a time: saved, restored and looked at by index; and copies of the whole batch."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

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

_LIVE = ("_states", "_streams", "_status", "_pending", "_last", "_masks")
"""The arrays in which the games live; all others are for work."""


class ByIndex:
    """The live games of a batch."""

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

    def __reduce__(self) -> Any:
        # Not as it is: the tables of a game are addresses in this process.
        names = "spec", "closed", "action_space", "single_action_space", "_np_random", "_np_random_seed"
        kept = {name: getattr(self, name) for name in names}
        kept["started"] = self._live.started
        live = {name: getattr(self, name).copy() for name in _LIVE}
        games = live, self._restored_ends.copy()
        made = {"num_envs": self.num_envs, "autoreset_mode": self.autoreset_mode, "render_mode": self.render_mode}
        return _rebuilt, (type(self), made | self._arguments, self.game.fingerprint, kept, games, _hashed(*games))

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
        """Return the live state of one game as the seat sees it.

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


def _hashed(live: Mapping[str, npt.NDArray[Any]], ends: dict[int, float]) -> str:
    digest = hashlib.sha256(repr(sorted(ends.items())).encode())
    for name in _LIVE:
        digest.update(live[name].tobytes())
    return digest.hexdigest()


def _rebuilt(cls: Any, arguments: dict[str, Any], fingerprint: str, kept: dict[str, Any], games: Any, seal: str) -> Any:
    batch = cls(**arguments)
    check_fingerprint("copied batch", fingerprint, batch.game)
    if seal != _hashed(*games):
        raise ValueError("the copied batch is damaged: its seal does not fit its bytes; copy it anew")
    batch._live.started = kept.pop("started")
    vars(batch).update(kept)
    live, batch._restored_ends = games
    for name in _LIVE:
        getattr(batch, name)[:] = live[name]
    return batch
