"""Saved states, and the seals on them.

Kernels check no bounds, so bytes that come from outside must be bytes that an environment once gave away. A seal is a
hash of the game, its settings, the layout of its states, and all bytes of the snapshot. It tells damage and mix-ups,
not forgery: whoever writes a seal that fits is trusted, as whoever writes a pickle is.
"""

import hashlib
import struct
from typing import Any, NamedTuple

import numpy as np
from numba import types

from mcts_envs.core.contract import BYTES, Game
from mcts_envs.core.kernel import kernel, word
from mcts_envs.core.rng import CHANCE_BYTES, scramble
from mcts_envs.core.typing import Bytes

_NO_CHANCE = bytes(CHANCE_BYTES)
_SEAT = struct.Struct("=q")
# Slices made once: on the way of every restore. The chance header is the stream, then the queue of forced dice.
_ALL, _STREAM, _AFTER_STREAM = slice(None), slice(8), slice(8, None)
_NO_STREAM = bytes(8)  # no stream is ever zero

PENDING_AND_OUTCOME = slice(CHANCE_BYTES, CHANCE_BYTES + 16)
SEAT = slice(CHANCE_BYTES + 16, None)
SEATED_BYTES = CHANCE_BYTES + 24
"""Adapter state of one seat, beside the state of the game: the opponents' chance header, the pending reward from before
the seat's first choice, the outcome (two float64), and the seat (int64)."""

_BLOCK = 32
_LOW, _FACTOR = np.uint64(0xFFFFFFFF), np.uint64(4294957665)


class Snapshot(NamedTuple):
    """A saved state: immutable, hashable, comparable, picklable, valid in any process.

    Attributes
    ----------
    game : str
        Fingerprint of the game, its settings, and the layout of its states.
    state : bytes
        The state; its chance header is zero when the random stream was left out.
    face : bytes or tuple
        Adapter state: the stream of inner opponents and the seat, or pending actions, rewards.
    seal : int
        Hash of all this, by which damage is noticed; None in snapshots of older releases, which had none.
    """

    game: str
    state: bytes
    face: Any
    seal: int | None = None

    def __repr__(self) -> str:
        size = f"{len(self.state)} bytes" if isinstance(self.state, bytes) else repr(self.state)
        return f"Snapshot({self.game}, {size})"


@kernel()
def _folded(lane: np.uint64, value: np.uint64) -> np.uint64:
    """Fold a word into a hash: a step of multiply-with-carry (Marsaglia 2003), which cannot overflow in either mode."""
    lane ^= value
    return (lane & _LOW) * _FACTOR + (lane >> np.uint64(32))


@kernel(types.uint64(BYTES))
def digest(raw: Bytes) -> np.uint64:
    """Hash bytes, a multiple of 32, in four lanes, which a processor works on at the same time."""
    a = b = c = d = _LOW
    for i in range(0, raw.shape[0] // 8, 4):
        a, b = _folded(a, word(raw, i)), _folded(b, word(raw, i + 1))
        c, d = _folded(c, word(raw, i + 2)), _folded(d, word(raw, i + 3))
    return scramble(_folded(_folded(_folded(a, b), c), d))


class Seal:
    """What one environment seals its snapshots with, and checks them by.

    Parameters
    ----------
    game : Game
    adapter_bytes : int
        Bytes of the adapter state.
    """

    def __init__(self, game: Game, adapter_bytes: int = SEATED_BYTES) -> None:
        size, self._word = game.template.size, hashlib.sha256(game.fingerprint.encode()).digest()[:8]
        self._bytes = -(-(size + adapter_bytes + len(self._word)) // _BLOCK) * _BLOCK
        self._raw = self.room()
        self._memory = memoryview(self._raw.data)
        self._state, self._face = slice(size), slice(size, size + adapter_bytes)
        self._settings, self._template = game.settings, game.template[game.settings].tobytes()

    def room(self) -> Bytes:
        """Return zeroed bytes for a state and the adapter state, with a hash of the game at their end."""
        raw = np.zeros(self._bytes, np.uint8)
        raw[-len(self._word) :] = np.frombuffer(self._word, np.uint8)
        return raw

    def number(self, state: bytes, adapter_state: bytes) -> int:
        """Return the hash of a state and of the adapter state: the digest of a room with them."""
        self._memory[self._state] = state
        self._memory[self._face] = adapter_state
        return int(digest(self._raw))

    def check(self, snapshot: Snapshot, adapter_state: bytes) -> None:
        """Raise ``ValueError`` unless the snapshot is as it was sealed, with the settings of this game."""
        if snapshot.seal != self.number(snapshot.state, adapter_state):
            if snapshot.seal is None:
                raise ValueError(
                    "the snapshot has no seal: an older release took it, or it was put together by hand; take it anew "
                    "by clone_state()"
                )
            raise ValueError("the snapshot is damaged: its seal does not fit its bytes; take it anew by clone_state()")
        if snapshot.state[self._settings] != self._template:
            raise ValueError(
                "the settings in the snapshot's state are not those of its game; change them by gym.make(id, ...), "
                "and take the snapshot anew by clone_state()"
            )


save_bytes = memoryview.tobytes


def without_chance(raw: memoryview) -> bytes:
    """Return the bytes of something that begins with a chance header, with zeros in place of the header."""
    return _NO_CHANCE + raw[CHANCE_BYTES:].tobytes()


def load_bytes(target: memoryview, source: bytes) -> None:
    """Write saved bytes over others.

    If the saved ones have no chance header, the running stream goes on, without the forced dice queued in it.
    """
    if source[_STREAM] == _NO_STREAM:
        target[_AFTER_STREAM] = source[_AFTER_STREAM]
    else:
        target[_ALL] = source


def seat_bytes(seat: int) -> bytes:
    """Return the seat as it stands at :data:`SEAT`."""
    return _SEAT.pack(seat)


def seat_of(adapter_state: bytes | memoryview) -> int:
    """Return the seat from the adapter state of one seat."""
    return int(_SEAT.unpack(adapter_state[SEAT])[0])


def check_fingerprint(what: str, fingerprint: Any, game: Game) -> None:
    """Raise ``ValueError`` unless the states with this fingerprint can be exchanged with those of the game."""
    if fingerprint == game.fingerprint:
        return
    if isinstance(fingerprint, str) and fingerprint.split(":")[:3] == game.fingerprint.split(":")[:3]:
        raise ValueError(
            f"the {what} is of {fingerprint} and this environment is {game.fingerprint} (name:bytes:settings:layout): "
            "another release took it, which lays states out differently; take it anew, or use the release that took it"
        )
    raise ValueError(
        f"the {what} is of {fingerprint} and this environment is {game.fingerprint} "
        "(name:bytes:settings:layout); restore it in an environment made with the same id and settings"
    )


def check_snapshot(game: Game, snapshot: Any, kind: type) -> None:
    """Make sure that a snapshot is of this game, and of an API whose adapter state is a ``kind``.

    Its seal is left to :meth:`Seal.check`.

    Raises
    ------
    TypeError
        If this is no snapshot.
    ValueError
        If it was taken in another game, with other settings, by another kind of API or another release, or if its
        state has another size.
    """
    if not isinstance(snapshot, Snapshot):
        raise TypeError(f"cannot restore {type(snapshot).__name__}; pass what clone_state() returned")
    if snapshot.game != game.fingerprint:
        check_fingerprint("snapshot", snapshot.game, game)
    if type(snapshot.face) is not kind:
        raise ValueError(
            "the snapshot was taken by another kind of API: Gymnasium and batches, AEC, and parallel environments keep "
            "different things beside the state; restore it in one of the kind that took it, or hand the game over by "
            "position() and reset(options={'position': ...})"
        )
    if type(snapshot.state) is not bytes or len(snapshot.state) != game.template.size:
        raise damaged("state", snapshot.state, f"{game.template.size} bytes")


def damaged(part: str, found: Any, expected: str) -> ValueError:
    """Return the error for a snapshot that no ``clone_state()`` of this game can have returned."""
    size = f"{len(found)} bytes" if isinstance(found, bytes) else repr(found)
    return ValueError(f"the snapshot is damaged: its {part} has {size}, not {expected}; take it anew by clone_state()")
