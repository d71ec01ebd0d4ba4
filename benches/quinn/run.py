"""Goodput of quinn with rustls beside cogtcp's QUIC, on one emulated link of 20 Mbit/s.

`benches/quinn/run.py PROGRAM`, PROGRAM being what `cargo build --release` makes here. The link is the
kernel plane: network namespaces, real UDP sockets, real time. Root or user namespaces are needed. Each
run transfers for 20 s; the first 5 s do not count.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import cogtcp
from cogtcp import Scenario
from cogtcp.kernel.emulation import emulate

WARMUP_S, DURATION_S = 5, 20
SCENARIO = f"""\
name = "twenty"
run = {{ duration = "{DURATION_S} s", warmup = "{WARMUP_S} s" }}
[topology.single_hop]
link = {{ rate = "20 Mbit/s", delay = "20 ms", queue = "100 packets" }}
[[flow]]
from = "sender"
to = "receiver"
transport = {{ quic = {{ control = "quinn-%s", max_datagram_size = "1452 B" }} }}
"""


def of_quinn(program: Path, control: str) -> float:
    """Return the goodput that quinn's server measured, in bit/s."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "link.toml"
        file.write_text(SCENARIO % control)
        done = subprocess.run(  # noqa: S603 - the program is the caller's
            [
                Path(sys.executable).with_name("cogtcp"), "emulate", file, "--out", Path(folder) / "out",
                "--peer", f"{program} server {control} {WARMUP_S} {DURATION_S}",
                "--", program, "client", control, str(DURATION_S + 0.5),
            ],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    for line in done.stdout.splitlines():
        if line.startswith('{"bytes"'):
            print(f"    quinn: {line}", flush=True)
            return float(json.loads(line)["bytes"] * 8 / (DURATION_S - WARMUP_S))
    raise SystemExit(f"quinn gave no result:\n{done.stdout}\n{done.stderr}")


def main() -> None:
    """Play both controls, and print the table."""
    program = Path(sys.argv[1]).resolve()
    print("| control | quinn with rustls | kernel plane | simulation | kernel plane / quinn |")
    print("|---|---|---|---|---|")
    for control in ("cubic", "newreno"):
        scenario = Scenario.from_toml(SCENARIO % control)
        own, real = emulate(scenario), of_quinn(program, control)
        (emulated,), (simulated,) = own.rows("flows"), cogtcp.run(scenario).rows("flows")
        kernel, simulation = emulated["goodput_bps"], simulated["goodput_bps"]
        late = "" if own.is_evidence else " (late)"
        print(
            f"| {control} | {real / 1e6:.3f} | {kernel / 1e6:.3f}{late} | {simulation / 1e6:.3f} "
            f"| {kernel / real:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
