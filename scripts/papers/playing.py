"""Playing a study: cells by the arena, whose rows keep every game, so that a run goes on where it was ended."""

import gzip
import hashlib
import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from _pages import unpacked

import agents
import mcts_envs
from agents.arena import compare
from agents.arena.interrupt import Interrupted
from agents.arena.rows import Match, Played, Row, Seat
from agents.arena.storage import EPISODES, Results, read_rows
from agents.learning.jobs import local
from agents.spec import AgentSpec
from agents.waiting import as_completed
from mcts_envs.core.compiling.sources import source_digest
from mcts_envs.core.writing import write_whole
from papers.record import Entry, Run, tallied, total
from papers.study import FEWEST, Cell, Table, boards_of, plan_of

Say = Callable[[str], None]


def play_table(
    table: Table, run: Run, folder: Path, workers: int, fresh: bool, say: Say, kept: Path | None = None
) -> Iterator[Entry]:
    """Play a table's cells, and yield what each came to.

    With ``kept``, a folder, the rows of each comparison are kept there too, compressed, and taken from there where
    there are none. What lies there of other code, or of other settings, is not mixed with what is played now, and gives
    way only to as many games, or where it is thrown away.

    Raises
    ------
    Interrupted
        If the playing was interrupted; the same call goes on from there.
    ValueError, OSError
        If the folder holds rows of other code, or cannot be written.
    """
    for cells in companies(_possible(table, say)):
        others = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        say(f"{table.title}: {', '.join(cells[0].words)}{others}")
        play = partial(_play_games, say=say) if cells[0].measure is None else _measure
        name, configuration = folder_of(cells, run.scale), _configuration(table, cells)
        packed, rows = kept and kept / f"{name}.jsonl.gz", folder / name / EPISODES
        there = unpacked(packed) if packed and packed.exists() and not fresh else b""
        if packed and there and not rows.exists():
            if _configuration_in(there) == configuration:
                unpack(packed, rows)
            else:
                say(f"{table.title}: {packed.name} was played by other code or settings; this begins anew")
        try:
            yield from play(table, cells, run, folder / name, workers, fresh)
        finally:
            if packed and rows.exists() and _configuration_in(rows.read_bytes()) == configuration:
                pack(rows, packed, fresh)


def folder_of(cells: Sequence[Cell], scale: float) -> str:
    """Return the name of the folder of a company: another company has another one, in whatever order it was found."""
    keys = sorted(cell.key for cell in cells)
    own = keys[0] if len(keys) == 1 else hashlib.sha256(" ".join(keys).encode()).hexdigest()[:12]
    return f"{own}-{cells[0].games}" + (f"-{scale:g}" if cells[0].minutes else "")


def _possible(table: Table, say: Say) -> list[Cell]:
    """Return the cells of a table for which all is installed, and say what is left out."""
    for cell in table.cells:
        if cell.missing:
            say(f"{table.title}: {', '.join(cell.words)} is left out: not here: {', '.join(cell.missing)}")
    return [cell for cell in table.cells if not cell.missing]


def pack(file: Path, to: Path, fresh: bool = False) -> None:
    """Write a file of rows compressed, unless there are more games already; the same content makes the same bytes."""
    content = file.read_bytes()
    if fresh or not to.exists() or _games_in(unpacked(to)) <= _games_in(content):
        to.parent.mkdir(parents=True, exist_ok=True)
        write_whole(to, gzip.compress(content, mtime=0))


def _games_in(content: bytes) -> int:
    """Return how many rows are whole, and without an error."""
    whole = content[: content.rfind(b"\n") + 1]
    return sum(json.loads(line)["error"] is None for line in whole.splitlines()[1:])


def _configuration_in(content: bytes) -> Any:
    """Return by what rows were played; None if they do not say."""
    try:
        return json.loads(content.partition(b"\n")[0])["configuration"]
    except (ValueError, KeyError, TypeError):
        return None


def unpack(packed: Path, to: Path) -> None:
    """Write what a compressed file holds, unless there is a file already."""
    if not to.exists():
        to.parent.mkdir(parents=True, exist_ok=True)
        write_whole(to, unpacked(packed))


def companies(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return the cells that are played in one comparison together."""
    found: dict[Any, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.company, []).append(cell)
    return list(found.values())


def _play_games(
    table: Table, cells: Sequence[Cell], run: Run, folder: Path, workers: int, fresh: bool, say: Say
) -> Iterator[Entry]:
    """Play cells of one company, and yield what each came to."""
    plan = plan_of(cells, table.measure.keep)
    boards = boards_of(cells[0], plan, run.scale)
    played = compare(plan, boards, workers=workers, folder=folder, fresh=fresh)
    if played.signal is not None:
        raise Interrupted(played.signal)
    for label, share in played.starved.items():
        say(
            f"{table.title}: {label} had {share:.0%} of a core while it thought: something else used the machine, or "
            "it waited; do not believe who is better; play this again with --fresh when it is idle"
        )
    rows = [row for row in read_rows(folder).values() if row.episode < boards]
    for cell in cells:
        alone = len(cell.players) == 1
        own = [row for row in rows if not alone or cell.players[0].label in row.agents]
        seated = {label for row in own for label in row.agents}
        starved = {label: round(share, 2) for label, share in played.starved.items() if label in seated}
        yield _entry(table, cell, own, plan.teams, run, starved)


def _measure(table: Table, cells: Sequence[Cell], run: Run, folder: Path, workers: int, fresh: bool) -> Iterator[Entry]:
    """Take the measures of cells, one by one or as they come, as rows of the arena."""
    numbers = range(max(FEWEST, round(cells[0].games * run.scale)))
    with Results(folder, _configuration(table, cells), fresh) as results:
        wanted = [(cell, number) for number in numbers for cell in cells]
        missing = [(cell, number) for cell, number in wanted if not results.has(Match((_labelled(cell),), number))]
        values = _taken(missing, run.scale, workers) if cells[0].spread else _one_by_one(missing)
        for cell, number, value in values:
            results.add(Played(Row(number, number, [Seat(_labelled(cell).label, number)], kept={"value": value}), []))
        rows = [row for row in results.rows.values() if row.episode in numbers]
    for cell in cells:
        yield _entry(table, cell, [row for row in rows if row.agents == (_labelled(cell).label,)], ((0,),), run)


def _configuration(table: Table, cells: Sequence[Cell]) -> dict[str, Any]:
    """Return what must be equal for rows of a company to belong together."""
    if cells[0].measure is None:
        return plan_of(cells, table.measure.keep).configuration()
    packages = (Path(str(module.__file__)).parent for module in (mcts_envs, agents))
    code = "-".join(source_digest(package)[:16] for package in (*packages, Path(__file__).parent))
    words = sorted(list(cell.words) for cell in cells) if len(cells) > 1 else list(cells[0].words)
    return {"environment": cells[0].environment, "measure": [table.title, *words], "code": code, "record": False}


def _labelled(cell: Cell) -> AgentSpec:
    return AgentSpec(cell.players[0].label, cell.players[0].label)


def _one_by_one(missing: Sequence[tuple[Cell, int]]) -> Iterator[tuple[Cell, int, Any]]:
    for cell, number in missing:
        yield cell, number, _measure_of(cell)(number)


def _taken(missing: Sequence[tuple[Cell, int]], scale: float, workers: int) -> Iterator[tuple[Cell, int, Any]]:
    """Yield measures that take their time, in the order in which they end; those under way are lost at an interrupt."""
    given = {cell.key: (scale * cell.minutes,) if cell.minutes else () for cell, _ in missing}
    jobs = [(cell, number, partial(_measure_of(cell), number, *given[cell.key])) for cell, number in missing]
    if workers == 1:
        yield from ((cell, number, job()) for cell, number, job in jobs)
        return
    with local(workers) as crew:
        try:
            going = {crew.submit(job): (cell, number) for cell, number, job in jobs}
            for future in as_completed(going):
                yield *going[future], future.result()
        finally:
            crew.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()


def _measure_of(cell: Cell) -> Callable[..., Any]:
    assert cell.measure is not None
    return cell.measure


def _entry(
    table: Table,
    cell: Cell,
    rows: Sequence[Row],
    teams: Any,
    run: Run,
    starved: Mapping[str, float] = MappingProxyType({}),
) -> Entry:
    """Return what the rows of a cell come to."""
    boards: dict[int, list[Row]] = {}
    for row in rows:
        boards.setdefault(row.episode, []).append(row)
    for board in boards.values():
        board.sort(key=lambda row: row.agents)
    good = [board for board in boards.values() if all(_counts(row, table.measure.keep) for row in board)]
    costs: dict[str, Any] = {}
    for seat in (seat for board in good for row in board for seat in row.seats):
        costs[seat.agent] = total(costs, seat.agent, seat)
    results = [table.measure.result(cell, board, teams) for board in good]
    return Entry(cell.key, run.id, tallied(results), costs, len(boards) - len(good), dict(starved))


def _counts(row: Row, keep: Sequence[str]) -> bool:
    """Whether a match counts: one that was lost by forfeit too, unless what is kept of its end is measured."""
    return row.error is None and (row.forfeit is None or not keep)
