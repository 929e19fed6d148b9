"""The five sizes as plain data: pitches, squads, formations."""

from typing import NamedTuple

ROLES = ("blitzer", "thrower", "catcher", "lineman")
NUMBERS = {
    "blitzer": {"ma": 7, "st": 3, "ag": 3, "av": 8},
    "thrower": {"ma": 6, "st": 3, "ag": 3, "av": 8},
    "catcher": {"ma": 8, "st": 2, "ag": 3, "av": 7},
    "lineman": {"ma": 6, "st": 3, "ag": 3, "av": 8},
}
"""Movement allowance, strength, agility and armour of each role."""

Places = tuple[tuple[int, int], ...]


class Formation(NamedTuple):
    """Places as (column counted from the own end zone, row), and the index of the place for a thrower, if any."""

    name: str
    places: Places
    deep: int | None = None


class Size(NamedTuple):
    """A size: pitch, squad, how many are on the pitch, rerolls a half, dice of kick and throw-in, formations.

    ``scrimmage`` is how many must stand in the column next to the middle, ``wing`` how many may stand on each wing,
    which are the first and the last ``wing_rows`` rows.
    """

    width: int
    height: int
    squad: tuple[str, ...]
    fielded: int
    rerolls: int
    kick_die: int
    throw_in: tuple[int, int]
    scrimmage: int
    wing: int
    wing_rows: int
    defence: tuple[Formation, ...]
    offence: tuple[Formation, ...]


_SPREAD = ((13, 6), (13, 8), (13, 10), (10, 5), (10, 11), (9, 2), (9, 14), (10, 3), (10, 13), (8, 8), (10, 8))
_ZONE = ((13, 6), (13, 8), (13, 10), (11, 5), (11, 11), (11, 2), (11, 14), (9, 2), (9, 5), (9, 11), (9, 14))
_LINE = ((13, 6), (13, 8), (13, 10), (13, 5), (13, 7), (13, 9), (13, 11), (6, 8), (12, 3), (12, 13), (10, 8))
_WEDGE = ((13, 6), (13, 10), (13, 7), (13, 9), (13, 8), (6, 8), (11, 3), (11, 13), (10, 8), (12, 4), (12, 12))
_TWO_DICE = (2, 6)

SIZES = {
    1: Size(
        4, 3, ("blitzer", "thrower"), 1, 3, 0, (1, 3), 1, 1, 1,
        (Formation("only", ((2, 2),)),),
        (Formation("only", ((2, 2),)),),
    ),
    3: Size(
        12, 5, ("blitzer", "thrower", "catcher", "lineman"), 3, 1, 3, (1, 6), 1, 1, 1,
        (Formation("spread", ((6, 3), (4, 2), (4, 4))),),
        (Formation("wedge", ((6, 2), (6, 4), (3, 3)), 2),),
    ),
    5: Size(
        16, 9, ("blitzer", "thrower", "catcher", "lineman", "lineman", "lineman"), 5, 2, 3, (1, 6), 2, 1, 2,
        (Formation("spread", ((8, 4), (8, 6), (5, 2), (5, 8), (5, 5))),),
        (Formation("wedge", ((8, 6), (8, 4), (4, 5), (7, 2), (7, 8)), 2),),
    ),
    7: Size(
        20, 9, ("blitzer",) * 2 + ("thrower",) + ("catcher",) * 2 + ("lineman",) * 3, 7, 3, 6, _TWO_DICE, 3, 2, 2,
        (Formation("spread", ((10, 3), (10, 5), (10, 7), (7, 4), (7, 6), (7, 2), (7, 8))),),
        (Formation("wedge", ((10, 4), (10, 6), (10, 3), (10, 7), (5, 5), (9, 2), (9, 8)), 4),),
    ),
    11: Size(
        26, 15, ("blitzer",) * 2 + ("thrower",) + ("catcher",) * 2 + ("lineman",) * 7, 11, 3, 6, _TWO_DICE, 3, 2, 4,
        (Formation("spread", _SPREAD), Formation("zone", _ZONE)),
        (Formation("line", _LINE, 7), Formation("wedge", _WEDGE, 5)),
    ),
}  # fmt: skip
"""Pitches, squads and formations by size."""
