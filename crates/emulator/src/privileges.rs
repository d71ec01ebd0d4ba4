//! What a run gives up when it no longer needs it, and what it asks for before.

use crate::error::{EmulationError, Tried};
use crate::sys;
use std::io;

/// Priorities among real-time threads: the link before the applications of its ends. (A host whose
/// application waits for a processor while it holds its socket's lock answers late, which is no property of
/// the path.)
const LINK: i32 = 10;
const APPLICATIONS: i32 = 5;

/// The bit that stays in the bounding set. Debian's `ping` has `cap_net_raw=ep` in its file, and the kernel
/// does not run a file whose capabilities the bounding set forbids (capabilities(7), "EPERM"). With
/// `no_new_privs` no program gets it.
const KEPT: u32 = 13; // CAP_NET_RAW

/// What it takes to choose a congestion control that the machine does not let everybody choose. In a user
/// namespace of the run's own it holds for the run's network namespaces, and for nothing else.
const NET_ADMIN: u32 = 12;

/// Highest number that a capability may have (the kernel keeps them in 64 bits).
const MOST_CAPABILITIES: u32 = 64;

/// Asks for real-time scheduling, which threads inherit, and to stay in memory. Needs CAP_SYS_NICE outside
/// every user namespace. Returns whether the former was granted; without the latter a page fault may delay a
/// packet.
pub(crate) fn ask_for_real_time() -> bool {
    let is_granted = sys::schedule(LINK).is_ok();
    if is_granted {
        let _ = sys::lock_memory();
    }
    is_granted
}

/// Puts this thread behind the thread that moves packets, if it has real-time scheduling at all.
pub(crate) fn stand_behind(real_time: bool) {
    if real_time && sys::schedule(APPLICATIONS).is_err() {
        give_up_real_time();
    }
}

/// Gives it up for this thread.
pub(crate) fn give_up_real_time() {
    // Nobody is refused less than he has.
    let _ = sys::schedule(0);
}

/// Lets the process end with the process that started it, which is `parent`. After the last change of
/// credentials, which takes this back (prctl(2)).
pub(crate) fn end_with(parent: i32) -> Result<(), EmulationError> {
    sys::die_with_parent().tried("prctl PR_SET_PDEATHSIG")?;
    if sys::parent() == parent {
        return Ok(());
    }
    Err(io::Error::from(io::ErrorKind::BrokenPipe)).tried("the program that started the emulation has ended")
}

/// Gives up every capability, for this process and all programs that it becomes, under any user.
pub(crate) fn drop_all() -> Result<(), EmulationError> {
    drop_but(&[KEPT], 0)
}

/// Gives up all but CAP_NET_ADMIN, which the program that this process becomes has too. Only in a user
/// namespace of our own.
pub(crate) fn drop_all_but_net_admin() -> Result<(), EmulationError> {
    drop_but(&[KEPT, NET_ADMIN], 1 << NET_ADMIN)?;
    sys::hand_down(NET_ADMIN).tried("prctl PR_CAP_AMBIENT")
}

/// Gives up what is not in `bounding`, as its numbers, for good, and what is not in `kept`, as bits, for now.
fn drop_but(bounding: &[u32], kept: u32) -> Result<(), EmulationError> {
    for capability in (0..MOST_CAPABILITIES).filter(|it| !bounding.contains(it)) {
        // Beyond the last one of this kernel: EINVAL.
        if sys::drop_from_bounding(capability).is_err() {
            break;
        }
    }
    sys::gain_no_privileges().tried("prctl PR_SET_NO_NEW_PRIVS")?;
    sys::clear_capabilities(kept).tried("capabilities cannot be given up")
}
