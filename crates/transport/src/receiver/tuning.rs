//! Receive buffer tuning: the offered window grows with the bytes that the application takes in a round trip
//! (Fisk and Feng: Dynamic right-sizing in TCP, LACSI 2001). The rules are Linux 6.18's
//! (`tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`, `tcp_grow_window`, `tcp_data_queue_ofo`).
//!
//! ```text
//! at the start                   memory = 128 KiB, half of it for data; window = whole segments of 64 KiB
//! the first segment              share of data = data / memory of the packet; window = that share of 128 KiB
//! a round trip that took more    room for 2 new (1 + 2 (new - old) / old), if more; half the buffer at most
//! a segment behind a gap         room for 2 old + what lies between the gap and the last segment, if more
//! a segment in order, or SACKed  window + 2 segments, up to the room that packets leave: with a segment in
//!                                order, less with a SACKed one, which is counted afterwards
//! less than half the room left   no quick ACKs; below a sixteenth or a segment the window closes
//! ```
//!
//! Linux counts memory, and packets take more than their data ([`share_of_data`]). So 1448 bytes let the
//! window grow from the first segment on (5/8 of 128 KiB are 81,920), 1000 bytes do not (56,832). A segment whose
//! memory is mostly empty lets the window grow while it is small beside the largest (`__tcp_grow_window`). All of it
//! captured on Linux 6.18. Before 6.16 (`window_margin`; captured on 6.12) a fuller round trip gives room for
//! 2 new + 16 segments, more in slow start likewise. Segments behind a gap give none. The window grows from a
//! segment below 64 KiB on, and the share of data does not lower it.

use cogtcp_units::{Duration, Time};

/// Memory at the start, `tcp_rmem[1]`, and the data that it is for before a segment came
/// (`TCP_DEFAULT_SCALING_RATIO`: half).
const MEMORY: u64 = 131_072;
const START: u64 = MEMORY / 2;
/// A share of memory is counted in parts of it (`TCP_RMEM_TO_WIN_SCALE`).
const WHOLE: u64 = 256;
/// Segments of room beyond what a round trip asks for, before Linux 6.16.
const MARGIN: u64 = 16;
/// Segments of a round trip that the start is right for (`TCP_INIT_CWND`).
const FIRST: u64 = 10;
/// Segments in order that are smaller do not let the window grow (`tcp_event_data_recv`).
const LEAST_GROWING: u64 = 128;
/// Least size of a full segment that a receiver expects (`TCP_MSS_DEFAULT`): a smaller one says nothing of
/// the share.
const LEAST_FULL: u64 = 536;
/// Headers of IPv4 and TCP with timestamps.
const HEADERS: u64 = 52;
/// What Linux has around a packet: `NET_SKB_PAD` and `skb_shared_info` in one allocation, which is a power of
/// two, and `sk_buff`.
const PADDING: u64 = 64 + 320;
const HEAD: u64 = 256;

/// Returns the share, in parts of 256, of data in the memory that a Linux receiver counts for a packet of
/// `size` bytes. This is `scaling_ratio`, since Linux 6.6, on a device that gives a packet one buffer.
#[must_use]
pub fn share_of_data(size: u64, payload: u64) -> u64 {
    (payload * WHOLE / memory(size)).clamp(1, WHOLE - 1)
}

/// The memory that Linux counts for a packet of `size` bytes (`truesize`).
const fn memory(size: u64) -> u64 {
    (size + PADDING).next_power_of_two() + HEAD
}

/// Rcv.Wind.Shift: the largest buffer in parts of 32 to 64 KiB (`tcp_select_initial_window`).
fn scale_of(most: u64, mss: u64) -> u8 {
    let memory = memory_for_window(most, share_of_data(mss + HEADERS, mss));
    (memory.max(1).ilog2() as u8).saturating_sub(15)
}

/// Returns the memory of a Linux receiver that is to offer `window` bytes at most, where packets have this
/// [`share_of_data`]: `tcp_rmem[2]`.
#[must_use]
pub const fn memory_for_window(window: u64, share: u64) -> u64 {
    window.saturating_mul(WHOLE).div_ceil(share)
}

/// Of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    window: u64,
    memory: u64,
    share: u64,
    /// Most data that the memory may be for.
    most: u64,
    mss: u64,
    /// The largest segment that came, and its packet's memory.
    full: u64,
    full_memory: u64,
    scale: u8,
    /// Whether the rules are those before Linux 6.16.
    has_margin: bool,
    /// What the application took in the fullest round trip.
    space: u64,
    rtt: Duration,
    /// The timestamp that was echoed last.
    echo: Option<u32>,
    /// When the window began that is being filled, and where it ends.
    filling: Option<(Time, u64)>,
    round: Option<(Time, u64)>,
    /// When the segments came that the application has not read, and where the first of them ends.
    waiting: Option<(Time, u64)>,
}

/// What a receiver may offer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) window: u64,
    /// Less than half of the room is left: no ACK is quick.
    pub(super) is_short: bool,
}

impl Tuning {
    pub(super) fn new(buffer: u64, mss: u64, has_margin: bool) -> Self {
        let mss = mss.max(1);
        let start = if mss < START { START - START % mss } else { START }.min(buffer);
        let mut tuning = Self {
            window: start,
            memory: MEMORY,
            share: WHOLE / 2,
            most: (buffer / 2).max(start),
            mss,
            full: LEAST_FULL,
            full_memory: memory(LEAST_FULL + HEADERS),
            scale: scale_of((buffer / 2).max(start), mss),
            has_margin,
            space: FIRST * mss,
            rtt: Duration::ZERO,
            echo: None,
            filling: None,
            round: None,
            waiting: None,
        };
        tuning.memory = MEMORY.min(tuning.memory_for(tuning.most));
        tuning
    }

    /// What may be offered while `held` bytes wait: the latest segment, unread data, data behind gaps
    /// (`__tcp_select_window`).
    pub(super) fn offer(&self, held: u64) -> Offer {
        let (mut space, bound) = (self.space(held), self.bound());
        let is_short = space < bound / 2;
        if is_short {
            // The space may become the window: the scale must not round it up.
            space = space >> self.scale << self.scale;
            if space < bound / 16 || space < self.full.min(bound) {
                space = 0;
            }
        }
        Offer { window: self.window.min(space), is_short }
    }

    /// The window of that offer.
    pub(super) fn window(&self, held: u64) -> u64 {
        self.offer(held).window
    }

    /// Rcv.Wind.Shift, if the peer scales.
    pub(super) const fn scale(&self) -> u8 {
        self.scale
    }

    /// The lowest round-trip time of late, zero before the first.
    pub(super) const fn rtt(&self) -> Duration {
        self.rtt
    }

    /// The data that the memory is for.
    const fn bound(&self) -> u64 {
        self.memory * self.share / WHOLE
    }

    /// The data that there is room for beside `held` bytes (`tcp_space`).
    fn space(&self, held: u64) -> u64 {
        self.memory.saturating_sub(self.memory_of(held)) * self.share / WHOLE
    }

    /// The memory of packets with `data` bytes: full ones, and one with the rest.
    fn memory_of(&self, data: u64) -> u64 {
        if data == self.full {
            return self.full_memory;
        }
        let rest = data % self.full;
        data / self.full * self.full_memory + if rest > 0 { memory(rest + HEADERS) } else { 0 }
    }

    fn memory_for(&self, data: u64) -> u64 {
        (data.saturating_mul(WHOLE) / self.share).min(memory_for_window(self.most, self.share))
    }

    /// By how much a segment of `len` bytes lets the window grow if there is room (`__tcp_grow_window`). The window
    /// grows by two segments if data are the usual share of the segment's memory, or while the window is small.
    fn growth(&self, len: u64) -> u64 {
        let mut size = self.memory_of(len) * self.share / WHOLE;
        if size <= len {
            return 2 * self.mss.max(len);
        }
        let mut small = self.most / 2;
        size /= 2;
        while self.window <= small {
            if size <= len {
                return 2 * self.full.max(len);
            }
            (size, small) = (size / 2, small / 2);
        }
        0
    }

    /// A segment of `len` bytes echoes the timestamp `echo`, which left `rtt` ago. The first full segment with an
    /// echo counts (`tcp_rcv_rtt_measure_ts`); the handshake does not.
    pub(super) fn on_echo(&mut self, echo: u32, len: u64, rtt: Duration) {
        if self.echo != Some(echo) {
            self.echo = Some(echo);
            // No less than a tick counts (`tcp_rcv_rtt_measure_ts`).
            if len >= self.full && !rtt.is_zero() {
                self.on_rtt(rtt);
            }
        }
    }

    /// A lower round-trip time counts at once, a higher one by an eighth.
    fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = if self.rtt.is_zero() || rtt < self.rtt { rtt } else { (self.rtt * 7 + rtt) / 8 };
    }

    /// A segment in order came, up to `frontier`, and `offered` bytes were offered last. A window that took less
    /// time to arrive stands for a round trip (`tcp_rcv_rtt_measure`); without timestamps there is none before,
    /// and the buffer does not grow.
    pub(super) fn on_window(&mut self, now: Time, frontier: u64, offered: u64) {
        if let Some((since, end)) = self.filling {
            if frontier < end {
                return;
            }
            let took = now.saturating_since(since).max(Duration::from_micros(1));
            self.rtt = if self.rtt.is_zero() { took } else { self.rtt.min(took) };
        }
        self.filling = Some((now, frontier + offered));
    }

    /// A segment of `len` bytes came that is larger than all before: what share of its memory is data
    /// (`tcp_measure_rcv_mss`).
    pub(super) fn on_size(&mut self, len: u64) {
        if len > self.full {
            self.full = len;
            self.full_memory = memory(len + HEADERS);
            self.share = share_of_data(len + HEADERS, len);
            self.memory = self.memory.min(self.memory_for(self.most));
            self.space = self.space.min(self.bound());
            if !self.has_margin {
                self.window = self.window.min(self.bound());
            }
        }
    }

    /// A segment of `len` bytes came in order, and with it `held` bytes wait. Whether the window grows with it.
    pub(super) fn on_segment(&mut self, len: u64, held: u64) -> bool {
        len >= LEAST_GROWING && self.grow(len, held)
    }

    /// A segment of `len` bytes came, in order or SACKed, beside `held` bytes: the window grows if there is room
    /// (`tcp_grow_window`). Returns whether it has grown.
    pub(super) fn grow(&mut self, len: u64, held: u64) -> bool {
        let room = self.space(held).saturating_sub(self.window);
        let growth = if room > 0 { self.growth(len).min(room) } else { 0 };
        self.window += growth;
        growth > 0
    }

    /// A segment waits behind a gap; the last that does so ends `span` bytes behind what came in order.
    pub(super) fn on_gap(&mut self, span: u64) {
        if !self.has_margin {
            self.memory = self.memory.max(self.memory_for(2 * self.space + span));
        }
    }

    /// A segment in order came that ends at `end`. Of those that come at one instant the application takes the
    /// first when all have come.
    pub(super) fn on_in_order(&mut self, now: Time, end: u64) {
        if self.waiting.is_none_or(|(at, _)| at != now) {
            self.waiting = Some((now, end));
        }
    }

    /// The application takes what came at an earlier instant than `now`; the stream is in order up to `frontier`.
    pub(super) fn settle(&mut self, now: Time, frontier: u64) {
        if let Some((at, end)) = self.waiting.filter(|(at, _)| *at != now) {
            self.waiting = None;
            self.on_read(at, end, frontier);
        }
    }

    /// The application has taken the stream up to `taken`, and it is in order up to `frontier`. What waits belongs
    /// to the next round (`inq`). Rounds are counted from the handshake on.
    pub(super) fn on_read(&mut self, now: Time, taken: u64, frontier: u64) {
        let Some((since, from)) = self.round else {
            self.round = Some((now, taken));
            if self.has_margin {
                // One segment is kept free (`tcp_init_buffer_space`); later kernels lift that with the first data.
                self.window = self.window.min(START.saturating_sub(self.mss).max(2 * self.mss));
            }
            return;
        };
        if self.rtt.is_zero() || now.saturating_since(since) < self.rtt {
            return;
        }
        let copied = (taken - from).saturating_sub(frontier - taken);
        if copied > self.space {
            // Not by zero: `space` begins at 10 segments and only grows.
            let room = 2 * copied + if self.has_margin { MARGIN * self.mss } else { 0 };
            let grown = room + 2 * (room * (copied - self.space) / self.space);
            self.memory = self.memory.max(self.memory_for(grown));
            self.space = copied;
        }
        self.round = Some((now, taken));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of 1500 bytes takes 2048 + 256 bytes, one of 1052 as well, one of 588 half of it.
    #[test]
    fn the_share_of_data() {
        assert_eq!(
            [(1500, 1448), (1500, 1460), (1052, 1000), (588, 536)]
                .map(|(size, len)| share_of_data(size, len)),
            [160, 162, 111, 107]
        );
    }

    /// By hand, and as Linux 6.18 does: with 1448 bytes six segments let the window grow, up to 5/8 of what the
    /// segment itself leaves of 128 KiB.
    #[test]
    fn six_segments_let_the_first_window_grow() {
        let mut tuning = Tuning::new(4 << 20, 1448, false);
        assert_eq!(tuning.window(0), 65_160);
        tuning.on_size(1448);
        let windows: Vec<_> = (0..7).map(|_| (tuning.on_segment(1448, 1448), tuning.window(1448))).collect();
        let grown = [68_056, 70_952, 73_848, 76_744, 79_640, 80_480].map(|window| (true, window));
        assert_eq!(windows, [grown.as_slice(), &[(false, 80_480)]].concat());
    }

    /// As Linux 6.12 does, with 1460 bytes: a segment less at the start; the first segment behind a gap takes the
    /// room that a segment in order would fill.
    #[test]
    fn a_first_window_of_linux_before_6_16() {
        let mut tuning = Tuning::new(4 << 20, 1460, true);
        assert_eq!((tuning.window(0), tuning.scale()), (64_240, 6));
        tuning.on_read(Time::ZERO, 1, 1);
        assert_eq!(tuning.window(0), 64_076);
        tuning.on_size(1460);
        let mut in_order = || (tuning.on_segment(1460, 1460), tuning.window(1460)).1;
        let windows: Vec<_> = (0..7).map(|_| in_order()).collect();
        assert_eq!(windows, [66_996, 69_916, 72_836, 75_756, 78_676, 81_486, 81_486]);
        assert_eq!((tuning.grow(1460, 0), tuning.window(1460)), (true, 81_486));
        assert_eq!((tuning.grow(1460, 1460), tuning.window(2920)), (false, 80_028));
    }

    /// A packet with 1000 bytes takes as much memory as a full one. It lets the window grow by two full segments
    /// until the window is half of the largest. 200 bytes do up to a quarter of it, 100 bytes in order never.
    #[test]
    fn segments_that_are_not_full_let_a_small_window_grow() {
        let mut tuning = Tuning::new(4 << 20, 1448, true);
        tuning.on_size(1448);
        assert_eq!([1448, 1000, 200, 100].map(|len| tuning.growth(len)), [2896, 2896, 2896, 2896]);
        assert!(!tuning.on_segment(100, 100));
        tuning.window = (1 << 20) / 4 + 1;
        assert_eq!([1448, 1000, 200, 100].map(|len| tuning.growth(len)), [2896, 2896, 2896, 0]);
        tuning.window = (1 << 20) + 1;
        assert_eq!([1448, 1000, 200].map(|len| tuning.growth(len)), [2896, 0, 0]);
    }

    /// Half of the room is taken: no quick ACKs. A sixteenth or a segment is left: none is offered.
    #[test]
    fn little_room() {
        let mut tuning = Tuning::new(4 << 20, 1448, false);
        tuning.on_size(1448);
        assert_eq!([28, 29].map(|packets| tuning.offer(packets * 1448).is_short), [false, true]);
        // (131,072 - 29 * 2304) * 5 / 8 = 40,160, and whole parts of 64 bytes of it.
        assert_eq!([29, 53, 54].map(|packets| tuning.window(packets * 1448)), [40_128, 5568, 0]);
    }

    /// With 1000 bytes 111 parts of 256 are data: the window falls to what the segment leaves of 56,832.
    #[test]
    fn small_segments_take_the_window_back() {
        let mut tuning = Tuning::new(4 << 20, 1000, false);
        assert_eq!(tuning.window(0), 65_000);
        tuning.on_size(1000);
        assert_eq!((tuning.on_segment(1000, 1000), tuning.window(1000)), (false, 55_833));
    }

    /// Slow start by hand: 10, 20, 40 segments of 1000 bytes a round trip of 100 ms.
    #[test]
    fn grows_with_what_is_taken() {
        let mut tuning = Tuning::new(4 << 20, 1000, false);
        tuning.on_rtt(Duration::from_millis(100));
        tuning.on_size(1000);
        let ms = Time::from_millis;
        tuning.on_read(ms(0), 0, 0);
        tuning.on_read(ms(100), 10_000, 10_000);
        assert_eq!(tuning.bound(), 56_832, "ten segments are what the start is for");
        tuning.on_read(ms(150), 20_000, 20_000);
        tuning.on_read(ms(200), 30_000, 30_000);
        // 2 * 20 (1 + 2 * 10 / 10) = 120.
        assert_eq!((tuning.bound(), tuning.window(1000)), (119_999, 56_832));
        assert!(tuning.on_segment(1000, 1000));
        assert_eq!(tuning.window(1000), 58_832);
        (0..100).for_each(|_| {
            tuning.on_segment(1000, 1000);
        });
        assert_eq!((tuning.window(1000), tuning.on_segment(1000, 1000)), (119_000, false));
        tuning.on_read(ms(300), 10_000_000, 10_000_000);
        assert_eq!(tuning.bound(), 2 << 20);
    }

    /// The round ends with the first segment that is read; what waits behind it counts in the next.
    #[test]
    fn what_waits_belongs_to_the_next_round() {
        let mut tuning = Tuning::new(4 << 20, 1000, false);
        let ms = Time::from_millis;
        tuning.on_rtt(Duration::from_millis(100));
        tuning.on_size(1000);
        tuning.on_read(ms(0), 0, 0);
        // The gap is filled: 50 segments at once, of which 21 - 29 < 10 count.
        tuning.on_in_order(ms(100), 21_000);
        tuning.on_in_order(ms(100), 22_000);
        tuning.settle(ms(100), 50_000);
        assert!(tuning.waiting.is_some());
        tuning.settle(ms(101), 50_000);
        assert_eq!((tuning.bound(), tuning.round), (56_832, Some((ms(100), 21_000))));
        // 40 - 9 = 31: 2 * 31 (1 + 2 * 21 / 10) = 322.4.
        tuning.on_in_order(ms(200), 61_000);
        tuning.settle(ms(201), 70_000);
        assert_eq!((tuning.space, tuning.bound()), (31_000, 322_399));
    }

    /// Behind a gap: two segments for each that is SACKed, but not what they take of the room, which follows
    /// the last of them.
    #[test]
    fn grows_while_a_gap_is_open() {
        let mut tuning = Tuning::new(4 << 20, 1448, false);
        tuning.on_size(1448);
        assert!(tuning.grow(1448, 10_136));
        assert_eq!(tuning.window(11_584), 68_056);
        (0..10).for_each(|_| {
            tuning.grow(1448, 10_136);
        });
        // Seven packets are counted, and the latest in what may be offered.
        assert_eq!((tuning.window(10_136), tuning.window(11_584)), (71_840, 70_400));
        // 2 * 10 segments and what lies between.
        tuning.on_gap(52_000);
        assert_eq!(tuning.bound(), 81_920);
        tuning.on_gap(71_040);
        assert_eq!(tuning.bound(), 100_000);
        tuning.on_gap(u64::from(u32::MAX));
        assert_eq!(tuning.bound(), 2 << 20);
    }

    /// Without timestamps a round trip is the least time in which a window arrived: before the first there is
    /// none, and all that was taken until then counts as one.
    #[test]
    fn without_timestamps_a_window_is_timed() {
        let mut tuning = Tuning::new(4 << 20, 1000, false);
        let ms = Time::from_millis;
        tuning.on_size(1000);
        tuning.on_read(ms(0), 0, 0);
        tuning.on_window(ms(0), 1000, 65_000);
        tuning.on_window(ms(200), 65_999, 64_000);
        tuning.on_read(ms(200), 64_999, 64_999);
        assert_eq!((tuning.rtt, tuning.bound()), (Duration::ZERO, 56_832));
        tuning.on_window(ms(250), 66_000, 64_000);
        tuning.on_read(ms(250), 30_000, 30_000);
        // 2 * 30 (1 + 2 * 20 / 10) = 300.
        assert_eq!((tuning.rtt, tuning.bound()), (Duration::from_millis(250), 299_999));
        // The next window took longer, the one after it less.
        tuning.on_window(ms(600), 130_000, 64_000);
        assert_eq!(tuning.rtt, Duration::from_millis(250));
        tuning.on_window(ms(700), 194_000, 64_000);
        assert_eq!(tuning.rtt, Duration::from_millis(100));
    }

    /// Linux before 6.16: 2 * 20 + 16 = 56 segments, times 1 + 2 * 10 / 10. A gap changes nothing.
    #[test]
    fn a_margin_of_sixteen_segments() {
        let mut tuning = Tuning::new(4 << 20, 1000, true);
        tuning.on_rtt(Duration::from_millis(100));
        tuning.on_size(1000);
        tuning.on_read(Time::from_millis(0), 0, 0);
        tuning.on_read(Time::from_millis(100), 20_000, 20_000);
        assert_eq!(tuning.bound(), 167_999);
        tuning.on_gap(500_000);
        assert_eq!(tuning.bound(), 167_999);
    }

    /// A buffer smaller than the start.
    #[test]
    fn a_small_buffer_bounds_all() {
        let mut tuning = Tuning::new(16_000, 1448, false);
        tuning.on_size(1448);
        assert_eq!((tuning.window(0), tuning.on_segment(1448, 1448)), (16_000, false));
    }
}
