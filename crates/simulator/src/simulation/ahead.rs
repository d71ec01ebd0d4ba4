//! Which networks hand packets on ahead of time.

use super::Simulation;
use crate::options::{RunOptions, TraceLevel};

impl Simulation<'_> {
    /// Chooses the links that hand packets on ahead of time. The choice changes no result.
    pub(super) fn plan_ahead(&mut self, options: &RunOptions) {
        if options.trace >= TraceLevel::Full || !self.parts.is_empty() {
            return;
        }
        let is_gated = self.experiment.gated_links();
        self.plane.network.plan_ahead(|link| is_gated[link]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_scenario::Scenario;
    use std::borrow::Cow;

    /// How many link directions of a dumbbell of two pairs hand packets on ahead of time, and whether the
    /// bottleneck is played late.
    fn early(trace: TraceLevel, bottleneck: &str, rest: &str) -> (usize, bool) {
        let text = format!(
            "name = \"t\"\n[run]\nduration = \"1 s\"\n[topology.dumbbell]\npairs = 2\n\
             access = {{ rate = \"9 Mbit/s\", delay = \"5 ms\", queue = \"9 packets\" }}\n\
             bottleneck = {{ rate = \"1 Mbit/s\", delay = \"1 ms\", {bottleneck} }}\n\
             [[flow]]\ncount = 2\nfrom = \"s*\"\nto = \"d*\"\ntransport = \"newreno\"\n{rest}"
        );
        let scenario = Scenario::parse(&text, "t").and_then(|scenario| scenario.resolve());
        let experiment = scenario.unwrap_or_else(|error| panic!("{error}"));
        let options = RunOptions { trace, ..RunOptions::default() };
        let simulation = Simulation::new(Cow::Owned(experiment), &options).unwrap();
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
