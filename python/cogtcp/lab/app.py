"""The server of the lab: on loopback, for who knows the token, with bounds on everything it takes.

A page asks for runs while its sliders move. What is asked anew makes the question before stale: its run is
cancelled, if it is under way, or never begun.
"""

from __future__ import annotations

import json
import math
import secrets
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from cogtcp import _core
from cogtcp._errors import CogtcpError, RunError
from cogtcp.lab import answer
from cogtcp.lab.page import lab_page, lab_policy
from cogtcp.lab.presets import presets
from cogtcp.result import check_seed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request

    from cogtcp.lab.presets import Preset
    from cogtcp.scenario import Scenario

#: The longest body of a request; what the page sends is a hundredth of it.
MOST_BYTES = 64 * 1024
#: Simulations at a time and in the queue; who comes later is told to try again.
MOST_RUNS = 2
MOST_WAITING = 64
MOST_TRANSPORTS = 6
#: Wall time of one question: a slider must not occupy the machine.
TIME_LIMIT_S = 15.0


class BadRequestError(Exception):
    """What was sent makes no sense; the text says why."""


class Lab:
    """What the server knows: presets, the token, and who asked what last."""

    def __init__(self, file: str | None, token: str | None = None) -> None:
        self.presets = presets(file)
        self.first = next(iter(self.presets))
        if file is not None:
            self.presets[self.first].controls  # noqa: B018 (a file that cannot be read is said now)
        self.token = token or secrets.token_urlsafe(16)
        self._asked: OrderedDict[str, _core.Cancel] = OrderedDict()
        self._limiter = anyio.CapacityLimiter(MOST_RUNS)
        self._waiting = 0

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/", self._guarded(self._page)),
                Route("/preset", self._guarded(self._preset), methods=["POST"]),
                Route("/simulate", self._guarded(self._simulate), methods=["POST"]),
                Route("/scenario", self._guarded(self._scenario), methods=["POST"]),
            ]
        )

    def _guarded(
        self, handle: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Let only this page's requests through, and send headers that keep others away."""

        async def guarded(request: Request) -> Response:
            response = self._refusal(request)
            if response is None:
                try:
                    response = await handle(request)
                except BadRequestError as error:
                    response = JSONResponse({"error": str(error)}, 400)
            response.headers.update(
                {
                    "Cache-Control": "no-store",
                    "Content-Security-Policy": lab_policy(),
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
        if origin is not None and origin != f"http://{host}":
            return PlainTextResponse("other origins are not served\n", 403)
        given = request.headers.get("x-token") or request.query_params.get("token", "")
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return PlainTextResponse(
                "open the address that `cogtcp lab` printed: it ends with a token\n", 403
            )
        return None

    async def _page(self, request: Request) -> Response:
        groups: dict[str, list[str]] = {}
        for preset in self.presets.values():
            groups.setdefault(preset.group, []).append(preset.name)
        data = {
            "presets": groups,
            "first": self.first,
            "transports": [
                [answer.AS_IT_IS, "each flow with the transport that the scenario gives it"],
                *(list(entry) for entry in _core.transports()),
            ],
            "most": MOST_TRANSPORTS,
        }
        return HTMLResponse(await run_in_threadpool(lab_page, data))

    async def _preset(self, request: Request) -> Response:
        body = await _body(request)
        preset = self._named(body)
        try:
            return JSONResponse(await run_in_threadpool(preset.to_dict))
        except CogtcpError as error:
            return JSONResponse({"error": str(error)}, 422)

    async def _scenario(self, request: Request) -> Response:
        body = await _body(request)
        scenario = self._changed(body)
        transports = _transports(body)
        if transports[0] != answer.AS_IT_IS:
            scenario = scenario.with_transport(transports[0])
        return PlainTextResponse(scenario.to_toml())

    async def _simulate(self, request: Request) -> Response:
        body = await _body(request)
        client = body.get("client")
        if not isinstance(client, str) or not 1 <= len(client) <= 64:
            raise BadRequestError("client: a text of at most 64 characters")
        transports = _transports(body)
        scenario = self._changed(body)
        seed = body.get("seed", scenario.seed)
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise BadRequestError("seed: a whole number")
        try:
            check_seed(seed)
        except CogtcpError as error:
            raise BadRequestError(str(error)) from None
        if self._waiting >= MOST_WAITING:
            return JSONResponse({"error": "too many questions at once; try again"}, 503, {"Retry-After": "1"})
        cancel = self._newest(client)
        self._waiting += 1
        try:
            async with self._limiter:
                if self._asked.get(client) is not cancel:
                    return JSONResponse({"stale": True}, 409)
                found = await run_in_threadpool(_limited, scenario, transports, seed, cancel)
        except RunError as error:
            if self._asked.get(client) is not cancel:
                return JSONResponse({"stale": True}, 409)
            return JSONResponse({"error": str(error)}, 422)
        except CogtcpError as error:
            return JSONResponse({"error": str(error)}, 422)
        finally:
            self._waiting -= 1
        found["changed"] = _changes(body, found)
        return JSONResponse(found)

    def _newest(self, client: str) -> _core.Cancel:
        """Make this the last that a client asked, and what it asked before stale."""
        before = self._asked.pop(client, None)
        if before is not None:
            before.cancel()
        cancel = self._asked[client] = _core.Cancel()
        while len(self._asked) > 4 * MOST_WAITING:
            self._asked.popitem(last=False)[1].cancel()
        return cancel

    def _named(self, body: Mapping[str, Any]) -> Preset:
        name = body.get("preset")
        if not isinstance(name, str) or name not in self.presets:
            raise BadRequestError(f"preset: {str(name)[:80]!r} is none of this lab's")
        return self.presets[name]

    def _changed(self, body: Mapping[str, Any]) -> Scenario:
        """Return the preset with the page's changes: only what has a control, only within its bounds."""
        preset = self._named(body)
        changes = body.get("set", {})
        if not isinstance(changes, dict):
            raise BadRequestError("set: values by path")
        try:
            scenario = preset.scenario
            for path, value in changes.items():
                if path == "radio" and value == []:
                    scenario = scenario.set("radio", [])
                    continue
                control = preset.controls.get(path)
                if control is None:
                    raise BadRequestError(f"set: {path[:80]!r} has no control here")
                if "radio" in changes and path.startswith("radio."):
                    continue
                scenario = scenario.set_text(path, control.text(value))
        except CogtcpError as error:
            raise BadRequestError(str(error)) from None
        except ValueError as error:
            raise BadRequestError(str(error)) from None
        return scenario


def _limited(scenario: Scenario, transports: list[str], seed: int, cancel: _core.Cancel) -> dict[str, Any]:
    late = threading.Event()

    def stop() -> None:
        late.set()
        cancel.cancel()

    timer = threading.Timer(TIME_LIMIT_S, stop)
    timer.daemon = True
    timer.start()
    try:
        return answer.simulate(scenario, transports, seed, cancel)
    except RunError:
        if late.is_set():
            raise RunError(
                f"this takes more than {TIME_LIMIT_S:g} s; shorten the simulated time, or use `cogtcp run`"
            ) from None
        raise
    finally:
        timer.cancel()


async def _body(request: Request) -> dict[str, Any]:
    """Read a body of JSON, no longer than is allowed."""
    parts = bytearray()
    async for part in request.stream():
        parts += part
        if len(parts) > MOST_BYTES:
            raise BadRequestError(f"a body of more than {MOST_BYTES} bytes")
    try:
        body = json.loads(parts)
    except (ValueError, RecursionError):
        raise BadRequestError("the body is no JSON") from None
    if not isinstance(body, dict):
        raise BadRequestError("the body is no JSON object")
    return body


def _transports(body: Mapping[str, Any]) -> list[str]:
    names = body.get("transports")
    known = {answer.AS_IT_IS, *(name for name, _ in _core.transports())}
    if not isinstance(names, list) or not 1 <= len(names) <= MOST_TRANSPORTS:
        raise BadRequestError(f"transports: a list of 1 to {MOST_TRANSPORTS} names")
    # Presets only: a lab loads no code that a page names.
    if not all(isinstance(name, str) and name in known for name in names) or len(set(names)) < len(names):
        raise BadRequestError("transports: names of presets, each once")
    return names


def _changes(body: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Say what the change since the last answer did, if the page tells of one."""
    what, before = body.get("what"), body.get("before")
    if not isinstance(what, str) or not isinstance(before, dict) or not what.strip():
        return ""
    for row in found["rows"]:
        old = before.get(row["name"])
        if isinstance(old, dict) and all(_is_number(old.get(key)) for key in answer.SHOWN[:1]):
            kept = {key: value for key, value in old.items() if _is_number(value)}
            return answer.changed(what[:200], kept, row)
    return ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
