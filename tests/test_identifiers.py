"""What docs name in back quotes is there: options, files and functions of ours."""

from __future__ import annotations

import functools
import re

import pytest

from conftest import ROOT

#: Pages that people wrote, and doc comments of both languages.
PAGES = sorted(
    [*ROOT.glob("*.md"), *(path for path in (ROOT / "docs").rglob("*.md")), *ROOT.glob("crates/*/README.md")]
)
#: What is not ours, and why it may be named.
OTHERS = {
    "CHANGELOG.md": "names of earlier versions stay",
    "0.1.0.md": "the same",
    "0.2.0.md": "the same",
}
#: Options of other programs that pages name.
OTHER_OPTIONS = {
    "--rm", "--user", "--release", "--locked", "--test", "--ignored", "--nocapture", "--features", "--pre",
    "--find-links", "--head", "--lib", "--require-hashes",
    "--privileged", "--device", "--shell",
}  # fmt: skip
#: Functions and types of other programs.
OTHER_NAMES = {
    "TraceConnect",
    "last_data_recv",
    "snd_mss",
    "prague_reno",
    "tcp_rack_detect_loss",
    "netif_stop_queue",
    "pu_exposed",
}


@functools.cache
def words() -> set[str]:
    """Return all words of the code, and all options."""
    found: set[str] = set()
    for pattern in (
        "crates/*/src/**/*.rs", "crates/*/tests/**/*.rs", "python/cogtcp/**/*.py*", "bpf/**/*.[ch]",
        "requirements/*", "Makefile", "benches/**/*.py", "docs/**/*.py", "tests/**/*.py",
    ):  # fmt: skip
        for path in ROOT.glob(pattern):
            if path.is_file() and path.suffix != ".pyc" and path.name != "test_identifiers.py":
                found.update(re.findall(r"\w+|--[a-z][a-z-]+", path.read_text(errors="replace")))
    return found


def quoted(text: str) -> list[str]:
    """Return what stands in back quotes outside of blocks of code."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose)


@pytest.mark.parametrize(
    "path", [p for p in PAGES if p.name not in OTHERS], ids=lambda p: str(p.relative_to(ROOT))
)
def test_what_a_page_names_is_there(path) -> None:  # type: ignore[no-untyped-def]
    missing = []
    for said in quoted(path.read_text()):
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", said):
            name = option.removeprefix("--")
            known = option in words() or name.replace("-", "_") in words()
            if not known and option not in OTHER_OPTIONS:
                missing.append(option)
        call = re.fullmatch(r"([A-Za-z_][\w.]*)\(.*\)", said)
        name = call[1].rpartition(".")[2] if call is not None else said
        is_name = re.fullmatch(r"[a-z]+(_[a-z0-9]+)+", said)
        if (
            (call or is_name)
            and name not in OTHER_NAMES | words()
            and name.title().replace("_", "") not in words()
        ):
            missing.append(said)
        # Recipes name files that their reader makes.
        file = re.fullmatch(
            r"(crates|python|tests|benches|docs|scenarios|studies|requirements|bpf|examples)/[\w./-]+", said
        )
        if file and not path.name.startswith("adding-a") and not any(ROOT.glob(said.rstrip("/"))):
            missing.append(said)
    assert missing == []
