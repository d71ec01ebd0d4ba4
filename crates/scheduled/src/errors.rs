//! Which transport blocks are lost: SINR and efficiency to block error rate (BLER).

/// Bits of the largest code block (TS 36.212, section 5.1.2).
const CODE_BLOCK: f64 = 6144.0;

/// Returns how far a real receiver is from the capacity of the channel: -ln(5 x BER) / 1.5 at a bit error
/// rate of 5e-5. Piro, Baldo and Miozzo 2011, the model of ns-3's LTE module.
fn gap() -> f64 {
    -libm::log(5.0 * 5e-5) / 1.5
}

/// The quantile of the standard normal law above which 10 % lie: at BLER 10 % a code is just usable.
const TENTH: f64 = 1.281_551_565_545;

/// Returns the BLER of a transport block of `efficiency` bits per resource element at a linear SINR.
///
/// BLER is 10 % where the efficiency is log2(1 + SINR / gap). Around this point it falls the more steeply the
/// longer the code block, by the normal approximation of a complex Gaussian channel (Polyanskiy, Poor and
/// Verdu 2010, equation 296).
pub fn block_error_rate(sinr: f64, efficiency: f64) -> f64 {
    let signal = sinr / gap();
    let capacity = libm::log2(1.0 + signal);
    let dispersion =
        signal * (signal + 2.0) / ((signal + 1.0) * (signal + 1.0)) * core::f64::consts::LOG2_E.powi(2);
    let uses = CODE_BLOCK / efficiency;
    // Without a signal it is minus infinity: every block is lost.
    let argument = (capacity - efficiency) * libm::sqrt(uses / dispersion) + TENTH;
    0.5 * libm::erfc(argument / core::f64::consts::SQRT_2)
}

/// Returns the linear SINR at which a block of `efficiency` is lost with 10 % probability.
pub fn needed(efficiency: f64) -> f64 {
    (libm::exp2(efficiency) - 1.0) * gap()
}
