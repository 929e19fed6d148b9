"""By what means environments are copied: the first that works, by name, and replay where nothing else does."""

import functools
import random

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from numba import njit
from numpy.random import mtrand
from pettingzoo.classic.tictactoe import tictactoe

import agents
from agents import bridge
from agents.bridge import means
from agents.bridge.cloning import Clone, Deep, Replay, generators_in
from agents.bridge.copying.digest import digest
from mcts_envs.core.contract import EVERYTHING
from tests.bridge.worlds import TAXI, Handle, Machine, Walk, mcts, playing


def means_of(env):
    bridge.view(env).state.copy()
    return bridge.view(env).game.notes["means"]


class Saving(Walk):
    """Saves itself by methods of other names."""

    def __init__(self):
        super().__init__()
        self.turned = 0

    def step(self, action):
        self.turned += 1
        return super().step(action)


class SavingGym(Saving):
    def get_state(self):
        return self.at, self.turned

    def set_state(self, state):
        self.at, self.turned = state


class Forgetful(SavingGym):
    """Its ``get_state`` is no state of it."""

    def get_state(self):
        return 3, 3


def test_means_are_named_the_first_that_passes_a_check():
    env = SavingGym()
    env.reset(seed=0)
    env.step(1)
    assert means_of(env) == means.NATIVE
    view = bridge.view(env)
    state = view.state.copy()
    assert (state.env.at, state.env.turned) == (1, 1)
    view.game.step(state, [1], [0.0])
    assert (env.at, state.env.at) == (1, 2)
    wrong = Forgetful()
    wrong.reset(seed=0)
    wrong.step(1)
    assert means_of(wrong) == means.FAST
    assert bridge.view(wrong).state.copy().env.at == 1
    assert means_of(playing("FrozenLake-v1")) == means.FAST


class Within(SavingGym):
    """Wraps something that it calls unwrapped, and never asks for a generator."""

    @property
    def unwrapped(self):
        return "the engine"

    def reset(self, *, seed=None, options=None):
        self.at = self.turned = 0
        return self.at, {}


def test_an_environment_may_call_something_else_unwrapped():
    env = agents.remember(Within())
    env.reset(seed=0)
    assert means_of(env) == means.NATIVE
    assert mcts(50).act(env) == 1
    limited = gym.wrappers.TimeLimit(env, 4)
    limited.reset(seed=0)
    assert means_of(limited) == means.NATIVE


class Levelled(Walk):
    """Is reset with a level alone."""

    def reset(self, *, seed=None, options=None):
        self.level = options["level"]
        return super().reset(seed=seed)


def test_resets_take_the_options_that_the_first_had():
    for remembered, hidden in ((True, "nothing found"), (False, "not told: no two games showed the same")):
        env = agents.remember(Levelled()) if remembered else Levelled()
        env.reset(seed=0, options={"level": 3})
        found = mcts(50).search(env)
        assert (found.action, found.copies.hidden) == (1, hidden)
    gym.register("Levelled-v0", Levelled, disable_env_checker=True)
    try:
        env = agents.remember(gym.make("Levelled-v0"))
        env.reset(seed=0, options={"level": 3})
        assert agents.check_planning(env)["fidelity"].verdict == "holds"
    finally:
        del gym.registry["Levelled-v0"]


class Timed(SavingGym):
    """Leaves out of its state how often it was turned, which ends the episode."""

    def get_state(self):
        return self.at

    def set_state(self, at):
        self.at = at

    def step(self, action):
        self.at = 0
        _, reward, _, *rest = super().step(action)
        return self.at, reward, self.turned >= 12, *rest


def test_snapshots_that_leave_something_out_are_not_used_where_a_copy_has_it():
    env = Timed()
    env.reset(seed=0)
    assert means_of(env) == means.FAST
    assert agents.check_planning(env)["restoring"].verdict == "holds"
    agent = mcts(200)
    agent.act(env)
    assert agent.last_result.steps == 200 * 12


def test_snapshots_that_raise_leave_nothing_behind():
    class Raising(SavingGym):
        def get_state(self):
            raise RuntimeError("no snapshot today")

    env = Raising()
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match="no snapshot today"):
        Clone(env)  # what its __del__ raises is a warning of pytest's, and so an error


def walked(state, actions):
    """Return what a copy pays."""
    rewards, paid = [0.0], []
    for action in actions:
        state.game.step(state, [action], rewards)
        paid.append(rewards[0])
    return paid


def test_what_cannot_be_copied_is_replayed():
    env = agents.remember(Machine())
    env.reset(seed=11)
    env.step(1)
    assert means_of(env) == means.REPLAY
    other = Machine()
    other.reset(seed=11)
    other.step(1)
    expected = [other.step(action)[1] for action in (0, 1, 1)]
    root = bridge.view(env).state.copy()
    work = root.game.new_state()
    for _ in range(2):
        work[:] = root
        assert walked(work, (0, 1, 1)) == expected
    half = root.copy()
    walked(half, (0,))
    later = half.copy()  # of a copy that has gone on
    walked(half, (1,))
    assert walked(later, (1, 1)) == expected[1:]
    assert env.unwrapped.handle.told == [1]
    assert mcts(30).act(env) == 1
    assert env.step(0)[1] == expected[0]


class Dice(Machine):
    """Its pay is the roll of a die that lies behind the handle."""

    def reset(self, *, seed=None, options=None):
        found = super().reset(seed=seed)
        self.handle.kept = {"die": np.random.default_rng(seed)}
        return found

    def step(self, action):
        at, _, *rest = super().step(action)
        return at, float(self.handle.kept["die"].integers(6)), *rest


def test_no_die_behind_a_handle_is_foreseen():
    env = agents.remember(Dice())
    env.reset(seed=11)
    before = env.unwrapped.handle.kept["die"].bit_generator.state
    root = bridge.view(env).state.copy()
    assert means_of(env) == means.REPLAY
    work, rolls = root.game.new_state(), []
    for seed in range(8):
        work[:] = root
        work.game.determinize(work, EVERYTHING, seed << 40)
        rolls.append(tuple(walked(work, (0, 1, 1))))
    assert len(set(rolls)) > 4
    assert env.unwrapped.handle.kept["die"].bit_generator.state == before


@njit
def squared(x):
    return x * x


class Adopting(SavingGym):
    """It holds a compiled function, the generator that belongs to all, and, in its spec, somebody else's."""

    def __init__(self, guest):
        super().__init__()
        self.own, self.guest, self.function, self.all = {"die": np.random.default_rng(0)}, guest, squared, mtrand._rand
        self.draw = functools.partial(max, np.random.default_rng(0))


def test_generators_that_belong_to_others_are_left_alone():
    gym.register("Adopting-v0", Adopting)
    assert squared(3) == 9
    env = gym.make("Adopting-v0", guest=[np.random.default_rng(1)]).unwrapped
    env.reset(seed=0)
    twin = Clone(env).env
    assert twin.spec is env.spec
    twin.all = mtrand._rand
    own = [twin.own["die"], twin.guest[0], twin._np_random, twin.draw.args[0]]
    assert set(map(id, generators_in(twin))) == set(map(id, own))
    before, guest = mtrand.get_state(legacy=False), env.guest[0].bit_generator.state
    mcts().search(env)
    assert str(mtrand.get_state(legacy=False)) == str(before)
    assert env.guest[0].bit_generator.state == guest


def test_a_reset_without_a_seed_is_replayed_too():
    env = agents.remember(Machine())
    env.reset(seed=4)
    for _ in range(3):
        env.reset()
    start = env.unwrapped.handle.start
    assert bridge.view(env).state.copy().env.handle.start == start


def test_what_a_step_raises_is_named():
    env = Walk(noise=iter([]).__next__)
    env.reset(seed=0)
    said = "Walk cannot be copied: fast copy, copy.deepcopy: its step raised"
    with pytest.raises(TypeError, match=f"{said} StopIteration: ;"):
        mcts().act(env)
    env.noise = lambda: {}["wind"]
    with pytest.raises(TypeError, match=f"{said} KeyError: 'wind';"):
        mcts().act(env)


class Strict(Walk):
    """Takes what is legal alone, which it says by a name of its own."""

    def step(self, action):
        if action:
            raise ValueError("illegal")
        *said, _ = super().step(action)
        return *said, {"legal_moves": [0]}


class Asked(Strict):
    def step(self, action):
        return *super().step(action)[:4], {}

    def get_valid_actions(self):
        return [0]


@pytest.mark.parametrize(("kind", "said"), [(Strict, r"info\['legal_moves'\]"), (Asked, "get_valid_actions")])
def test_masks_by_other_names_are_told_the_right_one(kind, said):
    env = kind()
    env.reset(seed=0)
    with pytest.raises(TypeError, match=rf"illegal.*; if {said} tells what is legal, say it as info\['action_mask'\]"):
        mcts().act(env)


class Drawing(Machine):
    """Draws an array, or nothing."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(self, render_mode=None):
        super().__init__()
        self.render_mode = render_mode

    def render(self):
        return np.zeros((8, 8, 3), np.uint8)


@pytest.mark.parametrize(
    ("kind", "around", "given"),
    [
        (Machine, lambda env: env, {}),  # knows of no render_mode
        (Drawing, gym.wrappers.RenderCollection, {"render_mode": "rgb_array"}),  # a wrapper that cannot do without
    ],
)
def test_what_was_registered_is_replayed_whatever_draws_it(kind, around, given):
    gym.register("Replayed-v0", kind, disable_env_checker=True)
    try:
        env = agents.remember(around(gym.make("Replayed-v0", **given)))
        env.reset(seed=3)
        env.step(1)
        assert means_of(env) == means.REPLAY
        assert agents.check_planning(env)["fidelity"].verdict == "holds"
    finally:
        del gym.registry["Replayed-v0"]


class Turned(gym.ActionWrapper):
    """Does not say how it was made."""

    def action(self, action):
        return 1 - action


@pytest.mark.parametrize("registered", [False, True])
def test_what_is_replayed_is_replayed_in_wrappers_that_change_it(registered):
    gym.register("Replayed-v0", Machine, disable_env_checker=True)
    try:
        env = agents.remember(Turned(gym.make("Replayed-v0") if registered else Machine()))
        env.reset(seed=11)
        env.step(0)
        other = Machine()
        other.reset(seed=11)
        other.step(1)
        state = bridge.view(env).state.copy()
        assert state.env.handle.told == other.handle.told
        assert walked(state, (0, 1, 1)) == [other.step(1 - action)[1] for action in (0, 1, 1)]
        assert means_of(env) == means.REPLAY
        assert agents.check_planning(env)["fidelity"].verdict == "holds"
    finally:
        del gym.registry["Replayed-v0"]


def test_what_cannot_be_replayed_is_told_the_cure():
    env = Machine()
    env.reset(seed=0)
    said = r"Machine cannot be copied: fast copy: it holds a .*Handle.*agents\.remember\(env\)"
    with pytest.raises(TypeError, match=said):
        mcts().act(env)
    assert mcts().act(agents.remember(playing("CartPole-v1"))) in range(2)  # too late for replay, but copied


@pytest.mark.parametrize("make", [Deep, lambda env: Replay(env.history, env.unwrapped, True)], ids=["deep", "replay"])
def test_all_means_give_the_same_futures(make):
    env = agents.remember(gym.make("FrozenLake-v1"))
    env.reset(seed=5)
    for action in (1, 2, 1):
        env.step(action)
    copies = [make(env if make is not Deep else env.unwrapped) for _ in range(2)]
    fast = bridge.view(env).state.copy()
    for seed in (1, 2, 3):
        seen = []
        for made in (*copies, copies[0].again()):
            made.restore()
            made.seed(seed)
            seen.append([made.env.step(a)[0] for a in (1, 1, 2)])
        fast._copy.restore()
        fast.seed(seed)
        expected = [fast.env.step(a)[0] for a in (1, 1, 2)]
        assert seen[0] == seen[1]
        if make is Deep:
            assert seen[0] == expected


def test_turns_are_replayed():
    env = agents.remember(tictactoe.env())
    env.reset(seed=1)
    for action in (4, 0, 8):
        env.step(action)
    made = Replay(env.history, env.unwrapped, True)
    assert digest(made.env) != digest(tictactoe.raw_env())
    assert made.env.agent_selection == "player_2"
    assert np.array_equal(made.env.observe("player_2")["observation"], env.observe("player_2")["observation"])


def test_remembering_changes_nothing():
    plain, kept = gym.make("CartPole-v1"), agents.remember(gym.make("CartPole-v1"))
    for seed in (3, None, None):
        state = random.getstate()
        assert np.array_equal(plain.reset(seed=seed)[0], kept.reset(seed=seed)[0])
        for action in (0, 1, 1):
            assert str(plain.step(action)) == str(kept.step(action))
        assert random.getstate() == state
    assert kept.history.actions == [0, 1, 1]
    assert len(kept.history.shown) == 4


def test_atari_games_are_copied_by_their_own_snapshots():
    ale_py = pytest.importorskip("ale_py")
    gym.register_envs(ale_py)
    env = gym.make("ALE/Breakout-v5", obs_type="ram", repeat_action_probability=0.0)
    env.reset(seed=1)
    for action in (1, 2, 2, 3) * 5:
        env.step(action)
    assert means_of(env) == means.NATIVE
    made = Clone(env.unwrapped)
    for _ in range(2):
        made.restore()
        seen = [made.env.step(action)[0].tobytes() for action in (2, 3, 0, 2) * 5]
    assert seen == [env.step(action)[0].tobytes() for action in (2, 3, 0, 2) * 5]


def test_what_was_not_reset_says_so():
    for asked in (agents.check_planning, mcts().search):
        env = gym.make(TAXI)
        bridge.view(env).game.notes.clear()  # as in a process that has seen none before
        with pytest.raises(gym.error.ResetNeeded, match="TaxiEnv was not reset"):
            asked(env)


class Seen(Walk):
    """Observes the picture that it draws; up pays 1."""

    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(self, render_mode="rgb_array"):
        super().__init__()
        self.observation_space = spaces.Box(0, 255, (6,), np.uint8)
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.render(), {}

    def step(self, action):
        _, *rest = super().step(action)
        return self.render(), *rest

    def render(self):
        return None if self.render_mode is None else 255 * np.eye(1, 6, self.at, np.uint8)[0]


class SeenBehind(Seen):
    """Holds what cannot be copied."""

    def __init__(self, render_mode="rgb_array"):
        super().__init__(render_mode)
        self.handle = Handle()


@pytest.mark.parametrize(("kind", "how"), [(Seen, means.FAST), (SeenBehind, means.REPLAY)])
def test_what_is_observed_may_be_what_is_drawn(kind, how):
    gym.register("Seen-v0", kind, disable_env_checker=True)
    try:
        env = agents.remember(gym.make("Seen-v0"))
        env.reset(seed=0)
        assert means_of(env) == how
        state = bridge.view(env).state.copy()
        state.game.step(state, [1], [0.0])
        assert state.seen.tolist() == env.step(1)[0].tolist()
        assert agents.check_planning(env)["fidelity"].verdict == "holds"
    finally:
        del gym.registry["Seen-v0"]


@pytest.mark.parametrize("takes", [lambda action: action.item(), lambda action: action[0]])
def test_a_step_that_takes_arrays_names_its_cure(takes):
    class Taking(Walk):
        def step(self, action):
            return super().step(takes(action))

    env = Taking()
    env.reset(seed=0)
    with pytest.raises(
        TypeError, match=r"'int' object .*; planners give step an int, not an array: write int\(action\)"
    ):
        mcts().act(env)
