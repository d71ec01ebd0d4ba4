"""The files of the lab: a page, its scripts, what it starts from, and the engine as WebAssembly.

Nothing in them is computed on a server and nothing is sent to one. Every link is relative, so that any web
server serves them under any path. `python -m cogtcp.lab.site OUT --wasm FILE` writes the folder, and the page
as one file into it (`offline`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp.lab import controls, offline
from cogtcp.lab.offline import WASM
from cogtcp.lab.presets import presets
from cogtcp.model import budget
from cogtcp.model.headline import SAID
from cogtcp.model.metrics import METRICS, MOST_NOTICED, noticed_columns
from cogtcp.showing.report import page

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

#: What all files come to at most, gzipped, as a server sends them.
MOST_GZIPPED = 2_000_000
#: Ends the names of what comes from npm (`crates/web/bundles`); the page does without it where there is none.
_BUNDLE = ".bundle.js"
#: Lines of a trace that is sent as steps, and what a number of JavaScript holds exactly.
_LEAST_PACKED, _MOST_EXACT = 1000, 2**53
#: Comments that have lines of their own: for readers of the source, not of the page.
_COMMENTS = re.compile(rb"^[ \t]*(?://.*|/\*(?:(?!\*/)[\s\S])*\*/[ \t]*)\n", re.MULTILINE)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def contents(
    file: str | None = None,
    wasm: bytes | None = None,
    bundles: Mapping[str, bytes] | None = None,
    controls: Collection[str] = (),
) -> dict[str, bytes]:
    """Return the files of the lab by name.

    Args:
        file: A scenario of the user's own to start from.
        wasm: The engine, as `make web` makes it; without it
            the page asks the server that serves it.
        bundles: What the page takes from npm, by name of file; by default what came with the package.
        controls: Congestion controls written in Python that the engine of the server knows.
    """
    found = {
        source.name: source.read_bytes()
        for source in files("cogtcp.lab").joinpath("page").iterdir()
        if source.name.endswith((".html", ".js", ".css"))
    }
    if bundles is not None:
        found = {name: text for name, text in found.items() if not name.endswith(_BUNDLE)} | dict(bundles)
    for name, text in found.items():
        if name.endswith(".js") and not name.endswith(_BUNDLE):
            found[name] = _COMMENTS.sub(b"", text)
    found["charts.js"] = ("\n".join(page.scripts(with_map=True)) + "\n").encode()
    style = (page.template_text("page.css"), page.static("uPlot.min.css"))
    found["page.css"] = ("\n".join(style) + "\n").encode()
    names = [name.removesuffix(_BUNDLE) for name in sorted(found) if name.endswith(_BUNDLE)]
    known = {
        "engine": "native" if wasm is None else "wasm",
        "bundles": names,
        "controls_in_python": sorted(controls),
        **data(file),
    }
    for preset in known["presets"]:
        preset["files"] = {name: _packed(text) for name, text in preset["files"].items()}
    found["data.json"] = json.dumps(known, separators=(",", ":")).encode()
    if wasm is not None:
        found[WASM] = wasm
    return found


def _packed(text: str) -> str | dict[str, str]:
    """Return what stands for a file in data.json; `unpacked` of state.js makes the file of it.

    Of a trace of whole numbers, one a line, only the steps are sent: a digit of base 36 each, longer ones in
    parentheses. That is a quarter of the bytes, gzipped.
    """
    lines = text.splitlines()
    if len(lines) < _LEAST_PACKED or not all(line.isascii() and line.isdigit() for line in lines):
        return text
    numbers = [int(line) for line in lines]
    if text != "".join(f"{number}\n" for number in numbers) or max(numbers) >= _MOST_EXACT:
        return text
    steps = (after - before for before, after in pairwise((0, *numbers)))
    return {"steps": "".join(_DIGITS[step] if 0 <= step < 36 else f"({step})" for step in steps)}


def shipped_wasm() -> bytes | None:
    """Return the engine that came with the package; none where it was built without."""
    found = files("cogtcp.lab").joinpath("page", WASM)
    return found.read_bytes() if found.is_file() else None


def data(file: str | None = None) -> dict[str, Any]:
    """Return what the page knows beside the engine: presets, metrics, states of a link, sliders."""
    shown = ("name", "title", "unit", "scale", "digits", "better", "meaning", "counts", "radio", "any_radio")
    return {
        "version": _core.version,
        "presets": [preset.to_dict() for preset in presets(file).values()],
        "metrics": [{name: getattr(metric, name) for name in shown} for metric in METRICS],
        "noticed": [
            {
                **{name: getattr(metric, name) for name in shown},
                "table": metric.table,
                "column": column,
                "key": key,
                "most": f".{metric.name}".endswith(MOST_NOTICED),
                "said": SAID.get(metric.name.rpartition(".")[2], metric.title),
            }
            for metric, column, key in noticed_columns()
        ],
        "states": [
            {"name": s.name, "title": s.title, "said": s.said, "color": s.color, "opacity": s.opacity}
            for s in budget.STATES
        ],
        "controls": controls.describe(),
    }


def size_gzipped(contents: dict[str, bytes]) -> int:
    """Return how many bytes a server sends that compresses what it sends."""
    return sum(len(gzip.compress(text, 9)) for text in contents.values())


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the lab, and refuse one that has grown too large to send."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path, help="folder to write")
    parser.add_argument("--wasm", type=Path, required=True, help="the engine, compiled to WebAssembly")
    given = parser.parse_args(arguments)
    made = contents(wasm=given.wasm.read_bytes())
    given.out.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        (given.out / name).write_bytes(text)
    whole = offline.page(made)
    (given.out / "offline.html").write_bytes(whole)
    size = size_gzipped(made)
    print(f"{given.out}: {size / 1e6:.2f} MB gzipped; as one file, offline.html: {len(whole) / 1e6:.2f} MB")
    if size > MOST_GZIPPED:
        print(f"this exceeds the lab's limit of {MOST_GZIPPED / 1e6:g} MB")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
