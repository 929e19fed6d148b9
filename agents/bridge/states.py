"""The contract of a game, met by copies of any environment with discrete actions.

A state is a copy of an environment and what the environment said last. The functions below are the kernels of
:mod:`mcts_envs.core.contract` in plain Python, for an interpreted search.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from agents.bridge.adapters import Adapter
from agents.bridge.cloning import Copier
from agents.bridge.copying.chance import Watch, reseed
from agents.bridge.copying.copies import Copy, own
from agents.bridge.layers import innermost
from agents.bridge.returned import tried
from agents.bridge.step_wrappers import changing, worn
from agents.wrappers import layers_of
from mcts_envs.core.contract import EVERYTHING, Game

_APART, _AROUND = 0x5DEECE66D, 0x2545F4914F6CDD1D
"""Keep the seeds of what is hidden, and of what wrappers draw, apart from that of what is to come."""


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
    shown : gymnasium.Space
        That through the observation wrappers.
    """

    name: Any
    actions: int
    start: int
    space: Any
    shown: Any


@dataclass(frozen=True, eq=False)
class ForeignGame(Game):
    """A kind of environment as a game.

    Parameters
    ----------
    seats : tuple of ForeignSeat
    watch : Watch
    adapter : Adapter, optional
    notes : dict
        What was found out about such environments: ``"means"``, how they are copied; ``"harmful"``, means that step
        the original, and how that was seen; ``("hides", player)``.
    structure : gymnasium.Space, optional
        Of what players see, where that is no array, and the same for all.
    called : callable, optional
        ``called(player, action) -> str``: the actions of each player may begin with another number.
    copied_as : type, optional
        The class of copies, derived from the environment's, as an adapter has it; None: the same.
    loops : mapping
        What makes a uniform rollout quicker (:mod:`agents.bridge.rollouts`), for a ``step`` and a ``legal``.
    **fields
        Those of :class:`mcts_envs.core.contract.Game`: plain Python functions of a :class:`ForeignState`.
    """

    plain_lists: ClassVar[bool] = True

    seats: tuple[ForeignSeat, ...] = ()
    watch: Watch = field(default_factory=lambda: Watch("environment", tried))
    adapter: Adapter | None = None
    copied_as: type | None = None
    notes: dict[Any, Any] = field(default_factory=dict)
    structure: Any = None
    called: Callable[[int, int], str] | None = None
    loops: Mapping[Any, Any] = field(default_factory=dict)

    def hastened(self, simulate: Callable[..., int]) -> Callable[..., int]:
        """Return a quicker form of the uniform rollout, in plain Python; itself where there is none."""
        make = self.loops.get((self.step, self.legal))
        return simulate if make is None else make(simulate)

    @cached_property
    def redraws(self) -> bool:
        """Whether the adapter draws anew what a player cannot know."""
        return self.adapter is not None and self.adapter.determinize is not None

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(
            f"what was found in {self.name}, an environment of others, holds on to it and cannot be pickled; keep what "
            "you need of it: result.action, or of a tree search result.visits, values and tree.to_json()"
        )

    @cached_property
    def numbers(self) -> dict[Any, int]:
        """The players' numbers by name."""
        return {seat.name: number for number, seat in enumerate(self.seats)}

    def new_state(self) -> Any:
        """Return a state that is to be copied into."""
        return ForeignState(self)

    def state_of(self, env: Any, said: Any) -> "ForeignState":
        """Return an environment, and what its ``reset`` or ``step`` said last, as the functions of a game take it."""
        state = ForeignState(self)
        state.env, state.bits, state.wrappers = innermost(env), 1, changing(layers_of(env))
        state.seen, state.infos = (None, None) if said is None else (said[0], said[-1])
        return state

    def offered(self, state: "ForeignState", agent: Any) -> list[int]:
        """Return the legal actions of an agent who is to choose, counted from 0."""
        actions = [0] * self.actions
        return [int(action) for action in actions[: self.legal(state, self.numbers[agent], actions)]]

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
    patience : int
        Steps that a rollout in it may take; 0 where that is not settled yet.
    truncated : bool
        Whether it was cut off.
    chance : numpy.random.Generator, optional
        What an adapter draws from; None before it first does.
    hidden : Hidden
        What is done about what the environment hides.
    at_root : bool
        Whether no step was made since the live environment was copied.
    dealt : dict
        Copies of other courses of the game, by their identity.
    lenses : tuple of two tuples of ObservationWrapper
        Through which a policy looks at what a step returned, and at what was observed last of the live environment.
    looks : tuple of two tuples of ObservationWrapper
        By what is seen through them states are told apart, likewise.
    wrappers : sequence of Wrapper
        Of the live environment: those that change what a step does.
    seen, infos : object
        The observation and the info that ``step`` returned; by agent in a parallel environment. None where it did not.
    """

    __slots__ = (
        *(
            "_around",
            "_copy",
            "_dealt",
            "_source",
            "_version",
            "at_root",
            "bits",
            "chance",
            "dealt",
            "env",
            "game",
            "hidden",
            "infos",
        ),
        *("left", "lenses", "looks", "patience", "seen", "truncated", "version", "wrappers"),
    )

    def __init__(self, game: ForeignGame) -> None:
        self.game = game
        self.env: Any = None
        self.seen: Any = None
        self.infos: Any = None
        self.left = 0
        self.patience = 0
        self.truncated = False
        self.version = 0
        self.hidden: Any = None
        self.at_root = False
        self.lenses: Any = (), ()
        self.looks: Any = (), ()
        self.wrappers: Any = ()
        self._around: Copy | None = None
        self.chance: np.random.Generator | None = None
        self._copy: Any = None
        self._dealt: Copier | None = None
        self.dealt: dict[int, Copier] = {}
        self._source: Any = None
        self._version = 0

    def __del__(self) -> None:
        """Let go of the environment before its copy does, which can leave it to another one then."""
        self.env = self._around = None

    def __setitem__(self, where: slice, source: Any) -> None:
        """Become a copy of another state."""
        if self._source is source and self._version == source.version:
            self._copy.restore()
        else:
            # First, so that the environment that it held may be that of the next copy.
            self.env = self._around = self._copy = self._source = None
            self._copy = source.another()
            self._source, self._version = source, source.version
            self.hidden, self.dealt = source.hidden, {}
        self._dealt, self.at_root = None, source.at_root
        self._stand_in(self._copy.env, source.wrappers)
        self.bits, self.left, self.truncated = source.bits, source.left, source.truncated
        self.seen, self.infos, self.lenses, self.looks = source.seen, source.infos, source.lenses, source.looks

    def become(self, live: Any, copier: Copier) -> None:
        """Become a state of a live environment, in a copy of it."""
        self._copy, self._dealt, self._source, self.at_root = copier, None, None, True
        self._stand_in(copier.env, live.wrappers)
        self.bits, self.left, self.truncated = live.bits, live.left, live.truncated
        self.seen, self.infos, self.lenses, self.looks = live.seen, live.infos, live.lenses, live.looks

    def _stand_in(self, env: Any, wrappers: Any) -> None:
        """Become another environment, or the same one once more, in wrappers as they are around the live one."""
        if env is not self.env or wrappers is not self.wrappers:
            self.env, self.wrappers, self._around = env, wrappers, None
            if self.game.copied_as is not None:
                env.__class__ = self.game.copied_as
        elif self._around is not None and not self._around.opaque:
            self._around.restore()

    @property
    def dressed(self) -> Any:
        """The environment in what its wrappers do to a step; itself where they do nothing."""
        return self._worn.env if self.wrappers else self.env

    @property
    def _worn(self) -> Copy:
        if self._around is None:
            self._around = worn(self.env, self.wrappers)
        return self._around

    def another(self) -> Copier:
        """Return another copy of the environment as it is now."""
        return (self._dealt or self._copy).again()

    def deal(self, course: Any) -> None:
        """Become another course of the game that showed the player the same."""
        if id(course) not in self.dealt:
            self.dealt[id(course)] = Copy(innermost(course.env))
        else:
            self.dealt[id(course)].restore()
        self._dealt = self.dealt[id(course)]
        self._stand_in(self._dealt.env, self.wrappers)
        self.seen, self.infos = course.seen, course.infos

    def copy(self) -> "ForeignState":
        """Return a state with a copy of its own, and of what was said: the environment may write over that."""
        made = ForeignState(self.game)
        made[:] = self
        made.seen, made.infos = own((self.seen, self.infos))
        return made

    def seed(self, seed: int) -> None:
        """Decide what chance there is to come."""
        (self._dealt or self._copy).seed(seed)
        if self.wrappers:
            self._worn.seed(seed ^ _AROUND)
        self.version += 1

    def end_step(self, bits: int, truncated: bool) -> None:
        """Note who is to choose after a step, and whether the step was cut off."""
        self.version += 1
        self.at_root = False
        self.left -= 1
        self.truncated = truncated or (bits != 0 and self.left <= 0)
        self.bits = bits if self.left > 0 else 0


def reset(state: ForeignState, seed: int) -> None:
    """Refuse: an environment is reset by its user."""
    raise TypeError(f"{state.game.name} is reset through its environment; look at it anew with agents.bridge.view(env)")


def active(state: ForeignState) -> int:
    """Return who is to choose."""
    return int(state.bits)


def determinize(state: ForeignState, observer: int, seed: int) -> None:
    """Draw anew what a player cannot know, and seed every random generator of the copy."""
    seed = int(seed)  # a number of NumPy where nothing is compiled
    if observer != EVERYTHING:
        game = state.game
        if game.adapter is not None and game.redraws:
            if state.chance is None:
                state.chance = np.random.Generator(np.random.PCG64(0))
            reseed([state.chance], seed ^ _APART)
            try:
                game.adapter.determinize(state.env, game.seats[observer].name, state.chance)
            except NotImplementedError:
                vars(game)["redraws"] = False
        if not game.redraws and state.at_root and state.hidden is not None:
            state.hidden.redraw(state, observer, seed)
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


def whole(state: Any) -> int | None:
    """Return the key of everything but chance to come; None if it cannot be looked into."""
    try:
        return int(state.game.key(state, EVERYTHING))
    except TypeError:
        return None
