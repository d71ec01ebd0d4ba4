//! Settings of QUIC in a scenario, and the ends that follow from them.

use crate::clock::standard;
use crate::control::{Chosen, Factory};
use crate::crypto::{Handshakes, ResetKey, Tickets, token_key};
use crate::quinn_endpoint::QuinnEndpoint;
use crate::random::{CONNECTION_ID, ConnectionIds, Mix};
use crate::{QuicReceiver, QuicSender};
use cogtcp_endpoint::{Connection, Datagram, Pair, Protocol};
use cogtcp_transport::{CongestionControl, ParameterValue, Parameters, Preset, is_external, make};
use cogtcp_units::{Bytes, Check, Duration, Named, Time, WrongSetting};
use quinn_proto::{
    AckFrequencyConfig, ClientConfig, ConnectionId, Endpoint, EndpointConfig, IdleTimeout, NoneTokenStore,
    ServerConfig, TransportConfig, VarInt,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Smallest datagram that every path must carry, in bytes of UDP payload (RFC 9000, section 14).
const SMALLEST_DATAGRAM: u64 = 1200;
/// Largest UDP payload of an IPv4 packet.
const LARGEST_DATAGRAM: u64 = 65_535 - Datagram::HEADERS as u64;
/// quinn's own controls.
const QUINN_CUBIC: &str = "quinn-cubic";
const QUINN_NEWRENO: &str = "quinn-newreno";

/// Settings of QUIC (RFC 9000, RFC 9002) in a scenario.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuicSettings {
    /// Congestion control: "quinn-cubic" and "quinn-newreno" are quinn's own; any TCP transport (as "c2" or
    /// "westwood") stands for its control with its parameters, and "module:Class" for one written in Python.
    /// Recovery is QUIC's with all of them.
    pub control: String,
    /// Parameters of a control that is not quinn's, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, ParameterValue>,
    /// Largest UDP payload, 1200 to 65507 B; without it: 12 B above the segment size of \[tcp\], and at least
    /// 1200 B. IP packets are then as large as TCP's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_datagram_size: Option<Bytes>,
    /// Packets for each acknowledgement that the sender asks for, 1 to 1000
    /// (draft-ietf-quic-ack-frequency-04); without it: the sender asks for nothing, and every second packet
    /// is acknowledged (RFC 9000, section 13.2.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_frequency: Option<u32>,
    /// Whether the client resumes a session of an earlier connection and sends data in its first flight.
    pub zero_rtt: bool,
    /// Whether packets are ECN-capable.
    pub ecn: bool,
    /// Flow control: bytes that the receiver buffers, for each stream and for all.
    pub receive_window: Bytes,
    /// The connection ends silently after this long without a packet; without it: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<Duration>,
    /// The client's address changes so long after its first connection opened, as when a NAT gives it another
    /// address, and once the handshake is confirmed; without it: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebinds_after: Option<Duration>,
    /// Size of the server's Certificate message, 16 B to 100 kB. The default is from RFC 8448's trace; chains
    /// of public servers have several kilobytes.
    pub certificate_size: Bytes,
}

impl Default for QuicSettings {
    fn default() -> Self {
        Self {
            control: QUINN_CUBIC.to_owned(),
            parameters: BTreeMap::new(),
            max_datagram_size: None,
            ack_frequency: None,
            zero_rtt: false,
            ecn: false,
            receive_window: Bytes::new(16 << 20),
            idle_timeout: None,
            rebinds_after: None,
            certificate_size: Bytes::new(445),
        }
    }
}

impl QuicSettings {
    /// Returns the names of all controls.
    pub fn controls() -> Vec<&'static str> {
        let presets = Preset::all().iter().map(|preset| preset.name);
        [QUINN_CUBIC, QUINN_NEWRENO].into_iter().chain(presets).collect()
    }

    /// Returns the parameters of the control.
    pub fn user_parameters(&self) -> Parameters {
        let mut parameters = Parameters::new();
        for (name, value) in &self.parameters {
            parameters.set(name, value.clone());
        }
        parameters
    }

    /// The control by its name, where that is known and its parameters are right.
    fn chosen(&self) -> Result<Chosen, WrongSetting> {
        match self.control.as_str() {
            QUINN_CUBIC => Ok(Chosen::QuinnCubic),
            QUINN_NEWRENO => Ok(Chosen::QuinnNewReno),
            // Whoever runs the experiment builds it: `build_around`.
            name if is_external(name) => Ok(Chosen::QuinnCubic),
            name => {
                let preset = Preset::find(name)
                    .map_err(|_| WrongSetting::unknown("congestion control", name, &Self::controls()))?;
                let parameters = preset.parameters(&self.user_parameters());
                // Made once to check the parameters, so that the maker below cannot fail.
                make(preset.control, &parameters)?;
                Ok(Chosen::Ours(Arc::new(move || {
                    make(preset.control, &parameters).expect("it was made before with the same parameters")
                })))
            }
        }
    }

    fn datagram_size(&self, connection: Connection) -> u16 {
        // IP and TCP have 40 bytes of headers, IP and UDP 28.
        let size = self.max_datagram_size.map_or(u64::from(connection.segment_size) + 12, Bytes::get);
        size.clamp(SMALLEST_DATAGRAM, LARGEST_DATAGRAM) as u16
    }

    /// Returns the two ends of a connection at rest whose congestion control `make` makes, once for each
    /// connection.
    pub fn build_around(
        &self,
        connection: Connection,
        make: Arc<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>,
    ) -> Pair {
        self.pair(connection, Chosen::Ours(make))
    }

    fn pair(&self, connection: Connection, chosen: Chosen) -> Pair {
        let ends = Arc::new(Ends::new(self, connection, chosen));
        let segment_size = ends.most_data();
        Pair {
            receiver: Box::new(QuicReceiver::new(&ends)),
            sender: Box::new(QuicSender::new(ends)),
            segment_size,
        }
    }
}

impl Named for QuicSettings {
    const NAME: &'static str = "quic";
    const SUMMARY: &'static str =
        "QUIC over UDP: streams, new packets for lost data, probe timeouts that keep the window";
    const REFERENCE: &'static str = "RFC 9000, RFC 9002; quinn-proto 0.11";

    /// "quic-" before the name of a control stands for QUIC with this control.
    fn of_name(name: &str) -> Option<Self> {
        let control = match name.strip_prefix(Self::NAME)? {
            "" => QUINN_CUBIC,
            rest => rest.strip_prefix('-')?,
        };
        (Self::controls().contains(&control) || is_external(control))
            .then(|| Self { control: control.to_owned(), ..Self::default() })
    }

    fn check(&self, found: &mut dyn Check) {
        match self.chosen() {
            Ok(Chosen::QuinnCubic | Chosen::QuinnNewReno)
                if !self.parameters.is_empty() && !is_external(&self.control) =>
            {
                found.error(
                    "parameters",
                    format!("\"{}\" is quinn's control, which has no parameters here", self.control),
                    "take them out, or name a TCP transport as control".into(),
                )
            }
            Ok(_) => {}
            Err(wrong) if wrong.setting.is_empty() => found.error("control", wrong.message, wrong.remedy),
            Err(wrong) => {
                found.error(&format!("parameters.{}", wrong.setting), wrong.message, wrong.remedy);
            }
        }
        if let Some(size) = self.max_datagram_size
            && !(SMALLEST_DATAGRAM..=LARGEST_DATAGRAM).contains(&size.get())
        {
            found.error(
                "max_datagram_size",
                format!("a datagram of \"{size}\" is out of range"),
                format!("write \"{SMALLEST_DATAGRAM} B\" (RFC 9000, section 14) to \"{LARGEST_DATAGRAM} B\" (an IPv4 packet)"),
            );
        }
        if self.ack_frequency.is_some_and(|packets| !(1..=1000).contains(&packets)) {
            found.error(
                "ack_frequency",
                "the number of packets for each acknowledgement is out of range".into(),
                "write 1 to 1000".into(),
            );
        }
        if !(16..=100_000).contains(&self.certificate_size.get()) {
            found.error(
                "certificate_size",
                format!("a certificate of \"{}\" is out of range", self.certificate_size),
                "write \"16 B\" to \"100 kB\"".into(),
            );
        }
        if !(16_384..=1 << 40).contains(&self.receive_window.get()) {
            found.error(
                "receive_window",
                format!("a window of \"{}\" is out of range", self.receive_window),
                "write \"16 KiB\" to \"1024 GiB\"".into(),
            );
        }
        if self.rebinds_after.is_some_and(Duration::is_zero) {
            found.error(
                "rebinds_after",
                "the client's address would change before its first packet".into(),
                "write \"1 ms\" or more".into(),
            );
        }
        if self.idle_timeout.is_some_and(|timeout| timeout < Duration::from_millis(1)) {
            found.error(
                "idle_timeout",
                "the connection would end at once".into(),
                "write \"1 ms\" or more".into(),
            );
        }
    }
}

impl Protocol for QuicSettings {
    fn is_reliable(&self) -> bool {
        true
    }

    fn build(&self, connection: Connection) -> Pair {
        // A scenario with an unknown control is refused before it runs.
        self.pair(connection, self.chosen().unwrap_or(Chosen::QuinnCubic))
    }
}

/// What both ends of one flow are built from.
#[derive(Debug)]
pub(crate) struct Ends {
    handshakes: Arc<Handshakes>,
    client: Arc<TransportConfig>,
    server: Arc<TransportConfig>,
    factory: Arc<Factory>,
    datagram_size: u16,
    initial_window: u64,
    rebinds_after: Option<Duration>,
    offers_ecn: bool,
    seed: u64,
    /// Connections opened: each has connection IDs of its own.
    opened: Arc<AtomicU64>,
}

impl Ends {
    fn new(settings: &QuicSettings, connection: Connection, chosen: Chosen) -> Self {
        let datagram_size = settings.datagram_size(connection);
        let size = u64::from(datagram_size);
        // RFC 9002, section 7.2.
        let initial_window = (10 * size).min((2 * size).max(14_720));
        let factory = Factory::new(chosen, initial_window);
        let transport = |factory: Arc<Factory>| {
            let window = VarInt::from_u64(settings.receive_window.get()).unwrap_or(VarInt::MAX);
            let mut config = TransportConfig::default();
            config
                .max_concurrent_uni_streams(VarInt::from_u32(100))
                // A flow goes one way.
                .max_concurrent_bidi_streams(VarInt::from_u32(0))
                .stream_receive_window(window)
                .receive_window(window)
                .send_window(settings.receive_window.get())
                .initial_mtu(datagram_size)
                // The size of datagrams is a setting; probes of larger ones would be packets that nobody
                // asked for.
                .mtu_discovery_config(None)
                .max_idle_timeout(
                    settings.idle_timeout.and_then(|time| IdleTimeout::try_from(standard(time)).ok()),
                )
                .datagram_receive_buffer_size(None)
                // Each datagram is a packet of its own in the network.
                .enable_segmentation_offload(false)
                .ack_frequency_config(settings.ack_frequency.map(|packets| {
                    let mut asked = AckFrequencyConfig::default();
                    // The frame has the number of packets that do not cause an ACK: it is sent when more have
                    // arrived.
                    asked.ack_eliciting_threshold(VarInt::from_u32(packets.saturating_sub(1)));
                    asked
                }))
                .congestion_controller_factory(factory);
            Arc::new(config)
        };
        let ends = Self {
            handshakes: Arc::new(Handshakes {
                certificate: settings.certificate_size.get() as usize,
                zero_rtt: settings.zero_rtt,
                tickets: Tickets::default(),
            }),
            client: transport(factory.clone()),
            // The server sends no stream data, so its control decides nothing.
            server: transport(Factory::new(Chosen::QuinnNewReno, 14_720)),
            factory,
            datagram_size,
            initial_window,
            rebinds_after: settings.rebinds_after,
            offers_ecn: settings.ecn,
            seed: connection.seed,
            opened: Arc::default(),
        };
        if settings.zero_rtt {
            ends.meet_before();
        }
        ends
    }

    /// Both ends have been connected before the run: the client has a session ticket.
    fn meet_before(&self) {
        let (mut client, mut server) = (self.client(), self.server());
        client.connect(Time::ZERO, self.client_config());
        // More rounds than a handshake with its ticket needs; nothing is lost, and no time passes.
        for _ in 0..10 {
            while let Some((bytes, _, port)) = client.transmit(Time::ZERO) {
                server.receive(Time::ZERO, bytes.into(), port, false);
            }
            while let Some((bytes, _, port)) = server.transmit(Time::ZERO) {
                client.receive(Time::ZERO, bytes.into(), port, false);
            }
        }
    }

    pub(crate) const fn datagram_size(&self) -> u16 {
        self.datagram_size
    }

    /// How long after the first connection opened the client's address changes.
    pub(crate) const fn rebinds_after(&self) -> Option<Duration> {
        self.rebinds_after
    }

    /// The largest datagram and the initial window in bytes.
    pub(crate) fn sizes(&self) -> [u64; 2] {
        [u64::from(self.datagram_size), self.initial_window]
    }

    /// Most stream data in a packet: a short header with the smallest packet number, the tag, and a STREAM
    /// frame of type and stream ID alone.
    pub(crate) fn most_data(&self) -> u32 {
        let headers = 1 + CONNECTION_ID + 1 + crate::crypto::TAG + 2;
        u32::from(self.datagram_size) - headers as u32
    }

    pub(crate) fn factory(&self) -> Arc<Factory> {
        self.factory.clone()
    }

    fn endpoint(&self, purpose: u64, server: Option<Arc<ServerConfig>>) -> Endpoint {
        let seed = self.seed;
        // Each end has three purposes of its own, so the two ends never draw the same numbers.
        let mut config = EndpointConfig::new(Arc::new(ResetKey(Mix::new(seed, purpose).next())));
        config
            .cid_generator(move || Box::new(ConnectionIds(Mix::new(seed, purpose + 1))))
            .supported_versions(vec![1])
            .grease_quic_bit(false)
            .rng_seed(Some(Mix::new(seed, purpose + 2).bytes()));
        config.max_udp_payload_size(self.datagram_size.max(1472)).expect("it is in range");
        Endpoint::new(Arc::new(config), server, false, None)
    }

    /// Returns the client's host.
    pub(crate) fn client(&self) -> QuinnEndpoint {
        QuinnEndpoint::new(self.endpoint(10, None), true, self.offers_ecn)
    }

    /// Returns the server's host.
    pub(crate) fn server(&self) -> QuinnEndpoint {
        let mut config = ServerConfig::new(self.handshakes.clone(), token_key());
        // Off where the scenario has no change of address: then no path is validated.
        config.transport_config(self.server.clone()).migration(self.rebinds_after.is_some());
        QuinnEndpoint::new(self.endpoint(20, Some(Arc::new(config))), false, self.offers_ecn)
    }

    /// Returns the settings of the client's next connection.
    pub(crate) fn client_config(&self) -> ClientConfig {
        let (seed, opened) = (self.seed, self.opened.clone());
        let mut config = ClientConfig::new(self.handshakes.clone());
        config
            .transport_config(self.client.clone())
            .token_store(Arc::new(NoneTokenStore))
            .initial_dst_cid_provider(Arc::new(move || {
                let number = opened.fetch_add(1, Ordering::Relaxed);
                ConnectionId::new(&Mix::new(seed, 1000 + number).next().to_be_bytes())
            }));
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(settings: &QuicSettings) -> Option<String> {
        let mut found: Option<WrongSetting> = None;
        settings.check(&mut found);
        found.map(|wrong| wrong.setting)
    }

    /// Each value is the last that is right, or the first that is wrong.
    #[test]
    fn settings_have_bounds() {
        let usual = QuicSettings::default();
        let size =
            |bytes| QuicSettings { max_datagram_size: Some(Bytes::new(bytes)), ..QuicSettings::default() };
        let acks = |packets| QuicSettings { ack_frequency: Some(packets), ..QuicSettings::default() };
        let certificate =
            |bytes| QuicSettings { certificate_size: Bytes::new(bytes), ..QuicSettings::default() };
        let window = |bytes| QuicSettings { receive_window: Bytes::new(bytes), ..QuicSettings::default() };
        let nanos = |nanos| Some(Duration::from_nanos(nanos));
        let rebinds = |time| QuicSettings { rebinds_after: nanos(time), ..QuicSettings::default() };
        let idle = |time| QuicSettings { idle_timeout: nanos(time), ..QuicSettings::default() };
        let right = [
            usual,
            size(1200),
            size(65_507),
            acks(1),
            acks(1000),
            certificate(16),
            certificate(100_000),
            window(16_384),
            window(1 << 40),
            rebinds(1),
            idle(1_000_000),
        ];
        assert_eq!(right.each_ref().map(wrong), [const { None }; 11]);
        let cases = [
            (size(1199), "max_datagram_size"),
            (size(65_508), "max_datagram_size"),
            (acks(0), "ack_frequency"),
            (acks(1001), "ack_frequency"),
            (certificate(15), "certificate_size"),
            (certificate(100_001), "certificate_size"),
            (window(16_383), "receive_window"),
            (window((1 << 40) + 1), "receive_window"),
            (rebinds(0), "rebinds_after"),
            (idle(999_999), "idle_timeout"),
            (QuicSettings { control: "none".into(), ..QuicSettings::default() }, "control"),
        ];
        for (settings, field) in cases {
            assert_eq!(wrong(&settings).as_deref(), Some(field), "{settings:?}");
        }
        let usual = QuicSettings::default();
        assert!(!usual.zero_rtt && !usual.ecn && usual.is_reliable());
        assert_eq!((usual.receive_window, usual.certificate_size), (Bytes::new(16 << 20), Bytes::new(445)));
    }

    #[test]
    fn a_name_names_the_control() {
        let control = |name| QuicSettings::of_name(name).map(|it| it.control);
        assert_eq!(control("quic").as_deref(), Some(QUINN_CUBIC));
        assert_eq!(control("quic-quinn-newreno").as_deref(), Some(QUINN_NEWRENO));
        assert_eq!(control("quic-cubic").as_deref(), Some("cubic"));
        assert_eq!([control("quiccubic"), control("quic-"), control("tcp")], [const { None }; 3]);
    }

    /// A segment of 1460 B has 12 more as a datagram: IP, TCP and IP, UDP are 40 and 28 B. The initial window is
    /// of RFC 9002, section 7.2: ten datagrams, at most 14,720 B or two datagrams.
    #[test]
    fn datagrams_and_windows_have_their_sizes() {
        let ends = |segment_size, max: Option<u64>| {
            let settings = QuicSettings { max_datagram_size: max.map(Bytes::new), ..QuicSettings::default() };
            Ends::new(&settings, Connection { segment_size, paths: 1, seed: 0 }, Chosen::QuinnNewReno)
        };
        let sizes = |segment_size, max| ends(segment_size, max).sizes();
        assert_eq!((sizes(1460, None), sizes(100, None)), ([1472, 14_720], [1200, 12_000]));
        assert_eq!((sizes(1460, Some(9000)), sizes(1460, Some(7360))), ([9000, 18_000], [7360, 14_720]));
        assert_eq!((sizes(99_999, None), sizes(1460, Some(1300))), ([65_507, 131_014], [1300, 13_000]));
        let ends = ends(1460, None);
        assert_eq!((ends.datagram_size(), ends.rebinds_after()), (1472, None));
        // Flags, an ID of 8 B, a number of one, the tag of 16, and type and ID of the stream.
        assert_eq!(ends.most_data(), 1472 - 28);
    }
}
