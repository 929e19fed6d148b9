"""Working off tasks between two decisions."""

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules import activation, ball, block, fall, match, tasks
from mcts_envs.games.football.rules.layout import NO_TEAM, NOBODY, RUNNING, STATE, TURN


@kernel(types.void(BYTES, types.int64, types.int64, types.int64))
def _perform_with_ball(state, task, who, detail):
    """Perform a task that is about the ball."""
    if task == tasks.PICK_UP:
        ball.pick_up(state, who, detail)
    elif task == tasks.BOUNCE:
        ball.bounce(state, who, detail)
    elif task == tasks.CATCH:
        ball.catch(state, who, detail)
    elif task == tasks.SCATTER:
        ball.scatter(state, who, detail)
    elif task == tasks.THROW_IN:
        ball.throw_in(state, who, detail)
    elif task == tasks.INTERCEPTION:
        ball.interception(state, who, detail)
    elif task == tasks.INTERCEPT:
        ball.intercept(state, who, detail)
    elif task == tasks.PASS:
        ball.throw(state, who, detail)
    elif task == tasks.POSSESSION:
        ball.possession(state, who, detail)
    else:
        match.touchdown(state, who, detail)


@kernel(types.void(BYTES, types.int64, types.int64, types.int64))
def _perform_match(state, task, who, detail):
    """Perform one of the rarer tasks."""
    if task == tasks.FOUL:
        fall.foul(state, who, detail)
    elif task == tasks.EJECT:
        fall.eject(state, who, detail)
    elif task == tasks.RECOVER:
        match.recover(state, who, detail)
    elif task == tasks.CLEAR_PITCH:
        match.clear_pitch(state, who, detail)
    elif task == tasks.START_HALF:
        match.start_half(state, who, detail)
    elif task == tasks.SETUP:
        match.setup(state, who, detail)
    elif task == tasks.KICK:
        match.ask_to_kick(state, who)
    elif task == tasks.TOUCHBACK:
        match.touchback(state, who, detail)


@kernel(types.void(BYTES, types.int64))
def _perform(state, packed):
    """Perform a task that was taken from the stack."""
    task, who, detail = tasks.what(packed), tasks.who(packed), tasks.detail(packed)
    if task == tasks.WALK:
        activation.step_to(state, detail)
    elif task == tasks.STRIKE:
        activation.arrive_and_strike(state, who, detail)
    elif task == tasks.ARRIVE:
        activation.arrive(state, who, detail)
    elif task == tasks.DODGE:
        activation.dodge(state, who, detail)
    elif task == tasks.RUSH:
        activation.rush(state, who, detail)
    elif task == tasks.END_ACTIVATION:
        activation.end_activation(state, who, detail)
    elif task == tasks.STAND_UP:
        activation.stand_up(state, who, detail)
    elif task == tasks.KNOCK_DOWN:
        fall.knock_down(state, who, detail)
    elif task == tasks.ARMOUR:
        fall.armour(state, who, detail)
    elif task == tasks.INJURY:
        fall.injury(state, who, detail)
    elif task == tasks.TURNOVER:
        match.turnover(state)
    elif task == tasks.BLOCK:
        block.roll_block(state, who, detail)
    elif task == tasks.PUSH:
        block.push(state, who, detail)
    elif task == tasks.PUSHED:
        block.pushed(state, who, detail)
    elif task == tasks.FOLLOW_UP:
        block.ask_to_follow(state, who, detail)
    elif task <= tasks.THROW_IN or task == tasks.PICK_UP or tasks.INTERCEPTION <= task <= tasks.PASS:
        _perform_with_ball(state, task, who, detail)
    else:
        _perform_match(state, task, who, detail)


@kernel(types.void(BYTES))
def play_on(state):
    """Work off tasks, and begin turns and halves, until a coach has to decide."""
    s = record(state, STATE)
    while s.phase == RUNNING:
        if s.waiting > 0:
            _perform(state, tasks.take(state))
        elif s.side == NO_TEAM:
            match.next_turn(state)
        elif s.active_player == NOBODY:
            s.phase, s.decider = TURN, s.side
        else:
            activation.next_option(state)
