//! The state over time of a control of this project inside the kernel: lines that a privileged program writes
//! (`cogtcp-c2 watch`). So the emulator needs neither privileges nor libbpf.

use crate::clock::Clock;
use crate::sys;
use cogtcp_units::Time;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The state of a socket at a moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) at: Time,
    /// Names the socket (`SO_COOKIE`).
    pub(crate) cookie: u64,
    /// As the simulator's C2 shows them: names and values.
    pub(crate) values: [(&'static str, f64); 7],
}

/// The cookie of a socket; nobody else has it.
pub(crate) fn cookie(socket: BorrowedFd<'_>) -> Option<u64> {
    let mut bytes = [0; 8];
    sys::option(socket, libc::SOL_SOCKET, libc::SO_COOKIE, &mut bytes).ok()?;
    Some(u64::from_ne_bytes(bytes))
}

/// The lines, as they come.
#[derive(Debug)]
pub(crate) struct States {
    lines: OwnedFd,
    clock: Clock,
    begun: Vec<u8>,
}

impl States {
    /// `lines` does not block.
    pub(crate) fn new(lines: OwnedFd, clock: Clock) -> Self {
        Self { lines, clock, begun: Vec::new() }
    }

    /// Those that have come since the last call.
    pub(crate) fn take(&mut self) -> io::Result<Vec<Shown>> {
        let mut buffer = [0; 4096];
        // Zero bytes: whoever wrote has gone.
        while let Some(size @ 1..) = sys::ready(sys::read(self.lines.as_fd(), &mut buffer))? {
            self.begun.extend_from_slice(&buffer[..size]);
        }
        // The last line may be half written.
        let whole = self.begun.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let text: Vec<u8> = self.begun.drain(..whole).collect();
        let lines = String::from_utf8_lossy(&text);
        Ok(lines.lines().filter_map(|line| read(line, self.clock)).collect())
    }
}

/// Reads a line of `cogtcp-c2 watch`; `None`: it is none, or of before the run.
fn read(line: &str, clock: Clock) -> Option<Shown> {
    let numbers: Vec<u64> = line.split_ascii_whitespace().map(|it| it.parse().ok()).collect::<Option<_>>()?;
    let [at, cookie, n, estimate, bandwidth, dp, r, zone, frozen] = numbers[..] else { return None };
    // Zero says that there is none yet.
    let known = |number: u64, scale: f64| if number > 0 { number as f64 * scale } else { f64::NAN };
    let values = [
        ("n", n as f64),
        ("n_estimate", known(estimate, 1.0)),
        ("bandwidth_bps", known(bandwidth, 8.0)),
        ("dp_s", known(dp, 1e-9)),
        ("r_s", known(r, 1e-9)),
        ("zone", zone as f64),
        ("frozen", frozen as f64),
    ];
    Some(Shown { at: clock.at(at)?, cookie, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_when_they_are_whole() {
        let (reader, writer) = sys::pipe().unwrap();
        let clock = Clock::start();
        let now = sys::monotonic_nanos();
        let mut states = States::new(reader, clock);
        let line = format!("{now} 7 2 0 1250000 25000000 0 3 1\n");
        sys::write(writer.as_fd(), &line.as_bytes()[..10]).unwrap();
        sys::write(writer.as_fd(), &line.as_bytes()[10..]).unwrap();
        sys::write(writer.as_fd(), b"1 7 2 0 0 0 0 0 0\nnonsense\n").unwrap();
        drop(writer);
        let taken = states.take().unwrap();
        assert_eq!((taken.len(), taken[0].cookie), (1, 7), "before the run, and no line");
        let value = |name| taken[0].values.iter().find(|(known, _)| *known == name).unwrap().1;
        assert_eq!((value("n"), value("bandwidth_bps"), value("zone")), (2.0, 1e7, 3.0));
        assert_eq!((value("dp_s"), value("frozen")), (0.025, 1.0));
        assert!(value("n_estimate").is_nan() && value("r_s").is_nan());
        assert!(states.take().unwrap().is_empty());
    }
}
