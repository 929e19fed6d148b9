"""What a search asks of its policies, and how a policy says what it needs.

``select``
    ``(candidates, store, stream) -> index`` picks among the k actions that are legal now (:class:`Candidates`). It
    never sees the tree, so it need not care that legality may change between visits.
``noise``
    ``(candidates, store, stream)`` varies the statistics of players who choose at the same time, before ``select``.
``simulate``
    ``(game, how, work, store, player, k) -> action`` chooses one of the first k of ``work.legal`` in a rollout
    (:mod:`agents.search.rollout`), with the chance of ``work.stream``.
``backup``
    ``(tree, how, work, path, depth, length)`` takes the results of a simulation into the tree: a path of ``depth``
    steps, the actions of all ``length`` steps in ``work.played``.
``option``
    ``(game, work, player, action, k) -> action`` goes on with what the searching player began by an action in the tree:
    one of the first k of ``work.legal``, or -1 at its end (:mod:`agents.policies.options`).
``recommend``
    plain Python: ``(visits[A], values[A], legal[k], stream) -> action``, the move to play after the search. One that
    takes a fifth argument is given the search too (:class:`agents.search.running.Search`).

A policy says beside itself (:func:`policy`) which parameters it has, and how many float64 it keeps for an edge and for
the whole tree. Its :class:`agents.search.records.Store` holds them; ``update`` keeps them up to date. Where a search
waits for a network, simulations are dropped and made again (:mod:`agents.search.speculation`): their edges may be there
without a visit, and what ``select`` noted on the way has to be noted again.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, cast

from numba import types

from agents.policies.parameters import Parameter
from agents.search.records import CANDIDATE, PATH, SETTINGS, STORE, WORK, Rows, numba_type
from agents.search.rollout import ROLLOUT, rollout_with
from agents.search.tree import TREE
from mcts_envs.core.compiling.table import TABLE
from mcts_envs.core.contract import BYTES, Game
from mcts_envs.core.kernel import kernel, row, slot

_I8 = types.int64


class Candidates(NamedTuple):
    """What a player chooses from at a node: k legal actions, and what is known of them.

    Attributes
    ----------
    k, actions : int
        How many actions are legal, and how many the game has.
    player, depth : int
        Who chooses, and how many steps from the root.
    searching : bool
        Whether the search is for this player.
    low, high : float
        Least and greatest return of this player so far; ``low > high`` before the first.
    worth : float
        What ``evaluate`` says that the state is worth to the player, if the policy asks for it.
    rows : k records
        ``nth(candidates, i)`` has ``action``, ``visits``, ``sums`` of the returns, ``prior`` (what the
        game advises, if the policy asks for it), and ``edge``, by which a policy finds its own statistics:
        ``store.per_edge[edge]``; 0 without a visit.
    """

    k: int
    actions: int
    player: int
    depth: int
    searching: bool
    low: float
    high: float
    worth: float
    rows: Rows


CANDIDATES = numba_type(Candidates)


@kernel()
def nth(candidates: Candidates, i: int) -> Any:
    """Return one of the candidates."""
    return row(candidates.rows, i, CANDIDATE)


SELECT = _I8(CANDIDATES, STORE, BYTES)
NOISE = types.void(CANDIDATES, STORE, BYTES)
SIMULATE = ROLLOUT
BACKUP = types.void(TREE, SETTINGS, WORK, PATH, _I8, _I8)
LEAF = types.void(TABLE, WORK, STORE)
REDRAW = types.void(TREE, WORK, PATH, _I8)
OPTION = _I8(TABLE, WORK, _I8, _I8, _I8)

SIGNATURES = {
    "select": SELECT,
    "noise": NOISE,
    "simulate": SIMULATE,
    "backup": BACKUP,
    "update_select": BACKUP,
    "update_simulate": BACKUP,
    "leaf": LEAF,
    "redraw": REDRAW,
    "option": OPTION,
}

(
    select_of,
    noise_of,
    simulate_of,
    backup_of,
    update_select_of,
    update_simulate_of,
    leaf_of,
    redraw_of,
    option_of,
) = (slot(index, SIGNATURES[name], __name__, f"{name}_of") for index, name in enumerate(SIGNATURES))

FORMS = {
    "select": ("candidates, store, stream", "nth(candidates, i) is what is known of an action, store what it keeps"),
    "noise": ("candidates, store, stream", "nth(candidates, i) is what is known of an action, store what it keeps"),
    "simulate": ("game, how, work, store, player, k", "it returns one action; agents/search/rollout.py has the loop"),
    "backup": ("tree, how, work, path, depth, length", "step_of_path(path, t, player) is a step of the simulation"),
    "leaf": ("game, work, store", "work.state is the state at the end of a path, store what the policy keeps"),
    "redraw": ("tree, work, path, depth", "it may seed the stream of work.state, from which the step draws"),
    "option": ("game, work, player, action, k", "it returns one of the first k of work.legal, or -1 at its end"),
}
"""What each kind of policy takes, and what to know of it."""


def check_form(kind: str, given: Any) -> None:
    """Refuse a policy that takes other arguments than its kind does: Numba would say so late, and in many lines.

    Raises
    ------
    TypeError
    """
    wanted, known = FORMS[kind]
    taken = [*inspect.signature(getattr(given, "py_func", given)).parameters]
    if len(taken) != wanted.count(",") + 1:
        raise TypeError(
            f"{given.__name__}({', '.join(taken)}) is no {kind} policy: that takes ({wanted}) now, where {known}; "
            "agents/policies/signatures.py explains them"
        )


Function = TypeVar("Function", bound=Callable[..., Any])


@kernel(BACKUP)
def nothing(tree: Any, how: Any, work: Any, path: Any, depth: int, length: int) -> None:
    """The update of a policy that keeps no statistics."""


@kernel(LEAF)
def unseen(game: Any, work: Any, store: Any) -> None:
    """What a policy does at the end of a path which does not ask for it."""


@kernel(REDRAW)
def as_it_falls(tree: Any, work: Any, path: Any, depth: int) -> None:
    """Let every step draw anew what chance decides."""


def _none(game: Game) -> int:
    return 0


@dataclass(frozen=True)
class Needs:
    """What a policy needs beside the statistics that every search keeps.

    Attributes
    ----------
    parameters : mapping
        Its parameters by name.
    edge : int or callable
        How many float64 of its own it keeps for every edge; ``game -> int`` where that depends on the game.
    tree : callable
        ``game -> int``: how many it keeps for the whole tree.
    lasting : bool
        Whether those of the whole tree go on to the search of the next move, with ``reuse``.
    update : kernel
        Of signature ``BACKUP``; runs after every backup, to keep the statistics of a ``select`` or ``simulate``. A
        ``backup`` keeps its own; a ``noise`` has none.
    prior : bool
        Whether it asks what the game advises; a ``select`` finds that in ``prior``.
    worth : bool
        Whether ``select`` asks what the state is worth, which it finds in ``candidates.worth``.
    leaf : kernel
        ``(game, work, store)``: what a ``select`` with an ``update`` does with the state at the end of a path, before
        the rollout; also at the end of one that is dropped.
    redraw : kernel
        ``(tree, work, path, depth)``: decides before a step in a closed loop from which seed the state draws chance
        (``work.actions`` by ``path.via``). After the step the state draws as if it had not.
    certain : bool
        Whether it is wrong where chance decides or something is hidden, so that searches there are refused.
    """

    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    edge: int | Callable[[Game], int] = 0
    tree: Callable[[Game], int] = _none
    lasting: bool = True
    update: Any = nothing
    prior: bool = False
    worth: bool = False
    leaf: Any = unseen
    redraw: Any = as_it_falls
    certain: bool = False


def policy(signature: Any, **needs: Any) -> Callable[[Function], Function]:
    """Compile a policy with one of the signatures above, and note what it needs (:class:`Needs`).

    A policy for rollouts, ``SIMULATE``, is compiled into the loop of :mod:`agents.search.rollout`.
    """

    def decorate(function: Function) -> Function:
        declared = Needs(**needs)
        if signature is NOISE and {"edge", "tree", "update"} & {*needs}:
            raise TypeError(f"{function.__name__} is noise, which keeps no statistics; leave out edge, tree and update")
        if signature is BACKUP and declared.update is not nothing:
            raise TypeError(f"{function.__name__} is a backup, which keeps its statistics itself; leave out update")
        if declared.leaf is not unseen and (signature is not SELECT or declared.update is nothing):
            raise TypeError(
                f"{function.__name__}: leaf is for a select that has an update, which takes in what it notes"
            )
        if (declared.certain or declared.redraw is not as_it_falls) and signature is not SELECT:
            raise TypeError(f"{function.__name__}: certain and redraw are for a select")
        check_form(next(kind for kind, known in SIGNATURES.items() if known is signature), function)
        if declared.parameters:
            listed = "\n".join(f"    {p.described(name)}" for name, p in declared.parameters.items())
            function.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\n    Parameters\n    ----------\n{listed}\n    "
        compiled = rollout_with(kernel()(function)) if signature is SIMULATE else kernel(signature)(function)
        cast(Any, compiled).needs = declared
        return cast(Function, compiled)

    return decorate


def needs_of(given: Any) -> Needs:
    """Return what a policy needs; nothing for one that was compiled without :func:`policy`."""
    return cast(Needs, getattr(given, "needs", Needs()))
