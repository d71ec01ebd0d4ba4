"""What this study shows besides its statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.studies import Table
from cogtcp.studies.verdicts import mean_text

if TYPE_CHECKING:
    from cogtcp.studies import Context
    from cogtcp.studies.judging import Judged

NAMES = {"newreno": "NewReno", "cubic": "CUBIC", "bbr": "BBR", "westwood": "Westwood+", "c2": "C2"}


def what_happens_underneath(study: Context, base: Judged) -> list[Table]:
    """Show what routes, MAC and radios do at each number of flows."""
    rows = [
        [
            f"{point.flows:g}",
            point.model,
            mean_text(cell.of("goodput_kbps")),
            mean_text(cell.of("rtos_per_s")),
            f"{cell.mean('hops'):.1f}",
            f"{cell.mean('route_losses_per_min'):.0f}",
            f"{100 * cell.mean('interfered'):.1f} %",
            f"{cell.mean('handoffs_per_min'):.1f}",
        ]
        for point, cell in base.grid.items()
    ]
    header = ["flows", "CRAHN model", "goodput [kbit/s]", "timeouts/s", "hops", "routes lost/min"]
    return [Table(f"Underneath, at {study.place}", [*header, "interfered", "handoffs/min"], rows)]


def causes_of_loss(study: Context, base: Judged) -> list[Table]:
    """Switch one cause off at a time."""
    cells = {point.without: cell for point, cell in base.grid.items()}
    full = cells["nothing"].of("per_flow_kbps")
    rows = []
    for without, cell in cells.items():
        mine = cell.of("per_flow_kbps")
        gains = [a - b for a, b in zip(mine, full, strict=True)]
        rows.append(
            [
                without,
                mean_text(mine),
                mean_text(gains) if without != "nothing" else "",
                f"{cell.mean('rtos_per_s'):.2f}",
                f"{cell.mean('hops'):.1f}",
                f"{cell.mean('route_losses_per_min'):.0f}",
                f"{100 * cell.mean('interfered'):.1f} %",
            ]
        )
    header = ["without", "a flow has [kbit/s]", "more than with all", "timeouts/s", "hops", "routes lost/min"]
    caption = (
        "Four flows, CRAHN model on. The gains do not add up: one cause hides another. Without primary users "
        "nodes still sense; without silences sensing takes 1 ms and has no errors; without searches an "
        "oracle routes, ten times a second. A flow that is alone still contends with itself, hop by hop."
    )
    return [Table("What costs throughput", [*header, "interfered"], rows, caption)]


def other_transports(study: Context, base: Judged) -> list[Table]:
    """Show transports that the paper does not have, with the model off and on."""
    rows = [
        [
            NAMES[point.transport],
            point.model,
            mean_text(cell.of("goodput_kbps")),
            mean_text(cell.of("rtos_per_s")),
            f"{cell.mean('hops'):.1f}",
            f"{cell.mean('route_losses_per_min'):.0f}",
        ]
        for point, cell in base.grid.items()
    ]
    header = ["transport", "CRAHN model", "goodput [kbit/s]", "timeouts/s", "hops", "routes lost/min"]
    return [Table("Other transports, 4 flows", header, rows)]
