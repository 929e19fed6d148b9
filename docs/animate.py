"""Draw a good game of each environment class as an animated picture, ``docs/pictures/CLASS.gif``.

    python docs/animate.py             all of them
    python docs/animate.py Football    one

The best agents that we know play all seats. Seeds are chosen so that the games are worth a look.
"""

import sys
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

import agents
from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Bytes
from mcts_envs.replay import Replay

PICTURES = Path(__file__).resolve().parent / "pictures"
WIDTH, MOST_FRAMES, COLOURS = 400, 90, 32
_LAST = 2500
"""Milliseconds that the end is shown."""


class Scene(NamedTuple):
    """What is played, and how long a picture stands, in milliseconds."""

    id: str
    seed: int
    frame: int
    settings: dict[str, Any]
    agent: dict[str, Any]


SCENES = {
    "LaneDefense": Scene("LaneDefense10x10-v0", 3, 220, {}, {"name": "best"}),
    "RosterDefense": Scene("LaneDefense5x9-v0", 7, 160, {}, {"name": "best", "simulations": 300}),
    "WallSurvival": Scene("WallSurvival-v0", 1, 600, {"board_size": 8}, {"name": "best", "max_steps": 100_000}),
    "Bomber": Scene("BomberDuel-v0", 5, 160, {}, {"name": "best", "simulations": 300}),
    "Football": Scene("Football3-v0", 2, 200, {}, {"name": "best", "simulations": 200}),
}


def main() -> None:
    """Draw what is named, or all."""
    PICTURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or SCENES:
        file = PICTURES / f"{name}.gif"
        draw(SCENES[name], file)
        print(f"{file}: {file.stat().st_size:,} bytes")


def draw(scene: Scene, file: Path) -> None:
    """Play a game, and write it; of a long one the last pictures."""
    replay = played(scene)
    pictures = [picture(replay.game, state) for state in replay.states()][-MOST_FRAMES:]
    palette = pictures[len(pictures) // 2].quantize(COLOURS)
    frames = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in pictures]
    times = [scene.frame] * (len(frames) - 1) + [_LAST]
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True, disposal=1)


def picture(game: Game, state: Bytes) -> Image.Image:
    """Return what a state shows to those who see all."""
    canvas = game.picture(state)
    return Image.fromarray(canvas.to_rgb(min(40, int(WIDTH / canvas.width))))


def played(scene: Scene) -> Replay:
    """Return a game between agents of a kind."""
    replay = Replay(scene.id, seed=scene.seed, **scene.settings)
    players = [agents.make(**scene.agent, seed=seat) for seat in range(replay.game.players)]
    while not replay.over:
        replay.play({seat: players[seat].act(replay.view(seat)) for seat in replay.choosing})
    return replay


if __name__ == "__main__":
    main()
