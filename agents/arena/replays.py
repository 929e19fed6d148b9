"""The games of a comparison as replays: a file for each, beside the rows, which name its seal."""

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from agents.arena.rows import Key, Row
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.view import View
from mcts_envs.core.writing import write_whole
from mcts_envs.replay import SEAL, Replay, sealed

if TYPE_CHECKING:
    from agents.arena.plan import Plan

Moves: TypeAlias = list[tuple[int, int]]
"""Seats and actions, in the order in which they were asked."""

REPLAYS = "replays"
"""The folder, below that of the rows."""

_LONGEST = 48
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")
_OURS = re.compile(r"\d{5,}-.*-[0-9a-f]{8}\.(?:json|html)|\.\d{5,}-.*\.json\.\d+", re.ASCII)
"""Names of what a comparison writes, also of what it was writing when it was killed."""


def begun(plan: "Plan", seed: int = 0, players: Sequence[str] = ()) -> Replay:
    """Return a game of a plan at its beginning.

    Raises
    ------
    ValueError
        If its games cannot be played again from their actions: of an environment that is not ours, or in which somebody
        plays whom nobody asks here (``opponent``).
    """
    if plan.discount is None:
        raise ValueError(f"{plan.id} is no environment of mcts_envs; its games cannot be kept as replays")
    try:
        return Replay(plan.id, seed=seed, players=players, **plan.settings)
    except (TypeError, ValueError) as error:
        raise ValueError(f"games with these settings cannot be kept as replays: {error}") from error


def replay_of(plan: "Plan", row: Row, moves: Moves) -> Replay:
    """Play a game again.

    Raises
    ------
    ValueError
        If others than in the game are to choose.
    """
    replay, chosen = begun(plan, row.seed, row.agents), dict[int, int]()
    choosing = replay.choosing
    for seat, action in moves:
        chosen[seat] = action
        if len(chosen) == len(choosing):
            replay.play(chosen)
            choosing, chosen = replay.choosing, {}
    return replay


def proved(plan: "Plan", row: Row, moves: Moves, env: Any) -> str:
    """Return the replay of a finished game as JSON, if it comes out as in the environment, whose state is the last one.

    Raises
    ------
    ValueError
        If it does not. The row then says that nobody knows whose fault it is.
    """
    inner = env.unwrapped
    view = inner.view() if isinstance(inner, GameEnv) else inner.view(inner.possible_agents[0])
    with contextlib.suppress(ValueError):
        replay = replay_of(plan, row, moves)
        if replay.over and np.array_equal(view.state, replay.state):
            return replay.to_json()
    row.last_asked = None
    raise ValueError("played again, the game comes out otherwise: its agents must have changed the environment")


def as_far_as_it_went(plan: "Plan", row: Row, moves: Moves) -> str:
    """Return the replay of a game that an error ended as JSON; an empty text where there is none."""
    try:
        return replay_of(plan, row, moves).to_json()
    except ValueError:
        return ""


def env_of(plan: "Plan", replay: Replay, choices: Sequence[Mapping[int, int]], view: View) -> Any:
    """Return an environment of a plan after these choices in a replay, where the player of a view is to choose.

    Those who choose at the same time and are asked before it have chosen anything.
    """
    env = plan.make_env()
    env.reset(seed=replay.seed, options=None if replay.position is None else {"position": replay.position})
    for chosen in choices:
        for _ in chosen:
            env.step(chosen[_seat_to_choose(env)])
    while (seat := _seat_to_choose(env)) != view.player:
        env.step(int(View(view.game, view.state, seat).legal_actions()[0]))
    return env


def _seat_to_choose(env: Any) -> int:
    """Return whose turn it is, when all who have ended have left."""
    if isinstance(env.unwrapped, GameEnv):
        return 0
    while env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
        env.step(None)
    return int(env.possible_agents.index(env.agent_selection))


def file_of(folder: Path, key: Key) -> Path:
    """Return where the replay of a game is, in the folder of its rows."""
    labels, episode = key
    told = "-".join(_UNSAFE.sub("_", label).strip("_") for label in labels)[:_LONGEST]
    tag = hashlib.blake2b(json.dumps(labels).encode(), digest_size=4).hexdigest()
    return folder / REPLAYS / f"{episode:05d}-{told}-{tag}.json"


def keep_replay(folder: Path, key: Key, text: str) -> str | None:
    """Write the replay of a game in place of that of an earlier try, if there is one; return its seal."""
    file = file_of(folder, key)
    file.with_suffix(".html").unlink(missing_ok=True)
    if not text:
        file.unlink(missing_ok=True)
        return None
    file.parent.mkdir(exist_ok=True)
    write_whole(file, text.encode())
    return str(json.loads(text)[SEAL])


def has_replay(folder: Path, row: Row) -> bool:
    """Return whether a game has the replay that its row names, or names none."""
    return row.replay is None or sealed(file_of(folder, row.key)) == row.replay


def tidy_replays(folder: Path, rows: Iterable[Row] = ()) -> None:
    """Remove what belongs to no row: replays of games whose rows were not written, pages, and what was half written.

    What somebody else has put there stays.
    """
    named = {file_of(folder, row.key).stem for row in rows if row.replay is not None}
    for file in (folder / REPLAYS).glob("*"):
        if _OURS.fullmatch(file.name) and file.stem not in named:
            file.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # it is not there, or not empty
        (folder / REPLAYS).rmdir()
