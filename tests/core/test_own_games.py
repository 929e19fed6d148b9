"""Games of one's own that take settings: a function is registered, and every door hands the settings on to it."""

import pickle

import _info
import breakthrough
import gymnasium
import numpy as np
import pig
import pytest

import mcts_envs
from mcts_envs.registry import find
from mcts_envs.replay import Replay


def test_the_example_keeps_every_law():
    mcts_envs.check_game("Pig-v0", goal=20, episodes=2)
    mcts_envs.check_game(pig.pig, goal=30, episodes=1, faces=False)


def test_every_door_takes_the_settings():
    game = pig.pig(goal=20)
    single = gymnasium.make("Pig-v0", goal=20).unwrapped
    assert single.settings["goal"] == 20
    made = [
        single,
        mcts_envs.make_vec("Pig-v0", 2, goal=20),
        mcts_envs.make_aec("Pig-v0", goal=20),
        mcts_envs.make_sb3_vec_env("Pig-v0", 2, goal=20),
        Replay("Pig-v0", goal=20),
    ]
    assert mcts_envs.make_parallel("Pig-v0", goal=20).possible_agents
    assert {env.game.fingerprint for env in made} == {game.fingerprint}
    assert gymnasium.make("Pig-v0").unwrapped.game.fingerprint == pig.pig().fingerprint != game.fingerprint
    assert find("Pig-v0").make_game() is pig.pig


def test_pickles_keep_the_settings():
    env = gymnasium.make("Pig-v0", goal=20).unwrapped
    env.reset(seed=3)
    env.step(0)
    again = pickle.loads(pickle.dumps(env))
    assert (again.position(), again.settings) == (env.position(), env.settings)


def test_a_snapshot_of_other_settings_is_refused():
    env, other = gymnasium.make("Pig-v0", goal=20).unwrapped, gymnasium.make("Pig-v0", goal=30).unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match="pig"):
        other.restore_state(env.clone_state())


def test_unknown_settings_and_impossible_ones_are_refused():
    with pytest.raises(TypeError, match="unknown setting 'gaol'; did you mean 'goal'"):
        mcts_envs.make_vec("Pig-v0", 1, gaol=3)
    with pytest.raises(ValueError, match=r"goal 1 is outside \[2, 200\]"):
        mcts_envs.make_aec("Pig-v0", goal=1)


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (5, "game 5 is int; give a mcts_envs.core.contract.Game, or a function from settings to one"),
        (lambda size=3: size, "made by .* is int; give a mcts_envs.core.contract.Game, or a function"),
        (lambda size: size, "needs size; give each setting a default"),
    ],
)
def test_what_makes_no_game_is_refused(game, message):
    with pytest.raises(TypeError, match=message):
        mcts_envs.register("NoGame-v0", game)
    assert "NoGame-v0" not in gymnasium.registry


def test_forced_dice_decide_what_chance_decides():
    env = gymnasium.make("Pig-v0", goal=20).unwrapped
    env.reset(options={"position": {"points": [3, 7], "pot": 0, "turn": 0, "dice": [3, 5, 0]}})
    pots = []
    for _ in range(2):
        env.step(pig.ROLL)
        pots.append(env.position()["pot"])
    assert pots == [4, 10]  # a die that is forced counts as below(6) does, from 0
    assert env.position()["dice"] == [0]
    with pytest.raises(ValueError, match=r"'pot'\] 9 is outside \[0, 6\]"):
        env.reset(options={"position": {"points": [0, 19], "pot": 9, "turn": 1}})


def test_the_picture_shows_points_and_pot():
    env = gymnasium.make("Pig-v0", goal=20, render_mode="rgb_array").unwrapped
    env.reset(options={"position": {"points": [10, 0], "pot": 5, "turn": 0}})
    top = env.render()[64]  # through the middle of the upper bar
    assert len({tuple(top[x]) for x in (200, 450, 600)}) == 3  # points, pot, nothing yet


def test_info_tells_the_settings(capsys):
    assert _info.main(["Pig-v0"]) == 0
    said = capsys.readouterr().out
    assert "\n  goal=100\n" in said
    assert pig.pig.__doc__ in said


def test_breakthrough_keeps_every_law():
    mcts_envs.check_game("Breakthrough-v0", episodes=2)


def paths(state, depth):
    """Count the sequences of so many moves from a state."""
    game, total = breakthrough.GAME, 0
    if depth == 0 or game.active(state) == 0:
        return int(depth == 0)
    player, actions = game.active(state) - 1, np.zeros(game.actions, np.int64)
    for action in actions[: game.legal(state, player, actions)]:
        after = state.copy()
        game.step(after, np.full(2, action), np.zeros(2))
        total += paths(after, depth - 1)
    return total


def test_breakthrough_has_the_moves_of_open_spiel():
    """The counts are those of OpenSpiel 2.0.2's ``breakthrough(rows=6,columns=6)``."""
    state = breakthrough.GAME.new_state()
    breakthrough.GAME.reset(state, np.uint64(0))
    assert [paths(state, depth) for depth in (1, 2, 3)] == [16, 256, 4308]
