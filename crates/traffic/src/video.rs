//! A player of recorded video: it fetches chunks of equal length one after another, plays from a buffer, and
//! stalls where that runs dry. The rate is fixed, so that a stall shows what the network did; the player of
//! `adaptive_video.rs` chooses it for each chunk.

use crate::adaptive_video::{BitrateRule, Ladder, Moment};
use crate::application::{Application, Client, Request, RequestRecord};
use crate::requests::check_request;
pub(crate) use crate::requests::request_size;
use crate::{Bounds, TrafficKind};
use cogtcp_units::{Bytes, Check, Duration, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A player of recorded video.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct VideoConfig {
    /// Rate at which the video is coded.
    pub rate: Rate,
    /// How long a chunk plays.
    #[serde(default = "chunk")]
    pub chunk: Duration,
    /// How much must be buffered before the video plays, in the beginning and after a stall.
    #[serde(default = "startup")]
    pub startup: Duration,
    /// How much is buffered at most: a chunk is asked for when it will fit. Once the buffer is full, that is
    /// once a chunk's length.
    #[serde(default = "buffer")]
    pub buffer: Duration,
    /// Payload of a request; one packet.
    #[serde(default = "request_size")]
    pub request: Bytes,
}

pub(crate) fn chunk() -> Duration {
    Duration::from_secs(2)
}

pub(crate) fn startup() -> Duration {
    Duration::from_secs(4)
}

fn buffer() -> Duration {
    Duration::from_secs(20)
}

impl TrafficKind for VideoConfig {
    fn name(&self) -> &'static str {
        "video"
    }

    fn check(&self, bounds: &Bounds, found: &mut dyn Check) {
        found.rate("rate", self.rate);
        Player::of(self).check(bounds, found);
    }

    fn client(&self, _: &str, start: Time, _: u64) -> Option<Application> {
        Some(Box::new(Video::new(*self, start)))
    }
}

impl VideoConfig {
    /// Bytes of a chunk.
    pub fn chunk_bytes(&self) -> u64 {
        Player::of(self).chunk_bytes(self.rate)
    }
}

/// The settings of every player.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Player {
    /// The rate, or the highest of several.
    pub(crate) rate: Rate,
    pub(crate) chunk: Duration,
    pub(crate) startup: Duration,
    pub(crate) buffer: Duration,
    pub(crate) request: Bytes,
}

impl Player {
    fn of(config: &VideoConfig) -> Self {
        let VideoConfig { rate, chunk, startup, buffer, request } = *config;
        Self { rate, chunk, startup, buffer, request }
    }

    /// Reports each setting that is wrong, but the rate.
    pub(crate) fn check(&self, bounds: &Bounds, check: &mut dyn Check) {
        let (most, longest) = (bounds.size, bounds.duration);
        check_request(self.request, check);
        check.span("chunk", self.chunk, false, longest);
        check.span("startup", self.startup, true, longest);
        check.span("buffer", self.buffer, false, longest);
        if self.buffer < self.chunk || self.buffer < self.startup {
            let message = format!(
                "\"{}\" holds less than a chunk (\"{}\") or than what must be there before the video plays (\"{}\")",
                self.buffer, self.chunk, self.startup
            );
            check.error("buffer", message, "write a longer buffer".to_owned());
        }
        let bytes = self.chunk_bytes(self.rate);
        if !(1..=most.get()).contains(&bytes) {
            let message = format!("\"{}\" at \"{}\" are {bytes} B", self.chunk, self.rate);
            check.error("chunk", message, format!("write a chunk of 1 B to \"{most}\""));
        }
    }

    /// Bytes of a chunk at `rate`.
    fn chunk_bytes(&self, rate: Rate) -> u64 {
        let bits = u128::from(rate.bits_per_second()) * u128::from(self.chunk.as_nanos()) / 1_000_000_000;
        // Too large for 64 bits: refused by `check`.
        u64::try_from(bits / 8).unwrap_or(u64::MAX)
    }
}

/// A player.
#[derive(Debug)]
pub struct Video {
    config: Player,
    /// How the rate is chosen; `None`: it is fixed.
    choice: Option<(Ladder, BitrateRule)>,
    /// Download rates of the chunks that came, bits per second.
    pub(crate) downloads: Vec<f64>,
    next: Time,
    chunks: Vec<Chunk>,
    /// Media that has come.
    received: Duration,
    playback: Playback,
    startup: Option<Duration>,
    start: Time,
}

/// A chunk, in the order of the video.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Chunk {
    /// Its request and its coming.
    pub exchange: RequestRecord,
    /// Rate at which it is coded.
    pub rate: Rate,
    /// What was buffered when it had come, itself included.
    pub buffered: Duration,
    /// How long the video had stalled when it came, since the chunk before.
    pub stalled: Duration,
    /// Whether a stall began between the chunk before and this one.
    pub stall_began: bool,
}

/// Whether the video plays, and the part played at a moment.
#[derive(Clone, Copy, Debug)]
enum Playback {
    /// Since this moment; so much had been played before.
    Plays(Time, Duration),
    /// It waits since this moment; so much has been played.
    Waits(Time, Duration),
}

impl Video {
    /// A player that asks for its first chunk at `start`.
    pub fn new(config: VideoConfig, start: Time) -> Self {
        Self::of(Player::of(&config), None, start)
    }

    /// A player that chooses the bitrate of each chunk.
    pub(crate) fn adaptive(player: Player, ladder: Ladder, rule: BitrateRule, start: Time) -> Self {
        Self::of(player, Some((ladder, rule)), start)
    }

    fn of(config: Player, choice: Option<(Ladder, BitrateRule)>, start: Time) -> Self {
        Self {
            config,
            choice,
            downloads: Vec::new(),
            next: start,
            chunks: Vec::new(),
            received: Duration::ZERO,
            playback: Playback::Waits(start, Duration::ZERO),
            startup: None,
            start,
        }
    }

    /// Every chunk asked for so far. Of one that has not come `buffered` and `stalled` are zero.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// From the first request to the first picture; `None`: nothing has been played.
    pub fn startup_delay(&self) -> Option<Duration> {
        self.startup
    }

    /// When it asks for its first chunk.
    pub fn start(&self) -> Time {
        self.start
    }

    /// When the present stall began, if the video stalls at `now`. What ends the stall is a chunk, so that
    /// all others are told by the chunks.
    pub fn stalls_since(&self, now: Time) -> Option<Time> {
        match self.playback {
            // The buffer runs dry when all that was received has been played.
            Playback::Plays(since, played) => Some(since + (self.received - played)).filter(|dry| *dry < now),
            Playback::Waits(since, _) => self.startup.map(|_| since),
        }
    }

    /// The rate of the next chunk.
    fn rate(&self, now: Time) -> Rate {
        let Some((ladder, rule)) = &self.choice else { return self.config.rate };
        let buffered = self.received - self.played(now);
        let Player { buffer, chunk, .. } = self.config;
        rule.choose(ladder, &Moment { buffered, buffer, chunk, downloads: &self.downloads })
    }

    fn played(&self, now: Time) -> Duration {
        match self.playback {
            Playback::Plays(since, played) => (played + (now - since)).min(self.received),
            Playback::Waits(_, played) => played,
        }
    }
}

impl Client for Video {
    fn exchanges(&self) -> &[RequestRecord] {
        // The table of chunks has them.
        &[]
    }

    fn as_video(&self) -> Option<&Video> {
        Some(self)
    }

    fn next_request(&self) -> Time {
        self.next
    }

    fn send(&mut self, now: Time) -> Request {
        let rate = self.rate(now);
        let response = self.config.chunk_bytes(rate);
        self.next = Time::MAX;
        self.chunks.push(Chunk {
            exchange: RequestRecord { sent: now, response, completed: None },
            rate,
            buffered: Duration::ZERO,
            stalled: Duration::ZERO,
            stall_began: false,
        });
        Request { number: self.chunks.len() - 1, size: self.config.request.get() as u32, response }
    }

    fn handle_response(&mut self, now: Time, number: usize) {
        let mut stalled = Duration::ZERO;
        let mut stall_began = false;
        // The buffer may have run dry since the chunk before.
        if let Playback::Plays(since, played) = self.playback {
            let dry = since + (self.received - played);
            if dry < now {
                self.playback = Playback::Waits(dry, self.received);
                stall_began = true;
            }
        }
        self.received += self.config.chunk;
        if let Playback::Waits(since, played) = self.playback {
            if self.startup.is_some() {
                // Only what has passed since the chunk before: earlier ones have told of the rest.
                let told = self.chunks[..number].last().and_then(|chunk| chunk.exchange.completed);
                stalled = now - told.map_or(since, |told| told.max(since));
            }
            if self.received - played >= self.config.startup {
                self.startup.get_or_insert(now - self.start);
                self.playback = Playback::Plays(now, played);
            }
        }
        let buffered = self.received - self.played(now);
        let chunk = &mut self.chunks[number];
        chunk.exchange.completed = Some(now);
        if self.choice.is_some() {
            let took = (now - chunk.exchange.sent).as_secs_f64();
            self.downloads.push(8.0 * chunk.exchange.response as f64 / took.max(1e-9));
        }
        (chunk.buffered, chunk.stalled, chunk.stall_began) = (buffered, stalled, stall_began);
        // The next is asked for when there will be room for it. While the video waits there is: `buffer` is
        // at least `startup`.
        let room = (buffered + self.config.chunk).saturating_sub(self.config.buffer);
        self.next = now + room;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::testing::wrong;

    const fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    fn span(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Chunks of 1 s, 2 s before it plays, 4 s at most.
    fn video() -> Video {
        let rate = Rate::from_bits_per_second(8_000_000);
        let request = Bytes::new(300);
        Video::new(
            VideoConfig { rate, chunk: span(1000), startup: span(2000), buffer: span(4000), request },
            ms(0),
        )
    }

    fn fetch(video: &mut Video, came: u64) {
        let due = video.next_request();
        let number = video.send(due).number;
        video.handle_response(ms(came), number);
    }

    /// 8 Mbit/s for a second: a megabyte.
    #[test]
    fn a_chunk_is_rate_times_length() {
        assert_eq!(video().send(ms(0)), Request { number: 0, size: 300, response: 1_000_000 });
    }

    /// Chunks arrive at 0.1, 0.2 (plays), 0.3 and 0.4 s. Then 3.8 s are buffered. The next chunk waits until
    /// a second of the four fits, at 1.2 s, when 1 s has been played; from then on one a second.
    #[test]
    fn a_full_buffer_is_filled_at_the_pace_of_the_video() {
        let mut video = video();
        for came in [100, 200, 300, 400] {
            assert!(video.next_request() <= ms(came - 100));
            fetch(&mut video, came);
        }
        assert_eq!(video.startup_delay(), Some(span(200)));
        assert_eq!(video.chunks()[3].buffered, span(3800));
        assert_eq!(video.next_request(), ms(1200));
        fetch(&mut video, 1250);
        assert_eq!(video.next_request(), ms(2200));
        assert_eq!(video.stalls_since(ms(2200)), None);
    }

    /// Plays from 0.2 s with 2 s, which are over at 2.2 s. The next comes at 3 s, stalled for 0.8 s, and is
    /// not enough; the one after at 3.5 s is: 1.3 s of one stall.
    #[test]
    fn an_empty_buffer_stalls_until_enough_is_there() {
        let mut video = video();
        fetch(&mut video, 100);
        fetch(&mut video, 200);
        assert_eq!((video.stalls_since(ms(2200)), video.stalls_since(ms(2300))), (None, Some(ms(2200))));
        fetch(&mut video, 3000);
        assert_eq!(video.stalls_since(ms(3100)), Some(ms(2200)));
        fetch(&mut video, 3500);
        let told: Vec<_> = video.chunks().iter().map(|it| (it.stalled, it.stall_began)).collect();
        let none = (Duration::ZERO, false);
        assert_eq!(told, [none, none, (span(800), true), (span(500), false)]);
        assert_eq!(video.stalls_since(ms(3600)), None);
        assert_eq!(video.chunks()[3].buffered, span(2000));
    }

    /// A chunk that comes in the very moment is in time.
    #[test]
    fn in_time_is_no_stall() {
        let mut video = video();
        fetch(&mut video, 100);
        fetch(&mut video, 200);
        fetch(&mut video, 2200);
        assert_eq!((video.chunks()[2].stalled, video.chunks()[2].stall_began), (Duration::ZERO, false));
    }

    /// The bounds are 1000 B and 100 s; 8 bit/s for a second are the one byte that a chunk has at least.
    #[test]
    fn settings_that_no_player_has_are_named() {
        let right = VideoConfig {
            rate: Rate::from_bits_per_second(8),
            chunk: span(1000),
            startup: span(1000),
            buffer: span(1000),
            request: Bytes::new(1),
        };
        let rate = Rate::from_bits_per_second;
        let cases: [(VideoConfig, &[&str]); 16] = [
            (right, &[]),
            (VideoConfig { rate: rate(7), ..right }, &["chunk"]),
            (VideoConfig { rate: rate(8000), ..right }, &[]),
            (VideoConfig { rate: rate(8008), ..right }, &["chunk"]),
            (VideoConfig { rate: rate(0), ..right }, &["rate", "chunk"]),
            (VideoConfig { chunk: Duration::ZERO, ..right }, &["chunk", "chunk"]),
            (VideoConfig { chunk: span(1001), ..right }, &["buffer"]),
            (VideoConfig { startup: span(1001), ..right }, &["buffer"]),
            (VideoConfig { startup: Duration::ZERO, ..right }, &[]),
            (VideoConfig { buffer: Duration::ZERO, ..right }, &["buffer", "buffer"]),
            (VideoConfig { buffer: span(100_000), ..right }, &[]),
            (VideoConfig { buffer: span(100_001), ..right }, &["buffer"]),
            (VideoConfig { startup: span(100_001), buffer: span(100_001), ..right }, &["startup", "buffer"]),
            (VideoConfig { request: Bytes::new(0), ..right }, &["request"]),
            (VideoConfig { request: Bytes::new(1460), ..right }, &[]),
            (VideoConfig { request: Bytes::new(1461), ..right }, &["request"]),
        ];
        for (config, fields) in cases {
            assert_eq!(wrong(&config), fields, "{config:?}");
        }
    }

    /// A rate of 2^64 - 1 bit/s for 2^64 - 1 ns is more than 64 bits can count.
    #[test]
    fn a_chunk_beyond_64_bits_is_the_longest() {
        let config = VideoConfig {
            rate: Rate::from_bits_per_second(u64::MAX),
            chunk: Duration::from_nanos(u64::MAX),
            startup: startup(),
            buffer: buffer(),
            request: request_size(),
        };
        assert_eq!(config.chunk_bytes(), u64::MAX);
        assert_eq!((chunk(), startup(), buffer()), (span(2000), span(4000), span(20_000)));
        assert_eq!(request_size(), Bytes::new(300));
        assert!(config.needs_all() && !config.is_random() && !config.opens_anew());
    }

    /// Before a chunk has come there is nothing to stall. The player of one rate remembers no download.
    #[test]
    fn what_has_not_begun_does_not_stall() {
        let mut video = video();
        assert_eq!((video.start(), video.startup_delay(), video.stalls_since(ms(9))), (ms(0), None, None));
        let request = video.send(ms(5));
        assert_eq!(video.next_request(), Time::MAX);
        let asked = RequestRecord { sent: ms(5), response: 1_000_000, completed: None };
        let none = Duration::ZERO;
        let rate = Rate::from_bits_per_second(8_000_000);
        let chunk = Chunk { exchange: asked, rate, buffered: none, stalled: none, stall_began: false };
        assert_eq!(video.chunks(), [chunk]);
        video.handle_response(ms(105), request.number);
        assert_eq!((video.chunks()[0].stalled, video.chunks()[0].buffered), (none, span(1000)));
        assert_eq!(video.next_request(), ms(105));
        assert!(video.exchanges().is_empty() && video.downloads.is_empty() && video.as_video().is_some());
    }

    /// Two chunks of 1 s are there at 0.2 s. Half a second has been played at 0.7 s, and no more than both at 9 s.
    #[test]
    fn no_more_is_played_than_came() {
        let mut video = video();
        fetch(&mut video, 100);
        assert_eq!(video.played(ms(9000)), Duration::ZERO);
        fetch(&mut video, 200);
        let played = [200, 700, 2200, 9000].map(|at| video.played(ms(at)));
        assert_eq!(played, [span(0), span(500), span(2000), span(2000)]);
    }
}
