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
