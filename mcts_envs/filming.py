"""A replay as an animated picture or a film."""

import importlib.util
import io
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
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

_ASKED = 2_000_000
"""Pixels of all pictures that are asked, but that each colour has one."""

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


def write_film(pictures: Iterable[Any], path: Path, fps: float) -> None:
    """Write pictures, uint8 [H, W, 3], H and W even, as a film like :func:`film`.

    One at a time is enough; of a ``.gif`` all are in memory, at a byte a pixel.
    """
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


def _pictures(replay: "Replay", pixels: int) -> Iterator[Any]:
    """Yield a picture of each state, uint8 [H, W, 3], H and W even."""
    for state in replay.states():
        canvas = picture_of(replay.game, state, None)
        cell = max(4, round(pixels / canvas.width))
        rgb = canvas.to_rgb(cell)
        yield rgb[: rgb.shape[0] // 2 * 2, : rgb.shape[1] // 2 * 2]


def _gif(pictures: Iterable[Any], fps: float) -> bytes:
    from PIL import Image

    kept, colours = list[tuple[Any, bytes]](), Counter[int]()
    for each in pictures:
        kept.append((each.shape, zlib.compress(each.tobytes(), 1)))
        found, counts = np.unique(each[::_THIN, ::_THIN].reshape(-1, 3) @ [1, 256, 65536], return_counts=True)
        colours.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
    share = min(1.0, _ASKED / colours.total())
    repeats = [max(1, round(share * count)) for count in colours.values()]
    seen = np.repeat(np.array([*colours], "<u4"), repeats)
    asked = Image.fromarray(seen.view(np.uint8).reshape(1, -1, 4)[..., :3])
    palette = asked.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1)  # small things too
    frames = (
        Image.frombytes("RGB", shape[1::-1], zlib.decompress(raw)).quantize(palette=palette, dither=Image.Dither.NONE)
        for shape, raw in kept
    )
    times = [round(1000 / fps)] * (len(kept) - 1) + [round(1000 * _LAST)]
    made = io.BytesIO()
    next(frames).save(made, format="GIF", save_all=True, append_images=frames, duration=times, loop=0, optimize=True)
    return made.getvalue()


def _mp4(pictures: Iterable[Any], fps: float) -> bytes:
    import imageio_ffmpeg

    rest = iter(pictures)
    first, sent = next(rest), 0
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "film.mp4")
        with closing(imageio_ffmpeg.write_frames(str(made), first.shape[1::-1], fps=fps, macro_block_size=2)) as writer:
            writer.send(None)
            for each in chain([first], rest):
                raw, sent = each.tobytes(), sent + 1
                writer.send(raw)
            for _ in range(round(_LAST * fps)):
                writer.send(raw)
                sent += 1
        # To close does not tell of a full disk.
        try:
            written, _ = imageio_ffmpeg.count_frames_and_secs(str(made))
        except RuntimeError:
            written = 0
        if written != sent:
            raise OSError(f"ffmpeg wrote {written} of {sent} pictures in {folder}; make room there or set TMPDIR")
        return made.read_bytes()
