//! Plays packets early and hosts late, where no result depends on it: `cogtcp_network`'s look-ahead says how.
//!
//! A host takes several packets at once. Everything at a host happens in the order of time, and at its true time.

use super::Simulation;
use crate::event::Event;
use crate::options::{RunOptions, TraceLevel};
use crate::packet::Packet;
use crate::recorder::Recorder;
use cogtcp_hosts::{End, Flow};
use cogtcp_network::{Arrival, Due, LateHosts, Look, Network};
use cogtcp_scenario::{Experiment, FlowSpec, Traffic};
use cogtcp_units::Time;

/// The hosts that take their packets in batches.
#[derive(Debug, Default)]
pub(super) struct Batches {
    /// By flow: the link directions to the sender's and to the receiver's host. [`NONE`]: the host takes its
    /// packets one by one.
    of_flows: Vec<[u32; 2]>,
}

const NONE: u32 = u32::MAX;

impl Batches {
    /// The link direction to the host of this end of a flow; `None`: that host takes its packets one by one.
    fn of(&self, flow: u32, end: End) -> Option<u32> {
        let direction = self.of_flows.get(flow as usize)?[end.index()];
        (direction != NONE).then_some(direction)
    }
}

impl Simulation<'_> {
    /// Chooses the hosts that take their packets in batches, and the links that hand packets on ahead of time. The
    /// choice changes no result.
    pub(super) fn plan_lookahead(&mut self, options: &RunOptions) {
        // None where events are recorded: their rows are in the order of time. None beside parts, which may
        // look at anything.
        if options.trace >= TraceLevel::Full || !self.parts.is_empty() {
            return;
        }
        // No batches where one host can look at another: controls from outside that may share state, and
        // receivers that count the flows beside their own.
        let asks = |flow: &Flow| flow.tcp().is_some_and(|tcp| tcp.receiver_hook.is_some());
        if options.controls.is_none() && !self.flows.iter().any(asks) {
            self.plan_batches();
        }
        let is_gated = self.experiment.gated_links();
        self.plane.network.plan_ahead(|link| is_gated[link]);
    }

    fn plan_batches(&mut self) {
        let experiment = &*self.experiment;
        let mut exits = single_links(experiment);
        let network = &mut self.plane.network;
        for (flow, spec) in self.flows.iter().zip(&experiment.flows) {
            let fits = allows_batches(spec);
            for (end, node) in End::BOTH.into_iter().zip([spec.from, spec.to]) {
                // A stream may also leave over the air, or stay at its node.
                if !fits || network.first_direction(flow.stream(end)) != Some(exits[node] ^ 1) {
                    exits[node] = NONE;
                }
            }
        }
        for direction in exits.iter_mut().filter(|direction| **direction != NONE) {
            if network.allows_batches(*direction) {
                network.begin_batches(*direction);
            } else {
                *direction = NONE;
            }
        }
        if network.late_hosts() > 0 {
            let ends = |flow: &FlowSpec| [exits[flow.from], exits[flow.to]];
            self.batches.of_flows = experiment.flows.iter().map(ends).collect();
        }
    }

    /// Plays a host that has waited as long as it may.
    #[inline(never)]
    pub(super) fn play_batch(&mut self, now: Time, direction: u32, arrival: &mut Arrival<Packet>) {
        self.play_packets(now, direction, arrival);
        self.plane.network.end_batch(direction);
    }

    /// Returns what `event` looks at: not a timer, a part or a sample.
    pub(super) fn look_of(&self, event: Event) -> Look {
        let hosts = |flow| End::BOTH.map(|end| self.batches.of(flow, end));
        match event {
            Event::Write(flow) => Look::Hosts(hosts(flow)),
            Event::FlowStart(flow) | Event::FlowStop(flow) => Look::Links(hosts(flow)),
            _ => Look::All,
        }
    }

    /// Plays the host of this end of a flow for all packets that arrive before `until`.
    #[inline]
    pub(super) fn catch_up(&mut self, until: Time, flow: u32, end: End) {
        if let Some(direction) = self.batches.of(flow, end) {
            cogtcp_network::look(self, until, Look::Hosts([Some(direction), None]), |_| {});
        }
    }

    /// Plays a host for the packets that arrive before `until`, and for the timers between them, each at its
    /// own time.
    fn play_packets(&mut self, until: Time, direction: u32, arrival: &mut Arrival<Packet>) {
        loop {
            let at = self.plane.network.next_in_batch(direction);
            // After the last packet too: no timer stays behind in the past.
            self.play_timers(at, until);
            if at >= until {
                break;
            }
            self.plane.network.take_from_batch(at, direction, arrival);
            self.events += 1;
            self.digest.add(at, Due::arrival(direction));
            self.deliver(at, &arrival.frame);
        }
    }

    /// Plays timers that packets of a batch have set, and that are due before `until` and not after `next`,
    /// the time of the next packet. Everything else that is due before `until` has been played.
    #[inline]
    fn play_timers(&mut self, next: Time, until: Time) {
        while let Some((at, due)) = self.plane.network.agenda().peek_other()
            && at < until
            && at <= next
        {
            let Due::Host(code) = due else { unreachable!("only hosts lag behind") };
            self.play_timer(at, due, Event::from_code(code));
        }
    }

    #[cold]
    fn play_timer(&mut self, at: Time, due: Due, event: Event) {
        debug_assert!(matches!(event, Event::Timer(..)), "{event:?} is due in the past");
        self.play_host(at, due, event);
    }
}

impl LateHosts<Packet> for Simulation<'_> {
    type Observer = Recorder;

    #[inline]
    fn network(&mut self) -> (&mut Network<Packet>, &mut Recorder) {
        (&mut self.plane.network, &mut self.plane.recorder)
    }

    fn play(&mut self, direction: u32, until: Time) {
        self.play_packets(until, direction, &mut Arrival::default());
    }
}

/// By node: the link direction to the node, if the node has one link and that link no radio. Else [`NONE`].
fn single_links(experiment: &Experiment) -> Vec<u32> {
    let (mut exits, mut links) = (vec![NONE; experiment.nodes.len()], vec![0; experiment.nodes.len()]);
    for (number, link) in (0..).zip(&experiment.links) {
        for (node, direction) in [(link.to, 2 * number), (link.from, 2 * number + 1)] {
            (exits[node], links[node]) = (direction, links[node] + 1);
        }
    }
    for link in experiment.radios.iter().flat_map(|radio| &radio.links) {
        let link = &experiment.links[*link];
        (exits[link.from], exits[link.to]) = (NONE, NONE);
    }
    for (exit, links) in exits.iter_mut().zip(links) {
        if links != 1 {
            *exit = NONE;
        }
    }
    exits
}

/// Whether the hosts of a flow may be late. They may not if a packet can end the flow: with the flow ends the
/// measured span of links that other flows share. Nor if an application waits for packets.
fn allows_batches(flow: &FlowSpec) -> bool {
    let is_endless = matches!(flow.traffic, Traffic::Saturated | Traffic::Rate(_));
    flow.tcp().is_some() && is_endless
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_scenario::Scenario;
    use std::borrow::Cow;

    fn simulation(trace: TraceLevel, text: &str) -> Simulation<'static> {
        let scenario = Scenario::parse(text, "t").and_then(|scenario| scenario.resolve());
        let experiment = scenario.unwrap_or_else(|error| panic!("{error}"));
        let options = RunOptions { trace, ..RunOptions::default() };
        Simulation::new(Cow::Owned(experiment), &options).unwrap()
    }

    /// How many hosts of a dumbbell of 20 pairs take their packets in batches.
    fn hosts(trace: TraceLevel, access: &str, rest: &str) -> usize {
        let text = format!(
            "name = \"t\"\n[run]\nduration = \"1 s\"\n[topology.dumbbell]\npairs = 20\naccess = {{ {access} }}\n\
             bottleneck = {{ rate = \"1 Mbit/s\", delay = \"1 ms\", queue = \"9 packets\" }}\n{rest}"
        );
        simulation(trace, &text).plane.network.late_hosts()
    }

    #[test]
    fn hosts_that_nobody_sees_take_batches() {
        const ACCESS: &str = "rate = \"9 Mbit/s\", delay = \"5 ms\", queue = \"9 packets\"";
        let flows = |rest: &str| {
            format!("[[flow]]\ncount = 20\nfrom = \"s*\"\nto = \"d*\"\ntransport = \"newreno\"\n{rest}")
        };
        let all = flows("");
        assert_eq!(hosts(TraceLevel::None, ACCESS, &all), 40);
        assert_eq!(hosts(TraceLevel::Series, ACCESS, &all), 40);
        assert_eq!(hosts(TraceLevel::Full, ACCESS, &all), 0, "events are in the order of time");
        assert_eq!(
            hosts(TraceLevel::None, "rate = \"9 Mbit/s\", delay = \"0 s\"", &all),
            0,
            "no time to be late"
        );
        assert_eq!(
            hosts(TraceLevel::None, &format!("{ACCESS}, loss = \"1 %\""), &all),
            0,
            "losses at a host"
        );
        assert_eq!(hosts(TraceLevel::None, ACCESS, &flows("traffic = { size = \"9 kB\" }")), 0, "flows end");
        assert_eq!(
            hosts(TraceLevel::None, ACCESS, &flows("").replace("newreno", "c2")),
            0,
            "C2 counts flows"
        );
        let one = "[[flow]]\nfrom = \"s1\"\nto = \"d2\"\ntransport = \"tfrc\"\n";
        assert_eq!(
            hosts(TraceLevel::None, ACCESS, &format!("{all}{one}")),
            38,
            "another transport at two hosts"
        );
        let radio =
            "[[radio]]\nname = \"r\"\nlinks = [\"access-s1\"]\nsensing = { off = \"1 s\", on = \"1 s\" }\n";
        assert_eq!(hosts(TraceLevel::None, ACCESS, &format!("{all}{radio}")), 39, "a radio at one host");
    }

    /// How many link directions of a dumbbell of two pairs hand packets on ahead of time, and whether the
    /// bottleneck is played late.
    fn early(trace: TraceLevel, bottleneck: &str, rest: &str) -> (usize, bool) {
        let text = format!(
            "name = \"t\"\n[run]\nduration = \"1 s\"\n[topology.dumbbell]\npairs = 2\n\
             access = {{ rate = \"9 Mbit/s\", delay = \"5 ms\", queue = \"9 packets\" }}\n\
             bottleneck = {{ rate = \"1 Mbit/s\", delay = \"1 ms\", {bottleneck} }}\n\
             [[flow]]\ncount = 2\nfrom = \"s*\"\nto = \"d*\"\ntransport = \"newreno\"\n{rest}"
        );
        let simulation = simulation(trace, &text);
        let network = &simulation.plane.network;
        (network.directions().iter().filter(|hop| hop.is_early()).count(), network.has_inlets())
    }

    #[test]
    fn links_that_nothing_changes_hand_packets_on() {
        const QUEUE: &str = "queue = \"9 packets\"";
        // Both directions of the bottleneck, and one of each access link.
        assert_eq!(early(TraceLevel::None, QUEUE, ""), (6, true));
        assert_eq!(early(TraceLevel::Series, QUEUE, ""), (6, true));
        assert_eq!(early(TraceLevel::Full, QUEUE, ""), (0, false), "events are in the order of time");
        assert_eq!(early(TraceLevel::None, &format!("{QUEUE}, loss = \"1 %\""), ""), (0, false), "losses");
        assert_eq!(early(TraceLevel::None, "queue = { codel = {} }", ""), (0, false), "a queue discipline");
        let radio =
            "[[radio]]\nname = \"r\"\nlinks = [\"bottleneck\"]\nsensing = { off = \"1 s\", on = \"1 s\" }\n";
        assert_eq!(early(TraceLevel::None, QUEUE, radio), (0, false), "a radio");
        let radio = radio.replace("bottleneck", "access-s1");
        // Acknowledgements reach `s1` behind a gate, so nothing may wait for them: only data are handed on.
        assert_eq!(early(TraceLevel::None, QUEUE, &radio), (1, false), "a radio at a host");
        let other = "[[udp]]\nfrom = \"s1\"\nto = \"d1\"\npattern = { constant = \"100 kbit/s\" }\n";
        assert_eq!(early(TraceLevel::None, QUEUE, other), (0, false), "a source of UDP");
    }
}
