"""Positions of played games, with what a search made of them: what a policy learns from."""

import io
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from mcts_envs.core.typing import Floats, Ints, Singles
from mcts_envs.core.writing import write_whole

_MOSTLY = 2 / 3
"""From which part of zeros on observations are kept without them: each other number takes twice the room."""


class Sparse:
    """Observations [n, ...] that are mostly 0, kept without these; ``sparse[rows]`` is what the array has there.

    Parameters
    ----------
    rows : scipy.sparse.csr_array
        Each observation as a row.
    shape : tuple of int
        Of an observation.
    """

    def __init__(self, rows: Any, shape: tuple[int, ...]) -> None:
        self.rows, self.shape = rows, shape

    def __getitem__(self, rows: Any) -> Singles:
        found: Singles = self.rows[rows].toarray()
        return found.reshape(-1, *self.shape)


@dataclass(frozen=True)
class Positions:
    """Positions of games; n of them, in which k actions are legal in all.

    Attributes
    ----------
    observations : float32 array [n, ...] or Sparse
        As their players see them.
    counts : int64 array [n]
        How many actions are legal in each.
    actions : int64 array [k]
        These actions, of one position after the other.
    probabilities : float32 array [k]
        What the search has made of the policy there; sums to 1 in each position, to 0 where a player without masks,
        who is imitated, chose what is illegal: only values are learned there.
    found : float32 array [n]
        What the search found that the position is worth to its player, in rewards; NaN where it says nothing.
    returns : float32 array [n]
        The discounted rewards that its player had from there on.
    """

    observations: Singles | Sparse
    counts: Ints
    actions: Ints
    probabilities: Singles
    found: Singles
    returns: Singles

    def __len__(self) -> int:
        return len(self.counts)

    def dense(self, rows: Ints, actions: int) -> tuple[npt.NDArray[np.bool_], Singles]:
        """Return which of all actions are legal [b, A] in some positions [b], and their probabilities [b, A]."""
        counts = self.counts[rows]
        row = np.repeat(np.arange(len(rows)), counts)
        place = np.repeat(self._ends[rows] - counts.cumsum(), counts) + np.arange(counts.sum())
        legal, shares = np.zeros((len(rows), actions), np.bool_), np.zeros((len(rows), actions), np.float32)
        legal[row, self.actions[place]] = True
        shares[row, self.actions[place]] = self.probabilities[place]
        return legal, shares

    @cached_property
    def _ends(self) -> Ints:
        ends: Ints = self.counts.cumsum()
        return ends

    def values(self, trust: float) -> Singles:
        """Return what the positions turned out to be worth [n]: ``trust`` of it what the search found."""
        mixed: Singles = np.where(np.isnan(self.found), self.returns, trust * self.found + (1 - trust) * self.returns)
        return mixed.astype(np.float32)


@dataclass(frozen=True)
class Played:
    """Games that were played.

    Attributes
    ----------
    positions : Positions
    points : float64 array [games, P]
        Each player's share of the points.
    rewards : float64 array [games, P]
        Each player's undiscounted return.
    lengths : int64 array [games]
        Steps.
    """

    positions: Positions
    points: Floats
    rewards: Floats
    lengths: Ints


def together(parts: Sequence[Positions]) -> Positions:
    """Return positions of several parts as one."""
    joined: Singles | Sparse
    sparse = [part.observations for part in parts if isinstance(part.observations, Sparse)]
    if len(sparse) == len(parts):
        from scipy.sparse import vstack

        joined = Sparse(vstack([each.rows for each in sparse], format="csr"), sparse[0].shape)
    else:
        joined = np.concatenate([part.observations[:] for part in parts])
    rest = [field.name for field in fields(Positions)][1:]
    return Positions(joined, *(np.concatenate([getattr(part, name) for part in parts]) for name in rest))


def packed(positions: Positions) -> Positions:
    """Return the same positions in less memory, if their observations are mostly 0: those of most games are."""
    seen = positions.observations[:]
    if np.count_nonzero(seen) > (1 - _MOSTLY) * seen.size:
        return positions
    from scipy.sparse import csr_array

    shape = seen.shape[1:]
    return replace(positions, observations=Sparse(csr_array(seen.reshape(len(seen), math.prod(shape))), shape))


def stacked(rows: Sequence[tuple[Singles, Ints, Singles, float]], returns: Sequence[float], shape: Any) -> Positions:
    """Return positions from what was noted of each: observation, legal actions, their probabilities, the value found.

    Parameters
    ----------
    rows, returns : sequences [n]
    shape : tuple of int
        Of an observation.
    """
    observations, legal, shares, found = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Positions(
        np.array(observations, np.float32).reshape(-1, *shape),
        np.array([len(actions) for actions in legal], np.int64),
        np.concatenate([np.zeros(0, np.int64), *legal]),
        np.concatenate([np.zeros(0, np.float32), *shares]).astype(np.float32),
        np.array(found, np.float32),
        np.array(returns, np.float32),
    )


def write(path: Path, played: Played) -> None:
    """Write games to a file, which appears whole or not at all, and whose folder and the one above it are made."""
    for folder in (path.parent.parent, path.parent):  # no more: that of a training that was moved stays away
        folder.mkdir(exist_ok=True)
    parts = {field.name: getattr(played.positions, field.name) for field in fields(Positions)}
    raw = io.BytesIO()
    np.savez_compressed(raw, points=played.points, rewards=played.rewards, lengths=played.lengths, **parts)
    write_whole(path, raw.getvalue())


def read(path: Path) -> Played:
    """Return the games in a file that :func:`write` wrote, their positions packed.

    Raises
    ------
    ValueError
        If it is damaged.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            positions = Positions(*(arrays[field.name] for field in fields(Positions)))
            return Played(packed(positions), arrays["points"], arrays["rewards"], arrays["lengths"])
    except (OSError, KeyError, ValueError, EOFError, BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} is damaged ({error}); delete it, and its games are played again") from error


def discounted(rewards: Floats, discount: float) -> Floats:
    """Return the discounted sums [T, P] of rewards [T, P] from each step on."""
    sums = np.zeros_like(rewards)
    rest = np.zeros(rewards.shape[1])
    for step in range(len(rewards) - 1, -1, -1):
        rest = sums[step] = rewards[step] + discount * rest
    return sums
