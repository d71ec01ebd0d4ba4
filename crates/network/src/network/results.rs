//! What the network has counted since the end of the warm-up, and the tables that come of it: alike under
//! every clock.

use super::Network;
use crate::hop::LinkHop;
use crate::payload::Payload;
use crate::radio_row::radio_row;
use cogtcp_layout::NetworkSpec;
use cogtcp_link::{Capacity, DropCause, Link, LinkCounters};
use cogtcp_records::tables::{LinkRow, LinksBuilder, RadiosBuilder};
use cogtcp_records::{Table, ratio};
use cogtcp_units::Time;

/// What a link direction had done up to a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Standing {
    pub(super) counters: LinkCounters,
    pub(super) carried: f64,
    pub(super) capacity: Capacity,
    pub(super) queue_integral: u64,
    pub(super) marked: u64,
}

impl Standing {
    fn of<P: Payload>(direction: &mut Link<P>, now: Time) -> Self {
        Self {
            carried: direction.carried(now),
            queue_integral: direction.queue_integral(now),
            capacity: direction.capacity(now),
            counters: *direction.counters(),
            marked: direction.marked(),
        }
    }
}

const DIRECTIONS: [&str; 2] = ["forward", "reverse"];

impl<P: Payload> Network<P> {
    /// Metrics count from `now`.
    pub fn end_warmup(&mut self, now: Time) {
        self.warm_at = now;
        self.radios.iter_mut().for_each(|radio| radio.end_warmup(now));
        self.pairs.iter_mut().for_each(|served| served.pair.end_warmup(now));
        if let Some(air) = &mut self.air {
            air.end_warmup(now);
        }
        // At time zero nothing has happened.
        if now == Time::ZERO {
            return;
        }
        let baseline = |direction: &mut LinkHop<P>| {
            // The greatest length is no difference of two readings; it begins with what lies there now.
            direction.restart_maximum(now);
            Standing::of(direction, now)
        };
        self.baselines = self.directions.iter_mut().map(baseline).collect();
    }

    /// What `direction` could carry since the end of the warm-up, as its counters have it
    /// ([`Capacity::bytes`]).
    pub fn available(&mut self, direction: u32, now: Time) -> u128 {
        let before = self.baselines.get(direction as usize).map_or(0, |before| before.capacity.available);
        self.directions[direction as usize].capacity(now).available - before
    }

    /// The table of links at `end`. `payload`: what the flows delivered whose data crosses each link
    /// direction.
    pub fn link_table(&mut self, layout: &NetworkSpec, end: Time, payload: &[u64]) -> Table {
        let span = end.saturating_since(self.warm_at).as_nanos() as f64;
        let mut table = LinksBuilder::default();
        for number in 0..self.directions.len() {
            let link = &layout.links[number / 2];
            let (from, to) = if number % 2 == 0 { (link.from, link.to) } else { (link.to, link.from) };
            // Without a warm-up there is no reading to subtract.
            let before = self.baselines.get(number).copied().unwrap_or_default();
            // Links without a MAC count no attempts.
            let mac = self.mac(number as u32);
            let direction = &mut self.directions[number];
            let after = Standing::of(direction, end);
            let available = Capacity::bytes(after.capacity.available - before.capacity.available);
            let carried = after.carried - before.carried;
            let drops = |cause: DropCause| {
                after.counters.drops[cause as usize] - before.counters.drops[cause as usize]
            };
            let row = LinkRow {
                link: table.link.intern(&link.name),
                direction: table.direction.intern(DIRECTIONS[number % 2]),
                from: table.from.intern(&layout.nodes[from]),
                to: table.to.intern(&layout.nodes[to]),
                capacity_bytes: available,
                channel_bytes: Capacity::bytes(after.capacity.channel - before.capacity.channel),
                carried_bytes: carried,
                utilisation: ratio(carried, available),
                efficiency: ratio(payload[number] as f64, available),
                offered_packets: after.counters.offered - before.counters.offered,
                delivered_packets: after.counters.delivered - before.counters.delivered,
                drops_queue: drops(DropCause::Queue),
                drops_loss: drops(DropCause::Loss),
                drops_silence: drops(DropCause::Silence),
                drops_retry: drops(DropCause::Retry),
                drops_interference: drops(DropCause::Interference),
                drops_early: drops(DropCause::Early),
                marked_packets: after.marked - before.marked,
                attempts: mac.attempts,
                attempts_interfered: mac.interfered,
                attempts_unanswered: mac.unanswered,
                attempts_collided: mac.collided,
                attempts_garbled: mac.garbled,
                queue_mean_packets: ratio((after.queue_integral - before.queue_integral) as f64, span),
                queue_max_packets: direction.queue_max(),
                silence_s: (after.capacity.silence - before.capacity.silence) as f64 / 1e9,
            };
            table.push(row);
        }
        table.finish()
    }

    /// The table of radios at `end`: those that gate links, CR users with their MAC, nodes of an ad hoc
    /// network.
    pub fn radio_table(&self, layout: &NetworkSpec, end: Time) -> Table {
        let mut table = RadiosBuilder::default();
        for (number, spec) in layout.radios.iter().enumerate() {
            if let Some(radio) = self.radios.iter().find(|radio| radio.number == number) {
                let protection = radio.protection(end);
                let row =
                    radio_row(table.radio.intern(&spec.name), &radio.measured(end), protection.as_ref());
                table.push(row);
            } else if let Some(pair) = self.pair(number) {
                for (unit, name) in pair.radios().iter().zip(layout.radio_names(spec)) {
                    let (stats, protection) = unit.measured(end);
                    let row = radio_row(table.radio.intern(&name), &stats, Some(&protection));
                    table.push(row);
                }
            }
        }
        for (name, stats, protection) in self.air.iter().flat_map(|air| air.radios(end)) {
            let row = radio_row(table.radio.intern(&name), &stats, Some(&protection));
            table.push(row);
        }
        table.finish()
    }
}
