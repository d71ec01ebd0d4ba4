//! Throughput of saturated cells against Bianchi's model.

use crate::common::{Bench, config};
use cogtcp_units::{Bytes, Time};
use cogtcp_wireless::{Dcf, RetryLimit};

/// Bianchi's fixed point (JSAC 18(3), 2000, equations 7 to 13): packets per second of `n` stations, window
/// `w`, `m` doublings, a slot, a success and a collision of these lengths in seconds.
fn bianchi(n: i32, w: f64, m: i32, slot: f64, success: f64, collision: f64) -> f64 {
    let tau = |p: f64| {
        let doubled: f64 = (0..m).map(|i| (2.0 * p).powi(i)).sum();
        // Equation 7, with numerator and denominator divided by 1 - 2 p, which is zero at p = 1/2.
        2.0 / (1.0 + w + p * w * doubled)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let p = 0.5 * (low + high);
        if 1.0 - (1.0 - tau(p)).powi(n - 1) > p { low = p } else { high = p }
    }
    let tau = tau(low);
    let some = 1.0 - (1.0 - tau).powi(n);
    let one = f64::from(n) * tau * (1.0 - tau).powi(n - 1);
    one / ((1.0 - some) * slot + one * success + (some - one) * collision)
}

/// Senders on a circle about their receiver: all hear each other, and no frame stands out.
fn circle(n: u32) -> Vec<(f64, f64)> {
    let at = |k: u32| {
        let angle = std::f64::consts::TAU * f64::from(k) / f64::from(n);
        (50.0 * libm::cos(angle), 50.0 * libm::sin(angle))
    };
    std::iter::once((0.0, 0.0)).chain((0..n).map(at)).collect()
}

/// 1 to 20 stations, with RTS and without, within 2 %. With RTS a collision costs the RTS and then EIFS at
/// those who listened, 364 us after it; without, the data frame and EIFS. Retry limits are out of the way, as
/// in the model.
#[test]
fn throughput_is_bianchis() {
    let (sifs, difs, slot, eifs, delay) = (10e-6, 50e-6, 20e-6, 364e-6, 1e-6);
    let (rts, cts, ack) = (352e-6, 304e-6, 304e-6);
    let data = 192e-6 + f64::from((crate::common::PACKET + 28) * 8) * 1e-6;
    for with_rts in [true, false] {
        let success = data + sifs + ack + difs + 2.0 * delay;
        let success = if with_rts { success + rts + cts + 2.0 * sifs + 2.0 * delay } else { success };
        let collision = if with_rts { rts } else { data } + delay + eifs;
        for n in [1, 2, 5, 10, 20] {
            let mac = Dcf {
                rts_threshold: if with_rts { Bytes::new(0) } else { Dcf::NO_RTS },
                short_retry_limit: RetryLimit::Infinite,
                long_retry_limit: Some(RetryLimit::Infinite),
                ..Dcf::default()
            };
            let flows: Vec<(u32, u32)> = (1..=n).map(|station| (station, 0)).collect();
            let mut bench = Bench::new(config(mac.into()), &circle(n), &flows, 1);
            bench.run(Time::from_millis(200_000));
            let measured = bench.total() as f64 / 200.0;
            // Windows from 32 slots to 1024.
            let theory = bianchi(n as i32, 32.0, 5, slot, success, collision);
            println!(
                "{n} stations, RTS {with_rts}: {measured} packets/s, theory {theory}, {}",
                measured / theory - 1.0
            );
            assert!((measured / theory - 1.0).abs() < 0.02, "{n} stations: {measured}, theory {theory}");
        }
    }
}
