"""Write docs/packetdrill.md: what both planes make of packetdrill's suite. `make packetdrill SUITE=PATH`.

The suite is not shipped (GPL). PATH is a checkout of github.com/google/packetdrill, or any folder of its
scripts. The page has names and verdicts, and no line of a script.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from cogtcp import NoKernelPlaneError
from cogtcp.kernel import packets
from cogtcp.kernel.validation.departures import departures

PAGE = Path(__file__).parent / "packetdrill.md"
#: Where google/packetdrill has its scripts of TCP.
INSIDE = "gtests/net/tcp"
#: How often scripts are played on the kernel while the machine is too busy for them.
ROUNDS = 5

_HEAD = """\
# packetdrill's suite

What the model and Linux {kernel} make of others' tests of TCP: the {scripts} scripts of
google/packetdrill's `gtests/net/tcp`{commit}, read as
[packetdrill's language](packet-scripts.md#packetdrills-language). The suite is not shipped; this page is
written by `make packetdrill SUITE=PATH`.

Linux's selftests (`tools/testing/selftests/net/packetdrill`, 158 scripts) took most scripts over from this
suite, or are about Accurate ECN. We could read 14 that are not in this suite. Ten give packets to the device
that it merges (`--mss`), one sets `tcp_rto_max_ms`: out of scope. Of the other three (`tcp_basic_client`,
`tcp_basic_server`, `tcp_disorder_fin_in_FIN_WAIT`) the kernel agrees with three, the model with two
([linux-ack-of-a-fin](departures.md#linux-ack-of-a-fin)).

**The model agrees with {both} of the {passed} scripts that the kernel agrees with ({share:.0f} %).**
{in_scope} scripts are in scope, and all of them are read; {beyond} are out of scope. Of those in scope
the model agrees with {model}, the kernel with {passed}.

The tolerance is packetdrill's own, 4 ms or 12.5 % of the wait, or the script's
([which way on which plane](packet-scripts.md#packetdrills-language)). The suite is for the newest kernels,
with 1000 ticks a second, and so is the model here. This machine's kernel has its own ticks, and may do
something else.
"""


@dataclass(frozen=True)
class Row:
    """A script, and what came of it.

    Attributes:
        name: Its path below the suite, without `.pkt`.
        beyond: What it asks for that no plane has; empty: it is in scope.
        model: The verdict on the model.
        kernel: The verdict on the kernel; empty where there is none.
        said: What differs, by plane.
    """

    name: str
    beyond: str
    model: str
    kernel: str
    said: dict[str, str]

    @property
    def topic(self) -> str:
        """The folder that it lies in."""
        return self.name.split("/", maxsplit=1)[0]


def main() -> int:
    """Play the suite, write the page, say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", type=Path, help="a checkout of google/packetdrill, or a folder of scripts")
    parser.add_argument("--commit", default="", help="commit of the checkout, for the page")
    args = parser.parse_args()
    folder = args.suite / INSIDE if (args.suite / INSIDE).is_dir() else args.suite
    table = rows(folder)
    release = Path("/proc/sys/kernel/osrelease")
    kernel = release.read_text().split("-")[0].strip() if release.exists() else "(no kernel plane)"
    text = page(table, kernel, args.commit)
    PAGE.write_text(text, "utf-8")
    unread = [row.name for row in table if row.model == "error"]
    print(f"{PAGE.name}: {len(table)} scripts; not read: {', '.join(unread) or 'none'}")
    return int(bool(unread))


def rows(folder: Path) -> list[Row]:
    """Play every script below a folder on both planes."""
    files = packets.scripts([folder])
    model = packets.play(files)
    sound = [file for file, outcome in zip(files, model, strict=True) if outcome.verdict != "beyond"]
    kernel = _on_kernel(sound)
    table = []
    for file, outcome in zip(files, model, strict=True):
        name = str(file.relative_to(folder).with_suffix(""))
        if outcome.verdict == "beyond":
            subject = str(outcome.error).partition("out of scope: ")[2]
            table.append(Row(name, subject, "", "", {}))
            continue
        played = {"sim": outcome, "kernel": kernel.get(file)}
        said = {
            plane: each.mismatch.what if each.mismatch else str(each.error)
            for plane, each in played.items()
            if each is not None and each.verdict != "agrees"
        }
        verdict = kernel[file].verdict if file in kernel else ""
        table.append(Row(name, "", outcome.verdict, verdict, said))
    return table


def _on_kernel(files: list[Path]) -> dict[Path, packets.Outcome]:
    """Play scripts until each has a verdict, a few times at most. A busy machine is no evidence."""
    found: dict[Path, packets.Outcome] = {}
    try:
        for _ in range(ROUNDS):
            left = [file for file in files if file not in found or found[file].verdict == "late"]
            if not left:
                break
            found |= dict(zip(left, packets.play(left, "kernel"), strict=True))
    except NoKernelPlaneError as error:
        print(f"no kernel plane here: {error}", file=sys.stderr)
    return found


def page(table: list[Row], kernel: str, commit: str) -> str:
    """Return the page."""
    in_scope = [row for row in table if not row.beyond]
    passed = [row for row in in_scope if row.kernel == "agrees"]
    both = [row for row in passed if row.model == "agrees"]
    head = _HEAD.format(
        kernel=kernel,
        scripts=len(table),
        commit=f" (commit `{commit[:12]}`)" if commit else "",
        both=len(both),
        passed=len(passed),
        share=100 * len(both) / max(1, len(passed)),
        in_scope=len(in_scope),
        beyond=len(table) - len(in_scope),
        model=sum(row.model == "agrees" for row in in_scope),
    )
    return "\n".join([head, _topics(table), _subjects(table), _differing(in_scope)])


def _topics(table: list[Row]) -> str:
    lines = [
        "## By topic\n",
        "| topic | scripts | in scope | model | kernel | both |",
        "|---|---|---|---|---|---|",
    ]
    for topic in sorted({row.topic for row in table}):
        own = [row for row in table if row.topic == topic]
        inside = [row for row in own if not row.beyond]
        model = {row.name for row in inside if row.model == "agrees"}
        kernel = {row.name for row in inside if row.kernel == "agrees"}
        counts = [len(model), len(kernel), len(model & kernel)] if inside else ["", "", ""]
        lines.append(f"| {topic} | {len(own)} | {len(inside)} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines) + "\n"


def _subjects(table: list[Row]) -> str:
    counted = Counter(re.sub(r'"', "`", row.beyond) for row in table if row.beyond)
    lines = ["## Out of scope\n", "| what a script asks for first | scripts |", "|---|---|"]
    lines += [
        f"| {subject} | {count} |"
        for subject, count in sorted(counted.items(), key=lambda each: (-each[1], each[0]))
    ]
    return "\n".join(lines) + "\n"


def _differing(in_scope: list[Row]) -> str:
    lines = [
        "## In scope, and not on both planes\n",
        "| script | model | kernel | departure |",
        "|---|---|---|---|",
    ]
    for row in in_scope:
        if (row.model, row.kernel) == ("agrees", "agrees"):
            continue
        causes = [entry.id for entry in departures() if row.name in entry.scripts]
        told = ", ".join(f"[{cause}](departures.md#{cause})" for cause in causes) or (
            "none named" if row.said.get("sim") else "of this kernel, not of the model"
        )
        cells = [
            row.said.get("sim", "agrees"),
            row.said.get("kernel", "agrees" if row.kernel else "not played"),
        ]
        lines.append(f"| `{row.name}` | {' | '.join(cells)} | {told} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
