//! Where the time of the flows' bottlenecks goes: at each instant a link direction that is watched is in
//! exactly one state.
//!
//! `docs/budget.md` defines the states. Nothing here is called while a link transmits without a pause. A
//! packet that finds the transmitter idle closes the pause before it; a gate that changes closes the time
//! until then. A pause counts to the wait of the sender whose packet ends it; the packet carries this wait
//! along ([`Awaited`]). Time of this packet in queues of other links is excluded.
//!
//! All times are whole nanoseconds, and the time that a link transmits is what the others leave of the span:
//! so the states sum to it. That it is also the time that the carried bytes take is checked
//! ([`Budget::check`]).

mod table;

pub use table::{FlowSpan, Reached};

use crate::hop::{LinkHop, Mark};
use crate::impossible;
use crate::payload::{Awaited, Payload};
use crate::station_pair::{CellSlot, Exchange, Occupation, Rest};
use cogtcp_link::{Frame, Gate, Link};
use cogtcp_units::{Rate, Time, prefetch};

/// A state of the link, but for transmitting: the time of that is the rest.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    Upstream,
    Growing,
    Timeout,
    Receiver,
    Application,
    Silent,
    /// Transmitting, while the gate is open, a frame that a silence destroys.
    Cut,
    /// Of a link that a MAC serves: the packet itself is on the air, and gets through for the first time.
    Data,
    Mac,
    Contention,
    Retry,
    Interference,
    /// Of a link that a cell serves: the slot belongs to the other direction.
    Pattern,
    /// The packet waits for a slot or a grant.
    Grant,
    /// Blocks that were lost and that HARQ repeats.
    Harq,
    /// Resource blocks of other users.
    Users,
    /// The user moves to another base station.
    Handover,
}

const STATES: usize = State::Handover as usize + 1;

/// Whether a link had carried a packet that it dropped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Carriage {
    /// It had not: the packet took no time of the link, or that time is noted as a state.
    None,
    /// It had, and the packet was lost.
    Lost,
    /// It had, and a primary user destroyed the packet.
    Interfered,
}

/// The time spent in each state so far, in nanoseconds, and what was carried in it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Account {
    spent: [u64; STATES],
    /// Bytes of the flows' data that was carried and lost later, here or on another link.
    lost_bytes: u64,
    /// Bytes of the flows' data that primary users destroyed on this link, which has no MAC.
    interfered_bytes: u64,
    /// Bytes of packets that are no data of a flow.
    other_bytes: u64,
    /// Bytes carried by the link's own count.
    carried: f64,
    at: u64,
}

impl Account {
    fn add(&mut self, state: State, nanos: u64) {
        self.spent[state as usize] += nanos;
    }
}

/// A link direction that is watched. What a packet touches that finds it idle comes first, beside the states
/// that idle time counts to.
#[derive(Debug)]
#[repr(C)]
struct Watch {
    /// Idle time that no packet has ended yet.
    pending: u64,
    /// Up to when idle time is counted.
    idle_to: u64,
    is_closed: bool,
    is_served: bool,
    direction: u32,
    account: Account,
    /// Up to when everything else than idle time is counted.
    mark: u64,
    /// Until when a frame completes into the silence.
    completing: u64,
    /// Until when a frame goes on that a silence destroyed which is over.
    lost_until: u64,
    /// Of a link that a MAC serves: what goes on.
    served: Option<Occupation>,
    /// How long an exchange with an unknown outcome has gone on.
    undecided: u64,
    begin: Option<Account>,
    end: Option<Account>,
}

const UNWATCHED: u32 = u32::MAX;

/// The link directions that are watched.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    watches: Vec<Watch>,
    /// By link direction: its place in `watches`, or [`UNWATCHED`].
    places: Vec<u32>,
}

impl Budget {
    /// Watches `direction` from time zero on.
    pub(crate) fn watch<P: Payload>(&mut self, direction: u32, link: &mut LinkHop<P>) {
        if self.places.len() <= direction as usize {
            self.places.resize(direction as usize + 1, UNWATCHED);
        }
        if self.place(direction).is_some() {
            return;
        }
        self.places[direction as usize] = self.watches.len() as u32;
        link.set(Mark::Watched, true);
        // Pairs have set the gates of their links before any watch; cells show theirs in `observe`.
        let gate = link.gate();
        let served = match gate {
            Gate::Served => Some(Occupation::Idle),
            Gate::ServedSilent => Some(Occupation::Silent),
            _ => None,
        };
        self.watches.push(Watch {
            direction,
            account: Account::default(),
            pending: 0,
            idle_to: 0,
            mark: 0,
            is_closed: gate != Gate::Open,
            completing: 0,
            lost_until: 0,
            is_served: served.is_some(),
            served,
            undecided: 0,
            begin: None,
            end: None,
        });
    }

    fn of(&mut self, direction: u32) -> Option<&mut Watch> {
        let place = *self.places.get(direction as usize)?;
        self.watches.get_mut(place as usize)
    }

    /// The place of a link direction that is watched.
    fn place(&self, direction: u32) -> Option<usize> {
        self.places
            .get(direction as usize)
            .map(|place| *place as usize)
            .filter(|place| *place < self.watches.len())
    }

    /// Asks for the account of `direction`, if it has one.
    #[inline]
    pub(crate) fn prefetch(&self, direction: u32) {
        if let Some(watch) =
            self.places.get(direction as usize).and_then(|place| self.watches.get(*place as usize))
        {
            prefetch(watch, 1);
        }
    }

    /// Counts `frame`, which is about to be offered to `direction`. Called if the transmitter is free, if it
    /// was free before packets that are no data, or if `frame` is no data of a flow.
    #[inline(never)]
    pub(crate) fn offered<P: Payload>(
        &mut self,
        now: Time,
        direction: u32,
        link: &mut LinkHop<P>,
        frame: &Frame<P>,
    ) {
        let Some(watch) = self.of(direction) else {
            return impossible("a link is watched, without an account");
        };
        watch.count_idle(now.as_nanos(), link);
        match frame.packet.awaited() {
            Awaited::Nothing => watch.account.other_bytes += u64::from(frame.size()),
            awaited => watch.resolve(awaited, frame.waited().as_nanos()),
        }
        link.set(Mark::AwaitsData, watch.pending > 0);
    }

    /// Sets gate and rate of a link direction that is watched, as [`Link::set_channel`] does.
    pub(crate) fn set_channel<P: Payload>(
        &mut self,
        now: Time,
        direction: u32,
        link: &mut Link<P>,
        gate: Gate,
        rate: Option<Rate>,
    ) -> Option<Time> {
        match self.of(direction).filter(|watch| watch.served.is_none()) {
            Some(watch) => watch.set_channel(now, link, gate, rate),
            None => link.set_channel(now, gate, rate),
        }
    }

    /// What goes on at `direction`, which a MAC serves, from `now` on.
    pub(crate) fn observe(&mut self, now: Time, direction: u32, occupation: Occupation) {
        let Some(watch) = self.of(direction) else {
            return impossible("a link is watched, without an account");
        };
        watch.accrue(now.as_nanos());
        match (watch.served, occupation) {
            // What the exchange is stood fixed when it began: the packet may have arrived meanwhile.
            (Some(Occupation::Exchange(known)), Occupation::Exchange(same)) if known.end == same.end => {}
            _ => (watch.is_served, watch.served) = (true, Some(occupation)),
        }
    }

    /// An exchange at `direction` that was undecided ends at `now`, and came to `exchange`.
    pub(crate) fn decide(&mut self, now: Time, direction: u32, exchange: &Exchange) {
        let Some(watch) = self.of(direction) else {
            return impossible("a link is watched, without an account");
        };
        watch.accrue(now.as_nanos());
        let span = std::mem::take(&mut watch.undecided);
        watch.count_exchange(exchange, watch.mark - span, span);
    }

    /// A packet of the stream whose route is `route` was dropped on `direction`.
    pub(crate) fn dropped<P: Payload>(
        &mut self,
        route: &[u32],
        direction: u32,
        frame: &Frame<P>,
        carried: Carriage,
    ) {
        let size = u64::from(frame.size());
        if frame.packet.awaited() == Awaited::Nothing {
            // `offered` counted it before it was known whether the link takes it. What was carried did take
            // time.
            if let Some(watch) = self.of(direction).filter(|_| carried == Carriage::None) {
                watch.account.other_bytes -= size;
            }
            return;
        }
        // Links of the route up to here carried the packet for nothing; this one only if it lost what it had
        // carried.
        let Some(place) = route.iter().position(|hop| *hop == direction) else {
            return impossible("a packet is dropped on a link that its route does not cross");
        };
        if carried == Carriage::Interfered
            && let Some(watch) = self.of(direction)
        {
            watch.account.interfered_bytes += size;
        }
        for carried in &route[..place + usize::from(carried == Carriage::Lost)] {
            if let Some(watch) = self.of(*carried) {
                watch.account.lost_bytes += size;
            }
        }
    }

    /// A packet that these hops have carried was lost on the air.
    pub(crate) fn lost<P: Payload>(&mut self, route: &[u32], frame: &Frame<P>) {
        if frame.packet.awaited() == Awaited::Nothing {
            return;
        }
        for carried in route {
            if let Some(watch) = self.of(*carried) {
                watch.account.lost_bytes += u64::from(frame.size());
            }
        }
    }

    /// Begins a flow's measured span on a link direction, if it is watched. `awaited`: what the flow waits for.
    pub(crate) fn begin<P: Payload>(
        &mut self,
        now: Time,
        direction: u32,
        link: &mut Link<P>,
        awaited: Awaited,
    ) {
        // No flow that the budgets follow crosses the link.
        let Some(watch) = self.of(direction) else { return };
        let account = watch.close(now, link, awaited);
        // The span of a link is the union of its flows' spans: the first to begin opens it, the last to end
        // closes it.
        watch.begin.get_or_insert(account);
    }

    /// Ends a flow's measured span on a link direction, if it is watched.
    pub(crate) fn end<P: Payload>(
        &mut self,
        now: Time,
        direction: u32,
        link: &mut Link<P>,
        awaited: Awaited,
    ) {
        // As in `begin`.
        let Some(watch) = self.of(direction) else { return };
        watch.end = Some(watch.close(now, link, awaited));
    }
}

impl Watch {
    /// Counts the time up to `now` for which nothing was to be sent.
    fn count_idle<P: Payload>(&mut self, now: u64, link: &mut Link<P>) {
        if self.is_served {
            return self.accrue(now);
        }
        if self.is_closed {
            return;
        }
        if let Some(since) = link.idle_since(Time::from_nanos(now)) {
            // A part of this pause may be counted already, by a look at the account in the middle of it.
            self.pending += now - since.as_nanos().max(self.idle_to);
            self.idle_to = now;
        }
    }

    /// A packet has ended the idle time, which its sender had spent on waiting for `awaited`, but for the
    /// time that the packet `waited` on other links.
    fn resolve(&mut self, awaited: Awaited, waited: u64) {
        let idle = std::mem::take(&mut self.pending);
        // The packet may have waited longer than this link was idle, since before the pause began.
        let upstream = idle.min(waited);
        self.account.add(State::Upstream, upstream);
        self.account.add(awaited.state(), idle - upstream);
    }

    /// Counts everything up to `now` of a link with its own transmitter.
    fn advance<P: Payload>(&mut self, now: u64, link: &mut Link<P>) {
        if self.is_closed {
            // A discipline may have dropped packets that were to be sent.
            self.completing = self.completing.min(link.busy_until().as_nanos());
            self.account.add(State::Silent, now.saturating_sub(self.mark.max(self.completing)));
        } else {
            self.count_idle(now, link);
            self.account.add(State::Cut, self.lost_until.min(now).saturating_sub(self.mark));
        }
        self.mark = now;
    }

    fn set_channel<P: Payload>(
        &mut self,
        now: Time,
        link: &mut Link<P>,
        gate: Gate,
        rate: Option<Rate>,
    ) -> Option<Time> {
        let at = now.as_nanos();
        self.advance(at, link);
        let scheduled = link.set_channel(now, gate, rate);
        // A frame that is cut was not carried after all, and the link has taken back what it counted. What
        // went out of it before the span stands in `begin`, and comes off there.
        if let (Some(cut), Some(begin)) = (link.cut(), &mut self.begin) {
            begin.carried -= cut.sent_by(Time::from_nanos(begin.at));
        }
        let on_air = link.on_air(now);
        let is_closed = gate != Gate::Open;
        if is_closed {
            let begins = !self.is_closed;
            if begins {
                self.completing = 0;
            }
            if let Some((begun, lost)) = on_air {
                let until = link.free_at().as_nanos();
                if !lost {
                    // What a link that refuses still sends takes as long as its rate says, which may change
                    // during the silence.
                    self.completing = link.busy_until().as_nanos();
                } else if begins && until != self.lost_until {
                    // What was sent of it in the span is counted in no other state, even if the account was
                    // read meanwhile.
                    let span = self.begin.map_or(0, |begin| begin.at);
                    self.account.add(State::Cut, at - begun.as_nanos().max(span).min(at));
                }
            }
        } else if self.is_closed {
            self.idle_to = at;
            self.lost_until = on_air.filter(|(_, lost)| *lost).map_or(0, |_| link.free_at().as_nanos());
        }
        self.is_closed = is_closed;
        scheduled
    }

    /// Counts everything up to `now` of a link that a MAC serves.
    fn accrue(&mut self, now: u64) {
        // A station that was held back may be due before the present: no time has passed then.
        let now = now.max(self.mark);
        let since = std::mem::replace(&mut self.mark, now);
        let span = now - since;
        match self.served {
            None => {}
            Some(Occupation::Idle) => self.pending += span,
            Some(Occupation::Silent) => self.account.add(State::Silent, span),
            Some(Occupation::Contends | Occupation::Other) => self.account.add(State::Contention, span),
            Some(Occupation::Exchange(exchange)) => self.count_exchange(&exchange, since, span),
            Some(Occupation::Undecided) => self.undecided += span,
            Some(Occupation::Granted) => self.account.add(State::Grant, span),
            Some(Occupation::Slot(slot)) => self.count_slot(&slot, span),
        }
    }

    /// Counts `span` nanoseconds of a slot, in the proportion of its resource blocks.
    fn count_slot(&mut self, slot: &CellSlot, span: u64) {
        let idle = match (slot.waits, slot.all) {
            (false, _) => None,
            (true, _) if slot.is_moving => Some(State::Handover),
            // No resource blocks at all: the pattern gives this slot to the other direction.
            (true, 0) => Some(State::Pattern),
            (true, _) => Some(State::Grant),
        };
        let lost = if slot.is_struck { State::Interference } else { State::Harq };
        let mut left = span;
        for (state, blocks) in [(State::Data, slot.received), (lost, slot.lost), (State::Users, slot.others)]
        {
            let time = u128::from(span) * u128::from(blocks) / u128::from(slot.all.max(1));
            let time = left.min(time as u64);
            self.account.add(state, time);
            left -= time;
        }
        match idle {
            Some(state) => self.account.add(state, left),
            None => self.pending += left,
        }
    }

    /// Counts `span` nanoseconds from `since` on of an exchange.
    fn count_exchange(&mut self, exchange: &Exchange, since: u64, span: u64) {
        let (from, until) = (exchange.data.0.as_nanos(), exchange.data.1.as_nanos());
        let data = until.min(since + span).saturating_sub(from.max(since));
        self.account.add(State::Data, data);
        let rest = match exchange.rest {
            Rest::Mac => State::Mac,
            Rest::Retry => State::Retry,
            Rest::Interference => State::Interference,
        };
        self.account.add(rest, span - data);
    }

    /// The account at `now`; idle time that no packet has ended counts to `awaited`.
    fn close<P: Payload>(&mut self, now: Time, link: &mut Link<P>, awaited: Awaited) -> Account {
        let at = now.as_nanos();
        if self.served.is_some() {
            self.accrue(at);
        } else {
            self.advance(at, link);
        }
        self.resolve(awaited, 0);
        // An exchange that is not over has not carried anything so far.
        let undecided = std::mem::take(&mut self.undecided);
        self.account.add(State::Mac, undecided);
        Account { at, carried: link.carried(now), ..self.account }
    }
}

impl Awaited {
    fn state(self) -> State {
        match self {
            Self::Timeout => State::Timeout,
            Self::Nothing | Self::Window => State::Growing,
            Self::Receiver => State::Receiver,
            Self::Application => State::Application,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Transit;
    use cogtcp_link::LinkConfig;
    use cogtcp_units::{Duration, RandomStream};

    #[derive(Clone, Copy, Debug, Default)]
    struct Packet;

    impl cogtcp_link::LinkPayload for Packet {
        fn enter(&mut self) {}
    }

    impl Payload for Packet {
        fn transit(&self) -> Transit {
            Transit::default()
        }

        fn set_transit(&mut self, _: Transit) {}
    }

    fn kbps(kilo: u64) -> Rate {
        Rate::from_bits_per_second(kilo * 1000)
    }

    /// Milliseconds cut and silent of a link of 8 kbit/s with two packets of a second each, after these
    /// settings at these milliseconds.
    fn cut_and_silent(settings: &[(u64, Gate, Rate)]) -> (u64, u64) {
        let config = LinkConfig::new(kbps(8), Duration::ZERO);
        let mut link = LinkHop::from(Link::new(&config, None, || RandomStream::new(1, "link", 0)));
        let mut budget = Budget::default();
        budget.watch(0, &mut link);
        for _ in 0..2 {
            link.offer(Time::ZERO, Frame::new(Packet, 1000));
        }
        for (millis, gate, rate) in settings {
            budget.set_channel(Time::from_millis(*millis), 0, &mut link, *gate, Some(*rate));
        }
        let spent = budget.watches[0].account.spent;
        (spent[State::Cut as usize] / 1_000_000, spent[State::Silent as usize] / 1_000_000)
    }

    /// A packet that a silence destroys is cut once: what is set during the silence cuts nothing more.
    #[test]
    fn a_silence_cuts_a_packet_once() {
        let silence = [(250, Gate::Drop, kbps(8)), (500, Gate::Drop, kbps(4)), (900, Gate::Open, kbps(8))];
        assert_eq!(cut_and_silent(&silence), (250, 650));
    }

    /// The account of a link as above, silent from 500 to 900 ms, over a span that ends after the second
    /// packet. Further flows begin or end at `readings`.
    fn over_a_cut(gate: Gate, begin: u64, readings: &[u64]) -> (Budget, [LinkHop<Packet>; 1]) {
        let config = LinkConfig::new(kbps(8), Duration::ZERO);
        let mut links = [LinkHop::from(Link::new(&config, None, || RandomStream::new(1, "link", 0)))];
        let mut budget = Budget::default();
        budget.watch(0, &mut links[0]);
        for _ in 0..2 {
            links[0].offer(Time::ZERO, Frame::new(Packet, 1000));
        }
        for begin in [&[begin], readings].concat() {
            budget.begin(Time::from_millis(begin), 0, &mut links[0], Awaited::Window);
        }
        budget.set_channel(Time::from_millis(500), 0, &mut links[0], gate, None);
        budget.set_channel(Time::from_millis(900), 0, &mut links[0], Gate::Open, None);
        budget.end(Time::from_millis(2000), 0, &mut links[0], Awaited::Window);
        (budget, links)
    }

    /// Routes cross links that are not watched: they have no span.
    #[test]
    fn a_link_that_is_not_watched_has_no_account() {
        let (mut budget, mut links) = over_a_cut(Gate::Hold, 0, &[]);
        let (places, watches) = (budget.places.clone(), budget.watches.len());
        for direction in [1, 9] {
            budget.begin(Time::ZERO, direction, &mut links[0], Awaited::Window);
            budget.end(Time::from_millis(1), direction, &mut links[0], Awaited::Window);
        }
        assert_eq!((budget.places, budget.watches.len()), (places, watches));
    }

    /// A frame begins before the span and is cut in it. The bytes sent before the span are taken from no
    /// other frame. All bytes sent in the span are cut, although another flow begins meanwhile.
    #[test]
    fn a_frame_that_is_cut_may_have_begun_before_the_span() {
        for gate in [Gate::Drop, Gate::Down(cogtcp_link::Flush::Wire)] {
            for (begin, readings, cut) in [
                (0, &[] as &[u64], 600),
                (200, &[], 400),
                (500, &[], 100),
                (0, &[300], 600),
                (200, &[300], 400),
            ] {
                let (budget, links) = over_a_cut(gate, begin, readings);
                budget
                    .check(&links)
                    .unwrap_or_else(|wrong| panic!("{gate:?}, {begin}, {readings:?}: {wrong}"));
                let watch = &budget.watches[0];
                let (Some(begin), Some(end)) = (&watch.begin, &watch.end) else { panic!("there is a span") };
                let spent = end.spent[State::Cut as usize] - begin.spent[State::Cut as usize];
                let carried = end.carried - begin.carried;
                assert_eq!((carried, spent), (1000.0, cut * 1_000_000), "{gate:?}, {readings:?}");
            }
        }
    }

    /// A link that refuses sends what it has at the rate of the moment: at 4 kbit/s the second packet takes
    /// two seconds, until 3 s.
    #[test]
    fn what_drains_into_a_silence_takes_the_rate_of_the_moment() {
        let silence =
            [(500, Gate::Refuse, kbps(8)), (750, Gate::Refuse, kbps(4)), (4000, Gate::Open, kbps(8))];
        assert_eq!(cut_and_silent(&silence), (0, 1000));
    }

    /// A link that a MAC serves, watched from time zero on.
    fn served() -> Budget {
        let config = LinkConfig::new(kbps(8), Duration::ZERO);
        let mut link = LinkHop::from(Link::<Packet>::new(&config, None, || RandomStream::new(1, "link", 0)));
        let _ = link.set_channel(Time::ZERO, Gate::Served, None);
        let mut budget = Budget::default();
        budget.watch(0, &mut link);
        assert!(link.is(Mark::Watched) && budget.watches[0].is_served);
        budget
    }

    /// The states with time so far, and the idle time that no packet has ended.
    fn spent(budget: &Budget) -> (Vec<(usize, u64)>, u64) {
        let watch = &budget.watches[0];
        let spent = watch.account.spent.iter().copied().enumerate().filter(|(_, nanos)| *nanos > 0);
        (spent.collect(), watch.pending)
    }

    /// docs/budget.md: what goes on at a served link, for 10 ns.
    #[test]
    fn each_occupation_is_a_state() {
        let exchange =
            |rest| Occupation::Exchange(Exchange { end: Time::MAX, data: (Time::ZERO, Time::ZERO), rest });
        for (occupation, state) in [
            (Occupation::Silent, State::Silent),
            (Occupation::Contends, State::Contention),
            (Occupation::Other, State::Contention),
            (Occupation::Granted, State::Grant),
            (exchange(Rest::Mac), State::Mac),
            (exchange(Rest::Retry), State::Retry),
            (exchange(Rest::Interference), State::Interference),
        ] {
            let mut budget = served();
            budget.observe(Time::ZERO, 0, occupation);
            budget.observe(Time::from_nanos(10), 0, Occupation::Idle);
            // A station that was held back may be due before the present.
            budget.observe(Time::from_nanos(9), 0, Occupation::Idle);
            budget.observe(Time::from_nanos(13), 0, Occupation::Undecided);
            assert_eq!(spent(&budget), (vec![(state as usize, 10)], 3), "{occupation:?}");
        }
    }

    /// The packet itself counts where it is on the air within the exchange; the rest is what the exchange says. What
    /// is undecided counts when it is decided.
    #[test]
    fn an_exchange_has_its_packet_and_the_rest() {
        let at = Time::from_nanos;
        let exchange = Exchange { end: at(100), data: (at(30), at(70)), rest: Rest::Mac };
        for (until, data) in [(30, 0), (31, 1), (70, 40), (100, 40)] {
            let mut budget = served();
            budget.observe(Time::ZERO, 0, Occupation::Exchange(exchange));
            // Told again, it stands as it was known first.
            let again = Exchange { data: (at(0), at(0)), rest: Rest::Retry, ..exchange };
            budget.observe(at(10), 0, Occupation::Exchange(again));
            budget.observe(at(until), 0, Occupation::Contends);
            let account = budget.watches[0].account.spent;
            assert_eq!((account[State::Data as usize], account[State::Mac as usize]), (data, until - data));
        }
        let mut budget = served();
        budget.observe(Time::ZERO, 0, Occupation::Undecided);
        budget.observe(at(20), 0, Occupation::Undecided);
        assert_eq!(spent(&budget), (vec![], 0));
        budget.decide(at(100), 0, &Exchange { rest: Rest::Interference, ..exchange });
        let expected = vec![(State::Data as usize, 40), (State::Interference as usize, 60)];
        assert_eq!((spent(&budget), budget.watches[0].undecided), ((expected, 0), 0));
    }

    /// A slot is shared by its resource blocks; what is left waits, moves, or is idle.
    #[test]
    fn a_slot_is_shared_by_its_blocks() {
        let slot = CellSlot {
            all: 10,
            received: 4,
            lost: 2,
            is_struck: false,
            others: 3,
            waits: true,
            is_moving: false,
        };
        let shared = |slot: CellSlot| {
            let mut budget = served();
            budget.observe(Time::ZERO, 0, Occupation::Slot(slot));
            budget.observe(Time::from_nanos(1000), 0, Occupation::Idle);
            spent(&budget)
        };
        let states = |states: &[(State, u64)]| {
            states.iter().map(|(state, time)| (*state as usize, *time)).collect::<Vec<_>>()
        };
        let of_data = [(State::Data, 400), (State::Grant, 100), (State::Harq, 200), (State::Users, 300)];
        assert_eq!(shared(slot), (states(&of_data), 0));
        let struck =
            [(State::Data, 400), (State::Interference, 200), (State::Grant, 100), (State::Users, 300)];
        assert_eq!(shared(CellSlot { is_struck: true, ..slot }), (states(&struck), 0));
        let idle = shared(CellSlot { waits: false, ..slot });
        assert_eq!(idle, (states(&[(State::Data, 400), (State::Harq, 200), (State::Users, 300)]), 100));
        // No blocks: the slot is of the other direction, or the user moves.
        let none = CellSlot { all: 0, received: 0, lost: 0, others: 0, ..slot };
        assert_eq!(shared(none), (states(&[(State::Pattern, 1000)]), 0));
        assert_eq!(shared(CellSlot { is_moving: true, ..none }), (states(&[(State::Handover, 1000)]), 0));
        // More blocks than there are count up to the slot's time.
        let all = shared(CellSlot { received: 8, lost: 8, ..slot });
        assert_eq!(all, (states(&[(State::Data, 800), (State::Harq, 200)]), 0));
    }

    /// A pause counts to what the packet that ends it had waited for, but for its time in other queues.
    #[test]
    fn a_pause_counts_to_what_was_awaited() {
        for (awaited, state) in [
            (Awaited::Nothing, State::Growing),
            (Awaited::Window, State::Growing),
            (Awaited::Timeout, State::Timeout),
            (Awaited::Receiver, State::Receiver),
            (Awaited::Application, State::Application),
        ] {
            for (waited, upstream) in [(0, 0), (30, 30), (100, 100), (300, 100)] {
                let mut budget = served();
                budget.watches[0].pending = 100;
                budget.watches[0].resolve(awaited, waited);
                let spent = budget.watches[0].account.spent;
                assert_eq!(
                    (spent[State::Upstream as usize], spent[state as usize]),
                    (upstream, 100 - upstream)
                );
                assert_eq!(budget.watches[0].pending, 0);
            }
        }
    }

    /// Data that is lost was carried for nothing by the links before, and by this one if it had carried it. Packets
    /// without data are taken off again only where they took no time.
    #[test]
    fn what_is_lost_was_carried_for_nothing() {
        #[derive(Clone, Copy, Debug, Default)]
        struct Sent(Awaited);
        impl cogtcp_link::LinkPayload for Sent {
            fn enter(&mut self) {}
        }
        impl Payload for Sent {
            fn transit(&self) -> Transit {
                Transit::default()
            }
            fn set_transit(&mut self, _: Transit) {}
            fn awaited(&self) -> Awaited {
                self.0
            }
        }
        let config = LinkConfig::new(kbps(8), Duration::ZERO);
        let mut links = [0; 3]
            .map(|_| LinkHop::from(Link::<Sent>::new(&config, None, || RandomStream::new(1, "link", 0))));
        let after = |links: &mut [LinkHop<Sent>; 3], awaited, change: &dyn Fn(&mut Budget, &Frame<Sent>)| {
            let mut budget = Budget::default();
            (0..3).for_each(|direction| budget.watch(direction, &mut links[direction as usize]));
            let frame = Frame::new(Sent(awaited), 70);
            for direction in 0..3 {
                budget.offered(Time::ZERO, direction, &mut links[direction as usize], &frame);
            }
            change(&mut budget, &frame);
            let bytes =
                |of: fn(&Account) -> u64| [0, 1, 2].map(|place: usize| of(&budget.watches[place].account));
            (bytes(|it| it.lost_bytes), bytes(|it| it.interfered_bytes), bytes(|it| it.other_bytes))
        };
        let dropped = |carried| {
            move |budget: &mut Budget, frame: &Frame<Sent>| budget.dropped(&[0, 1, 2], 1, frame, carried)
        };
        let (none, data, other) = ([0; 3], Awaited::Window, Awaited::Nothing);
        assert_eq!(after(&mut links, data, &dropped(Carriage::None)), ([70, 0, 0], none, none));
        assert_eq!(after(&mut links, data, &dropped(Carriage::Lost)), ([70, 70, 0], none, none));
        assert_eq!(after(&mut links, data, &dropped(Carriage::Interfered)), ([70, 0, 0], [0, 70, 0], none));
        assert_eq!(after(&mut links, other, &dropped(Carriage::None)), (none, none, [70, 0, 70]));
        assert_eq!(after(&mut links, other, &dropped(Carriage::Lost)), (none, none, [70; 3]));
        let lost = |budget: &mut Budget, frame: &Frame<Sent>| budget.lost(&[0, 2], frame);
        assert_eq!(after(&mut links, data, &lost), ([70, 0, 70], none, none));
        assert_eq!(after(&mut links, other, &lost), (none, none, [70; 3]));
    }
}
