//! Messages of a train's router, for `cogtcp freeze trigger`.

use crate::errors::input_error;
use cogtcp_train::RouterMessage;
use cogtcp_train::wire::{self, sealed};
use cogtcp_units::{Duration, Time};
use pyo3::prelude::*;
use std::borrow::Cow;

/// A key of 32 bytes, with the counter and the sending time (us since 1970) of this message.
type Seal = (Vec<u8>, u64, u64);

/// Returns what a router says: `down` (with its times from now in us), `up` or `request`; sealed if there is
/// a key.
#[pyfunction]
pub(crate) fn write_freeze_message(
    py: Python<'_>,
    kind: &str,
    start_us: u64,
    until_us: u64,
    seal: Option<Seal>,
) -> PyResult<Cow<'static, [u8]>> {
    let from_now = |micros: u64| Time::ZERO + Duration::from_nanos(micros.saturating_mul(1000));
    let message = match kind {
        "down" => {
            RouterMessage::GoingDown { prediction: 0, start: from_now(start_us), until: from_now(until_us) }
        }
        "up" => RouterMessage::GoingUp,
        _ => RouterMessage::Request,
    };
    let Some((key, counter, sent_us)) = seal else {
        return Ok(wire::encode(message, Time::ZERO).to_vec().into());
    };
    let stamp = sealed::Freshness { counter, sent_us };
    Ok(sealed::seal(message, Time::ZERO, &key_of(py, &key)?, stamp).to_vec().into())
}

/// Reads the reply to a request; `seal` is the key and the request's counter. `None`: the datagram is not
/// that reply. Else the round-trip time in us, 0 if none is known.
#[pyfunction]
pub(crate) fn read_freeze_reply(
    py: Python<'_>,
    datagram: &[u8],
    seal: Option<(Vec<u8>, u64)>,
) -> PyResult<Option<u64>> {
    let message = match seal {
        None => wire::decode(datagram, Time::ZERO),
        Some((key, counter)) => sealed::open(datagram, Time::ZERO, &key_of(py, &key)?)
            // A reply to an earlier request, or one that somebody repeats, has another counter.
            .filter(|(_, stamp)| stamp.counter == counter)
            .map(|(message, _)| message),
    };
    Ok(match message {
        Some(RouterMessage::Reply { rtt }) => Some(rtt.map_or(0, |rtt| rtt.as_nanos() / 1000)),
        _ => None,
    })
}

fn key_of(py: Python<'_>, bytes: &[u8]) -> PyResult<sealed::Key> {
    let bytes = bytes.try_into().map_err(|_| input_error(py, "a key has 32 bytes"))?;
    Ok(sealed::Key::new(bytes))
}
