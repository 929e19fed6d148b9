"""Football-lite: laws, faces, mirror images, positions and their errors, values, players, pictures."""

import json
import warnings

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env

import agents
import mcts_envs
from mcts_envs.core.contract import (
    BYTES,
    FLOATS,
    INTS,
    TABLE,
    active_of,
    advise_of,
    legal_of,
    reset_of,
    step_of,
    types,
)
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.multi import GameAECEnv
from mcts_envs.core.place import placed
from mcts_envs.core.rng import below, choose_among, draw, new_stream
from mcts_envs.games.football.rules.layout import STATE
from mcts_envs.games.football.sizes import SIZES
from mcts_envs.games.football.spec import Football, football

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pettingzoo.test import max_cycles_test, render_test

ID = "mcts_envs/Football{}-v0"
OTHER = {"home": "away", "away": "home"}


def legal(game, state):
    actions = np.zeros(game.actions, np.int64)
    return actions[: game.legal(state, int(game.active(state)) >> 1, actions)].tolist()


def act(game, state, *actions):
    rewards = np.zeros(2)
    for action in actions:
        game.step(state, np.full(2, action), rewards)
    return rewards


def played(size, steps, seed, **settings):
    """Return states of random play that goes on."""
    plain = football(size, **settings)
    game = plain.variant("random_active")
    state, rng, states = game.new_state(), np.random.default_rng(seed), []
    game.reset(state, np.uint64(seed))
    weights = np.zeros(game.actions)
    while len(states) < steps and game.active(state):
        states.append(state.copy())
        game.advise(state, int(game.active(state)) >> 1, weights)
        act(game, state, rng.choice(game.actions, p=weights / weights.sum()))
    return plain, states


# Laws and faces.


@pytest.mark.parametrize("size", [1, 3])
def test_laws(size):
    mcts_envs.check_game(ID.format(size), episodes=1, faces=size == 1, turns=2 if size == 1 else 1)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_laws_of_whole_matches(size):
    mcts_envs.check_game(ID.format(size), episodes=1)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"size": 3, "movement": "path"}, marks=pytest.mark.slow),
        {"size": 1, "orientation": "absolute", "skip_forced": False, "reward_touchdown": 0.5},
        {"size": 3, "max_steps": 40},
    ],
    ids=["path", "absolute", "max_steps"],
)
def test_laws_of_variants(settings):
    mcts_envs.check_game(Football, episodes=1, faces=False, turns=2, **settings)


@pytest.mark.parametrize("size", SIZES)
def test_faces_of_every_size(size):
    def seeded(env):
        """Sample illegal actions: all but the kick are ends of turns then, and the teams alternate."""
        reset = env.reset
        for agent in env.possible_agents:
            env.action_space(agent).seed(5)
        env.reset = lambda *given, **named: reset(*given, **{"seed": 3, **named})
        return env

    class Module:
        # A cycle is a decision of each team, but one step of the parallel face, where one of them decides.
        env = staticmethod(lambda max_cycles: seeded(pettingzoo.make("aec", ID.format(size), max_steps=2 * max_cycles)))
        parallel_env = staticmethod(
            lambda max_cycles: seeded(pettingzoo.make("parallel", ID.format(size), max_steps=max_cycles))
        )

    max_cycles_test(Module)
    env = Football(size=size, seat=size // 2 % 2, opponent="random", halves=1, turns=2)
    check_env(env, skip_render_check=True, skip_close_check=True)


def test_pettingzoo_renders():
    render_test(lambda render_mode=None: GameAECEnv(Football, size=1, render_mode=render_mode))
    for kind in ("aec", "parallel"):
        env = pettingzoo.make(kind, ID.format(1))
        env.reset(seed=3)
        assert env.possible_agents == ["player_0", "player_1"]


def test_step_limit_and_rewards():
    env = gym.make(ID.format(1), max_steps=5, opponent="random")
    env.reset(seed=1)
    truncated = False
    while not truncated:
        _, reward, terminated, truncated, info = env.step(env.unwrapped.legal_actions()[0])
        assert not terminated
    assert reward == 0
    assert info["outcome"] == 0.5
    game = football(11, reward_touchdown=0.25)
    position = {"players": {"home": [], "away": [{"at": [25, 7]}]}, "ball": {"at": [25, 7], "carried": True}}
    state = placed(game, {**position, "to_act": "away", "half": 2, "turn_counters": [8, 8]})
    rewards = act(game, state, 25, 25 + 120 + 6 * 26 + 25)
    assert rewards.tolist() == [-1.25, 1.25]
    assert game.status(state, 0) == 1
    points = np.zeros(2)
    game.outcome(state, points)
    assert points.tolist() == [0, 1]


# Mirror images.


def mirrored(value, width, key=None):
    """Return a position as a mirror shows it: teams exchanged, x counted from the other end."""
    if isinstance(value, dict):
        return {OTHER.get(k, k): mirrored(v, width, k) for k, v in value.items()}
    if key in ("at", "square") and isinstance(value, list):
        return [width + 1 - value[0], value[1]]
    if key in ("turn_counters", "score", "rerolls") and isinstance(value, list):
        return value[::-1]
    if isinstance(value, list):
        return [mirrored(entry, width, "entry") for entry in value]
    return OTHER.get(value, value) if isinstance(value, str) else value


def mirrored_dice(rolls, kicked):
    """Return dice that do the same in the mirror; a d3 is a direction of a throw-in, but not in a kick."""
    image = {"d8": [3, 2, 1, 5, 4, 8, 7, 6], "d3": [3, 2, 1]}
    dice = []
    for i, (kind, value) in enumerate(rolls):
        length = kind == "d3" and kicked and i == 1
        dice.append(value if kind not in image or length else image[kind][value - 1])
    return dice


@pytest.mark.parametrize(("size", "movement"), [(3, "step"), (5, "step"), (7, "step"), (11, "step"), (5, "path")])
def test_mirrored_position_mirrored_game(size, movement):
    """Both see the same, may do the same, and it leads to mirror images again.

    The line of a pass is not quite symmetric, as in the published engine: passes are left out, which it decides.
    """
    width = SIZES[size].width
    game, states = played(size, 250, size, movement=movement)
    rng = np.random.default_rng(size)
    seen = np.zeros((2, game.observation_shape[0]), np.float32)
    values, weights = np.zeros((2, 2)), np.zeros((2, game.actions))
    for state in states[::2]:
        before = game.position(state)
        if before["decision"] == "interception":
            continue
        image = placed(game, mirrored(before, width))
        team = int(game.active(state)) >> 1
        game.observe(state, team, seen[0])
        game.observe(image, 1 - team, seen[1])
        assert np.array_equal(seen[0], seen[1])
        game.evaluate(state, values[0])
        game.evaluate(image, values[1])
        assert values[0] == pytest.approx(values[1][::-1])
        for advisor in (game, game.variant("ordered")):
            advisor.advise(state, team, weights[0])
            advisor.advise(image, 1 - team, weights[1])
            assert np.array_equal(weights[0], weights[1])
        assert legal(game, state) == legal(game, image)
        action = int(rng.choice(legal(game, state)))
        after = state.copy()
        act(game, after, action)
        rolls = game.position(after)["rolls"]
        if len(rolls) < 16 and game.position(after)["decision"] not in ("interception", "over"):
            dice = mirrored_dice(rolls, before["decision"] == "kick")
            image = placed(game, {**mirrored(before, width), "dice": dice})
            act(game, image, action)
            assert mirrored(game.position(after), width) | {"rolls": 0} == game.position(image) | {"rolls": 0}


ROLLS = ("rush", "dodge", "pick_up", "catch", "pass", "stand_up")


def observed(game, state):
    """Return whom and which square the decision is about, the roll to be thrown again, who will fall, and a fumble."""
    height, width = SIZES[3].height, SIZES[3].width
    seen = np.zeros(game.observation_shape[0], np.float32)
    game.observe(state, int(game.active(state)) >> 1, seen)
    planes, numbers = seen[: 24 * width * height].reshape(24, height, width), seen[24 * width * height :]
    who, square = ([[x + 1, y + 1] for y, x in np.argwhere(planes[plane]).tolist()] for plane in (22, 23))
    rolls = [name for name, one in zip(ROLLS, numbers[19:25], strict=True) if one]
    return who, square, rolls, *numbers[41:43].astype(bool).tolist()


def test_what_is_observed_of_a_pending_roll_push_or_throw():
    kinds = set()
    for seed in range(6):
        game, states = played(3, 1000, seed, orientation="absolute")
        for state in states:
            found = game.position(state)
            about = found["decision"] in ("reroll", "push", "follow_up", "interception")
            task = found["pending"][-1] if about else {"task": ""}
            kinds.add(task["task"])
            who, square, rolls, falls, fumbled = observed(game, state)
            assert who == ([found["players"][task["player"][0]][task["player"][1]]["at"]] if about else [])
            assert square == ([task["square"]] if "square" in task else [])
            assert rolls == ([task["task"]] if found["decision"] == "reroll" else [])
            assert falls == ("knocked" in str(found["pending"]) or "knock_down" in str(found["pending"]))
            assert fumbled == found["fumbled"]
    assert kinds >= {"", "push", "follow_up", "rush", "dodge", "pick_up"}


HAND_OFF, PASS_ON, BLOCK = (25 + 4 * 4, 25 + 8 * 4 + 1), (25 + 3 * 4, 25 + 10 * 4 + 60 + 2 * 12 + 1), (25 + 4, 25 + 24)


@pytest.mark.parametrize(
    ("changes", "other", "dice", "actions", "expected"),
    [
        ({}, [9, 5], [1], HAND_OFF, ([[5, 3]], [], ["catch"], False, False)),
        ({}, [9, 5], [1], PASS_ON, ([[6, 3]], [[2, 3]], ["pass"], False, True)),
        ({}, [9, 5], [2], PASS_ON, ([[6, 3]], [[2, 3]], ["pass"], False, False)),
        ({}, [4, 3], [], PASS_ON, ([[6, 3]], [[2, 3]], [], False, False)),
        ({"ma": 2, "up": False}, [9, 5], [1], (25, 2), ([[6, 3]], [], ["stand_up"], False, False)),
        ({}, [7, 3], [6], (*BLOCK, 5 + 4), ([[7, 3]], [[6, 3]], [], True, False)),
        ({}, [7, 3], [3], (*BLOCK, 5 + 2), ([[7, 3]], [[6, 3]], [], False, False)),
        ({}, [7, 3], [6], (*BLOCK, 5 + 4, 13 + 4), ([[6, 3]], [[7, 3]], [], True, False)),
    ],
)
def test_what_is_observed_when(changes, other, dice, actions, expected):
    game = football(3, orientation="absolute")
    carries = "up" not in changes
    home = [{"at": [6, 3], **changes}, {"at": [5, 3] if carries else [1, 1]}]
    state = placed(
        game,
        {
            "players": {"home": home, "away": [{"at": other}]},
            "ball": {"at": [6, 3] if carries else [10, 1], "carried": carries},
            "to_act": "home",
            "dice": dice,
        },
    )
    for action in actions:
        assert action in legal(game, state)
        act(game, state, action)
    assert observed(game, state) == expected


# Positions.


def scene(**changes):
    players = {"home": [{"at": [3, 2]}, {"at": [5, 2]}], "away": [{"at": [4, 3]}]}
    return {"players": players, "ball": {"at": [4, 3], "carried": True}, "to_act": "away", **changes}


BLOCKER, PASSER = ({"player": ["away", 0], "activity": activity} for activity in ("block", "pass"))
END = {"task": "end_activation", "player": ["away", 0]}


def test_positions_are_readable_and_json():
    game = football(3)
    state = placed(game, scene())
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
        ({"decision": "over", "to_act": None}, ValueError, "already over"),
        ({"turn_counters": [0, 8]}, ValueError, "as many as the other or one more"),
        ({"turn_counters": [2, 1]}, ValueError, "as many as the other or one more"),
        ({"decision": "kick", "to_act": "home", "ball": None, "turn_counters": [3, 1]}, ValueError, "by one at most"),
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
                      {"task": "follow_up", "player": ["away", 0], "square": [4, 4]}]}, ValueError, "not be carried"),
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
    state = placed(game, {"decision": "setup", "to_act": "home", "kicker": "away", "players": players, "ball": None})
    act(game, state, 21)
    assert [player["at"] for player in game.position(state)["players"]["home"][:2]] == [[7, 2], [10, 3]]


def test_positions_come_back_when_who_fell_has_left_the_pitch():
    """The carrier is knocked out, a team-mate may try again to catch the ball; then the turn ends."""
    game = football(3)
    players = {"home": [{"at": [4, 3]}], "away": [{"at": [5, 3]}, {"at": [7, 3]}]}
    position = scene(players=players, ball={"at": [5, 3], "carried": True}, dice=[1, 6, 6, 4, 4, 5, 1])
    state = placed(game, position)
    act(game, state, 25, 25 + 10 * 4 + 2 * 12 + 5, 4)
    found = game.position(state)
    assert found["decision"] == "reroll"
    assert found["players"]["away"][0]["at"] == "knocked_out"
    again = placed(game, found)
    assert np.array_equal(again[32:], state[32:])
    act(game, again, 4)
    assert game.position(again)["to_act"] == "home"


@pytest.mark.parametrize("activity", ["block", "blitz"])
def test_a_block_set_up_by_hand_is_the_only_one_of_its_activation(activity):
    game = football(3)
    active = {"player": ["away", 0], "activity": activity}
    block = {"defender": ["home", 0], "faces": ["push"]}
    state = placed(game, scene(decision="block_dice", active=active, block=block))
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


def test_receivers_have_the_first_turn_after_a_kick_off_set_up_by_hand():
    players = {"home": [{"at": [9, 2]}], "away": [{"at": [3, 2]}]}
    for half in (1, 2):
        for counters, kicker in (([0, 0], "home"), ([0, 0], "away"), ([3, 2], "home"), ([3, 2], "away")):
            game = football(3)
            position = {"decision": "kick", "to_act": kicker, "half": half, "turn_counters": counters}
            state = placed(game, {**position, "players": players, "ball": None})
            found = game.position(state)
            assert found["kicker"] == kicker
            first = "home" if counters == [3, 2] or kicker == "away" else "away"
            assert (found["opening_kicker"] == first) == (half == 2)
            while game.position(state)["decision"] != "turn":
                act(game, state, legal(game, state)[0])
            behind = "away" if counters == [3, 2] else first
            assert game.position(state)["to_act"] == behind
    state = placed(game, {"decision": "touchback", "to_act": "away", "players": players, "ball": None})
    assert game.position(state)["kicker"] == "home"
    state = placed(game, {"decision": "setup", "to_act": "home", "players": {"home": [], "away": []}, "ball": None})
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
    state = placed(game, scene(decision="touchback", kicker="home", players=players, ball=None))
    assert legal(game, state) == [25 + 9 * 4 + 1, 25 + 9 * 4 + 2]


def test_keys_leave_out_what_no_rule_looks_at():
    game, states = played(3, 60, 2)
    for state in states:
        other = state.copy()
        s = record(other, STATE)
        s.events[3] += 1
        s.rolls[0] = 7
        assert game.key(state, 0) == game.key(state, 1) == game.key(state, -1) == game.key(other, -1)
    assert len({int(game.key(state, -1)) for state in states}) > 40


def test_an_illegal_action_counts_as_the_first_legal_one():
    game, states = played(5, 200, 4)
    for state in states[::5]:
        allowed = legal(game, state)
        wrong = next(action for action in range(game.actions) if action not in allowed)
        first, second = state.copy(), state.copy()
        act(game, first, wrong)
        act(game, second, allowed[0])
        assert np.array_equal(first, second)
    env = gym.make(ID.format(5), illegal="raise")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="action 7 is illegal; legal now"):
        env.step(7)


def test_legal_actions_are_those_that_pass_the_check():
    from mcts_envs.games.football.rules.checks import is_legal

    for size, seed in ((3, 1), (5, 2)):
        game, states = played(size, 400, seed)
        for state in states[::7]:
            assert [action for action in range(game.actions) if is_legal(state, action)] == legal(game, state)


def test_a_way_is_walked_however_unlikely_it_is():
    """Nine dodges that need a 6 each, past a row of opponents."""
    game = football(3, movement="path", squads=[{"role": "lineman", "ma": 10, "ag": 1}] * 16)
    away = [{"at": [x, 2]} for x in range(1, 13)] + [{"at": [1, 3]}]
    position = {
        "players": {"home": [{"at": [12, 1]}], "away": away},
        "ball": {"at": [12, 5]},
        "to_act": "home",
        "decision": "activation",
        "active": {"player": ["home", 0], "activity": "move"},
        "dice": [6] * 12,
    }
    state = placed(game, position)
    names = {game.action_name(action): action for action in legal(game, state)}
    act(game, state, names["move to 10,1"])
    assert game.position(state)["players"]["home"][0]["at"] == [3, 1]
    assert len(game.position(state)["rolls"]) == 9


def test_paths_are_the_safest_and_stop_at_the_ball():
    game = football(5, movement="path", orientation="absolute")
    squad, width = 6, 16
    away = [{"at": [3, 5], "ma": 6}]
    home = [{"at": [5, 5]}, {"at": [5, 4]}, {"at": [5, 6]}]
    position = {"players": {"home": home, "away": away}, "ball": None, "to_act": "away"}
    state = placed(game, {**position, "dice": []})
    act(game, state, 25)
    first = 25 + 10 * squad
    act(game, state, first + 4 * width + 6)  # to (7, 5), round the wall of three
    found = game.position(state)["players"]["away"][0]
    assert found["at"] == [7, 5]
    assert found["moves"] <= 8
    position["ball"] = {"at": [3, 4]}
    state = placed(game, {**position, "dice": [6]})
    act(game, state, 25, first + 3 * width + 2)
    assert game.position(state)["ball"] == {"at": [3, 4], "carried": True}
    assert game.position(state)["decision"] == "activation"


# Values, players, pictures.


def test_values():
    game = football(11)
    values = np.zeros(2)
    for x in (4, 12, 20):
        position = {"players": {"home": [], "away": [{"at": [x, 7]}]}, "ball": {"at": [x, 7], "carried": True}}
        state = placed(game, {**position, "to_act": "away"})
        before = values[1]
        game.evaluate(state, values)
        assert -1 < values[0] == -values[1] < 1
        assert values[1] > before
    game.variant("tutorial").evaluate(state, values)
    assert values == pytest.approx([0.45, 0.55])
    players = {"home": [{"at": "casualties"}, {"at": "knocked_out"}], "away": [{"at": [1, 1], "stunned": True}]}
    players["away"].append({"at": [2, 2], "up": False})
    state = placed(game, {"players": players, "ball": None, "to_act": "away", "score": [2, 1]})
    game.variant("tutorial").evaluate(state, values)
    own = 2 / 10 - 1 / 30 - 1 / 50 - (1 / 10 - 1 / 100 - 1 / 200)
    assert values == pytest.approx([0.5 + own, 0.5 - own])


@kernel(types.void(TABLE, BYTES, BYTES, INTS, INTS, FLOATS, FLOATS, types.int64, types.int64[:, ::1]))
def against_random(functions, state, stream, actions, legal, weights, rewards, seat, results):
    """Let the advised player of a seat meet the uniform one; results are touchdowns of both."""
    for game in range(results.shape[0]):
        reset_of(functions)(state, draw(stream))
        while active_of(functions)(state) != 0:
            player = active_of(functions)(state) >> 1
            count = legal_of(functions)(state, player, legal)
            if player == seat:
                advise_of(functions)(state, player, weights)
                actions[player] = choose_among(stream, weights, legal, count)
            else:
                actions[player] = legal[below(stream, count)]
            step_of(functions)(state, actions, rewards)
        s = record(state, STATE)
        results[game, 0], results[game, 1] = s.score[seat], s.score[1 - seat]


@pytest.mark.parametrize("seat", [0, 1])
def test_the_scripted_player_scores_three_times_against_the_random_one(seat):
    game = football(11)
    results = np.zeros((150, 2), np.int64)
    work = np.zeros(2, np.int64), np.zeros(game.actions, np.int64), np.zeros(game.actions), np.zeros(2)
    against_random(game.table, game.new_state(), new_stream(5), *work, seat, results)
    assert results[:, 0].mean() > 3
    assert (results[:, 0] > results[:, 1]).mean() > 0.95


def test_the_scripted_player_names_one_legal_action():
    game, states = played(7, 500, 3)
    weights = np.zeros(game.actions)
    for state in states[::3]:
        game.advise(state, int(game.active(state)) >> 1, weights)
        assert weights.sum() == 1
        assert int(np.argmax(weights)) in legal(game, state)


def test_random_types_weighs_kinds_equally():
    game = football(3).variant("random_types")
    state = placed(game, scene())
    weights = np.zeros(game.actions)
    game.advise(state, 1, weights)
    assert weights.nonzero()[0].tolist() == legal(game, state)
    assert weights.sum() == pytest.approx(7)  # the end of the turn and six kinds of activations
    assert weights[0] == 1
    game.variant("random_active").advise(state, 1, weights)
    assert weights[0] == 0


@pytest.mark.parametrize("name", ["random", "random_types", "random_active", "scripted", "one_step"])
def test_named_players(name):
    env = gym.make(ID.format(1), opponent="random", turns=2)
    agent = agents.make(name, seed=1)
    env.reset(seed=2)
    over = False
    while not over:
        action = agent.act(env)
        assert action in env.unwrapped.legal_actions()
        _, _, over, _, _ = env.step(action)


def test_pictures_and_names():
    for size, settings in ((1, {}), (5, {"show_zones": True}), (11, {"movement": "path"})):
        game, states = played(size, 120, 1, **settings)
        pictures = {game.picture(state).to_rgb(16).tobytes() for state in states[::20]}
        texts = {game.text(state) for state in states[::20]}
        assert len(pictures) > 3
        assert len(texts) > 3
        assert game.picture(states[-1]).to_svg().startswith("<svg")
    names = [football(3).action_name(action) for action in range(185)]
    assert len(set(names)) == 185
    assert names[0] == "end turn"
    assert names[25 + 2 * 4] == "start blitz with 1"
    assert names[65 + 13] == "move to 2,2"
