"""Quantities of a scenario's canonical form as numbers: what `Scenario.to_dict` holds as text with a unit."""

from __future__ import annotations

from cogtcp._units import BYTES, RATE, TIME


def seconds(text: str) -> float:
    """Return a duration in seconds."""
    number, unit = text.split()
    return float(number) * TIME[unit]


def size_bytes(text: str) -> float:
    """Return a size in bytes."""
    number, unit = text.split()
    return float(number) * BYTES[unit]


def bits_per_second(text: str) -> float:
    """Return a rate in bits per second."""
    number, unit = text.split()
    return float(number) * RATE[unit]
