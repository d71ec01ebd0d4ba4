//! Applications that ask and are answered: their clients, and their results, a row for each request and each
//! chunk, and one for each application. Both planes have them made here, so that they mean the same.

use cogtcp_records::extensions::{
    ChunkRow, ChunksBuilder, RequestFlowRow, RequestFlowsBuilder, RequestRow, RequestsBuilder, VideoRow,
    VideosBuilder,
};
use cogtcp_records::{Code, Table, ratio};
use cogtcp_scenario::FlowSpec;
use cogtcp_traffic::{Application, Chunk, RequestRecord, Video};
use cogtcp_units::{Duration, Time};

/// Builds the client that the data of `flow` answer, in the run of seed `seed`; `None`: the application just
/// sends.
pub fn client(flow: &FlowSpec, seed: u64) -> Option<Application> {
    flow.traffic.kind().client(&flow.name, flow.start, seed)
}

/// What a run knows of an application when it ends.
#[derive(Debug)]
pub struct ApplicationAccount<'a> {
    /// Name of its flow.
    pub flow: &'a str,
    /// The client as it is then.
    pub client: &'a Application,
    /// How often each request was retransmitted.
    pub repeats: Vec<u64>,
    /// When the application stopped, or the run ended.
    pub until: Time,
}

/// Returns the tables: requests, or chunks, or both. Metrics count from `warm_at` on.
pub fn tables(accounts: &[ApplicationAccount<'_>], warm_at: Time) -> Vec<Table> {
    let (mut requests, mut request_flows) = (RequestsBuilder::default(), RequestFlowsBuilder::default());
    let (mut chunks, mut videos) = (ChunksBuilder::default(), VideosBuilder::default());
    let mut has = [false; 2];
    for it in accounts {
        match it.client.as_video() {
            None => {
                let exchanges = it.client.exchanges();
                has[0] = true;
                list_requests(exchanges, it, &mut requests);
                let flow = request_flows.flow.intern(it.flow);
                let row = sum_requests(exchanges, it, warm_at);
                request_flows.push(RequestFlowRow { flow, ..row });
            }
            Some(video) => {
                has[1] = true;
                list_chunks(video, it.flow, &mut chunks);
                let flow = videos.flow.intern(it.flow);
                let row = sum_video(video, warm_at, it.until);
                videos.push(VideoRow { flow, ..row });
            }
        }
    }
    let requests = has[0].then(|| [requests.finish(), request_flows.finish()]);
    let chunks = has[1].then(|| [chunks.finish(), videos.finish()]);
    requests.into_iter().flatten().chain(chunks.into_iter().flatten()).collect()
}

fn list_requests(exchanges: &[RequestRecord], it: &ApplicationAccount<'_>, table: &mut RequestsBuilder) {
    for (number, exchange) in exchanges.iter().enumerate() {
        let row = RequestRow {
            flow: table.flow.intern(it.flow),
            number: number as u64,
            sent_s: exchange.sent.as_secs_f64(),
            response_bytes: exchange.response,
            repeats: it.repeats[number],
            completed_s: exchange.completed.map_or(f64::NAN, Time::as_secs_f64),
            completion_time_s: seconds(exchange.completion_time()),
        };
        table.push(row);
    }
}

fn list_chunks(video: &Video, name: &str, table: &mut ChunksBuilder) {
    for (number, chunk) in video.chunks().iter().enumerate() {
        let exchange = &chunk.exchange;
        let came = |span: Duration| if exchange.completed.is_some() { span.as_secs_f64() } else { f64::NAN };
        let row = ChunkRow {
            flow: table.flow.intern(name),
            number: number as u64,
            requested_s: exchange.sent.as_secs_f64(),
            chunk_bytes: exchange.response,
            received_s: exchange.completed.map_or(f64::NAN, Time::as_secs_f64),
            download_s: seconds(exchange.completion_time()),
            buffered_s: came(chunk.buffered),
            stalled_s: came(chunk.stalled),
        };
        table.push(row);
    }
}

fn sum_requests(exchanges: &[RequestRecord], it: &ApplicationAccount<'_>, warm_at: Time) -> RequestFlowRow {
    let measured = exchanges.iter().zip(&it.repeats).filter(|(exchange, _)| exchange.sent >= warm_at);
    let times = Spans::new(measured.clone().filter_map(|(exchange, _)| exchange.completion_time()));
    let open = measured.clone().filter(|(exchange, _)| exchange.completed.is_none());
    let waits = Spans::new(open.map(|(exchange, _)| it.until.saturating_since(exchange.sent)));
    RequestFlowRow {
        flow: Code(0),
        sent_requests: measured.clone().count() as u64,
        answered_requests: times.0.len() as u64,
        repeats: measured.map(|(_, repeats)| repeats).sum(),
        completion_mean_s: times.mean(),
        completion_p50_s: times.quantile_beside(&waits, 0.50),
        completion_p95_s: times.quantile_beside(&waits, 0.95),
        completion_p99_s: times.quantile_beside(&waits, 0.99),
        completion_max_s: times.quantile(1.0),
    }
}

/// `until`: the end of the run or of the application.
fn sum_video(video: &Video, warm_at: Time, until: Time) -> VideoRow {
    let came = |chunk: &&Chunk| chunk.exchange.completed.is_some_and(|at| at >= warm_at);
    let measured = || video.chunks().iter().filter(came);
    let downloads = Spans::new(measured().filter_map(|chunk| chunk.exchange.completion_time()));
    let mut stalls = measured().filter(|chunk| chunk.stall_began).count() as u64;
    let mut stalled: f64 = measured().map(|chunk| chunk.stalled.as_secs_f64()).sum();
    // The stall that nothing has ended: it began after the last chunk, which did not tell of it, or that
    // chunk was not enough.
    if let Some(since) = video.stalls_since(until) {
        let told = video.chunks().iter().filter_map(|chunk| chunk.exchange.completed).max();
        stalls += u64::from(told.is_none_or(|told| since >= told));
        let since = since.max(warm_at).max(told.unwrap_or(since));
        stalled += until.saturating_since(since).as_secs_f64();
    }
    let first_picture = video.startup_delay().map(|delay| video.start() + delay);
    let watched = first_picture.map(|at| until.saturating_since(at.max(warm_at)).as_secs_f64());
    let waited = video.startup_delay().unwrap_or_else(|| until.saturating_since(video.start()));
    let rates: Vec<u64> = measured().map(|chunk| chunk.rate.bits_per_second()).collect();
    VideoRow {
        flow: Code(0),
        chunks: measured().count() as u64,
        startup_s: seconds(video.startup_delay()),
        stalls,
        stalled_s: stalled,
        stall_share: watched.map_or(1.0, |span| ratio(stalled, span)),
        waited_s: waited.as_secs_f64(),
        bitrate_bps: ratio(rates.iter().sum::<u64>() as f64, rates.len() as f64),
        switches: rates.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64,
        download_mean_s: downloads.mean(),
        download_p95_s: downloads.quantile(0.95),
        download_max_s: downloads.quantile(1.0),
    }
}

fn seconds(span: Option<Duration>) -> f64 {
    span.map_or(f64::NAN, Duration::as_secs_f64)
}

/// Durations in ascending order, seconds.
struct Spans(Vec<f64>);

impl Spans {
    fn new(spans: impl Iterator<Item = Duration>) -> Self {
        let mut sorted: Vec<f64> = spans.map(Duration::as_secs_f64).collect();
        sorted.sort_by(f64::total_cmp);
        Self(sorted)
    }

    fn mean(&self) -> f64 {
        // Without values 0/0: not-a-number, which columns show as "no value".
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// The quantile of times; some are known only to be longer than `waits`: the estimator of Kaplan
    /// and Meier (1958). Without the unanswered a network would look the better the more it leaves open. A
    /// quantile that no answer reaches is the longest wait, which it exceeds.
    fn quantile_beside(&self, waits: &Self, p: f64) -> f64 {
        if waits.0.is_empty() {
            return self.quantile(p);
        }
        let mut at_risk = self.0.len() + waits.0.len();
        let (mut left, mut open) = (1.0, waits.0.iter().peekable());
        for time in &self.0 {
            while open.next_if(|wait| *wait < time).is_some() {
                at_risk -= 1;
            }
            left *= 1.0 - 1.0 / at_risk as f64;
            at_risk -= 1;
            // Products of fractions: equality is to the last bits.
            if left <= 1.0 - p + 1e-12 {
                return *time;
            }
        }
        waits.0.last().copied().into_iter().chain(self.0.last().copied()).fold(f64::NAN, f64::max)
    }

    /// The nearest-rank quantile.
    fn quantile(&self, p: f64) -> f64 {
        let rank = libm::ceil(p * self.0.len() as f64) as usize;
        // Ranks count from 1.
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(seconds: &[u64]) -> Spans {
        Spans::new(seconds.iter().map(|s| Duration::from_secs(*s)))
    }

    /// Answered after 1, 2 and 4 s, and two that wait since 3 s. S(1) = 4/5, S(2) = 3/5; at 4 s one is at
    /// risk: S(4) = 0. Without the open ones the median would be 2 s as well, at 0.39 it shows.
    #[test]
    fn the_unanswered_count_as_longer_than_their_wait() {
        let (times, waits) = (spans(&[1, 2, 4]), spans(&[3, 3]));
        let at = |p| times.quantile_beside(&waits, p);
        assert_eq!([at(0.2), at(0.39), at(0.4), at(0.41), at(1.0)], [1.0, 2.0, 2.0, 4.0, 4.0]);
        // The last ones are open: what no answer reaches is at least the longest wait.
        assert_eq!(times.quantile_beside(&spans(&[9, 9]), 0.9), 9.0);
        assert_eq!(times.quantile_beside(&spans(&[]), 0.5), 2.0);
        assert_eq!(spans(&[]).quantile_beside(&spans(&[7]), 0.5), 7.0);
    }
}
