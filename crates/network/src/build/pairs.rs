//! The CR users of a link with their MAC.

use super::air;
use crate::BuildError;
use crate::station_pair::{PairConfig, PairMedium, StationPair};
use cogtcp_layout::{
    CognitiveSpec, LinkSpec, NetworkSpec, RadioSpec, Reception, TransmitRadio, WhilePeerSenses,
};
use cogtcp_spectrum::CognitiveRadio;
use cogtcp_spectrum::air::Air;
use cogtcp_units::{Duration, Power, RandomStream, Rate};
use cogtcp_wireless::{
    ChannelConfig, InterfaceConfig, MacConfig, Medium, MediumConfig, PathLoss, PhyConfig, PrimaryUsers,
    Propagation, Rendezvous, Rules, SilenceRules,
};
use std::sync::Arc;

/// Directions of a link, as the random streams have them.
const DIRECTIONS: [&str; 2] = ["forward", "reverse"];

/// A pair of CR users with its place in the layout.
#[derive(Debug)]
pub struct PlacedPair {
    /// Index of its radio in the layout.
    pub radio: usize,
    /// The pair, of the directions `2 * link` and `2 * link + 1`.
    pub pair: StationPair,
}

/// Builds every pair of CR users with a MAC, in the run of seed `seed`. Their air is shared with primary
/// users whose activity is drawn up to `horizon`. Without such a pair there is no air.
///
/// # Errors
///
/// The first radio that cannot be built, and why.
pub fn station_pairs(
    layout: &NetworkSpec,
    horizon: Duration,
    seed: u64,
) -> Result<(Vec<PlacedPair>, Option<Arc<Air>>), BuildError> {
    let mut pairs = Vec::new();
    let mut shared = None;
    for (number, spec) in layout.radios.iter().enumerate() {
        // A radio of another kind.
        let Some(cognitive) = spec.kind.cognitive() else { continue };
        let wrong = |why: String| BuildError::Radio { radio: spec.name.clone(), why };
        // One air for all pairs: they hear the same primary users.
        let air = match &shared {
            Some(air) => Arc::clone(air),
            None => {
                let air = air(layout, horizon, seed).map_err(|error| wrong(error.to_string()))?;
                air.ok_or_else(|| wrong("the experiment has no spectrum".to_owned()))?
            }
        };
        shared = Some(Arc::clone(&air));
        let pair = build(cognitive, layout, spec, air, seed).map_err(wrong)?;
        pairs.push(PlacedPair { radio: number, pair });
    }
    Ok((pairs, shared))
}

/// The pair of `spec` over its link.
fn build(
    cognitive: &CognitiveSpec,
    layout: &NetworkSpec,
    spec: &RadioSpec,
    air: Arc<Air>,
    seed: u64,
) -> Result<StationPair, String> {
    let [number] = spec.links[..] else {
        return Err("a CR user with a MAC has exactly one link".to_owned());
    };
    let link = &layout.links[number];
    let mut radios = Vec::new();
    for (config, name) in cognitive.ends.iter().zip(&layout.radio_names(spec)) {
        let detector = cognitive.detector.kind().build(&cognitive.surroundings);
        let detector = detector.map_err(|error| error.to_string())?;
        let policy = cognitive.policy.kind().build();
        let radio = CognitiveRadio::new(config.clone(), Arc::clone(&air), detector, policy, seed, name);
        radios.push(radio.map_err(|error| error.to_string())?);
    }
    let config = PairConfig {
        directions: [2 * number as u32, 2 * number as u32 + 1],
        nodes: [link.from, link.to],
        waits_for_peer: cognitive.while_peer_senses == WhilePeerSenses::Wait,
        sends_with_sensing_radio: cognitive.transmit_radio == TransmitRadio::Shared,
    };
    Ok(StationPair::new(config, medium(cognitive, link, &air, seed), radios))
}

/// The medium between the ends of `link`.
fn medium(cognitive: &CognitiveSpec, link: &LinkSpec, air: &Arc<Air>, seed: u64) -> PairMedium {
    let [first, second] = &cognitive.ends;
    // One packet at a time: the link keeps the queue, with its limit and its discipline.
    let mac = MacConfig { rules: Rules::two_stations(), queue_packets: 1, ..cognitive.mac.clone().into() };
    let propagation = Propagation::new(PathLoss::Paper(air.propagation.attenuation));
    let distance = first.position.distance(second.position);
    // Each hears the other, wherever it is: the SINR alone decides what is received.
    let audible = PhyConfig::for_ranges(propagation, cognitive.transmit_power, distance, distance);
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
            waits_for_peer: cognitive.while_peer_senses == WhilePeerSenses::Wait,
            sends_while_silent: cognitive.transmit_radio == TransmitRadio::Separate,
        },
        rendezvous: Rendezvous::Receiver,
        whole_exchanges: true,
        reports_frames: true,
        ..MediumConfig::new(mac, phy, Rate::default())
    };
    let users = match cognitive.reception {
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
            power: cognitive.transmit_power,
            loss: loss.get(),
            name: format!("{}/{}", link.name, DIRECTIONS[end]),
            ..InterfaceConfig::new(end as u32)
        });
    }
    medium
}
