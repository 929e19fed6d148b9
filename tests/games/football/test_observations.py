"""The observation read back by its documentation alone, and compared with the position."""

import numpy as np
import pytest

import mcts_envs

TEAMS = ("home", "away")
DECISIONS = ("setup", "kick", "touchback", "turn", "activation", "reroll", "block_dice", "block_reroll", "push",
             "follow_up", "interception", "over")  # fmt: skip
ACTIVITIES = (None, "move", "block", "blitz", "pass", "handoff", "foul")
ROLLS = ("rush", "dodge", "pick_up", "catch", "pass", "stand_up")
FACES = ("attacker_down", "both_down", "push", "stumble", "defender_down")


class Reader:
    """What a team sees of a position on a pitch of W x H squares."""

    def __init__(self, position, seat, size, mirrored):
        self.position, self.seat, (self.width, self.height) = position, seat, size
        self.mirrored = mirrored and seat == 0

    def at(self, square):
        """Return the row and the column of a square in a plane."""
        x, y = square
        return y - 1, self.width - x if self.mirrored else x - 1

    def player(self, reference):
        """Return a player from [team, number]."""
        return self.position["players"][reference[0]][reference[1]]

    def planes(self):
        """Return the twenty-four planes."""
        planes, p = np.zeros((24, self.height, self.width)), self.position
        for side, team in enumerate((TEAMS[self.seat], TEAMS[1 - self.seat])):
            for player in p["players"][team]:
                if not isinstance(player["at"], str):
                    row, column = self.at(player["at"])
                    left = max(player["ma"] + 2 - player["moves"], 0) / 12
                    sizes = [player[name] / 12 for name in ("st", "ag", "av")]
                    state = 1 if player["up"] else 0.5, player["stunned"], player["used"], left, *sizes
                    planes[7 * side : 7 * side + 7, row, column] = state
                    if player["up"]:
                        planes[14 + side, max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2] += 1 / 8
                        planes[14 + side, row, column] -= 1 / 8
        marked = [(16, p["ball"]["at"])] if p["ball"] else []
        marked += [(17, p["ball"]["at"])] if p["ball"] and p["ball"]["carried"] else []
        marked += [(18, self.player(p["active"]["player"])["at"])] if p["active"] else []
        marked += [(19, self.player(p["block"]["defender"])["at"])] if p["block"] else []
        ends = (1, self.width) if self.seat == 0 else (self.width, 1)
        marked += [(20 + i, (ends[i], y)) for i in range(2) for y in range(1, self.height + 1)]
        if p["decision"] in ("reroll", "push", "follow_up", "interception"):
            task = p["pending"][-1]
            marked += [(22, self.player(task["player"])["at"]), (23, task.get("square", "nowhere"))]
        for plane, square in marked:
            if not isinstance(square, str):
                planes[(plane, *self.at(square))] = 1
        return planes

    def numbers(self, halves, turns):
        """Return the fifty-three numbers."""
        p, own = self.position, TEAMS[self.seat]
        active, pending = p["active"] or {}, p["pending"]
        roll = pending[-1]["task"] if p["decision"] == "reroll" else None
        falls = [t["task"] == "knock_down" or t.get("knocked", False) for t in pending]
        numbers = [p["decision"] == name for name in DECISIONS]
        numbers += [active.get("activity") == name for name in ACTIVITIES] + [roll == name for name in ROLLS]
        numbers += [face in (p["block"] or {"faces": ()})["faces"] for face in FACES]
        numbers += [p["to_act"] == own, p["side"] == own, p["side"] not in (own, None), p["half"] / halves]
        numbers += [p["kicker"] == own, p["reroll_used"]]
        numbers += [name in p["spent"] for name in ("blitz", "pass", "handoff", "foul")]
        numbers += [
            active.get("blocked", False),
            p["decision"] in ("push", "follow_up") and True in falls,
            p["fumbled"],
        ]
        for team in (self.seat, 1 - self.seat):
            boxes = [player["at"] for player in p["players"][TEAMS[team]]]
            numbers += [p["turn_counters"][team] / turns]
            numbers += [min(p["score"][team] / 10, 1), min(p["rerolls"][team] / 10, 1)]
            numbers += [boxes.count("reserves") / len(boxes), boxes.count("knocked_out") / len(boxes)]
        return numbers


@pytest.mark.parametrize(
    ("kind", "size", "settings"),
    [
        ("Football1-v0", (4, 3), {"halves": 3, "turns": 3}),
        ("Football3-v0", (12, 5), {"orientation": "absolute"}),
        ("Football5-v0", (16, 9), {"turns": 4, "max_steps": 90}),
    ],
)
def test_it_says_what_the_docstring_says(kind, size, settings):
    env, rng, decisions = mcts_envs.make_aec(kind, **settings), np.random.default_rng(0), set()
    for seed in range(2):
        env.reset(seed=seed)
        position = {"decision": None}
        while position["decision"] != "over":
            position = env.position()
            decisions.add(position["decision"])
            for seat, agent in enumerate(env.possible_agents):
                reader = Reader(position, seat, size, settings.get("orientation") != "absolute")
                numbers = reader.numbers(settings.get("halves", 2), settings.get("turns", 8))
                expected = np.append(reader.planes(), numbers)
                np.testing.assert_allclose(env.observe(agent)["observation"], expected, atol=1e-6)
            legal = np.flatnonzero(env.infos[env.agent_selection]["action_mask"])
            if len(legal):
                env.step(int(rng.choice(legal[legal > 1] if (legal > 1).any() else legal)))
    assert decisions >= {"turn", "activation", "block_dice", "over"}
