"""Settings and environments of the roster game."""

from functools import partial
from typing import Any

from mcts_envs.core import errors
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.vector import vectorized
from mcts_envs.core.contract import Game, blank
from mcts_envs.core.kernel import record
from mcts_envs.core.typing import Bytes
from mcts_envs.games.lane_defense import presets
from mcts_envs.games.lane_defense.draw import roster as draw
from mcts_envs.games.lane_defense.players import roster as scripted
from mcts_envs.games.lane_defense.position.roster import place, position
from mcts_envs.games.lane_defense.rules.roster import kernels as rules
from mcts_envs.games.lane_defense.rules.roster.layout import MAX_COLUMNS, MAX_ROWS, PLANES, STATE
from mcts_envs.games.lane_defense.symmetries import symmetries
from mcts_envs.games.lane_defense.tables import MAX_STEPS, Roster, RosterSetting, fill_tables, read_roster, read_waves


def roster_defense(
    rows: int = 5,
    columns: int = 9,
    roster: RosterSetting = "standard",
    waves: Any = None,
    first_wave: int = 16,
    start_sun: int = 4,
    sun_cap: int = 40,
    sky_sun: float = 0.15,
    mowers: bool = False,
    max_steps: int = 300,
    reward_kill: float = 1.0,
    reward_eaten: float = -1.0,
    reward_win: float = 100.0,
    reward_loss: float = -200.0,
) -> Game:
    """Return the roster game with these settings; :class:`RosterDefense` describes them.

    Raises
    ------
    ValueError, TypeError
        If a setting is out of its bounds.
    """
    rows = errors.integer("rows", rows, 1, MAX_ROWS)
    columns = errors.integer("columns", columns, 2, MAX_COLUMNS)
    kinds = read_roster(roster)
    if waves is not None:
        kinds = Roster(kinds.plants, kinds.zombies, read_waves(waves))
    state = blank(STATE, PLANES * rows * columns)
    s = record(state, STATE)
    s.rows, s.columns, s.cells = rows, columns, rows * columns
    s.first_wave = errors.integer("first_wave", first_wave, 0, MAX_STEPS)
    fill_tables(s, kinds)
    s.sun_cap = errors.integer("sun_cap", sun_cap, 0, 255)
    s.start_sun = errors.integer("start_sun", start_sun, 0, int(s.sun_cap))
    s.sky_sun = errors.number("sky_sun", sky_sun, 0, 1)
    s.with_mowers = errors.flag("mowers", mowers)
    s.max_steps = errors.integer("max_steps", max_steps, 1, MAX_STEPS)
    s.reward_kill = errors.number("reward_kill", reward_kill, -1e6, 1e6)
    s.reward_eaten = errors.number("reward_eaten", reward_eaten, -1e6, 1e6)
    s.reward_win = errors.number("reward_win", reward_win, -1e6, 1e6)
    s.reward_loss = errors.number("reward_loss", reward_loss, -1e6, 1e6)
    return _game(state, kinds)


def _game(state: Bytes, roster: Roster) -> Game:
    s = record(state, STATE)
    rows, columns, cells, plants = (int(number) for number in (s.rows, s.columns, s.cells, s.plants))
    planes = plants + int(s.zombies) + (4 if s.top_leaps else 3)
    shape = (planes + plants + 3, rows, columns)
    mirrored = partial(symmetries, rows, columns, kinds=plants)
    return Game(
        name="roster_defense",
        players=1,
        actions=plants * cells + 1,
        template=state,
        layout=STATE,
        first_field="t",
        reset=rules.reset,
        active=rules.active,
        legal=rules.legal,
        step=rules.step,
        status=rules.status,
        outcome=rules.outcome,
        key=rules.key,
        advise=scripted.advise_h,
        presets=presets.roster(),
        observe=rules.observe,
        observation_shape=(planes * cells + plants + 2 + rows,),
        symmetries=mirrored((columns,) * planes + (0,) * (plants + 2) + (1,)),
        position=partial(position, roster),
        place=partial(place, roster),
        picture=draw.picture,
        text=partial(draw.text, roster),
        where=draw.where,
        action_name=partial(_action_name, roster, cells, columns),
        variants={
            "planes": {
                "observe": rules.observe_planes,
                "observation_shape": shape,
                "symmetries": mirrored((columns,) * shape[0]),
            },
            "scripted_s": {"advise": scripted.advise_s},
        },
    )


def _action_name(roster: Roster, cells: int, columns: int, action: int) -> str:
    kind, index = divmod(int(action), cells)
    if kind == len(roster.plants):
        return "wait"
    return f"{roster.plants[kind].name} {index // columns},{index % columns}"


class RosterDefense(GameEnv):
    """Hold five lanes against four waves.

    ## Description
    The richer game that the conclusion of Zhang's paper asks for: several kinds of plants and zombies, and sun to pay
    with. Zombies enter at the right end of the lanes and walk towards the house at the left end. A cell holds nothing,
    one plant or one zombie. The kinds are data, a *roster*; that of `mcts_envs/LaneDefense5x9-v0` is

    | plant | cost | hp | recharge | effect |
    |---|---|---|---|---|
    | sunflower | 2 | 1 | 2 | makes 1 sun with probability 0.08 a step |
    | shooter | 4 | 1 | 2 | takes 1 hp a step from the nearest zombie to its right |
    | wall | 2 | 8 | 10 | stands in the way |
    | mine | 1 | 1 | 10 | gets armed with probability 0.2 a step; then explodes under the next zombie |

    | zombie | hp | p_move |
    |---|---|---|
    | normal | 9 | 0.25 |
    | cone | 18 | 0.25 |
    | runner | 7 | 0.5 |
    | bucket | 30 | 0.25 |

    A step has these phases, in this order:

    1. *Plant*: every recharge time falls by 1; the chosen plant is paid for, and its kind is barred for as many of the
       following decisions as its recharge time says.
    2. *Income*: 1 sun from the sky with probability `sky_sun`, and what sunflowers make; at most `sun_cap` is kept.
    3. *Arming*: each unarmed mine, with its probability.
    4. *Shots*: lane by lane, left to right, each shooter hits the nearest zombie to its right; without hp it is gone,
       and the next shooter hits the next zombie.
    5. *Moves*: lane by lane, left to right, each zombie moves with its own probability. From column 0 it enters the
       house, and the game is lost at once; with `mowers`, the first time in each lane, all zombies of the lane are
       removed instead. Behind another zombie it waits. An armed mine ahead explodes: it kills the zombie and another
       in the cell behind it. Any other plant ahead loses 1 hp, and is eaten when it has none left. Else the zombie
       moves one cell.
    6. *Arrivals*: during a wave one zombie enters with the wave's probability `p_new`, and in its last step `flag`
       more. Each takes a lane drawn from those whose last cell holds no zombie (none: it stays away) and a kind drawn
       by the wave's `mix`.
    7. *End*: won if the waves are over and no zombie is left.

    | wave | steps | p_new | flag | mix: normal, cone, runner, bucket |
    |---|---|---|---|---|
    | 1 | 16 to 41 | 0.20 | 1 | 100, 0, 0, 0 |
    | 2 | 42 to 67 | 0.35 | 2 | 70, 20, 10, 0 |
    | 3 | 68 to 93 | 0.50 | 3 | 50, 30, 20, 0 |
    | 4 | 94 to 119 | 0.65 | 5 | 35, 30, 20, 15 |

    The roster `"specialists"` adds a torch and a catapult whose shots hit an area, zombies that leap over the first
    plant in their way (if the cell behind it is empty), and frozen ones whom only torches and mines can hurt: shots of
    others fly past them, to the next zombie. Any other roster can be given as a dictionary
    (`mcts_envs.games.lane_defense.tables`).

    ## Action Space
    `Discrete(plants * rows * columns + 1)`. Action `kind * rows * columns + lane * columns + column` plants there, the
    last one waits. Planting is legal in an empty cell outside the last column, if there is sun for it and the kind is
    recharged; waiting always. An illegal action counts as waiting.

    ## Observation Space
    `Box(0, 1, (n,), float32)`, n = 506 by default: planes of `rows * columns` numbers (one for each kind of plant,
    plants' hp, armed; one for each kind of zombie, zombies' hp, and leaps left if the roster has zombies that leap),
    then sun, the recharge times, the clock (1 when the waves are over), and for each lane whether it has a mower. hp,
    leaps and recharge times are divided by their greatest value in the roster, sun by `sun_cap`. With
    `observation="planes"`: `(18, rows, columns)` by default, each single number spread over a plane, and the mowers
    over one plane together, each over its lane.

    ## Rewards
    +1 for each zombie killed, -1 for each plant eaten, +100 for a win and -200 for a loss, the last two added to the
    others of the same step.

    ## Starting State
    An empty board, 4 sun, all kinds recharged, `t = 0`, and with `mowers` a mower in each lane.

    ## Episode End
    Terminated when won or lost. Truncated, which is not a win, after `max_steps`. To limit the steps use this setting,
    not `gym.make(..., max_episode_steps=...)`: that limit is Gymnasium's, outside the game, so its truncation comes
    without `outcome` and `is_success`.

    ## Information
    `action_mask` (int8), `illegal_action` when the action was illegal, and at the end `outcome` (1 won, 0 not) and
    `is_success`.

    ## Arguments
    | name | default | meaning |
    |---|---|---|
    | `rows`, `columns` | 5, 9 | size of the board, up to 8 and 16 |
    | `roster` | "standard" | name or dictionary of the kinds and waves |
    | `waves` | None | list of dictionaries `steps`, `p_new`, `flag`, `mix`, in place of the roster's waves |
    | `first_wave` | 16 | step in which the first wave begins |
    | `start_sun`, `sun_cap` | 4, 40 | sun at the start and at most |
    | `sky_sun` | 0.15 | probability of 1 sun from the sky a step |
    | `mowers` | False | whether each lane has a mower |
    | `max_steps` | 300 | step limit |
    | `reward_kill`, `reward_eaten`, `reward_win`, `reward_loss` | 1, -1, 100, -200 | |

    and those of every environment here: `illegal`, `observation`, `observation_dtype`, `render_mode`
    (`mcts_envs.core.api.env.GameEnv`).

    ## Position
    `{"t": int, "sun": int, "recharge": {kind: int}, "plants": [...], "zombies": [...], "mowers": [lanes]}`. A plant is
    `{"kind": "wall", "lane": 0, "column": 3, "hp": 8, "armed": False}`, a zombie `{"kind": "cone", "lane": 0,
    "column": 5, "hp": 18, "leaps": 0}`. `hp`, `armed` and `leaps` may be left out (untouched, not armed), and so may
    `recharge` (0) and `mowers` (all that the setting gives). That of a lost game, in which a zombie went from column 0
    into the house, has `"lost": True` besides, and no game starts from it. Forced dice (`"dice"`) are used in the order
    of the phases: sky; a coin for each sunflower, then for each unarmed mine, in the order of cells; a coin for each
    zombie, lane by lane, left to right; the coin of an arrival; for each arrival the lane (index among the free ones)
    and the kind (a number below the sum of `mix`).

    ## References
    A. Zhang, "Monte Carlo Tree Search Applied to Plants vs. Zombies", CS 238, Stanford University.

    ## Version History
    * v0: first version.
    """

    make_game = staticmethod(roster_defense)


RosterDefenseVector = vectorized(RosterDefense)
