"""Whether a position is consistent: the decision, whose it is, who acts, and what is still to happen."""

from typing import Any

from mcts_envs.core.kernel import record
from mcts_envs.core.typing import Bytes
from mcts_envs.games.football.position.names import DECISIONS, KICK_OFF, OF_A_BLOCK, SHAPES, TEAMS, WAITS_FOR
from mcts_envs.games.football.position.reading import square as square_of
from mcts_envs.games.football.position.reading import who as name_of
from mcts_envs.games.football.rules import tasks
from mcts_envs.games.football.rules.activation import has_options
from mcts_envs.games.football.rules.ball import can_reroll, interceptors
from mcts_envs.games.football.rules.field import distance, in_end_zone, is_outside, on, scores
from mcts_envs.games.football.rules.layout import (
    ACTIVATION,
    BLITZ,
    BLOCK,
    BLOCK_DICE,
    BLOCK_REROLL,
    DOWN,
    FOLLOW_UP,
    INTERCEPTION,
    KICK,
    NO_TEAM,
    NOBODY,
    ON_PITCH,
    OVER,
    PLAYERS,
    REROLL,
    STANDING,
    STATE,
    TOUCHBACK,
    TURN,
)
from mcts_envs.games.football.rules.match import kicks_first, receivers

_STANDS = ("catch", "intercept", "pick_up", "dodge", "rush", "arrive", "walk", "pass", "follow_up", "block")
_STEPS, _OF_A_PASS = ("dodge", "rush", "arrive", "walk"), ("pass", "interception")
_BELOW = ("turnover", "touchdown", "possession", "bounce", "throw_in", "knock_down", "block", "pushed", "pass")
_BESIDE_SQUARE, _BESIDE_ACTIVE = ("push", "pushed", "follow_up"), ("block", "foul", "strike")


def check_position(state: Bytes) -> None:
    """Check that the decision of a position fits the rest of it.

    Raises
    ------
    ValueError
    """
    s = record(state, STATE)
    _check_waits(s)
    if s.phase == OVER:
        return
    _check_whose(state)
    _check_active(state)
    waiting = _check_pending(state)
    _check_block(s)
    _check_players(state, waiting)
    _check_choice(state)


def _word(s: Any) -> str:
    return f"position['decision'] {DECISIONS[s.phase]!r}"


def _check_waits(s: Any) -> None:
    """Check that what is pending on top is what the decision is about."""
    top = tasks.NAMES[s.tasks[s.waiting - 1] & 255] if s.waiting else None
    known = WAITS_FOR.get(int(s.phase), ())
    if known and top not in known:
        raise ValueError(f"{_word(s)} waits for a pending {' or '.join(known)}; the last one is {top!r}")
    if s.phase in (TURN, ACTIVATION, TOUCHBACK) and s.waiting:
        raise ValueError(f"{_word(s)} leaves nothing pending; the last task is {top!r}")


def _check_whose(state: Bytes) -> None:
    """Check who decides, and on whose turn."""
    s = record(state, STATE)
    phase = int(s.phase)
    if s.decider == NO_TEAM:
        raise ValueError("position['to_act'] None: 'home' or 'away' must act")
    if phase in KICK_OFF:
        if s.side != NO_TEAM:
            raise ValueError(f"position['side'] {TEAMS[s.side]!r}: nobody is on turn before a kick-off; give None")
        kicker = int(s.kicker)
        own = {KICK: kicker, TOUCHBACK: 1 - kicker}.get(phase, int(s.tasks[max(int(s.waiting), 1) - 1]) >> 8 & 255)
        if s.decider != own:
            raise ValueError(f"position['to_act'] {TEAMS[s.decider]!r}: {_word(s)} is that of {TEAMS[own]!r} here")
        if s.reroll_used or s.blitz_used or s.pass_used or s.handoff_used or s.foul_used:
            raise ValueError("position['spent'], position['reroll_used']: before a kick-off nothing of a turn is spent")
        _check_turns(state, (0, 1), "before a kick-off")
        return
    if s.side == NO_TEAM or (phase not in (BLOCK_DICE, INTERCEPTION) and s.decider != s.side):
        raise ValueError(f"position['to_act']: the decision {DECISIONS[phase]!r} is that of the side on turn")
    if phase == INTERCEPTION and s.decider == s.side:
        raise ValueError(f"position['to_act'] {TEAMS[s.decider]!r}: the other side decides who intercepts")
    more = int(s.side != kicks_first(state, s.half))
    _check_turns(state, (more,), f"on the turn of {TEAMS[s.side]!r}")


def _check_turns(state: Bytes, more: tuple[int, ...], when: str) -> None:
    """Check how many more turns the team has begun that has the first of the half."""
    s = record(state, STATE)
    first = 1 - int(kicks_first(state, s.half))
    if int(s.turn[first]) - int(s.turn[1 - first]) not in more:
        raise ValueError(
            f"position['turn_counters'] {s.turn.tolist()}: {TEAMS[first]!r} has the first turn of half {s.half} "
            f"(opening_kicker {TEAMS[s.opening_kicker]!r}), so {when} it has begun {' or '.join(map(str, more))} more "
            "than the other"
        )


def _check_active(state: Bytes) -> None:
    """Check who is active and whom he blocks."""
    s = record(state, STATE)
    phase, active = int(s.phase), int(s.active_player)
    blocks = phase in (BLOCK_DICE, BLOCK_REROLL)
    if blocks and (s.defender == NOBODY or active == NOBODY):
        raise ValueError(f"position['block'] and position['active'] must say who blocks whom for {DECISIONS[phase]!r}")
    acts = phase != TURN and phase not in KICK_OFF
    if acts != (active != NOBODY):
        raise ValueError(f"position['active'] must {'say who acts' if acts else 'be None'} for {DECISIONS[phase]!r}")
    if not blocks and s.defender != NOBODY:
        raise ValueError(f"position['block'] must be None for {DECISIONS[phase]!r}")
    if not acts:
        return
    ends = any(int(task) & 255 == tasks.TURNOVER for task in s.tasks[: s.waiting])
    if active >> 4 != s.side or (not s.square[active] and not ends):
        raise ValueError(f"position['active']['player'] {name_of(active)} is not on the pitch for {TEAMS[s.side]}")
    if blocks and not _blocks(state, active, int(s.defender)):
        raise ValueError(f"position['block']['defender'] {name_of(s.defender)} does not stand next to the attacker")


def _check_block(s: Any) -> None:
    """Check that a block which is going on is the only one of its activation."""
    waiting = [int(task) & 255 for task in s.tasks[: s.waiting]]
    if s.phase not in OF_A_BLOCK or tasks.TURNOVER in waiting:
        return
    if s.activity not in (BLOCK, BLITZ):
        raise ValueError(f"position['active']['activity'] must be 'block' or 'blitz' for {DECISIONS[s.phase]!r}")
    if s.posture[s.active_player] != STANDING:
        raise ValueError(f"{name_of(s.active_player)} must stand for {DECISIONS[s.phase]!r}")
    if s.activity == BLITZ and not s.blocked:
        raise ValueError(f"position['active']['blocked'] must be True for {DECISIONS[s.phase]!r}: one block a blitz")
    if s.activity == BLOCK and tasks.END_ACTIVATION not in waiting:
        raise ValueError(
            f"position['pending'] must have an 'end_activation' of {name_of(s.active_player)}, who may only block"
        )


def _blocks(state: Bytes, attacker: int, defender: int) -> bool:
    s = record(state, STATE)
    far = not s.square[defender] or distance(state, int(s.square[attacker]), int(s.square[defender])) != 1
    return defender >> 4 != attacker >> 4 and not far and bool(s.posture[defender] == STANDING)


def _check_pending(state: Bytes) -> list[int]:
    """Check what is pending; return what counts of it, packed: with a turnover, all below is dropped."""
    s = record(state, STATE)
    waiting = [int(task) for task in s.tasks[: s.waiting]]
    ends = [i for i, task in enumerate(waiting) if task & 255 == tasks.TURNOVER]
    first = ends[-1] if ends else 0
    _check_order(s, waiting, first)
    for i in range(first, len(waiting)):
        _check_task(state, f"position['pending'][{i}]", waiting[i], waiting[i + 1] if i + 1 < len(waiting) else None)
    _check_way(state, waiting, first)
    return waiting[first:]


def _check_order(s: Any, waiting: list[int], first: int) -> None:
    """Check that each task can wait where it is: of a kick-off, or of one activation, which ends last."""
    kicker, ends = int(s.kicker), tasks.END_ACTIVATION | int(s.active_player) << 8
    if s.phase in KICK_OFF:
        known = [tasks.KICK | kicker << 8, tasks.SETUP | (1 - kicker) << 8, tasks.SETUP | kicker << 8]
        if waiting != known[: len(waiting)]:
            raise ValueError(f"position['pending'] must be the kick of {TEAMS[kicker]!r}, then who sets up before")
        return
    words = [tasks.NAMES[task & 255] for task in waiting]
    walks = any(word in ("dodge", "arrive", "walk") for word in words[first:])
    fits = (*_STEPS, "strike") if walks else (*_BELOW, "strike")
    for i in range(first, len(words)):
        top = i == len(words) - 1 and not walks and int(s.phase) in WAITS_FOR
        if not top and words[i] not in fits and (i > 0 or waiting[0] != ends):
            raise ValueError(f"position['pending'][{i}]: a task {words[i]!r} cannot wait there for {_word(s)}")


def _check_way(state: Bytes, waiting: list[int], first: int) -> None:
    """Check that the active player walks, from square to square."""
    s = record(state, STATE)
    here = int(s.square[s.active_player]) if s.active_player != NOBODY else 0
    for i in reversed(range(first, len(waiting))):
        word, player, square = tasks.NAMES[waiting[i] & 255], waiting[i] >> 8 & 255, waiting[i] >> 16 & tasks.SQUARE
        if word not in _STEPS:
            continue
        name = f"position['pending'][{i}]"
        if player != s.active_player:
            raise ValueError(f"{name}: {name_of(player)} cannot {word!r}; only the active player moves")
        if distance(state, here, square) > 1:
            raise ValueError(f"{name}['square'] {square_of(s, square)} is not next to {square_of(s, here)}")
        here = square


def _check_task(state: Bytes, name: str, task: int, after: int | None) -> None:
    """Check that a task is about somebody who can do it, on a square where it can happen."""
    s = record(state, STATE)
    word, player, detail = tasks.NAMES[task & 255], task >> 8 & 255, task >> 16
    shape = SHAPES[word]
    square = detail & tasks.SQUARE if shape.square else 0
    if shape.who == "player":
        crowd = word in ("knock_down", "injury") and bool(detail & tasks.IN_CROWD)
        if crowd == bool(s.square[player]):
            place = "in the 'crowd'" if crowd else "on the pitch"
            raise ValueError(f"{name}: {name_of(player)} must be {place} for {word!r}")
        if word in _STANDS and s.posture[player] != STANDING:
            raise ValueError(f"{name}: {name_of(player)} must stand for {word!r}")
    if shape.square and word != "pushed" and is_outside(state, square):
        raise ValueError(f"{name}['square'] {square_of(s, square)} is off the pitch")
    other = int(s.square[s.active_player]) if word in _BESIDE_ACTIVE else square
    if word == "strike" and after is not None and tasks.NAMES[after & 255] in ("walk", "arrive"):
        other = after >> 16 & tasks.SQUARE
    if word in _BESIDE_SQUARE + _BESIDE_ACTIVE and distance(state, int(s.square[player]), other) != 1:
        raise ValueError(
            f"{name}: {name_of(player)} on {square_of(s, s.square[player])} is not next to "
            f"{square_of(s, other)}, as {word!r} has it"
        )
    taken = shape.square and on(state, square) < 2 * DOWN
    if taken and word == "pushed":
        taken = after is None or after >> 8 & 255 != on(state, square) & (DOWN - 1)
    elif taken:
        taken = word in ("arrive", "dodge", "walk", "follow_up") or (word == "rush" and square != s.square[player])
    if taken:
        raise ValueError(f"{name}['square'] {square_of(s, square)} is taken; {word!r} needs a free one")
    if word in ("catch", "pick_up", *_OF_A_PASS) and (s.carrier != NOBODY or s.ball != s.square[player]):
        raise ValueError(f"{name}: for {word!r}, the ball must be on the square of {name_of(player)}, not carried")
    if word == "bounce" and not s.ball:
        raise ValueError(f"{name}: for 'bounce', position['ball'] must say where the ball is, not None")


def _check_players(state: Bytes, waiting: list[int]) -> None:
    """Check who is in the crowd, on the pitch before a kick-off, and on the square of a loose ball."""
    s = record(state, STATE)
    hurt = {task >> 8 & 255 for task in waiting if task & 255 in (tasks.KNOCK_DOWN, tasks.INJURY)}
    setting_up = {task >> 8 & 255 for task in waiting if task & 255 == tasks.SETUP}
    for player in range(PLAYERS):
        team, here = player >> 4, int(s.square[player])
        member = (player & 15) < s.members[team]
        if member and s.box[player] == ON_PITCH and not here and player not in hurt:
            raise ValueError(
                f"{name_of(player)} is in the 'crowd'; only who was just pushed there is, with a pending "
                "knock_down or injury; give 'reserves' or another box"
            )
        if here and team in setting_up:
            raise ValueError(f"{name_of(player)} is on the pitch, but {TEAMS[team]} is to set up; give 'reserves'")
        if here and s.phase in KICK_OFF and in_end_zone(state, player):
            raise ValueError(
                f"{name_of(player)} on {square_of(s, here)} is where he scores; before a kick-off all are in their half"
            )
        if s.used[player] and s.side != team and (here or s.side != NO_TEAM):
            raise ValueError(
                f"{name_of(player)} is 'used'; only players of the team on turn are, or reserves before a kick"
            )
        if here and here == s.ball and s.carrier == NOBODY and s.phase in (TURN, ACTIVATION):
            raise ValueError(
                f"the ball lies on {square_of(s, here)}, where {name_of(player)} is; who stands there "
                "carries it: 'carried': True, and off who lies there it bounces"
            )
    if s.carrier != NOBODY and s.phase != FOLLOW_UP and scores(state, s.carrier):
        raise ValueError(f"position['ball'] {square_of(s, s.ball)} is where {name_of(s.carrier)}, who has it, scores")


def _check_choice(state: Bytes) -> None:
    """Check that there is something to choose from."""
    s = record(state, STATE)
    phase, active = int(s.phase), int(s.active_player)
    if active != NOBODY and s.used[active]:
        raise ValueError(f"position['active']['player'] {name_of(active)} was used in this turn already")
    if phase == ACTIVATION and not has_options(state):
        raise ValueError(
            "position: the active player has no option but to end his activation, which he does by himself"
        )
    if phase in (REROLL, BLOCK_REROLL) and not can_reroll(state):
        raise ValueError(f"{_word(s)}: no reroll is left in this turn")
    if phase == TOUCHBACK and not receivers(state):
        raise ValueError(f"{_word(s)}: the receiving side has nobody on the pitch who stands")
    if phase == INTERCEPTION:
        task = int(s.tasks[s.waiting - 1])
        if not interceptors(state, task >> 8 & 255, task >> 16):
            raise ValueError(f"{_word(s)}: nobody can intercept this pass")
