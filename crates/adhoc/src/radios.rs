//! CR nodes: which channels there are, when nodes sense, and who knows whose channel.

use crate::config::{AdHocConfig, ChannelKnowledge, Radios, SensingTimes, WhileNeighbourSenses};
use crate::event::AdHocEvent;
use crate::network::AdHocNetwork;
use cogtcp_crosslayer::{ChannelId, LinkEvent, Verdict};
use cogtcp_mobility::Mobility;
use cogtcp_routing::{ChannelNumber, HostUpdate, NodeAddress};
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::{CognitiveConfig, CognitiveRadio, Radio as _};
use cogtcp_units::{Duration, RandomStream, Time};
use cogtcp_wireless::{ChannelConfig, MediumConfig, SilenceRules, Surroundings};
use std::sync::Arc;

/// The channels of the medium, and the numbers that routing has for them: 0 is the control channel, data
/// channels count from 1.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    /// Channels of the table, or one.
    count: u32,
    /// The channels for data.
    data: Vec<ChannelId>,
    control: Option<ChannelId>,
    /// The channel at the start.
    first: ChannelId,
}

impl Channels {
    pub(crate) fn new(config: &AdHocConfig, air: Option<&Arc<Air>>) -> Self {
        let table = air.map(|air| &air.channels);
        let count = table.map_or(1, cogtcp_spectrum::ChannelTable::len);
        let data: Vec<ChannelId> = table
            .map_or_else(|| vec![ChannelId(0)], |table| table.usable().map(|(channel, _)| channel).collect());
        // A reserved channel is the control channel (the released code's channel 0); else one more than the
        // table has, free of primary users.
        let reserved = (0..count).map(ChannelId).find(|channel| !data.contains(channel));
        let control = (config.radios == Radios::Three).then(|| reserved.unwrap_or(ChannelId(count)));
        let first = config.cognitive.as_ref().map(|cognitive| cognitive.radio.channel);
        let first = first.or(data.first().copied()).unwrap_or(ChannelId(0));
        Self { count, data, control, first }
    }

    /// The rates of the medium's channels: the table's, and the basic rate for the control channel.
    pub(crate) fn complete(&self, config: &mut MediumConfig) {
        // A reserved channel of the table has a rate there.
        if self.control == Some(ChannelId(self.count)) {
            let rate = config.mac.dcf.basic_rate;
            config.channels.truncate(self.count as usize);
            config.channels.push(ChannelConfig { rate, error_rate: 0.0 });
        }
    }

    pub(crate) fn control(&self) -> Option<ChannelId> {
        self.control
    }

    pub(crate) fn data(&self) -> impl Iterator<Item = ChannelId> {
        self.data.iter().copied()
    }

    pub(crate) fn first(&self) -> ChannelId {
        self.first
    }

    /// What routing calls a channel.
    pub(crate) fn number(&self, channel: ChannelId) -> ChannelNumber {
        let place = self.data.iter().position(|data| *data == channel);
        ChannelNumber(place.map_or(0, |place| place as u32 + 1))
    }

    /// The channel that routing means. A number beyond the last is the last.
    pub(crate) fn id(&self, number: ChannelNumber) -> ChannelId {
        match number.0 {
            0 => self.control.unwrap_or(self.first),
            number => {
                let place = (number as usize).min(self.data.len()).saturating_sub(1);
                self.data.get(place).copied().unwrap_or(self.first)
            }
        }
    }

    /// The radio of a node that senses.
    pub(crate) fn radio(
        &self,
        config: &AdHocConfig,
        mobility: &Mobility,
        air: Option<&Arc<Air>>,
        node: u32,
        seed: u64,
    ) -> Result<Option<Box<CognitiveRadio>>, String> {
        let (Some(cognitive), Some(air)) = (&config.cognitive, air) else { return Ok(None) };
        let name = format!("node {node}");
        let base = &cognitive.radio;
        let cycle = base.sensing_time + base.transmission_time;
        let nodes = mobility.len().max(1) as u64;
        let (offset, aligned) = match cognitive.times {
            SensingTimes::Synchronised => (Duration::ZERO, true),
            SensingTimes::Staggered => (cycle.mul_ratio(u64::from(node), nodes), true),
            SensingTimes::Independent => {
                let mut draw = RandomStream::new(seed, &format!("radio/{name}/start"), 0);
                (draw.uniform_duration(Duration::ZERO, cycle), false)
            }
        };
        let radio = CognitiveConfig {
            start: base.start + offset,
            aligned,
            position: mobility.position(node as usize, Time::ZERO),
            ..base.clone()
        };
        let detector = cognitive.detector.kind().build(&cognitive.surroundings);
        let detector = detector.map_err(|error| error.to_string())?;
        let policy = cognitive.policy.kind().build();
        let made = CognitiveRadio::new(radio, Arc::clone(air), detector, policy, seed, &name);
        made.map(|radio| Some(Box::new(radio))).map_err(|error| error.to_string())
    }
}

impl AdHocConfig {
    /// What senders do about silences: `medium.silence` is to be this.
    pub fn silence_rules(&self) -> SilenceRules {
        let waits = |it: &crate::CognitiveNode| it.while_neighbour_senses == WhileNeighbourSenses::Wait;
        SilenceRules {
            waits_for_peer: self.cognitive.as_ref().is_some_and(waits),
            // With three radios the receiver falls silent, and the other two are never told of it.
            sends_while_silent: false,
        }
    }
}

impl<T: Clone, S: Surroundings> AdHocNetwork<T, S> {
    /// The channel on which `node` believes that `peer` listens; `None`: where it does, known at no cost.
    pub(crate) fn known_channel(&self, node: u32, peer: u32) -> Option<ChannelId> {
        self.is_signalled().then(|| {
            let heard = self.nodes[node as usize].heard_channels.get(&peer).copied();
            heard.unwrap_or(self.channels.first())
        })
    }

    /// Whether nodes know each other's channels by what they say alone.
    pub(crate) fn is_signalled(&self) -> bool {
        let knowledge = self.config.cognitive.as_ref().map(|cognitive| cognitive.knowledge);
        knowledge == Some(ChannelKnowledge::Signalled)
    }

    /// Whether the radio of a node senses or switches.
    pub fn is_silent(&self, node: u32) -> bool {
        self.nodes[node as usize].radio.as_ref().is_some_and(|radio| radio.phase().is_silent())
    }

    /// The radio of a node at time zero.
    pub(crate) fn begin_radio(&mut self, number: u32) {
        let node = &mut self.nodes[number as usize];
        let Some(radio) = &node.radio else { return };
        let receiver = node.interfaces.receiver;
        let (due, silent, until) = (radio.next_change(), radio.phase().is_silent(), radio.phase_end());
        self.medium.set_silent(Time::ZERO, &[receiver], silent, until);
        self.set_radio_timer(number, due);
    }

    /// The radio of a node changes.
    pub(crate) fn play_radio(&mut self, number: u32, now: Time) {
        let place = self.medium.position(number, now);
        let node = &mut self.nodes[number as usize];
        let Some(radio) = &mut node.radio else { return };
        // First: what it senses now depends on where it is.
        radio.move_to(now, place);
        let before = radio.phase();
        let after = radio.advance(now);
        let receiver = node.interfaces.receiver;
        // Collected first: what follows from an event needs the whole node.
        let mut happened = Vec::new();
        while let Some((time, event)) = radio.poll_event() {
            happened.push((time, event));
        }
        let (due, sensed, loaded, until) =
            (radio.next_change(), radio.sensed(), radio.loaded(), radio.phase_end());
        self.set_radio_timer(number, due);
        if let Some(change) = LinkEvent::of_change(!before.is_silent(), !after.is_silent()) {
            happened.push((now, change));
        }
        // Also from one silence to the next: the medium waits for the end of the new one.
        if before != after {
            // The medium tunes the radio before it opens: it must not hear its old channel for an instant.
            if !after.is_silent() && loaded != self.nodes[number as usize].repository.channel() {
                self.change_channel(number, loaded, now);
            }
            self.medium.set_silent(now, &[receiver], after.is_silent(), until);
        }
        for (time, event) in happened {
            self.events.push_back(AdHocEvent::Radio { time, node: number, event });
            if let LinkEvent::SensingEnd { verdict } = event {
                // The report, right or wrong: the node knows no more.
                let reported = matches!(verdict, Verdict::Detected | Verdict::FalseAlarm);
                self.report(number, sensed, reported, now);
            }
        }
        self.settle(number, now);
    }

    /// Routing hears of a PU on a channel, or that there is none; of a channel that was left it hears so
    /// after a while.
    fn report(&mut self, number: u32, channel: ChannelId, reported: bool, now: Time) {
        let memory = self.config.cognitive.as_ref().map(|it| it.report_memory).unwrap_or_default();
        let node = &mut self.nodes[number as usize];
        if reported {
            node.reports.insert(channel, now);
        } else {
            node.reports.remove(&channel);
        }
        let mut updates = vec![(channel, reported)];
        node.reports.retain(|other, at| {
            let is_over = *at + memory <= now;
            updates.extend(is_over.then_some((*other, false)));
            !is_over
        });
        for (channel, active) in updates {
            let channel = self.channels.number(channel);
            node.routing.handle_host_update(now, HostUpdate::PrimaryUser { channel, active });
        }
    }

    /// A node listens on another channel from now on, and says so.
    pub(crate) fn change_channel(&mut self, number: u32, channel: ChannelId, now: Time) {
        let node = &mut self.nodes[number as usize];
        if !node.repository.set_channel(now, channel) {
            return;
        }
        node.counters.handoffs += 1;
        self.medium.tune(now, node.interfaces.receiver, channel);
        self.events.push_back(AdHocEvent::Tuned { time: now, node: number, channel });
        self.tell_routing(number, now);
        if self.is_signalled() {
            self.plan_announcement(number, now);
        } else {
            self.tell_neighbours(number, self.channels.number(channel), now);
        }
        self.settle(number, now);
    }

    /// How often a node that has left its first channel says where it is, as long as others may not have
    /// heard it.
    pub(crate) const ANNOUNCEMENT_INTERVAL: Duration = Duration::from_secs(1);

    /// A node says on which channel it listens at `at` or up to 10 ms later: those that hand off at one
    /// instant would collide.
    pub(crate) fn plan_announcement(&mut self, number: u32, at: Time) {
        let node = &mut self.nodes[number as usize];
        node.announces = at + node.draw.uniform_duration(Duration::ZERO, Duration::from_millis(10));
    }

    /// All in range know it at once.
    fn tell_neighbours(&mut self, number: u32, channel: ChannelNumber, now: Time) {
        let neighbor = NodeAddress::new(number);
        let (place, range) = (self.medium.position(number, now), self.range_of(number));
        for other in self.near.near(&self.mobility, now, place) {
            if other != number && self.medium.position(other, now).distance(place) <= range {
                let routing = &mut self.nodes[other as usize].routing;
                routing.handle_host_update(now, HostUpdate::NeighborChannel { neighbor, channel });
                self.settle(other, now);
            }
        }
    }

    /// Routing wants the receiver of a node on a channel.
    pub(crate) fn want_channel(&mut self, number: u32, channel: ChannelId, now: Time) {
        let node = &mut self.nodes[number as usize];
        if node.repository.channel() == channel {
            return;
        }
        match &mut node.radio {
            // It goes there, senses, and opens there or somewhere else.
            Some(radio) => {
                radio.want(now, channel);
                let due = radio.next_change();
                self.set_radio_timer(number, due);
            }
            None => self.change_channel(number, channel, now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::{Power, Rate};
    use cogtcp_wireless::{MacConfig, PhyConfig, Propagation};

    fn channels(control: Option<u32>) -> Channels {
        let data = vec![ChannelId(0), ChannelId(2)];
        Channels { count: 3, data, control: control.map(ChannelId), first: ChannelId(2) }
    }

    /// A control channel beyond the table is one more, at the basic rate; a reserved one has a rate already.
    #[test]
    fn a_control_channel_beyond_the_table_is_added() {
        let phy =
            PhyConfig::for_ranges(Propagation::new(Default::default()), Power::from_watts(1.0), 1.0, 2.0);
        let before = MediumConfig::new(MacConfig::default(), phy, Rate::from_bits_per_second(5_000_000));
        let rates = |control, count: usize| -> Vec<u64> {
            let mut config = before.clone();
            config.channels = vec![config.channels[0]; count];
            channels(control).complete(&mut config);
            config.channels.iter().map(|channel| channel.rate.bits_per_second()).collect()
        };
        let five = 5_000_000;
        assert_eq!(rates(None, 3), [five; 3]);
        assert_eq!(rates(Some(1), 3), [five; 3]);
        assert_eq!(rates(Some(3), 3), [five, five, five, 1_000_000]);
        // Again: it is there once.
        assert_eq!(rates(Some(3), 4), [five, five, five, 1_000_000]);
    }

    /// Routing counts data channels from 1; 0 is the control channel, or where a node begins.
    #[test]
    fn routing_numbers_data_channels_from_one() {
        let (with, without) = (channels(Some(1)), channels(None));
        for (channel, number) in [(0, 1), (2, 2), (1, 0), (9, 0)] {
            assert_eq!(with.number(ChannelId(channel)), ChannelNumber(number), "{channel}");
        }
        for (number, id) in [(0, 1), (1, 0), (2, 2), (3, 2), (99, 2)] {
            assert_eq!(with.id(ChannelNumber(number)), ChannelId(id), "{number}");
        }
        assert_eq!(without.id(ChannelNumber(0)), ChannelId(2));
        assert_eq!(
            (with.control(), with.first(), with.data().count()),
            (Some(ChannelId(1)), ChannelId(2), 2)
        );
    }
}
