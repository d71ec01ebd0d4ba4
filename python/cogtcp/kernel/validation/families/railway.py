"""A straight line between two stations, as a map of its base stations and tunnels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAP = (
    'name = "line"',
    "[train]",
    'top_speed = "{speed} m/s"',
    'acceleration = "10 m/s^2"',
    'braking = "10 m/s^2"',
    "[[station]]",
    'name = "first"',
    'at = "0 m"',
    "[[station]]",
    'name = "last"',
    'at = "{length} m"',
    "[signal]",
    'path_loss = "{path_loss:.9f} dB"',
    "exponent = {exponent}",
    'threshold = "0 dBm"',
    'shadowing = "0 dB"',
    'correlation = "100 m"',
    'recovery = "0 dB"',
    'handover_margin = "1 dB"',
    'handover = "0 s"',
    'interval = "{interval_ms} ms"',
)
_BASE_STATION = (
    "[[base_station]]",
    'name = "base{number}"',
    'at = "{at} m"',
    'power = "{power} dBm"',
)
_TUNNEL = (
    "[[tunnel]]",
    'from = "{begin} m"',
    'to = "{end} m"',
    'portal = "1 m"',
    'loss = "{loss} dB"',
)


def railway(
    *,
    speed: float,
    length: float,
    base_stations: Iterable[tuple[float, float]],
    tunnels: Iterable[tuple[float, float]] = (),
    tunnel_loss: float = 300,
    path_loss: float = 0,
    exponent: float,
    interval_ms: int,
) -> str:
    """Return the text of a map whose levels have nothing of chance.

    Args:
        speed: Of the train, m/s.
        length: Of the line, m.
        base_stations: Place in m and power in dBm of each.
        tunnels: Where each begins and ends, m.
        tunnel_loss: What a tunnel takes from the level, dB.
        path_loss: At 1 km, dB.
        exponent: Of the law of distance.
        interval_ms: From one measurement of the radio to the next.
    """
    line = {"speed": speed, "length": length, "path_loss": path_loss, "exponent": exponent}
    lines = [text.format(**line, interval_ms=interval_ms) for text in _MAP]
    for number, (at, power) in enumerate(base_stations):
        lines += [text.format(number=number, at=at, power=power) for text in _BASE_STATION]
    for begin, end in tunnels:
        lines += [text.format(begin=begin, end=end, loss=tunnel_loss) for text in _TUNNEL]
    return "\n".join(lines)
