"""Playing a study: cells by the arena, whose rows keep every game, so that a run goes on where it was ended."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import agents
import mcts_envs
from agents.arena import compare
from agents.arena.rows import Match, Played, Row, Seat
from agents.arena.spec import AgentSpec
from agents.arena.storage import Results, read_rows
from mcts_envs.core.sources import source_digest
from papers.record import Entry, Run, tallied, total
from papers.study import FEWEST, Cell, Table, boards_of, plan_of

Say = Callable[[str], None]


class Stopped(Exception):  # noqa: N818
    """The person, or the system, wants the playing to end; what was finished is kept."""


def play_table(table: Table, run: Run, folder: Path, workers: int, fresh: bool, say: Say) -> Iterator[Entry]:
    """Play a table's cells, and yield what each came to.

    Raises
    ------
    Stopped
        If the playing was interrupted; the same call goes on from there.
    ValueError, OSError
        If the folder holds rows of other code, or cannot be written.
    """
    for cells in companies(table.cells):
        others = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        say(f"{table.title}: {', '.join(cells[0].words)}{others}")
        play = _play_games if cells[0].measure is None else _measure
        yield from play(table, cells, run, folder / f"{cells[0].key}-{cells[0].games}", workers, fresh)


def companies(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return the cells that are played in one comparison together."""
    found: dict[Any, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.company, []).append(cell)
    return list(found.values())


def _play_games(
    table: Table, cells: Sequence[Cell], run: Run, folder: Path, workers: int, fresh: bool
) -> Iterator[Entry]:
    """Play cells of one company, and yield what each came to."""
    plan = plan_of(cells, table.measure.keep)
    boards = boards_of(cells[0], plan, run.scale)
    if not compare(plan, boards, workers=workers, folder=folder, fresh=fresh).finished:
        raise Stopped
    rows = [row for row in read_rows(folder).values() if row.episode < boards]
    for cell in cells:
        alone = len(cell.players) == 1
        own = [row for row in rows if not alone or cell.players[0].label in row.agents]
        yield _entry(table, cell, own, plan.teams, run)


def _measure(table: Table, cells: Sequence[Cell], run: Run, folder: Path, workers: int, fresh: bool) -> Iterator[Entry]:
    """Take the measures of a cell, one by one, as rows of the arena."""
    (cell,) = cells
    assert cell.measure is not None
    packages = (Path(str(module.__file__)).parent for module in (mcts_envs, agents))
    code = "-".join(source_digest(package)[:16] for package in (*packages, Path(__file__).parent))
    label = cell.players[0].label
    configuration = {"environment": cell.environment, "measure": [table.title, *cell.words], "code": code}
    numbers = range(max(FEWEST, round(cell.games * run.scale)))
    with Results(folder, {**configuration, "record": False}, fresh) as results:
        for number in numbers:
            if not results.has(Match((AgentSpec(label, label),), number)):
                value = cell.measure(number)
                results.add(Played(Row(number, number, [Seat(label, number)], kept={"value": value}), []))
        rows = [row for row in results.rows.values() if row.episode in numbers]
    yield _entry(table, cell, rows, ((0,),), run)


def _entry(table: Table, cell: Cell, rows: Sequence[Row], teams: Any, run: Run) -> Entry:
    """Return what the rows of a cell come to."""
    boards: dict[int, list[Row]] = {}
    for row in rows:
        boards.setdefault(row.episode, []).append(row)
    for board in boards.values():
        board.sort(key=lambda row: row.agents)
    good = [board for board in boards.values() if all(row.fault is None for row in board)]
    costs: dict[str, Any] = {}
    for seat in (seat for board in good for row in board for seat in row.seats):
        costs[seat.agent] = total(costs, seat.agent, seat)
    results = [table.measure.result(cell, board, teams) for board in good]
    return Entry(cell.key, run.id, tallied(results), costs, len(boards) - len(good))
