//! The medium of an ad hoc network: its MAC and its radios.

use super::LONGEST_QUEUE;
use super::nodes::LONGEST_SIDE;
use crate::limits::LONGEST;
use crate::resolve::Findings;
use crate::tree::KeyPath;
use crate::{AdHocMac, Phy, SpectrumSpec};
use cogtcp_units::{Check, Duration, Power};
use cogtcp_wireless::{ChannelConfig, MacConfig, MediumConfig, PhyConfig, PhyRate, Propagation};

pub(super) fn medium(
    mac: &AdHocMac,
    phy: &Phy,
    spectrum: Option<&SpectrumSpec>,
    findings: &mut Findings,
) -> MediumConfig {
    check_mac(mac, findings);
    check_rates(mac, phy, findings);
    let mac_config = MacConfig {
        dcf: mac.shared.clone().under(mac.profile),
        queue_packets: queue(mac) as usize,
        rules: mac.rules.over(mac.profile),
    };
    let mut medium = MediumConfig::new(mac_config, radios(mac, phy, findings), mac.rate);
    if let Some(spectrum) = spectrum {
        let channel = |channel: &cogtcp_spectrum::Channel| ChannelConfig {
            rate: channel.rate,
            error_rate: channel.error_rate.get(),
        };
        medium.channels = spectrum.channels.iter().map(|(_, entry)| channel(entry)).collect();
    }
    medium.rate_control = mac.rate_control;
    medium
}

/// Packets that an interface queue holds.
fn queue(mac: &AdHocMac) -> u32 {
    mac.queue.unwrap_or(MacConfig::of(mac.profile).queue_packets as u32)
}

fn check_mac(mac: &AdHocMac, findings: &mut Findings) {
    let path = KeyPath::of("mac");
    mac.shared.check(&mut findings.under(&path));
    findings.check_rate(&path.key("rate"), mac.rate);
    mac.arp.check(mac.profile, &mut findings.under(&path.key("arp")));
    if !(1..=LONGEST_QUEUE).contains(&queue(mac)) {
        let message = format!("{} packets are out of range", queue(mac));
        findings.error(&path.key("queue"), message, format!("write 1 to {LONGEST_QUEUE}"));
    }
    // Beyond a slot nobody would ever hear another in time.
    findings.check_span(&path.key("delay"), mac.delay, true, mac.shared.slot.max(Duration::from_nanos(1)));
}

/// Rate adaptation, and the rates that it chooses from.
fn check_rates(mac: &AdHocMac, phy: &Phy, findings: &mut Findings) {
    let path = KeyPath::of("mac");
    if let Some(control) = mac.rate_control {
        control.check(LONGEST, &mut findings.under(&path.key("rate_control")));
        if mac.rates.is_empty() {
            let message = "rate adaptation has no rates to choose from";
            findings.error(&path.key("rate_control"), message, "add [[mac.rates]], slowest first");
        }
    }
    let path = path.key("rates");
    for (number, rate) in mac.rates.iter().enumerate() {
        let path = path.index(number);
        findings.check_rate(&path.key("rate"), rate.rate);
        findings.under(&path).range("capture", rate.capture.0, (0.0, 100.0), " dB");
        if !(1.0..=phy.carrier_sense_range.0).contains(&rate.range.0) {
            let message = format!("\"{}\" is out of range", rate.range);
            let remedy = format!("write \"1 m\" to the carrier sense range, \"{}\"", phy.carrier_sense_range);
            findings.error(&path.key("range"), message, remedy);
        }
    }
    if let Some(late) = mac.rates.windows(2).position(|pair| pair[0].rate >= pair[1].rate) {
        let message = "the rates are not in rising order";
        findings.error(&path.index(late + 1).key("rate"), message, "write the slowest first");
    }
}

fn radios(mac: &AdHocMac, phy: &Phy, findings: &mut Findings) -> PhyConfig {
    let path = KeyPath::of("phy");
    let before = findings.errors.len();
    if phy.power.watts() <= 0.0 {
        findings.error(&path.key("power"), "a frame without power reaches no node", "write one above zero");
    }
    for (key, range) in [("range", phy.range), ("carrier_sense_range", phy.carrier_sense_range)] {
        if !(1.0..=LONGEST_SIDE).contains(&range.0) {
            findings.error(&path.key(key), format!("\"{range}\" is out of range"), "write \"1 m\" or more");
        }
    }
    if phy.carrier_sense_range.0 < phy.range.0 {
        let message = format!(
            "frames are received up to \"{}\" and sensed up to \"{}\"",
            phy.range, phy.carrier_sense_range
        );
        findings.error(&path.key("carrier_sense_range"), message, "write at least the range");
    }
    for (key, ratio) in [("cutoff", phy.cutoff), ("capture", phy.capture_under(mac.profile))] {
        findings.under(&path).range(key, ratio.0, (0.0, 100.0), " dB");
    }
    let Phy { path_loss, shadowing, fading, .. } = *phy;
    let propagation = Propagation { path_loss, shadowing, fading };
    propagation.check(&mut findings.under(&path));
    // The error ends the reading: this radio is never used.
    if !findings.none_since(before) {
        return PhyConfig::ns2();
    }
    let reaching =
        |range: f64| PhyConfig::for_ranges(propagation, phy.power, range, phy.carrier_sense_range.0);
    let made = reaching(phy.range.0);
    let rates = mac.rates.iter().map(|rate| PhyRate {
        rate: rate.rate,
        capture: rate.capture.linear(),
        sensitivity: reaching(rate.range.0).sensitivity,
    });
    PhyConfig {
        cutoff: Power::from_watts(made.carrier_sense.watts() / phy.cutoff.linear()),
        capture: phy.capture_under(mac.profile).linear(),
        errors: phy.errors_under(mac.profile),
        delay: mac.delay,
        rates: rates.collect(),
        ..made
    }
}
