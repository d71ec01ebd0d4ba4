//! Quantities as text, draws, and heaps beside a sorted list. What is read, written and drawn is committed as text.

use crate::*;
use committed::{compare, hash};
use std::collections::BTreeMap;
use std::fmt::{Debug, Display, Write};
use std::str::FromStr;

#[path = "../tests/support/committed.rs"]
mod committed;

fn read<T: FromStr<Err: Display> + Display + Debug>(name: &str, units: &[&str], text: &mut String) {
    let numbers = [
        "", "0", "-0", "1", "2.5", ".5", "5.", "1e3", "1E-3", "1e", "e5", "+4", "-2", "1.2.3", "0.0001",
        "0.4", "0.5", "999.9996", "1234567", "9.2e18", "1e19", "1e400", "nan", "inf", "1,5", " 7 ", "0x10",
    ];
    for unit in units.iter().chain(&["", " furlong", "?"]) {
        let _ = write!(text, "{name}{unit}:");
        for number in numbers {
            match format!("{number}{unit}").parse::<T>() {
                Ok(value) => _ = write!(text, " [{value} {value:?}]"),
                Err(error) => _ = write!(text, " {:08x}", hash(error.to_string().as_bytes()) as u32),
            }
        }
        let wrong = format!("x{unit}").parse::<T>().err().map(|error| error.to_string());
        let _ = writeln!(text, " {}", wrong.unwrap_or_default());
    }
}

#[test]
fn quantities_from_text() {
    let mut text = String::new();
    read::<Duration>("duration", &[" ns", "us", " ms", " s", " min", " h", " S"], &mut text);
    read::<Rate>("rate", &[" bit/s", " kbit/s", "Mbit/s", " Gbit/s", " MB/s"], &mut text);
    read::<Bytes>("bytes", &[" B", " kB", " MB", " GB", " KiB"], &mut text);
    read::<Power>("power", &[" W", " mW", " dBm", "uW"], &mut text);
    read::<Decibel>("decibel", &[" dB", " dBm"], &mut text);
    read::<Frequency>("frequency", &[" Hz", " kHz", " MHz", " GHz"], &mut text);
    read::<Length>("length", &[" m", " km", " cm"], &mut text);
    read::<Speed>("speed", &[" m/s", " km/h"], &mut text);
    read::<Acceleration>("acceleration", &[" m/s^2"], &mut text);
    read::<Probability>("probability", &[" %", "%"], &mut text);
    compare("quantities", &text);
}

#[test]
fn quantities_in_numbers() {
    let mut text = String::new();
    let numbers = [
        0,
        1,
        7,
        8,
        999,
        1000,
        1500,
        60_000_000_000,
        61_000_000_000,
        3_600_000_000_000,
        u64::MAX / 3,
        u64::MAX,
    ];
    for a in numbers {
        let (span, rate, time) =
            (Duration::from_nanos(a), Rate::from_bits_per_second(a), Time::from_nanos(a));
        let _ = write!(
            text,
            "{a}: {span} {rate} {} {time:?} {} {}",
            Bytes::new(a),
            span.as_secs_f64(),
            time.as_secs_f64()
        );
        for b in numbers {
            let other = Duration::from_nanos(b);
            let _ = write!(text, " {:?} {:?}", span.saturating_sub(other), span.abs_diff(other));
            let _ = write!(text, " {:?}", time.saturating_since(Time::from_nanos(b)));
            if a > 0 {
                let _ = write!(text, " {:?}", rate.transmission_time(b));
            }
            if b > 0 {
                let _ = write!(
                    text,
                    " {:?} {:?} {:?}",
                    span.mul_ratio(3, b),
                    rate.bytes_in(other),
                    Rate::from_bytes_in(a, other)
                );
            }
        }
        text.push('\n');
    }
    for value in [0.0, 0.4e-9, 0.5e-9, 1.5, 1e9, 1e10, 1.9e10] {
        let (span, time, power) =
            (Duration::from_secs_f64(value), Time::from_secs_f64(value), Power::from_watts(value));
        let _ = writeln!(
            text,
            "{value}: {span:?} {time:?} {} {:?} {} {} {:?}",
            power.dbm(),
            Power::from_dbm(value),
            power.watts(),
            Decibel(value).linear(),
            Probability::new(value)
        );
    }
    let names = ["cubic", "linux-cubic", "reno", "newreno", "bbr", "x"];
    for found in ["", "cubik", "CUBIC", "linux-cubik", "rno", "bbrrrr", "zzzzzzzzzz", "y"] {
        let many: Vec<String> = (0..40).map(|number| format!("name{number}")).collect();
        for count in 0..many.len() {
            let _ = writeln!(text, "{count}: {}", among("q", &many[..count]));
        }
        let _ = writeln!(text, "{found}: {:?} {}", nearest(found, &names), among(found, &names));
    }
    let _ =
        writeln!(text, "{} {} {} {}", list::<&str>(&[]), list(&names[..1]), list(&names[..2]), list(&names));
    compare("numbers", &text);
}

#[test]
fn draws() {
    let mut text = String::new();
    let mut described = |what: &str, draw: &mut dyn FnMut(&mut RandomStream) -> String| {
        let mut stream = RandomStream::new(11, what, 3);
        let draws: Vec<String> = (0..200).map(|_| draw(&mut stream)).collect();
        let _ = writeln!(text, "{what}: {} {} {:016x}", draws[0], draws[1], hash(draws.concat().as_bytes()));
    };
    // Of 2^63 + 1 numbers half of the products are rejected.
    for bound in [1, 2, 3, 10, 1 << 40, (1 << 63) + 1, u64::MAX] {
        described(&format!("below {bound}"), &mut |stream| stream.below(bound).to_string());
    }
    for p in [0.0, 0.3, 1.0] {
        let p = Probability::new(p).unwrap();
        described(&format!("with {p}"), &mut |stream| {
            format!("{} {}", stream.bernoulli(p), stream.next_u64())
        });
    }
    described("uniform", &mut |stream| format!("{} {}", stream.uniform(), stream.uniform_in(-2.0, 5.0)));
    described("normal", &mut |stream| stream.standard_normal().to_string());
    described("exponential", &mut |stream| stream.standard_exponential().to_string());
    for nanos in [0, 1, 2_000_000_000, u64::MAX] {
        let mean = Duration::from_nanos(nanos);
        described(&format!("exponential {nanos}"), &mut |stream| {
            stream.exponential(mean).as_nanos().to_string()
        });
        described(&format!("uniform to {nanos}"), &mut |stream| {
            stream.uniform_duration(Duration::from_nanos(nanos / 2), mean).as_nanos().to_string()
        });
    }
    for shape in [0.2, 0.999, 1.0, 1.001, 4.0] {
        described(&format!("gamma {shape}"), &mut |stream| stream.gamma(shape, 2.0).to_string());
        described(&format!("pareto {shape}"), &mut |stream| stream.pareto(0.5, shape).to_string());
        described(&format!("log-normal {shape}"), &mut |stream| stream.log_normal(-1.0, shape).to_string());
    }
    compare("draws", &text);
}

/// Where each key is.
#[derive(Debug, Default)]
struct Places(BTreeMap<u128, usize>);

impl HeapPlaces<u128> for Places {
    fn moved(&mut self, key: u128, place: usize) {
        self.0.insert(key, place);
    }
}

#[test]
fn a_heap_is_a_sorted_list() {
    for seed in 0..40 {
        let mut draw = RandomStream::new(seed, "heap", 0);
        let mut heap: Heap<u128, Places> = Heap::default();
        let mut keys = std::collections::BTreeSet::new();
        for number in 0..600u128 {
            let key = (u128::from(draw.below(50)) << 32) | number;
            let some = keys.iter().nth(draw.below(keys.len().max(1) as u64) as usize).copied();
            match (draw.below(if number < 300 { 6 } else { 12 }), some) {
                (0..=3, _) | (_, None) => {
                    heap.push(key);
                    keys.insert(key);
                }
                (4, Some(old)) => {
                    heap.set(heap.places.0[&old], key);
                    keys.remove(&old);
                    keys.insert(key);
                }
                (5, Some(old)) => {
                    heap.remove(heap.places.0[&old]);
                    keys.remove(&old);
                }
                (6, Some(_)) => {
                    heap.replace_top(key);
                    keys.pop_first();
                    keys.insert(key);
                }
                _ => {
                    heap.pop();
                    keys.pop_first();
                }
            }
            assert_eq!(
                heap.first(),
                keys.first().copied().unwrap_or(u128::NEVER),
                "seed {seed}, step {number}"
            );
            assert_eq!((heap.len(), heap.is_empty()), (keys.len(), keys.is_empty()));
            for key in &keys {
                assert_eq!(heap.key(heap.places.0[key]), *key, "seed {seed}, step {number}");
            }
        }
    }
}
