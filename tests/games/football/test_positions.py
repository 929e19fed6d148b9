"""Football-lite: positions and settings, their errors, and what a position set up by hand leads to."""

import json

import numpy as np
import pytest

from mcts_envs.core.place import state_from_position
from mcts_envs.games.football.spec import Football, football
from tests.games.football.moves import act, legal, scene

BLOCKER, PASSER = ({"player": ["away", 0], "activity": activity} for activity in ("block", "pass"))
END = {"task": "end_activation", "player": ["away", 0]}


def test_positions_are_readable_and_json():
    game = football(3)
    state = state_from_position(game, scene())
    found = json.loads(json.dumps(game.position(state)))
    assert found["decision"] == "turn"
    assert found["to_act"] == found["side"] == "away"
    assert found["turn_counters"] == [0, 1]
    assert found["opening_kicker"] == "home"
    assert found["players"]["away"][0]["at"] == [4, 3]
    assert found["players"]["home"][3] == {
        "role": "lineman", "ma": 6, "st": 3, "ag": 3, "av": 8, "at": "reserves",
        "up": True, "stunned": False, "used": False, "moves": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"balls": 1}, ValueError, "unknown position key 'balls'; did you mean 'ball'"),
        ({"to_act": "left"}, ValueError, "unknown position\\['to_act'\\] 'left'"),
        ({"to_act": None}, ValueError, "'home' or 'away' must act"),
        ({"half": 3}, ValueError, r"position\['half'\] 3 is outside \[1, 2\]"),
        ({"turn_counters": [9, 1]}, ValueError, r"\[0\] 9 is outside \[0, 8\]"),
        ({"players": []}, TypeError, "not a dictionary with home and away"),
        ({"players": {"home": []}}, ValueError, "lacks 'away'"),
        ({"players": {"home": [{"at": [1, 1]}] * 2, "away": []}, "ball": None}, ValueError, "stands on"),
        ({"players": {"home": [{"at": [0, 1]}], "away": []}}, ValueError, r"\[0\] 0 is outside \[1, 12\]"),
        ({"players": {"home": [{"at": "bench"}], "away": []}}, ValueError, "'bench'.*reserves"),
        ({"players": {"home": [{"at": [1, 1], "ma": 11}], "away": []}}, ValueError, r"11 is outside \[1, 10\]"),
        ({"players": {"home": [{"at": [1, 1], "up": True, "stunned": True}], "away": []}}, ValueError, "lies down"),
        ({"players": {"home": [{"at": "reserves", "up": False}], "away": []}}, ValueError, "only players on the pitch"),
        ({"players": {"home": [{"at": [1, 1]}] * 5, "away": []}}, TypeError, "at most 4 entries"),
        ({"ball": {"at": [9, 5], "carried": True}}, ValueError, "where nobody stands"),
        ({"ball": 3}, TypeError, "not a dictionary"),
        ({"decision": "dance"}, ValueError, "unknown position\\['decision'\\] 'dance'"),
        ({"decision": "push"}, ValueError, "waits for a pending push; the last one is None"),
        ({"decision": "reroll"}, ValueError, "waits for a pending catch or pick_up"),
        ({"decision": "activation"}, ValueError, "say who acts"),
        ({"decision": "block_dice"}, ValueError, "who blocks whom"),
        ({"decision": "touchback", "kicker": "home", "players": {"home": [], "away": []}, "ball": None},
         ValueError, "nobody on the pitch"),
        ({"active": {"player": ["home", 0], "activity": "move"}}, ValueError, "must be None for 'turn'"),
        ({"decision": "activation", "active": {"player": ["home", 0], "activity": "move"}},
         ValueError, "not on the pitch for away"),
        ({"ball": {"at": [4, 3]}}, ValueError, "who stands there carries it"),
        ({"players": {"home": [{"at": [5, 3], "up": False}], "away": []}, "ball": {"at": [5, 3]}},
         ValueError, "it bounces"),
        ({"players": {"home": [], "away": [{"at": [12, 3]}]}, "ball": {"at": [12, 3], "carried": True}},
         ValueError, "'away', 0\\], who has it, scores"),
        ({"players": {"home": [{"at": [3, 2], "used": True}], "away": [{"at": [4, 3]}]}},
         ValueError, "only players of the team on turn"),
        ({"decision": "kick", "to_act": "home", "ball": None,
          "players": {"home": [], "away": [{"at": [4, 3], "used": True}]}},
         ValueError, "only players of the team on turn"),
        ({"players": {"home": [{"at": [3, 2]}], "away": [{"at": [4, 3], "used": True}]}, "decision": "reroll",
          "active": {**BLOCKER, "activity": "move"},
          "pending": [{"task": "rush", "player": ["away", 0], "square": [5, 4]}]},
         ValueError, "used in this turn already"),
        ({"players": {"home": [{"at": "crowd"}], "away": [{"at": [4, 3]}]}}, ValueError, "give 'reserves'"),
        ({"decision": "kick", "to_act": "home", "ball": None, "players": {"home": [{"at": [1, 2]}], "away": []}},
         ValueError, "where he scores"),
        ({"decision": "setup", "to_act": "home", "kicker": "home", "ball": None}, ValueError, "is to set up"),
        ({"decision": "kick", "to_act": "away", "kicker": "home", "ball": None}, ValueError, "is that of 'home' here"),
        ({"decision": "push", "active": BLOCKER,
          "pending": [{"task": "push", "player": ["home", 0], "square": [6, 3]}]}, ValueError, "is not next to"),
        ({"decision": "follow_up", "active": BLOCKER,
          "pending": [{"task": "follow_up", "player": ["away", 0], "square": [3, 2]}]}, ValueError, "needs a free one"),
        ({"decision": "reroll", "pending": [{"task": "rush", "player": ["away", 0], "square": [4, 4]}]},
         ValueError, "say who acts"),
        ({"decision": "reroll", "active": BLOCKER,
          "pending": [{"task": "rush", "player": ["home", 3], "square": [4, 4]}]}, ValueError, "on the pitch"),
        ({"pending": [{"task": "turnover"}]}, ValueError, "leaves nothing pending"),
        ({"pending": [{"task": "dodge"}]}, ValueError, "lacks 'player', 'square'"),
        ({"block": {"defender": ["home", 0], "faces": []}}, ValueError, "is empty"),
        ({"spent": ["dodge"]}, ValueError, "unknown position\\['spent'\\] entry 'dodge'"),
        ({"rolls": [["d7", 1]]}, ValueError, "'d7'"),
        ({"events": {"goals": 1}}, ValueError, "unknown position\\['events'\\] key 'goals'"),
        ({"events": []}, TypeError, "no dictionary of counts"),
        ({"active": 5}, TypeError, "position\\['active'\\] 5 is int, not a dictionary"),
        ({"block": [[1]]}, TypeError, "is list, not a dictionary"),
        ({"players": {"home": [{"at": "crowd", "up": np.array([1, 2])}], "away": []}}, TypeError, "True or False"),
        ({"decision": "over", "to_act": None}, ValueError, "already over"),
        ({"turn_counters": [0, 8]}, ValueError, "it has begun 1 more than the other"),
        ({"turn_counters": [2, 1]}, ValueError, "it has begun 1 more than the other"),
        ({"turn_counters": [0, 1], "opening_kicker": "away"}, ValueError, "'home' has the first turn of half 1"),
        ({"turn_counters": [0, 1], "opening_kicker": "home", "half": 2}, ValueError, "'home' has the first turn"),
        ({"decision": "kick", "to_act": "home", "ball": None, "turn_counters": [3, 1]}, ValueError, "begun 0 or 1"),
        ({"decision": "touchback", "to_act": "away", "kicker": "away", "ball": None}, ValueError, "is that of 'home'"),
        ({"decision": "push", "active": BLOCKER,
          "pending": [{"task": "push", "player": ["home", 0], "square": [4, 3]}]}, ValueError, "who may only block"),
        ({"decision": "push", "active": {**BLOCKER, "activity": "blitz", "blocked": False},
          "pending": [{"task": "push", "player": ["home", 0], "square": [4, 3]}]}, ValueError, "one block a blitz"),
        ({"decision": "block_dice", "active": {**BLOCKER, "activity": "pass"},
          "block": {"defender": ["home", 0], "faces": ["push"]}}, ValueError, "must be 'block' or 'blitz'"),
        ({"decision": "reroll", "active": PASSER, "ball": None, "fumbled": True,
          "pending": [{"task": "pass", "player": ["away", 0], "square": [8, 3]}]}, ValueError, "ball must be on"),
        ({"decision": "reroll", "active": PASSER, "ball": {"at": [4, 3], "carried": True},
          "pending": [{"task": "pass", "player": ["away", 0], "square": [8, 3]}]}, ValueError, "not carried"),
        ({"decision": "follow_up", "active": BLOCKER, "ball": None,
          "pending": [END, {"task": "bounce"}, {"task": "follow_up", "player": ["away", 0], "square": [4, 4]}]},
         ValueError, "must say where the ball is"),
        ({"decision": "follow_up", "active": BLOCKER, "ball": {"at": [4, 3], "carried": True},
          "pending": [END, {"task": "scatter", "square": [1, 1]},
                      {"task": "follow_up", "player": ["away", 0], "square": [4, 4]}]},
         ValueError, "cannot wait there"),
        ({"decision": "block_dice", "active": {**BLOCKER, "activity": "blitz"},
          "pending": [{"task": "bounce"}, END],
          "block": {"defender": ["home", 0], "faces": ["push"]}}, ValueError, "cannot wait there"),
        ({"decision": "block_dice", "active": BLOCKER, "block": {"defender": ["home", 0], "faces": ["push"]},
          "players": {"home": [{"at": [3, 2]}], "away": [{"at": [4, 3], "up": False}]}, "ball": None},
         ValueError, "must stand for 'block_dice'"),
        ({"decision": "kick", "to_act": "home", "ball": None, "reroll_used": True}, ValueError, "nothing of a turn"),
        ({"decision": "reroll", "active": {**BLOCKER, "activity": "move"},
          "pending": [{"task": "walk", "player": ["away", 0], "square": [6, 4]}, END,
                      {"task": "dodge", "player": ["away", 0], "square": [5, 4]}]}, ValueError, "cannot wait there"),
        ({"decision": "kick", "to_act": "home", "ball": None, "players": {"home": [], "away": [{"at": [4, 3]}]},
          "pending": [{"task": "intercept", "player": ["away", 0]}, {"task": "kick", "team": "home"}]},
         ValueError, "must be the kick of 'home'"),
        ({"decision": "reroll", "active": {**BLOCKER, "activity": "move"},
          "pending": [{"task": "walk", "player": ["away", 0], "square": [7, 3]},
                      {"task": "dodge", "player": ["away", 0], "square": [5, 4]}]}, ValueError, "is not next to"),
        ({"decision": "reroll", "active": {**BLOCKER, "activity": "move"},
          "pending": [{"task": "walk", "player": ["home", 0], "square": [6, 3]},
                      {"task": "dodge", "player": ["away", 0], "square": [5, 4]}]}, ValueError, "only the active"),
    ],
)  # fmt: skip
def test_bad_positions(change, error, message):
    env = Football(size=3, opponent="random")
    env.reset(seed=1)
    before = env.clone_state()
    with pytest.raises(error, match=message):
        env.reset(options={"position": {**scene(), **change}})
    assert env.clone_state() == before


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"size": 4}, ValueError, "size 4 is none of 1, 3, 5, 7, 11"),
        ({"movement": "fly"}, ValueError, "unknown movement 'fly'"),
        ({"orientation": "left"}, ValueError, "unknown orientation"),
        ({"first_kicker": "referee"}, ValueError, "unknown first_kicker"),
        ({"squads": ["goalie"] * 4}, ValueError, "unknown role 'goalie'"),
        ({"squads": ["thrower"]}, ValueError, "has 1 players; it must have 3 to 16"),
        ({"squads": [{"role": "thrower", "ma": 20}] * 3}, ValueError, r"20 is outside \[1, 10\]"),
        ({"formations": {"attack": []}}, ValueError, "unknown formations key 'attack'"),
        ({"formations": {"offence": [[(1, 1), (2, 2), (3, 3)]]}}, ValueError, "at least 1 are required"),
        ({"formations": {"offence": [[(6, 1), (5, 1), (3, 3)]]}}, ValueError, "at most 1 may be there"),
        ({"formations": {"offence": [[(6, 3), (6, 3), (3, 3)]]}}, ValueError, "3 different ones"),
        ({"formations": {"offence": [3]}}, TypeError, "3 is not a list of places"),
        ({"formations": {"offence": [{"places": [], "deep": 0}]}}, ValueError, "3 different ones"),
        ({"turns": 0}, ValueError, r"turns 0 is outside"),
        ({"halves": 9, "turns": 20}, ValueError, "make 180; at most 99"),
        ({"halves": np.int8(5), "turns": np.int8(52)}, ValueError, "make 260; at most 99"),
    ],
)
def test_bad_settings(settings, error, message):
    with pytest.raises(error, match=message):
        football(**{"size": 3, **settings})


def test_settings():
    squads = {"home": [{"role": "blitzer", "st": 5}] * 3, "away": ["catcher"] * 5}
    places = [(6, 3), (5, 3), (4, 3)]
    game = football(
        3, squads=squads, formations={"offence": [{"places": places, "name": "column"}]}, first_kicker="away"
    )
    assert game.actions == 25 + 10 * 5 + 2 * 60
    assert football(np.array(3)).fingerprint == football(3).fingerprint
    state = game.new_state()
    game.reset(state, np.uint64(1))
    found = game.position(state)
    assert (found["decision"], found["to_act"], found["kicker"]) == ("kick", "away", "away")
    assert [player["at"] for player in found["players"]["home"]] == [[7, 3], [8, 3], [9, 3]]
    assert found["players"]["home"][0]["st"] == 5
    assert [player["at"] for player in found["players"]["away"]][3:] == ["reserves"] * 2


def test_places_next_to_the_middle_are_filled_first():
    formation = {"places": [(3, 3), (5, 3), (6, 2)], "deep": 0}
    game = football(3, formations={"offence": [formation]}, first_kicker="away")
    gone = [{"at": "casualties"}] * 2
    players = {"home": [{"at": "reserves"}, {"at": "reserves"}, *gone], "away": []}
    state = state_from_position(
        game, {"decision": "setup", "to_act": "home", "kicker": "away", "players": players, "ball": None}
    )
    act(game, state, 21)
    assert [player["at"] for player in game.position(state)["players"]["home"][:2]] == [[7, 2], [10, 3]]


def test_positions_come_back_when_who_fell_has_left_the_pitch():
    """The carrier is knocked out, a team-mate may try again to catch the ball; then the turn ends."""
    game = football(3)
    players = {"home": [{"at": [4, 3]}], "away": [{"at": [5, 3]}, {"at": [7, 3]}]}
    position = scene(players=players, ball={"at": [5, 3], "carried": True}, dice=[1, 6, 6, 4, 4, 5, 1])
    state = state_from_position(game, position)
    act(game, state, 25, 25 + 10 * 4 + 2 * 12 + 5, 4)
    found = game.position(state)
    assert found["decision"] == "reroll"
    assert found["players"]["away"][0]["at"] == "knocked_out"
    again = state_from_position(game, found)
    assert np.array_equal(again[32:], state[32:])
    act(game, again, 4)
    assert game.position(again)["to_act"] == "home"


@pytest.mark.parametrize("activity", ["block", "blitz"])
def test_a_block_set_up_by_hand_is_the_only_one_of_its_activation(activity):
    game = football(3)
    active = {"player": ["away", 0], "activity": activity}
    block = {"defender": ["home", 0], "faces": ["push"]}
    state = state_from_position(game, scene(decision="block_dice", active=active, block=block))
    act(game, state, 7)
    while game.position(state)["decision"] in ("push", "follow_up"):
        act(game, state, legal(game, state)[-1])
    found = game.position(state)
    if activity == "block":
        assert found["players"]["away"][0]["used"]
        assert found["active"] is None
    else:
        assert found["active"]["blocked"]
        assert not any(25 + 6 * 4 <= action < 25 + 7 * 4 for action in legal(game, state))


@pytest.mark.parametrize(("half", "opening"), [(1, "away"), (2, "home")])
def test_who_kicked_off_a_half_has_the_second_turn_of_it(half, opening):
    game = football(3)
    state = state_from_position(game, scene(half=half, opening_kicker=opening))
    assert game.position(state)["turn_counters"] == [1, 1]


def test_receivers_have_the_first_turn_after_a_kick_off_set_up_by_hand():
    players = {"home": [{"at": [9, 2]}], "away": [{"at": [3, 2]}]}
    for half in (1, 2):
        for counters, kicker in (([0, 0], "home"), ([0, 0], "away"), ([3, 2], "home"), ([3, 2], "away")):
            game = football(3)
            position = {"decision": "kick", "to_act": kicker, "half": half, "turn_counters": counters}
            state = state_from_position(game, {**position, "players": players, "ball": None})
            found = game.position(state)
            assert found["kicker"] == kicker
            first = "home" if counters == [3, 2] or kicker == "away" else "away"
            assert (found["opening_kicker"] == first) == (half == 2)
            while game.position(state)["decision"] != "turn":
                act(game, state, legal(game, state)[0])
            behind = "away" if counters == [3, 2] else first
            assert game.position(state)["to_act"] == behind
    state = state_from_position(game, {"decision": "touchback", "to_act": "away", "players": players, "ball": None})
    assert game.position(state)["kicker"] == "home"
    state = state_from_position(
        game, {"decision": "setup", "to_act": "home", "players": {"home": [], "away": []}, "ball": None}
    )
    assert [task["task"] for task in game.position(state)["pending"]] == ["kick", "setup", "setup"]


def test_numbers_of_a_position_do_not_outlast_it():
    env = Football(size=3, opponent="random")
    env.reset(seed=7)
    first = env.position()
    changed = {"at": [3, 2], "ma": 2, "st": 9, "ag": 5, "av": 3, "role": "lineman"}
    env.reset(options={"position": scene(players={"home": [changed], "away": [{"at": [4, 3]}]})})
    assert env.position()["players"]["home"][0]["st"] == 9
    env.reset(seed=7)
    assert env.position() == first


def test_after_a_touchback_only_who_stands_may_have_the_ball():
    game = football(3)
    players = {"home": [], "away": [{"at": [2, 2], "up": False}, {"at": [2, 4]}, {"at": [3, 3]}]}
    state = state_from_position(game, scene(decision="touchback", kicker="home", players=players, ball=None))
    assert legal(game, state) == [25 + 9 * 4 + 1, 25 + 9 * 4 + 2]
