use super::measure::PipeBaseline;
use super::*;
use cogtcp_scenario::Scenario;

/// A run whose link is said to have carried nearly all that it could before the warm-up has carried too much after it.
#[test]
fn a_link_that_carried_more_than_it_could_is_a_defect() {
    let text = r#"
        name = "full"
        run = { duration = "5 s" }
        [topology.single_hop]
        link = { rate = "1 Mbit/s", delay = "5 ms", queue = "20 packets" }
        [[flow]]
        from = "sender"
        to = "receiver"
        transport = "newreno"
    "#;
    let experiment = Scenario::parse(text, "full").unwrap().resolve().unwrap();
    let options = RunOptions::default();
    let mut simulation = Simulation::new(Arc::new(experiment.clone()), &options).unwrap();
    simulation.play_until(Time::MAX, &options).unwrap();
    simulation.check_capacity().unwrap();
    // 5 s of 1 Mbit/s are 625,000 bytes; the flow leaves less than a tenth of them.
    simulation.pipe_baselines = vec![PipeBaseline { carried: -100_000.0, ..PipeBaseline::default() }];
    let refused = simulation.check_capacity();
    assert!(matches!(refused, Err(RunError::Conservation(why)) if why.contains("link direction 0")));
}
