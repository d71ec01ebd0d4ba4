//! Applications that ask and are answered: the client sends requests, the server's responses are the data of
//! a connection.

use crate::Video;
use cogtcp_units::{Duration, Time};
use std::fmt::Debug;

/// The client of an application, without a clock. Its driver sends a request when one is due and reports when
/// its response is complete.
pub trait Client: Debug + Send + Sync {
    /// When the next request is due; [`Time::MAX`]: not before a response.
    fn next_request(&self) -> Time;

    /// The request that was due is sent: its own size and its response's, in bytes.
    fn send(&mut self, now: Time) -> Request;

    /// The response to the request of this number, from 0, has come in full.
    fn handle_response(&mut self, now: Time, number: usize);

    /// Every request so far, for the tables of requests.
    fn exchanges(&self) -> &[RequestRecord];

    /// Returns the video, which has tables of its own, if the client is one.
    fn as_video(&self) -> Option<&Video> {
        None
    }
}

/// The client of a flow, whichever it is.
pub type Application = Box<dyn Client>;

/// A request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Request {
    /// Its number, from 0.
    pub number: usize,
    /// Payload of the request, bytes.
    pub size: u32,
    /// Payload of the response, bytes.
    pub response: u64,
}

/// A request and its outcome.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RequestRecord {
    /// When it was sent first.
    pub sent: Time,
    /// Payload of the response, bytes.
    pub response: u64,
    /// When the last byte of the response came; `None`: it has not.
    pub completed: Option<Time>,
}

impl RequestRecord {
    /// The flow completion time: from the request to the last byte of its response.
    pub fn completion_time(&self) -> Option<Duration> {
        self.completed.map(|completed| completed - self.sent)
    }
}
