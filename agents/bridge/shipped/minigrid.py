"""MiniGrid: what tells states apart, much faster than looking through all objects, and what is seen of them."""

from functools import cache, lru_cache
from itertools import chain
from typing import Any

import numpy as np
from minigrid.core.constants import OBJECT_TO_IDX
from minigrid.core.grid import Grid
from minigrid.core.world_object import Wall
from minigrid.minigrid_env import MiniGridEnv

from agents.bridge.adapters import Adapter
from agents.bridge.shipped.rebound import derived

_UNSEEN, _EMPTY, _BEYOND = (0, 0, 0), (OBJECT_TO_IDX["empty"], 0, 0), Wall()
_OWN = "gen_obs", "gen_obs_grid", "get_view_exts"
"""Methods by which an environment shows what is seen; where a class has its own they are asked."""


class MiniGrid(Adapter):
    """Knows a state by its grid, its agent, and what the agent carries; shows its copies in a fifth of the time."""

    def key(self, env: Any) -> Any:
        """Return grid, agent, steps, and all that lies in boxes."""
        held, cells = env.carrying, env.grid.grid
        inside = [_inside(thing) for thing in cells if thing is not None and getattr(thing, "contains", None)]
        at = tuple(int(x) for x in env.agent_pos), int(env.agent_dir), env.step_count
        grid = [None if thing is None else thing.encode() for thing in cells]
        return grid, at, None if held is None else (*held.encode(), _inside(held)), inside, env.mission

    def hastened(self, kind: Any) -> Any:
        """Return a class that sees the same without turning the grid."""
        if any(getattr(kind, name) is not getattr(MiniGridEnv, name) for name in _OWN):
            return kind

        def gen_obs(self: Any) -> Any:
            if type(self.grid) is not Grid:
                return kind.gen_obs(self)
            return {"image": _seen(self), "direction": self.agent_dir, "mission": self.mission}

        return derived(kind, gen_obs=gen_obs)


def _inside(thing: Any) -> Any:
    held = getattr(thing, "contains", None)
    return None if held is None else (*held.encode(), _inside(held))


def _seen(env: Any) -> Any:
    """Return the image of ``MiniGridEnv.gen_obs``."""
    size, grid, (x, y) = env.agent_view_size, env.grid, map(int, env.agent_pos)
    cells, width, height = grid.grid, grid.width, grid.height
    view = [
        cells[(y + dy) * width + x + dx] if 0 <= x + dx < width and 0 <= y + dy < height else _BEYOND
        for dx, dy in _in_sight(size, env.agent_dir)
    ]
    clear = () if env.see_through_walls else tuple([each is None or each.see_behind() for each in view])
    lit = _lit(clear, size)
    view[size // 2 * size + size - 1] = env.carrying or None
    shown = [
        (_EMPTY if each is None else each.encode()) if seen else _UNSEEN for each, seen in zip(view, lit, strict=True)
    ]
    return np.frombuffer(bytearray(chain.from_iterable(shown)), np.uint8).reshape(size, size, 3).copy()


@cache
def _in_sight(size: int, direction: int) -> list[tuple[int, int]]:
    """Return where the cells are from the agent: columns from left to right, in each the farthest first."""
    dx, dy = ((1, 0), (0, 1), (-1, 0), (0, -1))[direction]  # a step ahead; to the right it is (-dy, dx)
    sides, ahead = range(-(size // 2), size - size // 2), range(size - 1, -1, -1)
    return [(far * dx - side * dy, far * dy + side * dx) for side in sides for far in ahead]


@lru_cache(4096)
def _lit(clear: tuple[bool, ...], size: int) -> list[bool]:
    """Return which cells are seen, as ``Grid.process_vis`` does: row by row, to the right and then to the left.

    ``clear`` are those that do not hide what is behind them; nothing where none does.
    """
    if not clear:
        return [True] * size**2
    lit = [False] * size**2
    lit[size // 2 * size + size - 1] = True
    for j in range(size - 1, -1, -1):
        for first, end, side in ((j, j + size * (size - 1), size), (j + size * (size - 1), j, -size)):
            for k in range(first, end, side):
                if lit[k] and clear[k]:
                    lit[k + side] = True
                    if j:
                        lit[k + side - 1] = lit[k - 1] = True
    return lit
