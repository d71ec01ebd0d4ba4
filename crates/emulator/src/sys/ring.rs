//! Packets that a packet socket writes into memory that this process reads: to take one needs no call
//! (packet(7), `PACKET_RX_RING`, version 2).

use super::{check, set_option};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// linux/if_packet.h.
const VERSION: i32 = 10;
const RECEIVE_RING: i32 = 5;
const VERSION_2: i32 = 1;
const OWNED_BY_KERNEL: u32 = 0;
const OWNED_BY_US: u32 = 1;
/// Of a socket without frames: `TPACKET_ALIGN(TPACKET2_HDRLEN) + 16`, where the packet begins.
const BEFORE_PACKET: usize = 80;
/// `TPACKET_ALIGNMENT`.
const ALIGNMENT: usize = 16;
/// The kernel allocates a ring by blocks: packets of Ethernet fit it well.
const BLOCK: usize = 1 << 16;

/// `struct tpacket2_hdr`, at the beginning of a frame, from its second field on.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Header {
    length: u32,
    captured: u32,
    mac: u16,
    network: u16,
    seconds: u32,
    nanos: u32,
}

/// The ring of one socket.
#[derive(Debug)]
pub(crate) struct PacketRing {
    memory: *mut u8,
    block: usize,
    blocks: usize,
    frame: usize,
    /// The frame that the kernel fills next.
    next: Mutex<usize>,
}

// SAFETY: the memory belongs to the ring until it is dropped, and its frames are read under the lock.
unsafe impl Send for PacketRing {}
// SAFETY: as above.
unsafe impl Sync for PacketRing {}

impl PacketRing {
    /// Gives a socket a ring of about this many bytes, for packets of at most `mtu` bytes.
    pub(crate) fn new(socket: BorrowedFd<'_>, mtu: usize, bytes: usize) -> io::Result<Self> {
        let frame = (BEFORE_PACKET + mtu).next_multiple_of(ALIGNMENT);
        let block = frame.next_power_of_two().max(BLOCK);
        let blocks = bytes.div_ceil(block).max(1);
        set_option(socket, libc::SOL_PACKET, VERSION, &VERSION_2.to_ne_bytes())?;
        // `struct tpacket_req`.
        let request =
            [block, blocks, frame, blocks * (block / frame)].map(|number| (number as u32).to_ne_bytes());
        set_option(socket, libc::SOL_PACKET, RECEIVE_RING, &request.concat())?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, anywhere.
        let memory = unsafe {
            libc::mmap(ptr::null_mut(), block * blocks, access, libc::MAP_SHARED, socket.as_raw_fd(), 0)
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let ring = Self { memory: memory.cast(), block, blocks, frame, next: Mutex::new(0) };
        // User-mode Linux aborts where a process forks that has such memory.
        // SAFETY: the mapping just made; no copy of this process reads it.
        check(unsafe { libc::madvise(memory, block * blocks, libc::MADV_DONTFORK) })?;
        Ok(ring)
    }

    /// Takes the next packet. Returns its size and when it came, in nanoseconds of `CLOCK_REALTIME`; `None`:
    /// there is none yet.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Option<(usize, u64)> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let a_block = self.block / self.frame;
        let offset = *next / a_block * self.block + *next % a_block * self.frame;
        // SAFETY: the frame lies in the mapping, and frames are aligned to 16 bytes.
        let status = unsafe { &*self.memory.add(offset).cast::<AtomicU32>() };
        if status.load(Ordering::Acquire) & OWNED_BY_US == 0 {
            return None;
        }
        // SAFETY: the frame is ours, and begins with its status and this.
        let header = unsafe { self.memory.add(offset + size_of::<u32>()).cast::<Header>().read() };
        let begin = usize::from(header.network).min(self.frame);
        let size = (header.captured as usize).min(self.frame - begin).min(buffer.len());
        // SAFETY: the packet lies in its frame, and the buffer has room for so much.
        unsafe { ptr::copy_nonoverlapping(self.memory.add(offset + begin), buffer.as_mut_ptr(), size) };
        status.store(OWNED_BY_KERNEL, Ordering::Release);
        *next = (*next + 1) % (a_block * self.blocks);
        Some((size, u64::from(header.seconds) * 1_000_000_000 + u64::from(header.nanos)))
    }
}

impl Drop for PacketRing {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, which nobody else knows.
        let _ = check(unsafe { libc::munmap(self.memory.cast(), self.block * self.blocks) });
    }
}
