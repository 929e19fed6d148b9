"""Legal actions, actions, whole games at random, and a scene set up by hand."""

import numpy as np

from mcts_envs.games.football.spec import football


def legal(game, state):
    actions = np.zeros(game.actions, np.int64)
    return actions[: game.legal(state, int(game.active(state)) >> 1, actions)].tolist()


def act(game, state, *actions):
    rewards = np.zeros(2)
    for action in actions:
        game.step(state, np.full(2, action), rewards)
    return rewards


def played(size, steps, seed, **settings):
    """Return states of random play that goes on."""
    plain = football(size, **settings)
    game = plain.variant("random_active")
    state, rng, states = game.new_state(), np.random.default_rng(seed), []
    game.reset(state, np.uint64(seed))
    weights = np.zeros(game.actions)
    while len(states) < steps and game.active(state):
        states.append(state.copy())
        game.advise(state, int(game.active(state)) >> 1, weights)
        act(game, state, rng.choice(game.actions, p=weights / weights.sum()))
    return plain, states


def scene(**changes):
    players = {"home": [{"at": [3, 2]}, {"at": [5, 2]}], "away": [{"at": [4, 3]}]}
    return {"players": players, "ball": {"at": [4, 3], "carried": True}, "to_act": "away", **changes}
