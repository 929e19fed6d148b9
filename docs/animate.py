"""Draw a good game of each environment class as an animated picture, ``docs/pictures/CLASS.gif``.

    python docs/animate.py             all of them
    python docs/animate.py Football    one

The best agents that we know play all seats. Seeds are chosen so that the games are worth a look.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
from PIL import Image

import agents
import mcts_envs
from mcts_envs.core.view import View

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
    pictures = [picture(view) for view in played(scene)][-MOST_FRAMES:]
    palette = pictures[len(pictures) // 2].quantize(COLOURS)
    frames = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in pictures]
    times = [scene.frame] * (len(frames) - 1) + [_LAST]
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True, disposal=1)


def picture(view: View) -> Image.Image:
    """Return what a view shows to those who see all."""
    canvas = view.game.picture(view.state)
    return Image.fromarray(canvas.to_rgb(min(40, int(WIDTH / canvas.width))))


def played(scene: Scene) -> Iterator[View]:
    """Yield a view of each position of a game."""
    if mcts_envs.registry.find(scene.id).players > 1:
        yield from _together(scene)
        return
    env, player, over = gymnasium.make(f"mcts_envs/{scene.id}", **scene.settings), agents.make(**scene.agent), False
    env.reset(seed=scene.seed)
    while not over:
        yield env.unwrapped.view()
        _, _, terminated, truncated, _ = env.step(player.act(env))
        over = terminated or truncated
    yield env.unwrapped.view()


def _together(scene: Scene) -> Iterator[View]:
    env = mcts_envs.make_parallel(scene.id, **scene.settings)
    env.reset(seed=scene.seed)
    everyone = [*env.agents]
    players = {name: agents.make(**scene.agent, seed=number) for number, name in enumerate(everyone)}
    while env.agents:
        view = env.unwrapped.view(everyone[0])
        yield view
        choosing = [name for name in env.agents if env.unwrapped.legal_actions(name).size]
        moves = {name: players[name].act(env.unwrapped.view(name)) for name in choosing}
        env.step(dict.fromkeys(env.agents, 0) | moves)
    yield view


if __name__ == "__main__":
    main()
