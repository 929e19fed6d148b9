"""Behaviour cloning: a policy learns to choose as another player does, before it learns by itself."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import agents
from agents.learning.algorithms import is_recurrent, takes_masks
from agents.learning.diverging import noticing
from mcts_envs.core import errors
from mcts_envs.core.api.mixture import many

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

_LENGTH = 128
"""Steps of each environment between two rounds of learning."""

_BATCH, _CLIP = 1024, 0.5
_MOST = 10**4


def imitate(
    model: "BaseAlgorithm",
    agent: str | Mapping[str, Any],
    steps: int,
    noise: float = 0.1,
    learning_rate: float = 1e-3,
    epochs: int = 2,
    window: int = 1,
    report: Callable[[str], None] = lambda text: None,
) -> float:
    """Train policy and values of a model on the choices of an agent, in the model's environment.

    In rounds: the agent plays 128 steps of each environment, the policy learns the agent's choices by their likelihood
    and the returns by their squares. A policy with masks learns the returns alone where the agent, as one without may,
    chose what is illegal.

    Parameters
    ----------
    model : BaseAlgorithm
        PPO or MaskablePPO, on an environment of :func:`mcts_envs.make_sb3_vec_env`.
    agent : str or dict
        As ``agents.make`` takes it: a name, or a dictionary with ``"agent"`` and its settings.
    steps : int
        Of all environments together; whole rounds.
    noise : float
        Part of the steps that are played at random, so that the policy sees what to do after a mistake; what it learns
        there is the agent's choice all the same.
    learning_rate : float
        At first; it falls to 0.
    epochs : int
        How many steps are learned from in a round, in multiples of those that it played.
    window : int
        Rounds from which these are drawn, the last ones. Where the agent is slow, more epochs over more rounds make
        more of its choices; they are all held in memory.
    report : callable, optional
        Told after each round how far it is.

    Returns
    -------
    float
        In which part of the last round's steps, before it learned from them, the policy's most likely action was the
        agent's.

    Raises
    ------
    ValueError, TypeError
        If a number is out of its bounds, or the agent is unknown.
    RuntimeError
        If weights are no longer finite.
    """
    import torch

    teacher = many(checked(model, agent, steps, noise, learning_rate, epochs, window))
    env: Any = model.get_env()
    policy: Any = model.policy
    dice = np.random.default_rng([model.seed or 0, 7])
    optimizer = torch.optim.Adam(policy.parameters(), learning_rate)
    rounds = max(1, round(steps / (_LENGTH * env.num_envs)))
    opponents: Any = getattr(env.unwrapped, "opponents", None)
    alone = opponents is not None and opponents.waits_for_self
    if alone:
        opponents.add_self("teacher", teacher)  # who stands in for past selves as long as there are none
    rounds_kept: deque[dict[str, Any]] = deque(maxlen=window)
    observations, agreed = env.reset(), 0.0
    for done in range(rounds):
        policy.set_training_mode(False)
        optimizer.param_groups[0]["lr"] = learning_rate * (1 - done / rounds)
        observations, seen = _watch(model, env, teacher, observations, noise, dice)
        agreed = _agreement(policy, seen, takes_masks(model))
        rounds_kept.append(seen)
        policy.set_training_mode(True)
        with noticing(model, lambda: f"imitate with a lower learning_rate than {learning_rate:g}"):
            for _ in range(max(1, epochs * len(seen["actions"]) // _BATCH)):
                part = rounds_kept[dice.integers(len(rounds_kept))]
                rows = dice.integers(len(part["actions"]), size=_BATCH)
                _learn(policy, optimizer, {name: values[rows] for name, values in part.items()}, takes_masks(model))
        per_round = _LENGTH * env.num_envs
        report(f"imitated {(done + 1) * per_round:,} of {rounds * per_round:,} steps, {agreed:.0%} agreed")
    policy.set_training_mode(False)
    if alone:
        opponents.forget_selves()
    return agreed


def checked(
    model: "BaseAlgorithm",
    agent: str | Mapping[str, Any],
    steps: int,
    noise: float = 0.1,
    learning_rate: float = 1e-3,
    epochs: int = 2,
    window: int = 1,
) -> Any:
    """Return the agent that is to be imitated, if what :func:`imitate` takes is right; raises as it does."""
    if not hasattr(model.policy, "evaluate_actions") or is_recurrent(model.policy):
        kind = type(model).__name__
        raise ValueError(f"imitate is for policies with probabilities and no memory, not for {kind}; leave it out")
    errors.integer("imitate steps", steps, 1, 10**12)
    errors.number("imitate noise", noise, 0.0, 1.0)
    errors.number("imitate learning_rate", learning_rate, 1e-12, 10.0)
    errors.integer("imitate epochs", epochs, 1, _MOST)
    errors.integer("imitate window", window, 1, _MOST)
    described = {"agent": agent} if isinstance(agent, str) else dict(agent)
    return agents.make(described.pop("agent"), **described)


def _watch(
    model: Any, env: Any, teacher: Any, observations: Any, noise: float, dice: np.random.Generator
) -> tuple[Any, dict[str, Any]]:
    """Let the teacher play a round; return the last observations, and what was seen, chosen, legal and won."""
    n = env.num_envs
    seen: dict[str, list[Any]] = {name: [] for name in ("observations", "actions", "masks", "rewards", "dones")}
    for _ in range(_LENGTH):
        masks = np.stack(env.env_method("action_masks"))
        chosen = env.unwrapped.advice(teacher, dice.integers(2**64, size=n, dtype=np.uint64))
        weights = np.where(masks.any(1, keepdims=True), masks, True) * dice.random(masks.shape)
        played = np.where(dice.random(n) < noise, weights.argmax(1), chosen)
        after, rewards, dones, infos = env.step(played)
        for i in np.flatnonzero([info["TimeLimit.truncated"] for info in infos]):  # as Stable-Baselines3 has it
            rewards[i] += model.gamma * _values(model, infos[i]["terminal_observation"][None])[0]
        for name, value in zip(seen, (observations, chosen, masks, rewards, dones), strict=True):
            seen[name].append(value)
        observations = after
    arrays = {name: np.stack(values) for name, values in seen.items()}
    values = _values(model, observations)
    returns = np.empty(arrays["rewards"].shape, np.float32)
    for t in range(_LENGTH - 1, -1, -1):
        values = returns[t] = arrays["rewards"][t] + model.gamma * values * ~arrays["dones"][t]
    arrays["returns"] = returns
    chose = arrays["masks"].any(2)
    return observations, {name: value[chose] for name, value in arrays.items()}


def _values(model: Any, observations: Any) -> Any:
    import torch

    with torch.no_grad():
        return model.policy.predict_values(model.policy.obs_to_tensor(observations)[0]).numpy(force=True)[:, 0]


def _learn(policy: Any, optimizer: Any, seen: dict[str, Any], masked: bool) -> None:
    """Make one step of the optimizer on some steps of the game."""
    import torch

    shown, extra = policy.obs_to_tensor(seen["observations"])[0], (seen["masks"],) if masked else ()
    actions = torch.as_tensor(seen["actions"], device=policy.device)
    values, likelihood, _ = policy.evaluate_actions(shown, actions, *extra)
    returns = torch.as_tensor(seen["returns"], device=policy.device)
    if masked:
        likelihood = likelihood * torch.as_tensor(seen["masks"], device=policy.device).gather(1, actions[:, None])[:, 0]
    loss = -likelihood.mean() + 0.5 * torch.nn.functional.mse_loss(values.flatten(), returns)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(policy.parameters(), _CLIP)
    optimizer.step()


def _agreement(policy: Any, seen: dict[str, Any], masked: bool) -> float:
    """Return in which part of some steps the policy's most likely action is that of the teacher."""
    import torch

    with torch.no_grad():
        shown, extra = policy.obs_to_tensor(seen["observations"])[0], (seen["masks"],) if masked else ()
        likely = policy.get_distribution(shown, *extra).distribution.logits.argmax(1).numpy(force=True)
    return float((likely == seen["actions"]).mean())
