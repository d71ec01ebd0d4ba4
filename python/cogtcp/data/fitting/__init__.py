"""A scenario from measurements: captures, logs of ping, irtt and iperf3, link traces, measured occupancy.

`docs/fitting.md` tells what is estimated and how. `packets`, `logs`, `sigmf` and `sweeps` read; `connections`
finds the fate of each packet. `link`, `probing`, `throughput`, `silences` and `laws` estimate, and `making`
writes the scenario.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cogtcp.data.fitting.result import Fit


def reproduces(path: str | Path) -> str:
    """Return why a scenario file does not reproduce its capture; empty if nothing is known against it.

    Raises:
        ScenarioError: The file is no scenario.
    """
    from cogtcp.data.fitting.checking import reproduces as found

    return found(path)


def fit(
    data: str | Path | Sequence[str | Path],
    *,
    name: str = "",
    transport: str = "linux-cubic",
    threshold: float | None = None,
    held_out: float = 0.3,
) -> Fit:
    """Make a scenario of measurements, and say what they tell and what not.

    >>> found = cogtcp.fit(["sender.pcapng", "rtt.log"])
    >>> found.scenario, found.ranges
    >>> print(found.text)
    >>> found.write("link.toml")

    Args:
        data: Files: captures (pcap, pcapng) of a TCP transfer, with ping beside it if possible; logs of
            `ping`, `fping`, `irtt` and `iperf3 --json`; mahimahi traces and rates over time as CSV; measured
            occupancy as CSV, sweeps of `rtl_power` or `hackrf_sweep`, or annotations of SigMF. Their kind is
            told by their content.
        name: Name of the scenario; by default that of the first file.
        transport: The transport of the scenario's flows; for a capture, the one that was captured, by which
            the fit is judged.
        threshold: Power in dBm from which on a channel of an occupancy file with powers is busy.
        held_out: Share of a capture, at its end, that is kept back to judge the fit by; 0 for none.

    Returns:
        The scenario with its estimates, their intervals, and what the data cannot tell.

    Raises:
        UsageError: A file is of no known kind, or has nothing to fit.
        ScenarioError: A trace or an occupancy file says something wrong.
    """
    from cogtcp.data.fitting.making import make

    files = [data] if isinstance(data, str) or not hasattr(data, "__iter__") else list(data)
    return make(files, name, transport, threshold, held_out)
