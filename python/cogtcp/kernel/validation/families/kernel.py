"""One flow on the simulator and on this machine's kernel: rates, delays, queues, silences, loss, CoDel."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, NoEvidenceError, logarithmic, three_digits
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECONDS, _WARM_UP = 15, 3
_TRIES = 3
_CONTROLS = ["linux-reno", "linux-cubic", "linux-bbr", "linux-vegas", "linux-westwood"]

#: What tells whether the kernel plane can be had here.
PROBE = """
name = "probe"
[run]
duration = "100 ms"
[topology.single_hop]
link = { rate = "10 Mbit/s", delay = "5 ms", queue = "20 packets" }
[[flow]]
from = "sender"
to = "receiver"
transport = "linux-cubic"
"""


def drawn_scenarios(seed: int, count: int) -> list[Scenario]:
    """Return scenarios that a seed draws, for comparisons that choose transports and seeds themselves."""
    family = Kernel()
    scenarios = []
    for number in range(1, count + 1):
        drawn = family.draw(random.Random(f"agree/{seed}/{number}"))  # noqa: S311
        data = family.scenario(drawn, seed)
        # Without the transport, which the comparison chooses.
        told = family.told(drawn).partition(", ")[2]
        data |= {"name": f"drawn-{seed}-{number}", "description": told}
        scenarios.append(Scenario.from_dict(data))
    return scenarios


class Kernel(Family):
    """A link that anybody has, or one that falls silent."""

    name = "kernel"
    peer = "Linux"
    bands: ClassVar = {"goodput_bps": 0.05, "rtt_mean_s": 0.05, "retransmitted": 0.25}
    is_parallel = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw link, queue, silence, loss and control."""
        rate, delay = logarithmic(stream, 1e6, 2.5e7), three_digits(stream.uniform(0.005, 0.075))
        # A third to three products of rate and round-trip time, in packets of 1500 bytes.
        packets = max(4, round(stream.uniform(0.3, 3) * rate * 2 * delay / 8 / 1500))
        is_silent = stream.random() < 0.3
        return {
            "transport": stream.choice(_CONTROLS),
            "rate": three_digits(rate),
            "delay": delay,
            "queue": packets,
            "discipline": stream.choice(["drop-tail", "drop-tail", "codel", "fq_codel"]),
            "loss": stream.choice([0.0, 0.0, 0.001, 0.005]),
            "open": round(stream.uniform(2, 6), 1),
            "silent": round(stream.uniform(0.05, 0.5), 2) if is_silent else 0.0,
            "silence": stream.choice(["hold", "drop"]),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        parts = [
            f"{drawn['transport']}, {drawn['rate'] / 1e6:g} Mbit/s, {drawn['delay'] * 1e3:g} ms",
            f"{drawn['discipline']} of {drawn['queue']} packets",
        ]
        parts += [f"loss {drawn['loss'] * 100:g} %"] if drawn["loss"] else []
        if drawn["silent"]:
            parts.append(f"{drawn['silence']} for {drawn['silent']:g} s after {drawn['open']:g} s")
        return ", ".join(parts)

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it in virtual time where that is built; else in real time, again while it falls behind."""
        from cogtcp.kernel.emulation import emulate, preferred_clock

        doubt = ""
        for _ in range(_TRIES):
            result = emulate(
                Scenario.from_dict(self.scenario(drawn, seed)), seed=seed, virtual=preferred_clock()
            )
            doubt = result.doubt
            if not doubt:
                return self._measures(result)
        raise NoEvidenceError(f"the kernel's run fell behind its clock {_TRIES} times: {doubt}")

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Simulate it, with the ticks and the receive window of the kernel beside it."""
        from cogtcp.kernel.emulation import preferred_clock
        from cogtcp.kernel.emulation.virtual.kernels import find

        scenario = Scenario.from_dict(self.scenario(drawn, seed))
        if preferred_clock():
            scenario = find().modelled(scenario)
        return self._measures(run(scenario, seed=seed, trace="summary"))

    def _measures(self, result: Any) -> dict[str, float]:
        return {measure: float(result.metrics[measure]) for measure in self.bands}

    def scenario(self, drawn: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """Return the scenario of both planes."""
        queue: Any = f"{drawn['queue']} packets"
        if drawn["discipline"] != "drop-tail":
            queue = {drawn["discipline"]: {"limit": drawn["queue"]}}
        data: dict[str, Any] = {
            "name": "validate-kernel",
            "run": {"duration": f"{_SECONDS} s", "warmup": f"{_WARM_UP} s", "seed": seed},
            # What Linux does where no preset says so, since it is the receiver's.
            "tcp": {"delayed_ack": "linux", "window_tuning": True},
            "topology": {
                "single_hop": {
                    "link": {
                        "rate": f"{drawn['rate']:.0f} bit/s",
                        "delay": f"{drawn['delay'] * 1e3:g} ms",
                        "queue": queue,
                        "reverse_queue": "1000 packets",
                        "loss": f"{drawn['loss'] * 100:g} %",
                        "reverse_loss": "0 %",
                    }
                }
            },
            "flow": [
                {
                    "from": "sender",
                    "to": "receiver",
                    "transport": drawn["transport"],
                    "start_jitter": "500 ms",
                }
            ],
        }
        if drawn["silent"]:
            sensing = {"on": f"{drawn['open']} s", "off": f"{drawn['silent']} s"}
            data["radio"] = [
                {"name": "radio", "links": ["link"], "silence": drawn["silence"], "sensing": sensing}
            ]
        return data
