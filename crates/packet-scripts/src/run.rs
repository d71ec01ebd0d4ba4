//! The runner: plays a script on a plane up to the first step that differs.

mod blocked;
mod outbound;

use crate::drill::{Fields, Statement};
use crate::packet::{Icmp, ScriptPacket};
use crate::script::{Action, Call, CallError, PlaneName, Script, Slack, Span, Step, When};
use blocked::Blocked;
use cogtcp_units::{Duration, Time};
use std::collections::VecDeque;

/// An instant between two times. The model's is exact; of a real clock one
/// knows when a queue was last seen empty and when a packet was read from it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Moment {
    /// Not before.
    pub earliest: Time,
    /// Not after.
    pub latest: Time,
}

impl Moment {
    /// An instant that is known.
    pub fn exactly(at: Time) -> Self {
        Self { earliest: at, latest: at }
    }
}

/// A packet that the end under test has sent.
#[derive(Clone, Debug)]
pub struct Heard {
    /// When.
    pub at: Moment,
    /// What.
    pub packet: ScriptPacket,
}

/// One end of a connection, with a clock.
pub trait ScriptPlane {
    /// The plane's name.
    fn name(&self) -> PlaneName;

    /// Time since the start of the script.
    fn now(&self) -> Time;

    /// Waits until `until`, or until the end sends a packet, if that is sooner; one that waits already comes
    /// first.
    fn wait(&mut self, until: Time) -> Result<Option<Heard>, String>;

    /// The application calls; nothing waits. Returns how many bytes were written or read, or what was asked
    /// for; 0 of other calls.
    fn call(&mut self, call: Call) -> Result<u64, CallError>;

    /// The peer sends.
    fn inject(&mut self, packet: &ScriptPacket) -> Result<(), String>;

    /// A router tells the end that the peer cannot be reached.
    fn inject_icmp(&mut self, icmp: &Icmp) -> Result<(), String>;

    /// How much longer than meant the plane was kept from looking for packets, at most.
    fn lateness(&self) -> Duration {
        Duration::ZERO
    }

    /// A field of `tcp_info` by its name (linux/tcp.h).
    fn field(&mut self, name: &str) -> Result<f64, String>;
}

/// How long a packet that may come at any time is waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How far a packet may be from its time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tolerance {
    /// So much before.
    pub early: Duration,
    /// So much after.
    pub late: Duration,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub struct LogLine {
    /// When.
    pub at: Time,
    /// `<` the peer sent, `>` the end sent, or a call, as scripts have it.
    pub text: String,
}

/// The first step that differs.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// Line of the script.
    pub line: usize,
    /// When.
    pub at: Time,
    /// In what.
    pub what: String,
    /// The step, as it stands in the script.
    pub expected: String,
    /// What came; empty: nothing.
    pub got: String,
}

/// The outcome of a script.
#[derive(Clone, Debug)]
pub struct Report {
    /// On which plane.
    pub plane: PlaneName,
    /// What differs; nothing: the plane did what the script says.
    pub mismatch: Option<Mismatch>,
    /// All that happened, in order.
    pub trace: Vec<LogLine>,
    /// How much later than due the runner itself was, at most.
    pub lateness: Duration,
    /// How long it took.
    pub took: Duration,
}

/// Plays `script`.
pub fn run<P: ScriptPlane>(script: &Script, plane: &mut P, tolerance: Tolerance) -> Report {
    let mut player = Player {
        plane,
        tolerance,
        slack: script.slack,
        is_exact: script.is_exact,
        before: Moment::exactly(Time::ZERO),
        first_stamp: None,
        stamps: Vec::new(),
        unread: VecDeque::new(),
        blocked: None,
        names: Fields::new(),
        trace: Vec::new(),
        lateness: Duration::ZERO,
    };
    let name = player.plane.name();
    let steps = script.steps.iter().filter(|step| step.plane.is_none_or(|plane| plane == name));
    let mut last = None;
    let mut mismatch = None;
    for step in steps {
        last = Some(step);
        if let Err(found) = player.play(step) {
            mismatch = Some(found);
            break;
        }
    }
    // Without a mismatch only: what follows a step that differs says nothing.
    if let (None, Some(last)) = (&mismatch, last) {
        mismatch = player.end(last).err();
    }
    Report {
        plane: name,
        mismatch,
        took: player.plane.now().saturating_since(Time::ZERO),
        trace: player.trace,
        lateness: player.lateness.max(player.plane.lateness()),
    }
}

struct Player<'a, P> {
    plane: &'a mut P,
    tolerance: Tolerance,
    slack: Slack,
    /// Packets that the script does not ask for are wrong, and so is another segmentation.
    is_exact: bool,
    /// When the step before happened.
    before: Moment,
    /// The first timestamp of the end: as the script has it, and as it was.
    first_stamp: Option<(u32, u32)>,
    /// Timestamps of the end, as the script has them and as they were, for the peer to echo.
    stamps: Vec<(u32, u32)>,
    /// Packets that came and that no step has asked for yet.
    unread: VecDeque<Heard>,
    /// A call that waits.
    blocked: Option<Blocked>,
    /// What assertions have defined.
    names: Fields,
    trace: Vec<LogLine>,
    lateness: Duration,
}

impl<P: ScriptPlane> Player<'_, P> {
    fn play(&mut self, step: &Step) -> Result<(), Mismatch> {
        if let Action::Expect(pattern) = &step.action {
            return self.expect(step, pattern);
        }
        // At the earliest time: a range is for packets, and only `Expect` has one.
        let due = self.due(step).least;
        self.pass(step, due)?;
        let begins = self.plane.now();
        self.lateness = self.lateness.max(begins.saturating_since(due));
        match &step.action {
            Action::System(system) => self.system(step, system, begins)?,
            Action::Inject(pattern) => {
                let mut packet = pattern.packet();
                self.translate_echo(&mut packet);
                self.record(begins, format!("< {packet}"));
                self.plane.inject(&packet).map_err(|error| differs(step, begins, error, ""))?;
                self.resume()?;
            }
            Action::InjectIcmp(icmp) => {
                self.record(begins, step.text.clone());
                self.plane.inject_icmp(icmp).map_err(|error| differs(step, begins, error, ""))?;
                self.resume()?;
            }
            Action::Assert(statements) => self.check(step, statements, begins)?,
            Action::Expect(_) | Action::Nothing => {}
        }
        // The next step's time counts from this one: not before it began, not after it ended.
        self.before = Moment { earliest: begins, latest: self.plane.now() };
        Ok(())
    }

    /// The times between which a step is due.
    fn due(&self, step: &Step) -> Due {
        match step.when {
            When::After(Span { least, most }) => Due {
                earliest: self.before.earliest + least,
                // Two lower bounds: a packet may be as early as `earliest`, but the runner itself waits from
                // `latest`.
                least: self.before.latest + least,
                most: self.before.latest + most,
            },
            When::At(Span { least, most }) => {
                let least = Time::ZERO + least;
                Due { earliest: least, least, most: Time::ZERO + most }
            }
            When::Any => Due {
                earliest: Time::ZERO,
                least: self.before.latest,
                most: self.before.latest + LONGEST_WAIT,
            },
        }
    }

    /// Waits until `due`.
    fn pass(&mut self, step: &Step, due: Time) -> Result<(), Mismatch> {
        if self.is_exact {
            self.expect_nothing(step, due, "a packet came before this step")?;
            return self.resume();
        }
        // packetdrill compares packets only where a script expects one: others wait in the order of arrival.
        while let Some(heard) = self.plane.wait(due).map_err(|error| differs(step, due, error, ""))? {
            self.hear(heard);
        }
        self.resume()
    }

    /// What is left at the end of a script.
    fn end(&mut self, last: &Step) -> Result<(), Mismatch> {
        if self.is_exact {
            // What the last step brought about has been sent by now.
            self.expect_nothing(last, self.plane.now(), "after the last step a packet came")?;
        }
        match self.blocked.take() {
            None => Ok(()),
            Some(blocked) => Err(blocked.mismatch(self.plane.now(), "the call has not returned")),
        }
    }

    /// Assertions on `tcp_info`.
    fn check(&mut self, step: &Step, statements: &[Statement], now: Time) -> Result<(), Mismatch> {
        for statement in statements {
            let (expression, text) = match statement {
                Statement::Assert(expression, text) => (expression, text),
                Statement::Set(_, expression) => (expression, &step.text),
            };
            let mut fields = Vec::new();
            expression.fields(&mut fields);
            // Read again for each statement: an assertion is about the present.
            for name in &fields {
                let value = self.plane.field(name).map_err(|error| differs(step, now, error, ""))?;
                self.names.insert(name.clone(), value);
            }
            let value = expression.value(&self.names).map_err(|error| differs(step, now, error, ""))?;
            match statement {
                Statement::Set(name, _) => {
                    self.names.insert(name.clone(), value);
                }
                Statement::Assert(..) if value == 0.0 => {
                    let got = fields.iter().map(|name| format!("{name} {}", self.names[name]));
                    let got = got.collect::<Vec<_>>().join(", ");
                    return Err(Mismatch {
                        expected: text.clone(),
                        ..differs(step, now, "an assertion fails".to_owned(), &got)
                    });
                }
                Statement::Assert(..) => {}
            }
        }
        Ok(())
    }

    /// Waits until `due`; no packet may come before.
    fn expect_nothing(&mut self, step: &Step, due: Time, what: &str) -> Result<(), Mismatch> {
        match self.plane.wait(due).map_err(|error| differs(step, due, error, ""))? {
            None => Ok(()),
            Some(heard) => {
                let got = self.record_heard(&heard);
                Err(differs(step, heard.at.latest, what.to_owned(), &got))
            }
        }
    }

    fn record(&mut self, at: Time, text: String) {
        self.trace.push(LogLine { at, text });
    }

    fn record_heard(&mut self, heard: &Heard) -> String {
        let text = format!("> {}", heard.packet);
        self.record(heard.at.latest, text.clone());
        text
    }
}

/// When a step is due.
struct Due {
    /// Not before, by the earliest that the step before may have been.
    earliest: Time,
    /// When it is due.
    least: Time,
    /// The end of its range.
    most: Time,
}

fn differs(step: &Step, at: Time, what: String, got: &str) -> Mismatch {
    Mismatch { line: step.line, at, what, expected: step.text.clone(), got: got.to_owned() }
}
