//! Calls of packetdrill: what they return, and calls that wait.

use super::{Mismatch, Player, ScriptPlane, differs};
use crate::script::{Call, CallError, Errno, Returns, Step, System, When};
use cogtcp_units::{Duration, Time};

/// A call that waits for the connection.
#[derive(Debug)]
pub(super) struct Blocked {
    step: Step,
    /// The rest of the step.
    call: Call,
    /// What it has done.
    done: u64,
    returns: Returns,
    /// When it is to return.
    due: Time,
    early: Duration,
    late: Duration,
}

impl Blocked {
    pub(super) fn mismatch(&self, now: Time, what: &str) -> Mismatch {
        differs(&self.step, now, what.to_owned(), "")
    }
}

impl<P: ScriptPlane> Player<'_, P> {
    /// Makes a call, and compares what it returns.
    pub(super) fn system(&mut self, step: &Step, system: &System, now: Time) -> Result<(), Mismatch> {
        self.record(now, step.text.clone());
        let System { call, returns, until, blocks } = *system;
        let due = match step.when {
            When::At(_) => until.map(|until| Time::ZERO + until),
            _ => until.map(|until| self.before.latest + until),
        };
        let got = self.plane.call(call);
        let waits = match (call, &got) {
            // The script waits for the connection, or says that it does not.
            (Call::Connect, Err(CallError::Errno(Errno::InProgress))) => returns == Returns::Done,
            (Call::Accept | Call::Read(_), Err(CallError::Errno(Errno::WouldBlock))) => blocks,
            (Call::Write(_), Err(CallError::Errno(Errno::WouldBlock))) => blocks,
            (Call::Write(wanted), Ok(wrote)) => blocks && *wrote < wanted,
            _ => false,
        };
        // A script that expects EAGAIN does not wait, whatever the socket's mode.
        if !waits || returns == Returns::Error(Errno::WouldBlock) {
            return returned(step, now, returns, &got);
        }
        let done = *got.as_ref().unwrap_or(&0);
        let call = match call {
            Call::Write(bytes) => Call::Write(bytes - done),
            Call::Connect => Call::FinishConnect,
            other => other,
        };
        let (early, late) = (self.early(step), self.late(step));
        // Without an end time the call is to return at once.
        let due = due.unwrap_or(now);
        self.blocked = Some(Blocked { step: step.clone(), call, done, returns, due, early, late });
        Ok(())
    }

    /// Lets the call that waits go on, if it can.
    pub(super) fn resume(&mut self) -> Result<(), Mismatch> {
        let Some(mut blocked) = self.blocked.take() else { return Ok(()) };
        let now = self.plane.now();
        let got = self.plane.call(blocked.call);
        match (blocked.call, &got) {
            (_, Err(CallError::Errno(Errno::WouldBlock | Errno::InProgress))) => {
                if now > blocked.due + blocked.late {
                    return Err(blocked.mismatch(now, "the call has not returned in time"));
                }
                self.blocked = Some(blocked);
                return Ok(());
            }
            (Call::Write(left), Ok(wrote)) => {
                blocked.done += wrote;
                if *wrote < left {
                    blocked.call = Call::Write(left - wrote);
                    self.blocked = Some(blocked);
                    return Ok(());
                }
            }
            (_, Ok(number)) => blocked.done = *number,
            (_, Err(_)) => {}
        }
        if now + blocked.early < blocked.due {
            return Err(blocked.mismatch(now, "the call returned before its time"));
        }
        let got = got.map(|_| blocked.done);
        returned(&blocked.step, now, blocked.returns, &got)
    }
}

/// Compares what a call returned.
fn returned(step: &Step, now: Time, wanted: Returns, got: &Result<u64, CallError>) -> Result<(), Mismatch> {
    let is_so = match (wanted, got) {
        (Returns::Done, Ok(_)) => true,
        (Returns::Number(wanted), Ok(got)) => wanted == *got,
        (Returns::Error(wanted), Err(CallError::Errno(got))) => wanted == *got,
        _ => false,
    };
    if is_so {
        return Ok(());
    }
    let shown = match got {
        Ok(number) => format!("it returned {number}"),
        Err(error) => error.to_string(),
    };
    Err(differs(step, now, "the call returned something else".to_owned(), &shown))
}
