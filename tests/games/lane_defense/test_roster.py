"""The roster game: every rule by hand, with forced dice where chance decides."""

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from mcts_envs.core.contract import RUNNING, TERMINATED, TRUNCATED
from mcts_envs.core.kernel import kernel
from mcts_envs.core.place import placed, position_of
from mcts_envs.core.rng import below, new_stream
from mcts_envs.games.lane_defense.players.roster import advise_h, advise_s
from mcts_envs.games.lane_defense.rules.roster.kernels import active, legal, outcome, reset, step
from mcts_envs.games.lane_defense.rules.roster.layout import CELLS, PLANES, PLANT, STATE, ZOMBIE
from mcts_envs.games.lane_defense.rules.roster.phases import next_taken
from mcts_envs.games.lane_defense.spec.roster import RosterDefense, roster_defense
from mcts_envs.games.lane_defense.tables import ROSTERS, STANDARD, Plant, Roster, Wave, Zombie

WAIT = "wait"


def plant(kind: str, lane: int, column: int, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "lane": lane, "column": column, **more}


zombie = plant


class Play:
    """A game set up by hand: acts by name, and reads the position back."""

    def __init__(self, plants=(), zombies=(), t=0, sun=0, dice=(), recharge=(), mowers=None, **settings):
        self.game = roster_defense(**settings, **({} if mowers is None else {"mowers": True}))
        position = {"t": t, "sun": sun, "plants": list(plants), "zombies": list(zombies), "recharge": dict(recharge)}
        if mowers is not None:
            position["mowers"] = mowers
        self.state = placed(self.game, {**position, "dice": list(dice)})
        self.names = {self.game.action_name(action): action for action in range(self.game.actions)}

    def act(self, action=WAIT) -> float:
        rewards = np.zeros(1)
        self.game.step(self.state, np.array([self.names[action]]), rewards)
        return float(rewards[0])

    @property
    def position(self) -> dict[str, Any]:
        return position_of(self.game, self.state)

    def plants(self, key="hp"):
        return {(p["kind"], p["lane"], p["column"]): p[key] for p in self.position["plants"]}

    def zombies(self, key="hp"):
        return {(z["kind"], z["lane"], z["column"]): z[key] for z in self.position["zombies"]}

    def legal(self) -> set[str]:
        actions = np.zeros(self.game.actions, np.int64)
        count = self.game.legal(self.state, 0, actions)
        assert np.all(np.diff(actions[:count]) > 0)
        return {self.game.action_name(action) for action in actions[:count]}

    @property
    def dice_left(self) -> int:
        return int(self.state[8])


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


GOOD = {"t": 3, "sun": 5, "plants": [plant("wall", 0, 3)], "zombies": [zombie("cone", 1, 8)]}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"suns": 3}, ValueError, "did you mean 'sun'"),
        ({"t": 1.5}, TypeError, "not an integer from 0 to 300"),
        ({"t": 300}, ValueError, "already over"),
        ({"lost": True}, ValueError, "a zombie is in the house"),
        ({"t": 120, "zombies": []}, ValueError, "already won"),
        ({"sun": 41}, ValueError, r"sun'\] 41 is outside \[0, 40\]"),
        ({"recharge": {"wall": 11}}, ValueError, r"11 is outside \[0, 10\]"),
        ({"recharge": {"walls": 1}}, ValueError, "did you mean 'wall'"),
        ({"recharge": [1]}, TypeError, "not a dictionary"),
        ({"mowers": [0]}, ValueError, "mowers=True"),
        ({"plants": {}}, TypeError, "not a list"),
        ({"plants": ["wall"]}, TypeError, "kind, lane and column"),
        ({"plants": [{"kind": "wall", "lane": 0}]}, ValueError, "lacks 'column'"),
        ({"plants": [plant("cone", 0, 0)]}, ValueError, "unknown kind"),
        ({"plants": [plant("wall", 5, 0)]}, ValueError, r"5 is outside \[0, 4\]"),
        ({"plants": [plant("wall", 0, 8)]}, ValueError, r"8 is outside \[0, 7\]"),
        ({"plants": [plant("wall", 0, 0, hp=9)]}, ValueError, r"9 is outside \[1, 8\]"),
        ({"plants": [plant("wall", 0, 0, armed=True)]}, ValueError, "never arms"),
        ({"plants": [plant("wall", 0, 0, leaps=1)]}, ValueError, "unknown"),
        ({"zombies": [zombie("cone", 0, 9)]}, ValueError, r"9 is outside \[0, 8\]"),
        ({"zombies": [zombie("cone", 0, 5, leaps=1)]}, ValueError, r"1 is outside \[0, 0\]"),
        ({"zombies": [zombie("cone", 0, 3)]}, ValueError, r"lane 0, column 3, where position\['plants'\]\[0\]"),
    ],
)
def test_position_errors_change_nothing(change, error, message):
    game = roster_defense()
    state = placed(game, GOOD)
    before = state.copy()
    with pytest.raises(error, match=message):
        game.place(state, {**GOOD, **change})
    assert np.array_equal(state, before)


def test_position_lacking_a_key():
    with pytest.raises(ValueError, match="lacks 'zombies'"):
        placed(roster_defense(), {key: value for key, value in GOOD.items() if key != "zombies"})
    with pytest.raises(ValueError, match="names a lane twice"):
        placed(roster_defense(mowers=True), {**GOOD, "mowers": [1, 1]})


@pytest.mark.parametrize("roster", ROSTERS)
def test_position_is_complete(roster):
    game = roster_defense(roster=roster, mowers=True)
    state, actions, rewards = game.new_state(), np.zeros(game.actions, np.int64), np.zeros(1)
    stream = new_stream(3)
    for seed in range(4):
        game.reset(state, seed)
        while game.active(state):
            position = json.loads(json.dumps(position_of(game, state)))
            assert np.array_equal(placed(game, position)[8:], state[8:])
            count = game.legal(state, 0, actions)
            game.step(state, actions[[below(stream, count)]], rewards)


def test_environment_takes_positions_and_dice():
    env = RosterDefense()
    env.reset(seed=1, options={"position": {**GOOD, "dice": [1, 1]}})
    env.step(180)
    position = env.position()
    assert position["sun"] == 6
    assert position["zombies"][0]["column"] == 7
    assert "dice" not in position


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"rows": 9}, ValueError, r"rows 9 is outside \[1, 8\]"),
        ({"columns": 1}, ValueError, "columns 1"),
        ({"start_sun": 41}, ValueError, r"start_sun 41 is outside \[0, 40\]"),
        ({"sky_sun": 1.2}, ValueError, "sky_sun"),
        ({"mowers": "yes"}, TypeError, "mowers"),
        ({"max_steps": 0}, ValueError, "max_steps"),
        ({"roster": "standart"}, ValueError, "did you mean 'standard'"),
        ({"roster": 3}, TypeError, "name or a dictionary"),
        ({"roster": {"plants": []}}, ValueError, "lacks 'waves', 'zombies'"),
        ({"waves": []}, ValueError, "number of waves"),
        ({"waves": [{"steps": 3, "p_new": 0.5, "flag": 1, "mix": [1]}]}, ValueError, "one for each"),
        ({"waves": [{"steps": 3, "p_new": 0.5, "flag": 1, "mix": [0, 0, 0, 0]}]}, ValueError, "no weight above 0"),
        ({"waves": [{"steps": 9999, "p_new": 0.5, "flag": 1, "mix": [1, 0, 0, 0]}]}, ValueError, "end of the last"),
    ],
)
def test_setting_errors(settings, error, message):
    with pytest.raises(error, match=message):
        roster_defense(**settings)


@pytest.mark.parametrize(
    ("part", "change", "error", "message"),
    [
        ("plants", {"cost": -1}, ValueError, "cost -1"),
        ("plants", {"sun": "often"}, TypeError, "sun"),
        ("plants", {"arms": 0.5}, ValueError, r"blast 0 is outside \[1, 15\]"),
        ("plants", {"name": "wall"}, ValueError, "the name 'wall' 2 times"),
        ("plants", {"price": 1}, ValueError, "unknown plant key 'price'"),
        ("zombies", {"hp": 256}, ValueError, "hp 256"),
        ("zombies", {"hurt_by": "mine"}, TypeError, "not a list"),
        ("zombies", {"hurt_by": ["mines"]}, ValueError, "did you mean 'mine'"),
    ],
)
def test_roster_errors(part, change, error, message):
    roster = json.loads(json.dumps(asdict(STANDARD)))
    roster[part][0].update(change)
    with pytest.raises(error, match=message):
        roster_defense(roster=roster)


@pytest.mark.parametrize("roster", ROSTERS)
def test_a_roster_by_name_and_as_json_is_the_same_game(roster):
    spelled_out = json.loads(json.dumps(asdict(ROSTERS[roster])))
    assert roster_defense(roster=roster).fingerprint == roster_defense(roster=spelled_out).fingerprint


def test_flat_observation():
    board = [plant("wall", 1, 2, hp=4), plant("mine", 4, 7, armed=True)]
    play = Play(board, [zombie("bucket", 2, 8, hp=15)], t=60, sun=10, recharge={"mine": 5}, mowers=[3])
    out = np.full(play.game.observation_shape, 9, np.float32)
    play.game.observe(play.state, 0, out)
    planes, rest = out[:495].reshape(11, 5, 9), out[495:]
    expected = np.zeros((11, 5, 9), np.float32)
    expected[2, 1, 2], expected[4, 1, 2] = 1, 4 / 8
    expected[3, 4, 7], expected[4, 4, 7], expected[5, 4, 7] = 1, 1 / 8, 1
    expected[9, 2, 8], expected[10, 2, 8] = 1, 15 / 30
    assert np.array_equal(planes, expected)
    assert rest.tolist() == [0.25, 0, 0, 0, 0.5, 0.5, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("roster", ROSTERS)
def test_planes_show_the_same_as_the_flat_observation(roster):
    game = roster_defense(roster=roster, mowers=True)
    planes = game.variant("planes")
    kinds = len(ROSTERS[roster].plants)
    for state in random_states(game, 5):
        flat, out = np.zeros(game.observation_shape, np.float32), np.zeros(planes.observation_shape, np.float32)
        game.observe(state, 0, flat)
        planes.observe(state, 0, out.reshape(-1))
        board = planes.observation_shape[0] - kinds - 3
        assert np.array_equal(out[:board].reshape(-1), flat[: board * 45])
        assert np.array_equal(out[board:-1], np.broadcast_to(flat[board * 45 : -5, None, None], (kinds + 2, 5, 9)))
        assert np.array_equal(out[-1], np.broadcast_to(flat[-5:, None], (5, 9)))
        assert out.min() >= 0
        assert out.max() <= 1


def random_states(game, games, seed=0):
    """Yield every state of some games of uniformly random legal actions."""
    state, actions, rewards = game.new_state(), np.zeros(game.actions, np.int64), np.zeros(1)
    stream = new_stream(seed)
    for number in range(games):
        game.reset(state, number)
        while game.active(state):
            yield state.copy()
            count = game.legal(state, 0, actions)
            game.step(state, actions[[below(stream, count)]], rewards)


@pytest.mark.parametrize("roster", ROSTERS)
def test_compiled_equals_interpreted(roster):
    game = roster_defense(roster=roster, mowers=True, start_sun=15)
    plain = game.interpreted()
    twin = game.new_state()
    rewards, plain_rewards = np.zeros(1), np.zeros(1)
    plain.reset(twin, 7)
    start = game.new_state()
    game.reset(start, 7)
    assert np.array_equal(twin, start)
    for i, state in enumerate(random_states(game, 3)):
        action = np.array([(i * 37) % game.actions])
        twin[:] = state
        after = state.copy()
        game.step(after, action, rewards)
        plain.step(twin, action, plain_rewards)
        assert np.array_equal(after, twin)
        assert rewards[0] == plain_rewards[0]
        if i % 9 == 0:
            assert_same_reading(game, plain, state)


def assert_same_reading(game, plain, state):
    for name, size, kind in (
        ("legal", game.actions, np.int64),
        ("advise", game.actions, np.float64),
        ("observe", int(np.prod(game.observation_shape)), np.float32),
    ):
        compiled, interpreted = np.zeros(size, kind), np.zeros(size, kind)
        assert getattr(game, name)(state, 0, compiled) == getattr(plain, name)(state, 0, interpreted)
        assert np.array_equal(compiled, interpreted), name
    assert game.key(state, 0) == plain.key(state, 0)
    scripted, plain_scripted = np.zeros(game.actions), np.zeros(game.actions)
    game.variant("scripted_s").advise(state, 0, scripted)
    plain.variant("scripted_s").interpreted().advise(state, 0, plain_scripted)
    assert np.array_equal(scripted, plain_scripted)


def test_key_forgets_chance_and_sees_everything_else():
    game = roster_defense(mowers=True)
    state = placed(game, {**GOOD, "mowers": [0, 2]})
    other = state.copy()
    game.determinize(other, 0, 99)
    assert game.key(state, 0) == game.key(other, 0)
    for change in (
        {"t": 4},
        {"sun": 6},
        {"recharge": {"mine": 1}},
        {"mowers": [0]},
        {"plants": [plant("wall", 0, 3, hp=7)]},
        {"zombies": [zombie("cone", 1, 7)]},
    ):
        assert game.key(state, 0) != game.key(placed(game, {**GOOD, "mowers": [0, 2], **change}), 0)


ODD_ROSTERS = {
    "sunless": Roster(STANDARD.plants[1:], STANDARD.zombies, STANDARD.waves),
    "walls only": Roster(STANDARD.plants[2:3], STANDARD.zombies, STANDARD.waves),
    "shooters only": Roster(STANDARD.plants[1:2], STANDARD.zombies, STANDARD.waves),
    "mines only": Roster((Plant("mine", 0, arms=1, blast=15),), (Zombie("horde", 255, 1),), (Wave(9, 1, 9, (1,)),)),
    "specialists": ROSTERS["specialists"],
}


@pytest.mark.parametrize("size", [(5, 9), (1, 2), (8, 16)])
@pytest.mark.parametrize("roster", ODD_ROSTERS)
def test_scripts_play_any_roster_by_legal_actions(roster, size):
    game = roster_defense(*size, roster=ODD_ROSTERS[roster])
    actions, rewards, weights = np.zeros(game.actions, np.int64), np.zeros(1), np.zeros(game.actions)
    for variant in (game, game.variant("scripted_s")):
        state = game.new_state()
        for seed in range(3):
            game.reset(state, seed)
            while game.active(state):
                variant.advise(state, 0, weights)
                chosen = np.flatnonzero(weights)
                assert len(chosen) == 1
                assert weights[chosen[0]] == 1
                assert chosen[0] in actions[: game.legal(state, 0, actions)]
                game.step(state, chosen, rewards)


def advice(advise, **start) -> str:
    play = Play(**start)
    weights = np.zeros(play.game.actions)
    advise(play.state, 0, weights)
    return play.game.action_name(int(weights.argmax()))


def test_script_s_step_by_step():
    near, far = zombie("normal", 3, 4), zombie("bucket", 1, 8)
    assert advice(advise_s, zombies=[far, near], sun=4) == "shooter 3,1", "the nearest unguarded zombie first"
    assert advice(advise_s, zombies=[near, far], plants=[plant("shooter", 3, 1)], sun=4) == "shooter 1,1"
    row = [plant("wall", 1, column) for column in range(1, 7)]
    assert advice(advise_s, plants=row, zombies=[far], sun=4) == "shooter 1,0", "column 7 is too close to the entry"
    assert advice(advise_s, zombies=[zombie("normal", 3, 3)], sun=3) == "wall 3,2"
    barred = {"wall": 3}
    assert advice(advise_s, zombies=[zombie("normal", 3, 3)], sun=3, recharge=barred) == "mine 3,0"
    assert advice(advise_s, zombies=[zombie("normal", 3, 5)], sun=3) == WAIT, "saves for a shooter"
    assert advice(advise_s, sun=2) == "sunflower 0,0"
    assert advice(advise_s, zombies=[zombie("runner", 0, 6)], sun=3) == "sunflower 0,0"
    flowers = [plant("sunflower", lane, column) for lane in range(3) for column in range(2)]
    assert advice(advise_s, plants=flowers, sun=5) == "shooter 0,2"
    guards = [plant("shooter", lane, column) for lane in range(5) for column in range(2, 5)]
    assert advice(advise_s, plants=flowers + guards, zombies=[zombie("normal", 2, 8)], sun=6) == "wall 2,5"
    assert advice(advise_s, plants=flowers + guards, zombies=[zombie("normal", 2, 8)], sun=5) == WAIT


def test_script_h_lays_mines_first():
    assert advice(advise_h, zombies=[zombie("bucket", 1, 7), zombie("cone", 2, 8)], sun=4) == "mine 1,3"
    mined = [plant("mine", 1, 3)]
    assert advice(advise_h, plants=mined, zombies=[zombie("bucket", 1, 7)], sun=4) == "shooter 1,1"
    assert advice(advise_h, zombies=[zombie("bucket", 1, 1)], sun=4) == "shooter 1,0", "too late for a mine"


@kernel()
def win_rate(state, games, player, stream, actions, chosen, weights, rewards):
    """Play games by 0 waiting, 1 uniform legal actions, 2 script S, 3 script H; return wins and steps per game."""
    wins, steps = 0.0, 0
    for game in range(games):
        reset(state, np.uint64(1000 + game))
        while active(state) != 0:
            count = legal(state, 0, actions)
            chosen[0] = actions[count - 1]
            if player == 1:
                chosen[0] = actions[below(stream, count)]
            elif player == 2:
                advise_s(state, 0, weights)
                chosen[0] = np.argmax(weights)
            elif player == 3:
                advise_h(state, 0, weights)
                chosen[0] = np.argmax(weights)
            step(state, chosen, rewards)
            steps += 1
        outcome(state, rewards)
        wins += rewards[0]
    return wins / games, steps / games


def softer(hp=1.0, sun=0.08):
    """Return the standard roster with other hit points of zombies and another income from sunflowers."""
    zombies = tuple(replace(kind, hp=round(kind.hp * hp)) for kind in STANDARD.zombies)
    return Roster((replace(STANDARD.plants[0], sun=sun), *STANDARD.plants[1:]), zombies, STANDARD.waves)


@pytest.mark.parametrize(
    ("player", "games", "expected", "settings"),
    [
        (0, 200, 0.0, {}),
        (1, 20_000, 0.0016, {}),
        (2, 2_000, 0.461, {}),
        (3, 2_000, 0.495, {}),
        (1, 4_000, 0.071, {"mowers": True}),
        (2, 2_000, 0.606, {"mowers": True}),
        (3, 2_000, 0.704, {"mowers": True}),
        (2, 2_000, 0.69, {"roster": softer(hp=2 / 3)}),
        (3, 2_000, 0.72, {"roster": softer(hp=2 / 3)}),
        (2, 2_000, 0.71, {"roster": softer(sun=0.10)}),
        (3, 2_000, 0.74, {"roster": softer(sun=0.10)}),
    ],
)
def test_win_rates(player, games, expected, settings):
    work = np.zeros(181, np.int64), np.zeros(1, np.int64), np.zeros(181), np.zeros(1)
    rate, length = win_rate(roster_defense(**settings).new_state(), games, player, new_stream(77), *work)
    assert abs(rate - expected) <= 4 * np.sqrt(expected * (1 - expected) / games)
    if player == 1 and not settings:
        assert abs(length - 69) < 1


@pytest.mark.parametrize("size", [(1, 2), (3, 5), (5, 9), (8, 16)])
def test_next_taken_finds_what_a_search_cell_by_cell_finds(size):
    state, rng = roster_defense(rows=size[0], columns=size[1]).new_state(), np.random.default_rng(0)
    cells = size[0] * size[1]
    for _ in range(200):
        board = rng.integers(1, 256, PLANES * cells) * (rng.random(PLANES * cells) < 0.1)
        state[CELLS : CELLS + board.size] = board
        plane, (first, end) = int(rng.choice([PLANT, ZOMBIE])), np.sort(rng.integers(0, cells + 1, 2))
        taken = [cell for cell in range(first, end) if state[CELLS + plane * cells + cell]]
        assert next_taken(state, plane, cells, first, end) == (taken[0] if taken else end)


def test_layout_keeps_the_cells_behind_the_record():
    game = roster_defense(8, 16)
    assert STATE.itemsize == CELLS
    assert len(game.template) == CELLS + 4 * 8 * 16
