"""Serving the lab until Ctrl-C."""

from __future__ import annotations

import contextlib
import socket
import webbrowser
from typing import TYPE_CHECKING

from cogtcp._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


def serve(
    file: str | None,
    *,
    port: int,
    browser: bool,
    native: bool,
    controls: Collection[str],
    say: Callable[[str], None],
) -> None:
    """Serve the lab on loopback until Ctrl-C; `say` is told its address once it can be opened.

    `native` serves the native engine also where there is WebAssembly; `controls` are the congestion controls
    written in Python that may be imported, which need that engine.
    """
    import uvicorn

    from cogtcp.lab.app import Lab

    lab = Lab(file, native=native, controls=controls)
    listener = socket.socket()
    # A port that a lab left a moment ago can be taken again.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        # Only this machine can come here, whatever else the machine is connected to.
        listener.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(
            f"--port {port}: cannot be used ({error}); leave --port out for a free one"
        ) from None
    listener.listen(128)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/{lab.token}/"
    config = uvicorn.Config(
        lab.app(), log_level="warning", access_log=False, ws="none", lifespan="off", limit_concurrency=512,
        timeout_keep_alive=30, timeout_graceful_shutdown=1, server_header=False,
    )  # fmt: skip
    # The socket listens already: a browser that is faster than the server waits.
    say(address)
    if browser:
        webbrowser.open(address)
    with contextlib.suppress(KeyboardInterrupt), listener:
        uvicorn.Server(config).run(sockets=[listener])
