"""Games that are there already: one that was saved, and those of a comparison that is running, one after the other."""

from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from time import sleep
from typing import Any

from agents.arena.replays import REPLAYS
from agents.arena.storage import EPISODES, read_rows
from agents.watching import replayed
from mcts_envs.core.loading import load, parted
from mcts_envs.replay import Replay

_SECONDS_BETWEEN_LOOKS = 0.5


def comparison(named: Path | str) -> Path | None:
    """Return the folder of a comparison, named by itself, by its rows or by its games; None if it is none.

    ``my_game.py:results/...`` imports first what registers the game, as ``my_game.py:MyGame-v0`` does.

    Raises
    ------
    FileNotFoundError
        If another folder is named by its path.
    """
    source, _, place = ("", "", named) if Path(named).exists() else parted(str(named))
    folder = Path(place).parent if Path(place).name in (EPISODES, REPLAYS) else Path(place)
    if not (folder / EPISODES).is_file():
        if Path(place).is_dir() and len(Path(place).parts) > 1:  # one word may be an environment
            raise FileNotFoundError(f"{place} is no folder of a comparison: it has no {EPISODES}")
        return None
    if source:
        load(source)
    return folder


def saved_game(named: str) -> Replay | None:
    """Return the game that a file holds; None if an environment is named.

    ``my_game.py:game.json`` imports first what registers the game, as ``my_game.py:MyGame-v0`` does.

    Raises
    ------
    FileNotFoundError
        If a saved game is named, and there is none.
    """
    source, _, file = ("", "", named) if Path(named).is_file() else parted(named)
    if Path(file).suffix == ".py":  # the file of a game, without its id
        return None
    if not Path(file).is_file():
        if Path(file).suffix != ".json":
            return None
        raise FileNotFoundError(f"there is no saved game {file}; give the path of one, such as --replay keeps")
    if source:
        load(source)
    return Replay.load(file)


def games(folder: Path, between: float = _SECONDS_BETWEEN_LOOKS) -> Iterator[dict[str, Any]]:
    """Yield the game that ended last as a document, whenever another one has; what came between is passed over.

    Raises
    ------
    ValueError
        If the comparison has finished games, and keeps no replays; a row is damaged, or the game is not registered.
    """
    last, number = "", 0
    while True:
        newest = max(_replays(folder), default=(0, ""))[1]
        if not newest and _standing(folder)[0]:
            raise ValueError(
                f"{folder} has no replays to show; the same comparison with --replays keeps games from here on"
            )
        if newest == last:
            sleep(between)
            continue
        last = newest
        try:
            document = replayed(Replay.load(folder / REPLAYS / newest))
        except (ValueError, FileNotFoundError):
            if (folder / REPLAYS / newest).exists():
                raise
            continue  # removed since, as by a comparison that begins anew
        number += 1
        played = ", ".join(dict.fromkeys(player["agent"] for player in document["players"] if player["agent"]))
        what = "board" if len(document["players"]) > 1 else "episode"
        title = f"{document['title'].partition(',')[0]}: {played}, {what} {int(newest.partition('-')[0])}"
        finished, points = _standing(folder)
        so_far = "".join(f", {label} {share:.1%}" for label, share in points.items())
        yield {**document, "title": f"{title} ({finished:,} games finished{so_far})", "game": number}


def _replays(folder: Path) -> Iterator[tuple[int, str]]:
    """Yield when each replay was written, and its name."""
    for file in (folder / REPLAYS).glob("[0-9]*-*.json"):
        try:
            yield file.stat().st_mtime_ns, file.name
        except FileNotFoundError:
            continue


def _standing(folder: Path) -> tuple[int, dict[str, float]]:
    """Return how many games have been finished, and each agent's mean points in those without an error."""
    rows, points = read_rows(folder).values(), dict[str, list[float]]()
    for seat in (seat for row in rows if row.error is None for seat in row.seats):
        if seat.outcome is not None:
            points.setdefault(seat.agent, []).append(seat.outcome)
    return len(rows), {label: mean(own) for label, own in points.items()}
