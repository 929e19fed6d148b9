"""Games of one's own: registered as they are, or as a function of their settings."""

import pickle
from dataclasses import replace
from functools import partial
from inspect import signature

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest

import mcts_envs
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.mixed import MixedVectorEnv
from mcts_envs.core.api.multi import GameAECEnv
from mcts_envs.core.api.multi_base import MultiAdapter
from mcts_envs.core.api.vector import GameVectorEnv
from mcts_envs.core.checked import check_kernels
from mcts_envs.core.contract import ACTIVE, LEGAL, RESET, STATUS, STEP, Game, blank, state_dtype
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import seed_stream
from mcts_envs.registry import _TAKEN, ENTRIES
from mcts_envs.replay import Replay

COUNT = state_dtype([("goal", "u2"), ("made", "u2")])


@kernel(RESET)
def reset(state, seed):
    seed_stream(state, seed)
    record(state, COUNT).made = 0


@kernel(ACTIVE)
def active(state):
    s = record(state, COUNT)
    return 0 if s.made >= s.goal else 1 << (s.made & 1)


@kernel(LEGAL)
def legal(state, player, actions):
    actions[0], actions[1] = 0, 1
    return 2


@kernel(STEP)
def step(state, actions, rewards):
    s = record(state, COUNT)
    rewards[0] = rewards[1] = 0.0
    if s.made < s.goal:
        player = s.made & 1
        s.made += 1 + actions[player]
        if s.made >= s.goal:
            rewards[player], rewards[1 - player] = 1.0, -1.0


@kernel(STATUS)
def status(state, player):
    s = record(state, COUNT)
    return 1 if s.made >= s.goal else 0


def count(goal=10):
    """Count by one or two; who comes to the goal wins."""
    state = blank(COUNT)
    record(state, COUNT).goal = goal
    return Game("count", 2, 2, state, reset, active, legal, step, status)


@pytest.fixture(autouse=True)
def _registered():
    mcts_envs.register("Count-v0", count)
    yield
    for registry in (gym.registry, ENTRIES):
        registry.pop("Count-v0", None)


def length(env):
    env.reset(seed=1)
    for made in range(1, 100):
        env.step(0)
        if not env.agents or all(env.terminations.values()):
            return made
    return None


def test_settings_are_those_of_the_function():
    assert length(mcts_envs.make_aec("Count-v0")) == 10
    assert length(mcts_envs.make_aec("Count-v0", goal=7)) == 7
    assert gym.make("Count-v0", goal=7, opponent="random").unwrapped.game.fingerprint == count(7).fingerprint
    assert mcts_envs.make_vec("Count-v0", 2, goal=5, opponent="random").game.fingerprint == count(5).fingerprint
    assert Replay("Count-v0", seed=1, goal=4).game.fingerprint == count(4).fingerprint


def test_the_laws_hold_with_settings():
    mcts_envs.check_game("Count-v0", goal=6)


def test_environments_pickle_with_their_settings():
    env = gym.make("Count-v0", goal=7, opponent="random").unwrapped
    env.reset(seed=3)
    again = pickle.loads(pickle.dumps(env))
    assert again.game.fingerprint == env.game.fingerprint
    np.testing.assert_array_equal(again.view().state, env.view().state)


def test_settings_that_are_not_there():
    with pytest.raises(TypeError, match=r"unknown setting 'gaol'; did you mean 'goal'\? Known: goal$"):
        mcts_envs.make_aec("Count-v0", gaol=7)


def test_a_game_as_it_is_takes_none():
    mcts_envs.register("Count-v0", count(3))
    assert length(mcts_envs.make_aec("Count-v0")) == 3
    with pytest.raises(TypeError, match="unknown setting 'goal'"):
        mcts_envs.make_aec("Count-v0", goal=7)


def test_settings_without_a_name_are_none():
    mcts_envs.register("Count-v0", lambda *given, **settings: count(3))
    with pytest.raises(TypeError, match=r"unknown setting 'settings'; this game has none$"):
        mcts_envs.make_aec("Count-v0", settings=7)


def test_no_argument_of_an_environment_can_be_a_setting():
    environments = GameEnv, GameVectorEnv, MixedVectorEnv, MultiAdapter, GameAECEnv
    own = {p for env in environments for p, kind in signature(env).parameters.items() if kind.kind == kind.KEYWORD_ONLY}
    assert own < _TAKEN


def test_part_of_a_function_is_one():
    mcts_envs.register("Count-v0", partial(count, goal=4))
    assert length(mcts_envs.make_aec("Count-v0")) == 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda goal: count(goal), "needs goal; give each setting a default"),
        (lambda seat=0, goal=3: count(goal), "cannot have seat: environments take that; rename the setting"),
        (lambda: 3, r"game 3 made by .* is int; give a mcts_envs\.core\.contract\.Game, or a function"),
        (Game, "needs name, players"),
        ("count", "is str"),
    ],
)
def test_what_makes_no_game(given, said):
    with pytest.raises(TypeError, match=said):
        mcts_envs.register("Count-v0", given)


@pytest.mark.parametrize("name", ["players", "actions"])
@pytest.mark.parametrize(
    ("given", "error"), [(0, ValueError), (10**12, ValueError), (2.0, TypeError), (True, TypeError), (None, TypeError)]
)
def test_games_of_impossible_sizes(name, given, error):
    with pytest.raises(error, match=f"{name} of .* {given} is .*1"):
        replace(count(), **{name: given})


def test_kernels_are_checked_before_they_are_compiled():
    @kernel()
    def bare(state):
        return 1

    @kernel(LEGAL)
    def short(state, player):
        return 2

    @kernel(STEP)
    def other(state):
        return 1

    for change, said in (
        ({"active": bare}, r"active has no signature; decorate it with @kernel\(ACTIVE\)\n  File .*test_register\.py"),
        (
            {"legal": short},
            r"legal\(state, player\) takes 2 arguments, and LEGAL has 3: legal\(state, player, actions\)",
        ),
        ({"active": other}, r"active has another signature; decorate it with @kernel\(ACTIVE\)"),
        ({"variants": {"x": {"legal": short}}}, r"LEGAL has 3"),
    ):
        wrong = replace(count(), **change)
        for refuse in (partial(mcts_envs.register, "Count-v0"), mcts_envs.check_game, check_kernels):
            with pytest.raises(TypeError, match=said):
                refuse(wrong)
    check_kernels(count().interpreted())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"active": count().active.py_func}, r"active of count is <function .*, no kernel; .* @kernel\(ACTIVE\)"),
        ({"observe": None}, r"observe of count is None, no kernel; define it with @kernel\(OBSERVE\) and"),
    ],
)
def test_what_is_no_kernel_is_not_registered(change, said):
    with pytest.raises(TypeError, match=said):
        mcts_envs.register("Count-v0", replace(count(), **change))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"action_name": ("up", "down")},
            r"action_name of count is \('up', 'down'\), no function; give .* __getitem__",
        ),
        ({"text": "a board"}, "text of count is 'a board', no function; give one$"),
    ],
)
def test_what_people_look_at_comes_of_functions(change, said):
    for refuse in (partial(mcts_envs.register, "Count-v0"), mcts_envs.check_game):
        with pytest.raises(TypeError, match=said):
            refuse(replace(count(), **change))


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"observation_shape": 42}, TypeError, r"observation_shape 42 of count is int, not a tuple such as \(42,\)"),
        ({"observation_shape": (3, -1)}, ValueError, r"observation_shape of count -1 is outside \[0, "),
        ({"observation_shape": ("x",)}, TypeError, r"observation_shape of count 'x' is str"),
        ({"observation_low": 2.0}, ValueError, r"observation_low of count 2.0 is outside \[-inf, 1.0\]"),
        ({"observation_high": float("nan")}, ValueError, r"observation_high of count nan is outside \[-inf, inf\]"),
    ],
)
def test_observations_of_a_game_are_checked(change, error, said):
    with pytest.raises(error, match=said):
        replace(count(), **change)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"layout": state_dtype([("x", "u8", 9)])}, "the template of count has 40 bytes, and its layout 104: make it"),
        (
            {"layout": state_dtype([("x", "u1")]), "first_field": "moves"},
            "unknown first_field of count, in layout=STATE",
        ),
        ({"layout": None, "first_field": "left"}, "unknown first_field of count, in layout=STATE 'left'"),
    ],
)
def test_a_layout_is_that_of_the_state(change, said):
    wrong = replace(count(), **change)
    for refuse in (partial(mcts_envs.register, "Count-v0"), mcts_envs.check_game, lambda game: GameEnv(game=game)):
        with pytest.raises(ValueError, match=said):
            refuse(wrong)


def test_no_more_is_shown_of_a_state_than_there_is():
    wrong = replace(count(), observation_shape=(3, 3))
    makers = (partial(mcts_envs.register, "Count-v0"), mcts_envs.check_game, lambda game: GameEnv(game=game))
    for make in makers:
        with pytest.raises(ValueError, match=r"observation_shape \(3, 3\) of count has 9 numbers, .* the 8 bytes"):
            make(wrong)
    GameEnv(game=replace(count(), observation_shape=(2, 2)))


def test_pettingzoo_without_a_registry_is_enough(monkeypatch):
    for name in ("register", "make", "aec_registry", "parallel_registry"):  # which 1.26 has not
        monkeypatch.delattr(pettingzoo, name)
    mcts_envs.register("Count-v0", count())
    assert mcts_envs.make_aec("Count-v0").possible_agents == ["player_0", "player_1"]


@pytest.mark.parametrize("given", [3, None, lambda: 3])
def test_what_is_no_game_is_no_environment(given):
    with pytest.raises(TypeError, match=r"is (int|NoneType); give a Game, or a function from settings to one"):
        GameEnv(game=given)
