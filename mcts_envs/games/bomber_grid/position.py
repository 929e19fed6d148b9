"""Positions of the bomber grid: readable descriptions of a state."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mcts_envs.core import errors
from mcts_envs.core.kernel import record
from mcts_envs.core.typing import Bytes
from mcts_envs.games.bomber_grid.rules.kernels import clear, judge
from mcts_envs.games.bomber_grid.rules.layout import (
    AGENT,
    BOMB,
    EXTRA_BOMB,
    FLAME,
    FOG,
    KICK,
    MAX_BOMBS,
    NOBODY,
    PASSAGE,
    RADIO,
    RIGID,
    STATE,
    TRAIL,
    WIDTH,
    WOOD,
    WORDS,
)
from mcts_envs.games.bomber_grid.rules.memory import MEMORY, START, forget_all, look
from mcts_envs.games.bomber_grid.template import Cell, board_of

_NEEDED = ("board", "items", "agents", "bombs", "flames", "step_count")


def cells_of(words: Any) -> set[Cell]:
    """Return the cells (row, column) of a board of bits."""
    bits = int(words[0]) | int(words[1]) << 64
    return {divmod(cell, WIDTH) for cell in range(bits.bit_length()) if bits >> cell & 1}


def board_codes(s: Any) -> Any:
    """Return the codes of all cells as they are seen in full view, int array [n, n]: a player hides a bomb."""
    size = int(s.board_size)
    codes = np.zeros((WIDTH, WIDTH), np.int64)
    for kind in range(3):
        for cell in cells_of(s.items[kind]):
            codes[cell] = EXTRA_BOMB + kind
    for board, code in ((s.rigid, RIGID), (s.wood, WOOD)):
        for cell in cells_of(board):
            codes[cell] = code
    for bomb in range(s.n_bombs):
        codes[divmod(int(s.bomb_cell[bomb]), WIDTH)] = BOMB
    for cell in cells_of(s.fire):
        codes[cell] = FLAME
    for player in range(s.players):
        if s.alive >> player & 1:
            codes[divmod(int(s.stands[player]), WIDTH)] = AGENT + player
    return codes[:size, :size]


def position(state: Bytes) -> dict[str, Any]:
    """Return the state in plain terms; :class:`~mcts_envs.games.bomber_grid.spec.Bomber` describes them."""
    s = record(state, STATE)
    covered = cells_of(s.wood) | cells_of(s.fire)
    items = [[*cell, EXTRA_BOMB + kind] for kind in range(3) for cell in sorted(cells_of(s.items[kind]) & covered)]
    result = {
        "board": board_codes(s).tolist(),
        "items": sorted(items),
        "agents": [
            [int(s.alive >> p & 1), *divmod(int(s.stands[p]), WIDTH), *map(int, (s.ammo[p], s.strength[p], s.kicks[p]))]
            for p in range(s.players)
        ],
        "bombs": [
            [*divmod(int(s.bomb_cell[b]), WIDTH), *(int(of[b]) for of in _columns(s)[1:])] for b in range(s.n_bombs)
        ],
        "flames": [[*c, life] for life in range(int(s.flame_life) + 1) for c in sorted(cells_of(s.flames[life]))],
        "step_count": int(s.t),
        "died": [int(s.died[player]) for player in range(s.players)],
        "trail": [_trail(int(s.trail[player])) for player in range(s.players)],
    }
    if s.mode == RADIO:
        result["words"] = [[int(word) for word in s.words[player]] for player in range(s.players)]
    if state.size > START:
        result["memory"] = [_remembered(state, player) for player in range(s.players)]
    return result


def _remembered(state: Bytes, player: int) -> dict[str, Any]:
    """Return what a player remembers in plain terms."""
    s, m = record(state, STATE), record(state[START + player * MEMORY.itemsize :], MEMORY)
    size, codes = int(s.board_size), np.full((WIDTH, WIDTH), FOG)
    boards = [(m.known, PASSAGE), (m.rigid, RIGID), (m.wood, WOOD), *((m.items[k], EXTRA_BOMB + k) for k in range(3))]
    for board, code in boards:
        for cell in cells_of(board):
            codes[cell] = code
    mine, bombs = cells_of(m.mine), sorted(cells_of(m.bombs))
    life, strength = (of.reshape(WIDTH, WIDTH) for of in (m.life, m.strength))
    return {
        "board": codes[:size, :size].tolist(),
        "bombs": [[*cell, int(cell in mine), int(life[cell]), int(strength[cell])] for cell in bombs],
        "flames": [[*c, life] for life in range(int(s.flame_life) + 1) for c in sorted(cells_of(m.flames[life]))],
        "last": [[*divmod(int(m.last_cell[p]), WIDTH), int(m.last_step[p])] for p in range(s.players)],
    }


def place(state: Bytes, position: Mapping[str, Any]) -> None:
    """Set a state that was just reset to a position, which may be the end of a game.

    Nothing is changed if the position is at fault.

    Raises
    ------
    ValueError, TypeError
        If a key is missing or unknown, a number is out of its bounds, or the lists contradict the board.
    """
    s = record(state, STATE)
    optional = [key for key, there in (("words", s.mode == RADIO), ("memory", state.size > START)) if there]
    errors.keys("position", position, _NEEDED, ("died", "trail", *optional))
    size, players, cap = int(s.board_size), int(s.players), int(s.blast_cap)
    codes = _read_board(position["board"], size, players)
    cell = [(0, size - 1), (0, size - 1)]
    items = _rows(position, "items", [*cell, (EXTRA_BOMB, KICK)])
    agents = _rows(position, "agents", [(0, 1), *cell, (0, 10), (1, cap), (0, 1)])
    owners_to_way = [(0, players - 1), (1, int(s.fuse)), (1, cap), (0, 4)]
    bombs = _rows(position, "bombs", [*cell, *owners_to_way])
    flames = _rows(position, "flames", [*cell, (0, int(s.flame_life))])
    t = errors.integer("position['step_count']", position["step_count"], 0, int(s.max_steps))
    _check_agents(codes, agents, players)
    _check_bombs(codes, bombs)
    _check_flames(codes, flames)
    _check_items(codes, items)
    alive = [agent[0] for agent in agents]
    died = _numbers(position.get("died", [0] * players), "position['died']", [(0, 0 if a else t) for a in alive])
    words = _read_rows("position['words']", position.get("words", [[0, 0]] * players), [(0, WORDS - 1)] * 2)
    if len(words) != players:
        raise ValueError(f"position['words'] has {len(words)} rows; it must have one for each of {players} players")
    trails = _read_trails(position.get("trail", [[]] * players), size, players)
    memories = _read_memories(s, position["memory"], t) if "memory" in position else []
    clear(state)
    s.t, s.alive = t, sum(a << player for player, a in enumerate(alive))
    s.rigid[:] = np.array(board_of(_cells_with(codes, RIGID)), np.uint64) | s.outside
    s.wood[:], s.fire[:] = board_of(_cells_with(codes, WOOD)), board_of(_cells_with(codes, FLAME))
    for kind in range(3):
        hidden = {(r, c) for r, c, code in items if code == EXTRA_BOMB + kind}
        s.items[kind] = board_of(_cells_with(codes, EXTRA_BOMB + kind) | hidden)
    for life in range(int(s.flame_life) + 1):
        s.flames[life] = board_of((r, c) for r, c, left in flames if left == life)
    for player, (_, row, column, ammo, strength, kicks) in enumerate(agents):
        s.stands[player], s.ammo[player] = WIDTH * row + column, ammo
        s.strength[player], s.kicks[player] = strength, kicks
        s.died[player], s.words[player], s.trail[player] = died[player], words[player], trails[player]
    s.n_bombs = len(bombs)
    for bomb, (row, column, *others) in enumerate(bombs):
        for column_of, value in zip(_columns(s), (WIDTH * row + column, *others), strict=True):
            column_of[bomb] = value
    judge(s)
    if state.size > START:
        for player in range(players):
            _place_memory(state, player, memories[player] if memories else None)


def _read_memories(s: Any, given: Any, t: int) -> list[tuple[Any, ...]]:
    """Return board, bombs, flames and where the others were seen last, for each player."""
    size, players = int(s.board_size), int(s.players)
    if not errors.is_list(given) or len(given) != players:
        raise ValueError(f"position['memory'] is not a list of one dictionary for each of {players} players")
    cell, found = [(0, size - 1), (0, size - 1)], []
    for player, memory in enumerate(given):
        name = f"position['memory'][{player}]"
        if not isinstance(memory, Mapping):
            raise TypeError(f"{name} is {type(memory).__name__}, not a dictionary of what the player remembers")
        errors.keys(name, memory, ("board", "bombs", "flames", "last"))
        codes = _read_rows(f"{name}['board']", memory["board"], [(PASSAGE, KICK)] * size)
        last = _read_rows(f"{name}['last']", memory["last"], [*cell, (0, t)])
        if len(codes) != size or len(last) != players:
            raise ValueError(
                f"{name} has {len(codes)} rows of the board and {len(last)} of where players were seen last; it must "
                f"have {size} and {players}"
            )
        mine_to_strength = [(0, 1), (1, int(s.fuse)), (1, int(s.blast_cap))]
        bombs = _read_rows(f"{name}['bombs']", memory["bombs"], [*cell, *mine_to_strength])
        flames = _read_rows(f"{name}['flames']", memory["flames"], [*cell, (0, int(s.flame_life))])
        found.append((np.array(codes), bombs, flames, last))
    return found


def _place_memory(state: Bytes, player: int, found: tuple[Any, ...] | None) -> None:
    """Let a player remember what was read, or nothing, and what it sees."""
    forget_all(state, player)
    if found is not None:
        _write_memory(state, player, *found)
    look(state, player)


def _write_memory(state: Bytes, player: int, codes: Any, bombs: Any, flames: Any, last: Any) -> None:
    """Write what a player remembers to an empty memory."""
    m = record(state[START + player * MEMORY.itemsize :], MEMORY)
    m.known[:] = board_of(divmod(int(i), len(codes)) for i in np.flatnonzero(codes != FOG))
    m.rigid[:], m.wood[:] = board_of(_cells_with(codes, RIGID)), board_of(_cells_with(codes, WOOD))
    for kind in range(3):
        m.items[kind] = board_of(_cells_with(codes, EXTRA_BOMB + kind))
    for life in range(len(m.flames)):
        m.flames[life] = board_of((r, c) for r, c, left in flames if left == life)
    m.bombs[:] = board_of((r, c) for r, c, *_ in bombs)
    m.mine[:] = board_of((r, c) for r, c, mine, *_ in bombs if mine)
    for *cell, _, life, strength in bombs:
        m.life[WIDTH * cell[0] + cell[1]], m.strength[WIDTH * cell[0] + cell[1]] = life, strength
    for other, (*cell, step) in enumerate(last):
        m.last_cell[other], m.last_step[other] = WIDTH * cell[0] + cell[1], step


def _columns(s: Any) -> tuple[Any, ...]:
    """Return the columns of the table of bombs in the order of a position."""
    return s.bomb_cell, s.bomb_owner, s.bomb_life, s.bomb_strength, s.bomb_way


def _trail(packed: int) -> list[list[int]]:
    """Return the cells of a trail, the latest first."""
    cells = [packed >> 8 * i & 255 for i in range(TRAIL)]
    return [list(divmod(cell - 1, WIDTH)) for cell in cells if cell]


def _read_trails(given: Any, size: int, players: int) -> list[int]:
    """Return the trails of all players as the state has them."""
    if not errors.is_list(given) or len(given) != players:
        raise ValueError(f"position['trail'] {given!r} is not a list of cells for each of {players} players")
    trails = []
    for player, cells in enumerate(given):
        found = _read_rows(f"position['trail'][{player}]", cells, [(0, size - 1)] * 2)
        if len(found) > TRAIL:
            raise ValueError(f"position['trail'][{player}] has {len(found)} cells; it has at most {TRAIL}")
        trails.append(sum(WIDTH * row + column + 1 << 8 * i for i, (row, column) in enumerate(found)))
    return trails


def _cells_with(codes: Any, code: int) -> set[Cell]:
    return {(int(row), int(column)) for row, column in zip(*np.nonzero(codes == code), strict=True)}


def _numbers(given: Any, name: str, bounds: list[tuple[int, int]]) -> list[int]:
    """Read a list of integers, each within its bounds."""
    if not errors.is_list(given):
        raise TypeError(f"{name} {given!r} is {type(given).__name__}, not a list of {len(bounds)} integers")
    if len(given) != len(bounds):
        raise ValueError(f"{name} has {len(given)} entries; it must have {len(bounds)}")
    return [errors.integer(f"{name}[{i}]", x, *bound) for i, (x, bound) in enumerate(zip(given, bounds, strict=True))]


def _rows(position: Mapping[str, Any], key: str, bounds: list[tuple[int, int]]) -> list[list[int]]:
    """Read the rows of integers under a key of a position."""
    return _read_rows(f"position[{key!r}]", position[key], bounds)


def _read_rows(name: str, given: Any, bounds: list[tuple[int, int]]) -> list[list[int]]:
    """Read a list of rows of integers."""
    if not errors.is_list(given):
        raise TypeError(f"{name} is {type(given).__name__}, not a list of rows")
    return [_numbers(row, f"{name}[{i}]", bounds) for i, row in enumerate(given)]


def _read_board(given: Any, size: int, players: int) -> Any:
    """Return the codes of the board, int array [n, n]."""
    rows = _read_rows("position['board']", given, [(PASSAGE, AGENT + players - 1)] * size)
    if len(rows) != size:
        raise ValueError(f"position['board'] has {len(rows)} rows; it must have {size}: make it with board_size={size}")
    codes = np.array(rows)
    for code in (FOG, NOBODY):
        for row, column in _cells_with(codes, code):
            raise ValueError(f"position['board'][{row}][{column}] {code} is a code of observations, not of a board")
    return codes


def _check_agents(codes: Any, agents: list[list[int]], players: int) -> None:
    if len(agents) != players:
        raise ValueError(f"position['agents'] has {len(agents)} rows; it must have one for each of {players} players")
    for player, (alive, row, column, *_) in enumerate(agents):
        stands = {(row, column)} if alive else set()
        if found := _cells_with(codes, AGENT + player) ^ stands:
            where = list(min(found))
            raise ValueError(f"position['board'] and position['agents'] disagree at {where} about player {player}")


def _check_bombs(codes: Any, bombs: list[list[int]]) -> None:
    if len(bombs) > MAX_BOMBS:
        raise ValueError(f"position['bombs'] has {len(bombs)} rows; there are at most {MAX_BOMBS}")
    cells = [(r, c) for r, c, *_ in bombs]
    for cell in cells:
        if cells.count(cell) > 1:
            raise ValueError(f"position['bombs']: two bombs lie on {list(cell)}")
        if codes[cell] != BOMB and codes[cell] < AGENT:
            raise ValueError(
                f"position['board'] has {codes[cell]} at {list(cell)}; it must have {BOMB} for the bomb there"
            )
    for cell in _cells_with(codes, BOMB) - set(cells):
        raise ValueError(f"position['board'] shows a bomb at {list(cell)}, which position['bombs'] lacks")


def _check_flames(codes: Any, flames: list[list[int]]) -> None:
    burning = {(row, column) for row, column, _ in flames}
    if wrong := burning ^ _cells_with(codes, FLAME):
        raise ValueError(f"position['board'] and position['flames'] disagree at {list(min(wrong))} about a flame")
    if len({tuple(flame) for flame in flames}) < len(flames):
        raise ValueError("position['flames'] has two flames of one life in one cell")


def _check_items(codes: Any, items: list[list[int]]) -> None:
    if len({(row, column) for row, column, _ in items}) < len(items):
        raise ValueError("position['items'] has two items in one cell")
    for row, column, _ in items:
        if codes[row, column] not in (WOOD, FLAME):
            raise ValueError(f"position['items']: [{row}, {column}] is neither wood nor fire, which hide items")
