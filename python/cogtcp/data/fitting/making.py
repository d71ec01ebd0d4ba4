"""From files to a scenario."""

from __future__ import annotations

import bisect
import itertools
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp._errors import ScenarioError, UsageError
from cogtcp.data.fitting import connections, from_logs, iperf3, laws, logs, packets, quic, sigmf, sweeps
from cogtcp.data.fitting.checking import Held, seen
from cogtcp.data.fitting.estimate import Estimate, median, unknown
from cogtcp.data.fitting.link import ABOVE, LinkFit, fit_link
from cogtcp.data.fitting.quantity import Bounded
from cogtcp.data.fitting.result import Channel, Fit
from cogtcp.data.link_trace import LinkTrace
from cogtcp.model.scenario import DOUBT, Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cogtcp.data.fitting.capacity import RateLaw
    from cogtcp.data.fitting.connections import Connection
    from cogtcp.data.fitting.silences import Silences

#: What stands where the data cannot tell.
_DELAY_S, _RATE = 0.025, 10e6
#: How long a scenario of fitted silences runs at least, and in how many of their periods.
_LEAST_S, _PERIODS, _MOST_S = 30.0, 15, 300.0
#: So many silences of such a length, s, without a timetable are an incumbent's: radios sense for less.
_INCUMBENTS, _INCUMBENT_S = 3, 1.0
#: An interval of a silence is wide, and its reason is said, if its ends are apart by this factor.
_WIDE = 1.3
#: Losses so few that chance may have made them are none: share, and its lower end.
_NO_LOSS, _NO_LOSS_LOW = 1e-5, 1e-6
#: Ranges narrower than this factor are not worth drawing from.
_NARROW, _LOSS_NARROW = 1.01, 1.05
#: At least a tenth of a capture is fitted.
_MOST_HELD = 0.9
#: The least mean time between silences, s; characters that tell a file's kind; payload of a segment, B.
_LEAST_OPEN_S, _HEAD, _SEGMENT = 1e-3, 200, 1460
#: Of a capture shorter than this nothing is held out, s.
_HELD_S = 8.0


def make(
    files: Sequence[str | Path], name: str, transport: str, threshold: float | None, held_out: float
) -> Fit:
    """Read the files and fit; see `cogtcp.fit`."""
    if not files:
        raise UsageError("name the files to fit, as in cogtcp fit sender.pcapng")
    if not 0 <= held_out < _MOST_HELD:
        raise UsageError(f"held_out is {held_out:g}; write a share from 0 to below {_MOST_HELD:g}")
    fit = Fit(
        name or re.sub(r"[^\w.-]+", "-", Path(files[0]).name.split(".")[0]).strip("-.") or "fitted", transport
    )
    found: list[Connection] = []
    captures = [Path(file) for file in files if _is_capture(Path(file))]
    if captures:
        _captures(captures, fit, found)
    for file in files:
        if Path(file) not in captures:
            _read(Path(file), fit, found, threshold)
    if found:
        # A capture has TCP first.
        tcp = [connection for connection in found if not connection.probes] or found
        tcp.sort(key=lambda connection: -connection.packets)
        beside = [c for c in found if c.probes and c not in tcp]
        together = [*tcp, *beside]
        fit.link = fit_link(together)
        fit.notes += fit.link.notes
    # Probes of a log have a clock of their own, and stand alone.
    for probes in fit.probed:
        from_logs.merge(fit, probes)
    has_link = fit.link is not None or fit.trace is not None or fit.tests or fit.probed
    if not has_link and not fit.channels:
        raise UsageError("the files do not describe a link; give a capture, a log, a trace or occupancy")
    build(fit)
    if found and held_out > 0:
        _check(fit, together, held_out)
    return fit


def _is_capture(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return packets.is_capture(stream.read(16))
    except OSError:
        return False  # said where the file is read


def _captures(files: Sequence[Path], fit: Fit, found: list[Connection]) -> None:
    """Read the captures, together: two of them may hold one direction each."""
    for read in packets.read_all(files):
        name = " with ".join(read.names)
        fit.notes += [f"{name}: {note}" for note in read.notes]
        ours = connections.connections(read.packets)
        beside = connections.probes(read.echoes)
        if not ours and not beside:
            ours = quic.connections(read.datagrams)
        if not ours and not beside:
            raise UsageError(
                f"{name}: no connection in it carries {connections.LEAST_PACKETS} data packets; capture a "
                "longer transfer"
            )
        side = ours[0].side if ours else "sender"
        if side == "receiver":
            ours[0].others = connections.arrivals(read.echoes)
        count = (
            f"{len(read.packets)} TCP packets" if read.packets else f"{len(read.datagrams)} datagrams of QUIC"
        )
        what = f"capture at the {side}, {count}"
        fit.sources.append((name, what + (f", {beside[0].packets} pings" if beside else "")))
        for connection in (*ours, *beside):
            connection.same_clock = True
        found += [*ours, *beside]


def _read(file: Path, fit: Fit, found: list[Connection], threshold: float | None) -> None:
    """Read one file into the fit."""
    try:
        with file.open("rb") as stream:
            head = stream.read(4096)
    except OSError as error:
        raise UsageError(
            f"{file}: cannot be read: {error.strerror or error}; name a file with measurements"
        ) from None
    if not head:
        raise UsageError(f"{file}: is empty; give a file with measurements")
    text = logs.decoded(file.read_bytes())
    if text is None:
        raise UsageError(
            f"{file}: is neither a capture nor a text; give pcap, pcapng, a log of ping, irtt or iperf3, "
            "a trace, or occupancy"
        )
    log: logs.Log | None
    if text.lstrip()[:1] == "{" and not iperf3.is_stream(text):
        data = logs.parsed(text, file.name)
        if sigmf.is_meta(data):
            recording = sigmf.occupancy(data, file)
            fit.notes += recording.notes
            kept = fit.keep("occupancy.csv", recording.csv)
            _occupancy(file, recording.csv, fit, None, kept, recording.cuts)
            return
        log = logs.document(data, file.name)
    else:
        log = logs.text_log(text, file.name)
    if log is not None:
        from_logs.add(file, log, fit)
    elif sweeps.is_sweep(text):
        swept = sweeps.occupancy(text, file.name, threshold)
        fit.notes += swept.notes
        _occupancy(file, swept.csv, fit, None, fit.keep("occupancy.csv", swept.csv), swept.cuts)
    elif re.match(r"\s*time\s*[,;]", text) and "rate_bps" not in text[:_HEAD]:
        _occupancy(file, text, fit, threshold, str(file.resolve()))
    elif re.match(r"\s*on_s\s*,\s*off_s", text):
        _spans(file, text, fit)
    elif not re.match(r"[\s\d#+-]|time_s\b", text):
        raise UsageError(
            f"{file}: unknown kind of file; give pcap, pcapng, a log of ping, irtt or iperf3, a link trace, "
            "occupancy, or ON and OFF times"
        )
    else:
        fit.trace, fit.trace_file = LinkTrace.from_text(text, file=str(file)), str(file.resolve())
        fit.sources.append((file.name, f"link trace of {fit.trace.period_s:.4g} s"))


def _check(fit: Fit, found: list[Connection], share: float) -> None:
    """Simulate the scenario of the first part over the rest of the capture; say what it does not reproduce.

    A capture too short to hold a part back is checked on itself, if it has the connection's beginning.
    """
    main = found[0]
    link = fit.link
    assert link is not None  # noqa: S101
    if main.probes or main.quic or main.one_way:
        return
    start, end = main.data[0].time, main.data[-1].time
    early = None
    cut = end - (end - start) * share
    if end - start >= _HELD_S:
        early = [part for c in found if (part := c.until(cut)) is not None]
    # A trace replays what was measured: it says nothing of later rates, and is checked on itself.
    replayed = link.rate_law is not None and link.rate_law.name == "trace"
    if early and not early[0].probes and not replayed:
        trained = Fit(fit.name, fit.transport)
        trained.link = fit_link(early)
        build(trained)
        # Files of the trained scenario go with its fit.
        fit.trained = trained
        held = Held(
            trained.scenario, cut - start, end - cut, main.side, link.base, seen(found, cut, end, link.base)
        )
    elif main.opened and end > start:
        held = Held(
            fit.scenario,
            0.0,
            end - start,
            main.side,
            link.base,
            seen(found, start, end, link.base),
            inside=True,
        )
    else:
        return
    held.run()
    fit.held = held
    if held.doubt:
        build(fit)


def _occupancy(
    file: Path, text: str, fit: Fit, threshold: float | None, kept: str, cuts: Sequence[float] = ()
) -> None:
    """Take the channels of occupancy into the fit.

    Args:
        file: The file that was read.
        text: Occupancy as CSV.
        fit: The fit.
        threshold: Power from which on a channel is busy, dBm; None for states.
        kept: The file that the scenario reads.
        cuts: Times at which the measurement has a gap, s: what lasts across one is not whole.
    """
    from cogtcp.data.spectrum import PuActivity

    activity = PuActivity.from_text(text, "csv", file=str(file), threshold=threshold)
    fit.occupancy_file, fit.threshold = kept, threshold
    fit.sources.append((file.name, f"occupancy of {len(activity.users)} channels over {activity.end:.4g} s"))
    for user in activity.users:
        # The first and the last span are cut by the measurement.
        on = _whole((span for span in user.on if span[0] > 0 and span[1] < activity.end), cuts)
        off = _whole(((before[1], after[0]) for before, after in itertools.pairwise(user.on)), cuts)
        fit.channels.append(
            Channel(user.band, user.duty_cycle, tuple(on), tuple(off), laws.fit_laws(on), laws.fit_laws(off))
        )
    few = [str(c.band) for c in fit.channels if not c.on_laws or not c.off_laws]
    if few:
        fit.notes.append(
            f"channel {', '.join(few)}: fewer than {laws.LEAST} whole ON or OFF times; no law is fitted"
        )


def _whole(spans: Iterable[tuple[float, float]], cuts: Sequence[float]) -> list[float]:
    """Return the lengths of the spans that no cut is within."""
    return [end - start for start, end in spans if not any(start <= cut <= end for cut in cuts)]


def _spans(file: Path, text: str, fit: Fit) -> None:
    on, off = [], []
    for number, line in enumerate(text.splitlines()[1:], start=2):
        if not line.strip():
            continue
        try:
            one, other = map(float, line.split(","))
        except ValueError:
            raise UsageError(f"{file}:{number}: write an ON and an OFF time in s, as in 0.5,1.25") from None
        if one <= 0 or other <= 0:
            raise UsageError(f"{file}:{number}: ON and OFF times are above 0 s")
        on.append(one)
        off.append(other)
    if not on:
        raise UsageError(f"{file}: has no ON and OFF times; write one of each a line")
    duty = math.fsum(on) / (math.fsum(on) + math.fsum(off))
    fit.sources.append((file.name, f"{len(on)} ON and OFF times"))
    fit.channels.append(Channel(1, duty, tuple(on), tuple(off), laws.fit_laws(on), laws.fit_laws(off)))


def build(fit: Fit) -> None:
    """Write the scenario of the estimates, with their sources as comments."""
    estimates = _estimates(fit)
    fit.estimates = estimates
    by_name = {estimate.name: estimate for estimate in estimates}
    doubt = fit.doubt
    lines = [
        *([f"# {DOUBT}{doubt}."] if doubt else []),
        f"# Fitted by cogtcp fit from {', '.join(name for name, _ in fit.sources) or 'measurements'}.",
        "# Each value has its 95 % interval and its source; unknown values are marked.",
        *(f"# Note: {note}" for note in fit.notes),
        "",
        f'name = "{fit.name}"',
        f'description = "{_description(fit, doubt)}"' if fit.sources else "",
        "",
    ]
    silences = fit.link.silences if fit.link is not None else None
    duration = _duration(fit)
    lines += ["[run]", f'duration = "{duration:g} s"', "seed = 1", 'sample_interval = "100 ms"', ""]
    if fit.link is not None and fit.link.flows:
        lines += [
            "# The receiver is assumed to be a Linux host.",
            "[tcp]",
            f'segment_size = "{fit.segment} B"',
        ]
        lines += ['delayed_ack = "linux"', *_window(fit.link), ""]
    lines += from_logs.window(fit)
    lines += _link(fit, by_name)
    if fit.channels:
        lines += _users(fit)
    elif silences is not None:
        lines += _radio(fit, by_name)
    else:
        lines += from_logs.radio(fit, by_name)
    flows = fit.link.flows if fit.link is not None and fit.link.flows else from_logs.streams(fit)
    lines += [
        "",
        "[[flow]]",
        'from = "sender"',
        'to = "receiver"',
        f'transport = "{fit.transport}"',
        f"count = {flows}",
        *_traffic(fit.link),
        "",
    ]
    fit.toml = "\n".join(lines)
    try:
        fit.scenario = Scenario.from_toml(fit.toml, file=str(Path.cwd() / f"{fit.name}.toml"))
        fit.scenario.check()
    except ScenarioError as error:
        raise UsageError(f"the fit is not a valid scenario: {error}") from None
    fit.ranges = _ranges(fit, by_name)


def _description(fit: Fit, doubt: str) -> str:
    said = f"Fitted from {_plain(', '.join(name for name, _ in fit.sources))}"
    # The sentence is the key by which `advise` knows: it goes wherever the scenario goes.
    return f"{said}. {DOUBT}{_plain(doubt)}." if doubt else said


def _window(link: LinkFit) -> list[str]:
    limit = link.limit
    if limit is None or limit.by != "window":
        return ["window_tuning = true"]
    return [
        f"# The receive window limited the transfer: {limit.how}.",
        f'receive_buffer = "{max(round(limit.value), 2 * _SEGMENT)} B"',
    ]


def _traffic(link: LinkFit | None) -> list[str]:
    if link is None or link.limit is None or link.limit.by != "application":
        return []
    return [
        f"# The application limited the transfer: {link.limit.how}.",
        f'traffic = {{ rate = "{round(link.limit.value / max(1, link.flows))} bit/s" }}',
    ]


def _plain(text: str) -> str:
    return text.replace("\\", "/").replace('"', "'")


def _duration(fit: Fit) -> float:
    silences = fit.link.silences if fit.link is not None else None
    wanted = _LEAST_S
    if silences is not None:
        period = silences.period
        if math.isnan(period):
            period = silences.length + (median(silences.opens) if silences.opens else 0.0)
        wanted = _PERIODS * period
    elif (probed := from_logs.silent(fit)) is not None and probed.silences is not None:
        usual = sum(e.value for e in fit.estimates if e.name in ("silence", "open", "period") and e.known)
        wanted = _PERIODS * max(usual, probed.silences.length)
    return float(round(min(max(wanted, _LEAST_S), _MOST_S)))


def _estimates(fit: Fit) -> list[Estimate]:
    """Return all parameters, known and unknown."""
    found: list[Estimate] = []
    link = fit.link
    if link is not None:
        found = [
            link.delay,
            *([link.jitter] if link.jitter is not None else []),
            link.capacity,
            *_limits(link),
            link.queue,
            link.loss,
            link.run,
            *_of_silences(link),
        ]
    else:
        found = from_logs.estimates(fit, _DELAY_S)
    if fit.trace is not None:
        value = fit.trace.mean_bps
        from_logs.put(
            found,
            Estimate(
                "capacity",
                value,
                math.nan,
                math.nan,
                "bit/s",
                "mean of the trace, which the scenario replays",
            ),
        )
    from_logs.add_tests(fit, found, _DELAY_S)
    return found


def _poisson(count: int, mean: float) -> tuple[float, float]:
    """Return the 95 % interval of a mean time of which `count` ended (Byar's approximation)."""
    low = count * (1 - 1 / (9 * count) - 1.96 / (3 * math.sqrt(count))) ** 3
    high = (count + 1) * (1 - 1 / (9 * (count + 1)) + 1.96 / (3 * math.sqrt(count + 1))) ** 3
    return mean * count / high, mean * count / max(low, 1e-9)


def _limits(link: LinkFit) -> list[Estimate]:
    """Return what limited the transfer, and how packets come, where the data show it."""
    found = []
    if link.limit is not None and link.limit.by == "window":
        value = link.limit.value
        found.append(Estimate("receive window", value, math.nan, math.nan, "B", link.limit.how))
    elif link.limit is not None and link.limit.by == "application":
        value = link.limit.value
        found.append(Estimate("application", value, math.nan, math.nan, "bit/s", link.limit.how))
    in_batches = link.rate_fit.batches if link.rate_fit is not None else None
    if in_batches is not None:
        how = (
            f"packets come {in_batches.size:.0f} at a time, as with interrupts, A-MPDU or uplink grants; "
            'scenarios model grants as access = "scheduled", which this one does not'
        )
        spacing = in_batches.spacing
        found.append(Estimate("batches", spacing, 0.5 * spacing, in_batches.most, "s", how))
    return found


def _of_silences(link: LinkFit) -> list[Estimate]:
    silences = link.silences
    if silences is None:
        how = "no silence was seen, and a longer one would show"
        if math.isnan(link.hidden_s):
            return [unknown("silence", "s", "no silence was seen; the scenario has none")]
        bound = Bounded("s", how, at_most=link.hidden_s)
        return [Estimate.of("silence", bound, "the scenario has none")]
    count = len(silences.gaps)
    if math.isnan(silences.period):
        law = "of one length" if silences.fixed else "of different lengths"
        how = f"{count} silences {law}, at irregular times"
    else:
        how = f"{count} silences at regular times, all cycles overlaid"
    if silences.mode == "drop" and silences.high > _WIDE * max(silences.low, 1e-9):
        how += "; the interval lies between a lost packet and one that arrived"
    found = [Estimate("silence", silences.length, silences.low, silences.high, "s", how)]
    if not math.isnan(silences.period):
        half = silences.period_error
        how = f"line through the beginnings of {silences.on_grid} silences"
        found.append(
            Estimate("period", silences.period, silences.period - half, silences.period + half, "s", how)
        )
    elif not silences.opens:
        how = "one silence in the capture shows no law; the scenario has exponential times of this mean"
        found.append(Estimate.of("open", Bounded("s", how, at_least=_open_mean(link, silences) / 4)))
    else:
        mean = _open_mean(link, silences)
        low, high = _poisson(len(silences.gaps), mean)
        best = laws.fit_laws(silences.opens)
        how = (
            f"mean time between them; best law by AIC: {best[0].describe()}"
            if best
            else "mean time between them"
        )
        found.append(Estimate("open", mean, low, high, "s", how))
    share = silences.sure
    did = "held packets" if silences.mode == "hold" else "lost packets"
    how = f"{share * 100:.0f} % of the silences {did}"
    found.append(Estimate(f"silences {silences.mode}", share, math.nan, math.nan, "share", how))
    return found


def _link(fit: Fit, by_name: dict[str, Estimate]) -> list[str]:
    delay, capacity, queue, loss = (by_name.get(name) for name in ("delay", "capacity", "queue", "loss"))
    delay_s = delay.value if delay is not None and delay.known else _DELAY_S
    if delay is not None and delay.bound is not None and delay.bound.at_most is not None:
        delay_s = delay.bound.at_most
    rate = _RATE
    if capacity is not None and capacity.known:
        rate = capacity.value
    elif capacity is not None and capacity.bound is not None and capacity.bound.at_least is not None:
        rate = ABOVE * capacity.bound.at_least
    bdp = max(2.0, rate * 2 * delay_s / 8 / fit.packet_bytes)
    packets_ = bdp
    if queue is not None and queue.known:
        packets_ = queue.value
    elif queue is not None and queue.bound is not None:
        packets_ = max(bdp, queue.bound.at_least or 0.0)
    loss_share = loss.value if loss is not None and loss.known else 0.0
    if fit.link is not None and loss is not None and loss.bound is not None:
        loss_share = fit.link.loss_share
    # Losses so few that chance may have made them.
    if loss is not None and loss.known and loss.low < _NO_LOSS_LOW and loss.value < _NO_LOSS:
        loss_share = 0.0
    fields = [f'rate = "{round(rate)} bit/s"']
    law = fit.link.rate_law if fit.link is not None else None
    if fit.trace is not None:
        fields.append(f'trace = "{_plain(fit.trace_file)}"')
    elif law is not None and fit.link is not None and fit.link.silences is None and not fit.channels:
        fields.append(f'trace = "{_plain(fit.keep("rates.csv", _rates_text(fit.link, law)))}"')
    fields += [
        f'delay = "{max(1, round(delay_s * 1e9))} ns"',
        f'queue = "{max(1, round(packets_))} packets"',
        f"loss = {loss_share:.6g}",
        "reverse_loss = 0",
    ]
    losses = fit.link.loss_law if fit.link is not None else None
    if losses is not None and losses.name == "gilbert-elliott" and loss_share > 0:
        fields.insert(-1, f"loss_run = {max(1.0, losses.run):.4g}")
    run, back = by_name.get("loss run"), by_name.get("reverse capacity")
    if back is not None and back.known:
        fields.append(f'reverse_rate = "{round(back.value)} bit/s"')
    told = (
        delay,
        capacity,
        back,
        *(by_name.get(n) for n in ("application", "receive window", "batches")),
        queue,
        loss,
        run,
    )
    lines = [f"# {e.name}: {e.describe()}. {e.how}" for e in told if e is not None]
    return [*lines, "[topology.single_hop]", f"link = {{ {', '.join(fields)} }}", ""]


def _rates_text(link: LinkFit, law: RateLaw) -> str:
    """Return what the link replays: the levels of steps or states, or the rates themselves."""
    # The link sends half of the round-trip time before a sender sees the answer.
    origin = min(link.started + (link.base / 2 if link.side == "sender" else 0.0), link.rates[0][0])
    lines = ["time_s,rate_bps"]
    if link.rates[0][0] > origin:
        lines.append(f"0.000000,{round(link.rates[0][2])}")
    for number, (start, _, rate) in enumerate(link.rates):
        level = rate
        if law.name == "steps":
            level = law.levels[bisect.bisect_right(law.starts, number) - 1]
        elif law.name == "markov":
            # By ratio, as the levels were fitted in logarithms.
            level = min(law.levels, key=lambda each: abs(math.log(each / rate)))
        lines.append(f"{start - origin:.6f},{round(level)}")
    return "\n".join([*lines, f"{link.rates[-1][1] - origin:.6f},0", ""])


def _radio(fit: Fit, by_name: dict[str, Estimate]) -> list[str]:
    link = fit.link
    assert link is not None  # noqa: S101
    silences = link.silences
    assert silences is not None  # noqa: S101
    if math.isnan(silences.period) and len(silences.gaps) >= _INCUMBENTS and silences.length >= _INCUMBENT_S:
        return _incumbents(fit, link, silences, by_name)
    names = ("silence", "period", "open", f"silences {silences.mode}")
    lines = [f"# {e.name}: {e.describe()}. {e.how}" for name in names if (e := by_name.get(name)) is not None]
    off = f'"{_ns(silences.length)}"'
    if not math.isnan(silences.period):
        on = f'"{_ns(max(silences.period - silences.length, 1e-6))}"'
    else:
        opens = silences.opens
        mean = _open_mean(link, silences)
        best = laws.fit_laws(opens)
        on = f'{{ exponential = "{_ns(mean)}" }}'
        if best and best[0].name != "exponential":
            lines.append(
                f"# Times between silences: {best[0].describe()} by AIC. Radios do not support this law: "
                "exponential is used."
            )
        if len(silences.gaps) == 1:
            lines.append(
                "# One silence was seen: how often they come is a guess, once in the length of the capture."
            )
        if not silences.fixed:
            mean_length = math.fsum(silences.lengths) / len(silences.lengths)
            off = f'{{ exponential = "{_ns(mean_length)}" }}'
    lines += ["[[radio]]", 'name = "radio"', 'links = ["link"]', f'silence = "{silences.mode}"']
    lines.append(f"sensing = {{ off = {off}, on = {on} }}")
    if link.rates:
        rates = [rate for _, _, rate in link.rates]
        low, high = min(rates), max(rates)
        said = f": {link.rate_law.describe()}" if link.rate_law is not None else ""
        lines.append(f"# The rate changes from silence to silence, {len(rates)} stretches{said}.")
        lines.append(f'channel = {{ range = ["{round(low)} bit/s", "{round(high)} bit/s"] }}')
    return lines


def _incumbents(fit: Fit, link: LinkFit, silences: Silences, by_name: dict[str, Estimate]) -> list[str]:
    """Return the spectrum of one channel whose primary user makes the silences, and a radio that obeys."""
    off, on = laws.fit_laws(silences.opens), laws.fit_laws(silences.lengths)
    mean_on = math.fsum(silences.lengths) / len(silences.lengths)
    exponential = [f'{{ exponential = "{_ns(mean)}" }}' for mean in (mean_on, _open_mean(link, silences))]
    # Exponential, unless a law is better by more than chance: 2 of AIC for each parameter.
    spans = [
        _span(found) if found and found[0].aic + 2 < _exponential_aic(found) else "" for found in (on, off)
    ]
    spans = [span or usual for span, usual in zip(spans, exponential, strict=True)]
    share = 100 * math.fsum(silences.lengths) / link.lasted
    return [
        *(f"# {e.name}: {e.describe()}. {e.how}" for n in ("silence", "open") if (e := by_name.get(n))),
        f"# Silences of seconds at irregular times: incumbents, busy {share:.0f} % of the time.",
        "[spectrum]",
        "bands = 1",
        f'channels = {{ uniform = "{round(fit.capacity)} bit/s" }}',
        f"pu = {{ laws = {{ on = {spans[0]}, off = {spans[1]} }} }}",
        "",
        "[[radio]]",
        'name = "radio"',
        'links = ["link"]',
        f'silence = "{silences.mode}"',
        "",
        "# The radio is told at once when the incumbent comes and goes: no sensing of its own interrupts it.",
        "[radio.cr]",
        'access = "none"',
        'switching_delay = "1 ms"',
        "",
        "[radio.cr.regulation.cbrs]",
        'heartbeat = "100 ms"',
        'transmit = "240 s"',
        'stop = "1 ms"',
        'answer = "1 ms"',
        'esc = "0 s"',
        'dpa = "suspend"',
    ]


def _exponential_aic(found: Sequence[laws.Law]) -> float:
    return next((law.aic for law in found if law.name == "exponential"), math.inf)


def _open_mean(link: LinkFit, silences: Silences) -> float:
    """Return the mean time between silences over all of the capture, not within a cluster, s."""
    closed = math.fsum(silences.lengths)
    return max((link.lasted - closed) / len(silences.gaps), _LEAST_OPEN_S)


def _ns(seconds: float) -> str:
    return f"{max(1, round(seconds * 1e9))} ns"


def _users(fit: Fit) -> list[str]:
    """Return the spectrum and the radio of measured occupancy."""
    lines = []
    for channel in fit.channels:
        for kind, found in (("ON", channel.on_laws), ("OFF", channel.off_laws)):
            said = found[0].describe() if found else "too few whole times for a law"
            lines.append(f"# channel {channel.band}, {kind}: {said}")
        if channel.rates:
            lines.append(f"# channel {channel.band}: {channel.rates}")
    rate = fit.capacity
    lines += ["[spectrum]", f"bands = {len(fit.channels)}", "channels_per_band = 1"]
    lines.append(f'channels = {{ uniform = "{round(rate)} bit/s" }}')
    first = fit.channels[0]
    spans = [_span(found) for found in (first.on_laws, first.off_laws)]
    if len(fit.channels) == 1 and all(spans):
        lines.append(f"pu = {{ laws = {{ on = {spans[0]}, off = {spans[1]} }} }}")
    elif fit.occupancy_file:
        threshold = f', threshold = "{fit.threshold:g} dBm"' if fit.threshold is not None else ""
        lines.append("# Each channel by its own ON and OFF times, drawn again for each seed.")
        lines.append(
            f'pu = {{ trace = {{ file = "{_plain(fit.occupancy_file)}"{threshold}, model = "empirical" }} }}'
        )
    else:
        on, off = (math.fsum(spans_) / len(spans_) for spans_ in (first.on, first.off))
        lines.append(f"pu = {{ exponential = {{ alpha = {1 / on:.6g}, beta = {1 / off:.6g} }} }}")
    lines += [
        "",
        "# The data do not show the CR users: the times of their cycle are defaults.",
        "[[radio]]",
        'name = "cr"',
        'links = ["link"]',
        "",
        "# The channel is the link's own while it is open: the data do not show a MAC.",
        "[radio.cr]",
        'access = "none"',
        'sensing_time = "100 ms"',
        'transmission_time = "1 s"',
        'switching_delay = "1 ms"',
        'detector = "perfect"',
    ]
    return lines


def _span(found: Sequence[laws.Law]) -> str:
    """Return the best law as a scenario writes it; empty where it has none such."""
    if not found:
        return ""
    law = found[0]
    if law.name == "exponential":
        return f'{{ exponential = "{_ns(law.mean)}" }}'
    if law.name == "gamma":
        shape, scale = law.parameters["shape"], _ns(law.parameters["scale"])
        return f'{{ gamma = {{ shape = {shape:.6g}, scale = "{scale}" }} }}'
    if law.name == "log-normal":
        middle, sigma = _ns(law.parameters["median"]), law.parameters["sigma"]
        return f'{{ log_normal = {{ median = "{middle}", sigma = {sigma:.6g} }} }}'
    return ""


def _ranges(fit: Fit, by_name: dict[str, Estimate]) -> dict[str, str]:
    """Return the uncertain fields of the scenario as ranges, for `advise`."""
    found: dict[str, str] = {}
    link = "topology.single_hop.link"
    has_radio = fit.link is not None and fit.link.silences is not None and not fit.channels
    places = {
        "delay": (f"{link}.delay", 1e9, "ns"),
        "queue": (f"{link}.queue", 1.0, "packets"),
        "silence": ("radio.0.sensing.off", 1e9, "ns"),
    }
    probed = None if fit.channels else from_logs.silent(fit)
    if probed is not None and probed.silences is not None:
        # Few silences leave their frequency open.
        places["open"] = ("radio.0.sensing.on.exponential", 1e9, "ns")
        has_radio = probed.silences.fixed
    # The rates of a radio's channels stand over the link's, and so do those of a trace.
    if fit.trace is None and not (fit.link is not None and fit.link.rates):
        places["capacity"] = (f"{link}.rate", 1.0, "bit/s")
    for name, (path, scale, unit) in places.items():
        estimate = by_name.get(name)
        if estimate is not None and estimate.bound is not None:
            least, most = estimate.bound.at_least, estimate.bound.at_most
            if name == "capacity" and least:
                # Up to as far above as the scenario's value is above the bound.
                found[path] = f"{round(least)} {unit}..{round(least * ABOVE**2)} {unit}"
            elif name == "delay" and most:
                found[path] = f"{max(1, round(most / ABOVE * scale))} {unit}..{round(most * scale)} {unit}"
            elif name == "silence" and least and has_radio:
                found[path] = f"{round(least * scale)} {unit}..{round(least * ABOVE * scale)} {unit}"
            continue
        if estimate is None or not estimate.known or not math.isfinite(estimate.low + estimate.high):
            continue
        alike = probed is not None or (fit.link and fit.link.silences and fit.link.silences.fixed)
        if name == "silence" and (not has_radio or not alike):
            continue
        low, high = round(max(estimate.low, 0.0) * scale), round(estimate.high * scale)
        if low >= 1 and high > low * _NARROW:
            found[path] = f"{low} {unit}..{high} {unit}"
    loss = by_name.get("loss")
    if loss is not None and loss.known and _NO_LOSS_LOW < loss.low < loss.high / _LOSS_NARROW:
        found[f"{link}.loss"] = f"{loss.low:.6g}..{min(loss.high, 0.5):.6g}"
    return found
