"""The verbs that reach Linux in virtual time: scripts, both planes side by side, validation, advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cogtcp.kernel.emulation.virtual import kernels
from conftest import ROOT
from test_virtual import in_virtual_time, text

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command

#: Without random loss.
PLAIN = text(duration="2 s", transport="linux-cubic").replace(', loss = "0.5 %"', "")


@in_virtual_time
def test_a_packet_script_plays_in_a_guest(tmp_path: Path, command: Command) -> None:
    script = (ROOT / "tests/packets/handshake.pkt").read_text()
    (tmp_path / "right.pkt").write_text(script)
    # Another length than the kernel sends.
    wrong = script.replace("> P. 1:501(500)", "> P. 1:401(400)")
    assert wrong != script
    (tmp_path / "wrong.pkt").write_text(wrong)
    done = command("packets", "right.pkt", "wrong.pkt", "--plane", f"virtual:{kernels.used()}", "--json")
    assert done.code == 1, done.err
    scripts = done.json()["scripts"]
    assert [each["verdict"] for each in scripts] == ["agrees", "differs"]
    assert {each["plane"] for each in scripts} == {"virtual"}


@in_virtual_time
def test_a_comparison_runs_on_both_planes(tmp_path: Path, command: Command) -> None:
    (tmp_path / "scenario.toml").write_text(PLAIN)
    words = ["compare", "scenario.toml", "--plane", "sim,virtual", "--transport", "linux-reno,linux-bbr"]
    done = command(*words, "--seeds", 1, "--out", "out", "--json")
    assert done.code == 0, done.err
    document = done.json()
    assert document["kernel"] == f"{kernels.find().release} in virtual time"
    assert [pair["transport"] for pair in document["runs"]] == ["linux-reno", "linux-bbr"]
    for pair in document["runs"]:
        # 80 % of 8 Mbit/s, less headers.
        assert 5e6 < pair["emulated"]["goodput_bps"] < 6.3e6
        assert abs(pair["emulated"]["goodput_bps"] / pair["simulated"]["goodput_bps"] - 1) < 0.05
    assert "linux-bbr" in (tmp_path / "out/agreement.md").read_text()
    assert (tmp_path / "out/report.html").exists()


@in_virtual_time
def test_the_first_difference_has_both_captures(tmp_path: Path, command: Command) -> None:
    (tmp_path / "scenario.toml").write_text(PLAIN)
    words = ["agree", "scenario.toml", "--first-difference", "--virtual", "--transport", "linux-cubic"]
    runs = [command(*words, "--duration", "1 s", "--out", out, "--json") for out in ("one", "two")]
    assert [run.code for run in runs] == [0, 0], runs[0].err
    (case,) = runs[0].json()["cases"]
    assert case["packets"]["kernel"] > 300
    assert case["doubt"] == ""
    # A run again is the same packet by packet: a difference is of the model, and no chance.
    assert runs[1].json()["cases"] == [case]
    one, two = ((tmp_path / out / "virtual-linux-cubic-kernel.pcapng").read_bytes() for out in ("one", "two"))
    assert one == two
    assert (tmp_path / "one/virtual-linux-cubic-simulator.pcapng").exists()


@in_virtual_time
def test_validation_against_linux_runs_in_virtual_time(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cogtcp.kernel import emulation
    from cogtcp.kernel.validation.families.kernel import Kernel

    clocks = []

    def noted(*args: object, **options: object) -> object:
        result = emulate(*args, **options)  # type: ignore[arg-type]
        clocks.append(result.timing["clock"])
        return result

    emulate = emulation.emulate
    monkeypatch.setattr(emulation, "emulate", noted)
    case = {
        "transport": "linux-reno", "rate": 2e6, "delay": 0.03, "queue": 16, "discipline": "codel",
        "loss": 0.0, "open": 3.0, "silent": 0.0, "silence": "drop",
    }  # fmt: skip
    family = Kernel()
    theirs, ours = family.theirs(case, 1), family.ours(case, 1)
    assert clocks == ["virtual"]
    # With the kernel's ticks no packet differs. With the presets' ticks of 4 ms goodput is 0.24 % less.
    assert theirs["goodput_bps"] == pytest.approx(ours["goodput_bps"], rel=1e-3)
    done = command("validate", 1, "--family", "kernel", "--cases", 1, "--runs", 1, "--json")
    assert done.code == 0, done.err
    assert {row["peer"] for row in done.json()["lines"]} == {"Linux"}


@in_virtual_time
def test_advice_is_confirmed_in_virtual_time(tmp_path: Path, command: Command) -> None:
    # BBR wins where 2 % are lost at random.
    (tmp_path / "lossy.toml").write_text(text(transport="linux-reno").replace("0.5 %", "2 %"))
    words = ["advise", "lossy.toml", "--transport", "linux-bbr", "--budget", "16 runs", "--emulate", 1]
    done = command(*words, "--out", "out", "--json")
    assert done.code == 0, done.err
    assert f"of virtual time ({kernels.used()})" in done.err
    emulated = done.json()["emulated"]
    assert emulated["candidates"][0] == "linux-bbr"
    assert {name: len(values) for name, values in emulated["values"].items()} == dict.fromkeys(
        emulated["candidates"], 1
    )


def test_the_real_clock_is_used_where_no_kernel_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cogtcp.kernel.emulation import preferred_clock

    monkeypatch.setenv("COGTCP_KERNELS", str(tmp_path))
    assert preferred_clock() is False
