"""A game that is being played, as a page of this machine that follows it."""

import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_FOLLOW = """
page.show(page.length - 1);
for (let seen = 0; ; await new Promise(done => setTimeout(done, 250))) {
  const answer = await fetch("frames?seen=" + seen).catch(() => null);
  if (answer?.status !== 200) continue;
  const news = await answer.json();
  seen = news.seen;
  news.frames.forEach((frame, at) => {
    const index = news.first + at;
    if (index < page.length) page.replace(index, frame);
    else page.add(frame);
  });
}
"""


class Live(ThreadingHTTPServer):
    """Serves a document that grows at ``127.0.0.1``, to those who know the token in its address.

    Attributes
    ----------
    document : dict, optional
        See :mod:`mcts_envs.page`; None before there is a frame.
    address : str
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.document: dict[str, Any] | None = None
        self.token = secrets.token_urlsafe(16)
        self.host = f"127.0.0.1:{self.server_port}"
        self.address = f"http://{self.host}/{self.token}/"

    def news(self, seen: int) -> bytes | None:
        """Return as JSON what has come after so many frames and decisions, None if nothing has."""
        frames = [] if self.document is None else list(self.document["frames"])
        sizes = [1 + len(frame["decisions"]) for frame in frames]
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
        seen = query.removeprefix("seen=")
        if not allowed or self.server.document is None or name not in ("", "frames"):
            self._answer(503 if allowed and name == "" else 404, b"the game has not begun", "text/plain")
        elif name == "":
            from mcts_envs.page import html

            self._answer(200, html(self.server.document, then=_FOLLOW).encode(), "text/html; charset=utf-8")
        elif not seen.isdecimal() or len(seen) > 9:
            self._answer(400, b"seen is no number", "text/plain")
        else:
            news = self.server.news(int(seen))
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
def serving() -> Iterator[Live]:
    """Serve as long as the block runs."""
    with Live() as live:
        threading.Thread(target=live.serve_forever, daemon=True).start()
        yield live
        live.shutdown()
