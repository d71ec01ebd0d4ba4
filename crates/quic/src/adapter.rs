//! A congestion control of ours under QUIC: turns quinn's calls into calls of [`CongestionControl`].
//!
//! Offsets are counted in bytes of QUIC packets in the order of their sending; nothing is sent twice under
//! one offset, since QUIC sends lost data in new packets. So `snd_una` is the lowest offset that is neither
//! acknowledged nor lost.
//!
//! Some calls have no counterpart. QUIC has no custom options (N of TCP C2) and no duplicates
//! (`dup_ack_retransmit`). No ICMP arrives (`on_unreachable`). No reduction is undone after a spurious loss
//! (`undo_cwnd`). Losses are known after the acknowledgement that reveals them, so `AckSample::lost` belongs
//! to the acknowledgement before.

use cogtcp_transport::{
    AckSample, CaEvent, CaState, CongestionControl, LinkEvent, PacketInfo, RateSample, TcpState,
};
use cogtcp_units::{Duration, Rate, Time};
use std::collections::VecDeque;

/// All packets that left at one time and are still in flight.
#[derive(Clone, Copy, Debug)]
struct Group {
    sent: Time,
    /// Offset of the first byte.
    offset: u64,
    /// Bytes neither acknowledged nor lost.
    left: u64,
    /// State of the delivery rate's estimator at the first packet
    /// (draft-cheng-iccrg-delivery-rate-estimation, section 3.2).
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    in_flight: u64,
    app_limited: bool,
}

/// What the acknowledgement being read has delivered.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    bytes: u64,
    newest: Option<Group>,
}

/// The adapter.
#[derive(Debug)]
pub(crate) struct Adapter {
    control: Box<dyn CongestionControl>,
    tcp: TcpState,
    flight: VecDeque<Group>,
    /// Sum of `left` over the flight.
    held: u64,
    /// When the packet of the latest rate sample was sent.
    first_sent: Time,
    batch: Batch,
    /// Bytes lost since the acknowledgement before.
    newly_lost: u64,
    recovery: Option<Time>,
    has_begun: bool,
}

impl Adapter {
    /// `control` for packets of `mtu` bytes.
    pub(crate) fn new(control: Box<dyn CongestionControl>, mtu: u16, initial_window: u64) -> Self {
        let tcp = TcpState::new(u64::from(mtu), initial_window);
        Self {
            control,
            tcp,
            flight: VecDeque::new(),
            held: 0,
            first_sent: Time::ZERO,
            batch: Batch::default(),
            newly_lost: 0,
            recovery: None,
            has_begun: false,
        }
    }

    /// The window in bytes: RFC 9002, section 7.2, has two packets at least.
    pub(crate) fn window(&self) -> u64 {
        self.tcp.cwnd.max(2 * self.tcp.mss)
    }

    pub(crate) const fn threshold(&self) -> u64 {
        self.tcp.ssthresh
    }

    pub(crate) const fn pacing_rate(&self) -> Option<Rate> {
        self.tcp.pacing_rate
    }

    pub(crate) fn link_event(&mut self, now: Time, event: LinkEvent) {
        if let Some(extension) = self.control.extension() {
            extension.on_link_event(now, &mut self.tcp, event);
        }
        self.clamp();
    }

    pub(crate) fn on_mtu_update(&mut self, mtu: u16) {
        self.tcp.mss = u64::from(mtu);
        self.clamp();
    }

    /// A datagram of `bytes` leaves.
    pub(crate) fn on_sent(&mut self, now: Time, bytes: u64) {
        // After an idle time the estimator starts over, or the pause would count as slow delivery (section
        // 3.2 of the draft).
        if self.tcp.in_flight == 0 {
            self.tcp.delivered_at = now;
            self.first_sent = now;
            // Before `init` a control must not hear of events.
            if self.has_begun {
                self.control.cwnd_event(now, &mut self.tcp, CaEvent::TxStart);
            }
        }
        self.tcp.in_flight += bytes;
        self.held += bytes;
        // quinn names a packet by its time of sending alone: packets of one instant share a group.
        match self.flight.back_mut() {
            Some(group) if group.sent == now => group.left += bytes,
            _ => self.flight.push_back(Group {
                sent: now,
                offset: self.tcp.snd_nxt,
                left: bytes,
                delivered: self.tcp.delivered,
                delivered_at: self.tcp.delivered_at,
                first_sent: self.first_sent,
                lost: self.tcp.lost,
                in_flight: self.tcp.in_flight,
                app_limited: self.tcp.app_limited,
            }),
        }
        let packet = PacketInfo {
            offset: self.tcp.snd_nxt,
            bytes,
            retransmission: false,
            in_flight: self.tcp.in_flight,
        };
        self.tcp.snd_nxt += bytes;
        // First, so that the control sees the flight with this packet.
        self.settle();
        self.control.on_packet_sent(now, &mut self.tcp, &packet);
        self.clamp();
    }

    /// The datagram of `bytes` that left at `now` is not ack-eliciting.
    pub(crate) fn forget(&mut self, now: Time, bytes: u64) {
        if let Some(group) = self.flight.back_mut().filter(|group| group.sent == now) {
            let gone = group.left.min(bytes);
            group.left -= gone;
            self.held -= gone;
            self.tcp.in_flight = self.tcp.in_flight.saturating_sub(bytes);
            self.settle();
        }
    }

    /// A packet that left at `sent` is acknowledged.
    pub(crate) fn on_ack(&mut self, sent: Time, bytes: u64) {
        self.batch.bytes += bytes;
        // Groups lie in the order of sending, and no two have one time.
        if let Ok(place) = self.flight.binary_search_by(|group| group.sent.cmp(&sent)) {
            let group = &mut self.flight[place];
            let gone = group.left.min(bytes);
            group.left -= gone;
            self.held -= gone;
            if self.batch.newest.is_none_or(|newest| sent >= newest.sent) {
                self.batch.newest = Some(*group);
            }
        }
    }

    /// The acknowledgement has been read.
    pub(crate) fn on_end_acks(&mut self, now: Time, in_flight: u64, app_limited: bool) {
        let Batch { bytes, newest } = std::mem::take(&mut self.batch);
        // It repeats what was known: for a control it is no ACK.
        if bytes == 0 {
            return;
        }
        let prior_in_flight = self.tcp.in_flight;
        self.tcp.in_flight = in_flight;
        self.drop_leftovers(in_flight);
        self.settle();
        self.tcp.delivered += bytes;
        self.tcp.delivered_at = now;
        self.tcp.app_limited = app_limited;
        self.tcp.cwnd_limited = !app_limited;
        let rtt = newest.map(|group| now.saturating_since(group.sent));
        if let Some(rtt) = rtt {
            self.measure(rtt);
        }
        let rate = newest.map(|group| self.rate_sample(now, &group)).unwrap_or_default();
        // After `measure`: a control begins with a first sample of the RTT.
        if !self.has_begun {
            self.has_begun = true;
            self.control.init(now, &mut self.tcp);
        }
        let ack = AckSample {
            acked: bytes,
            delivered: bytes,
            lost: std::mem::take(&mut self.newly_lost),
            rtt,
            prior_in_flight,
            rate,
            ..AckSample::default()
        };
        if self.control.counts_acks_first() {
            // It counts what it newly acknowledges: no duplicate counted that before.
            self.control.in_ack_event(now, &mut self.tcp, &ack, true);
        }
        // A packet of the recovery period ends it (RFC 9002, section 7.3.2).
        let is_over = newest.is_some_and(|group| self.recovery.is_none_or(|began| group.sent > began));
        if is_over && self.tcp.ca_state != CaState::Open {
            let was_loss = self.tcp.ca_state == CaState::Loss;
            self.change_state(now, CaState::Open);
            if !was_loss {
                self.control.cwnd_event(now, &mut self.tcp, CaEvent::CompleteCwr);
            }
        }
        self.control.pkts_acked(now, &mut self.tcp, &ack);
        let owns = self.control.cong_control(now, &mut self.tcp, &ack);
        // RFC 9002, section 7.8: a window that the application does not fill says nothing of the path.
        let may_grow = matches!(self.tcp.ca_state, CaState::Open | CaState::Loss) && !app_limited;
        if !owns && may_grow {
            self.control.cong_avoid(now, &mut self.tcp, &ack);
        }
        self.clamp();
    }

    /// Packets are lost, the last of them sent at `sent`; or, with `lost` 0, a mark came back.
    pub(crate) fn on_congestion_event(&mut self, now: Time, sent: Time, persistent: bool, lost: u64) {
        self.tcp.lost += lost;
        self.newly_lost += lost;
        // RFC 5681's FlightSize, while what is lost still counts.
        self.tcp.flight_size = self.tcp.snd_nxt - self.tcp.snd_una;
        let is_new = self.recovery.is_none_or(|began| sent > began);
        if is_new {
            self.tcp.prior_cwnd = self.tcp.cwnd;
            self.tcp.prior_ssthresh = self.tcp.ssthresh;
            if persistent {
                self.control.cwnd_event(now, &mut self.tcp, CaEvent::Loss);
            }
            // The minimum window of RFC 9002, section 7.2.
            self.tcp.ssthresh = self.control.ssthresh(now, &self.tcp).max(2 * self.tcp.mss);
            // RFC 9002, section 7.3.2: the window falls at once.
            if !self.control.owns_cwnd() {
                self.tcp.cwnd = self.tcp.ssthresh;
            }
            self.recovery = Some(now);
            self.change_state(now, if lost == 0 { CaState::Cwr } else { CaState::Recovery });
        } else if persistent {
            self.control.cwnd_event(now, &mut self.tcp, CaEvent::Loss);
        }
        self.lose(sent, lost);
        if persistent {
            // Section 7.6.2, in a recovery period too. quinn's own controls leave the window alone there.
            if !self.control.owns_cwnd() {
                self.tcp.cwnd = 2 * self.tcp.mss;
            }
            self.change_state(now, CaState::Loss);
            self.recovery = None;
        }
        self.clamp();
    }

    fn change_state(&mut self, now: Time, state: CaState) {
        if self.tcp.ca_state != state {
            self.control.set_state(now, &mut self.tcp, state);
            self.tcp.ca_state = state;
        }
    }

    /// Takes `lost` bytes out of the flight. Losses are found in the order of sending, so nothing older is
    /// left.
    fn lose(&mut self, sent: Time, lost: u64) {
        // A mark: the packet arrived.
        if lost == 0 {
            return;
        }
        self.tcp.in_flight = self.tcp.in_flight.saturating_sub(lost);
        let mut left = lost;
        for group in self.flight.iter_mut().take_while(|group| group.sent <= sent) {
            let gone = if group.sent < sent { group.left } else { group.left.min(left) };
            left = left.saturating_sub(gone);
            group.left -= gone;
            self.held -= gone;
        }
        self.settle();
    }

    /// Drops groups that quinn does not know: packets of a handshake whose keys are gone.
    fn drop_leftovers(&mut self, in_flight: u64) {
        // quinn's sum is the truth: what is in flight here beyond it is from the oldest groups.
        while let Some(left) = self.flight.front().map(|group| group.left)
            && self.held >= in_flight + left
        {
            self.held -= left;
            self.flight.pop_front();
        }
    }

    /// Moves `snd_una` to the lowest offset in flight.
    fn settle(&mut self) {
        while self.flight.front().is_some_and(|group| group.left == 0) {
            self.flight.pop_front();
        }
        self.tcp.snd_una =
            self.flight.front().map_or(self.tcp.snd_nxt, |group| group.offset).max(self.tcp.snd_una);
        self.tcp.flight_size = self.tcp.snd_nxt - self.tcp.snd_una;
    }

    /// RFC 6298, section 2, as RFC 9002, section 5.3, but with the delay of the acknowledgement in the
    /// sample, as TCP has it.
    fn measure(&mut self, rtt: Duration) {
        let tcp = &mut self.tcp;
        tcp.latest_rtt = rtt;
        tcp.min_rtt = tcp.min_rtt.min(rtt);
        let blend = |old: Duration, new: Duration, weight: u64| {
            Duration::from_nanos(((weight - 1) * old.as_nanos() + new.as_nanos()) / weight)
        };
        if tcp.srtt.is_zero() {
            (tcp.srtt, tcp.rttvar) = (rtt, Duration::from_nanos(rtt.as_nanos() / 2));
        } else {
            tcp.rttvar = blend(tcp.rttvar, tcp.srtt.abs_diff(rtt), 4);
            tcp.srtt = blend(tcp.srtt, rtt, 8);
        }
        // The PTO (RFC 9002, section 6.2.1) takes the place of the RTO.
        // kGranularity is 1 ms.
        let variation = (4 * tcp.rttvar.as_nanos()).max(1_000_000);
        tcp.rto = Duration::from_nanos(tcp.srtt.as_nanos() + variation);
    }

    /// GenerateRateSample (section 3.3 of the draft).
    fn rate_sample(&mut self, now: Time, group: &Group) -> RateSample {
        self.first_sent = group.sent;
        let sending = group.sent.saturating_since(group.first_sent);
        let arriving = now.saturating_since(group.delivered_at);
        let interval = sending.max(arriving);
        // The draft discards a sample shorter than the minimum RTT: compressed ACKs would show too high a
        // rate.
        let is_short = self.tcp.min_rtt != Duration::MAX && interval < self.tcp.min_rtt;
        RateSample {
            delivered: self.tcp.delivered - group.delivered,
            interval: if is_short { Duration::ZERO } else { interval },
            prior_delivered: group.delivered,
            prior_time: group.delivered_at,
            tx_in_flight: group.in_flight,
            lost: self.tcp.lost - group.lost,
            app_limited: group.app_limited,
        }
    }

    fn clamp(&mut self) {
        // One packet, as under TCP; QUIC's minimum of two is applied where quinn asks (`window`).
        self.tcp.cwnd = self.tcp.cwnd.max(self.tcp.mss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Writes down what it is told; owns its window if so set.
    #[derive(Debug)]
    struct Spy {
        owns: bool,
        told: Arc<Mutex<Vec<String>>>,
    }

    impl Spy {
        fn note(&self, what: String) {
            self.told.lock().unwrap().push(what);
        }
    }

    impl CongestionControl for Spy {
        fn name(&self) -> &str {
            "spy"
        }
        fn init(&mut self, _: Time, tcp: &mut TcpState) {
            self.note(format!("begins with an RTT of {:?}", tcp.srtt));
        }
        fn ssthresh(&mut self, _: Time, tcp: &TcpState) -> u64 {
            tcp.cwnd / 2
        }
        fn cong_avoid(&mut self, _: Time, _: &mut TcpState, ack: &AckSample) {
            self.note(format!("grows by {}", ack.acked));
        }
        fn pkts_acked(&mut self, _: Time, _: &mut TcpState, ack: &AckSample) {
            self.note(format!("{} in {:?}", ack.rate.delivered, ack.rate.interval));
        }
        fn cong_control(&mut self, _: Time, _: &mut TcpState, _: &AckSample) -> bool {
            self.owns
        }
    }

    fn ms(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn spied(owns: bool) -> (Adapter, Arc<Mutex<Vec<String>>>) {
        let told = Arc::default();
        (Adapter::new(Box::new(Spy { owns, told: Arc::clone(&told) }), 1000, 10_000), told)
    }

    /// Packets leave at 0 and 30 ms and are acknowledged together at 130 ms. The second was sent 30 ms after the
    /// flight began; its acknowledgement comes 130 ms after the last delivery: the longer span counts.
    #[test]
    fn a_rate_is_over_the_longer_of_two_spans() {
        let (mut adapter, told) = spied(false);
        for sent in [0, 30] {
            adapter.on_sent(ms(sent), 1000);
        }
        for sent in [0, 30] {
            adapter.on_ack(ms(sent), 1000);
        }
        adapter.on_end_acks(ms(130), 0, false);
        let interval = Duration::from_millis(130);
        assert_eq!(told.lock().unwrap()[1..], [format!("2000 in {interval:?}"), "grows by 2000".to_owned()]);
    }

    /// A control that owns its window grows by itself, and no window grows that the application does not fill
    /// (RFC 9002, section 7.8).
    #[test]
    fn a_window_grows_only_where_the_adapter_may() {
        for (owns, app_limited, grows) in
            [(false, false, true), (true, false, false), (false, true, false), (true, true, false)]
        {
            let (mut adapter, told) = spied(owns);
            adapter.on_sent(ms(0), 1000);
            adapter.on_ack(ms(0), 1000);
            adapter.on_end_acks(ms(100), 0, app_limited);
            let grown = told.lock().unwrap().iter().any(|line| line.starts_with("grows"));
            assert_eq!(grown, grows, "{owns} {app_limited}");
        }
    }

    /// An acknowledgement of what was acknowledged before is none for a control.
    #[test]
    fn an_acknowledgement_that_repeats_is_not_told() {
        let (mut adapter, told) = spied(false);
        adapter.on_sent(ms(0), 1000);
        adapter.on_end_acks(ms(90), 1000, false);
        assert!(told.lock().unwrap().is_empty());
        adapter.on_ack(ms(0), 1000);
        adapter.on_end_acks(ms(100), 0, false);
        // It begins, hears a rate, and grows.
        assert_eq!(told.lock().unwrap().len(), 3);
    }

    /// RFC 6298, section 2: 100 ms, then 140 ms. SRTT 100, then 7/8 * 100 + 140/8; RTTVAR 50, then
    /// 3/4 * 50 + 40/4. The PTO has 4 RTTVAR, 1 ms at least.
    #[test]
    fn round_trip_times_are_smoothed_and_the_timeout_has_a_least_variation() {
        let (mut adapter, told) = spied(false);
        let mut round = |at: u64, rtt: u64| {
            adapter.on_sent(ms(at), 1000);
            adapter.on_ack(ms(at), 1000);
            adapter.on_end_acks(ms(at + rtt), 0, false);
            let micros = |span: Duration| span.as_nanos() / 1000;
            [adapter.tcp.srtt, adapter.tcp.rttvar, adapter.tcp.rto, adapter.tcp.min_rtt].map(micros)
        };
        assert_eq!(round(0, 100), [100_000, 50_000, 300_000, 100_000]);
        assert_eq!(round(200, 140), [105_000, 47_500, 295_000, 100_000]);
        // The variation falls by a quarter each time until 4 RTTVAR is below 1 ms.
        let last = (1..60).map(|number| round(1000 * number, 105)).last().unwrap();
        assert!(last[1] < 250 && last[2] == last[0] + 1000, "{last:?}");
        // The control begins once, with the first sample.
        let told = told.lock().unwrap();
        let begun: Vec<&String> = told.iter().filter(|line| line.starts_with("begins")).collect();
        assert_eq!(begun, [&format!("begins with an RTT of {:?}", Duration::from_millis(100))]);
    }

    /// RFC 9002, section 7.3.2: what was sent up to the beginning of a recovery belongs to it, and ends none. The
    /// first acknowledgement of a later packet does.
    #[test]
    fn a_recovery_is_of_what_was_sent_until_it_began() {
        let (mut adapter, _) = spied(false);
        for sent in [0, 50, 51, 60] {
            adapter.on_sent(ms(sent), 1000);
        }
        adapter.on_congestion_event(ms(50), ms(0), false, 1000);
        assert_eq!((adapter.tcp.cwnd, adapter.tcp.ca_state), (5000, CaState::Recovery));
        adapter.on_ack(ms(50), 1000);
        adapter.on_end_acks(ms(100), 2000, false);
        assert_eq!(adapter.tcp.ca_state, CaState::Recovery, "sent as it began");
        adapter.on_ack(ms(51), 1000);
        adapter.on_end_acks(ms(101), 1000, false);
        assert_eq!(adapter.tcp.ca_state, CaState::Open, "sent after it began");
        // A loss of what was sent as the recovery began reduces nothing; one sent later does.
        adapter.on_congestion_event(ms(110), ms(50), false, 0);
        assert_eq!(adapter.tcp.cwnd, 5000);
        adapter.on_congestion_event(ms(111), ms(60), false, 1000);
        assert_eq!((adapter.tcp.cwnd, adapter.tcp.prior_cwnd, adapter.tcp.in_flight), (2500, 5000, 0));
        // A mark is no loss, two segments are the least, and they fall at once.
        for at in [200, 300] {
            adapter.on_sent(ms(at), 1000);
            adapter.on_congestion_event(ms(at + 1), ms(at), false, 0);
            assert_eq!((adapter.tcp.cwnd, adapter.tcp.ca_state), (2000, CaState::Cwr));
        }
    }

    /// Writes down the states and events that it hears of; keeps its window if so set.
    #[derive(Debug)]
    struct Hooks {
        keeps: bool,
        told: Arc<Mutex<Vec<String>>>,
    }

    impl CongestionControl for Hooks {
        fn name(&self) -> &str {
            "hooks"
        }
        fn ssthresh(&mut self, _: Time, tcp: &TcpState) -> u64 {
            tcp.cwnd / 2
        }
        fn cong_avoid(&mut self, _: Time, _: &mut TcpState, _: &AckSample) {}
        fn owns_cwnd(&self) -> bool {
            self.keeps
        }
        fn set_state(&mut self, _: Time, _: &mut TcpState, state: CaState) {
            self.told.lock().unwrap().push(format!("{state:?}"));
        }
        fn cwnd_event(&mut self, _: Time, _: &mut TcpState, event: CaEvent) {
            self.told.lock().unwrap().push(format!("event {event:?}"));
        }
        fn on_packet_sent(&mut self, _: Time, _: &mut TcpState, packet: &PacketInfo) {
            let PacketInfo { offset, bytes, in_flight, retransmission } = packet;
            assert!(!retransmission);
            self.told.lock().unwrap().push(format!("{offset}+{bytes} of {in_flight}"));
        }
    }

    /// A control that hears of three packets, sent at 0, 10 and 20 ms.
    fn hooked(keeps: bool) -> (Adapter, Arc<Mutex<Vec<String>>>) {
        let told = Arc::default();
        let mut adapter = Adapter::new(Box::new(Hooks { keeps, told: Arc::clone(&told) }), 1000, 10_000);
        [0, 10, 20].into_iter().for_each(|sent| adapter.on_sent(ms(sent), 1000));
        // Before it begins it hears of no event.
        let heard = std::mem::take(&mut *told.lock().unwrap());
        assert_eq!(heard, ["0+1000 of 1000", "1000+1000 of 2000", "2000+1000 of 3000"]);
        (adapter, told)
    }

    fn heard(told: &Arc<Mutex<Vec<String>>>) -> Vec<String> {
        std::mem::take(&mut *told.lock().unwrap())
    }

    /// RFC 9002, section 7.6.2: persistent congestion leaves two packets, and ends the recovery period; a control
    /// that owns its window keeps it.
    #[test]
    fn persistent_congestion_leaves_two_packets() {
        let (mut adapter, told) = hooked(false);
        adapter.on_congestion_event(ms(50), ms(10), true, 2000);
        assert_eq!(heard(&told), ["event Loss", "Recovery", "Loss"]);
        assert_eq!((adapter.tcp.cwnd, adapter.threshold(), adapter.recovery), (2000, 5000, None));
        let tcp = &adapter.tcp;
        assert_eq!((tcp.in_flight, tcp.flight_size, tcp.snd_una, tcp.lost), (1000, 1000, 2000, 2000));
        // In a recovery period, too.
        let (mut adapter, told) = hooked(false);
        adapter.on_congestion_event(ms(50), ms(0), false, 1000);
        assert_eq!(
            (adapter.tcp.cwnd, adapter.recovery, heard(&told)),
            (5000, Some(ms(50)), vec!["Recovery".to_owned()])
        );
        adapter.on_congestion_event(ms(60), ms(10), true, 1000);
        assert_eq!((adapter.tcp.cwnd, adapter.threshold(), adapter.recovery), (2000, 5000, None));
        assert_eq!(heard(&told), ["event Loss", "Loss"]);
        let (mut adapter, _) = hooked(true);
        adapter.on_congestion_event(ms(50), ms(10), true, 2000);
        assert_eq!((adapter.tcp.cwnd, adapter.threshold(), adapter.tcp.prior_cwnd), (10_000, 5000, 10_000));
    }

    /// The first acknowledgement of a later packet completes a reduction, but not what followed a timeout.
    #[test]
    fn a_reduction_is_completed_once() {
        let acknowledged = |adapter: &mut Adapter, sent: u64| {
            adapter.on_ack(ms(sent), 1000);
            adapter.on_end_acks(ms(sent + 100), 0, false);
        };
        let (mut adapter, told) = hooked(false);
        adapter.on_congestion_event(ms(15), ms(10), false, 0);
        acknowledged(&mut adapter, 20);
        assert_eq!(heard(&told), ["Cwr", "Open", "event CompleteCwr"]);
        // The flight is empty: the next packet begins a new one.
        adapter.on_sent(ms(130), 1000);
        assert_eq!(heard(&told)[0], "event TxStart");
        adapter.on_sent(ms(131), 1000);
        assert_eq!(heard(&told), ["4000+1000 of 2000"]);
        adapter.on_congestion_event(ms(140), ms(130), true, 1000);
        heard(&told);
        acknowledged(&mut adapter, 131);
        assert_eq!((heard(&told), adapter.tcp.ca_state), (vec!["Open".to_owned()], CaState::Open));
    }

    /// A packet of acknowledgements alone leaves the flight again, if it is the latest.
    #[test]
    fn what_asks_for_no_acknowledgement_is_forgotten() {
        let (mut adapter, _) = hooked(false);
        adapter.on_sent(ms(20), 50);
        adapter.forget(ms(20), 50);
        assert_eq!((adapter.tcp.in_flight, adapter.held, adapter.flight.len()), (3000, 3000, 3));
        adapter.forget(ms(10), 1000);
        assert_eq!((adapter.tcp.in_flight, adapter.held), (3000, 3000));
        adapter.forget(ms(20), 1000);
        assert_eq!((adapter.tcp.in_flight, adapter.held), (2000, 2000));
    }

    /// quinn's count of what is in flight decides: what is more here is of the oldest packets.
    #[test]
    fn leftovers_of_a_handshake_are_dropped() {
        for (in_flight, una) in [(2000, 1000), (1001, 1000), (1000, 2000), (0, 3000)] {
            let (mut adapter, _) = hooked(false);
            adapter.on_sent(ms(30), 1000);
            adapter.on_ack(ms(30), 1000);
            adapter.on_end_acks(ms(99), in_flight, false);
            let una = if in_flight == 0 { 4000 } else { una };
            assert_eq!((adapter.tcp.snd_una, adapter.tcp.in_flight), (una, in_flight), "{in_flight}");
            assert_eq!((adapter.tcp.delivered, adapter.tcp.delivered_at), (1000, ms(99)));
        }
    }

    /// Losses before the last one's time are whole; of its instant as much as is left.
    #[test]
    fn losses_leave_the_flight_in_order() {
        let (mut adapter, _) = hooked(false);
        adapter.on_sent(ms(20), 1000);
        adapter.lose(ms(20), 3000);
        assert_eq!((adapter.tcp.in_flight, adapter.held, adapter.tcp.snd_una), (1000, 1000, 2000));
        adapter.lose(ms(20), 0);
        assert_eq!(adapter.held, 1000);
        // The window has two packets at least, whatever their size is now.
        adapter.on_mtu_update(9000);
        assert_eq!((adapter.window(), adapter.pacing_rate()), (18_000, None));
        adapter.on_mtu_update(1200);
        assert_eq!(adapter.window(), 10_000);
    }

    /// Two acknowledged packets: rate, loss and flight are of the newer, whichever is told last.
    #[test]
    fn a_sample_is_of_the_newest_packet() {
        let (mut adapter, _) = hooked(false);
        adapter.on_ack(ms(10), 1000);
        adapter.on_ack(ms(0), 1000);
        assert_eq!(adapter.batch.newest.map(|group| group.sent), Some(ms(10)));
        adapter.on_end_acks(ms(110), 1000, false);
        assert_eq!((adapter.tcp.latest_rtt, adapter.first_sent), (Duration::from_millis(100), ms(10)));
        // A sample over less than the least round-trip time has no interval.
        let group = Group { sent: ms(20), first_sent: ms(10), delivered_at: ms(110), ..adapter.flight[0] };
        let sample = adapter.rate_sample(ms(209), &group);
        assert_eq!((sample.interval, sample.tx_in_flight), (Duration::ZERO, 3000));
        assert_eq!(adapter.rate_sample(ms(210), &group).interval, Duration::from_millis(100));
    }
}
