"""Policies that a search consults."""

import copy
import re
from pathlib import Path
from typing import Any

import numpy as np

from agents.bridge.sharing import paid_alike
from agents.evaluator.batched import BatchedEvaluator
from agents.evaluator.compiled import CompiledEvaluator, TooLargeError
from agents.evaluator.plain import PlainEvaluator
from agents.evaluator.table import TableEvaluator
from agents.learning.algorithms import ALGORITHMS, algorithm_class
from agents.learning.compiling import compiled_evaluator
from agents.learning.export import plain_arrays
from agents.learning.freezing import frozen
from agents.learning.functions import FunctionPolicy, in_shape
from agents.learning.loading import load_policy, load_shipped
from agents.learning.saved import normalizing, storage
from agents.learning.saved.fitting import fitting, learned_rewards, own_mask, rewards_of
from agents.learning.saved.moved import inside, settings_of, worn
from agents.learning.saved.notices import notice
from agents.learning.saved.policy import NetworkPolicy, Policy
from agents.learning.saved.recurrent import refuse
from agents.learning.saved.shipped import BEST, SEARCHED
from agents.search.given import named
from agents.wrappers import OF_ACTIONS, OF_OBSERVATIONS, OF_REWARDS
from mcts_envs.core import errors
from mcts_envs.core.contract import Game
from mcts_envs.core.rng import choose_among, new_stream

SHIPPED = (BEST, *SEARCHED)

TOLERANCE = 1e-5
"""How far compiled code may be from the policy itself, in units of the greatest output where that is above 1."""

_STATES = 256

_SOMEWHERE = re.compile(r"(?!sb3:).+:[A-Za-z_]\w*")
"""Where a function is: ``FILE.py:NAME`` or ``package.module:NAME``."""


def read_policy(policy: Any, *, prior: bool = True) -> Policy | FunctionPolicy | str:
    """Return a policy that a search is to consult, or the name of one that comes with the game at hand.

    Parameters
    ----------
    policy : str, Path, model, Policy or callable
        ``"shipped"`` for what comes with this package, or by name, ``"ppo"``; a path as for ``"sb3:PATH"``; a model of
        Stable-Baselines3, whose present weights are taken; a policy that was loaded, which is asked as it is; or a
        function (:class:`agents.learning.functions.FunctionPolicy`), itself or by where it is, ``"FILE.py:NAME"``.
    prior : bool
        Whether its probabilities are wanted.

    Raises
    ------
    FileNotFoundError, ValueError, TypeError, ImportError
        If there is no such policy, its weights are not finite, or it has no probabilities and they are wanted.
    """
    if isinstance(policy, str) and policy in SHIPPED:
        return policy
    arrays = _read(policy)
    if isinstance(arrays, FunctionPolicy):
        return arrays
    if prior and not arrays.has_probabilities:
        raise ValueError(
            f"{arrays.path} is a policy of {arrays.algorithm}, which has no probabilities; it has values alone: take "
            "'mcts' with evaluate='policy', and leave out select='puct' and 'advised'"
        )
    return arrays


def evaluator_for(policy: Policy | FunctionPolicy | str, game: Game) -> TableEvaluator | PlainEvaluator:
    """Return a policy that was read as the search of a game consults it.

    Plain arrays run in compiled code, if that says the same on states of the game; what anything else holds, or was
    trained on bytes, is asked in batches; and where the search is plain Python, one by one.

    Raises
    ------
    ValueError
        If none is shipped for the game, or the policy does not fit it.
    """
    if isinstance(policy, FunctionPolicy):
        if hasattr(game.step, "overloads"):
            return BatchedEvaluator(policy.shown(game), game)
        game = in_shape(game)
        return PlainEvaluator(policy.shown(game), game, paid_alike)
    if isinstance(policy, str):
        policy = load_shipped(game, policy)
    evaluator = _evaluator_for(policy, game)
    evaluator.rewards = learned_rewards(policy, game)
    return evaluator


def _evaluator_for(policy: Policy, game: Game) -> TableEvaluator | PlainEvaluator:
    if not hasattr(game.step, "overloads"):
        return PlainEvaluator(policy, fitting(policy, own_mask(policy, game)), paid_alike)
    if isinstance(policy, NetworkPolicy) and not policy.in_bytes:
        try:
            evaluator = compiled_evaluator(policy, game)
        except TooLargeError as error:
            notice(f"{policy.path}: {error}; so it is asked in batches")
        else:
            apart = _apart(policy, evaluator)
            if apart <= TOLERANCE:
                return evaluator
            notice(f"{policy.path}: compiled, it is {apart:.1e} from what it says; so it is asked in batches")
    return BatchedEvaluator(policy, fitting(policy, own_mask(policy, game)))


def _read(given: Any) -> Policy | FunctionPolicy:
    """Return a policy, as plain arrays if it can be said so."""
    policy: Policy
    if isinstance(given, str) and _SOMEWHERE.fullmatch(given):
        given = named("policy", given)
    if isinstance(given, Policy):
        policy = given
    elif isinstance(given, str | Path):
        policy = _load(given)
    elif hasattr(given, "obs_to_tensor") and not isinstance(given, type):
        name = type(given).__name__
        raise TypeError(f"policy {name} is a part of a model of Stable-Baselines3, as model.policy is; give the model")
    elif callable(given) and not isinstance(given, type):
        return FunctionPolicy(given)
    elif hasattr(given, "predict") and hasattr(given, "policy") and not isinstance(given, type):
        name, model = _algorithm(given), copy.copy(given)
        model.policy = frozen(given.policy)
        about = {**normalizing.of_model(given), "settings": _settings(given)}
        policy = storage.SavedPolicy(Path(type(given).__name__), name, model, about=about)
    else:
        known = ", ".join(map(repr, SHIPPED))
        hint = ": a class; load a model with it first" if isinstance(given, type) else ""
        kinds = "a path, a model of Stable-Baselines3, or a function"
        raise TypeError(f"policy {given!r:.80} is none of {known}, {kinds}{hint}")
    refuse(policy, "a search asks about single states")
    return plain_arrays(policy) if isinstance(policy, storage.SavedPolicy) and policy is not given else policy


def _settings(model: Any) -> dict[str, Any]:
    """Return what is known of the environment that a model is trained in: rewards and mask of one of ours, and bytes.

    One of ours in a wrapper that changes what it shows or pays, or what is done in it, is warned of.
    """
    env = model.get_env() if hasattr(model, "get_env") else None
    game = getattr(inside(env), "game", None)
    known: dict[str, Any] = {}
    if isinstance(game, Game):
        known = {**rewards_of(game), "mask": (settings_of(env) or {}).get("mask")}
    if names := worn(env, OF_OBSERVATIONS + OF_ACTIONS):
        notice(
            f"{type(model).__name__} was trained behind {', '.join(names)}, and a search asks it about what the game "
            "itself shows, and which of the game's own actions to take; train it without, or give a function that does "
            "the same (docs/policies.md)"
        )
    if names := worn(env, OF_REWARDS):
        notice(
            f"{type(model).__name__} was trained behind {', '.join(names)}: its values are of those rewards, and a "
            "search counts the game's own; train it without, or give a function that turns its values into these "
            "(docs/policies.md)"
        )
    return {**known, "observation_dtype": "uint8"} if normalizing.shows_bytes(model) else known


def _load(path: str | Path) -> Policy:
    near = str(path).lower()
    if near.endswith(".py"):
        raise ValueError(f"{path} is no policy but code; name the function in it, {path}:NAME")
    try:
        return load_policy(path.removeprefix("sb3:") if isinstance(path, str) else path)
    except FileNotFoundError as error:
        if near in SHIPPED:
            raise FileNotFoundError(f"{error}; or do you mean {near!r}, which comes with this package?") from None
        raise


def _algorithm(model: Any) -> str:
    known = {path.split(":")[1]: name for name, path in ALGORITHMS.items()}
    names = [each.__name__ for each in type(model).__mro__]  # a class of one's own is derived from one of these
    kind = next((name for name in names if name in known), names[0])
    if kind not in known:
        raise ValueError(f"{errors.unknown('algorithm', kind, known)}; or give a function (docs/policies.md)")
    if not isinstance(model, algorithm_class(known[kind])):
        raise ValueError(
            f"{kind} of {type(model).__module__} is no model of Stable-Baselines3 or sb3-contrib, whose networks are "
            "read here; give a function that asks it (docs/policies.md)"
        )
    return known[kind]


def _apart(policy: NetworkPolicy, evaluator: CompiledEvaluator) -> float:
    """Return how far compiled code is from a policy on states of the game."""
    shown, found = _sample(evaluator)
    normalized = policy.normalized(shown.reshape(len(shown), *policy.observation_shape))
    wanted = [policy.network.scores(normalized)]
    if policy.network.value:
        wanted.append(policy.network.values(normalized)[:, None])
    greatest = [max(1.0, float(np.abs(there).max())) for there in wanted]
    apart = [float(np.abs(here - there).max()) for here, there in zip(found, wanted, strict=False)]
    return max(a / most for a, most in zip(apart, greatest, strict=True))


def _sample(evaluator: CompiledEvaluator) -> tuple[Any, tuple[Any, Any]]:
    """Return what players see in states of random games, and what compiled code says of that."""
    game, stream = evaluator.game, new_stream(0)
    state, actions, rewards = game.new_state(), np.zeros(game.players, np.int64), np.zeros(game.players)
    legal, seen = np.zeros(game.actions, np.int64), np.zeros(int(np.prod(game.observation_shape)), np.float32)
    equal = np.ones(game.actions)
    shown: list[Any] = []
    logits: list[Any] = []
    values: list[Any] = []
    seed = 0
    while len(shown) < _STATES:
        to_move = int(game.active(state)) if seed else 0
        if to_move == 0:
            seed += 1
            game.restart(state, seed)
            continue
        actions[:] = 0
        for player in (player for player in range(game.players) if to_move >> player & 1):
            game.observe(state, player, seen)
            shown.append(seen.copy())
            said = evaluator.outputs(state, player)
            logits.append(said[0])
            values.append(said[1])
            actions[player] = choose_among(stream, equal, legal, game.legal(state, player, legal))
        game.step(state, actions, rewards)
    return np.array(shown), (np.array(logits), np.array(values))
