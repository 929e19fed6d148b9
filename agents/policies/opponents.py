"""What the other players do while one searches: fixed policies instead of statistics of their own.

With random opponents this is the planning of D. Perez-Liebana et al., "Analysis of Statistical Forward Planning Methods
in Pommerman" (2019); a better model of them makes a better plan.

A plan against a model fails against others. ``MIXED`` opponents follow the model in half of their decisions and search
in the other half: the restricted game of M. Johanson, M. Zinkevich, M. Bowling, "Computing robust counter-strategies"
(2007), which trades what a model gives away for safety. Their choices tell no nodes apart, so that the tree is as deep
as with a model alone.
"""

from typing import Any

from agents.search.records import Work
from mcts_envs.core import errors
from mcts_envs.core.compiling.table import advise_of, legal_of
from mcts_envs.core.contract import ADVISE, SIGNATURES, Game
from mcts_envs.core.kernel import function_table, kernel, slot
from mcts_envs.core.rng import below, choose_among, uniform

IN_TREE, UNIFORM, ADVISED, MIXED = range(4)
"""What the others do: search as the player does, each with statistics of its own; choose uniformly among the legal
actions; follow the game's ``advise``; now this, now the first."""

OPPONENTS = {None: IN_TREE, "uniform": UNIFORM, "advised": ADVISED, "mixed": MIXED}
"""The same by the names that agents take."""

MODELLED = 0.5
"""The share of the decisions of mixed opponents that follow the advice."""

INFORMATION = ("own", "full")
"""What a planner is told: what its player knows, or the whole state but chance to come."""

_OTHERS = len(SIGNATURES)
_SIGNATURES = {**SIGNATURES, "others": ADVISE}

others_of = slot(_OTHERS, ADVISE, __name__, "others_of")


def read_opponents(opponents: Any, model: Any, known: Any = tuple(OPPONENTS)) -> tuple[str | None, str | None]:
    """Return the settings ``opponents``, one of the names known, and ``opponent_model``.

    Raises
    ------
    ValueError, TypeError
        If they are unknown, or do not go together.
    """
    if not (opponents is None or isinstance(opponents, str)) or opponents not in known:
        raise ValueError(errors.unknown("opponents", opponents, map(str, known)))
    following = [name for name in ("advised", "mixed") if name in known]
    if model is not None and opponents not in following:
        needed = " or ".join(map(repr, following))
        raise ValueError(f"opponent_model {model!r} says whose advice the others follow; it needs opponents={needed}")
    return opponents, variant_name("opponent_model", model)


def read_information(information: Any) -> str:
    """Return the setting ``information``.

    Raises
    ------
    ValueError
        If it is unknown.
    """
    return errors.choice("information", information, INFORMATION)


def variant_name(name: str, given: Any) -> str | None:
    """Return a setting that names a variant of the game, or None.

    Raises
    ------
    TypeError
        If it is no name.
    """
    if given is not None and (not isinstance(given, str) or not given):
        raise TypeError(f"{name} {given!r} is no name of a variant of the game")
    return given


def table_with(game: Game, others: Game) -> Any:
    """Return the function table of a game in which all but the searching player follow another's ``advise``."""
    kernels = {name: getattr(game, name) for name in SIGNATURES}
    return function_table({**kernels, "others": others.advise}, _SIGNATURES)


@kernel()
def ask(game: Any, work: Work, player: int, searching: bool) -> None:
    """Fill in ``work.weights`` with the advice that a player follows: who searches, or one of the others."""
    if not searching and len(game) > _OTHERS:
        others_of(game)(work.state, player, work.weights)
    else:
        advise_of(game)(work.state, player, work.weights)


@kernel()
def searches(player: int, searching: int, opponents: int, stream: Any) -> bool:
    """Return whether a player selects by the statistics of the tree, rather than being drawn for."""
    if player == searching or opponents == IN_TREE:
        return True
    return opponents == MIXED and uniform(stream) >= MODELLED


@kernel()
def draw_action(game: Any, work: Work, player: int, opponents: int) -> int:
    """Return the action of a player who does not search."""
    k = legal_of(game)(work.state, player, work.legal)
    if opponents == UNIFORM:
        return int(work.legal[below(work.stream, k)])
    ask(game, work, player, False)
    return choose_among(work.stream, work.weights, work.legal, k)
