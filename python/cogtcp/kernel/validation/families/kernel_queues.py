"""Queue disciplines of cogtcp and of Linux, under Linux's own TCP in virtual time on both sides."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp._errors import NoKernelPlaneError
from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

_SECONDS = 60
#: Bytes of a packet.
_PACKET = 1500
#: Programs that the guest runs.
_PROGRAMS = ("iperf3", "ip", "tc")


def why_no_queues() -> str | None:
    """Return why Linux's disciplines cannot be run here; None: they can."""
    from cogtcp.kernel.emulation.virtual.kernels import find

    try:
        find()
    except NoKernelPlaneError as error:
        return str(error)
    missing = [program for program in _PROGRAMS if not shutil.which(program)]
    return f"program {', '.join(missing)} not found on the PATH" if missing else None


class KernelQueues(Family):
    """Reno flows of Linux through a discipline: drop-tail, RED, CoDel, FQ-CoDel."""

    name = "kernel-queues"
    peer = "Linux tc"
    bands: ClassVar = {"goodput_bps": 0.05, "dropped": 0.25}
    is_parallel = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the discipline, the link and the number of flows."""
        return {
            "discipline": stream.choice(["drop-tail", "red", "codel", "fq_codel"]),
            "rate": three_digits(logarithmic(stream, 2e6, 2e7)),
            "rtt": three_digits(logarithmic(stream, 0.01, 0.1)),
            "flows": stream.choice([1, 2, 4]),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        flows = f"{drawn['flows']} flow{'s' if drawn['flows'] > 1 else ''}"
        link = f"{drawn['rate'] / 1e6:g} Mbit/s, RTT {drawn['rtt'] * 1e3:g} ms"
        return f"{drawn['discipline']}, {link}, {flows}"

    def product(self, drawn: Mapping[str, Any]) -> int:
        """Return the bandwidth-delay product in packets, 20 at least: the length of a queue."""
        rate, rtt = float(drawn["rate"]), float(drawn["rtt"])
        return max(20, round(rate * rtt / 8 / _PACKET))

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run iperf3 through `tc qdisc` behind `htb`."""
        from cogtcp.kernel.emulation.virtual.kernels import find
        from cogtcp.kernel.emulation.virtual.queues import measure

        product = self.product(drawn)
        words = {
            "drop-tail": ["pfifo", "limit", str(product)],
            "red": [
                *[
                    "red",
                    "limit",
                    str(5 * product * _PACKET),
                    "avpkt",
                    str(_PACKET),
                    "burst",
                    str(product // 2),
                ],
                *["min", str(product // 4 * _PACKET), "max", str(product * _PACKET), "probability", "0.1"],
                *["bandwidth", f"{drawn['rate']:.0f}"],
            ],
            "codel": ["codel", "limit", "1000"],
            "fq_codel": ["fq_codel", "limit", "1000", "noecn"],
        }
        said = measure(
            words[drawn["discipline"]],
            find(),
            rate_bps=drawn["rate"],
            rtt_s=drawn["rtt"],
            duration_s=_SECONDS,
            flows=drawn["flows"],
            control="reno",
            seed=seed,
        )
        (queue,) = (each for each in said["tc"] if each["kind"] == words[drawn["discipline"]][0])
        received = said["iperf3"]["end"]["sum_received"]["bits_per_second"]
        return {"goodput_bps": received, "dropped": queue["drops"] / (queue["packets"] + queue["drops"])}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the same flows over a link of the emulator, from their begin on.

        `htb` hands a packet on at once and then waits as long as ours transmits: the delay is shorter by that
        time. Meanwhile both queues hold as many packets.
        """
        from cogtcp.kernel.emulation import emulate, preferred_clock

        product, transmission = self.product(drawn), 8 * _PACKET / drawn["rate"]
        queues: dict[str, Any] = {
            "drop-tail": f"{product} packets",
            "red": {
                "red": {
                    "min_threshold": float(product // 4),
                    "max_threshold": float(product),
                    "max_probability": 0.1,
                    "weight": red_weight(product // 2, product // 4),
                    "gentle": False,
                    "limit": 5 * product,
                    "mean_packet": _PACKET,
                    "ecn": False,
                }
            },
            # Linux's CoDel makes one Newton step for each drop.
            "codel": {"codel": {"limit": 1000, "ecn": False, "newton": True}},
            "fq_codel": {"fq_codel": {"limit": 1000, "ecn": False, "newton": True}},
        }
        link = {
            "rate": f"{drawn['rate']:.0f} bit/s",
            "delay": f"{max(0.0, drawn['rtt'] / 2 - transmission):.9f} s",
            "reverse_delay": f"{drawn['rtt'] / 2:.9f} s",
            "queue": queues[drawn["discipline"]],
            "reverse_queue": "10000 packets",
        }
        data = {
            "name": "kernel-queues",
            "run": {"duration": f"{_SECONDS} s"},
            "topology": {"single_hop": {"link": link}},
            "flow": [
                {"count": drawn["flows"], "from": "sender", "to": "receiver", "transport": "linux-reno"}
            ],
        }
        result = emulate(Scenario.from_dict(data), seed=seed, virtual=preferred_clock())
        forward = next(row for row in result.rows("links") if row["direction"] == "forward")
        dropped = (forward["drops_queue"] + forward["drops_early"]) / forward["offered_packets"]
        return {"goodput_bps": float(result.metrics["goodput_bps"]), "dropped": dropped}


def red_weight(burst: int, least: int) -> float:
    """Return the weight 2^-w of RED's average, with the least w at which a burst of so many packets passes.

    The average after the burst, from an empty queue on, is at most the lower threshold (Floyd and Jacobson
    1993, section 5, equation 3; tc-red(8) chooses so).

    Args:
        burst: Packets of the burst.
        least: Lower threshold in packets.
    """
    for exponent in range(1, 32):
        weight = 2.0**-exponent
        if burst + 1 - least <= (1 - (1 - weight) ** burst) / weight:
            return weight
    return 2.0**-31
