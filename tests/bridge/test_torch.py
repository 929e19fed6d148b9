"""What environments hold of PyTorch: tensors with gradients, of other types, and networks as opponents."""

import pytest

from agents.bridge.digest import digest
from agents.bridge.means import FAST
from tests.bridge.worlds import Walk, mcts

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "tensor",
    [
        torch.ones(2, requires_grad=True),
        torch.ones(2, requires_grad=True) * 2,
        torch.ones(2, dtype=torch.bfloat16),
        torch.eye(2).to_sparse(),
        torch.ones(2, dtype=torch.complex64).conj(),
    ],
)
def test_tensors_are_told_apart_by_their_numbers(tensor):
    assert digest([tensor]) == digest([tensor.clone()]) != digest([tensor.detach() * 3])


class Training(Walk):
    """Trains a network by the way, and keeps what it said last."""

    def __init__(self):
        super().__init__()
        self.network = torch.nn.Linear(2, 2)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.1)
        self.said_last = self.network(torch.ones(2))

    def step(self, action):
        self.said_last = self.network(torch.ones(2))
        self.optimizer.zero_grad()
        self.said_last.sum().backward()
        self.optimizer.step()
        return super().step(action)


def test_networks_and_what_trains_them_are_copied():
    env = Training()
    env.reset(seed=0)
    before = env.network.weight.tolist()
    result = mcts(30).search(env)
    assert (result.action, result.copies.means) == (1, FAST)
    assert env.network.weight.tolist() == before
