"""The formats of a comparison, by how many agents play in a match: one, two, many."""

from agents.arena.formats.base import Figures, Format, Mark
from agents.arena.formats.duel import Duel
from agents.arena.formats.lineup import Lineups
from agents.arena.formats.solo import Solo

__all__ = ["Duel", "Figures", "Format", "Lineups", "Mark", "Solo", "format_of"]

_FEW: dict[int, Format] = {1: Solo(), 2: Duel()}
_MANY = Lineups()


def format_of(seats: int) -> Format:
    """Return the format of matches with so many seats."""
    return _FEW.get(seats, _MANY)
