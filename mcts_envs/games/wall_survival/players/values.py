"""What an unfinished position is worth to each player: the exact result after the end, heuristics before."""

from mcts_envs.core.contract import EVALUATE
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.wall_survival.rules.bits import count, nearer
from mcts_envs.games.wall_survival.rules.board import near, stands, ways
from mcts_envs.games.wall_survival.rules.ends import winning_wall
from mcts_envs.games.wall_survival.rules.kernels import winner
from mcts_envs.games.wall_survival.rules.layout import ONGOING, STATE


@kernel()
def _share(values, first, second):
    """Value two amounts by their difference, as a part of their sum."""
    values[0] = (first - second) / max(first + second, 1)
    values[1] = -values[0]


@kernel()
def _at_the_end(state, values):
    """Value a game that is over; return whether it is."""
    if record(state, STATE).end == ONGOING:
        return False
    values[0] = winner(state)
    values[1] = -values[0]
    return True


@kernel(EVALUATE)
def evaluate_voronoi(state, values):
    """Cells nearer to me less those nearer to the other, as a part of both (Voronoi regions, by steps to walk).

    Measured by whole turns instead, where the player to move comes first, it lost: one ply ahead, 30 to 37 % of the
    points against this one (6x6, 9x9 and 12x12, at least 300 games each).
    """
    if not _at_the_end(state, values):
        size = record(state, STATE).board_size
        first, second = nearer(ways(state), size, stands(state, 0), stands(state, 1))
        _share(values, first, second)


@kernel(EVALUATE)
def evaluate_threats(state, values):
    """The same, but a player to move that can win at once has won."""
    evaluate_voronoi(state, values)
    s = record(state, STATE)
    mover = s.turn
    if s.end == ONGOING and winning_wall(state, mover) >= 0:
        values[mover], values[1 - mover] = 1.0, -1.0


@kernel(EVALUATE)
def evaluate_mobility(state, values):
    """Cells that I could reach in one turn less those that the other could, as a part of both."""
    if not _at_the_end(state, values):
        _share(values, count(near(state, 0)), count(near(state, 1)))
