"""The units that Python reads are those of scenarios, of the same sizes."""

import pytest

from cogtcp import Scenario, _units

#: A field of `adhoc-cr` for each kind.
FIELDS = {
    "TIME": "run.duration",
    "RATE": "mac.basic_rate",
    "BYTES": "mac.rts_threshold",
    "LENGTH": "area.width",
    "SPEED": "topology.ad_hoc.mobility.random_waypoint.speed.0",
    "FREQUENCY": "phy.path_loss.free_space",
    "POWER": "phy.power",
    "RATIO": "phy.capture",
}


def test_every_kind_has_a_field() -> None:
    # Thresholds of measured spectrum are the only levels; they stand beside a file (test_spectrum.py).
    assert {*FIELDS, "LEVEL"} == {name for name in vars(_units) if name.isupper()}


@pytest.mark.parametrize("kind", FIELDS)
def test_a_scenario_reads_each_unit_as_python_does(kind: str) -> None:
    units: dict[str, float] = getattr(_units, kind)
    scenario = Scenario.shipped("adhoc-cr")
    base = next(iter(units))
    assert units[base] == 1
    # 36 km/h are 10 m/s: numbers that have few digits in either unit.
    count = 36 if kind == "SPEED" else 1
    for unit, size in units.items():
        ways = [
            scenario.set(FIELDS[kind], text) for text in (f"{count} {unit}", f"{count * size:.9f} {base}")
        ]
        assert ways[0].to_dict() == ways[1].to_dict(), unit
