//! Receive buffers that are smaller than the bandwidth-delay product of the flow's route.

use super::Findings;
use super::network::ResolvedNetwork;
use super::paths::shortest;
use crate::FlowSpec;
use crate::tree::KeyPath;
use cogtcp_traffic::Traffic;
use cogtcp_units::{Bytes, Duration, Rate};

/// Most steps of searches for routes. Larger networks are not looked at.
const MOST_STEPS: usize = 10_000_000;

/// Warns of a flow whose receive buffer cannot fill its route: a window per round trip is what TCP delivers at
/// most. `path` names the flow's table.
pub(super) fn warn_small(
    flow: &FlowSpec,
    tables: usize,
    network: &ResolvedNetwork,
    path: &KeyPath,
    findings: &mut Findings,
) {
    let steps = network.nodes.len().saturating_mul(network.links.len()).saturating_mul(tables);
    let Some(tcp) = flow.tcp().filter(|_| flow.traffic == Traffic::Saturated) else { return };
    if steps > MOST_STEPS {
        return;
    }
    let Some((rate, round_trip)) = narrowest(network, flow.from, flow.to) else { return };
    let product = rate.bytes_in(round_trip);
    let buffer = tcp.receiver.buffer;
    if buffer < product.get() && !round_trip.is_zero() {
        let most = Rate::from_bytes_in(buffer, round_trip);
        findings.warn(
            path,
            format!(
                "the receive buffer (\"{}\") is below the bandwidth-delay product of the route (\"{product}\"): the \
                 flow delivers at most \"{most}\" of \"{rate}\"",
                Bytes::new(buffer)
            ),
            "write a larger receive_buffer in [tcp], or leave it if this limit is meant",
        );
    }
}

/// The least rate of the route of least delay, and the delays of both directions together.
fn narrowest(network: &ResolvedNetwork, from: usize, to: usize) -> Option<(Rate, Duration)> {
    let open = vec![false; network.nodes.len()];
    let (there, back) = (shortest(network, from, to, &open)?, shortest(network, to, from, &open)?);
    let spec = |direction: u32| {
        let link = &network.links[direction as usize / 2];
        if direction.is_multiple_of(2) { &link.forward } else { &link.reverse }
    };
    let rate = there.iter().map(|&direction| spec(direction).rate).min()?;
    let delays = there.iter().chain(&back).map(|&direction| spec(direction).delay);
    Some((rate, delays.fold(Duration::ZERO, |sum, delay| sum + delay)))
}
