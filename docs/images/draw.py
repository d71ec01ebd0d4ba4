"""Draw the pictures of the documentation with cogtcp itself.

    .venv/bin/python docs/images/draw.py                # all
    .venv/bin/python docs/images/draw.py sensed-link    # the README's: seconds

`fig3.svg` and those of a study's main figure, as `c2.svg`, need runs: some minutes, kept in
results/reproduce-c2. `tune.svg` needs Optuna.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import cogtcp
from cogtcp import studies
from cogtcp.showing.report import bars
from cogtcp.showing.report.alone import alone
from cogtcp.showing.report.surface import surface
from cogtcp.studies import folder, joint
from cogtcp.studies.drawing import draw

if TYPE_CHECKING:
    from cogtcp.showing.figure import Drawing

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def main() -> None:
    """Draw those that are named, or all."""
    own = {"sensed-link": sensed_link, "fig3": fig3, "tune": tune}
    mains = [study.name for study in studies.list_studies() if joint.read(study) is not None]
    for name in sys.argv[1:] or [*own, *mains]:
        own.get(name, lambda name=name: main_figure(name))()


def sensed_link() -> None:
    """Draw what `make demo` measures."""
    scenario = cogtcp.Scenario.from_file(ROOT / "scenarios" / "sensed-link.toml")
    comparison = cogtcp.compare(scenario, ["linux-bbr", "linux-cubic", "linux-reno", "sack"], seeds=10)
    save("sensed-link", bars(comparison))


def fig3() -> None:
    """Draw Fig. 3 of the study c2."""
    result = studies.reproduce("c2", only="c2-f3", out=ROOT / "results" / "reproduce-c2")
    save("fig3", draw(result.claims[0].outcome.figures[0]))


def main_figure(name: str) -> None:
    """Draw a paper's main figure at the joint setting."""
    study, _ = folder.find(name)
    out = ROOT / "results" / f"reproduce-{name}"
    result = studies.reproduce(name, only=study.main, at="joint", out=out)
    save(name, draw(result.claims[0].outcome.figures[0]))


def tune() -> None:
    """Draw goodput over sensing and transmission time."""
    single_hop = cogtcp.Scenario.from_file(ROOT / "scenarios" / "cr-single-hop.toml")
    save("tune", surface(cogtcp.tune(single_hop, grid=[10, 10], out=ROOT / "results" / "tune-cr-single-hop")))


def save(name: str, drawing: Drawing) -> None:
    """Write a figure of a page as a file of its own, with the page's colours for light and dark in it."""
    path = HERE / f"{name}.svg"
    path.write_text(alone(drawing, dark=True), encoding="utf-8")
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
