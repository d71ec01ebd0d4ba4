//! Stations that always have packets, driven by hand.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use cogtcp_units::Position;
use cogtcp_units::{Rate, Time};
use cogtcp_wireless::{
    Destination, InterfaceConfig, InterfaceId, MacConfig, Medium, MediumConfig, MediumEvent, PhyConfig,
    QueuedPacket, Surroundings,
};

pub const PACKET: u32 = 1020;

/// A medium whose stations are fed.
pub struct Bench<S: Surroundings = ()> {
    pub medium: Medium<u32, Vec<Position>, S>,
    /// Who sends to whom, always.
    pub flows: Vec<(u32, Destination)>,
    pub bytes: u32,
    pub events: Vec<MediumEvent<u32>>,
    /// By receiver.
    pub received: Vec<u64>,
    /// By flow.
    pub by_flow: Vec<u64>,
    pub keep_events: bool,
    next: u32,
}

pub fn mbit(rate: u64) -> Rate {
    Rate::from_bits_per_second(rate * 1_000_000)
}

pub fn packet(payload: u32, to: u32) -> QueuedPacket<u32> {
    let to = Destination::Interface(InterfaceId(to));
    QueuedPacket { payload, bytes: PACKET, to, channel: None, goes_first: false }
}

/// One channel of 1 Mbit/s and ns-2's radio.
pub fn config(mac: MacConfig) -> MediumConfig {
    MediumConfig::new(mac, PhyConfig::ns2(), mbit(1))
}

impl Bench<()> {
    pub fn new(config: MediumConfig, places: &[(f64, f64)], flows: &[(u32, u32)], seed: u64) -> Self {
        Self::among((), config, places, flows, seed)
    }
}

impl<S: Surroundings> Bench<S> {
    pub fn among(
        surroundings: S,
        config: MediumConfig,
        places: &[(f64, f64)],
        flows: &[(u32, u32)],
        seed: u64,
    ) -> Self {
        let positions: Vec<Position> = places.iter().map(|(x, y)| Position::new(*x, *y)).collect();
        let mut medium = Medium::new(config, positions, surroundings, seed);
        for node in 0..places.len() as u32 {
            medium.add_interface(InterfaceConfig::new(node));
        }
        let to = |to: u32| Destination::Interface(InterfaceId(to));
        Self {
            medium,
            flows: flows.iter().map(|(from, peer)| (*from, to(*peer))).collect(),
            bytes: PACKET,
            events: Vec::new(),
            received: vec![0; places.len()],
            by_flow: vec![0; flows.len()],
            keep_events: false,
            next: 0,
        }
    }

    fn feed(&mut self, now: Time) {
        for flow in 0..self.flows.len() {
            let (from, to) = self.flows[flow];
            // More than one: a MAC that takes the next packet at once finds one.
            while self.medium.waiting(InterfaceId(from)) < 3 {
                self.next += 1;
                // The flow of a packet is what its number leaves.
                let payload = self.next * self.flows.len() as u32 + flow as u32;
                let packet =
                    QueuedPacket { payload, bytes: self.bytes, to, channel: None, goes_first: false };
                self.medium.enqueue(now, InterfaceId(from), packet);
            }
        }
    }

    pub fn run(&mut self, until: Time) {
        self.feed(self.medium.now());
        while self.medium.next_change() <= until {
            self.medium.step();
            let mut done = false;
            while let Some(event) = self.medium.poll_event() {
                match event {
                    MediumEvent::Received { at, payload, .. } => {
                        self.received[at.0 as usize] += 1;
                        self.by_flow[payload as usize % self.flows.len()] += 1;
                    }
                    MediumEvent::Sent { .. } | MediumEvent::Failed { .. } => done = true,
                    _ => {}
                }
                if self.keep_events {
                    self.events.push(event);
                }
            }
            if done {
                self.feed(self.medium.now());
            }
        }
        self.medium.advance(until);
        assert!(self.medium.is_conserved());
    }

    pub fn total(&self) -> u64 {
        self.received.iter().sum()
    }
}
