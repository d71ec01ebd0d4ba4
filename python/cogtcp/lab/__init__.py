"""The lab: a page whose sliders change a scenario, redrawn while they move.

`page/` is the page, `presets` what to start from, `controls` what can be changed, `site` puts the files
together. `app` serves them on loopback, to who knows the token, nobody else; that needs the extra `lab`
(Starlette and Uvicorn). Any other web server serves them too (`make web`).
"""

from __future__ import annotations

from cogtcp._errors import UsageError


def require() -> None:
    """Raise unless the server's libraries are there."""
    try:
        import starlette
        import uvicorn
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise UsageError(
            f"lab needs {error.name}, which is not installed; install it with: pip install 'cogtcp[lab]'"
        ) from None
    del starlette, uvicorn
