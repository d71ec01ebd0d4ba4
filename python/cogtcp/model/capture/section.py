"""What every capture of a run has: the header of its section, and the flows that its headers speak of."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cogtcp.model import provenance
from cogtcp.model.capture import headers, pcapng

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cogtcp.model.result import Result


def header(result: Result) -> bytes:
    """Return the block with which the capture of a run begins: it says of which."""
    return pcapng.section_header(
        f"cogtcp {provenance.version()}",
        f"scenario {result.scenario.name} ({result.scenario.hash}), seed {result.seed}, "
        f"digest {result.digest}",
    )


def flows(result: Result, addresses: Mapping[str, bytes]) -> dict[str, headers.Quoted]:
    """Return by name the quoted fields of a flow's headers; `addresses` has the nodes' addresses by name."""
    quoted, stream = {}, 0
    paths = Counter(row["flow"] for row in result.rows("subflows"))
    for row in result.rows("flows"):
        quoted[row["flow"]] = headers.Quoted(stream, addresses[row["from"]], addresses[row["to"]])
        # The engine numbers the streams by flow: two for each path. Only Multipath TCP has several paths.
        stream += 2 * max(1, paths[row["flow"]])
    return quoted
