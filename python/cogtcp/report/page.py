"""Pages: templates filled, one self-contained HTML file each."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import cache
from typing import Any

import jinja2


@cache
def environment() -> jinja2.Environment:
    """Return the templates. `page.html.j2` is the frame of every page."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("cogtcp.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def render(template: str, **values: Any) -> str:
    """Return a page."""
    return environment().get_template(template).render(**values)


def date() -> str:
    """Return the date of writing, or that of `SOURCE_DATE_EPOCH` for pages that must come out the same."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return moment.strftime("%Y-%m-%d %H:%M UTC")
