"""Saved states."""

import struct
from typing import Any, NamedTuple

from mcts_envs.core.contract import Game
from mcts_envs.core.rng import CHANCE_BYTES

_NO_CHANCE = bytes(CHANCE_BYTES)
_SEAT = struct.Struct("=q")
# Slices made once: on the way of every restore. The chance header is the stream, then the queue of forced dice.
_ALL, _STREAM, _AFTER_STREAM = slice(None), slice(8), slice(8, None)
_NO_STREAM = bytes(8)  # no stream is ever zero

OWED_AND_OUTCOME = slice(CHANCE_BYTES, CHANCE_BYTES + 16)
SEAT = slice(CHANCE_BYTES + 16, None)
SEATED_BYTES = CHANCE_BYTES + 24
"""What a face for one seat keeps beside the state: the opponents' chance header, the reward owed from before the seat's
first choice, the outcome (two float64), and the seat (int64)."""


class Snapshot(NamedTuple):
    """A saved state: immutable, hashable, comparable, picklable, valid in any process.

    Attributes
    ----------
    game : str
        Fingerprint of the game and its settings.
    state : bytes
        The state; its chance header is zero when the random stream was left out.
    face : bytes or tuple
        What the face keeps beside the state: the stream of inner opponents and the seat, or pending actions, rewards.
    """

    game: str
    state: bytes
    face: Any

    def __repr__(self) -> str:
        size = f"{len(self.state)} bytes" if isinstance(self.state, bytes) else repr(self.state)
        return f"Snapshot({self.game}, {size})"


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


def check_fingerprint(what: str, fingerprint: str, game: Game) -> None:
    """Raise ``ValueError`` unless the states with this fingerprint can be exchanged with those of the game."""
    if fingerprint != game.fingerprint:
        raise ValueError(
            f"the {what} is of {fingerprint} and this environment is {game.fingerprint} "
            "(name:bytes:settings); restore it in an environment made with the same id and settings"
        )


def check_snapshot(game: Game, snapshot: Any, kind: type) -> None:
    """Make sure that a snapshot can be restored by a face of this game which keeps a ``kind`` beside the state.

    Raises
    ------
    TypeError
        If this is no snapshot.
    ValueError
        If it was taken in another game, with other settings, or by another kind of face, or if its state is damaged.
    """
    if not isinstance(snapshot, Snapshot):
        raise TypeError(f"cannot restore {type(snapshot).__name__}; pass what clone_state() returned")
    if snapshot.game != game.fingerprint:
        check_fingerprint("snapshot", snapshot.game, game)
    if type(snapshot.face) is not kind:
        raise ValueError(
            f"the snapshot was taken by another kind of face, which keeps {type(snapshot.face).__name__} beside the "
            f"state where this one keeps {kind.__name__}; restore it in an environment of the kind that took it"
        )
    if type(snapshot.state) is not bytes or len(snapshot.state) != game.template.size:
        raise damaged("state", snapshot.state, f"{game.template.size} bytes")


def other_seat(face: bytes, seat: int) -> ValueError:
    """Return the error for a snapshot whose face does not end with this seat."""
    if len(face) != SEATED_BYTES:
        return damaged("face", face, f"{SEATED_BYTES} bytes")
    (theirs,) = _SEAT.unpack(face[SEAT])
    return ValueError(
        f"the snapshot was taken from seat {theirs} and this environment is seat {seat}; "
        f"restore it in an environment made with seat={theirs}"
    )


def damaged(part: str, found: Any, expected: str) -> ValueError:
    """Return the error for a snapshot that no ``clone_state()`` of this game can have returned."""
    size = f"{len(found)} bytes" if isinstance(found, bytes) else repr(found)
    return ValueError(f"the snapshot is damaged: its {part} has {size}, not {expected}; take it anew by clone_state()")
