"""Whether luck decides in a game, as far as a short random game shows."""

import numpy as np

from mcts_envs.core.contract import EVERYTHING, Game
from mcts_envs.core.rng import below, draw, new_stream
from mcts_envs.core.typing import Bytes

_STEPS = 40


def luck(game: Game, state: Bytes, observer: int) -> str | None:
    """Return what keeps an observer from knowing what comes of actions: "something is hidden", or "chance decides".

    The same random actions are played from two states in which everything unknown was drawn apart. None says that
    they came out the same; a die that is cast later than in 40 steps is not seen.
    """
    once, again, stream = game.new_state(), game.new_state(), new_stream(1)
    for copy in (once, again):
        copy[:] = state
        game.determinize(copy, observer, draw(stream))
    if game.key(once, EVERYTHING) != game.key(again, EVERYTHING):
        return "something is hidden"
    actions, legal = np.zeros(game.players, np.int64), np.zeros(game.actions, np.int64)
    rewards = np.zeros(game.players)
    for _ in range(_STEPS):
        to_move = game.active(once)
        if not to_move:
            break
        for other in range(game.players):
            if to_move >> other & 1:
                actions[other] = legal[below(stream, game.legal(once, other, legal))]
        for copy in (once, again):
            game.step(copy, actions, rewards)
        if game.key(once, EVERYTHING) != game.key(again, EVERYTHING):
            return "chance decides"
    return None
