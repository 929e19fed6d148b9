"""Picture and text of football-lite."""

from typing import Any

from mcts_envs.core.kernel import record
from mcts_envs.core.render import Canvas, Place, ansi, in_lines, mix
from mcts_envs.core.typing import Bytes
from mcts_envs.games.football.position.names import ACTIVITIES, BOXES, DECISIONS, DICE, FACES, TEAMS
from mcts_envs.games.football.rules import tasks
from mcts_envs.games.football.rules.actions import BLOCKS, FORMATION, FOULS, MOVES, PUSH, START
from mcts_envs.games.football.rules.field import DX, DY, MIRRORED, zones
from mcts_envs.games.football.rules.layout import (
    ACTIVATION,
    AWAY,
    BLOCK_DIE,
    HOME,
    NO_TEAM,
    NOBODY,
    OVER,
    REROLL,
    STANDING,
    STATE,
    STUNNED,
)
from mcts_envs.games.football.sizes import ROLES

_COLOURS = ("#b32a1c", "#2b64c4")
SHOWN_AS = tuple(zip(TEAMS, _COLOURS, strict=True))
_TERMINAL = ("red", "blue")
_GOALS = ("at the left", "at the right")
_GRASS, _STRIPE, _CHALK, _CROWD, _INK, _PAPER = "#74ab58", "#6ca352", "#eaf3e2", "#39443a", "#22301f", "#f4efe4"
_TINTS = tuple(mix(colour, "#ffffff", 0.6) for colour in _COLOURS)
_QUIET = "#b9c2b4"
_BALL, _GOLD = "#8a4b22", "#ffd64a"
_LETTERS = tuple(role[0].upper() for role in ROLES)
_FACE_OF_DIE = (4, 0, 1, 2, 2, 3)
_SHORT_FACES = ("attacker", "both", "push", "stumble", "defender")
_WORDS = {"reserves": "in reserve", "knocked_out": "knocked out", "casualties": "injured", "ejected": "sent off"}
_MARGIN, _HEADER, _FOOTER = 0.5, 2.2, 2.25


def picture(state: Bytes, show_zones: bool = False, seat: int | None = None) -> Canvas:
    """Draw a state: the pitch, players with role letter and number, the ball, score and dice, who is off the pitch.

    An end zone has the colour and the name of the team that defends it, and arrows beside the score point where teams
    score. Squares are numbered as actions and positions name them; where the teams see the pitch from their own side,
    home's columns stand above it and away's below. A standing player is a disc, one on the ground lies flat, a stunned
    one has stars, one who was used is pale; the active one has a ring. ``show_zones`` tints squares by the tackle zones
    on them.
    """
    s = record(state, STATE)
    width, height = int(s.width), int(s.height)
    canvas = Canvas(width + 2 * _MARGIN, height + _HEADER + _FOOTER, _CROWD)
    pitch = canvas.at(_MARGIN, _HEADER)
    _draw_pitch(pitch, width, height)
    columns, home = range(1, width + 1), _TINTS[HOME] if s.mirrored else _QUIET
    pitch.number(reversed(columns) if s.mirrored else columns, range(1, height + 1), home)
    if s.mirrored:
        pitch.at(0, height + 0.42).number(columns, (), _TINTS[AWAY])
    if show_zones:
        _draw_zones(pitch, state)
    for player, square in enumerate(s.square.tolist()):
        if square:
            y, x = divmod(square, width + 2)
            _draw_player(pitch.at(x - 0.5, y - 0.5), s, player)
    if s.ball:
        y, x = divmod(int(s.ball), width + 2)
        _draw_ball(pitch.at(x - 0.5, y - 0.5), carried=bool(s.carrier != NOBODY))
    _draw_header(canvas, s, seat)
    _draw_footer(canvas.at(0, height + _HEADER + 0.62), s)
    return canvas


def where(state: Bytes, player: int, action: int) -> Place | None:
    """Return the square of the player, or the square, that an action names; None where it names none."""
    s = record(state, STATE)
    width, kind = int(s.width), (action - START) // int(s.squad)
    if PUSH <= action < FORMATION:
        task = int(s.tasks[int(s.waiting) - 1])
        way = MIRRORED[action - PUSH] if s.mirrored and player == HOME else action - PUSH
        square = int(s.square[task >> 8 & 255]) + int(DY[way]) * (width + 2) + int(DX[way])
    elif action < START:
        return None
    elif kind < MOVES:
        team = 1 - player if kind in (BLOCKS, FOULS) else player
        square = int(s.square[16 * team + (action - START) % int(s.squad)])
    else:
        y, x = divmod((action - START - MOVES * int(s.squad)) % (width * int(s.height)), width)
        square = (y + 1) * (width + 2) + (width - x if s.mirrored and player == HOME else x + 1)
    y, x = divmod(square, width + 2)
    inside = 1 <= x <= width and 1 <= y <= int(s.height)
    return (_MARGIN + x - 1, _HEADER + y - 1, 1.0, 1.0) if inside else None


def _draw_pitch(pitch: Canvas, width: int, height: int) -> None:
    for x in range(width):
        pitch.rectangle(x, 0, 1.0, height, _STRIPE if x % 2 else _GRASS)
    for team, x in ((AWAY, 0), (HOME, width - 1)):
        pitch.rectangle(x, 0, 1.0, height, mix(_GRASS, _COLOURS[team], 0.6))
        for i, letter in enumerate(TEAMS[team].upper()):
            pitch.text(x + 0.5, height / 2 + (i - 1.5) * 0.6, letter, _TINTS[team], 0.42, bold=True, opacity=0.8)
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
    if s.active_player == player:
        spot.ellipse(0, 0, 0.48, outline=_GOLD, stroke=0.08)
    if s.defender == player:
        spot.ellipse(0, 0, 0.48, outline="#ffffff", stroke=0.08)
    if s.posture[player] == STANDING:
        spot.ellipse(0, 0.03, 0.4, fill=_INK, opacity=0.4)
        _draw_disc(spot, s, player, colour)
        return
    spot.ellipse(0, 0.12, 0.44, 0.22, fill=colour, outline=_INK, stroke=0.04)
    spot.text(0, 0.12, _label(s, player), "#ffffff", 0.26, bold=True)
    if s.posture[player] == STUNNED:
        for x in (-0.22, 0.0, 0.22):
            spot.text(x, -0.22, "*", _GOLD, 0.4, bold=True)


def _draw_disc(spot: Canvas, s: Any, player: int, colour: str) -> None:
    spot.ellipse(0, 0, 0.4, fill=colour, outline=_PAPER, stroke=0.04)
    spot.text(0, 0, _label(s, player), "#ffffff", 0.34, bold=True)


def _label(s: Any, player: int) -> str:
    """Return the letter of the player's role and his number in the team."""
    return f"{_LETTERS[s.role[player]]}{(player & 15) + 1}"


def _draw_ball(spot: Canvas, carried: bool) -> None:
    """Draw the ball around the origin: to the lower right if somebody carries it."""
    at, size = (0.25, 0.95) if carried else (0.0, 1.1)
    ball = spot.at(at, at, size)
    ball.ellipse(0, 0, 0.24, 0.16, fill=_BALL, outline=_INK, stroke=0.03)
    ball.line([(-0.1, 0), (0.1, 0)], _PAPER, 0.03)
    for x in (-0.05, 0.05):
        ball.line([(x, -0.05), (x, 0.05)], _PAPER, 0.025)


def _draw_header(canvas: Canvas, s: Any, seat: int | None) -> None:
    """Write the score between arrows to where teams score, then who is to decide what, then the last step's dice."""
    reach = _fitted(canvas, 0.45, _score(s, seat), _PAPER, 0.6, bold=True, room=2.2) / 2 + 0.2
    for team, way in ((HOME, -1), (AWAY, 1)):
        x = canvas.width / 2 + way * reach
        canvas.polygon([(x, 0.27), (x, 0.63), (x + 0.5 * way, 0.45)], _COLOURS[team], outline=_PAPER, stroke=0.04)
    decider = int(s.decider)
    colour = _PAPER if decider == NO_TEAM else mix(_COLOURS[decider], "#ffffff", 0.55)
    _fitted(canvas, 1.0, _status(s), colour, 0.38)
    _fitted(canvas, 1.5, _dice(s), _GOLD, 0.36)


def _fitted(
    canvas: Canvas, y: float, line: str, colour: str, size: float, *, bold: bool = False, room: float = 0.3
) -> float:
    """Write a centred line, smaller where it would not fit and leave this room; return its length."""
    fits = (canvas.width - room) / max(0.56 * len(line), 1)
    return canvas.text(canvas.width / 2, y, line, colour, min(size, fits), bold=bold)


def _score(s: Any, seat: int | None) -> str:
    home, away = (f"{TEAMS[team].upper()}{' (you)' if team == seat else ''}" for team in (HOME, AWAY))
    return f"{home} {s.score[HOME]} : {s.score[AWAY]} {away}"


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


def _draw_footer(place: Canvas, s: Any) -> None:
    """Draw for each team its rerolls and who is not on the pitch, then what the letters mean."""
    lines = [lambda there, team=team: _draw_bench(there, s, team) for team in (HOME, AWAY)]
    legend = ", ".join([*_legend(s), "arrows: where a team scores"])
    lines.append(lambda there: there.text(0, 0, legend, _PAPER, 0.28, anchor="start"))
    for row, draw in enumerate(lines):
        length = draw(Canvas(place.width, 1))
        draw(place.at(0.2, 0.2 + 0.58 * row, min(1.0, (place.width - 0.4) / length)))


def _draw_bench(place: Canvas, s: Any, team: int) -> float:
    """Draw the players of a team who are not on the pitch behind words from the origin on; return the length."""
    x = place.text(0, 0, f"{TEAMS[team]}: {_rerolls(s, team)}", _TINTS[team], 0.32, anchor="start")
    for word, players in _off_pitch(s, team):
        x += place.text(x + 0.3, 0, word, _TINTS[team], 0.28, anchor="start") + 0.4
        for player in players:
            _draw_disc(place.at(x + 0.24, 0, 0.6), s, player, _COLOURS[team])
            x += 0.52
    return x


def _rerolls(s: Any, team: int) -> str:
    return f"{s.rerolls[team]} reroll{'s' if s.rerolls[team] != 1 else ''}"


def _off_pitch(s: Any, team: int) -> list[tuple[str, list[int]]]:
    """Return where players of a team are who are not on the pitch, and who they are."""
    members = range(16 * team, 16 * team + int(s.members[team]))
    boxes = s.box.tolist()
    found = [(_WORDS.get(name, ""), [p for p in members if boxes[p] == box]) for box, name in enumerate(BOXES)]
    return [(word, players) for word, players in found if word and players]


def _legend(s: Any) -> list[str]:
    """Return what the letters of the players mean."""
    roles = {int(s.role[16 * team + slot]) for team in (HOME, AWAY) for slot in range(s.members[team])}
    return [f"{_LETTERS[role]} {ROLES[role]}" for role in sorted(roles)]


def text(state: Bytes, seat: int | None = None) -> str:
    """Write a state for a terminal: score and clock, the pitch, dice, who is off it, a legend.

    A standing player is a capital letter and his number (a for 10 to g for 16), one on the ground a small letter; an
    asterisk is the ball, an exclamation mark its carrier; colons are the end zones.
    """
    s = record(state, STATE)
    width, height = int(s.width), int(s.height)
    lines = in_lines([_score(s, seat), _status(s)], "   ")
    lines.append(
        ", ".join(f"{ansi(TEAMS[team], _TERMINAL[team], bold=True)} scores {_GOALS[team]}" for team in (HOME, AWAY))
    )
    columns = [f"{x:2} " for x in range(1, width + 1)]
    above, below = ("".join(each).rstrip() for each in (columns[::-1] if s.mirrored else columns, columns))
    lines.append("  " + (ansi(above, _TERMINAL[HOME]) if s.mirrored else above))
    at = {int(square): player for player, square in enumerate(s.square) if square}
    ball = int(s.ball)
    for y in range(1, height + 1):
        row = range(y * (width + 2) + 1, y * (width + 2) + width + 1)
        cells = (_cell(s, at.get(i), i == ball, i in (row[0], row[-1])) for i in row)
        lines.append(f"{y:2}" + "".join(cells))
    lines += ["  " + ansi(below, _TERMINAL[AWAY])] if s.mirrored else []
    lines += in_lines(_dice(s).split("  "), "  ") if s.rolled or s.defender != NOBODY else []
    lines += [_bench(s, HOME), _bench(s, AWAY)]
    marks = ["small letter: on the ground", "* ball", "! has it", ": end zone"]
    marks += ["a to g: 10 to 16"] if max(s.members) > 9 else []
    return "\n".join([*lines, *in_lines([*_legend(s), *marks], ", ")])


def _bench(s: Any, team: int) -> str:
    """Say how many rerolls a team has left, and how many players are not on the pitch."""
    off = [f"{len(players)} {word}" for word, players in _off_pitch(s, team)]
    return f"{TEAMS[team]}: {', '.join([_rerolls(s, team), *off])}"


def _cell(s: Any, player: int | None, ball: bool, end_zone: bool) -> str:
    """Write a square in three characters: who stands there, and whether the ball is there."""
    if player is None:
        return " * " if ball else " : " if end_zone else " . "
    letter = _LETTERS[s.role[player]]
    slot = "123456789abcdefg"[player & 15]
    name = f"{letter if s.posture[player] == STANDING else letter.lower()}{slot}{'!' if ball else ' '}"
    return ansi(name, _TERMINAL[player >> 4], bold=s.active_player == player)
