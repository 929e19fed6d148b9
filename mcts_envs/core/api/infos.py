"""The infos of a batch, in Gymnasium's form: each key with an array over the games, and ``_key``, who has it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mcts_envs.core.typing import Bytes, Masks, Singles

Infos = dict[str, Any]
Flags = npt.NDArray[np.bool_]


def add(infos: Infos, key: str, value: Any, who: Flags) -> Infos:
    """Add an array [N, ...] that concerns some of the games, and return the infos."""
    infos[key], infos[f"_{key}"] = value, who
    return infos


def add_ends(infos: Infos, points: npt.NDArray[np.float64], ended: Flags) -> None:
    """Add the outcomes, from points [N], of the games that have ended."""
    outcome = np.where(ended, points, 0.0)
    add(infos, "outcome", outcome, ended.copy())
    add(infos, "is_success", outcome == 1.0, ended.copy())


def add_finals(infos: Infos, events: Infos, ended: Flags, masks: Masks, observations: Singles | Bytes) -> None:
    """Add what belongs to episodes that ended in a same-step autoreset, and the events of all others.

    Parameters
    ----------
    infos, events : dict
        ``events`` of games that have ended go to ``final_info``.
    ended : bool array [N]
    masks [N, A], observations [N, ...]
        As seen at the end.
    """
    final: Infos = {}
    add(final, "action_mask", masks * ended[:, None], ended.copy())
    for key in [key for key in events if not key.startswith("_")]:
        for target, who in ((final, events[f"_{key}"] & ended), (infos, events[f"_{key}"] & ~ended)):
            if who.any():
                add(target, key, np.where(who, events[key], 0).astype(events[key].dtype), who)
    last = np.full(len(ended), None, dtype=object)
    for i, observation in zip(np.flatnonzero(ended).tolist(), observations[ended], strict=True):
        last[i] = observation
    add(infos, "final_obs", last, ended.copy())
    add(infos, "final_info", final, ended.copy())
