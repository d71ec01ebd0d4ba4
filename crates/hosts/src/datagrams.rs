//! UDP sources: when each sends, what is counted of its packets, and the table of both planes.

use cogtcp_records::extensions::{CallRow, CallsBuilder, DatagramRow, DatagramsBuilder};
use cogtcp_records::{Histogram, Table, ratio};
use cogtcp_scenario::{Experiment, UdpSpec};
use cogtcp_traffic::{Arrivals, Codec, Pattern, Source, opinion_score};
use cogtcp_units::{RandomStream, Time};

/// Builds the source of `spec` in the run of seed `seed`.
pub fn source(spec: &UdpSpec, seed: u64) -> Source {
    let stream = RandomStream::new(seed, &format!("udp/{}", spec.name), 0);
    Source::new(spec.pattern, spec.size, spec.start, stream)
}

/// Counts of one source since the run began.
#[derive(Debug, Default)]
pub struct SourceAccount {
    /// Packets sent.
    pub sent: u64,
    arrivals: Arrivals,
    delay: Histogram,
    /// Set once the warm-up is over: what was counted before.
    warm: Option<Counts>,
}

/// Packets sent, dropped and received, and bytes received.
type Counts = [u64; 4];

impl SourceAccount {
    /// Packet `number` with a payload of `bytes`, sent at `sent_at`, has reached its host.
    pub fn receive(&mut self, now: Time, number: u32, bytes: u32, sent_at: Time) {
        self.arrivals.receive(now, number, bytes, sent_at);
        // A histogram cannot be subtracted as counters can, so it begins empty after the warm-up.
        if self.warm.is_some() {
            self.delay.record(now.saturating_since(sent_at));
        }
    }

    /// Returns the packets received since the run began.
    pub fn received(&self) -> u64 {
        self.arrivals.packets
    }

    /// Metrics count from here on; `dropped` packets were lost on the way before.
    pub fn begin_measure(&mut self, dropped: u64) {
        self.warm = Some(self.counts(dropped));
    }

    fn counts(&self, dropped: u64) -> Counts {
        [self.sent, dropped, self.arrivals.packets, self.arrivals.bytes]
    }
}

/// Steps in which the buffer of a call is searched for.
const BUFFERS: u32 = 100;

/// The best that a listener gets by a constant buffer: mouth to ear in seconds, share of missing packets,
/// rating. A longer buffer adds delay, a shorter one makes packets late (Sun and Ifeachor 2006).
fn listen(codec: Codec, delays: &Histogram, loss: f64) -> [f64; 3] {
    let of_buffer = |step: u32| {
        // Finer near none late.
        let late = (f64::from(step) / f64::from(BUFFERS)) * (f64::from(step) / f64::from(BUFFERS));
        let delay = codec.delay().as_secs_f64() + delays.quantile(1.0 - late);
        let missing = loss + (1.0 - loss) * late;
        [delay, missing, codec.rating(delay, missing)]
    };
    (0..BUFFERS)
        .map(of_buffer)
        .reduce(|best, it| if it[2] > best[2] { it } else { best })
        .unwrap_or([f64::NAN; 3])
}

/// Returns the table of datagrams, one row for each source of `experiment`, and the table of calls, if there
/// are some. `accounts` has what is known of each source, and how many of its packets were lost on the way.
/// Metrics count from `warm_at` to `end`.
pub fn tables<'a>(
    experiment: &Experiment,
    accounts: impl IntoIterator<Item = (&'a SourceAccount, u64)>,
    [warm_at, end]: [Time; 2],
) -> Vec<Table> {
    let mut table = DatagramsBuilder::default();
    let mut calls = CallsBuilder::default();
    let mut has_calls = false;
    for ((account, dropped), spec) in accounts.into_iter().zip(&experiment.udp) {
        let (before, after) = (account.warm.unwrap_or_default(), account.counts(dropped));
        let [sent, dropped, received, bytes] = [0, 1, 2, 3].map(|i| after[i] - before[i]);
        let until = spec.stop.map_or(end, |stop| stop.min(end));
        let span = until.saturating_since(spec.start.max(warm_at)).as_secs_f64();
        let row = DatagramRow {
            source: table.source.intern(&spec.name),
            from: table.from.intern(&experiment.nodes[spec.from]),
            to: table.to.intern(&experiment.nodes[spec.to]),
            sent_packets: sent,
            received_packets: received,
            drops: dropped,
            goodput_bps: ratio(bytes as f64 * 8.0, span),
            loss_ratio: ratio(dropped as f64, (received + dropped) as f64),
            delay_mean_s: account.delay.mean(),
            delay_p50_s: account.delay.quantile(0.50),
            delay_p95_s: account.delay.quantile(0.95),
            delay_p99_s: account.delay.quantile(0.99),
            delay_max_s: account.delay.greatest(),
            jitter_s: account.arrivals.jitter_s(),
            reordered_packets: account.arrivals.reordered,
        };
        if let Pattern::Call { codec } = spec.pattern {
            has_calls = true;
            let [mouth_to_ear_s, missing_ratio, rating] = match received {
                0 if dropped > 0 => [f64::NAN, 1.0, 0.0],
                0 => [f64::NAN; 3],
                _ => listen(codec, &account.delay, row.loss_ratio),
            };
            let mos = if rating.is_nan() { rating } else { opinion_score(rating) };
            let (source, codec) = (calls.source.intern(&spec.name), calls.codec.intern(codec.name()));
            calls.push(CallRow { source, codec, mouth_to_ear_s, missing_ratio, rating, mos });
        }
        table.push(row);
    }
    let calls = has_calls.then(|| calls.finish());
    std::iter::once(table.finish()).chain(calls).collect()
}
