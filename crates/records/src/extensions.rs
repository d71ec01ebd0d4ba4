//! The tables that only exist where there is what they are about: TCP, a train, UDP sources, applications
//! that ask. Units and meanings are as in [`tables`](crate::tables); a run without such a part has no such
//! table.

use crate::Code;
use crate::column::tables;

tables! {
    /// One row per TCP flow, in the order of `flows`: what TCP alone has.
    TcpFlowRow, TcpFlowsBuilder = "tcp_flows" {
        /// Name of the flow.
        flow: Code in "",
        /// Congestion control.
        congestion: Code in "",
        /// Retransmission timeouts since the end of the warm-up.
        rtos: u64 in "",
        /// Spurious timeouts since the end of the warm-up: the original of the retransmitted segment reached
        /// the receiver before its copy. Nothing had been lost, the timer was too early.
        spurious_rtos: u64 in "",
        /// Fast retransmits since the end of the warm-up.
        fast_retransmits: u64 in "",
    }

    /// One row per QUIC flow, in the order of `flows`: what QUIC alone has. Counts begin at the end of the
    /// warm-up.
    QuicFlowRow, QuicFlowsBuilder = "quic_flows" {
        /// Name of the flow.
        flow: Code in "",
        /// Connections opened in the whole run.
        connections: u64 in "",
        /// Duration of the latest handshake at the sender; not-a-number before its end.
        handshake_s: f64 in "s",
        /// Datagrams with early data (0-RTT).
        zero_rtt_packets: u64 in "packets",
        /// Expired probe timeouts (RFC 9002, section 6.2).
        probe_timeouts: u64 in "",
        /// Packets declared lost (section 6.1).
        lost_packets: u64 in "packets",
        /// Packets declared lost and acknowledged later: they were late.
        spurious_losses: u64 in "packets",
        /// Times of persistent congestion (section 7.6), each of which sets the window to two packets.
        persistent_congestion: u64 in "",
    }

    /// One row per event in the log of an end of a QUIC flow, in the order of time for each end: the events
    /// of qlog (draft-ietf-quic-qlog-quic-events).
    QuicLogRow, QuicLogBuilder = "quic_log" {
        /// Time of the event.
        time_s: f64 in "s",
        /// Name of the flow.
        flow: Code in "",
        /// `client` or `server`.
        end: Code in "",
        /// The connection: the client's first destination connection ID, in hexadecimal digits.
        connection: Code in "",
        /// Name of the event, as `quic:packet_sent`.
        name: Code in "",
        /// The event's data in JSON, as the draft defines it.
        data: Code in "",
    }

    /// One row per row of `packets` whose packet is a datagram of a transport other than TCP: what it
    /// carries.
    PayloadRow, PayloadsBuilder = "payloads" {
        /// Number of the row of `packets`, from 0.
        packet: u64 in "",
        /// The payload in hexadecimal digits, without the zeros at its end.
        bytes: Code in "",
    }

    /// One row per path of each MPTCP flow: its subflow. Counts begin at the end of the warm-up.
    SubflowRow, SubflowsBuilder = "subflows" {
        /// Name of the flow.
        flow: Code in "",
        /// Number of the path, from 0.
        path: u64 in "",
        /// The link that names the path in the scenario; empty without one.
        link: Code in "",
        /// Data that this path brought first, over the flow's measured span.
        goodput_bps: f64 in "bit/s",
        /// Share of this path in the data of all paths.
        share: f64 in "",
        /// Segments sent with data, retransmissions included.
        sent_segments: u64 in "packets",
        /// Segments that the subflow retransmitted itself.
        retransmitted_segments: u64 in "packets",
        /// Retransmission timeouts.
        rtos: u64 in "",
        /// Data sent that another path had carried before: reinjected or redundant.
        repeated_bytes: u64 in "B",
        /// Data of this path that was queued for other paths after a timeout.
        reinjected_bytes: u64 in "B",
        /// Mean of its samples of the round-trip time.
        rtt_mean_s: f64 in "s",
        /// The radios on the route of its data, with blanks between them.
        radios: Code in "",
    }

    /// One row per row of `packets` whose packet is a TCP segment or is about one (ICMP): what TCP's header
    /// says.
    TcpSegmentRow, TcpSegmentsBuilder = "tcp_segments" {
        /// Number of the row of `packets`, from 0.
        packet: u64 in "",
        /// TCP flags: S, F, R, P, E, W, A (AE), and a dot for ACK.
        flags: Code in "",
        /// Sequence number of its first byte, in 32 bits; 0 is the SYN. ICMP: number of the quoted segment.
        seq: u64 in "",
        /// Acknowledgement number: the next byte expected.
        ack: u64 in "",
        /// Window advertised, as it stands in the header.
        window: u64 in "",
        /// SACK blocks carried.
        sack_blocks: u64 in "",
        /// Edges of the SACK blocks, the most recent first (RFC 2018): `1001-2001 3001-4001`.
        sack: Code in "",
        /// Whether it has the SACK-permitted option (RFC 2018).
        sack_permitted: bool in "",
        /// Maximum segment size option (RFC 9293); not-a-number without it.
        mss: f64 in "B",
        /// Shift count of the window scale option (RFC 7323); not-a-number without it.
        window_scale: f64 in "",
        /// Value of the timestamps option (RFC 7323); not-a-number without it.
        tsval: f64 in "",
        /// Echo of the timestamps option; not-a-number without it.
        tsecr: f64 in "",
        /// Value of the experimental option (kind 253, RFC 6994) by which connection managers and controls
        /// speak to each other; not-a-number without it.
        experimental: f64 in "",
    }

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
        /// Bytes of all messages with their headers per second, measured.
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
        /// Efficiency of Singh et al. over the flow's measured span: bits of its packets that reached the
        /// receiving host, over the narrowest link's up time times its capacity. Headers and duplicates are
        /// included.
        efficiency_trains: f64 in "",
        /// Whether a connection manager sits beside one of its ends.
        managed: bool in "",
        /// Time for which its source was held by that manager, measured; not-a-number without one.
        frozen_s: f64 in "s",
        /// Window probes of its sender, measured.
        window_probes: u64 in "packets",
    }

    /// One row per outage of the radio of a train, and per prediction that belongs to none, in the order of
    /// time.
    PredictionRow, PredictionsBuilder = "predictions" {
        /// Node of the router.
        router: Code in "",
        /// `ahead`: "going down" was sent RTT_TCP ahead or more. `late`: less, or after the outage had begun.
        /// `unsent`: the prediction was taken back before it was due. `missed`: no prediction belongs to the
        /// outage. `false`: no outage belongs to the prediction.
        outcome: Code in "",
        /// Why the link was gone: `sensing`, `switching`, `coverage`, `tunnel`, `handover` or `border`; empty
        /// for a false one.
        cause: Code in "",
        /// When the outage began; not-a-number for a false one, as all that follows about the outage.
        start_s: f64 in "s",
        /// When it ended; not-a-number if it did not in the run.
        end_s: f64 in "s",
        /// When the prediction was made; not-a-number for a missed one, as all that follows about the
        /// prediction.
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
        /// Interarrival jitter at the end of the run: the smoothed change of the delay (RFC 3550
        /// section 6.4.1).
        jitter_s: f64 in "s",
        /// Packets that came after one sent later, in the whole run.
        reordered_packets: u64 in "packets",
    }

    /// One row per call: how the listener judges it, by the E-model (ITU-T G.107).
    CallRow, CallsBuilder = "calls" {
        /// Name of the source.
        source: Code in "",
        /// The codec.
        codec: Code in "",
        /// Delay from mouth to ear: of the codec, the network and the buffer that smooths the arrivals. The
        /// buffer is the constant one with the highest rating (Sun and Ifeachor 2006).
        mouth_to_ear_s: f64 in "s",
        /// Packets lost, or too late for the buffer, over those lost or received, measured.
        missing_ratio: f64 in "",
        /// Transmission rating R.
        rating: f64 in "",
        /// Mean opinion score of this rating, 1 to 4.5.
        mos: f64 in "",
    }

    /// One row per request of an application that asks and is answered, in the order in which each
    /// application sent them, warm-up included.
    RequestRow, RequestsBuilder = "requests" {
        /// Name of the flow that carries the responses.
        flow: Code in "",
        /// Its number in the flow, from 0.
        number: u64 in "",
        /// When it was sent first.
        sent_s: f64 in "s",
        /// Payload of its response.
        response_bytes: u64 in "B",
        /// How often it was retransmitted because it was lost.
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
        /// Requests retransmitted because they were lost, measured.
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

    /// One row per chunk of a video, in its order, warm-up included.
    ChunkRow, ChunksBuilder = "chunks" {
        /// Name of the flow that carries the video.
        flow: Code in "",
        /// Its number, from 0.
        number: u64 in "",
        /// When the player asked for it.
        requested_s: f64 in "s",
        /// Its size.
        chunk_bytes: u64 in "B",
        /// When its last byte had come; not-a-number if it had not by the end of the run, as all that
        /// follows.
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
        /// Times that the video stalled after it had begun, measured: known when a chunk comes, or at the end
        /// of the run.
        stalls: u64 in "",
        /// Time for which it stalled, measured likewise; what passes before it begins is no stall.
        stalled_s: f64 in "s",
        /// Share of the time since the first picture in which it stalled, measured; 1 if nothing was played.
        stall_share: f64 in "",
        /// From the first request to the first picture; if nothing was played, to the end of the run or of
        /// the application.
        waited_s: f64 in "s",
        /// Mean rate at which the chunks that came are coded, measured.
        bitrate_bps: f64 in "bit/s",
        /// Changes of that rate from chunk to chunk, measured.
        switches: u64 in "",
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
        /// Its clock: `real`, or `virtual`, which stands while anything computes.
        clock: Code in "",
        /// Whether the run may stand as evidence: it kept its times, and nothing was lost but what the
        /// scenario loses.
        evidence: bool in "",
        /// Why it may not; else empty.
        reasons: Code in "",
        /// What the nodes' devices are: `tun`, or `veth` where there can be none of these.
        device: Code in "",
        /// What is unlike the scenario; else empty.
        notes: Code in "",
        /// The congestion control that programs got where they chose none; empty where no program ran.
        default_control: Code in "",
        /// Others that programs might choose, with spaces between; likewise.
        other_controls: Code in "",
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
        /// Whether the kernel counts retransmission timeouts of each connection (6.7 and newer); else they
        /// stand as 0.
        counts_timeouts: bool in "",
        /// Whether fast retransmits and spurious timeouts are counted for each flow. A kernel counts them for
        /// all flows of a node together: flows that share a sender have 0.
        counts_recoveries: bool in "",
        /// Whether controls of this project in the kernel heard what the radios did (`cogtcp-c2 follow`, to
        /// the end of the run).
        announced: bool in "",
        /// Exit code of the program that was run in place of the scenario's flows; not-a-number where none
        /// was.
        exit_code: f64 in "",
    }

    /// One row for the routing of an ad hoc network, over all nodes, measured: from the end of the warm-up
    /// on.
    RoutingRow, RoutingBuilder = "routing" {
        /// The protocol.
        protocol: Code in "",
        /// Searches for a route that began.
        searches: u64 in "",
        /// Searches that ended with a route.
        routes_found: u64 in "",
        /// Searches that ended without one.
        searches_failed: u64 in "",
        /// Mean time from the beginning of a search to its route.
        discovery_mean_s: f64 in "s",
        /// Median of it.
        discovery_p50_s: f64 in "s",
        /// 95th percentile of it.
        discovery_p95_s: f64 in "s",
        /// Greatest of it.
        discovery_max_s: f64 in "s",
        /// Times that a route which data takes moved to another next hop.
        route_changes: u64 in "",
        /// Times that a route which data took ended.
        route_losses: u64 in "",
        /// Links to neighbours that the MAC gave up.
        link_failures: u64 in "",
        /// Routing packets sent, a transmission at every hop each; copies of a broadcast on several channels,
        /// announcements of channels, and requests and replies of ARP, too.
        overhead_packets: u64 in "packets",
        /// Their bytes, with network headers and without MAC headers.
        overhead_bytes: u64 in "B",
        /// Routing packets sent for each packet of a host that reached its destination (normalised routing
        /// load).
        overhead_ratio: f64 in "",
        /// Of the packets of the protocol: requests for routes.
        requests: u64 in "packets",
        /// Replies.
        replies: u64 in "packets",
        /// Errors.
        errors: u64 in "packets",
        /// Hellos and beacons.
        hellos: u64 in "packets",
        /// Announcements of a node's channel.
        announcements: u64 in "packets",
        /// Requests and replies of ARP.
        arp: u64 in "packets",
        /// Mean time that the MAC is at a packet of a host, from when it is first in line until it is
        /// acknowledged or given up: per hop.
        service_mean_s: f64 in "s",
        /// Median of it.
        service_p50_s: f64 in "s",
        /// 95th percentile of it.
        service_p95_s: f64 in "s",
        /// Greatest of it.
        service_max_s: f64 in "s",
    }

    /// One row per measured stream of packets over an ad hoc network: a flow's data, its acknowledgements, a
    /// UDP source's packets, an application's requests.
    StreamRow, StreamsBuilder = "streams" {
        /// Name of the flow or of the source.
        flow: Code in "",
        /// `data`, `acknowledgements`, `datagrams` or `requests`.
        stream: Code in "",
        /// Node that sends.
        from: Code in "",
        /// Node that receives.
        to: Code in "",
        /// Packets that reached the destination.
        delivered_packets: u64 in "packets",
        /// Mean number of hops of these.
        hops_mean: f64 in "",
        /// Least.
        hops_min: f64 in "",
        /// Greatest.
        hops_max: f64 in "",
        /// Packets that came by another route than the packet before them.
        rerouted_packets: u64 in "packets",
        /// Searches for a route that the sender began to the receiver, for whatever stream.
        searches: u64 in "",
        /// Mean time until a route was found.
        discovery_mean_s: f64 in "s",
        /// Greatest of it.
        discovery_max_s: f64 in "s",
        /// Packets dropped by routing: no route, or too long without one.
        drops_routing: u64 in "packets",
        /// Packets dropped by interface queues.
        drops_queue: u64 in "packets",
        /// Packets that a MAC gave up.
        drops_mac: u64 in "packets",
    }

    /// One row per stream of packets over an ad hoc network and cause of drops,
    /// measured.
    DropRow, DropsBuilder = "drops" {
        /// Name of the flow or of the source.
        flow: Code in "",
        /// `data`, `acknowledgements`, `datagrams` or `requests`.
        stream: Code in "",
        /// The layer that dropped them: `routing`, `queue` or `mac`.
        layer: Code in "",
        /// Why. Routing: `no_route` (a relay had none), `loop`, `expired` (time to live), `not_found` (the
        /// search failed), `buffer_full`, `buffer_time` (waited too long). Queue: `queue_full`, `displaced`
        /// (by routing), `link_failed` (waited for a neighbour that was gone). MAC, by the last of the
        /// attempts: `interfered` (a primary user), `silent` (the receiver sensed), `collided`, `garbled`,
        /// `out_of_reach`, `refused` (the receiver's medium was busy).
        cause: Code in "",
        /// How many.
        packets: u64 in "packets",
    }

    /// One row per node of an ad hoc network, measured.
    NodeRow, NodesBuilder = "nodes" {
        /// Name of the node.
        node: Code in "",
        /// Where it was at the beginning, east.
        start_x_m: f64 in "m",
        /// Where it was at the beginning, north.
        start_y_m: f64 in "m",
        /// Distance travelled over the whole run.
        travelled_m: f64 in "m",
        /// Packets of hosts that began here.
        originated: u64 in "packets",
        /// Packets of hosts that it passed on for others.
        relayed: u64 in "packets",
        /// Packets of hosts that reached this node, their destination.
        delivered: u64 in "packets",
        /// Packets of hosts dropped here.
        dropped: u64 in "packets",
        /// Routing packets that it sent.
        routing_sent: u64 in "packets",
        /// Their bytes, with network headers.
        routing_bytes: u64 in "B",
        /// Routing packets that it received.
        routing_received: u64 in "packets",
        /// Frames of all kinds that its radios sent.
        frames: u64 in "",
        /// Time that they sent.
        air_time_s: f64 in "s",
        /// Exchanges that its MAC began.
        attempts: u64 in "",
        /// Of these failed: a primary user destroyed a frame.
        attempts_interfered: u64 in "",
        /// Of these failed: the receiver was silent.
        attempts_unanswered: u64 in "",
        /// Of these failed: frames collided, or the receiver was busy with another.
        attempts_collided: u64 in "",
        /// Of these failed: noise, or a random error.
        attempts_garbled: u64 in "",
        /// Of these failed: the receiver was too far, or on another channel.
        attempts_out_of_reach: u64 in "",
        /// Of these failed: the receiver's medium was not free.
        attempts_refused: u64 in "",
        /// Links to neighbours that the MAC gave up.
        link_failures: u64 in "",
        /// Mean time that its MAC is at a packet of a host.
        service_mean_s: f64 in "s",
        /// Changes of the channel that it listens on.
        handoffs: u64 in "",
        /// Searches for routes that it began.
        searches: u64 in "",
        /// Transmit power at the end, from its cross-layer repository.
        power_w: f64 in "W",
        /// The channel on which it listens at the end, from there.
        channel: u64 in "",
        /// Neighbours at the end, from there: nodes heard since the MAC last failed to reach them. Kept where
        /// nodes sense or change power.
        neighbors: u64 in "",
    }

    /// One row per search for a route in an ad hoc network, in the order of their ends, warm-up included.
    SearchRow, SearchesBuilder = "searches" {
        /// The node that sought.
        node: Code in "",
        /// The node sought.
        destination: Code in "",
        /// When it began.
        start_s: f64 in "s",
        /// How long it took; not-a-number if it found nothing.
        took_s: f64 in "s",
        /// Hops of the route found; not-a-number if none was.
        hops: f64 in "",
    }

    /// One row per node of an ad hoc network and second, where time series are recorded: for a map of the
    /// run.
    PositionRow, PositionsBuilder = "positions" {
        /// When.
        time_s: f64 in "s",
        /// Name of the node.
        node: Code in "",
        /// Where it is, east.
        x_m: f64 in "m",
        /// Where it is, north.
        y_m: f64 in "m",
        /// The channel on which it listens.
        channel: u64 in "",
        /// Whether its radio is silent: it senses or switches.
        silent: bool in "",
    }

    /// One row per frame that goes on the air of an ad hoc network, in the order of their starts; where every
    /// packet is recorded.
    FrameRow, FramesBuilder = "frames" {
        /// When it begins.
        time_s: f64 in "s",
        /// When it ends.
        end_s: f64 in "s",
        /// The channel.
        channel: u64 in "",
        /// `rts`, `cts`, `data` or `ack`.
        frame: Code in "",
        /// Node that transmits it.
        transmitter: Code in "",
        /// By which of its radios: 0 is the only one or the control radio, 1 the transmitter, 2 the receiver
        /// of three.
        transmitter_radio: u64 in "",
        /// Node that it is for; empty: everybody.
        receiver: Code in "",
        /// For which of its radios.
        receiver_radio: u64 in "",
        /// Its rate.
        rate_bps: f64 in "bit/s",
        /// For how long after its end it reserves the medium.
        reserves_s: f64 in "s",
        /// Number of the packet at its transmitter; 0 for what is no data.
        sequence: u64 in "",
        /// Whether the same packet was in a data frame of this radio before.
        retry: bool in "",
        /// For the last RTS or data frame of a failed exchange, the cause: `interfered` (a primary user),
        /// `silent` (the receiver sensed), `collided`, `garbled`, `out_of_reach`, `refused` (the receiver's
        /// medium was busy). Otherwise empty.
        failed: Code in "",
        /// What it carries: `tcp`, `icmp`, `udp`, `routing`, `arp`, `channel` (an announcement); empty for
        /// what is no data.
        protocol: Code in "",
        /// Of `routing`: `request`, `reply`, `error`, `reply-ack`, `hello` or `repair`; of `arp`: `request`
        /// or `reply`.
        message: Code in "",
        /// Octets of a message of AODV behind its UDP header (RFC 3561), in hexadecimal digits.
        octets: Code in "",
        /// Number of the stream of a packet of a host, as in `packets`.
        stream: u64 in "",
        /// Its flow; empty for a UDP source and what is no packet of a host.
        flow: Code in "",
        /// Node that sent the packet.
        from: Code in "",
        /// Node that it is for; of `arp` the node asked, or that asked; empty: everybody.
        to: Code in "",
        /// Time to live in its IP header.
        ttl: u64 in "",
        /// The two ECN bits of its IP header (RFC 3168 section 5).
        ecn: u64 in "",
        /// TCP flags: S, F, R, P, E, W, A (AE), and a dot for ACK; empty: the packet is not TCP.
        flags: Code in "",
        /// TCP sequence number of its first byte, in 32 bits; 0 is the SYN, or the packet is not TCP.
        seq: u64 in "",
        /// Payload.
        payload_bytes: u64 in "B",
        /// TCP acknowledgement number: the next byte expected; 0: the packet is not TCP.
        ack: u64 in "",
        /// TCP window advertised, as it stands in the header; 0: the packet is not TCP.
        window: u64 in "",
        /// Edges of the SACK blocks, the most recent first (RFC 2018): `1001-2001 3001-4001`.
        sack: Code in "",
        /// Whether it has the SACK-permitted option (RFC 2018).
        sack_permitted: bool in "",
        /// Maximum segment size option (RFC 9293); not-a-number without it.
        mss: f64 in "B",
        /// Shift count of the window scale option (RFC 7323); not-a-number without it.
        window_scale: f64 in "",
        /// Value of the timestamps option (RFC 7323); not-a-number without it.
        tsval: f64 in "",
        /// Echo of the timestamps option; not-a-number without it.
        tsecr: f64 in "",
        /// Value of the experimental option (kind 253, RFC 6994); not-a-number without it.
        experimental: f64 in "",
        /// Size of its content, with network headers and without MAC headers.
        wire_bytes: u64 in "B",
    }

    /// One row per stream of packets over an ad hoc network and change of its route, where time series are
    /// recorded.
    RouteRow, RoutesBuilder = "routes" {
        /// When the first packet arrived that had come this way.
        time_s: f64 in "s",
        /// Name of the flow or of the source.
        flow: Code in "",
        /// `data`, `acknowledgements`, `datagrams` or `requests`.
        stream: Code in "",
        /// Names of the nodes from the first to the last, a blank between them.
        route: Code in "",
        /// Its hops.
        hops: u64 in "",
    }

    /// One row per primary user of the air of an ad hoc network: where it is, as the scenario says or the
    /// seed scattered it.
    PrimaryUserRow, PrimaryUsersBuilder = "primary_users" {
        /// Its number, as in the events.
        user: u64 in "",
        /// Its band.
        band: u64 in "",
        /// Where it is, east.
        x_m: f64 in "m",
        /// Where it is, north.
        y_m: f64 in "m",
        /// How far it disturbs: its range; of one that sends with a power, where that falls to the
        /// sensitivity of the nodes.
        range_m: f64 in "m",
        /// How long it was ON in the whole run.
        on_s: f64 in "s",
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
                "tcp_flows",
                "quic_flows",
                "quic_log",
                "payloads",
                "subflows",
                "tcp_segments",
                "trains",
                "train_flows",
                "predictions",
                "datagrams",
                "calls",
                "requests",
                "request_flows",
                "chunks",
                "videos",
                "emulation",
                "routing",
                "streams",
                "drops",
                "nodes",
                "searches",
                "positions",
                "frames",
                "routes",
                "primary_users"
            ]
        );
        assert!(crate::tables::schema().iter().all(|table| !names.contains(&table.name)));
    }
}
