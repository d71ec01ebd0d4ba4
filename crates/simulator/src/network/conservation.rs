//! Conservation of packets.

use super::{Network, StreamCounters};
use crate::packet::{Body, Packet};
use cogtcp_link::Frame;

impl Network {
    /// Every packet is somewhere, once: sent = delivered + dropped by cause + queued + in flight, for every stream (whose
    /// hosts counted `streams`) and every pipe; and exactly what lies in the pipes with options has them stored.
    pub(crate) fn check_conservation(
        &self,
        streams: impl Iterator<Item = StreamCounters>,
        visit_parts: impl Fn(&mut dyn FnMut(&Frame<Packet>)),
    ) -> Result<(), String> {
        let mut inside = vec![0u64; self.dropped.len()];
        let mut with_options = 0;
        let mut count = |frame: &Frame<Packet>| {
            inside[frame.packet.stream as usize] += 1;
            with_options += usize::from(matches!(frame.packet.body, Body::TcpWithOptions { .. }));
        };
        self.on_air.iter().chain(&self.arrived).for_each(&mut count);
        visit_parts(&mut count);
        for (number, pipe) in self.pipes.iter().enumerate() {
            let mut held = 0;
            pipe.visit(&mut |frame| {
                count(frame);
                held += 1;
            });
            let counters = pipe.counters();
            if counters.offered != counters.delivered + counters.drops.iter().sum::<u64>() + held {
                return Err(format!("link direction {number} holds {held} packets and counted {counters:?}"));
            }
        }
        // `streams` come in the order in which they were added: flows, a train's messages, ICMP, UDP.
        for (number, (stream, inside)) in streams.zip(&inside).enumerate() {
            let dropped = self.dropped[number];
            if stream.injected != stream.arrived + dropped + inside {
                return Err(format!(
                    "stream {number} dropped {dropped}, has {inside} under way and counted {stream:?}"
                ));
            }
        }
        let stored = self.options.len();
        if stored != with_options {
            return Err(format!("{stored} segments with options are stored and {with_options} under way"));
        }
        Ok(())
    }
}
