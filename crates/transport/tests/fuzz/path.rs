//! What the path does to a segment.

use cogtcp_units::{Duration, Probability, RandomStream, Time};

/// When the path stops misbehaving, so that every run has an end.
pub const CALM: Time = Time::from_millis(300_000);

/// One direction of the path.
#[derive(Debug)]
pub struct Path {
    random: RandomStream,
    delay: Duration,
    /// Time per byte on the wire, ns; 0: no limit.
    nanos_per_byte: u64,
    free: Time,
    loss: Probability,
    duplication: Probability,
    reordering: Probability,
    /// Longest extra delay of a reordered or duplicated segment.
    extra: Duration,
    /// Silences: from, to, and whether they lose what is sent into them or hold it.
    silences: Vec<(Time, Time, bool)>,
}

impl Path {
    pub fn new(seed: u64, direction: u64) -> Self {
        let mut random = RandomStream::new(seed, "fuzz/path", direction);
        let share = |random: &mut RandomStream, most: f64| {
            let on = random.below(3) > 0;
            let share = random.uniform_in(0.0, most);
            Probability::new(if on { share } else { 0.0 }).expect("between 0 and 1")
        };
        let delay = Duration::from_micros(1 + random.below(200_000));
        let nanos_per_byte = if random.below(2) == 0 { 0 } else { 1 + random.below(20_000) };
        let (loss, duplication, reordering) =
            (share(&mut random, 0.2), share(&mut random, 0.1), share(&mut random, 0.2));
        let extra = Duration::from_millis(1 + random.below(3_000));
        let mut silences = Vec::new();
        for _ in 0..random.below(5) {
            let from = Time::from_millis(random.below(20_000));
            let length = Duration::from_millis(random.below(6_000));
            silences.push((from, from + length, random.below(2) == 0));
        }
        Self {
            random,
            delay,
            nanos_per_byte,
            free: Time::ZERO,
            loss,
            duplication,
            reordering,
            extra,
            silences,
        }
    }

    /// Arrival times of a segment of `bytes` sent now: none when it is lost, two when it is duplicated.
    pub fn carry(&mut self, now: Time, bytes: u32) -> [Option<Time>; 2] {
        let calm = now >= CALM;
        let mut start = now;
        for (from, to, loses) in &self.silences {
            if (*from..*to).contains(&start) {
                if *loses {
                    return [None; 2];
                }
                start = *to;
            }
        }
        self.free = self.free.max(start) + Duration::from_nanos(self.nanos_per_byte * u64::from(bytes));
        let arrival = self.free + self.delay;
        if calm {
            return [Some(arrival), None];
        }
        if self.random.bernoulli(self.loss) {
            return [None; 2];
        }
        let mut late = || Duration::from_nanos(self.random.below(self.extra.as_nanos() + 1));
        let (first, second) = (late(), late());
        let first = if self.random.bernoulli(self.reordering) { arrival + first } else { arrival };
        let second = self.random.bernoulli(self.duplication).then(|| arrival + second);
        [Some(first), second]
    }
}
