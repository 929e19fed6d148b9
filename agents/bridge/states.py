"""The contract of a game, met by copies of any environment with discrete actions.

A state is a copy of an environment and what the environment said last. The functions below are the kernels of
:mod:`mcts_envs.core.contract` in plain Python, for an interpreted search.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from agents.bridge.adapters import Adapter
from agents.bridge.chance import Watch
from agents.bridge.cloning import Copier
from mcts_envs.core.contract import RUNNING, TERMINATED, TRUNCATED, Game

NO_LIMIT = 2**62


class ForeignSeat(NamedTuple):
    """What is fixed about a player.

    Attributes
    ----------
    name : str or None
        The PettingZoo agent; None in Gymnasium.
    actions, start : int
        The action space is ``Discrete(actions, start=start)``.
    space : gymnasium.Space
        What it observes.
    """

    name: Any
    actions: int
    start: int
    space: Any


@dataclass(frozen=True, eq=False)
class ForeignGame(Game):
    """A kind of environment as a game.

    Parameters
    ----------
    seats : tuple of ForeignSeat
    watch : Watch
    adapter : Adapter, optional
    notes : dict
        What was found out about such environments: ``means``, how they are copied.
    **fields
        Those of :class:`mcts_envs.core.contract.Game`: plain Python functions of a :class:`ForeignState`.
    """

    plain_lists: ClassVar[bool] = True

    seats: tuple[ForeignSeat, ...] = ()
    watch: Watch = field(default_factory=lambda: Watch("environment"))
    adapter: Adapter | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> dict[Any, int]:
        """The players' numbers by name."""
        return {seat.name: number for number, seat in enumerate(self.seats)}

    def new_state(self) -> Any:
        """Return a state that is to be copied into."""
        return ForeignState(self)

    def outward(self, player: int, action: int) -> int:
        """Return an action, counted from 0, as the player's action space has it."""
        return action + self.seats[player].start


class ForeignState:
    """A copy of an environment, and what it said last.

    Attributes
    ----------
    env : object
        The copied environment, unwrapped: what ``evaluate(state, values)`` looks at.
    bits : int
        Who is to choose, as ``active`` says; 0 when the episode is over.
    left : int
        Steps before a time limit ends the episode.
    truncated : bool
        Whether it was cut off.
    seen, infos : object
        The observation and the info that ``step`` returned; by agent in a parallel environment. None where it did not.
    """

    __slots__ = ("_copy", "_source", "_version", "bits", "env", "game", "infos", "left", "seen", "truncated", "version")

    def __init__(self, game: ForeignGame) -> None:
        self.game = game
        self.env: Any = None
        self.seen: Any = None
        self.infos: Any = None
        self.left = 0
        self.truncated = False
        self.version = 0
        self._copy: Copier
        self._source: Any = None
        self._version = 0

    def __setitem__(self, where: slice, source: Any) -> None:
        """Become a copy of another state."""
        if self._source is source and self._version == source.version:
            self._copy.restore()
        else:
            self._copy = source.another()
            self._source, self._version = source, source.version
        self.env = self._copy.env
        self.bits, self.left, self.truncated = source.bits, source.left, source.truncated
        self.seen, self.infos = source.seen, source.infos

    def become(self, live: Any, copier: Copier) -> None:
        """Become a state of a live environment, in a copy of it."""
        self._copy, self.env, self._source = copier, copier.env, None
        self.bits, self.left, self.truncated = live.bits, live.left, live.truncated
        self.seen, self.infos = live.seen, live.infos

    def another(self) -> Copier:
        """Return another copy of the environment as it is now."""
        return self._copy.again()

    def copy(self) -> "ForeignState":
        """Return a state with a copy of its own."""
        made = ForeignState(self.game)
        made[:] = self
        return made

    def seed(self, seed: int) -> None:
        """Decide what chance there is to come."""
        self._copy.seed(seed)
        self.version += 1

    def end_step(self, bits: int, truncated: bool) -> None:
        """Note who is to choose after a step, and whether the step was cut off."""
        self.version += 1
        self.left -= 1
        self.truncated = truncated or (bits != 0 and self.left <= 0)
        self.bits = bits if self.left > 0 else 0


def reset(state: ForeignState, seed: int) -> None:
    """Refuse: an environment is reset by its user."""
    raise TypeError(f"{state.game.name} is reset through its environment; look at it anew with agents.bridge.view(env)")


def active(state: ForeignState) -> int:
    """Return who is to choose."""
    return int(state.bits)


def status(state: ForeignState, player: int) -> int:
    """Return whether the episode goes on, has ended, or was cut off."""
    return RUNNING if state.bits else TRUNCATED if state.truncated else TERMINATED


def determinize(state: ForeignState, observer: int, seed: int) -> None:
    """Seed every random generator of the copy."""
    state.seed(seed)
    state.game.watch.determinize(seed)


def evaluate(state: ForeignState, values: Any) -> None:
    """Value every unfinished state at 0."""
    for player in range(len(values)):
        values[player] = 0.0


def advise(state: ForeignState, player: int, weights: Any) -> None:
    """Prefer no action over another."""
    for action in range(len(weights)):
        weights[action] = 1.0
