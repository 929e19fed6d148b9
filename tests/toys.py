"""Toy games for the tests of the faces: in turns, at the same time, and with chance and players who drop out."""

import numpy as np

from mcts_envs.core import errors
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.vector import vectorized
from mcts_envs.core.contract import (
    ACTIVE,
    ADVISE,
    LEGAL,
    OBSERVE,
    OUTCOME,
    RESET,
    STATUS,
    STEP,
    Game,
    blank,
    state_dtype,
)
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.render import Canvas
from mcts_envs.core.rng import below, seed_stream

ONGOING, WON, DRAWN, OUT_OF_TIME = range(4)
COLOURS = ("#f4f4f4", "#d04040", "#4060d0", "#40a040")


def grid_picture(cells, width):
    """Draw codes 0 to 3, row by row."""
    canvas = Canvas(width, len(cells) // width, "#222222")
    for index, code in enumerate(cells):
        canvas.rectangle(index % width + 0.05, index // width + 0.05, 0.9, 0.9, fill=COLOURS[int(code)])
    return canvas


# Tic-tac-toe: two players in turns, no chance. An illegal action takes the first empty cell.

TICTACTOE = state_dtype([("cells", "u1", 9), ("turn", "u1"), ("end", "u1"), ("winner", "u1")])


@kernel(RESET)
def ttt_reset(state, seed):
    seed_stream(state, seed)
    s = record(state, TICTACTOE)
    s.cells[:] = 0
    s.turn = s.end = s.winner = 0


@kernel(ACTIVE)
def ttt_active(state):
    s = record(state, TICTACTOE)
    return 0 if s.end else 1 << s.turn


@kernel(LEGAL)
def ttt_legal(state, player, actions):
    s = record(state, TICTACTOE)
    count = 0
    for cell in range(9):
        if s.cells[cell] == 0:
            actions[count] = cell
            count += 1
    return count


@kernel()
def ttt_three(s, a, b, c):
    return s.cells[a] != 0 and s.cells[a] == s.cells[b] and s.cells[b] == s.cells[c]


@kernel(STEP)
def ttt_step(state, actions, rewards):
    s = record(state, TICTACTOE)
    rewards[:] = 0.0
    if s.end:
        return
    mover = s.turn
    cell = actions[mover]
    if s.cells[cell]:
        cell = 0
        while s.cells[cell]:
            cell += 1
    s.cells[cell] = 1 + mover
    won = ttt_three(s, 0, 4, 8) or ttt_three(s, 2, 4, 6)
    full = True
    for i in range(3):
        won = won or ttt_three(s, 3 * i, 3 * i + 1, 3 * i + 2) or ttt_three(s, i, i + 3, i + 6)
    for i in range(9):
        full = full and s.cells[i] != 0
    if won:
        s.end, s.winner = WON, mover
        rewards[mover], rewards[1 - mover] = 1.0, -1.0
    elif full:
        s.end = DRAWN
    else:
        s.turn = 1 - mover


@kernel(STATUS)
def ttt_status(state, player):
    return 1 if record(state, TICTACTOE).end else 0


@kernel(ADVISE)
def ttt_advise(state, player, weights):
    for cell in range(9):
        weights[cell] = 1.0 + (cell % 2 == 0) + 4.0 * (cell == 4)


@kernel(OBSERVE)
def ttt_observe(state, player, out):
    s = record(state, TICTACTOE)
    for cell in range(9):
        code = np.int64(s.cells[cell])
        out[cell] = np.float32(code == 1 + player)
        out[9 + cell] = np.float32(code == 2 - player)
        out[18 + cell] = np.float32(code == 0)


def ttt_position(state):
    s = record(state, TICTACTOE)
    return {"board": s.cells.tolist(), "turn": int(s.turn)}


def ttt_place(state, position):
    errors.keys("position", position, ("board", "turn"))
    if len(position["board"]) != 9:
        raise ValueError(f"position['board'] has {len(position['board'])} cells; it must have 9")
    cells = [errors.integer(f"position['board'][{i}]", code, 0, 2) for i, code in enumerate(position["board"])]
    s = record(state, TICTACTOE)
    s.turn = errors.integer("position['turn']", position["turn"], 0, 1)
    s.cells[:] = cells


def ttt_text(state):
    marks = [".XO"[code] for code in record(state, TICTACTOE).cells]
    return "\n".join("".join(marks[i : i + 3]) for i in (0, 3, 6))


def tic_tac_toe() -> Game:
    return Game(
        name="tic_tac_toe",
        players=2,
        actions=9,
        template=blank(TICTACTOE),
        reset=ttt_reset,
        active=ttt_active,
        legal=ttt_legal,
        step=ttt_step,
        status=ttt_status,
        advise=ttt_advise,
        observe=ttt_observe,
        observation_shape=(27,),
        position=ttt_position,
        place=ttt_place,
        picture=lambda state: grid_picture(record(state, TICTACTOE).cells, 3),
        text=ttt_text,
        action_name=lambda action: f"{action // 3},{action % 3}",
        variants={"square": {"observe": ttt_observe, "observation_shape": (3, 3, 3)}},
    )


class TicTacToe(GameEnv):
    """Tic-tac-toe."""

    metadata = {**GameEnv.metadata, "render_fps": 100}  # noqa: RUF012
    make_game = staticmethod(tic_tac_toe)


TicTacToeVector = vectorized(TicTacToe)


# Tron: two players at the same time. Actions are directions; an illegal one, back into the own trail, goes straight on.

MAX_SIZE = 20
TRON = state_dtype(
    [
        ("board_size", "i4"),
        ("max_steps", "i4"),
        ("t", "i4"),
        ("end", "i4"),
        ("heads", "i4", (2, 2)),
        ("facing", "i4", 2),
        ("crashed", "u1", 2),
        ("trail", "u1", (MAX_SIZE, MAX_SIZE)),
    ]
)


@kernel(RESET)
def tron_reset(state, seed):
    seed_stream(state, seed)
    s = record(state, TRON)
    n = s.board_size
    s.trail[:] = 0
    s.t = s.end = 0
    for player in range(2):
        s.crashed[player] = 0
        s.heads[player, 0] = n // 4 + below(state, n // 2)
        s.heads[player, 1] = n // 4 if player == 0 else n - 1 - n // 4
        s.facing[player] = 1 if player == 0 else 3
        s.trail[s.heads[player, 0], s.heads[player, 1]] = 1 + player


@kernel(ACTIVE)
def tron_active(state):
    return 0 if record(state, TRON).end else 3


@kernel(LEGAL)
def tron_legal(state, player, actions):
    back = (record(state, TRON).facing[player] + 2) % 4
    count = 0
    for direction in range(4):
        if direction != back:
            actions[count] = direction
            count += 1
    return count


@kernel(STEP)
def tron_step(state, actions, rewards):
    s = record(state, TRON)
    rewards[:] = 0.0
    if s.end:
        return
    n = s.board_size
    for player in range(2):
        if actions[player] != (s.facing[player] + 2) % 4:
            s.facing[player] = actions[player]
        facing = np.int64(s.facing[player])
        s.heads[player, 0] += np.int64(facing == 2) - np.int64(facing == 0)
        s.heads[player, 1] += np.int64(facing == 1) - np.int64(facing == 3)
        row, column = s.heads[player, 0], s.heads[player, 1]
        s.crashed[player] = row < 0 or row >= n or column < 0 or column >= n or s.trail[row, column] != 0
    if s.heads[0, 0] == s.heads[1, 0] and s.heads[0, 1] == s.heads[1, 1]:
        s.crashed[:] = 1
    s.t += 1
    if s.crashed[0] or s.crashed[1]:
        s.end = WON
        rewards[0] = np.float64(s.crashed[1]) - np.float64(s.crashed[0])
        rewards[1] = -rewards[0]
        return
    for player in range(2):
        s.trail[s.heads[player, 0], s.heads[player, 1]] = 1 + player
    if s.max_steps and s.t >= s.max_steps:
        s.end = OUT_OF_TIME


@kernel(STATUS)
def tron_status(state, player):
    end = record(state, TRON).end
    return 2 if end == OUT_OF_TIME else np.int64(end != ONGOING)


@kernel(ADVISE)
def tron_advise(state, player, weights):
    s = record(state, TRON)
    n = s.board_size
    for direction in range(4):
        row = s.heads[player, 0] + (direction == 2) - (direction == 0)
        column = s.heads[player, 1] + (direction == 1) - (direction == 3)
        inside = row >= 0 and row < n and column >= 0 and column < n
        weights[direction] = 1.0 if inside and s.trail[row, column] == 0 else 0.0


def tron_trail(state):
    s = record(state, TRON)
    n = int(s.board_size)
    return s.trail[:n, :n].reshape(-1)


def tron(size: int = 8, max_steps: int = 0) -> Game:
    state = blank(TRON)
    s = record(state, TRON)
    s.board_size = errors.integer("size", size, 4, MAX_SIZE)
    s.max_steps = errors.integer("max_steps", max_steps, 0, 1000)
    return Game(
        name="tron",
        players=2,
        actions=4,
        template=state,
        reset=tron_reset,
        active=tron_active,
        legal=tron_legal,
        step=tron_step,
        status=tron_status,
        advise=tron_advise,
        simultaneous=True,
        picture=lambda state: grid_picture(tron_trail(state), int(record(state, TRON).board_size)),
        text=lambda state: "".join(map(str, tron_trail(state))),
    )


class Tron(GameEnv):
    """Tron."""

    metadata = {**GameEnv.metadata, "render_fps": 100}  # noqa: RUF012
    make_game = staticmethod(tron)


TronVector = vectorized(Tron)


# Stakes: three players in turns bet 1 to 3 chips on a die. Who has none is out; the first with ``goal`` chips wins, or
# the last who is in. A lost bet pays 1/8 to each other player who is in. An illegal action bets 1.

STAKES = state_dtype(
    [
        ("goal", "i4"),
        ("max_steps", "i4"),
        ("t", "i4"),
        ("end", "i4"),
        ("turn", "i4"),
        ("chips", "i4", 3),
    ]
)
START_CHIPS = 3


@kernel(RESET)
def stakes_reset(state, seed):
    seed_stream(state, seed)
    s = record(state, STAKES)
    s.t = s.end = s.turn = 0
    s.chips[:] = START_CHIPS


@kernel(ACTIVE)
def stakes_active(state):
    s = record(state, STAKES)
    return 0 if s.end else 1 << s.turn


@kernel(LEGAL)
def stakes_legal(state, player, actions):
    count = min(3, np.int64(record(state, STAKES).chips[player]))
    for i in range(count):
        actions[i] = i
    return count


@kernel(STEP)
def stakes_step(state, actions, rewards):
    s = record(state, STAKES)
    rewards[:] = 0.0
    if s.end:
        return
    mover = s.turn
    stake = actions[mover] + 1
    if stake > s.chips[mover]:
        stake = 1
    if below(state, 6) >= 3:
        s.chips[mover] += stake
    else:
        s.chips[mover] -= stake
        for player in range(3):
            rewards[player] = 0.125 if player != mover and s.chips[player] > 0 else 0.0
    if s.chips[mover] == 0:
        rewards[mover] = -1.0
    s.t += 1
    left = 0
    for player in range(3):
        left += s.chips[player] > 0
    if s.chips[mover] >= s.goal or left == 1:
        s.end = WON
        for player in range(3):
            if s.chips[player] > 0:
                best = s.chips[player] >= s.goal or left == 1
                rewards[player] += 2.0 if best else -1.0
    elif s.max_steps and s.t >= s.max_steps:
        s.end = OUT_OF_TIME
    while not s.end:
        s.turn = (s.turn + 1) % 3
        if s.chips[s.turn] > 0:
            break


@kernel(STATUS)
def stakes_status(state, player):
    s = record(state, STAKES)
    if s.chips[player] == 0 or s.end == WON:
        return 1
    return 2 if s.end == OUT_OF_TIME else 0


@kernel(OUTCOME)
def stakes_outcome(state, points):
    s = record(state, STAKES)
    for player in range(3):
        points[player] = 1.0 if points[player] > 0.0 else 0.0
        if s.end == OUT_OF_TIME and s.chips[player] > 0:
            points[player] = 0.5


@kernel(OBSERVE)
def stakes_observe(state, player, out):
    s = record(state, STAKES)
    for i in range(3):
        out[i] = min(np.float32(1.0), np.float32(s.chips[(player + i) % 3]) / np.float32(s.goal))
    out[3] = np.float32(s.turn == player)


def stakes_position(state):
    s = record(state, STAKES)
    return {"chips": s.chips.tolist(), "turn": int(s.turn), "t": int(s.t)}


def stakes_place(state, position):
    errors.keys("position", position, ("chips", "turn"), ("t",))
    s = record(state, STAKES)
    chips = [errors.integer(f"position['chips'][{i}]", n, 0, int(s.goal)) for i, n in enumerate(position["chips"])]
    s.turn = errors.integer("position['turn']", position["turn"], 0, 2)
    s.t = errors.integer("position['t']", position.get("t", 0), 0, 10**6)
    s.chips[:] = chips
    if max(chips) == s.goal or sum(n > 0 for n in chips) < 2:
        s.end = WON
    elif chips[s.turn] == 0:
        raise ValueError(f"position['turn'] {s.turn} has no chips")


def stakes(goal: int = 8, max_steps: int = 0) -> Game:
    state = blank(STAKES)
    s = record(state, STAKES)
    s.goal = errors.integer("goal", goal, START_CHIPS + 1, 50)
    s.max_steps = errors.integer("max_steps", max_steps, 0, 1000)
    return Game(
        name="stakes",
        players=3,
        actions=3,
        template=state,
        reset=stakes_reset,
        active=stakes_active,
        legal=stakes_legal,
        step=stakes_step,
        status=stakes_status,
        outcome=stakes_outcome,
        observe=stakes_observe,
        observation_shape=(4,),
        position=stakes_position,
        place=stakes_place,
        picture=lambda state: grid_picture([int(n > 0) for n in record(state, STAKES).chips], 3),
        text=lambda state: str(stakes_position(state)),
    )


class Stakes(GameEnv):
    """Stakes."""

    metadata = {**GameEnv.metadata, "render_fps": 100}  # noqa: RUF012
    make_game = staticmethod(stakes)


StakesVector = vectorized(Stakes)

TOYS = (TicTacToe, Tron, Stakes)
