//! The tables of every run: results, their units and their meanings. What only some runs have is in
//! [`extensions`](crate::extensions).
//!
//! "Measured" below means within the measured span of the row. A link's or radio's span is from the end of
//! the warm-up to the end of the run. A flow's span starts at its start or at the end of the warm-up,
//! whichever is later. It ends when the flow has delivered its last byte (fixed size), at its stop, or at the
//! end of the run, whichever is first. `docs/simulator.md` defines the measures.

use crate::Code;
use crate::column::tables;

tables! {
    /// One row per flow.
    FlowRow, FlowsBuilder = "flows" {
        /// Name of the flow.
        flow: Code in "",
        /// Transport: a preset of TCP, or another transport.
        transport: Code in "",
        /// Node of the sender.
        from: Code in "",
        /// Node of the receiver.
        to: Code in "",
        /// When the application starts.
        start_s: f64 in "s",
        /// When the application stops; not-a-number when it runs to the end.
        stop_s: f64 in "s",
        /// Length of the flow's measured span.
        measured_s: f64 in "s",
        /// Goodput: payload handed to the receiving application in order and once, over the measured span.
        goodput_bps: f64 in "bit/s",
        /// Payload handed to the receiving application from the end of the warm-up to the end of the run.
        /// What arrives after `stop_s` counts here, and not in `goodput_bps`.
        delivered_bytes: u64 in "B",
        /// Packets with data sent since the end of the warm-up, retransmissions included.
        sent_segments: u64 in "segments",
        /// Packets sent since the end of the warm-up with data that was sent before.
        retransmitted_segments: u64 in "segments",
        /// Efficiency of Di Felice et al. 2009, eq. 4: delivered payload bits over the integral of the
        /// available capacity (channel rate, zero in silence) of the narrowest link of the flow's path, over
        /// the measured span. Above 1 only by data of the warm-up that arrives, or that a filled hole hands
        /// over, in the span.
        efficiency: f64 in "",
        /// Name of that narrowest link: the one of least available capacity over the measured span.
        bottleneck: Code in "",
        /// Direction of that link which the flow's data takes: forward or reverse.
        bottleneck_direction: Code in "",
        /// Whose capacity that is: the radio whose cell serves the link, as users of a cell share one
        /// capacity; else the link.
        medium: Code in "",
        /// Packet delivery ratio: packets of the data direction that reached the receiving host over those
        /// that reached it or were dropped, since the end of the warm-up. Packets still on their way do not
        /// count.
        delivery_ratio: f64 in "",
        /// Minimum round-trip time after the warm-up: from sending a data segment to the arrival of its
        /// acknowledgement, the receiver's delay included. One sample for each such acknowledgement.
        rtt_min_s: f64 in "s",
        /// Mean of the round-trip times.
        rtt_mean_s: f64 in "s",
        /// Median round-trip time (bucket error under 1.6 %).
        rtt_p50_s: f64 in "s",
        /// 95th percentile of the round-trip time.
        rtt_p95_s: f64 in "s",
        /// 99th percentile of the round-trip time.
        rtt_p99_s: f64 in "s",
        /// Greatest round-trip time.
        rtt_max_s: f64 in "s",
        /// Mean time that a delivered data packet waited in queues on its way, silences included.
        queuing_delay_mean_s: f64 in "s",
        /// Median of that time.
        queuing_delay_p50_s: f64 in "s",
        /// 95th percentile of that time.
        queuing_delay_p95_s: f64 in "s",
        /// 99th percentile of that time.
        queuing_delay_p99_s: f64 in "s",
        /// Packets of the data direction dropped since the end of the warm-up, all causes.
        drops: u64 in "packets",
        /// Packets of the reverse direction (acknowledgements) dropped since the end of the warm-up.
        ack_drops: u64 in "packets",
        /// Time from start to the last byte's delivery, for a fixed-size flow that finished; else
        /// not-a-number.
        completion_s: f64 in "s",
    }

    /// One row per link direction.
    LinkRow, LinksBuilder = "links" {
        /// Name of the link.
        link: Code in "",
        /// `forward` (from the link's first node to its second) or `reverse`.
        direction: Code in "",
        /// Node that transmits.
        from: Code in "",
        /// Node that receives.
        to: Code in "",
        /// Available capacity: integral of the channel rate while the link is open or a frame completes,
        /// measured. A frame that was on the air when the link fell silent or its rate changed counts at its
        /// own rate until it ends.
        capacity_bytes: f64 in "B",
        /// Integral of the channel rate, silences included, measured.
        channel_bytes: f64 in "B",
        /// Bytes transmitted with all headers, measured; what a silence destroyed is not counted.
        carried_bytes: f64 in "B",
        /// Carried bytes over available capacity: at most 1, but for transmission times rounded to
        /// nanoseconds.
        utilisation: f64 in "",
        /// Payload delivered by the flows whose data crosses this direction, over its available capacity.
        efficiency: f64 in "",
        /// Packets that were offered to the link, measured.
        offered_packets: u64 in "packets",
        /// Packets that reached the far end, measured.
        delivered_packets: u64 in "packets",
        /// Packets dropped because the queue was full, measured.
        drops_queue: u64 in "packets",
        /// Packets lost at random in transmission, measured.
        drops_loss: u64 in "packets",
        /// Packets lost because their transmission met a silence, measured.
        drops_silence: u64 in "packets",
        /// Packets that the MAC of a wireless link gave up at its retry limit, the last attempt not destroyed
        /// by a primary user, measured.
        drops_retry: u64 in "packets",
        /// Packets that the MAC gave up at its retry limit, the last attempt destroyed by a primary user,
        /// measured.
        drops_interference: u64 in "packets",
        /// Packets that the queue's discipline dropped before it was full, measured.
        drops_early: u64 in "packets",
        /// Packets that the queue marked (ECN: congestion experienced), measured.
        marked_packets: u64 in "packets",
        /// Exchanges of frames that the MAC began, retries included, measured.
        attempts: u64 in "",
        /// Of these: failed because a primary user destroyed a frame.
        attempts_interfered: u64 in "",
        /// Of these: failed because the receiver was silent.
        attempts_unanswered: u64 in "",
        /// Of these: failed because both stations began at once.
        attempts_collided: u64 in "",
        /// Of these: failed because of noise or a random error.
        attempts_garbled: u64 in "",
        /// Time-weighted mean of the queue, the frame in the air not counted.
        queue_mean_packets: f64 in "packets",
        /// Longest queue, the frame in the air not counted.
        queue_max_packets: u64 in "packets",
        /// Time during which the link was silent, measured.
        silence_s: f64 in "s",
    }

    /// One row per cognitive radio.
    RadioRow, RadiosBuilder = "radios" {
        /// Name of the radio.
        radio: Code in "",
        /// Time spent transmitting (the links are open), measured.
        transmitting_s: f64 in "s",
        /// Time spent sensing, measured.
        sensing_s: f64 in "s",
        /// Time spent switching channels, measured.
        switching_s: f64 in "s",
        /// Time without signal, on a journey, measured.
        lost_s: f64 in "s",
        /// Times that the signal was lost, measured.
        signal_losses: u64 in "",
        /// Sensing periods begun, measured.
        sensings: u64 in "",
        /// Arrivals of a primary user, measured.
        pu_arrivals: u64 in "",
        /// Changes of channel (spectrum handoffs), measured.
        handoffs: u64 in "",
        /// Sensings that missed a primary user, measured.
        missed_detections: u64 in "",
        /// Sensings that reported a primary user where there was none, measured.
        false_alarms: u64 in "",
        /// Sensings that found a primary user, measured; like all that follows, of a CR user in full: a radio
        /// that is a cycle alone knows no primary users to protect.
        detections: u64 in "",
        /// ON time of the primary users that the radio hears on any channel, summed over them, measured.
        pu_airtime_s: f64 in "s",
        /// Share of that time in which the radio was open to traffic on their channel.
        pu_exposed_share: f64 in "",
        /// ON time in which a frame was on the air on their channel, measured.
        pu_interfered_s: f64 in "s",
        /// Share of the primary users' ON time interfered with.
        pu_interfered_share: f64 in "",
        /// Of that, ON time later than the radio's regulation allows, measured. Not-a-number without a
        /// regulation.
        pu_overdue_s: f64 in "s",
        /// ON periods with interference in any part, measured.
        pu_collisions: u64 in "",
        /// Times that the radio left a primary user that it had been open over, measured.
        vacated: u64 in "",
        /// Times that such a primary user left before the radio noticed, measured.
        outlasted: u64 in "",
        /// Mean time to vacate: from the primary user's arrival (missed: from the start of the transmission
        /// over it) to the last moment open before the sensing that reported it.
        vacate_mean_s: f64 in "s",
        /// Longest time to vacate.
        vacate_max_s: f64 in "s",
    }

    /// One row per link direction that is the bottleneck of a flow: the states of its time. At each instant
    /// it is in one state, so the states sum to the measured span. This span is the union of the spans of the
    /// flows that cross it. `docs/budget.md` defines the states.
    BudgetRow, BudgetBuilder = "budget" {
        /// Name of the link.
        link: Code in "",
        /// Direction of the link that the flows' data takes: `forward` or `reverse`.
        direction: Code in "",
        /// Flows whose data crosses it.
        flows: u64 in "",
        /// Length of the measured span: the sum of the times below.
        measured_s: f64 in "s",
        /// Transmitting payload that reached the receiver, and had not before.
        delivered_s: f64 in "s",
        /// Transmitting headers of data packets that reached the receiver, and what opens and closes
        /// connections.
        headers_s: f64 in "s",
        /// Transmitting payload that the receiver had already, or for which it had no room.
        duplicate_s: f64 in "s",
        /// Transmitting data packets that were lost: on this link, by a silence or by chance, or later on
        /// their way.
        lost_s: f64 in "s",
        /// Transmitting other packets: acknowledgements of flows that go the other way, UDP, ICMP, messages.
        other_s: f64 in "s",
        /// Silent: the radio senses, switches or has no signal.
        silent_s: f64 in "s",
        /// Idle: the sender waited for a timer that stands for a loss.
        timeout_s: f64 in "s",
        /// Idle: the congestion control allowed no more. Its window is still growing, or growing back after a
        /// loss.
        growing_s: f64 in "s",
        /// Idle: the receiver's window allowed no more, or the cap on the sender's window.
        receiver_s: f64 in "s",
        /// Idle: the application had nothing to send.
        application_s: f64 in "s",
        /// Idle: the packet that came next waited on another link of its route, in a queue or for a silence
        /// to end.
        upstream_s: f64 in "s",
        /// 802.11: the rest of the exchanges that brought a packet over: preambles, headers, RTS, CTS, ACK,
        /// gaps.
        mac_s: f64 in "s",
        /// 802.11: waiting for the medium with a packet to send (interframe space, backoff), and while the
        /// other direction has it.
        contention_s: f64 in "s",
        /// 802.11: exchanges that failed without a primary user as the cause, and those that repeat a
        /// packet whose acknowledgement was lost.
        retry_s: f64 in "s",
        /// What a primary user destroyed: exchanges of 802.11, blocks of a cell, frames of a link without a
        /// MAC.
        interference_s: f64 in "s",
        /// Scheduled access: a packet waits, and the slot belongs to the other direction.
        pattern_s: f64 in "s",
        /// Scheduled access: a packet waits for a slot or a grant.
        grant_s: f64 in "s",
        /// Scheduled access: transport blocks that were lost, which HARQ repeats.
        harq_s: f64 in "s",
        /// Scheduled access: resource blocks of other users.
        users_s: f64 in "s",
        /// Scheduled access: a packet waits while its user moves to another base station.
        handover_s: f64 in "s",
    }

    /// One row per flow and sampling instant, while the flow is active.
    FlowSample, FlowSeriesBuilder = "flow_series" {
        /// Simulated time.
        time_s: f64 in "s",
        /// Name of the flow.
        flow: Code in "",
        /// Congestion window; not-a-number: the transport has none.
        cwnd_segments: f64 in "segments",
        /// Slow-start threshold; not-a-number while it is not set, or the transport has none.
        ssthresh_segments: f64 in "segments",
        /// Smoothed round-trip time; not-a-number before the first sample.
        srtt_s: f64 in "s",
        /// Data that is sent and neither acknowledged nor taken for lost; not-a-number: the transport keeps
        /// no such count.
        in_flight_segments: f64 in "segments",
        /// Goodput over the sampling interval that ends here.
        goodput_bps: f64 in "bit/s",
    }

    /// One row per flow, sampling instant and variable that the flow's congestion control shows of its state,
    /// or a transport that is not TCP.
    ControlSample, ControlSeriesBuilder = "control_series" {
        /// Simulated time.
        time_s: f64 in "s",
        /// Name of the flow.
        flow: Code in "",
        /// Name of the variable; its end is its unit: `_segments`, `_s`, `_bps` or none. The page of the
        /// control says what it is.
        variable: Code in "",
        /// Its value; not-a-number where there is none yet.
        value: f64 in "",
    }

    /// One row per link direction and sampling instant.
    LinkSample, LinkSeriesBuilder = "link_series" {
        /// Simulated time.
        time_s: f64 in "s",
        /// Name of the link.
        link: Code in "",
        /// `forward` or `reverse`.
        direction: Code in "",
        /// Queue at that instant, the frame in the air not counted.
        queue_packets: u64 in "packets",
        /// Rate available at that instant: the channel's rate, 0 in silence.
        rate_bps: f64 in "bit/s",
        /// Bits transmitted over the sampling interval that ends here, per second, all headers included.
        throughput_bps: f64 in "bit/s",
    }

    /// One row per event, in the order in which they happened.
    EventRow, EventsBuilder = "events" {
        /// Simulated time.
        time_s: f64 in "s",
        /// What happened: a name of [`EventKind`](crate::EventKind).
        kind: Code in "",
        /// The flow, radio, link (its reverse direction as `name/reverse`) or primary user (`pu1`) that it
        /// happened to.
        entity: Code in "",
        /// The flow concerned: the packet's for a drop; empty for what happens to a radio.
        flow: Code in "",
        /// Cause or detail. A drop: `queue`, `loss`, `silence`, `retry` or `interference`. An `interference`:
        /// the frame (`rts`, `cts`, `data`, `ack`). A `sensing_end`: `clear`, `detected`, `missed` or
        /// `false alarm`. A `pu_arrival`: the phase of the radio. A `signal_lost`: `coverage` or `tunnel`.
        /// What happens to a subflow: the link that names its path. Otherwise empty.
        detail: Code in "",
        /// A number that goes with the event; not-a-number where there is none. `rto`, `spurious_rto`,
        /// `fast_retransmit`, `ecn_reduction`, `recovery_exit`: the congestion window after it, in segments;
        /// `unreachable`: before it. `drop`: the packet's size in bytes. `handoff`: the rate of the new
        /// channel, in bit/s. `trigger_down`: seconds to the predicted outage. `pu_on`, `pu_off`: the band.
        value: f64 in "",
    }

    /// One row per packet and event of the packet on a link direction, in order. Trace files of ns-2 have the
    /// same rows: `queued` is `+`, `received` is `r`, `dropped` is `d`.
    PacketRow, PacketsBuilder = "packets" {
        /// Simulated time.
        time_s: f64 in "s",
        /// `queued` (it entered the queue, or went straight on the air), `received` (it reached the far end)
        /// or `dropped`.
        event: Code in "",
        /// Why it was dropped: a cause as in `events`; else empty.
        cause: Code in "",
        /// Whether it was dropped as a full queue refused it: then it was never `queued`.
        refused: bool in "",
        /// Name of the link.
        link: Code in "",
        /// `forward` or `reverse`.
        direction: Code in "",
        /// Number of its stream: what one end sends to another. Flow number `n`, from 0, has stream `2 n` for
        /// what its sender sends and `2 n + 1` for what its receiver sends; streams of other packets follow.
        stream: u64 in "",
        /// Name of its flow; for ICMP the flow that the message is about; empty for UDP sources.
        flow: Code in "",
        /// `sender` or `receiver`: the end of the flow that sent it; empty for packets of no flow.
        source: Code in "",
        /// `tcp`, `icmp` or `udp`.
        protocol: Code in "",
        /// Node that sent it.
        from: Code in "",
        /// Node that it is for.
        to: Code in "",
        /// Time to live in its IP header on this link.
        ttl: u64 in "",
        /// The two ECN bits of its IP header (RFC 3168 section 5): 0 not capable, 1 ECT(1) (L4S), 2 ECT(0), 3
        /// congestion experienced. A mark that the queue of this link sets shows where the packet is
        /// `received`.
        ecn: u64 in "",
        /// Payload.
        payload_bytes: u64 in "B",
        /// Size with all headers.
        wire_bytes: u64 in "B",
    }
}

/// What a packet trace records of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u32)]
pub enum PacketEvent {
    /// A link direction has taken it: it waits, or is on the air.
    Queued,
    /// It has reached the far end of a link direction.
    Received,
    /// It is lost.
    Dropped,
}

impl PacketEvent {
    /// Every one, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Queued, Self::Received, Self::Dropped];

    /// The name in the column `event`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Received => "received",
            Self::Dropped => "dropped",
        }
    }

    /// The code in an `event` column that was interned in the order of [`PacketEvent::ALL`].
    pub const fn code(self) -> Code {
        Code(self as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ColumnData, ColumnKind};

    #[test]
    fn rows_become_columns_with_unit_and_meaning() {
        let mut builder = LinkSeriesBuilder::default();
        let (link, forward) = (builder.link.intern("bottleneck"), builder.direction.intern("forward"));
        for step in 0..3u64 {
            builder.push(LinkSample {
                time_s: step as f64,
                link,
                direction: forward,
                queue_packets: 10 * step,
                rate_bps: 1e6,
                throughput_bps: 5e5,
            });
        }
        let table = builder.finish();
        assert_eq!((table.name, table.len()), ("link_series", 3));
        let queue = table.column("queue_packets").unwrap();
        assert_eq!((queue.unit, queue.data.clone()), ("packets", ColumnData::U64(vec![0, 10, 20])));
        assert_eq!(queue.meaning, "Queue at that instant, the frame in the air not counted.");
        assert_eq!(table.text("link", 2), Some("bottleneck"));
        assert_eq!(table.number("queue_packets", 2), Some(20.0));
        assert_eq!(table.number("queue_packets", 3), None);
    }

    #[test]
    fn schema_names_are_unique_and_every_column_is_explained() {
        let schema = crate::schema();
        let names: Vec<_> = super::schema().iter().map(|table| table.name).collect();
        let expected = [
            "flows",
            "links",
            "radios",
            "budget",
            "flow_series",
            "control_series",
            "link_series",
            "events",
            "packets",
        ];
        assert_eq!(names, expected);
        for table in &schema {
            for (i, column) in table.columns.iter().enumerate() {
                assert!(column.meaning.ends_with('.'), "{}.{}: {}", table.name, column.name, column.meaning);
                assert!(table.columns[..i].iter().all(|other| other.name != column.name), "{}", column.name);
                let suffix_says_seconds = column.name.ends_with("_s");
                assert_eq!(suffix_says_seconds, column.unit == "s", "{}.{}", table.name, column.name);
                assert_eq!(column.name.ends_with("_bps"), column.unit == "bit/s", "{}", column.name);
            }
        }
        assert_eq!(FlowsBuilder::schema().columns[0].kind, ColumnKind::Text);
    }

    #[test]
    fn an_empty_builder_has_the_columns_of_its_schema() {
        let (table, schema) = (EventsBuilder::default().finish(), EventsBuilder::schema());
        assert!(table.is_empty());
        let columns: Vec<_> = table.columns.iter().map(|c| (c.name, c.data.kind())).collect();
        let expected: Vec<_> = schema.columns.iter().map(|c| (c.name, c.kind)).collect();
        assert_eq!(columns, expected);
    }
}
