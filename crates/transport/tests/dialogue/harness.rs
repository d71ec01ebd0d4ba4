//! The machinery of the dialogues; `main.rs` explains how to use it.

mod pipe;
mod script;

pub use pipe::Pipe;
pub use script::parse;

use cogtcp_transport::*;
use cogtcp_units::{Duration, Time};
use std::collections::VecDeque;

/// Payload bytes per segment in the dialogues.
pub const MSS: u32 = 1000;
/// Round-trip time of the scripted handshakes, ms.
pub const RTT: u64 = 100;

/// The moment `ms` milliseconds after the start.
pub fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// `ms` milliseconds.
pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A sender's settings for dialogues: segments of [`MSS`] bytes, so many in the initial window.
pub fn sender_config(recovery: Recovery, initial_window: u32) -> SenderConfig {
    with!(
        SenderConfig::default(),
        handshake.mss = MSS,
        recovery.algorithm = recovery,
        initial_window = InitialWindow::Segments(initial_window)
    )
}

/// A receiver's settings for dialogues: segments of [`MSS`] bytes, a buffer of 64,000 bytes, every segment
/// acknowledged.
pub fn receiver_config() -> ReceiverConfig {
    with!(ReceiverConfig::default(), handshake.mss = MSS, delayed_ack = DelayedAck::Off, buffer = 64_000)
}

/// RFC 5681's congestion control.
pub fn aimd() -> Box<dyn CongestionControl> {
    make("aimd", &Parameters::new()).expect("aimd is in the registry")
}

/// What both kinds of dialogue need of an endpoint.
pub trait Endpoint {
    fn segment(&mut self, now: Time, segment: &Segment);
    fn timeout(&mut self, now: Time);
    fn transmit(&mut self, now: Time) -> Option<Segment>;
    fn next_timeout(&self) -> Time;
}

impl Endpoint for Sender {
    fn segment(&mut self, now: Time, segment: &Segment) {
        self.handle_segment(now, segment);
    }
    fn timeout(&mut self, now: Time) {
        self.handle_timeout(now);
    }
    fn transmit(&mut self, now: Time) -> Option<Segment> {
        self.poll_transmit(now)
    }
    fn next_timeout(&self) -> Time {
        self.poll_timeout()
    }
}

impl Endpoint for Receiver {
    fn segment(&mut self, now: Time, segment: &Segment) {
        self.handle_segment(now, segment);
    }
    fn timeout(&mut self, now: Time) {
        self.handle_timeout(now);
    }
    fn transmit(&mut self, now: Time) -> Option<Segment> {
        self.poll_transmit(now)
    }
    fn next_timeout(&self) -> Time {
        self.poll_timeout()
    }
}

/// One endpoint against a script.
#[derive(Debug)]
pub struct Dialogue<E> {
    /// The endpoint, for questions the script asks it directly.
    pub end: E,
    now: Time,
    /// Initial sequence numbers: the endpoint's own and the script's.
    own_isn: SeqNumber,
    script_isn: SeqNumber,
    /// What the endpoint sent and the script has not looked at.
    output: VecDeque<(Time, Segment)>,
}

pub type SenderDialogue = Dialogue<Sender>;
pub type ReceiverDialogue = Dialogue<Receiver>;

/// The scripted end's initial sequence number: not 0, so that mixed-up directions show.
const SCRIPT_ISN: SeqNumber = SeqNumber::new(700_000);

impl<E: Endpoint> Dialogue<E> {
    fn new(end: E, own_isn: SeqNumber, script_isn: SeqNumber) -> Self {
        Self { end, now: Time::ZERO, own_isn, script_isn, output: VecDeque::new() }
    }

    /// Gives the endpoint the segments of `text`, now.
    #[track_caller]
    pub fn send(&mut self, text: &str) {
        self.assert_silent();
        for pattern in parse(text) {
            let segment = pattern.build(self.script_isn, self.own_isn);
            self.end.segment(self.now, &segment);
            self.drain();
        }
    }

    /// Asks the endpoint for one segment and no more; whether it had one.
    pub fn poll_once(&mut self) -> bool {
        self.end.transmit(self.now).is_some()
    }

    /// Gives the endpoint the segments of `text`, now, and does not ask it for any.
    pub fn give(&mut self, text: &str) {
        for pattern in parse(text) {
            self.end.segment(self.now, &pattern.build(self.script_isn, self.own_isn));
        }
    }

    /// Gives the endpoint the segments of `text`, now, and expects exactly `answer`.
    #[track_caller]
    pub fn exchange(&mut self, text: &str, answer: &str) {
        self.send(text);
        self.expect(answer);
    }

    /// Exactly these segments have been sent, all of them now.
    #[track_caller]
    pub fn expect(&mut self, text: &str) {
        self.drain();
        let patterns = parse(text);
        let sent: Vec<(Time, Segment)> = self.output.drain(..).collect();
        let fits = sent.len() == patterns.len()
            && sent.iter().zip(&patterns).all(|((time, segment), pattern)| {
                *time == self.now && pattern.matches(segment, self.own_isn, self.script_isn)
            });
        assert!(fits, "at {:?}: expected {text:?}, sent:{}", self.now, self.render(&sent));
    }

    /// Nothing has been sent.
    #[track_caller]
    pub fn expect_nothing(&mut self) {
        self.expect("");
    }

    /// Looks at nothing of what was sent.
    pub fn drained(&mut self) {
        self.drain();
        self.output.clear();
    }

    /// Of each segment that was sent whether it bears PSH.
    pub fn pushed(&mut self) -> Vec<bool> {
        self.drain();
        self.output.drain(..).map(|(_, segment)| segment.flags.contains(Flags::PSH)).collect()
    }

    /// Moves time to the endpoint's next timer, which may stand between milliseconds, and expects exactly
    /// these segments.
    #[track_caller]
    pub fn expect_after_timeout(&mut self, text: &str) {
        self.advance(self.end.next_timeout());
        self.expect(text);
    }

    /// Moves time to `ms`; the endpoint's timers run and must not make it send anything.
    #[track_caller]
    pub fn at(&mut self, ms: u64) {
        self.advance(at(ms));
        self.assert_silent();
    }

    /// Moves time to `ms`, where exactly these segments are sent; none before.
    #[track_caller]
    pub fn expect_at(&mut self, ms: u64, text: &str) {
        self.advance(at(ms));
        self.expect(text);
    }

    /// Now, in milliseconds.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whatever was sent and not yet looked at, as text.
    pub fn render(&self, sent: &[(Time, Segment)]) -> String {
        if sent.is_empty() {
            return " nothing".to_owned();
        }
        sent.iter().map(|(time, segment)| format!("\n  {time:?} {}", self.describe(segment))).collect()
    }

    fn describe(&self, segment: &Segment) -> String {
        let mut relative = *segment;
        relative.seq = SeqNumber::new(segment.seq.get().wrapping_sub(self.own_isn.get()));
        relative.ack = SeqNumber::new(segment.ack.get().wrapping_sub(self.script_isn.get()));
        format!("{relative:?} (numbers relative, SACK blocks against ISN {})", self.script_isn)
    }

    #[track_caller]
    fn assert_silent(&mut self) {
        self.drain();
        let sent: Vec<_> = self.output.drain(..).collect();
        assert!(sent.is_empty(), "at {:?}: not expected:{}", self.now, self.render(&sent));
    }

    /// Runs the endpoint's timers up to and including `until`.
    #[track_caller]
    fn advance(&mut self, until: Time) {
        assert!(until >= self.now, "the script's time runs forward");
        self.assert_silent();
        let mut steps = 0;
        while self.end.next_timeout() <= until {
            self.now = self.now.max(self.end.next_timeout());
            self.end.timeout(self.now);
            self.drain();
            steps += 1;
            assert!(steps < 100_000, "the timer does not move: {:?}", self.end.next_timeout());
        }
        self.now = until;
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(segment) = self.end.transmit(self.now) {
            self.output.push_back((self.now, segment));
            assert!(self.output.len() < 100_000, "the endpoint never stops sending");
        }
    }
}

impl SenderDialogue {
    /// A sender that has not opened yet.
    pub fn closed(config: SenderConfig) -> Self {
        Self::with_control(config, aimd())
    }

    /// The same with another congestion control.
    pub fn with_control(config: SenderConfig, control: Box<dyn CongestionControl>) -> Self {
        let isn = config.handshake.initial_sequence;
        Self::new(Sender::new(config, control), isn, SCRIPT_ISN)
    }

    /// A sender after a handshake of [`RTT`] ms from time 0: it is 100 ms now. The peer permits SACK, does
    /// not scale its window, advertises 65,535 bytes and answers timestamps if they are offered.
    #[track_caller]
    pub fn connected(config: SenderConfig) -> Self {
        let timestamps = config.handshake.timestamps;
        let mut dialogue = Self::closed(config);
        dialogue.handshake(&format!(
            "S. ack 1 mss 1460 sackOK ws 0{}",
            if timestamps { " ts 5000/0" } else { "" }
        ));
        dialogue
    }

    /// The handshake from time 0 with this SYN-ACK.
    #[track_caller]
    pub fn handshake(&mut self, syn_ack: &str) {
        self.end.open(self.now);
        self.drain();
        assert_eq!(self.output.len(), 1, "open sends the SYN");
        self.output.clear();
        self.at(self.now.as_nanos() / 1_000_000 + RTT);
        self.send(syn_ack);
        self.expect("ack 1");
    }

    /// The application writes so many segments, now.
    pub fn write_segments(&mut self, count: u64) {
        self.end.write(count * u64::from(MSS));
    }

    /// cwnd in segments, rounded down.
    pub fn cwnd(&self) -> u64 {
        self.end.state().cwnd / u64::from(MSS)
    }

    /// ssthresh in segments, rounded down.
    pub fn ssthresh(&self) -> u64 {
        self.end.state().ssthresh / u64::from(MSS)
    }

    /// RTO now, with its back-off left out, ms.
    pub fn rto_ms(&self) -> u64 {
        self.end.state().rto.as_nanos() / 1_000_000
    }

    /// Every event so far.
    pub fn events(&mut self) -> Vec<TransportEvent> {
        std::iter::from_fn(|| self.end.poll_event()).collect()
    }
}

impl ReceiverDialogue {
    /// A receiver in LISTEN.
    pub fn listening(config: ReceiverConfig) -> Self {
        Self::from_isn(config, SCRIPT_ISN)
    }

    /// The same, the script's sequence numbers beginning at `isn`.
    pub fn from_isn(config: ReceiverConfig, isn: SeqNumber) -> Self {
        let own = config.handshake.initial_sequence;
        Self::new(Receiver::new(config), own, isn)
    }

    /// A receiver after the handshake, at time 0. The script offered SACK and no timestamps.
    #[track_caller]
    pub fn connected(config: ReceiverConfig) -> Self {
        Self::connected_by(config, "S @0 mss 1000 sackOK ws 0")
    }

    /// A receiver after a handshake with this SYN.
    #[track_caller]
    pub fn connected_by(config: ReceiverConfig, syn: &str) -> Self {
        let mut dialogue = Self::listening(config);
        dialogue.establish(syn);
        dialogue
    }

    /// SYN, SYN-ACK, ACK, now. With `ts v/e` in the SYN, the ACK carries the same.
    #[track_caller]
    pub fn establish(&mut self, syn: &str) {
        self.exchange(syn, "S. ack 1");
        let stamp = parse(syn)[0].ts.map(|(value, echo)| format!(" ts {value}/{echo}")).unwrap_or_default();
        self.exchange(&format!("@1 ack 1{stamp}"), "");
        assert_eq!(self.end.state(), ReceiverState::Established);
    }
}
