"""Fits of measured spectrum: SigMF, sweeps of rtl_power and hackrf_sweep, occupancy as CSV."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import cogtcp
from cogtcp import UsageError, fit
from cogtcp.cli import main
from cogtcp.data.fitting import sigmf, sweeps
from conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CASES = ROOT / "tests" / "data" / "cases"


@pytest.mark.parametrize("name", ["sigmf-offset", "sigmf-without-offset"])
def test_indices_of_sigmf_include_the_offset(name: str) -> None:
    found = fit(CASES / f"{name}.sigmf-meta")
    (channel,) = found.channels
    # 0.4 of each second, 11 times from 1 s on; the end is that of the last mark: 4.4 of 11.4 s.
    assert channel.duty == pytest.approx(4.4 / 11.4, abs=1e-6)
    assert channel.on == pytest.approx([0.4] * 10)
    assert channel.off == pytest.approx([0.6] * 10)


def test_an_annotation_without_a_count_lasts_to_the_end(tmp_path: Path) -> None:
    source = CASES / "sigmf-open-annotation.sigmf-meta"
    found = fit(source)
    assert any("the end of the recording is unknown" in note for note in found.notes)
    # Beside its samples the end is known: 15 s of complex floats at 1 MHz.
    file = tmp_path / "open.sigmf-meta"
    file.write_text(source.read_text())
    with (tmp_path / "open.sigmf-data").open("wb") as data:
        data.truncate(15_000_000 * 8)
    recording = sigmf.occupancy(json.loads(file.read_text()), file)
    assert recording.csv.splitlines()[-2:] == ["12.000000000,1,1", "15.000000000,1,0"]
    assert not any("unknown" in note for note in recording.notes)


def annotated(**change: Any) -> dict[str, Any]:
    """Return metadata: 0.1 s busy in each second of 20 s, and what `change` changes."""
    notes = [
        {
            "core:sample_start": n * 1000,
            "core:sample_count": 100,
            "core:freq_lower_edge": 1.0,
            "core:freq_upper_edge": 2.0,
        }
        for n in range(20)
    ]
    found = {
        "global": {"core:sample_rate": 1000, "core:datatype": "ci16"},
        "captures": [],
        "annotations": notes,
    }
    return {**found, **change}


@pytest.mark.parametrize(
    "captures",
    [
        # 5 s are missing after 10 s, by the count of the stream or by the clock.
        [{"core:sample_start": 0}, {"core:sample_start": 10050, "core:global_index": 15050}],
        [
            {"core:sample_start": 0, "core:datetime": "2024-01-01T00:00:00.000Z"},
            {"core:sample_start": 10050, "core:datetime": "2024-01-01T00:00:15.050Z"},
        ],
    ],
)
def test_what_lasts_across_a_gap_is_not_whole(captures: list[dict[str, Any]], tmp_path: Path) -> None:
    file = tmp_path / "gap.sigmf-meta"
    file.write_text(json.dumps(annotated(captures=captures)))
    found = fit(file)
    (channel,) = found.channels
    # The gap is within the eleventh busy time (10.0 to 10.1 s); the ends of the recording cut two others.
    assert len(channel.on) == 17
    assert len(channel.off) == 19
    assert any("samples are missing at 1 places" in note for note in found.notes)
    file.write_text(json.dumps(annotated(captures=[{"core:sample_start": 0}, {"core:sample_start": 10050}])))
    assert len(fit(file).channels[0].on) == 18


def test_an_annotation_before_the_offset_is_refused(tmp_path: Path) -> None:
    data = annotated()
    data["global"]["core:offset"] = 5
    with pytest.raises(UsageError, match="annotation 1 begins 5 samples before core:offset"):
        sigmf.occupancy(data, tmp_path / "a.sigmf-meta")


def test_sweeps_are_read_with_a_threshold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "band.toml"
    command = ["fit", str(CASES / "rtl-power.csv"), "--threshold=-60dBm", "--out", str(out), "--json"]
    assert main(command) == 0
    said = json.loads(capsys.readouterr().out)
    (channel,) = said["channels"]
    # Busy in sweeps 0, 3, 6, ..., 18 of 20, each 2 s.
    assert channel["duty_cycle"] == pytest.approx(7 / 20)
    assert any("channel 1 is 24 to 24.5 MHz" in note for note in said["notes"])
    assert any("3 of 4 bins never reach -60 dBm" in note for note in said["notes"])
    scenario = cogtcp.Scenario.from_file(out)
    assert scenario.to_dict()["radio"][0]["cr"]["access"] == "none"
    assert cogtcp.run(scenario.set("run.duration", "5 s"), trace="summary").metrics["goodput_bps"] > 0


def swept(rows: Sequence[tuple[float, Sequence[float]]], parts: int = 1, apart: float = 0.0) -> str:
    """Return sweeps as hackrf_sweep writes them: parts of two bins of 1 MHz, each with a time of its own."""
    lines = []
    for time, powers in rows:
        for part in range(parts):
            at = time + part * apart
            low = 2_400_000_000 + part * 2_000_000
            some = ", ".join(f"{power:.2f}" for power in powers[2 * part : 2 * part + 2])
            clock = f"{int(at) // 3600:02}:{int(at) // 60 % 60:02}:{at % 60:09.6f}"
            lines.append(f"2024-01-01, {clock}, {low}, {low + 2_000_000}, 1000000.00, 20, {some}")
    return "\n".join(lines) + "\n"


def test_neighbouring_bins_that_are_busy_together_are_a_channel() -> None:
    # Bins 2 and 3, in two parts of the sweep, are one signal; bin 4 is another.
    rows = []
    for n in range(40):
        one, other = (-50 if n % 4 < 2 else -90), (-50 if n % 7 < 3 else -90)
        rows.append((n * 0.5, [-90, one, one, other]))
    found = sweeps.occupancy(swept(rows, parts=2, apart=0.01), "hackrf.csv", -70)
    assert (found.count, found.cuts) == (40, ())
    assert found.interval == pytest.approx(0.5)
    assert [note for note in found.notes if "channel" in note and "MHz" in note] == [
        "hackrf.csv: channel 1 is 2401 to 2403 MHz",
        "hackrf.csv: channel 2 is 2403 to 2404 MHz",
    ]
    # rtl_power repeats the last power of a line.
    repeated = re.sub(r"(, -\d+\.\d+)$", r"\1\1", swept(rows, parts=2), flags=re.MULTILINE)
    assert (
        sweeps.occupancy(repeated, "rtl.csv", -70).csv == sweeps.occupancy(swept(rows, parts=2), "x", -70).csv
    )


def test_a_pause_between_sweeps_cuts_what_lasts_across_it() -> None:
    rows = [(n + (60 if n >= 20 else 0), [-50.0 if n % 2 else -90.0, -90.0]) for n in range(40)]
    found = sweeps.occupancy(swept(rows), "rtl.csv", -70)
    assert found.cuts == (80,)


@pytest.mark.parametrize(
    ("text", "threshold", "says"),
    [
        (swept([(0, [-50, -90]), (1, [-90, -90])]), None, "-90 to -50 dB, half below -90"),
        (swept([(0, [-50, -90])]), -40, "no power reaches -40 dBm, the greatest is -50"),
        (swept([(0, [-50, -90])]) + "2024-01-01, x\n", -60, ":2: is no line of rtl_power or hackrf_sweep"),
    ],
)
def test_messages_about_sweeps(text: str, threshold: float | None, says: str, tmp_path: Path) -> None:
    file = tmp_path / "sweep.csv"
    file.write_text(text)
    with pytest.raises(UsageError, match=re.escape(says)):
        fit(file, threshold=threshold)


def test_occupancy_may_have_dates_and_semicolons(tmp_path: Path) -> None:
    lines = [f"2024-01-01T00:{n // 60:02}:{n % 60:02},5Z;1;{n % 3 // 2}" for n in range(90)]
    file = tmp_path / "band.csv"
    file.write_text("time;band;busy\n" + "\n".join(lines) + "\n")
    (channel,) = fit(file).channels
    assert channel.on == pytest.approx([1.0] * len(channel.on))
    assert channel.off == pytest.approx([2.0] * len(channel.off))


def test_measured_occupancy_has_no_mac_and_a_queue_of_its_path(tmp_path: Path) -> None:
    file = tmp_path / "spans.csv"
    file.write_text("on_s,off_s\n" + "0.5,1.25\n0.75,2\n" * 20)
    found = fit(file)
    assert found.scenario.to_dict()["radio"][0]["cr"]["access"] == "none"
    # 25 ms each way at 10 Mbit/s: one BDP of packets of 1500 bytes.
    link = found.scenario.to_dict()["topology"]["single_hop"]["link"]
    assert (link["delay"], link["queue"]) == ("25 ms", "42 packets")
    assert not found.scenario.warnings()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("pensieve-rates.txt", "traces of Pensieve have (seconds, Mbit/s)"),
        ("mahimahi-all-zero.trace", "the trace ends at 0 ms"),
    ],
)
def test_link_traces_of_other_kinds_are_named(name: str, says: str) -> None:
    with pytest.raises(cogtcp.ScenarioError, match=re.escape(says)):
        fit(CASES / name)


def test_link_traces_have_their_rates() -> None:
    # 30 packets of 12 kbit in each millisecond.
    assert fit(CASES / "mahimahi-30-a-ms.trace").capacity == pytest.approx(360e6)
    # 2 s of 300 Mbit/s and 38 s of 20.
    assert fit(CASES / "step.csv").capacity == pytest.approx((2 * 300e6 + 38 * 20e6) / 40)
    result = cogtcp.run(cogtcp.Scenario.from_file(CASES / "step.toml"), trace="summary")
    assert 0 < result.metrics["goodput_bps"] < (2 * 300e6 + 28 * 20e6) / 30
