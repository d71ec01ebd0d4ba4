"""What the tests of the engine as WebAssembly share."""

import os
import re
from pathlib import Path
from typing import Any

from cogtcp import CogtcpError, Scenario, run

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
