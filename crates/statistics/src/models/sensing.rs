//! The share of time that a sensing radio can use.

use crate::OutOfRange;

/// Radio and primary users of [`usable_airtime`].
#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    /// Sensing time t_s, seconds.
    pub sensing_time_s: f64,
    /// Transmission time T_p, seconds.
    pub transmission_time_s: f64,
    /// P_d': probability of detection, given that the PU is ON.
    pub detection: f64,
    /// P_f': probability of a false alarm, given that the PU is OFF.
    pub false_alarm: f64,
    /// Death rate of a PU, 1/s: the mean ON time is 1/alpha.
    pub alpha: f64,
    /// Birth rate of a PU, 1/s: the mean OFF time is 1/beta.
    pub beta: f64,
    /// Silence of one change of channel, seconds.
    pub switching_delay_s: f64,
}

/// Returns the share of time in which the radio transmits on a channel that no PU uses.
///
/// A renewal argument over sensings, each of which finds its channel in the long-run state. It extends Liang
/// et al., IEEE Trans. Wireless Commun. 7(4), 2008 by PUs that arrive during the transmission, by missed PUs
/// and by changes of channel.
///
/// # Errors
///
/// A quantity is out of range.
pub fn usable_airtime(of: &Cycle) -> Result<f64, OutOfRange> {
    let Cycle { sensing_time_s, transmission_time_s, detection, false_alarm, alpha, beta, switching_delay_s } =
        *of;
    for (name, value) in [
        ("sensing_time_s", sensing_time_s),
        ("transmission_time_s", transmission_time_s),
        ("alpha", alpha),
        ("beta", beta),
    ] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(OutOfRange(format!("{name} must be above zero, not {value:?}")));
        }
    }
    if switching_delay_s.is_nan() || switching_delay_s < 0.0 {
        return Err(OutOfRange(format!("switching_delay_s must not be negative, not {switching_delay_s:?}")));
    }
    for (name, value) in [("detection", detection), ("false_alarm", false_alarm)] {
        if !(0.0..=1.0).contains(&value) {
            return Err(OutOfRange(format!("{name} must be a probability, 0 to 1, not {value:?}")));
        }
    }
    let rate = alpha + beta;
    let (p_on, p_off) = (beta / rate, alpha / rate);
    let (free, missed) = (p_off * (1.0 - false_alarm), p_on * (1.0 - detection));
    // The integral of exp(-rate t) over the transmission. `expm1` keeps the digits of short transmissions.
    let settling = -libm::expm1(-rate * transmission_time_s) / rate;
    // OFF at the sensing: OFF after t with p_off + p_on exp(-rate t).
    let mut usable = free * (p_off * transmission_time_s + p_on * settling);
    // ON and missed: OFF after t with p_off (1 - exp(-rate t)).
    usable += missed * p_off * (transmission_time_s - settling);
    let opened = free + missed;
    Ok(usable / (sensing_time_s + opened * transmission_time_s + (1.0 - opened) * switching_delay_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_errors_and_with_rare_users_it_is_the_cycle() {
        // PUs ON for 1 us every 10^6 s: the share is T_p / (T_p + t_s).
        let cycle = Cycle {
            sensing_time_s: 0.1,
            transmission_time_s: 0.9,
            detection: 1.0,
            false_alarm: 0.0,
            alpha: 1e6,
            beta: 1e-6,
            switching_delay_s: 0.0,
        };
        assert!((usable_airtime(&cycle).unwrap() - 0.9).abs() < 1e-9);
        assert!(usable_airtime(&Cycle { alpha: 0.0, ..cycle }).unwrap_err().0.contains("alpha"));
        assert!(usable_airtime(&Cycle { detection: 1.5, ..cycle }).unwrap_err().0.contains("detection"));
    }
}
