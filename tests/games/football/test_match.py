"""Football-lite against recorded boards, exact probabilities, and the skeleton of a match."""

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mcts_envs.core.kernel import interpreted, record
from mcts_envs.core.place import state_from_position
from mcts_envs.games.football.rules import ball, block, odds
from mcts_envs.games.football.rules.field import zones_on
from mcts_envs.games.football.rules.layout import STATE
from mcts_envs.games.football.sizes import SIZES
from mcts_envs.games.football.spec import football

DATA = Path(__file__).parent / "data"
TEAMS = ("home", "away")
SIDES = {"d3": 3, "d6": 6, "d8": 8, "block": 6}
FACE_NUMBERS = {"ATTACKER_DOWN": 1, "BOTH_DOWN": 2, "PUSH": 3, "DEFENDER_STUMBLES": 5, "DEFENDER_DOWN": 6}
CLOSE = 1e-6


def load(name):
    return json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))


@cache
def game_of(size, **settings):
    return football(size, orientation="absolute", **settings)


# Boards.

BOARDS = load("boards")["boards"]
zones_on, dodge_needs, pick_up_needs = (interpreted(f) for f in (zones_on, odds.dodge_needs, odds.pick_up_needs))
catch_needs, needed, pass_modifier = (interpreted(f) for f in (odds.catch_needs, odds.needed, odds.pass_modifier))
foul_modifier, pass_range = interpreted(odds.foul_modifier), interpreted(odds.pass_range)
RANGES = {"QUICK_PASS": 1, "SHORT_PASS": 2, "LONG_PASS": 3, "LONG_BOMB": 4, "HAIL_MARY": 5}


class Board:
    """A recorded board as a state; its players by their number in the recording."""

    def __init__(self, board):
        sides, self.player = {"home": [], "away": []}, {}
        for entry in board["players"]:
            team = TEAMS[entry["team"]]
            self.player[entry["i"]] = 16 * entry["team"] + len(sides[team])
            keep = {key: entry[key] for key in ("ma", "st", "ag", "av", "up", "stunned")}
            sides[team].append({"at": [entry["x"], entry["y"]], **keep})
        game = game_of(board["size"])
        self.state = state_from_position(game, {"players": sides, "ball": None, "to_act": "home"})
        self.rows = board["W"] + 2

    def square(self, x, y):
        return y * self.rows + x

    def at(self, number):
        return int(record(self.state, STATE).square[self.player[number]])


@pytest.mark.parametrize("index", range(len(BOARDS)))
def test_boards(index):
    recorded = BOARDS[index]
    board = Board(recorded)
    state, player = board.state, board.player
    assert [zones_on(state, player[entry["i"]]) for entry in recorded["players"]] == recorded["tz_on_player"]
    for attacker, defender, dice, own, other in recorded["blocks"]:
        assert odds.block_strength(state, player[attacker], player[defender]) == dice
        assert odds.assists(state, player[attacker], player[defender]) == own
        assert odds.assists(state, player[defender], player[attacker]) == other
    for attacker, defender, squares in recorded["pushes"]:
        bits = block.push_directions(state, board.at(attacker), board.at(defender))
        x, y = board.at(defender) % board.rows, board.at(defender) // board.rows
        steps = [(dx, dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy]
        found = [[x + dx, y + dy] for way, (dx, dy) in enumerate(steps) if bits >> way & 1]
        assert found == sorted(squares, key=lambda square: square[::-1])
    for fouler, victim, _, strict, total in recorded["fouls"]:
        assert foul_modifier(state, player[fouler], player[victim]) == strict
        assert record(state, STATE).av[player[victim]] + 1 == total
    for mover, x, y, dodge, pick_up in recorded["moves"]:
        square = board.square(x, y)
        dodges = zones_on(state, player[mover]) > 0
        assert (dodge_needs(state, player[mover], square) if dodges else 0) == dodge
        assert pick_up_needs(state, player[mover], square) == pick_up
    for catcher, plain, accurate, intercept in recorded["catches"]:
        for bonus, expected in ((0, plain), (1, accurate), (-2, intercept)):
            assert catch_needs(state, player[catcher], bonus) == expected
    for throw in recorded["passes"]:
        passer, square = player[throw["passer"]], board.square(*throw["to"])
        assert pass_range(state, board.at(throw["passer"]), square) == RANGES[throw["range"]]
        assert pass_modifier(state, passer, square) == throw["modifier"]
        assert needed(state, passer, throw["modifier"]) == throw["natural_needed"]
        bits = ball.interceptors(state, passer, square)
        first = 16 * (1 - (passer >> 4))
        candidates = {first + slot for slot in range(16) if bits >> slot & 1}
        assert candidates == {player[number] for number in throw["interceptors"]}


# Probabilities, by enumerating every result of every die.

PROBABILITIES = load("probabilities")


def outcomes(position, actions, result, dice=1, size=11, **settings):
    """Return the exact distribution of a function of the position after some actions.

    It may depend on the first dice only, of which every result is enumerated.
    """
    game = game_of(size, **settings)
    total = Counter()

    def follow(forced, chance):
        state = state_from_position(game, {**position, "dice": forced})
        rolls = []
        for action in actions:
            game.step(state, np.full(2, action), np.zeros(2))
            rolls += game.position(state)["rolls"]
        if len(forced) == dice or len(rolls) <= len(forced):
            total[result(game.position(state))] += chance
            return
        sides = SIDES[rolls[len(forced)][0]]
        for value in range(1, sides + 1):
            follow([*forced, value], chance / sides)

    follow([], 1.0)
    assert sum(total.values()) == pytest.approx(1)
    return total


def scene(own=(), other=(), ball=None, carried=False, rerolls=0, **more):
    """Return a position in which away is on turn; players are (x, y, changes)."""

    def squad(entries):
        return [{"at": [x, y], **changes} for x, y, changes in entries]

    where = None if ball is None else {"at": list(ball), "carried": carried}
    players = {"home": squad(other), "away": squad(own)}
    return {"players": players, "ball": where, "to_act": "away", "rerolls": [rerolls, rerolls], **more}


START, R = 25, 12


def move(x, y, width=26):
    return START + 10 * R + (y - 1) * width + x - 1


def throw(x, y):
    return move(x, y) + 26 * 15


def happened(*names):
    return lambda position: next((name for name in names if position["events"].get(name)), None)


def around(x, y, count, without=()):
    """Return squares of opponents next to a square, the far side first."""
    squares = [(x + 1, y - 1), (x + 1, y), (x + 1, y + 1), (x, y + 1), (x, y - 1)]
    return [(*square, {}) for square in squares if square not in without][:count]


@pytest.mark.parametrize(
    "case", PROBABILITIES["dodge"], ids=lambda case: f"ag{case['ag']}tz{case['tz_at_destination']}"
)
def test_dodges(case):
    others = [(11, 7, {}), *around(13, 7, case["tz_at_destination"])]
    position = scene([(12, 7, {"ag": case["ag"]})], others)
    found = outcomes(position, [START, move(13, 7)], happened("dodges", "dodges_failed"))
    assert found["dodges"] == pytest.approx(case["p_exact"], abs=CLOSE)


@pytest.mark.parametrize("case", PROBABILITIES["pickup"], ids=lambda case: f"ag{case['ag']}tz{case['tz']}")
def test_pickups(case):
    position = scene([(11, 7, {"ag": case["ag"]})], around(12, 7, case["tz"]), (12, 7))
    actions = [START, move(12, 7)]
    position["players"]["away"][0]["ag"] = case["ag"]
    found = outcomes(position, actions, happened("pickups", "pickups_failed"))
    assert found["pickups"] == pytest.approx(case["p_exact"], abs=CLOSE)


@pytest.mark.parametrize("case", PROBABILITIES["catch"], ids=lambda case: f"{case['kind']}{case['ag']}{case['tz']}")
def test_catches(case):
    """A pass from three squares away that is thrown well, or a bounce onto the player, whose die is the second."""
    others = around(15, 7, case["tz"])
    own = [(11, 7, {"ag": 6}), (15, 7, {"ag": case["ag"]})]
    position = scene(own, others, (11, 7), True)
    first, second = ("catches", "catches_failed")
    if case["kind"] == "accurate_pass":
        found = outcomes(
            position, [START + 3 * R, throw(15, 7)], happened("fumbles", "passes_inaccurate", first, second), 2
        )
    elif case["kind"] in ("handoff", "hand_off"):
        position = scene([(14, 7, {}), (15, 7, {"ag": case["ag"]})], others, (14, 7), True)
        found = outcomes(position, [START + 4 * R, START + 8 * R + 1], happened(first, second))
    else:
        game = game_of(11)
        state = state_from_position(game, position)
        die = interpreted(odds.catch_needs)(state, 17, 0)
        assert (7 - die) / 6 == pytest.approx(case["p_exact"], abs=CLOSE)
        return
    assert found[first] / (found[first] + found[second]) == pytest.approx(case["p_exact"], abs=CLOSE)


@pytest.mark.parametrize("case", PROBABILITIES["interception"], ids=lambda case: f"ag{case['ag']}tz{case['tz']}")
def test_interceptions(case):
    others = [(12, 7, {"ag": case["ag"]})]
    own = [(9, 7, {}), (15, 7, {}), *[(12 + dx, 7 + dy, {}) for dx, dy in ((-1, 1), (0, 1), (1, 1))][: case["tz"]]]
    position = scene(own, others, (9, 7), True)
    found = outcomes(
        position, [START + 3 * R, throw(15, 7), START + 9 * R], happened("interceptions", "interceptions_failed")
    )
    assert found["interceptions"] == pytest.approx(case["p_exact"], abs=CLOSE)


PASSES = {"QUICK_PASS": 3, "SHORT_PASS": 6, "LONG_PASS": 10, "LONG_BOMB": 13}


@pytest.mark.parametrize("case", PROBABILITIES["pass"], ids=lambda case: f"{case['range']}{case['ag']}{case['tz']}")
def test_passes(case):
    others = [(5, 6, {}), (5, 7, {}), (5, 8, {}), (6, 6, {})][: case["tz"]]
    position = scene([(6, 7, {"ag": case["ag"]})], others, (6, 7), True)
    found = Counter()
    for die in range(1, 7):
        game = game_of(11)
        state = state_from_position(game, {**position, "dice": [die]})
        for action in (START + 3 * R, throw(6 + PASSES[case["range"]], 7)):
            game.step(state, np.full(2, action), np.zeros(2))
        found[happened("passes_accurate", "passes_inaccurate", "fumbles")(game.position(state))] += 1 / 6
    expected = case["exact"]
    for name, key in (("passes_accurate", "accurate"), ("passes_inaccurate", "inaccurate"), ("fumbles", "fumble")):
        assert found[name] == pytest.approx(expected.get(key, 0.0), abs=CLOSE)


def test_rushes_and_standing_up():
    position = scene([(12, 7, {"moves": 6, "ma": 6})])
    found = outcomes(position, [START, move(13, 7)], happened("rushes", "rushes_failed"))
    assert found["rushes"] == pytest.approx(PROBABILITIES["gfi"]["p_exact"], abs=CLOSE)
    for ma, chance in ((2, PROBABILITIES["stand_up"]["ma_lt_3"]["p_exact"]), (3, 1.0)):
        position = scene([(12, 7, {"up": False, "ma": ma}), (1, 1, {})])
        found = outcomes(position, [START, 2], happened("stand_ups"))
        assert found["stand_ups"] == pytest.approx(chance, abs=CLOSE)


@pytest.mark.parametrize("case", PROBABILITIES["armour"], ids=lambda case: f"av{case['av']}{case['modifier']:+}")
def test_armour(case):
    """A foul with as many assists, for or against, as the modifier says."""
    modifier = case["modifier"]
    own = [(12, 7, {}), *[(14, 6 + i, {}) for i in range(max(modifier, 0))]]
    others = [(13, 7, {"up": False, "av": case["av"]}), *[(11, 6 + i, {}) for i in range(max(-modifier, 0))]]
    found = outcomes(scene(own, others), [START + 5 * R, START + 7 * R], happened("armour_broken", "armour_held"), 2)
    assert found["armour_broken"] == pytest.approx(case["p_exact"], abs=CLOSE)


def test_injuries_and_ejections():
    exact = PROBABILITIES["injury"]["exact"]
    position = scene([(12, 2, {})], [(12, 1, {})])
    actions = [START + R, START + 6 * R, 7, 14, 12]
    position = {**position, "dice": []}
    found = outcomes_of_injury(position, actions)
    assert found == pytest.approx(
        {"stunned": exact["stunned"], "knocked_out": exact["knocked_out"], "casualties": exact["casualty"]}, abs=CLOSE
    )
    exact = PROBABILITIES["foul_av8_no_assist"]["exact"]
    position = scene([(12, 7, {})], [(13, 7, {"up": False})])
    found = outcomes(
        position,
        [START + 5 * R, START + 7 * R],
        lambda p: (
            ("broken" if p["events"].get("armour_broken") else "held")
            + ("+ejected" if p["events"].get("ejected") else "")
        ),
        4,
    )
    assert found == pytest.approx(exact, abs=CLOSE)


def outcomes_of_injury(position, actions):
    """Return the chances of an injury in the crowd, over both of its dice."""
    game = game_of(11, skip_forced=False)
    total = Counter()
    for first in range(1, 7):
        for second in range(1, 7):
            state = state_from_position(game, {**position, "dice": [3, first, second]})
            for action in actions:
                game.step(state, np.full(2, action), np.zeros(2))
            total[happened("stunned", "knocked_out", "casualties")(game.position(state))] += 1 / 36
    return total


def test_knocked_out_players_recover():
    exact = PROBABILITIES["ko_recovery"]["p_exact"]
    own = [(25, 7, {}), (1, 1, {})]
    position = scene(own, ball=(25, 7), carried=True)
    position["players"]["home"] = [{"at": "knocked_out"}]
    found = outcomes(position, [START, move(26, 7)], happened("recovered", "not_recovered"))
    assert found["recovered"] == pytest.approx(exact, abs=CLOSE)


@pytest.mark.parametrize("dice", ["1", "2", "3", "-2", "-3"])
def test_block_dice(dice):
    case = PROBABILITIES["block_dice"]["best_face_distribution"][dice]
    others = [(13, 7, {"st": case["st_defender"]})]
    position = scene([(12, 7, {"st": case["st_attacker"]})], others)
    names = ["ATTACKER_DOWN", "BOTH_DOWN", "PUSH", "DEFENDER_STUMBLES", "DEFENDER_DOWN"]
    words = dict(zip(("attacker_down", "both_down", "push", "stumble", "defender_down"), names, strict=True))

    def best(found):
        assert found["to_act"] == ("home" if dice.startswith("-") else "away")
        faces = {words[face] for face in found["block"]["faces"]}
        return next(face for face in case["preference"] if face in faces)

    found = outcomes(position, [START + R, START + 6 * R], best, 3, skip_forced=False)
    assert found == pytest.approx(case["exact"], abs=CLOSE)


def test_block_dice_by_strength():
    for case in PROBABILITIES["block_dice"]["count_by_strength"]:
        own, others = [(12, 7, {"st": case["st_for"]})], [(13, 7, {"st": case["st_against"]})]
        state = state_from_position(game_of(11), scene(own, others))
        assert odds.block_strength(state, 16, 0) == case["dice"]


def test_bounces_and_scatters():
    """The ball bounces from a tackled carrier; an inaccurate pass scatters three times before its bounce."""
    exact = PROBABILITIES["inaccurate_pass_3_scatters_open_field"]["exact"]
    found = Counter()
    game = game_of(11)
    for number in range(512):
        dice = [1 + number // 64, 1 + number // 8 % 8, 1 + number % 8]
        state = state_from_position(game, {**scene([(12, 7, {})], (), (12, 7), True), "dice": [2, *dice, 5]})
        for action in (START + 3 * R, throw(17, 8)):
            game.step(state, np.full(2, action), np.zeros(2))
        x, y = game.position(state)["ball"]["at"]
        found[f"{x - 18},{y - 8}"] += 1 / 512
    assert found == pytest.approx(exact, abs=CLOSE)
    for die, (dx, dy) in PROBABILITIES["bounce"]["d8_to_dxdy"].items():
        state = state_from_position(game, {**scene([(12, 7, {})], (), (12, 7), True), "dice": [1, int(die)]})
        for action in (START + 3 * R, throw(15, 8)):
            game.step(state, np.full(2, action), np.zeros(2))
        assert game.position(state)["ball"]["at"] == [12 + dx, 7 + dy]


@pytest.mark.parametrize("size", [1, 3, 5, 7, 11])
def test_kicks(size):
    case, pitch = PROBABILITIES["kick_scatter"][str(size)], SIZES[size]
    squad = len(pitch.squad)
    action = START + 10 * squad + pitch.width * pitch.height
    x, y = case["target"]
    action += (y - 1) * pitch.width + x - 1
    position = {
        "players": {"home": [], "away": []},
        "ball": None,
        "decision": "kick",
        "to_act": "away",
        "kicker": "away",
    }
    out = chance = 0.0
    directions = range(1, 9) if pitch.kick_die else (0,)
    lengths = range(1, pitch.kick_die + 1) if pitch.kick_die else (0,)
    game = game_of(size)
    for direction in directions:
        for length in lengths:
            dice = [direction, length, 2] if pitch.kick_die else [2]
            state = state_from_position(game, {**position, "opening_kicker": "away", "dice": dice})
            game.step(state, np.full(2, action), np.zeros(2))
            found = game.position(state)
            short = len(found["rolls"]) == 2 if pitch.kick_die else False  # no bounce: it left the half before
            out += short
            chance += 1
    assert out / chance == pytest.approx(case["p_touchback_before_bounce_exact"], abs=CLOSE)


def test_throw_ins():
    table = PROBABILITIES["throw_in"]
    inwards = interpreted(ball._inwards)
    state = state_from_position(game_of(11), scene([(12, 7, {})]))
    corners = table["corners"]
    for (x, y), case in {
        (12, 1): table["top_edge(y=1)"],
        (12, 15): table["bottom_edge"],
        (1, 8): table["x=1 edge"],
        (26, 8): table["x=max edge"],
        (1, 1): corners["top_left"],
        (26, 1): corners["top_right"],
        (26, 15): corners["bottom_right"],
        (1, 15): corners["bottom_left"],
    }.items():
        for die, direction in case.items():
            assert list(inwards(state, 28 * y + x, int(die))) == direction
    for size, dice in table["distance_dice_by_size"].items():
        count, sides = SIZES[int(size)].throw_in
        assert dice == (f"{count}d{sides}" if count > 1 else f"d{sides}")


def test_pass_ranges():
    table = PROBABILITIES["pass_range_matrix"]["matrix"]
    state = state_from_position(game_of(11), scene([(1, 1, {})]))
    for dy, row in enumerate(table):
        for dx, expected in enumerate(row):
            assert pass_range(state, 29, 29 + 28 * dy + dx) == expected
    assert pass_range(state, 29, 29 + 14) == 5


# The skeleton of a match.


@pytest.mark.parametrize("opening", ["home", "away"])
def test_a_match_in_which_every_turn_is_ended_at_once(opening):
    rows = load("match_skeleton")["size3"]
    flip = opening != next(row for row in rows if row[0].startswith("setup"))[0].split(":")[1]

    def other(team):
        return TEAMS[1 - TEAMS.index(team)] if flip else team

    game = game_of(3, skip_forced=False, first_kicker=opening)
    state = game.new_state()
    game.reset(state, np.uint64(5))
    seen = []
    while game.active(state):
        found = game.position(state)
        legal = np.zeros(game.actions, np.int64)
        game.legal(state, TEAMS.index(found["to_act"]), legal)
        first, second = found["turn_counters"][:: -1 if flip else 1], found["rerolls"][:: -1 if flip else 1]
        team = other(found["to_act"])
        if found["decision"] == "setup":
            role = "kicking" if found["to_act"] == found["kicker"] else "receiving"
            seen.append([f"setup:{team}:{role}", found["half"], 0])
        elif found["decision"] == "kick":
            seen.append([f"PlaceBall:{team}", found["half"], 0])
        elif found["decision"] == "turn":
            seen.append([team, found["half"], max(found["turn_counters"]), *first, *second])
        game.step(state, np.full(2, legal[0]), np.zeros(2))
    assert seen == [row for row in rows if not row[0].startswith("CoinToss")]
