"""The lab: a page on this machine whose sliders change a scenario, redrawn while they move.

`controls` finds what can be changed, `presets` what to start from, `answer` simulates and explains, `app`
serves it: on loopback, to who knows the token, nobody else. Needs the extra `lab` (Starlette and Uvicorn).
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
