"""`cogtcp fit` against a transfer whose truth is by construction: one queue, one link, one gate, no noise.

A sender keeps a window of packets under way, as if it knew of each loss. The link sends 1,500 bytes in 2 ms
(6 Mbit/s); the round trip without queue is 40 ms, 20 packets. Nothing is drawn: what the fit says must be
the truth to the error that the fit itself gives.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

import pytest

from cogtcp.data.fitting.backlog import (
    Delivery,
    Stretch,
    at_least,
    batches,
    block_bootstrap,
    deliveries,
    queued,
    windows,
)
from cogtcp.data.fitting.capacity import fit_rates
from cogtcp.data.fitting.connections import Connection, Sent
from cogtcp.data.fitting.link import LinkFit, fit_link
from cogtcp.data.fitting.quantity import Bounded, Measured, Unknown
from cogtcp.data.fitting.rate import _collapse, _merged, _mode, measure

SIZE, PACKET_S, DELAY_S = 1500, 0.002, 0.02
RATE = SIZE * 8 / PACKET_S
#: The way back takes no time for its bytes; the fit counts half of them.
ACK_BYTES = 0


@dataclass
class Model:
    """The path of the transfer, and its behaviour.

    Attributes:
        window: Packets under way, on the average.
        swing: It rises and falls by so many packets, once in two seconds.
        seconds: How long it lasts.
        queue: Length of the queue in packets, without the packet in transmission.
        loses: Every such packet is lost on the way; 0 for none.
        period: Time from one silence to the next, s; infinite without.
        length: Of each silence, s.
        holds: Whether a silence holds packets, in place of dropping them.
        rates: From when on the link has which share of its rate.
    """

    window: int = 30
    swing: int = 0
    seconds: float = 16.0
    queue: int = 1_000_000
    loses: int = 0
    period: float = math.inf
    length: float = 0.0
    holds: bool = False
    rates: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, 1.0)])

    def silent(self, time: float) -> float:
        """Return when the silence at a time ends; the time itself if there is none."""
        if math.isinf(self.period):
            return time
        into = (time - 1.0) % self.period
        return time - into + self.length if time > 1.0 and into < self.length else time

    def wanted(self, time: float) -> int:
        """Return how many packets are under way at a time."""
        return self.window + round(self.swing * (1 - 2 * abs(time % 2.0 - 1.0)))

    def capture(self) -> Connection:
        """Return the packets of a capture at the sender."""
        free = [2 * DELAY_S * n / self.window for n in range(self.window)]
        data: list[Sent] = []
        leaves: list[float] = []
        link = 0.0
        while free and free[0] < self.seconds:
            at = heapq.heappop(free)
            if len(free) >= self.wanted(at):
                continue
            if len(free) + 1 < self.wanted(at):
                heapq.heappush(free, at + 1e-5)
            number = len(data)
            sent = Sent(at, number * 1448, (number + 1) * 1448, SIZE)
            data.append(sent)
            leaves = [time for time in leaves if time > at]
            if len(leaves) > self.queue:
                heapq.heappush(free, at + 2 * DELAY_S + len(leaves) * PACKET_S)
                continue
            start = max(at, link)
            if self.holds:
                start = self.silent(start)
            share = next(share for begin, share in reversed(self.rates) if begin <= start)
            link = start + PACKET_S / share
            leaves.append(link)
            back = link + DELAY_S
            lost = self.loses and number % self.loses == self.loses - 1
            if not self.holds:
                lost = lost or self.silent(link) > link or self.silent(back) > back
            if not lost:
                sent.answered = (self.silent(back) if self.holds else back) + DELAY_S
                sent.fresh = True
            # The sender knows of each loss when its answer would have come.
            heapq.heappush(free, back + DELAY_S)
        answers = sorted(sent.answered for sent in data if not sent.lost)
        return Connection(
            "sender", data, answers, handshake_s=2 * DELAY_S, handshake_bytes=0, opened=True,
            ack_bytes=ACK_BYTES,
        )  # fmt: skip

    def fit(self) -> LinkFit:
        return fit_link([self.capture()])


def test_a_full_link_has_its_rate_and_delay() -> None:
    found = Model().fit()
    assert isinstance(found.capacity.quantity, Measured)
    assert found.capacity.value == pytest.approx(RATE, rel=1e-3)
    # Half a percent: too little for a capture to show.
    assert (found.capacity.low, found.capacity.high) == pytest.approx((0.995 * RATE, 1.005 * RATE), rel=1e-3)
    assert found.delay.value == pytest.approx(DELAY_S, abs=1e-4)
    assert found.delay.low <= DELAY_S <= found.delay.high
    assert found.delay.high - found.delay.low < 0.002
    assert found.base == pytest.approx(2 * DELAY_S, abs=2e-4)
    assert (found.packet_bytes, found.flows, found.side) == (SIZE, 1, "sender")
    assert found.started == 0
    assert found.lasted == pytest.approx(16.0, abs=0.07)
    assert found.goodput == pytest.approx(1448 / SIZE * RATE, rel=5e-3)
    assert found.silences is None
    assert found.limit is not None
    assert found.limit.by == "link"
    # 30 packets under way, 20 of them on the way there and back: 10 are in front of the link.
    assert isinstance(found.queue.quantity, Bounded)
    assert found.queue.quantity.at_least == pytest.approx(9, abs=2)
    # Twice the time of a packet, four times: delayed acknowledgements.
    assert found.hidden_s == pytest.approx(0.016, abs=1e-3)
    assert found.jitter is None
    # The queue was never less than half full: the link's own losses do not show.
    assert isinstance(found.loss.quantity, Bounded)


def test_a_link_that_is_never_full_has_a_bound() -> None:
    # Ten packets in 42 ms: half of the rate.
    found = Model(window=10).fit()
    bound = found.capacity.quantity
    assert isinstance(bound, Bounded)
    assert bound.at_least is not None
    assert 0.4 * RATE < bound.at_least <= RATE
    assert found.delay.value == pytest.approx(DELAY_S, abs=0.0015)
    assert found.queue.quantity == Unknown(found.queue.how)
    assert "nothing queued" in found.queue.how
    assert found.limit is not None
    assert found.limit.by == "unknown"


def test_a_queue_that_overflows_has_its_length() -> None:
    found = Model(window=45, swing=20, queue=25).fit()
    assert isinstance(found.queue.quantity, Measured)
    assert found.queue.value == pytest.approx(25, abs=1)
    assert found.queue.low <= 25 <= found.queue.high
    assert found.queue.high - found.queue.low <= 6
    assert found.capacity.value == pytest.approx(RATE, rel=2e-3)


def test_losses_without_a_queue_are_the_links() -> None:
    found = Model(window=15, loses=50, seconds=24).fit()
    assert found.loss.value == pytest.approx(0.02, rel=0.01)
    assert found.loss.low < 0.02 < found.loss.high
    assert found.loss_share == found.loss.value
    # Every fiftieth: no loss follows a loss.
    assert found.loss_law is not None
    assert found.loss_law.name == "bernoulli"
    assert found.run.value == 1
    assert len(found.met) > 1000
    assert sum(lost for _, _, lost in found.met) / len(found.met) == pytest.approx(0.02, rel=0.01)


def test_losses_beside_a_queue_that_comes_and_goes_are_a_bound() -> None:
    """Between 5 and 45 packets under way: a queue that drops early would lose as many."""
    found = Model(window=25, swing=20, loses=50, seconds=24).fit()
    bound = found.loss.quantity
    assert isinstance(bound, Bounded)
    assert bound.at_most is not None
    assert 0.02 < bound.at_most < 0.03
    assert "the queue may have dropped some" in bound.how
    assert found.loss_share == bound.at_most / 2
    assert found.capacity.value == pytest.approx(RATE, rel=5e-3)
    assert isinstance(found.queue.quantity, Bounded)
    assert "no fixed length" in found.queue.how


@pytest.mark.parametrize(
    ("period", "length", "holds"), [(1.5, 0.2, False), (1.5, 0.2, True), (2.3, 0.9, False), (2.3, 0.9, True)]
)
def test_silences_on_a_timetable_have_their_times(period: float, length: float, holds: bool) -> None:
    found = Model(period=period, length=length, holds=holds, seconds=20).fit()
    silences = found.silences
    assert silences is not None
    assert silences.mode == ("hold" if holds else "drop")
    assert silences.sure == 1
    assert silences.fixed
    assert silences.period == pytest.approx(period, abs=0.001)
    assert silences.period_error < 0.002
    # To the time of two packets: what passes right before a silence and right behind it.
    assert silences.length == pytest.approx(length, abs=0.004)
    assert silences.low <= length + 0.001
    assert silences.high >= length - 0.001
    assert silences.high - silences.low < 0.02
    # The first begins after a second: each is at a whole number of periods from there.
    begins = [math.remainder(gap.start - 1.0, period) for gap in silences.gaps]
    assert begins == pytest.approx([0.0] * len(begins), abs=0.005)
    assert len(begins) in (math.floor(19 / period), math.floor(19 / period) + 1)
    assert math.remainder(silences.phase - 1.0, period) == pytest.approx(0.0, abs=0.005)
    assert found.capacity.value == pytest.approx(RATE, rel=0.005)
    assert found.delay.value == pytest.approx(DELAY_S, abs=2e-4)


def test_a_rate_in_two_steps_is_seen_with_its_time() -> None:
    found = Model(rates=[(0.0, 1.0), (11.0, 0.5)], seconds=24, window=50).fit()
    assert found.rate_law is not None
    assert found.rate_law.name == "steps"
    assert found.rate_law.levels == (pytest.approx(RATE, rel=0.01), pytest.approx(RATE / 2, rel=0.01))
    change = next(start for start, _, rate in found.rates if rate < 0.7 * RATE)
    assert change == pytest.approx(11.0, abs=1.5)
    assert found.silences is None


# Parts of it.


def test_what_waited_was_sent_before_the_one_in_front_had_left() -> None:
    def delivery(time: float, wait: float) -> Delivery:
        return Delivery(time, SIZE, wait)

    some = [delivery(0.0, 0.0), delivery(0.01, 0.0104), delivery(0.02, 0.0106), delivery(0.03, math.nan)]
    # The margin is half a millisecond.
    assert queued(some) == [False, False, True, True]
    assert queued(some, tick=0.001) == [False, False, False, False]
    # Two without news go with the one before, a third does not.
    silent = [
        delivery(0.0, 0.0),
        delivery(0.01, 0.5),
        *(delivery(0.02 + n / 100, math.nan) for n in range(3)),
    ]
    assert queued(silent) == [False, True, True, True, False]
    assert queued([]) == []


def test_stretches_are_disjoint_and_each_delivery_in_them_waited() -> None:
    some = [Delivery(n * 0.001, SIZE) for n in range(11)]
    waited = [False, *[True] * 10]
    assert windows(some, waited, 4) == [Stretch(0.0, 0.004, 4 * SIZE), Stretch(0.004, 0.008, 4 * SIZE)]
    waited[3] = False
    found = windows(some, waited, 4)
    assert [(each.start, each.end) for each in found] == [(0.003, pytest.approx(0.007))]
    assert found[0].rate == pytest.approx(SIZE * 8 / 0.001)
    assert windows(some[:4], [True] * 4, 4) == []
    assert len(windows(some[:5], [True] * 5, 4)) == 1


def test_an_interval_of_few_blocks_has_all_rates() -> None:
    same = [Stretch(n * 1.0, n + 1.0, 1000) for n in range(20)]
    assert block_bootstrap(same) == pytest.approx((8000, 8000))
    few = [Stretch(0.0, 1.0, 1000), Stretch(1.0, 2.0, 3000), Stretch(2.0, 3.0, 2000)]
    assert block_bootstrap(few) == pytest.approx((8000, 24000))
    assert all(map(math.isnan, block_bootstrap([])))
    # Two of four blocks at each rate: a draw of four of one kind has a chance of 1/16, more than 1/40.
    mixed = [Stretch(n * 1.0, n + 1.0, 1000 if n % 8 < 4 else 3000) for n in range(16)]
    assert block_bootstrap(mixed) == pytest.approx((8000, 24000))


def test_what_arrived_within_a_span_is_a_bound() -> None:
    """A packet each millisecond: eleven in 10 ms with both ends; two of them may be of before."""
    some = [Delivery(n * 0.001, SIZE) for n in range(100)]
    assert at_least(some, 0.0101, SIZE) == pytest.approx(9 * SIZE * 8 / (0.0101 + 0.004))
    assert at_least(some[:1], 0.01, SIZE) == 0
    assert at_least(some[:2], 0.01, SIZE) == 0
    assert at_least(some[:3], 0.01, SIZE) == pytest.approx(SIZE * 8 / 0.014)


def test_batches_by_hand() -> None:
    """Four packets at once, every 20 ms, within a round trip of 100 ms."""
    times = [n * 0.02 + k * 1e-5 for n in range(50) for k in range(4)]
    found = batches(times, 0.1, 0.005, receiver=True)
    assert found is not None
    assert found.spacing == pytest.approx(0.02, abs=1e-4)
    assert found.most == pytest.approx(0.02, abs=1e-4)
    assert found.size == 4
    assert batches(times, 0.03, 0.005, receiver=True) is None, (
        "a sender's bursts come once in each round trip"
    )
    assert batches(times, 0.034, 0.005, receiver=True) is not None
    pairs = [n * 0.02 + k * 1e-5 for n in range(50) for k in range(2)]
    assert batches(pairs, 0.1, 0.01, receiver=True) is not None
    assert batches(pairs, 0.1, 0.01, receiver=False) is None, "two are a delayed acknowledgement"
    assert batches(times[:20], 0.1, 0.005, receiver=True) is None, "five batches are few"
    assert batches(times[:24], 0.1, 0.005, receiver=True) is not None
    assert batches(times, 0.1, 0.0006, receiver=True) is None, "packets that are as near by themselves"
    single = sorted([*times[:100], *(10 + n * 0.02 for n in range(43))])
    assert batches(single, 0.1, 0.005, receiver=True) is None, "less than 70 % of the packets are in batches"


def test_deliveries_of_a_sender_and_of_a_receiver() -> None:
    data = [
        Sent(0.0, 0, 1448, 1500, answered=0.05, fresh=True),
        Sent(0.001, 1448, 2896, 1500, answered=0.05, fresh=True),
        Sent(0.002, 2896, 4344, 1500),
        Sent(0.003, 4344, 5792, 1000, answered=0.07),
    ]
    first, second = deliveries([Connection("sender", data, [])], 0.04, None)
    # The longest wait of both: 50 ms less 40; its packet was sent at 0.
    assert (first.time, first.size, first.wait, first.sent) == pytest.approx((0.05, 3000, 0.01, 0.0))
    assert (second.time, second.size) == (0.07, 1000)
    assert math.isnan(second.wait)
    receiver = Connection("receiver", data, [], others=[(0.06, 84)])
    lateness = {id(data[0]): 0.003, id(data[1]): 0.002, id(data[3]): 0.0}
    found = deliveries([receiver], 0.0, lateness)
    assert [(each.time, each.size) for each in found] == [(0.05, 3000), (0.06, 84), (0.07, 1000)]
    assert (found[0].wait, found[0].sent) == pytest.approx((0.003, 0.047))


def test_the_most_frequent_rate_has_the_most_bytes() -> None:
    slow = [Stretch(n * 1.0, n + 1.0, 1000) for n in range(3)]
    fast = [Stretch(10 + n * 1.0, 11 + n, size) for n, size in enumerate((2000, 2010, 1990))]
    assert _mode([*slow, *fast]) == 2000 * 8
    # 5 % beside it is near, 15 % is not.
    assert _mode([*slow, *fast, Stretch(0.0, 1.0, 2100), Stretch(0.0, 1.0, 2300)]) == pytest.approx(2005 * 8)


def test_batches_are_put_together_and_neighbours_of_one_rate_are_one() -> None:
    some = [
        Delivery(0.0, 100, 0.01),
        Delivery(0.004, 200, 0.03),
        Delivery(0.01, 300, 0.02),
        Delivery(0.013, 50),
    ]
    found = _collapse(some, 0.005)
    assert [(each.time, each.size, each.wait) for each in found] == [(0.0, 300, 0.03), (0.01, 350, 0.02)]
    joined = _merged(
        [Stretch(0.0, 1.0, 1000), Stretch(1.0, 2.0, 1100), Stretch(2.0, 3.0, 2000), Stretch(4.0, 5.0, 2000)]
    )
    # 10 % apart are one rate; twice as much is another; behind a pause begins another.
    assert joined == [Stretch(0.0, 2.0, 2100), Stretch(2.0, 3.0, 2000), Stretch(4.0, 5.0, 2000)]


def test_too_few_deliveries_have_no_rate() -> None:
    for count in (0, 1):
        some = [Delivery(n * 0.001, SIZE, 0.1) for n in range(count)]
        found = measure(some, [each.time for each in some], 0.04, SIZE, tick=0.0, timed=True)
        assert isinstance(found.capacity, Unknown)


def test_the_law_of_rates_has_the_least_bic() -> None:
    """Ten at 8 and ten at 4 Mbit/s: two levels, by hand; nothing is left, so the least error counts."""
    rates = [8e6] * 10 + [4e6] * 10
    best, *others = fit_rates(rates)
    assert (best.name, best.starts) == ("steps", (0, 10))
    assert best.levels == pytest.approx((8e6, 4e6))
    assert best.spread == pytest.approx(0.0, abs=1e-9)
    likelihood = -10 * math.log(2 * math.pi * 0.01**2)
    assert best.bic == pytest.approx(4 * math.log(20) - 2 * likelihood)
    markov = next(law for law in others if law.name == "markov")
    # From 4 Mbit/s nothing came back; from 8 nine of ten stayed.
    assert markov.levels == pytest.approx((4e6, 8e6))
    assert markov.moves == ((1.0, 0.0), (0.1, 0.9))
    chain = 9 * math.log(0.9) + math.log(0.1) - math.log(2)
    assert markov.bic == pytest.approx(5 * math.log(20) - 2 * (likelihood + chain))
    constant = next(law for law in others if law.name == "constant")
    assert constant.levels[0] == pytest.approx(math.sqrt(32e12))
    assert constant.spread == pytest.approx(math.log(2) / 2)
    variance = (math.log(2) / 2) ** 2
    assert constant.bic == pytest.approx(2 * math.log(20) + 20 * (math.log(2 * math.pi * variance) + 1))
    assert best.describe() == "1 step between 8, 4 Mbit/s"
    assert (
        markov.describe() == "Markov chain of 4, 8 Mbit/s, which stays at the next stretch with 100 %, 90 %"
    )
    assert constant.describe() == "constant, 5.66 Mbit/s"
    # Levels that differ by less than 8 % are one.
    assert fit_rates([8e6] * 10 + [7.5e6] * 10)[0].name == "constant"
    assert fit_rates([8e6] * 10 + [7.3e6] * 10)[0].name == "steps"
