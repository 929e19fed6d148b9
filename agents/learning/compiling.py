"""Networks of policies in compiled code, held against what they were made of."""

import math

import numpy as np

from agents.evaluator.compiled import CompiledEvaluator, Dense, Normalization
from agents.learning.saved.fitting import fitting, own_mask
from agents.learning.saved.policy import NetworkPolicy
from mcts_envs.core.contract import Game


def compiled_evaluator(policy: NetworkPolicy, game: Game) -> CompiledEvaluator:
    """Return the network of a policy as compiled code runs it in a game.

    Raises
    ------
    ValueError
        If the policy does not fit the game.
    TooLargeError
        If its network is too large.
    """
    network = policy.network
    policy_tower, value_tower = ([Dense(*layer) for layer in tower] for tower in (network.policy, network.value))
    shown = fitting(policy, own_mask(policy, game))
    if network.inputs != math.prod(shown.observation_shape):
        raise ValueError(f"{policy.path} has {network.inputs} inputs, not the {shown.observation_shape} that it names")
    return CompiledEvaluator(policy_tower, value_tower, shown, _normalization(policy), policy.unit)


def _normalization(policy: NetworkPolicy) -> Normalization | None:
    """Return what is done to the observation first, with the scale of the network."""
    scale, inputs = policy.network.scale, policy.network.inputs
    if policy.moments is None or policy.moments[0].shape != policy.observation_shape:  # as Policy.normalized has it
        zeros = np.zeros(inputs)
        return None if scale == 1.0 else Normalization(zeros, np.full_like(zeros, 1.0 / scale), math.inf)
    mean, deviation, clip = policy.moments
    return Normalization(mean.ravel(), (1.0 / deviation / scale).ravel(), clip / scale)
