//! Whole scripts in packetdrill's language.

use super::*;
use crate::script::{PlaneName, Returns, When};

const SCRIPT: &str = "// Sends two segments.
// More about it.
--tolerance_usecs=6000
`../common/defaults.sh
sysctl -q net.ipv4.tcp_sack=0`

    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
  +.1 < S 0:0(0) win 32792 <mss 1000,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <...>
+.1~+.2 < . 1:1(0) ack 1 win 257 // the handshake ends
   +0...0.3 accept(3, ...,
          ...) = 4   // a comment
   *  > P. 1:2001(2000) ack 1
+.005 %{
assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd
}%
 1.5~1.6 > . 1:1001(1000) ack 1
";

#[test]
fn a_script_is_read() {
    let script = parse(SCRIPT, "a.pkt").unwrap();
    assert_eq!(script.about, "Sends two segments.");
    assert_eq!(script.transport, "linux-cubic");
    assert_eq!(script.flow.sender.recovery.algorithm, Recovery::NewReno);
    assert_eq!(script.slack, Slack { least: Duration::from_millis(6), share: 0.125, stamp_tick: None });
    assert!(!script.is_exact);
    let ms = Duration::from_millis;
    let steps: Vec<_> = script.steps.iter().skip(2).map(|step| (step.line, step.when)).collect();
    let after = |least, most| When::After(crate::Span { least: ms(least), most: ms(most) });
    assert_eq!(
        steps,
        [
            (8, after(0, 0)),
            (9, after(0, 0)),
            (10, after(100, 100)),
            (11, after(0, 0)),
            (12, after(100, 200)),
            (13, after(0, 0)),
            (15, When::Any),
            (16, after(5, 5)),
            (19, When::At(crate::Span { least: ms(1500), most: ms(1600) })),
        ]
    );
    let Action::System(accept) = &script.steps[7].action else { panic!("{:?}", script.steps[7]) };
    assert_eq!((accept.call, accept.returns, accept.until), (Call::Accept, Returns::Done, Some(ms(300))));
}

/// Sizes of windows and their scale are compared where the script sets the buffer that they follow from.
#[test]
fn windows_count_where_the_script_sets_the_buffer() {
    let differs = |script: &str, packet: &str| {
        let script = parse(&script.replacen("S. 0:0(0) ack 1 <...>", packet, 1), "a.pkt").unwrap();
        crate::model::play(&script).unwrap().mismatch.map(|differs| differs.what)
    };
    let own = SCRIPT.replacen("defaults.sh", "set_sysctls.py", 1);
    let scaled =
        |window: u32, shift: u32| format!("S. 0:0(0) ack 1 win {window} <mss 1460,nop,wscale {shift}>");
    assert_eq!(differs(SCRIPT, &scaled(64240, 3)).unwrap(), "another option wscale");
    assert_eq!(differs(SCRIPT, &scaled(5, 8)).unwrap(), "another window");
    assert_eq!(differs(&own, &scaled(5, 3)).as_deref(), differs(&own, &scaled(64240, 8)).as_deref());
    assert_eq!(differs(&own, &scaled(0, 8)).unwrap(), "another window");
}

#[test]
fn sctp_is_out_of_scope() {
    let text = SCRIPT.replacen("IPPROTO_TCP", "IPPROTO_SCTP", 1).replacen("*  > P.", "*  > sctp: INIT", 1);
    let error = parse(&text, "a.pkt").unwrap_err();
    assert_eq!(error.to_string(), "a.pkt:7: out of scope: SCTP");
}

/// Options of the socket are settings of the end: TCP_USER_TIMEOUT is in ms, and negative is none.
#[test]
fn options_of_the_socket_are_settings_of_the_end() {
    let with = |option: &str| {
        let line = format!("   +0 setsockopt(3, SOL_TCP, {option}, 4) = 0\n   +0 bind(");
        parse(&SCRIPT.replacen("   +0 bind(", &line, 1), "a.pkt").unwrap().flow.sender
    };
    for (millis, expected) in [("[3000]", 3000), ("[-1]", 0)] {
        let sender = with(&format!("TCP_USER_TIMEOUT, {millis}"));
        assert_eq!(sender.timers.user_timeout, Some(Duration::from_millis(expected)));
    }
    assert_eq!(with("TCP_MAXSEG, [1100]").handshake.mss, 1100);
}

#[test]
fn errors_name_their_line_and_what_is_out_of_scope_its_subject() {
    let error = |from: &str, to: &str| parse(&SCRIPT.replacen(from, to, 1), "a.pkt").unwrap_err();
    for (from, to, is_out_of_scope, says) in [
        ("tcp_sack", "tcp_magic", true, "a.pkt:4: out of scope: the setting net.ipv4.tcp_magic"),
        ("listen(3, 1) = 0", "poll([{fd=3}], 1, 5) = 1", true, "out of scope: poll"),
        (
            "--tolerance_usecs=6000",
            "--ip_version=ipv6",
            true,
            "a.pkt:3: out of scope: the option --ip_version=ipv6",
        ),
        ("socket(", "soccet(", false, "a.pkt:1: the script opens no socket"),
        ("*  > P.", "*  > X.", false, "not a flag"),
        ("+.005 %{", "+x %{", false, "\"+x\" is not a time"),
        ("}%", "", false, "}%"),
        ("assert", "import", false, "not a statement"),
        ("+.1~+.2", "+.3~+.2", false, "the smaller time"),
    ] {
        let error = error(from, to);
        assert_eq!(error.is_out_of_scope, is_out_of_scope, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

const EXACT: &str = "// Sends a segment.
//: transport = \"linux-reno\"
//: tcp.segment_size = \"1000 B\"
`sysctl -q net.ipv4.tcp_reordering=3`
0 socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3
+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
+0 > S 0:0(0) <...>
//: differ: a reason
+.3 > . 1:1(0) ack 1 <...> //: kernel
//: sim +.1 %{ }%
";

#[test]
fn marks_are_read() {
    let script = Script::parse(EXACT, "a.pkt").unwrap();
    assert_eq!((script.transport.as_str(), script.flow.sender.handshake.mss), ("linux-reno", 1000));
    assert_eq!(script.kernel, [("ipv4.tcp_reordering".to_owned(), "3".to_owned())]);
    assert_eq!(script.differences, [(8, "a reason".to_owned())]);
    assert!(script.is_exact && script.slack == super::EXACT);
    let planes: Vec<_> = script.steps.iter().skip(3).map(|step| (step.line, step.plane)).collect();
    let (sim, kernel) = (Some(PlaneName::Sim), Some(PlaneName::Kernel));
    assert_eq!(planes, [(7, None), (9, kernel), (10, sim)]);
    assert_eq!(script.steps[5].text, "+.1 %{ }%");
}

/// A packet too many, another segmentation and a time a little off are wrong in an exact script alone.
#[test]
fn an_exact_script_says_everything() {
    let played = |steps: &str, is_exact: bool| {
        let head = EXACT.split_once("//: differ").unwrap().0;
        let text = format!("{head}+.1 < S. 0:0(0) ack 1 win 9000 <mss 1000>\n{steps}");
        let text = if is_exact { text } else { text.replace("//: tr", "// tr").replace("//: tcp", "// tcp") };
        crate::model::play(&Script::parse(&text, "a.pkt").unwrap()).unwrap().mismatch.map(|found| found.what)
    };
    let two = "+0 > . 1:1(0) ack 1\n+0 write(3, ..., 2000) = 2000\n+0 > P. 1:2001(2000) ack 1\n";
    assert_eq!(played(two, true).unwrap(), "another range of bytes");
    assert_eq!(played(two, false), None);
    let silent = "+0 > . 1:1(0) ack 1\n+0 write(3, ..., 10) = 10\n+.1 write(3, ..., 10) = 10\n";
    assert_eq!(played(silent, true).unwrap(), "a packet came before this step");
    assert_eq!(played(silent, false), None);
    assert_eq!(played("", true).unwrap(), "after the last step a packet came");
    let late = "+.002 > . 1:1(0) ack 1\n";
    assert_eq!(played(late, true).unwrap(), "0.002 s before its time");
    assert_eq!(played(late, false), None);
}

#[test]
fn what_is_wrong_with_a_mark_is_told_with_its_line() {
    for (from, to, says) in [
        ("linux-reno", "renno", "unknown transport"),
        ("//: transport", "//: transprot", "a.pkt:2: unknown field `transprot`"),
        ("segment_size", "segmnt_size", "a.pkt:3: "),
        ("//: differ: a reason", "", "a.pkt:9: say why the planes differ"),
        ("//: kernel", "//: kernal", "a.pkt:9: behind a step write //: kernel"),
        ("//: sim +.1 %{ }%", "//: sim +.1 %{\n}% //: kernel", "a.pkt:11: mark the line in which"),
    ] {
        let error = Script::parse(&EXACT.replacen(from, to, 1), "a.pkt").unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// Linux's settings, each by itself, as settings of both ends.
#[test]
fn settings_of_the_host_are_settings_of_the_ends() {
    let with =
        |setting: &str| parse(&SCRIPT.replacen("net.ipv4.tcp_sack=0", setting, 1), "a.pkt").unwrap().flow;
    for on in [true, false] {
        let set = |name: &str| with(&format!("net.ipv4.{name}={}", u8::from(on)));
        let flow = set("tcp_timestamps");
        assert_eq!((flow.sender.handshake.timestamps, flow.receiver.handshake.timestamps), (on, on));
        let flow = set("tcp_window_scaling");
        assert_eq!((flow.sender.handshake.window_scaling, flow.receiver.handshake.window_scaling), (on, on));
        let flow = set("tcp_sack");
        let recovery = if on { Recovery::Sack } else { Recovery::NewReno };
        assert_eq!((flow.sender.recovery.algorithm, flow.receiver.sack), (recovery, on));
        assert_eq!(set("tcp_dsack").receiver.d_sack, on);
        assert_eq!(set("tcp_slow_start_after_idle").sender.restart_after_idle, on);
        assert_eq!(set("tcp_recovery").sender.recovery.rack, on);
        assert_eq!(set("tcp_frto").sender.undo.f_rto != FRto::Off, on);
        let ecn = if on { EcnMode::Classic } else { EcnMode::Off };
        let flow = set("tcp_ecn");
        assert_eq!((flow.sender.handshake.ecn, flow.receiver.handshake.ecn), (ecn, ecn));
    }
    // 2 agrees to ECN and does not ask for it.
    let flow = with("net.ipv4.tcp_ecn=2");
    assert_eq!((flow.sender.handshake.ecn, flow.receiver.handshake.ecn), (EcnMode::Off, EcnMode::Classic));
    assert_eq!(with("net.ipv4.tcp_reordering=7").sender.recovery.dup_thresh, 7);
    let millis = Duration::from_millis(9);
    let flow = with("net.ipv4.tcp_invalid_ratelimit=9");
    assert_eq!((flow.sender.challenge_interval, flow.receiver.challenge_interval), (millis, millis));
    assert_eq!(with("net.ipv4.tcp_rmem=\"4096 5000 6000\"").receiver.buffer, 6000);
}

/// Options of a script: tolerances in microseconds and per cent, and options that have no effect here.
#[test]
fn options_of_a_script_are_read() {
    let slack = |option: &str| {
        parse(&SCRIPT.replacen("--tolerance_usecs=6000", option, 1), "a.pkt").map(|it| it.slack)
    };
    assert_eq!(slack("--tolerance_percent=50").unwrap().share, 0.5);
    assert_eq!(slack("--tcp_ts_tick_usecs=1000").unwrap().stamp_tick, Some(Duration::from_millis(1)));
    for option in ["--ip_version=ipv4", "--local_ip=1.2.3.4", "--strict_segments", "--send_omit_free"] {
        assert!(slack(option).is_ok(), "{option}");
    }
    for option in ["--mss=9", "--ip_version=ipv6", "--magic=1", "--tolerance_usecs=x", "--tolerance_percent="]
    {
        assert!(slack(option).is_err(), "{option}");
    }
}

/// errno.h of Linux.
#[test]
fn errors_have_linuxs_numbers() {
    use crate::script::Errno;
    for (errno, name, number) in [
        (Errno::WouldBlock, "EAGAIN", 11),
        (Errno::InProgress, "EINPROGRESS", 115),
        (Errno::BrokenPipe, "EPIPE", 32),
        (Errno::Reset, "ECONNRESET", 104),
        (Errno::Refused, "ECONNREFUSED", 111),
        (Errno::TimedOut, "ETIMEDOUT", 110),
        (Errno::NotConnected, "ENOTCONN", 107),
        (Errno::Unreachable, "EHOSTUNREACH", 113),
    ] {
        assert_eq!((errno.name(), errno.number()), (name, number));
    }
}
