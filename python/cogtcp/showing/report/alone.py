"""Figures as files of their own: the SVG of a page with the page's colours in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cogtcp.showing.report import page, svg

if TYPE_CHECKING:
    from cogtcp.showing.figure import Drawing


def alone(drawing: Drawing, *, dark: bool = False) -> str:
    """Return the text of an SVG file for a figure of a page, in the colours of a light page.

    Args:
        drawing: The figure.
        dark: Let the file follow the reader's light or dark instead (for web pages; few viewers know how).
    """
    css = page.template_text("page.css")
    head, body = svg.draw(drawing).split(">", 1)
    head += ' xmlns="http://www.w3.org/2000/svg"'
    if dark:
        found = re.search(r"^:root.*?(?=^\* )", css, re.DOTALL | re.MULTILINE)
        assert found is not None  # noqa: S101 (the style sheet begins with them)
        return f"{head}>\n<style>\n{found[0]}svg {{ background: var(--paper); }}\n</style>{body}\n"
    values = dict(re.findall(r"(--[\w-]+):\s*([^;]+);", css[: css.index("@media")]))
    background = '<rect width="100%" height="100%" fill="var(--paper)"/>'
    text = f"{head}>{background}{body}\n"
    return re.sub(r"var\((--[\w-]+)\)", lambda name: values[name[1]].replace('"', "'"), text)
