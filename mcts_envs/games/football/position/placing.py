"""Positions of football-lite, read: every part is checked before the state is touched."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mcts_envs.core import errors
from mcts_envs.core.kernel import record
from mcts_envs.core.typing import Bytes
from mcts_envs.games.football.position.names import (
    ACTIVITIES,
    BOXES,
    DECISIONS,
    DICE,
    FACES,
    KICK_OFF,
    OF_A_BLOCK,
    ONCE_A_TURN,
    SHAPES,
    TEAMS,
)
from mcts_envs.games.football.position.reading import who
from mcts_envs.games.football.position.validate import check_position
from mcts_envs.games.football.rules import events, tasks
from mcts_envs.games.football.rules.dice import forget_rolls
from mcts_envs.games.football.rules.field import build_board
from mcts_envs.games.football.rules.layout import (
    BLITZ,
    BLOCK,
    BLOCK_DICE,
    BLOCK_REROLL,
    EVENTS,
    KICK,
    MAX_ROLLS,
    MAX_TASKS,
    NO_ACTIVITY,
    NO_TEAM,
    NOBODY,
    ON_PITCH,
    OVER,
    PLAYERS,
    PRONE,
    RESERVES,
    SETUP,
    STANDING,
    STATE,
    STUNNED,
    TOUCHBACK,
)
from mcts_envs.games.football.sizes import ROLES

_OPTIONAL = (
    "decision",
    "side",
    "half",
    "turn_counters",
    "score",
    "rerolls",
    "reroll_used",
    "spent",
    "opening_kicker",
    "kicker",
    "active",
    "block",
    "fumbled",
    "pending",
    "rolls",
    "events",
)


def place(state: Bytes, position: Mapping[str, Any]) -> None:
    """Set a state that was just reset to a position.

    Nothing is changed if the position is at fault.

    Raises
    ------
    ValueError, TypeError
        If a key is missing or unknown, a value is out of its bounds, two players share a square, or the decision does
        not fit the rest.
    """
    draft = state.copy()
    s = record(draft, STATE)
    clock = ("t",) if s.max_steps else ()
    errors.keys("position", position, ("players", "ball", "to_act"), (*_OPTIONAL, *clock))
    tasks.drop_all(draft)
    forget_rolls(draft)
    _read_match(s, position)
    _read_players(s, position["players"])
    build_board(draft)
    _read_ball(s, position["ball"])
    _read_activation(s, position)
    _read_pending(s, position)
    _read_history(s, position)
    check_position(draft)
    state[:] = draft


def _read_match(s: Any, position: Mapping[str, Any]) -> None:
    """Read whose turn it is, and the counters."""
    s.phase = _choice("position['decision']", position.get("decision", "turn"), DECISIONS)
    s.decider = _team("position['to_act']", position["to_act"])
    s.t = errors.integer("position['t']", position.get("t", 0), 0, max(int(s.max_steps) - int(s.phase != OVER), 0))
    s.truncated = 0
    kickoff = s.phase in (*KICK_OFF, OVER)
    s.side = _team("position['side']", position.get("side", None if kickoff else position["to_act"]))
    s.half = errors.integer("position['half']", position.get("half", 1), 1, int(s.halves))
    turns = [0, 0] if s.side == NO_TEAM else [int(s.side == team) for team in range(2)]
    s.turn[:] = _pair("position['turn_counters']", position.get("turn_counters", turns), int(s.turns_a_half))
    s.score[:] = _pair(
        "position['score']", position.get("score", [0, 0]), 255 - 2 * int(s.halves) * int(s.turns_a_half)
    )
    s.rerolls[:] = _pair("position['rerolls']", position.get("rerolls", [int(s.stock)] * 2), 255)
    s.reroll_used = errors.flag("position['reroll_used']", position.get("reroll_used", False))
    spent = _list("position['spent']", position.get("spent", []), 4)
    for name in spent:
        _choice("position['spent'] entry", name, ONCE_A_TURN)
    for name in ONCE_A_TURN:
        s[f"{name}_used"] = name in spent
    _read_kickers(s, position)


def _read_kickers(s: Any, position: Mapping[str, Any]) -> None:
    """Read who kicks off now, and who did first in the game.

    Left out, the decision tells the one, and the counters the other: who kicks off a half has the second turn in it.
    """
    even, other_half = s.turn[0] == s.turn[1], (int(s.half) + 1) % 2
    now = NO_TEAM
    if s.decider != NO_TEAM and s.phase in KICK_OFF:
        now = int(s.decider) ^ int(s.phase == TOUCHBACK)
    if "kicker" in position:
        now = _team("position['kicker']", position["kicker"])
    second = int(s.opening_kicker) ^ other_half
    if s.side != NO_TEAM:
        second = int(s.side) ^ int(not even)
    elif not even:
        second = int(s.turn[1] < s.turn[0])
    elif now != NO_TEAM:
        second = now
    s.opening_kicker = _team("position['opening_kicker']", position.get("opening_kicker", TEAMS[second ^ other_half]))
    if s.opening_kicker == NO_TEAM or (now == NO_TEAM and "kicker" in position):
        raise ValueError("position: opening_kicker and kicker must be 'home' or 'away', not None")
    s.kicker = int(s.opening_kicker) ^ other_half if now == NO_TEAM else now
    if "turn_counters" not in position and s.side == int(s.opening_kicker) ^ other_half:
        s.turn[:] = 1  # its first turn is the second one of the half


def _choice(name: str, given: Any, known: Any) -> int:
    """Return the index of a word."""
    return int(known.index(errors.choice(name, given, known)))


def _team(name: str, given: Any) -> int:
    return NO_TEAM if given is None else _choice(name, given, TEAMS)


def _pair(name: str, given: Any, high: int) -> list[int]:
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise TypeError(f"{name} {given!r} is not a list of two integers")
    return [errors.integer(f"{name}[{i}]", number, 0, high) for i, number in enumerate(given)]


def _list(name: str, given: Any, most: int) -> list[Any]:
    if not isinstance(given, (list, tuple)) or len(given) > most:
        raise TypeError(f"{name} {given!r} is not a list of at most {most} entries")
    return list(given)


def _read_players(s: Any, given: Any) -> None:
    """Read all players; those who are not listed are in the reserves."""
    if not isinstance(given, Mapping):
        raise TypeError(f"position['players'] is {type(given).__name__}, not a dictionary with home and away")
    errors.keys("position['players']", given, TEAMS)
    taken: dict[int, str] = {}
    for player in range(PLAYERS):
        member = (player & 15) < s.members[player >> 4]
        s.square[player], s.posture[player], s.used[player], s.moved[player] = 0, STANDING, 0, 0
        s.box[player] = RESERVES if member else ON_PITCH
    for team, word in enumerate(TEAMS):
        for slot, entry in enumerate(_list(f"position['players'][{word!r}]", given[word], int(s.members[team]))):
            name = f"position['players'][{word!r}][{slot}]"
            _read_player(s, name, 16 * team + slot, entry)
            here = int(s.square[16 * team + slot])
            if here and here in taken:
                raise ValueError(f"{name} stands on {entry['at']}, where {taken[here]} is already")
            taken[here] = name


def _read_player(s: Any, name: str, player: int, entry: Any) -> None:
    if not isinstance(entry, Mapping):
        raise TypeError(f"{name} {entry!r} is not a dictionary such as {{'at': [x, y]}}")
    numbers = ("ma", "st", "ag", "av")
    errors.keys(name, entry, ("at",), ("role", "up", "stunned", "used", "moves", *numbers))
    for number in numbers:
        if number in entry:
            s[number][player] = errors.integer(f"{name}[{number!r}]", entry[number], 1, 12 if number != "ma" else 10)
    if "role" in entry:
        s.role[player] = _choice(f"{name}['role']", entry["role"], ROLES)
    if isinstance(entry["at"], str):
        if entry["at"] == "crowd":
            s.box[player] = ON_PITCH
        else:
            s.box[player] = 1 + _choice(f"{name}['at']", entry["at"], BOXES[1:])
        up, stunned = (errors.flag(f"{name}['{key}']", entry.get(key, key == "up")) for key in ("up", "stunned"))
        if not up or stunned or errors.integer(f"{name}['moves']", entry.get("moves", 0), 0, 99):
            raise ValueError(f"{name} is {entry['at']}; only players on the pitch lie down or move")
        s.used[player] = errors.flag(f"{name}['used']", entry.get("used", False))
        return
    s.box[player], s.square[player] = ON_PITCH, _square(s, f"{name}['at']", entry["at"])
    stunned = errors.flag(f"{name}['stunned']", entry.get("stunned", False))
    up = errors.flag(f"{name}['up']", entry.get("up", not stunned))
    if up and stunned:
        raise ValueError(f"{name} is up and stunned; a stunned player lies down: 'up': False")
    s.posture[player] = STANDING if up else STUNNED if stunned else PRONE
    s.used[player] = errors.flag(f"{name}['used']", entry.get("used", False))
    s.moved[player] = errors.integer(f"{name}['moves']", entry.get("moves", 0), 0, int(s.ma[player]) + 4)


def _square(s: Any, name: str, given: Any, margin: int = 0) -> int:
    """Return the index of a square [x, y]; with a margin of 1 it may be in the crowd."""
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise TypeError(f"{name} {given!r} is not a square [x, y]")
    x = errors.integer(f"{name}[0]", given[0], 1 - margin, int(s.width) + margin)
    y = errors.integer(f"{name}[1]", given[1], 1 - margin, int(s.height) + margin)
    return y * (int(s.width) + 2) + x


def _read_ball(s: Any, given: Any) -> None:
    s.ball, s.carrier = 0, NOBODY
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise TypeError(f"position['ball'] {given!r} is not a dictionary {{'at': [x, y], 'carried': bool}}, or None")
    errors.keys("position['ball']", given, ("at",), ("carried",))
    s.ball = _square(s, "position['ball']['at']", given["at"])
    if errors.flag("position['ball']['carried']", given.get("carried", False)):
        standing = np.flatnonzero((s.square == s.ball) & (s.posture == STANDING))
        if not len(standing):
            raise ValueError(f"position['ball'] is carried on {list(given['at'])}, where nobody stands")
        s.carrier = standing[0]


def _read_activation(s: Any, position: Mapping[str, Any]) -> None:
    """Read who is active, and the block that is being decided."""
    s.active_player, s.activity, s.blocked = NOBODY, NO_ACTIVITY, 0
    s.defender, s.block_dice, s.faces = NOBODY, 0, 0
    s.fumbled = errors.flag("position['fumbled']", position.get("fumbled", False))
    active, block = position.get("active"), position.get("block")
    if active is not None:
        errors.keys("position['active']", active, ("player", "activity"), ("blocked",))
        s.active_player = _who(s, "position['active']['player']", active["player"])
        s.activity = 1 + _choice("position['active']['activity']", active["activity"], ACTIVITIES[1:])
        blocks = s.activity == BLITZ and s.phase in OF_A_BLOCK
        s.blocked = errors.flag("position['active']['blocked']", active.get("blocked", blocks))
    if block is not None:
        errors.keys("position['block']", block, ("defender", "faces"), ("dice",))
        s.defender = _who(s, "position['block']['defender']", block["defender"])
        faces = _list("position['block']['faces']", block["faces"], 3)
        s.faces = sum({1 << _choice("position['block']['faces'] entry", face, FACES) for face in faces})
        s.block_dice = errors.integer("position['block']['dice']", block.get("dice", max(len(faces), 1)), 1, 3)
        if not faces:
            raise ValueError(f"position['block']['faces'] is empty; name one to three of {', '.join(FACES)}")


def _who(s: Any, name: str, given: Any) -> int:
    """Return the number of a player [team, slot]."""
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise TypeError(f"{name} {given!r} is not a player [team, slot]")
    team = _choice(f"{name}[0]", given[0], TEAMS)
    return 16 * team + errors.integer(f"{name}[1]", given[1], 0, int(s.members[team]) - 1)


def _read_pending(s: Any, position: Mapping[str, Any]) -> None:
    """Read the stack of tasks; what a set-up, a kick or a block leaves to be done need not be written."""
    kick, kicker = {"task": "kick", "team": TEAMS[s.kicker]}, int(s.kicker)
    setups = [
        {"task": "setup", "team": TEAMS[team]}
        for team in ((1 - kicker, kicker) if s.decider == kicker else (1 - kicker,))
    ]
    default = {SETUP: [kick, *setups], KICK: [kick]}.get(int(s.phase), [])
    if s.activity == BLOCK and s.phase in (BLOCK_DICE, BLOCK_REROLL):
        default = [{"task": "end_activation", "player": who(s.active_player)}]
    given = _list("position['pending']", position.get("pending", default), MAX_TASKS)
    for i, entry in enumerate(given):
        s.tasks[i] = _packed(s, f"position['pending'][{i}]", entry)
    s.waiting = len(given)


def _packed(s: Any, name: str, entry: Any) -> int:
    """Return a task as one number."""
    if not isinstance(entry, Mapping) or "task" not in entry:
        raise TypeError(f"{name} {entry!r} is not a dictionary with a task")
    task = _choice(f"{name}['task']", entry["task"], tasks.NAMES)
    shape = SHAPES[entry["task"]]
    required = ("task", *((shape.who,) if shape.who else ()), *(("square",) if shape.square else ()))
    errors.keys(name, entry, required, [flag for flag, _ in shape.flags])
    detail = sum(bit for flag, bit in shape.flags if errors.flag(f"{name}[{flag!r}]", entry.get(flag, False)))
    if shape.square:
        detail += _square(s, f"{name}['square']", entry["square"], 1)
    player = 0
    if shape.who == "player":
        player = _who(s, f"{name}['player']", entry["player"])
    elif shape.who == "team":
        player = _choice(f"{name}['team']", entry["team"], TEAMS)
    return task | player << 8 | detail << 16


def _read_history(s: Any, position: Mapping[str, Any]) -> None:
    """Read the dice shown and the counts."""
    for i, entry in enumerate(_list("position['rolls']", position.get("rolls", []), MAX_ROLLS)):
        name = f"position['rolls'][{i}]"
        if not isinstance(entry, (list, tuple)) or len(entry) != 2:
            raise TypeError(f"{name} {entry!r} is not a die such as ['d6', 4]")
        s.rolls[i] = 16 * _choice(f"{name}[0]", entry[0], DICE) + errors.integer(f"{name}[1]", entry[1], 1, 8)
        s.rolled = i + 1
    counts = position.get("events", {})
    if not isinstance(counts, Mapping):
        raise TypeError(f"position['events'] {counts!r} is no dictionary of counts")
    errors.keys("position['events']", counts, (), events.NAMES)
    for i in range(EVENTS):
        name = events.NAMES[i]
        s.events[i] = errors.integer(f"position['events'][{name!r}]", counts.get(name, 0), 0, 65535)
