"""Networks for observations in planes."""

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import torch
from gymnasium import spaces

from agents.learning.networks import PlanesExtractor

BOARD = spaces.Box(0.0, 1.0, (4, 3, 5), np.float32)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_there_are_as_many_convolutions_as_are_asked_for(layers):
    network = PlanesExtractor(BOARD, 16, 8, layers)
    shapes = [part.weight.shape for part in network.layers if isinstance(part, torch.nn.Conv2d)]
    assert shapes == [(8, 4, 3, 3), *[(8, 8, 3, 3)] * (layers - 1)]
    assert network(torch.zeros(2, 4, 3, 5)).shape == (2, 16)


def test_policies_that_were_saved_find_their_weights():
    parts = {name.rpartition(".")[0] for name in PlanesExtractor(BOARD).state_dict()}
    assert parts == {"layers.0", "layers.2", "layers.5"}


@pytest.mark.parametrize("layers", [0, -1, 10**6, 1.5, "2"])
def test_numbers_of_convolutions_that_cannot_be(layers):
    with pytest.raises((ValueError, TypeError), match="layers"):
        PlanesExtractor(BOARD, layers=layers)
