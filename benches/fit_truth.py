"""Judges `cogtcp fit` on truth: scenarios that a seed draws, on the kernel plane with a real TCP, captured.

    python benches/fit_truth.py capture --seed 1 --count 30 --out results/fit-truth
    python benches/fit_truth.py judge --out results/fit-truth
    python benches/fit_truth.py examples

`capture` runs iperf3 and ping over each scenario, then a flow of another transport, in real time: some 35 s
each. A run that did not keep its times is made again once, then left out. Captures are cut to their headers.
What is there is not made again. `judge` fits them and prints the table of docs/fitting.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cogtcp
from cogtcp.fitting import packets

#: Seconds of a transfer.
_LASTS = 30
_OTHERS = {"linux-cubic": "linux-bbr", "linux-reno": "linux-cubic"}


def draw(seed: int, number: int) -> dict[str, Any]:
    """Return the parameters of a scenario, by its number."""
    chance = random.Random(f"fit-truth {seed} {number}")  # noqa: S311 (no secret)

    def log(low: float, high: float) -> float:
        return low * (high / low) ** chance.random()

    rate = round(log(3e6, 20e6))
    delay = log(0.008, 0.06)
    bdp = rate * 2 * delay / 8 / 1500
    return {
        "rate": rate,
        "delay": delay,
        "queue": max(12, round(bdp * log(0.7, 2.5))),
        "loss": chance.choice([0.0, log(1e-5, 1e-3)]),
        "silence": chance.choice(["hold", "drop"]),
        "off": log(0.04, 0.4),
        "on": chance.uniform(1.2, 3.0),
        "law": "fixed" if chance.random() < 0.8 else "exponential",
        "transport": chance.choice(sorted(_OTHERS)),
    }


def scenario(drawn: dict[str, Any], transport: str) -> str:
    """Return the scenario of drawn parameters."""
    on = f'"{round(drawn["on"] * 1e9)} ns"'
    if drawn["law"] == "exponential":
        on = f"{{ exponential = {on} }}"
    return f"""\
name = "truth"
[run]
duration = "{_LASTS} s"
[tcp]
delayed_ack = "linux"
window_tuning = true
[topology.single_hop.link]
rate = "{drawn["rate"]} bit/s"
delay = "{round(drawn["delay"] * 1e9)} ns"
queue = "{drawn["queue"]} packets"
loss = {drawn["loss"]!r}
reverse_loss = 0
[[radio]]
name = "radio"
links = ["link"]
silence = "{drawn["silence"]}"
sensing = {{ off = "{round(drawn["off"] * 1e9)} ns", on = {on} }}
[[flow]]
from = "sender"
to = "receiver"
transport = "{transport}"
"""


_LOAD = """\
ping -q -n -i 0.02 $COGTCP_PEER >/dev/null &
P=$!
sleep 0.2
iperf3 -c $COGTCP_PEER -t {lasts} -C {control} >/dev/null
kill -INT $P
wait $P
exit 0
"""


def capture(folder: Path, seed: int, number: int) -> str:
    """Make the runs of a scenario, unless they are there; return what became of them."""
    name = f"{number:02}"
    done = folder / f"{name}.json"
    if done.is_file():
        return f"{name}: known"
    drawn = draw(seed, number)
    other = _OTHERS[drawn["transport"]]
    record: dict[str, Any] = {"drawn": drawn, "other": other, "seed": seed}
    file = folder / f"{name}.toml"
    file.write_text(scenario(drawn, drawn["transport"]))
    load = _LOAD.format(lasts=_LASTS, control=drawn["transport"].removeprefix("linux-"))
    for _ in range(2):
        out = folder / f"{name}-run"
        command = ["emulate", str(file), "--seed", str(number), "--pcap", "link@sender", "--json", "--force"]
        command += ["--peer", "iperf3 -s -1", "--out", str(out), "--", "sh", "-c", load]
        found = _cogtcp(command)
        record["evidence"] = bool(found.get("emulation", {}).get("evidence")) if found else False
        record["doubt"] = (found or {}).get("emulation", {}).get("reasons", "no result")
        if record["evidence"]:
            break
    if not found:
        return f"{name}: no result"
    slim(out / "link@sender.pcapng", folder / f"{name}.pcap")
    record["silences"] = _silences(out)
    for path in out.iterdir():
        path.unlink()
    out.rmdir()
    file.write_text(scenario(drawn, other))
    for _ in range(2):
        result = cogtcp_emulate(file, number)
        record["goodput"], record["other_evidence"] = result.metrics["goodput_bps"], result.is_evidence
        if result.is_evidence:
            break
    done.write_text(json.dumps(record, indent=1))
    return f"{name}: {'kept' if record['evidence'] and record['other_evidence'] else 'no evidence'}"


def cogtcp_emulate(file: Path, seed: int) -> Any:
    """Return a run of a scenario on the kernel plane."""
    from cogtcp.emulation.launch import emulate

    return emulate(cogtcp.Scenario.from_file(file), seed, quiet=True)


def _cogtcp(arguments: list[str]) -> dict[str, Any]:
    done = subprocess.run(  # noqa: S603 (our own command)
        [sys.executable, "-m", "cogtcp", *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        print(done.stderr[-500:], file=sys.stderr)
        return {}
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def _silences(folder: Path) -> list[tuple[float, float]]:
    """Return the silences that the link had; a law draws its silences."""
    import pyarrow.parquet as pq

    begun: float | None = None
    found = []
    for row in pq.read_table(folder / "events.parquet").to_pylist():
        if row["kind"] == "sensing_start":
            begun = row["time_s"]
        elif row["kind"] == "sensing_end" and begun is not None:
            found.append((begun, row["time_s"]))
            begun = None
    return found


def slim(source: Path, target: Path, most: int = 96) -> None:
    """Write a capture's headers as pcap with nanoseconds."""
    content = source.read_bytes()
    with target.open("wb") as stream:
        link_written = False
        for time, link, data, length in packets._pcapng(content, packets.Read([])):
            if not link_written:
                stream.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, most, link))
                link_written = True
            kept = data[:most]
            stream.write(struct.pack("<IIII", *divmod(time, 1_000_000_000), len(kept), length) + kept)


def examples() -> None:
    """Make the captures of examples/captures again."""
    folder = Path(__file__).parents[1] / "examples" / "captures"
    for file in sorted(folder.glob("*.toml")):
        with tempfile.TemporaryDirectory() as out:
            command = [
                "emulate",
                str(file),
                "--pcap",
                "link@sender",
                "--json",
                "--force",
                "--peer",
                "iperf3 -s -1",
            ]
            found = _cogtcp(
                [*command, "--out", f"{out}/run", "--", "sh", "-c", _LOAD.format(lasts=15, control="cubic")]
            )
            kept = found.get("emulation", {}).get("evidence")
            print(f"{file.stem}: {'kept' if kept else found.get('emulation')}", file=sys.stderr)
            if kept:
                slim(Path(out) / "run" / "link@sender.pcapng", file.with_suffix(".pcap"), 80)


def judge(folder: Path) -> dict[str, Any]:
    """Fit every capture, and compare with what was drawn."""
    rows = []
    for done in sorted(folder.glob("*.json")):
        if not done.stem.isdigit():
            continue
        record = json.loads(done.read_text())
        if not (record["evidence"] and record["other_evidence"]):
            rows.append({"name": done.stem, "left_out": record["doubt"] or "other run"})
            continue
        rows.append({"name": done.stem, **_judged(folder / f"{done.stem}.pcap", record)})
    return {"rows": rows, **_shares(rows)}


def _judged(file: Path, record: dict[str, Any]) -> dict[str, Any]:
    drawn = record["drawn"]
    found = cogtcp.fit(file, transport=drawn["transport"], held_out=0)
    link = found.link
    assert link is not None  # noqa: S101
    row: dict[str, Any] = {
        "rate": drawn["rate"],
        "off": drawn["off"],
        "law": drawn["law"],
        "silence": drawn["silence"],
        "delay_error": link.delay.value / drawn["delay"] - 1,
        "capacity_error": link.capacity.value / drawn["rate"] - 1,
        "queue_error": link.queue.value / drawn["queue"] - 1 if link.queue.known else math.nan,
        "mode_right": None,
        "length_error": math.nan,
        "period_error": math.nan,
    }
    silences = link.silences
    if silences is not None:
        row["mode_right"] = silences.mode == drawn["silence"]
        row["length_error"] = silences.length / drawn["off"] - 1
        row["bounds"] = [silences.low / drawn["off"], silences.high / drawn["off"]]
        row["inside"] = silences.low <= drawn["off"] * 1.001 and silences.high >= drawn["off"] * 0.999
        if drawn["law"] == "fixed":
            period = silences.period
            true = drawn["off"] + drawn["on"]
        else:
            # A law is drawn: its mean over this run is what can be found.
            true_ones = [after[0] - before[0] for before, after in itertools.pairwise(record["silences"])]
            true = sum(true_ones) / max(1, len(true_ones))
            starts = [gap.start for gap in silences.gaps]
            period = (starts[-1] - starts[0]) / max(1, len(starts) - 1)
        row["period_error"] = period / true - 1
    scenario_ = found.scenario.with_transport(record["other"]).set("run.duration", f"{_LASTS} s")
    runs = [cogtcp.run(scenario_, seed, "summary").metrics["goodput_bps"] for seed in range(1, 6)]
    row["goodput"], row["predicted"] = record["goodput"], sum(runs) / len(runs)
    row["goodput_error"] = row["predicted"] / row["goodput"] - 1
    # What a perfect fit would have said: the simulator's own distance from the kernel.
    true_scenario = cogtcp.Scenario.from_toml(scenario(drawn, record["other"]))
    runs = [cogtcp.run(true_scenario, seed, "summary").metrics["goodput_bps"] for seed in range(1, 6)]
    row["truth_error"] = sum(runs) / len(runs) / row["goodput"] - 1
    return row


def _shares(rows: list[dict[str, Any]]) -> dict[str, Any]:
    judged = [row for row in rows if "left_out" not in row]

    def within(name: str, limit: float) -> str:
        good = sum(abs(row[name]) <= limit for row in judged)
        return f"{good} of {len(judged)}"

    def count(name: str) -> str:
        return f"{sum(bool(row.get(name)) for row in judged)} of {len(judged)}"

    return {
        "judged": len(judged),
        "delay within 2 %": within("delay_error", 0.02),
        "capacity within 5 %": within("capacity_error", 0.05),
        "silence length within 5 %": within("length_error", 0.05),
        "silence length inside its interval": count("inside"),
        "period within 5 %": within("period_error", 0.05),
        "hold or drop right": count("mode_right"),
        "goodput of another transport within 10 %": within("goodput_error", 0.10),
        "the same with the true scenario": within("truth_error", 0.10),
    }


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["capture", "judge", "examples"])
    parser.add_argument("--out", type=Path, default=Path("results/fit-truth"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if args.what == "examples":
        examples()
        return
    args.out.mkdir(parents=True, exist_ok=True)
    if args.what == "capture":
        with ThreadPoolExecutor(args.jobs) as pool:
            for said in pool.map(lambda n: capture(args.out, args.seed, n), range(args.count)):
                print(said, file=sys.stderr, flush=True)
        return
    found = judge(args.out)
    for row in found["rows"]:
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}, file=sys.stderr)
    print(json.dumps({k: v for k, v in found.items() if k != "rows"}, indent=1))
    (args.out / "judged.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
