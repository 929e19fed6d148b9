"""Settings and environments of football-lite."""

from functools import partial
from typing import Any

from mcts_envs.core import errors
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.vector import vectorized
from mcts_envs.core.contract import Game, blank
from mcts_envs.core.kernel import record
from mcts_envs.core.typing import Symmetries
from mcts_envs.games.football import draw
from mcts_envs.games.football.players import models, ordering, random_players, scripted, tactical, values
from mcts_envs.games.football.position.names import ACTIVITIES, FACES, TEAMS
from mcts_envs.games.football.position.placing import place
from mcts_envs.games.football.position.reading import position
from mcts_envs.games.football.presets import presets
from mcts_envs.games.football.rules import kernels as rules
from mcts_envs.games.football.rules import legal, observe
from mcts_envs.games.football.rules.layout import NO_TEAM, STATE
from mcts_envs.games.football.rules.paths import LONG_STATE
from mcts_envs.games.football.settings import read_formations, read_squads, write_formations, write_pitch, write_squads
from mcts_envs.games.football.sizes import SIZES
from mcts_envs.games.football.symmetries import symmetries

ORIENTATIONS = ("absolute", "mirrored")
MOVEMENTS = ("step", "path")

_NAMES = (
    "end turn",
    "end activation",
    "stand up",
    "use reroll",
    "decline reroll",
    *(f"take {face.replace('_', ' ')}" for face in FACES),
    "no interception",
    "follow up",
    "stay",
    *(f"push {way}" for way in ("up left", "up", "up right", "left", "right", "down left", "down", "down right")),
    *(f"formation {number}" for number in range(1, 5)),
)
_WITH_SLOT = (
    *(f"start {activity} with" for activity in ACTIVITIES[1:]),
    "block opponent",
    "foul opponent",
    "hand to",
    "select",
)


def football(
    size: int = 11,
    movement: str = "step",
    orientation: str = "mirrored",
    squads: Any = None,
    formations: Any = None,
    first_kicker: str | None = None,
    halves: int = 2,
    turns: int = 8,
    rerolls: int | None = None,
    max_steps: int = 0,
    reward_touchdown: float = 0.0,
    skip_forced: bool = True,
    show_zones: bool = False,
) -> Game:
    """Return the game with these settings; :class:`Football` describes them.

    Raises
    ------
    ValueError, TypeError
        If a setting is out of its bounds.
    """
    size = _check_names(size, movement, orientation, first_kicker)
    rules_of_size = SIZES[size]
    width, height = rules_of_size.width, rules_of_size.height
    layout = LONG_STATE if movement == "path" else STATE
    state = blank(layout, 0 if movement == "path" else (width + 2) * (height + 2))
    s = record(state, STATE)
    write_pitch(s, rules_of_size)
    _write_length(s, halves, turns, rerolls, max_steps)
    s.first_kicker = NO_TEAM if first_kicker is None else TEAMS.index(first_kicker)
    s.reward_touchdown = errors.number("reward_touchdown", reward_touchdown, -1e6, 1e6)
    s.skip_forced = errors.flag("skip_forced", skip_forced)
    s.mirrored, s.paths = orientation == "mirrored", movement == "path"
    write_squads(s, read_squads(rules_of_size, squads))
    write_formations(s, read_formations(rules_of_size, formations))
    cells = width * height
    actions = 25 + 10 * int(s.squad) + 2 * cells
    mirrored = partial(symmetries, width, height, actions=actions)
    return Game(
        name=f"football{size}",
        players=2,
        actions=actions,
        template=state,
        layout=layout,
        first_field="ma",
        reset=rules.reset,
        active=rules.active,
        legal=legal.legal,
        step=rules.step,
        status=rules.status,
        outcome=rules.outcome,
        key=rules.key,
        evaluate=values.evaluate,
        advise=scripted.advise_scripted,
        observe=observe.observe,
        observation_shape=(observe.PLANES * cells + observe.NUMBERS,),
        symmetries=mirrored(observe.PLANES, observe.NUMBERS),
        position=position,
        place=place,
        picture=partial(draw.picture, show_zones=errors.flag("show_zones", show_zones)),
        text=draw.text,
        where=draw.where,
        shown_as=draw.SHOWN_AS,
        action_name=partial(action_name, width, height, int(s.squad), orientation == "mirrored"),
        variants=_variants(width, height, mirrored(observe.PLANES + observe.NUMBERS, 0)),
        presets=presets(size),
    )


def _check_names(size: Any, movement: Any, orientation: Any, first_kicker: Any) -> int:
    """Check the settings that are one of a few; return the size as an int.

    Raises
    ------
    ValueError, TypeError
        If one is none of them.
    """
    size = errors.integer("size", size, 1, 11)
    if size not in SIZES:
        raise ValueError(f"size {size} is none of {', '.join(map(str, SIZES))}")
    for name, word, known in (("movement", movement, MOVEMENTS), ("orientation", orientation, ORIENTATIONS)):
        errors.choice(name, word, known)
    if first_kicker is not None:
        errors.choice("first_kicker", first_kicker, TEAMS)
    return size


def _write_length(s: Any, halves: Any, turns: Any, rerolls: Any, max_steps: Any) -> None:
    """Write how long a match is, and how many rerolls a half has.

    Raises
    ------
    ValueError, TypeError
        If they are out of their bounds.
    """
    if rerolls is not None:
        s.stock = errors.integer("rerolls", rerolls, 0, 99)
    s.halves = halves = errors.integer("halves", halves, 1, 9)
    s.turns_a_half = turns = errors.integer("turns", turns, 1, 99)
    if halves * turns > 99:
        raise ValueError(f"halves {halves} of {turns} turns make {halves * turns}; at most 99 in a match can be scored")
    s.max_steps = errors.integer("max_steps", max_steps, 0, 10**9)


def _variants(width: int, height: int, symmetries_of_planes: Symmetries) -> dict[str, dict[str, Any]]:
    """Return the named replacements of a game on a pitch."""
    tactics = {"advise": tactical.advise_tactical, "legal": tactical.legal_tactical}
    return {
        "planes": {
            "observe": observe.observe_planes,
            "observation_shape": (observe.PLANES + observe.NUMBERS, height, width),
            "symmetries": symmetries_of_planes,
        },
        "tutorial": {"step": models.step_tutorial, "evaluate": values.evaluate_tutorial},
        "tutorial_turn": {
            "step": models.step_tutorial_turn,
            "evaluate": values.evaluate_tutorial,
            "advise": random_players.advise_random_types,
        },
        "tactical": tactics,
        "tactical_fitted": {**tactics, "evaluate": values.evaluate_fitted},
        "ordered": {"advise": ordering.advise_ordered},
        "random_types": {"advise": random_players.advise_random_types},
        "random_active": {"advise": random_players.advise_random_active},
    }


def action_name(width: int, height: int, squad: int, mirrored: bool, action: int) -> str:
    """Name an action: ``"end turn"``, ``"start blitz with 3"`` (numbers from 1), ``"move to 5,2"`` (x, y).

    Where home sees the pitch mirrored, its right is the left of the picture: ways are forward and back instead.
    """
    action = int(action)
    if action < len(_NAMES):
        name = _NAMES[action]
        return name.replace("left", "back").replace("right", "forward") if mirrored else name
    kind, slot = divmod(action - len(_NAMES), squad)
    if kind < len(_WITH_SLOT):
        return f"{_WITH_SLOT[kind]} {slot + 1}"
    aim, place = divmod(action - len(_NAMES) - squad * len(_WITH_SLOT), width * height)
    return f"{'ball' if aim else 'move'} to {place % width + 1},{place // width + 1}"


class Football(GameEnv):
    """Football-lite: two teams, dice, and turns of many small decisions.

    ## Description
    The core of a fantasy-football board game, without its skills, weather and events: the part on which the search
    tutorial of the botbowl engine rests. Home scores on x = 1, away on x = `width`; columns and rows count from 1, rows
    grow downwards. Five sizes:

    | size | pitch | squad, on the pitch | rerolls a half | actions |
    |---|---|---|---|---|
    | 1 | 4 x 3 | 2, 1 | 3 | 69 |
    | 3 | 12 x 5 | 4, 3 | 1 | 185 |
    | 5 | 16 x 9 | 6, 5 | 2 | 373 |
    | 7 | 20 x 9 | 8, 7 | 3 | 465 |
    | 11 | 26 x 15 | 12, 11 | 3 | 925 |

    - *Match*: two halves of eight turns for each team. A half begins with set-ups by formation (the kicking side first;
      who sat out the drive before plays first) and a kick that scatters and bounces; if it leaves the receiving half,
      the receivers give the ball to a player. A touchdown ends the turn; who scored kicks off again if the other team
      has a turn left. Knocked-out players come back on a 4+ before a kick-off.
    - *Turn*: each player is activated at most once, to move, block, blitz (move and one block), pass, hand off, or foul;
      one blitz, pass, hand-off and foul a turn. It ends when the coach ends it, or by a turnover: an own player falls,
      the ball is not picked up, a pass or hand-off does not end with the team, or a fouler is sent off.
    - *Moves*: as many squares as the movement allowance (MA) says, then up to two rushes on 2+. Who leaves a square in
      an opposing tackle zone (next to a standing opponent) must dodge. Standing up costs 3 squares; with an MA below 3
      it takes a 4+.
    - *Rolls* of a d6 against agility (AG): 1 fails, 6 succeeds, else die + modifiers must reach 7 - AG. Dodge and
      pick-up: +1, -1 for each opposing zone on the square. Catch: +1 after an accurate throw, -1 for each zone. Pass:
      +1 quick, 0 short, -1 long, -2 bomb, -1 for each zone. Interception: -2, -1 for each zone.
    - *Blocks*: strengths (ST) with assists decide on one, two or three dice, and whose coach chooses the face: attacker
      down, both down, push (twice), stumble, defender down. Pushes go to a free square away from the attacker, else off
      the pitch, else into somebody who is pushed on. The attacker may follow up.
    - *Falls*: 2d6 above the armour (AV) break it; then 2 to 7 is stunned, 8 and 9 knocked out, 10 and more a casualty.
    - *Rerolls*: one a turn, of a failed dodge, rush, pick-up, catch, pass, standing up, or of all block dice.

    With `movement="path"` a move goes to any square that can be reached, by the safest way, square by square, and a
    block of a blitz, a hand-off or a foul may begin with a walk; the way ends at the ball and in the end zone.

    Decisions with one option are skipped, except the end of a turn (`skip_forced=False`: none is); an activation in
    which nothing is left to do ends by itself.

    ## Action Space
    `Discrete(25 + 10 R + 2 W H)`, R players in a squad, W x H squares numbered row by row:

    | numbers | action |
    |---|---|
    | 0 to 4 | end turn, end activation, stand up, use reroll, decline reroll |
    | 5 to 9 | take a face: attacker down, both down, push, stumble, defender down |
    | 10 to 12 | no interception, follow up, stay |
    | 13 to 20 | push up back, up, up forward, back, forward, down back, down, down forward |
    | 21 to 24 | formation |
    | 25 + k R + i | begin a move, block, blitz, pass, hand-off, foul (k = 0 to 5) with own player i |
    | 25 + 6 R + i | block opponent i |
    | 25 + 7 R + i | foul opponent i |
    | 25 + 8 R + i | hand the ball to own player i |
    | 25 + 9 R + i | give the ball to, or intercept with, own player i |
    | 25 + 10 R + q | move to square q |
    | 25 + 10 R + W H + q | kick or pass to square q |

    An illegal action counts as the first legal one (a square that cannot be reached in path mode: as the end of the
    activation). With `orientation="mirrored"`, the default, squares and directions are those that the team sees when it
    attacks to the right: for home, mirrored. `"absolute"` keeps those of the pitch, for observations too; back and
    forward are left and right then.

    ## Observation Space
    `Box(0, 1, (24 W H + 53,), float32)`. Planes, row by row: seven for the own players (1 standing, 0.5 lying;
    stunned; used; squares left to move, rushes included, / 12; ST, AG, AV / 12), seven for the opponents, own and
    opposing tackle zones / 8, the ball, whether it is carried, the active player, the defender of the block being
    decided, the end zone to score in and the one to defend; then whom a reroll, push, follow-up or interception is
    about (of an interception the passer), and the square: where he steps, stays or throws, or where whoever pushes him
    stands. Then numbers: as ones among zeros the decision (set-up, kick, touchback, turn, activation, reroll, block
    dice, reroll of a block before the defender chooses, push, follow-up, interception, none any more, also where
    `max_steps` ends the match), the activity (none, move, block, blitz, pass, hand-off, foul) and the roll that may be
    thrown again (rush, dodge, pick-up, catch, pass, standing up); the faces shown (5, in the order of the actions),
    whether I decide, whether it is my turn, or theirs, half / `halves`, whether I kicked off, reroll used, blitz, pass,
    hand-off, foul spent, whether the blitz has blocked, whether somebody who is pushed will fall, whether the pass is a
    fumble, and for me and the other: turn / `turns`, score / 10, rerolls / 10 (both 1 at most), parts of the squad in
    reserve and knocked out. With `observation="planes"`: `(77, H, W)`, each number spread over a plane.

    ## Rewards
    At the end +1 to the winner and -1 to the loser; `reward_touchdown` for each touchdown, its negative to the other.

    ## Starting State
    The first set-up; who kicks off first is drawn (`first_kicker`).

    ## Episode End
    Terminated after the last turn; more touchdowns win. Truncated after `max_steps` decisions of both teams if that is not
    0: then nobody is paid for the result.

    ## Information
    `action_mask` (int8), `illegal_action` when the action was illegal, and at the end `outcome` (1 won, 0.5 drawn, 0
    lost) and `is_success`.

    ## Arguments
    | name | default | meaning |
    |---|---|---|
    | `size` | 11 | 1, 3, 5, 7 or 11 |
    | `movement` | "step" | "step": one square a move; "path": any square in reach |
    | `orientation` | "mirrored" | "mirrored" or "absolute", see above |
    | `squads` | None | list of roles ("blitzer", "thrower", "catcher", "lineman") or dictionaries with `role` and any of `ma`, `st`, `ag`, `av`, for both teams or as `{"home": ..., "away": ...}`; at most 16 |
    | `formations` | None | `{"defence": [...], "offence": [...]}`, up to four each: lists of places (column counted from the own end zone, row), or dictionaries with `places`, `name`, `deep` (index of the thrower's place) |
    | `first_kicker` | None | "home" or "away"; None: drawn |
    | `halves`, `turns`, `rerolls` | 2, 8, by size | length of the match (at most 99 turns of each team), rerolls a half |
    | `max_steps` | 0 | limit on the decisions of both teams, 0: none |
    | `reward_touchdown` | 0 | reward of a touchdown |
    | `skip_forced` | True | whether decisions with one option are skipped |
    | `show_zones` | False | whether the picture shows tackle zones |

    and those of every environment here: `seat`, `opponent`, `illegal`, `observation`, `observation_dtype`,
    `render_mode` (`mcts_envs.core.api.env.GameEnv`).

    ## Position
    `players` (`{"home": [...], "away": [...]}`; a player has `at`: [x, y] or the name of a box, and may have `role`,
    `ma`, `st`, `ag`, `av`, `up`, `stunned`, `used`, `moves`; who is missing is in the reserves), `ball` (`{"at":
    [x, y], "carried": bool}` or None) and `to_act` are enough for a turn. The rest, as `position()` writes it, may
    be left out: `decision`, `side`, `half`, `turn_counters`, `score`, `rerolls`, `reroll_used`, `spent`,
    `opening_kicker`, `kicker`, `active`, `block`, `fumbled`, `pending` (what is still to happen, the next thing
    last), `rolls` and `events` (counts of the match), and with `max_steps` the number of decisions made, `t`. Left
    out of a set-up or a kick, it is the kicking team that acts; of a choice among block dice, that the block is the
    only one of its activation. Forced dice (`"dice"`) are natural results, in the order in which dice are thrown;
    for block dice 1 attacker down, 2 both down, 3 and 4 push, 5 stumble, 6 defender down.

    ## References
    N. Justesen et al., "Blood Bowl: A New Board Game Challenge and Competition for AI", IEEE CoG 2019; the engine is
    https://github.com/njustesen/botbowl, from whose recorded games the tests are made.

    ## Version History
    * v0: first version.
    """  # noqa: E501

    make_game = staticmethod(football)


FootballVector = vectorized(Football)
