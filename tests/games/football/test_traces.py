"""Football-lite against recorded situations: forced dice, actions, and the whole state afterwards."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from mcts_envs.core.place import state_from_position
from mcts_envs.games.football.sizes import SIZES
from mcts_envs.games.football.spec import football

DATA = Path(__file__).parent / "data"
FACES = ["ATTACKER_DOWN", "BOTH_DOWN", "PUSH", "PUSH", "DEFENDER_STUMBLES", "DEFENDER_DOWN"]
DICE_ACTIONS = ["ATTACKER_DOWN", "BOTH_DOWN", "PUSH", "DEFENDER_STUMBLES", "DEFENDER_DOWN"]
DIRECTIONS = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)]
STARTS = ["START_MOVE", "START_BLOCK", "START_BLITZ", "START_PASS", "START_HANDOFF", "START_FOUL"]
DECISIONS = {
    "Turn": "turn",
    "Setup": "setup",
    "PlaceBall": "kick",
    "Touchback": "touchback",
    "Block": "block_dice",
    "Push": "push",
    "FollowUp": "follow_up",
    "Interception": "interception",
}
OPTION_NAMES = {
    "END_TURN": range(1),
    "END_PLAYER_TURN": range(1, 2),
    "STAND_UP": range(2, 3),
    "USE_REROLL": range(3, 4),
    "DONT_USE_REROLL": range(4, 5),
    **{f"SELECT_{name}": range(5 + i, 6 + i) for i, name in enumerate(DICE_ACTIONS)},
    "SELECT_NONE": range(10, 11),
    "FOLLOW_UP": range(11, 13),
    "PUSH": range(13, 21),
    "SETUP": range(21, 25),
}
SPANS = [*STARTS, "BLOCK", "FOUL", "HANDOFF", "SELECT_PLAYER"]


def load(name):
    return json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))


TRACES = load("traces")["traces"]


def forced(dice):
    """Return forced dice for recorded ones: natural results, and for block dice the number of the face."""
    return [1 + FACES.index(value) if kind == "BB" else value for kind, value in dice]


class Match:
    """A state with the names of a trace's players."""

    def __init__(self, game, state, names):
        self.game, self.state, self.names = game, state, names

    def number(self, action):
        """Return the number of a recorded action in the present state."""
        kind, *rest = action
        found = self.game.position(self.state)
        squad, (width, height) = len(found["players"]["home"]), self.size
        target = rest[0] if rest else None
        if kind in STARTS:
            return 25 + STARTS.index(kind) * squad + self.names[target][1]
        if kind in ("BLOCK", "FOUL", "HANDOFF"):
            return 25 + (6 + ("BLOCK", "FOUL", "HANDOFF").index(kind)) * squad + self.slot_at(found, target)
        if kind == "SELECT_PLAYER":
            return 25 + 9 * squad + self.names[target][1]
        if kind in ("MOVE", "PASS", "PLACE_BALL"):
            place = (target[1] - 1) * width + target[0] - 1
            return 25 + 10 * squad + place + (0 if kind == "MOVE" else width * height)
        if kind == "PUSH":
            pushed = next(task for task in reversed(found["pending"]) if task["task"] == "push")["player"]
            here = found["players"][pushed[0]][pushed[1]]["at"]
            return 13 + DIRECTIONS.index((target[0] - here[0], target[1] - here[1]))
        if kind == "FOLLOW_UP":
            attacker = found["active"]["player"]
            return 12 if found["players"][attacker[0]][attacker[1]]["at"] == target else 11
        return OPTION_NAMES[kind][0]

    def slot_at(self, found, square):
        for team in ("home", "away"):
            for slot, player in enumerate(found["players"][team]):
                if player["at"] == square:
                    return slot
        raise AssertionError(f"nobody on {square}")

    def legal(self):
        actions = np.zeros(self.game.actions, np.int64)
        player = int(self.game.active(self.state)) >> 1
        return actions[: self.game.legal(self.state, player, actions)].tolist()

    def act(self, number):
        assert number in self.legal()
        self.game.step(self.state, np.full(2, number), np.zeros(2))

    def options(self):
        """Return the kinds of the legal actions in the words of the recording."""
        squad, (width, height) = len(self.game.position(self.state)["players"]["home"]), self.size
        kinds = set()
        for action in self.legal():
            fixed = [name for name, numbers in OPTION_NAMES.items() if action in numbers]
            if fixed:
                kinds.add(fixed[0])
            elif action < 25 + 10 * squad:
                kinds.add(SPANS[(action - 25) // squad])
            else:
                kinds.add("MOVE" if action < 25 + 10 * squad + width * height else "BALL_TO")
        return kinds


def start_of(trace, **settings):
    """Return the match that a trace begins with."""
    active = trace.get("active_team", trace.get("receiving_team"))
    other = {"home": "away", "away": "home"}[active]
    sides, names = {"home": [], "away": []}, {}
    for name, entry in trace["setup"]["players"].items():
        team = {"active": active, "other": other}.get(entry["team"], entry["team"])
        names[name] = (team, len(sides[team]))
        keep = {"ma", "st", "ag", "av", "at", "up", "stunned"}
        sides[team].append({key: value for key, value in entry.items() if key in keep})
        if entry.get("moves_used"):
            sides[team][-1]["moves"] = entry["moves_used"]
    position = {"players": sides, "ball": trace["setup"].get("ball"), "dice": forced(trace["dice_forced"])}
    if trace.get("kickoff"):
        position |= {"decision": "kick", "to_act": other, "kicker": other, "opening_kicker": other}
    else:
        left = trace["setup"]["rerolls_active"]
        position |= {"to_act": active, "rerolls": [left if team == active else 0 for team in ("home", "away")]}
    game = football(trace["size"], orientation="absolute", **settings)
    match = Match(game, state_from_position(game, position), names)
    match.size = SIZES[trace["size"]].width, SIZES[trace["size"]].height
    return match


def compare(match, after):
    """Compare the present state with a recorded one."""
    found = match.game.position(match.state)
    for name, expected in after.get("players", {}).items():
        team, slot = match.names[name]
        player = found["players"][team][slot]
        on_pitch = isinstance(expected["at"], list)
        fields = ("at", "up", "stunned", "used", "moves") if on_pitch else ("at",)
        assert {field: player[field] for field in fields} == {field: expected[field] for field in fields}, name
    assert found["ball"] == after["ball"]
    for field in ("score", "turn_counters", "to_act"):
        assert found[field] == after[field], field
    if after["rerolls"] is not None:
        assert found["rerolls"] == after["rerolls"]
    kind = after["decision"]
    if kind.startswith("Reroll"):
        assert found["decision"] in ("reroll", "block_reroll", "block_dice")
    else:
        assert found["decision"] == DECISIONS.get(kind, "activation")
    if kind != "Setup":
        assert match.options() == set(after["options"])


@pytest.mark.parametrize("trace", TRACES, ids=[trace["name"] for trace in TRACES])
def test_traces(trace):
    match = start_of(trace, skip_forced=False)
    for action in trace["actions"]:
        match.act(match.number(action))
    assert match.state[8] == len(trace["dice_forced"]) - len(trace["dice_consumed_in_order"])
    compare(match, trace["after"])


@pytest.mark.parametrize("trace", TRACES, ids=[trace["name"] for trace in TRACES])
def test_traces_without_forced_decisions(trace):
    """Decisions with one option are skipped: the same ends with fewer actions."""
    slow, fast = start_of(trace, skip_forced=False), start_of(trace)
    for action in trace["actions"]:
        number = slow.number(action)
        if len(slow.legal()) > 1 or number == 0:
            fast.act(number)
        slow.act(number)
    if len(slow.legal()) > 1:
        assert fast.game.position(fast.state) | {"rolls": 0} == slow.game.position(slow.state) | {"rolls": 0}
