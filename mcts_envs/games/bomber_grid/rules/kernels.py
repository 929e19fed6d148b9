"""Rules: all players move at once, then bombs roll and go off, then the fire takes its toll.

Only the first position is left to chance.
"""

from mcts_envs.core.contract import (
    ACTIVE,
    BYTES,
    INTS,
    LEGAL,
    OUTCOME,
    RESET,
    RUNNING,
    STATUS,
    STEP,
    TERMINATED,
    types,
)
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import seed_stream
from mcts_envs.games.bomber_grid.rules.bits import ZERO, any_of, pair
from mcts_envs.games.bomber_grid.rules.blasts import collapse, die_down, kill, ring, tick
from mcts_envs.games.bomber_grid.rules.board import build
from mcts_envs.games.bomber_grid.rules.danger import foresee, forget, safe_moves
from mcts_envs.games.bomber_grid.rules.layout import (
    DUEL,
    MAX_BOMBS,
    MOVES,
    ONGOING,
    RADIO,
    SEATS,
    STATE,
    TIE,
    WON,
    WORDS,
)
from mcts_envs.games.bomber_grid.rules.moves import commit, intend, is_alive, settle
from mcts_envs.games.bomber_grid.rules.sight import in_teams, window

FIRST_TEAM = 0b0101


@kernel()
def scale_of(s):
    """Return how many actions stand for each move: one for all words that can be sent with it."""
    return WORDS * WORDS if s.mode == RADIO else 1


@kernel(types.void(BYTES))
def clear(state):
    """Empty everything but the settings and the walls."""
    s = record(state, STATE)
    s.t, s.end, s.n_bombs = 0, ONGOING, 0
    s.alive = (1 << s.players) - 1
    for player in range(SEATS):
        there = player < s.players
        s.stands[player] = s.homes[player]
        s.died[player] = s.kicks[player] = s.words[player, 0] = s.words[player, 1] = 0
        s.trail[player] = ZERO
        s.ammo[player], s.strength[player] = (1, 2) if there else (0, 0)
    for word in range(2):
        s.fire[word] = ZERO
    for life in range(s.flames.shape[0]):
        s.flames[life, 0] = s.flames[life, 1] = ZERO
    for bomb in range(MAX_BOMBS):
        s.bomb_cell[bomb] = s.bomb_owner[bomb] = s.bomb_life[bomb] = s.bomb_strength[bomb] = s.bomb_way[bomb] = 0


@kernel(RESET)
def reset(state, seed):
    """Draw a board."""
    seed_stream(state, seed)
    clear(state)
    build(state)


@kernel(ACTIVE)
def active(state):
    """All who live choose at once."""
    s = record(state, STATE)
    return s.alive if s.end == ONGOING else 0


@kernel(types.int64(BYTES, types.int64))
def _safe_moves(state, player):
    """Return the moves that need not end in fire, all if there are none, as bits."""
    seen = window(state, player)
    foresee(state, seen)
    moves = safe_moves(state, player, seen)
    forget(record(state, STATE))
    return moves if moves else (1 << MOVES) - 1


@kernel(types.int64(BYTES, types.int64))
def _legal_moves(state, player):
    """Return all moves, or with ``mask="safe"`` only those that need not end in fire, if there are any, as bits."""
    return _safe_moves(state, player) if record(state, STATE).only_safe else (1 << MOVES) - 1


@kernel(types.int64(types.int64, types.int64, INTS))
def _with_words(moves, scale, actions):
    """List the actions of some moves, with all words that can be sent."""
    n = 0
    for move in range(MOVES):
        if moves >> move & 1:
            for action in range(move * scale, (move + 1) * scale):
                actions[n] = action
                n += 1
    return n


@kernel(LEGAL)
def legal(state, player, actions):
    """List all actions, or with ``mask="safe"`` only those that need not end in fire, if there are any."""
    return _with_words(_legal_moves(state, player), scale_of(record(state, STATE)), actions)


@kernel(LEGAL)
def legal_safe(state, player, actions):
    """List the actions that are legal with ``mask="safe"``, whatever the setting is."""
    return _with_words(_safe_moves(state, player), scale_of(record(state, STATE)), actions)


@kernel(LEGAL)
def legal_silent(state, player, actions):
    """List the legal moves, each with the words 0 and 0."""
    scale, moves, n = scale_of(record(state, STATE)), _legal_moves(state, player), 0
    for move in range(MOVES):
        if moves >> move & 1:
            actions[n] = move * scale
            n += 1
    return n


@kernel()
def judge(s):
    """End the game when nobody is left to fight, or at the time limit."""
    alive = s.alive
    if in_teams(s):
        first, second = alive & FIRST_TEAM, alive & ~FIRST_TEAM
        over, won = first == 0 or second == 0, alive != 0
    else:
        over = alive & (alive - 1) == 0
        won = alive != 0
    if over:
        s.end = WON if won else TIE
    elif s.t >= s.max_steps:
        s.end = TIE


@kernel()
def has_won(s, player):
    """Return whether a player, dead or alive, is on the side that won."""
    alive = s.alive
    if s.end != WON:
        return False
    if in_teams(s):
        return (alive & FIRST_TEAM != 0) == (player % 2 == 0)
    return alive >> player & 1 != 0


@kernel()
def has_tied(s, player):
    """Return whether a player ties: in teams everybody, else who lives at the end, or who died with the last."""
    return s.end == TIE and (in_teams(s) or is_alive(s, player) or (s.alive == 0 and s.died[player] == s.t))


@kernel()
def _pay(s, before, rewards):
    """Pay each player for the end of its own game, once."""
    for player in range(s.players):
        if in_teams(s) or before >> player & 1:
            if has_won(s, player):
                rewards[player] = 1.0
            elif has_tied(s, player):
                rewards[player] = s.reward_tie
            elif s.end != ONGOING or not (in_teams(s) or is_alive(s, player)):
                rewards[player] = -1.0


@kernel()
def _pay_always(s, rewards):
    """Pay as the original does: a dead player -1 in every step, and everybody -1 for a tie."""
    running = s.end == ONGOING
    for player in range(s.players):
        unpaid = running or s.alive == 0 if s.mode == DUEL else running and in_teams(s)
        if unpaid:
            rewards[player] = 0.0
        elif has_won(s, player) or (running and is_alive(s, player)):
            rewards[player] = 1.0 if not running else 0.0
        else:
            rewards[player] = -1.0


@kernel()
def _speak(s, actions):
    """Keep the words that those who live send with their moves."""
    for player in range(s.players):
        words = actions[player] % (WORDS * WORDS) if is_alive(s, player) else 0
        s.words[player, 0] = words // WORDS
        s.words[player, 1] = words % WORDS


@kernel(STEP)
def step(state, actions, rewards):
    """Play one step."""
    s = record(state, STATE)
    for player in range(s.players):
        rewards[player] = 0.0
    if s.end != ONGOING:
        return
    before, t = s.alive, s.t + 1
    s.t = t
    if s.mode == RADIO:
        _speak(s, actions)
    if any_of(pair(s.fire)):
        die_down(state)
    if intend(state, actions, scale_of(s)):
        settle(state)
    commit(state)
    if s.n_bombs != 0:
        tick(state)
    if any_of(pair(s.fire)):
        kill(s, pair(s.fire), t)
    for number in range(s.n_rings):
        if s.collapse[number] == t:
            collapse(state, number)
            kill(s, ring(s.board_size, number), t)
    if s.alive != before or t >= s.max_steps:
        judge(s)
        if not s.pays_always:
            _pay(s, before, rewards)
    if s.pays_always:
        _pay_always(s, rewards)


@kernel(STATUS)
def status(state, player):
    """Over at the end of the game, and where everyone plays for itself with a player's own death.

    The time limit is a rule with a reward of its own, and the clock is part of every observation: such a game is
    terminated, not truncated.
    """
    s = record(state, STATE)
    alone = not (in_teams(s) or s.pays_always)
    return TERMINATED if s.end != ONGOING or (alone and not is_alive(s, player)) else RUNNING


@kernel(OUTCOME)
def outcome(state, points):
    """1 for a win, half a point for a tie, 0 for a loss."""
    s = record(state, STATE)
    for player in range(s.players):
        points[player] = 1.0 if has_won(s, player) else 0.5 if has_tied(s, player) else 0.0
