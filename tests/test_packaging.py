"""What a fresh machine relies on."""

import re
import subprocess

import pytest

from conftest import ROOT


@pytest.mark.parametrize("name", ["run", "dev"])
def test_locks_pin_every_package_by_hash_and_name_no_host(name: str) -> None:
    lock = (ROOT / "requirements" / f"{name}.txt").read_text()
    assert "://" not in lock
    assert "index-url" not in lock
    entries = re.split(r"\n(?=\S)", lock.strip())
    packages = [entry for entry in entries if not entry.lstrip().startswith("#")]
    assert packages
    for entry in packages:
        assert re.match(r"[\w.-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_the_development_lock_has_the_versions_of_the_other() -> None:
    pins = {
        name: dict(
            re.findall(r"^([\w.-]+)==(\S+)", (ROOT / f"requirements/{name}.txt").read_text(), re.MULTILINE)
        )
        for name in ("run", "dev")
    }
    assert pins["run"].items() <= pins["dev"].items()


def test_make_help_lists_the_targets() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    listed = re.findall(r"^  make (\w+) ", done.stdout, re.MULTILINE)
    assert {"demo", "test", "lint", "bench", "help"} <= set(listed)
