"""Settings and environments of wall survival."""

from functools import partial

from mcts_envs.core import errors
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.vector import vectorized
from mcts_envs.core.contract import Game, blank
from mcts_envs.core.kernel import record
from mcts_envs.games.wall_survival import draw
from mcts_envs.games.wall_survival.players import report, scripted, values
from mcts_envs.games.wall_survival.position import place, position
from mcts_envs.games.wall_survival.presets import presets
from mcts_envs.games.wall_survival.rules import distances
from mcts_envs.games.wall_survival.rules import kernels as rules
from mcts_envs.games.wall_survival.rules.layout import MAX_SIZE, MIN_SIZE, STATE
from mcts_envs.games.wall_survival.symmetries import DISTANCES, FLAT, PLANES, symmetries

GENERATORS = ("2022", "2023")
SIDES = ("up", "right", "down", "left")


def wall_survival(
    board_size: int = 12,
    generator: str = "2022",
    reach: int | None = None,
    optional_wall: bool = False,
    max_steps: int = 0,
) -> Game:
    """Return the game with these settings; :class:`WallSurvival` describes them.

    Raises
    ------
    ValueError, TypeError
        If a setting is out of its bounds.
    """
    state = blank(STATE)
    s = record(state, STATE)
    s.board_size = size = errors.integer("board_size", board_size, MIN_SIZE, MAX_SIZE)
    s.generator = int(errors.choice("generator", str(generator), GENERATORS))  # a number too, as --set reads it
    s.first_reach = (size + 1) // 2 if reach is None else errors.integer("reach", reach, 0, size * size)
    s.optional_wall = errors.flag("optional_wall", optional_wall)
    s.max_steps = errors.integer("max_steps", max_steps, 0, 10**6)
    if s.optional_wall and not s.max_steps:
        s.max_steps = 4 * size * size
    cells = size * size
    turned = partial(symmetries, size, optional_wall=s.optional_wall != 0)
    return Game(
        name="wall_survival",
        players=2,
        actions=(5 if s.optional_wall else 4) * cells,
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
        evaluate=values.evaluate_voronoi,
        advise=scripted.advise_greedy,
        observe=rules.observe,
        observation_shape=(7 * cells + 2,),
        symmetries=turned(FLAT, 2),
        position=position,
        place=place,
        picture=draw.picture,
        text=draw.text,
        where=draw.where,
        shown_as=draw.SHOWN_AS,
        action_name=partial(action_name, size),
        variants={
            "planes": {
                "observe": rules.observe_planes,
                "observation_shape": (9, size, size),
                "symmetries": turned(PLANES, 0),
            },
            "distances": {
                "observe": distances.observe_distances,
                "observation_shape": (distances.BOARDS * cells + distances.NUMBERS,),
                "symmetries": turned(DISTANCES, distances.NUMBERS),
            },
            "mobility": {"evaluate": values.evaluate_mobility},
            "threats": {"evaluate": values.evaluate_threats},
            "greedy": {"advise": scripted.advise_greedy},
            "random_walk": {"advise": scripted.advise_random_walk},
            **report.VARIANTS,
        },
        presets=presets(),
    )


def action_name(board_size: int, action: int) -> str:
    """Name an action: ``"3,4 up"`` (row, column, side of the wall) or ``"3,4"`` without a wall."""
    cells = board_size * board_size
    cell, side = (action // 4, f" {SIDES[action % 4]}") if action < 4 * cells else (action - 4 * cells, "")
    return f"{cell // board_size},{cell % board_size}{side}"


class WallSurvival(GameEnv):
    """Wall survival: wall the other player in before it walls you in.

    ## Description
    The game Colosseum Survival! of McGill's course COMP 424, after its published engine. Two players move in turn on a
    square board. A turn is a walk of up to `reach` steps (K) and then a wall: the walk goes from cell to cell through
    sides without a wall and never onto the other player's cell; the wall goes up on a free side of the cell where the
    walk ends. Staying is a walk of no steps. Walls stay for ever, count from both sides, and are never doubled; the
    border is walled from the start.

    The game ends as soon as no way leads from one player to the other, however long. Who then stands in the larger part
    of the board wins.

    ## Action Space
    `Discrete(4 * M * M)` on a board of M x M cells: action `4 * (row * M + column) + side` walks to that cell and walls
    its side 0 up, 1 right, 2 down, 3 left (rows grow downwards). With `optional_wall` there are `M * M` more:
    `4 * M * M + row * M + column` walks there and builds nothing. An action is legal if its cell is within reach and
    its side is free. An illegal one is replaced by the move of the reference's random player: a number of random steps
    drawn from 0 to K, then a wall on a random free side.

    ## Observation Space
    `Box(0, 1, (7 * M * M + 2,), float32)`, from the observer's own side: seven boards of 0 and 1, row by row (walls up,
    right, down and left of each cell; my cell; the other's cell; the cells that I can reach), then whether it is my
    turn, then `t / max_steps` (0 without a limit). With `observation="planes"`: `(9, M, M)`, the two scalars spread
    over a plane each.

    With `observation="distances"`, `(29 * M * M + 6,)`, it shows what a good player counts. 29 boards: the seven; how
    near each cell is to me, and to the other: `K / (K + d)` for a walk of d steps, whoever stands in the way, 0 if
    there is none (K at least 1); where I come first, and where the other does (fewer steps; neither at equal ones);
    the cells that the other could reach if it were to move; the cells with three walls or more; then, for walls up,
    right, down and left of each cell, where mine would win at once, where it would lose at once (0.5: end in a tie),
    where the other's would win if it were to move, and what a walk there and that wall would make of the board: cells
    where I come first less those where the other does, from 0 for the least among my moves to 1 for the most (1 if all
    are equal). Then six numbers: whether it is my turn, `t / max_steps`, and as parts of all cells those where I come
    first, where the other does, that I can reach, and that the other can. I move in all of this, whoever's turn it is.
    The boards of walls look one move ahead, nothing looks further; after the end they are 0.

    ## Rewards
    At the end +1 to the winner and -1 to the loser, 0 for both after a tie; 0 before.

    ## Starting State
    Random, the same for both players: walls and starting cells are drawn in pairs, each the image of the other under
    half a turn of the board. `generator="2022"` puts up (M + 1) // 2 pairs of walls; `"2023"` M // 2 - 1 pairs. No game
    starts over already: with the first such a board is drawn anew, with the second only the starting cells. Player 0
    begins.

    ## Episode End
    Terminated when the players are separated, at the latest when there is no side left to wall. Truncated after
    `max_steps` turns if that is not 0; both players then have half a point. Where walls are optional, a game could go
    on for ever, so there is always a limit.

    ## Information
    `action_mask` (int8), `illegal_action` when the action was illegal, and at the end `outcome` (1 won, 0.5 tied, 0
    lost) and `is_success`.

    ## Arguments
    | name | default | meaning |
    |---|---|---|
    | `board_size` | 12 | M, from 3 to 12 |
    | `generator` | "2022" | which of the reference's two generators draws the first position, "2022" or "2023" |
    | `reach` | None | K, the longest walk; None: (M + 1) // 2 |
    | `optional_wall` | False | whether a turn may go without a wall |
    | `max_steps` | 0 | limit on the turns of both players, 0: none, or `4 * M * M` if walls are optional |

    and those of every environment here: `seat`, `opponent`, `illegal`, `observation`, `observation_dtype`,
    `render_mode` (`mcts_envs.core.api.env.GameEnv`).

    ## Position
    `{"M": int, "K": int, "p0": [row, column], "p1": [row, column], "walls": str, "turn": 0 or 1}`. `walls` has one
    hexadecimal digit for each cell, row by row: 1 for a wall up, 2 right, 4 down, 8 left, added up, the border
    included. By hand a list is easier, which is taken too: `[[row, column, "right"], ...]`, the walls inside the
    border, `up`, `right`, `down` or `left` of a cell, each from one side or from both. Then, after a move, `"last":
    {"from": [row, column], "side": int}`: where the player that moved came from, and its wall (None: none), which only
    the picture needs; and with `max_steps` the number of turns played, `"t"`.
    `M`, `K`, `last` and `t` may be left out. Forced dice (`"dice"`) are used by an illegal action: number of steps,
    index of each step's side among the possible ones, index of the wall's side among the free ones.

    ## References
    The engine is that of the project of COMP 424 (Fall 2022 and Fall 2023), McGill University,
    https://github.com/dmeger/Project-COMP424-2022-Fall.

    ## Version History
    * v0: first version.
    """

    make_game = staticmethod(wall_survival)


WallSurvivalVector = vectorized(WallSurvival)
