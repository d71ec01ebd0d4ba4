"""Users of an LTE cell beside ns-3's LTE module: block errors, RLC, shares, both directions, TCP."""

from __future__ import annotations

import math
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
#: SINR in dB of the program's users for a transmitter of 0 dBm, at 50 m. The base station's receiver has a
#: noise figure of 5 dB, a user's 9 dB, and the uplink's carrier is at 1.93 GHz, the downlink's at 2.12 GHz.
_SINR_AT_0_DBM: Mapping[str, float] = {"down": 19.5, "up": 24.3}

#: Bits of 100 resource blocks by I_TBS (TS 36.213 table 7.1.7.2.1-1), and elements of a block that carry data
#: behind one control symbol, as in the uplink.
_SIZES = (
    *(2792, 3624, 4584, 5736, 7224, 8760, 10296, 12216, 14112, 15840, 17568, 19848, 22920, 25456, 28336),
    *(30576, 32856, 36696, 39232, 43816, 46888, 51024, 55056, 57336, 61664, 63776, 75376),
)
_ELEMENTS = 144
#: Parts of the carrier that a scheduler can give: groups of resource blocks down, blocks up.
_PARTS: Mapping[str, int] = {"down": 25, "up": 100}


class Ns3LteUsers(Family):
    """Saturated datagrams down to users at one SINR."""

    name = "ns3-lte-users"
    peer = "ns-3"
    bands: ClassVar = {"goodput_bps": 0.05, "ratio": 0.05}
    seconds: ClassVar[int] = SECONDS
    least_sinr: ClassVar[int] = -2

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw SINR, users, RLC and the model of block errors."""
        return {
            "sinr": round(stream.uniform(self.least_sinr, 30), 1),
            "users": stream.randint(1, 10),
            "rlc": stream.choice(["um", "am"]),
            "errors": stream.choice(["default", "piro"]),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{_cell_in_words(drawn)}, {drawn['errors']} errors"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run ns-3."""
        way = _way(drawn)
        power = drawn["sinr"] - _SINR_AT_0_DBM[self.heard(drawn)]
        ends = (drawn["users"], f"{power:.1f}", drawn["errors"], way)
        more = (PAYLOAD, drawn["rlc"], *ends, *self.stated(drawn))
        rows = run_ns3("cell-ns3", seed, self.seconds, *self.load(drawn), *more)
        found = {row[0]: float(row[1]) for row in rows}
        return _rates(found["rate"], found["least"], drawn)

    def heard(self, drawn: Mapping[str, Any]) -> str:
        """Return the direction whose SINR is drawn."""
        return _way(drawn)

    def stated(self, drawn: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the MCS that ns-3 is told to use; here it chooses, by the CQI."""
        return ()

    def idle(self, drawn: Mapping[str, Any]) -> float:
        """Return the share of the blocks that ns-3 leaves idle: its round robin gives all users the same."""
        users, parts = drawn["users"], _PARTS[_way(drawn)]
        return float(1 - users * (parts // users) / parts)

    def load(self, drawn: Mapping[str, Any]) -> tuple[str, float]:
        """Return what a user carries as the program takes it: here more bit/s than the cell carries."""
        return "udp", 9e7 / float(drawn["users"])

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the same here: the cell of `ns3-lte` with more users."""
        table = "datagrams" if self.load(drawn)[0] == "udp" else "flows"
        rows = run(Scenario.from_dict(self.scenario(drawn, seed)), seed, "summary").rows(table)
        goodputs = [float(row["goodput_bps"]) for row in rows]
        return _rates(sum(goodputs), min(goodputs), drawn)

    def scenario(self, drawn: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """Return the cell and its load."""
        text = resources.files("cogtcp.kernel.validation").joinpath(CELL).read_text(encoding="utf-8")
        data = tomllib.loads(text)
        wire, air = data["topology"]["graph"]["links"]
        names = [f"user-{number}" for number in range(drawn["users"])]
        airs = [{**air, "name": f"air-{name}", "to": name} for name in names]
        data["topology"]["graph"] = {"nodes": ["server", "base", *names], "links": [wire, *airs]}
        stated, lift = self.stated(drawn), _SINR_AT_0_DBM["up"] - _SINR_AT_0_DBM["down"]
        (radio,) = data["radio"]
        radio["links"] = [link["name"] for link in airs]
        radio["cr"]["cell"] |= {
            "sinr": f"{drawn['sinr']} dB",
            "uplink_sinr": f"{drawn['sinr'] + (0 if stated else lift):.1f} dB",
            "link_adaptation": "sinr" if stated else "cqi",
            "others": {"share": self.idle(drawn)},
            "rlc": "acknowledged" if drawn["rlc"] == "am" else "unacknowledged",
            "error_model": "piro" if drawn["errors"] == "piro" else "awgn",
            # ns-3's uplink has no control channel.
            "control_blocks": 0,
        }
        end = WARM_UP + self.seconds
        data |= {
            "name": "lte-users",
            "run": {"duration": f"{end} s", "warmup": f"{WARM_UP} s", "seed": seed},
        }
        ends = [("server", name) if _way(drawn) == "down" else (name, "server") for name in names]
        protocol, amount = self.load(drawn)
        if protocol == "tcp":
            data["tcp"] = {"max_window": f"{amount:.0f} B", "segment_size": f"{PAYLOAD} B"}
            data["flow"] = [{"from": a, "to": b, "start": "500 ms", "transport": "newreno"} for a, b in ends]
            return data
        # A scenario has a flow: this one comes when all is over.
        late = {"from": "server", "to": names[0], "start": f"{end - 0.001} s", "transport": "newreno"}
        pattern = {"constant": f"{amount:.0f} bit/s"}
        return data | {
            "flow": [late],
            "udp": [
                {"from": a, "to": b, "start": "500 ms", "size": f"{PAYLOAD} B", "pattern": pattern}
                for a, b in ends
            ],
        }


class Ns3LteUplink(Ns3LteUsers):
    """Saturated datagrams from users at one SINR, in blocks of the same MCS on both sides."""

    name = "ns3-lte-uplink"
    # Below, no MCS is usable in the model `piro`.
    least_sinr = 0

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw SINR, users and RLC."""
        return {**super().draw(stream), "errors": "piro", "way": "up"}

    def stated(self, drawn: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the MCS that the model `piro` chooses here, of the uplink."""
        return (piro_mcs(drawn["sinr"]),) if _way(drawn) == "up" else ()

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{_cell_in_words(drawn)}, uplink"


class Ns3LteTcp(Ns3LteUplink):
    """A TCP flow of each user, in either direction."""

    name = "ns3-lte-tcp"
    seconds = 5

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw SINR, users, RLC, direction and the window of a flow in segments."""
        drawn = {**super().draw(stream), "errors": "piro", "way": stream.choice(["down", "up"])}
        # Even, as in `ns3-lte`; all flows together have a window of 20 to 340 segments.
        return {**drawn, "window": max(4, 2 * round(10 * 17 ** stream.random() / drawn["users"]))}

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{_cell_in_words(drawn)}, TCP {drawn['way']} with windows of {drawn['window']} segments"

    def heard(self, drawn: Mapping[str, Any]) -> str:
        """Return the downlink: ns-3's uplink is 4.8 dB better."""
        return "down"

    def idle(self, drawn: Mapping[str, Any]) -> float:
        """Return it with the blocks that status reports of AM take: a user's, each 10 ms."""
        return 1 - (1 - super().idle(drawn)) * (0.9 if drawn["rlc"] == "am" else 1)

    def load(self, drawn: Mapping[str, Any]) -> tuple[str, float]:
        """Return the window in bytes."""
        return "tcp", float(PAYLOAD * drawn["window"])


def piro_mcs(sinr_db: float) -> int:
    """Return the highest MCS (uplink) whose blocks have at most log2(1 + SINR / 5.53) bits per element."""
    usable = math.log2(1 + 10 ** (sinr_db / 10) * 1.5 / -math.log(5 * 5e-5))
    best = max((number for number, size in enumerate(_SIZES) if size / 100 / _ELEMENTS <= usable), default=0)
    # Two MCS have blocks of one size where the modulation changes: 10 and 11, 20 and 21 (TS 36.213 table
    # 8.6.1-1).
    return best + (best > 10) + (best > 19)


def _rates(total: float, least: float, drawn: Mapping[str, Any]) -> dict[str, float]:
    # Nothing gets through: equal shares.
    return {"goodput_bps": total, "ratio": least / total * drawn["users"] if total else 1.0}


def _way(drawn: Mapping[str, Any]) -> str:
    return str(drawn.get("way", "down"))


def _cell_in_words(drawn: Mapping[str, Any]) -> str:
    users = "1 user" if drawn["users"] == 1 else f"{drawn['users']} users"
    return f"{users} at {drawn['sinr']:g} dB, RLC {drawn['rlc'].upper()}"
