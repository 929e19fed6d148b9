"""The formats of a comparison, by how many agents play in a match: one, two, many; one in all seats."""

from agents.arena.formats.base import Figures, Format, Mark
from agents.arena.formats.cooperative import Cooperative
from agents.arena.formats.duel import Duel
from agents.arena.formats.lineup import Lineups
from agents.arena.formats.solo import Solo

__all__ = ["Cooperative", "Duel", "Figures", "Format", "Lineups", "Mark", "Solo", "format_of"]

_FEW: dict[int, Format] = {1: Solo(), 2: Duel()}
_MANY, _TOGETHER = Lineups(), Cooperative()


def format_of(seats: int, cooperative: bool = False) -> Format:
    """Return the format of matches with so many seats, in which agents meet or one plays all."""
    return _TOGETHER if cooperative else _FEW.get(seats, _MANY)
