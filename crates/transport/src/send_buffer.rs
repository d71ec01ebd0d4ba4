//! What the application has handed to a socket of Linux: buffers of up to 64 KiB, each of whole segments, and
//! no more than the socket's memory (`tcp_sendmsg_locked`).
//!
//! ```text
//! a buffer takes      whole segments: 64 KiB less headers, half of the peer's largest    tcp_xmit_size_goal
//!                     window at most
//! memory at first     10 segments twice, 4352 bytes each; it grows to twice cwnd when    tcp_sndbuf_expand
//!                     an ACK comes, or a packet leaves, and cwnd is not full
//! a full one          takes more when a third of the memory is free                      sk_stream_is_writeable
//! unsent data         128 KiB are enough, and half of it before more is written          TCP_NOTSENT_LOWAT
//! the last byte       of a call or of half a window bears PSH                            tcp_mark_push
//! ```
//!
//! Where a buffer ends decides whether a packet waits for the next ACK (`tcp_tso_should_defer`), and its PSH brings
//! an ACK early. Each packet that leaves is a buffer of its own until it is acknowledged, or merged with others that SACK
//! reports. The option is what the sockets of `cogtcp emulate` set; in virtual time a saturated application writes in
//! one call.

use crate::offload;
use std::collections::VecDeque;

/// `MAX_TCP_HEADER` of kernels with wireless drivers and tunnels.
const MAX_HEADER: u64 = 320;
/// What a buffer takes, whatever the window (`sk_setup_caps`).
const LARGEST: u64 = offload::LARGEST - MAX_HEADER - 1;
/// Bytes that the application gives in a call, as `cogtcp emulate` does.
const CALL: u64 = 65_536;
/// `per_mss` of `tcp_sndbuf_expand` beyond the segment: timestamps, headers, `skb_shared_info`; and `sk_buff`.
const HEADERS: u64 = 12 + MAX_HEADER + 320;
const SK_BUFF: u64 = 256;
/// Memory of a buffer without data (`SKB_TRUESIZE`).
const EMPTY: u64 = 960;
/// Unsent data that an application keeps in the socket.
const UNSENT: u64 = 131_072;
/// `TCP_INIT_CWND`.
const INITIAL: u64 = 10;
/// `tcp_bound_to_half_wnd`: a peer's window up to this is no reason for small buffers.
const SMALL_WINDOW: u64 = 536;

/// Buffers that were not sent whole.
#[derive(Debug, Default)]
pub(crate) struct SendBuffer {
    /// Where they end, in order.
    ends: VecDeque<End>,
    /// Where the packets end that have left, as far as they are not acknowledged.
    packets: VecDeque<u64>,
    /// Offset after what the application has written.
    written: u64,
    /// `sk_sndbuf`.
    memory: u64,
    /// The greatest cwnd that it was made for.
    cwnd: u64,
    /// `pushed_seq`.
    pushed: u64,
    /// Bytes of a call that has paused.
    rest: u64,
    /// The call goes on when one packet has left (`tcp_push_one`); whether it has.
    one: Option<bool>,
    /// The application found no memory free, and waits.
    is_full: bool,
}

#[derive(Clone, Copy, Debug)]
struct End {
    at: u64,
    pushed: bool,
}

/// What a sender knows when its application may write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    /// Bytes in flight.
    pub(crate) in_flight: u64,
    pub(crate) cwnd: u64,
    pub(crate) mss: u64,
    /// The largest window that the peer has offered.
    pub(crate) window: u64,
    /// Windows that the memory is to hold (`sndbuf_expand`).
    pub(crate) windows: u64,
    /// Offset after what the application has to write.
    pub(crate) goal: u64,
}

/// Bytes of a full buffer, whatever the window.
pub(crate) fn full_buffer(mss: u64) -> u64 {
    whole_segments(LARGEST, mss)
}

/// As many segments as fit, one at least.
fn whole_segments(bytes: u64, mss: u64) -> u64 {
    (bytes / mss).max(1) * mss
}

impl Standing {
    /// cwnd lets a segment go.
    pub(crate) const fn has_room(&self) -> bool {
        self.in_flight + self.mss <= self.cwnd
    }
}

impl SendBuffer {
    /// An empty one of a connection whose data begin at `start`.
    pub(crate) fn new(start: u64) -> Self {
        Self { written: start, pushed: start, ..Self::default() }
    }

    /// Offset after what the application has written.
    pub(crate) const fn written(&self) -> u64 {
        self.written
    }

    /// The application writes, if it has something and finds memory free: one call, or as much of it as comes
    /// before a packet may leave. Returns whether it wrote.
    pub(crate) fn write(&mut self, now: Standing) -> bool {
        if self.written >= now.goal {
            return false;
        }
        if self.memory == 0 {
            self.expand(now);
        }
        self.check(now);
        if self.is_full {
            return false;
        }
        let before = self.written;
        self.call(now);
        self.written > before
    }

    /// A packet has left, or an ACK was taken: memory may grow, and the application need wait no more
    /// (`tcp_check_space`). Returns whether it waited, and may write now.
    pub(crate) fn check(&mut self, now: Standing) -> bool {
        if !self.is_full {
            return false;
        }
        while self.packets.front().is_some_and(|end| *end <= now.una) {
            self.packets.pop_front();
        }
        if now.has_room() {
            self.expand(now);
        }
        let unsent = self.written.saturating_sub(now.nxt);
        self.is_full = 2 * self.memory < 3 * self.used(now.una) || 2 * unsent >= UNSENT;
        !self.is_full
    }

    /// `tcp_sndbuf_expand`.
    fn expand(&mut self, now: Standing) {
        let segment = (now.mss + HEADERS).next_power_of_two() + SK_BUFF;
        self.memory = self.memory.max(now.windows * (now.cwnd / now.mss).max(INITIAL) * segment);
        self.cwnd = self.cwnd.max(now.cwnd);
    }

    /// The application waits, and nothing that it waits for can have come: enough is unsent, and the memory is as
    /// large as cwnd wants.
    #[inline]
    pub(crate) const fn waits(&self, nxt: u64, cwnd: u64) -> bool {
        self.is_full && 2 * self.written.saturating_sub(nxt) >= UNSENT && cwnd <= self.cwnd
    }

    /// The application goes on before a second packet leaves.
    pub(crate) fn goes_on_now(&self) -> bool {
        self.one == Some(true)
    }

    /// The next packet does not wait for more.
    pub(crate) fn pushes_one(&self) -> bool {
        self.one == Some(false)
    }

    /// The application has more to write, and is not waiting for memory.
    pub(crate) const fn goes_on(&self) -> bool {
        !self.is_full
    }

    /// One call of the application, or the rest of it. Where a packet may leave, it pauses when a full buffer is the
    /// first one (`tcp_push_one`) or bears PSH. A saturated application has one call that never ends.
    fn call(&mut self, now: Standing) {
        let largest = if now.window > SMALL_WINDOW { LARGEST.min(now.window / 2) } else { LARGEST };
        let goal = whole_segments(largest, now.mss);
        let mut is_first = self.rest == 0;
        let is_endless = now.goal == u64::MAX;
        if is_first {
            self.rest = if is_endless { u64::MAX } else { CALL.min(now.goal - self.written) };
        }
        self.one = None;
        while self.rest > 0 {
            let start = self.ends.iter().rev().nth(1).map_or(now.nxt, |end| end.at.max(now.nxt));
            let mut room = self.ends.back().map_or(0, |end| goal.saturating_sub(end.at - start));
            if room == 0 {
                if self.used(now.una) >= self.memory || self.written - now.nxt >= UNSENT {
                    self.is_full = true;
                    if is_endless {
                        return self.push_end();
                    }
                    break;
                }
                self.ends.push_back(End { at: self.written, pushed: false });
                room = goal;
            }
            let copied = room.min(self.rest);
            self.written += copied;
            self.rest -= copied;
            // `forced_push`: half a window has no PSH.
            let is_filled = self.rest > 0;
            let forced = is_filled && self.written > self.pushed + now.window / 2;
            if let Some(end) = self.ends.back_mut() {
                end.at = self.written;
                end.pushed = (end.pushed && !is_first) || forced;
            }
            if forced {
                self.pushed = self.written;
            }
            if is_filled && now.has_room() && (forced || self.ends.len() == 1) {
                self.one = (!forced).then_some(false);
                return;
            }
            is_first = false;
        }
        self.rest = 0;
        if !is_first {
            self.push_end();
        }
    }

    /// `tcp_mark_push`.
    fn push_end(&mut self) {
        if let Some(end) = self.ends.back_mut() {
            end.pushed = true;
            self.pushed = self.written;
        }
    }

    /// `sk_wmem_queued`.
    fn used(&self, una: u64) -> u64 {
        self.written - una + EMPTY * (self.packets.len() + self.ends.len()) as u64
    }

    /// A packet of at most `most` bytes is to leave at `nxt`. The first buffer takes the missing bytes from the second
    /// (`tcp_grow_skb`, since Linux 6.11), and the PSH with the last of them.
    pub(crate) fn grow(&mut self, nxt: u64, most: u64) {
        let (Some(first), Some(second)) = (self.ends.front().copied(), self.ends.get(1).copied()) else {
            return;
        };
        let at = (nxt + most).min(second.at);
        if at <= first.at {
            return;
        }
        let is_eaten = at == second.at;
        if is_eaten {
            self.ends.pop_front();
        }
        if let Some(end) = self.ends.front_mut() {
            *end = End { at, pushed: first.pushed || (is_eaten && second.pushed) };
        }
    }

    /// Bytes from `nxt` to the end of its buffer, and whether that is the last one, which may still grow.
    pub(crate) fn left(&self, nxt: u64) -> (u64, bool) {
        (self.ends.front().map_or(0, |end| end.at.saturating_sub(nxt)), self.ends.len() < 2)
    }

    /// SACK reports what lies between two offsets: the packets there become one, and those at its edges are cut
    /// (`tcp_shift_skb_data`, `tcp_match_skb_to_sack`).
    pub(crate) fn on_sack(&mut self, una: u64, start: u64, end: u64) {
        let first = self.packets.partition_point(|at| *at <= start);
        let last = self.packets.partition_point(|at| *at < end);
        let is_cut_before = start > una && (first == 0 || self.packets[first - 1] != start);
        let is_cut_behind = self.packets.get(last).is_some_and(|at| *at != end);
        self.packets.drain(first..last);
        if is_cut_behind {
            self.packets.insert(first, end);
        }
        if is_cut_before {
            self.packets.insert(first, start);
        }
    }

    /// A segment leaves that ends before `nxt`, the last of its packet or not. Returns whether a buffer that bears
    /// PSH ends there.
    #[inline]
    pub(crate) fn on_send(&mut self, nxt: u64, is_last: bool) -> bool {
        if is_last {
            self.one = self.one.map(|_| true);
            self.packets.push_back(nxt);
        }
        let mut pushed = false;
        while let Some(end) = self.ends.front().copied().filter(|end| end.at <= nxt) {
            pushed = end.pushed && end.at == nxt;
            self.ends.pop_front();
        }
        pushed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    fn standing(una: u64, nxt: u64, window: u64) -> Standing {
        Standing {
            una,
            nxt,
            in_flight: nxt - una,
            cwnd: 10 * MSS,
            mss: MSS,
            window,
            windows: 2,
            goal: u64::MAX,
        }
    }

    /// Writes until the application waits for memory. Whether it wrote at all.
    fn fill(buffer: &mut SendBuffer, now: Standing) -> bool {
        let wrote = buffer.write(now);
        while buffer.goes_on() && buffer.write(now) {}
        wrote
    }

    /// A first packet leaves before the call goes on, and the buffer takes as much again.
    #[test]
    fn what_has_left_makes_room_in_the_buffer() {
        let mut buffer = SendBuffer::new(1);
        assert!(buffer.write(standing(1, 1, 65_160)) && buffer.goes_on());
        assert_eq!((buffer.written(), buffer.left(1)), (1 + 22 * MSS, (22 * MSS, true)));
        buffer.on_send(1 + 10 * MSS, true);
        assert!(fill(&mut buffer, standing(1, 1 + 10 * MSS, 65_160)));
        assert_eq!((buffer.written(), buffer.left(1 + 10 * MSS)), (1 + 76 * MSS, (22 * MSS, false)));
    }

    /// The window of a SYN-ACK makes buffers of 22 segments; 87,040 bytes of memory take three.
    #[test]
    fn a_new_connection_has_three_buffers() {
        let mut buffer = SendBuffer::new(1);
        assert!(fill(&mut buffer, standing(1, 1, 65_160)) && buffer.is_full);
        assert_eq!((buffer.memory, buffer.written()), (87_040, 1 + 66 * MSS));
        assert_eq!(buffer.left(1), (22 * MSS, false));
        assert_eq!(buffer.left(1 + 10 * MSS), (12 * MSS, false));
        assert!(!buffer.on_send(1 + 21 * MSS, true));
        // Half of the window is behind the first buffer: PSH, as in `forced_push`. The last one ends the call.
        assert!(!buffer.on_send(1 + 22 * MSS, true) && buffer.on_send(1 + 44 * MSS, true));
        assert_eq!(buffer.left(1 + 44 * MSS), (22 * MSS, true));
        assert!(buffer.on_send(1 + 66 * MSS, true));
        // BBR's memory holds three windows: a buffer more.
        let mut buffer = SendBuffer::new(1);
        fill(&mut buffer, Standing { windows: 3, ..standing(1, 1, 65_160) });
        assert_eq!((buffer.memory, buffer.written()), (130_560, 1 + 88 * MSS));
    }

    /// The application writes again when a third of the memory is free. Its memory grows where cwnd is not full,
    /// and buffers with the peer's window.
    #[test]
    fn what_is_acknowledged_makes_room() {
        let mut buffer = SendBuffer::new(1);
        let at = |una, sent| standing(1 + una * MSS, 1 + sent * MSS, 300_000);
        assert!(fill(&mut buffer, standing(1, 1, 65_160)));
        for sent in [10, 20, 32, 42] {
            buffer.on_send(1 + sent * MSS, true);
        }
        let before = buffer.written();
        assert!(!buffer.write(at(28, 42)));
        assert!(fill(&mut buffer, at(29, 42)));
        assert_eq!(buffer.memory, 87_040);
        // The last buffer takes what is missing to 45 segments, then a new one begins.
        assert_eq!(buffer.written(), before + (45 - 22) * MSS);
        buffer.on_send(1 + 46 * MSS, true);
        let roomy = Standing { cwnd: 40 * MSS, ..at(29, 46) };
        assert!(buffer.write(roomy) && buffer.memory == 2 * 40 * 4352);
    }

    /// The first buffer takes what a packet lacks from the second, and keeps its PSH; all of it with its own.
    #[test]
    fn a_packet_takes_from_the_next_buffer() {
        let mut buffer = SendBuffer::new(1);
        fill(&mut buffer, standing(1, 1, 65_160));
        let at = |segments: u64| 1 + segments * MSS;
        buffer.on_send(at(21), true);
        buffer.grow(at(21), MSS);
        assert_eq!(buffer.left(at(21)), (MSS, false));
        buffer.grow(at(21), 2 * MSS);
        assert_eq!(buffer.left(at(21)), (2 * MSS, false));
        assert!(!buffer.on_send(at(23), true));
        buffer.on_send(at(43), true);
        buffer.grow(at(43), 2 * MSS);
        assert!(buffer.on_send(at(45), true), "what ended at 44 bore PSH");
        let mut whole = SendBuffer::new(1);
        fill(&mut whole, standing(1, 1, 65_160));
        whole.on_send(at(43), true);
        whole.grow(at(43), 100 * MSS);
        assert_eq!(whole.left(at(43)), (23 * MSS, true));
        assert!(whole.on_send(at(66), true));
    }

    /// Packets of two segments; SACK reports the second segment of one to the first of another.
    #[test]
    fn what_sack_reports_is_one_buffer() {
        let mut buffer = SendBuffer::new(1);
        fill(&mut buffer, standing(1, 1, 65_160));
        let at = |segments: u64| 1 + segments * MSS;
        (1..=5).for_each(|pair| {
            buffer.on_send(at(2 * pair), true);
        });
        let before = buffer.used(1);
        buffer.on_sack(1, at(3), at(9));
        assert_eq!(buffer.packets, [2, 3, 9, 10].map(at));
        assert_eq!(before - buffer.used(1), EMPTY);
        buffer.on_sack(1, at(3), at(10));
        assert_eq!(buffer.packets, [2, 3, 10].map(at));
        buffer.on_sack(1, 1, at(2));
        assert_eq!(buffer.packets, [2, 3, 10].map(at));
    }

    /// A full buffer that is the first lets one packet go at once; then the application writes on.
    #[test]
    fn one_packet_leaves_before_the_call_goes_on() {
        let mut buffer = SendBuffer::new(1);
        assert!(!buffer.pushes_one());
        buffer.write(standing(1, 1, 65_160));
        assert!(buffer.pushes_one() && !buffer.goes_on_now());
        buffer.on_send(1 + MSS, false);
        assert!(buffer.pushes_one());
        buffer.on_send(1 + 2 * MSS, true);
        assert!(buffer.goes_on_now() && !buffer.pushes_one());
        // Two more segments are beyond half of the window: PSH, and all that may leave.
        buffer.write(standing(1, 1 + 2 * MSS, 65_160));
        assert_eq!((buffer.one, buffer.written(), buffer.pushed), (None, 1 + 24 * MSS, 1 + 24 * MSS));
    }

    /// The PSH of a call's end is gone when the next call fills the buffer; a saturated application's call ends nowhere.
    #[test]
    fn a_call_that_ends_gives_up_its_psh() {
        let ends = |goal| {
            let mut buffer = SendBuffer::new(1);
            // Nothing may leave.
            let now = Standing { goal, cwnd: 100 * MSS, in_flight: 100 * MSS, ..standing(1, 1, 300_000) };
            while buffer.write(now) {}
            buffer.ends.iter().map(|end| ((end.at - 1) / MSS, end.pushed)).collect::<Vec<_>>()
        };
        assert_eq!(ends(1 + CALL), [(45, false), (45, true)]);
        assert_eq!(ends(1 + 2 * CALL), [(45, false), (90, false), (90, true)]);
        assert_eq!(ends(u64::MAX), [(45, false), (90, false), (135, true)]);
    }

    /// However much memory there is: 128 KiB that were not sent are enough, and half of it is no reason to write.
    #[test]
    fn little_is_unsent() {
        let mut buffer = SendBuffer::new(1);
        let now = Standing { cwnd: 1000 * MSS, ..standing(1, 1, 300_000) };
        assert!(fill(&mut buffer, now));
        assert_eq!(buffer.written(), 1 + 3 * 45 * MSS);
        let later = |sent| standing(1 + sent * MSS, 1 + sent * MSS, 300_000);
        buffer.on_send(1 + 89 * MSS, true);
        assert!(!buffer.write(later(89)));
        buffer.on_send(1 + 90 * MSS, true);
        assert!(buffer.write(later(90)));
    }

    /// What ends with a call may still grow: PSH goes to the new end.
    #[test]
    fn a_call_continues_the_last_buffer() {
        let mut buffer = SendBuffer::new(1);
        let small = |goal| Standing { goal, ..standing(1, 1, 65_160) };
        assert!(buffer.write(small(1001)) && !buffer.write(small(1001)));
        assert!(buffer.write(small(2001)));
        assert_eq!(buffer.left(1), (2000, true));
        assert!(!buffer.on_send(1001, true) && buffer.on_send(2001, true));
        assert_eq!(buffer.left(2001), (0, true));
    }
}
