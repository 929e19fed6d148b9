"""What environments hand out as their state: snapshots of their own, and what they play on with."""

import numpy as np
import pytest
from gymnasium import Env, spaces

import agents
from agents.bridge.copying.snapshots import apart
from agents.bridge.means import FAST, NATIVE
from tests.bridge.worlds import Walk, mcts


class Handing(Walk):
    """Hands out what it plays on with as its state."""

    def reset(self, *, seed=None, options=None):
        self.went = []
        return super().reset(seed=seed)

    def get_state(self):
        return vars(self)

    def set_state(self, state):
        vars(self).update(state)

    def step(self, action):
        self.went.append(action)
        return super().step(action)


def test_an_environment_that_hands_out_itself_as_its_state_is_not_stepped():
    env = Handing()
    env.reset(seed=0)
    env.step(0)
    assert mcts(20).search(env).copies.means == FAST
    assert env.went == [0]
    assert env.at == 1


class Mark:
    """What stands in a field, known by its identity."""

    def __init__(self, name):
        self.name = name


FREE, TAKEN = Mark("free"), Mark("taken")


class Fields(Env):
    """Pays for each field that is taken for the first time."""

    action_space = spaces.Discrete(3)
    observation_space = spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.fields = [FREE] * 3
        return 0, {}

    def step(self, action):
        paid = float(self.fields[action] is FREE)
        self.fields[action] = TAKEN
        return self.fields.count(TAKEN), paid, FREE not in self.fields, False, {}

    def get_state(self):
        return list(self.fields)

    def set_state(self, state):
        self.fields = list(state)


def test_snapshots_keep_what_is_known_by_its_identity():
    env = Fields()
    env.reset(seed=0)
    result = mcts(60).search(env)
    assert result.copies.means == NATIVE
    assert result.values.tolist() == [3.0, 3.0, 3.0]


class Rows:
    def __init__(self):
        self.rows = [[0], [1]]
        self.numbers = np.zeros((2, 2))
        self.marks = [FREE, TAKEN]


@pytest.mark.parametrize(
    "handed",
    [vars, lambda env: env, lambda env: (env.rows, 1), lambda env: list(env.rows), lambda env: {"of": env.numbers[0]}],
    ids=["all", "an object", "in a tuple", "rows of a list", "a view"],
)
def test_a_snapshot_that_shares_what_changes_is_copied(handed):
    env = Rows()
    shown = handed(env)
    assert apart(shown, env) is not shown


@pytest.mark.parametrize(
    "saved",
    [lambda env: [*map(list, env.rows)], lambda env: env.numbers.copy(), lambda env: list(env.marks), lambda env: 3],
    ids=["lists", "an array", "marks", "a handle"],
)
def test_a_snapshot_of_its_own_is_left_alone(saved):
    env = Rows()
    snapshot = saved(env)
    assert apart(snapshot, env) is snapshot


class Cartridge(Env):
    """Steps on by a die; cannot be copied, is loaded anew for each seed, and saves itself with or without its die."""

    observation_space, action_space = spaces.Discrete(1000), spaces.Discrete(2)
    made = loaded = 0

    def __init__(self):
        type(self).made += 1
        self.running = (step for step in ())  # of which there is no copy
        self.reset(seed=0)

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            type(self).loaded += 1
            self.dice = np.random.default_rng(seed)
        self.at = 0
        return self.at, {}

    def step(self, action):
        paid = float(action * (self.dice.integers(6) > 1))
        self.at += 1
        return self.at, paid, self.at == 30, False, {}

    def clone_state(self, include_rng=False):
        return self.at, self.dice.bit_generator.state if include_rng else None

    def restore_state(self, snapshot):
        self.at, dice = snapshot
        if dice is not None:
            self.dice.bit_generator.state = dice


@pytest.mark.parametrize("name", ["mcts", "graph", "runs"])
def test_what_is_dear_to_make_is_made_a_few_times_and_used_again(name):
    env = Cartridge()
    env.reset(seed=1)
    agent, made, loaded = agents.make(name, simulations=12, seed=1), [], []
    for _ in range(8):
        env.step(agent.act(env))
        made.append(Cartridge.made)
        loaded.append(Cartridge.loaded)
    assert made[2] == made[-1]
    assert loaded[-1] - loaded[2] <= 4


class LentDie(Cartridge):
    """Hands out its die itself, and plays on with the one that it is given."""

    def clone_state(self, include_rng=False):
        return self.at, self.dice if include_rng else None

    def restore_state(self, snapshot):
        self.at, dice = snapshot
        self.dice = dice or self.dice


@pytest.mark.parametrize("kind", [Cartridge, LentDie])
def test_a_search_is_the_same_whatever_was_searched_before(kind):
    env = kind()
    env.reset(seed=1)
    first, *others = (agents.make("mcts", simulations=40, seed=3).search(env) for _ in range(4))
    for other in others:
        assert np.array_equal(first.visits, other.visits)
        assert np.array_equal(first.values, other.values)
    assert env.at == 0
