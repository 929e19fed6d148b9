"""Pig, a game of dice with a setting, positions and a picture: ``python examples/pig.py`` plays it.

Roll as often as you dare: what you roll goes into the pot, a 1 empties it and ends your turn. Hold, and the pot is
yours. Whoever has ``goal`` points first wins.
"""

import gymnasium

import agents
import mcts_envs
from mcts_envs.core import errors
from mcts_envs.core.contract import ACTIVE, LEGAL, OBSERVE, RESET, STATUS, STEP, Game, blank, state_dtype
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.render import PLAYERS, Canvas, on
from mcts_envs.core.rng import below, seed_stream

# The setting stands in front, and ``turn`` is the first field that changes.
STATE = state_dtype([("goal", "u1"), ("turn", "u1"), ("over", "u1"), ("pot", "u1"), ("points", "u1", 2)])
ROLL, HOLD = 0, 1


@kernel(RESET)
def reset(state, seed):
    """Start with nothing; the goal lies in the state already."""
    seed_stream(state, seed)
    s = record(state, STATE)
    s.turn = s.over = s.pot = s.points[0] = s.points[1] = 0


@kernel(ACTIVE)
def active(state):
    """Players take turns, which may last."""
    s = record(state, STATE)
    return 0 if s.over else 1 << s.turn


@kernel(LEGAL)
def legal(state, player, actions):
    """Roll or hold; with an empty pot, and with enough in it, there is nothing to choose."""
    s = record(state, STATE)
    actions[0], actions[1] = ROLL, HOLD
    if s.points[player] + s.pot >= s.goal:
        actions[0] = HOLD
        return 1
    return 2 if s.pot else 1


@kernel(STEP)
def step(state, actions, rewards):
    """Roll, or take the pot; to hold an empty one passes the turn, and a full one is not rolled on."""
    s = record(state, STATE)
    rewards[0] = rewards[1] = 0.0
    if s.over:
        return
    player = s.turn
    if actions[player] == ROLL and s.points[player] + s.pot < s.goal:
        die = below(state, 6) + 1
        if die > 1:
            s.pot += die
            return
    else:
        s.points[player] += s.pot
        if s.points[player] >= s.goal:
            s.over = 1
            rewards[player], rewards[1 - player] = 1.0, -1.0
    s.pot = 0
    s.turn = 1 - player


@kernel(STATUS)
def status(state, player):
    """Both players are done at the same time."""
    return record(state, STATE).over


@kernel(OBSERVE)
def observe(state, player, out):
    """Show the player's points, the other's, the pot, each as a share of the goal, and whether it is its turn."""
    s = record(state, STATE)
    out[0] = min(1.0, s.points[player] / s.goal)
    out[1] = min(1.0, s.points[1 - player] / s.goal)
    out[2] = min(1.0, s.pot / s.goal)
    out[3] = s.turn == player


def position(state):
    """Return points, pot and turn, by name."""
    s = record(state, STATE)
    return {"points": s.points.tolist(), "pot": int(s.pot), "turn": int(s.turn)}


def place(state, position):
    """Set points, pot and turn; all of it is checked before the state is touched."""
    s = record(state, STATE)
    errors.keys("position", position, ("points", "pot", "turn"))
    points = [errors.integer("position['points']", points, 0, int(s.goal) - 1) for points in position["points"]]
    turn = errors.integer("position['turn']", position["turn"], 0, 1)
    pot = errors.integer("position['pot']", position["pot"], 0, int(s.goal) + 5 - points[turn])
    s.points[0], s.points[1] = points
    s.pot, s.turn = pot, turn


def text(state):
    """Write the score in a line."""
    s = record(state, STATE)
    return f"{s.points[0]} : {s.points[1]}, player {s.turn} has {s.pot} in the pot"


def picture(state):
    """Draw a bar of points for each player, and the pot lighter at the end of it."""
    s = record(state, STATE)
    canvas = Canvas(11.0, 3.0, "#fffcf6")
    for player, colour in enumerate(PLAYERS[:2]):
        bar, points = canvas.at(0.5, 0.4 + 1.2 * player), 10.0 * min(1.0, s.points[player] / s.goal)
        bar.rectangle(0.0, 0.0, 10.0, 1.0, "#efe8dc")
        bar.rectangle(0.0, 0.0, points, 1.0, colour)
        if player == s.turn:
            bar.rectangle(points, 0.0, min(10.0 - points, 10.0 * s.pot / s.goal), 1.0, colour, opacity=0.4)
        ink = on(colour) if points >= 1.0 else "#3a322c"
        bar.text(0.2, 0.5, str(s.points[player]), ink, 0.5, anchor="start")
    return canvas


def pig(goal: int = 100) -> Game:
    """Return pig: roll as often as you dare, or hold; whoever has ``goal`` points first, 2 to 200, wins."""
    state = blank(STATE)
    record(state, STATE).goal = errors.integer("goal", goal, 2, 200)
    return Game(
        "pig", 2, 2, state, reset, active, legal, step, status, layout=STATE, first_field="turn",
        observe=observe, observation_shape=(4,), position=position, place=place, text=text, picture=picture,
        action_name=("roll", "hold").__getitem__,
    )  # fmt: skip


mcts_envs.register("Pig-v0", pig)

if __name__ == "__main__":
    env, agent = gymnasium.make("Pig-v0", goal=40, render_mode="ansi"), agents.make("mcts", simulations=500)
    env.reset(seed=0)
    over = False
    while not over:
        _, reward, over, _, _ = env.step(agent.act(env))
        print(env.render())
    print("won" if reward > 0 else "lost")
