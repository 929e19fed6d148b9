"""Settings and environments of the classic game."""

from functools import partial
from typing import Any

import numpy as np

from mcts_envs.core import errors
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.vector import vectorized
from mcts_envs.core.contract import Game, blank
from mcts_envs.core.kernel import record
from mcts_envs.games.lane_defense import presets
from mcts_envs.games.lane_defense.draw import classic as draw
from mcts_envs.games.lane_defense.players import classic as scripted
from mcts_envs.games.lane_defense.players import models
from mcts_envs.games.lane_defense.position import classic as position
from mcts_envs.games.lane_defense.rules import classic as rules
from mcts_envs.games.lane_defense.symmetries import symmetries


def lane_defense(
    rows: int = 3,
    columns: int = 3,
    p_plant: float = 0.5,
    p_move: float = 0.5,
    p_new: float = 0.7,
    night: int = 20,
    first_plant_guaranteed: bool = True,
    max_steps: int = 0,
    reward_kill: float = 1.0,
    reward_eaten: float = -1.0,
    reward_win: float = 100.0,
    reward_loss: float = -200.0,
    reward_cover: float = 0.0,
    reward_back: float = 0.0,
) -> Game:
    """Return the classic game with these settings; :class:`LaneDefense` describes them.

    Raises
    ------
    ValueError, TypeError
        If a setting is out of its bounds.
    """
    state = blank(rules.STATE)
    s = record(state, rules.STATE)
    s.rows = rows = errors.integer("rows", rows, 1, rules.MAX_ROWS)
    s.columns = columns = errors.integer("columns", columns, 2, rules.MAX_COLUMNS)
    s.p_plant = errors.number("p_plant", p_plant, 0, 1)
    s.p_move = errors.number("p_move", p_move, 0, 1)
    s.p_new = errors.number("p_new", p_new, 0, 1)
    s.night = errors.integer("night", night, 0, 10**6)
    s.max_steps = errors.integer("max_steps", max_steps, 0, 10**6)
    s.first_plant_guaranteed = errors.flag("first_plant_guaranteed", first_plant_guaranteed)
    s.reward_kill = errors.number("reward_kill", reward_kill, -1e6, 1e6)
    s.reward_eaten = errors.number("reward_eaten", reward_eaten, -1e6, 1e6)
    s.reward_win = errors.number("reward_win", reward_win, -1e6, 1e6)
    s.reward_loss = errors.number("reward_loss", reward_loss, -1e6, 1e6)
    s.reward_cover = errors.number("reward_cover", reward_cover, -1e6, 1e6)
    s.reward_back = errors.number("reward_back", reward_back, -1e6, 1e6)
    s.words = (rows + 3) // 4
    for lane in range(rows):
        s.cells[lane >> 2] |= np.uint64((1 << columns) - 1 << 16 * (lane & 3))
        s.entry[lane >> 2] |= np.uint64(1 << 16 * (lane & 3) + columns - 1)
    cells = rows * columns
    return Game(
        name="lane_defense",
        players=1,
        actions=cells + 1,
        template=state,
        layout=rules.STATE,
        first_field="t",
        reset=rules.reset,
        active=rules.active,
        legal=rules.legal,
        step=rules.step,
        status=rules.status,
        outcome=rules.outcome,
        key=rules.key,
        advise=scripted.advise_urgent,
        observe=rules.observe,
        observation_shape=(4 * cells + 2,),
        symmetries=symmetries(rows, columns, (columns,) * 4 + (0, 0), 1),
        discount=0.95,
        position=position.position,
        place=position.place,
        picture=draw.picture,
        text=draw.text,
        where=draw.where,
        action_name=partial(action_name, rows, columns),
        variants=_variants(rows, columns),
        presets=presets.classic(cells),
    )


def _variants(rows: int, columns: int) -> dict[str, dict[str, Any]]:
    tree = {"legal": models.legal_cells, "key": models.key_board}
    return {
        "planes": {
            "observe": rules.observe_planes,
            "observation_shape": (6, rows, columns),
            "symmetries": symmetries(rows, columns, (columns,) * 6, 1),
        },
        "bare_lanes": {"advise": scripted.advise_bare_lanes},
        "planting": {"legal": models.legal_plants},
        "worst_case": {"step": models.step_worst_case},
        "paper_tree": {"step": models.step_tree, **tree},
        "paper_tree_judged": {"step": models.step_tree_judged, **tree},
        "paper_tree_sampled": {"step": models.step_tree_sampled, **tree},
        "paper_tree_coin": {"step": models.step_tree_coin, "legal": models.legal_plants, "key": models.key_board},
        "paper_tree_clock": {"step": models.step_tree_clock, **tree},
        "paper_rollout": {"step": models.step_rollout, "legal": models.legal_plants},
        "paper_rollout_sampled": {"step": models.step_rollout_sampled, "legal": models.legal_plants},
    }


def action_name(rows: int, columns: int, action: int) -> str:
    """Name an action: ``"plant 0,2"`` (lane, column) or ``"wait"``."""
    return "wait" if action == rows * columns else f"plant {action // columns},{action % columns}"


class LaneDefense(GameEnv):
    """Hold the lanes for a night.

    ## Description
    Zombies enter at the right end of the lanes and walk towards the house at the left end. Plants shoot the zombies in
    their own lane. Now and then there is a plant to put down; where it goes is all that the player decides. The game is
    that of A. Zhang, "Monte Carlo Tree Search Applied to Plants vs. Zombies": `mcts_envs/LaneDefense3x3-v0` and
    `mcts_envs/LaneDefense10x10-v0` are its two boards.

    A step has these phases, in this order:

    1. *Plant*: the chosen cell gets a plant, which fires in this very step.
    2. *Shoot*: every lane hits its leftmost zombie once, however many plants it has, if that zombie is right of the
       lane's leftmost plant. A normal zombie dies from one hit, a strong one from two.
    3. *Move*: with probability `p_move` all zombies move one cell to the left, together. A plant in the way is eaten.
    4. *Spawn*: while `t < night`, with probability `p_new` a zombie enters a lane drawn from those whose last column
       holds no zombie; it is strong or normal with equal probability, and eats a plant in that cell.
    5. *End*: lost if a zombie is in column 0; won if `t >= night` and no zombie is left.
    6. `t` grows by 1, and a coin with probability `p_plant` decides whether there is a plant for the next decision.

    ## Action Space
    `Discrete(rows * columns + 1)`. Action `lane * columns + column` plants there, the last one waits. Planting is legal
    in empty cells when `can_plant` is set, waiting always. An illegal action counts as waiting.

    ## Observation Space
    `Box(0, 1, (4 * rows * columns + 2,), float32)`: four boards of 0 and 1 (plants, normal, strong, weakened strong
    zombies; cell `lane * columns + column`), then `can_plant`, then `min(t, night) / night`. With
    `observation="planes"`: `(6, rows, columns)`, the two scalars spread over a plane each.

    ## Rewards
    +1 for each zombie killed, -1 for each plant eaten, +100 for surviving the night and -200 for losing, the last two
    added to the others of the same step. The paper discounts by 0.95 a step.

    ## Starting State
    One zombie in the last column, `t = 0`, and a plant to put down (with `first_plant_guaranteed=False` the coin
    decides about the first one too).

    ## Episode End
    Terminated when won or lost, which with the default probabilities happens sooner or later (with probability 1).
    Truncated after `max_steps` if that is not 0. To limit the steps use this setting, not
    `gym.make(..., max_episode_steps=...)`: that limit is Gymnasium's, outside the game, so its truncation comes without
    `outcome` and `is_success`.

    ## Information
    `action_mask` (int8), `illegal_action` when the action was illegal, and at the end `outcome` (1 won, 0 lost) and
    `is_success`.

    ## Arguments
    | name | default | meaning |
    |---|---|---|
    | `rows`, `columns` | 3, 3 or 10, 10 | size of the board, up to 16 x 15 |
    | `p_plant`, `p_move`, `p_new` | 0.5, 0.5, 0.7 | probabilities of a step |
    | `night` | 20 | steps in which zombies enter |
    | `first_plant_guaranteed` | True | the paper's text; its programs with search drew the coin |
    | `max_steps` | 0 | step limit, 0: none |
    | `reward_kill`, `reward_eaten`, `reward_win`, `reward_loss` | 1, -1, 100, -200 | |
    | `reward_cover`, `reward_back` | 0, 0 | shaping: for the first plant of a lane, for a plant in column 0 |

    and those of every environment here: `illegal`, `observation`, `observation_dtype`, `render_mode`
    (`mcts_envs.core.api.env.GameEnv`).

    ## Position
    `{"board": [rows * columns codes], "t": int, "can_plant": bool}` with the codes 0 empty, 1 plant, 2 normal zombie,
    3 strong zombie, 4 weakened strong zombie; a list of rows is taken too. Forced dice (`"dice"`) are used in this
    order: move coin, spawn coin, index of the lane among the free ones, strength coin (1: strong), plant coin.

    ## References
    A. Zhang, "Monte Carlo Tree Search Applied to Plants vs. Zombies", CS 238, Stanford University.

    ## Version History
    * v0: first version.
    """

    make_game = staticmethod(lane_defense)


LaneDefenseVector = vectorized(LaneDefense)
