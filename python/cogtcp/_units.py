"""Units of quantities as scenarios and options write them: for each kind, their sizes in the first one.

What a scenario accepts is decided in Rust (`crates/units`); these are for numbers that Python reads or shows.
"""

from __future__ import annotations

TIME = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
RATE = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}
BYTES = {"B": 1.0, "kB": 1e3, "KiB": 2.0**10, "MB": 1e6, "MiB": 2.0**20, "GB": 1e9, "GiB": 2.0**30}
LENGTH = {"m": 1.0, "km": 1e3}
SPEED = {"m/s": 1.0, "km/h": 1 / 3.6}
FREQUENCY = {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9}
POWER = {"W": 1.0, "mW": 1e-3, "uW": 1e-6, "nW": 1e-9, "kW": 1e3}
RATIO = {"dB": 1.0}
LEVEL = {"dBm": 1.0}


def seconds(text: str) -> float:
    """Return a duration of a scenario's canonical form in seconds."""
    number, unit = text.split()
    return float(number) * TIME[unit]


def metres(text: str) -> float:
    """Return a length in metres."""
    number, unit = text.split()
    return float(number) * LENGTH[unit]


def size_bytes(text: str) -> float:
    """Return a size in bytes."""
    number, unit = text.split()
    return float(number) * BYTES[unit]


def bits_per_second(text: str) -> float:
    """Return a rate in bits per second."""
    number, unit = text.split()
    return float(number) * RATE[unit]
