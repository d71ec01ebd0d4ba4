//! What nodes on a route tell the senders of transports that hear them (`HEARS_ROUTE`).
//!
//! A message takes the propagation delay back to the sender and no capacity. Over the air it takes no time.
//! There all nodes tell it that have carried such a transport's packets in the last [`MEMORY`], as only
//! routing knows the nodes of a route.

use crate::packet::Packet;
use cogtcp_network::{Network, StreamId};
use cogtcp_scenario::Experiment;
use cogtcp_units::{Duration, Time};
use std::collections::BTreeMap;

/// How long a node remembers whose packets it carried (the released CRAHN code remembers channels in use for
/// 2 s).
const MEMORY: Duration = Duration::from_secs(2);

/// By flow and node: the route's link that leaves the node (`None`: over the air), and how long
/// its messages take.
#[derive(Debug, Default)]
pub(super) struct RouteNews(BTreeMap<(u32, usize), (Option<u32>, Duration)>);

impl RouteNews {
    /// Flow `flow` hears the nodes on the route of `stream`, its data, from `source` on.
    pub(super) fn add(
        &mut self,
        experiment: &Experiment,
        network: &mut Network<Packet>,
        (flow, source): (u32, usize),
        stream: StreamId,
    ) {
        let mut delay = Duration::ZERO;
        for direction in network.route(stream).collect::<Vec<_>>() {
            let link = &experiment.links[direction as usize / 2];
            let node = if direction % 2 == 0 { link.from } else { link.to };
            // A message goes back over the links so far, hence the delay before this one is added.
            self.hear(network, (flow, source), node, (Some(direction / 2), delay));
            delay += network.directions()[direction as usize].delay();
        }
        let nodes =
            experiment.adhoc.as_ref().filter(|_| network.crosses_air(stream)).map_or(0, |air| air.nodes);
        for node in 0..nodes {
            self.hear(network, (flow, source), node, (None, Duration::ZERO));
        }
    }

    fn hear(
        &mut self,
        network: &mut Network<Packet>,
        (flow, source): (u32, usize),
        node: usize,
        what: (Option<u32>, Duration),
    ) {
        // Its own node's radio tells it anyway.
        if node != source && !self.0.contains_key(&(flow, node)) {
            network.boards().listen(node, flow);
            self.0.insert((flow, node), what);
        }
    }

    /// Returns when what `node` tells of `link` reaches flow `flow`: now at its own node; `None`: the flow is
    /// not told.
    pub(super) fn arrival(
        &self,
        now: Time,
        network: &Network<Packet>,
        (flow, node, link): (u32, usize, u32),
    ) -> Option<(Time, bool)> {
        let Some((front, delay)) = self.0.get(&(flow, node)) else { return Some((now, true)) };
        let since = Time::from_nanos(now.as_nanos().saturating_sub(MEMORY.as_nanos()));
        let tells = match front {
            Some(front) => *front == link,
            None => network.has_stamped(node, since),
        };
        tells.then_some((now + *delay, false))
    }
}
