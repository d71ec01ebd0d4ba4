"""Time the engine as WebAssembly (in node) against native, in pairs: processor time, the least of some pairs.

.venv/bin/python benches/web_against_native.py WASM [--pairs N] [SCENARIO=DURATION...]

Both must be built alike: `make setup` and `make web`, or both without link-time optimisation.
"""

import argparse
import json
import subprocess
import time
from pathlib import Path

from cogtcp import Scenario, run

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = """
import {{ readFileSync }} from "node:fs";
const {{ LocalEngine, decode }} = await import("{engine}");
const engine = await LocalEngine.create(new WebAssembly.Module(readFileSync("{wasm}")));
const request = JSON.parse(readFileSync(0));
const set = [["run.duration", "1 s"], ["run.warmup", "0 s"]];
const warm = {{ ...request, scenario: {{ ...request.scenario, set }} }};
for (let i = 0; i < 3; i++) engine.ask(warm);
const before = process.cpuUsage();
const {{ digest }} = decode(engine.ask(request));
const used = process.cpuUsage(before);
console.log(JSON.stringify({{ digest, s: (used.user + used.system) / 1e6 }}));
"""
#: The dumbbell, and an ad hoc network: seconds of simulated time that cost some seconds.
WHAT = ["dumbbell-bench=6000 s", "adhoc-cr=1500 s", "sensed-link=9000 s"]


def main() -> None:
    """Print one line for each scenario."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("wasm", type=Path)
    parser.add_argument("what", nargs="*", default=WHAT)
    parser.add_argument("--pairs", type=int, default=5)
    given = parser.parse_args()
    engine = (ROOT / "python/cogtcp/lab/page/engine.js").as_uri()
    script = SCRIPT.format(engine=engine, wasm=given.wasm.resolve())
    print("scenario          native, s   WebAssembly, s   times")
    for what in given.what:
        name, duration = what.split("=")
        text = (ROOT / "scenarios" / f"{name}.toml").read_text()
        setting = [["run.duration", duration], ["run.warmup", "0 s"]]
        request = {"ask": "run", "scenario": {"text": text, "set": setting}, "trace": "summary", "tables": []}
        scenario = Scenario.from_toml(text).set("run.duration", duration).set("run.warmup", "0 s")
        natives, webs = [], []
        for _ in range(given.pairs):
            start = time.process_time()
            result = run(scenario, trace="summary")
            natives.append(time.process_time() - start)
            command = ["node", "--input-type=module", "-e", script]
            done = subprocess.run(  # noqa: S603
                command, input=json.dumps(request), capture_output=True, text=True, check=True
            )
            found = json.loads(done.stdout)
            if found["digest"] != result.digest:
                raise SystemExit(f"{name}: {found['digest']} is not {result.digest}")
            webs.append(found["s"])
        native, web = min(natives), min(webs)
        print(f"{name:<16} {native:>10.2f} {web:>16.2f} {web / native:>7.2f}")


if __name__ == "__main__":
    main()
