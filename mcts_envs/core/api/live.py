"""A game that is being played: begun, saved, restored, described and drawn here, for whichever API shows it.

The Gymnasium and the batched API hold a :class:`SeatedGame`, the two of PettingZoo a :class:`SharedGame`.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeGuard

import gymnasium
import numpy as np

from mcts_envs.core.contract import Game
from mcts_envs.core.place import copy_except_rng, position_of
from mcts_envs.core.rng import CHANCE_BYTES, draw
from mcts_envs.core.showing import rendered
from mcts_envs.core.snapshot import (
    PENDING_AND_OUTCOME,
    SEAT,
    SEATED_BYTES,
    Seal,
    Snapshot,
    check_snapshot,
    damaged,
    load_bytes,
    save_bytes,
    seat_bytes,
    seat_of,
    without_chance,
)
from mcts_envs.core.snapshot import digest as digest_of
from mcts_envs.core.typing import Bytes
from mcts_envs.core.view import Episode, View

_HASH_BYTES = 8
_snapshot: Callable[[tuple[str, bytes, Any, int]], Snapshot] = partial(tuple.__new__, Snapshot)


def begin(game: Game, state: Bytes, seed: int, start: Bytes | None) -> Any:
    """Reset a state, or set it up like ``start`` [size]; return the number that seeds the inner opponents (uint64).

    The state changes at once, so that no other thread sees half of it.
    """
    fresh = game.new_state()
    game.reset(fresh, np.uint64(seed))
    opponents = draw(fresh)
    if start is not None:
        copy_except_rng(fresh, start)
    state.data[:] = fresh.data
    return opponents


class LiveGame:
    """One game that is being played.

    Parameters
    ----------
    game : Game
    adapter_bytes : int
        Bytes of the adapter state, which is sealed with the state of the game.

    Attributes
    ----------
    state : uint8 array [size]
        Always the same array.
    started : bool
        Whether it was ever reset.
    episode : Episode
        Another one after each reset.
    """

    __slots__ = ("_fingerprint", "_memory", "_room", "_seal", "episode", "game", "started", "state")

    def __init__(self, game: Game, adapter_bytes: int) -> None:
        self.game, self._fingerprint = game, game.fingerprint
        self._seal = Seal(game, adapter_bytes)
        self._room = self._seal.room()
        self.state = self._room[: game.template.size]
        self._memory = memoryview(self.state.data)
        self.started, self.episode = False, Episode()

    def check_started(self, what: str) -> None:
        """Raise ``gymnasium.error.ResetNeeded`` before the first reset."""
        if not self.started:
            raise gymnasium.error.ResetNeeded(f"call reset() before {what}")

    def restart(self, seed: int | None, start: Bytes | None, fresh: Callable[[], int]) -> Any:
        """Begin an episode, like :func:`begin`.

        Without a seed the running random stream goes on; where none runs yet, ``fresh()`` is the seed.
        """
        if seed is None:
            seed = int(draw(self.state)) if self.started else fresh()
        opponents = begin(self.game, self.state, seed, start)
        self.started, self.episode = True, Episode()
        return opponents

    def change(self, kernel: Callable[..., Any], *given: Any) -> None:
        """Let a kernel change a copy that takes the place of the state at once: no other thread sees half of it."""
        state = self.state.copy()
        kernel(state, *given)
        self._memory[:] = state.data

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Bring everything back as it was where what is done with it raises, or is interrupted."""
        kept = self._room.copy(), self.started, self.episode
        try:
            yield
        except BaseException:
            self._room[:], self.started, self.episode = kept
            raise

    def position(self) -> dict[str, Any]:
        """Return the state as a readable dictionary; raises before the first reset."""
        self.check_started("position()")
        return position_of(self.game, self.state)

    def view(self, player: int) -> View:
        """Return the state as a player sees it, not copied; raises before the first reset."""
        if not self.started:
            self.check_started("view()")
        return View(self.game, self.state, player, self.episode)

    def can_render(self, mode: str | None, cure: str) -> TypeGuard[str]:
        """Return whether there is a render mode; warn if not. Raises before the first reset."""
        self.check_started("render()")
        if mode is None:
            gymnasium.logger.warn(f"render() needs a render mode: {cure}")
        return mode is not None

    def render(self, mode: str | None, cure: str, seat: int | None = None) -> Any:
        """Return the picture or the text of the state; None, with a warning, without a render mode."""
        return rendered(self.game, self.state, mode, seat=seat) if self.can_render(mode, cure) else None


class SeatedGame(LiveGame):
    """A live game shown to one seat, whose inner opponents have a random stream of their own.

    Its adapter state lies behind the state of the game, so that one call seals both.

    Attributes
    ----------
    stream : uint8 array [32]
        Chance header of the inner opponents.
    pending_reward, outcome : float64 array [1]
        Reward from before the seat's first choice, and the seat's points of an ended game.
    """

    __slots__ = ("_adapter_memory", "_seat", "outcome", "pending_reward", "stream")

    def __init__(self, game: Game, seat: int) -> None:
        super().__init__(game, SEATED_BYTES)
        size = game.template.size
        adapter_state = self._room[size : size + SEATED_BYTES]
        self._adapter_memory = memoryview(adapter_state.data)
        self._adapter_memory[SEAT] = self._seat = seat_bytes(seat)
        self.stream = adapter_state[:CHANCE_BYTES]
        self.pending_reward, self.outcome = np.split(adapter_state[PENDING_AND_OUTCOME].view(np.float64), 2)

    def clone(self, include_rng: bool) -> Snapshot:
        """Return a snapshot, with both random streams unless told otherwise; raises before the first reset."""
        if not self.started:
            self.check_started("clone_state()")
        if include_rng:
            sealed = int(digest_of(self._room))
            return _snapshot((self._fingerprint, self._memory.tobytes(), self._adapter_memory.tobytes(), sealed))
        state, adapter_state = without_chance(self._memory), without_chance(self._adapter_memory)
        return Snapshot(self._fingerprint, state, adapter_state, self._seal.number(state, adapter_state))

    def check(self, snapshot: Any) -> None:
        """Make sure that a snapshot can be loaded.

        Raises
        ------
        TypeError, ValueError
            Like :func:`~mcts_envs.core.snapshot.check_snapshot`, and if it was taken from another seat or is damaged.
        """
        check_snapshot(self.game, snapshot, bytes)
        adapter_state = snapshot.face
        if len(adapter_state) != SEATED_BYTES:
            raise damaged("face", adapter_state, f"{SEATED_BYTES} bytes")
        self._seal.check(snapshot, adapter_state)
        if adapter_state[SEAT] != self._seat:
            theirs, ours = seat_of(adapter_state), seat_of(self._adapter_memory)
            raise ValueError(
                f"the snapshot was taken from seat {theirs} and this environment is seat {ours}; "
                f"restore it in an environment made with seat={theirs}"
            )

    def load(self, snapshot: Snapshot) -> None:
        """Bring a checked snapshot back; without random streams in it the running ones go on."""
        load_bytes(self._memory, snapshot.state)
        load_bytes(self._adapter_memory, snapshot.face)
        self.started = True


class SharedGame(LiveGame):
    """A live game shown to all players. Its adapter state is a tuple of numbers, names, and tuples of them."""

    __slots__ = ()

    def __init__(self, game: Game) -> None:
        super().__init__(game, _HASH_BYTES)

    def clone(self, include_rng: bool, adapter_state: tuple[Any, ...]) -> Snapshot:
        """Return a snapshot, with the random stream unless told otherwise."""
        state = save_bytes(self._memory) if include_rng else without_chance(self._memory)
        return Snapshot(self._fingerprint, state, adapter_state, self._seal.number(state, _hashed(adapter_state)))

    def check(self, snapshot: Snapshot) -> None:
        """Raise ``ValueError`` unless the seal of a snapshot of this game fits."""
        self._seal.check(snapshot, _hashed(snapshot.face))

    def load(self, snapshot: Snapshot) -> None:
        """Bring a checked snapshot back; without a random stream in it the running one goes on."""
        load_bytes(self._memory, snapshot.state)
        self.started = True


def _hashed(adapter_state: tuple[Any, ...]) -> bytes:
    return hashlib.blake2b(repr(adapter_state).encode(), digest_size=_HASH_BYTES).digest()
