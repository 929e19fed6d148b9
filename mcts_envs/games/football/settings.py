"""Settings of football-lite, read into a state."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcts_envs.core import errors
from mcts_envs.games.football.position.names import TEAMS
from mcts_envs.games.football.rules.layout import MAX_FORMATIONS, MAX_SQUAD, NOBODY
from mcts_envs.games.football.sizes import NUMBERS, ROLES, Formation, Size

MAX_MOVE, MAX_NUMBER = 10, 12
KINDS = ("defence", "offence")


def read_squads(size: Size, given: Any) -> list[list[dict[str, Any]]]:
    """Return both squads as lists of players with role and numbers.

    Parameters
    ----------
    size : Size
    given : None, list, or {"home": list, "away": list}
        Of roles, or of dictionaries with ``role`` and any of ``ma``, ``st``, ``ag``, ``av``.

    Raises
    ------
    ValueError, TypeError
    """
    if given is None:
        given = list(size.squad)
    if isinstance(given, Mapping):
        errors.keys("squads", given, TEAMS)
        return [_read_squad(size, f"squads[{team!r}]", given[team]) for team in TEAMS]
    return [_read_squad(size, "squads", given) for _ in TEAMS]


def _read_squad(size: Size, name: str, given: Any) -> list[dict[str, Any]]:
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise TypeError(f"{name} {given!r} is not a list of players")
    if not size.fielded <= len(given) <= MAX_SQUAD:
        raise ValueError(f"{name} has {len(given)} players; it must have {size.fielded} to {MAX_SQUAD}")
    return [_read_member(f"{name}[{slot}]", entry) for slot, entry in enumerate(given)]


def _read_member(name: str, given: Any) -> dict[str, Any]:
    entry = {"role": given} if isinstance(given, str) else given
    if not isinstance(entry, Mapping):
        raise TypeError(f"{name} {given!r} is neither a role nor a dictionary with a role")
    numbers = ("ma", "st", "ag", "av")
    errors.keys(name, entry, ("role",), numbers)
    errors.choice("role", entry["role"], ROLES)
    result: dict[str, Any] = {"role": entry["role"], **NUMBERS[entry["role"]]}
    for number in numbers:
        if number in entry:
            high = MAX_MOVE if number == "ma" else MAX_NUMBER
            result[number] = errors.integer(f"{name}[{number!r}]", entry[number], 1, high)
    return result


def read_formations(size: Size, given: Any) -> tuple[tuple[Formation, ...], tuple[Formation, ...]]:
    """Return the formations of the kicking and of the receiving side.

    Parameters
    ----------
    size : Size
    given : None or {"defence": list, "offence": list}
        Of formations: lists of places (column counted from the own end zone, row), or dictionaries with ``places``,
        ``name`` and ``deep``, the index of the place for a thrower. A kind that is left out stays as it is. The places
        next to the middle are filled first, each kind in the order given.

    Raises
    ------
    ValueError, TypeError
    """
    result = {"defence": size.defence, "offence": size.offence}
    if given is not None:
        if not isinstance(given, Mapping):
            raise TypeError(f"formations {given!r} is not a dictionary with defence and offence")
        errors.keys("formations", given, (), KINDS)
        for kind, entries in given.items():
            if not isinstance(entries, Sequence) or not 1 <= len(entries) <= MAX_FORMATIONS:
                raise ValueError(
                    f"formations[{kind!r}] is {entries!r}; it must be a list of 1 to {MAX_FORMATIONS} formations"
                )
            result[kind] = tuple(
                _read_formation(size, f"formations[{kind!r}][{i}]", i, entry) for i, entry in enumerate(entries)
            )
    return result["defence"], result["offence"]


def _read_formation(size: Size, name: str, index: int, given: Any) -> Formation:
    if not isinstance(given, Mapping):
        given = {"places": given}
    errors.keys(name, given, ("places",), ("name", "deep"))
    if not isinstance(given["places"], Sequence):
        raise TypeError(f"{name} {given['places']!r} is not a list of places (column, row)")
    places = []
    for i, place in enumerate(given["places"]):
        if not isinstance(place, Sequence) or len(place) != 2:
            raise TypeError(f"{name} place {place!r} is not (column, row)")
        column = errors.integer(f"{name} place {i} column", place[0], 1, size.width // 2)
        places.append((column, errors.integer(f"{name} place {i} row", place[1], 1, size.height)))
    _check_places(size, name, places)
    deep = given.get("deep")
    if deep is not None:
        deep = errors.integer(f"{name}['deep']", deep, 0, len(places) - 1)
    order = sorted(range(len(places)), key=lambda i: places[i][0] < size.width // 2)
    return Formation(
        str(given.get("name", f"formation {index}")),
        tuple(places[i] for i in order),
        None if deep is None else order.index(deep),
    )


def _check_places(size: Size, name: str, places: list[tuple[int, int]]) -> None:
    """Check a line-up against the rules of the size."""
    if len(places) != size.fielded or len(set(places)) != len(places):
        raise ValueError(f"{name} has the places {places}; it must have {size.fielded} different ones")
    ahead = sum(column == size.width // 2 for column, _ in places)
    if ahead < size.scrimmage:
        raise ValueError(
            f"{name} has {ahead} places in column {size.width // 2}, next to the middle; "
            f"at least {size.scrimmage} are required"
        )
    for word, rows in (
        ("upper", range(1, size.wing_rows + 1)),
        ("lower", range(size.height - size.wing_rows + 1, size.height + 1)),
    ):
        there = sum(row in rows for _, row in places)
        if there > size.wing:
            raise ValueError(
                f"{name} has {there} places on the {word} wing (rows {rows[0]} to {rows[-1]}); "
                f"at most {size.wing} may be there"
            )


def write_squads(s: Any, squads: list[list[dict[str, Any]]]) -> None:
    """Write squads into the record of a state."""
    s.squad = max(len(squad) for squad in squads)
    for team, squad in enumerate(squads):
        s.members[team] = len(squad)
        for slot, member in enumerate(squad):
            numbers = [member[number] for number in ("ma", "st", "ag", "av")]
            s.enlisted[:, 16 * team + slot] = [*numbers, ROLES.index(member["role"])]


def write_formations(s: Any, formations: tuple[tuple[Formation, ...], tuple[Formation, ...]]) -> None:
    """Write formations into the record of a state."""
    for kind, entries in enumerate(formations):
        s.formations[kind] = len(entries)
        for i, formation in enumerate(entries):
            s.deep[kind, i] = NOBODY if formation.deep is None else formation.deep
            s.places[kind, i, : len(formation.places)] = formation.places


def write_pitch(s: Any, size: Size) -> None:
    """Write the pitch, dice and rerolls of a size into the record of a state."""
    s.width, s.height, s.fielded = size.width, size.height, size.fielded
    s.kick_die, (s.throw_dice, s.throw_die) = size.kick_die, size.throw_in
    s.stock = size.rerolls
