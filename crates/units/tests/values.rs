//! Quantities come out as they went in, and computations with them come to what a hand comes to.

use cogtcp_units::{Bytes, Duration, Power, RandomStream, Rate};

#[test]
fn quantities_come_out_as_they_went_in() {
    assert_eq!((Bytes::new(1460).get(), "64 KiB".parse::<Bytes>().unwrap().get()), (1460, 65_536));
    assert_eq!(Duration::from_millis(1500).as_secs_f64(), 1.5);
    assert_eq!(Duration::from_micros(7) * 3, Duration::from_nanos(21_000));
    assert_eq!(Duration::MAX * 2, Duration::MAX);
}

#[test]
fn powers_in_their_units() {
    for (text, watts) in [("5 nW", 5e-9), ("5 uW", 5e-6), ("5 mW", 5e-3), ("5 W", 5.0), ("5 kW", 5e3)] {
        let power: Power = text.parse().unwrap();
        assert!((power.watts() / watts - 1.0).abs() < 1e-12, "{text}: {power}");
    }
    assert!((Power::from_watts(0.1).dbm() - 20.0).abs() < 1e-12);
    assert!((Power::from_dbm(-90.0).dbm() + 90.0).abs() < 1e-12);
    assert_eq!(Power::from_watts(0.0).dbm(), f64::NEG_INFINITY);
}

/// 4 GB are more bits than 64 bits hold nanoseconds of at a bit a second, and take half a minute at 1 Gbit/s.
#[test]
fn large_transfers_take_their_time() {
    let rate = Rate::from_bits_per_second(1_000_000_000);
    assert_eq!(rate.transmission_time(4_000_000_000), Duration::from_secs(32));
    assert_eq!(
        Rate::from_bits_per_second(3).transmission_time(3_000_000_000),
        Duration::from_secs(8_000_000_000)
    );
}

/// Three quarters of all 64-bit numbers: without rejection every third number would come twice as often as
/// the others.
#[test]
fn large_bounds_are_drawn_evenly() {
    let mut stream = RandomStream::new(1, "large bounds", 0);
    let mut counts = [0u32; 3];
    for _ in 0..30_000 {
        counts[(stream.below(3 << 62) % 3) as usize] += 1;
    }
    // Five standard deviations of a binomial(30000, 1/3) are 408.
    assert!(counts.iter().all(|count| count.abs_diff(10_000) < 408), "{counts:?}");
}
