"""What prose names in back quotes is there: options of a verb, files, keys and functions of ours.

Prose is a page, a comment or a docstring. A name is there if code has it: a comment is no proof.
"""

from __future__ import annotations

import argparse
import ast
import functools
import io
import re
import tokenize
from typing import TYPE_CHECKING

import pytest

from cogtcp.cli import verbs
from conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

#: Pages that people wrote.
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("crates/*/README.md")])
RUST = sorted(ROOT.glob("crates/*/src/**/*.rs"))
PYTHON = sorted(ROOT.glob("python/cogtcp/**/*.py"))
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
#: Names of other programs: of Linux and ns-2 by their beginnings, and single ones.
OTHER_BEGINNINGS = (
    *("tcp_", "tcpi_", "bbr_", "bictcp_", "hystart_", "codel_", "sk_", "skb_", "qdisc_", "minmax_", "mptcp_"),
    *("rt_", "mcast_", "ip_", "usecs_", "netif_"),
)
OTHER_NAMES = {
    "TraceConnect", "last_data_recv", "snd_mss", "prague_reno", "pu_exposed",
    "is_ack_delayed", "scaling_ratio", "old_ack", "per_mss", "pushed_seq", "sndbuf_expand",  # Linux
    "local_rt_repair", "suppress_reply",  # ns-2's AODV
    "update_base_delay", "update_current_delay",  # RFC 6817
    "c_protection_wc", "control_law",  # RFC 9332 and 8289
    "check_active",  # the pseudocode of TFRC-CR
    "frame.packet_flags_direction", "to_numpy",  # Wireshark and pyarrow
    "set_sysctls.py",  # packetdrill
}  # fmt: skip


def without_comments(path: Path, text: str) -> str:
    """Return the code of a file."""
    if path.suffix in (".rs", ".c", ".h", ".js"):
        return re.sub(r"^\s*(//|\*|/\*).*$", "", text, flags=re.MULTILINE)
    if path.suffix == ".py":
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)  # type: ignore[operator]
        return "\n".join(re.sub(r"(^|\s)#.*", "", line) for line in lines)
    return text


@functools.cache
def words() -> frozenset[str]:
    """Return all words of the code, and all options."""
    found: set[str] = set()
    for pattern in (
        "crates/*/src/**/*.rs", "crates/*/tests/**/*.rs", "crates/*/Cargo.toml", "python/cogtcp/**/*.py*",
        "python/cogtcp/**/*.toml", "python/cogtcp/**/*.js", "bpf/**/*.[ch]", "requirements/*", "Makefile",
        "benches/**/*.py", "docs/**/*.py", "tests/**/*.py", "examples/*.py", "crates/web/bundles/*",
    ):  # fmt: skip
        for path in ROOT.glob(pattern):
            if path.is_file() and path.suffix not in (".pyc", ".so") and path.name != "test_identifiers.py":
                text = without_comments(path, path.read_text(errors="replace"))
                found.update(re.findall(r"\w+|--[a-z][a-z-]+", text))
    return frozenset(found)


@functools.cache
def options() -> dict[str, frozenset[str]]:
    """Return what each verb takes, also the verbs of a verb: `pu show`."""
    found: dict[str, frozenset[str]] = {}

    def add(name: str, parser: argparse.ArgumentParser, above: frozenset[str]) -> frozenset[str]:
        parser.fill()  # type: ignore[attr-defined]
        own = above | {word for action in parser._actions for word in action.option_strings}
        below: frozenset[str] = frozenset()
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for verb, inner in action.choices.items():
                    below |= add(f"{name} {verb}".strip(), inner, own)
        # A verb is named alone where one of its verbs has the option.
        found[name] = own | below
        return found[name]

    add("", verbs.parser(), frozenset())
    return found


def quoted(text: str) -> list[str]:
    """Return what stands in back quotes outside of blocks of code."""
    prose = re.sub(r"^\s*```.*?^\s*```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose)


def doc_comments(path: Path) -> str:
    """Return the prose in a file of code."""
    text = path.read_text()
    if path.suffix == ".rs":
        return "\n".join(re.findall(r"^\s*//[/!] ?(.*)$", text, re.MULTILINE))
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    comments = [
        token.string.lstrip("#: ")
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    ]
    return "\n".join([*found, *comments])


def wrong_options(said: str) -> list[str]:
    """Return the options that the command named here does not take: its verb, or no verb, as `--keep`."""
    found = re.findall(r"(?<![\w-])--[a-z][a-z-]+", said)
    first, *rest = said.removeprefix("cogtcp ").split() or [""]
    verb = f"{first} {rest[0]}" if rest and f"{first} {rest[0]}" in options() else first
    if verb in options() and verb:
        return [option for option in found if option not in options()[verb]]
    ours = {option.removeprefix("--").replace("-", "_") for option in found} & words()
    return [
        option
        for option in found
        if option not in words() | OTHER_OPTIONS and option[2:].replace("-", "_") not in ours
    ]


def is_there(name: str) -> bool:
    """Return whether code has the name, also as a type: `half_window` is `HalfWindow`."""
    known = name in words() or name.title().replace("_", "") in words()
    return known or name in OTHER_NAMES or name.startswith(OTHER_BEGINNINGS)


@functools.cache
def file_names() -> frozenset[str]:
    return frozenset(path.name for folder in ("python", "crates", "tests", "docs", "benches", "examples")
                     for path in (ROOT / folder).rglob("*.*"))  # fmt: skip


def missing(path: Path, said: str) -> bool:
    """Return whether the quoted words name an option, function, key or file that is not there."""
    if wrong_options(said):
        return True
    if said in OTHER_NAMES:
        return False
    if re.fullmatch(r"\w+\.(py|rs|md)", said):
        return said not in file_names()
    if re.fullmatch(r"\w+\.(c|h|tcl)", said):
        return False
    call = re.fullmatch(r"((?:\w+(?:\.|::))*[A-Za-z_]\w*)\(.*\)", said)
    name = re.split(r"\.|::", call[1])[-1] if call is not None else said
    if (call or re.fullmatch(r"[a-z]+(_[a-z0-9]+)+", said)) and not is_there(name):
        return True
    # A key of a scenario or a column: `flow.delivered_bytes`.
    key = re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", said)
    if key and "_" in said and not all(is_there(part) for part in said.split(".") if "_" in part):
        return True
    # Recipes name files that their reader makes. A crate names its own files.
    file = re.fullmatch(
        r"(crates|python|tests|benches|docs|scenarios|studies|requirements|bpf|examples)/[\w./-]+", said
    )
    if file is None or path.name.startswith("adding-a"):
        return False
    room = path.relative_to(ROOT).parts[:2] if path.is_relative_to(ROOT) else ()
    return not any(
        any(folder.glob(said.rstrip("/"))) for folder in (ROOT, ROOT.joinpath(*room)) if folder.is_dir()
    )


@pytest.mark.parametrize(
    "path", [p for p in PAGES if p.name not in OTHERS], ids=lambda p: str(p.relative_to(ROOT))
)
def test_what_a_page_names_is_there(path: Path) -> None:
    assert [said for said in quoted(path.read_text()) if missing(path, said)] == []


@pytest.mark.parametrize(
    "folder", sorted({*ROOT.glob("crates/*"), ROOT / "python"}), ids=lambda p: str(p.relative_to(ROOT))
)
def test_what_a_doc_comment_names_is_there(folder: Path) -> None:
    wrong = {
        str(path.relative_to(ROOT)): gone
        for path in (*RUST, *PYTHON)
        if path.is_relative_to(folder)
        and (gone := [said for said in quoted(doc_comments(path)) if missing(path, said)])
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        ("sweep --keep", True),
        ("cogtcp sweep --seeds 3", False),
        ("pu show --plot", False),
        ("pu generate --plot", True),
        ("--keep-all-of-it", True),
        ("--allow-python", False),
        ("poll_transmit()", False),
        ("Sender::poll_transmit_all()", True),
        ("flow.goodput_bps", False),
        ("flow.goodput_bits", True),
        ("crates/link/src/link.rs", False),
        ("crates/link/src/chain.rs", True),
    ],
)
def test_what_is_not_there_is_found(said: str, gone: bool) -> None:
    assert missing(ROOT / "docs/x.md", said) is gone
