"""Numbers with units, as options of the command line have them."""

from __future__ import annotations

import argparse
import math
import re
from typing import TYPE_CHECKING

from cogtcp._errors import UsageError
from cogtcp._units import LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable


def quantity(units: dict[str, float]) -> Callable[[str], float]:
    """Return a reader of numbers with one of these units, or bare and then in the first, for `argparse`."""

    def read(text: str) -> float:
        try:
            return value(text, units)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def value(text: str, units: dict[str, float]) -> float:
    """Read a number with or without one of these units; a `ValueError` says what would be right."""
    split = re.fullmatch(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z/]*)\s*", text)
    base, *others = units
    try:
        if split is None:
            return float(text)  # "nan" and "inf" are told apart by who takes the value
        return float(split[1]) * units[split[2] or base]
    except (KeyError, ValueError):
        example = f' or a number and a unit, as "20 {(others or [base])[0]}"'
        raise ValueError(f"{text!r}: write a number in {base}, as 20,{example}") from None


def numbers(text: str, option: str, units: dict[str, float]) -> list[float]:
    """Read finite numbers with commas between them, or raise what is wrong with the option."""
    try:
        values = [value(part, units) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"{option} {text}: write numbers with commas between them") from None
    if not all(map(math.isfinite, values)):
        raise UsageError(f"{option} {text}: every number must be finite")
    return values


def area(text: str) -> tuple[float, float]:
    """Read `--area`: width and height in m."""
    try:
        width, height = (value(part, LENGTH) for part in text.lower().split("x"))
    except ValueError:
        raise UsageError(f"--area {text}: write width and height in m, as in --area 1000x1000") from None
    return width, height
