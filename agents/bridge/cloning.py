"""Ways to copy an environment, from the best to the dearest; each can be brought back to where it was made."""

import copy
import functools
import gc
import inspect
import sys
import weakref
from collections.abc import Callable
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import gymnasium
from gymnasium.utils import EzPickle
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import aec_to_parallel_wrapper

from agents.bridge.adapters import Adapter, adapter_of
from agents.bridge.copying.chance import is_generator, reseed
from agents.bridge.copying.classes import lies_elsewhere, takes_arguments
from agents.bridge.copying.copies import Copy, own
from agents.bridge.copying.snapshots import apart
from agents.bridge.layers import in_turns, innermost
from agents.bridge.remembering import History
from agents.bridge.step_wrappers import changing, worn
from agents.wrappers import layers_of

_PAIRS = (("clone_state", "restore_state"), ("cloneState", "restoreState"), ("get_state", "set_state"))
"""Methods by which environments save and restore themselves."""


class Copier(Protocol):
    """A copy of an environment that can be brought back to where it was made.

    Attributes
    ----------
    env : object
        The copy.
    """

    env: Any

    def restore(self) -> None:
        """Bring the copy back to where it was made."""

    def seed(self, seed: int) -> None:
        """Start all chance of the copy anew."""

    def again(self) -> "Copier":
        """Return another copy of what this one has become."""


class Clone:
    """A copy of an environment that saves and restores its own state, or whose adapter does.

    Its methods are called ``clone_state`` and ``restore_state``, ``cloneState`` and ``restoreState``, or ``get_state``
    and ``set_state``. Where saving takes ``include_rng``, the copy has the random stream too until chance is seeded;
    then a running one goes on in place of it, from simulation to simulation.

    Parameters
    ----------
    source : object
        The environment.

    Raises
    ------
    TypeError
        If no other environment like it can be made, or it does not save its state.
    """

    _spares: list[Any] | None = None

    def __init__(self, source: Any) -> None:
        self._snapshot = apart(snapshot_of(source), source) if _saving(source) is None else snapshot_of(source)
        self._runs_on = runs_on(source)
        self._exact = self._snapshot
        if self._runs_on:
            self._exact = apart(getattr(source, _pair(source)[0])(include_rng=True), source)
        self._seeded = False
        self.env, self._spares = _twin_to_keep(source)
        self.restore()

    def __del__(self) -> None:
        """Leave the environment to the next copy, if nobody else holds it."""
        if self._spares is not None and sys.getrefcount(self.env) <= _HELD_HERE:
            self._spares.append(self.env)

    def restore(self) -> None:
        """Bring the copy back to where it was made."""
        adapter = _saving(self.env)
        snapshot = self._snapshot if self._seeded else self._exact
        if adapter is None:
            getattr(self.env, _pair(self.env)[1])(snapshot)
        else:
            adapter.restore(self.env, snapshot)

    def seed(self, seed: int) -> None:
        """Start chance anew; where the stream runs on, only the first time, as one of a few that are kept."""
        if not self._runs_on:
            reseed(drawn_from(self.env), seed)
        elif not self._seeded:
            _begin_stream(self.env, (seed >> 33) % _STREAMS)
            self._seeded = True
            self.restore()

    def again(self) -> "Clone":
        """Return another copy of what this one has become."""
        return Clone(self.env)


class Deep:
    """A copy by ``copy.deepcopy``, made anew whenever it is to be brought back.

    Parameters
    ----------
    source : object
        The environment; it must not change as long as the copy is used.
    """

    def __init__(self, source: Any) -> None:
        self._source = source
        self.restore()

    def restore(self) -> None:
        """Bring the copy back to where it was made."""
        memo: dict[int, Any] = {}
        self.env = copy.deepcopy(self._source, memo)
        self._generators = [made for made in memo.values() if is_generator(made)]

    def seed(self, seed: int) -> None:
        """Start all random generators of the copy anew."""
        reseed(self._generators, seed)

    def again(self) -> "Deep":
        """Return another copy of what this one has become."""
        return Deep(copy.deepcopy(self.env))


class Replay:
    """Another environment in which everything was done that was done with the first since its reset.

    Parameters
    ----------
    history : History
        What :func:`agents.remember` has kept.
    source : object
        The environment, unwrapped.
    anew : bool
        Whether an environment is made for each replay; else the same one is reset.
    then : tuple
        Steps and seeds that came later.

    Raises
    ------
    TypeError
        If no other environment like it can be made.
    """

    def __init__(self, history: History, source: Any, anew: bool = True, then: tuple[Any, ...] = ()) -> None:
        self._history, self._source, self._anew, self._then = history, source, anew, then
        self._chain: Any = None
        self.restore()

    def restore(self) -> None:
        """Play once more what was played, in a new environment where one that was played on shows something else."""
        self._bring_back()
        since: list[Any] = []
        step = self.env.step

        def noted(action: Any) -> Any:
            since.append(("step", action))
            return step(action)

        self._since = since
        for kind, given in self._then:
            self.seed(given) if kind == "seed" else noted(given)
        self.env.step = noted

    def _bring_back(self) -> None:
        anew = self._chain is None or self._anew
        try:
            self._repeat(anew)
        except ValueError:
            if anew:
                raise
            self._repeat(anew=True)

    def _repeat(self, anew: bool) -> None:
        if anew:
            self._chain = fresh(self._history.env, self._source)
        self.env = innermost(self._chain)
        vars(self.env).pop("step", None)
        self._history.repeat(self._chain, drawing_of(self.env))

    def seed(self, seed: int) -> None:
        """Start all random generators of the copy anew."""
        self._since.append(("seed", seed))
        reseed(self._drawn_from(), seed)

    def _drawn_from(self) -> list[Any]:
        return drawn_from(self.env)

    def again(self) -> "Replay":
        """Return another copy of what this one has become."""
        return type(self)(self._history, self._source, self._anew, tuple(self._since))


def drawing_of(env: Any) -> Callable[[bool], None]:
    """Return what says whether steps draw what they show; nothing does where no adapter knows how."""
    kind: Any = type(env)
    adapter = adapter_of(kind)
    return (lambda whether: None) if adapter is None or adapter.draws is None else functools.partial(adapter.draws, env)


def offers_clones(env: Any) -> bool:
    """Say whether an environment saves and restores its own state, or its adapter does."""
    return _saving(env) is not None or _pair(env) is not None


def snapshot_of(env: Any) -> Any:
    """Return what an environment says to be its state, without the random stream where it can be left out.

    Raises
    ------
    TypeError
        If it does not save its state, or wants to be told more.
    """
    adapter = _saving(env)
    if adapter is not None:
        return adapter.copy(env)
    if _pair(env) is None:
        raise TypeError(f"{type(env).__name__} has no clone_state and restore_state")
    save = getattr(env, _pair(env)[0])
    return save(include_rng=False) if runs_on(env) else save()


def _saving(env: Any) -> Adapter | None:
    kind: Any = type(env)
    adapter = adapter_of(kind)
    return adapter if adapter is not None and adapter.copy is not None and adapter.restore is not None else None


def _pair(env: Any) -> Any:
    return next((pair for pair in _PAIRS if all(callable(getattr(env, name, None)) for name in pair)), None)


def runs_on(env: Any) -> bool:
    """Say whether snapshots can be had without the random stream."""
    if _saving(env) is not None:
        return False
    try:
        return "include_rng" in inspect.signature(getattr(env, _pair(env)[0])).parameters
    except ValueError:  # compiled code
        return False


def drawn_from(env: Any) -> list[Any]:
    """Return the random generators that steps of a copy draw from: those that its adapter names, or all it holds."""
    kind: Any = type(env)
    adapter = adapter_of(kind)
    return generators_in(env) if adapter is None or adapter.generators is None else adapter.generators(env)


def generators_in(env: Any) -> list[Any]:
    """Return the random generators that an environment holds, itself or in what it is made of, in its own order.

    What copies share belongs to the original.
    """
    found, seen, waiting = [], set[int](), [env]
    leads_on = gc.is_tracked if "torch" not in sys.modules else _leads_on
    while waiting:
        value = waiting.pop()
        kind: Any = type(value)
        if id(value) in seen or lies_elsewhere(kind):
            continue
        seen.add(id(value))
        if is_generator(value):
            found.append(value)
        else:
            waiting += filter(leads_on, reversed(gc.get_referents(value)))
    return found


def _leads_on(value: Any) -> bool:
    """Say whether something may hold a generator, or is one: Python tracks none of PyTorch, nor what holds no more."""
    return gc.is_tracked(value) or type(value) in (dict, tuple) or is_generator(value)


_SPARES: "WeakKeyDictionary[Any, list[Any]]" = WeakKeyDictionary()
_ORIGINS: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()
"""Environments like another one that no copy needs any more, and what they are like: to make one may take long."""

_STREAMS = 4
_BEGUN: "WeakKeyDictionary[Any, dict[int, Any]]" = WeakKeyDictionary()
"""Snapshots with random streams that have just begun: Atari games load their cartridge for each, in 0.2 s."""

_HELD_HERE = 2
"""References to what only a copy holds, while they are counted."""


def _begin_stream(env: Any, seed: int) -> None:
    """Begin one of a few random streams in an environment whose snapshots hold them, in whatever state it is.

    The first time all are begun.
    """
    save, restore = (getattr(env, name) for name in _pair(env))
    hashed: Any = type(env).__hash__
    begun = {} if hashed is None else _BEGUN.setdefault(_ORIGINS.get(env, lambda: env)() or env, {})
    if seed not in begun:
        for each in (seed,) if hashed is None else range(_STREAMS):
            env.reset(seed=each)
            begun[each] = own(save(include_rng=True))
    restore(own(begun[seed]))  # or the one that is kept would go on with its stream


def _twin_to_keep(source: Any) -> tuple[Any, list[Any] | None]:
    """Return an environment like this one, and where it is to be left; None where one is made in no time."""
    hashed: Any = type(source).__hash__
    origin = None if hashed is None else _ORIGINS.get(source, lambda: source)()
    if origin is not None and _SPARES.get(origin):
        spares = _SPARES[origin]
        spare = spares.pop()
        if origin is source:  # what snapshots leave out nothing brings back between simulations of copies either
            spare.reset()
        return spare, spares
    try:
        return Copy(source).env, None
    except TypeError:
        twin = twin_of(source)
        if origin is None:
            return twin, None
        _ORIGINS[twin] = weakref.ref(origin)
        return twin, _SPARES.setdefault(origin, [])


def twin_of(source: Any) -> Any:
    """Return another environment like this one, in whatever state."""
    try:
        return Copy(source).env
    except TypeError:
        twin = fresh(source, source)
        twin.reset(seed=0)
        return innermost(twin)


def fresh(chain: Any, source: Any) -> Any:
    """Return a new environment, not yet reset, made as another one was, with its wrappers if they can be made too.

    If they cannot, it is in copies of those that change what a step does.

    Raises
    ------
    TypeError
        If nothing tells how it was made.
    """
    made = _fresh(chain, source)
    around = () if isinstance(made, gymnasium.Wrapper) else changing(layers_of(chain))
    return worn(made, around).env if around else made


def _fresh(chain: Any, source: Any) -> Any:
    if isinstance(chain, gymnasium.Env) and chain.spec is not None:
        try:
            return _made_by(chain.spec, source)
        except Exception:  # a wrapper that does not say how it was made, or that only shows what is drawn
            return _made_by(source.spec, source).unwrapped
    if isinstance(source, aec_to_parallel_wrapper):
        return type(source)(fresh(source.aec_env, innermost(source.aec_env)))
    kind: Any = type(source)
    if isinstance(source, EzPickle):
        given: Any = source._ezpickle_kwargs
        made: Any = kind(*source._ezpickle_args, **given)
    elif takes_arguments(kind):
        raise TypeError(
            f"no other {kind.__name__} can be made, since its class takes arguments: make it by gymnasium.make, or "
            "derive it from gymnasium.utils.EzPickle, which keeps them"
        )
    else:
        made = kind()
    if hasattr(made, "render_mode"):
        vars(made)["render_mode"] = _mode_of(source)
    return in_turns(made) if isinstance(chain, AECEnv) and isinstance(source, ParallelEnv) else made


def _made_by(spec: Any, source: Any) -> Any:
    """Make an environment that opens no window; one that never draws may know of no ``render_mode``."""
    draws = "render_mode" in spec.kwargs or getattr(source, "render_mode", None) is not None
    silent = {"render_mode": _mode_of(source)} if draws else {}
    return gymnasium.make(spec, disable_env_checker=True, **silent)


def _mode_of(source: Any) -> Any:
    """Return how a copy draws: as its original does, which may observe what it draws, but in no window."""
    mode = getattr(source, "render_mode", None)
    return None if mode == "human" else mode
