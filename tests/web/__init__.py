"""What the tests of the engine as WebAssembly share."""

import os
import random
import re
from pathlib import Path
from typing import Any

from cogtcp import CogtcpError, Scenario, _core, run
from cogtcp.lab import site

# Long enough for losses, sensing and handoffs of each; the full length is run by hand and by CI.
SHORT = os.environ.get("COGTCP_WEB_DURATION", "8 s")


def shortened(preset: dict[str, Any]) -> dict[str, Any]:
    """Return what a request gives of a preset: its text and files, with a short run."""
    text = preset["text"]
    given: dict[str, Any] = {
        "text": preset["text"],
        "file": "scenario.toml",
        "files": preset["files"],
        "set": [],
    }
    if SHORT != "whole":
        # No flow may begin after the end.
        starts = [float(found) for found in re.findall(r'^start = "([\d.]+) s"', text, re.MULTILINE)]
        duration = f"{max(starts) + 8:g} s" if starts else SHORT
        given["set"] = [["run.duration", duration], ["run.warmup", "0 s"]]
    return given


def native(given: dict[str, Any], folder: Path, seed: int, trace: Any = "full") -> Any:
    """Return the run that Python makes of the same; an error's text where there is none."""
    for name, text in given["files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    try:
        scenario = Scenario.from_toml(given["text"], file=str(folder / "scenario.toml"))
        for path, value in given["set"]:
            scenario = scenario.set_text(path, value)
        if given.get("transport"):
            scenario = scenario.with_transport(given["transport"])
        return run(scenario, seed, trace)
    except CogtcpError as error:
        return str(error)


def of_presets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all but the claims, which are the bases of their studies with other numbers."""
    return [preset for preset in data["presets"] if not preset["name"].startswith("see ")]


def drawn(count: int) -> list[dict[str, Any]]:
    """Return scenarios at random: starters and shipped ones with other numbers and transports."""
    source = random.Random("scenarios for the web")
    # The engine of a page has no QUIC.
    transports = [name for name, _ in _core.transports() if name != "quic"]
    bases = [preset for preset in site.data()["presets"] if preset["group"] in ("Scenarios", "Starters")]
    found: list[dict[str, Any]] = []
    while len(found) < count:
        preset = source.choice(bases)
        given = {**shortened(preset), "set": [["run.duration", "3 s"], ["run.warmup", "0 s"]]}
        scenario = Scenario.from_toml(preset["text"], file="scenario.toml")
        chosen = [
            control
            for control in site.controls.controls_of(scenario).values()
            if not control.path.startswith("run.") and source.random() < 0.3
        ]
        for control in chosen:
            if control.choices:
                value: Any = source.choice(control.choices)
            elif control.log:
                value = control.low * (control.high / control.low) ** source.random()
            else:
                value = control.low + (control.high - control.low) * source.random()
            try:
                given["set"].append([control.path, control.text(value)])
            except ValueError:
                continue
        transport = source.choice(transports)
        found.append({**given, "transport": transport if scenario.to_dict().get("flow") else None})
    return found
