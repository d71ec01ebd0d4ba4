//! The medium of a pair, as its scenario has it.

use super::{PairRadio, StationPair};
use crate::options::RunError;
use cogtcp_scenario::{
    CognitiveSpec, Ends, Experiment, LinkSpec, RadioSpec, Reception, TransmitRadio, WhilePeerSenses,
};
use cogtcp_spectrum::CognitiveRadio;
use cogtcp_spectrum::air::Air;
use cogtcp_units::{Power, RandomStream, Rate, Time};
use cogtcp_wireless::{
    ChannelConfig, InterfaceConfig, MacConfig, Medium, MediumConfig, PathLoss, PhyConfig, PrimaryUsers,
    Propagation, Rendezvous, Rules, SilenceRules,
};
use std::sync::Arc;

/// Directions of a link, as the random streams have them.
const DIRECTIONS: [&str; 2] = ["forward", "reverse"];

impl StationPair {
    /// The pair of `spec` over its link, in the run of seed `seed`.
    pub(crate) fn new(
        experiment: &Experiment,
        spec: &RadioSpec,
        cognitive: &CognitiveSpec,
        air: Arc<Air>,
        seed: u64,
    ) -> Result<Self, RunError> {
        let wrong = |why: String| RunError::Radio { radio: spec.name.clone(), why };
        let [number] = spec.links[..] else {
            return Err(wrong("a CR user with a MAC has exactly one link".to_owned()));
        };
        let link = &experiment.links[number];
        let user = &cognitive.user;
        let mut radios = Vec::new();
        for (config, name) in cognitive.ends.iter().zip(&radio_names(experiment, spec)) {
            let detector = user.shared.detector.kind().build(&cognitive.surroundings);
            let detector = detector.map_err(|error| wrong(error.to_string()))?;
            let policy = user.shared.policy.kind().build();
            let radio = CognitiveRadio::new(config.clone(), Arc::clone(&air), detector, policy, seed, name);
            radios.push(PairRadio {
                radio: radio.map_err(|error| wrong(error.to_string()))?,
                on_air_until: Time::ZERO,
                warm: Default::default(),
            });
        }
        let mut pair = Self {
            pipes: [2 * number as u32, 2 * number as u32 + 1],
            nodes: [link.from, link.to],
            medium: medium(cognitive, link, &air, seed),
            waits_for_peer: user.while_peer_senses == WhilePeerSenses::Wait,
            sends_with_sensing_radio: user.transmit_radio == TransmitRadio::Shared,
            packets: [None; 2],
            exchanges: [None; 2],
            armed: Time::MAX,
            warm_counters: Default::default(),
            radios,
        };
        (0..pair.radios.len()).for_each(|number| pair.tell_medium(number, Time::ZERO));
        Ok(pair)
    }
}

/// The medium between the ends of `link`.
fn medium(
    cognitive: &CognitiveSpec,
    link: &LinkSpec,
    air: &Arc<Air>,
    seed: u64,
) -> Medium<(), Vec<cogtcp_units::Position>, PrimaryUsers> {
    let user = &cognitive.user;
    let [first, second] = &cognitive.ends;
    let mac = MacConfig { rules: Rules::two_stations(), queue_packets: 1, ..user.mac.clone().into() };
    let propagation = Propagation::new(PathLoss::Paper(air.propagation.attenuation));
    let distance = first.position.distance(second.position);
    // Each hears the other, wherever it is: the SINR alone decides what is received.
    let audible = PhyConfig::for_ranges(propagation, user.transmit_power, distance, distance);
    let phy = PhyConfig {
        cutoff: Power::from_watts(audible.sensitivity.watts() * 0.5),
        capture: first.receiver.capture,
        delay: link.forward.delay,
        ..audible
    };
    let channels = air
        .channels
        .iter()
        .map(|(_, entry)| ChannelConfig { rate: entry.rate, error_rate: entry.error_rate.get() });
    let config = MediumConfig {
        channels: channels.collect(),
        silence: SilenceRules {
            waits_for_peer: user.while_peer_senses == WhilePeerSenses::Wait,
            sends_while_silent: user.transmit_radio == TransmitRadio::Separate,
        },
        rendezvous: Rendezvous::Receiver,
        whole_exchanges: true,
        reports_frames: true,
        ..MediumConfig::new(mac, phy, Rate::default())
    };
    let users = match user.shared.reception {
        Reception::Sinr => PrimaryUsers::new(Arc::clone(air)),
        Reception::AsReleased => {
            // Each end draws by the direction in which it receives.
            let escape = |end: usize| {
                RandomStream::new(seed, &format!("escape/{}/{}", link.name, DIRECTIONS[1 - end]), 0)
            };
            let sensitivity = first.receiver.sensitivity.watts();
            PrimaryUsers::as_released(Arc::clone(air), sensitivity, [0, 1].map(escape).to_vec())
        }
    };
    let mut medium = Medium::new(config, vec![first.position, second.position], users, seed);
    for (end, loss) in [link.forward.loss, link.reverse.loss].into_iter().enumerate() {
        medium.add_interface(InterfaceConfig {
            power: user.transmit_power,
            loss: loss.get(),
            name: format!("{}/{}", link.name, DIRECTIONS[end]),
            ..InterfaceConfig::new(end as u32)
        });
    }
    medium
}

/// The names of the radios of `spec`: its own, or one for each end.
pub(crate) fn radio_names(experiment: &Experiment, spec: &RadioSpec) -> Vec<String> {
    let independent = spec.kind.cognitive().is_some_and(|cognitive| cognitive.user.ends == Ends::Independent);
    match spec.links.first().filter(|_| independent) {
        Some(link) => {
            let link = &experiment.links[*link];
            let name = |node: usize| format!("{}/{}", spec.name, experiment.nodes[node]);
            vec![name(link.from), name(link.to)]
        }
        None => vec![spec.name.clone()],
    }
}
