"""What a page shows of a game and of one of its states, as plain data."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mcts_envs.core.contract import Game
from mcts_envs.core.render import PLAYERS
from mcts_envs.core.showing import name_of, picture_of, text_of
from mcts_envs.core.typing import Bytes

if TYPE_CHECKING:
    from mcts_envs.replay import Replay

Data = dict[str, Any]

COLOURING = re.compile("\x1b\\[[0-9;]*m")
"""What colours text in a terminal."""


def header_of(replay: "Replay") -> Data:
    """Return the document of a recorded game without a frame yet."""
    return header(replay.game, f"{replay.id.removeprefix('mcts_envs/')}, seed {replay.seed}", replay.players)


def header(game: Game, title: str, agents: Sequence[str] = ()) -> Data:
    """Return the document of a game without a frame yet.

    Parameters
    ----------
    game : Game
    title : str
    agents : sequence of str
        Who plays, by seat; empty where nobody does.
    """
    shown_as = [(f"player {player}", PLAYERS[player % len(PLAYERS)]) for player in range(game.players)]
    shown_as[: len(game.shown_as)] = game.shown_as
    players: list[Data] = [{"seat": name, "colour": colour, "agent": None} for name, colour in shown_as]
    for player, agent in zip(players, agents, strict=False):
        player["agent"] = agent
    return {"title": title, "players": players, "frames": []}


def frame(game: Game, state: Bytes, seat: int | None = None, viewer: int | None = None) -> Data:
    """Return what a state looks like: its picture, or its text where the game has none, and who is to choose.

    Parameters
    ----------
    game : Game
    state : uint8 array [size]
    seat : int, optional
        Whose environment it is: the picture marks that player.
    viewer : int, optional
        Who looks at it: where a game hides something, only what that player may know is shown.
    """
    bits = int(game.active(state))
    data: Data = {"turn": [player for player in range(game.players) if bits >> player & 1], "over": not bits}
    if game.picture is not None:
        data["picture"] = picture_of(game, state, seat, viewer).to_svg()
    else:
        text = text_of(game, state, seat, viewer) if game.text else f"{game.name} has no drawing"
        data["text"] = COLOURING.sub("", text)
    return data


def frames_of(replay: "Replay") -> "Iterator[tuple[Replay, dict[int, int], Data]]":
    """Yield a game in each of its states, with what was chosen there and its frame, to which decisions may be added."""
    again = replay.anew()
    for chosen in (*replay.choices(), {}):
        shown = frame(again.game, again.state) | {"returns": again.returns.tolist(), "decisions": []}
        yield again, chosen, shown if again.outcome is None else shown | {"points": again.outcome}
        if chosen:
            again.play(chosen)


def options(game: Game, state: Bytes, player: int, keys: Mapping[str, int] | None = None) -> list[Data]:
    """Return the legal actions of a player, empty where it is not to choose.

    Parameters
    ----------
    keys : mapping, optional
        Actions by the keys that choose them, as ``env.get_keys_to_action()`` gives them.
    """
    if not int(game.active(state)) >> player & 1:
        return []
    actions = np.empty(game.actions, np.int64)
    found = [named(game, state, player, int(each)) for each in actions[: game.legal(state, player, actions)]]
    by_action = {action: key for key, action in (keys or {}).items()}
    return [
        option | ({"key": by_action[option["action"]]} if option["action"] in by_action else {}) for option in found
    ]


def named(game: Game, state: Bytes | None, player: int, action: int) -> Data:
    """Return an action of a player with its name and, where the state is known, its place on the picture."""
    place = None if state is None or game.where is None or game.picture is None else game.where(state, player, action)
    rounded = None if place is None else [round(float(each), 3) for each in place]
    return {"player": player, "action": action, "name": name_of(game, action, player), "place": rounded}
