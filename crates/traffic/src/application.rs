//! Applications that ask and are answered: the client sends requests, the server's responses are the data of
//! a connection.

use crate::{RequestConfig, Requests, Video, VideoConfig};
use cogtcp_units::{Duration, RandomStream, Time};
use std::fmt::Debug;

/// The client of an application, without a clock. Its driver sends a request when one is due and reports when
/// its response is complete.
pub trait Client: Debug + Send {
    /// When the next request is due; [`Time::MAX`]: not before a response.
    fn next_request(&self) -> Time;

    /// The request that was due is sent: its own size and its response's, in bytes.
    fn send(&mut self, now: Time) -> Request;

    /// The response to the request of this number, from 0, has come in full.
    fn handle_response(&mut self, now: Time, number: usize);
}

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

/// A request and what became of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Exchange {
    /// When it was sent first.
    pub sent: Time,
    /// Payload of the response, bytes.
    pub response: u64,
    /// When the last byte of the response came; `None`: it has not.
    pub completed: Option<Time>,
}

impl Exchange {
    /// The flow completion time: from the request to the last byte of its response.
    pub fn completion_time(&self) -> Option<Duration> {
        self.completed.map(|completed| completed - self.sent)
    }
}

/// The client of a flow, whichever it is.
#[derive(Debug)]
pub enum Application {
    /// It sends requests.
    Requests(Box<Requests>),
    /// It plays a video.
    Video(Video),
}

impl Application {
    /// Returns the requests of the flow of this name, in the run of seed `seed`. Every driver, under any
    /// clock, gets the same draws.
    pub fn requests(config: RequestConfig, name: &str, start: Time, seed: u64) -> Self {
        let stream = RandomStream::new(seed, &format!("requests/{name}"), 0);
        Self::Requests(Box::new(Requests::new(config, start, stream)))
    }

    /// A player that asks for its first chunk at `start`.
    pub fn video(config: VideoConfig, start: Time) -> Self {
        Self::Video(Video::new(config, start))
    }
}

impl Client for Application {
    fn next_request(&self) -> Time {
        match self {
            Self::Requests(requests) => requests.next_request(),
            Self::Video(video) => video.next_request(),
        }
    }

    fn send(&mut self, now: Time) -> Request {
        match self {
            Self::Requests(requests) => requests.send(now),
            Self::Video(video) => video.send(now),
        }
    }

    fn handle_response(&mut self, now: Time, number: usize) {
        match self {
            Self::Requests(requests) => requests.handle_response(now, number),
            Self::Video(video) => video.handle_response(now, number),
        }
    }
}
