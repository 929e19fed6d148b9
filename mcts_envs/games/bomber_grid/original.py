"""The original's observation: a dictionary of planes and numbers with its keys, for agents written for it."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Singles
from mcts_envs.games.bomber_grid.rules.layout import AGENT, MAX_FUSE, MAX_SIZE, SEATS, WORDS
from mcts_envs.games.bomber_grid.rules.observe import ORIGINAL_NUMBERS, ORIGINAL_PLANES

_MOST = {"board": AGENT + SEATS - 1, "bomb_life": MAX_FUSE, "bomb_moving_direction": 4}


def original_size(board_size: int) -> int:
    """Return the length of the variant ``original`` of the observation, which :func:`as_dict` takes."""
    return len(ORIGINAL_PLANES) * board_size * board_size + len(ORIGINAL_NUMBERS)


def as_dict(observation: Singles) -> dict[str, Any]:
    """Return an observation of the variant ``original`` as the original's dictionary.

    Parameters
    ----------
    observation : float32 array
        Five planes and fourteen numbers.

    Returns
    -------
    dict
        ``board`` is uint8 and the other planes float32, all [n, n]; ``alive`` and ``enemies`` are lists of codes,
        ``position`` and ``message`` pairs of int, ``can_kick`` a bool, the rest int. ``game_env`` is left out.
    """
    size = int(np.sqrt((len(observation) - len(ORIGINAL_NUMBERS)) // len(ORIGINAL_PLANES)))
    planes = observation[: -len(ORIGINAL_NUMBERS)].reshape(-1, size, size)
    numbers = dict(zip(ORIGINAL_NUMBERS, map(int, observation[-len(ORIGINAL_NUMBERS) :]), strict=True))
    result: dict[str, Any] = dict(zip(ORIGINAL_PLANES, planes, strict=True))
    result["board"] = result["board"].astype(np.uint8)
    result["alive"] = [AGENT + player for player in range(SEATS) if numbers["alive"] >> player & 1]
    result["position"] = numbers["row"], numbers["column"]
    result["can_kick"] = bool(numbers["can_kick"])
    result["enemies"] = [numbers[f"enemy_{i}"] for i in range(3) if numbers[f"enemy_{i}"]]
    result["message"] = numbers["word_1"], numbers["word_2"]
    return result | {key: numbers[key] for key in ("ammo", "blast_strength", "teammate", "game_type", "step_count")}


class OriginalObservation(gymnasium.ObservationWrapper[dict[str, Any], Any, Singles]):
    """Show the original's dictionary, in a space that describes it.

    ``OriginalObservation(gym.make("mcts_envs/Bomber-v0", observation="original"))``. Its arrays are those of
    :func:`as_dict`; lists and pairs come as arrays too: ``alive`` as 0 and 1 for each player, ``enemies`` with 0
    for none.

    Raises
    ------
    ValueError
        If the environment shows another observation.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        game: Game = env.unwrapped.game  # type: ignore[attr-defined]
        size = len(game.position(game.new_state())["board"]) if game.position else 0
        if game.name != "bomber_grid" or game.observation_shape != (original_size(size),):
            raise ValueError("this environment shows other numbers; make it with observation='original'")
        planes = {key: spaces.Box(0, _MOST.get(key, MAX_SIZE), (size, size), np.float32) for key in ORIGINAL_PLANES}
        planes["board"] = spaces.Box(0, _MOST["board"], (size, size), np.uint8)
        self.observation_space = spaces.Dict(
            planes
            | {
                "alive": spaces.MultiBinary(SEATS),
                "position": spaces.MultiDiscrete([size, size]),
                "enemies": spaces.MultiDiscrete([AGENT + SEATS] * 3),
                "message": spaces.MultiDiscrete([WORDS] * 2),
                "can_kick": spaces.Discrete(2),
                "ammo": spaces.Discrete(256),
                "blast_strength": spaces.Discrete(256),
                "teammate": spaces.Discrete(AGENT + SEATS),
                "game_type": spaces.Discrete(5),
                "step_count": spaces.Discrete(65_536),
            }
        )

    def observation(self, observation: Singles) -> dict[str, Any]:
        """Return the dictionary in the form of the space."""
        shown = as_dict(observation)
        shown["alive"] = np.array([AGENT + player in shown["alive"] for player in range(SEATS)], np.int8)
        shown["enemies"] = np.array((shown["enemies"] + [0, 0, 0])[:3])
        for key in ("position", "message"):
            shown[key] = np.array(shown[key])
        shown["can_kick"] = int(shown["can_kick"])
        return {key: shown[key] for key in self.observation_space.keys()}  # type: ignore[attr-defined]  # noqa: SIM118
