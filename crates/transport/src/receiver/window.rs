//! The receive window: how much room is advertised, and when the advertised edge may move.

/// Most that the window field says (RFC 9293 section 3.1).
const FIELD_MAX: u64 = 65_535;
/// Greatest shift count (RFC 7323 section 2.3).
const MAX_SHIFT: u8 = 14;

/// The receive window, in offsets of the peer's stream.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Receive buffer, bytes.
    buffer: u64,
    /// By how much the right edge moves at least: min(buffer / 2, MSS), and a byte.
    step: u64,
    /// Offset up to which the application has taken the stream.
    taken: u64,
    /// Highest right edge ever advertised: it never moves back (RFC 9293 section 3.8.6).
    right_edge: u64,
    /// Rcv.Wind.Shift, when scaling is in use.
    scale: Option<u8>,
    /// Most that the next window can advertise.
    limit: u64,
    /// Most that it may advertise by the tuning of the buffer.
    tuned: u64,
}

impl Window {
    pub(super) fn new(buffer: u64, mss: u32) -> Self {
        // A window of nothing would never let the connection begin.
        Self {
            buffer: buffer.max(1),
            step: (buffer / 2).min(u64::from(mss)).max(1),
            taken: 1,
            right_edge: 1,
            scale: None,
            limit: FIELD_MAX,
            tuned: u64::MAX,
        }
    }

    /// No window above `most` is to be advertised from now on.
    pub(super) fn set_tuned(&mut self, most: u64) {
        self.tuned = most;
    }

    /// The application has taken what waited, so that `room` may be advertised: it is, from twice of what it
    /// was on (`tcp_cleanup_rbuf`).
    pub(super) fn give_back(&mut self, room: u64) {
        if self.gives_back(room) {
            self.tuned = room;
        }
    }

    /// What an ACK may offer while `unread` bytes wait for the application, rounded up to what its field can
    /// say.
    pub(super) fn offer(&self, unread: u64) -> u64 {
        let room = self.buffer.saturating_sub(unread).min(self.tuned).min(FIELD_MAX << self.shift());
        room.next_multiple_of(1 << self.shift())
    }

    fn gives_back(&self, room: u64) -> bool {
        room >= 2 * self.tuned.max(1)
    }

    /// The peer offered scaling: takes `shift`, or the least that can express the buffer.
    pub(super) fn negotiate_scale(&mut self, shift: Option<u8>) {
        let shift = shift.or_else(|| (0..MAX_SHIFT).find(|shift| self.buffer >> shift <= FIELD_MAX));
        self.scale = Some(shift.map_or(MAX_SHIFT, |shift| shift.min(MAX_SHIFT)));
    }

    /// The window field for an ACK of `frontier`.
    pub(super) fn field(&self, frontier: u64) -> u16 {
        let shift = self.shift();
        let limit = FIELD_MAX << shift;
        let mut window = self.edge(frontier, limit, self.tuned).saturating_sub(frontier);
        if self.is_tuned() {
            // So that the scale takes nothing away (`__tcp_select_window`, `tcp_select_window`).
            window = window.next_multiple_of(1 << shift);
        }
        (window.min(limit) >> shift) as u16
    }

    /// An ACK of `frontier` is sent with [`Self::field`], which is returned.
    pub(super) fn advertise(&mut self, frontier: u64) -> u16 {
        let (field, shift) = (self.field(frontier), self.shift());
        self.right_edge = self.right_edge.max(frontier + (u64::from(field) << shift));
        // Windows after the SYN-ACK's are scaled (RFC 7323 section 2.2).
        self.limit = FIELD_MAX << shift;
        field
    }

    /// The window field of the SYN-ACK, never scaled (RFC 7323 section 2.2), counted as advertised.
    pub(super) fn advertise_unscaled(&mut self) -> u16 {
        let window = self.buffer.min(self.tuned).min(FIELD_MAX);
        self.right_edge = self.right_edge.max(1 + window);
        window as u16
    }

    /// The application took `bytes` bytes.
    pub(super) fn read(&mut self, bytes: u64) {
        self.taken += bytes;
    }

    /// True if reading opened the window so far that it needs its own ACK. The edge may then move, and the
    /// rest of the advertised window is at most half of the possible window. RFC 9293 section 3.8.6.2.2 only
    /// bounds the moment; the factor of two is Linux's. It keeps automatic reading from defeating delayed
    /// ACKs.
    pub(super) fn update_due(&self, frontier: u64, room: Option<u64>) -> bool {
        let tuned = room.filter(|room| self.gives_back(*room)).unwrap_or(self.tuned);
        let edge = self.edge(frontier, self.limit, tuned);
        let offered = self.right_edge.saturating_sub(frontier);
        edge > self.right_edge && edge.saturating_sub(frontier) >= 2 * offered
    }

    /// Offset up to which the application has taken the stream.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Highest right edge advertised. Data up to it is accepted, also when rounding by the scale made a later
    /// window smaller (RFC 7323 section 2.4).
    pub(super) fn right_edge(&self) -> u64 {
        self.right_edge
    }

    /// Rcv.Wind.Shift, when scaling is in use.
    pub(super) fn scale(&self) -> Option<u8> {
        self.scale
    }

    /// Whether the window is one of Linux's that is scaled: its edge moves by any step.
    fn is_tuned(&self) -> bool {
        self.tuned != u64::MAX && self.shift() > 0
    }

    fn shift(&self) -> u8 {
        self.scale.unwrap_or(0)
    }

    /// Silly window avoidance (RFC 9293 section 3.8.6.2.2): the right edge stays until it can move by
    /// min(buffer / 2, MSS). With an empty buffer the tuned window is enough: a closed window opens again.
    fn edge(&self, frontier: u64, limit: u64, tuned: u64) -> u64 {
        let room = (self.taken + self.buffer).min(frontier + limit.min(tuned));
        let step = if self.is_tuned() {
            0
        } else if self.taken >= frontier {
            self.step.min(tuned.max(1))
        } else {
            self.step
        };
        if room >= self.right_edge + step { room } else { self.right_edge }
    }
}

#[cfg(test)]
mod tests {
    use super::Window;

    /// A buffer of less than a segment: the tuning leaves less than the edge moves at least.
    #[test]
    fn an_empty_buffer_opens_a_closed_window() {
        let mut window = Window::new(838, 1000);
        window.set_tuned(348);
        assert_eq!(window.advertise(1), 348);
        assert_eq!(window.advertise(349), 0, "348 bytes wait");
        window.read(348);
        assert_eq!(window.advertise(349), 348);
    }
}
