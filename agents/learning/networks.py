"""Networks for observations in planes."""

from itertools import chain, pairwise

import gymnasium
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from mcts_envs.core import errors

_MOST = 1000


class PlanesExtractor(BaseFeaturesExtractor):
    """Convolutions of 3 x 3, which keep the size of the board, and a linear layer over all of it.

    Stable-Baselines3's own network for pictures takes none below 36 x 36.

    Parameters
    ----------
    observation_space : gymnasium.spaces.Box
        Of shape (planes, rows, columns).
    features_dim : int
        Size of what it gives.
    channels : int
        Of the convolutions.
    layers : int
        Number of the convolutions, from 1 on.
    """

    def __init__(
        self, observation_space: gymnasium.spaces.Box, features_dim: int = 128, channels: int = 32, layers: int = 2
    ) -> None:
        errors.integer("layers", layers, 1, _MOST)
        super().__init__(observation_space, features_dim)
        planes, rows, columns = observation_space.shape
        sizes = [planes, *[channels] * layers]
        convolved = [(nn.Conv2d(of, to, 3, padding=1), nn.ReLU()) for of, to in pairwise(sizes)]
        flat = nn.Flatten(), nn.Linear(channels * rows * columns, features_dim), nn.ReLU()
        self.layers = nn.Sequential(*chain.from_iterable(convolved), *flat)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the features [batch, features_dim] of observations [batch, planes, rows, columns]."""
        features: torch.Tensor = self.layers(observations)
        return features
