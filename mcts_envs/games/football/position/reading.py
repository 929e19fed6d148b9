"""Positions of football-lite: the state in readable terms."""

from typing import Any

from mcts_envs.core.kernel import record
from mcts_envs.core.typing import Bytes
from mcts_envs.games.football.position.names import (
    ACTIVITIES,
    BOXES,
    DECISIONS,
    DICE,
    FACES,
    ONCE_A_TURN,
    SHAPES,
    TEAMS,
)
from mcts_envs.games.football.rules import events, tasks
from mcts_envs.games.football.rules.layout import NO_TEAM, NOBODY, ON_PITCH, STANDING, STATE, STUNNED
from mcts_envs.games.football.sizes import ROLES


def square(s: Any, index: Any) -> list[int]:
    """Return [x, y] of a square."""
    y, x = divmod(int(index), int(s.width) + 2)
    return [x, y]


def who(player: Any) -> list[Any]:
    """Return [team, slot] of a player."""
    return [TEAMS[int(player) >> 4], int(player) & 15]


def position(state: Bytes) -> dict[str, Any]:
    """Return the state in plain terms; :class:`~mcts_envs.games.football.spec.Football` describes them."""
    s = record(state, STATE)
    active = int(s.active_player)
    result: dict[str, Any] = {
        "decision": DECISIONS[s.phase],
        "to_act": _team(s.decider),
        "side": _team(s.side),
        "half": int(s.half),
        "turn_counters": [int(turn) for turn in s.turn],
        "score": [int(score) for score in s.score],
        "rerolls": [int(left) for left in s.rerolls],
        "reroll_used": bool(s.reroll_used),
        "spent": [name for name in ONCE_A_TURN if s[f"{name}_used"]],
        "opening_kicker": _team(s.opening_kicker),
        "kicker": _team(s.kicker),
        "ball": {"at": square(s, s.ball), "carried": bool(s.carrier != NOBODY)} if s.ball else None,
        "players": {
            name: [_player(s, 16 * team + slot) for slot in range(s.members[team])] for team, name in enumerate(TEAMS)
        },
        "active": None
        if active == NOBODY
        else {"player": who(active), "activity": ACTIVITIES[s.activity], "blocked": bool(s.blocked)},
        "block": None
        if s.defender == NOBODY
        else {
            "defender": who(s.defender),
            "dice": int(s.block_dice),
            "faces": [face for bit, face in enumerate(FACES) if s.faces >> bit & 1],
        },
        "fumbled": bool(s.fumbled),
        "pending": [_task(s, int(task)) for task in s.tasks[: s.waiting]],
        "rolls": [[DICE[roll >> 4], int(roll & 15)] for roll in s.rolls[: s.rolled]],
        "events": {name: int(count) for name, count in zip(events.NAMES, s.events, strict=True) if count},
    }
    if s.max_steps:
        result["t"] = int(s.t)
    return result


def _team(team: Any) -> str | None:
    return None if team == NO_TEAM else TEAMS[team]


def _player(s: Any, player: int) -> dict[str, Any]:
    at: Any = BOXES[s.box[player]]
    if s.box[player] == ON_PITCH:
        at = square(s, s.square[player]) if s.square[player] else "crowd"
    return {
        "role": ROLES[s.role[player]],
        **{name: int(s[name][player]) for name in ("ma", "st", "ag", "av")},
        "at": at,
        "up": bool(s.posture[player] == STANDING),
        "stunned": bool(s.posture[player] == STUNNED),
        "used": bool(s.used[player]),
        "moves": int(s.moved[player]),
    }


def _task(s: Any, packed: int) -> dict[str, Any]:
    name = tasks.NAMES[packed & 255]
    shape = SHAPES[name]
    result: dict[str, Any] = {"task": name}
    if shape.who == "player":
        result["player"] = who(packed >> 8 & 255)
    elif shape.who == "team":
        result["team"] = TEAMS[packed >> 8 & 255]
    detail = packed >> 16
    for flag, bit in shape.flags:
        if detail & bit:
            result[flag] = True
            detail -= bit
    if shape.square:
        result["square"] = square(s, detail)
    return result
