"""What a game is. READ THIS FIRST.

A game is a handful of kernels with fixed signatures over a *state*: one flat ``uint8`` array whose size is a multiple
of 8. The state holds everything: the random stream (its first 32 bytes, see :mod:`mcts_envs.core.rng`), the settings,
the clock, the board. Copying its bytes copies the game.

A game must bring ``reset``, ``active``, ``legal``, ``step`` and ``status``; everything else has a default, in
:mod:`mcts_envs.core.defaults`. In the signatures below P is the number of players and A the number of actions.

=============  ==================================================  ====================================================
function       signature                                           what it does
=============  ==================================================  ====================================================
reset          (state, seed)                                       first state, its random stream started by
                                                                   ``seed_stream(state, seed)``; the settings already
                                                                   lie in the state
active         (state) -> bits                                     who must choose now; several bits: simultaneously;
                                                                   0: the game is over
legal          (state, player, actions[A]) -> count                fills in the legal actions of an active player; at
                                                                   least one
step           (state, actions[P], rewards[P])                     one tick or one decision, in place; sets all rewards,
                                                                   and reads the actions of active players alone. Any
                                                                   action in range is accepted: an illegal one has
                                                                   an effect that the game documents. After the end: no
                                                                   effect, no reward
status         (state, player) -> RUNNING, TERMINATED, TRUNCATED   whether the game is over for that player
outcome        (state, points[P])                                  at the end: 1 won, 0 lost, between for a tie or rank;
                                                                   ``points`` comes in with the last rewards
key            (state, observer) -> uint64                         hash of what that player knows (-1: everything but
                                                                   future chance)
determinize    (state, observer, seed)                             redraws all that the observer cannot know, and
                                                                   empties the queue of forced dice
evaluate       (state, values[P])                                  heuristic value of an unfinished state
advise         (state, player, weights[A])                         non-negative preferences over actions (scripted play,
                                                                   guided rollouts)
observe        (state, player, out[n])                             observation as float32
=============  ==================================================  ====================================================

The laws that these functions keep are in :mod:`mcts_envs.core.laws`.
"""

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numba import types

from mcts_envs.core import errors
from mcts_envs.core.compiling.portable import Portable
from mcts_envs.core.compiling.signatures import (
    ACTIVE,
    ADVISE,
    BYTES,
    DETERMINIZE,
    EVALUATE,
    FLOATS,
    INTS,
    KEY,
    LEGAL,
    OBSERVE,
    OUTCOME,
    RESET,
    SIGNATURES,
    SINGLES,
    STATUS,
    STEP,
)
from mcts_envs.core.defaults import (
    default_advise,
    default_determinize,
    default_evaluate,
    default_key,
    default_observe,
    default_outcome,
)
from mcts_envs.core.kernel import function_table, interpreted, record_dtype
from mcts_envs.core.rng import CHANCE, CHANCE_BYTES, CHANCE_FIELDS
from mcts_envs.core.typing import Bytes, Symmetries

if TYPE_CHECKING:
    from mcts_envs.core.render import Canvas

__all__ = [
    "ACTIVE",
    "ADVISE",
    "BYTES",
    "DETERMINIZE",
    "EVALUATE",
    "EVERYTHING",
    "FLOATS",
    "INTS",
    "KEY",
    "LAYOUT",
    "LEGAL",
    "OBSERVE",
    "OUTCOME",
    "RESET",
    "RUNNING",
    "SIGNATURES",
    "SINGLES",
    "STATUS",
    "STEP",
    "TERMINATED",
    "TRUNCATED",
    "Game",
    "Kernel",
    "blank",
    "state_dtype",
    "types",
]

_MOST_PLAYERS, _MOST_ACTIONS = 63, 2**31 - 1
"""One bit for each player in what ``active`` returns, and none for its sign."""

RUNNING, TERMINATED, TRUNCATED = 0, 1, 2
"""Values of ``status``."""

EVERYTHING = -1
"""The observer who knows all but future chance."""

LAYOUT = 1
"""Version of what all states and their snapshots have in common: those of another one are refused."""


def state_dtype(layout: list[Any]) -> Any:
    """Return the aligned record type of a state: the chance header, then the fields of the game.

    Scalars may be as narrow as fits (``"u1"``, ``"i2"``): reading them gives 64-bit integers, so that rules need no
    casts. Elements of arrays keep their type: write ``np.int64(s.cells[cell])`` before computing with them.

    Raises
    ------
    ValueError
        If a field bears a name that NumPy's record has for itself: compiled code would read the field and interpreted
        code the method. Or one of the chance header's.
    """
    taken = [name for name, *_ in CHANCE_FIELDS]
    for name, *_ in layout:
        if name in taken:
            raise ValueError(f"a state cannot have a field named {name!r}: its chance header has it; rename the field")
        if hasattr(np.recarray, name) or hasattr(np.record, name):
            raise ValueError(f"a state cannot have a field named {name!r}: np.record has it; rename the field")
    return record_dtype([*CHANCE_FIELDS, *layout])


def blank(dtype: Any, extra: int = 0) -> Bytes:
    """Return a zeroed state for a record type, followed by ``extra`` bytes, rounded up to a multiple of 8.

    Raises
    ------
    TypeError
        If the type is not of :func:`state_dtype`: the random stream would lie upon fields of the game.
    """
    if not isinstance(dtype, np.dtype) or (dtype.names or ())[: len(CHANCE_FIELDS)] != CHANCE.names:
        raise TypeError(f"blank makes a state of what state_dtype([...]) gives, not of {dtype!r}")
    return np.zeros(-(-(dtype.itemsize + extra) // 8) * 8, np.uint8)


Kernel = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Game(Portable):
    """A game with its settings: the kernels of the contract, and what people need beside them.

    Parameters
    ----------
    name : str
        Name of the game, without the board.
    players, actions : int
        P and A above.
    template : uint8 array [size]
        A state in which the settings are written and everything else is 0.
    reset, active, legal, step, status : kernels
        The five required functions.
    outcome, key, determinize, evaluate, advise, observe : kernels, optional
        See the table above for what the defaults should do.
    observation_shape : tuple of int, optional
        Shape of the observation; by default the bytes of the state after its chance header.
    observation_low, observation_high : float
        Bounds of the observation.
    any_board : bool
        Whether the observation is the same, number by number, on boards of all sizes and for any number of players, so
        that a policy plays where it was not trained; for a variant that shows such a one.
    symmetries : sequence of (ints or callable, ints), optional
        Turned or mirrored boards, but for the board as it is: for each the number of the observation (flattened) that
        stands in each place of the turned one, and what each action is there. Where numbers change too, as coordinates
        do, a function of observations, float32 [b, N], stands in place of the first: it returns them turned, as new
        arrays. Learning from a search learns from all. A variant with another observation has those that it names
        itself.
    simultaneous : bool
        Whether players ever choose at the same time.
    teams : tuple of tuple of int, optional
        Players who win and lose together, in teams of equal size; by default everyone plays for itself.
    discount : float
        Discount a step of the published evaluation; comparisons report returns with it.
    layout : dtype, optional
        Record type of the state, from :func:`state_dtype`: snapshots of a release that laid it out otherwise are told
        by it.
    first_field : str, optional
        The first field of the layout that is no setting: a snapshot with other settings before it is refused.
    position : callable, optional
        ``position(state) -> dict``: the state in plain, complete, JSON-able terms, without chance and settings.
    place : callable, optional
        ``place(state, position)``: the inverse, on a state that was just reset. Raises ``ValueError`` or ``TypeError``.
    picture : callable, optional
        ``picture(state) -> Canvas``; with a keyword ``seat`` it marks the player whose environment shows it, if any.
    text : callable, optional
        ``text(state) -> str``: the board for a terminal, in lines of up to 80 characters; ``seat`` likewise.
    where : callable, optional
        ``where(state, player, action) -> (x, y, width, height)``: the part of the picture, in its cells, that an action
        is about; None where it has no place. Pages mark there what a search thinks, and take clicks.
    shown_as : tuple of (str, str), optional
        The name and the colour ("#rrggbb") by which picture and text tell each player.
    action_name : callable, optional
        ``action_name(action) -> str``.
    variants : mapping
        Named replacements of any of these fields: other models of the world for a search (``worst_case``), other
        observations (``planes``), other scripted players.
    presets : mapping
        Named agents as plain data: ``{"mcts_paper": {"agent": "mcts", "simulations": 19, ...}}``. A preset ``random``
        names the ``model`` in which this game's random player is uniform. ``"takes_budget": False`` beside them keeps
        an agent to its own budget in comparisons.
    """

    plain_lists: ClassVar[bool] = False
    """Whether kernels are plain Python that works on lists, one element at a time, faster than on arrays."""

    name: str
    players: int
    actions: int
    template: Bytes
    reset: Kernel
    active: Kernel
    legal: Kernel
    step: Kernel
    status: Kernel
    outcome: Kernel = default_outcome
    key: Kernel = default_key
    determinize: Kernel = default_determinize
    evaluate: Kernel = default_evaluate
    advise: Kernel = default_advise
    observe: Kernel = default_observe
    observation_shape: tuple[int, ...] = ()
    observation_low: float = 0.0
    observation_high: float = 1.0
    any_board: bool = False
    symmetries: Symmetries = ()
    simultaneous: bool = False
    teams: tuple[tuple[int, ...], ...] = ()
    discount: float = 1.0
    layout: Any = None
    first_field: str = ""
    position: Callable[[Bytes], dict[str, Any]] | None = None
    place: Callable[[Bytes, Mapping[str, Any]], None] | None = None
    picture: "Callable[[Bytes], Canvas] | None" = None
    text: Callable[[Bytes], str] | None = None
    where: Callable[[Bytes, int, int], tuple[float, float, float, float] | None] | None = None
    shown_as: tuple[tuple[str, str], ...] = ()
    action_name: Callable[[int], str] = str
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if getattr(self.template, "dtype", None) != np.uint8:
            raise TypeError(
                f"the template of {self.name} is {type(self.template).__name__}, not an array of bytes (uint8); make "
                "it with blank(STATE), where STATE is what state_dtype([...]) gives"
            )
        template = np.array(self.template)
        if template.ndim != 1 or template.size % 8 or template.size <= CHANCE_BYTES:
            raise ValueError(
                f"the state of {self.name} has shape {template.shape}; it must be flat, a multiple of 8 bytes, and "
                f"longer than the chance header of {CHANCE_BYTES}: use state_dtype and blank"
            )
        template.flags.writeable = False
        object.__setattr__(self, "template", template)
        errors.integer(f"players of {self.name}", self.players, 1, _MOST_PLAYERS)
        errors.integer(f"actions of {self.name}", self.actions, 1, _MOST_ACTIONS)
        high = errors.number(f"observation_high of {self.name}", self.observation_high, -math.inf, math.inf)
        errors.number(f"observation_low of {self.name}", self.observation_low, -math.inf, high)
        if not isinstance(self.observation_shape, (tuple, list)):
            given = f"{self.observation_shape!r} of {self.name} is {type(self.observation_shape).__name__}"
            raise TypeError(f"observation_shape {given}, not a tuple such as (42,)")
        for length in self.observation_shape:
            errors.integer(f"observation_shape of {self.name}", length, 0, _MOST_ACTIONS)  # 0: nothing to be seen
        if not self.observation_shape:
            object.__setattr__(self, "observation_shape", (template.size - CHANCE_BYTES,))
        self._check_symmetries()
        if not self.teams:
            object.__setattr__(self, "teams", tuple((player,) for player in range(self.players)))
        members, sizes = sorted(player for team in self.teams for player in team), {len(team) for team in self.teams}
        if members != list(range(self.players)) or len(sizes) > 1:
            raise ValueError(
                f"teams {self.teams} of {self.name} do not hold each of the players 0 to {self.players - 1} once, in "
                "teams of equal size; leave them out where everyone plays for itself"
            )

    def _check_symmetries(self) -> None:
        size = math.prod(self.observation_shape)
        if not isinstance(self.symmetries, (tuple, list)):
            raise TypeError(f"symmetries {self.symmetries!r} of {self.name} is no list; give pairs of orders, or ()")
        for number, symmetry in enumerate(self.symmetries):
            called = f"symmetries[{number}] of {self.name}"
            if not isinstance(symmetry, (tuple, list)):
                raise TypeError(f"{called} is {symmetry!r}; give two orders, of the observation and of the actions")
            if len(symmetry) != 2:
                raise ValueError(
                    f"{called} has {len(symmetry)} parts; give two orders, of the numbers of the observation and "
                    "of the actions"
                )
            looks, actions = symmetry
            orders = [("actions", actions, self.actions)]
            if not callable(looks):
                orders.insert(0, ("observation", looks, size))
            elif (found := np.shape(looks(np.zeros((1, size), np.float32)))) != (1, size):
                raise ValueError(f"{called} turns observations [1, {size}] into shape {found}; return the same shape")
            for name, order, count in orders:
                if not np.array_equal(np.sort(np.atleast_1d(order)), np.arange(count)):
                    raise ValueError(
                        f"{called} must have each of the numbers 0 to {count - 1} once for its {name}; it has "
                        f"{np.size(order)} numbers, of which {np.unique(order).size} differ; symmetries=() names none"
                    )

    def __repr__(self) -> str:
        return f"<Game {self.fingerprint}, players {self.players}, actions {self.actions}>"

    @cached_property
    def fingerprint(self) -> str:
        """Name, size, settings and layout in short: equal for states that can be exchanged."""
        named = self.layout.fields.items() if self.layout is not None else ()
        layout = repr((LAYOUT, [(name, place, kind.base.str, kind.shape) for name, (kind, place, *_) in named]))
        settings, layout = (hashlib.sha256(part).hexdigest() for part in (self.template.tobytes(), layout.encode()))
        return f"{self.name}:{self.template.size}:{settings[:12]}:{layout[:8]}"

    @cached_property
    def settings(self) -> slice:
        """Where the settings lie in a state, as far as the game says."""
        return slice(CHANCE_BYTES, self.layout.fields[self.first_field][1] if self.first_field else CHANCE_BYTES)

    @property
    def table(self) -> Any:
        """The kernels in the order of :data:`SIGNATURES`, as compiled code wants them.

        Raises
        ------
        TypeError
            If one has another signature.
        """
        kept = vars(self)  # no cached_property: before Python 3.12 it has a lock, which a forked child may find taken
        if "table" not in kept:
            kept["table"] = function_table({name: getattr(self, name) for name in SIGNATURES}, SIGNATURES)
        return kept["table"]

    @cached_property
    def bare(self) -> "Game":
        """The game with the defaults for what only searches and scripted players ask for.

        Its table is what playing needs, so that nothing else is compiled for it.
        """
        return replace(
            self, key=default_key, determinize=default_determinize, evaluate=default_evaluate, advise=default_advise
        )

    def new_state(self) -> Bytes:
        """Return a writable state with the settings in it, not yet reset."""
        return self.template.copy()

    def restart(self, state: Bytes, seed: int) -> None:
        """Reset a state, whatever it was: settings and all come from the template."""
        state[:] = self.template
        self.reset(state, np.uint64(seed))

    def variant(self, name: str, part: str = "") -> "Game":
        """Return this game with the named variant's functions in place of its own.

        Parameters
        ----------
        name : str
        part : str, optional
            The function for whose sake the variant is wanted, such as ``"evaluate"``.

        Raises
        ------
        ValueError
            If the game has no such variant, or none with a function of its own for the part.
        """
        known = [other for other, change in self.variants.items() if not part or part in change]
        errors.choice(f"{part} variant of {self.name}" if part else f"variant of {self.name}", name, known)
        change = self.variants[name]
        other = {"symmetries": ()} if "observe" in change else {}  # they are of the observation
        return replace(self, **{**other, **change})

    def interpreted(self, instead: Mapping[Callable[..., Any], Any] | None = None) -> "Game":
        """Return this game with every kernel in its plain Python form, and ``instead`` in place of what they call."""
        return replace(self, **{name: interpreted(getattr(self, name), instead=instead) for name in SIGNATURES})
