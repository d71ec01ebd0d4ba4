//! Cells drawn at random: what leaves them, and when, is committed as text.

use crate::cell::support::*;
use crate::committed::{compare_cases, hash};
use cogtcp_cell::carrier::{Carrier, Technology};
use cogtcp_cell::drx::DrxTimers;
use cogtcp_cell::errors::ErrorModel;
use cogtcp_cell::frame::SlotPattern;
use cogtcp_cell::handover::{Handover, Kind, Move, Track};
use cogtcp_cell::request::RequestTimes;
use cogtcp_cell::rlc::Mode;
use cogtcp_cell::scheduler::Rule;
use cogtcp_cell::{CellConfig, Load, McsChoice, UserConfig};
use cogtcp_units::{Decibel, Duration, RandomStream, Time};

fn of<T: Copy>(draw: &mut RandomStream, choices: &[T]) -> T {
    choices[draw.below(choices.len() as u64) as usize]
}

fn millis(draw: &mut RandomStream, least: u64, most: u64) -> Duration {
    MS * (least + draw.below(most - least + 1))
}

fn handover(draw: &mut RandomStream, users: usize) -> Handover {
    let by_tracks = draw.below(2) == 0;
    let mut at = 0;
    let moves = (0..4).map(|number| {
        at += 60 + draw.below(300);
        let user = draw.below(users as u64) as usize;
        Move {
            at: Time::from_millis(at),
            user,
            to: (number + 1) % 2,
            sinr: (draw.below(2) == 0).then_some(Decibel(6.0)),
        }
    });
    let moves: Vec<Move> = moves.collect();
    let point = |at: u64, a: f64, b: f64| (Time::from_millis(at), vec![Decibel(a), Decibel(b)]);
    let mut points = vec![point(0, 20.0, 5.0)];
    for number in 1..12 {
        points.push(point(number * 110, draw.uniform_in(0.0, 20.0), draw.uniform_in(0.0, 20.0)));
    }
    Handover {
        stations: 2,
        kind: of(draw, &[Kind::Lossless, Kind::Seamless, Kind::Unforwarded]),
        interruption: millis(draw, 1, 80),
        moves: if by_tracks { Vec::new() } else { moves },
        tracks: if by_tracks { vec![Track { user: 0, points }] } else { Vec::new() },
        offset: Decibel(of(draw, &[0.0, 3.0])),
        time_to_trigger: millis(draw, 0, 200),
    }
}

fn drawn(draw: &mut RandomStream) -> CellConfig {
    let users = 1 + draw.below(4) as usize;
    let technology = of(draw, &[Technology::Lte, Technology::Nr15, Technology::Nr30]);
    let frame = match (technology, draw.below(3)) {
        (_, 0) => SlotPattern::fdd(technology.slot()),
        (Technology::Lte, _) => SlotPattern::lte_tdd(draw.below(7) as usize, 7),
        _ => SlotPattern::tdd(of(draw, &["DDDSU", "DSUUU", "DDSUU"]), (6, 4, 4), technology.slot()),
    };
    let short = (draw.below(2) == 0).then_some((MS * 20, MS * 60));
    let drx = DrxTimers { inactivity: millis(draw, 1, 30), on: millis(draw, 1, 10), cycle: MS * 80, short };
    let sinr = |draw: &mut RandomStream| Decibel(draw.uniform_in(-4.0, 28.0));
    CellConfig {
        frame: frame.unwrap(),
        carrier: Carrier {
            technology,
            blocks: of(draw, &[6, 15, 50]),
            layers: 1 + draw.below(2) as u32,
            control_symbols: 1 + draw.below(3) as u32,
            control_blocks: draw.below(3) as u32,
        },
        error_model: of(draw, &[ErrorModel::Awgn, ErrorModel::Piro]),
        mcs_choice: McsChoice::Sinr,
        rule: of(draw, &[Rule::RoundRobin, Rule::MaxRate, Rule::ProportionalFair { slots: 40.0 }]),
        users: (0..users)
            .map(|_| UserConfig {
                sinr: [sinr(draw), sinr(draw)],
                delay: [millis(draw, 0, 5), millis(draw, 0, 5)],
            })
            .collect(),
        load: Load { saturated: draw.below(3) as u32, sinr: Decibel(12.0), share: of(draw, &[0.0, 0.3]) },
        handover: (draw.below(3) == 0).then(|| handover(draw, users)),
        drx: (draw.below(3) == 0).then_some(drx),
        attempts: 1 + draw.below(4) as u32,
        mode: of(draw, &[Mode::Acknowledged, Mode::Unacknowledged]),
        reordering: millis(draw, 1, 40),
        poll: millis(draw, 1, 60),
        request: RequestTimes {
            period: MS * 10,
            offset: millis(draw, 0, 9),
            to_grant: MS * 4,
            to_data: MS * 4,
        },
        first_grant: 20 + draw.below(200),
        grants: 1 + draw.below(10) as u32,
        coherence: (draw.below(2) == 0).then_some(MS * 20),
        report_age: millis(draw, 0, 12),
    }
}

/// Packets come in both directions, one burst of interference strikes.
#[test]
fn what_leaves_drawn_cells() {
    let case = |seed: u64| {
        let mut draw = RandomStream::new(seed, "cells", 0);
        let config = drawn(&mut draw);
        let users = config.users.len() as u64;
        let mut run = Run::new(config, [false, draw.below(6) == 0]);
        let from = Time::from_millis(draw.below(1000));
        let mut air = Struck(from, from + millis(&mut draw, 0, 120));
        let mut at = Time::ZERO;
        while at < Time::from_millis(1500) {
            at += Duration::from_micros(draw.below(9000));
            run.play(at, &mut air);
            let direction = of(&mut draw, &[DOWN, UP]);
            for _ in 0..=draw.below(3) {
                run.offer(at, draw.below(users) as usize, direction, 40 + draw.below(1460) as u32);
            }
        }
        run.play(Time::from_millis(2500), &mut air);
        assert!(run.left.len() > 20, "{seed}: {}", run.left.len());
        hash(format!("{} {:?}", run.steps, run.left).as_bytes())
    };
    compare_cases("cells", (0..150).map(case));
}
