//! The namespaces of a run: a user namespace, in which we may make the others, and a network namespace for
//! each node.
//!
//! None has a name: they exist as long as a process is in them or has them open.

use crate::error::{EmulationError, Tried};
use crate::sys;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::Duration;

/// A network namespace.
#[derive(Debug)]
pub(crate) struct Namespace(OwnedFd);

/// How often other threads are looked for, a millisecond apart. A thread that was joined stays in `/proc` until
/// the kernel clears it away.
const LOOKS: u32 = 500;

/// Checks that this process has one thread, as far as `/proc` tells.
pub(crate) fn check_alone() -> Result<(), EmulationError> {
    let mut looks = 0;
    loop {
        looks += 1;
        match fs::read_dir("/proc/self/task").map(Iterator::count) {
            Ok(count) if count > 1 && looks == LOOKS => return Err(EmulationError::Threads(count)),
            Ok(count) if count > 1 => thread::sleep(Duration::from_millis(1)),
            _ => return Ok(()),
        }
    }
}

/// Moves this process, which has one thread, into a user namespace of its own, in which it has every
/// capability and its own user and group. Returns whether there is one.
pub(crate) fn enter_user_namespace() -> Result<bool, EmulationError> {
    check_alone()?;
    let (user, group) = sys::ids();
    if let Err(error) = sys::unshare(libc::CLONE_NEWUSER) {
        // Who is root in a container that has no user namespaces may still make network namespaces.
        if user == 0 {
            return Ok(false);
        }
        return Err(error).or_remedy(
            "a user namespace cannot be made",
            "Allow them (sysctl user.max_user_namespaces=15000; on Debian before 11 also kernel.unprivileged_userns_clone=1), \
             or run this as root",
        );
    }
    let write = |name: &str, text: String| fs::write(format!("/proc/self/{name}"), text);
    let remedy = "A security module blocks user namespaces; on Ubuntu: sysctl \
                  kernel.apparmor_restrict_unprivileged_userns=0";
    // Without this an unprivileged process may not map its group (user_namespaces(7)).
    write("setgroups", "deny".to_owned()).or_remedy("setgroups cannot be denied", remedy)?;
    write("uid_map", format!("{user} {user} 1")).or_remedy("the user cannot be mapped", remedy)?;
    write("gid_map", format!("{group} {group} 1")).or_remedy("the group cannot be mapped", remedy)?;
    Ok(true)
}

impl Namespace {
    /// Makes a network namespace and moves this thread into it.
    pub(crate) fn make() -> Result<Self, EmulationError> {
        sys::unshare(libc::CLONE_NEWNET).or_remedy(
            "a network namespace cannot be made",
            "It needs CAP_SYS_ADMIN in the user namespace: does a security module block it (on Ubuntu: sysctl \
             kernel.apparmor_restrict_unprivileged_userns=0), or a container?",
        )?;
        let file = File::open("/proc/thread-self/ns/net").tried("/proc/thread-self/ns/net")?;
        Ok(Self(file.into()))
    }

    /// What the kernel knows it by: the number of its inode.
    pub(crate) fn number(&self) -> io::Result<u64> {
        Ok(File::from(self.0.try_clone()?).metadata()?.ino())
    }

    /// The number of its descriptor.
    pub(crate) fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }

    /// Moves this thread into it.
    pub(crate) fn enter(&self) -> io::Result<()> {
        sys::enter(self.0.as_fd())
    }
}

/// Sets `net.NAME` of the namespace that this thread is in.
pub(crate) fn set_sysctl(name: &str, value: &str) -> io::Result<()> {
    fs::write(format!("/proc/sys/net/{}", name.replace('.', "/")), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_a_second_thread_is_refused() {
        std::thread::scope(|scope| {
            let (done, wait) = std::sync::mpsc::channel::<()>();
            scope.spawn(move || wait.recv());
            let refused = enter_user_namespace().unwrap_err();
            assert!(matches!(refused, EmulationError::Threads(count) if count > 1), "{refused}");
            assert!(!refused.lacks_plane(), "no machine would have it otherwise");
            drop(done);
        });
    }
}
