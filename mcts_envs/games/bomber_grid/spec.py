"""Settings and environments of the bomber grid."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from mcts_envs.core import errors
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.vector import vectorized
from mcts_envs.core.contract import Game, blank
from mcts_envs.core.kernel import record
from mcts_envs.core.rng import seed_stream
from mcts_envs.core.typing import Bytes
from mcts_envs.games.bomber_grid import draw
from mcts_envs.games.bomber_grid.players import rule_based, values
from mcts_envs.games.bomber_grid.position import place, position
from mcts_envs.games.bomber_grid.presets import presets
from mcts_envs.games.bomber_grid.rules import board, hidden, observe, sight
from mcts_envs.games.bomber_grid.rules import kernels as rules
from mcts_envs.games.bomber_grid.rules.layout import (
    DUEL,
    FFA,
    FULL_VIEW,
    MAX_FLAME_LIFE,
    MAX_FUSE,
    MAX_RINGS,
    MAX_SIZE,
    MIN_SIZE,
    MOVES,
    RADIO,
    STATE,
    TEAM,
    WORDS,
)
from mcts_envs.games.bomber_grid.rules.memory import MEMORY_BYTES
from mcts_envs.games.bomber_grid.symmetries import symmetries
from mcts_envs.games.bomber_grid.template import template, write_template
from mcts_envs.games.bomber_grid.variants import variants, with_memory

GAME_MODES = {"ffa": FFA, "team": TEAM, "radio": RADIO, "duel": DUEL}
REWARD_STREAMS = ("once", "original")
MASKS = ("all", "safe")
MOVE_NAMES = ("stop", "up", "down", "left", "right", "bomb")
KEYS = {"w": "up", "a": "left", "s": "down", "d": "right", " ": "bomb"}


def bomber_grid(
    mode: str = "ffa",
    board_size: int = 11,
    view: int | None = None,
    n_rigid: int = 36,
    n_wood: int = 36,
    n_items: int = 20,
    blast_cap: int = 10,
    fuse: int = 10,
    flame_life: int = 2,
    max_steps: int = 800,
    collapse: Sequence[int] = (),
    reward_tie: float = -1.0,
    reward_stream: str = "once",
    mask: str = "all",
    viewer: int | None = None,
    memory: bool = False,
) -> Game:
    """Return the game with these settings; :class:`Bomber` describes them.

    Raises
    ------
    ValueError, TypeError
        If a setting is out of its bounds.
    """
    remembers = _remembers(memory, view)
    state = blank(STATE, MEMORY_BYTES if remembers else 0)
    s = record(state, STATE)
    _write_board(s, mode, board_size, view)
    _write_walls(s, n_rigid, n_wood, n_items)
    _check_boards(state)
    _write_fire(s, blast_cap, fuse, flame_life)
    _write_end(s, max_steps, collapse, reward_tie, reward_stream)
    s.only_safe = errors.choice("mask", mask, MASKS) == "safe"
    players, size = int(s.players), int(s.board_size)
    shown_to = None if viewer is None else errors.integer("viewer", viewer, 0, players - 1)
    game = Game(
        name="bomber_grid",
        players=players,
        actions=MOVES * (WORDS * WORDS if mode == "radio" else 1),
        template=state,
        layout=STATE,
        first_field="t",
        reset=rules.reset,
        active=rules.active,
        legal=rules.legal,
        step=rules.step,
        status=rules.status,
        outcome=rules.outcome,
        key=sight.key,
        determinize=hidden.determinize,
        evaluate=values.evaluate,
        advise=rule_based.advise_rule_based,
        observe=observe.observe,
        observation_shape=(len(observe.PLANES) * size * size + len(observe.NUMBERS),),
        symmetries=() if mode == "radio" else symmetries((observe.PLANES, size), (observe.NUMBERS, 1)),
        simultaneous=True,
        teams=((0, 2), (1, 3)) if mode in ("team", "radio") else (),
        position=position,
        place=place,
        action_name=partial(action_name, mode == "radio"),
        picture=partial(draw.picture, viewer=shown_to),
        text=partial(draw.text, viewer=shown_to),
        where=draw.where,
        shown_as=draw.SHOWN_AS[:players],
        presets=presets(view is None, mode == "radio"),
        variants=variants(size, max_steps, mode == "radio"),
    )
    return with_memory(game, size) if remembers else game


def _remembers(memory: Any, view: Any) -> bool:
    """Return whether players remember what they have seen."""
    if errors.flag("memory", memory) and view is None:
        raise ValueError("memory=True is for players who see a part of the board, and view is None; give view=4, say")
    return bool(memory)


def _write_board(s: Any, mode: Any, board_size: Any, view: Any) -> None:
    """Write who plays on which board and how far the players see."""
    s.mode = GAME_MODES[errors.choice("mode", mode, GAME_MODES)]
    s.players = 2 if mode == "duel" else 4
    s.board_size = errors.integer("board_size", board_size, MIN_SIZE, MAX_SIZE)
    s.radius = FULL_VIEW if view is None else errors.integer("view", view, 0, MAX_SIZE)


def _write_walls(s: Any, n_rigid: Any, n_wood: Any, n_items: Any) -> None:
    """Write the numbers of walls and items, and the template of the board.

    Raises
    ------
    ValueError, TypeError
        If they are odd, or more than the board can take.
    """
    size = int(s.board_size)
    found = template(size, int(s.mode))
    write_template(s, found)
    always, most = len(found.corridor), 2 * len(found.pairs) + len(found.corridor)
    s.n_rigid = n_rigid = errors.integer(f"board_size {size}: n_rigid", n_rigid, 0, most - always)
    s.n_wood = n_wood = errors.integer(f"board_size {size}: n_wood", n_wood, always, most)
    for name in ("n_rigid", "n_wood"):
        if s[name] % 2:
            raise ValueError(f"{name} {s[name]} is odd; walls come in pairs: take {s[name] - 1} or {s[name] + 1}")
    if n_rigid + n_wood > most:
        raise ValueError(
            f"n_rigid {n_rigid} and n_wood {n_wood} are more than {most}, the cells of a board of size {size} that can "
            "be walls; give fewer"
        )
    s.n_items = errors.integer("n_items", n_items, 0, int(s.n_wood))


def _check_boards(state: Bytes) -> None:
    """Refuse walls for which there is hardly a board that leaves enough of it open.

    Raises
    ------
    ValueError
        If there is none among many drawn.
    """
    trial = state.copy()
    seed_stream(trial, np.uint64(0))
    if not board.can_be_drawn(trial):
        raise ValueError(
            f"n_rigid {record(state, STATE).n_rigid} is too many: of {board.MOST_DRAWS} boards drawn, all have more "
            f"than {board.MOST_UNREACHABLE} free cells out of reach; give fewer rigid walls"
        )


def _write_fire(s: Any, blast_cap: Any, fuse: Any, flame_life: Any) -> None:
    """Write how bombs and flames behave."""
    s.blast_cap = errors.integer("blast_cap", blast_cap, 2, MAX_SIZE)
    s.fuse = errors.integer("fuse", fuse, 1, MAX_FUSE)
    s.flame_life = errors.integer("flame_life", flame_life, 0, MAX_FLAME_LIFE)


def _write_end(s: Any, max_steps: Any, collapse: Any, reward_tie: Any, reward_stream: Any) -> None:
    """Write how long a game lasts and what is paid for it."""
    s.max_steps = errors.integer("max_steps", max_steps, 1, 65_535)
    _write_collapse(s, collapse)
    s.reward_tie = errors.number("reward_tie", reward_tie, -1.0, 1.0)
    s.pays_always = errors.choice("reward_stream", reward_stream, REWARD_STREAMS) == "original"


def _write_collapse(s: Any, collapse: Any) -> None:
    """Write the steps at which the rings of the board turn rigid, from the outermost on."""
    if not isinstance(collapse, (list, tuple)):
        raise TypeError(f"collapse {collapse!r} is {type(collapse).__name__}, not a list of steps")
    steps = [errors.integer(f"collapse[{i}]", step, 1, int(s.max_steps)) for i, step in enumerate(collapse)]
    rings = min(MAX_RINGS, (int(s.board_size) - 1) // 2)
    if len(steps) > rings:
        raise ValueError(f"collapse has {len(steps)} steps; a board of size {s.board_size} can lose {rings} rings")
    if sorted(set(steps)) != steps:
        raise ValueError(f"collapse {steps} is not in ascending order")
    s.n_rings = len(steps)
    s.collapse[: len(steps)] = steps


def action_name(radio: bool, action: int) -> str:
    """Name an action: the move, and with a radio the words, as ``"up 3 7"``."""
    if not radio:
        return MOVE_NAMES[action]
    move, words = divmod(action, WORDS * WORDS)
    return f"{MOVE_NAMES[move]} {words // WORDS} {words % WORDS}"


class Bomber(GameEnv):
    """Bomber grid: Pommerman, rule for rule.

    ## Description
    Four players start near the corners of a board of 11 x 11 cells with rigid walls and wood, and lay bombs. A bomb
    goes off after ten steps, burns the cells up to `strength - 1` away in its row and column, sets off other bombs,
    burns wood, and kills. Wood may hide an item: one more bomb, one more cell of reach, or the ability to kick bombs.
    Everyone plays for itself (`mode="ffa"`), players 0 and 2 against 1 and 3 (`"team"`; `"radio"`: mates send each
    other two words a step), or two players against each other (`"duel"`).

    All players move at once. In each step: old flames die down; players and rolling bombs name the cells that they
    want; those who would meet or cross stay where they are; a player with the ability kicks the bomb into which it
    walks, which then rolls until something stops it; players take items; bombs count down and go off; fire kills; with
    `collapse` a ring of the board turns rigid.

    ## Action Space
    `Discrete(6)`: 0 stop, 1 up, 2 down, 3 left, 4 right, 5 bomb. With the radio `Discrete(384)`: `64 * move + 8 *
    first + second`, the words from 0 to 7. Every action is legal; one that cannot be carried out is as good as stop.
    With `mask="safe"` only those moves are legal after which the player can still escape all bombs in sight, if there
    are any, and neither running against a wall or a bomb (so no kick) nor laying a bomb without one is. It trusts that
    bombs stay where they are, that walls stand, and that nobody is in the way. Any other action is illegal, but played
    all the same. The planners that the game brings search the moves alone. `best`, and any planner with
    `model="radio"`, says where it sees an enemy, and expects one in its own fog where its mate sees one: the first word
    is 0 if no enemy is in sight, else `1 + row // 2`, and the second `column // 2`, of the nearest (`rules/radio.py`).
    The others send the words 0 and 0, as any planner does with `model="silent"`. Take that with `information="full"`
    too: who is told everything has nothing to hear, and with `"radio"` it follows no guess at the others there.

    With `gymnasium.utils.play.play(env)` a person plays: w, a, s, d move, space lays a bomb.

    ## Observation Space
    `Box(0, 1, (17 * n * n + 12,), float32)` on a board of n x n cells. First 17 boards, row by row: fog, rigid, wood,
    the three items, flames (`(life + 1) / (flame_life + 1)`, 1 for the youngest), bombs (steps left / `fuse`, strength
    / 11, whether it is mine, four for the direction in which it rolls: up, down, left, right), me, my mate, enemies.
    Then `t / max_steps`, row and column / (n - 1), ammo / 10, strength / 11, kick, who is alive (me first, then the
    seats after mine), and the two words of my mate / 7. `observation="planes"`: `(29, n, n)`, each number spread over a
    plane. `observation="original"`: the planes and numbers of the original, five and fourteen; the wrapper
    `mcts_envs.games.bomber_grid.original.OriginalObservation` makes its dictionary of them. The way back, by which
    agents play in the original engine, is `mcts_envs.games.bomber_grid.playground`.

    `observation="egocentric"`: `(855,)`, whatever the size of the board, for networks that should not have to work out
    where they are. First ten windows of 9 x 9 cells around the player, row by row: fog, rigid walls and what is beyond
    the board, wood, items, bombs, fire (how soon the cell will burn, `(last + 1 - steps) / last` with `last = fuse +
    flame_life`; bombs in sight set off each other, they and all walls stay), how near cells are on foot (`1 / (1 +
    steps)` within the window; walls, wood and bombs are in the way, players are not), what a bomb laid now would burn,
    my mate, enemies. Then `t / max_steps`, row and column / (n - 1), ammo / 10, strength / 11, kick, whether I stand on
    a bomb; the six moves, 1 for those that `mask="safe"` allows (all 0 where none is safe, and the mask allows all);
    what a bomb laid now would burn: wood (a quarter for each, up to four), my mate, an enemy; for the nearest cell
    beside an enemy, the nearest item and the nearest cell beside wood (cells under bombs do not count) `1 / (1 +
    steps)`, 0 beyond 22 steps, and the four moves, 1 for those that begin a shortest way; three times 1, row and column
    less mine, from -10 to 10 as 0 to 1, or 0 three times: enemies in sight from the nearest on, and in the third place
    my mate; who of the seats after mine is alive; the two words of my mate / 7. Nothing that is only remembered is in
    it.

    A player sees the cells up to `view` rows and columns away. Nobody sees items under wood or fire, what the others
    carry, or whose bombs the others' are. A dead player goes on looking from where it died.

    With `memory=True` players remember what the fog has covered since, as they saw it last: walls and wood, items,
    bombs at rest until they go off, flames until they die down, where and when they saw the others (at first: where
    they start). All know which rings have turned rigid. `observation="memory"` shows it in 13 boards behind the
    observation above: what is known, rigid, wood, the three items, flames, bombs (steps left, strength, whether it is
    mine), as numbers like those above, and where the others were, the dead too (1 / (1 + steps since), by the seats
    after mine). A planner with `model="forgetful"` does without.

    ## Rewards
    +1 for a win, -1 for a loss, `reward_tie` for a tie; paid once, when a player's own game ends. With
    `reward_stream="original"` as the original pays: nothing to the living until somebody has won, -1 in every step to
    the dead where everyone plays for itself, and -1 (0 in a duel in which both die) for a tie; then everybody's game
    ends with the whole game.

    ## Starting State
    Random. Walls are mirrored at the diagonal, which is free; the two cells next to a player on each of its lines are
    free and the middle of these lines is wood (not in a duel). Boards with more than four free cells out of reach are
    drawn again. Items lie under distinct random cells of wood.

    ## Episode End
    Where everyone plays for itself, a player's game ends with its death, and the whole game when at most one lives. In
    teams all play on until one side is dead. At `max_steps` the game is a tie. That is a rule with a reward of its own
    and the clock can be seen, so such a game is terminated, not truncated.

    ## Information
    `action_mask` (int8), `illegal_action` when the action was illegal (only with `mask="safe"`), and at the end
    `outcome` (1 won, 0.5 tied, 0 lost) and `is_success`.

    ## Arguments
    | name | default | meaning |
    |---|---|---|
    | `mode` | "ffa" | "ffa", "team", "radio" or "duel" |
    | `board_size` | 11 | n, from 7 to 11 |
    | `view` | None | radius of the square window that a player sees; None: the whole board |
    | `n_rigid`, `n_wood`, `n_items` | 36, 36, 20 | walls (even numbers) and items at the start |
    | `blast_cap` | 10 | greatest strength of bombs |
    | `fuse` | 10 | steps until a bomb goes off, up to 16 |
    | `flame_life` | 2 | steps that a cell burns after the one in which it caught fire, up to 7 |
    | `max_steps` | 800 | limit on the steps of a game |
    | `collapse` | () | steps at which the rings of the board turn rigid, from the outermost on |
    | `reward_tie` | -1.0 | reward of a tie |
    | `reward_stream` | "once" | "once" or "original" |
    | `mask` | "all" | legal actions: "all" or "safe" |
    | `viewer` | None | the player whose view pictures and texts show, without what it remembers; None: everything |
    | `memory` | False | whether players remember what the fog has covered; only with a `view` |

    and those of every environment here: `seat`, `opponent`, `illegal`, `observation`, `observation_dtype`,
    `render_mode` (`mcts_envs.core.api.env.GameEnv`).

    These are the defaults of `Bomber-v0`. `BomberTeam-v0` and `BomberRadio-v0` have `view=4` and `blast_cap=4`,
    `BomberDuel-v0` has `board_size=8`, `n_rigid=16`, `n_wood=16` and `n_items=10`, `BomberPlanning-v0` `n_rigid=20`,
    `n_wood=20`, `n_items=10` and `flame_life=5`.

    ## Position
    `{"board": codes, "items": [[r, c, code]], "agents": [[alive, r, c, ammo, strength, kick]], "bombs": [[r, c, owner,
    life, strength, direction]], "flames": [[r, c, life]], "step_count": int}`. Codes: 0 passage, 1 rigid, 2 wood, 3
    bomb, 4 flame, 6 extra bomb, 7 range, 8 kick, 10 + i player i, who hides a bomb in its cell. `items` are those under
    wood or fire. Directions are numbered as the moves, 0 at rest. These may be left out: `died`, the steps in which
    players died (0: alive or not known); `trail`, for each player the cells of its last six steps, the latest first;
    with the radio `words`, the words of each player in the last step; and with `memory=True` `memory`, for each player
    `{"board": codes, "bombs": [[r, c, mine, life, strength]], "flames": [[r, c, life]], "last": [[r, c, step]]}`: its
    board has 5 for what it has never seen, and `last` where and when it saw each player last. Without it all remember
    what they see.

    ## Hidden information
    `determinize` keeps what the player sees now, with its own bombs among it, what it carries, who lives, and the
    clock, and redraws the rest by simple laws (`mcts_envs.games.bomber_grid.rules.hidden`). Earlier observations are
    not used, not even of an own bomb that the fog has covered since, unless `memory=True`: then what the player
    remembers stays, and the others are drawn within as many steps of where they were seen last as have passed.
    Planners with `information="full"` are told everything but chance to come.

    ## References
    Resnick et al. 2018, Pommerman: A Multi-Agent Playground; https://github.com/MultiAgentLearning/playground. The
    constants of `BomberPlanning-v0` are those of Perez-Liebana et al. 2019, Analysis of Statistical Forward Planning
    Methods in Pommerman (AIIDE).

    ## Version History
    * v0: first version.
    """

    make_game = staticmethod(bomber_grid)

    def get_keys_to_action(self) -> dict[str, int]:
        """Return the keys for ``gymnasium.utils.play.play``: w, a, s, d, and space for a bomb; words are left at 0."""
        words = self.game.actions // MOVES
        return {key: MOVE_NAMES.index(move) * words for key, move in KEYS.items()}


BomberVector = vectorized(Bomber)
