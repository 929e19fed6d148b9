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
    face: Any = b""


def saved(game: Game, state: memoryview, face: Any, include_rng: bool) -> Snapshot:
    """Return a snapshot of a state, with or without its random stream."""
    if include_rng:
        return Snapshot(game.fingerprint, state.tobytes(), face)
    return Snapshot(game.fingerprint, _NO_CHANCE + state[CHANCE_BYTES:].tobytes(), face)


def load(game: Game, state: memoryview, snapshot: Snapshot) -> None:
    """Write a snapshot over a state, which keeps its running stream if the snapshot has none.

    Raises
    ------
    TypeError
        If this is no snapshot.
    ValueError
        If it was taken in another game, or with other settings. Nothing is changed then.
    """
    if not isinstance(snapshot, Snapshot):
        raise TypeError(f"cannot restore {type(snapshot).__name__}; pass what clone_state() returned")
    if snapshot.game != game.fingerprint:
        raise ValueError(
            f"the snapshot is of {snapshot.game} and this environment is {game.fingerprint} "
            "(name:bytes:settings); restore it in an environment made with the same id and settings"
        )
    if snapshot.state.startswith(_NO_CHANCE):
        state[CHANCE_BYTES:] = snapshot.state[CHANCE_BYTES:]
    else:
        state[:] = snapshot.state
