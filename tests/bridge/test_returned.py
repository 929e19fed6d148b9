"""What steps of other environments return: what no step returns is named as what it is, and no copy is blamed."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import ParallelEnv

import agents
from agents import bridge
from agents.bridge.copying.chance import Watch
from agents.bridge.returned import StepError, tried
from tests.bridge.worlds import Walk, mcts

LATE = 3


class Twisted(Walk):
    """Says something else once it has come far enough."""

    def __init__(self, twist, since=0):
        super().__init__()
        self.twist, self.since = twist, since

    def step(self, action):
        said = super().step(action)
        return self.twist(*said) if self.at > self.since else said


TWISTS = {
    "the old API": (lambda *said: said[:4], r"step\(.\) returned 4 values; Gymnasium's returns 5: observation, reward"),
    "nothing": (lambda *said: None, r"step\(.\) returned None; Gymnasium's returns 5 values"),
    "no reward": (lambda at, _, *rest: (at, None, *rest), r"step\(.\) pays None, which is NoneType, not a number"),
    "a vector": (lambda at, r, *rest: (at, np.array([r, 1.0]), *rest), r"pays array.*: make it one, in Gymnasium by"),
    "a list": (lambda at, r, *rest: (at, [r], *rest), r"step\(.\) pays \[.\.0\], which is list, not a number"),
    "nan": (lambda at, _, *rest: (at, float("nan"), *rest), r"step\(.\) pays nan, which is not finite"),
    "infinity": (lambda at, _, *rest: (at, np.float64("inf"), *rest), r"step\(.\) pays .*inf.*, which is not finite"),
}


class Rewriting(Walk):
    """Goes on for ever, and shows and says it in the same objects each time; takes only what is legal."""

    def __init__(self):
        super().__init__(mask=[1, 0])
        self.observation_space = spaces.Box(0, 4, (1,), int)
        self.shown, self.told = np.zeros(1, int), {"action_mask": np.array([1, 0])}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.shown, self.said()

    def said(self):
        self.shown[0] = self.at
        self.mask = self.told["action_mask"]
        self.mask[:] = self.at % 2 == 0, self.at % 2 == 1
        return self.told

    def step(self, action):
        _, reward, *_ = super().step(action)
        self.at %= 5
        return self.shown, reward, False, False, self.said()


def test_what_is_written_over_stays_as_it_was_said_in_a_copy():
    env = agents.remember(Rewriting())
    env.reset(seed=0)
    view = bridge.view(env)
    state = view.state.copy()
    view.game.step(state, [0], [0.0])
    kept = state.copy()
    view.game.step(state, [1], [0.0])
    actions = [0, 0]
    for each, legal in ((kept, 1), (state, 0)):
        assert actions[: view.game.legal(each, 0, actions)] == [legal]
        assert view.game.key(each, 0) != view.game.key(state if each is kept else kept, 0)
    assert mcts(20).act(env) == 0


class Endless(Walk):
    """Says something that cannot be copied."""

    def step(self, action):
        *rest, info = super().step(action)
        return *rest, {**info, "moves": (move for move in range(2)), "names": {}.keys()}


def test_what_cannot_be_copied_may_be_said():
    env = agents.remember(Endless())
    env.reset(seed=0)
    env.step(1)
    assert mcts(20).act(env) in (0, 1)


@pytest.mark.parametrize("since", [0, LATE])
@pytest.mark.parametrize("name", TWISTS)
def test_a_broken_step_is_named(name, since):
    twist, said = TWISTS[name]
    env = Twisted(twist, since)
    for each in (env, agents.remember(Twisted(lambda *said: said))):
        each.reset(seed=0)
        each.unwrapped.twist = twist
        with pytest.raises(StepError, match=said):
            mcts(50).act(each)


def test_broken_steps_are_errors_of_both_kinds():
    for name, kind in (("the old API", TypeError), ("nan", ValueError)):
        env = Twisted(TWISTS[name][0])
        env.reset(seed=0)
        with pytest.raises(kind, match=r"step\("):
            mcts(20).search(env)
        report = agents.check_planning(env)
        assert report["copies"].verdict == "FAILS"
        assert "cannot be copied" not in report["copies"].evidence


class Both(ParallelEnv):
    """Pays two agents, who choose at once, what it is told to."""

    metadata = {"name": "both"}  # noqa: RUF012
    possible_agents = ["a", "b"]  # noqa: RUF012

    def __init__(self, pay):
        self.pay = pay

    def observation_space(self, agent):
        return spaces.Discrete(2)

    def action_space(self, agent):
        return spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.agents = self.possible_agents[:]
        return self.each(0), self.each({})

    def each(self, value):
        return dict.fromkeys(self.agents, value)

    def step(self, actions):
        return self.each(0), self.each(self.pay), self.each(False), self.each(False), self.each({})


class Resized(Walk):
    """Has another action space once it has come far enough."""

    def __init__(self, space, since):
        super().__init__()
        self.other, self.since = space, since

    def reset(self, *, seed=None, options=None):
        self.action_space, self.steps = spaces.Discrete(2), 0
        return super().reset(seed=seed)

    def step(self, action):
        self.steps += 1
        said = super().step(action)
        self.action_space = self.other if self.steps > self.since else spaces.Discrete(2)
        return said[0], said[1], self.steps > 30, False, {}


@pytest.mark.parametrize("remembered", [False, True])
@pytest.mark.parametrize("since", [0, 8, 20])  # seen by the check of copies, as something hidden is looked for, later
@pytest.mark.parametrize("space", [spaces.Discrete(1), spaces.Discrete(3), spaces.Discrete(2, start=1)])
def test_an_action_space_that_changes_is_refused(space, since, remembered):
    env = Resized(space, since)
    env = agents.remember(env) if remembered else env
    env.reset(seed=0)
    other = str(space).replace("(", r"\(").replace(")", r"\)")
    said = rf"step\(\d\) changed the action space from Discrete\(2\) to {other}; .* most actions .* action_mask"
    with pytest.raises(StepError, match=said):
        mcts(30).act(env)


def test_an_action_space_that_changes_at_the_end_does_not_matter():
    env = Resized(spaces.Discrete(1), 30)
    env.reset(seed=0)
    assert mcts(30).act(env) in (0, 1)


def test_rewards_of_several_are_looked_at():
    for pay, said in ((None, "pays None, which is NoneType"), (float("nan"), "pays nan, which is not finite")):
        env = Both(pay)
        env.reset(seed=0)
        with pytest.raises(StepError, match=said):
            mcts(20, horizon=5).search(bridge.view(env, "a"))


def test_numbers_of_any_kind_are_rewards():
    for kind in (int, bool, np.float32, np.int64, np.asarray):
        env = Twisted(lambda at, reward, *rest, kind=kind: (at, kind(reward), *rest))
        env.reset(seed=0)
        assert mcts(50).act(env) == 1


def test_a_reward_of_several_numbers_may_be_made_one_around_what_remembers():
    env = agents.remember(Twisted(lambda at, reward, *rest: (at, np.array([reward, 1.0]), *rest)))
    env = gym.wrappers.TransformReward(env, lambda reward: reward[0])
    env.reset(seed=0)
    env.step(1)
    assert mcts(50, seed=1).act(env) == 1


class LinearReward(gym.Wrapper):
    """What MO-Gymnasium makes a number of rewards with: no RewardWrapper."""

    __module__ = "mo_gymnasium.wrappers.wrappers"

    def __init__(self, env, weight):
        super().__init__(env)
        self.w = np.array(weight)

    def step(self, action):
        seen, rewards, *ends, info = self.env.step(action)
        return seen, np.dot(rewards, self.w), *ends, {**info, "vector_reward": rewards}


@pytest.mark.parametrize(("weight", "best"), [((1.0, 0.0), 1), ((0.0, 1.0), 0)])
def test_rewards_of_mo_gymnasium_are_weighed_as_they_are(weight, best):
    env = agents.remember(Twisted(lambda at, reward, *rest: (at, np.array([reward, 1 - reward]), *rest)))
    env = LinearReward(env, weight)
    env.reset(seed=0)
    assert mcts(50, seed=1).act(env) == best
    assert "vector_reward" in env.step(best)[4]
    assert agents.check_planning(env)["wrappers"].verdict == "holds"


def test_a_step_that_raises_is_told_from_a_copy_that_fails():
    class Unpacking(Walk):
        def step(self, action):
            at, reward = super().step(action)
            return at, reward, False, False, {}

    env = Unpacking()
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r"copy\.deepcopy: its step raised ValueError: too many"):
        mcts(20).search(env)


def test_what_remembers_names_a_broken_step():
    env = agents.remember(Twisted(TWISTS["the old API"][0]))
    env.reset(seed=0)
    with pytest.raises(StepError, match=r"step\(1\) returned 4 values; Gymnasium's returns 5"):
        env.step(1)


@pytest.mark.parametrize("infos", [None, {"a": None, "b": None}])
def test_infos_may_be_missing(infos):
    class Silent(Both):
        def reset(self, seed=None, options=None):
            return super().reset(seed, options)[0], infos

        def step(self, actions):
            return *super().step(actions)[:4], infos

    for env in (Silent(1.0), agents.remember(Silent(1.0))):
        env.reset(seed=0)
        assert mcts(20, horizon=5).act(bridge.view(env, "a")) in (0, 1)


@pytest.mark.parametrize("name", ["graph", "rhea", "halving", "auto"])
def test_other_planners_say_it_too(name):
    env = gym.make("CartPole-v1")
    env.reset(seed=0)
    env.unwrapped.step = lambda action: (np.zeros(4, np.float32), float("nan"), False, False, {})
    with pytest.raises(StepError, match="pays nan"):
        agents.make(name, simulations=30).act(env)


def test_what_an_environment_lacks_is_named():
    class Old(Walk):
        def reset(self, **given):
            return super().reset(**given)[0]

    with pytest.raises(TypeError, match=r"reset\(\) returned .*; Gymnasium's returns 2 values: observation, info"):
        agents.remember(Old()).reset(seed=0)
    for space in ("action_space", "observation_space"):
        env = Walk()
        env.reset(seed=0)
        delattr(env, space)
        with pytest.raises(TypeError, match=f"Walk has no {space}; set self.{space}"):
            mcts(5).act(env)


@pytest.mark.parametrize("settings", [{}, {"information": "full"}])
def test_what_raises_after_an_action_that_was_tried_ahead_says_how_legal_ones_are_told(settings):
    class Once(Walk):
        last = 0

        def step(self, action):
            if action == self.last == 1:
                raise RuntimeError("not twice in a row")
            self.last = action
            return super().step(action)

    env = Once()
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match="not twice in a row") as raised:
        agents.make("mcts", simulations=50, **settings).act(env)
    (note,) = raised.value.__notes__
    assert note.startswith("a planner tried step(1) ahead; if that is not legal there, say it as info['action_mask']")


def test_no_action_is_named_where_an_adapter_plays_on():
    def play(draw):
        raise KeyError(draw(2))

    with pytest.raises(KeyError) as raised:
        Watch("game", tried).step(play, lambda below: below)
    assert not hasattr(raised.value, "__notes__")
