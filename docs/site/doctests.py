"""Examples in docstrings, shown as code: the parser of docstrings knows them under a heading only."""

from __future__ import annotations

import re
from typing import Any

import griffe

#: Lines of `>>>` and `...`, with what they print: up to the next empty line.
_EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)


class Doctests(griffe.Extension):
    """Puts fences around doctests."""

    def on_object(self, *, obj: griffe.Object, **given: Any) -> None:
        """Change the docstring of an object that was read."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(
                lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value
            )

    def on_package(self, *, pkg: griffe.Module, **given: Any) -> None:
        """Change the docstring of the package, which is no member of anything."""
        self.on_object(obj=pkg)
