"""What a search asks of its policies, and how a policy says what it needs.

``select``
    ``(options, stream) -> index`` picks among the k actions that are legal now (:class:`Options`). It never sees the
    tree, so it need not care that legality may change between visits.
``simulate``
    ``(functions, work, shared, depth, limit, discount, stream) -> steps`` plays ``work.state`` on for up to ``limit``
    steps, in place, and fills in ``work.values``, the discounted return of each player; what was played goes to
    ``work.played`` from step ``depth`` on.
``backup``
    ``(tree, work, shared, depth, length, column, discount)`` takes the results of a simulation into the tree: a path of
    ``depth`` steps lies in ``work.path_*``, the actions of all ``length`` steps in ``work.played``.
``recommend``
    plain Python: ``(visits[A], values[A], legal[k], stream) -> action``, the move to play after the search.

A policy that keeps statistics of its own says so when it is compiled (:func:`policy`): so many float64 for an edge,
which ``select`` finds in ``options.own`` and ``update`` from ``column`` of the edge on, and so many for the whole tree,
which come in as ``shared``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast

from numba import types

from agents.tree import TREE, WORK
from mcts_envs.core.contract import BYTES, FLOATS, INTS, TABLE, Game
from mcts_envs.core.kernel import kernel, slot
from mcts_envs.core.typing import Floats, Ints

_I8, _F8 = types.int64, types.float64


class Options(NamedTuple):
    """What a player chooses from at a node: k legal actions, and what is known of them. Arrays may be longer than k.

    Attributes
    ----------
    k, player, searcher, depth : int
        How many actions, who chooses, for whom the search is, and how many steps from the root.
    legal : int64 array [k]
    visits : int64 array [k]
    sums, squares : float64 array [k]
        Sums of the returns after each action, and of their squares.
    prior : float64 array [k]
        What the game advises, if the policy asks for it.
    own : float64 array [k * W]
        The statistics that the policy keeps for each action.
    shared : float64 array
        Those that it keeps for the tree.
    c : float
        Exploration constant in units of return.
    fpu : float
        First-play urgency: what an action without a visit counts; NaN where all are to be tried first.
    bias : float
        Weight of a progressive bias, for policies that have one.
    """

    k: int
    player: int
    searcher: int
    depth: int
    legal: Ints
    visits: Ints
    sums: Floats
    squares: Floats
    prior: Floats
    own: Floats
    shared: Floats
    c: float
    fpu: float
    bias: float = 0.0


OPTIONS = types.NamedTuple((*[_I8] * 4, INTS, INTS, *[FLOATS] * 5, *[_F8] * 3), Options)

SELECT = _I8(OPTIONS, BYTES)
SIMULATE = _I8(TABLE, WORK, FLOATS, _I8, _I8, _F8, BYTES)
BACKUP = types.void(TREE, WORK, FLOATS, _I8, _I8, _I8, _F8)

SIGNATURES = {
    "select": SELECT,
    "simulate": SIMULATE,
    "backup": BACKUP,
    "update_select": BACKUP,
    "update_simulate": BACKUP,
}

select_of, simulate_of, backup_of, update_select_of, update_simulate_of = (
    slot(index, SIGNATURES[name], __name__, f"{name}_of") for index, name in enumerate(SIGNATURES)
)

Function = TypeVar("Function", bound=Callable[..., Any])


def _nothing(game: Game) -> int:
    return 0


@dataclass(frozen=True)
class Needs:
    """What a policy needs beside the statistics that every search keeps.

    Attributes
    ----------
    edge : int
        How many float64 of its own it keeps for every edge.
    tree : callable
        ``game -> int``: how many it keeps for the whole tree.
    update : kernel, optional
        Of signature ``BACKUP``; runs after every backup, to keep these statistics.
    prior : bool
        Whether ``select`` wants what the game advises in ``prior``.
    c : float
        Exploration constant, unless the user gives one.
    normalize : bool
        Whether the constant counts in ranges of the returns seen, unless the user says.
    bias : float, optional
        Weight of the policy's progressive bias, unless the user gives one; None: it has none.
    """

    edge: int = 0
    tree: Callable[[Game], int] = _nothing
    update: Any = None
    prior: bool = False
    c: float = 0.5
    normalize: bool = True
    bias: float | None = None


def policy(signature: Any, **needs: Any) -> Callable[[Function], Function]:
    """Compile a policy with one of the signatures above, and note what it needs (:class:`Needs`)."""

    def decorate(function: Function) -> Function:
        compiled = kernel(signature)(function)
        cast(Any, compiled).needs = Needs(**needs)
        return compiled

    return decorate


def needs_of(given: Any) -> Needs:
    """Return what a policy needs; nothing for one that was compiled without :func:`policy`."""
    return cast(Needs, getattr(given, "needs", Needs()))
