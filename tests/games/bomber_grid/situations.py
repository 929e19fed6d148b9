"""States of bomber games, the moves in them, and states that look the same to a player."""

import numpy as np

from mcts_envs.core.kernel import record
from mcts_envs.games.bomber_grid.position import cells_of
from mcts_envs.games.bomber_grid.rules.bits import ONE
from mcts_envs.games.bomber_grid.rules.layout import STATE, WIDTH
from mcts_envs.games.bomber_grid.rules.sight import window


def some_states(game, count=60, seed=0):
    """Return states of games between rule-based players, some of which act at random."""
    rng, states = np.random.default_rng(seed), []
    weights, rewards = np.zeros(game.actions), np.zeros(game.players)
    while len(states) < count:
        state = game.new_state()
        game.reset(state, np.uint64(rng.integers(2**31)))
        for t in range(rng.integers(5, 150)):
            actions = np.zeros(game.players, np.int64)
            for player in range(game.players):
                if game.active(state) >> player & 1:
                    game.advise(state, player, weights)
                    weights += 0.02 * (t % 3 == 0)
                    actions[player] = rng.choice(game.actions, p=weights / weights.sum())
            before = state.copy()
            game.step(state, actions, rewards)
            if not game.active(state):
                state = before
                break
        states.append(state)
    return states


def moves_of(game, state, player):
    actions = np.zeros(game.actions, np.int64)
    return actions[: game.legal(state, player, actions)].tolist()


def disguise(state, player, rng):
    """Return a state that looks the same to a player: hidden items, others' kits and bombs, and the fog are changed."""
    other = state.copy()
    s = record(other, STATE)
    shown = cells_of(window(state, player))
    covered = cells_of(s.wood) | cells_of(s.fire)
    fog = cells_of(~s.outside & np.array([2**64 - 1, 2**57 - 1], np.uint64)) - shown
    for kind in range(3):
        for row, column in covered | fog:
            cell = WIDTH * row + column
            s.items[kind, cell >> 6] &= ~(ONE << np.uint64(cell & 63))
    for row, column in covered:
        if rng.random() < 0.5:
            cell = WIDTH * row + column
            s.items[rng.integers(3), cell >> 6] |= ONE << np.uint64(cell & 63)
    for mate in range(s.players):
        if mate != player:
            s.ammo[mate], s.strength[mate], s.kicks[mate] = rng.integers(5), rng.integers(2, 5), rng.integers(2)
            s.trail[mate] = 0
            if s.mode == 3 and mate != player ^ 2:
                s.words[mate] = rng.integers(8, size=2)
    for bomb in range(s.n_bombs):
        if s.bomb_owner[bomb] != player:
            s.bomb_owner[bomb] = rng.choice([p for p in range(s.players) if p != player])
        if divmod(int(s.bomb_cell[bomb]), WIDTH) in fog:
            s.bomb_life[bomb], s.bomb_strength[bomb] = rng.integers(1, 10), rng.integers(2, 5)
    for row, column in fog - {divmod(int(cell), WIDTH) for cell in s.stands}:
        cell = WIDTH * row + column
        for board in (s.wood, s.rigid):
            board[cell >> 6] &= ~(ONE << np.uint64(cell & 63))
        if rng.random() < 0.4:
            (s.wood, s.rigid)[rng.integers(2)][cell >> 6] |= ONE << np.uint64(cell & 63)
    free = sorted(fog - cells_of(s.wood) - cells_of(s.rigid))
    for mate in range(s.players):
        if divmod(int(s.stands[mate]), WIDTH) in fog and s.alive >> mate & 1 and free:
            s.stands[mate] = WIDTH * free[0][0] + free.pop(0)[1]
    return other
