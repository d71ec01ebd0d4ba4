//! The model's endpoints under a clock made by hand: `connect` makes a [`Sender`], `listen` a [`Receiver`].

use crate::packet::{Ecn, Packet};
use crate::run::{Heard, Moment, Plane, Report, Tolerance, run};
use crate::script::{Call, Measure, PlaneName, Script, ScriptError};
use cogtcp_transport::{
    CongestionControl, Flags, Receiver, ReceiverConfig, ReceiverState, Segment, Sender, SeqNumber, make,
};
use cogtcp_units::{Duration, Time};
use std::fmt;

/// Initial sequence number of the peer that the script plays: near the end of the numbers, so that they wrap.
pub const PEER_INITIAL: u32 = u32::MAX - 10_000;

const FLAGS: [Flags; 7] =
    [Flags::FIN, Flags::SYN, Flags::RST, Flags::PSH, Flags::ACK, Flags::ECE, Flags::CWR];

/// Plays a script on the model.
pub fn play(script: &Script) -> Result<Report, ScriptError> {
    let control = make(&script.flow.control.name, &script.flow.control.parameters)
        .map_err(|error| ScriptError { file: script.file.clone(), line: 1, message: error.to_string() })?;
    let mut model = Model { script, control: Some(control), end: End::None, now: Time::ZERO };
    Ok(run(script, &mut model, Tolerance::default()))
}

enum End {
    None,
    Sender(Box<Sender>),
    Receiver(Box<Receiver>),
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
            End::Receiver(receiver) => receiver.config().initial_sequence,
            End::Sender(_) | End::None => self.script.flow.sender.initial_sequence,
        }
    }

    fn next_segment(&mut self) -> Option<Segment> {
        match &mut self.end {
            End::None => None,
            End::Sender(sender) => sender.poll_transmit(self.now),
            End::Receiver(receiver) => receiver.poll_transmit(self.now),
        }
    }

    fn next_timeout(&self) -> Time {
        match &self.end {
            End::None => Time::MAX,
            End::Sender(sender) => sender.poll_timeout(),
            End::Receiver(receiver) => receiver.poll_timeout(),
        }
    }

    fn sender(&mut self) -> Result<&mut Sender, String> {
        match &mut self.end {
            End::Sender(sender) => Ok(sender),
            _ => Err("the model's end that listens sends no data and has no window".to_owned()),
        }
    }

    fn receiver(&mut self) -> Result<&mut Receiver, String> {
        match &mut self.end {
            End::Receiver(receiver) => Ok(receiver),
            _ => Err("the model's end that connects receives no data".to_owned()),
        }
    }
}

impl Plane for Model<'_> {
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
            if timeout > until {
                self.now = self.now.max(until);
                return Ok(None);
            }
            self.now = self.now.max(timeout);
            match &mut self.end {
                End::None => {}
                End::Sender(sender) => sender.handle_timeout(self.now),
                End::Receiver(receiver) => receiver.handle_timeout(self.now),
            }
        }
    }

    fn call(&mut self, call: Call) -> Result<(), String> {
        let now = self.now;
        match call {
            Call::Connect => {
                let control = self.control.take().ok_or("there is one connection")?;
                // The times of scripts are those of exact timers; how late a kernel's are, the runner allows for.
                let mut config = (*self.script.flow.sender).clone();
                config.timer_tick = Duration::ZERO;
                let mut sender = Sender::new(config, control);
                sender.open(now);
                self.end = End::Sender(Box::new(sender));
            }
            Call::Listen => {
                let config =
                    ReceiverConfig { manual_read: true, ..ReceiverConfig::clone(&self.script.flow.receiver) };
                self.end = End::Receiver(Box::new(Receiver::new(config)));
            }
            Call::Accept => {
                let state = self.receiver()?.state();
                if matches!(state, ReceiverState::Listen | ReceiverState::SynReceived) {
                    return Err(format!("there is no connection to accept: {state:?}"));
                }
            }
            Call::Write(bytes) => self.sender()?.write(bytes),
            Call::Read(bytes) => {
                let got = self.receiver()?.read(now, bytes);
                if got != bytes {
                    return Err(format!("{got} bytes were there to read"));
                }
            }
            // The receiver closes by itself when all is read.
            Call::Close => {
                if let End::Sender(sender) = &mut self.end {
                    sender.close();
                }
            }
            Call::LeaveQuickAck => {}
        }
        Ok(())
    }

    fn inject(&mut self, packet: &Packet) -> Result<(), String> {
        let segment = write(packet, self.own_initial());
        match &mut self.end {
            End::None => return Err("nobody is there".to_owned()),
            End::Sender(sender) => sender.handle_segment(self.now, &segment),
            End::Receiver(receiver) => receiver.handle_segment(self.now, &segment),
        }
        Ok(())
    }

    fn measure(&mut self, measure: Measure) -> Result<Option<u64>, String> {
        let state = self.sender()?.state();
        Ok(match measure {
            Measure::Cwnd => Some(state.cwnd / state.mss),
            Measure::Ssthresh => (state.ssthresh < u64::MAX).then_some(state.ssthresh / state.mss),
        })
    }
}

/// What the end sends, with numbers relative to its own and the peer's first.
fn read(segment: &Segment, own: SeqNumber) -> Packet {
    let relative = |number: SeqNumber, first: u32| number.get().wrapping_sub(first);
    let is_ack = segment.flags.contains(Flags::ACK);
    Packet {
        flags: segment.flags.bits(),
        start: relative(segment.seq, own.get()),
        len: segment.len,
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
            (true, _) => Ecn::Marked,
            (false, true) => Ecn::Capable,
            (false, false) => Ecn::NotCapable,
        },
    }
}

/// What the peer sends, as the end takes it.
fn write(packet: &Packet, own: SeqNumber) -> Segment {
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
        Ecn::NotCapable => {}
        Ecn::Capable => segment.set_ecn_capable(),
        Ecn::Marked => {
            segment.set_ecn_capable();
            segment.mark();
        }
    }
    segment
}
