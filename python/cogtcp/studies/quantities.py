"""Quantities of a scenario's canonical form as numbers: what `Scenario.to_dict` holds as text with a unit."""

from __future__ import annotations

from cogtcp._units import bits_per_second, seconds, size_bytes

__all__ = ["bits_per_second", "seconds", "size_bytes"]
