//! A control in the manner of SaTCP (Cao and Zhang, INFOCOM 2023): CUBIC with advance notice of outages.
//! During a reported outage it does not take losses for congestion.
//!
//! ```text
//! report at time t:  inhibited until t + D + extension, D: time until the link is up again
//! own link down:     inhibited until it is up, and for the extension
//! loss event while inhibited:  cwnd, ssthresh and the state of the cubic as they are; retransmit
//! loss event else, growth:     CUBIC's
//! ```
//!
//! SaTCP's report goes from the link layer of the sender's own host to its kernel. So does "own link": a
//! sender at a node with a radio reads that node's board ([`LinkEvent`]). A sender at the far end gets a
//! number of milliseconds in the custom option of an acknowledgement. The connection manager beside the
//! receiver (or, uplink, beside the sender) writes it when the router warns it (the connection manager in
//! `cogtcp-train`). A source whose SYN asked for reports gets them instead of a zero window.
//!
//! Scope and departures:
//! - A report that travels takes the path's time, and is sent as early as the router warns (TU_advance). The
//!   sender's own link layer tells when the link goes down, not before (SaTCP predicts it from orbits), and
//!   when it is up again, however long that took.
//! - The released code (LeoEM) is less than the paper's "inhibit". Under a report it keeps the cubic at a
//!   timeout and shortens K to a ninth, but ssthresh and cwnd fall. Here neither falls.
//! - No timer is stopped. An outage longer than the RTO is found over at the next expiration, which is backed
//!   off.
//! - A timeout that began while inhibited stays so until it is repaired, however often the timer expires for
//!   it.

use super::WANTS_REPORTS;
use super::cubic::{self, Cubic};
use super::growth;
use super::hystart;
use super::{
    AckSample, CaEvent, CaState, CongestionControl, ControlExtension, ControlInfo, ParameterSpec, Parameters,
    TcpState,
};
use crate::{Agree, LinkEvent, Preset, ReceiverHook, Recovery};
use cogtcp_units::{Duration, Time};

const NAME: &str = "satcp-cubic";

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "CUBIC that ignores losses while its own link is down or an outage is reported, in the manner of SaTCP",
    reference: "Cao and Zhang, SaTCP: link-layer informed TCP adaptation for highly dynamic LEO satellite networks, \
                INFOCOM 2023",
    parameters: &[
        ParameterSpec::number("extension", "s", [0.5, 0.0, 3600.0])
            .described("how long after the announced end losses are still ignored"),
        cubic::C,
        cubic::BETA,
        cubic::FAST_CONVERGENCE,
        cubic::RENO_FRIENDLY,
        growth::ABC_LIMIT,
        hystart::HYSTART,
        hystart::HYSTART_LIMIT,
    ],
    presets: &[Preset::new("satcp", NAME, Recovery::Sack)
        .described("CUBIC with SACK recovery that heeds its own radio, and reports of coming outages (a train's connection managers send them)")],
    build: |parameters| Box::new(Satcp::new(parameters)),
};

/// The state of one connection.
#[derive(Clone, Debug)]
struct Satcp {
    cubic: Cubic,
    extension: Duration,
    /// Until when reports inhibit, and until when the own link does: [`Time::MAX`] while it is down.
    until: Time,
    own_link: Time,
    /// Whether the latest loss event was ignored.
    ignored: bool,
}

impl Satcp {
    fn new(parameters: &Parameters) -> Self {
        Self {
            cubic: Cubic::new(parameters),
            extension: Duration::from_secs_f64(parameters.number("extension")),
            until: Time::ZERO,
            own_link: Time::ZERO,
            ignored: false,
        }
    }
}

impl Satcp {
    fn is_inhibited(&self, now: Time) -> bool {
        now < self.until.max(self.own_link)
    }
}

impl CongestionControl for Satcp {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn init(&mut self, now: Time, tcp: &mut TcpState) {
        self.cubic.init(now, tcp);
    }

    fn ssthresh(&mut self, now: Time, tcp: &TcpState) -> u64 {
        self.ignored = self.is_inhibited(now);
        if self.ignored { tcp.ssthresh.max(2 * tcp.mss) } else { self.cubic.ssthresh(now, tcp) }
    }

    fn owns_cwnd(&self) -> bool {
        self.ignored
    }

    fn cong_avoid(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.cubic.cong_avoid(now, tcp, ack);
    }

    fn pkts_acked(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.cubic.pkts_acked(now, tcp, ack);
    }

    fn set_state(&mut self, now: Time, tcp: &mut TcpState, state: CaState) {
        self.cubic.set_state(now, tcp, state);
    }

    fn cwnd_event(&mut self, now: Time, tcp: &mut TcpState, event: CaEvent) {
        if event != CaEvent::Loss || !self.is_inhibited(now) {
            self.cubic.cwnd_event(now, tcp, event);
        }
    }

    fn undo_cwnd(&mut self, now: Time, tcp: &TcpState) -> u64 {
        if self.ignored { tcp.cwnd.max(tcp.prior_cwnd) } else { self.cubic.undo_cwnd(now, tcp) }
    }

    fn extension(&mut self) -> Option<&mut dyn ControlExtension> {
        Some(self)
    }
}

impl ControlExtension for Satcp {
    fn syn_option(&mut self) -> Option<u32> {
        Some(WANTS_REPORTS)
    }

    fn receiver_hook(&mut self) -> Option<Box<dyn ReceiverHook>> {
        Some(Box::new(Agree))
    }

    fn on_link_event(&mut self, now: Time, _tcp: &mut TcpState, event: LinkEvent) {
        match event {
            LinkEvent::LinkDown => self.own_link = Time::MAX,
            LinkEvent::LinkUp => self.own_link = now + self.extension,
            _ => {}
        }
    }

    fn on_ack_option(&mut self, now: Time, _tcp: &mut TcpState, value: u32) {
        self.until = self.until.max(now + Duration::from_millis(u64::from(value)) + self.extension);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{Bench, MSS};

    const RTT: Duration = Duration::from_millis(100);

    /// A window of 100 segments in congestion avoidance, and the window that the next loss leaves.
    fn window_after(reported_ms: u32, later_ms: u64) -> f64 {
        let mut bench = Bench::new(NAME, &[], 100);
        bench.tcp.ssthresh = 50 * MSS;
        bench.control.extension().unwrap().on_ack_option(bench.now, &mut bench.tcp, reported_ms);
        bench.now += Duration::from_millis(later_ms);
        let threshold = bench.control.ssthresh(bench.now, &bench.tcp);
        if bench.control.owns_cwnd() { bench.segments() } else { threshold as f64 / MSS as f64 }
    }

    #[test]
    fn a_report_inhibits_for_its_time_and_the_extension() {
        // 2 s and 0.5 s: at 2.499 s the window stays at 100, at 2.5 s it falls to CUBIC's 70.
        assert_eq!(window_after(2000, 2499), 100.0);
        assert_eq!(window_after(2000, 2500), 70.0);
    }

    /// Down at 0 s, a loss at 3 s; up at 4 s, and in force for half a second more. At 4.499 s the window
    /// stays at 100, at 4.5 s it falls to CUBIC's 70.
    #[test]
    fn the_own_link_inhibits_while_it_is_down_and_for_the_extension() {
        let mut bench = Bench::new(NAME, &[], 100);
        bench.tcp.ssthresh = 50 * MSS;
        let start = bench.now;
        let mut loss_at = |ms: u64, told: Option<LinkEvent>| {
            let now = start + Duration::from_millis(ms);
            if let Some(event) = told {
                bench.control.extension().unwrap().on_link_event(now, &mut bench.tcp, event);
            }
            let threshold = bench.control.ssthresh(now, &bench.tcp);
            if bench.control.owns_cwnd() { bench.segments() } else { threshold as f64 / MSS as f64 }
        };
        assert_eq!(loss_at(0, Some(LinkEvent::LinkDown)), 100.0);
        assert_eq!(loss_at(3000, None), 100.0);
        assert_eq!(loss_at(4000, Some(LinkEvent::LinkUp)), 100.0);
        assert_eq!(loss_at(4499, None), 100.0);
        assert_eq!(loss_at(4500, None), 70.0);
    }

    #[test]
    fn what_an_inhibited_timeout_leaves() {
        let mut bench = Bench::new(NAME, &[], 100);
        bench.tcp.ssthresh = 50 * MSS;
        bench.control.extension().unwrap().on_ack_option(bench.now, &mut bench.tcp, 5000);
        bench.control.cwnd_event(bench.now, &mut bench.tcp, CaEvent::Loss);
        assert_eq!(bench.control.ssthresh(bench.now, &bench.tcp), 50 * MSS, "as it was");
        assert!(bench.control.owns_cwnd());
        // The next loss event after the report has run out is CUBIC's own, and no timeout by mistake: W_max =
        // 100.
        bench.now += Duration::from_secs(6);
        bench.loss();
        assert_eq!(bench.segments(), 70.0);
        for _ in 0..100 {
            bench.round(RTT);
        }
        assert!(bench.segments() > 99.0, "the cubic rises to where it was: {}", bench.segments());
    }

    #[test]
    fn without_reports_it_is_cubic() {
        let (mut one, mut other) = (Bench::new(NAME, &[], 100), Bench::new("cubic", &[], 100));
        for bench in [&mut one, &mut other] {
            bench.loss();
            (0..30).for_each(|_| bench.round(RTT));
            bench.timeout();
            (0..30).for_each(|_| bench.round(RTT));
        }
        assert_eq!(one.tcp, other.tcp);
    }

    /// A loss that is ignored leaves the threshold, but two segments at least.
    #[test]
    fn an_ignored_loss_keeps_the_threshold() {
        for (before, after) in [(50 * MSS, 50 * MSS), (2 * MSS, 2 * MSS), (MSS, 2 * MSS)] {
            let mut bench = Bench::new(NAME, &[], 100);
            bench.tcp.ssthresh = before;
            bench.control.extension().unwrap().on_ack_option(bench.now, &mut bench.tcp, 2000);
            assert_eq!(bench.control.ssthresh(bench.now, &bench.tcp), after);
            assert!(bench.control.owns_cwnd() && !bench.control.uses_delivery_rate());
        }
    }
}
