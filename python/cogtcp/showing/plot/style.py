"""The look of figures for paper, and how they are written."""

from __future__ import annotations

import io
import math
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.figure import Figure

from cogtcp._errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Width of one column and of both in the two-column formats of the IEEE, in inches (the ACM: 3.33).
COLUMN_IN = 3.5
PAGE_IN = 7.16

#: Okabe and Ito's colours ("Color Universal Design", 2008), told apart with every colour vision, without
#: yellow, which paper swallows.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
#: Told apart without colour too.
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SILENCES = {"sensing": "#c6d3e0", "switching": "#f0dcae", "lost": "#e3c5c5"}

_STYLE: Any = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.prop_cycle": cycler(color=COLORS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8,
    "figure.dpi": 150,
    "font.family": "serif",
    "font.serif": ["STIXGeneral", "DejaVu Serif"],  # both come with matplotlib: alike on every machine
    "font.size": 8,
    "grid.color": "#d8d8d8",
    "grid.linewidth": 0.4,
    "hatch.linewidth": 0.5,
    "image.cmap": "cividis",
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "mathtext.fontset": "stix",
    "pdf.fonttype": 42,  # TrueType: the checks of most conferences refuse Type 3
    "ps.fonttype": 42,
    "savefig.dpi": 300,
    "svg.fonttype": "none",
    "svg.hashsalt": "cogtcp",
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}

_SUFFIXES = (".pdf", ".svg", ".png")


class PaperFigure(Figure):
    """A matplotlib Figure that notebooks show without pyplot, which would keep every figure alive."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        with mpl.rc_context(_STYLE):
            self.savefig(stream, format="png", dpi=160)
        return stream.getvalue()


@contextmanager
def paper(width: float, height: float | None) -> Iterator[Figure]:
    """Give a figure in the style of all figures; `height` None: two thirds of the width."""
    if not (math.isfinite(width) and 1 <= width <= 40):
        raise UsageError(f"width {width:g}: write 1 to 40 inches")
    if height is not None and not (math.isfinite(height) and 0.5 <= height <= 40):
        raise UsageError(f"height {height:g}: write 0.5 to 40 inches")
    with mpl.rc_context(_STYLE):
        yield PaperFigure(figsize=(width, height or width * 0.66), layout="constrained")


def save(figure: Figure, path: str | Path, *, force: bool = False) -> Path:
    """Write a figure as PDF, SVG or PNG, by the name's end, whole or not at all: the same bytes each time."""
    from cogtcp.model.output import write_bytes

    target = Path(path)
    if target.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"{target}: name a file that ends in {', '.join(_SUFFIXES)}")
    if target.exists() and not force:
        raise OutputError(f"{target}: exists already; name another file, or use --force to replace it")
    kind = target.suffix.lower()[1:]
    undated: dict[str, dict[str, Any]] = {
        "pdf": {"CreationDate": None, "Producer": "cogtcp"},
        "svg": {"Date": None, "Creator": "cogtcp"},
        "png": {"Software": "cogtcp"},
    }
    stream = io.BytesIO()
    with mpl.rc_context(_STYLE):
        figure.savefig(stream, format=kind, metadata=undated[kind])
    return write_bytes(target, stream.getvalue())
