"""Where one small change makes a mutant, and how sources look that hold several of them."""

import hashlib
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUTPUT = ROOT / "target" / "mutants"


@dataclass(frozen=True)
class Site:
    """A mutant: a span of a file, and the parts of the text that takes its place."""

    name: str
    crate: str
    file: str
    line: int
    start: int
    end: int
    #: Strings, in which `ON` asks whether the mutant is on, and spans of the file: start, end, and whether
    #: further mutants may be switched in it.
    parts: tuple[str | tuple[int, int, bool], ...]


def rust_sites(crates: list[str], left_out: Iterable[str]) -> dict[str, Site]:
    """List the mutants of the crates by name: file, function, change, and rank where a name repeats.

    Names of files that begin with a word of `left_out` are left out.
    """
    tool = OUTPUT / "sites" / "release" / "cogtcp-mutant-sites"
    build = ["cargo", "build", "--quiet", "--release", "--locked", f"--target-dir={OUTPUT / 'sites'}"]
    subprocess.run(build, cwd=HERE / "sites", check=True)
    sites: dict[str, Site] = {}
    for crate in crates:
        command = [str(tool), f"crates/{crate}"]
        listed = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
        sites |= _named(crate, listed)
    return {name: site for name, site in sites.items() if not name.startswith(tuple(left_out))}


def _named(crate: str, listed: list[dict[str, Any]]) -> dict[str, Site]:
    seen: Counter[str] = Counter()
    sites = {}
    for found in listed:
        # A lifetime more or less makes no other mutant.
        function = re.sub(r"<'\w+>", "", found["in"])
        place = ": ".join(filter(None, [found["file"].removeprefix("crates/"), function]))
        name = f"{place}: {found['what']}"
        seen[name] += 1
        if seen[name] > 1:
            name += f" #{seen[name]}"
        parts = tuple(part if isinstance(part, str) else tuple(part) for part in found["parts"])
        span = found["file"], found["line"], found["start"], found["end"]
        sites[name] = Site(name, crate, *span, parts)
    return sites


def rank(seed: str, name: str) -> str:
    """Order mutants by chance: the same order as long as the seed and their names last."""
    return hashlib.sha256(f"{seed} {name}".encode()).hexdigest()


def switched(source: bytes, sites: list[tuple[int, Site]]) -> bytes:
    """Write the mutants of one file into it, each between marks that name its number."""
    return _render(source, 0, len(source), sites)


def _render(source: bytes, start: int, end: int, sites: list[tuple[int, Site]]) -> bytes:
    inside = [item for item in sites if start <= item[1].start and item[1].end <= end]
    # The outermost first; of several with one span the first holds the others.
    inside.sort(key=lambda item: (item[1].start, -item[1].end))
    text, at = b"", start
    while inside:
        number, site = inside.pop(0)
        within = [item for item in inside if item[1].end <= site.end]
        inside = [item for item in inside if item[1].start >= site.end]
        text += source[at : site.start] + f"/*<{number}*/".encode()
        for part in site.parts:
            if isinstance(part, str):
                text += part.replace("ON", f"::cogtcp_mutant::on({number})").encode()
            else:
                text += _render(source, part[0], part[1], within if part[2] else [])
        text += f"/*{number}>*/".encode()
        at = site.end
    return text + source[at:end]


def numbers_at(text: bytes, start: int, end: int) -> list[int]:
    """Find whose text a compiler's complaint about bytes `start` to `end` concerns, by the marks."""
    around: list[tuple[int, int]] = []
    within: list[int] = []
    for opening in re.finditer(rb"/\*<(\d+)\*/", text):
        closing = text.index(b"/*" + opening[1] + b">*/", opening.end())
        if opening.start() <= start and end <= closing + len(opening[0]):
            around.append((closing - opening.start(), int(opening[1])))
        elif start <= opening.start() and closing <= end:
            within.append(int(opening[1]))
    return [min(around)[1]] if around else within
