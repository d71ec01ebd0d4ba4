//! The model's end under a clock made by hand: a sender and a receiver (`duplex`).

mod duplex;
mod fields;

use crate::packet::{EcnCodepoint, Icmp, ScriptPacket};
use crate::run::{Heard, Moment, Report, ScriptPlane, Tolerance, run};
use crate::script::{Call, CallError, Errno, PlaneName, Script, ScriptError, Side, SocketOption};
use cogtcp_transport::{CongestionControl, Flags, Segment, SenderConfig, SeqNumber, make, with};
use cogtcp_units::{Duration, Time};
use duplex::{Duplex, Ended};
use std::fmt;

/// Initial sequence number of the peer that the script plays: near the end of the numbers, so that they wrap.
pub const PEER_INITIAL: u32 = u32::MAX - 10_000;

/// Tick of the kernels that packetdrill's suites are written for (HZ = 1000): the one thing in which the end
/// under test is not as the preset says. The tolerance is the script's own.
const DRILL_TICK: Duration = Duration::from_millis(1);
/// Room that timestamps take of a segment there (RFC 7323 appendix A).
const TIMESTAMPS: u16 = 12;

const FLAGS: [Flags; 8] =
    [Flags::FIN, Flags::SYN, Flags::RST, Flags::PSH, Flags::ACK, Flags::ECE, Flags::CWR, Flags::AE];

/// Plays a script on the model.
pub fn play(script: &Script) -> Result<Report, ScriptError> {
    let control = make(&script.flow.control.name, &script.flow.control.parameters)
        .map_err(|error| ScriptError::wrong(&script.file, 1, error.to_string()))?;
    let mut model = Model { script, control: Some(control), end: None, now: Time::ZERO };
    Ok(run(script, &mut model, Tolerance::default()))
}

struct Model<'a> {
    script: &'a Script,
    control: Option<Box<dyn CongestionControl>>,
    end: Option<Box<Duplex>>,
    now: Time,
}

impl fmt::Debug for Model<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("now", &self.now).finish_non_exhaustive()
    }
}

impl Model<'_> {
    fn own_initial(&self) -> SeqNumber {
        self.script.flow.sender.handshake.initial_sequence
    }

    /// Puts a new end in place of a listening one whose connection came to nothing.
    fn listen_again(&mut self) -> Result<(), String> {
        if self.end.as_ref().is_some_and(|both| both.listens_again()) {
            let control = &self.script.flow.control;
            let control = make(&control.name, &control.parameters).map_err(|error| error.to_string())?;
            self.listen(control);
        }
        Ok(())
    }

    fn listen(&mut self, control: Box<dyn CongestionControl>) {
        let mut sender = self.sender_config();
        // Who listens agrees to ECN for both directions.
        sender.handshake.ecn = self.script.flow.receiver.handshake.ecn;
        let mut both = self.duplex(sender, control);
        both.listen();
        self.end = Some(Box::new(both));
    }

    fn control(&mut self) -> Result<Box<dyn CongestionControl>, String> {
        self.control.take().ok_or_else(|| "there is one connection".to_owned())
    }

    fn duplex(&self, sender: SenderConfig, control: Box<dyn CongestionControl>) -> Duplex {
        // The script reads and closes, at times of its own.
        let receiver = with!((*self.script.flow.receiver).clone(), manual_read = true, stays_open = true);
        Duplex::new(sender, receiver, control, if self.script.is_exact { 0 } else { TIMESTAMPS })
    }

    /// Times of exact scripts assume exact timers; the runner allows for a kernel's lateness. Times of others
    /// assume a kernel's timers.
    fn sender_config(&self) -> SenderConfig {
        let tick = if self.script.is_exact { Duration::ZERO } else { DRILL_TICK };
        with!((*self.script.flow.sender).clone(), timers.timer_tick = tick)
    }

    fn both(&mut self) -> Result<&mut Duplex, CallError> {
        self.end.as_deref_mut().ok_or(CallError::Errno(Errno::NotConnected))
    }

    fn option(&mut self, option: SocketOption) -> Result<u64, CallError> {
        match option {
            SocketOption::MaxSegment => Ok(match &self.end {
                Some(both) => both.sender().state().mss,
                None => u64::from(self.script.flow.sender.handshake.mss),
            }),
            SocketOption::Error => {
                let ended = self.both().ok().and_then(Duplex::take_end);
                Ok(ended.map_or(0, |ended| errno(ended).number()))
            }
            _ => Err("the model's socket does not have this option".to_owned().into()),
        }
    }
}

impl ScriptPlane for Model<'_> {
    fn name(&self) -> PlaneName {
        PlaneName::Sim
    }

    fn now(&self) -> Time {
        self.now
    }

    fn wait(&mut self, until: Time) -> Result<Option<Heard>, String> {
        loop {
            let now = self.now;
            if let Some(segment) = self.end.as_mut().and_then(|both| both.poll_transmit(now)) {
                let packet = read(&segment, self.own_initial());
                return Ok(Some(Heard { at: Moment::exactly(self.now), packet }));
            }
            let timeout = self.end.as_ref().map_or(Time::MAX, |both| both.poll_timeout());
            // At `until` itself a timer still runs: the packet that it sends belongs to this wait.
            if timeout > until {
                self.now = self.now.max(until);
                return Ok(None);
            }
            // A timer that was due before stays due; the clock does not go back.
            self.now = self.now.max(timeout);
            if let Some(both) = &mut self.end {
                both.handle_timeout(self.now);
            }
            self.listen_again()?;
        }
    }

    fn call(&mut self, call: Call) -> Result<u64, CallError> {
        let now = self.now;
        match call {
            Call::Listen => {
                let control = self.control()?;
                self.listen(control);
                return Ok(0);
            }
            Call::Connect => {
                let control = self.control()?;
                let mut both = self.duplex(self.sender_config(), control);
                both.connect(now);
                self.end = Some(Box::new(both));
                // As a socket that does not block; the runner waits where the script blocks.
                return Err(CallError::Errno(Errno::InProgress));
            }
            // Before there is a connection.
            Call::SetOption(..) => return Ok(0),
            Call::GetOption(option) => return self.option(option),
            _ => {}
        }
        let both = self.both()?;
        // An error of the connection is returned by the next call, once, as Linux returns `sk_err`.
        if let Some(ended) = both.take_end() {
            return Err(CallError::Errno(errno(ended)));
        }
        match call {
            Call::FinishConnect if both.is_open() => {}
            Call::FinishConnect => return Err(CallError::Errno(Errno::InProgress)),
            Call::Accept if both.is_open() => {}
            Call::Accept => return Err(CallError::Errno(Errno::WouldBlock)),
            Call::Write(_) if both.is_shut() || both.has_ended() => {
                return Err(CallError::Errno(Errno::BrokenPipe));
            }
            Call::Write(bytes) => {
                both.write(bytes);
                return Ok(bytes);
            }
            Call::Read(bytes) => {
                let got = both.read(now, bytes);
                // At the peer's FIN a read returns 0, and does not wait.
                if got == 0 && !both.is_at_end() && !both.stops_reading() && !both.has_ended() {
                    return Err(CallError::Errno(Errno::WouldBlock));
                }
                return Ok(got);
            }
            Call::Readable => return Ok(both.receiver().readable()),
            Call::Close => both.close(now),
            Call::ShutDown(side) => {
                if side != Side::Write {
                    both.stop_reading();
                }
                if side != Side::Read {
                    both.shut();
                }
            }
            _ => {}
        }
        Ok(0)
    }

    fn inject(&mut self, packet: &ScriptPacket) -> Result<(), String> {
        let segment = write(packet, self.own_initial());
        let both = self.end.as_mut().ok_or("no connection is open")?;
        both.handle_segment(self.now, &segment);
        self.listen_again()
    }

    fn inject_icmp(&mut self, icmp: &Icmp) -> Result<(), String> {
        let seq = SeqNumber::new(self.own_initial().get().wrapping_add(icmp.quoted));
        self.end.as_mut().ok_or("no connection is open")?.handle_unreachable(self.now, seq);
        Ok(())
    }

    fn field(&mut self, name: &str) -> Result<f64, String> {
        fields::field(self.end.as_ref().ok_or("there is no connection")?, self.now, name)
    }
}

fn errno(ended: Ended) -> Errno {
    match ended {
        Ended::Reset => Errno::Reset,
        Ended::Refused => Errno::Refused,
        Ended::TimedOut => Errno::TimedOut,
        Ended::Unreachable => Errno::Unreachable,
    }
}

/// What the end sends, with numbers relative to its own and the peer's first.
fn read(segment: &Segment, own: SeqNumber) -> ScriptPacket {
    let relative = |number: SeqNumber, first: u32| number.get().wrapping_sub(first);
    let is_ack = segment.flags.contains(Flags::ACK);
    ScriptPacket {
        flags: segment.flags.bits(),
        start: relative(segment.seq, own.get()),
        len: segment.len,
        // Without the flag the field means nothing (RFC 9293 section 3.1).
        ack: is_ack.then(|| relative(segment.ack, PEER_INITIAL)),
        window: segment.window,
        mss: segment.mss(),
        sack_permitted: segment.sack_permitted(),
        window_scale: segment.window_scale(),
        timestamps: segment.timestamps().map(|stamps| (stamps.value, stamps.echo)),
        sack: segment
            .sack()
            .iter()
            .map(|block| (relative(block.start, PEER_INITIAL), relative(block.end, PEER_INITIAL)))
            .collect(),
        ecn: match (segment.is_marked(), segment.is_ecn_capable()) {
            // CE hides which of the two code points it was.
            (true, _) => EcnCodepoint::Marked,
            (false, true) if segment.is_l4s() => EcnCodepoint::CapableOne,
            (false, true) => EcnCodepoint::Capable,
            (false, false) => EcnCodepoint::NotCapable,
        },
    }
}

/// What the peer sends, as the end takes it.
fn write(packet: &ScriptPacket, own: SeqNumber) -> Segment {
    let flags = FLAGS.iter().filter(|flag| packet.flags & flag.bits() != 0);
    let flags = flags.fold(Flags::NONE, |all, flag| all | *flag);
    let absolute = |number: u32, first: u32| SeqNumber::new(first.wrapping_add(number));
    let ack = packet.ack.map_or(SeqNumber::new(0), |ack| absolute(ack, own.get()));
    let mut segment =
        Segment::new(absolute(packet.start, PEER_INITIAL), ack, packet.len, packet.window, flags);
    if let Some(mss) = packet.mss {
        segment.set_mss(mss);
    }
    if packet.sack_permitted {
        segment.set_sack_permitted();
    }
    if let Some(shift) = packet.window_scale {
        segment.set_window_scale(shift);
    }
    if let Some((value, echo)) = packet.timestamps {
        segment.set_timestamps(value, echo);
    }
    for (start, end) in &packet.sack {
        segment.push_sack(absolute(*start, own.get()), absolute(*end, own.get()));
    }
    match packet.ecn {
        EcnCodepoint::NotCapable => {}
        EcnCodepoint::Capable => segment.set_ecn_capable(),
        EcnCodepoint::CapableOne => segment.set_l4s(),
        EcnCodepoint::Marked => {
            segment.set_ecn_capable();
            segment.mark();
        }
    }
    segment
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTENS: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
";

    /// A model whose end may be called and sent packets by hand.
    fn with_model(script: &str, test: impl FnOnce(&mut Model<'_>)) {
        let script = Script::parse(script, "a.pkt").unwrap();
        let control = make(&script.flow.control.name, &script.flow.control.parameters).unwrap();
        test(&mut Model { script: &script, control: Some(control), end: None, now: Time::ZERO });
    }

    fn from_peer(flags: u16, start: u32, ack: Option<u32>, len: u32) -> ScriptPacket {
        ScriptPacket { flags, start, ack, len, window: 9000, mss: Some(1000), ..ScriptPacket::default() }
    }

    fn sent(model: &mut Model<'_>, millis: u64) -> Vec<ScriptPacket> {
        let until = Time::from_millis(millis);
        std::iter::from_fn(|| model.wait(until).unwrap().map(|heard| heard.packet)).collect()
    }

    const NO_CONNECTION: CallError = CallError::Errno(Errno::NotConnected);
    const WOULD_BLOCK: CallError = CallError::Errno(Errno::WouldBlock);

    /// As of a Linux socket: options may be set before there is a connection, and nothing else be done.
    #[test]
    fn calls_before_a_connection() {
        with_model(LISTENS, |model| {
            let mss = u64::from(model.script.flow.sender.handshake.mss);
            assert_eq!(model.call(Call::SetOption(SocketOption::NoDelay, 1)), Ok(0));
            assert_eq!(model.call(Call::GetOption(SocketOption::MaxSegment)), Ok(mss));
            assert_eq!(model.call(Call::GetOption(SocketOption::Error)), Ok(0));
            assert!(matches!(model.call(Call::GetOption(SocketOption::NoDelay)), Err(CallError::Other(_))));
            for call in [
                Call::Accept,
                Call::Write(1),
                Call::Read(1),
                Call::Close,
                Call::FinishConnect,
                Call::Readable,
            ] {
                assert_eq!(model.call(call), Err(NO_CONNECTION), "{call:?}");
            }
            assert!(model.inject(&from_peer(2, 0, None, 0)).is_err() && model.field("tcpi_rtt").is_err());
            assert_eq!(model.call(Call::Listen), Ok(0));
            assert_eq!(model.call(Call::Accept), Err(WOULD_BLOCK));
            assert_eq!(model.call(Call::Listen), Err("there is one connection".to_owned().into()));
        });
    }

    /// A server by hand: it is accepted once its handshake has ended, reads what has come, and is at the peer's
    /// FIN at the end.
    #[test]
    fn calls_of_a_server() {
        with_model(LISTENS, |model| {
            assert_eq!(model.call(Call::Listen), Ok(0));
            model.inject(&from_peer(2, 0, None, 0)).unwrap();
            let answer = sent(model, 0);
            assert_eq!(
                (answer.len(), answer[0].flags, answer[0].ack, answer[0].start),
                (1, 2 | 16, Some(1), 0)
            );
            assert_eq!(model.call(Call::Accept), Err(WOULD_BLOCK));
            model.inject(&from_peer(16, 1, Some(1), 0)).unwrap();
            assert_eq!((model.call(Call::Accept), model.call(Call::Readable)), (Ok(0), Ok(0)));
            assert_eq!(model.call(Call::Read(10)), Err(WOULD_BLOCK));
            model.inject(&from_peer(16 | 8, 1, Some(1), 10)).unwrap();
            assert_eq!((model.call(Call::Readable), model.call(Call::Read(4))), (Ok(10), Ok(4)));
            assert_eq!((model.call(Call::Read(90)), model.call(Call::Read(1))), (Ok(6), Err(WOULD_BLOCK)));
            assert_eq!(model.call(Call::Write(700)), Ok(700));
            let data = sent(model, 0);
            assert_eq!((data[0].start, data[0].len, data[0].ack), (1, 700, Some(11)));
            // Nothing more comes up to the end of the wait.
            assert_eq!(
                (model.now(), sent(model, 5).len(), model.now()),
                (Time::ZERO, 0, Time::from_millis(5))
            );
            model.inject(&from_peer(16 | 1, 11, Some(701), 0)).unwrap();
            assert_eq!((model.call(Call::Read(1)), model.call(Call::Read(1))), (Ok(0), Ok(0)));
            assert_eq!(model.call(Call::ShutDown(Side::Write)), Ok(0));
            assert_eq!(model.call(Call::Write(1)), Err(CallError::Errno(Errno::BrokenPipe)));
            assert_eq!((model.name(), model.lateness()), (PlaneName::Sim, Duration::ZERO));
        });
    }

    /// A reset is told once, as Linux tells `sk_err`.
    #[test]
    fn an_error_is_returned_once() {
        with_model(LISTENS, |model| {
            assert_eq!(model.call(Call::Listen), Ok(0));
            model.inject(&from_peer(2, 0, None, 0)).unwrap();
            model.inject(&from_peer(16, 1, Some(1), 0)).unwrap();
            assert_eq!(model.call(Call::Accept), Ok(0));
            model.inject(&from_peer(4, 1, None, 0)).unwrap();
            assert_eq!(model.call(Call::Read(1)), Err(CallError::Errno(Errno::Reset)));
            assert_eq!(model.call(Call::Read(1)), Ok(0));
            assert_eq!(model.call(Call::Write(1)), Err(CallError::Errno(Errno::BrokenPipe)));
        });
    }

    /// What the peer writes is read as it was, where both begin with one number: each field by itself.
    #[test]
    fn a_packet_is_read_as_it_was_written() {
        let own = SeqNumber::new(PEER_INITIAL);
        let plain =
            ScriptPacket { flags: 16, start: 7, len: 5, ack: Some(3), window: 9, ..ScriptPacket::default() };
        let mut cases = vec![plain.clone()];
        cases.push(ScriptPacket { ack: None, flags: 2, mss: Some(1460), ..plain.clone() });
        cases.push(ScriptPacket { sack_permitted: true, flags: 2 | 16, ..plain.clone() });
        cases.push(ScriptPacket { window_scale: Some(7), flags: 2 | 16, ..plain.clone() });
        cases.push(ScriptPacket { timestamps: Some((1, u32::MAX)), ..plain.clone() });
        cases.push(ScriptPacket { sack: vec![(10, 20), (30, 40)], ..plain.clone() });
        for ecn in [EcnCodepoint::Capable, EcnCodepoint::CapableOne, EcnCodepoint::Marked] {
            cases.push(ScriptPacket { ecn, ..plain.clone() });
        }
        cases.extend([1, 4, 8, 64, 128, 256].map(|flag| ScriptPacket { flags: 16 | flag, ..plain.clone() }));
        for case in cases {
            assert_eq!(read(&write(&case, own), own), case);
        }
    }
}
