"""The policies that come with this package.

Each lies in a folder that says for which environment it is: its id without namespace, and then the settings of the
board, where they are not the id's own: ``WallSurvival-v0,board_size=6``.
"""

import json
from pathlib import Path
from typing import Any

from agents.learning.saved.fitting import sees_alike_anywhere
from mcts_envs.core.contract import Game
from mcts_envs.registry import find

FOLDER = Path(__file__).parents[1] / "policies"

TAUGHT = "expert_iteration"
"""What a MaskablePPO is called that a search has taught."""

BEST = "shipped"
SEARCHED = TAUGHT, "maskable_ppo", "ppo"
"""Policies with probabilities by how they were learned, and what stands for the first of them that a game has: the best
for a search."""


def shipped(env_id: str, algorithm: str, **board: Any) -> Path:
    """Return the shipped policy for an environment, as Stable-Baselines3 saved it: to train on, or to look into.

    Parameters
    ----------
    env_id : str
        With or without ``mcts_envs/``.
    algorithm : {"ppo", "maskable_ppo", "dqn", "expert_iteration"}
        How it was learned; the last is a MaskablePPO that a search has taught.
    **board
        Settings of the board, where it is not the id's own.

    Raises
    ------
    ValueError
        If the environment is unknown, or none is shipped for it.
    """
    name = find(env_id).id.split("/")[-1]
    for path in FOLDER.glob(f"*/{algorithm}.zip"):
        if made_for(path.parent) == (name, board):
            return path
    settings = "".join(f", {key}={value!r}" for key, value in board.items())
    raise ValueError(_none_for(f"mcts_envs/{name}{settings}", algorithm))


def shipped_for(game: Game, algorithm: str) -> Path:
    """Return the shipped policy for a game, recognised by its name and settings.

    Else one whose observation is the same on any board, made for as many players in the same teams. ``"shipped"`` is
    the best for a search.

    Raises
    ------
    ValueError
        If none is shipped for it.
    """
    for name in SEARCHED if algorithm == BEST else (algorithm,):
        if (path := _found(game, name)) is not None:
            return path
    raise ValueError(_none_for(f"{game.name} with these settings", algorithm))


def _found(game: Game, algorithm: str) -> Path | None:
    elsewhere = []
    for path in sorted(FOLDER.glob(f"*/{algorithm}.zip")):
        about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        if about["game"] == game.name:
            made = _home(path)
            if made.fingerprint == game.fingerprint:
                return path
            alike = sees_alike_anywhere(made, about["settings"].get("observation", "flat"))
            if alike and (made.teams, made.actions) == (game.teams, game.actions):
                elsewhere.append(path)
    return elsewhere[0] if elsewhere else None


def at_home(path: Path, game: Game) -> bool:
    """Return whether a game is the one that a shipped policy was made for."""
    return _home(path).fingerprint == game.fingerprint


def _home(path: Path) -> Game:
    """Return the game that a shipped policy was made for."""
    name, board = made_for(path.parent)
    entry = find(name)
    return entry.make_game()(**{**entry.settings, **board})


def made_for(folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the environment id, without namespace, and the settings of the board that a folder's name says."""
    name, *settings = folder.name.split(",")
    pairs = (setting.split("=") for setting in settings)
    return name, {key: json.loads(value) for key, value in pairs}


def _none_for(what: str, algorithm: str) -> str:
    there = [f"{path.parent.name} ({path.stem})" for path in sorted(FOLDER.glob("*/*.zip"))]
    kind = "" if algorithm == BEST else f"{algorithm} "
    return (
        f"no {kind}policy is shipped for {what}; shipped: {', '.join(there) or 'none'}. "
        "Train one by scripts/train.py or Stable-Baselines3's learn(): 'sb3:PATH' plays it, policy=PATH has it search"
    )
