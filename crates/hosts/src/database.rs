//! The primary users of a run as a database that transports may ask.

use cogtcp_endpoint::SpectrumDatabase;
use cogtcp_spectrum::air::Air;
use cogtcp_units::{Duration, Time};
use std::sync::Arc;

/// All primary users, wherever they are and on whatever channel: TFRC-CR's released code asks so.
#[derive(Debug)]
struct PrimaryUsers(Arc<Air>);

impl SpectrumDatabase for PrimaryUsers {
    fn departure(&self, now: Time, span: Duration) -> Option<Time> {
        let users = self.0.activity.users.iter().map(|user| &user.activity);
        let active = users.into_iter().find(|activity| activity.overlaps(now, now + span))?;
        Some(active.next_departure(now))
    }
}

/// Returns a database of the primary users of `air`.
pub fn database(air: &Arc<Air>) -> Arc<dyn SpectrumDatabase> {
    Arc::new(PrimaryUsers(Arc::clone(air)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_spectrum::propagation::Position;
    use cogtcp_spectrum::{Channel, ChannelTable, Intervals, OnInterval, PrimaryUser, PuActivity, Reach};

    /// The first primary user of the list that is active within the span, and its departure; nobody beside
    /// it.
    #[test]
    fn the_database_knows_who_is_there_and_until_when() {
        let user = |spans: &[(u64, u64)]| PrimaryUser {
            id: 0,
            position: Position::new(0.0, 0.0),
            band: 1,
            reach: Reach::default(),
            activity: Intervals::new(
                spans
                    .iter()
                    .map(|(arrival, departure)| OnInterval {
                        arrival: Time::from_millis(*arrival),
                        departure: Time::from_millis(*departure),
                    })
                    .collect(),
            )
            .unwrap(),
        };
        let users = vec![user(&[(100, 200), (900, 1000)]), user(&[(150, 300)])];
        let channels = ChannelTable::new(
            1,
            1,
            vec![Channel::clean(cogtcp_units::Rate::from_bits_per_second(1_000_000))],
            None,
        )
        .unwrap();
        let database = database(&Arc::new(Air::new(PuActivity { users }, channels)));
        let ask = |millis| database.departure(Time::from_millis(millis), Duration::from_millis(1));
        assert_eq!([ask(0), ask(98), ask(300)], [None; 3]);
        assert_eq!(
            [ask(99), ask(150), ask(199)],
            [None, Some(Time::from_millis(200)), Some(Time::from_millis(200))]
        );
        assert_eq!([ask(200), ask(950)], [Some(Time::from_millis(300)), Some(Time::from_millis(1000))]);
    }
}
