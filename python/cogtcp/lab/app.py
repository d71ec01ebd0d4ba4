"""The server of the lab: on loopback, for who knows the token, with bounds on everything it takes.

It serves the files of the page. If the package has no WebAssembly, or the scenario has a congestion control
written in Python, it also answers the page's requests to the engine, with the native engine. Requests and
answers are the same (`crates/web`).
"""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from cogtcp import _core
from cogtcp.lab import site

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from starlette.requests import Request

#: The longest body of a request: a scenario with its files, of which a link holds 2 MB.
MOST_BYTES = 4 * 1024 * 1024
#: Requests that wait for an engine; who comes later is told to try again.
MOST_WAITING = 64
#: Between two looks whether whoever asked is still there, seconds.
LOOK_S = 0.05

_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "json": "application/json",
          "wasm": "application/wasm"}  # fmt: skip
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; "
    "style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Lab:
    """What the server knows: its files, and the token that stands in every path."""

    def __init__(
        self,
        file: str | None,
        *,
        token: str | None = None,
        native: bool = False,
        controls: Collection[str] = (),
    ) -> None:
        # Classes in Python (`module:Class`) that the file names, and no other: a link may hold any scenario.
        self.controls = frozenset(controls)
        # Controls in Python need Python: the page then asks this server.
        wasm = None if native or self.controls else site.shipped_wasm()
        self.files = site.contents(file, wasm, controls=self.controls)
        self.token = token or secrets.token_urlsafe(16)
        self._limiter = anyio.CapacityLimiter(max(2, os.cpu_count() or 2))
        self._waiting = 0

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/{token}/ask", self._guarded(self._ask), methods=["POST"]),
                Route("/{token}/{name:path}", self._guarded(self._file)),
                Route("/{rest:path}", self._guarded(self._file)),
            ]
        )

    def _guarded(
        self, handle: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Let only this page's requests through, and send headers that keep others away."""

        async def guarded(request: Request) -> Response:
            response = self._refusal(request) or await handle(request)
            response.headers.update(
                {
                    "Cache-Control": "no-store",
                    "Content-Security-Policy": _POLICY,
                    "Cross-Origin-Resource-Policy": "same-origin",
                    "Referrer-Policy": "no-referrer",
                    "X-Content-Type-Options": "nosniff",
                }
            )
            return response

        return guarded

    def _refusal(self, request: Request) -> Response | None:
        # A name of the attacker's that resolves to loopback (DNS rebinding) shows in Host.
        host = request.headers.get("host", "")
        if host.rpartition(":")[0] not in ("127.0.0.1", "localhost"):
            return PlainTextResponse("this host is not served\n", 421)
        origin = request.headers.get("origin")
        # Forms and scripts of other pages send their origin; a page that is opened by hand sends none.
        if origin is not None and origin != f"http://{host}":
            return PlainTextResponse("other origins are not served\n", 403)
        given = request.path_params.get("token", "")
        # In constant time: how long the answer takes says nothing of the token.
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return PlainTextResponse("open the address that `cogtcp lab` printed: it contains a token\n", 403)
        return None

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"] or "index.html"
        text = self.files.get(name)
        if text is None:
            return PlainTextResponse("no such file\n", 404)
        return Response(text, media_type=_TYPES[name.rpartition(".")[2]])

    async def _ask(self, request: Request) -> Response:
        body = bytearray()
        # Counted on arrival: a request may state no length, or a false one.
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return PlainTextResponse(f"a request of more than {MOST_BYTES} bytes\n", 413)
        try:
            asked = body.decode()
        except UnicodeDecodeError:
            return PlainTextResponse("a request is UTF-8\n", 400)
        if self._waiting >= MOST_WAITING:
            return PlainTextResponse("too many requests at once; try again\n", 503, {"Retry-After": "1"})
        cancel = _core.Cancel()
        self._waiting += 1
        try:
            async with self._limiter, anyio.create_task_group() as group:
                group.start_soon(_cancel_when_gone, request, cancel)
                answer = await run_in_threadpool(_core.ask, asked, cancel, self.controls)
                # The answer is there: no need to watch any longer for a client that leaves.
                group.cancel_scope.cancel()
        finally:
            self._waiting -= 1
        return Response(answer, media_type="application/octet-stream")


async def _cancel_when_gone(request: Request, cancel: _core.Cancel) -> None:
    """End a run whose page has gone or asks no more, and all of them when the server ends."""
    try:
        while not await request.is_disconnected():
            await anyio.sleep(LOOK_S)
    finally:
        cancel.cancel()
