"""The three kinds of environments: how a step is made, what is legal, and what is shown."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from gymnasium import spaces

from agents.bridge.adapters import Adapter
from agents.bridge.cloning import offers_clones, snapshot_of
from agents.bridge.copying.digest import digest
from agents.bridge.means import NATIVE
from agents.bridge.observation_wrappers import through
from agents.bridge.returned import check_actions, paid, wrong
from agents.bridge.rollouts import played_by, single
from agents.bridge.states import ForeignState, active, advise, determinize, evaluate, reset
from agents.bridge.step_wrappers import acted_on, inward
from agents.budget import NO_LIMIT
from agents.wrappers import masks_of, teller
from mcts_envs.core.contract import EVERYTHING, RUNNING, TERMINATED, TRUNCATED

Mask = Callable[[Any, int], Any]


def step_single(state: ForeignState, actions: Any, rewards: Any) -> None:
    """Make a step of a Gymnasium environment."""
    rewards[0] = 0.0
    if state.bits:
        env, seat = state.dressed, state.game.seats[0]
        action = int(actions[0]) + seat.start
        said = state.game.watch.step(env.step, action)
        try:
            state.seen, reward, terminated, truncated, state.infos = said
        except (TypeError, ValueError):
            raise wrong(said, action) from None
        rewards[0] = paid(reward, action)
        state.end_step(0 if terminated or truncated else 1, bool(truncated))
        if state.bits:
            check_actions(env.action_space, seat, action)


def step_aec(state: ForeignState, actions: Any, rewards: Any) -> None:
    """Make a step of a PettingZoo environment in which agents choose in turn; those who have ended are passed over."""
    if not state.bits:
        for player in range(len(rewards)):
            rewards[player] = 0.0
    else:
        env, game = state.env, state.game
        player = state.bits.bit_length() - 1
        action = int(actions[player]) + game.seats[player].start
        game.watch.step(env.step, action)
        given = env.rewards
        for player, seat in enumerate(game.seats):
            rewards[player] = paid(given.get(seat.name, 0.0), action)
        truncated = any(env.truncations.values())
        state.end_step(chooser(state), truncated)


def chooser(state: ForeignState) -> int:
    """Return the bit of the agent that is to choose, after all that have ended took their last, empty turn."""
    env = state.env
    while env.agents:
        agent, ended, cut = env.agent_selection, env.terminations, env.truncations
        if not (ended.get(agent, True) or cut[agent]):
            return 1 << int(state.game.numbers[agent])
        if all(ended[other] or cut[other] for other in env.agents):
            break
        env.step(None)
    return 0


def step_cycle(state: ForeignState, actions: Any, rewards: Any) -> None:
    """Let all who are left in a cycle of a PettingZoo environment choose, none of whom knows what the others chose."""
    for player in range(len(rewards)):
        rewards[player] = 0.0
    if state.bits:
        env, game, left = state.env, state.game, state.bits
        while left and env.agents:
            player = game.numbers[env.agent_selection]
            if env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
                env.step(None)
            elif left >> player & 1:
                action = int(actions[player]) + game.seats[player].start
                game.watch.step(env.step, action)
                for other, seat in enumerate(game.seats):
                    rewards[other] += paid(env.rewards.get(seat.name, 0.0), action)
            else:
                break  # the cycle is over
            left &= ~(1 << player)
        truncated = any(env.truncations.values())
        state.end_step(in_cycle(env, game.numbers) if chooser(state) else 0, truncated)


def in_cycle(env: Any, numbers: Mapping[Any, int]) -> int:
    """Return the bits of those who are still to choose in this cycle."""
    left = env.agents[env.agents.index(env.agent_selection) :]
    return sum(1 << numbers[agent] for agent in left if not (env.terminations[agent] or env.truncations[agent]))


def step_parallel(state: ForeignState, actions: Any, rewards: Any) -> None:
    """Make a step of a PettingZoo environment in which all live agents choose at once."""
    for player in range(len(rewards)):
        rewards[player] = 0.0
    if state.bits:
        env, seats = state.env, state.game.seats
        moves = {
            seat.name: int(actions[player]) + seat.start
            for player, seat in enumerate(seats)
            if state.bits >> player & 1
        }
        said = state.game.watch.step(env.step, moves)
        try:
            state.seen, given, ended, cut, state.infos = said
        except (TypeError, ValueError):
            raise wrong(said, moves) from None
        for player, seat in enumerate(seats):
            rewards[player] = paid(given.get(seat.name, 0.0), moves)
        live = [agent for agent in env.agents if not (ended.get(agent) or cut.get(agent))]
        state.end_step(sum(1 << state.game.numbers[agent] for agent in live), any(cut.values()))


def _mask_single(state: Any, player: int) -> Any:
    infos = state.infos
    return infos.get("action_mask") if infos else None


def _mask_asked(state: Any, player: int) -> Any:
    return masks_of(teller(state.dressed) if state.wrappers else state.env)


def _mask_shown(state: Any, player: int) -> Any:
    mask, seen = _mask_single(state, player), state.seen
    return seen.get("action_mask") if mask is None and isinstance(seen, Mapping) else mask


def _mask_aec(state: Any, player: int) -> Any:
    seat = state.game.seats[player]
    mask = (state.env.infos.get(seat.name) or {}).get("action_mask")
    return _in_observation(seat, state.env.observe) if mask is None else mask


def _mask_parallel(state: Any, player: int) -> Any:
    seat = state.game.seats[player]
    mask = (state.infos.get(seat.name) or {}).get("action_mask") if state.infos else None
    return _in_observation(seat, state.seen.get) if mask is None and state.seen else mask


def _in_observation(seat: Any, observe: Callable[[Any], Any]) -> Any:
    """Return the mask in what a player observes; None if its observations hold none."""
    if not isinstance(seat.space, spaces.Dict) or "action_mask" not in seat.space.spaces:
        return None
    return observe(seat.name)["action_mask"]


def _legal_by(mask_of: Mask) -> Callable[[Any, int, Any], int]:
    def legal(state: Any, player: int, actions: Any) -> int:
        """Fill in the legal actions of a player who is to choose, counted from 0."""
        mask = mask_of(state, player)
        count: int = state.game.seats[player].actions
        if mask is not None and state.wrappers:
            mask = _seen_from_outside(state, mask)
        if mask is None:
            actions[:count] = _all(count)
            return count
        found = np.flatnonzero(mask).tolist()
        if not found or np.size(mask) != count:  # it may have the shape of the board
            seat = state.game.seats[player]
            whose = state.game.name if seat.name is None else f"{seat.name} in {state.game.name}"
            wrong = (
                f"has {np.size(mask)} numbers for {count} actions; give each action one"
                if found
                else f"allows none of {count} actions and the episode goes on; end it, or allow one, or register an "
                "agents.bridge.Adapter with legal(env, agent)"
            )
            if not found and hasattr(state.env, "agent_selection") and state.game.simultaneous:
                wrong += ", or say metadata['is_parallelizable']=False if agents take turns"
            raise ValueError(f"the action mask of {whose} {wrong}")
        actions[: len(found)] = found
        return len(found)

    return legal


@lru_cache
def _all(count: int) -> list[int]:
    """Return all of so many actions; making a list of 10,000 numbers takes longer than many a step."""
    return [*range(count)]


def _seen_from_outside(state: Any, mask: Any) -> Any:
    """Return which actions are legal where wrappers change them; None where what is inside has none to be counted."""
    env, seat = state.dressed, state.game.seats[0]
    within = teller(env) or state.env
    inside = within.action_space
    if within is env or not acted_on(env):
        return mask
    if not isinstance(inside, spaces.Discrete):
        return None
    each = np.ravel(mask)
    return [each[int(inward(env, action + seat.start, within)) - inside.start] for action in range(seat.actions)]


def _seen_single(state: Any, player: int) -> Any:
    return state.seen


def _seen_aec(state: Any, player: int) -> Any:
    return state.env.observe(state.game.seats[player].name)


def _seen_parallel(state: Any, player: int) -> Any:
    return state.seen.get(state.game.seats[player].name) if state.seen else None


def _key_by(seen_by: Callable[[Any, int], Any]) -> Callable[[Any, int], int]:
    def key(state: Any, observer: int) -> int:
        """Hash what a player observes; for -1, everything but random generators."""
        if observer != EVERYTHING:
            seen, looks = seen_by(state, observer), state.looks[state.at_root]
            return digest((state.bits, through(looks, state.env, seen) if looks and seen is not None else seen))
        left = state.left if state.left < NO_LIMIT // 2 else None  # where there is no limit it is counted down too
        return digest((state.bits, left, held(state)))

    return key


def held(state: Any) -> Any:
    """Return what tells the states of an environment apart."""
    adapter = state.game.adapter
    if adapter is not None and adapter.key is not None:
        return adapter.key(state.env)
    native = state.game.notes.get("means", NATIVE) == NATIVE and offers_clones(state.env)
    return snapshot_of(state.env) if native else state.env


def _observe_by(seen_by: Callable[[Any, int], Any], anew: bool = False) -> Callable[[Any, int, Any], None]:
    def observe(state: Any, player: int, out: Any) -> None:
        """Write what a player observes, through the wrappers of the environment, flattened by its space."""
        seen = seen_by(state, player)
        if seen is None:
            raise ValueError(
                f"{state.game.name} does not say again what it showed last; wrap it in agents.bridge.Remember, inside "
                "of what stacks frames or keeps something else of the past, or give agents.bridge.view(env, "
                "observation=...)"
            )
        name, space = state.game.seats[player].name, state.game.seats[player].shown
        seen = through(state.lenses[state.at_root and not anew], state.env, seen, name)
        if not len(out):
            raise TypeError(
                f"{space!s:.200}, which {state.game.name} shows, is not flattened to numbers by its package; wrap it "
                "in an observation wrapper that shows an array, as MiniGrid's ImgObsWrapper or FlatObsWrapper"
            )
        flat = spaces.flatten(space, seen)
        out[: len(flat)] = flat

    return observe


def _is_left_alone(state: Any, player: int) -> bool:
    return True


def _is_left_aec(state: Any, player: int) -> bool:
    name, env = state.game.seats[player].name, state.env
    return name in env.agents and not (env.terminations[name] or env.truncations[name])


def _is_left_parallel(state: Any, player: int) -> bool:
    return bool(state.bits >> player & 1)


def _status_by(is_left: Callable[[Any, int], bool]) -> Callable[[Any, int], int]:
    def status(state: Any, player: int) -> int:
        """Return whether the episode goes on for a player, has ended, or was cut off."""
        if state.bits and is_left(state, player):
            return RUNNING
        return TRUNCATED if state.truncated else TERMINATED

    return status


def _kind(step: Any, mask_of: Mask, seen_by: Any, is_left: Any) -> Mapping[str, Any]:
    common = {"active": active, "advise": advise, "determinize": determinize, "evaluate": evaluate, "reset": reset}
    return common | {
        "status": _status_by(is_left),
        "step": step,
        "legal": _legal_by(mask_of),
        "key": _key_by(seen_by),
        "observe": _observe_by(seen_by),
    }


SINGLE = _kind(step_single, _mask_single, _seen_single, _is_left_alone)
ASKED = _kind(step_single, _mask_asked, _seen_single, _is_left_alone)
"""Gymnasium environments with ``action_masks()``, of their own or of a wrapper."""

SHOWN = _kind(step_single, _mask_shown, _seen_single, _is_left_alone)
"""Gymnasium environments with an ``action_mask`` in what they show."""

AEC = _kind(step_aec, _mask_aec, _seen_aec, _is_left_aec)
CYCLE = _kind(step_cycle, _mask_aec, _seen_aec, _is_left_aec)
"""Environments in which agents choose in turn, but the state changes only when all have chosen."""

PARALLEL = _kind(step_parallel, _mask_parallel, _seen_parallel, _is_left_parallel)


_KINDS = {"SINGLE": SINGLE, "ASKED": ASKED, "SHOWN": SHOWN, "AEC": AEC, "CYCLE": CYCLE, "PARALLEL": PARALLEL}


def adapted(kind: str, adapter: Adapter | None) -> Mapping[str, Any]:
    """Return the functions of a kind of environments, with those of an adapter in place of theirs."""
    functions = dict(_KINDS[kind])
    if adapter is not None and adapter.legal is not None:
        functions["legal"] = _legal_by(lambda state, player: adapter.legal(state.env, state.game.seats[player].name))
    if adapter is not None and adapter.actions is not None:
        functions["legal"] = _listed_by(adapter.actions)
    if adapter is not None and adapter.observe is not None:
        seen_by = _asked_of(adapter.observe)
        functions |= {"key": _key_by(seen_by), "observe": _observe_by(seen_by, anew=True)}
    if adapter is not None and adapter.evaluate is not None:
        functions["evaluate"] = _evaluate_by(adapter.evaluate)
    return functions | {"loops": {(functions["step"], functions["legal"]): _loop_of(kind, adapter)}}


def _loop_of(kind: str, adapter: Adapter | None) -> Any:
    """Return what makes a quicker loop of a uniform rollout; None where there is none."""
    if kind in ("SINGLE", "ASKED", "SHOWN"):
        listed = adapter is not None and (adapter.legal is not None or adapter.actions is not None)
        return single(masked=listed or kind != "SINGLE")
    if kind == "AEC" and adapter is not None and adapter.play is not None:
        return played_by(adapter.play, chooser)
    return None


def _asked_of(observe: Callable[[Any, Any], Any]) -> Callable[[Any, int], Any]:
    return lambda state, player: observe(state.env, state.game.seats[player].name)


def _listed_by(actions_of: Callable[[Any, Any], list[int]]) -> Callable[[Any, int, Any], int]:
    def legal(state: Any, player: int, actions: Any) -> int:
        """Fill in the legal actions of a player who is to choose, as the adapter lists them."""
        found = actions_of(state.env, state.game.seats[player].name)
        if not found:
            raise ValueError(
                f"the adapter of {state.game.name} lists no legal action and the episode goes on; list one"
            )
        actions[: len(found)] = found
        return len(found)

    return legal


def _evaluate_by(worth: Callable[[Any], Any]) -> Callable[[Any, Any], None]:
    def evaluate(state: Any, values: Any) -> None:
        """Write what the adapter says that a state is worth."""
        found = [float(value) for value in worth(state.env)]
        if len(found) != len(values):
            raise ValueError(
                f"the adapter of {state.game.name} evaluates {len(found)} player(s), and there are {len(values)}"
            )
        going = [value for i, value in enumerate(found) if state.game.status(state, i) == RUNNING]
        if any(value - value for value in going):  # of infinity and NaN it is NaN
            raise ValueError(f"the adapter of {state.game.name} evaluates {found}; a worth is a finite number")
        values[:] = found

    return evaluate
