//! Which links hand packets on ahead of time, and to what.

use super::inlets::Inlet;
use super::{AIR, HOST, Network};
use crate::hop::Mark;
use crate::payload::Payload;
use cogtcp_units::Duration;

/// Link directions of a network that is large: there, packets are handed on shortly before they arrive. Handed
/// on earlier, all packets that are under way would lie in links to hosts, and no longer in the caches.
const LARGE: usize = 2048;
/// How long before they arrive.
const SHORTLY: Duration = Duration::from_millis(3);

/// What comes before a link direction on the routes that cross it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Before {
    /// No route crosses it.
    Nothing,
    /// Hosts alone.
    Host,
    /// This one link direction.
    One(u32),
    /// Several link directions, no host.
    Several,
    /// Hosts and links, or something else.
    Other,
}

impl Before {
    fn and(self, hop: Option<u32>) -> Self {
        let also = match hop {
            None => Self::Host,
            Some(hop) if hop < AIR => Self::One(hop),
            Some(_) => Self::Other,
        };
        match (self, also) {
            (Self::Nothing, also) => also,
            (before, also) if before == also => before,
            (Self::One(_) | Self::Several, Self::One(_)) => Self::Several,
            _ => Self::Other,
        }
    }
}

impl<P: Payload> Network<P> {
    /// Chooses the links that hand packets on ahead of time, which changes no result. `is_gated`: whether a
    /// radio or the driver may change the link of this number. To be called when all streams are
    /// there.
    pub fn plan_ahead(&mut self, is_gated: impl Fn(usize) -> bool) {
        let count = self.directions.len();
        let is_plain = |direction: usize| {
            let link = &self.directions[direction];
            link.is_plain()
                && link.channel_rate().bits_per_second() > 0
                && !link.is(Mark::Settles)
                && !is_gated(direction / 2)
                && !self.stamping.contains_key(&(direction as u32))
        };
        let plain: Vec<bool> = (0..count).map(is_plain).collect();
        let mut before = vec![Before::Nothing; count];
        self.each_hop(|hop, last, _| before[hop] = before[hop].and(last));
        let is_exit = |direction: usize| {
            let link = &self.directions[direction];
            plain[direction]
                && !link.is(Mark::Watched)
                && link.next == HOST
                && matches!(before[direction], Before::One(_))
        };
        let exits: Vec<bool> = (0..count).map(is_exit).collect();
        // All that leaves a link must be handed on: packets do not overtake each other.
        let mut feeds = plain.clone();
        self.each_hop(|hop, _, next| feeds[hop] &= exits.get(next as usize).is_some_and(|is_exit| *is_exit));
        for direction in 0..count {
            if let Before::One(feeder) = before[direction]
                && exits[direction]
                && feeds[feeder as usize]
            {
                self.directions[feeder as usize].set(Mark::Early, true);
                self.directions[direction].set(Mark::FedEarly, true);
            }
        }
        if count > LARGE {
            self.window = SHORTLY;
        }
        self.plan_inlets(&plain, &before);
    }

    /// Gives an inlet to each link that hands packets on ahead of time, and whose packets all come from hosts
    /// one link away.
    fn plan_inlets(&mut self, plain: &[bool], before: &[Before]) {
        let count = self.directions.len();
        let is_feeder = |direction: u32| {
            let link = &self.directions[direction as usize];
            // One link follows, not several.
            plain[direction as usize]
                && !link.is(Mark::Watched)
                && before[direction as usize] == Before::Host
                && link.next < AIR
        };
        let mut feeders = vec![Vec::new(); count];
        let mut gets_inlet: Vec<bool> = self.directions.iter().map(|link| link.is(Mark::Early)).collect();
        // How long a packet takes at least from the inlet to a host.
        let mut shortest = vec![Duration::MAX; count];
        self.each_hop(|hop, last, next| {
            match last {
                Some(last) if last < AIR && is_feeder(last) => feeders[hop].push(last),
                _ => gets_inlet[hop] = false,
            }
            if let Some(exit) = self.directions.get(next as usize) {
                shortest[hop] = shortest[hop].min(self.directions[hop].delay() + exit.delay());
            }
        });
        for direction in (0..count).filter(|direction| gets_inlet[*direction]) {
            // What is played late still comes in time: one nanosecond less.
            let slack = shortest[direction].saturating_sub(Duration::from_nanos(1));
            if feeders[direction].is_empty() || slack.is_zero() {
                continue;
            }
            for feeder in &feeders[direction] {
                let link = &mut self.directions[*feeder as usize];
                link.set(Mark::Early, true);
                link.inlet = self.inlets.len() as u32;
            }
            self.inlets.push(Inlet::new(direction as u32, slack));
        }
    }

    /// Shows every link direction on every route, with the hop before it and the hop after it.
    fn each_hop(&self, mut show: impl FnMut(usize, Option<u32>, u32)) {
        for start in &self.route_starts {
            let mut last = None;
            for pair in self.routes[*start as usize..].windows(2).take_while(|pair| pair[0] != HOST) {
                if pair[0] < AIR {
                    show(pair[0] as usize, last, pair[1]);
                }
                last = Some(pair[0]);
            }
        }
    }
}
