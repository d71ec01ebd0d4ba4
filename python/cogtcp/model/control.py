"""Congestion controls of your own: a class with the hooks of `CongestionControl`.

A class is used wherever the name of a transport is: `module:Class`, with `module` found where Python finds
modules (the command line also looks in the current folder).

>>> class Halves(cogtcp.CongestionControl):
...     def ssthresh(self, now, tcp):
...         return max(tcp.flight_size // 2, 2 * tcp.mss)
...
...     def cong_avoid(self, now, tcp, ack):
...         tcp.cwnd += min(ack.acked, tcp.mss) if tcp.in_slow_start else tcp.mss * ack.acked // tcp.cwnd
>>> cogtcp.check_congestion_control(Halves)
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from cogtcp import _core
from cogtcp._errors import ConformanceError, ScenarioError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cogtcp._core import AckSample, LinkEvent, PacketInfo, TcpState
    from cogtcp.model.scenario import Scenario

#: Where the connection stands in loss recovery.
CaState: TypeAlias = Literal["open", "disorder", "cwr", "recovery", "loss"]
#: `module:Class`, also within a longer text, as in `quic-module:Class`.
_NAME = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")
#: Events that concern the window.
CaEvent: TypeAlias = Literal["tx_start", "cwnd_restart", "complete_cwr", "loss", "frozen", "thawed"]


class CongestionControl:
    """The hooks of a congestion control. One instance serves one connection.

    `ssthresh` and `cong_avoid` must be there; of the rest only what a class defines is called. Times are
    seconds, sizes and windows bytes, rates bits per second. `tcp` is the connection; `tcp.cwnd`,
    `tcp.ssthresh` and `tcp.pacing_rate` can be set in hooks that return nothing, in `cong_control` and in
    `on_unreachable`. A fraction of a byte is cut off. `tcp` is the same object at every call: keep numbers,
    not the object. After every call cwnd is one segment at least.

    The hooks on an ACK: `set_state` if the ACK changes it, `pkts_acked`, `cong_control`, and, if that
    returned false and the window may grow, `cong_avoid`.

    The constructor takes the scenario's `parameters` by keyword.
    """

    def init(self, now: float, tcp: TcpState) -> None:
        """Start: the handshake is complete, `tcp.cwnd` is the initial window.

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.
        """

    def ssthresh(self, now: float, tcp: TcpState) -> float:
        """Return the slow start threshold after a loss event: once per event, before cwnd is changed.

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.

        Returns:
            The new threshold, bytes.
        """
        raise NotImplementedError

    def cong_avoid(self, now: float, tcp: TcpState, ack: AckSample) -> None:
        """Grow cwnd for new data acknowledged. Not called in fast recovery; called in "loss" (slow start).

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.
            ack: What the ACK acknowledges: bytes, RTT, delivery rate.
        """
        raise NotImplementedError

    def pkts_acked(self, now: float, tcp: TcpState, ack: AckSample) -> None:
        """Take note of an ACK, whichever: round-trip time and delivery rate samples.

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.
            ack: What the ACK acknowledges: bytes, RTT, delivery rate.
        """

    def dup_ack_retransmit(self, now: float, tcp: TcpState, head_sent_at: float) -> bool:
        """Return whether to take the oldest segment for lost at a duplicate ACK below the threshold.

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.
            head_sent_at: When the oldest segment was sent, s.

        Returns:
            True to retransmit the oldest segment at once.
        """
        return False

    def set_state(self, now: float, tcp: TcpState, state: CaState) -> None:
        """Take note that `tcp.ca_state` is about to change to `state`.

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.
            state: The new state: open, disorder, cwr, recovery or loss.
        """

    def cwnd_event(self, now: float, tcp: TcpState, event: CaEvent) -> None:
        """Take note of an event of the window.

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.
            event: The event, named as in Linux.
        """

    def cong_control(self, now: float, tcp: TcpState, ack: AckSample) -> bool:
        """Return true if this control sets cwnd and pacing at every ACK; `cong_avoid` is then not called.

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.
            ack: What the ACK acknowledges: bytes, RTT, delivery rate.

        Returns:
            True if the control has set cwnd and pacing rate itself.
        """
        return False

    def owns_cwnd(self) -> bool:
        """Return whether the sender leaves cwnd alone at a loss event: true with a `cong_control` that is."""
        return False

    def undo_cwnd(self, now: float, tcp: TcpState) -> float:
        """Return cwnd after a loss event turned out to be none.

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.

        Returns:
            The restored window, bytes.
        """
        return max(tcp.cwnd, tcp.prior_cwnd)

    def observe(self, tcp: TcpState) -> dict[str, float]:
        """Return what to show of your state in `Result.control_series`, the same names at every call."""
        return {}

    def on_packet_sent(self, now: float, tcp: TcpState, packet: PacketInfo) -> None:
        """Take note that a segment with data leaves.

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.
            packet: The segment: sequence number, bytes, whether it is a retransmission.
        """

    def on_link_event(self, now: float, tcp: TcpState, event: LinkEvent) -> None:
        """Hear what the radio reports. Plain TCP does not listen.

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.
            event: The event, with its kind.
        """

    def on_unreachable(self, now: float, tcp: TcpState) -> bool:
        """Return whether to stop and probe until an ACK comes, the network calling the peer unreachable.

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.

        Returns:
            True to stop and send probes only.
        """
        return False

    def on_ack_option(self, now: float, tcp: TcpState, value: int) -> None:
        """Take the custom option of an ACK, where it carries one. Called before the ACK is judged.

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.
            value: The option's value.
        """

    def syn_option(self) -> int | None:
        """Return the value of the custom option on the SYN, 0 to 2^32 - 1; None: no option.

        The receiver answers with the number of other flows that are open over the bottleneck (like C2's
        receiver).
        """
        return None

    def on_syn_ack_option(self, now: float, tcp: TcpState, value: int | None) -> None:
        """Take the SYN-ACK's custom option, if it had one. Called before `init`.

        Args:
            now: Time since the start of the run, s.
            tcp: State of the connection; windows in bytes, times in s.
            value: The option's value; None without one.
        """


def check_congestion_control(control: type | str, *, seeds: int = 20, **parameters: object) -> None:
    """Check a congestion control with the conformance suite that every built-in control passes.

    It calls the hooks in every order that a sender may use, with ordinary and extreme values, and plays whole
    transfers over a lossy path. The same calls must give the same windows.

    Args:
        control: The class, or its name (`module:Class`).
        seeds: How many random sequences of hooks.
        parameters: What the constructor is given.

    Raises:
        ConformanceError: The control breaks a rule.
        UsageError: It is not a class, or cannot be constructed.
    """
    found = load(control) if isinstance(control, str) else control
    if not isinstance(found, type):
        raise UsageError(f"{control!r} is not a class; name one with the hooks of cogtcp.CongestionControl")
    name = f"{found.__module__}:{found.__qualname__}"
    try:
        broken = _core.check_congestion_control(name, found, parameters, seeds)
    except TypeError as error:
        raise UsageError(f"{name}: {error}") from error
    if broken is not None:
        raise ConformanceError(name, *broken)


def control_name(control: str | type) -> str:
    """Return the name of a transport. A class has the name `module:Class`, by which every run finds it again.

    Raises:
        UsageError: It is neither a name nor a class that can be found by one.
    """
    if isinstance(control, str):
        return control
    if not isinstance(control, type):
        raise UsageError(
            f"{control!r} is not a transport; name one, or give a class with the hooks of CongestionControl"
        )
    # No module has it under a name, and every run, also in another process, finds a control by its name.
    if "<locals>" in control.__qualname__:
        raise UsageError(
            f"the class {control.__qualname__} is defined in a function; define it in the module"
        )
    return f"{control.__module__}:{control.__qualname__}"


def named_in(text: str) -> set[str]:
    """Return what has the form of a control in Python, `module:Class`, in a text."""
    return set(_NAME.findall(text))


def permitted(scenario: Scenario, named: Iterable[str | type], allow_python: bool) -> Scenario:
    """Return the scenario, which may import the controls that a call names.

    A class is code of the caller's; a name, which may come from anywhere, needs `allow_python`.
    """
    return scenario.allowing(
        name
        for each in named
        if allow_python or not isinstance(each, str)
        for name in named_in(control_name(each))
    )


def load(name: str) -> type:
    """Return the class called `module:Class`: this runs its module.

    The only place that imports what a scenario names. Callers have asked the scenario, which knows what may
    be imported (`Scenario.importable_controls`, and `check_external` in Rust), or were given the name.
    """
    module_name, _, path = name.partition(":")
    try:
        found: object = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        raise ScenarioError(
            f'module "{missing}" not found',
            remedy="run in the folder of the module, or put that folder into PYTHONPATH",
        ) from None
    except Exception as error:
        # Whatever the module raises, its author needs to read it.
        raise ScenarioError(f'module "{module_name}" cannot be imported: {error!r}') from error
    for part in path.split("."):
        if not hasattr(found, part):
            names = [key for key, value in vars(found).items() if isinstance(value, type) and key[:1] != "_"]
            known = ", ".join(names) if names else "none"
            raise ScenarioError(f'"{module_name}" has no class "{path}"; its classes: {known}')
        found = getattr(found, part)
    if not isinstance(found, type):
        raise ScenarioError(
            f'"{name}" is not a class', remedy="name a class with the hooks of cogtcp.CongestionControl"
        )
    return found
