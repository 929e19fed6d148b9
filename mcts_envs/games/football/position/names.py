"""Words of positions: how numbers of the state are called."""

from typing import NamedTuple

from mcts_envs.games.football.rules import layout, tasks

TEAMS = ("home", "away")
BOXES = ("pitch", "reserves", "knocked_out", "casualties", "ejected")
DECISIONS = (
    "setup",
    "kick",
    "touchback",
    "turn",
    "activation",
    "reroll",
    "block_dice",
    "block_reroll",
    "push",
    "follow_up",
    "interception",
    "over",
)
ACTIVITIES = (None, "move", "block", "blitz", "pass", "handoff", "foul")
ONCE_A_TURN = ("blitz", "pass", "handoff", "foul")
FACES = ("attacker_down", "both_down", "push", "stumble", "defender_down")
DICE = ("d3", "d6", "d8", "block")


class Shape(NamedTuple):
    """What a task holds beside its name: ``who`` is a player, a team or None; flags by their bit."""

    who: str | None = None
    square: bool = False
    flags: tuple[tuple[str, int], ...] = ()


_PUSH_FLAGS = (("knocked", tasks.KNOCKED), ("chained", tasks.CHAINED))
SHAPES = {
    "end_activation": Shape("player"),
    "turnover": Shape(),
    "touchdown": Shape("player"),
    "possession": Shape(),
    "bounce": Shape(flags=(("kicked", tasks.KICKED),)),
    "catch": Shape("player", flags=(("bonus", tasks.BONUS), ("kicked", tasks.KICKED))),
    "scatter": Shape(square=True),
    "throw_in": Shape(square=True),
    "knock_down": Shape("player", flags=(("turnover", tasks.TURNS_OVER), ("crowd", tasks.IN_CROWD))),
    "armour": Shape("player"),
    "injury": Shape("player", flags=(("crowd", tasks.IN_CROWD), ("fouled", tasks.FOULED))),
    "eject": Shape("player"),
    "pick_up": Shape("player", True),
    "rush": Shape("player", True),
    "dodge": Shape("player", True),
    "arrive": Shape("player", True),
    "stand_up": Shape("player"),
    "block": Shape("player"),
    "push": Shape("player", True, _PUSH_FLAGS),
    "pushed": Shape("player", True, _PUSH_FLAGS),
    "follow_up": Shape("player", True),
    "interception": Shape("player", True),
    "intercept": Shape("player"),
    "pass": Shape("player", True),
    "foul": Shape("player"),
    "recover": Shape("team"),
    "clear_pitch": Shape(),
    "start_half": Shape(),
    "setup": Shape("team"),
    "kick": Shape("team"),
    "touchback": Shape(),
    "walk": Shape("player", True),
    "strike": Shape("player"),
}
"""What each task holds."""

KICK_OFF = (layout.SETUP, layout.KICK, layout.TOUCHBACK)
"""Decisions before the ball is in play."""

OF_A_BLOCK = (layout.BLOCK_DICE, layout.BLOCK_REROLL, layout.PUSH, layout.FOLLOW_UP)
"""Decisions while a block goes on."""

WAITS_FOR = {
    layout.SETUP: ("setup",),
    layout.KICK: ("kick",),
    layout.REROLL: ("catch", "pick_up", "rush", "dodge", "stand_up", "pass"),
    layout.PUSH: ("push",),
    layout.FOLLOW_UP: ("follow_up",),
    layout.INTERCEPTION: ("interception",),
}
"""Which tasks may wait on top for a decision."""
