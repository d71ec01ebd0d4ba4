"""Run the notebooks of docs/notebooks, and store what a forge can show of their cells (`make notebooks`).

A forge runs no notebook and shows no HTML with drawings in it: kept are figures as PNG, and text. Results and
comparisons, which are HTML, are on the site and in a notebook that is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent / "notebooks"
#: What is kept of an output. In place of HTML its short text would only be in the way.
KEPT = ("image/png", "text/plain")


def main() -> None:
    """Run and write all notebooks."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        where = {"metadata": {"path": str(FOLDER)}}
        NotebookClient(notebook, timeout=240, kernel_name="python3", resources=where).execute()
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = stored(cell.outputs)
                cell.execution_count = None
                cell.metadata.pop("execution", None)
        path.write_text(nbformat.writes(notebook).rstrip("\n") + "\n", encoding="utf-8")
        print(path.relative_to(FOLDER.parents[1]))


def stored(outputs: list[Any]) -> list[Any]:
    """Return the outputs of a cell as they are stored."""
    found = []
    for output in outputs:
        if output.output_type == "stream":
            found.append(output)
        elif output.output_type in ("display_data", "execute_result") and "text/html" not in output.data:
            output.data = {kind: output.data[kind] for kind in KEPT if kind in output.data}
            if output.output_type == "execute_result":
                output.execution_count = None
            found.append(output)
    return found


if __name__ == "__main__":
    main()
