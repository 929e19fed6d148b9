"""Exact values of 3x3 lane defense, by value iteration over all boards: how likely the best player survives."""

import itertools
from collections.abc import Iterator
from functools import cached_property, reduce
from typing import Any

import numpy as np

import mcts_envs
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import record
from mcts_envs.games.lane_defense.rules.classic import EMPTY, NORMAL, PLANT, STATE, STRONG, WEAKENED

Lane = tuple[int, ...]
LANES: tuple[Lane, ...] = tuple(itertools.product((EMPTY, PLANT), *2 * [(EMPTY, PLANT, NORMAL, STRONG, WEAKENED)]))
"""All that three cells may hold while the game goes on, from the house on; a board is three of their numbers."""

_NUMBER = {lane: number for number, lane in enumerate(LANES)}
WAIT = 9
_ENOUGH = 1e-12


def game_of() -> Game:
    """Return the game."""
    game: Game = mcts_envs.make_vec("LaneDefense3x3-v0", 1).unwrapped.game
    return game


class Survival:
    """What positions and moves of a game on 3x3 are worth: the chance to win, from then on played best.

    It follows the rules by its own code, phase by phase, and reads only their constants from the game.
    """

    def __init__(self, game: Game) -> None:
        s = record(game.template, STATE)
        self.night = int(s.night)
        self._p_plant, self._p_move, self._p_new = float(s.p_plant), float(s.p_move), float(s.p_new)

    @cached_property
    def waiting(self) -> list[np.ndarray]:
        """By step, the last for all from the end of the night on: what boards are worth once a plant is down, or not.

        Arrays of (50, 50, 50), a lane an axis.
        """
        worth = np.zeros(3 * (len(LANES),))
        while True:
            after = self._played(self.night, self._decided(worth))
            if np.abs(after - worth).max() < _ENOUGH:
                break
            worth = after
        found = [after]
        for t in reversed(range(self.night)):
            found.append(self._played(t, self._decided(found[-1])))
        return found[::-1]

    def start(self, first_plant_guaranteed: bool = True) -> float:
        """Return what the best player wins from the start: one zombie enters, then the first decision."""
        lanes, waiting = (_NUMBER[0, 0, NORMAL], _NUMBER[0, 0, STRONG]), self.waiting[0]
        with_plant = _planted(waiting)
        places = [tuple(lane if i == at else 0 for i in range(3)) for at in range(3) for lane in lanes]
        best = float(np.mean([max(with_plant[place], waiting[place]) for place in places]))
        bare = float(np.mean([waiting[place] for place in places]))
        return best if first_plant_guaranteed else self._p_plant * best + (1.0 - self._p_plant) * bare

    def moves(self, position: dict[str, Any]) -> dict[int, float]:
        """Return what each legal action of a position is worth."""
        waiting = self.waiting[min(position["t"], self.night)]
        cells = tuple(position["board"])
        found = {WAIT: float(waiting[_numbers(cells)])}
        for cell in range(9) if position["can_plant"] else ():
            if cells[cell] == EMPTY:
                found[cell] = float(waiting[_numbers(_put(cells, cell, PLANT))])
        return dict(sorted(found.items()))

    def _decided(self, waiting: np.ndarray) -> np.ndarray:
        """Return what boards are worth before it is known whether there is a plant."""
        return self._p_plant * np.maximum(_planted(waiting), waiting) + (1.0 - self._p_plant) * waiting

    def _played(self, t: int, later: np.ndarray) -> np.ndarray:
        """Return what boards are worth before the zombies' part of a step, by what they are worth after it."""
        entered = np.where(_CLEAR, 1.0, later) if t >= self.night else self._entered(later)
        shot = np.ix_(_SHOT, _SHOT, _SHOT)
        moved = np.where(_LOST, 0.0, entered[np.ix_(_MOVED, _MOVED, _MOVED)])
        return (self._p_move * moved + (1.0 - self._p_move) * entered)[shot]

    def _entered(self, later: np.ndarray) -> np.ndarray:
        """Return what boards are worth before a zombie may enter, in one of the lanes that are open."""
        came, count = np.zeros_like(later), np.zeros_like(later)
        for axis in range(3):
            open_lanes = _along(axis, _OPEN)
            came += open_lanes * 0.5 * (later.take(_NORMAL_CAME, axis) + later.take(_STRONG_CAME, axis))
            count += open_lanes
        return np.where(count > 0, (1.0 - self._p_new) * later + self._p_new * came / np.maximum(count, 1), later)


def played(survival: Survival, game: Game, rng: np.random.Generator, mistakes: float = 0.2) -> Iterator[dict[str, Any]]:
    """Yield the positions of a game in which moves are best ones, but for some that are drawn uniformly."""
    state, rewards = game.new_state(), np.zeros(1)
    game.reset(state, np.uint64(rng.integers(2**63)))
    while game.active(state):
        at = dict(game.position(state))
        yield at
        moves = survival.moves(at)
        careless = rng.random() < mistakes
        action = rng.choice([*moves]) if careless else max(moves, key=lambda move: moves[move])
        game.step(state, np.full(1, action), rewards)


def _planted(waiting: np.ndarray) -> np.ndarray:
    """Return what boards are worth with one more plant, where it does most; less than anything where all is full."""
    best = np.full_like(waiting, -1.0)
    for axis in range(3):
        for fits, put in _PLANTS:
            best = np.maximum(best, np.where(_along(axis, fits), waiting.take(put, axis), -1.0))
    return best


def _along(axis: int, of_lanes: np.ndarray) -> np.ndarray:
    """Return what is known of a lane as an array that goes with those of boards."""
    return np.expand_dims(of_lanes, tuple(other for other in range(3) if other != axis))


def _numbers(cells: Lane) -> tuple[int, int, int]:
    return _NUMBER[cells[:3]], _NUMBER[cells[3:6]], _NUMBER[cells[6:]]


def _shot(lane: Lane) -> Lane:
    """A lane hits its leftmost zombie once, if that is right of its leftmost plant."""
    target = next((column for column in range(3) if lane[column] >= NORMAL), None)
    if target is None or PLANT not in lane[:target]:
        return lane
    return _put(lane, target, WEAKENED if lane[target] == STRONG else EMPTY)


def _moved(lane: Lane) -> Lane:
    """All zombies walk one cell to the left; plants in their way are eaten."""
    kept = [kind if kind == PLANT else EMPTY for kind in lane]
    for column in range(1, 3):
        if lane[column] >= NORMAL:
            kept[column - 1] = lane[column]
    return tuple(kept)


def _put(lane: Lane, column: int, kind: int) -> Lane:
    return (*lane[:column], kind, *lane[column + 1 :])


_SHOT = np.array([_NUMBER[_shot(lane)] for lane in LANES])
_BREACHED = np.array([_moved(lane)[0] >= NORMAL for lane in LANES])
_MOVED = np.array([_NUMBER.get(_moved(lane), 0) for lane in LANES])
_OPEN = np.array([lane[2] < NORMAL for lane in LANES])
_NORMAL_CAME, _STRONG_CAME = (np.array([_NUMBER[_put(lane, 2, kind)] for lane in LANES]) for kind in (NORMAL, STRONG))
_PLANTS = [
    (
        np.array([lane[column] == EMPTY for lane in LANES]),
        np.array([_NUMBER[_put(lane, column, PLANT)] for lane in LANES]),
    )
    for column in range(3)
]
"""By column: in which lanes there is room for a plant, and what they are with it."""

_FREE = np.array([max(lane) < NORMAL for lane in LANES])
_LOST = reduce(np.logical_or, [_along(axis, _BREACHED) for axis in range(3)])
_CLEAR = reduce(np.logical_and, [_along(axis, _FREE) for axis in range(3)])
