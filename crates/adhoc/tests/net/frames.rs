//! Frames of the air, where they are recorded.

use crate::bench::{Bench, chain, config, routing};
use cogtcp_adhoc::{AdHocConfig, AdHocDropCause, AirEvent, FrameContent, NodeRadio, Radios};
use cogtcp_wireless::FrameKind;

fn air(bench: &mut Bench) -> Vec<AirEvent<u32>> {
    std::iter::from_fn(|| bench.net.poll_air()).collect()
}

fn recorded(spacing: f64) -> Bench {
    let mut config = AdHocConfig { routing: routing("static"), ..config() };
    config.medium.reports_frames = true;
    Bench::new(config, chain(2, spacing))
}

/// 802.11-2007 section 9.2: RTS, CTS, data, ACK, a SIFS apart; each reserves the medium for those behind it.
#[test]
fn an_exchange_is_four_frames() {
    let mut bench = recorded(100.0);
    bench.send(0, 1);
    bench.run(1000);
    let found: Vec<_> = air(&mut bench)
        .into_iter()
        .map(|event| match event {
            AirEvent::Frame(frame) => frame,
            AirEvent::Failed { .. } => panic!("it failed"),
        })
        .collect();
    let kinds = [FrameKind::Rts, FrameKind::Cts, FrameKind::Data, FrameKind::Ack];
    assert_eq!(found.iter().map(|frame| frame.kind).collect::<Vec<_>>(), kinds);
    let ends = [(0, 1), (1, 0), (0, 1), (1, 0)];
    for (frame, (from, to)) in found.iter().zip(ends) {
        assert_eq!((frame.from, frame.to), ((from, NodeRadio::First), Some((to, NodeRadio::First))));
        assert_eq!(frame.content.is_some(), frame.kind == FrameKind::Data);
        // Up to the end of the ACK, propagation aside.
        let all = found[3].end.saturating_since(frame.end);
        assert!(all.abs_diff(frame.reserves).as_nanos() <= 4000, "{frame:?}");
    }
    let Some(FrameContent::Data(packet)) = &found[2].content else { panic!("data") };
    assert_eq!((packet.payload, packet.source, packet.destination), (0, 0, 1));
    // Nothing is recorded where nobody asks.
    let mut silent = Bench::new(AdHocConfig { routing: routing("static"), ..config() }, chain(2, 100.0));
    silent.send(0, 1);
    silent.run(1000);
    assert!(air(&mut silent).is_empty() && silent.arrived.len() == 1);
}

/// A neighbour that has gone: each RTS fails in its turn, seven times in all.
#[test]
fn failures_are_recorded_with_their_cause() {
    let mut config = AdHocConfig { routing: routing("aodv"), ..config() };
    config.medium.reports_frames = true;
    let away = cogtcp_mobility::Mobility::new(vec![
        crate::bench::path(&[(0, 0.0, 0.0)]),
        crate::bench::path(&[(0, 100.0, 0.0), (2, 100.0, 0.0), (3, 9000.0, 0.0)]),
    ]);
    let mut bench = Bench::new(config, away);
    bench.send(0, 1);
    bench.run(1500);
    bench.send(0, 1);
    // The route still lives when the neighbour has gone.
    bench.run(3000);
    assert_eq!(bench.arrived.len(), 2);
    air(&mut bench);
    bench.send(0, 1);
    bench.run(3500);
    let (mut rts, mut failed) = (0, Vec::new());
    for event in air(&mut bench) {
        match event {
            AirEvent::Frame(frame) => rts += usize::from(frame.kind == FrameKind::Rts),
            AirEvent::Failed { radio, cause } => failed.push((radio, cause)),
        }
    }
    assert_eq!((rts, failed.len()), (7, 7));
    assert!(failed.iter().all(|it| it.0 == (0, NodeRadio::First)));
    assert!(failed.iter().all(|it| it.1 == failed[0].1) && failed[0].1 != AdHocDropCause::NoRoute);
}

/// With three radios data go from the transmitter of one node to the receiver of the other.
#[test]
fn three_radios_are_told_apart() {
    let mut config = AdHocConfig { routing: routing("static"), radios: Radios::Three, ..config() };
    config.medium.reports_frames = true;
    let mut bench = Bench::new(config, chain(2, 100.0));
    bench.send(0, 1);
    bench.run(1000);
    let mut data = air(&mut bench).into_iter().filter_map(|event| match event {
        AirEvent::Frame(frame) if frame.kind == FrameKind::Data => Some((frame.from, frame.to)),
        _ => None,
    });
    let ends = ((0, NodeRadio::Transmitter), Some((1, NodeRadio::Receiver)));
    assert_eq!((data.next(), bench.arrived.len()), (Some(ends), 1));
}
