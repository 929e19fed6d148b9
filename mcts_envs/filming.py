"""A replay as an animated picture or a film."""

import importlib.util
import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mcts_envs.core import errors
from mcts_envs.core.contract import Game
from mcts_envs.core.showing import picture_of
from mcts_envs.core.writing import write_whole

if TYPE_CHECKING:
    from mcts_envs.replay import Replay

SUFFIXES = (".gif", ".mp4")
_COLOURS = 64
_THIN = 3
"""One pixel in so many, across and down, is asked for the colours of a film."""

_LAST = 2.0
"""Seconds that the end is shown."""


def film(replay: "Replay", path: Path | str, fps: float = 4.0, pixels: int = 480) -> None:
    """Write a game as a GIF or an MP4, a picture for each state.

    Parameters
    ----------
    replay : Replay
    path : str or Path
        Ending in ``.gif`` or ``.mp4``.
    fps : float
        Pictures a second, from 0.1 to 60.
    pixels : int
        Width of the pictures, 64 to 4096.

    Raises
    ------
    TypeError
        If this is no replay.
    ValueError
        If the file is to be of another kind, a number is out of its bounds, or the game has no picture.
    ImportError
        If the library for films is missing (``pip install "mcts-envs[film]"``); GIFs need none.
    OSError
        If it cannot be written; a film that was there stays.
    """
    if not hasattr(replay, "states"):
        raise TypeError(f"{type(replay).__name__} is no replay; film(replay, path) takes those (mcts_envs.replay)")
    path = Path(path)
    check_film(replay.game, path, fps, pixels)
    write_film(_pictures(replay, pixels), path, fps)


def write_film(pictures: list[Any], path: Path, fps: float) -> None:
    """Write pictures, uint8 [H, W, 3], H and W even, as a film; the rest as for :func:`film`."""
    check_file(path, fps)
    write_whole(path, (_gif if path.suffix.lower() == ".gif" else _mp4)(pictures, fps))


def is_film(path: Path) -> bool:
    """Return whether a file is named as a film."""
    return path.suffix.lower() in SUFFIXES


def check_film(game: Game, path: Path, fps: float = 4.0, pixels: int = 480) -> None:
    """Raise what :func:`film` does, before there is a game to be filmed."""
    errors.integer("pixels", pixels, 64, 4096)
    if game.picture is None:
        raise ValueError(f"{game.name} has no picture; give its Game one")
    check_file(path, fps)


def check_file(path: Path, fps: float) -> None:
    """Raise what :func:`write_film` does, before there are pictures."""
    errors.number("fps", fps, 0.1, 60.0)
    if not is_film(path):
        raise ValueError(f"{path} is neither a .gif nor an .mp4")
    if path.suffix.lower() == ".mp4" and importlib.util.find_spec("imageio_ffmpeg") is None:
        raise ImportError('an .mp4 needs imageio-ffmpeg: pip install "mcts-envs[film]"; a .gif does not')


def _pictures(replay: "Replay", pixels: int) -> list[Any]:
    """Return a picture of each state, uint8 [H, W, 3], H and W even."""
    found = []
    for state in replay.states():
        canvas = picture_of(replay.game, state, None)
        cell = max(4, round(pixels / canvas.width))
        rgb = canvas.to_rgb(cell)
        found.append(rgb[: rgb.shape[0] // 2 * 2, : rgb.shape[1] // 2 * 2])
    return found


def _gif(pictures: list[Any], fps: float) -> bytes:
    from PIL import Image

    seen = Image.fromarray(np.concatenate([each[::_THIN, ::_THIN] for each in pictures]))
    palette = seen.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1)  # small things too
    frames = [Image.fromarray(each).quantize(palette=palette, dither=Image.Dither.NONE) for each in pictures]
    times = [round(1000 / fps)] * (len(frames) - 1) + [round(1000 * _LAST)]
    made = io.BytesIO()
    frames[0].save(made, format="GIF", save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)
    return made.getvalue()


def _mp4(pictures: list[Any], fps: float) -> bytes:
    import imageio_ffmpeg

    height, width = pictures[0].shape[:2]
    shown = [*pictures, *[pictures[-1]] * round(_LAST * fps)]
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "film.mp4")
        writer = imageio_ffmpeg.write_frames(str(made), (width, height), fps=fps, macro_block_size=2)
        writer.send(None)
        for each in shown:
            writer.send(np.ascontiguousarray(each).tobytes())
        writer.close()  # which does not tell of a full disk
        try:
            written, _ = imageio_ffmpeg.count_frames_and_secs(str(made))
        except RuntimeError:
            written = 0
        if written != len(shown):
            raise OSError(f"ffmpeg wrote {written} of {len(shown)} pictures in {folder}; make room there or set TMPDIR")
        return made.read_bytes()
