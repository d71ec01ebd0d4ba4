//! The primary users' comings and goings, for the record of events: nothing else hears of these events.
//! Without such a record they are left out, and the run is the same.

use crate::event::Event;
use crate::options::{RunError, TraceLevel};
use crate::parts::{Part, Plan, World, codes};
use cogtcp_network::Tally;
use cogtcp_spectrum::air::Air;
use cogtcp_units::Time;
use std::ops::Range;
use std::sync::Arc;

/// Who is ON when.
#[derive(Debug)]
pub(crate) struct PrimaryUsers {
    air: Arc<Air>,
}

impl PrimaryUsers {
    /// The users of an air, where events are recorded.
    pub(crate) fn build(plan: &mut Plan<'_, '_>) -> Result<Option<Box<dyn Part>>, RunError> {
        let air = plan.plane.network.spectrum().filter(|_| plan.trace >= TraceLevel::Full);
        Ok(air.map(|air| Box::new(Self { air: Arc::clone(air) }) as Box<dyn Part>))
    }

    fn event(number: usize) -> Event {
        Event::Part(codes::PRIMARY_USERS.start + number as u32)
    }
}

impl Part for PrimaryUsers {
    fn events(&self) -> Range<u32> {
        codes::PRIMARY_USERS
    }

    fn begin(&mut self, world: &mut World<'_>) {
        for (number, user) in self.air.activity.users.iter().enumerate() {
            world.plane.schedule(user.activity.next_arrival(Time::ZERO), Self::event(number));
        }
    }

    fn handle_event(&mut self, now: Time, number: u32, world: &mut World<'_>) -> Tally {
        let user = &self.air.activity.users[number as usize];
        let intervals = &user.activity;
        // At the instant of an arrival a user is ON, at that of a departure OFF.
        let is_on = intervals.is_on(now);
        world.plane.recorder.trace.primary_user(now, user.id, user.band, is_on);
        let next = if is_on { intervals.next_departure(now) } else { intervals.next_arrival(now) };
        world.plane.schedule(next, Self::event(number as usize));
        Tally::Observation
    }
}
