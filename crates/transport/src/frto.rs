//! Forward RTO recovery (RFC 5682): where the algorithm stands, and what the next ACK decides.

/// Where F-RTO stands after a timeout.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Frto {
    /// Not running: conventional recovery.
    #[default]
    Idle,
    /// Step 1 is done: the first segment was retransmitted; its ACK is awaited (step 2).
    Retransmitted,
    /// Step 2 is done: up to two new segments go; the next ACK decides (step 3).
    NewData {
        /// New segments that may still go.
        budget: u8,
    },
}

/// What an ACK said, for F-RTO.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrtoAck {
    /// The cumulative acknowledgement moved.
    pub(crate) advances: bool,
    /// It did not, and the ACK is a duplicate, with new SACK information or without.
    pub(crate) duplicate: bool,
    /// It covers all of the segment that the timer retransmitted.
    pub(crate) covers_retransmitted: bool,
    /// It covers everything sent before the timeout (`recover`, RecoveryPoint).
    pub(crate) covers_recover: bool,
    /// It covers more than that.
    pub(crate) exceeds_recover: bool,
    /// A SACK block newly covers data sent before the timeout.
    pub(crate) sacks_old: bool,
    /// It newly covers, by acknowledgement or SACK, data sent before the timeout and never again.
    pub(crate) original: bool,
    /// A SACK block covers data sent after the timeout.
    pub(crate) sacks_new: bool,
    /// A new segment is there and the peer's window takes it.
    pub(crate) can_send_new: bool,
}

/// The consequence.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// Go on in this state.
    Continue(Frto),
    /// Not known to be spurious: conventional recovery.
    Conventional,
    /// As `Conventional`, with cwnd at most 3 segments (step 3a).
    ConventionalThree,
    /// The timeout was spurious (step 3b).
    Spurious,
}

impl Frto {
    /// New segments of step 2b.
    pub(crate) const NEW: u8 = 2;

    /// The ACK's consequence by the basic algorithm (RFC 5682 section 2.1).
    pub(crate) fn basic(self, ack: FrtoAck) -> Verdict {
        match self {
            Self::Idle => Verdict::Continue(self),
            // Step 2a: a duplicate, all of what was outstanding, or less than what was retransmitted. Step
            // 2b: new data, unless there is none to send.
            Self::Retransmitted if !ack.advances || ack.covers_recover || !ack.covers_retransmitted => {
                Verdict::Conventional
            }
            Self::Retransmitted if !ack.can_send_new => Verdict::Conventional,
            Self::Retransmitted => Verdict::Continue(Self::NewData { budget: Self::NEW }),
            // Steps 3a and 3b.
            Self::NewData { .. } if ack.advances => Verdict::Spurious,
            Self::NewData { .. } => Verdict::ConventionalThree,
        }
    }

    /// The ACK's consequence by the SACK-enhanced algorithm (RFC 5682 section 3.1).
    pub(crate) fn sack(self, ack: FrtoAck) -> Verdict {
        match self {
            Self::Idle => Verdict::Continue(self),
            // Step 2: duplicates only adjust the scoreboard; the first new acknowledgement decides. That it
            // covers all of what was retransmitted is asked as in section 2.1.
            Self::Retransmitted if !ack.advances => Verdict::Continue(self),
            Self::Retransmitted if ack.covers_recover || !ack.covers_retransmitted => Verdict::Conventional,
            Self::Retransmitted if !ack.can_send_new => Verdict::Conventional,
            Self::Retransmitted => Verdict::Continue(Self::NewData { budget: Self::NEW }),
            // Step 3a: data sent after the timeout arrived while older is missing, so the older was lost.
            Self::NewData { .. } if ack.sacks_new || ack.exceeds_recover => Verdict::ConventionalThree,
            // Step 3b: data sent before the timeout and not retransmitted arrived.
            Self::NewData { .. } if ack.advances || ack.sacks_old => Verdict::Spurious,
            // Step 3a again: a duplicate that tells nothing new.
            Self::NewData { .. } => Verdict::ConventionalThree,
        }
    }

    /// The ACK's consequence in Linux (`tcp_process_loss`), with SACK: step 3b is looked at first, and at
    /// every ACK; step 3a leaves cwnd as it is.
    pub(crate) fn linux(self, ack: FrtoAck) -> Verdict {
        match self {
            Self::Idle => Verdict::Continue(self),
            _ if ack.original => Verdict::Spurious,
            Self::NewData { .. } => Verdict::Conventional,
            Self::Retransmitted if !ack.advances => Verdict::Continue(self),
            Self::Retransmitted if ack.covers_recover || !ack.can_send_new => Verdict::Conventional,
            Self::Retransmitted => Verdict::Continue(Self::NewData { budget: Self::NEW }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack() -> FrtoAck {
        FrtoAck {
            advances: true,
            duplicate: false,
            covers_retransmitted: true,
            covers_recover: false,
            exceeds_recover: false,
            sacks_old: false,
            sacks_new: false,
            original: false,
            can_send_new: true,
        }
    }

    /// Linux: never retransmitted data decides at once; what is found lost leaves cwnd alone.
    #[test]
    fn the_rules_of_linux() {
        let original = FrtoAck { original: true, ..ack() };
        assert_eq!(Frto::Retransmitted.sack(original), Verdict::Continue(Frto::NewData { budget: 2 }));
        assert_eq!(Frto::Retransmitted.linux(original), Verdict::Spurious);
        assert_eq!(
            Frto::Retransmitted.linux(FrtoAck { covers_recover: true, ..original }),
            Verdict::Spurious
        );
        assert_eq!(Frto::Retransmitted.linux(ack()), Verdict::Continue(Frto::NewData { budget: 2 }));
        assert_eq!(
            Frto::Retransmitted.linux(FrtoAck { covers_recover: true, ..ack() }),
            Verdict::Conventional
        );
        let duplicate = FrtoAck { advances: false, duplicate: true, sacks_new: true, ..ack() };
        assert_eq!(Frto::NewData { budget: 0 }.linux(duplicate), Verdict::Conventional);
    }

    /// RFC 5682 section 2.1, step 2a: a duplicate proves the timeout; section 3.1, step 2: with SACK it
    /// proves nothing yet.
    #[test]
    fn a_duplicate_after_the_timeout() {
        let duplicate = FrtoAck { advances: false, duplicate: true, ..ack() };
        assert_eq!(Frto::Retransmitted.basic(duplicate), Verdict::Conventional);
        assert_eq!(Frto::Retransmitted.sack(duplicate), Verdict::Continue(Frto::Retransmitted));
        assert_eq!(Frto::Retransmitted.linux(duplicate), Verdict::Continue(Frto::Retransmitted));
    }

    /// RFC 5682 sections 2.1 and 3.1, step 2: with no new data to send the response is the conventional one.
    #[test]
    fn without_new_data_there_is_no_verdict() {
        let idle = FrtoAck { can_send_new: false, ..ack() };
        for (first, second) in [
            (Frto::Retransmitted.basic(ack()), Frto::Retransmitted.basic(idle)),
            (Frto::Retransmitted.sack(ack()), Frto::Retransmitted.sack(idle)),
        ] {
            assert_eq!(first, Verdict::Continue(Frto::NewData { budget: 2 }));
            assert_eq!(second, Verdict::Conventional);
        }
    }
}
