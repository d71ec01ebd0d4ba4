//! Rows of `packets` and `frames` as headers of IPv4, TCP, UDP and ICMP.

use super::cells::{Cells, Tables, columns};
use cogtcp_headers::{
    HOST_UNREACHABLE, IPV4_HEADER, IpEnds, LIFETIME, TcpOptions, UDP_HEADER, WireSegment, ip_header,
    protocol, udp_header, unreachable,
};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Most bytes of the headers: IPv4 without options and the longest TCP header.
pub(super) const LONGEST: u32 = 20 + 60;
/// Most bytes of an IPv4 packet, where payloads are captured too.
pub(super) const LONGEST_DATAGRAM: u32 = 0xffff;

// The range of dynamic ports (RFC 6335), and a port that iperf3 made known for bulk data.
const FIRST_DYNAMIC: u64 = 49_152;
const DYNAMIC: u64 = 16_384;
const LISTENING: u64 = 5201;
/// Letters of flags, from FIN on; without an urgent pointer.
const FLAGS: &[u8; 9] = b"FSRP. EWA";
/// Enough for Wireshark to find a header of QUIC, which it looks for with a sample of 16 bytes behind it.
const QUIC_SAMPLE: usize = 64;

/// Addresses of nodes: 10.0.0.1 and on (RFC 1918), in the order of the scenario.
#[derive(Debug)]
pub(super) struct Nodes {
    pub(super) names: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl Nodes {
    pub(super) fn new(names: Vec<String>) -> Self {
        let numbers = names.iter().enumerate().map(|(number, name)| (name.clone(), number)).collect();
        Self { names, numbers }
    }

    /// Returns the number of a node.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// Returns the address of a node; of any other name the broadcast address.
    pub(super) fn address(&self, name: &str) -> Ipv4Addr {
        self.number(name).map_or(Ipv4Addr::BROADCAST, address)
    }

    /// Returns addresses with names.
    pub(super) fn named(&self) -> impl Iterator<Item = ([u8; 4], &str)> {
        self.names.iter().enumerate().map(|(number, name)| (address(number).octets(), name.as_str()))
    }
}

fn address(number: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits((10 << 24) + number as u32 + 1)
}

/// Fields of a packet.
#[derive(Debug)]
pub(super) struct Packets {
    protocol: Cells,
    stream: Cells,
    flow: Cells,
    from: Cells,
    to: Cells,
    ttl: Cells,
    ecn: Cells,
    payload_bytes: Cells,
    wire_bytes: Cells,
    /// Columns of TCP and, in a table of their own, the numbers of their packets.
    tcp: Option<([Cells; 11], Option<Cells>)>,
    flows: BTreeMap<String, Quoted>,
    pub(super) nodes: Nodes,
}

/// Columns of TCP, in the order of [`Packets::tcp`].
const TCP: [&str; 11] = [
    "flags",
    "seq",
    "ack",
    "window",
    "sack",
    "tsval",
    "tsecr",
    "experimental",
    "mss",
    "sack_permitted",
    "window_scale",
];
/// Columns of TCP that tell packets of a stream apart.
const TELLING: usize = 8;

/// Headers that an ICMP message quotes: packets of one stream.
#[derive(Clone, Copy, Debug)]
struct Quoted {
    stream: u64,
    from: Ipv4Addr,
    to: Ipv4Addr,
}

impl Packets {
    /// Returns the fields of the rows of a table, whose columns of TCP are beside them or in `tcp_segments`.
    pub(super) fn new(tables: &Tables, rows: &str, nodes: Option<Vec<String>>) -> Option<Self> {
        let names = ["protocol", "stream", "flow", "from", "to", "ttl", "ecn", "payload_bytes", "wire_bytes"];
        let [protocol, stream, flow, from, to, ttl, ecn, payload_bytes, wire_bytes] =
            columns(tables, rows, names)?;
        let segments = || {
            let [packet] = columns(tables, "tcp_segments", ["packet"])?;
            Some((columns(tables, "tcp_segments", TCP)?, Some(packet)))
        };
        // The dictionary has all nodes in the order of the scenario, whether or not they sent packets.
        let nodes = Nodes::new(nodes.unwrap_or_else(|| from.dictionary().to_vec()));
        let flows = flows(tables, &nodes)?;
        let tcp = columns(tables, rows, TCP).map(|found| (found, None)).or_else(segments);
        Some(Self {
            protocol,
            stream,
            flow,
            from,
            to,
            ttl,
            ecn,
            payload_bytes,
            wire_bytes,
            tcp,
            flows,
            nodes,
        })
    }

    pub(super) fn protocol(&self, row: usize) -> &str {
        self.protocol.text(row)
    }

    pub(super) fn wire_bytes(&self, row: usize) -> u32 {
        self.wire_bytes.whole(row) as u32
    }

    /// Returns the columns of TCP with the row in them; `None`: the packet is none of TCP.
    fn tcp(&self, row: usize) -> Option<(&[Cells; 11], usize)> {
        let (tcp, packets) = self.tcp.as_ref()?;
        Some((tcp, packets.as_ref().map_or(Some(row), |packets| packets.find(row as u64))?))
    }

    /// Returns what tells a packet from others of its link direction. Not the ECN bits: the queue may set
    /// them.
    pub(super) fn identity(&self, row: usize) -> [u64; 3 + TELLING] {
        let mut identity = [0; 3 + TELLING];
        identity[0] = self.stream.whole(row);
        identity[1] = self.protocol.whole(row);
        identity[2] = self.payload_bytes.whole(row);
        if let Some((tcp, row)) = self.tcp(row) {
            identity[3..].iter_mut().zip(tcp).for_each(|(bits, cells)| *bits = cells.bits(row));
        }
        identity
    }

    /// Returns the IP header's fields of a packet.
    pub(super) fn ip(&self, row: usize) -> IpEnds {
        IpEnds {
            from: self.nodes.address(self.from.text(row)).into(),
            to: self.nodes.address(self.to.text(row)).into(),
            ecn: self.ecn.whole(row) as u8,
            ttl: self.ttl.whole(row) as u8,
        }
    }

    pub(super) fn ends(&self, row: usize) -> [&str; 2] {
        [self.from.text(row), self.to.text(row)]
    }

    /// Returns the headers of a packet. `payload`: the first bytes of a datagram, in hexadecimal.
    pub(super) fn headers(&self, row: usize, payload: &str) -> Vec<u8> {
        let ip = self.ip(row);
        let ports = ports(self.stream.whole(row));
        let length = self.payload_bytes.whole(row) as usize;
        let (number, content) = match self.protocol(row) {
            "tcp" => (protocol::TCP, self.segment(row, length).header(&ip, ports)),
            "icmp" => (protocol::ICMP, self.unreachable(row)),
            _ => {
                let mut payload = octets(payload);
                if !payload.is_empty() {
                    payload.resize(payload.len().max(length.min(QUIC_SAMPLE)), 0);
                }
                let mut datagram = udp_header(&ip, ports, &payload, length).to_vec();
                datagram.extend(payload);
                (protocol::UDP, datagram)
            }
        };
        let length = (self.wire_bytes(row) as usize).saturating_sub(IPV4_HEADER);
        let mut bytes = ip_header(&ip, number, length);
        bytes.extend(content);
        bytes
    }

    fn segment(&self, row: usize, payload: usize) -> WireSegment {
        let Some((tcp, row)) = self.tcp(row) else {
            return WireSegment { payload, ..WireSegment::default() };
        };
        let [flags, seq, ack, window, sack, tsval, tsecr, experimental, mss, sack_permitted, window_scale] =
            tcp;
        let some = |cells: &Cells| Some(cells.number(row)).filter(|number| !number.is_nan());
        let mut options = TcpOptions {
            mss: some(mss).map(|mss| mss as u16),
            window_scale: some(window_scale).map(|shift| shift as u8),
            sack_permitted: sack_permitted.is(row),
            timestamps: some(tsval).zip(some(tsecr)).map(|(value, echo)| (value as u32, echo as u32)),
            experimental: some(experimental).map(|value| value as u32),
            ..TcpOptions::default()
        };
        for block in sack.text(row).split_whitespace() {
            let edges = block.split_once('-').map(|(start, end)| (start.parse(), end.parse()));
            if let Some((Ok(start), Ok(end))) = edges {
                options.sack.push(start, end);
            }
        }
        let bit = |letter| FLAGS.iter().position(|known| *known == letter).map_or(0, |bit| 1 << bit);
        WireSegment {
            ecn: 0,
            seq: seq.whole(row) as u32,
            ack: ack.whole(row) as u32,
            flags: flags.text(row).bytes().map(bit).sum(),
            window: window.whole(row) as u16,
            options,
            payload,
        }
    }

    /// Returns ICMP's destination unreachable. The length of the packet that was lost is not recorded: a
    /// packet without payload is quoted.
    fn unreachable(&self, row: usize) -> Vec<u8> {
        let Some(quoted) = self.flows.get(self.flow.text(row)) else { return Vec::new() };
        let ip = IpEnds { from: quoted.from.into(), to: quoted.to.into(), ecn: 0, ttl: LIFETIME };
        let mut about = ip_header(&ip, protocol::TCP, 20);
        ports(quoted.stream).iter().for_each(|port| about.extend(port.to_be_bytes()));
        let seq = self.tcp(row).map_or(0, |(tcp, row)| tcp[1].whole(row) as u32);
        about.extend(seq.to_be_bytes());
        unreachable(HOST_UNREACHABLE, &about).unwrap_or_default()
    }
}

/// Returns the header of a datagram between two equal ports, and `payload`; the rest of `length` is zeros.
pub(super) fn datagram(ip: &IpEnds, port: u16, payload: &[u8], length: usize) -> Vec<u8> {
    let mut bytes = ip_header(ip, protocol::UDP, UDP_HEADER + length);
    bytes.extend(udp_header(ip, [port; 2], payload, length));
    bytes.extend(payload);
    bytes
}

/// Returns bytes from hexadecimal.
pub(super) fn octets(text: &str) -> Vec<u8> {
    (0..text.len() / 2).filter_map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()).collect()
}

/// Returns the ports of a stream: the sender's is dynamic, its receiver's the one listened on.
fn ports(stream: u64) -> [u16; 2] {
    // Streams come in pairs: data, then acknowledgements.
    let (flow, is_back) = (stream / 2, stream % 2 == 1);
    // More flows than dynamic ports: the next ones go to another listening port.
    let pair = [FIRST_DYNAMIC + flow % DYNAMIC, LISTENING + flow / DYNAMIC].map(|port| port as u16);
    if is_back { [pair[1], pair[0]] } else { pair }
}

fn flows(tables: &Tables, nodes: &Nodes) -> Option<BTreeMap<String, Quoted>> {
    let mut paths: BTreeMap<&str, u64> = BTreeMap::new();
    let subflows = columns(tables, "subflows", ["flow"]);
    if let Some([flow]) = &subflows {
        (0..flow.len()).for_each(|row| *paths.entry(flow.text(row)).or_default() += 1);
    }
    let [flow, from, to] = columns(tables, "flows", ["flow", "from", "to"])?;
    let mut stream = 0;
    Some(
        (0..flow.len())
            .map(|row| {
                let name = flow.text(row);
                let [from, to] = [&from, &to].map(|cells| nodes.address(cells.text(row)));
                let quoted = Quoted { stream, from, to };
                // The engine numbers streams by flow: two for each path of Multipath TCP.
                stream += 2 * paths.get(name).copied().unwrap_or(1);
                (name.to_owned(), quoted)
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::cells::{Data, Values};
    use super::*;
    use std::sync::Arc;

    #[derive(Debug)]
    struct Texts(Vec<u32>, Vec<String>);

    impl Values for Texts {
        fn data(&self) -> Data<'_> {
            Data::Text(&self.0, &self.1)
        }
    }

    fn texts(words: &[&str]) -> Arc<dyn Values> {
        let codes = 0..words.len() as u32;
        Arc::new(Texts(codes.collect(), words.iter().map(|word| (*word).to_owned()).collect()))
    }

    /// A flow of two paths comes first, and has four streams.
    #[test]
    fn what_routers_quote_names_the_ports_of_its_flow() {
        let table = |columns: &[(&str, &[&str])]| {
            columns.iter().map(|(name, words)| ((*name).to_owned(), texts(words))).collect()
        };
        let flows_table = table(&[("flow", &["two", "one"]), ("from", &["s", "a"]), ("to", &["d", "b"])]);
        let tables: Tables =
            [("subflows".to_owned(), table(&[("flow", &["two", "two"])])), ("flows".to_owned(), flows_table)]
                .into();
        let nodes = Nodes::new(["s", "a", "b", "d"].map(str::to_owned).to_vec());
        let found = flows(&tables, &nodes).unwrap();
        assert_eq!((found["two"].stream, found["one"].stream), (0, 4));
        assert_eq!(found["one"].to, Ipv4Addr::new(10, 0, 0, 3));
        assert_eq!(ports(4), [49_154, 5201]);
        assert_eq!(ports(5), [5201, 49_154]);
    }
}
