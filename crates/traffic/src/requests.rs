//! Requests and their responses: the web, a database, anything that asks and waits.

use crate::application::{Application, Client, Request, RequestRecord};
use crate::{Bounds, Period, TrafficKind, Volume};
use cogtcp_units::{Bytes, Check, Duration, RandomStream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A client that asks a server, over one connection that stays open or over a new one each time.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RequestConfig {
    /// Payload of a response.
    pub response: Volume,
    /// Payload of a request; one packet.
    #[serde(default = "request_size")]
    pub request: Bytes,
    /// When requests are sent.
    #[serde(default)]
    pub pace: Pace,
    /// What a request and its response travel over.
    #[serde(default)]
    pub connection: Connection,
}

/// What a request and its response travel over.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Connection {
    /// One connection for all, which stays open: HTTP/1.1, a database. Each response starts with the window
    /// that the earlier responses left.
    #[default]
    Persistent,
    /// A connection of its own, closed after the response. The handshake is part of the completion time, and
    /// each connection begins in slow start (HTTP/1.0; the short flows of many studies). Requests follow each
    /// other: `pace` is `think`.
    New,
}

/// When requests are sent. The first is sent at the start of the flow.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pace {
    /// Time from a response to the next request (closed loop): users who wait and think.
    Think(Period),
    /// Time between the starts of two requests (open loop: no request waits for a response): many users.
    /// Exponential: a Poisson process.
    Every(Period),
}

impl Default for Pace {
    /// Each request is sent as soon as the one before is answered.
    fn default() -> Self {
        Self::Think(Period::Fixed(Duration::ZERO))
    }
}

pub(crate) fn request_size() -> Bytes {
    Bytes::new(300)
}

/// The largest payload of a request: one packet of an Ethernet.
const LARGEST_REQUEST: u64 = 1460;

/// Checks the size of a request.
pub(crate) fn check_request(request: Bytes, check: &mut dyn Check) {
    if !(1..=LARGEST_REQUEST).contains(&request.get()) {
        let message = format!("\"{request}\" is not a payload of a single packet");
        check.error("request", message, format!("write \"1 B\" to \"{LARGEST_REQUEST} B\""));
    }
}

impl TrafficKind for RequestConfig {
    fn name(&self) -> &'static str {
        "requests"
    }

    fn check(&self, bounds: &Bounds, check: &mut dyn Check) {
        let most = bounds.size;
        check_request(self.request, check);
        let mean = self.response.mean();
        if !(1..=most.get()).contains(&mean.get()) {
            let remedy = format!("write \"1 B\" to \"{most}\"");
            check.error("response", format!("\"{mean}\" is out of range"), remedy);
        }
        if matches!(self.response, Volume::Pareto { shape, .. } if !(shape > 1.0 && shape <= 100.0)) {
            let remedy = "write a shape above 1 (to 100), for example 1.2".to_owned();
            check.error("response", "the shape has no mean".to_owned(), remedy);
        }
        let (Pace::Think(period) | Pace::Every(period)) = self.pace;
        if let Some((message, remedy)) = period.wrong(matches!(self.pace, Pace::Think(_))) {
            check.error("pace", message.to_owned(), remedy.to_owned());
        }
        if let (Connection::New, Pace::Every(_)) = (self.connection, self.pace) {
            let message = "a request that is due before the response to the last would need a second connection at once";
            let remedy =
                "write pace = { think = ... }, and count = 20 on the flow for twenty users at a time";
            check.error("connection", message.to_owned(), remedy.to_owned());
        }
    }

    fn is_random(&self) -> bool {
        let (Pace::Think(period) | Pace::Every(period)) = self.pace;
        self.response.is_random() || !matches!(period, Period::Fixed(_))
    }

    fn opens_anew(&self) -> bool {
        self.connection == Connection::New
    }

    fn client(&self, name: &str, start: Time, seed: u64) -> Option<Application> {
        let stream = RandomStream::new(seed, &format!("requests/{name}"), 0);
        Some(Box::new(Requests::new(*self, start, stream)))
    }
}

/// A client that sends requests.
#[derive(Debug)]
pub struct Requests {
    config: RequestConfig,
    stream: RandomStream,
    next: Time,
    exchanges: Vec<RequestRecord>,
}

impl Requests {
    /// A client that sends its first request at `start`; `stream` makes all random choices.
    pub fn new(config: RequestConfig, start: Time, stream: RandomStream) -> Self {
        Self { config, stream, next: start, exchanges: Vec::new() }
    }
}

impl Client for Requests {
    fn exchanges(&self) -> &[RequestRecord] {
        &self.exchanges
    }

    fn next_request(&self) -> Time {
        self.next
    }

    fn send(&mut self, now: Time) -> Request {
        // The size before the pause: another order of draws would be another result of the seed.
        let response = self.config.response.draw(&mut self.stream);
        self.next = match self.config.pace {
            Pace::Think(_) => Time::MAX,
            Pace::Every(period) => now + period.draw(&mut self.stream),
        };
        self.exchanges.push(RequestRecord { sent: now, response, completed: None });
        Request { number: self.exchanges.len() - 1, size: self.config.request.get() as u32, response }
    }

    fn handle_response(&mut self, now: Time, number: usize) {
        self.exchanges[number].completed = Some(now);
        if let Pace::Think(period) = self.config.pace {
            self.next = now + period.draw(&mut self.stream);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::testing::wrong;

    fn client(pace: Pace) -> Requests {
        let response = Volume::Fixed(Bytes::new(5000));
        let config =
            RequestConfig { response, request: Bytes::new(100), pace, connection: Connection::Persistent };
        Requests::new(config, Time::from_millis(10), RandomStream::new(1, "requests", 0))
    }

    /// Who thinks asks again 20 ms after the answer, and not before.
    #[test]
    fn a_closed_loop_waits_for_its_answer() {
        let mut client = client(Pace::Think(Period::Fixed(Duration::from_millis(20))));
        assert_eq!(client.next_request(), Time::from_millis(10));
        let request = client.send(Time::from_millis(10));
        assert_eq!(request, Request { number: 0, size: 100, response: 5000 });
        assert_eq!(client.next_request(), Time::MAX);
        client.handle_response(Time::from_millis(95), 0);
        assert_eq!(client.next_request(), Time::from_millis(115));
        assert_eq!(client.exchanges()[0].completion_time(), Some(Duration::from_millis(85)));
    }

    #[test]
    fn an_open_loop_does_not() {
        let mut client = client(Pace::Every(Period::Fixed(Duration::from_millis(20))));
        let times: Vec<u64> = (0..3)
            .map(|_| {
                let due = client.next_request();
                client.send(due);
                due.as_nanos() / 1_000_000
            })
            .collect();
        assert_eq!(times, [10, 30, 50]);
        client.handle_response(Time::from_millis(60), 1);
        assert_eq!(client.next_request(), Time::from_millis(70));
        let done: Vec<bool> = client.exchanges().iter().map(|it| it.completed.is_some()).collect();
        assert_eq!(done, [false, true, false]);
    }

    /// The bounds are 1000 B and 100 s. Who thinks may think for no time at all; who asks at intervals may not.
    #[test]
    fn settings_that_no_client_has_are_named() {
        let fixed = |ms| Period::Fixed(Duration::from_millis(ms));
        let right = RequestConfig {
            response: Volume::Fixed(Bytes::new(1000)),
            request: Bytes::new(1460),
            pace: Pace::default(),
            connection: Connection::New,
        };
        let open = RequestConfig { connection: Connection::Persistent, ..right };
        let response = |bytes| RequestConfig { response: Volume::Fixed(Bytes::new(bytes)), ..right };
        let tail = |shape| RequestConfig { response: Volume::Pareto { mean: Bytes::new(9), shape }, ..right };
        let cases: [(RequestConfig, &[&str]); 16] = [
            (right, &[]),
            (RequestConfig { request: Bytes::new(1), ..right }, &[]),
            (RequestConfig { request: Bytes::new(0), ..right }, &["request"]),
            (RequestConfig { request: Bytes::new(1461), ..right }, &["request"]),
            (response(0), &["response"]),
            (response(1), &[]),
            (response(1001), &["response"]),
            (tail(1.0), &["response"]),
            (tail(1.01), &[]),
            (tail(100.0), &[]),
            (tail(100.01), &["response"]),
            (RequestConfig { pace: Pace::Think(Period::Exponential(Duration::ZERO)), ..right }, &["pace"]),
            (RequestConfig { pace: Pace::Every(fixed(0)), ..open }, &["pace"]),
            (RequestConfig { pace: Pace::Every(fixed(1)), ..open }, &[]),
            (RequestConfig { pace: Pace::Every(fixed(1)), ..right }, &["connection"]),
            (RequestConfig { pace: Pace::Think(fixed(1)), ..open }, &[]),
        ];
        for (config, fields) in cases {
            assert_eq!(wrong(&config), fields, "{config:?}");
        }
        assert!(right.opens_anew() && !open.opens_anew() && right.needs_all());
        // Either draw makes two seeds differ.
        let pauses = Pace::Think(Period::Exponential(Duration::from_millis(1)));
        assert!(!right.is_random() && tail(2.0).is_random());
        assert!(RequestConfig { pace: pauses, ..right }.is_random());
        assert_eq!((Pace::default(), request_size()), (Pace::Think(fixed(0)), Bytes::new(300)));
        let client = right.client("flow", Time::from_millis(3), 1).unwrap();
        assert_eq!(client.next_request(), Time::from_millis(3));
        assert!(client.exchanges().is_empty() && client.as_video().is_none());
    }
}
