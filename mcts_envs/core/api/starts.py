"""Where the games of a batch start: the game's own first states, and positions from files, by weights."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mcts_envs.core.api.mixture import checked_weights
from mcts_envs.core.contract import Game
from mcts_envs.core.place import state_from_position
from mcts_envs.core.rng import below, choose
from mcts_envs.core.typing import Bytes

RESET = "reset"
"""The name of the game's own first states."""


class Starts:
    """Files of positions with weights, drawn anew for every game; every position of a file is as likely.

    Parameters
    ----------
    game : Game
    given : str, Path or mapping of these to weights
        Files of JSON lines, a position in each, as ``position()`` returns it; ``"reset"`` stands for the game's own
        first states.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError, TypeError
        If a file is empty or no text, or a position in it is against the rules, or the weights are not numbers from 0
        on, one of them above 0.
    """

    def __init__(self, game: Game, given: Any) -> None:
        named = {str(key): weight for key, weight in given.items()} if isinstance(given, Mapping) else {str(given): 1.0}
        self._weights = checked_weights("starts", named, None)
        self._states = {name: None if name == RESET else _read(game, Path(name)) for name in named}

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each name. To set it changes those that are given."""
        return dict(self._weights)

    @weights.setter
    def weights(self, given: Mapping[str, Any]) -> None:
        self._weights = checked_weights("starts", {**self._weights, **given}, self._weights)

    def draw(self, stream: Bytes) -> Bytes | None:
        """Return a state [size] to start from; None: the game's own."""
        names = [*self._weights]
        states = self._states[names[choose(stream, np.array([*self._weights.values()]), len(names))]]
        return None if states is None else states[below(stream, len(states))]


def _read(game: Game, path: Path) -> Any:
    """Return the positions of a file as states [M, size]."""
    if not path.is_file():
        raise FileNotFoundError(f"starts: there is no file {path}; give one with a position as JSON in each line")
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors of Windows begin a file with a mark
    except UnicodeDecodeError as error:
        raise ValueError(f"starts: {path} is no text in UTF-8 ({error}); save it as UTF-8") from error
    states = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                states.append(state_from_position(game, json.loads(line)))
            except (TypeError, ValueError, RecursionError) as error:
                raise ValueError(f"starts: {path}, line {number}: {error}") from error
    if not states:
        raise ValueError(f"starts: {path} has no position; write one as JSON in each line")
    return np.stack(states)
