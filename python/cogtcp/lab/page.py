"""The page of the lab."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

from cogtcp.report import page


def lab_page(data: dict[str, Any]) -> str:
    """Return the page; `data` is what its script begins with."""
    pages = page.environment()
    loader = jinja2.ChoiceLoader([jinja2.PackageLoader("cogtcp.lab"), pages.loader or jinja2.DictLoader({})])
    overlay = pages.overlay(loader=loader)
    return overlay.get_template("lab.html.j2").render(
        data=data, lab_scripts=lab_scripts(), policy=_script_hashes()
    )


@cache
def lab_scripts() -> tuple[str, ...]:
    """Return the scripts: the chart library, the time lines of all pages, and the lab's own."""
    own = files("cogtcp.lab").joinpath("static", "lab.js").read_text(encoding="utf-8").strip()
    return (*page.scripts(), own)


@cache
def _script_hashes() -> str:
    digests = [hashlib.sha256(f"\n{script}\n".encode()).digest() for script in lab_scripts()]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def lab_policy() -> str:
    """Return the content security policy that the server sends."""
    return (
        f"default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src {_script_hashes()}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
