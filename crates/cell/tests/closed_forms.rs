//! Frames, rates, schedulers and requests against closed forms.

use cogtcp_cell::carrier::{Carrier, Technology};
use cogtcp_cell::errors::ErrorModel;
use cogtcp_cell::feedback::{feedback, processes, retransmission};
use cogtcp_cell::frame::{Direction, Slot, SlotPattern};
use cogtcp_cell::request::RequestTimes;
use cogtcp_cell::scheduler::{Candidate, Rule, UserScheduler};
use cogtcp_units::{Duration, RandomStream, Time};

const MS: Duration = Duration::from_millis(1);

fn close(measured: f64, theory: f64, tolerance: f64) {
    assert!((measured / theory - 1.0).abs() <= tolerance, "measured {measured}, theory {theory}");
}

/// Resource blocks of each bandwidth: 3GPP TS 36.104, table 5.6-1, and TS 38.101-1, table 5.3.2-1.
#[test]
fn carriers_have_the_resource_blocks_of_the_standards() {
    let lte = [(1.4, 6), (3.0, 15), (5.0, 25), (10.0, 50), (15.0, 75), (20.0, 100)];
    let nr15 =
        [(5.0, 25), (10.0, 52), (15.0, 79), (20.0, 106), (25.0, 133), (30.0, 160), (40.0, 216), (50.0, 270)];
    let nr30 = [
        (5.0, 11),
        (10.0, 24),
        (15.0, 38),
        (20.0, 51),
        (25.0, 65),
        (30.0, 78),
        (40.0, 106),
        (50.0, 133),
        (60.0, 162),
        (70.0, 189),
        (80.0, 217),
        (90.0, 245),
        (100.0, 273),
    ];
    for (technology, known) in
        [(Technology::Lte, &lte[..]), (Technology::Nr15, &nr15), (Technology::Nr30, &nr30)]
    {
        for (megahertz, blocks) in known {
            assert_eq!(technology.blocks(*megahertz), Some(*blocks), "{technology:?}, {megahertz} MHz");
        }
        let others = (1..=1100).map(|tenths| f64::from(tenths) / 10.0);
        let others = others.filter(|it| known.iter().all(|(known, _)| (known - it).abs() > 0.01));
        assert_eq!(others.filter_map(|it| technology.blocks(it)).count(), 0, "{technology:?}");
    }
}

/// Configuration 1 has 4 downlink, 4 uplink and 2 special subframes; 2 has 6, 2 and 2. Special configuration
/// 7 is 10:2:2.
#[test]
fn shares_of_tdd_patterns_are_those_of_their_symbols() {
    for (number, down, up) in [(1, 4.0, 4.0), (2, 6.0, 2.0), (0, 2.0, 6.0), (5, 8.0, 1.0)] {
        let special = if number == 5 { 1.0 } else { 2.0 };
        let frame = SlotPattern::lte_tdd(number, 7).unwrap();
        close(frame.share(Direction::Downlink), (down + special * 10.0 / 14.0) / 10.0, 1e-12);
        close(frame.share(Direction::Uplink), (up + special * 2.0 / 14.0) / 10.0, 1e-12);
    }
    let nr = SlotPattern::tdd("DDDSU", (10, 2, 2), Duration::from_micros(500)).unwrap();
    close(nr.share(Direction::Downlink), (3.0 + 10.0 / 14.0) / 5.0, 1e-12);
    assert_eq!(SlotPattern::fdd(MS).unwrap().share(Direction::Uplink), 1.0);
}

/// A special slot serves a direction from three symbols on: fewer carry sounding and random access alone.
#[test]
fn three_symbols_carry_control_and_data() {
    for (special, downlink, uplink) in [
        ((10, 2, 2), [3, 5], [4, 4]),
        ((9, 2, 3), [3, 5], [3, 4]),
        ((3, 9, 2), [3, 5], [4, 4]),
        ((2, 9, 3), [5, 5], [3, 4]),
    ] {
        let frame = SlotPattern::tdd("DDDSU", special, MS).unwrap();
        let next = |direction| [3, 4].map(|number| frame.next_number(direction, number));
        assert_eq!((next(Direction::Downlink), next(Direction::Uplink)), (downlink, uplink), "{special:?}");
    }
}

/// A vendor's CBRS base station of 20 MHz: 65 Mbit/s down and 27 up in configuration 1, 94 and 14 in
/// configuration 2 (Celona, "Performance metrics for private LTE"). Ours are rates of TCP's data in packets
/// of 1500 bytes, with three symbols of PDCCH, special subframe configuration 7 and four blocks of PUCCH; the
/// vendor says nothing of these.
#[test]
fn peak_rates_are_those_of_a_vendor_within_five_percent() {
    let carrier = Carrier {
        technology: Technology::Lte,
        blocks: 100,
        layers: 2,
        control_symbols: 3,
        control_blocks: 4,
    };
    for (number, down, up) in [(1, 65.0, 27.0), (2, 94.0, 14.0)] {
        let frame = SlotPattern::lte_tdd(number, 7).unwrap();
        for (direction, published) in [(Direction::Downlink, down), (Direction::Uplink, up)] {
            let peak = carrier.peak(&frame, direction).bits_per_second() as f64 / 1e6;
            // 1500 bytes have 52 of IP, TCP and its timestamps, and layer 2 adds 4.
            close(peak * 1448.0 / 1504.0, published, 0.05);
        }
    }
}

/// FDD of 20 MHz, two layers, one symbol of PDCCH, without broadcast: two of the largest transport blocks
/// each millisecond.
#[test]
fn peaks_are_bounded_by_what_a_receiver_has_to_decode() {
    let one = Carrier {
        technology: Technology::Lte,
        blocks: 100,
        layers: 2,
        control_symbols: 1,
        control_blocks: 4,
    };
    let slot = Slot { downlink: 14, uplink: 14 };
    assert_eq!(one.elements(slot, Direction::Downlink), 144);
    assert_eq!(one.codings(slot, Direction::Downlink).last().unwrap().bits * 100.0, 2.0 * 75376.0);
    // With three symbols the code rate of the largest would be 1.05.
    let three = Carrier { control_symbols: 3, ..one };
    assert_eq!(three.elements(slot, Direction::Downlink), 120);
    assert_eq!(three.codings(slot, Direction::Downlink).last().unwrap().bits * 100.0, 2.0 * 63776.0);
    // NR: 273 blocks of 100 MHz, 12 x 12 elements, 64-QAM at 0.926: 436 Mbit/s a layer.
    let nr = Carrier {
        technology: Technology::Nr30,
        blocks: 273,
        layers: 1,
        control_symbols: 1,
        control_blocks: 0,
    };
    assert_eq!(nr.elements(slot, Direction::Downlink), 144);
    let fdd = SlotPattern::fdd(Technology::Nr30.slot()).unwrap();
    // The uplink has all symbols but one of reference signals: 13 x 12 elements, 2000 slots a second.
    close(nr.peak(&fdd, Direction::Uplink).bits_per_second() as f64, 273.0 * 156.0 * 5.5547 * 2000.0, 0.001);
}

/// Every downlink subframe has a feedback subframe that is uplink, and the round trip of FDD is 8 ms.
#[test]
fn feedback_comes_in_uplink_subframes() {
    let fdd = SlotPattern::fdd(MS).unwrap();
    assert_eq!(retransmission(&fdd, Direction::Downlink, 5), 13);
    for number in 0..7 {
        let frame = SlotPattern::lte_tdd(number, 7).unwrap();
        for at in (0..10).filter(|at| frame.slots()[*at as usize].downlink > 0) {
            let back = feedback(&frame, Direction::Downlink, at);
            // The distances of TS 36.213, table 10.1.3.1-1.
            assert!(back >= at + 4 && back <= at + 13, "configuration {number}, subframe {at}: {back}");
            assert_eq!(
                frame.slots()[(back % 10) as usize].uplink,
                14,
                "configuration {number}, subframe {at}"
            );
            // The processes of table 7-1 suffice to send in every downlink subframe.
            let again = retransmission(&frame, Direction::Downlink, at);
            let within = (at..again).filter(|it| frame.slots()[(it % 10) as usize].downlink > 0).count();
            assert!(within <= processes(&frame, Direction::Downlink, true) + 2, "{number} {at} {within}");
        }
    }
}

/// At the SINR that an efficiency needs a tenth of the blocks is lost; a dB more or less decides.
#[test]
fn blocks_are_lost_around_the_sinr_that_they_need() {
    for coding in (Carrier {
        technology: Technology::Nr15,
        blocks: 25,
        layers: 1,
        control_symbols: 2,
        control_blocks: 0,
    })
    .codings(Slot { downlink: 14, uplink: 0 }, Direction::Downlink)
    {
        for model in [ErrorModel::Awgn, ErrorModel::Piro] {
            let sinr = model.needed(coding.efficiency);
            close(model.usable(sinr), coding.efficiency, 1e-9);
            close(model.block_error_rate(sinr, coding.efficiency), 0.1, 1e-6);
            assert!(model.block_error_rate(sinr * 1.2, coding.efficiency) < 0.01);
            assert!(model.block_error_rate(sinr / 1.2, coding.efficiency) > 0.5);
        }
    }
}

#[test]
fn patterns_that_do_not_add_up_are_refused_with_their_place() {
    let refused = |pattern: &str, special| SlotPattern::tdd(pattern, special, MS).unwrap_err().to_string();
    let special = (10, 2, 2);
    for (error, wanted) in [
        (refused("DDXSU", special), "slot 3 of the TDD pattern \"DDXSU\" is \"X\"; write D, S or U"),
        (refused("DDU", special), "slot 3 of the TDD pattern \"DDU\" turns to uplink without a guard"),
        (
            refused("DSDSU", special),
            "slot 2 of the TDD pattern \"DSDSU\" is special, and not between D and U",
        ),
        (refused("DDD", special), "has no uplink"),
        (refused("", special), "has no downlink"),
        (refused("DSU", (10, 2, 3)), "10:2:3 symbols has 15; it has 14"),
        (refused("DSU", (12, 0, 2)), "at least one of them guard"),
        (SlotPattern::lte_tdd(7, 7).unwrap_err().to_string(), "no LTE TDD configuration 7; write 0 to 6"),
        (
            SlotPattern::lte_tdd(1, 9).unwrap_err().to_string(),
            "no LTE special subframe configuration 9; write 0 to 8",
        ),
        (SlotPattern::fdd(Duration::ZERO).unwrap_err().to_string(), "the slot is zero long"),
    ] {
        assert!(error.contains(wanted), "{error}");
    }
}

/// Rates of independent exponential fading, many slots: round robin gives each its mean, proportional fair
/// H_n = 1 + 1/2 + ... + 1/n times that (as max-rate does among equals), and equal shares among users of
/// unequal means.
#[test]
fn proportional_fair_gains_the_harmonic_number() {
    const SLOTS: usize = 200_000;
    for users in [1, 2, 5, 20] {
        let harmonic: f64 = (1..=users).map(|user| 1.0 / f64::from(user)).sum();
        let mut totals = Vec::new();
        for rule in [Rule::RoundRobin, Rule::ProportionalFair { slots: 2000.0 }] {
            let mut fading = RandomStream::new(1, "fading", 0);
            let mut scheduler = UserScheduler::new(rule, users as usize);
            let mut total = vec![(0.0, 0_u32); users as usize];
            for _ in 0..SLOTS {
                // User k has k + 1 times the mean rate of the first.
                let each = (1..=users).map(|user| f64::from(user) * fading.standard_exponential());
                let candidates: Vec<_> = each.map(|bits| Candidate { bits, is_waiting: true }).collect();
                let user = scheduler.choose(&candidates).unwrap();
                total[user].0 += candidates[user].bits;
                total[user].1 += 1;
            }
            for (_, slots) in &total {
                close(f64::from(*slots), SLOTS as f64 / f64::from(users), 0.04);
            }
            totals.push(total.iter().map(|(bits, _)| bits).sum::<f64>());
        }
        close(totals[1] / totals[0], harmonic, 0.02);
    }
}

#[test]
fn users_without_data_have_no_slot_and_the_best_has_all_of_max_rate() {
    let candidate = |bits, is_waiting| Candidate { bits, is_waiting };
    let mut scheduler = UserScheduler::new(Rule::RoundRobin, 3);
    let some = [candidate(1.0, true), candidate(1.0, false), candidate(1.0, true)];
    let turns: Vec<_> = (0..4).map(|_| scheduler.choose(&some)).collect();
    assert_eq!(turns, [Some(0), Some(2), Some(0), Some(2)]);
    assert_eq!(scheduler.choose(&some.map(|it| candidate(it.bits, false))), None);
    let mut greedy = UserScheduler::new(Rule::MaxRate, 2);
    assert!((0..9).all(|_| greedy.choose(&[candidate(1.0, true), candidate(2.0, true)]) == Some(1)));
}

/// FDD, opportunities every 10 ms, 4 ms and 4 ms: data comes 0 to 10 ms, 1 ms for the request's slot and 8 ms
/// later; 14 ms in the mean.
#[test]
fn a_request_takes_half_a_period_and_two_processing_times() {
    let frame = SlotPattern::fdd(MS).unwrap();
    let four = Duration::from_millis(4);
    let request =
        RequestTimes { period: Duration::from_millis(10), offset: MS * 3, to_grant: four, to_data: four };
    // A little more than 0.1 ms apart, so that they meet the period everywhere.
    let arrivals = (0..100_000).map(|number| Time::from_nanos(number * 100_003));
    let waits: Vec<f64> =
        arrivals.map(|at| request.data_at(&frame, at).saturating_since(at).as_secs_f64()).collect();
    close(waits.iter().sum::<f64>() / waits.len() as f64, 0.014, 0.02);
    assert!(waits.iter().all(|wait| (0.009..0.019_000_1).contains(wait)));
    // By hand on TDD configuration 1, DSUUDDSUUD: the opportunity at 13 ms is an uplink slot, the grant at 18
    // ms finds downlink at 19 ms, and the data from 23 ms on is uplink at once.
    let tdd = SlotPattern::lte_tdd(1, 7).unwrap();
    assert_eq!(request.data_at(&tdd, Time::from_millis(4)), Time::from_millis(23));
}

/// Efficiency of NR's MCS 0 to 28 is modulation order times target code rate (x 1024: TS 38.214,
/// table 5.1.3.1-1), to four places. MCS 17 is below MCS 16, and left out.
#[test]
fn efficiencies_of_nr_are_modulation_order_times_code_rate() {
    let rates: [&[u32]; 3] = [
        &[120, 157, 193, 251, 308, 379, 449, 526, 602, 679],
        &[340, 378, 434, 490, 553, 616, 658],
        &[438, 466, 517, 567, 616, 666, 719, 772, 822, 873, 910, 948],
    ];
    let all = rates
        .iter()
        .zip([2, 4, 6])
        .flat_map(|(rates, order)| rates.iter().map(move |it| (order * it) as f64 / 1024.0));
    let mut expected: Vec<f64> = all.collect();
    assert_eq!(expected.len(), 29);
    assert!(expected[17] < expected[16]);
    expected.remove(17);
    let carrier = Carrier {
        technology: Technology::Nr30,
        blocks: 51,
        layers: 1,
        control_symbols: 1,
        control_blocks: 0,
    };
    let slot = Slot { downlink: 14, uplink: 0 };
    let codings = carrier.codings(slot, Direction::Downlink);
    assert_eq!(codings.len(), expected.len());
    for (coding, expected) in codings.iter().zip(expected) {
        assert!((coding.efficiency - expected).abs() < 5.1e-5, "{coding:?}, {expected}");
    }
}

/// TS 36.211, sections 6.6 and 6.11: subframes 0 and 5 of LTE's ten carry broadcast and synchronisation in six
/// blocks. NR's first slot of every 20 ms has 20. The uplink has its control blocks, in every slot.
#[test]
fn blocks_of_broadcast_and_control_carry_no_data() {
    for (technology, period, broadcast) in
        [(Technology::Lte, 5, 6), (Technology::Nr15, 20, 20), (Technology::Nr30, 40, 20)]
    {
        let carrier = Carrier { technology, blocks: 50, layers: 1, control_symbols: 3, control_blocks: 4 };
        let frame = SlotPattern::fdd(technology.slot()).unwrap();
        for number in 0..80 {
            let has_broadcast = number % period == 0;
            let blocks = carrier.data_blocks(&frame, number, Direction::Downlink);
            assert_eq!(blocks, if has_broadcast { 50 - broadcast } else { 50 }, "{technology:?} {number}");
            assert_eq!(carrier.data_blocks(&frame, number, Direction::Uplink), 46);
        }
    }
}

/// SINR and efficiency are inverse to each other below, between and above the efficiencies of the table.
#[test]
fn needed_and_usable_are_inverse_everywhere() {
    for model in [ErrorModel::Piro, ErrorModel::Awgn] {
        for efficiency in (1..55).map(|tenth| f64::from(tenth) / 10.0) {
            close(model.usable(model.needed(efficiency)), efficiency, 1e-9);
        }
    }
}
