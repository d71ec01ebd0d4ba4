//! Movements, neighbours and files of movement, also changed ones, committed as text.

use crate::committed::{compare, hash};
use crate::trace::SETDEST;
use cogtcp_mobility::trace::{csv, setdest};
use cogtcp_mobility::{Area, Mobility, NeighborGrid, Placement, RandomWaypoint, Start, Trajectory, Vertex};
use cogtcp_units::{Duration, Position, RandomStream, Time};
use std::fmt::Write;

const SIDES: [f64; 7] = [f64::NAN, -1.0, 0.0, 3.0, 1000.0, 1e9, 1.000_001e9];

#[test]
fn areas_and_placements() {
    let mut text = String::new();
    for (width, height) in SIDES.into_iter().flat_map(|width| SIDES.map(|height| (width, height))) {
        let area = Area::new(width, height);
        let inside = [(0.0, 0.0), (3.0, 3.0), (3.000_1, 0.0), (-0.1, 0.0)]
            .map(|(x, y)| area.contains(Position::new(x, y)));
        let _ = writeln!(
            text,
            "{width} x {height}: {} {inside:?} {} {} {:?}",
            area.is_valid(),
            area.diagonal(),
            area.mean_distance(),
            Placement::Uniform(area).place(3, 7)
        );
    }
    for spacing in [f64::NAN, -1.0, 0.0, 50.0, f64::INFINITY] {
        let _ = writeln!(text, "{spacing}: {:?}", Placement::Chain { spacing }.place(3, 1));
        for columns in [0, 1, 2, 5] {
            let _ = writeln!(text, "  {columns}: {:?}", Placement::Grid { columns, spacing }.place(5, 1));
        }
    }
    let given = Placement::Given(vec![Position::new(1.0, 2.0), Position::new(3.0, 4.0)]);
    let _ = writeln!(text, "{:?} {:?} {:?}", given.place(1, 0), given.place(2, 0), given.place(3, 0));
    compare("places", &text);
}

/// Where a node is, and what else is asked of it, every so often.
fn walked(trajectory: &Trajectory, step: u64, steps: u64) -> u64 {
    let mut text = format!("{:?} {}", trajectory.vertices(), trajectory.max_speed());
    for at in (0..steps).map(|number| Time::from_nanos(number * step)) {
        let _ = write!(
            text,
            "{:?} {:?} {} {:?} {} {:?}",
            trajectory.position(at),
            trajectory.velocity(at),
            trajectory.speed(at),
            trajectory.next_turn(at),
            trajectory.travelled(at),
            trajectory.paused(at)
        );
    }
    let cut = trajectory.clone().cut(Time::from_nanos(step * steps / 2));
    hash(format!("{text} {cut:?}").as_bytes())
}

#[test]
fn movements() {
    let mut text = String::new();
    let model = RandomWaypoint {
        area: Area::new(300.0, 200.0),
        min_speed: 2.0,
        max_speed: 20.0,
        min_pause: Duration::ZERO,
        max_pause: Duration::from_secs(4),
        start: Start::Stationary,
    };
    for start in [Start::Stationary, Start::Naive] {
        for (low, high) in [
            (0.000_9, 1.0),
            (0.001, 0.001),
            (5.0, 4.9),
            (2.0, 20.0),
            (1e6, 1e6),
            (1.0, 1.000_001e6),
            (3.0, 3.0),
        ] {
            for (least, most) in [(0, 0), (0, 4), (3, 3), (4, 3)] {
                for area in [model.area, Area::new(0.0, 50.0), Area::new(0.0, 0.0)] {
                    let [min_pause, max_pause] = [least, most].map(Duration::from_secs);
                    let model =
                        RandomWaypoint { area, min_speed: low, max_speed: high, min_pause, max_pause, start };
                    // Of the fastest nodes a short time, as each trip is two vertices.
                    let span = if low > 100.0 { Duration::from_micros(500) } else { Duration::from_secs(60) };
                    let _ = write!(text, "{model:?}: ");
                    match model.generate(3, span, 9) {
                        Ok(mobility) => {
                            let hashes =
                                mobility.trajectories().iter().map(|it| walked(it, span.as_nanos() / 20, 22));
                            let hash = hashes.fold(0u64, |all, hash| all.rotate_left(9) ^ hash);
                            let (share, end) = (model.moving_share(), mobility.end());
                            let _ = writeln!(text, "{} {share} {end:?} {hash:016x}", mobility.max_speed());
                        }
                        Err(error) => _ = writeln!(text, "{error}"),
                    }
                }
            }
        }
    }
    let many = model.generate(2, Duration::from_secs(1_000_000_000), 1).map(|it| it.len());
    let _ = writeln!(text, "{many:?}");
    // Vertices in any order, and at one place.
    let vertex =
        |millis: u64, x: f64| Vertex { time: Time::from_millis(millis), position: Position::new(x, 1.0) };
    for vertices in [
        vec![],
        vec![vertex(5, 0.0)],
        vec![vertex(0, 0.0)],
        vec![vertex(0, 0.0), vertex(0, 1.0)],
        vec![vertex(0, 0.0), vertex(10, 0.0), vertex(20, 5.0), vertex(30, 5.0)],
        vec![vertex(0, 0.0), vertex(20, f64::NAN)],
        vec![vertex(0, 0.0), vertex(20, 5.0), vertex(10, 5.0)],
    ] {
        match Trajectory::new(vertices) {
            Ok(trajectory) => _ = writeln!(text, "{:016x}", walked(&trajectory, 2_500_000, 16)),
            Err(error) => _ = writeln!(text, "{error}"),
        }
    }
    compare("movements", &text);
}

#[test]
fn neighbours() {
    let model = RandomWaypoint {
        area: Area::new(500.0, 400.0),
        min_speed: 1.0,
        max_speed: 30.0,
        min_pause: Duration::ZERO,
        max_pause: Duration::from_secs(2),
        start: Start::Stationary,
    };
    let moving = model.generate(30, Duration::from_secs(40), 3).unwrap();
    let still = Mobility::still(&Placement::Grid { columns: 5, spacing: 50.0 }.place(25, 0).unwrap());
    let mut text = String::new();
    for (mobility, range) in [
        (&moving, 0.0),
        (&moving, 60.0),
        (&moving, 250.0),
        (&still, 50.0),
        (&still, f64::INFINITY),
        (&moving, f64::INFINITY),
    ] {
        let mut grid = NeighborGrid::new(mobility, range);
        let mut draw = RandomStream::new(1, "neighbours", 0);
        for _ in 0..60 {
            let (now, node) = (Time::from_nanos(draw.below(45_000_000_000)), draw.below(25) as u32);
            let found = grid.neighbors(mobility, now, node);
            let _ = writeln!(text, "{range} {node} {now:?}: {:?} {:?}", found.nodes, found.until);
        }
    }
    compare("neighbours", &text);
}

const CSV: &str = "# of a survey
time, node, y, x, speed
0,0,5,0,1
 10.5 ,0,5,100,1
.25,1,7,7,0
3.,1,1e2,7,0
3.0000000005,1,-7,7,0
";

/// Replaces, drops or repeats words and lines.
fn changed(text: &str, draw: &mut RandomStream) -> String {
    const WORDS: [&str; 14] = [
        "",
        "0",
        "-1",
        "1e9",
        "1e99",
        "nan",
        ".",
        "5.",
        ".5e1",
        "node",
        "\"",
        "$node_(7)",
        "12345678901",
        "x",
    ];
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = draw.below(lines.len() as u64) as usize;
    let mark = if text == CSV { ',' } else { ' ' };
    let mut words: Vec<&str> = lines[at].split(mark).collect();
    let word = draw.below(words.len() as u64) as usize;
    match draw.below(5) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => {
            words.remove(word);
            lines[at] = words.join(&mark.to_string());
        }
        _ => {
            words[word] = WORDS[draw.below(WORDS.len() as u64) as usize];
            lines[at] = words.join(&mark.to_string());
        }
    }
    lines.join("\n")
}

#[test]
fn files() {
    let mut text = String::new();
    let mut draw = RandomStream::new(1, "files", 0);
    // Without the comments that frame the file.
    let setdest: String = SETDEST
        .lines()
        .filter(|line| !["#", "# Destination Unreachables: 0"].contains(line))
        .fold(String::new(), |text, line| text + line + "\n");
    for number in 0..300 {
        let (of, read): (&str, fn(&str, &str) -> _) =
            if number % 2 == 0 { (&setdest, setdest::read) } else { (CSV, csv::read) };
        let _ = write!(text, "{number}: ");
        match read("m", &changed(of, &mut draw)) {
            Ok(found) => {
                let told = format!("{found:?} {}", csv::write(&found));
                let _ = writeln!(text, "{:016x}", hash(told.as_bytes()));
            }
            Err(error) => _ = writeln!(text, "{error}"),
        }
    }
    let written = setdest::write(&csv::read("m", CSV.trim_end_matches("3.0000000005,1,-7,7,0\n")).unwrap());
    text += &written;
    compare("files", &text);
}
