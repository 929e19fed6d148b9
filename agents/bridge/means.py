"""By what means an environment is copied: the first that passes a check."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from gymnasium.error import ResetNeeded
from gymnasium.utils import EzPickle

from agents.bridge.cloning import Clone, Copier, Deep, Replay, offers_clones
from agents.bridge.copying import Copy
from agents.bridge.digest import digest
from agents.bridge.returned import StepError
from mcts_envs.core.contract import EVERYTHING

if TYPE_CHECKING:
    from agents.bridge.states import ForeignState

_STEPS = 6
"""Length of the walks that are compared."""

NATIVE, FAST, DEEP, REPLAY, REPLAY_ANEW = (
    "its own snapshots",
    "fast copy",
    "copy.deepcopy",
    "replay",
    "replay in new environments",
)
"""The means by name: what the environment or its adapter saves and restores; containers that are noted and put back;
deep copies; its reset and actions once more; the same in an environment that is made anew each time."""


def copier_of(live: Any, state: "ForeignState") -> Copier:
    """Return a copy of a live environment by the first means that works, which the game notes.

    What worked for an environment of its class is taken without another check.

    Raises
    ------
    TypeError
        If none works; it says why not, and the cure.
    StepError
        If its steps return what no step returns.
    gymnasium.error.ResetNeeded
        If the environment was not reset.
    """
    known = live.game.notes.get("means")
    refused: list[str] = []
    not_reset: ResetNeeded | None = None
    for means, make in _makers(live):
        if known in (None, means):
            try:
                made = make()
                fault = None if known else _fault(live, state, make)
            except StepError:
                raise
            except Exception as error:
                fault = str(error)
                not_reset = error if isinstance(error, ResetNeeded) else not_reset
            if fault is None:
                live.game.notes["means"] = means
                return made
            refused.append(f"{means}: {fault}")
    if known is not None:
        del live.game.notes["means"]
        return copier_of(live, state)
    if not_reset is not None:
        raise not_reset
    cure = "" if live.history is not None else "; wrap it in agents.remember(env) before reset, so that it is replayed"
    raise TypeError(
        f"{type(live.env).__name__} cannot be copied: {'; '.join(refused)}{cure}; or give it clone_state() and "
        "restore_state(snapshot), or register an agents.bridge.Adapter"
    )


def _makers(live: Any) -> Iterator[tuple[str, Callable[[], Copier]]]:
    env, history = live.env, live.history
    if offers_clones(env):
        yield NATIVE, lambda: Clone(env)
    yield FAST, lambda: Copy(env)
    if not isinstance(env, EzPickle):  # which is copied as it was made, without its state
        yield DEEP, lambda: Deep(env)
    if history is not None and history.known:
        yield REPLAY, lambda: Replay(history, env, False)
        yield REPLAY_ANEW, lambda: Replay(history, env, True)


def _fault(live: Any, state: "ForeignState", make: Callable[[], Copier]) -> str | None:
    """Return what is wrong with copies of this kind; None if they can be trusted.

    A copy is played, brought back and played again with the same chance, and compared with another copy; the original
    must not have changed.
    """
    before = _inside(live)
    first, second = make(), make()
    state.become(live, first)
    start = _inside(state)
    if isinstance(first, (Clone, Deep)) and _whole(live.env) != _whole(first.env):
        return "a copy is not in the same state"
    walks = [_walk(live, state, first)]
    first.restore()
    state.become(live, first)
    back = _inside(state)
    walks += [_walk(live, state, first), _walk(live, state, second)]
    if _inside(live) != before:
        return "a step of a copy changes the original"
    if walks[0] != walks[1] and (start is None or start != back):
        return "brought back and played again with the same chance, it shows something else"
    if walks[0][0] != walks[2][0]:
        return "two copies show different things"
    return None


def _walk(live: Any, state: "ForeignState", copier: Copier) -> list[Any]:
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
    return shown


def _whole(env: Any) -> int | None:
    """Return a hash of all that an environment holds; None if it cannot be looked into."""
    try:
        return digest(env)
    except TypeError:
        return None


def _inside(state: Any) -> int | None:
    """Return the key of everything but chance to come; None if it cannot be looked into."""
    try:
        return int(state.game.key(state, EVERYTHING))
    except TypeError:
        return None
