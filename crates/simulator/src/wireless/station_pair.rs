//! Two CR users and the channel between them.
//!
//! With two stations, each of which has one transceiver, there is one exchange of frames on the air at a time (or two that
//! collide from their first frame on), and the receiver of every frame is known. So a whole exchange (RTS, CTS, data, ACK)
//! is worked out when it begins: who answers follows from the plans of the radios, what a primary user destroys from
//! the activity. Its two moments that others see are events: the packet reaches the far end, the exchange is over.
//!
//! A frame goes over the channel that its exchange is addressed on: the one of the receiving radio, which the sender
//! knows. An exchange that was answered is completed, even into a silence.

mod exchange;

use exchange::{Attempt, Cause};

use super::dcf::Station;
use super::interference::Interference;
use super::timing::Timing;
use crate::budget::{Exchange, Occupation, State};
use crate::options::RunError;
use crate::packet::Pipe;
use cogtcp_crosslayer::LinkEvent;
use cogtcp_link::{DropCause, Gate};
use cogtcp_scenario::{
    CognitiveSpec, Ends, Experiment, RadioSpec, Reception, TransmitRadio, WhilePeerSenses,
};
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::{CognitiveConfigError, CognitiveRadio, Protection, Radio, RadioStats};
use cogtcp_units::{Duration, RandomStream, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// A wireless link: end 0 sends on pipe `pipes[0]` to end 1, and the other way round.
#[derive(Debug)]
pub(crate) struct StationPair {
    pub(crate) pipes: [u32; 2],
    /// The nodes at its ends.
    pub(crate) nodes: [usize; 2],
    timing: Timing,
    air: Arc<Air>,
    /// One for both ends, or one for each.
    pub(crate) radios: Vec<PairRadio>,
    stations: [Station; 2],
    interference: [Interference; 2],
    waits_for_peer: bool,
    sends_with_sensing_radio: bool,
    /// Whether frames are lost as in the released ns-2 code.
    receives_as_released: bool,
    /// The link's loss by direction, with its draws.
    losses: [(f64, RandomStream); 2],
    /// The draws of the channels' error rates by direction.
    errors: [RandomStream; 2],
    /// A station whose exchange would not end before a silence waits for the next change of a radio.
    held: [bool; 2],
    /// The packet that each MAC serves: its size in bytes, and whether it has reached the far end (then its ACK has not
    /// come back).
    service: [Option<(u32, bool)>; 2],
    attempts: [Option<Attempt>; 2],
    /// When each station may count its backoff again after what is on the air.
    resume: [Time; 2],
    /// When the pending event of this pair is due.
    armed: Time,
    counters: [MacCounters; 2],
    warm_counters: [MacCounters; 2],
}

/// A radio of the pair, with what its results need.
#[derive(Debug)]
pub(crate) struct PairRadio {
    radio: CognitiveRadio,
    /// Since when it has been open; meaningless in silence.
    open_since: Time,
    warm: (RadioStats, Protection),
}

/// What a station counted of its exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MacCounters {
    /// Exchanges begun: first attempts and retries.
    pub(crate) attempts: u64,
    /// Exchanges that failed, by cause.
    pub(crate) interfered: u64,
    pub(crate) unanswered: u64,
    pub(crate) collided: u64,
    pub(crate) garbled: u64,
}

/// What one step of a pair did that the network has to follow up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Finished {
    /// The packet in service of this pipe has reached the far end.
    pub(crate) delivered: Option<u32>,
    /// The MAC gave up the packet in service of this pipe.
    pub(crate) dropped: Option<(u32, DropCause)>,
}

/// What happened in a pair, for the record: the radio's number in the pair, and the event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Noted {
    /// A radio reports.
    Radio(usize, Time, LinkEvent),
    /// What the node at this end learns of its link.
    Board(usize, Time, LinkEvent),
    /// A primary user destroyed the named frame of an exchange that this pipe's packet was in.
    Interference(u32, &'static str),
}

impl StationPair {
    /// The pair of `spec` over its link, in the run of seed `seed`.
    pub(crate) fn new(
        experiment: &Experiment,
        spec: &RadioSpec,
        cognitive: &CognitiveSpec,
        air: Arc<Air>,
        seed: u64,
    ) -> Result<Self, RunError> {
        let wrong = |why: String| RunError::Radio { radio: spec.name.clone(), why };
        let [number] = spec.links[..] else {
            return Err(wrong("a CR user with a MAC has exactly one link".to_owned()));
        };
        let link = &experiment.links[number];
        let names = radio_names(experiment, spec);
        let mut radios = Vec::new();
        for (config, name) in cognitive.ends.iter().zip(&names) {
            let detector = cognitive.user.shared.detector.kind().build(&cognitive.surroundings);
            let detector = detector.map_err(|error| wrong(error.to_string()))?;
            let radio = CognitiveRadio::new(
                config.clone(),
                Arc::clone(&air),
                detector,
                cognitive.user.shared.policy.kind().build(),
                seed,
                name,
            );
            radios.push(PairRadio {
                radio: radio.map_err(|error| wrong(error.to_string()))?,
                open_since: Time::ZERO,
                warm: Default::default(),
            });
        }
        let timing = Timing::new(&cognitive.user.mac, link.forward.delay);
        let directions = ["forward", "reverse"];
        let stream = |part: &str, end: usize| {
            RandomStream::new(seed, &format!("{part}/{}/{}", link.name, directions[end]), 0)
        };
        let [first, second] = &cognitive.ends;
        let power = cognitive.user.transmit_power.watts();
        let receives_as_released = cognitive.user.shared.reception == Reception::AsReleased;
        let lottery = |direction| receives_as_released.then(|| stream("escape", direction));
        Ok(Self {
            pipes: [2 * number as u32, 2 * number as u32 + 1],
            stations: [0, 1].map(|end| Station::new(&cognitive.user.mac, stream("backoff", end))),
            interference: [
                Interference::new(&air, first, second.position, power, lottery(1)),
                Interference::new(&air, second, first.position, power, lottery(0)),
            ],
            nodes: [link.from, link.to],
            waits_for_peer: cognitive.user.while_peer_senses == WhilePeerSenses::Wait,
            sends_with_sensing_radio: cognitive.user.transmit_radio == TransmitRadio::Shared,
            receives_as_released,
            losses: [
                (link.forward.loss.get(), stream("loss", 0)),
                (link.reverse.loss.get(), stream("loss", 1)),
            ],
            errors: [stream("channel-errors", 0), stream("channel-errors", 1)],
            held: [false; 2],
            service: [None; 2],
            attempts: [None; 2],
            resume: [Time::ZERO; 2],
            armed: Time::MAX,
            counters: Default::default(),
            warm_counters: Default::default(),
            timing,
            air,
            radios,
        })
    }

    /// Puts the pipes under the MAC's service, at time zero.
    pub(crate) fn begin(&mut self, pipes: &mut [Pipe]) {
        self.set_pipes(Time::ZERO, pipes);
    }

    /// When the pair has something to do next.
    fn due(&self) -> Time {
        let radios = self.radios.iter().map(|unit| unit.radio.next_change()).min().unwrap_or(Time::MAX);
        // While something is on the air nobody gets access: backoffs are frozen, and only the exchange goes on.
        let mac = match (&self.attempts[0], &self.attempts[1]) {
            (None, None) => self.stations[0].access(&self.timing).min(self.stations[1].access(&self.timing)),
            (a, b) => [a, b].into_iter().flatten().map(|a| a.delivery.min(a.end)).min().unwrap_or(Time::MAX),
        };
        radios.min(mac)
    }

    /// The time for which an event must be scheduled now; `None`: one is pending that comes early enough.
    pub(crate) fn arm(&mut self) -> Option<Time> {
        let due = self.due();
        (due < self.armed).then(|| {
            self.armed = due;
            due
        })
    }

    /// Whether the event that is due at `now` is the pending one, which it is no longer.
    pub(crate) fn fires(&mut self, now: Time) -> bool {
        let is_armed = self.armed == now;
        if is_armed {
            self.armed = Time::MAX;
        }
        // What it was scheduled for may have moved (a station froze meanwhile).
        is_armed && self.due() <= now
    }

    /// The first packet of a direction waits to be sent.
    pub(crate) fn wake(&mut self, now: Time, pipe: u32) {
        self.stations[(pipe & 1) as usize].set_ready(now);
    }

    /// Does the first of what is due at `now`.
    pub(crate) fn step(&mut self, now: Time, pipes: &mut [Pipe], notes: &mut VecDeque<Noted>) -> Finished {
        // Radios before stations: at the instant at which a silence begins nobody sends any more. One thing a step; what
        // else is due now has an event of its own at this instant.
        if let Some(number) = self.radios.iter().position(|unit| unit.radio.next_change() <= now) {
            self.change_radio(number, now, pipes, notes);
            return Finished::default();
        }
        for end in [0, 1] {
            let Some(attempt) = &mut self.attempts[end] else { continue };
            if attempt.delivery <= now {
                attempt.delivery = Time::MAX;
                // Delivered now, acknowledged later: should the ACK get lost, the retry must not deliver it again.
                if let Some((_, delivered)) = &mut self.service[end] {
                    *delivered = true;
                }
                return Finished { delivered: Some(self.pipes[end]), dropped: None };
            }
            if attempt.end <= now {
                return self.finish(end, now, pipes, notes);
            }
        }
        if self.attempts.iter().all(Option::is_none) {
            self.start(now, pipes);
        }
        Finished::default()
    }

    /// A radio changes: stations freeze and go on, the pipes' capacity follows.
    fn change_radio(&mut self, number: usize, now: Time, pipes: &mut [Pipe], notes: &mut VecDeque<Noted>) {
        let was_open = self.is_open();
        let last = self.radios.len() - 1;
        let unit = &mut self.radios[number];
        let before = unit.radio.phase();
        let after = unit.radio.advance(now);
        if before.is_silent() && !after.is_silent() {
            unit.open_since = now;
        }
        while let Some((time, event)) = unit.radio.poll_event() {
            notes.push_back(Noted::Radio(number, time, event));
            // A radio that both ends share is heard of at both.
            let ends = (0..2).filter(|end| (*end).min(last) == number);
            notes.extend(ends.map(|end| Noted::Board(end, time, event)));
        }
        if before == after {
            return;
        }
        self.set_pipes(now, pipes);
        if let Some(event) = LinkEvent::of_change(was_open, self.is_open()) {
            notes.extend((0..2).map(|end| Noted::Board(end, now, event)));
        }
        // What did not fit before the silence may fit now; `start` looks again.
        self.held = [false; 2];
        let on_air = self.attempts.iter().any(Option::is_some);
        for end in [0, 1] {
            if self.is_blocked(end) {
                self.stations[end].freeze(now, &self.timing);
            } else if !on_air && self.stations[end].is_frozen() {
                self.stations[end].resume(now, self.resume[end].max(now + self.timing.difs));
            }
        }
    }

    /// The station whose turn it is sends, and with it the other if it cannot hear it in time.
    fn start(&mut self, now: Time, pipes: &mut [Pipe]) {
        let first = [0, 1].into_iter().find(|end| self.stations[*end].access(&self.timing) <= now);
        let Some(first) = first else { return };
        if !self.fits(first, now, pipes) {
            self.hold(first, now);
            return;
        }
        let other = 1 - first;
        // Until the first frame has crossed the distance, the other station may begin too.
        let deaf_until = now + self.timing.propagation;
        let access = self.stations[other].access(&self.timing);
        let mut collides = access <= now || access < deaf_until;
        if collides && !self.fits(other, access.max(now), pipes) {
            self.hold(other, now);
            collides = false;
        }
        if collides {
            self.collide([(first, now), (other, access.max(now))], pipes);
        } else {
            self.stations[other].freeze(now, &self.timing);
            self.exchange(first, now, pipes);
        }
    }

    fn hold(&mut self, end: usize, now: Time) {
        self.stations[end].freeze(now, &self.timing);
        self.held[end] = true;
    }

    /// The exchange of `end` is over: the packet got through, is tried again, or is given up.
    fn finish(&mut self, end: usize, now: Time, pipes: &mut [Pipe], notes: &mut VecDeque<Noted>) -> Finished {
        let mut finished = Finished::default();
        let Some(attempt) = self.attempts[end].take() else { return finished };
        if attempt.reserved {
            self.stations[end].reserved();
        }
        let mut is_over = true;
        match attempt.failed {
            None => self.stations[end].succeed(),
            Some((failure, cause)) => {
                self.counters[end].count(cause);
                if let Cause::Interfered(frame) = cause {
                    notes.push_back(Noted::Interference(self.pipes[end], frame));
                }
                is_over = self.stations[end].fail(failure);
                // Given up after it arrived, for want of an ACK: the packet is not lost.
                if is_over && matches!(self.service[end], Some((_, false))) {
                    finished.dropped = Some((self.pipes[end], cause.drop_cause()));
                }
            }
        }
        if is_over {
            let size = self.service[end].take().map_or(0, |(size, _)| size);
            // Only a packet in service that did not arrive is still in the pipe, ahead of those that wait.
            let waiting = pipes[self.pipes[end] as usize].len() - u32::from(finished.dropped.is_some());
            if waiting > 0 {
                self.stations[end].set_ready(now);
            }
            let pipe = &mut pipes[self.pipes[end] as usize];
            if pipe.take_overflow() {
                let bytes = pipe.room(size);
                notes.push_back(Noted::Board(end, now, LinkEvent::QueueFree { bytes }));
            }
        }
        // Not before both attempts of a collision are over: each keeps the medium busy for the other.
        if self.attempts.iter().all(Option::is_none) {
            for station in [0, 1] {
                if !self.is_blocked(station) && !self.held[station] {
                    // Before now where a long way kept the sender waiting beyond the EIFS of its receiver.
                    self.stations[station].resume(now, self.resume[station]);
                }
            }
        }
        finished
    }

    /// The radio of `end`.
    fn radio(&self, end: usize) -> &PairRadio {
        &self.radios[end.min(self.radios.len() - 1)]
    }

    /// Whether what `end` knows keeps it from sending: its own silence, where it sends with the radio that senses, and its
    /// peer's, where it waits for it.
    fn is_blocked(&self, end: usize) -> bool {
        let silent = |end| self.radio(end).radio.phase().is_silent();
        (self.sends_with_sensing_radio && silent(end)) || (self.waits_for_peer && silent(1 - end))
    }

    /// The radio of the first end, or of both.
    pub(crate) fn first_radio(&self) -> &CognitiveRadio {
        &self.radios[0].radio
    }

    /// Sets t_s and T_p of all its radios, from their next phase on.
    pub(crate) fn set_times(
        &mut self,
        sensing: Duration,
        transmission: Duration,
    ) -> Result<(), CognitiveConfigError> {
        self.radios.iter_mut().try_for_each(|unit| unit.radio.set_times(sensing, transmission))
    }

    /// How primary users fared with all its radios up to `now`: the time that frames were on the air on top of them.
    pub(crate) fn interfered(&self, now: Time) -> Duration {
        self.radios.iter().map(|unit| unit.radio.protection(now).interfered).sum()
    }

    /// Exchanges that both ends began, and of these failed, so far.
    pub(crate) fn exchanges(&self) -> (u64, u64) {
        let failed = |c: &MacCounters| c.interfered + c.unanswered + c.collided + c.garbled;
        (self.counters.iter().map(|c| c.attempts).sum(), self.counters.iter().map(failed).sum())
    }

    /// Whether both directions are open.
    fn is_open(&self) -> bool {
        self.radios.iter().all(|unit| !unit.radio.phase().is_silent())
    }

    /// What goes on at the direction that `end` sends on.
    pub(crate) fn occupation(&self, end: usize, pipes: &[Pipe]) -> Occupation {
        let pipe = &pipes[self.pipes[end] as usize];
        if let Some(attempt) = &self.attempts[end] {
            return Occupation::Exchange(self.on_air(end, attempt));
        }
        if self.attempts[1 - end].is_some() {
            Occupation::Other
        } else if pipe.gate() == Gate::ServedSilent {
            Occupation::Silent
        } else if pipe.is_empty() {
            Occupation::Idle
        } else {
            Occupation::Contends
        }
    }

    /// An exchange of `end` as the budget counts it.
    fn on_air(&self, end: usize, attempt: &Attempt) -> Exchange {
        let mut data = (Time::ZERO, Time::ZERO);
        let arrives = attempt.delivery < Time::MAX;
        if let Some((size, _)) = self.service[end].filter(|_| arrives) {
            let until = attempt.delivery - self.timing.propagation;
            let rate = self.radio(1 - end).radio.rate().unwrap_or_default();
            data = (until - rate.transmission_time(u64::from(size)), until);
        }
        let rest = match attempt.failed {
            Some((_, Cause::Interfered(_))) => State::Interference,
            None if arrives => State::Mac,
            // The packet had arrived before, and only its acknowledgement had not.
            _ => State::Retry,
        };
        Exchange { end: attempt.end, data, rest }
    }

    /// Gates and rates of the pipes: a direction is open while its receiver listens and its sender may send.
    fn set_pipes(&self, now: Time, pipes: &mut [Pipe]) {
        for (end, pipe) in self.pipes.into_iter().enumerate() {
            let receiver = &self.radio(1 - end).radio;
            let is_open = !receiver.phase().is_silent() && !self.is_blocked(end);
            let gate = Gate::of_served(!is_open);
            // A MAC serves the pipe: no arrival is scheduled by it.
            let _ = pipes[pipe as usize].set_channel(now, gate, receiver.rate());
        }
    }

    /// Metrics count from `now`.
    pub(crate) fn end_warmup(&mut self, now: Time) {
        for unit in &mut self.radios {
            unit.warm = (unit.radio.stats(now), unit.radio.protection(now));
            unit.radio.restart_maximum();
        }
        self.warm_counters = self.counters;
    }

    /// What the station of direction `end` counted since the end of the warm-up.
    pub(crate) fn measured(&self, end: usize) -> MacCounters {
        self.counters[end].since(&self.warm_counters[end])
    }
}

impl PairRadio {
    /// What the radio did, and how primary users fared, since the end of the warm-up.
    pub(crate) fn measured(&self, now: Time) -> (RadioStats, Protection) {
        let stats = self.radio.stats(now).since(&self.warm.0);
        (stats, self.radio.protection(now).since(&self.warm.1))
    }
}

impl MacCounters {
    fn count(&mut self, cause: Cause) {
        match cause {
            Cause::Interfered(_) => self.interfered += 1,
            Cause::Unanswered => self.unanswered += 1,
            Cause::Collided => self.collided += 1,
            Cause::Garbled => self.garbled += 1,
        }
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            attempts: self.attempts - before.attempts,
            interfered: self.interfered - before.interfered,
            unanswered: self.unanswered - before.unanswered,
            collided: self.collided - before.collided,
            garbled: self.garbled - before.garbled,
        }
    }
}

/// The names of the radios of `spec`: its own, or one for each end.
pub(crate) fn radio_names(experiment: &Experiment, spec: &RadioSpec) -> Vec<String> {
    let independent = spec.kind.cognitive().is_some_and(|cognitive| cognitive.user.ends == Ends::Independent);
    match spec.links.first().filter(|_| independent) {
        Some(link) => {
            let link = &experiment.links[*link];
            let name = |node: usize| format!("{}/{}", spec.name, experiment.nodes[node]);
            vec![name(link.from), name(link.to)]
        }
        None => vec![spec.name.clone()],
    }
}

#[cfg(test)]
mod tests;
