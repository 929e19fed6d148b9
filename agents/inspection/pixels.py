"""What environments of others draw of themselves, for pages."""

import base64
import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from mcts_envs.page.frames import COLOURING, Data

_WIDEST = 400
"""Pixels of a picture of others: a page holds hundreds."""

_COLOURS = 64

_COLUMNS, _ROWS = 64, 24
"""Of a picture in a terminal."""

_EMBEDDED = re.compile('href="data:image/png;base64,([^"]*)"')


def drawn(env: Any, plain: bool = True) -> Data | None:
    """Return what an environment draws of itself, a picture or text, plain or coloured; None if it does not."""
    shown = env.render()
    if isinstance(shown, list) and shown:
        shown = shown[-1]
    if isinstance(shown, str):
        return {"text": COLOURING.sub("", shown) if plain else shown}
    pixels = np.asarray(shown)  # of an image of PIL too
    if pixels.ndim == 2:
        pixels = np.dstack([pixels] * 3)
    if pixels.ndim != 3 or pixels.shape[2] not in (3, 4):
        return None
    if pixels.dtype.kind in "bf" and pixels.max() <= 1:
        pixels = 255 * pixels
    return {"picture": _embedded(pixels[..., :3])}


def _embedded(pixels: npt.NDArray[Any]) -> str:
    """Return pixels [H, W, 3] as an image of an SVG, no wider than a page needs."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(pixels, np.uint8))
    if image.width > _WIDEST:
        image = image.resize((_WIDEST, max(1, round(image.height * _WIDEST / image.width))), Image.Resampling.LANCZOS)
    raw = io.BytesIO()
    image = image.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)  # small things too
    image.save(raw, "PNG", optimize=True)
    data, size = base64.b64encode(raw.getvalue()).decode(), f'width="{image.width}" height="{image.height}"'
    link = f'<image x="0" y="0" {size} href="data:image/png;base64,{data}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {image.width} {image.height}">\n{link}\n</svg>'


def pictures(document: Data) -> Iterator[npt.NDArray[np.uint8]]:
    """Return one by one the pictures [H, W, 3] that an environment of others drew of its states, H and W even.

    Raises
    ------
    ValueError
        If it drew none.
    """
    found = [_EMBEDDED.search(each.get("picture", "")) for each in document["frames"]]
    if None in found:
        raise ValueError(f"{document['title']}: {document['frames'][0].get('text', 'it draws no pictures')}")
    data = [each[1] for each in found if each is not None]
    first = _image(data[0])
    size = max(2, first.width // 2 * 2), max(2, first.height // 2 * 2)
    return (np.asarray(_image(each).crop((0, 0, *size))) for each in data)


def in_blocks(picture: str) -> str:
    """Return a picture that an environment of others drew for a terminal of 256 colours, two pixels in a letter."""
    (data,) = _EMBEDDED.findall(picture)
    image = _image(data)
    scale = min(_COLUMNS / image.width, 2 * _ROWS / image.height)
    size = max(1, round(scale * image.width)), 2 * max(1, round(scale * image.height / 2))
    red, green, blue = np.moveaxis(np.rint(np.asarray(image.resize(size), np.float64) / 51).astype(int), 2, 0)
    codes = (16 + 36 * red + 6 * green + blue).tolist()
    rows = zip(codes[::2], codes[1::2], strict=True)
    lines = ["".join(f"\x1b[38;5;{up};48;5;{low}m\u2580" for up, low in zip(*row, strict=True)) for row in rows]
    return "\n".join(f"{line}\x1b[0m" for line in lines)


def _image(data: str) -> Any:
    from PIL import Image

    return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
