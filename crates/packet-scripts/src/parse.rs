//! Reads scripts.

use crate::head::Head;
use crate::packet::PacketPattern;
use crate::script::{Action, Call, Language, Measure, PlaneName, Script, ScriptError, Span, Step, When};
use cogtcp_units::Duration;

/// What separates the head from the steps.
const RULE: &str = "---";
/// Most of what a step may wait or a program may write.
const MOST_SECONDS: f64 = 3600.0;
const MOST_BYTES: u64 = 1 << 30;

const CALLS: &str = "connect, listen, accept, write N, read N, close, quickack off, nothing, cwnd N, ssthresh N, \
                     < PACKET or > PACKET";

impl Script {
    /// Reads a script. `file` is for messages.
    pub fn parse(text: &str, file: &str) -> Result<Self, ScriptError> {
        if crate::drill::is_packetdrill(text) {
            return crate::drill::parse(text, file);
        }
        let refuse = |line: usize, message: String| ScriptError::wrong(file, line, message);
        let lines: Vec<&str> = text.lines().collect();
        let Some(rule) = lines.iter().position(|line| line.trim() == RULE) else {
            return Err(refuse(1, format!("separate the head from the steps with a line {RULE}")));
        };
        let head_text = lines[..rule].join("\n");
        let head = Head::parse(&head_text, file)?;
        let flow = head.flow(&head_text, file)?;
        let (mut steps, mut differences) = (Vec::new(), Vec::new());
        let mut is_explained = false;
        for (index, line) in lines.iter().enumerate().skip(rule + 1) {
            let number = index + 1;
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Some(reason) = line.strip_prefix("differ:") {
                differences.push((number, reason.trim().to_owned()));
                is_explained = true;
                continue;
            }
            let (plane, rest) = match line.split_once(':') {
                // Only these words before a colon name a plane: a packet's range has a colon too.
                Some(("sim", rest)) => (Some(PlaneName::Sim), rest.trim()),
                Some(("kernel", rest)) => (Some(PlaneName::Kernel), rest.trim()),
                _ => (None, line),
            };
            if plane.is_some() && !is_explained {
                let message = "say why the planes differ in the line before: differ: REASON";
                return Err(refuse(number, message.to_owned()));
            }
            let (when, action) = parse_step(rest).map_err(|message| refuse(number, message))?;
            steps.push(Step { line: number, text: line.to_owned(), plane, when, action });
        }
        // A plane has one connection, and nothing to wait for or inject before it exists.
        let opens = |step: &Step| matches!(step.action, Action::Call(Call::Connect | Call::Listen));
        match steps.iter().position(opens) {
            Some(0) if steps.iter().filter(|step| opens(step)).count() == 1 => {}
            _ => {
                let line = steps.first().map_or(rule + 1, |step| step.line);
                return Err(refuse(
                    line,
                    "write connect or listen as the first step, and only there".to_owned(),
                ));
            }
        }
        Ok(Self {
            file: file.to_owned(),
            about: head.about.clone(),
            kernel: head.kernel(),
            language: Language::Own,
            flow,
            transport: head.transport,
            steps,
            differences,
        })
    }
}

fn parse_step(text: &str) -> Result<(When, Action), String> {
    let (after, rest) = match text.strip_prefix('+') {
        Some(rest) => {
            let (span, rest) =
                rest.split_once(char::is_whitespace).ok_or("write what happens after the time")?;
            (parse_span(span)?, rest.trim())
        }
        None => (Span { least: Duration::ZERO, most: Duration::ZERO }, text),
    };
    let action = parse_action(rest)?;
    // A script's own step has one time at which it is done.
    if after.most > after.least && !matches!(action, Action::Expect(_)) {
        return Err("only an expected packet may have a range of times".to_owned());
    }
    Ok((When::After(after), action))
}

fn parse_span(text: &str) -> Result<Span, String> {
    let seconds = |text: &str| match text.parse::<f64>() {
        Ok(seconds) if (0.0..=MOST_SECONDS).contains(&seconds) => {
            Ok(Duration::from_nanos((seconds * 1e9).round() as u64))
        }
        _ => Err(format!(
            "\"+{text}\" is not a time; write seconds after the step before, as in +0.2 or +0.2~0.3"
        )),
    };
    let (least, most) = text.split_once('~').unwrap_or((text, text));
    let span = Span { least: seconds(least)?, most: seconds(most)? };
    if span.most < span.least {
        return Err(format!("\"+{text}\": write the smaller time first"));
    }
    Ok(span)
}

fn parse_action(text: &str) -> Result<Action, String> {
    if let Some(packet) = text.strip_prefix('<') {
        let packet = PacketPattern::parse(packet)?;
        packet.check_complete()?;
        return Ok(Action::Inject(packet));
    }
    if let Some(packet) = text.strip_prefix('>') {
        return PacketPattern::parse(packet).map(Action::Expect);
    }
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let number = |text: &str| match text.parse::<u64>() {
        Ok(number) if number <= MOST_BYTES => Ok(number),
        _ => Err(format!("\"{text}\" is not a number from 0 to {MOST_BYTES}")),
    };
    let call = |call| Ok(Action::Call(call));
    match words[..] {
        ["connect"] => call(Call::Connect),
        ["listen"] => call(Call::Listen),
        ["accept"] => call(Call::Accept),
        ["write", bytes] => call(Call::Write(number(bytes)?)),
        ["read", bytes] => call(Call::Read(number(bytes)?)),
        ["close"] => call(Call::Close),
        ["quickack", "off"] => call(Call::LeaveQuickAck),
        ["nothing"] => Ok(Action::Nothing),
        ["cwnd", value] => Ok(Action::Measure(Measure::Cwnd, number(value)?)),
        ["ssthresh", value] => Ok(Action::Measure(Measure::Ssthresh, number(value)?)),
        _ => Err(format!("\"{text}\" is not a step; write {CALLS}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "about = \"a test\"\ntransport = \"linux-reno\"\ntcp.segment_size = \"1000 B\"\nkernel.tcp_x = 0\n---\n";

    fn script(steps: &str) -> Result<Script, ScriptError> {
        Script::parse(&format!("{HEAD}{steps}"), "a.pkt")
    }

    #[test]
    fn a_script_is_read() {
        let script = script(
            "+0 connect # begins\n\n+0 > S 0:0\n+.05 < S. 0:0 ack 1\ndiffer: a reason\nkernel: +0.2~0.3 > . 1:1 ack 1\n\
             sim: +1 nothing\n",
        )
        .unwrap();
        assert_eq!(script.flow.sender.handshake.mss, 1000);
        assert_eq!(script.kernel, [("ipv4.tcp_x".to_owned(), "0".to_owned())]);
        assert_eq!(script.differences, [(10, "a reason".to_owned())]);
        let planes: Vec<_> = script.steps.iter().map(|step| (step.line, step.plane)).collect();
        let (sim, kernel) = (Some(PlaneName::Sim), Some(PlaneName::Kernel));
        assert_eq!(planes, [(6, None), (8, None), (9, None), (11, kernel), (12, sim)]);
        let When::After(span) = script.steps[3].when else { panic!("no relative time") };
        assert_eq!(span.to_string(), "+0.2~0.3");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (steps, says) in [
            ("+0 close\n", "a.pkt:6: write connect or listen"),
            ("+0 connect\n+0 connect\n", "a.pkt:6: write connect or listen"),
            ("connect\n+0 > X\n", "a.pkt:7: \"X\" is not a flag"),
            ("connect\n+x > S 0:0\n", "a.pkt:7: \"+x\" is not a time"),
            ("connect\n+2~1 > S 0:0\n", "write the smaller time first"),
            ("connect\n+1~2 close\n", "range of times"),
            ("connect\nkernel: close\n", "a.pkt:7: say why the planes differ"),
            ("connect\ndance\n", "\"dance\" is not a step"),
            ("connect\n< S. 0:0 ack 1 <mss *>\n", "needs values"),
        ] {
            let error = script(steps).unwrap_err().to_string();
            assert!(error.contains(says), "{steps}: {error}");
        }
        let head = |text: &str| Script::parse(text, "a.pkt").unwrap_err().to_string();
        assert!(head("about = 1").contains("with a line ---"));
        assert!(head("about = \"\"\nx = 1\n---\n").contains("a.pkt:2"));
        let wrong = head("about = \"\"\ntransport = \"linux-reno\"\ntcp.sck = true\n---\nconnect\n");
        assert!(wrong.contains("a.pkt:3") && wrong.contains("sack"), "{wrong}");
        assert!(head("about = \"\"\ntransport = \"renno\"\n---\nconnect\n").contains("unknown transport"));
    }
}
