//! Packets of the end under test against what a script says of them.

use super::{Due, Heard, Mismatch, Player, ScriptPlane, differs};
use crate::packet::{FIN, OptionPattern, PacketPattern, ScriptPacket};
use crate::script::{Step, When, seconds};
use cogtcp_units::{Duration, Time};

/// Tick of both planes' timestamps.
const PLANE_TICK: Duration = Duration::from_millis(1);

impl<P: ScriptPlane> Player<'_, P> {
    /// The end sends this. A range may be sent in any number of segments, unless the script is exact.
    pub(super) fn expect(&mut self, step: &Step, pattern: &PacketPattern) -> Result<(), Mismatch> {
        let due = self.due(step);
        let until = due.most + self.late(step);
        let mut pattern = pattern.clone();
        let end = pattern.start.wrapping_add(pattern.len);
        // A FIN belongs to the last part only.
        let ends_flow = pattern.flags & FIN;
        loop {
            let Some(heard) = self.next_packet(step, until)? else {
                let waited = seconds(until.saturating_since(self.before.latest));
                return Err(differs(step, self.plane.now(), format!("no packet came within {waited} s"), ""));
            };
            let got = format!("> {}", heard.packet);
            // How data are cut into segments depends on offload and timing on a kernel: packetdrill does not
            // compare it without `strict_segments`.
            if !self.is_exact && heard.packet.len > 0 && heard.packet.len < pattern.len {
                // A part of what the script has as one.
                let part =
                    PacketPattern { len: heard.packet.len, flags: pattern.flags & !FIN, ..pattern.clone() };
                if let Some(what) = part.differs(&heard.packet) {
                    return Err(differs(step, heard.at.latest, format!("another {what}"), &got));
                }
                pattern.start = pattern.start.wrapping_add(heard.packet.len);
                pattern.len = end.wrapping_sub(pattern.start);
                self.check_time(step, &due, until, &heard, &got)?;
                continue;
            }
            pattern.flags |= ends_flow;
            if let Some(what) = pattern.differs(&heard.packet) {
                return Err(differs(step, heard.at.latest, format!("another {what}"), &got));
            }
            self.check_time(step, &due, until, &heard, &got)?;
            if let Some(off) = self.learn(&pattern, &heard.packet, step) {
                return Err(differs(step, heard.at.latest, format!("a timestamp {off} s off"), &got));
            }
            self.before = heard.at;
            return Ok(());
        }
    }

    /// The next packet that no step has had yet.
    fn next_packet(&mut self, step: &Step, until: Time) -> Result<Option<Heard>, Mismatch> {
        if let Some(heard) = self.unread.pop_front() {
            return Ok(Some(heard));
        }
        let heard = self.plane.wait(until).map_err(|error| differs(step, until, error, ""))?;
        if let Some(heard) = &heard {
            self.record_heard(heard);
        }
        Ok(heard)
    }

    fn check_time(
        &self,
        step: &Step,
        due: &Due,
        until: Time,
        heard: &Heard,
        got: &str,
    ) -> Result<(), Mismatch> {
        if step.when == When::Any {
            return Ok(());
        }
        // In favour of the end under test: a mismatch is certain only if the whole interval is outside.
        if heard.at.latest + self.early(step) < due.earliest {
            let early = seconds(due.earliest.saturating_since(heard.at.latest));
            return Err(differs(step, heard.at.latest, format!("{early} s before its time"), got));
        }
        if heard.at.earliest > until {
            let late = seconds(heard.at.earliest.saturating_since(until));
            return Err(differs(step, heard.at.latest, format!("{late} s after its time"), got));
        }
        Ok(())
    }

    /// packetdrill's tolerance: a share of the time since the step before.
    fn drift(&self, step: &Step) -> Duration {
        let since = match step.when {
            When::After(span) => span.least,
            When::At(span) => (Time::ZERO + span.least).saturating_since(self.before.latest),
            When::Any => Duration::ZERO,
        };
        self.slack.least.max(Duration::from_nanos((since.as_nanos() as f64 * self.slack.share) as u64))
    }

    pub(super) fn early(&self, step: &Step) -> Duration {
        self.tolerance.early.max(self.drift(step))
    }

    /// How late a packet, or the end of a call, may be.
    pub(super) fn late(&self, step: &Step) -> Duration {
        self.tolerance.late.max(self.drift(step))
    }

    /// Keeps a packet for a later step.
    pub(super) fn hear(&mut self, heard: Heard) {
        self.record_heard(&heard);
        self.unread.push_back(heard);
    }

    /// Remembers the timestamp for the peer to echo. Returns how far it is from what the script has, where
    /// that is compared: counted from the first, as hosts begin anywhere.
    fn learn(&mut self, pattern: &PacketPattern, packet: &ScriptPacket, step: &Step) -> Option<f64> {
        let (value, _) = packet.timestamps?;
        let written = pattern.options.iter().find_map(|option| match option {
            OptionPattern::Timestamps(written, _) => Some(*written),
            _ => None,
        })?;
        let first = *self.first_stamp.get_or_insert((written, value));
        // A later packet with the same written stamp replaces it: the peer echoes the latest.
        self.stamps.retain(|(each, _)| *each != written);
        self.stamps.push((written, value));
        let tick = self.slack.stamp_tick?;
        let wanted = f64::from(written.wrapping_sub(first.0)) * tick.as_secs_f64();
        let off = f64::from(value.wrapping_sub(first.1)) * PLANE_TICK.as_secs_f64() - wanted;
        let most = if off < 0.0 { self.early(step) } else { self.late(step) };
        // A tick more: two clocks that tick apart differ by up to one.
        (off.abs() > most.as_secs_f64() + tick.as_secs_f64()).then_some(off)
    }

    /// What the script has as an echo stands for the timestamp that the end sent in that place.
    pub(super) fn translate_echo(&self, packet: &mut ScriptPacket) {
        if let Some((_, echo)) = &mut packet.timestamps
            && let Some((_, value)) = self.stamps.iter().find(|(written, _)| written == echo)
        {
            *echo = *value;
        }
    }
}
