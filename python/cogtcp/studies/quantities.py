"""Quantities of a scenario's canonical form as numbers: what `Scenario.to_dict` holds as text with a unit."""

from __future__ import annotations

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_BYTES = {"B": 1.0, "kB": 1e3, "KiB": 1024.0, "MB": 1e6, "MiB": 1024.0**2}


def seconds(text: str) -> float:
    """Return a duration in seconds."""
    number, unit = text.split()
    return float(number) * _SECONDS[unit]


def size_bytes(text: str) -> float:
    """Return a size in bytes."""
    number, unit = text.split()
    return float(number) * _BYTES[unit]
