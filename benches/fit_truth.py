"""Judges `cogtcp fit` on truth: links that a seed draws, with a kernel's TCP on the real clock, captured.

    python benches/fit_truth.py capture --seed 1 --count 200 --out results/fit-truth
    python benches/fit_truth.py judge --out results/fit-truth
    python benches/fit_truth.py examples

`capture` runs iperf3 over each link, then a flow of another transport: some 35 s a link. Two links of three
use `benches/relay.py` and the kernel's token bucket, no network code of cogtcp; the others are silences and
incumbents on the kernel plane. Which end is fitted is drawn too. What is there is not made again: an
interrupted run goes on where it ended. `judge` fits every capture and prints kinds x {right, bounded,
unknown, wrong}.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import cogtcp
from cogtcp.data.fitting.quantity import Bounded, Measured, Unknown
from cogtcp.data.fitting.slim import slim

#: Seconds of a transfer; incumbents of seconds need more.
_LASTS, _INCUMBENTS = 15, 60
_OTHERS = {"cubic": "bbr", "reno": "cubic", "bbr": "cubic"}
#: Kinds by what draws them: the relay and the kernel's tbf, or the kernel plane.
FOREIGN = (
    "constant", "tbf", "codel", "application-limited", "window-limited", "random-loss", "batches", "varying",
    "short", "outage",
)  # fmt: skip
OURS = ("timetable", "random-silences", "incumbents")
#: Lateness of the relay from which on a link is left out, s.
_LATE_S = 0.005


def draw(seed: int, number: int) -> dict[str, Any]:
    """Return the parameters of a link, by its number."""
    chance = random.Random(f"fit-truth 2 {seed} {number}")  # noqa: S311 (no secret)

    def log(low: float, high: float) -> float:
        return low * (high / low) ** chance.random()

    kind = chance.choice(OURS) if number % 3 == 2 else FOREIGN[(number - number // 3) % len(FOREIGN)]
    rate, delay = round(log(3e6, 20e6)), log(0.008, 0.06)
    bdp = rate * 2 * delay / 8 / 1500
    drawn: dict[str, Any] = {
        "kind": kind,
        "rate": rate,
        "delay": delay,
        "queue": max(12, round(bdp * log(0.7, 2.5))),
        "loss": 0.0,
        "control": chance.choice(["cubic", "cubic", "reno", "bbr"]),
        "timestamps": chance.random() < 0.75,
        "offload": chance.random() < 0.25,
        "end": chance.choice(["sender", "sender", "receiver"]),
        "seconds": _LASTS,
        "seed": number + 1,
        "ping": chance.random() < 0.2,
    }
    if kind == "tbf":
        drawn["shaper"] = "tbf"
    elif kind == "codel":
        drawn |= {"codel": True, "queue": 1000}
    elif kind == "application-limited":
        drawn["load"] = ["-b", str(round(rate * chance.uniform(0.1, 0.5))), "-l", "1448"]
    elif kind == "window-limited":
        drawn |= {"window": max(8_000, round(rate * 2 * delay / 8 * chance.uniform(0.15, 0.4)))}
    elif kind == "random-loss":
        drawn |= {"loss": log(0.002, 0.02), "control": chance.choice(["cubic", "reno"])}
    elif kind == "batches":
        drawn["batch"] = log(0.004, 0.02)
    elif kind == "varying":
        step, count = log(0.1, 0.5), 200
        drawn["rates"] = [[step * n, log(rate / 4, rate)] for n in range(count)]
        drawn["repeat"] = step * count
        del step
    elif kind == "short":
        drawn["load"] = ["-n", str(round(log(60e3, 400e3)))]
    elif kind == "outage":
        begins = chance.uniform(5, 8)
        drawn["outages"] = [[begins, begins + log(0.5, 3)]]
    elif kind in OURS:
        drawn |= {
            "silence": chance.choice(["hold", "drop"]),
            "off": log(0.04, 0.4),
            "on": chance.uniform(1.2, 3.0),
            "seconds": _LASTS * 2,
            "control": chance.choice(["cubic", "reno"]),
            "timestamps": True,
            "offload": False,
        }
        if kind == "incumbents":
            drawn |= {"off": log(1, 4), "on": log(3, 8), "seconds": _INCUMBENTS}
    return drawn


def scenario(drawn: dict[str, Any], transport: str) -> str:
    """Return the scenario of drawn parameters, for the kernel plane."""
    on = f'"{round(drawn["on"] * 1e9)} ns"'
    off = f'"{round(drawn["off"] * 1e9)} ns"'
    if drawn["kind"] != "timetable":
        on = f"{{ exponential = {on} }}"
    if drawn["kind"] == "incumbents":
        off = f"{{ exponential = {off} }}"
    return f"""\
name = "truth"
[run]
duration = "{drawn["seconds"]} s"
[tcp]
delayed_ack = "linux"
window_tuning = true
[topology.single_hop.link]
rate = "{drawn["rate"]} bit/s"
delay = "{round(drawn["delay"] * 1e9)} ns"
queue = "{drawn["queue"]} packets"
loss = 0
reverse_loss = 0
[[radio]]
name = "radio"
links = ["link"]
silence = "{drawn["silence"]}"
sensing = {{ off = {off}, on = {on} }}
[[flow]]
from = "sender"
to = "receiver"
transport = "{transport}"
"""


_LOAD = """\
{ping}
iperf3 -c $COGTCP_PEER -t {lasts} -C {control} >/dev/null
exit 0
"""


def capture(folder: Path, seed: int, number: int) -> str:
    """Make the runs of a link, unless they are there; return what became of them."""
    name = f"{number:03}"
    done = folder / f"{name}.json"
    if done.is_file():
        return f"{name}: known"
    drawn = draw(seed, number)
    record: dict[str, Any] = {"drawn": drawn, "other": _OTHERS[drawn["control"]], "seed": seed}
    with tempfile.TemporaryDirectory(prefix="fit-truth-") as work:
        made = (
            _ours(Path(work), drawn, record) if drawn["kind"] in OURS else _foreign(Path(work), drawn, record)
        )
        if made is None:
            return f"{name}: no result"
        slim(made, folder / f"{name}.pcap")
    done.write_text(json.dumps(record, indent=1))
    return f"{name} {drawn['kind']}: {'kept' if record['evidence'] else 'late, left out'}"


def _foreign(work: Path, drawn: dict[str, Any], record: dict[str, Any]) -> Path | None:
    link = {key: value for key, value in drawn.items() if key not in ("kind", "end")}
    found = _relay(work / "one", link)
    # The other transport runs without the limits of the first: what the link gives.
    free = {**link, "control": record["other"], "load": [], "window": 0, "ping": False}
    other = _relay(work / "other", free)
    if "goodput" not in found or "goodput" not in other:
        return None
    record |= {
        "goodput": other["goodput"],
        "captured_goodput": found["goodput"],
        "late_s": max(found["late_s"], other["late_s"]),
    }
    record["evidence"] = record["late_s"] < _LATE_S
    return work / "one" / f"{drawn['end']}.pcap"


def _relay(folder: Path, link: dict[str, Any]) -> dict[str, Any]:
    folder.mkdir()
    (folder / "link.json").write_text(json.dumps(link))
    command = [
        sys.executable,
        str(Path(__file__).with_name("relay.py")),
        str(folder / "link.json"),
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603
    if done.returncode:
        print(done.stderr[-400:], file=sys.stderr)
        return {}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _ours(work: Path, drawn: dict[str, Any], record: dict[str, Any]) -> Path | None:
    file, out = work / "truth.toml", work / "run"
    file.write_text(scenario(drawn, f"linux-{drawn['control']}"))
    ping = "ping -q -n -i 0.02 $COGTCP_PEER >/dev/null &\nP=$!" if drawn["ping"] else ""
    load = _LOAD.format(lasts=drawn["seconds"] - 1, control=drawn["control"], ping=ping)
    if ping:
        load = load.replace("exit 0", "kill -INT $P; wait $P; exit 0")
    command = ["emulate", str(file), "--seed", str(drawn["seed"]), "--pcap", f"link@{drawn['end']}", "--json"]
    command += ["--force", "--peer", "iperf3 -s -1", "--out", str(out), "--", "sh", "-c", load]
    found = _cogtcp(command)
    if not found or not (out / f"link@{drawn['end']}.pcapng").is_file():
        return None
    record["silences"] = _silences(out)
    evidence = bool(found.get("emulation", {}).get("evidence"))
    from cogtcp.kernel.emulation.launch import emulate

    file.write_text(scenario(drawn, f"linux-{record['other']}"))
    other = emulate(cogtcp.Scenario.from_file(file), drawn["seed"], quiet=True)
    record |= {"goodput": other.metrics["goodput_bps"], "evidence": evidence and other.is_evidence}
    return out / f"link@{drawn['end']}.pcapng"


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


def judge(folder: Path, only: str = "") -> dict[str, Any]:
    """Fit every capture, and compare with what was drawn."""
    rows = []
    for done in sorted(folder.glob("*.json")):
        if not done.stem.isdigit() or (only and done.stem not in only.split(",")):
            continue
        record = json.loads(done.read_text())
        if not record["evidence"]:
            rows.append({"name": done.stem, "kind": record["drawn"]["kind"], "left_out": True})
            continue
        row = _judged(folder / f"{done.stem}.pcap", record)
        rows.append({"name": done.stem, "kind": record["drawn"]["kind"], **row})
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    return {"rows": rows, **shares(rows)}


def truths(record: dict[str, Any]) -> dict[str, float]:
    """Return what is true of a link, by the name of the estimate."""
    drawn = record["drawn"]
    found = {"delay": drawn["delay"], "capacity": float(drawn["rate"]), "loss": drawn["loss"]}
    if drawn["kind"] != "codel":
        found["queue"] = float(drawn["queue"])
    if drawn["kind"] == "varying":
        ends = [begin for begin, _ in drawn["rates"][1:]] + [drawn["repeat"]]
        parts = [
            (max(0.0, min(end, drawn["seconds"]) - begin), rate)
            for (begin, rate), end in zip(drawn["rates"], ends, strict=True)
        ]
        found["capacity"] = sum(span * rate for span, rate in parts) / sum(span for span, _ in parts)
    if drawn["kind"] == "outage":
        ((begin, end),) = drawn["outages"]
        found["silence"] = end - begin
    elif drawn["kind"] in OURS:
        found["silence"] = drawn["off"]
        if drawn["kind"] == "timetable":
            found["period"] = drawn["off"] + drawn["on"]
        else:
            spans = [end - begin for begin, end in record["silences"]]
            # A law is drawn: what this run drew is what can be found.
            found["silence"] = sorted(spans)[len(spans) // 2] if spans else drawn["off"]
    else:
        found["silence"] = 0.0
    return found


def verdict(quantity: Measured | Bounded | Unknown, truth: float) -> str:
    """Return right, bounded, unknown or wrong; `near` if an interval misses by less than its width."""
    if isinstance(quantity, Unknown):
        return "unknown"
    if isinstance(quantity, Bounded):
        below = quantity.at_least is not None and truth < quantity.at_least * 0.98
        above = quantity.at_most is not None and truth > quantity.at_most * 1.02
        return "wrong" if below or above else "bounded"
    width = max(quantity.high - quantity.low, 1e-12)
    if quantity.low <= truth <= quantity.high:
        return "right"
    return "near" if quantity.low - width <= truth <= quantity.high + width else "wrong"


def _judged(file: Path, record: dict[str, Any]) -> dict[str, Any]:
    drawn = record["drawn"]
    found = cogtcp.fit(file, transport=f"linux-{drawn['control']}")
    link = found.link
    assert link is not None  # noqa: S101
    estimates = {each.name: each for each in found.estimates}
    row: dict[str, Any] = {
        "side": link.side == drawn["end"],
        "doubt": found.doubt,
        "backlog": link.rate_fit.backlog,
    }
    for name, truth in truths(record).items():
        quantity = estimates[name].quantity if name in estimates else Unknown("not named")
        if name == "silence" and truth == 0:
            row[name] = "wrong" if isinstance(quantity, Measured) else "bounded"
            continue
        row[name] = verdict(quantity, truth)
        if isinstance(quantity, Measured):
            row[f"{name} value"] = [
                quantity.value / (truth or 1),
                quantity.low / (truth or 1),
                quantity.high / (truth or 1),
            ]
        elif isinstance(quantity, Bounded):
            row[f"{name} value"] = [quantity.at_least, quantity.at_most, truth]
    if drawn["kind"] in OURS and link.silences is not None:
        row["mode"] = link.silences.mode == drawn["silence"]
    # `fit` claims to know a link whose capacity it measured, and whose scenario reproduces the capture.
    row["claims"] = isinstance(estimates["capacity"].quantity, Measured) and not found.doubt
    scenario_ = found.scenario.with_transport(f"linux-{record['other']}").set(
        "run.duration", f"{drawn['seconds']} s"
    )
    for path in ("tcp.receive_buffer",):
        if "receive_buffer" in found.toml:
            scenario_ = scenario_.set(path, "4 MiB")
    if "traffic = " in found.toml:
        scenario_ = scenario_.set("flow.0.traffic", "saturated")
    runs = [cogtcp.run(scenario_, seed, "summary").metrics["goodput_bps"] for seed in range(1, 4)]
    row["goodput_error"] = sum(runs) / len(runs) / record["goodput"] - 1
    return row


_QUANTITIES = ("delay", "capacity", "queue", "loss", "silence", "period")


def shares(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the table kinds x verdicts, and the shares that are asked for."""
    judged = [row for row in rows if "left_out" not in row]
    table: dict[str, dict[str, int]] = {}
    covered: dict[str, list[bool]] = {}
    for row in judged:
        for name in _QUANTITIES:
            if name not in row:
                continue
            for key in (f"kind {row['kind']}", f"quantity {name}", "all"):
                counts = table.setdefault(
                    key, dict.fromkeys(("right", "near", "bounded", "unknown", "wrong"), 0)
                )
                counts[row[name]] += 1
            if row[name] in ("right", "near", "wrong") and f"{name} value" in row:
                covered.setdefault(name, []).append(row[name] == "right")
    claims = [row for row in judged if row["claims"]]
    widths = sorted(
        (row["capacity value"][2] - row["capacity value"][1]) / 2
        for row in judged
        if row["capacity"] in ("right", "near", "wrong")
    )
    backlog = [row for row in judged if row["backlog"] >= 0.3]
    return {
        "judged": len(judged),
        "left out": len(rows) - len(judged),
        "table": table,
        "intervals that cover": {name: f"{sum(each)} of {len(each)}" for name, each in covered.items()},
        "end right": f"{sum(row['side'] for row in judged)} of {len(judged)}",
        "hold or drop right": (
            f"{sum(row.get('mode', False) for row in judged)} of {sum('mode' in row for row in judged)}"
        ),
        "claims to know": f"{len(claims)} of {len(judged)}",
        "of these, another transport's goodput within 10 %": (
            f"{sum(abs(row['goodput_error']) <= 0.10 for row in claims)} of {len(claims)}"
        ),
        "capacity measured, of links with a backlog": (
            f"{sum(row['capacity'] in ('right', 'near', 'wrong') for row in backlog)} of {len(backlog)}"
        ),
        "median half interval of capacity": widths[len(widths) // 2] if widths else None,
    }


def examples() -> None:
    """Make the captures of examples/captures again."""
    folder = Path(__file__).parents[1] / "examples" / "captures"
    load = (
        "ping -q -n -i 0.02 $COGTCP_PEER >/dev/null &\nP=$!\niperf3 -c $COGTCP_PEER -t 15 >/dev/null\n"
        "kill -INT $P\nwait $P\nexit 0\n"
    )
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
            found = _cogtcp([*command, "--out", f"{out}/run", "--", "sh", "-c", load])
            kept = found.get("emulation", {}).get("evidence")
            print(f"{file.stem}: {'kept' if kept else found.get('emulation')}", file=sys.stderr)
            if kept:
                slim(Path(out) / "run" / "link@sender.pcapng", file.with_suffix(".pcap"), 80)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["capture", "judge", "examples"])
    parser.add_argument("--out", type=Path, default=Path("results/fit-truth"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--only", default="", help="numbers of links to judge, with commas")
    args = parser.parse_args()
    if args.what == "examples":
        examples()
        return
    args.out.mkdir(parents=True, exist_ok=True)
    if args.what == "capture":
        # One at a time: two would be late.
        for number in range(args.count):
            print(capture(args.out, args.seed, number), file=sys.stderr, flush=True)
        return
    found = judge(args.out, args.only)
    print(json.dumps({k: v for k, v in found.items() if k != "rows"}, indent=1))
    (args.out / "judged.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
