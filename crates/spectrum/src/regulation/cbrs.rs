//! CBRS: the grant of a CBSD (a base station), as its Spectrum Access System (SAS) gives, renews, suspends
//! and ends it.
//!
//! WINNF-TS-0016 section 8.5 (grant) and 8.6 (heartbeat); 47 CFR 96.39(c)(2): a CBSD follows an instruction
//! of its SAS within 60 s. The parameters of a grant never change. A SAS that wants other ones ends the grant
//! and suggests them (operationParam, section 8.6).

use crate::ChannelId;
use cogtcp_units::{Decibel, Duration, Time};

/// operationParam: the frequencies and the power of a grant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Operation {
    /// operationFrequencyRange.
    pub channel: ChannelId,
    /// By how much maxEirp is below the power of the CBSD.
    pub reduction: Decibel,
}

impl Operation {
    /// Whether maxEirp is below the power of the CBSD.
    pub fn is_reduced(&self) -> bool {
        self.reduction.0 > 0.0
    }
}

/// How a CBSD behaves within the rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CbsdTimers {
    /// From an instruction to stop, or from transmitExpireTime, to the last transmission: at most 60 s.
    pub stop: Duration,
    /// After how long a refused grant is asked for again.
    pub retry: Duration,
}

impl CbsdTimers {
    /// The longest time to stop (47 CFR 96.39(c)(2); WINNF-TS-0016 section 8.6).
    pub const LONGEST_STOP: Duration = Duration::from_secs(60);
}

/// State of a grant (WINNF-TS-0016 section 8.6, figure of the grant's state machine).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GrantState {
    /// There is none.
    Idle,
    /// There is one, without the right to transmit.
    Granted,
    /// It has the right to transmit, until transmitExpireTime.
    Authorized,
}

/// What a CBSD asks its SAS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SasRequest {
    /// A grant, with the parameters that the SAS has suggested, if it has.
    Grant(Option<Operation>),
    /// A heartbeat, with operationState.
    Heartbeat(GrantState),
}

/// What a SAS answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SasAnswer {
    /// A grant until grantExpireTime, whose heartbeats come at heartbeatInterval.
    Grant {
        /// operationParam.
        operation: Operation,
        /// grantExpireTime.
        expires: Time,
        /// heartbeatInterval.
        heartbeat: Duration,
    },
    /// No grant (response code 400 or 401).
    Refused,
    /// The right to transmit until transmitExpireTime (response code 0).
    Authorized {
        /// transmitExpireTime.
        until: Time,
    },
    /// SUSPENDED_GRANT, 501: stop, keep the grant and go on with heartbeats.
    Suspended,
    /// TERMINATED_GRANT, 500: stop, and give the grant up. With operationParam: ask at once for a grant with
    /// these parameters.
    Terminated(Option<Operation>),
}

/// A CBSD and its grant.
#[derive(Clone, Debug)]
pub struct Cbsd {
    timers: CbsdTimers,
    state: GrantState,
    /// grantExpireTime.
    expires: Time,
    heartbeat: Duration,
    /// transmitExpireTime.
    transmits_until: Time,
    /// When it asks next.
    asks_at: Time,
    /// Until when it is still on the air though it has no right any more.
    closes_at: Time,
    /// The parameters of its grant.
    granted: Operation,
    /// The parameters that it transmits with, or did last.
    used: Operation,
    /// What the SAS has suggested.
    suggested: Option<Operation>,
}

impl Cbsd {
    /// Returns a registered CBSD without a grant, which asks for one at time zero.
    pub fn new(timers: CbsdTimers) -> Self {
        Self {
            // The limit of 47 CFR 96.39(c)(2) binds, whatever the setting says.
            timers: CbsdTimers { stop: timers.stop.min(CbsdTimers::LONGEST_STOP), ..timers },
            state: GrantState::Idle,
            expires: Time::MAX,
            heartbeat: timers.retry,
            transmits_until: Time::ZERO,
            asks_at: Time::ZERO,
            closes_at: Time::ZERO,
            granted: Operation::default(),
            used: Operation::default(),
            suggested: None,
        }
    }

    /// It asks for this channel first.
    pub fn prefer(&mut self, channel: ChannelId) {
        self.granted.channel = channel;
    }

    /// Returns the state of the grant.
    pub fn state(&self) -> GrantState {
        self.state
    }

    /// Returns whether it is on the air at `now`.
    pub fn transmits(&self, now: Time) -> bool {
        (self.state == GrantState::Authorized && now < self.transmits_until) || now < self.closes_at
    }

    /// Returns the parameters of its grant, or of its last one.
    pub fn granted(&self) -> Operation {
        self.granted
    }

    /// Returns what it transmits with at `now`, and until when, as things are.
    pub fn on_air(&self, now: Time) -> Option<(Operation, Time)> {
        let rightful = self.transmits_until.min(self.expires) + self.timers.stop;
        let until = if self.state == GrantState::Authorized { rightful } else { self.closes_at };
        (now < until).then_some((self.used, until))
    }

    /// Returns when [`advance`](Self::advance) is to be called.
    pub fn next_change(&self) -> Time {
        let expiry = match self.state {
            GrantState::Authorized => self.transmits_until.min(self.expires),
            GrantState::Granted => self.expires,
            GrantState::Idle => Time::MAX,
        };
        self.asks_at.min(expiry)
    }

    /// Does what is due at `now`. Returns what it asks its SAS.
    pub fn advance(&mut self, now: Time) -> Option<SasRequest> {
        if self.state == GrantState::Authorized && self.transmits_until <= now {
            // transmitExpireTime has passed without a heartbeat that moved it.
            self.state = GrantState::Granted;
            self.closes_at = self.transmits_until + self.timers.stop;
        }
        if self.state != GrantState::Idle && self.expires <= now {
            // From the expiry, not from now: a late call must not lengthen the transmission.
            self.give_up(self.expires);
            self.asks_at = self.asks_at.min(now + self.timers.retry);
        }
        if self.asks_at > now {
            return None;
        }
        if self.state == GrantState::Idle {
            self.asks_at = now + self.timers.retry;
            // A suggestion is followed once; later requests are for what the CBSD had.
            return Some(SasRequest::Grant(self.suggested.take()));
        }
        // An answer that never comes is asked for again.
        self.asks_at = now + self.heartbeat;
        Some(SasRequest::Heartbeat(self.state))
    }

    /// The SAS answers.
    pub fn hear(&mut self, now: Time, answer: SasAnswer) {
        match answer {
            SasAnswer::Grant { operation, expires, heartbeat } if self.state == GrantState::Idle => {
                (self.state, self.expires, self.heartbeat) = (GrantState::Granted, expires, heartbeat);
                self.granted = operation;
                // The first heartbeat asks for the right to transmit.
                self.asks_at = now;
            }
            // It has a grant, and the parameters of a grant never change.
            SasAnswer::Grant { .. } => {}
            SasAnswer::Refused => self.asks_at = now + self.timers.retry,
            SasAnswer::Authorized { until } if self.state != GrantState::Idle => {
                // The right to transmit ends with the grant at the latest.
                (self.state, self.transmits_until) = (GrantState::Authorized, until.min(self.expires));
                // What it closed with other parameters ends here.
                (self.closes_at, self.used) = (Time::ZERO, self.granted);
            }
            // An answer about a grant that is over.
            SasAnswer::Authorized { .. } => {}
            SasAnswer::Suspended if self.state == GrantState::Authorized => {
                self.stop(now);
                self.state = GrantState::Granted;
            }
            // Nothing is on the air by this grant.
            SasAnswer::Suspended => {}
            SasAnswer::Terminated(suggested) => {
                self.give_up(now);
                self.suggested = suggested;
                self.asks_at = if suggested.is_some() { now } else { now + self.timers.retry };
            }
        }
    }

    fn give_up(&mut self, at: Time) {
        if self.state == GrantState::Authorized {
            self.stop(at);
        }
        self.state = GrantState::Idle;
    }

    /// It stops within its time, and not later than if nothing had been said.
    fn stop(&mut self, at: Time) {
        self.closes_at = at.min(self.transmits_until) + self.timers.stop;
    }
}
