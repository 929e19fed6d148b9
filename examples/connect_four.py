"""Connect four, a game for every API and planner here: ``python examples/connect_four.py`` plays it."""

import gymnasium
import numpy as np

import agents
import mcts_envs
from mcts_envs.core.contract import ACTIVE, LEGAL, RESET, STATUS, STEP, Game, blank, state_dtype
from mcts_envs.core.kernel import count_bits, kernel, record
from mcts_envs.core.rng import seed_stream

# Bit 7 * column + row is a cell, row 0 the lowest; row 6 lies above the board and keeps lines from running on into the
# next column. ``mine`` are the stones of the player to move; ``landing`` is where a stone would come to lie in each
# column, so ``landing - BOTTOM`` are all stones, and their number says whose turn it is. Its bit 63 says: game over.
STATE = state_dtype([("mine", "u8"), ("landing", "u8")])
ONE, COLUMN, OVER = np.uint64(1), np.uint64(63), np.uint64(1 << 63)
BOTTOM = np.uint64(sum(1 << 7 * column for column in range(7)))
BOARD, ABOVE = BOTTOM * COLUMN, BOTTOM << np.uint64(6)
DIRECTIONS = (np.uint64(7), np.uint64(6), np.uint64(8), np.uint64(1))  # level, falling, rising, upright


@kernel(RESET)
def reset(state, seed):
    """Empty the board."""
    seed_stream(state, seed)
    s = record(state, STATE)
    s.mine, s.landing = 0, BOTTOM


@kernel(ACTIVE)
def active(state):
    """Players take turns."""
    landing = record(state, STATE).landing
    return 0 if landing & OVER else 1 << (count_bits(landing - BOTTOM) & 1)


@kernel(LEGAL)
def legal(state, player, actions):
    """List the columns that are not full; mostly none is."""
    full, count = record(state, STATE).landing & ABOVE, 0
    for column in range(7):
        if not full or not full >> np.uint64(7 * column + 6) & ONE:
            actions[count] = column
            count += 1
    return count


@kernel(STEP)
def step(state, actions, rewards):
    """Drop a stone; where the column is full (illegal), into the first that is not."""
    s = record(state, STATE)
    rewards[0] = rewards[1] = 0.0
    if s.landing & OVER:
        return
    stones, landing = s.landing - BOTTOM, s.landing & BOARD
    player = count_bits(stones) & 1
    stone = landing & (COLUMN << np.uint64(7 * actions[player])) or landing & (~landing + ONE)
    mine, s.mine = s.mine | stone, s.mine ^ stones
    s.landing += stone
    for direction in DIRECTIONS:
        pairs = mine & (mine >> direction)
        if pairs & (pairs >> (direction + direction)):
            s.landing |= OVER
            rewards[player], rewards[1 - player] = 1.0, -1.0
            return
    if s.landing == ABOVE:
        s.landing |= OVER


@kernel(STATUS)
def status(state, player):
    """Both players are done at the same time."""
    return 1 if record(state, STATE).landing & OVER else 0


def text(state):
    """Draw the board; X began."""
    mine, landing = record(state, STATE).tolist()[-2:]
    stones = landing % (1 << 63) - int(BOTTOM)
    first = mine if stones.bit_count() % 2 == 0 else mine ^ stones
    cells = [".OX"[(stones >> cell & 1) + (first >> cell & 1)] for cell in range(48)]
    return "\n".join("".join(cells[row::7]) for row in range(5, -1, -1))


GAME = Game("connect_four", 2, 7, blank(STATE), reset, active, legal, step, status, text=text)
mcts_envs.register("ConnectFour-v0", GAME)

if __name__ == "__main__":
    env, agent = gymnasium.make("ConnectFour-v0", render_mode="ansi"), agents.make("mcts", simulations=2000)
    env.reset(seed=0)
    over = False
    while not over:
        _, reward, over, _, _ = env.step(agent.act(env))
        print(env.render(), end="\n\n")
    print({1: "X won", 0: "a draw", -1: "O won"}[reward])
