"""Picture and text of football-lite."""

from typing import Any

from mcts_envs.core.kernel import record
from mcts_envs.core.render import Canvas, ansi, mix
from mcts_envs.core.typing import Bytes
from mcts_envs.football import tasks
from mcts_envs.football.field import zones
from mcts_envs.football.layout import (
    ACTIVATION,
    AWAY,
    BLOCK_DIE,
    HOME,
    NO_TEAM,
    NOBODY,
    ON_PITCH,
    OVER,
    REROLL,
    STANDING,
    STATE,
    STUNNED,
)
from mcts_envs.football.terms import ACTIVITIES, BOXES, DECISIONS, DICE, FACES, TEAMS

_COLOURS = ("#c8402f", "#2b64c4")
_TERMINAL = ("red", "blue")
_GRASS, _STRIPE, _CHALK, _CROWD, _INK, _PAPER = "#74ab58", "#6ca352", "#eaf3e2", "#39443a", "#22301f", "#f4efe4"
_BALL, _GOLD = "#8a4b22", "#ffd64a"
_LETTERS = ("B", "T", "C", "L")
_FACE_OF_DIE = (4, 0, 1, 2, 2, 3)
_SHORT_FACES = ("attacker", "both", "push", "stumble", "defender")
_WORDS = {"reserves": "in reserve", "knocked_out": "knocked out", "casualties": "injured", "ejected": "sent off"}
_MARGIN, _HEADER, _FOOTER = 0.5, 1.9, 0.9


def picture(state: Bytes, show_zones: bool = False) -> Canvas:
    """Draw a state: the pitch with end zones, players with role letter and number, the ball, score and dice.

    A standing player is a disc, one on the ground lies flat, a stunned one has stars, one who was used is pale; the
    active one has a ring. ``show_zones`` tints squares by the tackle zones on them.
    """
    s = record(state, STATE)
    width, height = int(s.width), int(s.height)
    canvas = Canvas(width + 2 * _MARGIN, height + _HEADER + _FOOTER, _CROWD)
    pitch = canvas.at(_MARGIN, _HEADER)
    _draw_pitch(pitch, width, height)
    if show_zones:
        _draw_zones(pitch, state)
    for player in range(32):
        if s.square[player]:
            y, x = divmod(int(s.square[player]), width + 2)
            _draw_player(pitch.at(x - 0.5, y - 0.5), s, player)
    if s.ball:
        y, x = divmod(int(s.ball), width + 2)
        _draw_ball(pitch.at(x - 0.5, y - 0.5), carried=bool(s.carrier != NOBODY))
    _draw_header(canvas, s)
    _draw_footer(canvas, s)
    return canvas


def _draw_pitch(pitch: Canvas, width: int, height: int) -> None:
    for x in range(width):
        pitch.rectangle(x, 0, 1.0, height, _STRIPE if x % 2 else _GRASS)
    for team, x in ((HOME, 0), (AWAY, width - 1)):
        pitch.rectangle(x, 0, 1.0, height, mix(_GRASS, _COLOURS[team], 0.45))
    for x in range(1, width):
        pitch.line([(x, 0), (x, height)], _CHALK, 0.015, opacity=0.35)
    for y in range(1, height):
        pitch.line([(0, y), (width, y)], _CHALK, 0.015, opacity=0.35)
    for x in (1, width // 2, width - 1):
        pitch.line([(x, 0), (x, height)], _CHALK, 0.06)
    pitch.line([(0, 0), (width, 0), (width, height), (0, height), (0, 0)], _CHALK, 0.08)


def _draw_zones(pitch: Canvas, state: Bytes) -> None:
    """Tint each square by the zones of each team on it."""
    s = record(state, STATE)
    width = int(s.width)
    for y in range(1, int(s.height) + 1):
        for x in range(1, width + 1):
            for team in (HOME, AWAY):
                count = zones(state, team, y * (width + 2) + x)
                if count:
                    left = x - 1 + (0.0 if team == AWAY else 0.5)
                    pitch.rectangle(left, y - 1, 0.5, 1.0, _COLOURS[team], opacity=min(0.18 * count, 0.7))


def _draw_player(spot: Canvas, s: Any, player: int) -> None:
    """Draw a player around the origin."""
    team = player >> 4
    colour = mix(_COLOURS[team], _PAPER, 0.5) if s.used[player] else _COLOURS[team]
    label = f"{_LETTERS[s.role[player]]}{(player & 15) + 1}"
    if s.active_player == player:
        spot.ellipse(0, 0, 0.48, outline=_GOLD, stroke=0.08)
    if s.defender == player:
        spot.ellipse(0, 0, 0.48, outline="#ffffff", stroke=0.08)
    if s.posture[player] == STANDING:
        spot.ellipse(0, 0.03, 0.4, fill=_INK, opacity=0.4)
        spot.ellipse(0, 0, 0.4, fill=colour, outline=_PAPER, stroke=0.04)
        spot.text(0, 0, label, "#ffffff", 0.34, bold=True)
        return
    spot.ellipse(0, 0.12, 0.44, 0.22, fill=colour, outline=_INK, stroke=0.04)
    spot.text(0, 0.12, label, "#ffffff", 0.26, bold=True)
    if s.posture[player] == STUNNED:
        for x in (-0.22, 0.0, 0.22):
            spot.text(x, -0.22, "*", _GOLD, 0.4, bold=True)


def _draw_ball(spot: Canvas, carried: bool) -> None:
    """Draw the ball around the origin: to the lower right if somebody carries it."""
    at, size = (0.25, 0.95) if carried else (0.0, 1.1)
    ball = spot.at(at, at, size)
    ball.ellipse(0, 0, 0.24, 0.16, fill=_BALL, outline=_INK, stroke=0.03)
    ball.line([(-0.1, 0), (0.1, 0)], _PAPER, 0.03)
    for x in (-0.05, 0.05):
        ball.line([(x, -0.05), (x, 0.05)], _PAPER, 0.025)


def _draw_header(canvas: Canvas, s: Any) -> None:
    """Write the score, then the clock and who is to decide what, then the dice of the last step."""
    _fitted(canvas, 0.45, f"HOME {s.score[HOME]} : {s.score[AWAY]} AWAY", _PAPER, 0.6, bold=True)
    decider = int(s.decider)
    colour = _PAPER if decider == NO_TEAM else mix(_COLOURS[decider], "#ffffff", 0.55)
    _fitted(canvas, 1.0, _status(s), colour, 0.38)
    _fitted(canvas, 1.5, _dice(s), _GOLD, 0.36)


def _fitted(canvas: Canvas, y: float, line: str, colour: str, size: float, bold: bool = False) -> None:
    """Write a centred line, smaller where it would not fit."""
    fits = (canvas.width - 0.3) / max(0.56 * len(line), 1)
    canvas.text(canvas.width / 2, y, line, colour, min(size, fits), bold=bold)


def _status(s: Any) -> str:
    if s.phase == OVER:
        return "the match is over"
    clock = f"half {s.half}/{s.halves}, turns {s.turn[HOME]}-{s.turn[AWAY]}/{s.turns_a_half}"
    what = DECISIONS[s.phase].replace("_", " ")
    if s.phase == ACTIVATION:
        what = str(ACTIVITIES[s.activity])
    elif s.phase == REROLL:
        what += f" of a failed {tasks.NAMES[s.tasks[s.waiting - 1] & 255].replace('_', ' ')}?"
    return f"{clock}   {TEAMS[s.decider]}: {what}"


def _dice(s: Any) -> str:
    """Name the dice of the last step."""
    words = []
    for roll in s.rolls[: s.rolled]:
        kind, value = int(roll) >> 4, int(roll) & 15
        words.append(_SHORT_FACES[_FACE_OF_DIE[value % 6]] if kind == BLOCK_DIE else f"{DICE[kind]}: {value}")
    if s.defender != NOBODY:
        chosen = [face.replace("_", " ") for bit, face in enumerate(FACES) if s.faces >> bit & 1]
        words.append("choose " + " / ".join(chosen))
    return "  ".join(words)


def _draw_footer(canvas: Canvas, s: Any) -> None:
    for team, y in ((HOME, -0.62), (AWAY, -0.25)):
        line = _bench(s, team)
        fits = (canvas.width - 0.4) / (0.56 * len(line))
        canvas.text(0.2, canvas.height + y, line, mix(_COLOURS[team], "#ffffff", 0.6), min(0.32, fits), anchor="start")


def _bench(s: Any, team: int) -> str:
    """Say how many rerolls a team has left, and who is not on the pitch."""
    parts = [f"{s.rerolls[team]} reroll{'s' if s.rerolls[team] != 1 else ''}"]
    for box, word in enumerate(BOXES):
        count = sum(s.box[16 * team + slot] == box for slot in range(s.members[team]))
        if box != ON_PITCH and count:
            parts.append(f"{count} {_WORDS[word]}")
    return f"{TEAMS[team]}: {', '.join(parts)}"


def text(state: Bytes) -> str:
    """Write a state for a terminal: score and clock, the pitch, dice, who is off it.

    A standing player is a capital letter and his number (a for 10 to g for 16), one on the ground a small letter; an
    asterisk is the ball, an exclamation mark its carrier.
    """
    s = record(state, STATE)
    width, height = int(s.width), int(s.height)
    lines = [f"HOME {s.score[HOME]} : {s.score[AWAY]} AWAY   {_status(s)}"]
    lines.append("+" + "-" * (3 * width) + "+")
    at = {int(square): player for player, square in enumerate(s.square) if square}
    for y in range(1, height + 1):
        row = "".join(_cell(s, at, y * (width + 2) + x) for x in range(1, width + 1))
        lines.append(f"|{row}|")
    lines.append("+" + "-" * (3 * width) + "+")
    lines += [line for line in (_dice(s), _bench(s, HOME), _bench(s, AWAY)) if line]
    return "\n".join(lines)


def _cell(s: Any, at: dict[int, int], square: int) -> str:
    """Write a square in three characters."""
    ball = s.ball == square
    player = at.get(square)
    if player is None:
        return " * " if ball else " . "
    letter = _LETTERS[s.role[player]]
    slot = "123456789abcdefg"[player & 15]
    name = f"{letter if s.posture[player] == STANDING else letter.lower()}{slot}{'!' if ball else ' '}"
    return ansi(name, _TERMINAL[player >> 4], bold=s.active_player == player)
