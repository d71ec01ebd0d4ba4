"""Where a result comes from: enough to make it again."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.model.scenario import Scenario

#: Prefix of the keys in the metadata of Parquet files.
PREFIX = "cogtcp."
_STATUS = "--no-optional-locks status --porcelain=v2 --branch --no-ahead-behind --untracked-files=no"


def version() -> str:
    """Return the version of cogtcp."""
    return _core.version


@cache
def commit() -> str | None:
    """Return the git commit of the checkout that this package runs from, with `-dirty` if it has changes.

    An installed wheel names the commit that it was built from. None where neither is known.
    """
    import subprocess  # not at the top: who asks for no provenance need not wait for it

    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists() or not (root / "crates").is_dir():
        return _built_from()
    try:
        # Without optional locks git only reads: it must not leave a lock behind when it is killed with us.
        # (`git describe --dirty` takes one all the same.)
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(root), *_STATUS.split()],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    # Lines that begin with "#" are about the branch, others are changed files.
    lines = done.stdout.splitlines()
    head = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), "")
    if len(head) < 40:  # "(initial)": no commit yet
        return None
    return head[:12] + ("-dirty" if any(not line.startswith("#") for line in lines) else "")


def _built_from() -> str | None:
    """Return the commit that `make wheel` wrote into the package."""
    try:
        file = Path(__file__).resolve().parents[1] / "commit.txt"
        return file.read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def describe(scenario: Scenario, seeds: Sequence[int]) -> dict[str, str]:
    """Return the provenance of a result as text: the same for the same version, scenario and seeds."""
    return {
        "version": version(),
        "commit": commit() or "",
        "scenario": scenario.name,
        "scenario_sha256": scenario.hash,
        "seeds": ",".join(str(seed) for seed in seeds),
        "scenario_toml": scenario.to_toml(),
    }
