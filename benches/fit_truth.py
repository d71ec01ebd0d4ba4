"""Judges `cogtcp fit` on truth: links that a seed draws, mostly on Linux in virtual time, captured.

    python benches/fit_truth.py capture --seed 1 --count 60 --out results/fit-truth-1
    python benches/fit_truth.py judge --out results/fit-truth-1
    python benches/fit_truth.py examples

Two thirds of the links use no network code of ours: ns-3 (`benches/fit_truth.cc`), and the guest kernel's
tbf, fq_codel, pie and netem (`benches/relay.py`). A sixth use a relay in Python that shares no code with
cogtcp; a sixth the kernel plane, for silences and incumbents. Which end is fitted is drawn too, and what
befalls the capture. What is there is not made again: an interrupted run goes on where it ended. `judge` fits
every capture and prints kinds x {right, bounded, unknown, wrong}.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import cogtcp
from cogtcp.data import fitting
from cogtcp.data.fitting.quantity import Bounded, Measured, Unknown
from cogtcp.data.fitting.slim import MOST, slim

#: Seconds of a transfer; silences need more, incumbents of seconds most.
_LASTS, _SILENCES, _INCUMBENTS = 10, 16, 50
#: A run without the limits of the captured one: what the link gives.
_UNLIMITED = {"load": [], "bytes": 0, "application": 0, "window": 0, "ping": False, "end": ""}
_OTHERS = {"cubic": "bbr", "reno": "cubic", "bbr": "cubic"}
#: Kinds by what makes the link.
KINDS = {
    "kernel": (
        "constant", "burst", "fq_codel", "application-limited", "window-limited", "random-loss", "loss-runs",
        "short", "outage", "pie",
    ),
    "ns-3": (
        "constant", "codel", "random-loss", "application-limited", "short", "varying", "timetable",
        "window-limited", "fq_codel", "outage", "random-silences", "pie", "incumbents",
    ),
    "relay": ("constant", "codel", "application-limited", "batches", "varying", "short", "outage"),
    "plane": ("timetable", "random-silences", "incumbents"),
}  # fmt: skip
#: What befalls a capture, a share each; nothing befalls the rest.
_BEFALLS = {"twice": 0.07, "frames lost": 0.07, "clock step": 0.07, "middle": 0.07}
#: Bytes that a link counts with each packet beside IP: Ethernet at tbf, PPP in ns-3.
_FRAMING = {"kernel": 14, "ns-3": 2}
#: Kinds whose queue has no fixed length.
_MANAGED = ("fq_codel", "pie", "codel")
#: Their names in ns-3.
_DISCIPLINES = {"fq_codel": "FqCoDel", "pie": "Pie", "codel": "CoDel"}
#: Kinds with many silences.
_SILENT = ("timetable", "random-silences", "incumbents")


def draw(seed: int, number: int) -> dict[str, Any]:
    """Return the parameters of a link, by its number."""
    chance = random.Random(f"fit-truth 4 {seed} {number}")  # noqa: S311 (no secret)

    def log(low: float, high: float) -> float:
        return low * (high / low) ** chance.random()

    # Half of ns-3, which takes the least time; of the rest a third each of kernel, relay and kernel plane.
    path = ("ns-3", "kernel", "ns-3", "relay", "ns-3", "plane")[number % 6]
    place = number // 2 if path == "ns-3" else number // 6
    kind = KINDS[path][place % len(KINDS[path])]
    rate, delay = round(log(1.5e6, 6e6)), log(0.008, 0.06)
    bdp = rate * 2 * delay / 8 / 1500
    drawn: dict[str, Any] = {
        "path": path,
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
        "load": ["-P", str(chance.choice([2, 3]))] if chance.random() < 0.1 else [],
    }
    befalls = chance.choices([*_BEFALLS, ""], [*_BEFALLS.values(), 1 - sum(_BEFALLS.values())])[0]
    # Steps of the clock are told by timestamps; a short transfer has no middle.
    drawn["befell"] = "" if kind == "short" or (befalls == "clock step" and kind in _SILENT) else befalls
    if kind in _MANAGED:
        drawn |= {"aqm": kind, "codel": True, "queue": 1000}
    elif kind == "burst":
        drawn["burst"] = round(log(8_000, 40_000))
    elif kind == "application-limited":
        load = round(rate * chance.uniform(0.1, 0.5))
        drawn |= {"load": [], "application": load, "write": 1448}
    elif kind == "window-limited":
        drawn |= {"window": max(8_000, round(rate * 2 * delay / 8 * chance.uniform(0.15, 0.4))), "load": []}
    elif kind in ("random-loss", "loss-runs"):
        drawn |= {"loss": log(0.002, 0.02), "control": chance.choice(["cubic", "reno"])}
        if kind == "loss-runs":
            drawn["loss_run"] = chance.uniform(2, 5)
    elif kind == "batches":
        drawn["batch"] = log(0.004, 0.02)
    elif kind == "varying":
        step, count = log(0.1, 0.5), 200
        drawn["rates"] = [[step * n, log(rate / 4, rate)] for n in range(count)]
        drawn["repeat"] = step * count
    elif kind == "short":
        size = round(log(60e3, 400e3))
        drawn |= {"load": [], "bytes": size}
    elif kind == "outage":
        begins = chance.uniform(4, 7)
        drawn["outages"] = [[begins, begins + log(0.5, 3)]]
    elif kind in _SILENT:
        drawn |= {
            "silence": chance.choice(["hold", "drop"]),
            "off": log(0.04, 0.4),
            "on": chance.uniform(1.2, 3.0),
            "seconds": _SILENCES,
            "control": chance.choice(["cubic", "reno"]),
            "timestamps": True,
            "offload": False,
        }
        if kind == "incumbents":
            # Slow, for a similar number of packets in more seconds.
            slow = round(rate / 3)
            drawn |= {"off": log(1, 4), "on": log(3, 8), "seconds": _INCUMBENTS, "rate": slow}
            drawn["queue"] = max(12, round(bdp / 3 * log(0.7, 2.5)))
        if path == "ns-3":
            drawn["silences"] = _drawn_silences(chance, drawn)
    if path == "ns-3":
        # Its hosts have neither ping nor offload.
        drawn |= {"ping": False, "offload": False, "timestamps": True}
    # Another transport runs over half of the links: a second run is half of a link's time.
    drawn["other"] = chance.random() < 0.5
    return drawn


def _drawn_silences(chance: random.Random, drawn: dict[str, Any]) -> list[list[float]]:
    """Return the silences of a link that is not the kernel plane's: from, to, s."""
    found, time = [], 0.0
    while True:
        open_, silent = drawn["on"], drawn["off"]
        if drawn["kind"] != "timetable":
            open_ = chance.expovariate(1 / open_)
        if drawn["kind"] == "incumbents":
            silent = chance.expovariate(1 / silent)
        time += open_
        if time >= drawn["seconds"]:
            return found
        found.append([time, time + silent])
        time += silent


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


def capture(folder: Path, seed: int, number: int) -> str:
    """Make the runs of a link, unless they are there; return what became of them."""
    name = f"{number:03}"
    done = folder / f"{name}.json"
    if done.is_file():
        return f"{name}: known"
    drawn = draw(seed, number)
    record: dict[str, Any] = {"drawn": drawn, "seed": seed}
    if drawn["other"]:
        record["other"] = _OTHERS[drawn["control"]]
    makes = {"kernel": _in_guest, "relay": _in_guest, "plane": _ours, "ns-3": _ns3}[drawn["path"]]
    with tempfile.TemporaryDirectory(prefix="fit-truth-") as work:
        try:
            made = makes(Path(work), drawn, record)
        except cogtcp.RunError as error:
            print(f"{name}: {error}", file=sys.stderr)
            made = None
        if made is None:
            return f"{name} {drawn['kind']}: no result"
        befall(made, folder / f"{name}.pcap", drawn)
    done.write_text(json.dumps(record, indent=1))
    return f"{name} {drawn['path']} {drawn['kind']}: done"


def befall(source: Path, target: Path, drawn: dict[str, Any]) -> None:
    """Write the headers of a capture, after what befell it."""
    from cogtcp.data.fitting.packets import frames

    chance = random.Random(drawn["seed"])  # noqa: S311 (no secret)
    found = list(frames(source))
    first = found[0][0]
    with target.open("wb") as stream:
        stream.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, MOST, found[0][1]))
        for time, _, data, length in found:
            at, copies = time, 1
            if drawn["befell"] == "twice":
                copies = 2
            elif drawn["befell"] == "frames lost" and chance.random() < 0.01:
                copies = 0
            elif drawn["befell"] == "clock step" and time - first > 5e9:
                at += 100_000_000_000
            elif drawn["befell"] == "middle" and time - first < 3e9:
                copies = 0
            for copy in range(copies):
                kept = data[:MOST]
                # A bridge's second look comes some microseconds later.
                stamp = divmod(at + copy * 4_000, 1_000_000_000)
                stream.write(struct.pack("<IIII", *stamp, len(kept), length) + kept)


def _in_guest(work: Path, drawn: dict[str, Any], record: dict[str, Any]) -> Path | None:
    link = {key: value for key, value in drawn.items() if key not in ("kind", "befell")}
    found = _relay(work / "one", link)
    if "goodput" not in found:
        return None
    record["captured_goodput"] = found["goodput"]
    if "other" in record:
        other = _relay(work / "other", {**link, "control": record["other"], **_UNLIMITED})
        if "goodput" not in other:
            return None
        record["goodput"] = other["goodput"]
    return work / "one" / "captured.pcap"


def _relay(folder: Path, link: dict[str, Any]) -> dict[str, Any]:
    from cogtcp.kernel.emulation.virtual.kernels import find
    from cogtcp.kernel.emulation.virtual.script import run_script

    folder.mkdir()
    told = {"link": link, "folder": str(folder)}
    script = Path(__file__).resolve().with_name("relay.py")
    found: dict[str, Any] = run_script(script, told, find(None), seed=link["seed"], written=folder)
    return found


@cache
def _ns3_program() -> Path:
    """Return the program for ns-3, built against the package `ns3` (of NS3_PACKAGE, or this Python's)."""
    place = os.environ.get("NS3_PACKAGE")
    if not place:
        spec = importlib.util.find_spec("ns3")
        if spec is None or not spec.submodule_search_locations:
            raise SystemExit(
                "links of ns-3 need the package ns3 (pip install --no-deps ns3), or NS3_PACKAGE=FOLDER"
            )
        place = next(iter(spec.submodule_search_locations))
    package = Path(place)
    libraries = package / "lib64"
    source = Path(__file__).resolve().with_suffix(".cc")
    # Once for each text and package.
    key = hashlib.sha256(source.read_bytes() + bytes(package)).hexdigest()[:16]
    program = Path(tempfile.gettempdir()) / f"fit-truth-ns3-{os.getuid()}-{key}"
    if program.exists():
        return program
    made = program.with_suffix(f".{os.getpid()}")
    parts = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")
    subprocess.run(  # noqa: S603 (our own source)
        [  # noqa: S607
            "g++", "-std=c++20", "-O1", f"-I{package / 'include'}",
            f"-Wl,-rpath,{libraries},-rpath-link,{libraries}",
            # A library that ours drags along wants GTK, which no program of ours calls.
            "-Wl,--unresolved-symbols=ignore-in-shared-libs",
            str(source),
            *(str(next(libraries.glob(f"libns3.*-{part}.so"))) for part in parts), "-o", str(made),
        ],
        check=True,
    )  # fmt: skip
    made.replace(program)
    return program


def _pairs(pairs: list[list[float]]) -> str:
    return ",".join(f"{one:.9g}:{other:.9g}" for one, other in pairs)


def _ns3(work: Path, drawn: dict[str, Any], record: dict[str, Any]) -> Path | None:
    control = {"cubic": "TcpCubic", "reno": "TcpNewReno", "bbr": "TcpBbr"}[drawn["control"]]
    told: dict[str, Any] = {
        "control": control,
        "delay": round(drawn["delay"] * 1e9),
        "folder": work,
        "discipline": _DISCIPLINES.get(drawn.get("aqm", ""), ""),
        "flows": drawn["load"][1] if drawn["load"] else 1,
        "hold": int(drawn.get("silence") == "hold"),
        "silences": _pairs(drawn.get("silences", drawn.get("outages", []))),
        "rates": _pairs(drawn.get("rates", [])),
    }
    told |= {key: drawn[key] for key in ("seed", "seconds", "rate", "queue", "loss")}
    told |= {key: drawn[key] for key in ("application", "bytes", "window") if key in drawn}
    record["silences"] = drawn.get("silences", [])
    done = subprocess.run(  # noqa: S603
        [str(_ns3_program()), *(f"--{key}={value}" for key, value in told.items() if value != "")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        print(done.stderr[-400:], file=sys.stderr)
        return None
    # Its TCPs are none of Linux: what another transport of Linux would deliver has no truth here.
    record["captured_goodput"] = int(done.stdout) * 8 / drawn["seconds"]
    return work / f"{drawn['end']}.pcap"


def _ours(work: Path, drawn: dict[str, Any], record: dict[str, Any]) -> Path | None:
    file, out = work / "truth.toml", work / "run"
    file.write_text(scenario(drawn, f"linux-{drawn['control']}"))
    send, receive = _programs(drawn)
    # The hosts of our plane are sh's parents: what it starts must end with it.
    ping = "ping -q -n -i 0.02 $COGTCP_PEER >/dev/null & P=$!" if drawn["ping"] else "P="
    load = f'{ping}\nsleep 1\n{send}\n[ -z "$P" ] || kill -INT $P\nwait\nexit 0\n'
    command = ["emulate", str(file), "--virtual", "--seed", str(drawn["seed"]), "--json", "--force"]
    command += ["--pcap", f"link@{drawn['end']}", "--peer", receive, "--out", str(out)]
    found = _cogtcp([*command, "--", "sh", "-c", load])
    if not found or not (out / f"link@{drawn['end']}.pcapng").is_file():
        return None
    record["silences"] = _silences(out)
    if "other" not in record:
        return out / f"link@{drawn['end']}.pcapng"
    from cogtcp.kernel.emulation.launch import emulate

    file.write_text(scenario(drawn, f"linux-{record['other']}"))
    other = emulate(cogtcp.Scenario.from_file(file), drawn["seed"], virtual=True, quiet=True)
    record["goodput"] = other.metrics["goodput_bps"]
    return out / f"link@{drawn['end']}.pcapng"


def _programs(drawn: dict[str, Any]) -> tuple[str, str]:
    """Return the shell commands of sender and receiver on the kernel plane."""
    lasts = drawn["seconds"] - 2
    if drawn["load"]:
        words = " ".join(drawn["load"])
        return f"iperf3 -c $COGTCP_PEER -t {lasts} -C {drawn['control']} {words} >/dev/null", "iperf3 -s -1"
    program = f"{sys.executable} -B {Path(__file__).resolve().with_name('load.py')}"
    told = {"port": 5300, "seconds": lasts, "control": drawn["control"]}
    send = json.dumps({**told, "to": "PEER"}).replace('"PEER"', "\"'$COGTCP_PEER'\"")
    return f"{program} send '{send}'", f"{program} receive '{json.dumps(told)}'"


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
    """Fit every capture that today's code has not judged, and compare with what was drawn."""
    rows = []
    for done in sorted(folder.glob("*.json")):
        if not done.stem.isdigit() or (only and done.stem not in only.split(",")):
            continue
        known = done.with_suffix(f".{_fitting()}.row")
        if not known.is_file():
            record = json.loads(done.read_text())
            row = _judged(done.with_suffix(".pcap"), record)
            drawn = record["drawn"]
            named = {"name": done.stem, "path": drawn["path"], "kind": drawn["kind"], **row}
            known.write_text(json.dumps(named))
            print(json.dumps(named), file=sys.stderr, flush=True)
        rows.append(json.loads(known.read_text()))
    return {"rows": rows, **shares(rows)}


@cache
def _fitting() -> str:
    """Return the digest of the code that is judged."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for file in sorted(Path(fitting.__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def truths(record: dict[str, Any]) -> dict[str, float]:
    """Return what is true of a link, by the name of the estimate."""
    drawn = record["drawn"]
    # In bytes of IP, as scenarios count.
    capacity = drawn["rate"] * 1500 / (1500 + _FRAMING.get(drawn["path"], 0))
    found = {"delay": drawn["delay"], "capacity": capacity, "loss": drawn["loss"]}
    if drawn["kind"] not in _MANAGED:
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
    elif drawn["kind"] in _SILENT:
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
    try:
        found = cogtcp.fit(file, transport=f"linux-{drawn['control']}")
    except cogtcp.UsageError as error:
        # Too little was sent: nothing is said of the link.
        nothing = dict.fromkeys(truths(record), "unknown")
        return nothing | {"refused": str(error), "claims": False, "backlog": 0.0}
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
            row[f"{name} bounds"] = [quantity.at_least, quantity.at_most, truth]
    if drawn["kind"] in _SILENT and link.silences is not None:
        row["mode"] = link.silences.mode == drawn["silence"]
    row["unsure"] = found.unsure
    row["claims"] = not found.unsure
    if "goodput" not in record:
        return row
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
    judged = rows
    table: dict[str, dict[str, int]] = {}
    covered: dict[str, list[bool]] = {}
    for row in judged:
        for name in _QUANTITIES:
            if name not in row:
                continue
            for key in (f"path {row['path']}", f"kind {row['kind']}", f"quantity {name}", "all"):
                counts = table.setdefault(
                    key, dict.fromkeys(("right", "near", "bounded", "unknown", "wrong"), 0)
                )
                counts[row[name]] += 1
            if row[name] in ("right", "near", "wrong") and f"{name} value" in row:
                covered.setdefault(name, []).append(row[name] == "right")
    claims = [row for row in judged if row["claims"] and "goodput_error" in row]
    others = [row for row in judged if not row["claims"] and "goodput_error" in row]
    widths = sorted(
        (row["capacity value"][2] - row["capacity value"][1]) / 2 for row in judged if "capacity value" in row
    )
    backlog = [row for row in judged if row["backlog"] >= 0.3]
    answered = [row for row in judged if "refused" not in row]
    return {
        "judged": len(judged),
        "table": table,
        "intervals that cover": {name: f"{sum(each)} of {len(each)}" for name, each in covered.items()},
        "end right": f"{sum(row['side'] for row in answered)} of {len(answered)}",
        "refused": len(judged) - len(answered),
        "hold or drop right": (
            f"{sum(row.get('mode', False) for row in judged)} of {sum('mode' in row for row in judged)}"
        ),
        "claims to know": f"{len(claims)} of {sum('goodput_error' in row for row in judged)}",
        "of these, another transport's goodput within 10 %": (
            f"{sum(abs(row['goodput_error']) <= 0.10 for row in claims)} of {len(claims)}"
        ),
        "of the others, within 10 %": (
            f"{sum(abs(row['goodput_error']) <= 0.10 for row in others)} of {len(others)}"
        ),
        "capacity measured, of links with a backlog": (
            f"{sum('capacity value' in row for row in backlog)} of {len(backlog)}"
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
    parser.add_argument("--seed", type=lambda text: int(text, 0), default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--path", default="", choices=["", *KINDS], help="links of this path alone")
    parser.add_argument("--backwards", action="store_true", help="begin with the last link")
    parser.add_argument("--only", default="", help="numbers of links to judge, with commas")
    args = parser.parse_args()
    if args.what == "examples":
        examples()
        return
    args.out.mkdir(parents=True, exist_ok=True)
    if args.what == "capture":
        # In virtual time a busy machine makes no packet late.
        with ThreadPoolExecutor(args.jobs) as pool:
            numbers = list(range(args.count))
            if args.path:
                numbers = [each for each in numbers if draw(args.seed, each)["path"] == args.path]
            if args.backwards:
                numbers = numbers[::-1]
            for said in pool.map(lambda number: capture(args.out, args.seed, number), numbers):
                print(said, file=sys.stderr, flush=True)
        return
    found = judge(args.out, args.only)
    print(json.dumps({k: v for k, v in found.items() if k != "rows"}, indent=1))
    (args.out / "judged.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
