//! Files of movement: what they say, what is wrong with them, and files that nobody would write.

use cogtcp_mobility::trace::{TraceError, TraceReason, csv, setdest};
use cogtcp_mobility::{Area, Mobility, RandomWaypoint, Start};
use cogtcp_units::{Duration, Position, RandomStream, Time};

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// What setdest of ns-2 writes, with its hop counts; node 1 is sent elsewhere in the middle of a trip, and
/// stopped.
pub(crate) const SETDEST: &str = "#
# nodes: 2, pause: 2.00, max speed: 5.00, max x: 100.00, max y: 100.00
#
$node_(0) set X_ 10.0
$node_(0) set Y_ 20.0
$node_(0) set Z_ 0.000000000000
$node_(1) set X_ 0
$node_(1) set Y_ 0
$god_ set-dist 0 1 1
$ns_ at 2.000000000000 \"$node_(0) setdest 40.0 60.0 5.0\"
$ns_ at 1.5 \"$node_(1) setdest 100.0 0.0 10\"
$ns_ at 4.0 \"$god_ set-dist 0 1 16777215\"
$ns_ at 3.5 \"$node_(1) setdest 20.0 50.0 5.0\"
$ns_ at 7.5 \"$node_(1) setdest 20.0 50.0 0.0\"
#
# Destination Unreachables: 0
";

#[test]
fn setdest_by_hand() {
    let mobility = setdest::read("m.tcl", SETDEST).unwrap();
    assert_eq!(mobility.len(), 2);
    let at = |node, millis| mobility.position(node, ms(millis));
    // 50 m at 5 m/s: from 2 s to 12 s.
    assert_eq!((at(0, 0), at(0, 2000)), (Position::new(10.0, 20.0), Position::new(10.0, 20.0)));
    assert_eq!((at(0, 7000), at(0, 12_000)), (Position::new(25.0, 40.0), Position::new(40.0, 60.0)));
    assert_eq!(at(0, 99_000), Position::new(40.0, 60.0));
    // East from 1.5 s, at (20, 0) north from 3.5 s, stopped at 7.5 s.
    assert_eq!((at(1, 2500), at(1, 3500)), (Position::new(10.0, 0.0), Position::new(20.0, 0.0)));
    assert_eq!((at(1, 5500), at(1, 7500)), (Position::new(20.0, 10.0), Position::new(20.0, 20.0)));
    assert_eq!(at(1, 60_000), Position::new(20.0, 20.0));
}

#[test]
fn csv_by_hand() {
    let text = "# of a survey\ntime, node, y, x, speed\n0,0,5,0,1\n 10 ,0,5,100,1\n3,1,7,7,0\n";
    let mobility = csv::read("m.csv", text).unwrap();
    assert_eq!(mobility.position(0, ms(2500)), Position::new(25.0, 5.0));
    assert_eq!(mobility.position(1, ms(0)), Position::new(7.0, 7.0));
}

/// Times are exact to the nanosecond; digits beyond are rounded, as is an exponent's value.
#[test]
fn times_are_rounded_to_the_nanosecond() {
    let text = "node,time,x,y\n0,0,0,0\n0,1.0000000004,1,0\n0,2.0000000005,2,0\n0,3e0,3,0\n0,.5e1,4,0\n";
    let mobility = csv::read("m.csv", text).unwrap();
    let times: Vec<u64> =
        mobility.trajectories()[0].vertices().iter().map(|vertex| vertex.time.as_nanos()).collect();
    assert_eq!(times, [0, 1_000_000_000, 2_000_000_001, 3_000_000_000, 5_000_000_000]);
}

fn random(seed: u64) -> Mobility {
    let model = RandomWaypoint {
        area: Area::new(1000.0, 700.0),
        min_speed: 2.5,
        max_speed: 4.0,
        min_pause: Duration::ZERO,
        max_pause: Duration::from_secs(5),
        start: Start::Stationary,
    };
    model.generate(12, Duration::from_secs(900), seed).unwrap()
}

/// A trip of less than a nanosecond takes one: no node is at two places at once.
#[test]
fn a_trip_of_no_time_takes_a_nanosecond() {
    let text = "$node_(0) set X_ 1\n$node_(0) set Y_ 1\n$ns_ at 1 \"$node_(0) setdest 1.000000001 1 9\"\n";
    let mobility = setdest::read("m.tcl", text).unwrap();
    let [before, after] =
        [1_000_000_000, 1_000_000_001].map(|at| mobility.position(0, Time::from_nanos(at)).x);
    assert_eq!((before, after), (1.0, 1.000000001));
}

/// CSV is exact. setdest gives speeds and not times of arrival: 1 ns off, and so 4e-9 m.
#[test]
fn what_is_written_is_read() {
    let before = random(1);
    assert_eq!(csv::read("m.csv", &csv::write(&before)).unwrap(), before);
    let text = setdest::write(&before);
    // A node that rests has no speed: nothing is said of it.
    assert!(!text.contains("NaN") && !text.lines().any(|line| line.ends_with(" 0\"")), "{text}");
    let after = setdest::read("m.tcl", &text).unwrap();
    for node in 0..before.len() {
        for step in 0..2000 {
            let now = Time::from_nanos(step * 450_000_123);
            let off = before.position(node, now).distance(after.position(node, now));
            assert!(off < 1e-7, "node {node} at {now:?}: {off} m off");
        }
    }
}

fn reason(read: fn(&str, &str) -> Result<Mobility, TraceError>, text: &str) -> (usize, String) {
    let error = read("m", text).unwrap_err();
    assert!(error.to_string().starts_with(&format!("m:{}: ", error.line)));
    (error.line, error.reason.to_string())
}

#[test]
fn errors_of_setdest_say_where_and_what() {
    let placed = "$node_(0) set X_ 1\n$node_(0) set Y_ 1\n";
    for (text, line, words) in [
        ("", 1, "describes no node"),
        ("# nothing\n", 1, "describes no node"),
        ("hello world\n", 1, "\"hello world\" is not understood"),
        ("\n$node_(0) set X_ one\n", 2, "the coordinate is \"one\"; expected metres"),
        ("$node_(x) set X_ 1\n", 1, "the node is \"x\""),
        ("$node_(200000) set X_ 1\n", 1, "more than 100000 nodes"),
        ("$node_(0) set W_ 1\n", 1, "not understood"),
        ("$node_(0) set X_ 1\n$node_(0) set X_ 2\n", 2, "node 0 is placed twice"),
        ("$node_(0) set X_ 1\n", 1, "node 0 has X_ and no Y_; add \"$node_(0) set Y_ 10\""),
        ("$node_(0) set Y_ 1\n$node_(1) set X_ 1\n$node_(1) set Y_ 1\n", 1, "node 0 has Y_ and no X_"),
        ("$node_(0) set X_ 1\n$ns_ at 1 \"$node_(0) setdest 1 2 3\"\n", 2, "node 0 has X_ and no Y_"),
        ("$node_(0) set Z_ 1\n", 1, "node 0 has no position"),
        ("$node_(2) set X_ 1\n$node_(2) set Y_ 1\n", 2, "node 0 is missing"),
        ("$ns_ at 1 \"$node_(0) setdest 1 2 3\"\n", 1, "set its X_ and Y_ before it moves"),
    ] {
        let (at, said) = reason(setdest::read, text);
        assert_eq!(at, line, "{text:?}: {said}");
        assert!(said.contains(words), "{text:?}: {said}");
    }
    for (order, words) in [
        ("$ns_ at -1 \"$node_(0) setdest 1 2 3\"", "the time is \"-1\"; expected seconds"),
        ("$ns_ at 1 \"$node_(0) setdest 1 2 -3\"", "the speed is \"-3\""),
        ("$ns_ at 1 \"$node_(0) setdest 1 2\"", "not understood"),
        ("$ns_ at 1 \"$node_(0) setdest 1 1e30 3\"", "y is \"1e30\""),
        ("$ns_ at 1 \"$node_(0) set X_ 3\"", "nodes cannot jump"),
        (
            "$ns_ at 1 \"$node_(0) setdest 9 9 1\"\n$ns_ at 0.5 \"$node_(0) setdest 1 2 3\"",
            "sort the lines of a node",
        ),
    ] {
        let (line, said) = reason(setdest::read, &format!("{placed}{order}\n"));
        assert!(said.contains(words), "{order:?}: {said}");
        assert_eq!(line, 2 + order.lines().count());
    }
}

#[test]
fn errors_of_csv_say_where_and_what() {
    for (text, line, words) in [
        ("", 1, "describes no node"),
        ("node,time,x\n", 1, "expected a header with the columns node, time, x and y"),
        ("node,time,x,y\n", 1, "describes no node"),
        ("node,time,x,y\n0,0,1\n", 2, "y is \"\"; expected metres"),
        ("node,time,x,y\n0,zero,1,1\n", 2, "time is \"zero\""),
        ("node,time,x,y\n0,0,inf,1\n", 2, "x is \"inf\""),
        ("node,time,x,y\n0,1,1,1\n0,1,2,2\n", 3, "not after the one before"),
        ("node,time,x,y\n0,0,1,1\n2,0,1,1\n", 3, "node 1 is missing"),
        ("node,time,x,y\n-1,0,1,1\n", 2, "the node is \"-1\""),
        // More nanoseconds than 64 bits hold.
        ("node,time,x,y\n0,99999999999,1,1\n", 2, "expected seconds"),
    ] {
        let (at, said) = reason(csv::read, text);
        assert_eq!(at, line, "{text:?}: {said}");
        assert!(said.contains(words), "{text:?}: {said}");
    }
}

/// A line that is quoted in an error cannot move a terminal's cursor, nor fill its screen.
#[test]
fn quoted_text_is_harmless() {
    let text = format!("\u{1b}[2J{}", "x".repeat(500));
    let TraceReason::Line { text, .. } = setdest::read("m", &text).unwrap_err().reason else { panic!() };
    assert!(text.len() < 90 && !text.contains('\u{1b}'), "{text}");
    // One sees that something was cut off: 60 characters are quoted, and the rest is three dots.
    let quoted = |length: usize| match setdest::read("m", &"x".repeat(length)).unwrap_err().reason {
        TraceReason::Line { text, .. } => text,
        reason => panic!("{reason}"),
    };
    assert_eq!((quoted(60), quoted(61)), ("x".repeat(60), "x".repeat(60) + "..."));
}

/// Files with bytes changed, lines cut, doubled or moved: an error or trajectories, never a panic, and what
/// is read can be written.
#[test]
fn damaged_files_are_read_or_refused() {
    let tcl = setdest::write(&random(2));
    let rows = csv::write(&random(3));
    type Reader = fn(&str, &str) -> Result<Mobility, TraceError>;
    let readers: [(&str, Reader); 3] = [(&tcl, setdest::read), (SETDEST, setdest::read), (&rows, csv::read)];
    let (mut refused, mut read_well) = (0, 0);
    for (text, read) in readers {
        for seed in 0..700 {
            let mut draw = RandomStream::new(seed, "damage", text.len() as u64);
            let mut lines: Vec<String> = text.lines().take(60).map(str::to_owned).collect();
            for _ in 0..=draw.below(3) {
                let index = draw.below(lines.len() as u64) as usize;
                match draw.below(5) {
                    0 => {
                        let copied = lines[index].clone();
                        lines.push(copied);
                    }
                    1 => lines[index].truncate(draw.below(20) as usize),
                    2 => drop(lines.swap_remove(index)),
                    _ => {
                        let words = ["-", "9", "e9", "\"", "$", "nan", " ", ",", "(", "0.", "1e308", "\u{0}"];
                        let word = words[draw.below(words.len() as u64) as usize];
                        let at = draw.below(lines[index].len() as u64 + 1) as usize;
                        lines[index].insert_str(at, word);
                    }
                }
            }
            match read("damaged", &lines.join("\n")) {
                Ok(mobility) => {
                    read_well += 1;
                    assert_eq!(csv::read("again", &csv::write(&mobility)).unwrap(), mobility);
                    for trajectory in mobility.trajectories() {
                        let at = trajectory.position(ms(draw.below(1_000_000)));
                        assert!(at.x.is_finite() && at.y.is_finite());
                    }
                }
                Err(error) => {
                    refused += 1;
                    assert!(error.line >= 1 && error.line <= lines.len() + 1);
                }
            }
        }
    }
    assert!(refused > 300 && read_well > 300, "{refused} refused, {read_well} read");
}

/// Files that people wrote by hand: numbered from 1, an order twice, the size of a node in a drawing.
#[test]
fn nodes_may_be_numbered_from_1_and_drawn() {
    let text = include_str!("../../../tests/data/cases/movement-from-node-1.tcl");
    let mobility = setdest::read("m.tcl", text).unwrap();
    assert_eq!(mobility.len(), 2);
    // From (40, 500) to (500, 200): 549.2 m at 0.62 m/s from 1 s on.
    let last = mobility.trajectories()[0].vertices().last().unwrap();
    assert_eq!((last.position.x, last.position.y), (500.0, 200.0));
    assert!((last.time.as_secs_f64() - 1.0 - 460_f64.hypot(300.0) / 0.62).abs() < 1e-6);
    assert_eq!(mobility.trajectories()[1].vertices().len(), 1);

    let text = include_str!("../../../tests/data/cases/movement-with-initial-node-pos.tcl");
    let mobility = setdest::read("m.tcl", text).unwrap();
    assert_eq!(mobility.len(), 2);
    let vertices = mobility.trajectories()[0].vertices();
    let (from, to) = (vertices[vertices.len() - 2], vertices[vertices.len() - 1]);
    assert_eq!(from.time, Time::from_secs_f64(5.0));
    assert!((from.position.distance(to.position) - 321.6).abs() < 0.1);
    assert!(((to.time - from.time).as_secs_f64() - from.position.distance(to.position) / 3.5).abs() < 1e-6);
    assert!(reason(setdest::read, "$ns_ initial_node_pos 0 20\n").1.contains("not understood"));
}

/// The largest that each field takes, and the next beyond it.
#[test]
fn fields_are_bounded() {
    let placed = "$node_(0) set X_ 1\n$node_(0) set Y_ 1\n";
    for (line, taken) in [
        ("$node_(1) set X_ 1000000000\n$node_(1) set Y_ -1e9", true),
        ("$node_(1) set X_ 1000000001\n$node_(1) set Y_ 1", false),
        ("$node_(1) set X_ -1000000001\n$node_(1) set Y_ 1", false),
        ("$node_(1) set X_ nan", false),
        ("$node_(99999) set X_ 1", false),
        ("$ns_ at 999999999.999 \"$node_(0) setdest 1 2 3\"", true),
        ("$ns_ at 1000000000 \"$node_(0) setdest 1 2 3\"", false),
        ("$ns_ at 1 \"$node_(0) setdest 1 2 1e6\"", true),
        ("$ns_ at 1 \"$node_(0) setdest 1 2 1000001\"", false),
        ("$ns_ at 1 \"$node_(0) setdest 1 2 0\"", true),
        // Only a variable's name begins with a dollar.
        ("$ns_ initial_node_pos $node_(0) 20", true),
        ("ns_ initial_node_pos $node_(0) 20", false),
        ("ns_ at 1 \"$node_(0) setdest 1 2 3\"", false),
        ("$ns_ at 1 \"node_(0) setdest 1 2 3\"", false),
    ] {
        let read = setdest::read("m.tcl", &format!("{placed}{line}\n"));
        assert_eq!(read.is_ok(), taken, "{line}: {read:?}");
    }
    let number = |text: &str| setdest::read("m.tcl", text).unwrap_err().reason;
    assert_eq!(number("$node_(99999) set X_ 1\n$node_(99999) set Y_ 1"), TraceReason::MissingNode(0));
    assert!(matches!(number("$node_(100000) set X_ 1"), TraceReason::TooMany { what: "nodes", .. }));
    // Two orders at one time: the later line holds.
    let order = |speed: u32| format!("$ns_ at 1 \"$node_(0) setdest 5 1 {speed}\"\n");
    let mobility = setdest::read("m.tcl", &[placed, &order(1), &order(2)].concat()).unwrap();
    assert_eq!(mobility.trajectories()[0].vertices().last().unwrap().time, ms(3000));
}

/// An order to go where the node is already moves it nowhere: it stands there from then on.
#[test]
fn a_way_of_no_length_is_none() {
    let text = "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$ns_ at 1 \"$node_(0) setdest 1 2 3\"\n";
    let vertices: Vec<Time> =
        setdest::read("m", text).unwrap().trajectories()[0].vertices().iter().map(|it| it.time).collect();
    assert_eq!(vertices, [ms(0), ms(1000)]);
    // An order at the end of a trip cuts nothing, and one in its middle leaves a corner there.
    let trip = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n$ns_ at 1 \"$node_(0) setdest 10 0 5\"\n";
    for (at, corners) in [("3", vec![0, 1000, 3000, 4000]), ("2", vec![0, 1000, 2000, 3000])] {
        let text =
            format!("{trip}$ns_ at {at} \"$node_(0) setdest {} 0 5\"\n", if at == "3" { 15 } else { 0 });
        let mobility = setdest::read("m", &text).unwrap();
        let times: Vec<Time> = mobility.trajectories()[0].vertices().iter().map(|it| it.time).collect();
        assert_eq!(times, corners.into_iter().map(ms).collect::<Vec<_>>(), "{at}");
    }
}
