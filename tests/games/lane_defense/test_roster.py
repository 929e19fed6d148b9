"""The roster game: every rule by hand, with forced dice where chance decides."""

from dataclasses import asdict

import numpy as np
import pytest

from mcts_envs.core.contract import RUNNING, TERMINATED, TRUNCATED
from mcts_envs.core.place import position_of
from mcts_envs.games.lane_defense.spec.roster import roster_defense
from mcts_envs.games.lane_defense.tables import ROSTERS, Wave
from tests.games.lane_defense.play import WAIT, Play, plant, zombie


def test_start():
    game = roster_defense()
    state = game.new_state()
    game.reset(state, 5)
    barred = dict.fromkeys(("sunflower", "shooter", "wall", "mine"), 0)
    assert position_of(game, state) == {
        "t": 0, "sun": 4, "recharge": barred, "plants": [], "zombies": [], "mowers": []
    }  # fmt: skip
    assert game.status(state, 0) == RUNNING
    assert game.active(state) == 1
    assert game.actions == 181
    assert game.observation_shape == (506,)
    assert len(state) < 512


def test_action_numbers():
    game = roster_defense()
    assert game.action_name(2 * 45 + 3 * 9 + 7) == "wall 3,7"
    assert game.action_name(180) == WAIT


def test_legal_needs_empty_cell_sun_and_recharge():
    kinds = ["sunflower", "shooter", "wall", "mine"]
    board = {f"{lane},{column}" for lane in range(5) for column in range(8)}
    assert Play(sun=4).legal() == {f"{kind} {cell}" for kind in kinds for cell in board} | {WAIT}
    assert Play(sun=0).legal() == {WAIT}
    play = Play([plant("wall", 1, 2)], [zombie("cone", 3, 0), zombie("cone", 3, 8)], sun=3, recharge={"wall": 1})
    free = board - {"1,2", "3,0"}
    assert play.legal() == {f"{kind} {cell}" for kind in ("sunflower", "mine") for cell in free} | {WAIT}


@pytest.mark.parametrize(("kind", "decisions"), [("sunflower", 2), ("shooter", 2), ("wall", 10), ("mine", 10)])
def test_recharge_bars_exactly_so_many_decisions(kind, decisions):
    play = Play(sun=40)
    play.act(f"{kind} 0,0")
    assert play.position["recharge"][kind] == decisions
    for _ in range(decisions):
        assert f"{kind} 0,1" not in play.legal()
        play.act()
    assert f"{kind} 0,1" in play.legal()


@pytest.mark.parametrize(
    ("action", "more"),
    [
        ("mine 0,8", {}),
        ("mine 1,1", {}),
        ("mine 2,2", {}),
        ("shooter 0,0", {"sun": 3}),
        ("mine 0,0", {"recharge": {"mine": 1}}),
    ],
    ids=["entry column", "on a plant", "on a zombie", "too dear", "barred until this step is over"],
)
def test_illegal_action_waits(action, more):
    start = {"plants": [plant("wall", 1, 1)], "zombies": [zombie("cone", 2, 2)], "sun": 9, "dice": [0, 0], **more}
    played, waited = Play(**start), Play(**start)
    assert action not in played.legal()
    assert played.act(action) == waited.act()
    assert np.array_equal(played.state, waited.state)


def test_planting_pays_and_the_new_plant_works_at_once():
    play = Play(sun=10, dice=[0, 1])
    play.act("sunflower 0,0")
    assert play.position["sun"] == 10 - 2 + 1
    play = Play(sun=10, dice=[0, 1])
    play.act("mine 0,0")
    assert play.position["sun"] == 9
    assert play.plants("armed") == {("mine", 0, 0): True}
    play = Play(zombies=[zombie("normal", 0, 5)], sun=4, dice=[0, 0])
    play.act("shooter 0,4")
    assert play.position["sun"] == 0
    assert play.zombies() == {("normal", 0, 5): 8}


@pytest.mark.parametrize(("dice", "sun"), [([0, 0, 0], 7), ([1, 0, 0], 8), ([1, 0, 1], 9), ([1, 1, 1], 10)])
def test_income(dice, sun):
    play = Play([plant("sunflower", 0, 0), plant("sunflower", 4, 7)], sun=7, dice=dice)
    play.act()
    assert play.position["sun"] == sun
    assert play.dice_left == 0


def test_sun_is_capped_after_income():
    play = Play([plant("sunflower", 0, 0)], sun=39, dice=[1, 1])
    play.act()
    assert play.position["sun"] == 40


def test_each_unarmed_mine_has_a_coin_after_all_income():
    mines = [plant("mine", 0, 0), plant("sunflower", 2, 0), plant("mine", 1, 3, armed=True), plant("mine", 3, 1)]
    play = Play(mines, dice=[0, 1, 0, 1])
    play.act()
    assert play.plants("armed") == {
        ("mine", 0, 0): False, ("mine", 1, 3): True, ("sunflower", 2, 0): False, ("mine", 3, 1): True
    }  # fmt: skip
    assert play.position["sun"] == 1
    assert play.dice_left == 0


def test_shooters_hit_the_nearest_zombie_strictly_to_their_right():
    zombies = [zombie("cone", 0, 2), zombie("normal", 0, 6), zombie("normal", 1, 3)]
    play = Play([plant("shooter", 0, 1), plant("shooter", 0, 4), plant("shooter", 1, 4)], zombies, dice=[0] * 4)
    assert play.act() == 0
    assert play.zombies() == {("cone", 0, 2): 17, ("normal", 0, 6): 8, ("normal", 1, 3): 9}


def test_the_next_shooter_hits_the_next_zombie():
    zombies = [zombie("normal", 2, 5, hp=2), zombie("runner", 2, 6, hp=7), zombie("normal", 3, 7, hp=1)]
    play = Play([plant("shooter", 2, 0), plant("shooter", 2, 1), plant("shooter", 2, 4)], zombies, dice=[0] * 3)
    assert play.act() == 1
    assert play.zombies() == {("runner", 2, 6): 6, ("normal", 3, 7): 1}


def test_each_zombie_has_its_own_coin_lane_by_lane_and_left_to_right():
    zombies = [zombie("normal", 0, 4), zombie("cone", 0, 6), zombie("runner", 3, 5), zombie("bucket", 3, 7)]
    play = Play(zombies=zombies, dice=[0, 1, 0, 0, 1])
    assert play.act() == 0
    assert play.dice_left == 0
    assert set(play.zombies()) == {("normal", 0, 3), ("cone", 0, 6), ("runner", 3, 5), ("bucket", 3, 6)}


def test_a_zombie_waits_behind_another_but_follows_one_that_moved():
    play = Play(zombies=[zombie("normal", 0, 4), zombie("cone", 0, 5)], dice=[0, 0, 1])
    play.act()
    assert set(play.zombies()) == {("normal", 0, 4), ("cone", 0, 5)}
    play = Play(zombies=[zombie("normal", 0, 4), zombie("cone", 0, 5)], dice=[0, 1, 1])
    play.act()
    assert set(play.zombies()) == {("normal", 0, 3), ("cone", 0, 4)}


def test_a_wall_takes_eight_bites():
    play = Play([plant("wall", 0, 3)], [zombie("normal", 0, 4)], dice=[0, 1] * 9)
    for bites in range(1, 8):
        assert play.act() == 0
        assert play.plants() == {("wall", 0, 3): 8 - bites}
    assert play.act() == -1
    assert play.plants() == {}
    assert set(play.zombies()) == {("normal", 0, 4)}
    play.act()
    assert set(play.zombies()) == {("normal", 0, 3)}


def test_an_unarmed_mine_is_eaten():
    play = Play([plant("mine", 0, 3)], [zombie("normal", 0, 4)], dice=[0, 0, 1])
    assert play.act() == -1
    assert play.plants() == {}
    assert set(play.zombies()) == {("normal", 0, 4)}


def test_an_armed_mine_kills_the_zombie_and_one_in_the_next_cell():
    zombies = [zombie("bucket", 0, 4), zombie("cone", 0, 5), zombie("normal", 0, 6)]
    play = Play([plant("mine", 0, 3, armed=True)], zombies, dice=[0, 1, 1])
    assert play.act() == 2
    assert play.dice_left == 0
    assert play.plants() == {}
    assert set(play.zombies()) == {("normal", 0, 5)}
    play = Play([plant("mine", 0, 3, armed=True)], [zombies[0], zombies[2]], dice=[0, 1, 0])
    assert play.act() == 1
    assert set(play.zombies()) == {("normal", 0, 6)}


def test_a_zombie_in_the_house_ends_the_game_at_once():
    zombies = [zombie("normal", 0, 4, hp=1), zombie("normal", 1, 0), zombie("cone", 2, 4)]
    play = Play([plant("shooter", 0, 0), plant("wall", 2, 0)], zombies, t=20, dice=[0, 1, 1, 1, 1, 1])
    assert play.act() == 1 - 200
    assert play.game.status(play.state, 0) == TERMINATED
    assert play.game.active(play.state) == 0
    assert play.position["t"] == 20
    assert play.dice_left == 4
    assert set(play.zombies()) == {("normal", 1, 0), ("cone", 2, 4)}
    points = np.ones(1)
    play.game.outcome(play.state, points)
    assert points[0] == 0


def test_after_the_end_nothing_happens():
    play = Play(zombies=[zombie("normal", 1, 0)], sun=9, dice=[0, 1])
    assert play.act() == -200
    before = play.state.copy()
    assert play.act("mine 0,0") == 0
    assert np.array_equal(play.state, before)
    assert play.legal() == {WAIT}


def test_a_mower_clears_its_lane_once():
    zombies = [zombie("normal", 1, 0), zombie("bucket", 1, 5), zombie("cone", 2, 0)]
    play = Play([plant("wall", 1, 3)], zombies, mowers=[1, 4], dice=[0, 1, 0])
    assert play.act() == 2
    assert play.position["mowers"] == [4]
    assert play.dice_left == 0
    assert play.plants() == {("wall", 1, 3): 8}
    assert set(play.zombies()) == {("cone", 2, 0)}
    play = Play(zombies=zombies, mowers=[4], dice=[0, 1])
    assert play.act() == -200


def test_arrivals_take_a_free_lane_and_a_kind_of_the_mix():
    for share, kind in ((0, "normal"), (34, "normal"), (35, "cone"), (65, "runner"), (84, "runner"), (85, "bucket")):
        play = Play(zombies=[zombie("cone", 1, 8), zombie("cone", 3, 8)], t=100, dice=[0, 0, 0, 1, 1, share])
        assert play.act() == 0
        assert play.dice_left == 0
        assert (kind, 2, 8) in play.zombies(), "lanes 0, 2, 4 are free: index 1 is lane 2"
    assert play.zombies()["bucket", 2, 8] == 30


@pytest.mark.parametrize(
    ("t", "dice", "arrivals"),
    [
        (15, [], 0),
        (16, [1, 0, 0], 1),
        (16, [0], 0),
        (41, [0, 0, 0], 1),
        (41, [1, 0, 0, 0, 0], 2),
        (67, [0] + [0, 0] * 2, 2),
        (93, [1] + [0, 0] * 4, 4),
        (119, [0] + [0, 0] * 5, 5),
        (119, [1] + [0, 0] * 5, 5),
        (120, [], 0),
    ],
)
def test_waves_and_flags(t, dice, arrivals):
    play = Play(zombies=[zombie("cone", 0, 4)], t=t, dice=[0, 0, *dice])
    play.act()
    assert len(play.zombies()) == 1 + arrivals
    assert play.dice_left == 0
    assert play.position["t"] == t + 1


def test_lengths_of_waves_that_are_bytes():
    games = [roster_defense(waves=[Wave(length, 0.5, 0, (1, 0, 0, 0))] * 2) for length in (200, np.uint8(200))]
    assert games[0].template.tobytes() == games[1].template.tobytes()


def test_no_zombie_enters_when_all_entry_cells_are_taken():
    play = Play(zombies=[zombie("cone", lane, 8) for lane in range(5)], t=50, dice=[0] * 6 + [1])
    play.act()
    assert len(play.zombies()) == 5
    assert play.dice_left == 0


def test_won_when_the_waves_are_over_and_no_zombie_is_left():
    last = [zombie("normal", 0, 4, hp=1)]
    play = Play([plant("shooter", 0, 0)], last, t=119, dice=[0, 1, 0, 0] + [0] * 8)
    assert play.act() == 1
    assert play.game.status(play.state, 0) == RUNNING, "five more have entered"
    play = Play([plant("shooter", 0, 0)], last, t=119, waves=[asdict(Wave(104, 0.5, 0, (1, 0, 0, 0)))], dice=[0, 0])
    assert play.act() == 101
    assert play.game.status(play.state, 0) == TERMINATED
    play = Play([plant("shooter", 0, 0)], last, t=118, dice=[0] * 4, waves=[asdict(Wave(104, 0.5, 0, (1, 0, 0, 0)))])
    assert play.act() == 1
    assert play.game.status(play.state, 0) == RUNNING, "the wave is not over"
    assert play.act() == 100
    assert play.game.status(play.state, 0) == TERMINATED
    points = np.zeros(1)
    play.game.outcome(play.state, points)
    assert points[0] == 1


def test_truncated_at_the_step_limit():
    play = Play(zombies=[zombie("normal", 0, 8)], t=299, dice=[0, 0])
    assert play.act() == 0
    assert play.game.status(play.state, 0) == TRUNCATED
    assert play.game.active(play.state) == 0
    points = np.ones(1)
    play.game.outcome(play.state, points)
    assert points[0] == 0
    play = Play([plant("shooter", 0, 0)], [zombie("normal", 0, 8, hp=1)], t=299, dice=[0])
    assert play.act() == 101
    assert play.game.status(play.state, 0) == TERMINATED, "a win in the last step is a win"


def test_rewards_are_settings():
    rewards = {"reward_kill": 0.5, "reward_eaten": -0.25, "reward_win": 1.0, "reward_loss": -1.0}
    board = {"plants": [plant("shooter", 0, 0), plant("mine", 1, 0)], **rewards}
    play = Play(zombies=[zombie("normal", 0, 4, hp=1), zombie("normal", 1, 1), zombie("normal", 2, 0)],
                dice=[0, 0, 1, 1], **board)  # fmt: skip
    assert play.act() == 0.5 - 0.25 - 1


def test_vaulters_leap_over_the_first_plant():
    board = {"roster": "specialists", "dice": [0, 1]}
    play = Play([plant("wall", 0, 3)], [zombie("vaulter", 0, 4)], **board)
    play.act()
    assert play.zombies("leaps") == {("vaulter", 0, 2): 0}
    assert play.plants() == {("wall", 0, 3): 8}
    play = Play([plant("wall", 0, 3)], [zombie("vaulter", 0, 4, leaps=0)], **board)
    play.act()
    assert play.zombies("leaps") == {("vaulter", 0, 4): 0}
    assert play.plants() == {("wall", 0, 3): 7}
    play = Play([plant("wall", 0, 3), plant("wall", 0, 2)], [zombie("vaulter", 0, 4)], **board)
    play.act()
    assert play.zombies("leaps") == {("vaulter", 0, 4): 1}
    assert play.plants()["wall", 0, 3] == 7
    play = Play([plant("wall", 1, 0), plant("wall", 0, 8 - 1)], [zombie("vaulter", 1, 1)], **board)
    play.act()
    assert play.zombies("leaps") == {("vaulter", 1, 1): 1}, "there is no cell behind column 0, not even in lane 0"
    play = Play([plant("mine", 0, 3, armed=True)], [zombie("vaulter", 0, 4)], **board)
    play.act()
    assert set(play.zombies()) == {("vaulter", 0, 2)}
    assert play.plants("armed") == {("mine", 0, 3): True}


def test_frozen_zombies_are_hurt_by_torches_and_mines_only():
    board = {"roster": "specialists"}
    zombies = [zombie("frozen", 0, 5), zombie("normal", 0, 7)]
    play = Play([plant("shooter", 0, 0)], zombies, dice=[0] * 3, **board)
    play.act()
    assert play.zombies() == {("frozen", 0, 5): 8, ("normal", 0, 7): 8}
    play = Play([plant("torch", 0, 0)], zombies, dice=[0] * 3, **board)
    play.act()
    assert play.zombies() == {("frozen", 0, 5): 7, ("normal", 0, 7): 9}
    play = Play([plant("mine", 0, 4, armed=True)], zombies, dice=[0, 1, 0], **board)
    assert play.act() == 1
    hurt_by = asdict(ROSTERS["specialists"])
    hurt_by["zombies"][2]["hurt_by"] = ["torch"]
    play = Play([plant("mine", 0, 4, armed=True)], zombies, dice=[0, 1, 0], roster=hurt_by)
    assert play.act() == -1, "the mine does not explode under a zombie that it cannot hurt"


def test_catapults_hit_an_area():
    zombies = [
        zombie("normal", 1, 4), zombie("swarm", 1, 5, hp=1), zombie("swarm", 0, 3), zombie("frozen", 2, 4),
        zombie("normal", 2, 5), zombie("normal", 1, 6), zombie("normal", 3, 4), zombie("swarm", 0, 6),
    ]  # fmt: skip
    play = Play([plant("catapult", 1, 0)], zombies, dice=[0] * 9, roster="specialists")
    assert play.act() == 1
    assert play.zombies() == {
        ("swarm", 0, 3): 3, ("swarm", 0, 6): 4, ("normal", 1, 4): 8, ("normal", 1, 6): 9, ("frozen", 2, 4): 8,
        ("normal", 2, 5): 8, ("normal", 3, 4): 9,
    }  # fmt: skip
