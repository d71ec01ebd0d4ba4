//! The way between two nodes under a clock made by hand: late, early, and never.

use cogtcp_crosslayer::LinkEvent;
use cogtcp_emulator::path::{Direction, Observer, Path};
use cogtcp_emulator::{Packet, Packets};
use cogtcp_link::{DropCause, Frame};
use cogtcp_scenario::{Experiment, Scenario};
use cogtcp_units::{Rate, Time};

/// Notes what it is told.
#[derive(Debug, Default, PartialEq)]
struct Notes {
    arrivals: Vec<(u64, Direction)>,
    drops: Vec<(u64, Direction, DropCause, bool)>,
    radio: usize,
}

impl Observer for Notes {
    fn arrived(&mut self, due: Time, direction: Direction, _: &Frame<Packet>) {
        self.arrivals.push((due.as_nanos() / 1000, direction));
    }

    fn dropped(
        &mut self,
        at: Time,
        direction: Direction,
        _: &Frame<Packet>,
        cause: DropCause,
        refused: bool,
    ) {
        self.drops.push((at.as_nanos() / 1000, direction, cause, refused));
    }

    fn radio(&mut self, _: Time, _: LinkEvent, _: Rate) {
        self.radio += 1;
    }
}

fn experiment(link: &str, radio: &str) -> Experiment {
    let text = format!(
        "name = \"t\"\n[run]\nduration = \"10 s\"\n[topology.single_hop]\nlink = {{ {link} }}\n{radio}\n\
         [[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"linux-reno\"\n"
    );
    Scenario::parse(&text, "t.toml").and_then(|scenario| scenario.resolve()).unwrap()
}

fn path(link: &str, radio: &str) -> Path {
    let experiment = experiment(link, radio);
    Path::new(&experiment.links[0], experiment.radios.first(), 1, Time::MAX)
}

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// Offers packets of 1000 bytes at these milliseconds in this direction.
fn offer(path: &mut Path, at: &[u64], direction: Direction, notes: &mut Notes) {
    let mut packets = Packets::default();
    // IPv4, a header of 20 bytes, of a sender that does not react to marks.
    let mut bytes = [0; 1000];
    bytes[0] = 0x45;
    for at in at {
        let packet = packets.put(ms(*at), &bytes, 0).unwrap();
        path.offer(ms(*at), direction, packet, 1000, notes);
    }
}

/// 8 Mbit/s: 1 ms for 1000 bytes; 10 ms of propagation; one on the air and two that wait, the fourth is refused.
#[test]
fn packets_arrive_when_they_are_due_however_late_one_looks() {
    let link = "rate = \"8 Mbit/s\", delay = \"10 ms\", queue = \"2 packets\"";
    let mut by_step = Notes::default();
    let mut late = Notes::default();
    for (notes, looks) in [(&mut by_step, 1), (&mut late, 1000)] {
        let mut path = path(link, "");
        offer(&mut path, &[0, 0, 0, 0], 0, notes);
        offer(&mut path, &[5], 1, notes);
        assert_eq!(path.next(), ms(11));
        for now in (6..=1000).step_by(looks) {
            path.play(ms(now), notes);
        }
        path.play(ms(1000), notes);
        assert_eq!(path.next(), Time::MAX);
        path.check_conservation().unwrap();
    }
    assert_eq!(by_step.arrivals, [(11_000, 0), (12_000, 0), (13_000, 0), (16_000, 1)]);
    assert_eq!(by_step.drops, [(0, 0, DropCause::Queue, true)]);
    assert_eq!(late, by_step);
}

/// Open for 1 s, then silent for 100 ms. A packet that comes at 1050 ms leaves when the silence ends, though the driver looks
/// long after that; with `drop` it is lost, and its transmission takes place.
#[test]
fn a_silence_gates_both_directions() {
    let link = "rate = \"8 Mbit/s\", delay = \"10 ms\"";
    for (silence, arrivals, drops) in [
        ("hold", vec![(1_111_000, 0), (1_111_000, 1)], vec![]),
        ("drop", vec![], vec![(1_061_000, 0), (1_061_000, 1)]),
    ] {
        let radio = format!(
            "[[radio]]\nname = \"r\"\nlinks = [\"link\"]\nsilence = \"{silence}\"\nsensing = {{ off = \"100 ms\", on = \"1 s\" }}"
        );
        let mut path = path(link, &radio);
        let mut notes = Notes::default();
        offer(&mut path, &[1050], 0, &mut notes);
        offer(&mut path, &[1050], 1, &mut notes);
        path.play(ms(2000), &mut notes);
        assert_eq!(notes.arrivals, arrivals, "{silence}");
        let lost: Vec<_> = notes.drops.iter().map(|(at, direction, ..)| (*at, *direction)).collect();
        assert_eq!(lost, drops, "{silence}");
        assert!(notes.radio >= 2);
        let stats = path.radio_stats(ms(2000)).unwrap();
        assert_eq!((stats.sensings, stats.sensing.as_nanos()), (1, 100_000_000));
    }
}

/// A queue discipline asks for events of its own; a driver that looks rarely gets the same arrivals.
#[test]
fn disciplines_do_not_depend_on_when_one_looks() {
    let link = "rate = \"8 Mbit/s\", delay = \"1 ms\", queue = \"codel\"";
    let [mut often, mut rarely] = [Notes::default(), Notes::default()];
    for (notes, step) in [(&mut often, 1), (&mut rarely, 50)] {
        let mut path = path(link, "");
        // 20 packets every 10 ms are twice what the link carries.
        for burst in (0..600).step_by(10) {
            offer(&mut path, &[burst; 20], 0, notes);
            if burst % step == 0 {
                path.play(ms(burst + 9), notes);
            }
        }
        path.play(ms(10_000), notes);
        path.check_conservation().unwrap();
    }
    assert_eq!(often, rarely);
    assert!(often.drops.iter().any(|(_, _, cause, _)| *cause == DropCause::Early), "{:?}", often.drops);
}

/// What this plane cannot do it says, before anything is made.
#[test]
fn scenarios_that_cannot_be_emulated_are_refused() {
    use cogtcp_emulator::Plan;
    let text = std::fs::read_to_string("../../scenarios/chain.toml").unwrap();
    let chain = Scenario::parse(&text, "chain.toml").and_then(|scenario| scenario.resolve()).unwrap();
    let error = Plan::new(chain, false).unwrap_err().to_string();
    assert!(error.contains("links between") && error.contains("one link between two nodes"), "{error}");
    let mut one = experiment("rate = \"8 Mbit/s\", delay = \"1 ms\"", "");
    assert!(Plan::new(one.clone(), false).is_ok_and(|plan| plan.notes.is_empty()));
    one.flows[0].control.name = "vegas".to_owned();
    let error = Plan::new(one.clone(), false).unwrap_err().to_string();
    assert!(error.contains("the kernel has no transport"), "{error}");
    // A program takes the place of the flows.
    assert!(Plan::new(one, true).is_ok());
}
