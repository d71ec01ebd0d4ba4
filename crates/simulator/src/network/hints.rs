//! Where packets will go next: for asking early for the memory that they will touch.

use super::{BY_PATH, HOST, Network};

/// Where a packet goes from a link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// To the next link.
    Pipe(u32),
    /// To its host, on this stream.
    Host(u32),
}

impl Network {
    /// Where the packet goes that arrives first from `pipe`, as far as that is known: for a hint.
    #[inline]
    pub(crate) fn goal(&self, pipe: u32) -> Option<Goal> {
        let from = self.pipes.get(pipe as usize)?;
        let packet = &from.first()?.packet;
        let next = match from.label {
            BY_PATH => *self.paths.get(packet.next as usize)?,
            label => label,
        };
        match next {
            HOST => Some(Goal::Host(packet.stream)),
            next => ((next as usize) < self.pipes.len()).then_some(Goal::Pipe(next)),
        }
    }

    /// The first link of the path of `stream`.
    #[inline]
    pub(crate) fn first_pipe(&self, stream: u32) -> u32 {
        self.paths[self.path_starts[stream as usize] as usize]
    }
}
