"""A game that is being played, or one after the other of a comparison, as a page of this machine that follows it."""

import json
import re
import secrets
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from _words import binding

_FOLLOW = """
const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));
let game = page.data.game ?? 0, seen = page.frames.reduce((sum, each) => sum + 1 + each.decisions.length, 0);
let kept = seen;
/** Put what has come since into the page, which a browser may save. */
async function keep() {
  const packed = new Blob([JSON.stringify(page.data)]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  document.getElementById("data").textContent = btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(""));
  kept = seen;
}
if (game) page.play(); else page.show(page.length - 1);
for (; location.protocol !== "file:"; await pause(250)) {  // a page that was saved has no server to ask
  if (game && !page.atEnd) continue;  // somebody looks at this game: the next one waits
  if (game) await pause(1500);
  if (game && !page.atEnd) continue;
  const answer = await fetch(`frames?seen=${seen}&game=${game}`).catch(() => null);
  const gone = !answer?.ok && (game || !page.frames.at(-1).over);  // another one may listen there by now
  page.title.textContent = page.data.title + (gone ? ": the server has gone" : "");
  if (kept !== seen && (gone || page.frames.at(-1).over)) await keep();
  if (answer?.status !== 200) continue;
  const news = await answer.json();
  seen = news.seen;
  if (news.document) {
    game = news.document.game;
    page.load(news.document);
    document.title = news.document.title;
    page.show(0);
    page.play();
    continue;
  }
  page.replace(news.first, ...news.frames);
}
"""


class Live(ThreadingHTTPServer):
    """Serves a document that grows at ``127.0.0.1``, to those who know the token in its address.

    Parameters
    ----------
    port : int
        0: any that is free.

    Attributes
    ----------
    document : dict, optional
        See :mod:`mcts_envs.page`; None before there is a frame. ``game``, where there is more than one, is its number:
        whoever has seen the one before to its end is shown the next.
    address : str
    """

    daemon_threads = True
    allow_reuse_address = sys.platform != "win32"  # where it would share a port in use

    def __init__(self, port: int = 0) -> None:
        with binding(port):
            super().__init__(("127.0.0.1", port), _Handler)
        self.document: dict[str, Any] | None = None
        self.token = secrets.token_urlsafe(16)
        self.host = f"127.0.0.1:{self.server_port}"
        self.address = f"http://{self.host}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what went wrong, unless somebody has closed a page or reloaded it."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def news(self, seen: int, game: int = 0) -> bytes | None:
        """Return as JSON what has come after so many frames and decisions of a game, None if nothing has."""
        document = self.document or {"frames": []}
        frames = list(document["frames"])
        sizes = [1 + len(frame["decisions"]) for frame in frames]
        if document.get("game", 0) != game:
            return json.dumps({"seen": sum(sizes), "document": document}).encode()
        if sum(sizes) == seen:
            return None
        known, first = 0, 0
        while first < len(frames) and known + sizes[first] <= seen:
            known, first = known + sizes[first], first + 1
        changed = max(0, first - 1)
        return json.dumps({"seen": sum(sizes), "first": changed, "frames": frames[changed:]}).encode()


class _Handler(BaseHTTPRequestHandler):
    server: Live

    def do_GET(self) -> None:
        """Answer with the page, or with what is new."""
        path, _, query = self.path.partition("?")
        before, _, name = path.removeprefix("/").partition("/")
        known = secrets.compare_digest(before.encode(), self.server.token.encode())
        allowed = known and self.headers.get("Host") == self.server.host
        asked = re.fullmatch(r"seen=(\d{1,9})(?:&game=(\d{1,9}))?", query, re.ASCII)
        if not allowed or self.server.document is None or name not in ("", "frames"):
            self._answer(503 if allowed and name == "" else 404, b"the game has not begun", "text/plain")
        elif name == "":
            from mcts_envs.page import html

            self._answer(200, html(self.server.document, then=_FOLLOW).encode(), "text/html; charset=utf-8")
        elif asked is None:
            self._answer(400, b"seen or game is no number", "text/plain")
        else:
            news = self.server.news(int(asked[1]), int(asked[2] or 0))
            self._answer(204 if news is None else 200, news or b"", "application/json")

    def _answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            **({"Refresh": "1"} if status == 503 else {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(port: int = 0, browser: bool = False) -> Iterator[Live]:
    """Serve as long as the block runs; open a browser if wanted."""
    with Live(port) as live:
        opening = threading.Timer(0.5, webbrowser.open, [live.address])
        if browser:
            opening.start()
        threading.Thread(target=live.serve_forever, daemon=True).start()
        try:
            yield live
        finally:
            opening.cancel()
            live.shutdown()
