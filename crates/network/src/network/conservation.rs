//! Conservation of packets.

use super::{Network, StreamCounters};
use crate::payload::{Payload, StreamId, Transit};
use cogtcp_link::{Capacity, Frame};
use cogtcp_units::Time;

impl<P: Payload> Network<P> {
    /// Checks that every packet is in one place: sent = delivered + dropped by cause + queued + in flight.
    /// This holds for every link direction, and every stream that the driver counts (`streams`: its number
    /// and its hosts' counts). Shows every packet to `see`.
    ///
    /// # Errors
    ///
    /// The first stream or link direction that holds others than it counted.
    pub fn check_conservation(
        &self,
        streams: impl Iterator<Item = (StreamId, StreamCounters)>,
        mut see: impl FnMut(&P),
    ) -> Result<(), String> {
        // Packets that a host has for itself are of no stream: their number lies beyond this list.
        let mut inside = vec![0u64; self.dropped.len()];
        let mut count = |frame: &Frame<P>| {
            if let Some(inside) = inside.get_mut(frame.packet.transit().stream.index()) {
                *inside += 1;
            }
            see(&frame.packet);
        };
        self.outgoing.iter().chain(self.arrived.iter().map(|arrival| &arrival.frame)).for_each(&mut count);
        let mut waiting = 0;
        self.notices.visit(|stream, payload, bytes| {
            let mut payload = *payload;
            payload.set_transit(Transit { stream: stream.unwrap_or(StreamId::NOWHERE), next: 0 });
            count(&Frame::new(payload, bytes));
            waiting += 1;
        });
        debug_assert!(waiting == 0 || self.has_news, "notices wait that nobody hears of");
        if let Some(air) = &self.air {
            air.visit(&mut count);
        }
        self.inlets.iter().for_each(|inlet| inlet.visit(&mut count));
        for (number, direction) in self.directions.iter().enumerate() {
            let mut held = 0;
            direction.visit(&mut |frame| {
                count(frame);
                held += 1;
            });
            let counters = direction.counters();
            if counters.offered != counters.delivered + counters.drops.iter().sum::<u64>() + held {
                return Err(format!("link direction {number} holds {held} packets and counted {counters:?}"));
            }
        }
        for (id, stream) in streams.chain(self.notices.streams()) {
            let (dropped, inside) = (self.dropped[id.index()], inside[id.index()]);
            if stream.injected != stream.arrived + dropped + inside {
                return Err(format!(
                    "stream {} dropped {dropped}, has {inside} under way and counted {stream:?}",
                    id.0
                ));
            }
        }
        Ok(())
    }

    /// Checks that no link direction has carried more than its capacity up to `end`, neither in the whole run
    /// nor since the end of the warm-up.
    ///
    /// # Errors
    ///
    /// The first link direction that has.
    pub fn check_capacity(&mut self, end: Time) -> Result<(), String> {
        let whole = super::Standing::default();
        for (number, direction) in self.directions.iter_mut().enumerate() {
            for before in [Some(&whole), self.baselines.get(number)].into_iter().flatten() {
                let available = direction.capacity(end).available - before.capacity.available;
                let (carried, most) = (direction.carried(end) - before.carried, Capacity::bytes(available));
                // Transmission times are whole nanoseconds: each packet may seem to carry a little more than
                // its time held.
                if carried > most + direction.rounding(direction.counters().offered) {
                    return Err(format!(
                        "link direction {number} carried {carried} bytes and could carry {most}"
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Recording, Standing};
    use cogtcp_scenario::Scenario;

    #[derive(Clone, Copy, Debug, Default)]
    struct Nothing;

    impl cogtcp_link::LinkPayload for Nothing {}

    impl Payload for Nothing {
        fn transit(&self) -> Transit {
            Transit::default()
        }

        fn set_transit(&mut self, _: Transit) {}
    }

    /// A link that is said to have carried less than nothing before the warm-up ended has carried too much
    /// after it.
    #[test]
    fn a_link_that_carried_more_than_it_could_is_a_defect() {
        let text = "name = \"full\"\n[run]\nduration = \"5 s\"\n[topology.single_hop]\n\
                    link = { rate = \"1 Mbit/s\", delay = \"5 ms\" }\n\
                    [[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"reno\"\n";
        let experiment = Scenario::parse(text, "full").and_then(|scenario| scenario.resolve()).unwrap();
        let end = Time::from_millis(5000);
        let mut network = Network::<Nothing>::build(&experiment, 1, end, Recording::default()).unwrap();
        network.check_capacity(end).unwrap();
        // 5 s of 1 Mbit/s are 625,000 bytes.
        network.baselines = vec![Standing { carried: -626_000.0, ..Standing::default() }];
        let wrong = network.check_capacity(end).unwrap_err();
        assert!(wrong.contains("link direction 0 carried 626000 bytes and could carry 625000"), "{wrong}");
    }
}
