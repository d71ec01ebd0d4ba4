//! The tables that only exist where there is what they are about: a train, UDP sources, applications that ask. Units and meanings are as in
//! [`tables`](crate::tables); a run without such a part has no such table.

use crate::Code;
use crate::column::tables;

tables! {
    /// One row for the mobile router of a train, where there is one.
    TrainRow, TrainsBuilder = "trains" {
        /// Node of the router.
        router: Code in "",
        /// How it predicts silences: `oracle`, `itinerary`, `outage_map` or `signal_strength`.
        predictor: Code in "",
        /// Clients that it warns.
        clients: u64 in "",
        /// Outages that began, measured.
        outages: u64 in "",
        /// Their length together.
        outage_s: f64 in "s",
        /// Outages that were predicted to begin in the measured span, false ones included.
        predictions: u64 in "",
        /// Outages that no prediction belongs to, measured.
        missed_outages: u64 in "",
        /// Predictions that belong to no outage, measured.
        false_predictions: u64 in "",
        /// Outages whose warning left the router less than RTT_TCP ahead, or after they had begun, measured.
        late_warnings: u64 in "",
        /// Mean error of the predicted beginnings: positive where the outage came before its time.
        start_error_mean_s: f64 in "s",
        /// Their standard deviation.
        start_error_std_s: f64 in "s",
        /// Their 5th percentile.
        start_error_p05_s: f64 in "s",
        /// Their median.
        start_error_p50_s: f64 in "s",
        /// Their 95th percentile.
        start_error_p95_s: f64 in "s",
        /// Mean error of the predicted ends: positive where they were predicted too late.
        end_error_mean_s: f64 in "s",
        /// Their standard deviation.
        end_error_std_s: f64 in "s",
        /// Their 5th percentile.
        end_error_p05_s: f64 in "s",
        /// Their median.
        end_error_p50_s: f64 in "s",
        /// Their 95th percentile.
        end_error_p95_s: f64 in "s",
        /// RTT_TCP that the router believes in at the end: the greatest of its clients.
        rtt_tcp_s: f64 in "s",
        /// RTT_local likewise.
        rtt_local_s: f64 in "s",
        /// Mean of TU_advance over the warnings, measured.
        tu_advance_mean_s: f64 in "s",
        /// Messages "link going down", one to each client, lost ones included, measured.
        down_messages: u64 in "packets",
        /// Messages "link going up", measured.
        up_messages: u64 in "packets",
        /// Warnings that chance lost, measured; what the LAN's queues and links lost is in `links`.
        lost_messages: u64 in "packets",
        /// Requests for RTT_TCP, each answered by one reply, measured.
        polls: u64 in "packets",
        /// Bytes of all messages with their headers, measured.
        overhead_bytes: u64 in "B",
        /// The same per second.
        overhead_bps: f64 in "bit/s",
        /// Time for which a source was held by its manager, mean over the managed flows, measured.
        frozen_s: f64 in "s",
        /// Window probes of the managed flows, measured.
        window_probes: u64 in "packets",
    }

    /// One row per flow, where there is a train: what its authors measured.
    TrainFlowRow, TrainFlowsBuilder = "train_flows" {
        /// Name of the flow.
        flow: Code in "",
        /// Efficiency of Singh et al.: bits of the flow's packets that reached the receiving host (headers and
        /// duplicates included) over the up time of the narrowest link of the flow's path times its capacity, over the
        /// flow's measured span.
        efficiency_trains: f64 in "",
        /// Whether a connection manager sits beside one of its ends.
        managed: bool in "",
        /// Time for which its source was held by that manager, measured; not-a-number without one.
        frozen_s: f64 in "s",
        /// Window probes of its sender, measured.
        window_probes: u64 in "packets",
    }

    /// One row per outage of the radio of a train, and per prediction that belongs to none, in the order of time.
    PredictionRow, PredictionsBuilder = "predictions" {
        /// Node of the router.
        router: Code in "",
        /// `ahead`: "going down" was sent RTT_TCP ahead or more; `late`: less, or after the outage had begun; `unsent`: the
        /// prediction was taken back before it was due; `missed`: no prediction belongs to the outage; `false`: no outage
        /// belongs to the prediction.
        outcome: Code in "",
        /// Why the link was gone: `sensing`, `switching`, `coverage`, `tunnel`, `handover` or `border`; empty for a false one.
        cause: Code in "",
        /// When the outage began; not-a-number for a false one, as all that follows about the outage.
        start_s: f64 in "s",
        /// When it ended; not-a-number if it did not in the run.
        end_s: f64 in "s",
        /// When the prediction was made; not-a-number for a missed one, as all that follows about the prediction.
        made_s: f64 in "s",
        /// When the outage was expected to begin.
        predicted_start_s: f64 in "s",
        /// When it was expected to end; not-a-number if the predictor did not say.
        predicted_end_s: f64 in "s",
        /// Error of the predicted beginning: positive where the outage came before its time.
        start_error_s: f64 in "s",
        /// Error of the predicted end: positive where it was predicted too late.
        end_error_s: f64 in "s",
        /// When "going down" was sent.
        down_sent_s: f64 in "s",
        /// When "going up" was sent; not-a-number if a later outage was announced before.
        up_sent_s: f64 in "s",
        /// How long before the outage "going down" was sent; negative: after it had begun.
        down_lead_s: f64 in "s",
        /// How long before the end of the outage "going up" was sent.
        up_lead_s: f64 in "s",
        /// RTT_TCP as the router knew it then: the lead that "going down" needs.
        needed_s: f64 in "s",
    }

    /// One row per UDP source, where there are some. Nothing answers what they send.
    DatagramRow, DatagramsBuilder = "datagrams" {
        /// Name of the source.
        source: Code in "",
        /// Node that sends.
        from: Code in "",
        /// Node that receives.
        to: Code in "",
        /// Packets sent, measured: from the end of the warm-up on.
        sent_packets: u64 in "packets",
        /// Packets that reached the receiver, measured.
        received_packets: u64 in "packets",
        /// Packets dropped on the way, all causes, measured.
        drops: u64 in "packets",
        /// Payload received, from the start or the end of the warm-up to the stop or the end of the run.
        goodput_bps: f64 in "bit/s",
        /// Packets dropped over those dropped or received, measured. Packets still on their way do not count.
        loss_ratio: f64 in "",
        /// Mean one-way delay, queues and silences included, of the packets received in the measured span.
        delay_mean_s: f64 in "s",
        /// Median of it (bucket error under 1.6 %).
        delay_p50_s: f64 in "s",
        /// 95th percentile of it.
        delay_p95_s: f64 in "s",
        /// 99th percentile of it.
        delay_p99_s: f64 in "s",
        /// Greatest one-way delay.
        delay_max_s: f64 in "s",
        /// Interarrival jitter at the end of the run: the smoothed change of the delay (RFC 3550 section 6.4.1).
        jitter_s: f64 in "s",
        /// Packets that came after one sent later, in the whole run.
        reordered_packets: u64 in "packets",
    }

    /// One row per request of an application that asks and is answered, in the order in which each application sent them;
    /// those of the warm-up too.
    RequestRow, RequestsBuilder = "requests" {
        /// Name of the flow that carries the responses.
        flow: Code in "",
        /// Its number among those of the flow, from 0.
        number: u64 in "",
        /// When it was sent first.
        sent_s: f64 in "s",
        /// Payload of its response.
        response_bytes: u64 in "B",
        /// How often it was sent again because it was lost.
        repeats: u64 in "",
        /// When the last byte of its response had come; not-a-number if it had not by the end of the run.
        completed_s: f64 in "s",
        /// Flow completion time: from the sending of the request to the last byte of the response.
        completion_time_s: f64 in "s",
    }

    /// One row per flow with requests: those sent after the warm-up together.
    RequestFlowRow, RequestFlowsBuilder = "request_flows" {
        /// Name of the flow that carries the responses.
        flow: Code in "",
        /// Requests sent, measured.
        sent_requests: u64 in "",
        /// Of these: answered in full.
        answered_requests: u64 in "",
        /// Requests sent again because they were lost, measured.
        repeats: u64 in "",
        /// Mean flow completion time of the answered ones.
        completion_mean_s: f64 in "s",
        /// Median of it.
        completion_p50_s: f64 in "s",
        /// 95th percentile of it.
        completion_p95_s: f64 in "s",
        /// 99th percentile of it.
        completion_p99_s: f64 in "s",
        /// Greatest flow completion time.
        completion_max_s: f64 in "s",
    }

    /// One row per chunk of a video, in its order; those of the warm-up too.
    ChunkRow, ChunksBuilder = "chunks" {
        /// Name of the flow that carries the video.
        flow: Code in "",
        /// Its number, from 0.
        number: u64 in "",
        /// When the player asked for it.
        requested_s: f64 in "s",
        /// Its size.
        chunk_bytes: u64 in "B",
        /// When its last byte had come; not-a-number if it had not by the end of the run, as all that follows.
        received_s: f64 in "s",
        /// From the request to the last byte.
        download_s: f64 in "s",
        /// Media in the player's buffer when it had come, itself included.
        buffered_s: f64 in "s",
        /// How long the video had stalled between the chunk before and this one.
        stalled_s: f64 in "s",
    }

    /// One row per video.
    VideoRow, VideosBuilder = "videos" {
        /// Name of the flow that carries the video.
        flow: Code in "",
        /// Chunks that came, measured.
        chunks: u64 in "",
        /// From the first request to the first picture; not-a-number if nothing was played.
        startup_s: f64 in "s",
        /// Times that the video stalled after it had begun, measured: known when a chunk comes, or at the end of the run.
        stalls: u64 in "",
        /// Time for which it stalled, measured likewise; what passes before it begins is no stall.
        stalled_s: f64 in "s",
        /// Mean time from the request to the last byte of the chunks that came, measured.
        download_mean_s: f64 in "s",
        /// 95th percentile of it.
        download_p95_s: f64 in "s",
        /// Greatest of it.
        download_max_s: f64 in "s",
    }

    /// One row for a run on the TCP of a Linux kernel, under a real clock: how true its timing was.
    EmulationRow, EmulationBuilder = "emulation" {
        /// What carried the packets: `kernel`.
        plane: Code in "",
        /// Release of the kernel.
        kernel: Code in "",
        /// Whether the run may stand as evidence: it kept its times, and nothing was lost but what the scenario loses.
        evidence: bool in "",
        /// Why it may not; else empty.
        reasons: Code in "",
        /// What is unlike the scenario; else empty.
        notes: Code in "",
        /// Packets that left the link in either direction, warm-up included.
        departures: u64 in "packets",
        /// Median of how much later than due a packet left the link.
        lateness_p50_s: f64 in "s",
        /// 99th percentile of it.
        lateness_p99_s: f64 in "s",
        /// Greatest lateness.
        lateness_max_s: f64 in "s",
        /// Median lateness of a bare timer in the same run.
        floor_p50_s: f64 in "s",
        /// 99th percentile of it.
        floor_p99_s: f64 in "s",
        /// Greatest lateness of the bare timer.
        floor_max_s: f64 in "s",
        /// Whether the emulator had real-time scheduling.
        real_time: bool in "",
        /// Packets that a kernel sent and its device dropped, since the emulator did not take them in time.
        device_drops: u64 in "packets",
        /// Packets that had arrived and that the kernel did not take.
        refused_packets: u64 in "packets",
        /// Whether the kernel counts retransmission timeouts of each connection (6.7 and newer); else they stand as 0.
        counts_timeouts: bool in "",
        /// Whether fast retransmits and spurious timeouts are those of each flow: a kernel counts them for all flows of a node
        /// together. Where several flows have one sender they stand as 0.
        counts_recoveries: bool in "",
        /// Exit code of the program that was run in place of the scenario's flows; not-a-number where none was.
        exit_code: f64 in "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_has_no_name_of_a_table_of_every_run() {
        let names: Vec<_> = schema().iter().map(|table| table.name).collect();
        assert_eq!(
            names,
            [
                "trains",
                "train_flows",
                "predictions",
                "datagrams",
                "requests",
                "request_flows",
                "chunks",
                "videos",
                "emulation"
            ]
        );
        assert!(crate::tables::schema().iter().all(|table| !names.contains(&table.name)));
    }
}
