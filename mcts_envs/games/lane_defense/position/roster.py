"""Positions of the roster game: readable descriptions of a state."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcts_envs.core import errors
from mcts_envs.core.kernel import record
from mcts_envs.core.typing import Bytes
from mcts_envs.games.lane_defense.rules.roster.layout import (
    CELLS,
    HP,
    LOST,
    MARK,
    MAX_ROWS,
    ONGOING,
    PLANES,
    PLANT,
    STATE,
    ZOMBIE,
)
from mcts_envs.games.lane_defense.tables import Plant, Roster, Zombie

REQUIRED = ("t", "sun", "plants", "zombies")
OPTIONAL = ("recharge", "mowers", "lost")


@dataclass(frozen=True)
class _Piece:
    """What stands in a cell: ``plane`` says whether it is a plant or a zombie."""

    plane: int
    kind: int
    index: int
    hp: int
    mark: int


def position(roster: Roster, state: Bytes) -> dict[str, Any]:
    """Return the state in plain terms; :class:`~mcts_envs.games.lane_defense.spec.roster.RosterDefense` has them."""
    s = record(state, STATE)
    columns, cells = int(s.columns), int(s.cells)
    planes = state[CELLS : CELLS + PLANES * cells].reshape(PLANES, cells)
    plants, zombies = [], []
    for index in range(cells):
        plant, zombie, hp, mark = (int(planes[plane, index]) for plane in (PLANT, ZOMBIE, HP, MARK))
        where = {"lane": index // columns, "column": index % columns, "hp": hp}
        if plant:
            plants.append({"kind": roster.plants[plant - 1].name, **where, "armed": bool(mark)})
        if zombie:
            zombies.append({"kind": roster.zombies[zombie - 1].name, **where, "leaps": mark})
    return {
        "t": int(s.t),
        "sun": int(s.sun),
        "recharge": {plant.name: int(s.recharge[kind]) for kind, plant in enumerate(roster.plants)},
        "plants": plants,
        "zombies": zombies,
        "mowers": [lane for lane in range(int(s.rows)) if s.mowers[lane]],
        **({"lost": True} if s.end == LOST else {}),
    }


def place(roster: Roster, state: Bytes, position: Mapping[str, Any]) -> None:
    """Set a state that was just reset to a position. Nothing is changed if the position is at fault.

    Raises
    ------
    ValueError, TypeError
        If a key is missing or unknown, a number is out of its bounds, two pieces share a cell, or the game is already
        over.
    """
    errors.keys("position", position, REQUIRED, OPTIONAL)
    if errors.flag("position['lost']", position.get("lost", False)):
        raise ValueError("position['lost'] is True: a zombie is in the house, and the game is already over")
    s = record(state, STATE)
    t = _read_clock(s, position["t"], position["zombies"])
    sun = errors.integer("position['sun']", position["sun"], 0, int(s.sun_cap))
    recharge = _read_recharge(roster, position.get("recharge", {}))
    mowers = _read_mowers(s, position.get("mowers", [lane for lane in range(int(s.rows)) if s.with_mowers]))
    pieces = _read_pieces(roster, s, position)
    s.t, s.sun, s.end = t, sun, ONGOING
    s.recharge[: len(recharge)] = recharge
    s.mowers[:] = [lane in mowers for lane in range(MAX_ROWS)]
    cells = int(s.cells)
    state[CELLS : CELLS + PLANES * cells] = 0
    for piece in pieces:
        for plane, value in ((piece.plane, piece.kind + 1), (HP, piece.hp), (MARK, piece.mark)):
            state[CELLS + plane * cells + piece.index] = value


def _read_clock(s: Any, t: Any, zombies: Any) -> int:
    t = errors.integer("position['t']", t, 0, int(s.max_steps))
    if t == s.max_steps:
        raise ValueError(f"position['t'] {t} is not below max_steps {s.max_steps}: the game is already over")
    over = int(s.wave_end[int(s.waves) - 1])
    if t >= over and not zombies:
        raise ValueError(f"position: at t {t} the waves are over (since {over}) and no zombie is left: already won")
    return t


def _read_recharge(roster: Roster, given: Any) -> list[int]:
    if not isinstance(given, Mapping):
        raise TypeError(f"position['recharge'] {given!r} is {type(given).__name__}, not a dictionary of kinds")
    errors.keys("position['recharge']", given, (), [plant.name for plant in roster.plants])
    return [
        errors.integer(f"position['recharge'][{plant.name!r}]", given.get(plant.name, 0), 0, plant.recharge)
        for plant in roster.plants
    ]


def _read_mowers(s: Any, given: Any) -> set[int]:
    lanes = [errors.integer("lane in position['mowers']", lane, 0, int(s.rows) - 1) for lane in _items("mowers", given)]
    if len(set(lanes)) < len(lanes):
        raise ValueError(f"position['mowers'] {lanes} names a lane twice; each lane has one mower")
    if lanes and not s.with_mowers:
        raise ValueError(f"position['mowers'] {lanes}: this game has no mowers; make it with mowers=True")
    return set(lanes)


def _read_pieces(roster: Roster, s: Any, position: Mapping[str, Any]) -> list[_Piece]:
    pieces: list[_Piece] = []
    taken: dict[int, str] = {}
    for key, plane, kinds, mark in (
        ("plants", PLANT, roster.plants, "armed"),
        ("zombies", ZOMBIE, roster.zombies, "leaps"),
    ):
        for i, entry in enumerate(_items(key, position[key])):
            name = f"position[{key!r}][{i}]"
            piece = _read_piece(name, plane, kinds, mark, s, entry)
            if piece.index in taken:
                lane, column = divmod(piece.index, int(s.columns))
                raise ValueError(f"{name} is in lane {lane}, column {column}, where {taken[piece.index]} already is")
            taken[piece.index] = name
            pieces.append(piece)
    return pieces


def _read_piece(
    name: str, plane: int, kinds: Sequence[Plant] | Sequence[Zombie], mark: str, s: Any, entry: Any
) -> _Piece:
    if not isinstance(entry, Mapping):
        raise TypeError(f"{name} {entry!r} is {type(entry).__name__}, not a dictionary with kind, lane and column")
    errors.keys(name, entry, ("kind", "lane", "column"), ("hp", mark))
    names = [kind.name for kind in kinds]
    errors.choice(f"kind in {name}", entry["kind"], names)
    number = names.index(entry["kind"])
    kind = kinds[number]
    lane = errors.integer(f"{name}['lane']", entry["lane"], 0, int(s.rows) - 1)
    column = errors.integer(f"{name}['column']", entry["column"], 0, int(s.columns) - (2 if plane == PLANT else 1))
    hp = errors.integer(f"{name}['hp']", entry.get("hp", kind.hp), 1, kind.hp)
    if isinstance(kind, Plant):
        left = int(errors.flag(f"{name}['armed']", entry.get("armed", False)))
        if left and not kind.arms:
            raise ValueError(f"{name}['armed'] is True, but a {kind.name} never arms; leave it out")
    else:
        left = errors.integer(f"{name}['leaps']", entry.get("leaps", kind.leaps), 0, kind.leaps)
    return _Piece(plane, number, lane * int(s.columns) + column, hp, left)


def _items(key: str, given: Any) -> Iterable[Any]:
    if not isinstance(given, list | tuple):
        raise TypeError(f"position[{key!r}] {given!r} is {type(given).__name__}, not a list")
    return given
