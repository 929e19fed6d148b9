"""The laws on what people look at: texts, pictures and names of actions."""

import numpy as np

from mcts_envs.core.contract import Game
from mcts_envs.core.render import Canvas
from mcts_envs.core.sampling import Sample, active_players, legal_actions, require, some
from mcts_envs.core.showing import drawn, draws_views


def places_lie_on_the_picture(game: Game, sample: Sample) -> None:
    """Where a legal action has a place, it is a part of the picture."""
    law, where, picture = "places lie on the picture", game.where, game.picture
    if where is None or picture is None:
        require(where is None, law, "there is where, but no picture")
        return
    for state in some(sample.states):
        canvas = drawn(picture, state, None, None)
        for player in active_players(game, state):
            for action in map(int, legal_actions(game, state, player)):
                x, y, width, height = place = where(state, player, action) or (0.0, 0.0, 1.0, 1.0)
                inside = 0 <= x < x + width <= canvas.width + 1e-9 and 0 <= y < y + height <= canvas.height + 1e-9
                require(inside, law, f"action {action} is at {place}, the picture {canvas.width} x {canvas.height}")


def what_is_shown_can_be(game: Game, sample: Sample) -> None:
    """Texts, pictures and names of actions come out in every state, and drawing changes nothing."""
    law = "what is shown"
    viewers = (None, *range(game.players)) if draws_views(game) else (None,)
    for state in (*some(sample.states), *sample.ends):
        looked_at = state.copy()
        for viewer in viewers:
            for name, draw, kind in (("text", game.text, str), ("picture", game.picture, Canvas)):
                shown = kind if draw is None else type(drawn(draw, looked_at, None, viewer))
                require(issubclass(shown, kind), law, f"{name} gave {shown.__name__}, not {kind.__name__}")
        require(np.array_equal(looked_at, state), law, "text or picture wrote to the state")
        for player in active_players(game, state):
            for action in map(int, legal_actions(game, state, player)):
                name = game.action_name(action)
                require(isinstance(name, str), law, f"action_name({action}) gave {name!r}, not a str")
