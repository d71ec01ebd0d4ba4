//! From the accounts of the watched links to the table of budgets.

use super::{Account, Budget, STATES, State, Watch};
use crate::hop::LinkHop;
use crate::payload::{Payload, StreamId};
use cogtcp_layout::NetworkSpec;
use cogtcp_link::Link;
use cogtcp_records::Table;
use cogtcp_records::tables::{BudgetBuilder, BudgetRow};

cogtcp_units::counts! {
    /// Bytes of a flow's data that reached the receiving host.
    pub struct Reached {
        /// On the wire.
        pub wire: u64,
        /// Payload that came for the first time, in order or not.
        pub new: u64,
        /// Payload that had come before, or for which the receiver had no room.
        pub repeated: u64,
    }
}

/// A flow as the budget sees it.
#[derive(Clone, Copy, Debug)]
pub struct FlowSpan {
    /// The number of the flow, which has a span for each of its paths.
    pub flow: u32,
    /// The stream of its data.
    pub stream: StreamId,
    /// Its bottleneck, and what reached its receiving host in the measured span; `None`: it has no such span.
    pub measured: Option<(Option<u32>, Reached)>,
}

/// What became of what a link carried, in bytes: weights of the time that it transmitted.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    delivered: u64,
    headers: u64,
    duplicate: u64,
    lost: u64,
    interfered: u64,
    other: u64,
}

/// The flows that cross a link.
#[derive(Clone, Copy, Debug, Default)]
struct Crossing {
    flows: u32,
    /// The last flow that was counted: the spans of a flow follow each other.
    last: Option<u32>,
    /// It is the bottleneck of one of them.
    is_bottleneck: bool,
    /// What reached their receiving hosts.
    carried: Carried,
}

impl Budget {
    /// One row for each link direction that is the bottleneck of a flow.
    pub(crate) fn report(
        &self,
        layout: &NetworkSpec,
        flows: &[FlowSpan],
        route: impl Fn(&FlowSpan) -> Vec<u32>,
    ) -> Table {
        let mut table = BudgetBuilder::default();
        for (watch, crossing) in self.watches.iter().zip(self.crossings(flows, route)) {
            // No flow over this link was measured.
            let (Some(begin), Some(end)) = (&watch.begin, &watch.end) else { continue };
            if !crossing.is_bottleneck {
                continue;
            }
            let carried = crossing.carried(begin, end);
            let spent = Spent::new(begin, end, watch.served.is_some(), &carried);
            let link = &layout.links[watch.direction as usize / 2];
            let row = BudgetRow {
                link: table.link.intern(&link.name),
                direction: table.direction.intern(["forward", "reverse"][watch.direction as usize % 2]),
                flows: crossing.flows.into(),
                measured_s: seconds(end.at - begin.at),
                delivered_s: seconds(spent.carried.delivered),
                headers_s: seconds(spent.carried.headers),
                duplicate_s: seconds(spent.carried.duplicate),
                lost_s: seconds(spent.carried.lost),
                other_s: seconds(spent.carried.other),
                silent_s: spent.of(State::Silent),
                timeout_s: spent.of(State::Timeout),
                growing_s: spent.of(State::Growing),
                receiver_s: spent.of(State::Receiver),
                application_s: spent.of(State::Application),
                upstream_s: spent.of(State::Upstream),
                mac_s: spent.of(State::Mac),
                contention_s: spent.of(State::Contention),
                retry_s: spent.of(State::Retry),
                interference_s: spent.of(State::Interference) + seconds(spent.carried.interfered),
                pattern_s: spent.of(State::Pattern),
                grant_s: spent.of(State::Grant),
                harq_s: spent.of(State::Harq),
                users_s: spent.of(State::Users),
                handover_s: spent.of(State::Handover),
            };
            table.push(row);
        }
        table.finish()
    }

    /// What crosses each of the watched links.
    fn crossings(&self, flows: &[FlowSpan], route: impl Fn(&FlowSpan) -> Vec<u32>) -> Vec<Crossing> {
        let mut crossings = vec![Crossing::default(); self.watches.len()];
        for flow in flows {
            for direction in route(flow) {
                // A link that cannot be the bottleneck is not watched.
                let Some(place) = self.place(direction) else { continue };
                let crossing = &mut crossings[place];
                crossing.flows += u32::from(crossing.last.replace(flow.flow) != Some(flow.flow));
                // A flow that ended within the warm-up, or began at the end of the run, has no measured span.
                let Some((bottleneck, reached)) = &flow.measured else { continue };
                crossing.is_bottleneck |= *bottleneck == Some(direction);
                crossing.carried.add(reached);
            }
        }
        crossings
    }

    /// The states sum to the span, and the time that is left for transmitting is the time that the carried
    /// bytes take.
    pub(crate) fn check<P: Payload>(&self, directions: &[LinkHop<P>]) -> Result<(), String> {
        self.watches.iter().try_for_each(|watch| watch.check(&directions[watch.direction as usize]))
    }
}

impl Watch {
    fn check<P: Payload>(&self, link: &Link<P>) -> Result<(), String> {
        // No flow over this link was measured.
        let (Some(begin), Some(end)) = (&self.begin, &self.end) else { return Ok(()) };
        let (spent, span) = (difference(begin, end), end.at - begin.at);
        let sum: u64 = spent.iter().sum();
        let wrong = |what: &str, time: f64| {
            let direction = self.direction;
            Err(format!(
                "the budget of link direction {direction} over {span} ns {what} {time} ns: {spent:?}"
            ))
        };
        // Of a served link every instant is noted as some state. Other links note all but the time they
        // transmit.
        if self.served.is_some() && sum != span {
            return wrong("sums to", sum as f64);
        }
        if sum > span {
            return wrong("has", sum as f64);
        }
        // With several rates the bytes alone do not say how long they took.
        if self.served.is_none() && link.has_one_rate() {
            let busy = (span - sum) as f64;
            let rate = link.channel_rate().bits_per_second().max(1) as f64;
            let taken = (end.carried - begin.carried) * 8e9 / rate;
            // Transmission times are rounded to nanoseconds, half of one for each frame.
            let rounding = link.counters().offered as f64 / 2.0 + 2.0;
            if (busy - taken).abs() > rounding + taken * 1e-9 {
                return wrong(&format!("leaves {busy} ns for bytes that take"), taken);
            }
        }
        Ok(())
    }
}

/// Time by state, in nanoseconds.
struct Spent {
    states: [u64; STATES],
    carried: Carried,
}

impl Spent {
    fn new(begin: &Account, end: &Account, is_served: bool, weights: &Carried) -> Self {
        let states = difference(begin, end);
        // A MAC's own times are states: only the packets themselves are shared out among what was carried.
        let busy = if is_served {
            states[State::Data as usize]
        } else {
            (end.at - begin.at).saturating_sub(states.iter().sum())
        };
        let mut carried = weights.share(busy);
        // What a silence cut off was transmitted for nothing, and is in no count of bytes.
        carried.lost += states[State::Cut as usize];
        Self { states, carried }
    }

    fn of(&self, state: State) -> f64 {
        seconds(self.states[state as usize])
    }
}

impl Carried {
    /// Adds what reached the receiving host of a flow.
    fn add(&mut self, arrived: &Reached) {
        self.delivered += arrived.new;
        self.duplicate += arrived.repeated;
        self.headers += arrived.wire.saturating_sub(arrived.new + arrived.repeated);
    }

    /// Shares `nanos` by the bytes. What rounding leaves goes to the largest; without any byte all is other.
    fn share(&self, nanos: u64) -> Self {
        let weights = [self.delivered, self.headers, self.duplicate, self.lost, self.interfered, self.other];
        let sum: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        if sum == 0 {
            return Self { other: nanos, ..Self::default() };
        }
        let mut shares = weights.map(|weight| (u128::from(nanos) * u128::from(weight) / sum) as u64);
        let largest = (0..weights.len()).max_by_key(|place| weights[*place]).unwrap_or(0);
        shares[largest] += nanos - shares.iter().sum::<u64>();
        let [delivered, headers, duplicate, lost, interfered, other] = shares;
        Self { delivered, headers, duplicate, lost, interfered, other }
    }
}

impl Crossing {
    /// What became of the bytes that the link carried.
    fn carried(&self, begin: &Account, end: &Account) -> Carried {
        Carried {
            lost: end.lost_bytes - begin.lost_bytes,
            interfered: end.interfered_bytes - begin.interfered_bytes,
            // A packet offered before the span and dropped in it uncarried is subtracted: the count may fall.
            other: end.other_bytes.saturating_sub(begin.other_bytes),
            ..self.carried
        }
    }
}

fn difference(begin: &Account, end: &Account) -> [u64; STATES] {
    std::array::from_fn(|state| end.spent[state] - begin.spent[state])
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(of: [u64; 6]) -> Carried {
        let [delivered, headers, duplicate, lost, interfered, other] = of;
        Carried { delivered, headers, duplicate, lost, interfered, other }
    }

    fn shares(of: Carried) -> [u64; 6] {
        [of.delivered, of.headers, of.duplicate, of.lost, of.interfered, of.other]
    }

    /// Time is shared by bytes, to the nanosecond: the largest takes what rounding leaves.
    #[test]
    fn time_is_shared_by_bytes() {
        for (bytes, nanos, expected) in [
            ([1, 2, 3, 4, 5, 5], 200, [10, 20, 30, 40, 50, 50]),
            ([1, 3, 0, 0, 0, 0], 7, [1, 6, 0, 0, 0, 0]),
            ([0, 0, 0, 0, 0, 7], 5, [0, 0, 0, 0, 0, 5]),
            ([0; 6], 5, [0, 0, 0, 0, 0, 5]),
            ([u64::MAX, u64::MAX, 0, 0, 0, 0], 10, [5, 5, 0, 0, 0, 0]),
        ] {
            assert_eq!(shares(weights(bytes).share(nanos)), expected);
        }
    }

    /// Headers are what is neither new nor repeated. A packet that was offered before the span may be taken off.
    #[test]
    fn bytes_of_a_link_have_a_cause() {
        let mut carried = weights([0; 6]);
        carried.add(&Reached { wire: 100, new: 60, repeated: 30 });
        carried.add(&Reached { wire: 10, new: 9, repeated: 9 });
        assert_eq!(shares(carried), [69, 10, 39, 0, 0, 0]);
        let crossing = Crossing { carried, ..Crossing::default() };
        let begin = Account { lost_bytes: 1, interfered_bytes: 2, other_bytes: 5, ..Account::default() };
        let end = Account { lost_bytes: 4, interfered_bytes: 8, other_bytes: 6, ..Account::default() };
        assert_eq!(shares(crossing.carried(&begin, &end)), [69, 10, 39, 3, 6, 1]);
        assert_eq!(crossing.carried(&begin, &Account { other_bytes: 4, ..end }).other, 0);
    }

    /// Of a served link the packets' own time is shared, of another all that no state has. What a silence cut is
    /// lost.
    #[test]
    fn what_no_state_has_was_transmitted() {
        let mut end = Account { at: 1000, ..Account::default() };
        end.add(State::Data, 300);
        end.add(State::Cut, 100);
        end.add(State::Silent, 250);
        let begin = Account { at: 100, ..Account::default() };
        let delivered = weights([1, 0, 0, 0, 0, 0]);
        let spent = |is_served| shares(Spent::new(&begin, &end, is_served, &delivered).carried);
        assert_eq!((spent(true), spent(false)), ([300, 0, 0, 100, 0, 0], [250, 0, 0, 100, 0, 0]));
        assert_eq!(Spent::new(&begin, &end, false, &delivered).of(State::Silent), 250e-9);
    }
}
