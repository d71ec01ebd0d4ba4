"""One to ten users of an LTE cell beside ns-3's LTE module: block errors, RLC, shares."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family
from cogtcp.kernel.validation.families.lte import CELL, PAYLOAD, WARM_UP
from cogtcp.kernel.validation.families.ns3 import run_ns3
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: Measured s, after the warm-up.
SECONDS = 2
#: SINR of the program's users in dB for a transmitter of 0 dBm, at 50 m.
_SINR_AT_0_DBM = 19.5


class Ns3LteUsers(Family):
    """Saturated datagrams down to users at one SINR."""

    name = "ns3-lte-users"
    peer = "ns-3"
    bands: ClassVar = {"goodput_bps": 0.05, "ratio": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw SINR, users, RLC and the model of block errors."""
        return {
            "sinr": round(stream.uniform(-2, 30), 1),
            "users": stream.randint(1, 10),
            "rlc": stream.choice(["um", "am"]),
            "errors": stream.choice(["default", "piro"]),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        users = "1 user" if drawn["users"] == 1 else f"{drawn['users']} users"
        return f"{users} at {drawn['sinr']:g} dB, RLC {drawn['rlc'].upper()}, {drawn['errors']} errors"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run ns-3."""
        ends = (drawn["users"], drawn["sinr"] - _SINR_AT_0_DBM, drawn["errors"], "down")
        offered = self._offered(drawn)
        rows = run_ns3("cell-ns3", seed, SECONDS, "udp", offered, PAYLOAD, drawn["rlc"], *ends)
        found = {row[0]: float(row[1]) for row in rows}
        return {"goodput_bps": found["rate"], "ratio": found["least"] / found["rate"] * drawn["users"]}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the same here: the cell of `ns3-lte` with more users."""
        text = resources.files("cogtcp.kernel.validation").joinpath(CELL).read_text(encoding="utf-8")
        data = tomllib.loads(text)
        wire, air = data["topology"]["graph"]["links"]
        names = [f"user-{number}" for number in range(drawn["users"])]
        airs = [{**air, "name": f"air-{name}", "to": name} for name in names]
        data["topology"]["graph"] = {"nodes": ["server", "base", *names], "links": [wire, *airs]}
        (radio,) = data["radio"]
        radio["links"] = [link["name"] for link in airs]
        radio["cr"]["cell"] |= {
            "sinr": f"{drawn['sinr']} dB",
            "rlc": "acknowledged" if drawn["rlc"] == "am" else "unacknowledged",
            "error_model": "piro" if drawn["errors"] == "piro" else "awgn",
        }
        end = WARM_UP + SECONDS
        # A scenario has a flow: this one comes when all is over.
        late = {"from": "server", "to": names[0], "start": f"{end - 0.001} s", "transport": "newreno"}
        data |= {
            "name": "lte-users",
            "run": {"duration": f"{end} s", "warmup": f"{WARM_UP} s", "seed": seed},
            "flow": [late],
            "udp": [
                {
                    "from": "server",
                    "to": name,
                    "start": "500 ms",
                    "size": f"{PAYLOAD} B",
                    "pattern": {"constant": f"{self._offered(drawn):.0f} bit/s"},
                }
                for name in names
            ],
        }
        rows = run(Scenario.from_dict(data), seed, "summary").rows("datagrams")
        goodputs = [float(row["goodput_bps"]) for row in rows]
        total = sum(goodputs)
        return {"goodput_bps": total, "ratio": min(goodputs) / total * drawn["users"]}

    def _offered(self, drawn: Mapping[str, Any]) -> float:
        """Return the rate of a user, bit/s: more than the cell carries."""
        return 9e7 / float(drawn["users"])
