"""The scenario that `cogtcp fit` writes of its estimates, line by line, with values derived by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp import UsageError
from cogtcp.data.fitting import from_logs, making
from cogtcp.data.fitting.capacity import RateLaw
from cogtcp.data.fitting.estimate import Estimate
from cogtcp.data.fitting.laws import Law
from cogtcp.data.fitting.limits import Limit
from cogtcp.data.fitting.losses import LossLaw
from cogtcp.data.fitting.probing import ProbeFit
from cogtcp.data.fitting.quantity import Bounded, Measured, Quantity, Unknown
from cogtcp.data.fitting.result import Channel, Fit
from cogtcp.data.fitting.silences import Gap, Silences

if TYPE_CHECKING:
    from pathlib import Path

NAN = math.nan


def link(**given: Any) -> Any:
    """Return what a capture says of a link: a round trip of 40 ms, 20 s long, nothing else."""
    told: dict[str, Any] = {
        "limit": None, "flows": 1, "silences": None, "rates": [], "rate_law": None, "loss_law": None,
        "loss_share": 0.0, "hidden_s": NAN, "base": 0.04, "started": 0.0, "lasted": 20.0, "side": "sender",
        "packet_bytes": 1500, "rate_fit": None,
    }  # fmt: skip
    return SimpleNamespace(**{**told, **given})


def fit(**given: Any) -> Fit:
    found = Fit("x")
    for name, value in given.items():
        setattr(found, name, value)
    return found


def known(name: str, value: float, low: float = NAN, high: float = NAN, unit: str = "s") -> Estimate:
    return Estimate(name, value, low, high, unit, "so")


def at_most(name: str, value: float, unit: str = "s") -> Estimate:
    return Estimate.of(name, Bounded(unit, "so", at_most=value))


def at_least(name: str, value: float, unit: str = "s") -> Estimate:
    return Estimate.of(name, Bounded(unit, "so", at_least=value))


def gaps(*spans: tuple[float, float], held: bool = True) -> tuple[Gap, ...]:
    return tuple(Gap(start, end, held) for start, end in spans)


def fields(found: Fit, *estimates: Estimate) -> list[str]:
    """Return the fields of the link that a scenario has."""
    lines = making._link(found, {each.name: each for each in estimates})
    (line,) = [line for line in lines if line.startswith("link = ")]
    return line.removeprefix("link = { ").removesuffix(" }").split(", ")


def test_the_interval_of_a_mean_time_is_that_of_a_poisson_count() -> None:
    """Exact (Garwood 1936): of 10 events 4.795 to 18.390, of one at most 5.572; Byar's are within 0.2 %."""
    low, high = making._poisson(10, 2.0)
    assert (low, high) == pytest.approx((2 * 10 / 18.390, 2 * 10 / 4.795), rel=2e-3)
    assert making._poisson(1, 3.0)[0] == pytest.approx(3 / 5.5716, rel=2e-3)


def test_a_span_that_a_pause_cuts_is_not_whole() -> None:
    spans = [(0.0, 1.0), (2.0, 4.0), (5.0, 5.5)]
    assert making._whole(spans, []) == [1.0, 2.0, 0.5]
    assert making._whole(spans, [3.0]) == [1.0, 0.5]
    assert making._whole(spans, [2.0]) == making._whole(spans, [4.0]) == [1.0, 0.5]
    assert making._whole(spans, [4.5, 1.5]) == [1.0, 2.0, 0.5]


def test_on_and_off_times_have_a_duty_cycle(tmp_path: Path) -> None:
    found = Fit("x")
    making._spans(tmp_path / "a.csv", "on_s,off_s\n0.5,1.5\n\n1,2\n", found)
    (channel,) = found.channels
    assert (channel.band, channel.on, channel.off) == (1, (0.5, 1.0), (1.5, 2.0))
    assert channel.duty == pytest.approx(1.5 / 5)
    assert found.sources == [("a.csv", "2 ON and OFF times")]
    for text, says in (
        ("on_s,off_s\n1,2\nx,2\n", r"a\.csv:3: write an ON"),
        ("on_s,off_s\n0,2\n", r"a\.csv:2: .* above 0 s"),
        ("on_s,off_s\n1,2\n1,-2\n", r"a\.csv:3: .* above 0 s"),
        ("on_s,off_s\n", "has no ON and OFF times"),
    ):
        with pytest.raises(UsageError, match=says):
            making._spans(tmp_path / "a.csv", text, found)


def test_a_law_is_written_as_a_scenario_has_it() -> None:
    def law(name: str, mean: float = 1.5, **parameters: float) -> list[Law]:
        return [Law(name, parameters, 0.0, 0.0, mean)]

    assert making._span([]) == ""
    assert making._span(law("exponential")) == '{ exponential = "1500000000 ns" }'
    assert making._span(law("gamma", shape=2.5, scale=0.4)) == (
        '{ gamma = { shape = 2.5, scale = "400000000 ns" } }'
    )
    assert making._span(law("log-normal", median=0.25, sigma=0.75)) == (
        '{ log_normal = { median = "250000000 ns", sigma = 0.75 } }'
    )
    assert making._span(law("weibull", shape=2.0, scale=1.0)) == ""
    assert making._ns(2.6e-9) == from_logs._ns(2.6e-9) == "3 ns"
    assert making._ns(0.0) == from_logs._ns(0.0) == "1 ns", "no time of zero"


def test_the_link_has_what_was_measured() -> None:
    """12 Mbit/s and a round trip of 40 ms are 40 packets of 1,500 bytes: the queue where none is known."""
    delay, rate = known("delay", 0.02), known("capacity", 12e6, unit="bit/s")
    assert fields(fit(link=link()), delay, rate) == [
        'rate = "12000000 bit/s"', 'delay = "20000000 ns"', 'queue = "40 packets"', "loss = 0",
        "reverse_loss = 0",
    ]  # fmt: skip
    # Nothing is known: 10 Mbit/s and 25 ms, 41.7 packets.
    assert fields(fit())[:3] == [
        'rate = "10000000 bit/s"', 'delay = "25000000 ns"', 'queue = "42 packets"',
    ]  # fmt: skip
    tiny = fields(fit(link=link()), known("delay", 1e-12), rate)
    assert tiny[1:3] == ['delay = "1 ns"', 'queue = "2 packets"'], "two packets at least"
    back = known("reverse capacity", 2e6, unit="bit/s")
    assert fields(fit(link=link()), delay, rate, back)[-1] == 'reverse_rate = "2000000 bit/s"'


def test_the_link_has_bounds_where_nothing_is_measured() -> None:
    # Four times the rate that arrived: the flow stays limited as it was.
    found = fields(fit(link=link()), at_most("delay", 0.03), at_least("capacity", 3e6, "bit/s"))
    assert found[:3] == ['rate = "12000000 bit/s"', 'delay = "30000000 ns"', 'queue = "60 packets"']
    delay, rate = known("delay", 0.02), known("capacity", 12e6, unit="bit/s")
    for queue, packets in (
        (known("queue", 25.0, unit="packets"), 25),
        (at_least("queue", 100.0, "packets"), 100),
        (at_least("queue", 10.0, "packets"), 40),
        (at_most("queue", 10.0, "packets"), 40),
        (known("queue", 0.2, unit="packets"), 1),
    ):
        assert fields(fit(link=link()), delay, rate, queue)[2] == f'queue = "{packets} packets"'


def test_losses_that_chance_may_have_made_are_none() -> None:
    def loss(value: float, low: float) -> str:
        return fields(fit(link=link()), known("loss", value, low, 2 * value, "share"))[3]

    assert loss(0.01, 0.005) == "loss = 0.01"
    assert loss(0.9e-5, 0.0) == "loss = 0"
    assert loss(0.9e-5, 2e-6) == "loss = 9e-06", "its interval is above chance"
    assert loss(1.1e-5, 0.0) == "loss = 1.1e-05", "too many for chance"
    bounded = fields(fit(link=link(loss_share=0.004)), at_most("loss", 0.008, "share"))
    assert bounded[3] == "loss = 0.004"


def test_losses_in_runs_have_their_run() -> None:
    def of(name: str, back: float, loss: float) -> list[str]:
        law = LossLaw(name, 0.01, back, 1.0, 4.0, 3.0, 9)
        share = known("loss", loss, loss / 2, 2 * loss, "share")
        return fields(fit(link=link(loss_law=law)), share)[3:]

    assert of("gilbert-elliott", 0.4, 0.02) == ["loss = 0.02", "loss_run = 2.5", "reverse_loss = 0"]
    assert of("gilbert-elliott", 1.0, 0.02)[1] == "loss_run = 1"
    assert of("bernoulli", 0.4, 0.02) == ["loss = 0.02", "reverse_loss = 0"]
    assert of("gilbert-elliott", 0.4, 0.0) == ["loss = 0", "reverse_loss = 0"]


def test_a_window_and_an_application_that_limit_are_in_the_scenario() -> None:
    def lines(limit: Limit | None, flows: int = 1) -> list[str]:
        ours = link(limit=limit, flows=flows)
        return [line for line in (*making._window(ours), *making._traffic(ours)) if line[0] != "#"]

    assert lines(None) == lines(Limit("link", NAN, "so")) == ["window_tuning = true"]
    assert lines(Limit("window", 20_000.4, "so")) == ['receive_buffer = "20000 B"']
    assert lines(Limit("window", 1000.0, "so")) == ['receive_buffer = "2920 B"'], "two segments at least"
    application = Limit("application", 3e6, "so")
    assert lines(application, 3)[1:] == ['traffic = { rate = "1000000 bit/s" }']
    assert lines(application, 0)[1:] == ['traffic = { rate = "3000000 bit/s" }']
    assert making._traffic(None) == []
    shown = [(e.name, e.value, e.unit) for limit in ("window", "application")
             for e in making._limits(link(limit=Limit(limit, 7.0, "so")))]  # type: ignore[arg-type]  # fmt: skip
    assert shown == [("receive window", 7.0, "B"), ("application", 7.0, "bit/s")]


def test_the_link_replays_its_rates_from_when_it_sent() -> None:
    rates = [(1.5, 2.5, 3.9e6), (2.5, 3.5, 4.1e6), (3.5, 4.5, 8e6)]

    def text(law: RateLaw, **given: Any) -> list[list[float]]:
        lines = making._rates_text(link(**{"rates": rates, "started": 1.0, "base": 0.2, **given}), law)
        head, *rest, last = lines.split("\n")
        assert (head, last) == ("time_s,rate_bps", "")
        return [[float(each) for each in line.split(",")] for line in rest]

    trace = RateLaw("trace", ())
    # Half of the round-trip time before a sender sees the answer; what came before has the first rate.
    assert text(trace) == [[0, 3.9e6], [0.4, 3.9e6], [1.4, 4.1e6], [2.4, 8e6], [3.4, 0]]
    assert text(trace, side="receiver")[1:] == [[0.5, 3.9e6], [1.5, 4.1e6], [2.5, 8e6], [3.5, 0]]
    # The first rate began before: no line of its own.
    assert text(trace, started=1.45) == [[0, 3.9e6], [1, 4.1e6], [2, 8e6], [3, 0]]
    steps = RateLaw("steps", (4e6, 6e6), starts=(0, 2))
    assert [rate for _, rate in text(steps, started=1.45)] == [4e6, 4e6, 6e6, 0]
    # By ratio: 4 is as far from 2 as from 8.
    chain = RateLaw("markov", (2e6, 8e6))
    assert [rate for _, rate in text(chain, started=1.45)] == [2e6, 8e6, 8e6, 0]


def test_a_scenario_lasts_for_fifteen_of_its_periods() -> None:
    def lasts(**given: Any) -> float:
        return making._duration(fit(link=link(silences=Silences("hold", 1.0, **given))))

    some = gaps((0.0, 1.0), (4.0, 5.0), (6.0, 7.0))
    assert lasts(gaps=some, period=4.0, length=1.0) == 60
    assert lasts(gaps=some, length=1.0) == 15 * (1 + 2), "the median time between, and a length"
    assert lasts(gaps=some[:1], length=3.0) == 45
    assert lasts(gaps=some, period=1.0, length=0.1) == 30, "the shortest"
    assert lasts(gaps=some, period=100.0, length=0.1) == 300, "the longest"
    assert making._duration(fit(link=link())) == making._duration(fit()) == 30


def test_what_is_known_of_silences_by_hand() -> None:
    """Four silences of 1 s in 20 s: open for 16 s, 4 s each."""

    def of(silences: Silences | None, **given: Any) -> dict[str, Estimate]:
        return {each.name: each for each in making._of_silences(link(silences=silences, **given))}

    four = gaps((1.0, 2.0), (5.0, 6.0), (8.0, 9.0), (15.0, 16.0))
    found = of(Silences("hold", 0.75, four, length=1.0, low=0.9, high=1.1, fixed=True))
    assert list(found) == ["silence", "open", "silences hold"]
    length, opens, share = found.values()
    assert (length.value, length.low, length.high) == (1.0, 0.9, 1.1)
    assert length.how == "4 silences of one length, at irregular times"
    # Exact, of a count of four: 1.0899 to 10.2416.
    assert (opens.value, opens.low) == pytest.approx((4.0, 16 / 10.2416), rel=3e-3)
    assert opens.high == pytest.approx(16 / 1.0899, rel=0.02)
    assert (share.value, share.how) == (0.75, "75 % of the silences held packets")
    loose = of(Silences("drop", 1.0, four, length=1.0, low=0.5, high=0.66))["silence"]
    assert loose.how == (
        "4 silences of different lengths, at irregular times; "
        "the interval lies between a lost packet and one that arrived"
    )
    assert "interval" not in of(Silences("drop", 1.0, four, length=1.0, low=0.5, high=0.64))["silence"].how
    assert "interval" not in of(Silences("hold", 1.0, four, length=1.0, low=0.5, high=0.66))["silence"].how
    timed = of(Silences("drop", 1.0, four, period=4.0, period_error=0.1, length=1.0, low=0.9, high=1.1,
                        fixed=True, on_grid=9))  # fmt: skip
    assert list(timed) == ["silence", "period", "silences drop"]
    period = timed["period"]
    assert (period.value, period.low, period.high) == pytest.approx((4.0, 3.9, 4.1))
    assert period.how == "line through the beginnings of 9 silences"
    # One silence of 4 s: the mean is 16 s, and a quarter of it the bound.
    once = of(Silences("hold", 1.0, gaps((1.0, 5.0)), length=4.0, low=3.0, high=5.0))["open"]
    assert once.bound is not None
    assert (once.known, once.bound.at_least) == (False, 4.0)
    (hidden,) = of(None, hidden_s=0.016).values()
    assert hidden.bound is not None
    assert (hidden.name, hidden.bound.at_most) == ("silence", 0.016)
    (nothing,) = of(None).values()
    assert (nothing.known, nothing.bound) == (False, None)
    # A link that was silent all the time is open for a millisecond.
    assert making._open_mean(link(lasted=4.0), Silences("hold", 1.0, four)) == 1e-3


def radio(silences: Silences, **given: Any) -> list[str]:
    ours = link(silences=silences, **given)
    return making._radio(fit(link=ours), {})


def test_a_radio_has_the_silences() -> None:
    some = gaps((1.0, 1.2), (2.0, 2.6), (4.0, 4.4))
    timed = radio(Silences("drop", 1.0, some, period=1.0, length=0.2, fixed=True))
    assert timed == [
        "[[radio]]", 'name = "radio"', 'links = ["link"]', 'silence = "drop"',
        'sensing = { off = "200000000 ns", on = "800000000 ns" }',
    ]  # fmt: skip
    never = radio(Silences("drop", 1.0, some, period=1.0, length=1.0, fixed=True))
    assert never[-1] == 'sensing = { off = "1000000000 ns", on = "1000 ns" }', "open for a microsecond"
    # 18.8 s in three times; lengths of 0.2, 0.6 and 0.4 s.
    loose = radio(Silences("hold", 1.0, some, length=0.4))
    assert loose[-1] == (
        'sensing = { off = { exponential = "400000000 ns" }, on = { exponential = "6266666667 ns" } }'
    )
    assert radio(Silences("hold", 1.0, some, length=0.4, fixed=True))[-1].startswith(
        'sensing = { off = "400000000 ns", on = { '
    )
    once = radio(Silences("hold", 1.0, some[:1], length=0.2, fixed=True))
    assert sum(line.startswith("# One silence was seen") for line in once) == 1
    assert not any("One silence" in line for line in loose)
    rates = [(0.0, 1.0, 3e6), (2.0, 4.0, 5e6), (5.0, 6.0, 4e6)]
    varies = radio(Silences("hold", 1.0, some, length=0.4), rates=rates)
    assert varies[-2] == "# The rate changes from silence to silence, 3 stretches."
    assert varies[-1] == 'channel = { range = ["3000000 bit/s", "5000000 bit/s"] }'


def test_silences_of_seconds_at_irregular_times_are_incumbents() -> None:
    """Three of 1, 2 and 3 s in 20 s: 30 % of the time; open for 14 s, in three times."""
    some = gaps((1.0, 2.0), (5.0, 7.0), (9.0, 12.0))

    def is_incumbent(length: float = 2.0, period: float = NAN, count: int = 3) -> bool:
        return "[spectrum]" in radio(Silences("hold", 1.0, some[:count], period=period, length=length))

    assert is_incumbent()
    assert is_incumbent(length=1.0)
    assert not is_incumbent(length=0.99)
    assert not is_incumbent(period=4.0)
    assert not is_incumbent(count=2)
    lines = radio(Silences("hold", 1.0, some, length=2.0))
    assert "# Silences of seconds at irregular times: incumbents, busy 30 % of the time." in lines
    assert (
        'pu = { laws = { on = { exponential = "2000000000 ns" }, off = { exponential = "4666666667 ns" } } }'
        in lines
    )


def test_channels_have_their_users(tmp_path: Path) -> None:
    def channel(band: int, laws: bool = True) -> Channel:
        of = [[Law("exponential", {}, 0.0, 0.0, mean)] for mean in (0.5, 2.0)] if laws else [[], []]
        return Channel(band, 0.2, (0.4, 0.6), (1.0, 3.0), *of)

    def lines(**given: Any) -> list[str]:
        found = making._users(fit(**given))
        (users,) = [line for line in found if line.startswith("pu = ")]
        (bands,) = [line for line in found if line.startswith("bands = ")]
        return [bands, users]

    both = (
        'pu = { laws = { on = { exponential = "500000000 ns" }, off = { exponential = "2000000000 ns" } } }'
    )
    assert lines(channels=[channel(1)]) == ["bands = 1", both]
    # Too few whole times for a law: death and birth rate of their means.
    assert lines(channels=[channel(1, laws=False)]) == [
        "bands = 1", "pu = { exponential = { alpha = 2, beta = 0.5 } }",
    ]  # fmt: skip
    file = 'pu = { trace = { file = "a.csv", model = "empirical" } }'
    assert lines(channels=[channel(1), channel(2)], occupancy_file="a.csv") == ["bands = 2", file]
    over = lines(channels=[channel(1), channel(2)], occupancy_file="a.csv", threshold=-60.0)
    assert over[1] == file.replace(",", ', threshold = "-60 dBm",', 1)
    assert channel(1).rates == "alpha 2 /s, beta 0.5 /s"
    assert channel(1, laws=False).rates == ""


def test_what_is_uncertain_becomes_a_range() -> None:
    where = "topology.single_hop.link"

    def ranges(*estimates: Estimate, **given: Any) -> dict[str, str]:
        return making._ranges(fit(**{"link": link(), **given}), {each.name: each for each in estimates})

    delay = known("delay", 0.015, 0.01, 0.02)
    assert ranges(delay) == {f"{where}.delay": "10000000 ns..20000000 ns"}
    assert ranges(at_most("delay", 0.02)) == {f"{where}.delay": "5000000 ns..20000000 ns"}
    assert ranges(known("delay", 0.015)) == {}, "no interval"
    # One per cent apart is one value.
    rate = known("capacity", 1e6, 1e6, 1.011e6, "bit/s")
    assert ranges(rate) == {f"{where}.rate": "1000000 bit/s..1011000 bit/s"}
    assert ranges(known("capacity", 1e6, 1e6, 1.01e6, "bit/s")) == {}
    assert ranges(rate, trace=object()) == ranges(rate, link=link(rates=[(0.0, 1.0, 1e6)])) == {}
    # Up to as far above the scenario's rate, four times the bound, as the bound is below.
    assert ranges(at_least("capacity", 1e6, "bit/s")) == {f"{where}.rate": "1000000 bit/s..16000000 bit/s"}
    assert ranges(known("queue", 9.0, 6.0, 12.0, "packets")) == {f"{where}.queue": "6 packets..12 packets"}
    assert ranges(known("queue", 1.0, 0.0, 3.0, "packets")) == {}, "no queue of zero"
    assert ranges(at_least("queue", 9.0, "packets")) == {}


def test_a_silence_has_a_range_where_all_have_one_length() -> None:
    off = "radio.0.sensing.off"
    silence = known("silence", 0.2, 0.1, 0.3)

    def ranges(fixed: bool, *, channels: bool = False, estimate: Estimate = silence) -> dict[str, str]:
        silences = Silences("drop", 1.0, gaps((1.0, 1.2)), fixed=fixed)
        found = fit(link=link(silences=silences))
        found.channels = [Channel(1, 0.2, (), (), [], [])] if channels else []
        return making._ranges(found, {"silence": estimate})

    assert ranges(True) == {off: "100000000 ns..300000000 ns"}
    assert ranges(False) == ranges(True, channels=True) == {}
    assert ranges(True, estimate=at_least("silence", 0.2)) == {off: "200000000 ns..800000000 ns"}
    assert making._ranges(fit(link=link()), {"silence": silence}) == {}


def test_a_loss_has_a_range_above_chance_and_below_half() -> None:
    def ranges(low: float, high: float) -> dict[str, str]:
        return making._ranges(fit(link=link()), {"loss": known("loss", low, low, high, "share")})

    assert ranges(0.001, 0.002) == {"topology.single_hop.link.loss": "0.001..0.002"}
    assert ranges(0.1, 0.9) == {"topology.single_hop.link.loss": "0.1..0.5"}
    assert ranges(0.001, 0.00104) == {}, "narrower than 5 %"
    assert ranges(0.001, 0.00106)
    assert ranges(1e-6, 0.002) == {}


def probed(
    silences: Silences | None = None,
    delay: Quantity = Unknown("no"),  # noqa: B008 - it cannot change
    opens: Quantity = Unknown("no"),  # noqa: B008
) -> ProbeFit:
    return ProbeFit(delay, Unknown("no"), Measured(0.5, 0.4, 0.6, "s", "so"), opens, silences)


def test_probes_give_what_a_capture_lacks() -> None:
    def delay(ours: Estimate, theirs: Quantity) -> Estimate:
        found = fit(link=link(delay=ours))
        from_logs.merge(found, probed(delay=theirs))
        changed: Estimate = found.link.delay  # type: ignore[union-attr]
        assert bool(found.notes) == (ours.known and changed is not ours)
        return changed

    smaller = Measured(0.0089, 0.008, 0.01, "s", "so")
    assert delay(at_most("delay", 0.03), Measured(0.02, 0.01, 0.03, "s", "so")).value == 0.02
    assert delay(known("delay", 0.01), smaller).value == 0.0089
    # Within a tenth it is the same.
    assert delay(known("delay", 0.01), Measured(0.0091, 0.008, 0.01, "s", "so")).value == 0.01
    assert delay(known("delay", 0.01), Bounded("s", "so", at_most=0.001)).value == 0.01
    theirs = Silences("drop", 1.0, gaps((1.0, 2.0)))
    ours = Silences("hold", 1.0, gaps((3.0, 4.0)))
    for before, after in ((None, theirs), (ours, ours)):
        found = fit(link=link(delay=known("delay", 0.01), silences=before))
        from_logs.merge(found, probed(theirs))
        assert found.link is not None
        assert found.link.silences is after


def test_the_radio_of_probes_has_their_silences() -> None:
    def lines(silences: Silences, *estimates: Estimate, **given: Any) -> list[str]:
        found = fit(probed=[probed(silences)], **given)
        return [
            line for line in from_logs.radio(found, {each.name: each for each in estimates}) if line[0] != "#"
        ]

    some = gaps((1.0, 1.2), (2.0, 2.6))
    timed = Silences("drop", 1.0, some, period=1.0, length=0.2, fixed=True)
    assert lines(timed)[-2:] == [
        'silence = "drop"', 'sensing = { off = "200000000 ns", on = "800000000 ns" }',
    ]  # fmt: skip
    loose = Silences("hold", 1.0, some, length=0.4)
    assert lines(loose, known("open", 2.5))[-1] == (
        'sensing = { off = { exponential = "400000000 ns" }, on = { exponential = "2500000000 ns" } }'
    )
    assert 'on = { exponential = "1000000000 ns" }' in lines(loose)[-1], "unknown: a second"
    assert lines(timed, link=link()) == [], "a capture has the silences"
    # Fifteen times a silence and the time to the next one.
    found = fit(probed=[probed(loose)], estimates=[known("silence", 0.5), known("open", 2.5)])
    assert making._duration(found) == 45
