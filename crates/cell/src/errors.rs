//! Which transport blocks are lost: SINR and efficiency to block error rate (BLER).

/// Bits of the largest code block (TS 36.212, section 5.1.2).
const CODE_BLOCK: f64 = 6144.0;

/// The quantile of the standard normal law above which 10 % lie: at BLER 10 % a code is just usable.
const TENTH: f64 = 1.281_551_565_545;

/// Efficiencies of CQI 1 to 15, bits per resource element (TS 36.213, table 7.2.3-1; TS 38.214, table
/// 5.2.2.1-2).
pub(crate) const CQI: [f64; 15] = [
    0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234,
    5.1152, 5.5547,
];

/// SINR in dB at which CQI 1 has a BLER of 10 % on a Gaussian channel, and the step to the next CQI: CQI 15
/// needs 20 dB. The table for the Gaussian channel of GRASS-RaPlaT (Jozef Stefan Institute, r.MaxPower).
const FIRST: f64 = -7.0;
const STEP: f64 = 27.0 / 14.0;

/// How good the receiver is: the efficiency that has a BLER of 10 % at an SINR.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ErrorModel {
    /// Turbo codes on a Gaussian channel, from link-level simulation: 3 to 5 dB better than `Piro`.
    #[default]
    Awgn,
    /// log2(1 + SINR / 5.53): uncoded QAM with a bit error rate of 5e-5. Piro, Baldo and Miozzo 2011, the
    /// pessimistic option of ns-3's LTE module.
    Piro,
}

/// How far the receiver of `Piro` is from the capacity of the channel: -ln(5 x BER) / 1.5.
fn gap() -> f64 {
    -libm::log(5.0 * 5e-5) / 1.5
}

impl ErrorModel {
    /// Returns the efficiency, in bits per resource element, that has a BLER of 10 % at a linear SINR.
    pub fn usable(self, sinr: f64) -> f64 {
        match self {
            Self::Piro => libm::log2(1.0 + sinr / gap()),
            Self::Awgn => {
                let steps = (10.0 * libm::log10(sinr) - FIRST) / STEP;
                if steps <= 0.0 {
                    // Far below noise the capacity is in proportion to the SINR.
                    return CQI[0] * sinr / libm::pow(10.0, FIRST / 10.0);
                }
                // Above CQI 15 the last segment goes on.
                let below = (steps as usize).min(CQI.len() - 2);
                CQI[below] + (steps - below as f64) * (CQI[below + 1] - CQI[below])
            }
        }
    }

    /// Returns the linear SINR at which a block of `efficiency` is lost with 10 % probability: the inverse of
    /// [`usable`](Self::usable).
    pub fn needed(self, efficiency: f64) -> f64 {
        match self {
            Self::Piro => (libm::exp2(efficiency) - 1.0) * gap(),
            Self::Awgn => {
                if efficiency <= CQI[0] {
                    return libm::pow(10.0, FIRST / 10.0) * efficiency / CQI[0];
                }
                let above = CQI.partition_point(|it| *it < efficiency).clamp(1, CQI.len() - 1);
                let part = (efficiency - CQI[above - 1]) / (CQI[above] - CQI[above - 1]);
                libm::pow(10.0, (FIRST + STEP * (above as f64 - 1.0 + part)) / 10.0)
            }
        }
    }

    /// Returns the BLER of a transport block of `efficiency` bits per resource element at a linear SINR.
    ///
    /// BLER falls around the SINR that the efficiency needs, more steeply for longer code blocks. The normal
    /// approximation of a complex Gaussian channel says how steeply (Polyanskiy, Poor and Verdu 2010,
    /// equation 296).
    pub fn block_error_rate(self, sinr: f64, efficiency: f64) -> f64 {
        let capacity = self.usable(sinr);
        let signal = libm::exp2(capacity) - 1.0;
        let dispersion =
            signal * (signal + 2.0) / ((signal + 1.0) * (signal + 1.0)) * core::f64::consts::LOG2_E.powi(2);
        let uses = CODE_BLOCK / efficiency;
        // Without a signal it is minus infinity: every block is lost.
        let argument = (capacity - efficiency) * libm::sqrt(uses / dispersion) + TENTH;
        0.5 * libm::erfc(argument / core::f64::consts::SQRT_2)
    }
}
