"""The batched API: the same as Gymnasium's SyncVectorEnv over single environments, in everything that it returns."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import mcts_envs
from mcts_envs.core.view import View
from mcts_envs.games.lane_defense.spec.classic import LaneDefense, LaneDefenseVector
from mcts_envs.games.lane_defense.spec.roster import RosterDefense, RosterDefenseVector
from tests.toys import Stakes, StakesVector, TicTacToe, TicTacToeVector, Tron, TronVector

N = 5
SMALL = "mcts_envs/LaneDefense3x3-v0"
GAMES = {
    "lane 3x3": (LaneDefense, LaneDefenseVector, {}),
    "lane 3x3 in planes, cut off": (LaneDefense, LaneDefenseVector, {"observation": "planes", "max_steps": 7}),
    "lane 5x9": (RosterDefense, RosterDefenseVector, {"max_steps": 40}),
    **{
        f"{toy.__name__} {seat} against {opponent}": (toy, batch, {"seat": seat, "opponent": opponent, **settings})
        for toy, batch, settings in (
            (TicTacToe, TicTacToeVector, {}),
            (Tron, TronVector, {"size": 5, "max_steps": 6}),
            (Stakes, StakesVector, {"goal": 6, "max_steps": 30}),
        )
        for seat in (0, 1)
        for opponent in ("random", "scripted")
    },
    "Stakes 2 against both": (Stakes, StakesVector, {"seat": 2, "opponent": ["random", "scripted"], "goal": 4}),
}


def same(one, other):
    return data_equivalence(one, other, exact=True)


def pair(env_class, batch_class, settings, mode):
    batch = batch_class(N, autoreset_mode=mode, **settings)
    sync = SyncVectorEnv([lambda: env_class(**settings)] * N, autoreset_mode=mode)
    assert batch.observation_space == sync.observation_space
    assert batch.action_space == sync.action_space
    assert batch.metadata["autoreset_mode"] == sync.metadata["autoreset_mode"]
    return batch, sync


def actions_of(batch, rng):
    """Mostly legal actions, and some that may be illegal."""
    actions = rng.integers(batch.single_action_space.n, size=N)
    for i, mask in enumerate(batch.action_masks()):
        if mask.any() and rng.random() < 0.8:
            actions[i] = rng.choice(np.flatnonzero(mask))
    return actions


def both(batch, sync, name, *arguments, **more):
    """Call a method of both, with options of their own, compare what they return, and return it."""
    results = [getattr(env, name)(*arguments, **{k: dict(v) if isinstance(v, dict) else v for k, v in more.items()})
               for env in (batch, sync)]  # fmt: skip
    assert same(*results)
    return results[0]


def run(batch, sync, steps, rng, mode):
    """Step both; return which kinds of infos came along."""
    seen = set()
    for _ in range(steps):
        *_, terminated, truncated, infos = both(batch, sync, "step", actions_of(batch, rng))
        seen |= set(infos)
        ended = terminated | truncated
        if mode == AutoresetMode.DISABLED and ended.any():
            both(batch, sync, "reset", options={"reset_mask": ended})
    return seen


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("name", GAMES)
def test_same_as_sync(name, mode):
    batch, sync = pair(*GAMES[name], mode)
    rng = np.random.default_rng(1)
    both(batch, sync, "reset", seed=5)
    seen = run(batch, sync, 200, rng, mode)
    assert "action_mask" in seen
    assert "illegal_action" in seen
    assert ("final_info" if mode == AutoresetMode.SAME_STEP else "is_success") in seen
    both(batch, sync, "reset")
    run(batch, sync, 20, rng, mode)
    both(batch, sync, "reset", seed=[3, None, 1, 2**63, None])
    run(batch, sync, 20, rng, mode)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_same_as_sync_when_the_end_comes_before_the_first_choice(mode):
    batch, sync = pair(Stakes, StakesVector, {"seat": 1, "illegal": "raise"}, mode)
    over = {"position": {"chips": [7, 4, 4], "turn": 0, "dice": [5]}}
    both(batch, sync, "reset", seed=0, options=over)
    _, rewards, terminated, _, infos = both(batch, sync, "step", np.zeros(N, np.int64))
    assert rewards.tolist() == [-1.0] * N
    assert terminated.all()
    final = infos["final_info"] if mode == AutoresetMode.SAME_STEP else infos
    assert final["outcome"].tolist() == [0.0] * N
    if mode == AutoresetMode.DISABLED:
        both(batch, sync, "reset")
    if mode == AutoresetMode.NEXT_STEP:
        both(batch, sync, "step", np.zeros(N, np.int64))
    both(batch, sync, "step", np.zeros(N, np.int64))


@pytest.mark.parametrize("mode", AutoresetMode)
def test_games_that_often_end_before_the_first_choice(mode):
    batch, sync = pair(Stakes, StakesVector, {"seat": 2, "goal": 4}, mode)
    both(batch, sync, "reset", seed=2)
    pending = 0
    for _ in range(100):
        pending += int((batch._pending != 0).sum())
        _, _, terminated, truncated, _ = both(batch, sync, "step", np.zeros(N, np.int64))
        if mode == AutoresetMode.DISABLED and (terminated | truncated).any():
            both(batch, sync, "reset", options={"reset_mask": terminated | truncated})
    assert pending > 10


def test_reset_mask():
    batch, sync = pair(LaneDefense, LaneDefenseVector, {}, AutoresetMode.DISABLED)
    both(batch, sync, "reset", seed=0)
    both(batch, sync, "step", np.full(N, 9))
    chosen = np.array([True, False, False, True, False])
    _, infos = both(batch, sync, "reset", seed=[7, 7, 7, None, 7], options={"reset_mask": chosen})
    assert infos["_action_mask"].tolist() == chosen.tolist()
    assert [batch.view(i).position()["t"] for i in range(N)] == [0, 1, 1, 0, 1]
    position = {"board": [0, 0, 2, 0, 0, 0, 0, 0, 3], "t": 9, "can_plant": True}
    both(batch, sync, "reset", seed=1, options={"reset_mask": ~chosen, "position": position})
    assert [batch.view(i).position()["t"] for i in range(N)] == [0, 9, 9, 0, 9]
    both(batch, sync, "reset", options={"position": {**position, "dice": [0, 0, 1]}})
    both(batch, sync, "step", np.full(N, 9))
    assert all(batch.view(i).position()["board"] == position["board"] for i in range(N))


def cloned(batch, sync, **more):
    """Return the snapshots of all games, which are those of the single face."""
    snapshots = [batch.clone_state(i, **more) for i in range(N)]
    assert snapshots == [env.unwrapped.clone_state(**more) for env in sync.envs]
    return snapshots


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("name", GAMES)
def test_snapshots_are_those_of_the_single_face(name, mode):
    env_class, batch_class, settings = GAMES[name]
    batch, sync = pair(env_class, batch_class, settings, mode)
    single, rng = env_class(**settings), np.random.default_rng(3)
    both(batch, sync, "reset", seed=8)
    ends = 0
    for _ in range(60):
        snapshots = cloned(batch, sync)
        cloned(batch, sync, include_rng=False)
        i = int(rng.integers(N))
        single.restore_state(snapshots[i])
        actions = actions_of(batch, rng)
        *result, info = single.step(actions[i])
        snapshot = single.clone_state()
        observations, rewards, terminated, truncated, _ = both(batch, sync, "step", actions)
        ended = terminated | truncated
        if not (mode == AutoresetMode.NEXT_STEP and "outcome" in info and not ended[i]):
            if mode != AutoresetMode.SAME_STEP or not ended[i]:
                assert same(observations[i], result[0])
                assert batch.clone_state(i) == snapshot
            assert (rewards[i], terminated[i], truncated[i]) == tuple(result[1:])
        ends += ended.sum()
        if mode == AutoresetMode.DISABLED and ended.any():
            both(batch, sync, "reset", options={"reset_mask": ended})
    assert ends


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("name", GAMES)
def test_snapshots_of_a_batch_bring_back_the_future(name, mode):
    _, batch_class, settings = GAMES[name]
    batch, other = (batch_class(N, autoreset_mode=mode, **settings) for _ in range(2))
    batch.reset(seed=4)
    rng = np.random.default_rng(5)
    for _ in range(12):
        actions = actions_of(batch, rng)
        if mode != AutoresetMode.SAME_STEP and batch._status.any():
            batch.reset()  # the ends were reported: a restored game would report its end again
        snapshots = pickle.loads(pickle.dumps([batch.clone_state(i) for i in range(N)]))
        for i, snapshot in enumerate(snapshots):
            other.restore_state(i, snapshot)
            assert other.clone_state(i) == snapshot
        assert same(other.action_masks(), batch.action_masks())
        assert same(batch.step(actions), other.step(actions))
    copied = copy.deepcopy(batch)
    assert [copied.clone_state(i) for i in range(N)] == [batch.clone_state(i) for i in range(N)]


@pytest.mark.parametrize("mode", AutoresetMode)
def test_restored_ends_are_reported_once(mode):
    single = TicTacToe(opponent="random")
    ends = {}
    for seed in range(60):
        single.reset(seed=seed)
        while len(legal := single.legal_actions()):
            info = single.step(legal[0])[4]
        ends[info["outcome"]] = single.clone_state()
    assert len(ends) > 1
    batch = TicTacToeVector(len(ends), autoreset_mode=mode)
    batch.reset(seed=0)
    batch.step(np.zeros(len(ends), np.int64))
    for i, snapshot in enumerate(ends.values()):
        batch.restore_state(i, snapshot)
        assert batch.clone_state(i) == snapshot
    assert not batch.action_masks().any()
    _, rewards, terminated, _, infos = batch.step(np.zeros(len(ends), np.int64))
    assert terminated.all()
    assert not rewards.any()
    final = infos["final_info"] if mode == AutoresetMode.SAME_STEP else infos
    assert final["outcome"].tolist() == list(ends)
    if mode == AutoresetMode.SAME_STEP:
        assert batch.action_masks().any(axis=1).all()
    else:
        assert [batch.clone_state(i) for i in range(len(ends))] == list(ends.values())
    if mode == AutoresetMode.NEXT_STEP:
        *_, terminated, _, _ = batch.step(np.zeros(len(ends), np.int64))
        assert not terminated.any()
        assert batch.action_masks().any(axis=1).all()
        assert all(batch.clone_state(i) != snapshot for i, snapshot in enumerate(ends.values()))


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_games_that_ended_play_on_from_a_snapshot(mode):
    batch = LaneDefenseVector(2, autoreset_mode=mode, columns=8, max_steps=3)
    batch.reset(seed=0)
    start = batch.clone_state(0)
    for _ in range(3):
        _, _, _, truncated, _ = batch.step([24, 24])
    assert truncated.all()
    for i in range(2):
        batch.restore_state(i, start)
    *_, truncated, _ = batch.step([24, 24])
    assert not truncated.any()
    assert [batch.position(i)["t"] for i in range(2)] == [1, 1]
    assert batch.position(0) == batch.position(1)


def test_snapshots_of_others_are_refused():
    batch = StakesVector(2, seat=1)
    fresh = StakesVector(2, seat=1)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before clone_state\(\)"):
        batch.clone_state(0)
    batch.reset(seed=0)
    good = batch.clone_state(1)
    batch.reset(seed=1)
    before = [batch.clone_state(i) for i in range(2)]
    other, lane = Stakes(seat=2), LaneDefenseVector(1)
    other.reset(seed=0)
    lane.reset(seed=0)
    for bad, error, text in (
        (other.clone_state(), ValueError, "taken from seat 2 and this environment is seat 1"),
        (lane.clone_state(), ValueError, "the snapshot is of lane_defense:.* and this environment is stakes:"),
        (good._replace(state=good.state[1:]), ValueError, "is damaged: its state has"),
        (good._replace(face=good.face[8:]), ValueError, "is damaged: its face has 48 bytes, not 56 bytes"),
        (good._replace(face=()), ValueError, "another kind of API"),
        (None, TypeError, "cannot restore NoneType; pass what clone_state"),
    ):
        with pytest.raises(error, match=text):
            batch.restore_state(1, bad)
    with pytest.raises(ValueError, match=r"index 2 is outside \[0, 1\]"):
        batch.restore_state(2, good)
    assert [batch.clone_state(i) for i in range(2)] == before
    fresh.restore_state(1, good)
    assert fresh.clone_state(1) == good
    assert fresh.action_masks()[0].any()


def test_snapshots_without_chance():
    batch = LaneDefenseVector(2)
    batch.reset(seed=0)
    bare, full = batch.clone_state(0, include_rng=False), batch.clone_state(0)
    position = {**batch.position(0), "t": 7, "dice": [1, 2, 3]}
    batch.reset(seed=3, options={"position": position})
    stream = batch.clone_state(1).state[:8]
    batch.restore_state(1, bare)
    assert batch.clone_state(1).state == stream + bytes(24) + full.state[32:]
    assert batch.position(0) == position
    assert batch.clone_state(1, include_rng=False) == bare


def test_settings_are_not_shared_with_the_caller():
    waves = [{"steps": 5, "p_new": 1.0, "flag": 0, "mix": [1, 0, 0, 0]} for _ in range(3)]
    batch = RosterDefenseVector(2, waves=waves)
    batch.reset(seed=0)
    waves.pop()
    copied = copy.deepcopy(batch)
    assert copied.game.fingerprint == batch.game.fingerprint
    assert same(copied.step([0, 1]), batch.step([0, 1]))


def test_numpy_seeds():
    first, *others = (LaneDefenseVector(3).reset(seed=seed)[0] for seed in (0, np.int64(0), np.arange(3), (0, 1, 2)))
    assert all(same(other, first) for other in others)


def test_seeds_continue():
    one, other = LaneDefenseVector(N), LaneDefenseVector(N)
    for seed in (3, None, None):
        assert same(one.reset(seed=seed), other.reset(seed=seed))
    fresh = [LaneDefenseVector(2) for _ in range(2)]
    streams = set()
    for batch in fresh:
        batch.reset()
        streams |= {batch.view(i).state[:8].tobytes() for i in range(2)}
    assert len(streams) == 4


def test_making():
    made = [gymnasium.make_vec(SMALL, num_envs=3), mcts_envs.make_vec("LaneDefense3x3-v0", 3)]
    made += [mcts_envs.make_vec("mcts_envs/LaneDefense3x3-v0", num_envs=3, autoreset_mode="NextStep")]
    same_step = gymnasium.make_vec(SMALL, num_envs=3, autoreset_mode="SameStep")
    assert same_step.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    first, *others = (batch.reset(seed=4) for batch in made)
    assert isinstance(made[0], LaneDefenseVector)
    assert made[1].spec.id == SMALL
    for other in others:
        assert same(first, other)
    sync = gymnasium.make_vec(SMALL, num_envs=3, vectorization_mode="sync")
    assert same(sync.reset(seed=4), first)
    with pytest.raises(ValueError, match="unknown environment 'LaneDefense3x4-v0'; did you mean 'mcts_envs/Lane"):
        mcts_envs.make_vec("LaneDefense3x4-v0")
    with pytest.raises(TypeError, match="unknown setting 'nigt'; did you mean 'night'"):
        mcts_envs.make_vec("LaneDefense3x3-v0", 2, nigt=3)
    with pytest.raises(TypeError, match="id 5 is int, not a name such as 'mcts_envs/LaneDefense3x3-v0'"):
        mcts_envs.make_vec(5)


def test_wrappers_of_gymnasium():
    batch = gymnasium.wrappers.vector.RecordEpisodeStatistics(LaneDefenseVector(N))
    batch.reset(seed=0)
    finished = 0
    for _ in range(60):
        *_, infos = batch.step(np.full(N, 9))
        finished += int(infos.get("_episode", np.zeros(1)).sum())
    assert finished > 0


def test_arrays_are_fresh():
    batch = LaneDefenseVector(N)
    observations, infos = batch.reset(seed=0)
    kept = observations.copy(), infos["action_mask"].copy()
    batch.step(np.zeros(N, np.int64))
    assert same((observations, infos["action_mask"]), kept)
    observations[:] = infos["action_mask"][:] = 5
    assert batch.action_masks().max() == 1


def test_views():
    batch = TronVector(N, seat=1)
    batch.reset(seed=0)
    for i in range(N):
        view = batch.view(i)
        assert isinstance(view, View)
        assert view.player == 1
        assert same(view.action_masks(), batch.action_masks()[i])
    state = batch.view(2).state
    before = state.copy()
    batch.step(np.zeros(N, np.int64))
    assert np.shares_memory(state, batch.view(2).state)
    assert not same(state, before)
    with pytest.raises(ValueError, match=r"index 5 is outside \[0, 4\]"):
        batch.view(5)


def test_render():
    batch = TicTacToeVector(2, render_mode="ansi")
    batch.reset(seed=0)
    assert batch.render() == ("...\n...\n...",) * 2
    batch = LaneDefenseVector(2, render_mode="rgb_array")
    batch.reset(seed=0)
    assert [picture.dtype for picture in batch.render()] == [np.uint8] * 2
    batch = TicTacToeVector(2)
    for before_reset in (batch.render, batch.position):
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before"):
            before_reset()
    batch.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        batch.render()


def states(batch):
    return [batch.view(i).state.tobytes() for i in range(N)]


@pytest.mark.parametrize(
    ("actions", "error", "text"),
    [
        ([0, 1], TypeError, r"actions of shape \(2,\) and type int64; give 5 integers"),
        ([0.0] * N, TypeError, r"type float64; give 5 integers"),
        ([True] * N, TypeError, r"type bool; give 5 integers"),
        (["1"] * N, TypeError, "give 5 integers"),
        (None, TypeError, "give 5 integers"),
        (3, TypeError, r"actions of shape \(\)"),
        ([[1], [1, 2], 0, 0, 0], TypeError, r"actions \[\[1\], \[1, 2\], 0, 0, 0\] are ragged; give 5 integers"),
        ([0, 0, 10, 0, 0], ValueError, r"action 10 of game 2 is outside Discrete\(10\)"),
        ([0, 0, 0, 0, -1], ValueError, r"action -1 of game 4 is outside .*; legal now: 0, "),
        (np.array([0, 2**64 - 1, 0, 0, 0], np.uint64), ValueError, "action 18446744073709551615 of game 1 is outside"),
    ],
)
def test_impossible_actions(actions, error, text):
    batch = LaneDefenseVector(N)
    batch.reset(seed=0)
    before = states(batch)
    with pytest.raises(error, match=text):
        batch.step(actions)
    assert states(batch) == before


def test_illegal_actions_in_strict_mode():
    batch = TicTacToeVector(N, illegal="raise")
    batch.reset(seed=0)
    batch.step(np.full(N, 4))
    before = states(batch)
    actions = np.array([np.flatnonzero(mask)[0] for mask in batch.action_masks()])
    actions[3] = 4
    with pytest.raises(ValueError, match="action 4 of game 3 is illegal; legal now: "):
        batch.step(actions)
    assert states(batch) == before


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"seed": [1, 2]}, "2 seeds for 5 games; give one int, or one seed for each game"),
        ({"seed": -1}, r"seed -1 is outside \[0, "),
        ({"seed": [0, 0, 2**64, 0, 0]}, "seed 18446744073709551616 is outside"),
        ({"options": {"mask": 1}}, "unknown option key 'mask'"),
        ({"options": {"reset_mask": np.ones(3, bool)}}, r"is not a bool array \[5\] with at least one True"),
        ({"options": {"reset_mask": np.zeros(N, bool)}}, "with at least one True"),
        ({"options": [1]}, r"option \[1\] is list, not a dictionary"),
        ({"options": {"position": {"board": []}}}, "position lacks 'can_plant', 't'"),
    ],
)
def test_impossible_resets(arguments, text):
    batch = LaneDefenseVector(N)
    batch.reset(seed=0)
    before = states(batch)
    with pytest.raises((ValueError, TypeError), match=text):
        batch.reset(**arguments)
    assert states(batch) == before
    for seed in (1.5, True, np.float64(2), [0, 1, 2, 3, True], [0, 1, 2, 3, 4.0]):
        with pytest.raises(TypeError, match=r"seed .* is (float|bool|float64), not an integer from 0 to"):
            batch.reset(seed=seed)
    assert states(batch) == before


def test_before_the_first_reset_and_after_the_end():
    batch = LaneDefenseVector(2, autoreset_mode="Disabled", max_steps=1)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before step\(\)"):
        batch.step([0, 0])
    with pytest.raises(gymnasium.error.ResetNeeded, match="the first reset must start all games"):
        batch.reset(options={"reset_mask": np.array([True, False])})
    batch.reset(seed=0)
    batch.step([9, 9])
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"game 0 has ended; call reset\(options=\{'reset_mask'"):
        batch.step([9, 9])


def test_impossible_batches():
    with pytest.raises(ValueError, match=r"cannot play in a batch.* use 'random', 'scripted' or one name"):
        TicTacToeVector(2, opponent="agents:mcts")
    with pytest.raises(ValueError, match="unknown opponent 'rando'; did you mean 'random'"):
        TicTacToeVector(2, opponent="rando")
    with pytest.raises(ValueError, match=r"num_envs 0 is outside \[1, "):
        LaneDefenseVector(0)
    with pytest.raises(ValueError, match="unknown autoreset mode 'nextstep'; did you mean 'NextStep'"):
        LaneDefenseVector(2, autoreset_mode="nextstep")
    with pytest.raises(ValueError, match=r"seat 1 is outside \[0, 0\]"):
        LaneDefenseVector(2, seat=1)
