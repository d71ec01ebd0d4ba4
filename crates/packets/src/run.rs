//! The runner: plays a script on a plane up to the first step that differs.

use crate::packet::{Packet, PeerStamps};
use crate::script::{Action, Call, Measure, PlaneName, Script, Step, seconds};
use cogtcp_units::{Duration, Time};

/// An instant of which is known that it lies between two times. The model's is exact; of a real clock one knows when a queue was last
/// seen empty and when a packet was read from it.
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
    pub packet: Packet,
}

/// One end of a connection, with a clock.
pub trait Plane {
    /// Whose end it is.
    fn name(&self) -> PlaneName;

    /// Time since the start of the script.
    fn now(&self) -> Time;

    /// Waits until `until`, or until the end sends a packet, if that is sooner; one that waits already comes first.
    fn wait(&mut self, until: Time) -> Result<Option<Heard>, String>;

    /// The application calls.
    fn call(&mut self, call: Call) -> Result<(), String>;

    /// The peer sends.
    fn inject(&mut self, packet: &Packet) -> Result<(), String>;

    /// How much longer than meant the plane was kept from looking for packets, at most.
    fn lateness(&self) -> Duration {
        Duration::ZERO
    }

    /// What the end says of itself; `None`: nothing yet (a threshold that is not set).
    fn measure(&mut self, measure: Measure) -> Result<Option<u64>, String>;
}

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
pub struct Line {
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

/// What came of a script.
#[derive(Clone, Debug)]
pub struct Report {
    /// On which plane.
    pub plane: PlaneName,
    /// What differs; nothing: the plane did what the script says.
    pub mismatch: Option<Mismatch>,
    /// All that happened, in order.
    pub trace: Vec<Line>,
    /// How much later than due the runner itself was, at most.
    pub lateness: Duration,
    /// How long it took.
    pub took: Duration,
}

/// Plays `script`.
pub fn run<P: Plane>(script: &Script, plane: &mut P, tolerance: Tolerance) -> Report {
    let mut player = Player {
        plane,
        tolerance,
        before: Moment::exactly(Time::ZERO),
        echo: 0,
        echoed: 0,
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
    if let (None, Some(last)) = (&mismatch, last) {
        // What the last step brought about has been sent by now.
        mismatch = player.expect_nothing(last, player.plane.now(), "after the last step a packet came").err();
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
    /// When the step before happened.
    before: Moment,
    /// The latest timestamp of the end, for the peer to echo.
    echo: u32,
    /// What the peer's packet before echoed.
    echoed: u32,
    trace: Vec<Line>,
    lateness: Duration,
}

impl<P: Plane> Player<'_, P> {
    fn play(&mut self, step: &Step) -> Result<(), Mismatch> {
        if let Action::Expect(_) = step.action {
            return self.expect(step);
        }
        let due = self.before.latest + step.after.least;
        self.expect_nothing(step, due, "a packet came before this step")?;
        let begins = self.plane.now();
        self.lateness = self.lateness.max(begins.saturating_since(due));
        match &step.action {
            Action::Call(call) => {
                self.note(begins, step.text.clone());
                let done = self.plane.call(*call);
                done.map_err(|error| differs(step, begins, error, ""))?;
            }
            Action::Inject(pattern) => {
                let clock = 1 + (begins.as_nanos() / 1_000_000) as u32;
                let packet = pattern.packet(PeerStamps { clock, latest: self.echo, held: self.echoed });
                self.echoed = packet.timestamps.map_or(self.echoed, |(_, echo)| echo);
                self.note(begins, format!("< {packet}"));
                self.plane.inject(&packet).map_err(|error| differs(step, begins, error, ""))?;
            }
            Action::Measure(measure, wanted) => {
                let got = self.plane.measure(*measure).map_err(|error| differs(step, begins, error, ""))?;
                if got != Some(*wanted) {
                    let name = measure.name();
                    let got = got.map_or(format!("{name} not set"), |got| format!("{name} {got}"));
                    return Err(differs(step, begins, format!("{name} is another"), &got));
                }
                // No time passes.
                return Ok(());
            }
            Action::Expect(_) | Action::Nothing => {}
        }
        self.before = Moment { earliest: begins, latest: self.plane.now() };
        Ok(())
    }

    /// Waits until `due`; no packet may come before.
    fn expect_nothing(&mut self, step: &Step, due: Time, what: &str) -> Result<(), Mismatch> {
        match self.plane.wait(due).map_err(|error| differs(step, due, error, ""))? {
            None => Ok(()),
            Some(heard) => {
                let got = self.note_heard(&heard);
                Err(differs(step, heard.at.latest, what.to_owned(), &got))
            }
        }
    }

    fn expect(&mut self, step: &Step) -> Result<(), Mismatch> {
        let Action::Expect(pattern) = &step.action else { return Ok(()) };
        let until = self.before.latest + step.after.most + self.tolerance.late;
        let heard = self.plane.wait(until).map_err(|error| differs(step, until, error, ""))?;
        let Some(heard) = heard else {
            let what =
                format!("no packet came within {} s", seconds(until.saturating_since(self.before.latest)));
            return Err(differs(step, self.plane.now(), what, ""));
        };
        let got = self.note_heard(&heard);
        if let Some(what) = pattern.differs(&heard.packet) {
            return Err(differs(step, heard.at.latest, format!("another {what}"), &got));
        }
        let due = self.before.earliest + step.after.least;
        if heard.at.latest + self.tolerance.early < due {
            let early = seconds(due.saturating_since(heard.at.latest));
            return Err(differs(step, heard.at.latest, format!("{early} s before its time"), &got));
        }
        if heard.at.earliest > until {
            let late = seconds(heard.at.earliest.saturating_since(until));
            return Err(differs(step, heard.at.latest, format!("{late} s after its time"), &got));
        }
        if let Some((value, _)) = heard.packet.timestamps {
            self.echo = value;
        }
        self.before = heard.at;
        Ok(())
    }

    fn note(&mut self, at: Time, text: String) {
        self.trace.push(Line { at, text });
    }

    fn note_heard(&mut self, heard: &Heard) -> String {
        let text = format!("> {}", heard.packet);
        self.note(heard.at.latest, text.clone());
        text
    }
}

fn differs(step: &Step, at: Time, what: String, got: &str) -> Mismatch {
    Mismatch { line: step.line, at, what, expected: step.text.clone(), got: got.to_owned() }
}
