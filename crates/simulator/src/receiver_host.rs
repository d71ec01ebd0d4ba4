//! What a receiver's host knows that lies outside the connection, for the receiver's part of a congestion
//! control.

use crate::packet::Packet;
use cogtcp_hosts::Flow;
use cogtcp_network::{Network, impossible};
use cogtcp_transport::{ReceiverHost, Segment};

/// The host of the receiver of a flow.
struct FlowReceiverHost<'a> {
    flow: usize,
    network: &'a Network<Packet>,
    flows: &'a [Flow],
}

impl ReceiverHost for FlowReceiverHost<'_> {
    /// The bottleneck is the link direction of the flow's data path whose channel has the least rate now, the
    /// first of equals.
    fn flows_over_bottleneck(&self) -> u32 {
        let path = |flow: usize| self.network.route(self.flows[flow].data());
        let rate = |direction: &u32| self.network.directions()[*direction as usize].channel_rate();
        // Over the air alone no link is the bottleneck.
        let Some(bottleneck) = path(self.flow).min_by_key(rate) else { return 0 };
        let shares = |other: usize| path(other).any(|direction| direction == bottleneck);
        let others = self.flows.iter().enumerate().filter(|(other, _)| *other != self.flow);
        others.filter(|(other, flow)| flow.is_open() && shares(*other)).count() as u32
    }
}

/// The receiver of `flow` is about to get `syn`. The receiver's part of the flow's congestion control, if
/// any, sets the option of the SYN-ACK, which is built at once. So it does for a repeated SYN: the earlier
/// value may no longer hold.
#[cold]
pub(crate) fn answer_syn(flow: usize, syn: &Segment, network: &Network<Packet>, flows: &mut [Flow]) {
    // The control has no part at the receiver: the SYN-ACK has no such option.
    let Some(mut hook) = flows[flow].tcp_mut().and_then(|tcp| tcp.receiver_hook.take()) else { return };
    // The hook is out of its flow meanwhile: it looks at all flows, its own among them.
    let answer = hook.answer_syn(syn.custom(), &FlowReceiverHost { flow, network, flows });
    let Some(tcp) = flows[flow].tcp_mut() else { return impossible("a flow that left TCP") };
    tcp.receiver.set_syn_ack_option(answer);
    tcp.receiver_hook = Some(hook);
}
