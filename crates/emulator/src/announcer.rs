//! Reports radio events to a control of this project inside the kernel, as lines for a privileged program
//! (`cogtcp-c2 follow`). So the emulator needs neither privileges nor libbpf.
//!
//! A host hears of its own radio: of each destination to which its packets leave by a link that the radio
//! gates. What is farther off it would have to be told by a protocol.

use crate::plan::Plan;
use crate::sys;
use cogtcp_crosslayer::{LinkEvent, Phase};
use cogtcp_network::RadioIndex;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};

/// Longest silence without an end, in seconds. The program forgets all silences when the lines end.
const LONGEST: u32 = 3600;

/// What the radio is said to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Said {
    Up,
    Sensing,
    Handoff,
}

impl Said {
    fn of(phase: Phase) -> Self {
        match phase {
            Phase::Transmitting => Self::Up,
            // What is lost comes back as it was.
            Phase::Sensing | Phase::Lost => Self::Sensing,
            Phase::Switching => Self::Handoff,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Sensing => "sensing",
            Self::Handoff => "handoff",
        }
    }
}

/// Who is told what.
#[derive(Debug)]
pub(crate) struct Announcer {
    lines: OwnedFd,
    radios: Vec<Heard>,
}

/// A radio of the experiment.
#[derive(Debug)]
struct Heard {
    /// Whether it stands for CR users with a MAC. These tell what they do by events, others by phases.
    has_mac: bool,
    /// One; of two CR users that sense apart one each.
    units: Vec<Audience>,
}

/// Who hears of a radio: the namespaces, by their inodes, and the destinations; and what was said last, if
/// anything was.
#[derive(Debug)]
struct Audience {
    destinations: Vec<(u64, IpAddr)>,
    said: Option<Said>,
}

impl Announcer {
    /// Returns an announcer for the hosts of `plan`, whose namespaces are `namespaces`. `lines` does not
    /// block.
    pub(crate) fn new(lines: OwnedFd, plan: &Plan, namespaces: &[u64]) -> Self {
        let radios = plan.experiment.radios.iter().map(|radio| {
            let units = plan.experiment.radio_names(radio).len();
            let mut told: Vec<_> =
                (0..units).map(|_| Audience { destinations: Vec::new(), said: None }).collect();
            for (from, namespace) in namespaces.iter().enumerate() {
                for to in (0..namespaces.len()).filter(|to| *to != from) {
                    let first = plan.routes.directions(from, to).first().copied();
                    if let Some(direction) = first.filter(|direction| radio.links.contains(&(direction / 2)))
                    {
                        let addresses = plan.addresses(to).into_iter().map(|address| (*namespace, address));
                        // What is one for both ends is told to both.
                        told[direction % units].destinations.extend(addresses);
                    }
                }
            }
            Heard { has_mac: radio.kind.cognitive().is_some(), units: told }
        });
        Self { lines, radios: radios.collect() }
    }

    /// What radios do from the beginning.
    pub(crate) fn begin(&mut self, phases: &[(usize, Phase)]) {
        phases.iter().for_each(|(radio, phase)| self.phase(*radio, *phase));
    }

    /// Something happened to a radio.
    pub(crate) fn event(&mut self, (radio, unit): RadioIndex, event: LinkEvent) {
        let has_mac = self.radios.get(radio).is_some_and(|heard| heard.has_mac);
        let said = match event {
            // One that takes no time to change its channel is in no phase of that.
            LinkEvent::Handoff { .. } if !has_mac => Said::Handoff,
            LinkEvent::SensingStart { .. } if has_mac => Said::Sensing,
            LinkEvent::SwitchingStart { .. } if has_mac => Said::Handoff,
            LinkEvent::SensingEnd { .. } | LinkEvent::SwitchingEnd if has_mac => Said::Up,
            _ => return,
        };
        self.say((radio, unit), said);
    }

    /// What a radio that gates links does from now on.
    pub(crate) fn phase(&mut self, radio: usize, phase: Phase) {
        self.say((radio, 0), Said::of(phase));
    }

    /// Whether something was said, and to somebody who still listens.
    pub(crate) fn is_heard(&self) -> bool {
        let mut told = self.radios.iter().flat_map(|heard| &heard.units);
        let is_said = told.any(|told| told.said.is_some() && !told.destinations.is_empty());
        is_said && sys::has_reader(self.lines.as_fd())
    }

    fn say(&mut self, (radio, unit): RadioIndex, what: Said) {
        let told = self.radios.get_mut(radio).and_then(|heard| heard.units.get_mut(unit));
        let Some(told) = told.filter(|told| told.said != Some(what)) else { return };
        let word = what.word();
        let lines: String = told
            .destinations
            .iter()
            .map(|(namespace, address)| format!("{namespace} {address} {word} {LONGEST}\n"))
            .collect();
        // Whoever reads may have gone, as where nothing is loaded: nobody wants to hear it then. What found
        // the link direction full is not said, so that the next word is, whatever it is.
        let written = sys::write(self.lines.as_fd(), lines.as_bytes());
        told.said = if written.is_ok_and(|size| size == lines.len()) { Some(what) } else { None };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Family;
    use cogtcp_crosslayer::{ChannelId, Verdict};
    use cogtcp_scenario::Scenario;
    use cogtcp_units::Time;
    use std::path::Path;

    const CHAIN: &str = r#"
name = "chain"
[run]
duration = "1 s"
[topology.graph]
nodes = ["far", "middle", "near"]
links = [
  { name = "wire", from = "far", to = "middle", rate = "1 Mbit/s", delay = "1 ms" },
  { name = "air", from = "middle", to = "near", rate = "1 Mbit/s", delay = "1 ms" },
]
[[radio]]
name = "cr"
links = ["air"]
silence = "drop"
sensing = { off = "100 ms", on = "1 s" }
[[flow]]
name = "flow"
from = "far"
to = "near"
transport = "linux-cubic"
"#;

    #[test]
    fn a_host_hears_of_its_own_radio_and_once_of_each_change() {
        let experiment = Scenario::parse(CHAIN, "chain.toml").unwrap().resolve().unwrap();
        let plan = Plan::new(experiment, false, Family::V4).unwrap();
        let (reader, writer) = sys::pipe().unwrap();
        let mut announcer = Announcer::new(writer, &plan, &[11, 22]);
        let read = || {
            let mut text = [0; 4096];
            let size = sys::read(reader.as_fd(), &mut text).unwrap();
            String::from_utf8_lossy(&text[..size]).into_owned()
        };
        // The far end's packets leave by the wire: it is told of nothing.
        let line = |word| format!("22 {} {word} 3600\n", Family::V4.address(0));
        assert!(!announcer.is_heard(), "nothing was said");
        announcer.begin(&[(0, Phase::Transmitting)]);
        assert!(announcer.is_heard());
        assert_eq!(read(), line("up"), "whatever was said of a namespace of this number before");
        announcer.phase(0, Phase::Sensing);
        announcer.phase(0, Phase::Sensing);
        assert_eq!(read(), line("sensing"));
        announcer.phase(0, Phase::Switching);
        announcer.phase(0, Phase::Transmitting);
        assert_eq!(read(), line("handoff") + &line("up"));
        let (from, to) = (ChannelId(1), ChannelId(2));
        announcer.event((0, 0), LinkEvent::Handoff { from, to, rate: None });
        announcer.phase(0, Phase::Transmitting);
        assert_eq!(read(), line("handoff") + &line("up"), "it took no time");
        announcer.phase(0, Phase::Lost);
        assert_eq!(read(), line("sensing"));
        assert!(announcer.is_heard());
        // As where nothing is loaded.
        drop(reader);
        assert!(!announcer.is_heard());
    }

    #[test]
    fn each_of_two_cr_users_that_sense_apart_hears_of_its_own_radio() {
        let pair = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/cr-as-released.toml");
        let experiment = Scenario::read(Path::new(pair)).unwrap().resolve().unwrap();
        let plan = Plan::new(experiment, false, Family::V4).unwrap();
        let (reader, writer) = sys::pipe().unwrap();
        let mut announcer = Announcer::new(writer, &plan, &[11, 22]);
        announcer.event((0, 0), LinkEvent::SensingStart { until: Time::MAX });
        announcer.event((0, 1), LinkEvent::SwitchingStart { until: Time::MAX });
        announcer.event((0, 0), LinkEvent::SensingEnd { verdict: Verdict::Clear });
        announcer.event((0, 1), LinkEvent::SwitchingEnd);
        announcer.event((0, 1), LinkEvent::Handoff { from: ChannelId(0), to: ChannelId(1), rate: None });
        drop(announcer);
        let mut text = [0; 4096];
        let size = sys::read(reader.as_fd(), &mut text).unwrap();
        let [far, near] = [0, 1].map(|host| Family::V4.address(host));
        let expected =
            format!("11 {near} sensing 3600\n22 {far} handoff 3600\n11 {near} up 3600\n22 {far} up 3600\n");
        assert_eq!(String::from_utf8_lossy(&text[..size]), expected);
    }

    #[test]
    fn both_cr_users_hear_of_a_sensing_together() {
        let pair = include_str!("../../../scenarios/cr-single-hop.toml");
        let experiment = Scenario::parse(pair, "pair.toml").unwrap().resolve().unwrap();
        let plan = Plan::new(experiment, false, Family::V4).unwrap();
        let (reader, writer) = sys::pipe().unwrap();
        let mut announcer = Announcer::new(writer, &plan, &[11, 22]);
        announcer.event((0, 0), LinkEvent::SensingStart { until: Time::MAX });
        announcer.event((0, 0), LinkEvent::SensingEnd { verdict: Verdict::Clear });
        drop(announcer);
        let mut text = [0; 4096];
        let size = sys::read(reader.as_fd(), &mut text).unwrap();
        let [far, near] = [0, 1].map(|host| Family::V4.address(host));
        let both = |word| format!("11 {near} {word} 3600\n22 {far} {word} 3600\n");
        assert_eq!(String::from_utf8_lossy(&text[..size]), both("sensing") + &both("up"));
    }
}
