//! Congestion controls written in Python: a class with the hooks of [`CongestionControl`], called with the
//! interpreter's lock held for as long as the hook takes.

pub(crate) mod values;

use std::cell::RefCell;
use std::panic::resume_unwind;

use cogtcp_scenario::{ControlSpec, Experiment, is_external};
use cogtcp_simulator::ControlFailure;
use cogtcp_transport::conformance::check_congestion_control_with_seeds;
use cogtcp_transport::{
    AckSample, CaEvent, CaState, CongestionControl, ControlExtension, FlowCount, LinkEvent, PacketInfo,
    ParameterValue, Parameters, ReceiverHook, TcpState, make,
};
use cogtcp_units::Time;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::run::quiet_panics;

/// The Python module of the base class and of what finds classes by name.
const MODULE: &str = "cogtcp.model.control";

/// A bound method, where the class has one that does something.
type Hook = Option<Py<PyAny>>;

/// An instance of a Python class as a congestion control.
#[derive(Debug)]
pub(crate) struct PythonControl {
    name: String,
    /// The one object that every hook is given, brought up to date before each call.
    state: Py<values::TcpState>,
    ssthresh: Py<PyAny>,
    cong_avoid: Py<PyAny>,
    init: Hook,
    pkts_acked: Hook,
    dup_ack_retransmit: Hook,
    set_state: Hook,
    cwnd_event: Hook,
    cong_control: Hook,
    owns_cwnd: Hook,
    undo_cwnd: Hook,
    observe: Hook,
    on_packet_sent: Hook,
    on_link_event: Hook,
    on_unreachable: Hook,
    on_ack_option: Hook,
    syn_option: Hook,
    on_syn_ack_option: Hook,
}

/// What a hook may have changed.
type Written = (u64, u64, Option<cogtcp_units::Rate>);

impl PythonControl {
    /// An instance of `class`, its constructor called with `parameters` by keyword.
    fn new(name: &str, class: &Bound<'_, PyAny>, parameters: &Bound<'_, PyDict>) -> PyResult<Self> {
        let py = class.py();
        let base = py.import(MODULE)?.getattr("CongestionControl")?;
        let instance = class.call((), Some(parameters))?;
        let hook = |hook: &str| -> PyResult<Hook> {
            let Some(own) = instance.get_type().getattr_opt(hook)? else { return Ok(None) };
            // The base class's hooks do nothing, so they need not be called.
            let inherited = base.getattr_opt(hook)?.is_some_and(|inherited| own.is(&inherited));
            if inherited { Ok(None) } else { Ok(Some(instance.getattr(hook)?.unbind())) }
        };
        let required = |name: &str| -> PyResult<Py<PyAny>> {
            hook(name)?.ok_or_else(|| {
                pyo3::exceptions::PyTypeError::new_err(format!(
                    "the class has no method \"{name}\", which every congestion control needs"
                ))
            })
        };
        Ok(Self {
            name: name.to_owned(),
            state: Py::new(py, values::TcpState::default())?,
            ssthresh: required("ssthresh")?,
            cong_avoid: required("cong_avoid")?,
            init: hook("init")?,
            pkts_acked: hook("pkts_acked")?,
            dup_ack_retransmit: hook("dup_ack_retransmit")?,
            set_state: hook("set_state")?,
            cwnd_event: hook("cwnd_event")?,
            cong_control: hook("cong_control")?,
            owns_cwnd: hook("owns_cwnd")?,
            undo_cwnd: hook("undo_cwnd")?,
            observe: hook("observe")?,
            on_packet_sent: hook("on_packet_sent")?,
            on_link_event: hook("on_link_event")?,
            on_unreachable: hook("on_unreachable")?,
            on_ack_option: hook("on_ack_option")?,
            syn_option: hook("syn_option")?,
            on_syn_ack_option: hook("on_syn_ack_option")?,
        })
    }

    /// The class that `name` (`module:Class`) stands for, as an instance.
    fn find(py: Python<'_>, name: &str, parameters: &Parameters) -> PyResult<Self> {
        let class = py.import(MODULE)?.call_method1("load", (name,))?;
        let keywords = PyDict::new(py);
        for (key, value) in parameters.iter() {
            match value {
                ParameterValue::Number(number) => keywords.set_item(key, number)?,
                ParameterValue::Flag(flag) => keywords.set_item(key, flag)?,
                ParameterValue::Text(text) => keywords.set_item(key, text)?,
            }
        }
        Self::new(name, &class, &keywords)
    }

    /// Calls a hook with the state as it is. Returns what `answer` makes of the result, and what the hook
    /// wrote.
    fn call<T>(
        &self,
        what: &str,
        tcp: &TcpState,
        call: impl FnOnce(&Bound<'_, values::TcpState>) -> PyResult<T>,
    ) -> (T, Written) {
        let outcome = Python::attach(|py| {
            let state = self.state.bind(py);
            let answer = (|| {
                state.try_borrow_mut()?.inner.clone_from(tcp);
                let answer = call(state)?;
                // The rest of the state is the connection's: what a hook writes there is dropped.
                let after = &state.try_borrow()?.inner;
                Ok((answer, (after.cwnd, after.ssthresh, after.pacing_rate)))
            })();
            answer.map_err(|error| describe(py, &error))
        });
        outcome.unwrap_or_else(|error| raise(format!("{}.{what}: {error}", self.name)))
    }

    /// Calls a hook, if the class has it, with the time, the state, to which it may write, and `more`. Its result does
    /// not matter.
    fn change(
        &self,
        what: &str,
        hook: Option<&Py<PyAny>>,
        now: Time,
        tcp: &mut TcpState,
        more: impl for<'py> IntoPyObject<'py>,
    ) {
        let Some(hook) = hook else { return };
        let call =
            |state: &Bound<'_, values::TcpState>| hook.call1(state.py(), (now.as_secs_f64(), state, more));
        let (_, written) = self.call(what, tcp, call);
        (tcp.cwnd, tcp.ssthresh, tcp.pacing_rate) = written;
    }
}

impl CongestionControl for PythonControl {
    fn name(&self) -> &str {
        &self.name
    }

    fn init(&mut self, now: Time, tcp: &mut TcpState) {
        let Some(hook) = &self.init else { return };
        let call = |state: &Bound<'_, values::TcpState>| hook.call1(state.py(), (now.as_secs_f64(), state));
        let (_, written) = self.call("init", tcp, call);
        (tcp.cwnd, tcp.ssthresh, tcp.pacing_rate) = written;
    }

    fn ssthresh(&mut self, now: Time, tcp: &TcpState) -> u64 {
        let hook = &self.ssthresh;
        let call = |state: &Bound<'_, values::TcpState>| {
            values::bytes("ssthresh", hook.bind(state.py()).call1((now.as_secs_f64(), state))?.as_any())
        };
        self.call("ssthresh", tcp, call).0
    }

    fn cong_avoid(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.change("cong_avoid", Some(&self.cong_avoid), now, tcp, values::AckSample::from(ack));
    }

    fn pkts_acked(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.change("pkts_acked", self.pkts_acked.as_ref(), now, tcp, values::AckSample::from(ack));
    }

    fn set_state(&mut self, now: Time, tcp: &mut TcpState, to: CaState) {
        self.change("set_state", self.set_state.as_ref(), now, tcp, values::state_name(to));
    }

    fn cwnd_event(&mut self, now: Time, tcp: &mut TcpState, event: CaEvent) {
        self.change("cwnd_event", self.cwnd_event.as_ref(), now, tcp, values::event_name(event));
    }

    fn cong_control(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) -> bool {
        let Some(hook) = &self.cong_control else { return false };
        let (owns, written) = self.call("cong_control", tcp, |state| {
            let arguments = (now.as_secs_f64(), state, values::AckSample::from(ack));
            hook.bind(state.py()).call1(arguments)?.is_truthy()
        });
        (tcp.cwnd, tcp.ssthresh, tcp.pacing_rate) = written;
        owns
    }

    fn owns_cwnd(&self) -> bool {
        let Some(hook) = &self.owns_cwnd else { return false };
        Python::attach(|py| {
            let answer = hook.bind(py).call0().and_then(|answer| answer.is_truthy());
            answer.map_err(|error| describe(py, &error))
        })
        .unwrap_or_else(|error| raise(format!("{}.owns_cwnd: {error}", self.name)))
    }

    fn undo_cwnd(&mut self, now: Time, tcp: &TcpState) -> u64 {
        // Linux's default (`tcp_reno_undo_cwnd`).
        let Some(hook) = &self.undo_cwnd else { return tcp.cwnd.max(tcp.prior_cwnd) };
        let call = |state: &Bound<'_, values::TcpState>| {
            values::bytes("undo_cwnd", hook.bind(state.py()).call1((now.as_secs_f64(), state))?.as_any())
        };
        self.call("undo_cwnd", tcp, call).0
    }

    fn observe(&self, tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        let Some(hook) = &self.observe else { return };
        let call = |state: &Bound<'_, values::TcpState>| {
            let shown = hook.bind(state.py()).call1((state,))?;
            shown
                .cast::<PyDict>()?
                .iter()
                .map(|(name, value)| Ok((name.extract()?, value.extract()?)))
                .collect()
        };
        let (shown, _): (Vec<(String, f64)>, _) = self.call("observe", tcp, call);
        for (name, value) in shown {
            show(&name, value);
        }
    }

    fn on_packet_sent(&mut self, now: Time, tcp: &mut TcpState, packet: &PacketInfo) {
        self.change(
            "on_packet_sent",
            self.on_packet_sent.as_ref(),
            now,
            tcp,
            values::PacketInfo::from(packet),
        );
    }

    fn extension(&mut self) -> Option<&mut dyn ControlExtension> {
        Some(self)
    }
}

impl ControlExtension for PythonControl {
    fn dup_ack_retransmit(&mut self, now: Time, tcp: &TcpState, head_sent_at: Time) -> bool {
        let Some(hook) = &self.dup_ack_retransmit else { return false };
        let call = |state: &Bound<'_, values::TcpState>| {
            let arguments = (now.as_secs_f64(), state, head_sent_at.as_secs_f64());
            hook.bind(state.py()).call1(arguments)?.is_truthy()
        };
        self.call("dup_ack_retransmit", tcp, call).0
    }

    fn on_link_event(&mut self, now: Time, tcp: &mut TcpState, event: LinkEvent) {
        self.change("on_link_event", self.on_link_event.as_ref(), now, tcp, values::LinkEvent::from(event));
    }

    fn on_unreachable(&mut self, now: Time, tcp: &mut TcpState) -> bool {
        let Some(hook) = &self.on_unreachable else { return false };
        let (stops, written) = self.call("on_unreachable", tcp, |state| {
            hook.bind(state.py()).call1((now.as_secs_f64(), state))?.is_truthy()
        });
        (tcp.cwnd, tcp.ssthresh, tcp.pacing_rate) = written;
        stops
    }

    fn on_ack_option(&mut self, now: Time, tcp: &mut TcpState, value: u32) {
        self.change("on_ack_option", self.on_ack_option.as_ref(), now, tcp, value);
    }

    fn syn_option(&mut self) -> Option<u32> {
        let hook = self.syn_option.as_ref()?;
        Python::attach(|py| {
            let answer = hook.bind(py).call0().and_then(|answer| answer.extract());
            answer.map_err(|error| describe(py, &error))
        })
        .unwrap_or_else(|error| raise(format!("{}.syn_option: {error}", self.name)))
    }

    fn receiver_hook(&mut self) -> Option<Box<dyn ReceiverHook>> {
        // Only a SYN with the option is answered by the receiver.
        self.syn_option.as_ref().map(|_| Box::new(FlowCount) as Box<dyn ReceiverHook>)
    }

    fn on_syn_ack_option(&mut self, now: Time, tcp: &mut TcpState, value: Option<u32>) {
        self.change("on_syn_ack_option", self.on_syn_ack_option.as_ref(), now, tcp, value);
    }
}

/// Builds the control of a flow: from Python where its name says so, else from the registry.
pub(crate) fn build(
    _flow: &str,
    control: &ControlSpec,
) -> Result<Box<dyn CongestionControl>, ControlFailure> {
    if !is_external(&control.name) {
        return Ok(make(&control.name, &control.parameters)?);
    }
    Python::attach(|py| match PythonControl::find(py, &control.name, &control.parameters) {
        Ok(found) => Ok(Box::new(found) as Box<dyn CongestionControl>),
        Err(error) => Err(format!("\"{}\": {}", control.name, describe(py, &error)).into()),
    })
}

/// Whether a flow's control is written in Python.
pub(crate) fn needs_python(experiment: &Experiment) -> bool {
    experiment.flows.iter().any(|flow| flow.external_control().is_some())
}

/// Plays a class through the conformance suite with the random sequences of so many seeds. Returns the rule
/// that it breaks, and how.
#[pyfunction]
pub(crate) fn check_congestion_control(
    py: Python<'_>,
    name: &str,
    class: &Bound<'_, PyAny>,
    parameters: &Bound<'_, PyDict>,
    seeds: u64,
) -> PyResult<Option<(&'static str, String)>> {
    // Once here, so that a constructor that raises does so as itself.
    PythonControl::new(name, class, parameters)?;
    quiet_panics();
    let (class, parameters) = (class.clone().unbind(), parameters.clone().unbind());
    let build = || -> Box<dyn CongestionControl> {
        let built = Python::attach(|py| {
            PythonControl::new(name, class.bind(py), parameters.bind(py))
                .map_err(|error| describe(py, &error))
        });
        Box::new(built.unwrap_or_else(|error| raise(format!("{name}(): {error}"))))
    };
    let outcome = py.detach(|| check_congestion_control_with_seeds(build, 0..seeds));
    // Left there, it would be taken for the error of a later run on this thread.
    RAISED.take();
    Ok(outcome.err().map(|failure| (failure.check, failure.detail)))
}

thread_local! {
    /// What a hook raised that unwinds through this thread.
    static RAISED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Ends the run: unwinds to the handler. This is no panic: the panic hook is not called.
fn raise(message: String) -> ! {
    RAISED.set(Some(message.clone()));
    resume_unwind(Box::new(message))
}

/// What a hook raised, if that is what unwound this thread.
pub(crate) fn take_raised() -> Option<String> {
    RAISED.take()
}

/// The last line of the traceback, and where it was raised.
fn describe(py: Python<'_>, error: &PyErr) -> String {
    let mut place = String::new();
    let mut entry = error.traceback(py).map(Bound::into_any);
    while let Some(traceback) = entry {
        let found = (|| -> PyResult<(String, u32)> {
            let file = traceback.getattr("tb_frame")?.getattr("f_code")?.getattr("co_filename")?.extract()?;
            Ok((file, traceback.getattr("tb_lineno")?.extract()?))
        })();
        if let Ok((file, line)) = found {
            place = format!(" ({file}, line {line})");
        }
        // The last entry is where it was raised.
        entry = traceback.getattr("tb_next").ok().filter(|next| !next.is_none());
    }
    format!("{error}{place}")
}
