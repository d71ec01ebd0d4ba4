"""Write docs/packetdrill.md: what both planes make of packetdrill's suites.

`make packetdrill SUITE="PATH ..."`. The suites are not shipped (GPL and others). PATH is a checkout of
google/packetdrill, nplab/packetdrill or ligurio/packetdrill-testcases, or any folder of scripts. The page has
names and verdicts, and no line of a script.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from cogtcp import NoKernelPlaneError
from cogtcp.kernel import packets
from cogtcp.kernel.validation.departures import departures

PAGE = Path(__file__).parent / "packetdrill.md"
#: Suites by a folder that they have: name, and where its scripts of TCP are.
SUITES = {
    "gtests/net/tcp": ("google/packetdrill", "gtests/net/tcp"),
    "gtests/net/packetdrill/tests/bsd/sctp": ("nplab/packetdrill", "gtests/net/packetdrill/tests"),
    "testcases/tcp": ("ligurio/packetdrill-testcases", "testcases/tcp"),
}
#: How often scripts are played on the kernel while the machine is too busy for them.
ROUNDS = 5

_HEAD = """\
# packetdrill's suites

What the model and Linux {kernel} make of others' tests of TCP, read as
[packetdrill's language](packet-scripts.md#packetdrills-language). The suites are not shipped; this page is
written by `make packetdrill SUITE="PATH ..."`.

**The model agrees with {both} of the {passed} scripts that the kernel agrees with ({share:.0f} %).**
{in_scope} of {scripts} scripts are in scope, and all of them are read.

The tolerance is packetdrill's own, 4 ms or 12.5 % of the wait, or the script's
([which way on which plane](packet-scripts.md#packetdrills-language)). Many scripts are for other kernels or
for FreeBSD: where the kernel differs too, the script is no evidence against the model.

Linux's selftests (`tools/testing/selftests/net/packetdrill`, 158 scripts) took most scripts over from
Google's, or are about Accurate ECN. We could read 14 others. Eleven are out of scope. Model and kernel agree
with the other three.
"""


@dataclass(frozen=True)
class Row:
    """A script, and what came of it.

    Attributes:
        suite: The suite.
        name: Its path below the suite, without `.pkt`.
        beyond: What it asks for that no plane has; empty: it is in scope.
        model: The verdict on the model.
        kernel: The verdict on the kernel; empty where there is none.
        said: What differs, by plane.
    """

    suite: str
    name: str
    beyond: str
    model: str
    kernel: str
    said: dict[str, str]

    @property
    def topic(self) -> str:
        """The folder that it lies in."""
        return (
            self.name.removeprefix("bsd/")
            .removeprefix("linux/")
            .removeprefix("tcp/")
            .split("/", maxsplit=1)[0]
        )


def main() -> int:
    """Play the suites, write the page, say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", type=Path, nargs="+", help="checkouts of suites, or folders of scripts")
    parser.add_argument("--plane", default="kernel", help="kernel, or virtual[:NAME]")
    args = parser.parse_args()
    table, commits = [], {}
    for checkout in args.suites:
        name, folder = _suite(checkout)
        commits[name] = _commit(checkout)
        table += rows(name, folder, args.plane)
    text = page(table, _kernel(args.plane), commits)
    PAGE.write_text(text, "utf-8")
    unread = [f"{row.suite} {row.name}" for row in table if row.model == "error"]
    print(f"{PAGE.name}: {len(table)} scripts; not read: {', '.join(unread) or 'none'}")
    return int(bool(unread))


def _suite(checkout: Path) -> tuple[str, Path]:
    """Return the name of a suite, and the folder of its scripts of TCP."""
    for mark, (name, inside) in SUITES.items():
        if (checkout / mark).is_dir():
            return name, checkout / inside
    return checkout.name, checkout


def _commit(checkout: Path) -> str:
    words = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout[:12] if done.returncode == 0 else ""


def _kernel(plane: str) -> str:
    if plane.startswith("virtual"):
        from cogtcp.kernel.emulation import virtual_kernel

        return f"{virtual_kernel(plane.partition(':')[2] or True).release} in virtual time"
    release = Path("/proc/sys/kernel/osrelease")
    return release.read_text().split("-")[0].strip() if release.exists() else "(no kernel plane)"


def rows(suite: str, folder: Path, plane: str) -> list[Row]:
    """Play every script below a folder on both planes."""
    files = packets.scripts([folder])
    model = packets.play(files)
    sound = [file for file, outcome in zip(files, model, strict=True) if outcome.verdict in _PLAYED]
    kernel = _on_kernel(sound, plane)
    table = []
    for file, outcome in zip(files, model, strict=True):
        name = str(file.relative_to(folder).with_suffix(""))
        if outcome.verdict == "beyond":
            subject = str(outcome.error).partition("out of scope: ")[2]
            table.append(Row(suite, name, subject, "", "", {}))
            continue
        played = {"sim": outcome, "kernel": kernel.get(file)}
        said = {
            side: each.mismatch.what if each.mismatch else str(each.error)
            for side, each in played.items()
            if each is not None and each.verdict != "agrees"
        }
        verdict = kernel[file].verdict if file in kernel else ""
        table.append(Row(suite, name, "", outcome.verdict, verdict, said))
    return table


_PLAYED = ("agrees", "differs")


def _on_kernel(files: list[Path], plane: str) -> dict[Path, packets.Outcome]:
    """Play scripts until each has a verdict, a few times at most. A busy machine is no evidence."""
    found: dict[Path, packets.Outcome] = {}
    try:
        for _ in range(ROUNDS):
            left = [file for file in files if file not in found or found[file].verdict == "late"]
            if not left:
                break
            found |= dict(zip(left, packets.play(left, plane), strict=True))
    except NoKernelPlaneError as error:
        print(f"no kernel plane here: {error}", file=sys.stderr)
    return found


def page(table: list[Row], kernel: str, commits: dict[str, str]) -> str:
    """Return the page."""
    in_scope = [row for row in table if not row.beyond]
    passed = [row for row in in_scope if row.kernel == "agrees"]
    both = [row for row in passed if row.model == "agrees"]
    head = _HEAD.format(
        kernel=kernel,
        scripts=len(table),
        both=len(both),
        passed=len(passed),
        share=100 * len(both) / max(1, len(passed)),
        in_scope=len(in_scope),
    )
    return "\n".join([head, _suites(table, commits), _topics(table), _subjects(table), _differing(in_scope)])


def _counts(rows: list[Row]) -> list[int]:
    """Return how many are there, in scope, agree with the model, the kernel, both."""
    inside = [row for row in rows if not row.beyond]
    model = {(row.suite, row.name) for row in inside if row.model == "agrees"}
    kernel = {(row.suite, row.name) for row in inside if row.kernel == "agrees"}
    return [len(rows), len(inside), len(model), len(kernel), len(model & kernel)]


def _suites(table: list[Row], commits: dict[str, str]) -> str:
    lines = [
        "## By suite\n",
        "| suite | commit | scripts | in scope | model | kernel | both |",
        "|---|---|---|---|---|---|---|",
    ]
    for suite, commit in commits.items():
        counts = _counts([row for row in table if row.suite == suite])
        lines.append(f"| {suite} | {f'`{commit}`' if commit else ''} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines) + "\n"


def _topics(table: list[Row]) -> str:
    lines = [
        "## By topic\n",
        "| topic | scripts | in scope | model | kernel | both |",
        "|---|---|---|---|---|---|",
    ]
    for topic in sorted({row.topic for row in table}):
        counts = _counts([row for row in table if row.topic == topic])
        cells = [str(count) for count in counts[:2]]
        cells += [str(count) if counts[1] else "" for count in counts[2:]]
        lines.append(f"| {topic} | {' | '.join(cells)} |")
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
        told = ", ".join(f"[{cause}](departures.md#{cause})" for cause in causes) or _unnamed(row)
        cells = [
            row.said.get("sim", "agrees"),
            row.said.get("kernel", "agrees" if row.kernel else "not played"),
        ]
        lines.append(f"| {row.suite.partition('/')[0]} `{row.name}` | {' | '.join(cells)} | {told} |")
    return "\n".join(lines) + "\n"


def _unnamed(row: Row) -> str:
    if row.model == "agrees":
        return "of this kernel, not of the model"
    return "none named" if row.kernel == "agrees" else "the kernel differs too"


if __name__ == "__main__":
    sys.exit(main())
