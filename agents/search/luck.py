"""Whether luck decides in a game, as far as short random games show."""

import numpy as np

from mcts_envs.core.contract import EVERYTHING, Game
from mcts_envs.core.rng import below, draw, new_stream
from mcts_envs.core.typing import Bytes

_STEPS = 40


def luck(game: Game, state: Bytes, observer: int) -> str | None:
    """Return what keeps an observer from knowing what comes of actions: "something is hidden", or "chance decides".

    The same random actions are played from two states in which everything unknown was drawn apart, game after game
    until 40 steps are made. None says that they came out, and paid, the same; a die that is cast later is not seen, nor
    one that is cast seldom.
    """
    once, again, stream = game.new_state(), game.new_state(), new_stream(1)
    actions, legal = np.zeros(game.players, np.int64), np.zeros(game.actions, np.int64)
    paid, paid_again = np.zeros(game.players), np.zeros(game.players)
    to_move = 0
    for _ in range(_STEPS):
        if not to_move:
            for copy in (once, again):
                copy[:] = state
                game.determinize(copy, observer, draw(stream))
            if game.key(once, EVERYTHING) != game.key(again, EVERYTHING):
                return "something is hidden"
            to_move = game.active(once)
        for other in range(game.players):
            if to_move >> other & 1:
                actions[other] = legal[below(stream, game.legal(once, other, legal))]
        game.step(once, actions, paid)
        game.step(again, actions, paid_again)
        if game.key(once, EVERYTHING) != game.key(again, EVERYTHING) or (paid != paid_again).any():
            return "chance decides"
        to_move = game.active(once)
    return None
