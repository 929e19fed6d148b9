"""Breakthrough on 6x6, a board in an array with an edge around it: ``python examples/breakthrough.py`` plays it.

Stones go one cell ahead, straight or aslant, and take aslant. Whoever reaches the far side, or takes all, wins. An
illegal move loses.
"""

import gymnasium
import numpy as np

import agents
import mcts_envs
from mcts_envs.core.contract import ACTIVE, LEGAL, RESET, STATUS, STEP, Game, blank, state_dtype
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import seed_stream

# Rows are 8 cells apart, so that the board has an edge on all sides and no step needs a look at where it ends. A cell
# holds the number of the stone on it: 0 to 11 are player 0's. ``stands`` holds the cell of each stone, the first
# ``count`` of a player's dozen are those that are left.
SIZE, ROW, STONES = 6, 8, 12
CELLS = ROW * ROW
FREE, EDGE = 255, 254
STATE = state_dtype(
    [("turn", "u1"), ("over", "u1"), ("count", "u1", 2), ("stands", "u1", 2 * STONES), ("cells", "u1", CELLS)]
)


@kernel(RESET)
def reset(state, seed):
    """Put a dozen stones on either side."""
    seed_stream(state, seed)
    s = record(state, STATE)
    s.turn = s.over = 0
    for cell in range(CELLS):
        inside = 1 <= cell // ROW <= SIZE and 1 <= cell % ROW <= SIZE
        s.cells[cell] = FREE if inside else EDGE
    for player in range(2):
        s.count[player] = STONES
        for i in range(STONES):
            row = 1 + i // SIZE if player == 0 else SIZE - i // SIZE
            cell, stone = ROW * row + 1 + i % SIZE, STONES * player + i
            s.cells[cell], s.stands[stone] = stone, cell


@kernel()
def ahead(player, direction):
    """Return how far off the next cell lies in direction 0, 1 (straight) or 2."""
    return (ROW if player == 0 else -ROW) + direction - 1


@kernel()
def may_go(there, player, direction):
    """Return whether a stone may go where ``there`` is: on a free cell, or aslant on one of the other's."""
    first = STONES * (1 - player)
    return (there == FREE) | ((direction != 1) & (there >= first) & (there < first + STONES))


@kernel(ACTIVE)
def active(state):
    """Players take turns."""
    s = record(state, STATE)
    return 0 if s.over else 1 << s.turn


@kernel(LEGAL)
def legal(state, player, actions):
    """List the moves of each stone: written always, and counted where they are possible, without a branch."""
    s = record(state, STATE)
    count, first = 0, STONES * player
    for stone in range(first, first + np.int64(s.count[player])):
        cell = np.int64(s.stands[stone])
        for direction in range(3):
            actions[count] = 3 * cell + direction
            count += may_go(np.int64(s.cells[cell + ahead(player, direction)]), player, direction)
    return count


@kernel(STEP)
def step(state, actions, rewards):
    """Move a stone, and take what stands there: the last of the list fills its gap."""
    s = record(state, STATE)
    rewards[0] = rewards[1] = 0.0
    if s.over:
        return
    player = s.turn
    other, cell, direction = 1 - player, actions[player] // 3, actions[player] % 3
    stone, first = np.int64(s.cells[cell]), STONES * player
    own = first <= stone < first + STONES
    to = cell + ahead(player, direction) if own else cell
    there = np.int64(s.cells[to])
    legal = own and may_go(there, player, direction)
    if legal:
        if there != FREE:
            s.count[other] -= 1
            last = np.int64(s.stands[STONES * other + np.int64(s.count[other])])
            s.stands[there], s.cells[last] = last, there
        s.cells[cell], s.cells[to], s.stands[stone] = FREE, stone, to
        s.turn = other
    if not legal or to // ROW == (SIZE if player == 0 else 1) or s.count[other] == 0:
        s.over = 1
        rewards[player] = 1.0 if legal else -1.0
        rewards[other] = -rewards[player]


@kernel(STATUS)
def status(state, player):
    """Both players are done at the same time."""
    return record(state, STATE).over


def text(state):
    """Draw the board; X goes up."""
    cells = record(state, STATE).cells.reshape(ROW, ROW)[SIZE:0:-1, 1 : SIZE + 1]
    return "\n".join("".join("." if cell == FREE else "XO"[cell // STONES] for cell in row) for row in cells)


def action_name(action):
    """Name a move by the cell where it begins and its direction: ``"b2 left"``."""
    cell, direction = divmod(action, 3)
    return f"{'-abcdef-'[cell % ROW]}{cell // ROW} {('left', 'ahead', 'right')[direction]}"


GAME = Game(
    "breakthrough", 2, 3 * CELLS, blank(STATE), reset, active, legal, step, status, text=text, action_name=action_name
)
mcts_envs.register("Breakthrough-v0", GAME)

if __name__ == "__main__":
    env, agent = gymnasium.make("Breakthrough-v0", render_mode="ansi"), agents.make("mcts", simulations=2000)
    env.reset(seed=0)
    over = False
    while not over:
        _, reward, over, _, _ = env.step(agent.act(env))
        print(env.render(), end="\n\n")
    print("X won" if reward > 0 else "O won")
