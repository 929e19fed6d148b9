"""Who plays the other seats of an environment that is made for one."""

from typing import Any

import numpy as np

from mcts_envs.core.api.turn import EXTERNAL, RANDOM, RANDOM_IN_MODEL, SCRIPTED
from mcts_envs.core.contract import Game
from mcts_envs.core.players import Player, player, random_model, scripted_players, seated
from mcts_envs.core.typing import Ints


def resolve_opponents(game: Game, seat: int, opponent: Any) -> tuple[Ints, Game, dict[int, Player]]:
    """Return how each seat is played [P], the model that built-in players follow, and those from outside.

    There are none of these where compiled code can play all other seats.

    Raises
    ------
    ValueError, TypeError
        If an opponent is unknown or cannot play this game, or their number is not that of the other seats.
    """
    others = [p for p in range(game.players) if p != seat]
    if opponent is not None and not others:
        raise ValueError(f"opponent {opponent!r}: {game.name} is a game for one; leave opponent out")
    opponent = "random" if opponent is None else opponent
    given = list(opponent) if isinstance(opponent, (list, tuple)) else [opponent] * len(others)
    if len(given) != len(others):
        raise ValueError(f"{len(given)} opponents for {len(others)} other seats; give one for each, or one for all")
    seats, known = np.full(game.players, EXTERNAL), scripted_players(game)
    built_in = all(isinstance(name, str) and (name == "random" or name in known) for name in given)
    models = {known[name] for name in given if name != "random"} if built_in else set()
    chance, in_model = RANDOM, random_model(game)
    if in_model is not None and built_in and "random" in given:
        chance, models = RANDOM_IN_MODEL, models | {in_model}
    if built_in and len(models) <= 1:
        seats[others] = [chance if name == "random" else SCRIPTED for name in given]
        model = next(iter(models), None)
        advised = game.variant(model) if model else game if models else game.bare
        return seats, advised, {}
    players = {other: seated(player(name, known, in_model), game) for other, name in zip(others, given, strict=True)}
    return seats, game.bare, players
