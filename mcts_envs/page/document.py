"""A document as one file of HTML that stands alone: it fetches nothing, and nothing in a document can run in it."""

import base64
import gzip
import hashlib
import json
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

_BOOT = """
const page = mount(document.getElementById("page"), await unpacked(document.getElementById("data").textContent));
"""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
body {{ margin: 0; }}
{style}</style>
</head>
<body>
<div id="page"><noscript>{still}<p>All moves and searches are shown where JavaScript runs.</p></noscript></div>
<script type="text/plain" id="data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def html(document: dict[str, Any], still: str | None = None, then: str = "") -> str:
    """Return a document as a file of HTML.

    The page may run its own script alone, by its hash, and fetch nothing but what ``then`` does from its own server.

    Parameters
    ----------
    document : dict
        See :mod:`mcts_envs.page`.
    still : str, optional
        HTML that is shown where no script runs; by default the last picture.
    then : str
        JavaScript for the page of a server, which goes on from ``page``, the object that ``mount`` returned.

    Raises
    ------
    ValueError
        If a number in it is NaN or infinite, which JSON has no word for.
    """
    script, style = _sources()
    script += then
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"
    policy += "; connect-src 'self'" if then else ""
    return _PAGE.format(
        policy=policy,
        title=escape(document["title"]),
        style=style,
        still=picture_html(document["frames"][-1]) if still is None else still,
        data=packed(document),
        script=script,
    )


def packed(document: dict[str, Any]) -> str:
    """Return a document as ``page.js`` unpacks it: JSON, compressed by gzip, as base64.

    What pictures have in common is written once.
    """
    numbers: dict[str, int] = {}
    frames = [numbered(frame, numbers) for frame in document["frames"]]
    text = json.dumps({**document, "frames": frames, "lines": list(numbers)}, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def numbered(frame: dict[str, Any], numbers: dict[str, int]) -> dict[str, Any]:
    """Return a frame with the numbers of its picture's lines in place of the lines; new ones get the next numbers."""
    if "picture" not in frame:
        return frame
    return {**frame, "picture": [numbers.setdefault(line, len(numbers)) for line in frame["picture"].split("\n")]}


def picture_html(frame: dict[str, Any]) -> str:
    """Return the picture of a frame, or its text, as HTML without a script."""
    if "picture" not in frame:
        return f"<pre>{escape(frame.get('text', ''))}</pre>"
    return image_html(frame["picture"])


def image_html(svg: str) -> str:
    """Return an SVG as an image of HTML, in which nothing of it can run."""
    image = base64.b64encode(svg.encode()).decode()
    return f'<img alt="the board" style="max-width:100%;max-height:95vh" src="data:image/svg+xml;base64,{image}">'


@lru_cache
def _sources() -> tuple[str, str]:
    """Return script and style of the page."""
    folder = Path(__file__).parent
    script = (folder / "page.js").read_text(encoding="utf-8") + _BOOT
    return script, (folder / "page.css").read_text(encoding="utf-8")
