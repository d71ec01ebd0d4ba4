//! How long a user without a grant waits before its first uplink data: scheduling request, grant, data.

use crate::frame::{Direction, SlotPattern};
use cogtcp_units::{Duration, Time};

/// The times of a request (LTE FDD: 4 ms from request to grant, 4 ms from grant to data, TS 36.213
/// section 8).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestTimes {
    /// Distance of a user's opportunities to request. LTE has 1 to 80 ms.
    pub period: Duration,
    /// The first opportunity.
    pub offset: Duration,
    /// From the end of the slot of the request to the grant, at the earliest.
    pub to_grant: Duration,
    /// From the beginning of the slot of the grant to the data, at the earliest.
    pub to_data: Duration,
}

impl RequestTimes {
    /// Returns when the slot begins that carries the data of a user that has had none until `now`.
    pub fn data_at(&self, frame: &SlotPattern, now: Time) -> Time {
        // At most one opportunity per slot; the division needs a period above zero.
        let period = self.period.max(frame.slot()).as_nanos();
        let offset = self.offset.as_nanos();
        // Before the first opportunity the first is the next.
        let turn = now.as_nanos().saturating_sub(offset).div_ceil(period);
        let opportunity = Time::from_nanos(offset + turn * period);
        let (request, _) = frame.next(Direction::Uplink, opportunity);
        self.granted_at(frame, request)
    }

    /// Returns when the slot begins whose data the base station grants on what it hears in the uplink slot at
    /// `heard`.
    pub fn granted_at(&self, frame: &SlotPattern, heard: Time) -> Time {
        let (grant, _) = frame.next(Direction::Downlink, heard + frame.slot() + self.to_grant);
        frame.next(Direction::Uplink, grant + self.to_data).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carrier::Technology;

    /// FDD: a request at 2, 12, 22 ms; the grant 3 ms after the end of its slot, data 4 ms after the grant.
    #[test]
    fn a_request_waits_for_its_opportunity() {
        let frame = SlotPattern::fdd(Technology::Lte.slot()).unwrap();
        let millis = Duration::from_millis;
        let times = |period, offset| RequestTimes { period, offset, to_grant: millis(3), to_data: millis(4) };
        let data = |times: &RequestTimes, micros: u64| {
            times.data_at(&frame, Time::from_nanos(micros * 1000)).as_nanos() / 1000
        };
        let ten = times(millis(10), millis(2));
        for (now, expected) in
            [(0, 10_000), (2_000, 10_000), (2_001, 20_000), (12_000, 20_000), (12_001, 30_000)]
        {
            assert_eq!(data(&ten, now), expected, "{now}");
        }
        // At most one opportunity in a slot, whatever the period says.
        let often = times(Duration::from_micros(1), Duration::ZERO);
        assert_eq!((data(&often, 0), data(&often, 1), data(&often, 1_000)), (8_000, 9_000, 9_000));
        assert_eq!(data(&times(Duration::ZERO, Duration::ZERO), 1), 9_000);
    }
}
