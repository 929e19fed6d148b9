"""The contract of football-lite: a step applies one decision, then works off tasks until the next one."""

import numpy as np

from mcts_envs.core.contract import ACTIVE, BYTES, KEY, OUTCOME, RESET, STATUS, STEP, TERMINATED, TRUNCATED, types
from mcts_envs.core.contract import RUNNING as UNFINISHED
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import below, combine, seed_stream
from mcts_envs.games.football.rules import actions as act
from mcts_envs.games.football.rules import activation, ball, block, events, match, paths, tasks
from mcts_envs.games.football.rules.checks import is_legal, is_next_to, kind_of, slot_of
from mcts_envs.games.football.rules.dice import forget_rolls
from mcts_envs.games.football.rules.field import build_board
from mcts_envs.games.football.rules.layout import (
    ACTIVATION,
    BLOCK_DICE,
    FOLLOW_UP,
    KICK,
    NO_ACTIVITY,
    NO_TEAM,
    NOBODY,
    ON_PITCH,
    OVER,
    PLAYERS,
    PUSH,
    REROLL,
    RESERVES,
    RUNNING,
    SETUP,
    STANDING,
    STATE,
    TOUCHBACK,
    TURN,
)
from mcts_envs.games.football.rules.play import play_on
from mcts_envs.games.football.rules.tasks import later

_KEY_START = np.uint64(0x452821E638D01377)


@kernel(RESET)
def reset(state, seed):
    """Toss for the first kick-off, unless that is fixed, and play on to the first decision."""
    seed_stream(state, seed)
    s = record(state, STATE)
    forget_rolls(state)
    tasks.drop_all(state)
    for event in range(len(events.NAMES)):
        s.events[event] = 0
    for player in range(PLAYERS):
        s.square[player], s.posture[player], s.used[player], s.moved[player] = 0, STANDING, 0, 0
        member = (player & 15) < s.members[player >> 4]
        s.box[player] = RESERVES if member else ON_PITCH
        s.ma[player], s.st[player] = s.enlisted[0, player], s.enlisted[1, player]
        s.ag[player], s.av[player], s.role[player] = s.enlisted[2, player], s.enlisted[3, player], s.enlisted[4, player]
    build_board(state)
    s.opening_kicker = s.first_kicker if s.first_kicker != NO_TEAM else below(state, 2)
    s.score[0], s.score[1], s.t, s.truncated = 0, 0, 0, 0
    s.side, s.active_player, s.activity, s.blocked = NO_TEAM, NOBODY, NO_ACTIVITY, 0
    s.blitz_used, s.pass_used, s.handoff_used, s.foul_used, s.reroll_used = 0, 0, 0, 0, 0
    s.carrier, s.ball, s.defender, s.faces, s.block_dice, s.fumbled = NOBODY, 0, NOBODY, 0, 0, 0
    s.phase = RUNNING
    match.begin_half(state, 1)
    play_on(state)


@kernel(ACTIVE)
def active(state):
    """The team to decide."""
    s = record(state, STATE)
    return 0 if s.phase == OVER else 1 << s.decider


@kernel(types.void(BYTES, types.int64, types.int64))
def _walk(state, square, other):
    """Walk the safest way to a square, or next to another player and strike; without a way the activation ends."""
    s = record(state, STATE)
    player = s.active_player
    moves = activation.moves_left(state, player)
    if other != NOBODY:
        moves = paths.spare_moves(state, player, s.activity)
        later(state, tasks.STRIKE, other, 0)
    if not paths.plan_walk(state, square, moves):
        tasks.drop_all(state)
        activation.end_activation(state, player, 0)


@kernel(types.void(BYTES, types.int64))
def _act(state, action):
    """Apply a decision of an activation."""
    s = record(state, STATE)
    if action == act.END_ACTIVATION:
        activation.end_activation(state, s.active_player, 0)
        return
    if action == act.STAND_UP:
        activation.try_to_stand_up(state)
        return
    kind, slot = kind_of(state, action), slot_of(state, action)
    side = s.side
    if kind < act.MOVES:
        other = 16 * (side if kind == act.HANDOFFS else 1 - side) + slot
        if is_next_to(state, other):
            activation.strike(state, other)
        else:
            _walk(state, np.int64(s.square[other]), other)
    elif action >= act.first_ball_to(state):
        activation.pass_to(state, act.square_of(state, action - act.first_ball_to(state)))
    else:
        square = act.square_of(state, action - act.after(state, act.MOVES))
        if s.paths:
            _walk(state, square, NOBODY)
        else:
            activation.step_to(state, square)


@kernel(types.void(BYTES))
def _fail(state):
    """Let the roll fail whose reroll was declined."""
    task = tasks.take(state)
    what, who, detail = tasks.what(task), tasks.who(task), tasks.detail(task)
    if what == tasks.RUSH or what == tasks.DODGE:
        activation.trip(state, who, detail)
    elif what == tasks.STAND_UP:
        later(state, tasks.END_ACTIVATION, who, 0)
    elif what == tasks.PICK_UP:
        ball.pick_up_fails(state)
    elif what == tasks.CATCH:
        ball.catch_fails(state, who, detail)
    else:
        ball.throw_fails(state, detail)


@kernel(types.void(BYTES, types.int64, types.int64))
def _reroll(state, phase, action):
    """Use or decline a reroll; the block dice are thrown all together, a single roll waits on the stack."""
    s = record(state, STATE)
    blocks = phase != REROLL
    if action == act.USE_REROLL:
        s.reroll_used = 1
        s.rerolls[s.side] -= np.uint8(1)
        s.fumbled = 0
        events.count(state, events.REROLLS)
        if blocks:
            later(state, tasks.BLOCK, s.defender, 0)
    elif blocks:
        block.let_defender_choose(state)
    else:
        _fail(state)


@kernel(types.void(BYTES, types.int64, types.int64))
def _answer(state, phase, action):
    """Apply a decision of one of the rarer phases."""
    s = record(state, STATE)
    if action == act.USE_REROLL or action == act.DECLINE_REROLL:
        _reroll(state, phase, action)
        return
    if phase == BLOCK_DICE:
        block.take_face(state, action - act.TAKE_DIE)
        return
    if phase == TOUCHBACK:
        match.give_to(state, 16 * s.decider + slot_of(state, action))
        return
    task = tasks.take(state)
    who, detail = tasks.who(task), tasks.detail(task)
    if phase == PUSH:
        block.push_to(state, who, detail, act.direction_of(state, action - act.PUSH))
    elif phase == FOLLOW_UP:
        if action == act.FOLLOW_UP:
            block.follow_up(state, who, detail)
    elif phase == SETUP:
        match.line_up(state, who, action - act.FORMATION)
    elif phase == KICK:
        match.kick(state, act.square_of(state, action - act.first_ball_to(state)))
    elif action != act.NO_INTERCEPTION:
        later(state, tasks.INTERCEPT, 16 * s.decider + slot_of(state, action), 0)


@kernel(types.void(BYTES, types.int64))
def decide(state, action):
    """Apply a legal action, which leaves tasks behind, or the next decision."""
    s = record(state, STATE)
    phase, s.phase = s.phase, RUNNING
    if phase == ACTIVATION:
        _act(state, action)
    elif phase == TURN:
        if action == act.END_TURN:
            match.end_turn(state)
        else:
            activation.start(state, 16 * s.side + slot_of(state, action), kind_of(state, action) + 1)
    else:
        _answer(state, phase, action)


@kernel(STEP)
def step(state, actions, rewards):
    """Apply the decision of the team to decide and play on to the next one; illegal: the first legal action."""
    s = record(state, STATE)
    rewards[0] = rewards[1] = 0.0
    if s.phase == OVER:
        return
    action = actions[s.decider]
    if not is_legal(state, action):
        action = 0
        while not is_legal(state, action):
            action += 1
    lead = np.int64(s.score[0]) - np.int64(s.score[1])
    forget_rolls(state)
    decide(state, action)
    play_on(state)
    if s.max_steps > 0:
        s.t += 1
        if s.phase != OVER and s.t >= s.max_steps:
            s.phase, s.decider, s.truncated = OVER, NO_TEAM, 1
    gained = np.int64(s.score[0]) - np.int64(s.score[1])
    rewards[0] = s.reward_touchdown * (gained - lead)
    if s.phase == OVER and s.truncated == 0:
        rewards[0] += np.int64(gained > 0) - np.int64(gained < 0)
    rewards[1] = -rewards[0]


@kernel(STATUS)
def status(state, player):
    """Terminated after the last turn, truncated when the step limit is reached."""
    s = record(state, STATE)
    if s.phase != OVER:
        return UNFINISHED
    return TRUNCATED if s.truncated else TERMINATED


@kernel(OUTCOME)
def outcome(state, points):
    """1 for more touchdowns, half a point each for equally many."""
    s = record(state, STATE)
    lead = np.int64(s.score[0]) - np.int64(s.score[1])
    points[0] = 0.5 + 0.5 * (np.int64(lead > 0) - np.int64(lead < 0))
    points[1] = 1.0 - points[0]


@kernel()
def _pack(first, second, third, fourth, fifth, sixth, seventh, eighth):
    """Pack eight bytes."""
    low = np.int64(first) | np.int64(second) << 8 | np.int64(third) << 16 | np.int64(fourth) << 24
    high = np.int64(fifth) | np.int64(sixth) << 8 | np.int64(seventh) << 16 | np.int64(eighth) << 24
    return np.uint64(low) | np.uint64(high) << np.uint64(32)


@kernel(KEY)
def key(state, observer):
    """Hash of all that rules look at: nothing is hidden. Dice shown, counts and settings are left out."""
    s = record(state, STATE)
    score, turn, rerolls = s.score, s.turn, s.rerolls
    used = s.reroll_used | s.blitz_used << 1 | s.pass_used << 2 | s.handoff_used << 3 | s.foul_used << 4
    hashed = combine(_KEY_START, _pack(s.phase, s.decider, s.side, s.half, s.opening_kicker, s.kicker, used, s.blocked))
    hashed = combine(hashed, _pack(score[0], score[1], turn[0], turn[1], rerolls[0], rerolls[1], s.activity, s.carrier))
    more = s.ball | s.faces << 16 | s.fumbled << 24 | s.active_player << 32
    hashed = combine(hashed, np.uint64(more | s.defender << 40 | s.block_dice << 48))
    hashed = combine(hashed, np.uint64(s.t))
    for team in range(2):
        for player in range(16 * team, 16 * team + np.int64(s.members[team])):
            place = np.int64(s.square[player]) | np.int64(s.box[player]) << 16 | np.int64(s.posture[player]) << 24
            hashed = combine(
                hashed, np.uint64(place | np.int64(s.used[player]) << 32 | np.int64(s.moved[player]) << 40)
            )
    for i in range(s.waiting):
        hashed = combine(hashed, np.uint64(s.tasks[i]))
    return hashed
