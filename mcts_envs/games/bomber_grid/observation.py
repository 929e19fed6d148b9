"""The original's observation, read: checked whole, and turned into plain integers."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mcts_envs.core import errors
from mcts_envs.games.bomber_grid.rules.layout import (
    AGENT,
    AMMO_CAP,
    BOMB,
    DUEL,
    EXTRA_BOMB,
    FFA,
    FLAME,
    FOG,
    KICK,
    MAX_BOMBS,
    MAX_FLAME_LIFE,
    MAX_FUSE,
    MAX_SIZE,
    MIN_SIZE,
    NOBODY,
    RADIO,
    RIGHT,
    SEATS,
    WORDS,
)
from mcts_envs.games.bomber_grid.template import Cell

Plane = npt.NDArray[np.int64]

_MOST = {
    "board": AGENT + SEATS - 1,
    "bomb_blast_strength": MAX_SIZE,
    "bomb_life": MAX_FUSE,
    "bomb_moving_direction": RIGHT,
    "flame_life": MAX_FLAME_LIFE + 1,
}
_NUMBERS = ("ammo", "blast_strength", "can_kick", "game_type", "step_count")
_NEEDED = (*_MOST, *_NUMBERS, "alive", "position", "teammate", "enemies")


class Bomb(NamedTuple):
    """A bomb that is seen: its cell, the steps it has left, its strength, and the direction in which it rolls."""

    cell: Cell
    life: int
    strength: int
    way: int


class Seen(NamedTuple):
    """What a player sees at one step.

    ``codes`` are those of the board [n, n]; ``stands`` has the players in sight; ``flames`` count as the original does,
    from 3 down to 1, or from the flame life of its game + 1. ``radius`` is that of the view, None for the whole board.
    """

    mode: int
    player: int
    step: int
    codes: Plane
    radius: int | None
    alive: frozenset[int]
    cell: Cell
    kit: tuple[int, int, int]
    stands: dict[int, Cell]
    bombs: list[Bomb]
    flames: dict[Cell, int]
    items: dict[Cell, int]
    message: tuple[int, int]
    environment: str

    def hides(self, cell: Cell) -> bool:
        """Say whether the fog covers a cell."""
        return bool(self.codes[cell] == FOG)


def read_observation(observation: Mapping[str, Any]) -> Seen:
    """Read a dictionary as the original gives it to ``act``; keys that it does not know are let be.

    Raises
    ------
    ValueError, TypeError
        If a key is missing, a number is out of its bounds, or planes and lists contradict each other.
    """
    if not isinstance(observation, Mapping):
        raise TypeError(f"observation is {type(observation).__name__}, not the dictionary that the original shows")
    errors.keys("observation", set(observation) & set(_NEEDED), _NEEDED)
    planes = {key: _plane(key, observation[key], most) for key, most in _MOST.items()}
    codes = planes["board"]
    if len({plane.shape for plane in planes.values()}) > 1:
        shapes = ", ".join(f"{key} {plane.shape}" for key, plane in planes.items())
        raise ValueError(f"the planes of the observation differ in shape: {shapes}")
    mode = errors.integer("observation['game_type']", plain(observation["game_type"]), FFA, DUEL)
    player = _observer(observation, mode)
    last = len(codes) - 1
    row, column = _numbers("position", observation["position"], last, 2)
    alive = frozenset(code - AGENT for code in _codes("alive", observation["alive"], mode))
    stands = _stands(codes, alive)
    if player in alive and stands.get(player) != (row, column):
        raise ValueError(
            f"observation['position'] is {(row, column)}, where observation['board'] has {codes[row, column]}; it must "
            f"have {AGENT + player}, the only player who is neither teammate nor enemy"
        )
    kit = (
        errors.integer("observation['ammo']", observation["ammo"], 0, AMMO_CAP),
        errors.integer("observation['blast_strength']", observation["blast_strength"], 1, MAX_SIZE),
        int(errors.flag("observation['can_kick']", observation["can_kick"])),
    )
    step = errors.integer("observation['step_count']", observation["step_count"], 0, 65_535)
    told = mode == RADIO and step > 0  # at the start the original repeats the last words of the game before
    first, second = _numbers("message", observation.get("message", (0, 0)), WORDS - 1, 2) if told else [0, 0]
    return Seen(
        mode=mode,
        player=player,
        step=step,
        codes=codes,
        radius=_radius(codes, (row, column)),
        alive=alive,
        cell=(row, column),
        kit=kit,
        stands=stands,
        bombs=_bombs(planes),
        flames=_flames(planes),
        items={cell: int(codes[cell]) for cell in _cells((codes >= EXTRA_BOMB) & (codes <= KICK))},
        message=(first, second),
        environment=str(observation.get("game_env", "")),
    )


def plain(given: Any) -> Any:
    """Return the number of a member of an enumeration, as the original has for players; else the same."""
    return getattr(given, "value", given)


def _cells(mask: Any) -> list[Cell]:
    return [(int(row), int(column)) for row, column in zip(*np.nonzero(mask), strict=True)]


def _plane(key: str, given: Any, most: int) -> Plane:
    """Return a square plane of integers [n, n]."""
    plane = np.asarray(given)
    size = plane.shape[0] if plane.ndim == 2 else 0
    if plane.shape != (size, size) or not MIN_SIZE <= size <= MAX_SIZE or plane.dtype.kind not in "uifb":
        raise ValueError(
            f"observation[{key!r}] has shape {plane.shape} of {plane.dtype}; it must be [n, n] numbers, n from "
            f"{MIN_SIZE} to {MAX_SIZE}"
        )
    for row, column in _cells(~((plane >= 0) & (plane <= most) & (plane == np.floor(plane)))):
        value = plane[row, column]
        raise ValueError(f"observation[{key!r}][{row}][{column}] {value} is not an integer from 0 to {most}")
    return plane.astype(np.int64)


def _numbers(key: str, given: Any, most: int, length: int) -> list[int]:
    """Return a short list of integers."""
    if not errors.is_list(given) or len(given) != length:
        raise ValueError(f"observation[{key!r}] {given!r} is not {length} integers from 0 to {most}")
    return [errors.integer(f"observation[{key!r}][{i}]", plain(x), 0, most) for i, x in enumerate(given)]


def _codes(key: str, given: Any, mode: int) -> list[int]:
    """Return the codes of players in a list."""
    if not errors.is_list(given):
        raise TypeError(f"observation[{key!r}] {given!r} is {type(given).__name__}, not a list of players")
    most = AGENT + (2 if mode == DUEL else SEATS) - 1
    return [errors.integer(f"observation[{key!r}][{i}]", plain(code), AGENT, most) for i, code in enumerate(given)]


def _observer(observation: Mapping[str, Any], mode: int) -> int:
    """Return who sees this: the one who is neither its teammate nor its enemy."""
    given = [plain(other) for other in (observation["teammate"], *observation["enemies"])]
    others = _codes("enemies", [other for other in given if other not in (NOBODY, 0)], mode)
    left = set(range(AGENT, AGENT + (2 if mode == DUEL else SEATS))) - set(others)
    if len(left) != 1:
        raise ValueError(
            f"observation['teammate'] and observation['enemies'] are {sorted(others)}; with game_type {mode} they must "
            f"be all players but the one who observes, {AGENT} being the first"
        )
    return left.pop() - AGENT


def _stands(codes: Plane, alive: frozenset[int]) -> dict[int, Cell]:
    """Return where the players in sight stand."""
    stands: dict[int, Cell] = {}
    for cell in _cells(codes >= AGENT):
        player = int(codes[cell]) - AGENT
        if player in stands or player not in alive:
            fault = "stands there twice" if player in stands else "is not in observation['alive']"
            raise ValueError(f"observation['board'] has {codes[cell]} at {list(cell)}: this player {fault}")
        stands[player] = cell
    return stands


def _radius(codes: Plane, cell: Cell) -> int | None:
    """Return the radius of the window around a cell outside which there is fog, None where there is no fog."""
    fog = codes == FOG
    if not fog.any():
        return None
    rows, columns = np.indices(codes.shape)
    away = np.maximum(abs(rows - cell[0]), abs(columns - cell[1]))
    radius = int(away[~fog].max()) if not fog.all() else 0
    for wrong in _cells(fog != (away > radius)):
        raise ValueError(
            f"observation['board'] has {codes[wrong]} at {list(wrong)}: the fog ({FOG}) must leave a square around "
            f"observation['position'] {cell}"
        )
    return radius


def _bombs(planes: Mapping[str, Plane]) -> list[Bomb]:
    """Return the bombs in sight, row by row."""
    codes, life, strength = planes["board"], planes["bomb_life"], planes["bomb_blast_strength"]
    for cell in _cells((life > 0) != (strength > 0)):
        raise ValueError(
            f"observation['bomb_life'] has {life[cell]} at {list(cell)} and observation['bomb_blast_strength'] "
            f"{strength[cell]}; a bomb has both"
        )
    for cell in _cells((life > 0) & (codes != BOMB) & (codes < AGENT) | (life == 0) & (codes == BOMB)):
        raise ValueError(
            f"observation['bomb_life'] has {life[cell]} at {list(cell)}, where observation['board'] has {codes[cell]}; "
            f"a bomb is a {BOMB}, or lies under a player"
        )
    cells = _cells(life > 0)
    if len(cells) > MAX_BOMBS:
        raise ValueError(f"observation['bomb_life'] has {len(cells)} bombs; there are at most {MAX_BOMBS}")
    ways = planes["bomb_moving_direction"]
    return [Bomb(cell, int(life[cell]), int(strength[cell]), int(ways[cell])) for cell in cells]


def _flames(planes: Mapping[str, Plane]) -> dict[Cell, int]:
    """Return the flames in sight."""
    codes, life = planes["board"], planes["flame_life"]
    for cell in _cells((life > 0) != (codes == FLAME)):
        raise ValueError(
            f"observation['flame_life'] has {life[cell]} at {list(cell)}, where observation['board'] has {codes[cell]};"
            f" it is above 0 where the board has a flame ({FLAME})"
        )
    return {cell: int(life[cell]) for cell in _cells(life)}
