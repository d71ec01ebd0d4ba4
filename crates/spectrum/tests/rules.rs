//! What each regulation allows as a time, at its bounds.

use cogtcp_spectrum::regulation::{
    CbrsRules, DfsRules, DpaAnswer, QuietPeriods, ReducedPower, RegulationKind, TvwsRules,
};
use cogtcp_units::{Check, Decibel, Duration};

#[derive(Default)]
struct Found(Vec<String>);

impl Check for Found {
    fn error(&mut self, field: &str, _: String, _: String) {
        self.0.push(field.to_owned());
    }
}

/// The fields that are refused, each once, in order.
fn wrong<R: RegulationKind + Default>(change: impl FnOnce(&mut R)) -> Vec<String> {
    let (mut rules, mut found) = (R::default(), Found::default());
    change(&mut rules);
    rules.check(&mut found);
    found.0.dedup();
    found.0
}

const NONE: [&str; 0] = [];
const TICK: Duration = Duration::from_nanos(1);

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// 47 CFR 96.15(a)(4): 300 s from the activation to silence, of which a right lasts 240 s and the radio
/// stops within 60 s. What only delays may be zero.
#[test]
fn cbrs_has_the_times_of_its_law() {
    assert_eq!(wrong(|_: &mut CbrsRules| {}), NONE);
    assert_eq!(wrong(|it: &mut CbrsRules| (it.stop, it.esc, it.answer) = (s(0), s(0), s(0))), NONE);
    assert_eq!(wrong(|it: &mut CbrsRules| (it.transmit, it.stop, it.esc) = (s(240), s(60), s(3600))), NONE);
    assert_eq!(wrong(|it: &mut CbrsRules| (it.heartbeat, it.retry) = (s(3600), s(3600))), NONE);
    assert_eq!(wrong(|it: &mut CbrsRules| it.transmit = s(0)), ["transmit"]);
    assert_eq!(wrong(|it: &mut CbrsRules| it.transmit = s(240) + TICK), ["transmit"]);
    assert_eq!(wrong(|it: &mut CbrsRules| it.stop = s(60) + TICK), ["stop"]);
    assert_eq!(wrong(|it: &mut CbrsRules| it.heartbeat = s(0)), ["heartbeat", "answer"]);
    assert_eq!(wrong(|it: &mut CbrsRules| it.heartbeat = s(3600) + TICK), ["heartbeat"]);
    assert_eq!(wrong(|it: &mut CbrsRules| it.retry = s(0)), ["retry", "answer"]);
    assert_eq!(wrong(|it: &mut CbrsRules| it.retry = s(3600) + TICK), ["retry"]);
    assert_eq!(wrong(|it: &mut CbrsRules| it.esc = s(3600) + TICK), ["esc"]);
    assert_eq!(wrong(|it: &mut CbrsRules| it.grant = s(0)), ["grant"]);
    assert_eq!(wrong(|it: &mut CbrsRules| it.grant = s(1_000_000)), NONE);
    assert_eq!(wrong(|it: &mut CbrsRules| it.grant = s(1_000_000) + TICK), ["grant"]);
    // The answer comes before the next request, whichever that is.
    assert_eq!(
        wrong(|it: &mut CbrsRules| (it.heartbeat, it.retry, it.answer) = (s(9), s(5), s(5))),
        ["answer"]
    );
    assert_eq!(
        wrong(|it: &mut CbrsRules| (it.heartbeat, it.retry, it.answer) = (s(5), s(9), s(5))),
        ["answer"]
    );
    assert_eq!(wrong(|it: &mut CbrsRules| (it.heartbeat, it.retry, it.answer) = (s(5), s(9), s(4))), NONE);
    for (by, fields) in
        [(0.1, &NONE[..]), (60.0, &NONE), (0.09, &["dpa.reduce.by"]), (60.1, &["dpa.reduce.by"])]
    {
        let power = ReducedPower { by: Decibel(by), rate: None };
        assert_eq!(wrong(|it: &mut CbrsRules| it.dpa = DpaAnswer::Reduce(power)), fields, "{by}");
    }
}

/// Table 4 of KDB 905462 D02: a check of 60 s, closing in 200 ms, a move in 10 s, 30 minutes of absence.
#[test]
fn dfs_has_the_times_of_its_table() {
    assert_eq!(wrong(|_: &mut DfsRules| {}), NONE);
    assert_eq!(wrong(|it: &mut DfsRules| it.availability_check = s(60) - TICK), ["availability_check"]);
    assert_eq!(wrong(|it: &mut DfsRules| it.non_occupancy = s(1800) - TICK), ["non_occupancy"]);
    let (closing, all) = (Duration::from_millis(200), s(10));
    assert_eq!(wrong(|it: &mut DfsRules| (it.closing, it.channel_move) = (closing, all)), NONE);
    assert_eq!(wrong(|it: &mut DfsRules| it.closing = closing + TICK), ["closing"]);
    assert_eq!(wrong(|it: &mut DfsRules| it.channel_move = all + TICK), ["channel_move"]);
    assert_eq!(wrong(|it: &mut DfsRules| (it.closing, it.channel_move) = (closing, closing)), NONE);
    assert_eq!(
        wrong(|it: &mut DfsRules| (it.closing, it.channel_move) = (closing, closing - TICK)),
        ["channel_move"]
    );
    assert_eq!(
        wrong(|it: &mut DfsRules| (it.closing, it.channel_move, it.detection) = (s(0), s(0), s(60))),
        NONE
    );
    assert_eq!(wrong(|it: &mut DfsRules| it.detection = s(60) + TICK), ["detection"]);
}

#[test]
fn a_white_space_device_relies_on_its_answer_for_a_while() {
    assert_eq!(wrong(|_: &mut TvwsRules| {}), NONE);
    assert_eq!(wrong(|it: &mut TvwsRules| (it.answer, it.notice, it.lead) = (s(0), s(0), s(0))), NONE);
    assert_eq!(wrong(|it: &mut TvwsRules| it.check = s(0)), ["check", "answer"]);
    assert_eq!(wrong(|it: &mut TvwsRules| it.grace = s(0)), ["grace", "lead"]);
    assert_eq!(wrong(|it: &mut TvwsRules| it.retry = s(0)), ["retry", "answer"]);
    assert_eq!(wrong(|it: &mut TvwsRules| it.validity = s(0)), ["validity", "lead"]);
    assert_eq!(wrong(|it: &mut TvwsRules| (it.grace, it.validity, it.lead) = (s(5), s(9), s(5))), ["lead"]);
    assert_eq!(wrong(|it: &mut TvwsRules| (it.grace, it.validity, it.lead) = (s(9), s(5), s(5))), ["lead"]);
    assert_eq!(wrong(|it: &mut TvwsRules| (it.grace, it.validity, it.lead) = (s(9), s(5), s(4))), NONE);
}

/// IEEE 802.22: an incumbent is detected within 2 s.
#[test]
fn quiet_periods_fit_into_frames_and_are_whole_frames() {
    let ms = Duration::from_millis;
    assert_eq!(wrong(|_: &mut QuietPeriods| {}), NONE);
    assert_eq!(wrong(|it: &mut QuietPeriods| it.every = s(2)), NONE);
    assert_eq!(wrong(|it: &mut QuietPeriods| it.every = s(2) + TICK), ["every"]);
    assert_eq!(wrong(|it: &mut QuietPeriods| it.every = it.within), ["every"]);
    assert_eq!(wrong(|it: &mut QuietPeriods| it.within = ms(10)), ["within"]);
    assert_eq!(wrong(|it: &mut QuietPeriods| it.within = s(0)), ["within"]);
    assert_eq!(wrong(|it: &mut QuietPeriods| it.between = ms(35)), ["between"]);
    assert_eq!(wrong(|it: &mut QuietPeriods| it.between = s(0)), ["between"]);
    assert_eq!(wrong(|it: &mut QuietPeriods| it.frame = s(0)), ["frame", "within"]);
}
