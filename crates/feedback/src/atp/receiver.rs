//! The receiver of ATP: reassembly, the mean delay of the worst hop, a report once an epoch.

use super::AtpSettings;
use super::wire::{Data, MOST_BLOCKS, Report};
use crate::blocks::{blocks, enter};
use cogtcp_endpoint::{Datagram, Endpoint, EndpointEvent, Outgoing, PathId, Progress, Received};
use cogtcp_transport::Reassembly;
use cogtcp_units::{Duration, Time};

/// The receiving end.
#[derive(Debug)]
pub struct AtpReceiver {
    settings: AtpSettings,
    data: Reassembly,
    /// Mean of the greatest Q + T, in seconds; `None`: no packet has told one.
    hop_delay_s: Option<f64>,
    /// Send time of the last packet, and its arrival.
    last: Option<(Time, Time)>,
    /// Something arrived in this epoch.
    is_new: bool,
    due: bool,
    epoch_end: Time,
    is_opening: bool,
    progress: Progress,
}

impl AtpReceiver {
    /// Returns a receiver that waits for the first packet.
    pub fn new(settings: AtpSettings) -> Self {
        Self {
            settings,
            data: Reassembly::default(),
            hop_delay_s: None,
            last: None,
            is_new: false,
            due: false,
            epoch_end: Time::MAX,
            is_opening: false,
            progress: Progress::default(),
        }
    }
}

impl Endpoint for AtpReceiver {
    type Packet = Datagram;

    fn handle_packet(&mut self, now: Time, received: Received<'_, Datagram>) {
        let Some(data) = Data::decode(&received.packet.bytes) else { return };
        self.is_opening |= self.last.is_none();
        let len = u64::from(received.packet.payload_size().saturating_sub(Data::SIZE));
        let new = enter(&mut self.data, data.offset, data.offset.saturating_add(len));
        self.progress.received_bytes += new;
        self.progress.duplicate_bytes += len - new;
        self.progress.delivered_bytes = self.data.frontier();
        // The packet that was sent last says what was sent before it.
        if self.last.is_none_or(|(sent, _)| data.sent >= sent) {
            self.last = Some((data.sent, now));
        }
        let told = received.packet.stamp.delay().as_secs_f64();
        if told > 0.0 {
            let old = self.settings.smoothing;
            // A probe asks for the state of the route now.
            let mean = self.hop_delay_s.filter(|_| !data.is_probe);
            self.hop_delay_s = Some(mean.map_or(told, |mean| old * mean + (1.0 - old) * told));
        }
        self.is_new = true;
        self.due |= data.is_probe;
        if self.epoch_end == Time::MAX {
            self.epoch_end = now + self.settings.epoch;
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if now < self.epoch_end {
            return;
        }
        // An epoch without data ends the reports; the next packet begins them again.
        self.due |= self.is_new;
        self.epoch_end = if self.is_new { now + self.settings.epoch } else { Time::MAX };
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<Datagram>> {
        let (answers, arrived) = self.last?;
        if !std::mem::take(&mut self.due) {
            return None;
        }
        self.is_new = false;
        self.epoch_end = now + self.settings.epoch;
        self.progress.sent_packets += 1;
        let report = Report {
            cumulative: self.data.frontier(),
            answers,
            delay: now - arrived,
            hop_delay: Duration::from_secs_f64(self.hop_delay_s.unwrap_or(0.0)),
            blocks: blocks(&self.data, MOST_BLOCKS),
        };
        let packet = Datagram { bytes: report.encode(), ..Datagram::default() };
        Some(Outgoing { packet, path: PathId::default(), ecn_capable: false, data: 0 })
    }

    fn poll_timeout(&self) -> Time {
        self.epoch_end
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        std::mem::take(&mut self.is_opening).then_some(EndpointEvent::Connected)
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("hop_delay_s", self.hop_delay_s.unwrap_or(f64::NAN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_endpoint::{Supply, Waiting};

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// 1000 B from `offset` on that were sent at `sent` arrive at `ms`.
    fn arrive(receiver: &mut AtpReceiver, ms: u64, sent: u64, offset: u64, is_probe: bool) {
        let data = Data { offset, sent: at(sent), is_probe };
        let packet = Datagram { bytes: data.encode(), filler: 1000, ..Datagram::default() };
        receiver.handle_packet(at(ms), Received { packet: &packet, path: PathId::default(), marked: false });
    }

    fn report(receiver: &mut AtpReceiver, ms: u64) -> Option<Report> {
        receiver.poll_transmit(at(ms)).and_then(|sent| Report::decode(&sent.packet.bytes))
    }

    /// An open sender without data is not over; its packets ask for stamps, and for no marks.
    #[test]
    fn a_sender_without_data_waits() {
        let mut sender = super::super::AtpSender::new(1000, AtpSettings::default());
        sender.open(at(0));
        assert!(sender.poll_transmit(at(1)).is_none() && sender.poll_event().is_none());
        assert_eq!(sender.progress().waiting, Waiting::Application);
        sender.supply(at(1), Supply::Bytes(1500));
        let sent = sender.poll_transmit(at(5000)).unwrap();
        assert_eq!((sent.ecn_capable, sent.data), (false, 1000));
        sender.close(at(5000));
        assert!(sender.poll_event().is_none(), "not all has arrived");
        let mut shown = Vec::new();
        sender.observe(&mut |name, value| shown.push((name, value)));
        sender.count(&mut |name, value| shown.push((name, value)));
        let names: Vec<&str> = shown.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["allowed_rate_bps", "route_rate_bps", "smoothed_rtt_s", "probes"]);
        assert_eq!(
            sender.progress().rate_bytes_per_s.map(|rate| 8.0 * rate as f64),
            Some(shown[0].1.floor())
        );
    }

    /// A report each epoch in which data came, and one at once for a probe; an epoch without data ends them.
    #[test]
    fn an_epoch_with_data_has_a_report() {
        let mut receiver = AtpReceiver::new(AtpSettings::default());
        assert_eq!((receiver.poll_timeout(), report(&mut receiver, 0)), (Time::MAX, None));
        arrive(&mut receiver, 100, 50, 0, false);
        assert_eq!(receiver.poll_timeout(), at(1100));
        // Behind a gap, and sent before the packet that arrived last.
        arrive(&mut receiver, 200, 40, 3000, false);
        receiver.handle_timeout(at(1099));
        assert_eq!(report(&mut receiver, 1099), None);
        receiver.handle_timeout(at(1100));
        let first = Report {
            cumulative: 1000,
            answers: at(50),
            delay: Duration::from_millis(1005),
            hop_delay: Duration::ZERO,
            blocks: vec![(3000, 4000)],
        };
        assert_eq!((report(&mut receiver, 1105), receiver.poll_timeout()), (Some(first), at(2105)));
        // Sent at the same time as the last: the later arrival counts.
        arrive(&mut receiver, 1200, 50, 500, true);
        let probed = report(&mut receiver, 1200).map(|it| (it.cumulative, it.answers, it.delay));
        assert_eq!((probed, receiver.poll_timeout()), (Some((1500, at(50), Duration::ZERO)), at(2200)));
        receiver.handle_timeout(at(2200));
        assert_eq!((report(&mut receiver, 2200), receiver.poll_timeout()), (None, Time::MAX));
        arrive(&mut receiver, 3000, 2900, 1500, false);
        assert_eq!((report(&mut receiver, 3000), receiver.poll_timeout()), (None, at(4000)));
        let progress = receiver.progress();
        let bytes = (progress.delivered_bytes, progress.received_bytes, progress.duplicate_bytes);
        assert_eq!((bytes, progress.sent_packets), ((2500, 3500, 500), 2));
        assert_eq!((receiver.poll_event(), receiver.poll_event()), (Some(EndpointEvent::Connected), None));
        receiver.observe(&mut |name, value| assert!(name == "hop_delay_s" && value.is_nan()));
    }
}
