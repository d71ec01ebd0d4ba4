"""Small parts of sweeps, with values by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from cogtcp.running.space import Range
from cogtcp.running.sweeping.axes import Axis, column_name, drawn, most_dimensions, read, title
from cogtcp.running.sweeping.budget import Budget, _bytes
from cogtcp.running.sweeping.picked import by_value, thinned


def between(low: float, high: float, *, log: bool = False, whole: bool = False) -> Range:
    return Range("a.b", ("a", "b"), low, high, "s", whole, log)


def test_a_range_goes_by_ratios_or_differences_to_its_ends() -> None:
    assert [between(1.0, 9.0).at(share) for share in (0, 0.25, 0.5, 1)] == [1, 3, 5, 9]
    assert [between(1.0, 100.0, log=True).at(share) for share in (0, 0.25, 0.5, 1)] == [1, 3.16, 10, 100]
    # A step is a five-hundredth of the range: 0.016 here, so two decimal places.
    assert between(1.0, 9.0).snap(3.14159) == 3.14
    assert between(0.0, 0.5).snap(0.123456) == 0.123
    assert (between(1.0, 9.0).snap(0.0), between(1.0, 9.0).snap(10.0)) == (1, 9)
    assert between(2.0, 8.0, whole=True).text(3.0) == "3 s"
    assert between(1.0, 9.0).text(3.0) == "3.0 s"
    assert between(1.0, 9.0).describe() == "1 to 9 s, linear"
    assert between(1.0, 9.0, log=True).describe() == "1 to 9 s, log"


def test_a_sample_of_halton_is_the_share_of_the_values() -> None:
    """Base 2: 1/2, 1/4, 3/4, 1/8; base 3: 1/3, 2/3, 1/9, 4/9."""
    some = (Axis("a.b", "b", ("1 s", "2 s", "3 s", "4 s"), "s"), Axis("a.c", "c", (), "s", between(0.0, 9.0)))
    found = [drawn(some, "halton", index) for index in range(4)]
    assert [first for first, _ in found] == ["3 s", "2 s", "4 s", "1 s"]
    assert [float(second.split()[0]) for _, second in found] == [3.0, 6.0, 1.0, 4.0]
    random = [drawn(some, "random", index) for index in range(200)]
    assert random[:50] == [drawn(some, "random", index) for index in range(50)]
    assert all(30 <= sum(first == text for first, _ in random) <= 70 for text in some[0].texts)
    assert most_dimensions() >= 10


def test_values_are_read_as_their_column_has_them() -> None:
    assert read("20 ms", "s") == pytest.approx(0.02)
    assert read("7", "s") == 7.0
    assert read("2 %", "") == 0.02
    assert read("20 ms", "bit/s") == "20 ms"
    assert read("sack", "s") == "sack"
    axis = Axis("radio.0.sensing.on", "sensing_on", ("100 ms", "2 s"), "s")
    assert [axis.value(text) for text in axis.texts] == [0.1, 2.0]
    assert axis.numeric
    assert not Axis("a.b", "a_b", ("drop", "hold")).numeric
    assert Axis("a.b", "a_b", (), "s", between(1.0, 2.0)).numeric


def test_columns_and_titles_are_of_the_last_words_of_a_path() -> None:
    assert column_name("topology.single_hop.link.delay") == "link_delay"
    assert column_name("radio.0.sensing.on") == "sensing_on"
    assert column_name("flow.*.transport") == "flow_transport"
    assert column_name("seed") == "seed"
    assert title("topology.single_hop.link.delay", "link_delay") == "One-way delay"
    assert title("topology.single_hop.link.delay", "my_delay") == "My delay"
    assert title("", "some_thing") == "Some thing"


def test_rows_are_ordered_by_transport_and_by_quantities_and_thinned_to_a_grid() -> None:
    values: list[Any] = ["100 packets", None, "drop", 3, "9 packets", "2 s", 1.5]
    rows = [{"transport": "b", "x": value} for value in values] + [{"transport": "a", "x": 9}]
    assert [row["x"] for row in by_value(rows, ["x"])] == [
        9, 1.5, 3, "9 packets", "100 packets", "2 s", "drop", None,
    ]  # fmt: skip
    assert thinned([[1, 2, 3, 4, 5], [1, 2]], 10) == [[1, 2, 3, 4, 5], [1, 2]]
    assert thinned([[1, 2, 3, 4, 5], [1, 2]], 9) == [[1, 2, 4, 5], [1, 2]]
    assert thinned([list(range(100)), list(range(100))], 16) == [[0, 33, 66, 99]] * 2
    assert thinned([[1, 2, 3]], 0) == [[1]]
    assert thinned([], 5) == []


def test_a_budget_in_words() -> None:
    given: dict[str, Any] = {
        "asked": "200 runs", "runs": 200, "finished": 50, "probes": 4, "simulated_share": 1.0,
        "seconds_per_run": 0.25, "slowest_s": 0.5, "core_seconds": 7200.0, "core_seconds_left": 3600.0,
        "jobs": 2, "journal_bytes": 1_500_000, "data_bytes": 240, "probe_s": 1.0,
    }  # fmt: skip
    lines = Budget(**given).describe().splitlines()
    assert lines[0] == "200 runs"
    assert lines[1] == "one run: 250 ms of a core (mean of 4; longest 500 ms)"
    # Two hours of a core; half of it is left, on two cores.
    assert lines[2].startswith(
        "all runs: 2 core-hours; 50 are finished, 150 to be made; here, 2 at a time: 30"
    )
    assert lines[3] == "disk: 1.5 MB while it runs, about 240 B as a data set"
    part = Budget(**{**given, "simulated_share": 1 / 64, "finished": 0}).describe().splitlines()
    assert part[1] == "a run takes longer than 1 s: estimated from 1.56% of its time"
    assert "finished" not in part[3]
    unknown = Budget(**{**given, "seconds_per_run": None}).describe()
    assert unknown.endswith("one run: longer than 1 s, and a part of it too; its cost is unknown")
    sizes = (0, 999, 1000, 1.5e6, 2e9, 3e12)
    assert [_bytes(size) for size in sizes] == ["0 B", "999 B", "1 kB", "1.5 MB", "2 GB", "3 TB"]
    assert math.isfinite(Budget(**given).to_dict()["core_seconds"])
