"""The notebooks of docs/notebooks as pages, with what their cells show."""

from __future__ import annotations

import html
import logging
import re
from typing import TYPE_CHECKING, Any

import nbformat
from nbclient import NotebookClient

if TYPE_CHECKING:
    from pathlib import Path

#: Where the output of a cell goes: Markdown would take HTML apart.
_PLACE = re.compile(r'<div data-output="([\w-]+):(\d+)"></div>')

#: What cells show, by page and number.
_outputs: dict[tuple[str, int], str] = {}


def notebook_page(path: Path, execute: bool) -> str:
    """Return a notebook as Markdown; what its cells show is put in by `fill`."""
    notebook = nbformat.read(path, as_version=4)
    if execute:
        _execute(notebook, path)
    run = "" if execute else " It was not run where this page was made: what is shown is stored in it."
    parts = []
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        shown = "".join(_shown(output) for output in cell.outputs)
        if shown:
            _outputs[path.stem, number] = f'<div class="notebook-output">{shown}</div>'
            parts.append(f'<div data-output="{path.stem}:{number}"></div>')
    parts[0] += f"\n\n[The notebook]({path.name}), to run it yourself.{run}"
    return "\n\n".join(parts) + "\n"


def fill(page: str) -> str:
    """Put what cells show into a page."""
    return _PLACE.sub(lambda found: _outputs[found[1], int(found[2])], page)


def _execute(notebook: Any, path: Path) -> None:
    logging.getLogger("traitlets").setLevel(logging.ERROR)
    where = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=240, kernel_name="python3", resources=where).execute()


def _shown(output: Any) -> str:
    """Return an output as HTML: as a notebook prefers, rich before plain."""
    if output.output_type == "stream":
        return f"<pre>{html.escape(output.text)}</pre>"
    data = output.get("data", {})
    if "text/html" in data:
        return str(data["text/html"])
    if "image/png" in data:
        return f'<img alt="figure" src="data:image/png;base64,{data["image/png"].strip()}">'
    return f"<pre>{html.escape(data.get('text/plain', ''))}</pre>"
