"""Options against answers that are known: a corridor, what is paid on the way, and who moves in between."""

import gymnasium as gym
import numpy as np
import pytest

import agents
from agents.mcts import MCTS
from agents.policies.options import PARAMETERS
from agents.policies.signatures import OPTION, policy
from agents.search.tree import NODE, ROOT
from mcts_envs.core import contract
from mcts_envs.core.contract import Game, blank, state_dtype
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import seed_stream
from mcts_envs.core.view import View
from tests.search.tables import chain, view_of
from tests.search.test_interpreted import assert_equal
from tests.toys import Stakes, TicTacToe, Tron

CORRIDOR = state_dtype([("at", "i2"), ("length", "i2")])
LEFT, RIGHT = 0, 1


@kernel(contract.RESET)
def corridor_reset(state, seed):
    seed_stream(state, seed)
    record(state, CORRIDOR).at = 0


@kernel(contract.ACTIVE)
def corridor_active(state):
    s = record(state, CORRIDOR)
    return 1 if s.at < s.length else 0


@kernel(contract.LEGAL)
def corridor_legal(state, player, actions):
    actions[0], actions[1] = LEFT, RIGHT
    return 2


@kernel(contract.STEP)
def corridor_step(state, actions, rewards):
    s = record(state, CORRIDOR)
    rewards[0] = 0.0
    if s.at < s.length:
        s.at = s.at + 1 if actions[0] == RIGHT else max(0, s.at - 1)
        rewards[0] = 1.0 if s.at == s.length else 0.0


@kernel(contract.STATUS)
def corridor_status(state, player):
    s = record(state, CORRIDOR)
    return 0 if s.at < s.length else 1


@kernel(contract.ADVISE)
def to_the_right(state, player, weights):
    weights[0], weights[1] = 0.0, 1.0


def corridor(length=30):
    """At its end, so many steps to the right, 1 is paid."""
    template = blank(CORRIDOR)
    record(template, CORRIDOR).length = length
    kernels = {name: globals()[f"corridor_{name}"] for name in ("reset", "active", "legal", "step", "status")}
    game = Game("corridor", 1, 2, template, advise=to_the_right, **kernels)
    state = game.new_state()
    game.reset(state, np.uint64(0))
    return View(game, state, 0)


@pytest.mark.parametrize("seed", range(5))
def test_what_lies_far_ahead_is_found(seed):
    settings = {"horizon": 40, "discount": 0.99, "seed": seed}
    result = MCTS(option="repeat", simulations=60, **settings).search(corridor())
    assert result.action == RIGHT
    assert result.principal_variation[:3] == [RIGHT] * 3
    without = MCTS(simulations=2000, **settings).search(corridor())
    assert without.values.tolist() == [0.0, 0.0]


def test_rewards_are_discounted_step_by_step():
    result = MCTS(option="follow", option_steps=12, discount=0.5, simulations=200).search(corridor(20))
    # 12 steps, and 8 more to the end: nothing is better than straight on.
    assert result.values[RIGHT] <= 0.5**19
    assert result.tree.best_line()[1][0].value == 0.5**7
    straight = MCTS(option="follow", option_steps=20, discount=0.5, simulations=10).search(corridor(20))
    assert straight.values[RIGHT] == 0.5**19
    assert straight.values[LEFT] <= 0.5**20  # at the wall it stays, and its option ends one step short
    assert straight.steps >= 10 * 20


@pytest.mark.parametrize(("who", "opponents", "depth"), [((1,), None, 5), ((1, 2), "uniform", 5), ((1, 2), None, 20)])
def test_who_moves_in_between(who, opponents, depth):
    """Twenty steps in options of four are five nodes deep; where the other searches too, he has nodes of his own."""
    pays = [float(i) for i in range(1, 21)]
    agent = MCTS(option="repeat", option_steps=4, opponents=opponents, discount=0.9, simulations=60)
    search = agent.start(view_of(chain(pays, who=who))).run(simulations=60)
    (tree,) = search.trees
    assert tree.count.nodes - 1 - ROOT == depth
    assert search.statistics()[1][0] == pytest.approx(sum(pay * 0.9**t for t, pay in enumerate(pays)), rel=1e-12)


def test_players_in_turns_who_search_are_searched_as_ever():
    env = TicTacToe()
    env.reset(seed=1)
    assert_equal([MCTS(option=option, simulations=300).search(env) for option in ("repeat", "primitive")])


def test_limits_are_of_steps():
    for limit in ("horizon", "tree_depth"):
        search = MCTS(option="repeat", option_steps=1000, rollout_depth=0, **{limit: 7}).start(corridor())
        (tree,) = search.run(simulations=1).trees
        assert tree.count.steps == 7
        search.run(simulations=500)
        nodes = tree.nodes.view(NODE)[ROOT : tree.count.nodes]
        assert len(nodes) == 3  # all there is to choose is the option of the root
    assert MCTS(option="repeat", option_steps=1000, simulations=3).search(corridor(900)).values[RIGHT] == 1.0


SETTINGS = [
    {"option": "repeat", "option_steps": 3},
    {"option": "follow", "opponents": "uniform", "loop": "closed"},
    {"option": "follow", "opponents": "mixed", "select": "rave"},
    {"option": "repeat", "opponents": "advised", "select": "double_progressive_widening", "horizon": 9},
]


@pytest.mark.parametrize("toy", [Tron, Stakes])
@pytest.mark.parametrize("settings", SETTINGS)
def test_compiled_as_interpreted(toy, settings):
    env = toy()
    env.reset(seed=2)
    view = env.view()
    plain = View(view.game.interpreted(), view.state, view.player)
    assert_equal([MCTS(simulations=60, discount=0.9, seed=5, **settings).search(each) for each in (view, plain)])


@pytest.mark.parametrize("name", ["CartPole-v1", "FrozenLake-v1"])
def test_in_environments_of_others(name):
    env = gym.make(name)
    env.reset(seed=1)
    result = agents.make("mcts", option="repeat", option_steps=4, simulations=30, horizon=30).search(env)
    assert result.simulations == 30


@policy(OPTION, parameters=PARAMETERS)
def while_there_is_nothing_else(game, work, player, action, k):
    """Wait as long as nothing else is legal."""
    return action if k == 1 else -1


@policy(OPTION)
def out_of_range(game, work, player, action, k):
    return 99


def test_one_of_ones_own():
    env = gym.make("mcts_envs/LaneDefense5x9-v0")
    env.reset(seed=3)
    made = MCTS(option=while_there_is_nothing_else, option_steps=20, simulations=400)
    (tree,) = made.search(env).tree.trees
    assert tree.count.simulations == 400
    with pytest.raises(ValueError, match=r"option .* returned an action outside the 2 of corridor"):
        MCTS(option=out_of_range, simulations=5).search(corridor())


def test_mistakes():
    with pytest.raises(ValueError, match="option policy 'repeated'"):
        MCTS(option="repeated")
    with pytest.raises(TypeError, match="'option_steps' is a parameter of option='repeat' and of option='follow'"):
        MCTS(option_steps=5)
    with pytest.raises(TypeError, match="is no option policy"):
        policy(OPTION)(lambda game, work: 0)
