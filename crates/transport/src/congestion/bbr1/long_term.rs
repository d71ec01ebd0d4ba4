//! The bandwidth of a policer (Linux's `bbr_lt_bw_sampling`). If whole intervals lose a fifth of the packets
//! or more, and two intervals agree on the rate, this rate holds for 48 rounds.

use super::{PACED_MICROS, UNIT, bandwidth, bytes_per_second};
use crate::congestion::TcpState;
use cogtcp_units::Time;

/// bbr_lt_intvl_min_rtts, bbr_lt_bw_max_rtts.
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 48;
/// bbr_lt_loss_thresh.
const LOSS: u64 = 50;
/// bbr_lt_bw_ratio and bbr_lt_bw_diff.
const CLOSE_RATIO: u64 = UNIT / 8;
const CLOSE_BYTES: u64 = 4000 / 8;

/// The sampling. Rates are in 2^-24 segments per microsecond.
#[derive(Clone, Debug, Default)]
pub(super) struct LongTerm {
    enabled: bool,
    in_use: bool,
    sampling: bool,
    rate: u64,
    rounds: u32,
    since: Time,
    delivered: u64,
    lost: u64,
}

impl LongTerm {
    pub(super) fn new(enabled: bool) -> Self {
        Self { enabled, ..Self::default() }
    }

    /// The policer's rate, if one was found.
    pub(super) fn rate(&self) -> Option<u64> {
        self.in_use.then_some(self.rate)
    }

    /// bbr_reset_lt_bw_sampling().
    pub(super) fn reset(&mut self, tcp: &TcpState) {
        (self.rate, self.in_use, self.sampling) = (0, false, false);
        self.begin_interval(tcp);
    }

    fn begin_interval(&mut self, tcp: &TcpState) {
        self.since = tcp.delivered_at;
        (self.delivered, self.lost) = (tcp.delivered, tcp.lost);
        self.rounds = 0;
    }

    /// An ACK with a rate sample. True: the rate found before has had its time, and ProbeBW begins again.
    pub(super) fn sample(
        &mut self,
        tcp: &TcpState,
        losses: bool,
        app_limited: bool,
        round_start: bool,
        probing: bool,
    ) -> bool {
        if !self.enabled {
            return false;
        }
        if self.in_use {
            if probing && round_start {
                self.rounds += 1;
                if self.rounds >= MOST_ROUNDS {
                    self.reset(tcp);
                    return true;
                }
            }
            return false;
        }
        if !self.sampling {
            // It begins with the first loss, when the policer's tokens are used up.
            if !losses {
                return false;
            }
            self.begin_interval(tcp);
            self.sampling = true;
        }
        if app_limited {
            self.reset(tcp);
            return false;
        }
        self.rounds += u32::from(round_start);
        if self.rounds < LEAST_ROUNDS {
            return false;
        }
        if self.rounds > 4 * LEAST_ROUNDS {
            self.reset(tcp);
            return false;
        }
        // The interval ends with a loss, when the tokens are used up again.
        if !losses {
            return false;
        }
        let (lost, delivered) = (tcp.lost - self.lost, tcp.delivered - self.delivered);
        let (lost, delivered) = (lost.div_ceil(tcp.mss), delivered.div_ceil(tcp.mss));
        let millis = in_millis(tcp.delivered_at) - in_millis(self.since);
        if delivered == 0 || lost * UNIT < LOSS * delivered || millis == 0 {
            return false;
        }
        self.end_interval(tcp, bandwidth(delivered, 1000 * millis));
        false
    }

    /// bbr_lt_bw_interval_done().
    fn end_interval(&mut self, tcp: &TcpState, rate: u64) {
        let difference = rate.abs_diff(self.rate);
        let is_close = difference * UNIT <= CLOSE_RATIO * self.rate
            || bytes_per_second(difference, UNIT, PACED_MICROS, tcp) <= CLOSE_BYTES;
        if self.rate > 0 && is_close {
            self.rate = u64::midpoint(self.rate, rate);
            self.in_use = true;
            self.rounds = 0;
            return;
        }
        self.rate = rate;
        self.begin_interval(tcp);
    }
}

/// An interval is measured in whole milliseconds.
const fn in_millis(time: Time) -> u64 {
    time.as_nanos() / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{MSS, tcp};

    /// Intervals of four rounds of 100 ms; so many of 100 segments arrive.
    fn interval(long_term: &mut LongTerm, tcp: &mut TcpState, arrived: u64) {
        for round in 0..5 {
            tcp.delivered += arrived * MSS;
            tcp.lost += (100 - arrived) * MSS;
            tcp.delivered_at += cogtcp_units::Duration::from_millis(100);
            long_term.sample(tcp, true, false, round > 0, true);
        }
    }

    /// 70 of 100 segments a round, twice: 700 kB/s holds for 48 rounds.
    #[test]
    fn a_policer_is_found_and_forgotten() {
        let (mut long_term, mut tcp) = (LongTerm::new(true), tcp(100));
        for _ in 0..2 {
            assert_eq!(long_term.rate(), None);
            interval(&mut long_term, &mut tcp, 70);
        }
        let rate = long_term.rate().expect("two intervals agree");
        // 350 segments in 500 ms.
        assert_eq!(rate, (350 << 24) / 500_000);
        for round in 1..=48 {
            assert_eq!(long_term.sample(&tcp, false, false, true, true), round == 48);
        }
        assert_eq!(long_term.rate(), None);
    }

    /// 90 of 100 arrive: too few losses for a policer. Switched off, it finds none at all.
    #[test]
    fn random_losses_are_no_policer() {
        for (enabled, arrived) in [(true, 90), (false, 70)] {
            let (mut long_term, mut tcp) = (LongTerm::new(enabled), tcp(100));
            for _ in 0..6 {
                interval(&mut long_term, &mut tcp, arrived);
            }
            assert_eq!(long_term.rate(), None, "{arrived}");
        }
    }
}
