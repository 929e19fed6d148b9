"""The laws of planning in an environment of others: each found to hold, or not, with what speaks for it."""

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from pettingzoo import ParallelEnv

from agents.bridge.cloning import drawn_from, fresh
from agents.bridge.copying.chance import drawn_from_global, drawn_from_system
from agents.bridge.copying.copies import Copy, own
from agents.bridge.copying.digest import contents
from agents.bridge.hidden import AS_IT_IS, HASTY, SINCE, UNKNOWN, UNTOLD
from agents.bridge.layers import innermost, peeled
from agents.bridge.live import foreign_view
from agents.bridge.means import DEEP, FAST, NATIVE, REPLAY, REPLAY_ANEW, REWIND
from agents.bridge.mirroring import mirrored, walk
from agents.bridge.remembering import remember
from agents.bridge.states import ForeignState, whole
from agents.bridge.step_wrappers import changing, dressed
from agents.bridge.trial import chance_apart
from agents.budget import NO_LIMIT
from agents.wrappers import layers_of, own_steps, unfollowed
from mcts_envs.core.contract import EVERYTHING

HOLDS, FAILS, OPEN = "holds", "FAILS", "open"

_WALKS = 8
_LENGTH = 30
_SEEDS = 16
_CHOICES = 3
_SECONDS = 4.0
"""For each law, where steps or copies are dear: after that no more is tried than two of each."""

_ODD = 0x9E3779B97F4A7C15


class Law(NamedTuple):
    """A law of planning, and whether an environment keeps it.

    Attributes
    ----------
    name : str
    verdict : str
        ``"holds"``, ``"FAILS"``, or ``"open"`` where it could not be told.
    evidence : str
    """

    name: str
    verdict: str
    evidence: str


class PlanningReport(NamedTuple):
    """What :func:`check_planning` found; true where no law fails.

    Attributes
    ----------
    environment : str
    laws : tuple of Law
    """

    environment: str
    laws: tuple[Law, ...]

    def __bool__(self) -> bool:
        return all(law.verdict != FAILS for law in self.laws)

    def __getitem__(self, name: Any) -> Any:
        """Return the law of a name; ``KeyError`` if the check did not get to it."""
        return {law.name: law for law in self.laws}[name] if isinstance(name, str) else tuple(self)[name]

    def __str__(self) -> str:
        width = max(len(law.name) for law in self.laws)
        rows = [f"  {law.verdict:5}  {law.name:{width}}  {law.evidence}" for law in self.laws]
        return "\n".join([f"planning in {self.environment}:", *rows])


def check_planning(env: Any) -> PlanningReport:
    """Check the laws of planning in an environment of Gymnasium or PettingZoo, from where it is now on.

    The environment is left as it is; where several agents choose at once, the first of them looks. Laws are tried on
    some hundred steps, so they may hold here and fail elsewhere.

    Parameters
    ----------
    env : environment
        It was reset. In :func:`agents.remember`, what is hidden can be drawn by replay.

    Returns
    -------
    PlanningReport
        Laws by name: ``actions``, ``copies``, ``independence``, ``restoring``, ``fidelity`` (a copy goes on as the
        original does), ``chance``, ``observations`` (drawing anew changes nothing that was observed), ``hidden``,
        ``adapter`` (keys tell states apart, worths are numbers, something is drawn), ``masks``, ``truncation``,
        ``wrappers`` (the search follows what they do to a step), ``cost``.

    Raises
    ------
    gymnasium.error.ResetNeeded
        If it was not reset.
    """
    name = type(getattr(env, "unwrapped", env)).__name__
    try:
        seen: Any = foreign_view(env, env.agents[0] if isinstance(innermost(env), ParallelEnv) and env.agents else None)
    except (TypeError, ValueError) as error:
        return PlanningReport(name, (Law("actions", FAILS, str(error)),))
    laws = [Law("actions", HOLDS, f"{seen.game.players} player(s), up to {seen.game.actions} actions")]
    try:
        root: Any = seen.state.copy()
    except TypeError as error:
        return PlanningReport(seen.game.name, (*laws, Law("copies", FAILS, str(error))))
    laws.append(Law("copies", HOLDS, f"by {seen.game.notes['means']}"))
    for check in (
        _independence,
        _restoring,
        _fidelity,
        _chance,
        _observations,
        _hidden,
        _adapter,
        _masks,
        _truncation,
        _wrappers,
        _cost,
    ):
        title = check.__name__.removeprefix("_")
        try:
            laws.append(Law(title, *check(env, seen, root)))
        except Exception as error:  # whatever the environment raises is evidence
            laws.append(Law(title, FAILS, f"{type(error).__name__}: {error}"))
    return PlanningReport(seen.game.name, tuple(laws))


def _up_to(count: int) -> Iterator[int]:
    """Count, but not on beyond the second once the time for a law is over."""
    until = time.perf_counter() + _SECONDS
    return itertools.takewhile(lambda k: k < 2 or time.perf_counter() < until, range(count))


def _future(root: ForeignState, work: ForeignState, seed: int, choices: int) -> list[Any]:
    """Return what is shown in a random walk with given chance, in a work state."""
    work[:] = root
    work.game.determinize(work, EVERYTHING, seed * _ODD % 2**64)
    return list(walk(work, np.random.default_rng(choices), _LENGTH))


def _independence(env: Any, seen: Any, root: ForeignState) -> tuple[str, str]:
    before, other, work = whole(seen.state), root.copy(), root.copy()
    kept, first = whole(other), _sibling(root)
    walks = 0
    for walks in _up_to(_WALKS):
        _future(root, work, walks, walks)
    if whole(seen.state) != before:
        return FAILS, "steps of a copy changed the environment"
    if whole(other) != kept:
        return FAILS, "steps of a copy changed another copy"
    if _sibling(root) != first:
        chance = root.game.notes["means"] == NATIVE or drawn_from_system(lambda: _sibling(root))
        return (OPEN if chance else FAILS), "after steps of a copy, another shows something else with the same chance"
    return (HOLDS if before is not None else OPEN), f"{walks + 1} walks of up to {_LENGTH} steps changed no other copy"


def _sibling(root: ForeignState, length: int = _LENGTH) -> list[Any]:
    """Return what a new copy shows in one and the same walk with given chance."""
    state = root.copy()
    state.game.determinize(state, EVERYTHING, _ODD)
    return list(walk(state, np.random.default_rng(0), length))


def _restoring(env: Any, seen: Any, root: ForeignState) -> tuple[str, str]:
    work = root.game.new_state()
    k = 0
    for k in _up_to(_WALKS):
        first, again = _future(root, work, k, k), _future(root, work, k, k)
        if first != again:
            t = next((t for t, pair in enumerate(zip(first, again, strict=False)) if pair[0] != pair[1]), 0)
            how = root.game.notes["means"]
            said = f"with the same chance, step {t + 1} of walk {k + 1} shows something else ({how})"
            if how == NATIVE or drawn_from_system(lambda k=k: _future(root, work, k, k)):  # type: ignore[misc]
                return OPEN, f"{said}: see chance"
            return FAILS, f"{said}: something is not brought back, or chance lies where no seed reaches"
    return HOLDS, f"{k + 1} walks came out the same when played again"


def _fidelity(env: Any, seen: Any, root: ForeignState) -> tuple[str, str]:
    history = seen.state.history
    chain, given = (env, {}) if history is None else (history.env, own({**history.given}))
    try:
        inside = fresh(chain, seen.state.env)
        around = seen.state.wrappers
        original = remember(dressed(inside, around[: len(around) - len(changing(layers_of(inside)))]))
    except TypeError as error:
        return OPEN, str(error)
    except Exception as error:  # two may not fit, as where each opens the same port
        return OPEN, f"no other {type(seen.state.env).__name__} can be made ({type(error).__name__}: {error})"
    steps = 0
    for k in _up_to(_WALKS):
        try:
            original.reset(**{**given, "seed": k})
        except Exception as error:  # it may want to be told more than how it was made
            return OPEN, f"another one, made in the same way, cannot be reset ({type(error).__name__}: {error})"
        found = mirrored(foreign_view(original, seen.game.seats[seen.player].name).state, k, _LENGTH)
        if found.differs:
            return FAILS, f"a copy is not as the original: {found.differs}"
        steps += found.steps
    return HOLDS, f"{steps} steps of copies were those of the originals, bit by bit"


def _chance(env: Any, seen: Any, root: ForeignState) -> tuple[str, str]:
    drawn: set[str] = set()
    state = root.copy()
    with chance_apart(1):
        for k in _up_to(_WALKS):
            state[:] = root
            drawn |= drawn_from_global(lambda k=k: list(_free_walk(state, k)))  # type: ignore[misc]
    tried = [[repr(_future(root, state, seed, k)) for seed in _up_to(_SEEDS)] for k in _up_to(_CHOICES)]
    futures, seeds = max((len(set(each)), len(each)) for each in tried)
    same = {repr(_future(root, state, 0, 0)) for _ in range(4)}
    own = _drawn_from(Copy(seen.state.env)) if seen.game.notes["means"] == FAST else drawn_from(seen.state.env)
    where = [f"{len(own)} generator(s) of its own"] if own else []
    where += [f"the global generator of {name}" for name in sorted(drawn)]
    found = f"{futures} future{'s' * (futures > 1)} of {seeds} seeds; it holds {', '.join(where) or 'no generator'}"
    if len(same) > 1 and seen.game.notes["means"] == FAST:
        return FAILS, f"{found}; the same seed gives {len(same)} futures of 4: chance from elsewhere, as the system's"
    if futures == 1 and seen.game.notes["means"] in (DEEP, REWIND, REPLAY, REPLAY_ANEW):
        return OPEN, f"{found}: nothing is left to chance, or it lies where no seed reaches, and is then foreseen"
    return HOLDS, found


def _drawn_from(made: Copy) -> list[Any]:
    return made.generators + made.keys


def _free_walk(state: ForeignState, k: int) -> Iterator[Any]:
    """Walk without the guard that keeps global generators apart."""
    watch, game = state.game.watch, state.game
    step, watch.step = watch.step, lambda step, action: step(action)  # type: ignore[method-assign]
    try:
        game.determinize(state, EVERYTHING, k * _ODD % 2**64)
        yield from walk(state, np.random.default_rng(k), _LENGTH)
    finally:
        watch.step = step  # type: ignore[method-assign]


def _observations(env: Any, seen: Any, root: ForeignState) -> tuple[str, str]:
    game, player, state = seen.game, seen.player, root.copy()
    if not game.active(root):
        return OPEN, "the episode is over"
    before = game.key(root, player), _legal(root, player)
    for seed in _up_to(_SEEDS):
        state[:] = root
        game.determinize(state, player, seed * _ODD % 2**64)
        if (game.key(state, player), _legal(state, player)) != before:
            return FAILS, f"drawn anew, it shows player {player} something else or allows something else"
    return HOLDS, f"{seed + 1} draws show player {player} the same and allow the same"


def _legal(state: ForeignState, player: int) -> list[int]:
    actions = [0] * state.game.actions
    return actions[: state.game.legal(state, player, actions)]


def _hidden(env: Any, seen: Any, root: ForeignState) -> tuple[str, str]:
    if not seen.game.active(root):
        return OPEN, "the episode is over"
    copies, hides = root.hidden.copies(seen.player), root.hidden.noted(seen.player)
    said = f"{copies.hidden}" + (f"; games that show the same differ in {', '.join(hides)}" if hides else "")
    if copies.particles:
        said += f"; {copies.particles} courses, {copies.acceptance:.2g} of those tried"
    if copies.hidden in (AS_IT_IS, SINCE):
        return FAILS, said
    return (OPEN if copies.hidden in (HASTY, UNKNOWN, UNTOLD) else HOLDS), said


def _adapter(env: Any, seen: Any, root: ForeignState) -> tuple[str, str]:
    game, state, shown, drawn = seen.game, root.copy(), dict[int, Any](), []
    if game.adapter is None:
        return HOLDS, "there is none"
    for k in _up_to(_WALKS):
        state[:] = root
        game.determinize(state, EVERYTHING, k)
        for what in walk(state, np.random.default_rng(k), _LENGTH):
            if said := _unlike(state, what[:2], shown) or _worthless(state):
                return FAILS, said
            drawn += [_draws(state, player) for player in range(game.players) if game.redraws and what[0] >> player & 1]
    if drawn and not any(drawn):
        return _undrawn(root.hidden.found(seen.player), f"determinize changed nothing in {len(drawn)} states")
    return HOLDS, "keys, worths and draws are sound where it says them"


def _undrawn(hides: tuple[str, ...] | None, said: str) -> tuple[str, str]:
    """Return what it means that nothing is drawn anew, by what games that show a player the same differ in."""
    if hides is None:
        return OPEN, f"{said}: nothing is hidden there, or it draws nothing"
    if hides:
        return FAILS, f"{said}, and games that show the same differ in {', '.join(hides)}"
    return HOLDS, f"{said}, and nothing was found to be hidden"


def _unlike(state: ForeignState, what: Any, shown: dict[int, Any]) -> str:
    """Say whether the adapter has one key for this state and another that shows something else, and goes on so."""
    adapter: Any = state.game.adapter
    held = contents(state.env)
    if adapter.key is None or held is None:
        return ""
    key = int(state.game.key(state, EVERYTHING))
    if key not in shown:
        shown[key] = what, held, state.copy()
    before, other_held, other = shown[key]
    apart = before != what and other_held != held and _sibling(other, 1) != _sibling(state, 1)  # or it was noise
    return "two states have one key, and show something else: it leaves something out" if apart else ""


def _worthless(state: ForeignState) -> str:
    """Say what is wrong with asking the adapter what a state is worth, as searches do where the game goes on."""
    before = contents(state.env)
    if state.game.active(state):
        state.game.evaluate(state, [0.0] * state.game.players)
    return "evaluate changed the state" if contents(state.env) != before else ""


def _draws(state: ForeignState, player: int) -> bool:
    """Return whether the adapter draws something for a player in one of a few draws; True where nothing tells."""
    drawn, before = state.copy(), contents(state.env)
    for seed in range(_CHOICES):
        drawn[:] = state
        drawn.game.determinize(drawn, player, seed * _ODD % 2**64)
        if before is None or contents(drawn.env) != before:
            return True
    return False


def _masks(env: Any, seen: Any, root: ForeignState) -> tuple[str, str]:
    counts, most, state = set(), seen.game.actions, root.copy()
    for k in _up_to(_WALKS):
        state[:] = root
        state.game.determinize(state, EVERYTHING, k)
        for bits, *_ in walk(state, np.random.default_rng(k), _LENGTH):
            for player in (player for player in range(seen.game.players) if bits >> player & 1):
                legal, own = _legal(state, player), seen.game.seats[player].actions
                if odd := [action for action in legal if not 0 <= action < own]:
                    return FAILS, f"action {odd[0]}, counted from 0, is said to be legal, and there are {own}"
                counts.add(len(legal))
    if counts <= {most}:
        return HOLDS, f"all of {most} actions were always legal"
    return HOLDS, f"{min(counts)} to {max(counts)} of {most} actions were legal, and all that were tried were taken"


def _truncation(env: Any, seen: Any, root: ForeignState) -> tuple[str, str]:
    if root.left >= NO_LIMIT:
        return HOLDS, "no time limit is known"
    return HOLDS, f"ends in {root.left} steps by a time limit, in simulations too"


def _wrappers(env: Any, seen: Any, root: ForeignState) -> tuple[str, str]:
    alone = isinstance(env, gymnasium.Env)
    said = unfollowed(env, changing(layers_of(env))) if alone else own_steps(peeled(env)[0])
    return (OPEN, "; ".join(said)) if said else (HOLDS, "what they do to a step is followed")


def _cost(env: Any, seen: Any, root: ForeignState) -> tuple[str, str]:
    work = root.game.new_state()
    work[:] = root

    def restore() -> None:
        work[:] = root

    steps = max(1, len(_future(root, work, 1, 1)))
    copying, walking = _median(restore), _median(lambda: _future(root, work, 1, 1)) / steps
    return HOLDS, f"{copying * 1e6:.0f} us to bring a copy back, some {walking * 1e6:.0f} us a step"


def _median(what: Callable[[], Any]) -> float:
    times = []
    for _ in range(7):
        started = time.perf_counter()
        what()
        times.append(time.perf_counter() - started)
    return float(np.median(times))
