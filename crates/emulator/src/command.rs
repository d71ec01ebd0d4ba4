//! Somebody else's programs at the ends of the link, in a process namespace of their own: what they start
//! ends with them, and with us, whatever ends us.

use crate::device;
use crate::error::{EmulationError, Tried};
use crate::namespaces::{self, Namespace};
use crate::orphans::Orphans;
use crate::privileges;
use crate::sys::{self, Fork};
use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// What a shell says of a program that is not there, and of one that cannot be run.
const NOT_FOUND: i32 = 127;
const NOT_RUNNABLE: i32 = 126;

/// A program to run at an end of the link.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    pub(crate) arguments: &'a [OsString],
    pub(crate) namespace: &'a Namespace,
    /// What its environment has beside ours: names and values.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// Whether it keeps CAP_NET_ADMIN over its namespace, to choose any congestion control.
    pub(crate) chooses_control: bool,
}

/// The process that runs the programs. It is the first of its namespace: when it ends, all end.
#[derive(Debug)]
pub(crate) struct Programs {
    init: i32,
    go: OwnedFd,
}

/// What is sent for the programs to begin.
const GO: [u8; 1] = [1];

impl Programs {
    /// Prepares to run `main` and, at the other end, `peer`. As long as there is one thread, and before
    /// privileges are dropped: they go into namespaces. Should this process be killed, the first one of
    /// theirs ends them, and what `orphans` sees.
    pub(crate) fn prepare(
        main: &Program<'_>,
        peer: Option<&Program<'_>>,
        orphans: Orphans,
    ) -> Result<Self, EmulationError> {
        let main = Ready::new(main)?;
        let peer = peer.map(Ready::new).transpose()?;
        let (waiting, go) = sys::pipe().tried("a pipe")?;
        namespaces::check_alone()?;
        let forked = sys::fork_apart().or_remedy(
            "a process namespace cannot be made",
            "Run this on the machine itself, or in a container that may make namespaces",
        );
        match forked? {
            Fork::Parent(init) => Ok(Self { init, go }),
            Fork::Child => {
                // The pipe must end when the emulator does, and not with a copy of its own.
                drop(go);
                sys::exit(init(&main, peer.as_ref(), &waiting, orphans))
            }
        }
    }

    /// Lets them begin.
    pub(crate) fn begin(&self) {
        // Where it has ended already, `wait` says so.
        let _ = sys::write(self.go.as_fd(), &GO);
    }

    /// Ends them.
    pub(crate) fn end(&self) {
        sys::kill(self.init);
    }

    /// Waits for the end of the main program, and returns its exit code as shells tell it.
    pub(crate) fn wait(&self) -> io::Result<i32> {
        let (_, status) = sys::wait(self.init)?;
        Ok(code(status))
    }
}

/// The exit code of a process, or 128 and the number of the signal that ended it.
fn code(status: i32) -> i32 {
    if libc::WIFSIGNALED(status) { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) }
}

/// A program with all that needs memory done before the fork.
#[derive(Debug)]
struct Ready<'a> {
    arguments: Vec<CString>,
    namespace: &'a Namespace,
    environment: &'a [(&'static str, String)],
    chooses_control: bool,
}

impl<'a> Ready<'a> {
    fn new(program: &'a Program<'_>) -> Result<Self, EmulationError> {
        let arguments = program.arguments.iter().map(|argument| CString::new(argument.as_bytes()));
        let arguments =
            arguments.collect::<Result<Vec<_>, _>>().map_err(|error| EmulationError::Command {
                program: program
                    .arguments
                    .first()
                    .map_or_else(String::new, |name| name.display().to_string()),
                source: error.into(),
            })?;
        let (environment, chooses_control) = (&program.environment, program.chooses_control);
        Ok(Self { arguments, namespace: program.namespace, environment, chooses_control })
    }

    /// Becomes the program when `begin` is at its end; returns the code to end with if it cannot.
    fn become_it(&self, begin: &OwnedFd) -> i32 {
        let ready = self.namespace.enter().map_err(|error| error.to_string());
        let drop =
            if self.chooses_control { privileges::drop_all_but_net_admin } else { privileges::drop_all };
        let ready = ready.and_then(|()| drop().map_err(|error| error.to_string()));
        let error = match ready {
            Ok(()) => {
                // Until the first process closes its end.
                let _ = sys::read(begin.as_fd(), &mut [0; 1]);
                for (name, value) in self.environment {
                    sys::set_variable(name, value);
                }
                let error = sys::execute(&self.arguments);
                if error.kind() == io::ErrorKind::NotFound {
                    eprintln!("cogtcp: {}: program not found", self.name());
                    return NOT_FOUND;
                }
                error.to_string()
            }
            Err(error) => error,
        };
        eprintln!("cogtcp: {}: cannot be started: {error}", self.name());
        NOT_RUNNABLE
    }

    fn name(&self) -> String {
        self.arguments.first().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Starts the process that is to become the program; `reads`: what is typed is for it.
    fn start(&self, reads: bool, begin: &OwnedFd, go: &OwnedFd) -> io::Result<i32> {
        match sys::fork()? {
            Fork::Parent(child) => Ok(child),
            Fork::Child => {
                // Else it would wait for itself.
                sys::close_copy(go);
                for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGPIPE] {
                    sys::handle_signal(signal, false);
                }
                if !reads && let Ok(nothing) = std::fs::File::open("/dev/null") {
                    let _ = sys::set_standard_input(nothing.as_fd());
                }
                sys::exit(self.become_it(begin))
            }
        }
    }
}

/// The first process: starts the programs when it is told to, and ends with the main one, whose ending it
/// passes on. When the emulator ends without a word, it ends the programs and what is left of their
/// connections.
fn init(main: &Ready<'_>, peer: Option<&Ready<'_>>, waiting: &OwnedFd, mut orphans: Orphans) -> i32 {
    privileges::give_up_real_time();
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // Ctrl-C is the program's.
        sys::handle_signal(signal, true);
    }
    // Those who go into namespaces do so now: after that nobody here has a privilege.
    let Ok((begin, go)) = sys::pipe() else { return NOT_RUNNABLE };
    let Ok(main) = main.start(true, &begin, &go) else { return NOT_RUNNABLE };
    if let Some(peer) = peer {
        let _ = peer.start(false, &begin, &go);
    }
    if privileges::drop_all().is_err() {
        return NOT_RUNNABLE;
    }
    // With the end of this process all of its namespace ends.
    if !matches!(device::receive(waiting.as_fd(), &mut [0; 1]), Ok(Some(1))) {
        return NOT_FOUND;
    }
    // The programs wait for the end of this pipe.
    drop(go);
    // `wait` cannot watch the pipe too: a child does.
    let Ok(mut watcher) = watch(waiting) else { return NOT_RUNNABLE };
    loop {
        match sys::wait(-1) {
            Ok((child, status)) if child == main => return code(status),
            Ok((child, _)) if child == watcher => {
                if sys::has_ended(waiting.as_fd()) {
                    // All of the process namespace but this one.
                    sys::kill(-1);
                    while sys::wait(-1).is_ok() {}
                    orphans.end();
                    return NOT_RUNNABLE;
                }
                // A program ended all that it could.
                let Ok(next) = watch(waiting) else { return NOT_RUNNABLE };
                watcher = next;
            }
            Ok(_) => {}
            Err(_) => return NOT_RUNNABLE,
        }
    }
}

/// Starts a process that ends when the emulator does, which alone holds the other end of `waiting`.
fn watch(waiting: &OwnedFd) -> io::Result<i32> {
    match sys::fork()? {
        Fork::Parent(child) => Ok(child),
        Fork::Child => {
            let _ = sys::read(waiting.as_fd(), &mut [0; 1]);
            sys::exit(0)
        }
    }
}
