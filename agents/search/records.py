"""The records that compiled search and policies share, and how a record is declared once for Python and for Numba."""

from ctypes import addressof, c_char
from dataclasses import make_dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias, get_type_hints

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core.config import DISABLE_JIT

from mcts_envs.core.contract import BYTES, FLOATS, INTS, Game
from mcts_envs.core.kernel import kernel, record_dtype, row
from mcts_envs.core.typing import Bytes, Floats, Ints

Int32s: TypeAlias = npt.NDArray[np.int32]
Rows: TypeAlias = Any
"""Records one after another: in bytes, or as objects for an interpreted search; compiled code is given their address,
which is one word to hand on where an array is seven."""
Int32Grid: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int32]]
FloatGrid: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]

_TYPES: dict[Any, Any] = {
    int: types.int64,
    float: types.float64,
    bool: types.boolean,
    Bytes: BYTES,
    Ints: INTS,
    Floats: FLOATS,
    Int32s: types.int32[::1],
    Int32Grid: types.int32[:, ::1],
    FloatGrid: types.float64[:, ::1],
    Rows: types.int64,
}


def numba_type(declared: type) -> Any:
    """Return the compiled type of a NamedTuple whose fields are numbers, arrays or other such records."""
    kinds = get_type_hints(declared).values()
    return types.NamedTuple(tuple(_TYPES[kind] if kind in _TYPES else numba_type(kind) for kind in kinds), declared)


def compiled(record: Any) -> Any:
    """Return a NamedTuple as compiled code takes it, with addresses for rows; the record has to outlive it.

    As it is where nothing is compiled (``NUMBA_DISABLE_JIT``).
    """
    if DISABLE_JIT:
        return record
    given = list(record)
    kind: Any = type(record)
    for place in _places_of_rows(kind):
        given[place] = addressof(c_char.from_buffer(given[place]))  # a quarter of the time of __array_interface__
    return record._make(given)


@cache
def _places_of_rows(declared: Any) -> list[int]:
    return [place for place, kind in enumerate(get_type_hints(declared).values()) if kind is Rows]


def record_type(**fields: str) -> Any:
    """Return the type of a record that lies in bytes: names and NumPy kinds of its fields.

    Raises
    ------
    ValueError
        If a field bears a name that NumPy's record has for itself: interpreted code would read that.
    """
    for name in fields:
        if hasattr(np.recarray, name):
            raise ValueError(f"a record cannot have a field named {name!r}: np.record has it; rename the field")
    return record_dtype(fields.items())


def rows(kind: Any, values: list[tuple[Any, ...]], plain: bool) -> Rows:
    """Return records with these values, in bytes or, for an interpreted search, as objects."""
    if not plain:
        return np.array(values, kind).view(np.uint8)
    return [_class_of(kind)(*given) for given in values]


def objects(kind: Any, count: int) -> list[Any]:
    """Return records as objects: what an interpreted search works with, many times as fast as views of bytes."""
    made = _class_of(kind)
    return [made() for _ in range(count)]


@cache
def _class_of(kind: Any) -> Any:
    return make_dataclass("Record", [(name, Any, 0) for name in kind.names], slots=True, eq=False)


class Settings(NamedTuple):
    """Search parameters passed to the kernel.

    Attributes
    ----------
    player : int
        Who searches.
    determinize_for, key_for : int
        For whom a simulation redraws what cannot be known, and whose key tells the outcomes of actions apart: a player;
        -1: one who knows all but future chance. ``key_for`` -2: nobody tells any apart (open loop).
    opponents : int
        What the other players do in the tree, see :mod:`agents.policies.opponents`.
    tree_depth, horizon : int
        Steps from the root at which the tree ends, and at which simulations are cut off and evaluated.
    rollout_depth : int
        Steps after which a rollout is cut off and evaluated.
    discount : float
    common_chance : bool
        Whether each pass over given first actions lets them share the chance of game and rollouts (common random
        numbers).
    relative : bool
        Whether ``evaluate`` counts as its change since the root.
    prior, worth : bool
        Whether ``select`` wants what the game advises, and what it says that the state is worth.
    waits : int
        Where compiled code notes that it has asked a network and waits for the answer: the address of a record
        QUESTIONS (:mod:`agents.evaluator.consult`); 0 where it never waits.
    custom_backup : bool
        Whether policies keep statistics of their own, or the backup is another one than the mean.
    redraws : bool
        Whether ``select`` decides where chance comes from.
    option_steps : int
        Steps that an action in the tree lasts at most, with those of the option that it begins; 1: no options.
    """

    player: int
    determinize_for: int
    key_for: int
    opponents: int
    tree_depth: int
    horizon: int
    rollout_depth: int
    discount: float
    common_chance: bool
    relative: bool
    prior: bool
    worth: bool
    waits: int
    custom_backup: bool
    redraws: bool
    option_steps: int


class Store(NamedTuple):
    """What a policy keeps between simulations, and what it was given.

    Attributes
    ----------
    per_edge : float64 array [E, W]
        W statistics of its own for each edge of the tree.
    per_tree : float64 array
        Those that it keeps for the whole tree.
    parameters : a record of its parameters, as bytes
    """

    per_edge: FloatGrid
    per_tree: Floats
    parameters: Bytes


class Work(NamedTuple):
    """Work arrays of one simulation, for A actions, P players, and up to L steps."""

    state: Bytes  # [size]
    stream: Bytes  # [32] the chance of selection and rollouts
    legal: Ints  # [A] legal actions of the player who chooses
    weights: Floats  # [A] what the game advises, by action
    actions: Ints  # [P]
    rewards: Floats  # [P]
    values: Floats  # [P] returns from the end of the path on
    base: Floats  # [P] what evaluate is counted from: its values at the root, or 0
    played: Int32Grid  # [L + 1, P] action of each player, in the tree and after it; -1: not asked


CANDIDATE = record_type(action="i4", edge="i4", visits="i8", sums="f8", prior="f8")
"""A legal action: its edge (0: none), visits, the sum of the returns after it, and what the game advises."""

STEP = record_type(edge="i4", reward="f8", value="f8")
"""What a step of a path was for one player: the edge chosen (0: none), the reward, and the return from there on."""


class Path(NamedTuple):
    """The way of a simulation through the tree, for A actions, P players and up to D steps."""

    nodes: Int32s  # [D + 1]
    steps: Rows  # [(D + 1) * P] records of STEP
    via: Int32s  # [P] the edge that each player chooses in this step; 0: none
    candidates: Rows  # [A] records of CANDIDATE: what the player who chooses may do
    place_of: Int32s  # [A] where an action stands among the candidates, if it is one


SETTINGS, STORE, WORK, PATH = (numba_type(declared) for declared in (Settings, Store, Work, Path))


@kernel()
def step_of_path(path: Path, depth: int, player: int) -> Any:
    """Return what a step of a path was for one player."""
    return row(path.steps, depth * len(path.via) + player, STEP)


@kernel()
def chooses(to_move: int, player: int) -> bool:
    """Return whether a player is among those who choose now."""
    return to_move >> player & 1 != 0


@kernel()
def several(to_move: int) -> bool:
    """Return whether more than one player choose now."""
    return to_move & (to_move - 1) != 0


def new_work(game: Game, stream: Bytes, length: int, *, plain: bool = False) -> Work:
    """Return work arrays for simulations of up to ``length`` steps.

    Parameters
    ----------
    game : Game
    stream : uint8 array
    length : int
    plain : bool
        Whether they are for an interpreted search: lists, which it reads faster than arrays.
    """
    a, p = game.actions, game.players
    sizes = {"legal": a, "weights": a, "actions": p, "rewards": p, "values": p, "base": p}
    whole = ("legal", "actions")
    arrays: Any = {name: np.zeros(size, np.int64 if name in whole else np.float64) for name, size in sizes.items()}
    if plain:
        arrays = {name: array.tolist() for name, array in arrays.items()}
    return Work(state=game.new_state(), stream=stream, played=np.zeros((length + 1, p), np.int32), **arrays)


def new_path(game: Game, depth: int, *, plain: bool = False) -> Path:
    """Return a path of up to ``depth`` steps; ``plain`` as for :func:`new_work`."""
    made: Any = objects if plain else lambda kind, size: np.zeros(size * kind.itemsize, np.uint8)
    ints: Any = (lambda size: [0] * size) if plain else lambda size: np.zeros(size, np.int32)
    return Path(
        nodes=ints(depth + 1),
        steps=made(STEP, (depth + 1) * game.players),
        via=ints(game.players),
        candidates=made(CANDIDATE, game.actions),
        place_of=ints(game.actions),
    )
