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


def test_blocks_add_nothing_until_they_have_learned():
    network = PlanesExtractor(BOARD, 16, 8, layers=1, blocks=2)
    first, _, *blocks, flat, dense, _ = network.layers
    assert [type(block).__name__ for block in blocks] == ["Residual", "Residual"]
    seen = torch.rand(2, 4, 3, 5)
    plain = torch.relu(dense(flat(torch.relu(first(seen)))))
    assert torch.equal(network(seen), plain)
    network(seen).sum().backward()
    assert all(block.part.grad for block in blocks)
    with torch.no_grad():
        blocks[1].part += 1.0
    assert not torch.equal(network(seen), plain)


@pytest.mark.parametrize("blocks", [-1, 10**6, 1.5, "2"])
def test_numbers_of_blocks_that_cannot_be(blocks):
    with pytest.raises((ValueError, TypeError), match="blocks"):
        PlanesExtractor(BOARD, blocks=blocks)


@pytest.mark.parametrize("layers", [0, -1, 10**6, 1.5, "2"])
def test_numbers_of_convolutions_that_cannot_be(layers):
    with pytest.raises((ValueError, TypeError), match="layers"):
        PlanesExtractor(BOARD, layers=layers)
