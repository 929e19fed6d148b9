"""A policy learns from positions: which actions a search preferred there, and what they turned out to be worth."""

from typing import TYPE_CHECKING, Any

import numpy as np

from agents.learning.algorithms import takes_masks
from agents.learning.positions import Positions
from agents.learning.saved.normalizing import shows_bytes
from agents.learning.saved.storage import says_at_once
from mcts_envs.core.api.quantized import quantized
from mcts_envs.core.typing import Singles, Symmetries

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

_CLIP = 0.5
_AT_ONCE = 4096


def distil(
    model: "BaseAlgorithm",
    positions: Positions,
    steps: int,
    dice: np.random.Generator,
    *,
    batch: int,
    learning_rate: float,
    trust: float,
    symmetries: Symmetries = (),
) -> tuple[float, float]:
    """Train policy and values of a model on positions, with its own optimizer.

    The loss is the cross entropy between the probabilities of the search and the policy's, and half the square of what
    the values are off.

    Parameters
    ----------
    model : BaseAlgorithm
        PPO or MaskablePPO, with an environment.
    positions : Positions
    steps : int
        Of the optimizer.
    dice : Generator
        Draws the positions of each step.
    batch : int
        Positions in a step.
    learning_rate : float
    trust : float
        As for :meth:`agents.learning.positions.Positions.values`.
    symmetries : sequence of (ints or callable, ints)
        Of the game (:class:`mcts_envs.core.contract.Game`): each position is turned by one of them, or left as it is,
        one as likely as the other.

    Returns
    -------
    policy, values : float
        Mean losses: the divergence of the policy from the search (nats), and the mean square of what the values, in
        the units of the training, are off.
    """
    import torch

    policy: Any = model.policy
    optimizer, masked = policy.optimizer, takes_masks(model)
    worth, scale = positions.values(trust), _scale(model.get_vec_normalize_env())
    policy.set_training_mode(True)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    losses = np.zeros(2)
    for _ in range(steps):
        rows = dice.integers(len(positions), size=batch)
        legal, shares = positions.dense(rows, int(model.action_space.n))  # type: ignore[attr-defined]
        observations = positions.observations[rows]
        if symmetries:
            observations, legal, shares = turned(observations, legal, shares, symmetries, dice)
        wanted = torch.as_tensor(shares, device=policy.device)
        values, logits = _said(policy, _shown(model, observations), legal if masked else None)
        surprise = -(wanted * logits).sum(1).mean()
        off = torch.nn.functional.mse_loss(values, torch.as_tensor(worth[rows] / scale, device=policy.device))
        optimizer.zero_grad()
        (surprise + 0.5 * off).backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), _CLIP)
        optimizer.step()
        certain = float((shares * np.log(np.maximum(shares, 1e-30))).sum(1).mean())
        losses += surprise.item() + certain, off.item()
    policy.set_training_mode(False)
    policy_loss, value_loss = losses / max(1, steps)
    return float(policy_loss), float(value_loss)


def turned(
    observations: Singles, legal: Any, shares: Singles, symmetries: Symmetries, dice: np.random.Generator
) -> tuple[Singles, Any, Singles]:
    """Return positions, each turned by a symmetry that is drawn for it, or left as it is; see :func:`distil`.

    Parameters
    ----------
    observations : float32 array [b, ...]
    legal : bool array [b, A]
    shares : float32 array [b, A]
    symmetries : sequence of (ints or callable, ints)
    dice : Generator
    """
    flat, legal, shares = observations.reshape(len(observations), -1).copy(), legal.copy(), shares.copy()
    drawn = dice.integers(len(symmetries) + 1, size=len(flat))
    for number, (looks, actions) in enumerate(symmetries):
        rows, back = np.flatnonzero(drawn == number), np.argsort(actions)
        flat[rows] = looks(flat[rows]) if callable(looks) else flat[np.ix_(rows, np.asarray(looks))]
        legal[rows], shares[rows] = legal[np.ix_(rows, back)], shares[np.ix_(rows, back)]
    return flat.reshape(observations.shape), legal, shares


def agreement(model: "BaseAlgorithm", positions: Positions) -> float:
    """Return in which part of positions with a choice the policy's most likely action is the search's.

    Where a player who is imitated chose what is illegal, it is not.
    """
    import torch

    policy: Any = model.policy
    masked, same = takes_masks(model), 0
    chosen = np.flatnonzero(positions.counts > 1)
    with torch.no_grad():
        for start in range(0, len(chosen), _AT_ONCE):
            rows = chosen[start : start + _AT_ONCE]
            legal, shares = positions.dense(rows, int(model.action_space.n))  # type: ignore[attr-defined]
            _, logits = _said(policy, _shown(model, positions.observations[rows]), legal if masked else None)
            likely = logits.numpy(force=True).argmax(1)
            same += int(((likely == shares.argmax(1)) & shares.any(1)).sum())
    return same / max(1, len(chosen))


def settle(model: "BaseAlgorithm", positions: Positions) -> None:
    """Let ``VecNormalize``, if there is one, divide by what positions show: from then on it stays as it is."""
    env = model.get_vec_normalize_env()
    if env is None:
        return
    if env.norm_reward:
        square = float(np.mean(np.square(positions.returns, dtype=np.float64)))
        env.ret_rms.mean, env.ret_rms.var = np.array(0.0), np.array(max(square, 1e-8))
        env.ret_rms.count = float(len(positions))
    if env.norm_obs:
        moments: Any = env.obs_rms
        seen = _typed(model, positions.observations[:])
        moments.mean, moments.var = seen.mean(0, np.float64), seen.var(0, np.float64)
        moments.count = float(len(positions))


def _scale(env: Any) -> float:
    """Return how much reward a value of 1 is."""
    return float(np.sqrt(env.ret_rms.var + env.epsilon)) if env is not None and env.norm_reward else 1.0


def _typed(model: Any, observations: Singles) -> Any:
    """Return observations as the environment of a model shows them, which may be in bytes."""
    return quantized(observations) if shows_bytes(model) else observations


def _shown(model: Any, observations: Singles) -> Any:
    typed, env = _typed(model, observations), model.get_vec_normalize_env()
    return typed if env is None else env.normalize_obs(typed)


def _said(policy: Any, observations: Any, legal: Any) -> tuple[Any, Any]:
    """Return values [b] and log-probabilities [b, A] as the policy says them: in one pass, if the towers share."""
    shown = policy.obs_to_tensor(observations)[0]
    if not says_at_once(policy):
        extra = () if legal is None else (legal,)
        return policy.predict_values(shown).flatten(), policy.get_distribution(shown, *extra).distribution.logits
    actor, critic = policy.mlp_extractor(policy.extract_features(shown))
    distribution = policy._get_action_dist_from_latent(actor)
    if legal is not None:
        distribution.apply_masking(legal)
    return policy.value_net(critic).flatten(), distribution.distribution.logits
