//! N of TCP C2: the receiver counts the flows that share the bottleneck, and tells its sender on the SYN-ACK.

use super::{ReceiverHook, ReceiverHost};

/// Answers a SYN that asks with the number of other flows over the bottleneck. One that does not ask gets no
/// option.
#[derive(Clone, Copy, Debug)]
pub struct FlowCount;

impl ReceiverHook for FlowCount {
    fn answer_syn(&mut self, asked: Option<u32>, host: &dyn ReceiverHost) -> Option<u32> {
        asked.map(|_| host.flows_over_bottleneck())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Busy;

    impl ReceiverHost for Busy {
        fn flows_over_bottleneck(&self) -> u32 {
            4
        }
    }

    #[test]
    fn who_asks_is_told_and_nobody_else() {
        assert_eq!(
            [Some(0), Some(9), None].map(|asked| FlowCount.answer_syn(asked, &Busy)),
            [Some(4), Some(4), None]
        );
    }
}
