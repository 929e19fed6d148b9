"""The policies that come with this package."""

from pathlib import Path

from agents.learning.network import SUFFIX
from mcts_envs.core.contract import Game
from mcts_envs.registry import ENTRIES, Entry, find

FOLDER = Path(__file__).parent / "policies"


def shipped(env_id: str, algorithm: str) -> Path:
    """Return the shipped policy for an environment, as Stable-Baselines3 saved it: to train on, or to look into.

    Raises
    ------
    ValueError
        If the environment is unknown, or none is shipped for it.
    """
    entry = find(env_id)
    path = _path(entry, algorithm)
    if not path.is_file():
        raise ValueError(_none_for(entry.id, algorithm))
    return path


def shipped_for(game: Game, algorithm: str) -> Path:
    """Return the shipped policy for a game, recognised by its name and settings, as plain arrays.

    Raises
    ------
    ValueError
        If none is shipped for it.
    """
    for entry in ENTRIES.values():
        path = _path(entry, algorithm).with_suffix(SUFFIX)
        if path.is_file() and entry.env_class().make_game(**entry.settings).fingerprint == game.fingerprint:
            return path
    raise ValueError(_none_for(f"{game.name} with these settings", algorithm))


def _path(entry: Entry, algorithm: str) -> Path:
    return FOLDER / entry.id.split("/")[-1] / f"{algorithm}.zip"


def _none_for(what: str, algorithm: str) -> str:
    there = [f"{path.parent.name} ({path.stem})" for path in sorted(FOLDER.glob("*/*.zip"))]
    return (
        f"no {algorithm} policy is shipped for {what}; shipped: {', '.join(there) or 'none'}. "
        "Train one with scripts/train.py and name it 'sb3:PATH'"
    )
