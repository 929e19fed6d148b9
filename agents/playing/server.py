"""A session in a browser on this machine: pages and requests over HTTP, for nobody else.

The address holds a random token; requests that name another host, or come from another site's page, are refused, so
that no page that is open in the same browser can play along. Messages are plain data, of bounded size, and checked by
:meth:`agents.playing.session.Session.ask`.
"""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from agents.arena.faults import message_of
from agents.playing.session import Session
from mcts_envs.page import FOLDER
from mcts_envs.page.document import numbered
from mcts_envs.page.frames import Data

try:
    import anyio.to_thread
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route
except ImportError as error:
    raise ImportError('playing in a browser needs Starlette: pip install "mcts-envs[play]"; or --terminal') from error

_MOST_BYTES = 2**20
_PATIENCE = 10.0
"""Seconds that a request may take to arrive."""

_WAIT = 20.0
"""Seconds that a question for news is kept waiting."""

_MOST_WAITING = 200

_KNOWN = ("epoch", "-1"), ("known", "-1"), ("serial", "-1"), ("lines", "0")
"""What a page knows already, and what if it says nothing; the lines are those of pictures, each of which is sent once.
"""

_FILES = {"page.js": "text/javascript", "play.js": "text/javascript", "page.css": "text/css", "play.css": "text/css"}
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src data: blob:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>mcts-envs</title>
<link rel="stylesheet" href="page.css">
<link rel="stylesheet" href="play.css">
</head>
<body>
<div id="bar"></div>
<div id="page"></div>
<noscript>Playing here needs JavaScript; play.py --terminal needs none.</noscript>
<script type="module" src="play.js"></script>
</body>
</html>
"""


class _Answer(JSONResponse):
    """JSON in ASCII: names and messages of people's own may hold what UTF-8 has not, as names of files do."""

    def render(self, content: Any) -> bytes:
        """Return it."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


class Server:
    """What a web server runs (ASGI) to show a session.

    Parameters
    ----------
    session : Session
    hosts : collection of str
        By which it may be called: ``"127.0.0.1:8000"``.

    Attributes
    ----------
    token : str
        In the path of all its addresses.
    """

    def __init__(self, session: Session, hosts: tuple[str, ...]) -> None:
        self.token = secrets.token_urlsafe(18)
        self._session, self._hosts = session, hosts
        self._lines: dict[int, dict[str, int]] = {}  # by epoch
        self._waiting: anyio.CapacityLimiter | None = None
        kinds = {"": self._home, "state": self._state, "replay": self._replay, "position": self._position}
        routes = [Route(f"/{self.token}/{path}", self._guarded(found)) for path, found in kinds.items()]
        routes += [Route(f"/{self.token}/{name}", self._guarded(self._file)) for name in _FILES]
        routes.append(Route(f"/{self.token}/ask", self._guarded(self._ask), methods=["POST"]))
        self.app = Starlette(routes=routes)

    def _guarded(self, answer: Callable[[Request], Any]) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint that answers those alone who may ask."""

        async def endpoint(request: Request) -> Response:
            found: Response = PlainTextResponse("not for you", 403)
            host, origin = request.headers.get("host"), request.headers.get("origin")
            if host in self._hosts and origin in (None, f"http://{host}"):
                found = await answer(request)
            found.headers.update(_HEADERS)
            return found

        return endpoint

    async def _home(self, request: Request) -> Response:
        return Response(_HTML, media_type="text/html")

    async def _file(self, request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]
        return Response((FOLDER / name).read_text(encoding="utf-8"), media_type=_FILES[name])

    async def _state(self, request: Request) -> Response:
        try:
            epoch, known, serial, lines = (int(request.query_params.get(name, default)) for name, default in _KNOWN)
        except ValueError:
            return _Answer({"error": f"{', '.join(name for name, _ in _KNOWN)} are numbers"}, 400)
        if self._waiting is None:  # threads of their own: those who ask for something need not wait behind these
            self._waiting = anyio.CapacityLimiter(_MOST_WAITING)

        def news() -> Data:
            self._session.wait(serial, _WAIT)
            return self._session.since(epoch, known)  # waits too, for what is done at present

        new = await anyio.to_thread.run_sync(news, limiter=self._waiting)
        now = new["epoch"]
        self._lines = {each: kept for each, kept in self._lines.items() if each >= now - 1}  # an answer may come late
        numbers = self._lines.setdefault(now, {})
        new["frames"] = [numbered(each, numbers) for each in new["frames"]]
        unknown = list(numbers)[lines if epoch == now else 0 :]
        return _Answer({**new, "lines": unknown, "agents": self._session.offered})

    async def _position(self, request: Request) -> Response:
        try:
            return _Answer(await run_in_threadpool(self._session.position))
        except ValueError as error:  # games of one's own may define none
            return _Answer({"error": str(error)}, 400)

    async def _replay(self, request: Request) -> Response:
        try:
            text = await run_in_threadpool(self._session.saved)
        except ValueError as error:
            return _Answer({"error": str(error)}, 400)
        return Response(text, headers={"content-disposition": 'attachment; filename="game.json"'})

    async def _ask(self, request: Request) -> Response:
        try:
            body = await asyncio.wait_for(_body(request), _PATIENCE)
        except (TimeoutError, ClientDisconnect, asyncio.CancelledError):  # cancelled: the server is told to end
            return _Answer({"error": f"a request takes at most {_PATIENCE:g} seconds"}, 408)
        if len(body) > _MOST_BYTES:
            return _Answer({"error": f"a request has at most {_MOST_BYTES:,} bytes"}, 413)
        try:
            await run_in_threadpool(self._session.ask, json.loads(body))
        except (ValueError, TypeError, RecursionError) as error:
            return _Answer({"error": str(error)[:500]}, 400)
        except Exception as error:  # of an agent that cannot be made: its library is missing, its file is gone
            return _Answer({"error": f"{type(error).__name__}: {message_of(error)}"[:500]}, 500)
        return _Answer({})


async def _body(request: Request) -> bytes:
    """Return what was sent, no more than one part beyond what may be."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            break
    return body
