"""Scenarios drawn for both planes: links, queues, losses, silences, cells, regulated radios, satellites."""

from __future__ import annotations

import random
from typing import Any

from cogtcp.kernel.validation.families.family import logarithmic, three_digits
from cogtcp.model.scenario import Scenario

#: Kinds, with how often each of 100 is drawn.
KINDS = {
    "plain": 30,
    "short queue": 8,
    "AQM": 16,
    "loss": 12,
    "silence": 14,
    "LEO": 6,
    "cell": 8,
    "regulated": 6,
}
#: Controls that Linux and the model both have, with how often each of 100 is drawn.
CONTROLS = {"linux-cubic": 35, "linux-bbr": 25, "linux-reno": 20, "linux-vegas": 10, "linux-westwood": 10}
_MOST_S, _WARM_UP_S = 20, 3
#: A run is shortened to so many packets of data, or the fastest would take most of the time.
_PACKETS = 60_000


def drawn_wide(seed: int | str, count: int) -> list[Scenario]:
    """Return scenarios that a seed draws, each with a control: names begin with their kind.

    Rates are 0.5 to 100 Mbit/s, round-trip times 2 to 600 ms, queues 5 packets to 4 bandwidth-delay products,
    each logarithmic.
    """
    return [_drawn(random.Random(f"wide/{seed}/{number}"), number) for number in range(1, count + 1)]  # noqa: S311


def kind_of(name: str) -> str:
    """Return the kind of a drawn scenario by its name."""
    return name.partition("-")[2].rpartition("-")[0].replace("_", " ")


def _drawn(stream: random.Random, number: int) -> Scenario:
    kind = _chosen(stream, KINDS)
    control = _chosen(stream, CONTROLS)
    rate = three_digits(logarithmic(stream, 5e5, 1e8))
    rtt = three_digits(logarithmic(stream, 0.002, 0.6))
    product = rate * rtt / 8 / 1500
    drawn = logarithmic(stream, 5, max(6, 4 * product))
    packets = 5 if kind == "short queue" else round(drawn)
    link: dict[str, Any] = {
        "rate": f"{rate:.0f} bit/s",
        "delay": f"{rtt / 2 * 1e3:g} ms",
        "queue": f"{packets} packets",
        "reverse_queue": "1000 packets",
    }
    if kind == "AQM":
        name = stream.choice(["codel", "fq_codel"])
        link["queue"] = {name: {"limit": max(packets, 50)}}
    if kind == "loss":
        link |= {"loss": f"{three_digits(logarithmic(stream, 1e-4, 2e-2)) * 100:g} %", "reverse_loss": "0 %"}
    data: dict[str, Any] = {
        "name": f"drawn-{kind.replace(' ', '_')}-{number}",
        "run": {},
        # What Linux does where no preset says so, since it is the receiver's. No slack: both hosts share the
        # kernel's processor, where one's pacing would end the other's compression of ACKs.
        "tcp": {"delayed_ack": "linux", "window_tuning": True, "compression_slack": "0 s"},
        "topology": {"single_hop": {"link": link}},
        "flow": [{"from": "sender", "to": "receiver", "transport": control, "start_jitter": "500 ms"}],
    }
    if kind == "silence":
        silent, open_ = three_digits(logarithmic(stream, 0.02, 1)), three_digits(logarithmic(stream, 0.5, 6))
        sensing = {"on": f"{open_} s", "off": f"{silent} s"}
        silence = stream.choice(["hold", "drop"])
        data["radio"] = [{"name": "radio", "links": ["link"], "silence": silence, "sensing": sensing}]
    elif kind == "LEO":
        low, high = sorted((rate, three_digits(rate * stream.uniform(0.3, 1))), reverse=False)
        leo = {
            "period": "15 s",
            "outage": f"{stream.choice([20, 50, 100])} ms",
            "delay": [f"{rtt / 2 * 1e3:g} ms", f"{rtt * 0.8 * 1e3:g} ms"],
            "rate": [f"{low:.0f} bit/s", f"{high:.0f} bit/s"],
        }
        data["radio"] = [{"name": "satellite", "links": ["link"], "silence": "hold", "leo": leo}]
    elif kind == "cell":
        _put_into_cell(data, stream, rtt, packets)
        rate = 3e7
    elif kind == "regulated":
        data |= _regulated(stream, rate)
    duration = max(8, min(_MOST_S, round(_PACKETS * 1500 * 8 / rate)))
    data["run"] = {"duration": f"{duration} s", "warmup": f"{_WARM_UP_S} s", "seed": number}
    return Scenario.from_dict(data)


def _put_into_cell(data: dict[str, Any], stream: random.Random, rtt: float, packets: int) -> None:
    """Replace the link by a server, a wire and a cell with one user."""
    queue = f"{max(packets, 50)} packets"
    wire = {"name": "wire", "from": "server", "to": "base", "rate": "1 Gbit/s", "queue": "1000 packets"}
    air = {"name": "air", "from": "base", "to": "user", "rate": "10 Mbit/s", "delay": "1 us", "queue": queue}
    data["topology"] = {
        "graph": {
            "nodes": ["server", "base", "user"],
            "links": [wire | {"delay": f"{min(rtt, 0.2) / 2 * 1e3:g} ms"}, air],
        }
    }
    cell = {
        "bandwidth": stream.choice(["5 MHz", "10 MHz", "20 MHz"]),
        "duplex": stream.choice(["fdd", {"tdd": 2}]),
        "sinrs": [f"{stream.uniform(5, 25):.0f} dB"],
        "scheduler": "proportional_fair",
    }
    cr = {"access": "scheduled", "detector": "perfect", "sensing_time": "50 ms", "cell": cell}
    data["radio"] = [{"name": "cell", "links": ["air"], "cr": cr | {"transmission_time": "950 ms"}}]
    data["spectrum"] = {
        "bands": 3,
        "channels": {"uniform": "90 Mbit/s"},
        "pu": {"laws": {"on": {"deterministic": "5 s"}, "off": {"exponential": "15 s"}}},
    }
    data["flow"][0] |= {"from": "server", "to": "user"}


def _regulated(stream: random.Random, rate: float) -> dict[str, Any]:
    cbrs = {"heartbeat": "2 s", "transmit": "6 s", "stop": "500 ms", "answer": "200 ms", "esc": "0 s"}
    radio = {
        "name": "cbsd",
        "links": ["link"],
        "silence": stream.choice(["hold", "drop"]),
        "cr": {"access": "none", "regulation": {"cbrs": cbrs | {"dpa": "relocate"}}},
    }
    return {
        "spectrum": {
            "bands": 3,
            "channels": {"uniform": f"{rate:.0f} bit/s"},
            "pu": {"laws": {"on": {"deterministic": "4 s"}, "off": {"exponential": "8 s"}}},
        },
        "radio": [radio],
    }


def _chosen(stream: random.Random, weights: dict[str, int]) -> str:
    return stream.choices(list(weights), list(weights.values()))[0]
