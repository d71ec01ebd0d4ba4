//! A bench for disciplines: packets with numbers, times in milliseconds.

use super::{Discipline, DropCause, Named, QueueDiscipline, Signals, Site};
use crate::frame::{Frame, LinkPayload};
use cogtcp_units::{Check, RandomStream, Rate, Time, WrongSetting};

/// A packet of 1000 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct TestPacket {
    pub(super) number: u32,
    pub(super) flow: u32,
    pub(super) is_capable: bool,
    pub(super) is_l4s: bool,
    pub(super) marked: bool,
}

impl TestPacket {
    pub(super) fn new(number: u32) -> Self {
        Self { number, ..Self::default() }
    }

    /// A packet whose sender reacts to marks.
    pub(super) fn capable(number: u32) -> Self {
        Self { is_capable: true, ..Self::new(number) }
    }

    pub(super) fn of_flow(number: u32, flow: u32) -> Self {
        Self { flow, ..Self::new(number) }
    }
}

impl LinkPayload for TestPacket {
    fn flow(&self) -> u32 {
        self.flow
    }
    fn is_ecn_capable(&self) -> bool {
        self.is_capable
    }
    fn is_l4s(&self) -> bool {
        self.is_l4s
    }
    fn mark(&mut self) {
        self.marked = true;
    }
}

pub(super) fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// The fields that are wrong.
#[derive(Default)]
struct Wrong(Vec<String>);

impl Check for Wrong {
    fn error(&mut self, field: &str, _: String, _: String) {
        self.0.push(field.to_owned());
    }
}

/// Returns the fields that the discipline of these settings refuses.
pub(super) fn wrong(config: &impl Named) -> Vec<String> {
    let mut found = Wrong::default();
    config.check(&mut found);
    found.0
}

/// A discipline on a link of 8 Mbit/s: a packet takes 1 ms.
pub(super) struct Bench {
    discipline: Box<dyn QueueDiscipline<TestPacket>>,
    signals: Signals<TestPacket>,
}

impl Bench {
    pub(super) fn of(config: &(impl Discipline<TestPacket> + Named)) -> Self {
        let mut found: Option<WrongSetting> = None;
        config.check(&mut found);
        assert_eq!(found, None);
        let site =
            Site { rate: Rate::from_bits_per_second(8_000_000), stream: RandomStream::new(1, "test", 0) };
        Self { discipline: config.build(site), signals: Signals::default() }
    }

    pub(super) fn enqueue(&mut self, ms: u64, packet: TestPacket) {
        self.discipline.enqueue(at(ms), Frame::new(packet, 1000), &mut self.signals);
    }

    pub(super) fn dequeue_frame(&mut self, ms: u64) -> Option<Frame<TestPacket>> {
        self.discipline.dequeue(at(ms), &mut self.signals)
    }

    pub(super) fn dequeue(&mut self, ms: u64) -> Option<u32> {
        self.dequeue_frame(ms).map(|frame| frame.packet.number)
    }

    /// What was dropped since the last call.
    pub(super) fn dropped(&mut self) -> Vec<(u32, DropCause)> {
        std::iter::from_fn(|| self.signals.take_dropped())
            .map(|(_, frame, cause)| (frame.packet.number, cause))
            .collect()
    }

    pub(super) fn packets(&self) -> u64 {
        self.discipline.packets()
    }

    pub(super) fn room(&self, size: u32) -> u64 {
        self.discipline.room(size)
    }
}
