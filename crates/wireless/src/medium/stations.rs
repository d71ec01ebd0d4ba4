//! All stations: what every frame nearby touches of them, apart from the rest.

use super::station::{Mac, Phase, Station};
use crate::contention::{Attempts, Contention};
use crate::receiver::{Listening, Receiver};
use crate::timing::Timing;
use cogtcp_spectrum::ChannelId;
use cogtcp_units::{Time, prefetch};
use std::ops::{Index, IndexMut};

/// The part of a station that every frame nearby touches: one cache line. All of them lie together, so
/// hundreds of stations fit into the first cache. Rarely used state is in [`Station`]; a mark here says that
/// it exists.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Ear {
    pub(super) receiver: Receiver,
    pub(super) contention: Contention,
    /// Until when others have reserved the medium; see [`Station::nav_guard`].
    nav: Time,
    phase: Phase,
    /// Its own frame is on the air until it has been heard to its end.
    pub(super) is_sending: bool,
    /// [`Station::sends_until`] may not be over.
    has_sent: bool,
    /// An exchange would have reached into a silence: it waits for the next change of a radio.
    pub(super) held: bool,
    pub(super) silent: bool,
    /// Its radio has silences: [`Station::open_since`] and [`Station::open_until`] say when.
    pub(super) has_silences: bool,
    /// [`Station::nav_guard`] is a time.
    pub(super) has_guard: bool,
    /// [`Station::eifs_until`] is a time.
    has_eifs: bool,
}

const _: () = assert!(size_of::<Ear>() == 64, "a hearer is one line of memory");

impl Ear {
    fn new() -> Self {
        Self {
            receiver: Receiver::default(),
            contention: Contention::new(),
            nav: Time::ZERO,
            phase: Phase::Contending,
            is_sending: false,
            has_sent: false,
            held: false,
            silent: false,
            has_silences: false,
            has_guard: false,
            has_eifs: false,
        }
    }

    /// True if the backoff is frozen from outside: neither its MAC nor the medium wants that.
    #[inline]
    pub(super) fn is_held_up(&self, listening: &Listening) -> bool {
        self.contention.is_frozen()
            && self.phase == Phase::Contending
            && !self.is_sending
            && !self.held
            && !self.receiver.is_busy(listening)
    }
}

/// All stations, what every frame touches apart from the rest. A number out of range is a mistake of the
/// caller.
#[derive(Debug)]
pub(super) struct Stations<T> {
    ears: Vec<Ear>,
    all: Vec<Station<T>>,
    /// By station: the channel that it is tuned to.
    channels: Vec<ChannelId>,
    /// By station: its node.
    nodes: Vec<u32>,
    /// By station: packets handed up ([`Counters::received`]). One that is for everybody touches nothing else
    /// of a station.
    pub(super) received: Vec<u64>,
}

impl<T> Default for Stations<T> {
    fn default() -> Self {
        Self {
            ears: Vec::new(),
            all: Vec::new(),
            channels: Vec::new(),
            nodes: Vec::new(),
            received: Vec::new(),
        }
    }
}

impl<T> Index<u32> for Stations<T> {
    type Output = Station<T>;

    #[inline]
    fn index(&self, number: u32) -> &Station<T> {
        &self.all[number as usize]
    }
}

impl<T> IndexMut<u32> for Stations<T> {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut Station<T> {
        &mut self.all[number as usize]
    }
}

impl<T> Stations<T> {
    pub(super) fn push(&mut self, node: u32, channel: ChannelId, station: Station<T>) {
        self.nodes.push(node);
        self.channels.push(channel);
        self.received.push(0);
        self.ears.push(Ear::new());
        self.all.push(station);
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Station<T>> {
        self.all.iter()
    }

    #[inline]
    pub(super) fn node(&self, number: u32) -> u32 {
        self.nodes[number as usize]
    }

    #[inline]
    pub(super) fn channel(&self, number: u32) -> ChannelId {
        self.channels[number as usize]
    }

    pub(super) fn set_channel(&mut self, number: u32, channel: ChannelId) {
        self.channels[number as usize] = channel;
    }

    #[inline]
    pub(super) fn ear(&self, number: u32) -> &Ear {
        &self.ears[number as usize]
    }

    #[inline]
    pub(super) fn ear_mut(&mut self, number: u32) -> &mut Ear {
        &mut self.ears[number as usize]
    }

    /// A station's contention and its state.
    #[inline(always)]
    pub(super) fn contention(&mut self, number: u32) -> (&mut Contention, &mut Attempts) {
        (&mut self.ears[number as usize].contention, &mut self.all[number as usize].attempts)
    }

    /// Its backoff is frozen from `at` on.
    #[inline(always)]
    pub(super) fn freeze(&mut self, number: u32, at: Time, timing: &Timing) {
        let (contention, attempts) = self.contention(number);
        contention.freeze(attempts, at, timing);
    }

    #[inline]
    pub(super) fn phase(&self, number: u32) -> Phase {
        self.ear(number).phase
    }

    #[inline]
    pub(super) fn mac(&self, number: u32) -> Mac {
        self[number].mac
    }

    pub(super) fn set_mac(&mut self, number: u32, mac: Mac) {
        self[number].mac = mac;
        self.ear_mut(number).phase = mac.phase();
    }

    /// When a station has something to do, if nothing happens before.
    #[inline]
    pub(super) fn due(&self, number: u32, timing: &Timing) -> Time {
        let ear = self.ear(number);
        debug_assert_eq!(ear.phase, self[number].mac.phase(), "both say what the MAC is at");
        // First, as most are: what those need is in the line at hand.
        if ear.phase == Phase::Contending {
            return ear.contention.access(timing, &self[number].attempts);
        }
        match self[number].mac {
            Mac::Answering { at, .. } => at,
            Mac::Waiting { until, .. } | Mac::InExchange { until } => until,
            Mac::Contending | Mac::Broadcasting => Time::MAX,
        }
    }

    /// Its own frame is on the air until then.
    pub(super) fn begin_sending(&mut self, number: u32, until: Time) {
        self[number].sends_until = until;
        let ear = self.ear_mut(number);
        (ear.is_sending, ear.has_sent) = (true, true);
        ear.receiver.begin_sending();
    }

    /// Whether it is sending before `at`, so that it does not hear a frame from its start.
    #[inline]
    pub(super) fn is_sending_at(&self, number: u32, at: Time) -> bool {
        self.ear(number).is_sending && at < self[number].sends_until
    }

    /// Whether it was sending until now: a sending radio does not notice other frames.
    #[inline]
    pub(super) fn was_deaf(&mut self, number: u32, now: Time) -> bool {
        // The mark first: the time is in another line of memory.
        if !self.ear(number).has_sent {
            return false;
        }
        let deaf = now <= self[number].sends_until;
        self.ear_mut(number).has_sent = deaf;
        deaf
    }

    /// Until when the EIFS of a failed reception lasts; zero: there is none.
    #[inline(always)]
    pub(super) fn eifs_until(&self, number: u32) -> Time {
        if self.ear(number).has_eifs { self[number].eifs_until } else { Time::ZERO }
    }

    #[inline]
    pub(super) fn set_eifs(&mut self, number: u32, until: Time) {
        let has_eifs = until > Time::ZERO;
        self.ear_mut(number).has_eifs = has_eifs;
        // A time of zero is not written: the mark says it, without the station's own line.
        if has_eifs {
            self[number].eifs_until = until;
        }
    }

    /// Until when the NAV says that others have the medium.
    #[inline(always)]
    pub(super) fn nav(&self, number: u32) -> Time {
        let ear = self.ear(number);
        if ear.has_guard { ear.nav.min(self[number].nav_guard) } else { ear.nav }
    }

    /// Sets the NAV, unless it reaches further already. `guard`: when an RTS that nothing follows is
    /// forgotten.
    #[inline]
    pub(super) fn set_nav(&mut self, number: u32, until: Time, guard: Time) {
        let nav = self.nav(number);
        if until > nav {
            // What reserved the medium before stands, even if this RTS is forgotten.
            self.set_guard(number, guard.max(nav));
            self.ear_mut(number).nav = until;
        }
    }

    /// Something follows the RTS that set the NAV, if it comes in time: it stands.
    #[inline]
    pub(super) fn confirm_nav(&mut self, number: u32, now: Time) {
        if self.ear(number).has_guard && now < self[number].nav_guard {
            self.set_guard(number, Time::MAX);
        }
    }

    #[inline]
    fn set_guard(&mut self, number: u32, guard: Time) {
        let has_guard = guard != Time::MAX;
        self.ear_mut(number).has_guard = has_guard;
        if has_guard {
            self[number].nav_guard = guard;
        }
    }

    /// Forgets the frames in the air: the radio has come to another channel.
    pub(super) fn forget_air(&mut self, number: u32) {
        self.ear_mut(number).nav = Time::ZERO;
        self.set_guard(number, Time::MAX);
        self.set_eifs(number, Time::ZERO);
    }

    /// Asks for the memory of one that will hear a frame soon.
    #[inline]
    pub(super) fn prefetch_ear(&self, number: u32) {
        prefetch(self.ear(number), 1);
    }

    /// Asks for the memory of one that will act soon.
    #[inline]
    pub(super) fn prefetch_own(&self, number: u32, lines: usize) {
        prefetch(&self[number], lines);
    }
}
