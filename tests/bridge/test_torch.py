"""What environments hold of PyTorch: tensors with gradients, of other types, and networks as opponents."""

import numpy as np
import pytest

from agents.bridge.copying.copies import Copy
from agents.bridge.copying.digest import digest
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


def test_tensors_are_put_back_where_they_lie():
    small, large = torch.zeros(3), torch.zeros(200, 200)
    held = {"small": small, "part": small[1:], "numbers": small[:1], "large": large, "device": small.device}
    held["weights"] = weights = torch.nn.Parameter(torch.ones(2))
    weights.sum().backward()
    copy = Copy(held)
    made = copy.env
    assert not copy.opaque
    made["numbers"].numpy()[0] = 5  # which PyTorch does not count
    made["part"] += 1
    made["large"].add_(2)
    with torch.no_grad():
        made["weights"].mul_(3)
    made["weights"].grad.add_(4)
    torch.nn.Module.zero_grad(torch.nn.ParameterList([made["weights"]]))
    assert made["small"].tolist() == [5, 1, 1]
    assert (small.tolist(), large.sum(), weights.tolist(), weights.grad.tolist()) == ([0, 0, 0], 0, [1, 1], [1, 1])
    for _ in range(2):
        copy.restore()
        assert (made["small"].tolist(), made["large"].sum()) == ([0, 0, 0], 0)
        assert (made["weights"].tolist(), made["weights"].grad.tolist()) == ([1, 1], [1, 1])
        made["part"] += 1
        made["large"].add_(2)
        assert made["small"].tolist() == [0, 1, 1]


def replaced(tensor):
    tensor.data = torch.ones(5, dtype=torch.float64)


def shrunk(tensor):
    tensor.data = tensor.data[:1]


def uncounted(tensor):
    tensor.data.fill_(1)


def learned(tensor):
    tensor += torch.ones(tensor.shape, requires_grad=True)


def frozen(tensor):
    tensor.requires_grad_(not tensor.requires_grad)


def marked(tensor):
    tensor.marks.append(1)
    tensor.other = 1


@pytest.mark.parametrize("change", [replaced, shrunk, uncounted, learned, frozen, marked])
@pytest.mark.parametrize("tensor", [torch.zeros(3), torch.zeros(200, 100), torch.nn.Parameter(torch.zeros(3))])
def test_whatever_became_of_a_tensor_is_put_back(tensor, change):
    tensor.marks = []
    copy = Copy([tensor, tensor.detach()])
    made, same = copy.env
    for _ in range(2):
        with torch.set_grad_enabled(not tensor.requires_grad):
            change(made)
        copy.restore()
        assert made.grad_fn is None
        assert (made.requires_grad, made.dtype, made.shape) == (tensor.requires_grad, tensor.dtype, tensor.shape)
        assert not made.any()
        assert vars(made) == vars(tensor) == {"marks": []}
        with torch.no_grad():
            made.fill_(1)
        assert same.all()
    assert not tensor.any()


@pytest.mark.parametrize("tensor", [torch.zeros(1).expand(3), torch.eye(2).to_sparse(), torch.empty(2, device="meta")])
def test_tensors_whose_numbers_lie_otherwise_are_copied_anew(tensor):
    copy = Copy([tensor])
    assert copy.opaque
    first = copy.env[0]
    copy.restore()
    assert len({id(tensor), id(first), id(copy.env[0])}) == 3


def of_arrays():
    array = np.zeros((2, 3))
    return {"array": array, "tensor": torch.from_numpy(array), "part": array[1], "row": torch.from_numpy(array)[1]}


def of_tensors():
    tensor = torch.zeros(2, 3, dtype=torch.float64)
    return {"array": tensor.numpy(), "tensor": tensor, "part": tensor.numpy()[1], "row": tensor.detach()[1]}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shared", [of_arrays, of_tensors])
def test_arrays_and_tensors_that_share_memory_do_so_in_copies(shared, turned):
    held = shared()
    copy = Copy(dict(reversed(held.items())) if turned else held)
    assert not copy.opaque
    for name in held:
        copy.env[name][...] = 1
        assert [float(copy.env[each].sum()) for each in held] == [6 if name in ("array", "tensor") else 3] * 2 + [3, 3]
        copy.restore()
        assert not any(float(copy.env[each].sum()) for each in held)
    assert not any(float(each.sum()) for each in held.values())


class Opposed(Walk):
    """Asks a network, with what trained it beside it, at each step."""

    def __init__(self):
        super().__init__()
        self.opponent = torch.nn.Sequential(*(torch.nn.Linear(2, 2) for _ in range(20)))
        self.optimizer = torch.optim.Adam(self.opponent.parameters())
        self.opponent(torch.ones(2)).sum().backward()
        self.optimizer.step()

    def step(self, action):
        with torch.no_grad():
            self.opponent(torch.ones(2))
        return super().step(action)


def test_an_opponent_of_pytorch_is_copied_once():
    env = Opposed()
    env.reset(seed=0)
    assert not Copy(env).opaque
    assert mcts(30).search(env).action == 1
