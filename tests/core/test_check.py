"""check_game refuses games whose kernels break a law, and says which; all laws are in `test_laws.py`."""

import warnings
from dataclasses import replace

import leduc
import numpy as np
import pig
import pytest

import mcts_envs
from mcts_envs.core.contract import (
    ACTIVE,
    ADVISE,
    DETERMINIZE,
    EVALUATE,
    KEY,
    LEGAL,
    OBSERVE,
    OUTCOME,
    RESET,
    STATUS,
    STEP,
    Game,
    blank,
    state_dtype,
)
from mcts_envs.core.defaults import default_determinize, default_key
from mcts_envs.core.kernel import kernel, record, word
from mcts_envs.core.rng import below, seed_stream
from mcts_envs.core.sampling import LawError
from mcts_envs.games.lane_defense.rules import classic as rules
from mcts_envs.games.lane_defense.spec.classic import LaneDefense, lane_defense
from tests.toys import TicTacToe, stakes

GAME = lane_defense()
CLOCK = rules.STATE.fields["t"][1]
SCORED = state_dtype([("t", "i8")])
BOARD = rules.STATE.fields["boards"][1]


def refused(law, **changes):
    with pytest.raises(LawError, match=law):
        mcts_envs.check_game(replace(GAME, variants={}, **changes), episodes=2, faces=False)


def test_the_game_itself_passes():
    mcts_envs.check_game(GAME, episodes=1, faces=False)
    mcts_envs.check_game(LaneDefense, episodes=1, faces=False, max_steps=3)


def test_a_reset_that_leaves_something_of_the_game_before():
    @kernel(RESET)
    def reset(state, seed):
        before = state[CLOCK]
        rules.reset(state, seed)
        state[CLOCK] = before

    refused("same seed, same game|compiled", reset=reset)


def test_a_reset_that_never_seeds_its_stream():
    @kernel(RESET)
    def reset(state, seed):
        before = word(state, 0)
        rules.reset(state, seed)
        record(state, rules.STATE).stream = before

    refused("each seed has its own chance: seed 0 leaves a stream of zeros", reset=reset)


def test_a_game_that_no_die_ends_since_its_stream_was_never_seeded():
    @kernel(RESET)
    def reset(state, seed):
        record(state, SCORED).t = 0

    @kernel(STEP)
    def step(state, actions, rewards):
        rewards[:] = 0.0
        record(state, SCORED).t = below(state, 6)

    with pytest.raises(LawError, match=r"seed 0 leaves a stream of zeros; call seed_stream\(state, seed\) in reset"):
        mcts_envs.check_game(replace(scored(1.0), reset=reset, step=step), step_bound=50, faces=False)


def test_active_that_names_the_player_in_place_of_a_bit():
    @kernel(ACTIVE)
    def active(state):
        return 1 - record(state, SCORED).t

    @kernel(ACTIVE)
    def first(state):
        return 0

    bits = r"active returns .*1 << player"
    with pytest.raises(LawError, match=f"the end: nobody is to choose, but only these have ended: .*{bits}"):
        mcts_envs.check_game(replace(scored(1.0, 1.0), active=active), faces=False)
    with pytest.raises(LawError, match=f"games begin: nobody is to choose after reset; {bits}"):
        mcts_envs.check_game(replace(scored(1.0, 1.0), active=first), faces=False)


def test_a_reset_that_seeds_every_game_alike():
    @kernel(RESET)
    def reset(state, seed):
        rules.reset(state, np.uint64(3))

    refused("each seed has its own chance: seeds 0 and 1 start the same stream", reset=reset)


def test_a_step_without_its_decorator_is_told_before_it_is_played():
    def step(state, actions, rewards):  # no game ends by it
        rewards[0] = 0.0

    refused(r"signatures: step is no kernel, .*: use @kernel\(STEP\)", step=step)


def test_an_observation_that_leaves_a_mark():
    @kernel(OBSERVE)
    def observe(state, player, out):
        rules.observe(state, player, out)
        state[CLOCK] = np.uint8(0)

    refused("looking changes nothing: observe wrote to the state", observe=observe)


def test_a_position_that_leaves_something_out():
    def place(state, position):
        GAME.place(state, {**position, "t": 0})

    refused("positions come back", place=place)


def test_a_position_that_calls_something_dice():
    def position(state):
        return {**GAME.position(state), "dice": [1, 2]}

    refused("positions come back: a position has 'dice', which are forced", position=position)


def test_an_environment_whose_snapshots_lack_something():
    class Tired(LaneDefense):
        paid = 0.0

        def step(self, action):
            observation, reward, *rest = super().step(action)
            self.paid += 1.0
            return observation, reward - self.paid, *rest

    with pytest.raises(LawError, match="two restores of one snapshot led to different games"):
        mcts_envs.check_game(Tired, episodes=1, faces=False)


def test_a_step_that_pays_after_the_end():
    @kernel(STEP)
    def step(state, actions, rewards):
        rules.step(state, actions, rewards)
        rewards[0] += 1.0

    refused("the end is absorbing", step=step)


def test_a_player_who_cannot_move():
    @kernel(LEGAL)
    def legal(state, player, actions):
        return 0

    refused("someone who is to choose can", legal=legal)


def test_a_legal_list_with_doubles():
    @kernel(LEGAL)
    def legal(state, player, actions):
        actions[0] = actions[1] = 9
        return 2

    refused("legal actions", legal=legal)


def test_a_key_that_sees_the_dice():
    @kernel(KEY)
    def key(state, observer):
        return word(state, 0) ^ word(state, 1)

    refused("no clairvoyance", key=key)


def test_a_determinize_that_changes_what_is_known():
    @kernel(DETERMINIZE)
    def determinize(state, observer, seed):
        seed_stream(state, seed)
        state[BOARD] ^= np.uint8(1)

    refused("no clairvoyance", determinize=determinize)


def test_an_observation_with_gaps():
    @kernel(OBSERVE)
    def observe(state, player, out):
        out[0] = 0.0

    refused("observation", observe=observe)


def test_advice_below_zero():
    @kernel(ADVISE)
    def advise(state, player, weights):
        weights[:] = -1.0

    refused("advise", advise=advise)


def test_a_value_that_is_no_number():
    @kernel(EVALUATE)
    def evaluate(state, values):
        values[0] = np.nan

    refused("evaluate", evaluate=evaluate)


def test_a_reward_without_bounds():
    @kernel(STEP)
    def step(state, actions, rewards):
        rules.step(state, actions, rewards)
        rewards[0] = np.inf

    refused("rewards", step=step)


def test_points_out_of_bounds():
    @kernel(OUTCOME)
    def outcome(state, points):
        points[0] = 2.0

    refused("outcome", outcome=outcome)


def test_a_reward_beyond_the_players_is_told_before_compiled_code_writes_it():
    @kernel(STEP)
    def step(state, actions, rewards):
        rules.step(state, actions, rewards)
        rewards[1] = 1.0

    refused(r"arrays have ends: test_check.py:\d+: index 1 is out of bounds for axis 0 with size 1", step=step)


def test_a_kernel_that_differs_interpreted():
    @kernel(OUTCOME)
    def outcome(state, points):
        points[0] = (state[BOARD] | 200) + np.uint8(100) > 255  # a byte overflows interpreted, not compiled

    refused(r"numbers fit: test_check.py:\d+: interpreted, a kernel warns: overflow", outcome=outcome)


def test_a_function_that_is_not_compiled():
    refused("signatures", step=rules.step.py_func)


def test_a_game_that_does_not_end():
    with pytest.raises(LawError, match="games end: one was not over after 50 steps"):
        mcts_envs.check_game(
            LaneDefense, faces=False, step_bound=50, p_move=0.0, p_plant=0.0, first_plant_guaranteed=False
        )


def test_a_field_that_a_record_has_for_itself():
    with pytest.raises(ValueError, match="field named 'size'"):
        state_dtype([("size", "i4")])
    with pytest.raises(ValueError, match="field named 'dice': its chance header has it"):
        state_dtype([("dice", "u1", 2)])


def test_what_cannot_be_checked():
    with pytest.raises(TypeError, match="cannot check 3"):
        mcts_envs.check_game(3)
    with pytest.raises(TypeError, match="no environment of mcts_envs"):
        mcts_envs.check_game("CartPole-v1")
    for number, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError)):
        for name in ("episodes", "step_bound"):
            with pytest.raises(error, match=f"{name} {number} is "):
                mcts_envs.check_game(GAME, **{name: number})
    for seed in (-1, 2**64 - 1):
        with pytest.raises(ValueError, match=f"seed {seed} is outside"):
            mcts_envs.check_game(GAME, seed=seed)


def test_ids_are_those_of_all_doors():
    for id in ("LaneDefense3x3-v0", "mcts_envs/LaneDefense3x3-v0", f"{pig.__file__}:Pig-v0"):
        mcts_envs.check_game(id, episodes=1, faces=False)


def test_a_game_for_two_with_all_its_faces():
    mcts_envs.check_game(TicTacToe, episodes=2)


def scored(*pays):
    """Return a game in which player 0 is paid these one by one, by player 1."""
    count = len(pays)

    @kernel(RESET)
    def reset(state, seed):
        seed_stream(state, seed)
        record(state, SCORED).t = 0

    @kernel(ACTIVE)
    def active(state):
        return 1 if record(state, SCORED).t < count else 0

    @kernel(LEGAL)
    def legal(state, player, actions):
        actions[0] = 0
        return 1

    @kernel(STEP)
    def step(state, actions, rewards):
        s = record(state, SCORED)
        rewards[:] = 0.0
        if s.t < count:
            rewards[0], rewards[1] = pays[s.t], -pays[s.t]
            s.t += 1

    @kernel(STATUS)
    def status(state, player):
        return 1 if record(state, SCORED).t == count else 0

    return Game("scored", 2, 1, blank(SCORED), reset, active, legal, step, status)


@pytest.mark.parametrize("shape", [(1, 2, 2), (2, 2)])
def test_observations_may_be_planes(shape):
    mcts_envs.check_game(replace(stakes(), observation_shape=shape))


def test_points_that_the_last_reward_gives_and_the_score_does_not():
    with pytest.warns(UserWarning, match=r"returns \[2.0, -2.0\], and has points \[0.0, 1.0\].*Game\(outcome") as told:
        mcts_envs.check_game(scored(3.0, -1.0), faces=False)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mcts_envs.check_game(scored(-1.0, -0.5), faces=False)  # the same has won
        mcts_envs.check_game(scored(0.9, 0.9, -1.0), faces=False)  # rewards on the way are smaller than that of the end


def test_scores_of_one_player_that_are_all_the_same_points():
    @kernel(STEP)
    def step(state, actions, rewards):
        s, rewards[0] = record(state, SCORED), 0.0
        if s.t < 3:
            s.t += 1
            rewards[0] = 1.0 + below(state, 100)

    @kernel(OUTCOME)
    def outcome(state, points):
        points[0] = 0.5

    base = scored(0.0, 0.0, 0.0)
    game = Game("score", 1, 1, blank(SCORED), base.reset, base.active, base.legal, step, base.status)
    with pytest.warns(UserWarning, match=r"all have points 1.0, so that no comparison tells them apart; .*outcome"):
        mcts_envs.check_game(game, faces=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mcts_envs.check_game(replace(game, outcome=outcome), faces=False)


def test_what_an_observation_hides_and_no_determinize_redraws():
    told = "look the same to player 0 and not to player 1; what observe hides from player 0 its planners still see"
    with pytest.warns(UserWarning, match=told):
        mcts_envs.check_game(replace(leduc.GAME, key=default_key, determinize=default_determinize), faces=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mcts_envs.check_game(leduc.GAME, faces=False)
