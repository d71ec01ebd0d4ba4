"""The spectrum without a transport over it: primary users, channels, their files, and what sensing sees.

>>> users = cogtcp.spectrum.PuActivity.generate(users=5, duration=200, alpha=0.5, beta=0.5, seed=1)
>>> users.users[0].duty_cycle
>>> cogtcp.spectrum.ChannelTable.alternating(5, rate=1e6, m=0.2).to_text("ch-log")
>>> cogtcp.spectrum.sensing([0.1, 0.2], snr_db=-20)
"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from cogtcp import _core
from cogtcp._errors import ScenarioError, UsageError
from cogtcp._files import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Format: TypeAlias = Literal["pu-log", "map", "csv"]
ChannelFormat: TypeAlias = Literal["ch-log", "released"]
Start: TypeAlias = Literal["off", "on", "stationary"]
TraceModel: TypeAlias = Literal["empirical", "markov"]
Detector: TypeAlias = Literal["map", "neyman-pearson", "simplified", "fixed", "perfect", "as-released"]
Fusion: TypeAlias = Literal["or", "and", "majority"]

#: Law of a span: its name and parameters.
LAWS = {
    "exponential": ("mean in s",),
    "deterministic": ("span in s",),
    "log-normal": ("median in s", "sigma"),
    "gamma": ("shape", "scale in s"),
    "pareto": ("minimum in s", "shape"),
}
#: A generation may hold this many ON times on average: more is a mistake in a parameter.
MOST_INTERVALS = 20_000_000
_MOST_USERS = 100_000


@dataclass(frozen=True)
class PrimaryUser:
    """One primary user.

    Attributes:
        number: Its number in the log.
        position: Where its transmitter is, m.
        band: Its band, from 1.
        reach: `("power", W)`, heard as propagation has it; or `("range", m)`, heard within that distance.
        on: ON times, (arrival, departure) in s.
        arrivals: Number of ON times.
        duty_cycle: Share of the time ON.
        mean_on: Mean of the whole ON times, s; NaN without any.
        mean_off: Mean of the whole OFF times, s; NaN without any.
    """

    number: int
    position: tuple[float, float]
    band: int
    reach: tuple[str, float]
    on: tuple[tuple[float, float], ...]
    arrivals: int
    duty_cycle: float
    mean_on: float
    mean_off: float

    def shares(self, start: float, end: float, cells: int) -> list[float]:
        """Return the share that it is ON of each of some equal stretches from `start` to `end`, in s.

        Args:
            start: Start of the first stretch, s.
            end: End of the last stretch, s.
            cells: Number of stretches.

        Returns:
            A share, 0 to 1, for each stretch.
        """
        width = (end - start) / cells
        busy = [0.0] * cells
        for arrival, departure in self.on if width > 0 else ():
            first, last = (
                max(int((arrival - start) / width), 0),
                min(int((departure - start) / width), cells - 1),
            )
            for cell in range(first, last + 1):
                left = start + cell * width
                busy[cell] += max(min(departure, left + width) - max(arrival, left), 0.0)
        # A sum of floats may end above the whole.
        return [min(1.0, time / width) if width > 0 else 0.0 for time in busy]

    @property
    def variation_on(self) -> float:
        """Coefficient of variation of the ON times: 1 for exponential ones; NaN without two."""
        return _variation([departure - arrival for arrival, departure in self.on])

    @property
    def variation_off(self) -> float:
        """Coefficient of variation of the OFF times: 1 for exponential ones; NaN without two."""
        return _variation([after[0] - before[1] for before, after in itertools.pairwise(self.on)])


class PuActivity:
    """The primary users of a place, with their ON times from 0 to `end`. Immutable."""

    __slots__ = ("_core", "_users")

    def __init__(self, core: _core.PuActivity) -> None:
        self._core = core
        self._users: tuple[PrimaryUser, ...] | None = None

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        format: Format | None = None,
        *,
        threshold: float | None = None,
        hysteresis: float = 0.0,
        minimum: float = 0.0,
    ) -> PuActivity:
        """Read a PU-log, a map.txt or a CSV of occupancy. Without `format`, its content tells which.

        Args:
            path: The file.
            format: Format of the text; by default its content decides.
            threshold: dBm. A CSV then holds powers: a band becomes busy when a sample reaches it.
            hysteresis: dB. A busy band becomes idle this far below the threshold.
            minimum: s. Shorter idle times are filled, then shorter busy times dropped.

        Returns:
            The activity.

        Raises:
            ScenarioError: No valid log: file, line and reason.
        """
        text = read_text(path, "a PU-log, a map.txt or a CSV")
        return cls.from_text(
            text,
            format or _guess(text, str(path)),
            file=str(path),
            threshold=threshold,
            hysteresis=hysteresis,
            minimum=minimum,
        )

    @classmethod
    def from_text(
        cls,
        text: str,
        format: Format,
        *,
        file: str = "<text>",
        threshold: float | None = None,
        hysteresis: float = 0.0,
        minimum: float = 0.0,
    ) -> PuActivity:
        """Read a log from a text.

        Args:
            text: The log.
            format: Its format.
            file: What errors call it.
            threshold: dBm. A CSV holds powers then: a band becomes busy when a sample reaches it.
            hysteresis: dB. A busy band becomes idle when a sample is by more than this below the threshold.
            minimum: s. Idle times of a CSV that are shorter are filled, then shorter busy times left out.

        Returns:
            The activity.

        Raises:
            ScenarioError: The text is no valid log: file, line and reason.
        """
        if threshold is None and hysteresis:
            raise UsageError("hysteresis has no effect without threshold; give threshold too, in dBm")
        if format != "csv" and (threshold is not None or minimum):
            raise UsageError("threshold and minimum are for a CSV of occupancy; remove them")
        bounds = {"hysteresis": (hysteresis, 0.0, 100.0), "minimum": (minimum, 0.0, 3600.0)}
        if threshold is not None:
            bounds["threshold"] = (threshold, -300.0, 100.0)
        for name, (value, low, high) in bounds.items():
            if not low <= value <= high:
                raise UsageError(f"{name} is {value:g}; write {low:g} to {high:g}")
        return cls(_core.PuActivity.read(text, file, format, threshold, hysteresis, minimum))

    @property
    def spacing(self) -> float | None:
        """Distance in s of the samples of a measurement at regular times, which shows nothing shorter."""
        return self._core.spacing

    @classmethod
    def generate(
        cls,
        *,
        users: int = 5,
        bands: int | None = None,
        duration: float = 200.0,
        alpha: float = 0.5,
        beta: float = 0.5,
        on: tuple[str, Sequence[float]] | None = None,
        off: tuple[str, Sequence[float]] | None = None,
        start: Start = "off",
        area: tuple[float, float] | None = None,
        power: float = 0.2818,
        range: float | None = None,
        seed: int = 1,
    ) -> PuActivity:
        """Draw the activity of primary users; the paper's is the default.

        Args:
            users: Number of PUs; PU i is in band (i - 1) mod `bands` + 1.
            bands: Number of bands; one per PU without it.
            duration: Length of the activity, s.
            alpha: Death rate, 1/s: the mean ON time is 1/alpha.
            beta: Birth rate, 1/s: the mean OFF time is 1/beta.
            on: Law of the ON times in place of alpha, as in `("gamma", [2, 0.5])`; see `LAWS`.
            off: Law of the OFF times in place of beta.
            start: State at time zero.
            area: Spread the PUs over this width and height, m; all at (0, 0) without it.
            power: Power of each PU, W.
            range: Distance within which each PU is heard, m, in place of a power.
            seed: Seed of all draws.

        Returns:
            The activity.

        Raises:
            UsageError: A value makes no sense.
        """
        _whole("users", users, 1, _MOST_USERS)
        bands = users if bands is None else bands
        _whole("bands", bands, 1, 2**31)
        _whole("seed", seed, 0, 2**63 - 1)
        _above_zero(duration=duration, alpha=alpha, beta=beta, power=power)
        if start not in get_args(Start):
            raise UsageError(f"start is {start!r}; take {', '.join(get_args(Start))}")
        if range is not None:
            _above_zero(range=range)
        if area is not None:
            _above_zero(width=area[0], height=area[1])
        laws = [_law(on or ("exponential", [1 / alpha])), _law(off or ("exponential", [1 / beta]))]
        _not_too_many(users * duration / max(sum(_scale(law) for law in laws), 1e-9))
        reach = ("power", power) if range is None else ("range", range)
        return cls(
            _core.PuActivity.generate(users, bands, area, reach, laws[0], laws[1], start, duration, seed)
        )

    @classmethod
    def generate_released(
        cls,
        *,
        users: int = 10,
        channels: int = 11,
        side: float = 1000.0,
        receiver_distance: float = 300.0,
        range: float = 500.0,
        alpha: float = 0.5,
        beta: float = 0.1,
        duration: float = 205.0,
        seed: int = 1,
    ) -> PuActivity:
        """Draw as the generator of the released ns-2 code does, whose defaults these are.

        Args:
            users: Number of PUs.
            channels: Number of channels, with the control channel 0.
            side: Width and height of the area, m.
            receiver_distance: Distance of a PU's receiver, m.
            range: Distance within which a PU is heard, m.
            alpha: Death rate, 1/s.
            beta: Birth rate, 1/s.
            duration: Length of the activity, s.
            seed: Seed of all draws.

        Returns:
            The activity.

        Raises:
            UsageError: A value makes no sense.
        """
        _whole("users", users, 1, _MOST_USERS)
        _whole("channels", channels, 2, 2**31)
        _whole("seed", seed, 0, 2**63 - 1)
        _above_zero(side=side, range=range, alpha=alpha, beta=beta, duration=duration)
        if not receiver_distance >= 0:
            raise UsageError(f"receiver_distance is {receiver_distance:g}; it must not be negative")
        _not_too_many(users * duration / (1 / alpha + 1 / beta))
        core = _core.PuActivity.generate_released(
            users, channels, side, receiver_distance, range, alpha, beta, duration, seed
        )
        return cls(core)

    def redraw(
        self, *, model: TraceModel = "empirical", duration: float | None = None, seed: int = 1
    ) -> PuActivity:
        """Draw the same PUs again, each by a two-state model of its ON and OFF times here.

        Args:
            model: `empirical` draws from whole ON and OFF times, `markov` exponential ones of their means.
            duration: Length of the new activity, s; as long as this one without it.
            seed: Seed of all draws.

        Returns:
            The new activity.

        Raises:
            ScenarioError: A PU has no whole ON and OFF time.
        """
        if model not in get_args(TraceModel):
            raise UsageError(f"model is {model!r}; take {', '.join(get_args(TraceModel))}")
        if self.end == 0:
            raise ScenarioError("no primary user is ever ON", remedy="take a log with ON and OFF times")
        duration = self.end if duration is None else duration
        _above_zero(duration=duration)
        _whole("seed", seed, 0, 2**63 - 1)
        _not_too_many(sum(user.arrivals for user in self.users) * duration / self.end)
        return PuActivity(self._core.redraw(model, duration, seed))

    def to_text(self, format: Format, *, sensitivity: float | None = None, attenuation: float = 2.0) -> str:
        """Return the log in a format.

        A PU-log holds powers and a map.txt ranges: with a `sensitivity` in W one becomes the other, by
        P_r = P_t / d^attenuation. A CSV holds the occupancy of each band alone.

        Args:
            format: Format of the text.
            sensitivity: Least power heard, W.
            attenuation: Exponent of the distance.

        Returns:
            The text.

        Raises:
            UsageError: A value makes no sense.
        """
        _above_zero(attenuation=attenuation)
        if sensitivity is not None:
            _above_zero(sensitivity=sensitivity)
        if format == "pu-log" and any(math.isinf(user.reach[1]) for user in self.users):
            raise ScenarioError(
                "the PUs of measured occupancy are heard everywhere, which a PU-log's power cannot express",
                remedy="write a map or a csv",
            )
        if format == "map" and any(math.isinf(user.reach[1]) for user in self.users):
            raise ScenarioError(
                "the PUs of measured occupancy are heard everywhere, which a map.txt's range cannot express",
                remedy="write a csv, or read it as it is in a scenario: pu = { occupancy = FILE }",
            )
        return self._core.write(format, sensitivity, attenuation)

    @property
    def end(self) -> float:
        """The end of the activity, s: as generated or measured, or the last departure."""
        return self._core.end

    @property
    def users(self) -> tuple[PrimaryUser, ...]:
        """The primary users, in the order of the log."""
        if self._users is None:
            described = zip(self._core.users, self._core.stats(0.0, self.end), strict=True)
            self._users = tuple(
                PrimaryUser(number, position, band, reach, tuple(on), *stats)
                for (number, position, band, reach, on), stats in described
            )
        return self._users


@dataclass(frozen=True)
class Channel:
    """One CR channel.

    Attributes:
        band: Its band, from 1.
        rate: Its capacity, bit/s.
        noise: Noise power, W: one value, or one for each `ChannelTable.noise_interval`; none without noise.
        error_rate: Share of the frames lost at random.
        reserved: Not for data: the control channel of the released ns-2 code.
    """

    band: int
    rate: int
    noise: tuple[float, ...]
    error_rate: float
    reserved: bool


class ChannelTable:
    """The CR channels of all bands. Immutable."""

    __slots__ = ("_core",)

    def __init__(self, core: _core.ChannelTable) -> None:
        self._core = core

    @classmethod
    def from_file(cls, path: str | Path, format: ChannelFormat) -> ChannelTable:
        """Read a CH-log, or a channel.txt of the released ns-2 code.

        Args:
            path: The file.
            format: Format of the file.

        Returns:
            The channels.

        Raises:
            ScenarioError: No valid table: file, line and reason.
        """
        return cls.from_text(read_text(path, "a CH-log or a channel.txt"), format, file=str(path))

    @classmethod
    def from_text(cls, text: str, format: ChannelFormat, *, file: str = "<text>") -> ChannelTable:
        """Read channels from a text; `file` is what errors call it.

        Args:
            text: The table.
            format: Format of the text.
            file: Name of the text in errors.

        Returns:
            The channels.

        Raises:
            ScenarioError: No valid table: line and reason.
        """
        return cls(_core.ChannelTable.read(text, file, _channel_format(format)))

    @classmethod
    def alternating(cls, bands: int, *, per_band: int = 1, rate: float = 1e6, m: float = 0.0) -> ChannelTable:
        """Return channels whose rates alternate by equation 5 of MSWiM 2009.

        Args:
            bands: Number of bands, B.
            per_band: Channels in each, n.
            rate: The mean rate gamma, bit/s.
            m: The channel bandwidth differentiation factor M, 0 to below 2: channels alternate between
                rate (1 + m/2) and rate (1 - m/2).

        Returns:
            The channels.

        Raises:
            UsageError: A value makes no sense.
        """
        _whole("bands", bands, 1, _MOST_USERS)
        _whole("per_band", per_band, 1, _MOST_USERS)
        if not 1 <= rate <= 1e13:
            raise UsageError(f"rate is {rate:g}; it must be 1 to 1e13 bit/s")
        return cls(_core.ChannelTable.alternating(bands, per_band, round(rate), m))

    def to_text(self, format: ChannelFormat) -> str:
        """Return the channels in a format.

        A CH-log holds no error rates and no reserved channels, a channel.txt no noise.
        """
        return self._core.write(_channel_format(format))

    @property
    def per_band(self) -> int:
        """Channels in each band."""
        return self._core.per_band

    @property
    def bands(self) -> int:
        """Number of bands."""
        return self._core.bands

    @property
    def noise_interval(self) -> float | None:
        """How long each noise value holds, s; None where noise is constant."""
        return self._core.noise_interval

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels, band by band."""
        return tuple(
            Channel(index // self.per_band + 1, rate, tuple(noise), error_rate, reserved)
            for index, (rate, noise, error_rate, reserved) in enumerate(self._core.channels)
        )


@dataclass(frozen=True)
class Sensing:
    """What a detector makes of one sensing.

    Attributes:
        sensing_time: t_s, s.
        snr_db: Signal-to-noise ratio of the PU, dB.
        detection: P(reported | PU present during all of t_s).
        false_alarm: P(reported | no PU).
    """

    sensing_time: float
    snr_db: float
    detection: float
    false_alarm: float


def sensing(
    sensing_times: Sequence[float],
    *,
    snr_db: float = -20.0,
    detector: Detector = "map",
    bandwidth: float = 1e6,
    p_on: float = 0.5,
    sampling_rate: float = 2e6,
    false_alarm: float = 0.05,
    detection: float = 0.9,
    sensors: int = 1,
    fusion: Fusion = "or",
) -> list[Sensing]:
    """Return P_d' and P_f' of a detector for each sensing time in s.

    Args:
        sensing_times: t_s, s.
        snr_db: Signal-to-noise ratio of the PU, dB; `map` and `simplified` are set for it.
        detector: Which detector.
        bandwidth: Of a channel, Hz (`map`, `simplified`).
        p_on: Long-run probability that a PU is ON (`map`).
        sampling_rate: Samples per second (`neyman-pearson`).
        false_alarm: The target for P_f' (`neyman-pearson`), or its value (`fixed`).
        detection: P_d' (`fixed`).
        sensors: How many such detectors sense together.
        fusion: How their reports are joined.

    Returns:
        Probabilities, one entry per sensing time.

    Raises:
        UsageError: A value makes no sense.
    """
    for t_s in sensing_times:
        _above_zero(sensing_time=t_s)
        if not 1e-9 <= t_s <= 1e6:
            raise UsageError(f"sensing_time is {t_s:g}; it must be 1e-9 to 1e6 s")
    values, rule = _parameters(
        detector, snr_db, bandwidth, p_on, sampling_rate, false_alarm, detection, sensors, fusion
    )
    found = _core.detection(detector, snr_db, values, rule, list(sensing_times))
    return [Sensing(t_s, snr_db, *errors) for t_s, errors in zip(sensing_times, found, strict=True)]


def sensing_time(
    target_detection: float,
    target_false_alarm: float,
    *,
    snr_db: float = -20.0,
    detector: Detector = "map",
    bandwidth: float = 1e6,
    p_on: float = 0.5,
    sampling_rate: float = 2e6,
    false_alarm: float | None = None,
    detection: float = 0.9,
    sensors: int = 1,
    fusion: Fusion = "or",
) -> float:
    """Return the shortest sensing time in s with at least this P_d' and at most this P_f', or infinity.

    Args:
        target_detection: Least P_d'.
        target_false_alarm: Greatest P_f'.
        snr_db: Signal-to-noise ratio of the PU, dB.
        detector: Name of the detector.
        bandwidth: Bandwidth of a channel, Hz.
        p_on: Long-run probability that a PU is ON.
        sampling_rate: Samples per second.
        false_alarm: The detector's own P_f'; by default the target.
        detection: P_d' of `fixed`.
        sensors: Number of sensors.
        fusion: Rule that combines the sensors.

    Returns:
        The sensing time, s; infinity if none suffices.

    Raises:
        UsageError: A value makes no sense.
    """
    for name, value in (("target_detection", target_detection), ("target_false_alarm", target_false_alarm)):
        if not 0 <= value <= 1:
            raise UsageError(f"{name} is {value:g}; it must be a probability, 0 to 1")
    own = target_false_alarm if false_alarm is None else false_alarm
    values, rule = _parameters(
        detector, snr_db, bandwidth, p_on, sampling_rate, own, detection, sensors, fusion
    )
    return _core.sensing_time(detector, snr_db, values, rule, (target_detection, target_false_alarm))


def _parameters(
    detector: str,
    snr_db: float,
    bandwidth: float,
    p_on: float,
    sampling_rate: float,
    false_alarm: float,
    detection: float,
    sensors: int,
    fusion: str,
) -> tuple[dict[str, float], str | None]:
    if detector not in get_args(Detector):
        raise UsageError(f"unknown detector {detector!r}; take {', '.join(get_args(Detector))}")
    if fusion not in get_args(Fusion):
        raise UsageError(f"unknown fusion {fusion!r}; take {', '.join(get_args(Fusion))}")
    if not math.isfinite(snr_db):
        raise UsageError(f"snr_db is {snr_db}; it must be a number of decibels")
    _whole("sensors", sensors, 1, 10_000)
    values = {
        "bandwidth": bandwidth,
        "p_on": p_on,
        "sampling_rate": sampling_rate,
        "false_alarm": false_alarm,
        "detection": detection,
        "sensors": float(sensors),
    }
    # One report needs no rule.
    return values, fusion if sensors > 1 else None


def _variation(spans: Sequence[float]) -> float:
    mean = statistics.fmean(spans) if len(spans) > 1 else 0.0
    return statistics.stdev(spans, mean) / mean if mean > 0 else math.nan


def _guess(text: str, file: str) -> Format:
    """Return the format of a text from its first line with content."""
    # Spreadsheets put a byte order mark before the first name.
    lines = (line.split("#", 1)[0].strip().lstrip("\ufeff") for line in text.splitlines())
    first = next(filter(None, lines), "")
    if first.lower().startswith("time"):
        return "csv"
    if first.isdigit():
        return "map"
    if first and not first.startswith("<"):
        what = "a scenario, it seems" if first.startswith("[") or "=" in first else "something else"
        remedy = "name a PU-log, a map.txt or a CSV of occupancy" + (
            f" (for a scenario there are `cogtcp check {file}` and `cogtcp run {file}`)"
            if "seems" in what
            else ""
        )
        message = f"is not a log of primary users but {what}: it begins with {first[:40]!r}"
        raise ScenarioError(message, file=file, remedy=remedy, text=f"{file}: {message}; {remedy}")
    return "pu-log"


def _law(law: tuple[str, Sequence[float]]) -> tuple[str, list[float]]:
    name, values = law
    if name not in LAWS:
        raise UsageError(f"unknown law {name!r}; take {', '.join(LAWS)}")
    if len(values) != len(LAWS[name]):
        raise UsageError(f"the law {name} has {len(LAWS[name])} parameters: {', '.join(LAWS[name])}")
    for value, meaning in zip(values, LAWS[name], strict=True):
        _above_zero(**{f"{name}: {meaning}": value})
    return name, [float(value) for value in values]


def _scale(law: tuple[str, list[float]]) -> float:
    """Return a time in s of the order of a law's mean."""
    name, values = law
    return values[0] * values[1] if name == "gamma" else values[0]


def _not_too_many(intervals: float) -> None:
    if intervals > MOST_INTERVALS:
        raise UsageError(
            f"that would be about {intervals:.1g} ON times, and {MOST_INTERVALS:.0g} is the most; "
            f"shorten the duration, or lengthen the times"
        )


def _above_zero(**values: float) -> None:
    for name, value in values.items():
        if not (value > 0 and math.isfinite(value)):
            raise UsageError(f"{name} is {value:g}; it must be above zero")


def _whole(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UsageError(f"{name} is {value}; it must be a whole number, {least} to {most}")


def _channel_format(format: str) -> str:
    if format not in get_args(ChannelFormat):
        raise UsageError(f"unknown format {format!r}; take {', '.join(get_args(ChannelFormat))}")
    return format
