"""Networks for observations in planes."""

from itertools import chain, pairwise

import gymnasium
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from mcts_envs.core import errors

_MOST = 1000


class Residual(nn.Module):
    """Two convolutions of 3 x 3, whose part in the result is learned from none on, beside what they are given.

    K. He et al. 2016, "Deep Residual Learning for Image Recognition"; T. Bachlechner et al. 2021, "ReZero is All You
    Need".

    Parameters
    ----------
    channels : int
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        first, second = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.convolved = nn.Sequential(first, nn.ReLU(), second)
        self.part = nn.Parameter(torch.zeros(1))

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """Return planes of the same shape."""
        return torch.relu(planes + self.part * self.convolved(planes))


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
    blocks : int
        Number of pairs of convolutions, with what goes past them, that follow these.
    """

    def __init__(
        self,
        observation_space: gymnasium.spaces.Box,
        features_dim: int = 128,
        channels: int = 32,
        layers: int = 2,
        blocks: int = 0,
    ) -> None:
        errors.integer("layers", layers, 1, _MOST)
        errors.integer("blocks", blocks, 0, _MOST)
        super().__init__(observation_space, features_dim)
        planes, rows, columns = observation_space.shape
        sizes = [planes, *[channels] * layers]
        convolved = [(nn.Conv2d(of, to, 3, padding=1), nn.ReLU()) for of, to in pairwise(sizes)]
        residual = (Residual(channels) for _ in range(blocks))
        flat = nn.Flatten(), nn.Linear(channels * rows * columns, features_dim), nn.ReLU()
        self.layers = nn.Sequential(*chain.from_iterable(convolved), *residual, *flat)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the features [batch, features_dim] of observations [batch, planes, rows, columns]."""
        features: torch.Tensor = self.layers(observations)
        return features
