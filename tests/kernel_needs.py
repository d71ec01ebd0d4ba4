"""What tests of the programs in `bpf/` need of the machine, and how they wait."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from conftest import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
TOOLS = "/usr/local/sbin:/usr/sbin:/sbin:" + os.environ.get("PATH", "")


def why_not() -> str | None:
    """Return why the kernel cannot be tested here."""
    if not sys.platform.startswith("linux"):
        return "needs Linux"
    if os.geteuid():
        return "needs root"
    if not Path("/sys/kernel/btf/vmlinux").exists():
        return "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)"
    missing = [tool for tool in ("clang", "bpftool", "cc", "make") if not shutil.which(tool, path=TOOLS)]
    if not Path("/usr/include/bpf/libbpf.h").exists():
        missing.append("libbpf-dev")
    if not Path("/usr/include/openssl/hmac.h").exists():
        missing.append("libssl-dev")
    return f"not installed: {', '.join(missing)}" if missing else None


def why_no_path() -> str | None:
    """Return why there can be no path between two namespaces here."""
    if not shutil.which("ip", path=TOOLS):
        return "not installed: iproute2"
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"/dev/net/tun cannot be opened: {error.strerror}"
    return None


def soon(condition: Callable[[], object], seconds: float = PATIENCE) -> bool:
    """Wait until a condition holds; return whether it did within the time, by default that of a hang."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def build() -> None:
    """Build the programs."""
    make = ["/usr/bin/env", "make", "-C", ROOT / "bpf"]
    done = subprocess.run(make, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
