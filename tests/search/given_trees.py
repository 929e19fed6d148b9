"""A game on a tree whose logits, values and rewards are given, and plain searches of it to hold ours against.

A tree is a dictionary as ``tests/data/record_mctx.py`` writes it: complete, with ``branches`` actions at every node
above the leaves, child a of node n is ``branches * n + 1 + a``; numbers are for whoever moves at the node, in
hundredths. The searches here are written from the papers, with NumPy and without the kernels.
"""

import math

import numpy as np

from mcts_envs.core import contract
from mcts_envs.core.contract import Game, blank, state_dtype
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import combine, seed_stream
from mcts_envs.core.view import View

NODES, BRANCHES = 160, 5
GIVEN = state_dtype(
    [
        ("branches", "i8"),
        ("inner", "i8"),
        ("at", "i8"),
        ("turn", "i8"),
        ("value", "f8", NODES),
        ("prior", "f8", (NODES, BRANCHES)),
        ("pay", "f8", (NODES, BRANCHES)),
    ]
)


@kernel(contract.RESET)
def given_reset(state, seed):
    seed_stream(state, seed)
    s = record(state, GIVEN)
    s.at = s.turn = 0


@kernel(contract.ACTIVE)
def given_active(state):
    s = record(state, GIVEN)
    return 1 << s.turn if s.at < s.inner else 0


@kernel(contract.LEGAL)
def given_legal(state, player, actions):
    s = record(state, GIVEN)
    for action in range(s.branches):
        actions[action] = action
    return s.branches


@kernel(contract.STEP)
def given_step(state, actions, rewards):
    s = record(state, GIVEN)
    rewards[:] = 0.0
    if s.at >= s.inner:
        return
    mover, action = s.turn, actions[s.turn]
    for player in range(len(rewards)):
        rewards[player] = s.pay[s.at, action] if player == mover else -s.pay[s.at, action]
    s.at = s.branches * s.at + 1 + action
    s.turn = (mover + 1) % len(rewards)


@kernel(contract.STATUS)
def given_status(state, player):
    s = record(state, GIVEN)
    return 0 if s.at < s.inner else 1


@kernel(contract.KEY)
def given_key(state, observer):
    return combine(np.uint64(11), np.uint64(record(state, GIVEN).at))


@kernel(contract.EVALUATE)
def given_evaluate(state, values):
    s = record(state, GIVEN)
    for player in range(len(values)):
        values[player] = s.value[s.at] if player == s.turn else -s.value[s.at]


@kernel(contract.ADVISE)
def given_advise(state, player, weights):
    s = record(state, GIVEN)
    for action in range(len(weights)):
        weights[action] = s.prior[s.at, action]


KERNELS = {name: globals()[f"given_{name}"] for name in contract.SIGNATURES if f"given_{name}" in globals()}


def given_view(tree):
    """Return the first state of the game on a tree."""
    state, inner, branches = blank(GIVEN), len(tree["logits"]), tree["branches"]
    s = record(state, GIVEN)
    s.branches, s.inner = branches, inner
    s.value[: len(tree["values"])] = np.array(tree["values"]) / 100
    s.prior[:inner, :branches] = np.exp(np.array(tree["logits"]) / 100)
    s.pay[:inner, :branches] = np.array(tree["rewards"]) / 100
    game = Game("given", tree["players"], branches, state, **KERNELS)
    game.reset(first := game.new_state(), np.uint64(0))
    return View(game, first, 0)


def visits_in(result, size, branches):
    """Return how often a search reached each node of the tree, by its number."""
    visits, waiting = np.zeros(size, int), [(0, result.tree.root)]
    while waiting:
        at, node = waiting.pop()
        visits[at] = node.visits
        waiting += [(branches * at + 1 + edge.action, child) for edge in node.edges for child in edge.outcomes]
    return visits.tolist()


class PlainSearch:
    """A search of a tree: visits and sums of every action, written out; ``choose(node)`` selects inside."""

    def __init__(self, tree):
        self.values, self.logits, self.rewards = (np.array(tree[k]) / 100 for k in ("values", "logits", "rewards"))
        self.change = tree["discount"] * (1 if tree["players"] == 1 else -1)
        self.count, self.sums = np.zeros(self.logits.shape, int), np.zeros(self.logits.shape)
        self.visits = np.zeros(len(self.values), int)
        self.visits[0] = 1  # the root is no leaf; uncounted at the end

    def simulate(self, node=0, action=None):
        """Return what a simulation from a node on returns to whoever moves there."""
        self.visits[node] += 1
        if node >= len(self.logits):
            return 0.0
        if self.visits[node] == 1:
            return self.values[node]
        action = self.choose(node) if action is None else action
        child = self.logits.shape[1] * node + 1 + action
        value = self.rewards[node, action] + self.change * self.simulate(child)
        self.count[node, action] += 1
        self.sums[node, action] += value
        return value

    def found(self):
        """Return the visits of every node."""
        return [int(self.visits[0]) - 1, *self.visits[1:].tolist()]


def softmax(logits):
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


class PlainGumbel(PlainSearch):
    """Gumbel AlphaZero without noise (Danihelka et al. 2022, equations 10, 12, 14 and 33)."""

    def improved(self, node):
        """Return the logits of the improved policy."""
        n, prior = self.count[node], softmax(self.logits[node])
        q, mixed = self.sums[node] / np.maximum(1, n), self.values[node]
        if n.any():
            tried = n > 0
            mean = (prior[tried] * q[tried]).sum() / prior[tried].sum()
            mixed = (self.values[node] + n.sum() * mean) / (1 + n.sum())
        completed = np.where(n > 0, q, mixed)
        completed = (completed - completed.min()) / max(np.ptp(completed), 1e-8)
        return self.logits[node] + (50 + n.max()) * 0.1 * completed

    def choose(self, node):
        return int(np.argmax(softmax(self.improved(node)) - self.count[node] / (1 + self.count[node].sum())))

    def best_first(self, arms):
        return sorted(arms, key=lambda arm: -self.improved(0)[arm])

    def by_rounds(self, simulations, considered):
        """Sequential halving as Karnin et al. (2013) have it: after a round, the better half goes on; return the arm.

        What is left of the budget is shared equally between the rounds that are left.
        """
        arms, left = self.best_first(range(self.logits.shape[1]))[: min(considered, simulations)], simulations
        for rounds in range(max(1, math.ceil(math.log2(len(arms)))), 0, -1):
            if left < len(arms):
                break
            for _ in range(max(1, left // rounds // len(arms))):
                for arm in arms:
                    self.simulate(action=arm)
                    left -= 1
            arms = self.best_first(arms)[: math.ceil(len(arms) / 2)]
        return arms[0]

    def one_by_one(self, simulations, considered):
        """Sequential halving as mctx has it: one by one, the best of those with as many visits as the schedule says.

        Equal shares are of the whole budget, odd numbers are halved downwards, and two go on to the end.
        """
        arms = self.logits.shape[1]
        m = min(arms, considered)
        schedule, visits, left = [], [0] * m, m
        while len(schedule) < simulations:
            for _ in range(max(1, simulations // (math.ceil(math.log2(m)) * left))):
                schedule += visits[:left]
                visits[:left] = [n + 1 for n in visits[:left]]
            left = max(2, left // 2)
        for wanted in schedule[:simulations]:
            self.simulate(action=self.best_first([arm for arm in range(arms) if self.count[0, arm] == wanted])[0])
        return self.best_first([arm for arm in range(arms) if self.count[0, arm] == self.count[0].max()])[0]


class PlainPUCT(PlainSearch):
    """PUCT as the pseudocode of AlphaZero has it; the visit that made a node counts for it, at the root too."""

    def __init__(self, tree, unvisited):
        super().__init__(tree)
        self.unvisited = unvisited

    def choose(self, node):
        n, parent = self.count[node], 1 + self.count[node].sum()
        mean = self.sums[node].sum() / max(1, n.sum())
        q = np.where(n > 0, self.sums[node] / np.maximum(1, n), mean if self.unvisited is None else self.unvisited)
        c = math.log((1 + parent + 19652) / 19652) + 1.25
        return int(np.argmax(q + c * softmax(self.logits[node]) * math.sqrt(parent) / (1 + n)))

    def run(self, simulations):
        for _ in range(simulations):
            self.simulate()
