//! What one ACK costs in each congestion control: a table over the registry, nanoseconds.
//!
//! ```text
//! cargo run --release -p cogtcp-transport --example ack_cost
//! ```
//!
//! One round of the loop is what a sender asks of its control for one ACK and the packet that it lets go:
//! `pkts_acked`, `cong_control`, `cong_avoid`, `on_packet_sent`. The path is a FIFO of 10 Gbit/s and 40 ms
//! with a queue that breathes, so that controls pass through growth, decisions once per round trip and, every
//! 20000 ACKs, a loss. The row "loop" is the loop alone, with a control that does nothing; it is not
//! subtracted.

// The model has no clock, but this measures one.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use cogtcp_transport::{
    AckSample, CaEvent, CaState, CongestionControl, PacketInfo, Preset, RateSample, TcpState, make,
};
use cogtcp_units::{Duration, Time};
use std::time::Instant;

const MSS: u64 = 1460;
const ACKS: u64 = 400_000;
/// Of which the least counts: a busy machine disturbs some.
const REPETITIONS: u32 = 25;

/// Does nothing.
#[derive(Debug)]
struct Idle;

impl CongestionControl for Idle {
    fn name(&self) -> &str {
        "loop"
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        (tcp.cwnd / 2).max(2 * tcp.mss)
    }

    fn cong_avoid(&mut self, _now: Time, _tcp: &mut TcpState, _ack: &AckSample) {}
}

fn established() -> TcpState {
    TcpState {
        ssthresh: 400 * MSS,
        srtt: Duration::from_millis(40),
        rttvar: Duration::from_millis(2),
        min_rtt: Duration::from_millis(40),
        latest_rtt: Duration::from_millis(40),
        snd_nxt: 10 * MSS,
        in_flight: 10 * MSS,
        flight_size: 10 * MSS,
        cwnd_limited: true,
        prior_cwnd: 10 * MSS,
        prior_ssthresh: u64::MAX,
        ..TcpState::new(MSS, 10 * MSS)
    }
}

fn run(control: &mut dyn CongestionControl) -> f64 {
    let mut tcp = established();
    let mut now = Time::from_millis(1000);
    control.init(now, &mut tcp);
    let begun = Instant::now();
    for index in 0..ACKS {
        // 1460 bytes at 10 Gbit/s; the queue holds 0 to 6.5 ms, in a triangle of 65536 ACKs.
        now += Duration::from_nanos(1_168);
        let queue = (index % 65_536).min(65_535 - index % 65_536) * 200;
        let rtt = Duration::from_nanos(40_000_000 + queue);
        tcp.snd_una += MSS;
        tcp.delivered += MSS;
        tcp.delivered_at = now;
        (tcp.latest_rtt, tcp.srtt) = (rtt, rtt);
        // Another round trip's worth of data is always out, whatever the window.
        tcp.snd_nxt = tcp.snd_una + 400 * MSS;
        (tcp.in_flight, tcp.flight_size) = (400 * MSS, 400 * MSS);
        let sample = AckSample {
            acked: MSS,
            delivered: MSS,
            rtt: Some(rtt),
            prior_in_flight: 401 * MSS,
            rate: RateSample {
                delivered: 400 * MSS,
                interval: rtt,
                prior_delivered: tcp.delivered.saturating_sub(400 * MSS),
                prior_time: now - rtt,
                tx_in_flight: 400 * MSS,
                ..RateSample::default()
            },
            ..AckSample::default()
        };
        if control.counts_acks_first() {
            control.in_ack_event(now, &mut tcp, &sample, true);
        }
        control.pkts_acked(now, &mut tcp, &sample);
        if !control.cong_control(now, &mut tcp, &sample) {
            control.cong_avoid(now, &mut tcp, &sample);
        }
        let packet =
            PacketInfo { offset: tcp.snd_nxt, bytes: MSS, retransmission: false, in_flight: tcp.in_flight };
        control.on_packet_sent(now, &mut tcp, &packet);
        if index % 20_000 == 19_999 {
            (tcp.prior_cwnd, tcp.prior_ssthresh) = (tcp.cwnd, tcp.ssthresh);
            tcp.ssthresh = control.ssthresh(now, &tcp);
            if !control.owns_cwnd() {
                tcp.cwnd = tcp.ssthresh;
            }
            for state in [CaState::Recovery, CaState::Open] {
                control.set_state(now, &mut tcp, state);
                tcp.ca_state = state;
            }
            control.cwnd_event(now, &mut tcp, CaEvent::CompleteCwr);
        }
    }
    let nanoseconds = begun.elapsed().as_nanos() as f64 / ACKS as f64;
    // The state is read, so that nothing of the loop can be left out.
    assert!(tcp.cwnd > 0);
    nanoseconds
}

fn main() {
    println!("{:<28} {:<20} {:>8}", "preset", "control", "ns/ACK");
    let idle = (0..REPETITIONS).map(|_| run(&mut Idle)).fold(f64::INFINITY, f64::min);
    println!("{:<28} {:<20} {idle:>8.1}", "-", "loop");
    for preset in Preset::all() {
        let parameters = preset.parameters(&Default::default());
        let mut best = f64::INFINITY;
        for _ in 0..REPETITIONS {
            match make(preset.control, &parameters) {
                Ok(mut control) => best = best.min(run(control.as_mut())),
                Err(error) => return eprintln!("{error}"),
            }
        }
        println!("{:<28} {:<20} {best:>8.1}", preset.name, preset.control);
    }
}
