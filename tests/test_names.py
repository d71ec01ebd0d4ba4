"""One word has one meaning: types of one name in several crates, and the map of ARCHITECTURE.md."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAP = (ROOT / "ARCHITECTURE.md").read_text()

#: Words of which the project has several kinds: the bare name is one type's, the others say whose they are.
BARE = (
    *("Packet", "Datagram", "Host", "Node", "Network", "Position", "Path", "Route"),
    *("DropCause", "Event", "LinkEvent", "Offer", "Notice", "Ecn"),
)
#: Words that mean what another word says: event, route, link direction, position or index.
GONE = (
    *("Note", "Noted", "AirNote", "Told", "Happening", "Trip"),
    *("Way", "Ways", "Pipe", "PipeSpec", "Place", "Places"),
)
#: Names of public types in two crates or more, by the reason why they may stay. No further name joins them.
REASONS = {
    "the form in TOML, and what the model makes of it": (
        *("BaseStation", "Flow", "Handover", "Link", "Move", "Radio", "Reception", "Run"),
        *("Technology", "Track"),
    ),
    "one idea that each room has of its own kind": ("Connection", "Propagation", "Protocol"),
}
SEVERAL = {name for names in REASONS.values() for name in names}

TYPE = re.compile(r"^\s*pub(\([^)]*\))? (?:struct|enum|trait|type) (\w+)", re.MULTILINE)


def types() -> dict[str, list[tuple[str, bool]]]:
    """Return the crates with a type of each name that other files may use, and whether it is public."""
    found = defaultdict(list)
    for file in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        crate = file.relative_to(ROOT / "crates").parts[0]
        # The binding's classes have the names of the types that they wrap.
        if crate != "binding" and "test" not in file.stem:
            for match in TYPE.finditer(file.read_text()):
                found[match[2]].append((crate, match[1] is None))
    return found


def test_a_bare_name_is_taken_once() -> None:
    found = types()
    assert "LinkEvent" in found, "no type is found: the pattern is out of date"
    twice = {name: [crate for crate, _ in found[name]] for name in BARE if len(found[name]) > 1}
    assert not twice, f"say whose it is in the name of all but one, as in QuicPacket: {twice}"


def test_words_that_another_word_replaces_stay_away() -> None:
    found = types()
    back = {name: [crate for crate, _ in found[name]] for name in GONE if name in found}
    assert not back, f"ARCHITECTURE.md, Terms, has the word to use: {back}"


def test_no_further_name_has_two_public_types() -> None:
    public = {
        name
        for name, places in types().items()
        if len({crate for crate, is_public in places if is_public}) > 1
    }
    assert public - SEVERAL == set(), "public types of one name in two crates: qualify one of them"
    assert SEVERAL - public == set(), "these have one meaning now: take them off the list SEVERAL"


def test_the_map_is_short_and_its_lines_too() -> None:
    words = [word for word in MAP.split() if re.search(r"\w", word)]
    assert len(words) <= 1500
    assert max(map(len, MAP.splitlines())) <= 120


def test_what_the_map_points_to_is_there() -> None:
    table = MAP.partition("\n## Where to look\n")[2].partition("\n## ")[0]
    # Read in their order: a path stands under the crates, under the package, or beside the path before it.
    before, missing = ROOT, []
    for name in re.findall(r"`([\w/.<>-]+/|[\w/.<>-]+\.(?:rs|py))`", table):
        places = (ROOT / "crates", ROOT / "python/cogtcp", ROOT, before)
        # `<table>` stands for any name.
        found = next((path for place in places for path in place.glob(re.sub(r"<\w+>", "*", name))), None)
        if found is None:
            missing.append(name)
        else:
            before = found.parent
    assert not missing, f"ARCHITECTURE.md, Where to look: {missing}"
