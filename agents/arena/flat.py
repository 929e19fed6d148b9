"""The rows of a comparison as plain records, for analyses of one's own."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from agents.arena.storage import EPISODES, read_rows
from mcts_envs.core import errors


def records(folder: Path | str) -> list[dict[str, Any]]:
    """Return a flat dictionary for each seat of each game in a folder of results, as ``pandas.DataFrame`` takes them.

    Parameters
    ----------
    folder : str or Path
        What ``compare`` has printed.

    Returns
    -------
    list of dict
        ``episode``, ``seed`` and ``seat``; ``others``, who had the other seats, as ``"a,b"``; the fields of
        :class:`agents.arena.rows.Seat`, ``outcome`` and ``episode_return`` among them; ``error``, ``forfeit`` and
        ``truncated`` in a word, None in a game that ended by its rules; ``took``, ``played_on``. Tables leave out games
        with an ``error``.

    Raises
    ------
    FileNotFoundError
        If there are no results.
    ValueError
        If a row is damaged.
    """
    folder = errors.path("folder", folder)
    if not (folder / EPISODES).is_file():
        raise FileNotFoundError(f"{folder} holds no results; give the folder that a comparison has printed")
    found = []
    for row in read_rows(folder).values():
        ends = {
            "error": row.error and row.error["type"],
            "forfeit": row.forfeit and row.forfeit["reason"],
            "truncated": row.truncated,
        }
        for seat, each in enumerate(row.seats):
            others = ",".join(other.agent for at, other in enumerate(row.seats) if at != seat)
            game = {"episode": row.episode, "seed": row.seed, "seat": seat, "others": others}
            found.append({**game, **asdict(each), **ends, "took": row.took, "played_on": row.played_on})
    return found
