"""By what means an environment is copied: the first that passes a check."""

import contextlib
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import itemgetter
from traceback import walk_tb
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils import EzPickle

from agents.bridge.adapters import adapter_of
from agents.bridge.cloning import Clone, Copier, Deep, Replay, offers_clones
from agents.bridge.copying import constants
from agents.bridge.copying.chance import drawn_from_system
from agents.bridge.copying.copies import Copy
from agents.bridge.copying.digest import contents, digest
from agents.bridge.returned import SAY_IT, StepError, asked
from agents.bridge.rewinding import Rewind, holds_world
from agents.bridge.states import ForeignState, whole
from agents.bridge.step_wrappers import KeepsError, check_kept, held_around
from mcts_envs.core.contract import EVERYTHING
from mcts_envs.core.own_code import warn

_STEPS = 7
"""Length of the walks that are compared: a prime, so that as many steps to the left as to the right lead nowhere."""

NATIVE, FAST, DEEP, REWIND, REPLAY, REPLAY_ANEW = (
    "its own snapshots",
    "fast copy",
    "copy.deepcopy",
    "replay, rewound",
    "replay",
    "replay in new environments",
)
"""The means by name: what the environment or its adapter saves and restores; containers that are noted and put back;
deep copies; its reset and actions once more, in memory that is put back from then on; these each time; the same in an
environment that is made anew each time."""


_CHANGES = "a step of a copy changes the original"
_OUTSIDE = (
    "copies of one state under one seed go on in different ways, so its state lies outside of it (in its module or "
    "class, or behind the handle of an engine), or its chance does: keep both inside, and draw from self.np_random"
)
"""Faults that are seen by steps which the environment itself may have made; what has them is not tried again."""

_WINDOW = (
    "its steps look at pygame.display.get_surface(), where the original draws and a copy does not: look at the surface "
    "that set_mode returned, kept as self.screen, which is copied"
)

_STEPPED = "its step raised"
_LEGAL = re.compile("avail|legal|mask|valid")
_LISTED = re.compile("legal|mask|(allowed|avail|possible|valid).*(action|move)")


def copier_of(live: Any, state: ForeignState) -> Copier:
    """Return a copy of a live environment by the first means that works, which the game notes.

    What worked for an environment of its class is taken without another check.

    Raises
    ------
    TypeError
        If none works, or the environment itself was stepped before one was found; it says why, and the cure.
    KeepsError
        If a wrapper keeps something from step to step.
    StepError
        If its steps return what no step returns.
    gymnasium.error.ResetNeeded
        If the environment was not reset.
    """
    known, name = live.game.notes.get("means"), type(live.env).__name__
    harmful = live.game.notes.setdefault("harmful", {})
    refused: dict[str, str] = {}
    stepped = False
    not_reset: ResetNeeded | None = None
    lacking = ""
    if known is None:
        with contextlib.suppress(Exception):  # which the means that fail for it are told of
            _find_constants(live, state)
    for means, make in _makers(live):
        if means in harmful:
            refused[means] = harmful[means]
        elif known in (None, means):
            if stepped:
                raise TypeError(
                    f"{name} may have been stepped as it was tried ({_listed(refused)}); reset it, and {means} is tried"
                )
            try:
                if known is None:
                    _check_hastened(live, state, make)
                made = make()
                fault = None if known else _fault(live, state, make)
            except (KeepsError, StepError):
                raise
            except Exception as error:
                fault = _said_by(error, live.env)
                not_reset = error if isinstance(error, ResetNeeded) else not_reset
                if isinstance(error, AttributeError) and isinstance(error.obj, type(live.env)):
                    lacking = f"{name} has no attribute {error.name!r}: call reset() first, if it was not; "
            if fault is None:
                if known is None:
                    _warn_of_other_names(state)
                    _warn_of_turns(live, state, made)
                live.game.notes["means"] = means
                return made
            refused[means] = fault
            if fault in (_CHANGES, _OUTSIDE):
                stepped, harmful[means] = True, fault
            if fault in (_OUTSIDE, _WINDOW) and means == FAST:
                harmful[DEEP] = "holds no more"
    if known is not None:
        del live.game.notes["means"]
        return copier_of(live, state)
    if not_reset is not None:
        raise not_reset
    around = " in ".join(type(each).__name__ for each in (live.env, *reversed(live.wrappers)))
    raise TypeError(
        f"{lacking}{around} cannot be copied: {_listed(refused)}{_misnamed(state)}{_cure(live, refused)}"
        f"{'. It may have been stepped as it was tried; reset it' * stepped}"
    )


def _find_constants(live: Any, state: ForeignState) -> None:
    """Note what copies are to share: where they do, a walk that leaves it as it is shows something else."""

    def walked(shared: list[Any]) -> tuple[Any, list[Any]]:
        copy = Copy(live.env, {id(each): each for each in shared})
        return constants.changed_by(partial(_walk, live, state, copy), shared)

    tried = constants.named_in(live.env)
    if not tried:
        return
    shown, changed = walked(tried)
    while changed:
        tried = [each for each in tried if not any(each is other for other in changed)]
        shown, changed = walked(tried)
    alone = walked([])
    if shown == alone[0] or alone != walked([]):  # nothing comes of it, or of anything: chance cannot be seeded
        return
    for kind in dict.fromkeys(map(type, tried)):
        others = [each for each in tried if type(each) is not kind]
        if walked(others)[0] == shown:
            tried = others
    constants.note(tried)


def _listed(refused: Mapping[str, str]) -> str:
    """Return what is wrong with each means, once for those in a row of which the same is said."""
    faults = itertools.groupby(refused.items(), key=itemgetter(1))
    return "; ".join(f"{', '.join(means for means, _ in each)}: {fault}" for fault, each in faults)


def _cure(live: Any, refused: Mapping[str, str]) -> str:
    """Return what helps where no means has copied an environment."""
    if any(_STEPPED in each and "'int' object" in each for each in refused.values()):
        return "; planners give step an int, not an array: write int(action) there"
    remember = (
        "" if live.history is not None else "wrap it in agents.remember(env) before reset, so that it is replayed; or "
    )
    return f"; {remember}give it clone_state() and restore_state(snapshot), or register an agents.bridge.Adapter"


def _said_by(error: Exception, env: Any) -> str:
    """Return what an error says, and whether the environment's own step raised it, of which no copy is to blame."""
    own = getattr(type(env).step, "__code__", None)
    if any(frame.f_code is own for frame, _ in walk_tb(error.__traceback__)):
        return f"{_STEPPED} {type(error).__name__}: {error}"
    return f"{error}" if isinstance(error, (TypeError, ValueError)) else f"{type(error).__name__}: {error}"


def _makers(live: Any) -> Iterator[tuple[str, Callable[[], Copier]]]:
    env, history = live.env, live.history
    if offers_clones(env):
        yield NATIVE, lambda: Clone(env)
    yield FAST, lambda: Copy(env)
    if not isinstance(env, EzPickle):  # which is copied as it was made, without its state
        yield DEEP, lambda: Deep(env)
    if history is not None and history.known:
        if holds_world(env):
            yield REWIND, lambda: Rewind(history, env)
        yield REPLAY, lambda: Replay(history, env, False)
        yield REPLAY_ANEW, lambda: Replay(history, env, True)


def _fault(live: Any, state: ForeignState, make: Callable[[], Copier]) -> str | None:
    """Return what is wrong with copies of this kind; None if they can be trusted.

    A copy is played, brought back and played again with the same chance, and compared with another copy; the original
    must not have changed.
    """
    before = whole(live)
    first, second = make(), make()
    if live.env is first.env or live.env is second.env:
        return "a copy is the environment itself"
    if first.env is second.env:
        return "two copies are one object"
    state.become(live, first)
    start = whole(state)
    if isinstance(first, (Clone, Deep)) and contents(live.env) != contents(first.env):
        return "a copy is not in the same state"
    held, around = contents(first.env), held_around(state.dressed)
    walks = [_walk(live, state, first)]
    check_kept(state.dressed, around)
    first.restore()
    forgetful = isinstance(first, Clone) and adapter_of(live.env.__class__) is None and contents(first.env) != held
    state.become(live, first)
    back = whole(state)
    walks += [_walk(live, state, first), _walk(live, state, second)]
    if whole(live) != before:
        return _CHANGES
    differ = walks[0] != walks[2] or (walks[0] != walks[1] and start == back)
    if differ and walks[0] == walks[1] and isinstance(first, Copy):  # sets of objects have an order in each copy
        for each in first, second:
            each.restore()
            walks.append(_walk(live, state, each))
        differ = walks[3] != walks[0] or walks[4] != walks[2]
    apart = differ and not isinstance(first, Clone) and not drawn_from_system(lambda: _walk(live, state, second))
    if apart and isinstance(first, Rewind):  # it lies in what is not put back, as a function's variables
        return "rewound and played again with the same chance, it goes on in another way"
    if apart and not getattr(first, "opaque", False):  # what saves itself says what its state is
        return _OUTSIDE
    if walks[0] != walks[1] and (start is None or start != back):
        return "brought back and played again with the same chance, it shows something else"
    if walks[0][0] != walks[2][0]:
        return "two copies show different things"
    if isinstance(first, Copy) and _looks_at_window(live, state, first):
        return _WINDOW
    if forgetful and _fault(live, state, lambda: Copy(live.env)) is None:
        return "they leave out some of what it holds"
    if apart:
        warn(
            f"copies of one state of {type(live.env).__name__} under one seed go on in different ways: if that is no "
            "chance in its compiled parts, its state lies outside of it, and a search steps the environment itself",
        )
    return None


def _check_hastened(live: Any, state: ForeignState, make: Callable[[], Copier]) -> None:
    """Let copies stay of the environment's own class where those of the adapter's show something else."""
    game, quick, walks = live.game, live.game.copied_as, list[Any]()
    if quick is None:
        return
    for kind in None, None, quick:
        vars(game)["copied_as"] = kind
        try:
            walks.append(_walk(live, state, make()))
        except Exception as error:
            if kind is None:
                vars(game)["copied_as"] = quick
                raise
            walks.append(error)
    if walks[1] != walks[2]:
        vars(game)["copied_as"] = None
        if walks[0] == walks[1]:
            made = f"{type(game.adapter).__name__}.hastened({type(live.env).__name__})"
            warn(
                f"copies are not of the class {made}, which shows something else than they do: "
                f"{_first_difference(*walks[1:])}",
            )


def _first_difference(walk: Any, other: Any) -> str:
    if isinstance(other, Exception):
        return f"{type(other).__name__}: {other}"
    steps = next(t for t, each in enumerate(walk) if t >= len(other) or other[t] != each)
    return f"after {steps} steps from here"


def _looks_at_window(live: Any, state: ForeignState, copy: Copy) -> bool:
    """Say whether a copy shows something else where what it draws on is the window, as for the original."""
    display: Any = getattr(sys.modules.get("pygame"), "display", None)
    drawn_on = copy.surface_of(display.get_surface()) if display is not None and display.get_init() else None
    if drawn_on is None:
        return False
    walks, get_surface = [], display.get_surface
    try:
        for get in (get_surface, lambda: drawn_on):
            copy.restore()
            display.get_surface = get
            walks.append(_walk(live, state, copy))
    finally:
        display.get_surface = get_surface
    return bool(walks[0] != walks[1])


def _walk(live: Any, state: ForeignState, copier: Copier) -> list[Any]:
    """Return what a copy shows in a few steps, and what they pay."""
    game, shown = live.game, []
    state.become(live, copier)
    game.determinize(state, EVERYTHING, 1)
    actions, rewards, legal = [0] * game.players, [0.0] * game.players, [0] * game.actions
    for t in range(_STEPS):
        bits = game.active(state)
        players = [player for player in range(game.players) if bits >> player & 1]
        shown.append((bits, [game.key(state, player) for player in players], list(rewards)))
        if not bits:
            break
        for player in players:
            actions[player] = legal[t % game.legal(state, player, legal)]
        game.step(state, actions, rewards)
        game.notes["tells"] = game.notes.get("tells") or _tells(state)
    return shown


def _warn_of_turns(live: Any, state: ForeignState, copier: Copier) -> None:
    """Warn where agents are said to choose at once, and the second to choose is shown what the first has chosen."""
    game, legal, shown = live.game, [0] * live.game.actions, []
    if not live.together or live.bits.bit_count() < 2:
        return
    agent = live.env.agent_selection
    first = game.numbers[agent]
    state.become(live, copier)
    for action in legal[: min(2, game.legal(state, first, legal))]:
        copier.restore()
        game.determinize(state, EVERYTHING, 1)
        game.watch.step(state.env.step, action + game.seats[first].start)
        second = state.env.agent_selection
        if second != agent and second in state.env.agents:
            shown.append((second, digest(state.env.observe(second))))
    copier.restore()
    if len({who for who, _ in shown}) == 1 and len(set(shown)) > 1:
        warn(
            f"metadata['is_parallelizable'] of {game.name} says that its agents choose at once, and planning takes it "
            f"so; but {shown[0][0]} is shown what {agent} has chosen: say False there if they take turns",
        )


def _tells(state: ForeignState) -> str | None:
    """Return what of a step tells legal actions that the environment does not tell again: ``infos`` or ``seen``."""
    if state.game.adapter is not None or asked(state.env, state.wrappers):
        return None
    alone = state.game.seats[0].name is None
    told = {"infos": state.infos, "seen": state.seen}
    for where, said in told.items():
        by_agent = {None: said} if alone else said or {}
        if any(isinstance(each, Mapping) and "action_mask" in each for each in by_agent.values()):
            return where
    return None


def _misnamed(state: ForeignState) -> str:
    """Say what may tell the legal actions of an environment by a name that planners do not know."""
    if state.game.notes.get("tells") or asked(state.env, state.wrappers):
        return ""
    told = state.infos or getattr(state.env, "infos", None)
    if state.game.seats[0].name is not None:  # by agent
        told = next(iter(told.values()), None) if isinstance(told, Mapping) else None
    said = [f"info[{name!r}]" for name in told or () if _LEGAL.search(str(name)) and name != "action_mask"]
    said += [name for name in dir(type(state.env)) if _LEGAL.search(name) and not name.startswith("_")]
    if not said:
        return ""
    return f"; if {said[0]} tells what is legal, {SAY_IT}"


def _warn_of_other_names(state: ForeignState) -> None:
    """Say that a step of a Gymnasium environment tells by another name what is legal, which nobody reads then."""
    game = state.game
    if game.notes.get("tells") or game.adapter is not None or asked(state.env, state.wrappers):
        return
    told = {"info": state.infos, "observation": state.seen} if game.seats[0].name is None else {}
    for where, said in told.items():
        for name, value in said.items() if isinstance(said, Mapping) else ():
            if _LISTED.search(str(name)) and _are_actions(value, range(game.actions), game.seats[0].start):
                warn(
                    f"{game.name} says in {where}[{name!r}] what is legal, so it seems, but planners do not know that "
                    f"name and try all {game.actions} actions: {SAY_IT}",
                )
                return


def _are_actions(value: Any, actions: range, start: int) -> bool:
    """Say whether something has a mark for each action, or is a list of some."""
    numbers = np.asarray(list(value) if isinstance(value, (set, frozenset)) else value)
    if numbers.ndim != 1 or not numbers.size or numbers.dtype.kind not in "biu":
        return False
    marks = numbers.size == len(actions) and set(numbers.tolist()) <= {0, 1}
    return marks or (numbers.dtype.kind != "b" and all(each - start in actions for each in numbers.tolist()))
