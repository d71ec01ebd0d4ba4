//! What QUIC's flows have beside the columns of all flows.

use crate::End;
use cogtcp_endpoint::{BoxedEndpoint, LogEntry};
use cogtcp_records::Table;
use cogtcp_records::extensions::{QuicFlowRow, QuicFlowsBuilder, QuicLogBuilder, QuicLogRow};

/// Names under which QUIC's sender shows its counts, in their order.
const NAMES: [&str; 7] = [
    "connections",
    "handshake_s",
    "zero_rtt_packets",
    "probe_timeouts",
    "lost_packets",
    "spurious_losses",
    "persistent_congestion",
];

/// Counts of QUIC's sender at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QuicCounts([f64; NAMES.len()]);

impl QuicCounts {
    /// Reads the counts of `sender`; `None`: it is not QUIC's.
    pub fn of(sender: &BoxedEndpoint) -> Option<Self> {
        let (mut counts, mut found) = (Self::default(), 0);
        sender.count(&mut |name, value| {
            if let Some(place) = NAMES.iter().position(|known| *known == name) {
                counts.0[place] = value;
                found += 1;
            }
        });
        // All of them: another transport may show a count by one of these names.
        (found == NAMES.len()).then_some(counts)
    }
}

/// Returns the table of all QUIC flows: name, counts at the end, and those at the end of the warm-up. `None`:
/// no flow is QUIC.
pub fn table<'a>(flows: impl Iterator<Item = (&'a str, QuicCounts, QuicCounts)>) -> Option<Table> {
    let mut table = QuicFlowsBuilder::default();
    for (flow, end, warm) in flows {
        let counted = |place: usize| (end.0[place] - warm.0[place]) as u64;
        let row = QuicFlowRow {
            flow: table.flow.intern(flow),
            connections: end.0[0] as u64,
            handshake_s: end.0[1],
            zero_rtt_packets: counted(2),
            probe_timeouts: counted(3),
            lost_packets: counted(4),
            spurious_losses: counted(5),
            persistent_congestion: counted(6),
        };
        table.push(row);
    }
    Some(table.finish()).filter(|table| !table.is_empty())
}

/// Returns the table of what the flows' ends have logged: name, log of the sender, log of the receiver.
/// `None`: nothing is logged.
pub fn log<'a>(flows: impl Iterator<Item = (&'a str, [Vec<LogEntry>; 2])>) -> Option<Table> {
    let mut table = QuicLogBuilder::default();
    for (flow, logs) in flows {
        let flow = table.flow.intern(flow);
        for (end, log) in End::BOTH.into_iter().zip(logs) {
            // The sender of a flow's data is the client.
            let end = table.end.intern(if end == End::Sender { "client" } else { "server" });
            for LogEntry { at, connection, name, data } in log {
                let row = QuicLogRow {
                    time_s: at.as_secs_f64(),
                    flow,
                    end,
                    connection: table.connection.intern(&connection),
                    name: table.name.intern(name),
                    data: table.data.intern(&data),
                };
                table.push(row);
            }
        }
    }
    Some(table.finish()).filter(|table| !table.is_empty())
}
