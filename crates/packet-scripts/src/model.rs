//! The model's endpoints under a clock made by hand: `connect` makes a [`Sender`], `listen` a [`Receiver`];
//! in packetdrill's language either makes an end of both (`duplex`).

mod duplex;
mod fields;

use crate::packet::{EcnCodepoint, Icmp, ScriptPacket};
use crate::run::{Heard, Moment, Report, ScriptPlane, Tolerance, run};
use crate::script::{
    Call, CallError, Errno, Language, Measure, PlaneName, Script, ScriptError, Side, SocketOption,
};
use cogtcp_transport::{
    CongestionControl, Flags, Receiver, ReceiverConfig, ReceiverState, Segment, Sender, SenderConfig,
    SeqNumber, make, with,
};
use cogtcp_units::{Duration, Time};
use duplex::{Duplex, Ended};
use std::fmt;

/// Initial sequence number of the peer that the script plays: near the end of the numbers, so that they wrap.
pub const PEER_INITIAL: u32 = u32::MAX - 10_000;

/// Tick of the kernels that packetdrill's suites are written for (HZ = 1000): the one thing in which the end
/// under test is not as the preset says. The tolerance is the script's own.
const DRILL_TICK: Duration = Duration::from_millis(1);

const FLAGS: [Flags; 8] =
    [Flags::FIN, Flags::SYN, Flags::RST, Flags::PSH, Flags::ACK, Flags::ECE, Flags::CWR, Flags::AE];

/// Plays a script on the model.
pub fn play(script: &Script) -> Result<Report, ScriptError> {
    let control = make(&script.flow.control.name, &script.flow.control.parameters)
        .map_err(|error| ScriptError::wrong(&script.file, 1, error.to_string()))?;
    let mut model = Model { script, control: Some(control), end: End::None, now: Time::ZERO };
    Ok(run(script, &mut model, Tolerance::default()))
}

enum End {
    None,
    Sender(Box<Sender>),
    Receiver(Box<Receiver>),
    Both(Box<Duplex>),
}

struct Model<'a> {
    script: &'a Script,
    control: Option<Box<dyn CongestionControl>>,
    end: End,
    now: Time,
}

impl fmt::Debug for Model<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("now", &self.now).finish_non_exhaustive()
    }
}

impl Model<'_> {
    fn own_initial(&self) -> SeqNumber {
        match &self.end {
            End::Receiver(receiver) => receiver.config().handshake.initial_sequence,
            End::Sender(_) | End::Both(_) | End::None => self.script.flow.sender.handshake.initial_sequence,
        }
    }

    fn next_segment(&mut self) -> Option<Segment> {
        match &mut self.end {
            End::None => None,
            End::Sender(sender) => sender.poll_transmit(self.now),
            End::Receiver(receiver) => receiver.poll_transmit(self.now),
            End::Both(both) => both.poll_transmit(self.now),
        }
    }

    fn next_timeout(&self) -> Time {
        match &self.end {
            End::None => Time::MAX,
            End::Sender(sender) => sender.poll_timeout(),
            End::Receiver(receiver) => receiver.poll_timeout(),
            End::Both(both) => both.poll_timeout(),
        }
    }

    fn sender(&mut self) -> Result<&mut Sender, String> {
        match &mut self.end {
            End::Sender(sender) => Ok(sender),
            _ => Err("in the model the listening end sends no data and has no window".to_owned()),
        }
    }

    fn receiver(&mut self) -> Result<&mut Receiver, String> {
        match &mut self.end {
            End::Receiver(receiver) => Ok(receiver),
            _ => Err("in the model the connecting end receives no data".to_owned()),
        }
    }

    /// Puts a new end in place of a listening one whose connection came to nothing.
    fn listen_again(&mut self) -> Result<(), String> {
        if matches!(&self.end, End::Both(both) if both.listens_again()) {
            let control = &self.script.flow.control;
            let control = make(&control.name, &control.parameters).map_err(|error| error.to_string())?;
            self.listen(control);
        }
        Ok(())
    }

    /// A listening end of packetdrill's language.
    fn listen(&mut self, control: Box<dyn CongestionControl>) {
        let mut sender = self.sender_config();
        // Who listens agrees to ECN for both directions.
        sender.handshake.ecn = self.script.flow.receiver.handshake.ecn;
        let mut both = Duplex::new(sender, self.receiver_config(), control);
        both.listen();
        self.end = End::Both(Box::new(both));
    }

    fn control(&mut self) -> Result<Box<dyn CongestionControl>, String> {
        self.control.take().ok_or_else(|| "there is one connection".to_owned())
    }

    /// Times of this project's scripts assume exact timers; the runner allows for a kernel's lateness. Times
    /// of packetdrill's scripts assume a kernel's timers.
    fn sender_config(&self) -> SenderConfig {
        let config = (*self.script.flow.sender).clone();
        match self.script.language {
            Language::Own => with!(config, timers.timer_tick = Duration::ZERO),
            Language::Packetdrill(_) => with!(config, timers.timer_tick = DRILL_TICK),
        }
    }

    fn receiver_config(&self) -> ReceiverConfig {
        // The script reads, at times of its own. An end with data in both directions closes there, too.
        let stays_open = matches!(self.script.language, Language::Packetdrill(_));
        ReceiverConfig { manual_read: true, stays_open, ..ReceiverConfig::clone(&self.script.flow.receiver) }
    }

    fn both(&mut self) -> Result<&mut Duplex, CallError> {
        match &mut self.end {
            End::Both(both) => Ok(both),
            _ => Err(CallError::Errno(Errno::NotConnected)),
        }
    }

    /// A call of packetdrill's language.
    fn call_both(&mut self, call: Call) -> Result<u64, CallError> {
        let now = self.now;
        match call {
            Call::Listen => {
                let control = self.control()?;
                self.listen(control);
                return Ok(0);
            }
            Call::Connect => {
                let mut both = Duplex::new(self.sender_config(), self.receiver_config(), self.control()?);
                both.connect(now);
                self.end = End::Both(Box::new(both));
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

    fn option(&mut self, option: SocketOption) -> Result<u64, CallError> {
        match option {
            SocketOption::MaxSegment => Ok(match &self.end {
                End::Both(both) => both.sender().state().mss,
                _ => u64::from(self.script.flow.sender.handshake.mss),
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
            if let Some(segment) = self.next_segment() {
                let packet = read(&segment, self.own_initial());
                return Ok(Some(Heard { at: Moment::exactly(self.now), packet }));
            }
            let timeout = self.next_timeout();
            // At `until` itself a timer still runs: the packet that it sends belongs to this wait.
            if timeout > until {
                self.now = self.now.max(until);
                return Ok(None);
            }
            // A timer that was due before stays due; the clock does not go back.
            self.now = self.now.max(timeout);
            match &mut self.end {
                End::None => {}
                End::Sender(sender) => sender.handle_timeout(self.now),
                End::Receiver(receiver) => receiver.handle_timeout(self.now),
                End::Both(both) => both.handle_timeout(self.now),
            }
            self.listen_again()?;
        }
    }

    fn call(&mut self, call: Call) -> Result<u64, CallError> {
        if matches!(self.script.language, Language::Packetdrill(_)) {
            return self.call_both(call);
        }
        let now = self.now;
        match call {
            Call::Connect => {
                let mut sender = Sender::new(self.sender_config(), self.control()?);
                sender.open(now);
                self.end = End::Sender(Box::new(sender));
            }
            Call::Listen => self.end = End::Receiver(Box::new(Receiver::new(self.receiver_config()))),
            Call::Accept => {
                let state = self.receiver()?.state();
                if matches!(state, ReceiverState::Listen | ReceiverState::SynReceived) {
                    return Err(format!("there is no connection to accept: {state:?}").into());
                }
            }
            Call::Write(bytes) => {
                self.sender()?.write(bytes);
                return Ok(bytes);
            }
            Call::Read(bytes) => return Ok(self.receiver()?.read(now, bytes)),
            // The receiver closes by itself when all is read.
            Call::Close => {
                if let End::Sender(sender) = &mut self.end {
                    sender.close();
                }
            }
            Call::LeaveQuickAck => {}
            _ => return Err("this project's language has no such call".to_owned().into()),
        }
        Ok(0)
    }

    fn inject(&mut self, packet: &ScriptPacket) -> Result<(), String> {
        let segment = write(packet, self.own_initial());
        match &mut self.end {
            End::None => return Err("no connection is open".to_owned()),
            End::Sender(sender) => sender.handle_segment(self.now, &segment),
            End::Receiver(receiver) => receiver.handle_segment(self.now, &segment),
            End::Both(both) => both.handle_segment(self.now, &segment),
        }
        self.listen_again()
    }

    fn inject_icmp(&mut self, icmp: &Icmp) -> Result<(), String> {
        let seq = SeqNumber::new(self.own_initial().get().wrapping_add(icmp.quoted));
        match &mut self.end {
            End::Both(both) => both.handle_unreachable(self.now, seq),
            End::Sender(sender) => sender.handle_unreachable(self.now, seq),
            End::None | End::Receiver(_) => return Err("no sender is connected".to_owned()),
        }
        Ok(())
    }

    fn field(&mut self, name: &str) -> Result<f64, String> {
        match &self.end {
            End::Both(both) => fields::field(both, self.now, name),
            _ => Err("there is no connection".to_owned()),
        }
    }

    fn measure(&mut self, measure: Measure) -> Result<Option<u64>, String> {
        let state = self.sender()?.state();
        Ok(match measure {
            Measure::Cwnd => Some(state.cwnd / state.mss),
            Measure::Ssthresh => (state.ssthresh < u64::MAX).then_some(state.ssthresh / state.mss),
        })
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
