//! How much memory a receiver's kernel may take, so that its offered window grows as far as the model's.
//!
//! The kernel counts memory, not data. It offers the share of its memory that a packet's data takes
//! (`scaling_ratio`, since Linux 6.6, in parts of 256). A connection's memory grows up to the third value of
//! `tcp_rmem`.

use cogtcp_scenario::TcpSpec;
use cogtcp_transport::{memory_for_window, share_of_data};

/// The kernel's least and initial memory.
const LEAST: u64 = 4096;
const INITIAL: u64 = 131_072;
/// The window that the model's receiver begins with where it grows.
const FIRST_WINDOW: u64 = 65_535;

/// The largest window that the model's receiver offers, where the kernel's is to grow up to it; `None`: the
/// socket has a buffer of a fixed size.
pub(crate) fn largest_window(tcp: &TcpSpec, default_buffer: u64) -> Option<u64> {
    let buffer = tcp.receiver.buffer;
    if tcp.receiver.window_tuning {
        // Half of the buffer is for data (`receiver/tuning.rs`).
        Some((buffer / 2).max(FIRST_WINDOW.min(buffer)))
    } else {
        (buffer == default_buffer).then_some(buffer)
    }
}

/// `tcp_rmem` of a host that is to offer `window` bytes at most, of segments of `payload` bytes in packets of
/// `mtu`.
pub(crate) fn tcp_rmem(window: u64, mtu: u32, payload: u32) -> String {
    let share = share_of_data(u64::from(mtu), u64::from(payload));
    // The kernel's setting is a signed 32-bit number.
    let most = memory_for_window(window, share).clamp(LEAST, i32::MAX as u64);
    format!("{LEAST} {} {most}", INITIAL.min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1448 bytes in a packet of 1500: 1500 + 384 fit into 2048, with 256 more it is 2304. 1448 * 256 / 2304
    /// = 160 parts of 256, the 5/8 that captures show. 2 MiB * 256 / 160 = 3355443.2.
    #[test]
    fn memory_for_a_window() {
        assert_eq!(tcp_rmem(2 << 20, 1500, 1448), "4096 131072 3355444");
        // 1000 of 1052: the same allocation, 111 parts.
        assert_eq!(tcp_rmem(111_000, 1052, 1000), "4096 131072 256000");
        assert_eq!(tcp_rmem(16_000, 1500, 1448), "4096 25600 25600");
        assert_eq!(tcp_rmem(u64::MAX, 1500, 1448), format!("4096 131072 {}", i32::MAX));
    }
}
