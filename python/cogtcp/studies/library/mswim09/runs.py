"""The runs of this study: a scenario for each point under each setting."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from cogtcp import Scenario

from .measuring import measure, measure_opportunities, measure_windows

if TYPE_CHECKING:
    from cogtcp.studies import Context, Point, Setting

__all__ = ["measure", "measure_opportunities", "measure_windows", "scenario"]

NODES: dict[str, dict[str, str]] = {
    "together, the sender waits": {
        "ends": "synchronous",
        "while_peer_senses": "wait",
        "transmit_radio": "shared",
    },
    "together, the sender does not know": {
        "ends": "synchronous",
        "while_peer_senses": "retry",
        "transmit_radio": "separate",
    },
    "apart, the sender does not know": {
        "ends": "independent",
        "while_peer_senses": "retry",
        "transmit_radio": "shared",
    },
    "apart, with a second radio": {
        "ends": "independent",
        "while_peer_senses": "retry",
        "transmit_radio": "separate",
    },
}
"""How the two ends sense. The last is the node of the code that the authors released."""
APART = "apart, the sender does not know"
RETRIES: dict[str, tuple[int | str, int | str]] = {
    "7 and 4": (7, 4),
    "unlimited": ("infinite", "infinite"),
}
"""Limits of short and long frames."""
FALSE_ALARMS = {"exponential, no false alarms": 0.0, "exponential, as many false alarms": 1.0}
AIMD = ("newreno", "reno", "sack")
GAMMA_MBPS = 1.0  # stated
ENDS_M, REACH_M, BEYOND_M = 100.0, 500.0, 480.0
"""Distance of the ends, reach of a PU, and how far beyond an end PUs stand that reach this end alone."""
PU_EAST_M = {"the sender": -BEYOND_M, "the receiver": ENDS_M + BEYOND_M}


def scenario(study: Context, setting: Setting, point: Point, seed: int) -> Scenario:
    """Make the scenario of one run. Seeds draw PUs, sensing errors, backoffs and the jitter of the clocks."""
    data = json.loads(json.dumps(study.scenario("single-hop").to_dict()))
    spectrum, (radio,), (flow,), tcp = data["spectrum"], data["radio"], data["flow"], data["tcp"]
    cr, transport = radio["cr"], point.get("transport", "newreno")
    data["run"]["duration"] = "60 s" if study.quick else "200 s"
    cr |= {
        "sensing_time": _duration(point.t_s),
        "transmission_time": _duration(point.t_p),
        "switching_delay": _duration(setting.switching_ms / 1e3),
        "jitter": _duration(point.get("step_jitter_ms", setting.jitter_ms) / 1e3),
        "detector": "perfect" if point.get("perfect", False) else _detector(setting),
        **NODES[APART if "step_jitter_ms" in point else setting.node],
    }
    short, long = RETRIES[setting.retries]
    cr["mac"] |= {
        "short_retry_limit": short,
        "long_retry_limit": long,
        "rts_threshold": "0 B" if setting.rts else "3000 B",
    }
    rate = 1 / setting.mean_s
    spectrum["pu"]["exponential"] |= {"alpha": point.get("alpha", rate), "beta": point.get("beta", rate)}
    if "m" in point:
        spectrum["channels"] = {"alternating": {"rate": f"{GAMMA_MBPS} Mbit/s", "m": point.m}}
    if point.get("reached", "both ends") != "both ends":
        spectrum["pu"]["exponential"] |= {
            "position": [f"{PU_EAST_M[point.reached]} m", "0 m"],
            "reach": {"range": f"{REACH_M} m"},
        }
    if "channels" in point:
        spectrum["channels_per_band"] = round(point.channels)
    tcp |= {"min_rto": _duration(setting.min_rto_s), "max_window": f"{setting.window:.0f} segments"}
    flow["transport"] = (
        ("vegas-ns2" if setting.vegas == "ns-2" else "vegas") if transport == "vegas" else transport
    )
    if transport in AIMD:
        flow["tcp"] = {"parameters": {"byte_counting": False, "whole_segments": True}}
    return Scenario.from_dict(data)


def _detector(setting: Setting) -> dict[str, Any]:
    if setting.errors in FALSE_ALARMS:
        times = [0.001 * 1.25**i for i in range(40)]  # to 6 s
        missed = [0.5 * math.exp(-t / (setting.errors_ms / 1e3)) for t in times]
        alarms = FALSE_ALARMS[setting.errors]
        points = [[_duration(t), 1 - m, alarms * m] for t, m in zip(times, missed, strict=True)]
        return {"table": points}
    form = "map" if setting.errors == "MAP detector" else "simplified"
    return {form: {"snr": f"{setting.snr_db:g} dB", "bandwidth": "1 MHz"}}


def _duration(value_s: float) -> str:
    return f"{round(value_s * 1e6)} us"
