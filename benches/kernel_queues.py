"""Our queue disciplines beside Linux's, under the same program: iperf3, 10 Mbit/s, 40 ms.

    benches/kernel_queues.py [SECONDS [CONTROL]]

CONTROL is Linux's name of a congestion control, by default cubic. Reno has no HyStart, whose end hangs on a
single delayed ACK.

Both sides run on Linux in virtual time (`make kernel`). Ours is a link of the emulator; Linux's is `tc qdisc`
behind `htb` at a router of the guest. Writes a table for docs/queues.md.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from cogtcp import Scenario
from cogtcp.kernel.emulation.virtual import find
from cogtcp.kernel.emulation.virtual.queues import measure

#: Title, flows, words of `tc`, our queue (None: there is none).
RED = "red limit 150000 min 15000 max 45000 avpkt 1500 burst 17 probability 0.1 bandwidth 10mbit"
CASES: tuple[tuple[str, int, str, Any], ...] = (
    ("drop-tail, 60 packets", 1, "pfifo limit 60", "60 packets"),
    (
        "RED",
        1,
        RED,
        # Linux's: `burst` of 17 packets is a weight of 1/16; not gentle.
        {
            "red": {
                "min_threshold": 10.0,
                "max_threshold": 30.0,
                "max_probability": 0.1,
                "weight": 0.0625,
                "gentle": False,
                "limit": 100,
                "mean_packet": 1500,
                "ecn": False,
            }
        },
    ),
    ("CoDel", 1, "codel limit 1000", {"codel": {"limit": 1000, "ecn": False}}),
    ("CoDel", 4, "codel limit 1000", {"codel": {"limit": 1000, "ecn": False}}),
    ("FQ-CoDel", 4, "fq_codel limit 1000 noecn", {"fq_codel": {"limit": 1000, "ecn": False}}),
    ("PIE", 1, "pie limit 1000", None),
    ("CAKE", 4, "cake bandwidth 10mbit", None),
)


def main() -> None:
    """Measure and write the table."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    control = sys.argv[2] if len(sys.argv) > 2 else "cubic"
    print("| queue | flows | | goodput, Mbit/s | mean RTT, ms | retransmitted segments |")
    print("|---|---|---|---|---|---|")
    for title, flows, words, queue in CASES:
        linux = measure(words.split(), find(), duration_s=seconds, flows=flows, control=control)["iperf3"]
        rows = [("Linux", linux)] + ([("ours", ours(queue, flows, seconds, control))] if queue else [])
        for name, said in rows:
            end = said["end"]
            rtt = sum(each["sender"]["mean_rtt"] for each in end["streams"]) / len(end["streams"]) / 1e3
            goodput = end["sum_received"]["bits_per_second"] / 1e6
            again = end["sum_sent"]["retransmits"]
            print(f"| {title} | {flows} | {name} | {goodput:.2f} | {rtt:.1f} | {again} |", flush=True)


def ours(queue: Any, flows: int, seconds: int, control: str = "cubic") -> dict[str, Any]:
    """Return what iperf3 says over a link of the emulator with this queue."""
    link = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": queue, "reverse_queue": "10000 packets"}
    scenario = Scenario.from_dict(
        {
            "name": "queue",
            "run": {"duration": f"{seconds + 3} s"},
            "topology": {"single_hop": {"link": link}},
            "flow": [{"from": "sender", "to": "receiver", "transport": "linux-cubic"}],
        }
    )
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        client = f"sleep 1; iperf3 -c $COGTCP_PEER -J -t {seconds} -P {flows} -C {control}"
        # A process of its own: the program's output is this one's.
        code = (
            "import sys, pickle; from cogtcp.emulation.launch import emulate; "
            "scenario, client = pickle.load(sys.stdin.buffer); "
            "emulate(scenario, 1, command=['sh', '-c', client], peer=['iperf3', '-s', '-1'], virtual=True)"
        )
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", code],
            input=pickle.dumps((scenario, client)),
            capture_output=True,
            check=True,
            cwd=folder,
        )
    document: dict[str, Any] = json.loads(done.stdout[done.stdout.index(b"{") :])
    return document


if __name__ == "__main__":
    main()
