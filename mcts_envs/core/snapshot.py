"""Saved states."""

from typing import Any, NamedTuple

from mcts_envs.core.contract import Game
from mcts_envs.core.rng import CHANCE_BYTES

_NO_CHANCE = bytes(CHANCE_BYTES)


class Snapshot(NamedTuple):
    """A saved state: immutable, hashable, comparable, picklable, valid in any process.

    Attributes
    ----------
    game : str
        Fingerprint of the game and its settings.
    state : bytes
        The state; its chance header is zero when the random stream was left out.
    face : bytes or tuple
        What the face keeps beside the state: the stream of inner opponents, pending actions, rewards.
    """

    game: str
    state: bytes
    face: Any


def without_chance(raw: memoryview) -> bytes:
    """Return the bytes of something that begins with a chance header, with zeros in place of the header."""
    return _NO_CHANCE + bytes(raw[CHANCE_BYTES:])


def load_bytes(target: memoryview, source: bytes) -> None:
    """Write saved bytes over others, which keep their running stream if the saved ones have none."""
    if source.startswith(_NO_CHANCE):
        target[CHANCE_BYTES:] = source[CHANCE_BYTES:]
    else:
        target[:] = source


def check_snapshot(game: Game, snapshot: Any, kind: type) -> None:
    """Make sure that a snapshot can be restored by a face of this game which keeps a ``kind`` beside the state.

    Raises
    ------
    TypeError
        If this is no snapshot.
    ValueError
        If it was taken in another game, with other settings, or by another kind of face.
    """
    if not isinstance(snapshot, Snapshot):
        raise TypeError(f"cannot restore {type(snapshot).__name__}; pass what clone_state() returned")
    if snapshot.game != game.fingerprint:
        raise ValueError(
            f"the snapshot is of {snapshot.game} and this environment is {game.fingerprint} "
            "(name:bytes:settings); restore it in an environment made with the same id and settings"
        )
    if type(snapshot.face) is not kind:
        raise ValueError(
            f"the snapshot was taken by another kind of face, which keeps {type(snapshot.face).__name__} beside the "
            f"state where this one keeps {kind.__name__}; restore it in an environment of the kind that took it"
        )
