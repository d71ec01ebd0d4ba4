//! Address resolution at one node: RFC 826, with what it leaves open as ns-2, ns-3 and hosts have it.
//!
//! A pure table: it is told what is to be sent and what was heard, and says what goes, what is asked and what
//! is lost. The messages are the network's.

mod config;

pub use config::{ArpConfig, ArpDrops, ArpLearns, ArpProtocol, ArpSettings};

use cogtcp_units::{Duration, RandomStream, Time};
use std::collections::{BTreeMap, VecDeque};

/// Octets of a request or a reply with addresses of 6 and 4 octets (RFC 826).
pub const ARP_BYTES: u32 = 28;

/// What becomes of a packet for a neighbour.
#[derive(Debug, Eq, PartialEq)]
pub enum Resolution<P> {
    /// The address is known.
    Send(P),
    /// It waits, and what found no room any more is lost. A request may be due ([`ArpTable::poll_request`]).
    Held(Option<P>),
    /// The neighbour is gone, with all that waited for it and the packet itself.
    Gone(Vec<P>),
}

#[derive(Debug)]
enum Entry<P> {
    Known { until: Time },
    Asked { count: u32, held: VecDeque<P>, next: Time },
    Dead { until: Time },
}

/// The addresses that a node knows, and the packets that wait for others.
#[derive(Debug)]
// In this order: `next_change` mostly reads the first two alone.
#[repr(C)]
pub struct ArpTable<P> {
    /// How many of the entries are asked for.
    asked: usize,
    /// Requests to be sent: when, and for whom.
    requests: VecDeque<(Time, u32)>,
    entries: BTreeMap<u32, Entry<P>>,
    config: ArpConfig,
    draw: RandomStream,
}

impl<P> ArpTable<P> {
    /// A table that knows nobody; waits of requests come from `draw`.
    pub fn new(config: ArpConfig, draw: RandomStream) -> Self {
        Self { config, entries: BTreeMap::new(), asked: 0, requests: VecDeque::new(), draw }
    }

    /// Whether routing is notified of neighbours that are gone.
    pub fn breaks_link(&self) -> bool {
        self.config.breaks_link
    }

    /// A packet is to go to `neighbor`.
    pub fn resolve(&mut self, now: Time, neighbor: u32, packet: P) -> Resolution<P> {
        let config = self.config;
        match self.entries.get_mut(&neighbor) {
            Some(Entry::Known { until }) if *until > now => return Resolution::Send(packet),
            Some(Entry::Dead { until }) if *until > now => return Resolution::Gone(vec![packet]),
            Some(Entry::Asked { count, held, .. }) => {
                // Without an interval nothing asks but the next packet (ns-2).
                let asks = config.retry_interval.is_zero();
                if asks && *count >= config.requests {
                    let mut gone = Vec::from(std::mem::take(held));
                    gone.push(packet);
                    // The packet after this one starts over.
                    self.entries.remove(&neighbor);
                    self.asked -= 1;
                    return Resolution::Gone(gone);
                }
                let lost = hold(held, packet, &config);
                if asks {
                    *count += 1;
                    self.ask(now, neighbor);
                }
                return Resolution::Held(lost);
            }
            Some(Entry::Known { .. } | Entry::Dead { .. }) | None => {}
        }
        let mut held = VecDeque::new();
        let lost = hold(&mut held, packet, &config);
        let at = self.ask(now, neighbor);
        // From when the request goes, its random wait included.
        let next = if config.retry_interval.is_zero() { Time::MAX } else { at + config.retry_interval };
        self.entries.insert(neighbor, Entry::Asked { count: 1, held, next });
        self.asked += 1;
        Resolution::Held(lost)
    }

    /// A request goes at once, or after its random wait.
    fn ask(&mut self, now: Time, neighbor: u32) -> Time {
        let wait = if self.config.jitter.is_zero() {
            Duration::ZERO
        } else {
            self.draw.uniform_duration(Duration::ZERO, self.config.jitter)
        };
        let at = now + wait;
        let place = self.requests.partition_point(|(due, _)| *due <= at);
        self.requests.insert(place, (at, neighbor));
        at
    }

    /// For whom a request is to be broadcast now.
    pub fn poll_request(&mut self, now: Time) -> Option<u32> {
        let (due, neighbor) = *self.requests.front()?;
        (due <= now).then(|| {
            self.requests.pop_front();
            neighbor
        })
    }

    /// Hears a request or a reply of `neighbor`, for this node or for another. Returns the packets that can
    /// go now.
    pub fn hear(&mut self, now: Time, neighbor: u32, is_reply: bool, is_for_this: bool) -> Vec<P> {
        let known = matches!(self.entries.get(&neighbor), Some(Entry::Known { until }) if *until > now);
        let asked = matches!(self.entries.get(&neighbor), Some(Entry::Asked { .. }));
        let learns = match self.config.learns {
            ArpLearns::All => true,
            ArpLearns::Merge => is_for_this || known || asked,
            ArpLearns::Replies => is_reply && is_for_this && asked,
        };
        if !learns {
            return Vec::new();
        }
        let lifetime = self.config.lifetime;
        let until = if lifetime.is_zero() { Time::MAX } else { now + lifetime };
        // Nobody needs to ask any more.
        self.requests.retain(|(_, wanted)| *wanted != neighbor);
        match self.entries.insert(neighbor, Entry::Known { until }) {
            Some(Entry::Asked { held, .. }) => {
                self.asked -= 1;
                Vec::from(held)
            }
            _ => Vec::new(),
        }
    }

    /// Asks again for nodes that have not answered. Returns nodes that are gone, with the packets that waited.
    pub fn handle_timeout(&mut self, now: Time) -> Vec<(u32, Vec<P>)> {
        if self.asked == 0 {
            return Vec::new();
        }
        let due = self.entries.iter_mut().filter_map(|(neighbor, entry)| match entry {
            Entry::Asked { count, next, .. } if *next <= now => Some((*neighbor, *count)),
            _ => None,
        });
        let due: Vec<_> = due.collect();
        let mut gone = Vec::new();
        for (neighbor, asked) in due {
            if asked >= self.config.requests {
                let dead = Entry::Dead { until: now + self.config.dead_time };
                if let Some(Entry::Asked { held, .. }) = self.entries.insert(neighbor, dead) {
                    gone.push((neighbor, Vec::from(held)));
                    self.asked -= 1;
                }
                continue;
            }
            let at = self.ask(now, neighbor);
            if let Some(Entry::Asked { count, next, .. }) = self.entries.get_mut(&neighbor) {
                (*count, *next) = (asked + 1, at + self.config.retry_interval);
            }
        }
        gone
    }

    /// When [`ArpTable::handle_timeout`] or [`ArpTable::poll_request`] has something to do; [`Time::MAX`]:
    /// never.
    pub fn next_change(&self) -> Time {
        let asked = self.entries.values().filter_map(|entry| match entry {
            Entry::Asked { next, .. } => Some(*next),
            Entry::Known { .. } | Entry::Dead { .. } => None,
        });
        debug_assert_eq!(self.asked, asked.clone().count());
        let first = self.requests.front().map_or(Time::MAX, |(due, _)| *due);
        // Mostly all are known: this is asked after everything that a node does.
        if self.asked == 0 { first } else { asked.min().unwrap_or(Time::MAX).min(first) }
    }

    /// Shows all packets that wait.
    pub fn visit(&self, mut show: impl FnMut(&P)) {
        for entry in self.entries.values() {
            if let Entry::Asked { held, .. } = entry {
                held.iter().for_each(&mut show);
            }
        }
    }
}

/// Holds a packet; returns the one for which there is no room.
fn hold<P>(held: &mut VecDeque<P>, packet: P, config: &ArpConfig) -> Option<P> {
    if held.len() < config.held_packets as usize {
        held.push_back(packet);
        return None;
    }
    match config.drops {
        ArpDrops::Oldest => {
            let oldest = held.pop_front();
            if oldest.is_some() {
                held.push_back(packet);
                return oldest;
            }
            // No room for any: the packet itself.
            Some(packet)
        }
        ArpDrops::Newest => Some(packet),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn table(config: ArpConfig) -> ArpTable<&'static str> {
        ArpTable::new(ArpConfig { jitter: Duration::ZERO, ..config }, RandomStream::new(1, "arp", 0))
    }

    /// The request, the reply, and what was held.
    #[test]
    fn an_address_is_asked_for_and_kept() {
        let mut arp = table(ArpConfig::rfc());
        assert_eq!(arp.resolve(at(0), 7, "a"), Resolution::Held(None));
        assert_eq!((arp.poll_request(at(0)), arp.poll_request(at(0))), (Some(7), None));
        assert_eq!(arp.resolve(at(1), 7, "b"), Resolution::Held(Some("a")), "RFC 1122: the latest stays");
        assert_eq!(arp.poll_request(at(1)), None, "RFC 1122: a request a second");
        assert_eq!(arp.hear(at(2), 7, true, true), ["b"]);
        assert_eq!(arp.resolve(at(60_001), 7, "c"), Resolution::Send("c"));
        assert_eq!(
            arp.resolve(at(60_002), 7, "d"),
            Resolution::Held(None),
            "after a minute it is asked again"
        );
    }

    /// RFC 1122: a second from one to the next; then the neighbour is gone with what waited.
    #[test]
    fn requests_without_a_reply_end() {
        let mut arp = table(ArpConfig::rfc());
        assert_eq!(arp.resolve(at(0), 7, "a"), Resolution::Held(None));
        let mut asked = Vec::new();
        let mut gone = Vec::new();
        for now in (0..4000).map(at) {
            if arp.next_change() <= now {
                gone.extend(arp.handle_timeout(now).into_iter().map(|entry| (now, entry)));
                asked.extend(std::iter::from_fn(|| arp.poll_request(now)).map(|_| now));
            }
        }
        assert_eq!(asked, [at(0), at(1000), at(2000)]);
        assert_eq!(gone, [(at(3000), (7, vec!["a"]))]);
        assert_eq!(arp.next_change(), Time::MAX);
        assert_eq!(arp.resolve(at(5000), 7, "b"), Resolution::Held(None), "and is sought again");
    }

    /// Of more than there is room for the oldest goes, or the newest is not taken in; those that stay keep
    /// their order.
    #[test]
    fn who_leaves_a_full_place() {
        for (drops, lost, left) in [(ArpDrops::Oldest, "a", ["b", "c"]), (ArpDrops::Newest, "c", ["a", "b"])]
        {
            let mut arp = table(ArpConfig { held_packets: 2, drops, ..ArpConfig::rfc() });
            assert_eq!(arp.resolve(at(0), 7, "a"), Resolution::Held(None));
            assert_eq!(arp.resolve(at(0), 7, "b"), Resolution::Held(None));
            assert_eq!(arp.resolve(at(0), 7, "c"), Resolution::Held(Some(lost)));
            assert_eq!(arp.hear(at(1), 7, true, true), left);
        }
    }

    /// `arpresolve`: each of three packets asks, each takes the place of the one before; the fourth is lost
    /// with the third.
    #[test]
    fn in_ns2_packets_ask() {
        let mut arp = table(ArpConfig::ns2());
        assert_eq!(arp.resolve(at(0), 7, "a"), Resolution::Held(None));
        assert_eq!(arp.resolve(at(1), 7, "b"), Resolution::Held(Some("a")));
        assert_eq!(arp.resolve(at(2), 7, "c"), Resolution::Held(Some("b")));
        assert_eq!(std::iter::from_fn(|| arp.poll_request(at(2))).count(), 3);
        assert_eq!(arp.next_change(), Time::MAX, "no timer asks");
        assert_eq!(arp.resolve(at(3), 7, "d"), Resolution::Gone(vec!["c", "d"]));
        assert_eq!(arp.resolve(at(4), 7, "e"), Resolution::Held(None));
        assert_eq!(arp.hear(at(5), 7, false, false), ["e"], "somebody else was asked");
        assert_eq!(
            arp.resolve(Time::MAX - Duration::from_nanos(1), 7, "f"),
            Resolution::Send("f"),
            "for ever"
        );
    }

    /// `ArpCache`: three wait and no fourth; three more requests; then 100 s of silence.
    #[test]
    fn in_ns3_the_dead_stay_dead() {
        let mut arp = table(ArpConfig::ns3());
        for packet in ["a", "b", "c"] {
            assert_eq!(arp.resolve(at(0), 7, packet), Resolution::Held(None));
        }
        assert_eq!(arp.resolve(at(0), 7, "d"), Resolution::Held(Some("d")));
        let gone: Vec<_> = (0..=4).flat_map(|second| arp.handle_timeout(at(1000 * second))).collect();
        assert_eq!(gone, [(7, vec!["a", "b", "c"])]);
        assert_eq!(std::iter::from_fn(|| arp.poll_request(at(4000))).count(), 4);
        assert_eq!(arp.resolve(at(103_999), 7, "e"), Resolution::Gone(vec!["e"]));
        assert_eq!(arp.resolve(at(104_000), 7, "f"), Resolution::Held(None));
        assert_eq!(arp.hear(at(104_001), 7, false, true), Vec::<&str>::new(), "a request teaches nothing");
        assert_eq!(arp.hear(at(104_001), 7, true, true), ["f"]);
    }

    /// RFC 826: who is asked learns who asks; what others ask renews what is known, and no more.
    #[test]
    fn merging() {
        let mut arp = table(ArpConfig::rfc());
        assert!(arp.hear(at(0), 7, false, false).is_empty());
        assert_eq!(arp.resolve(at(0), 7, "a"), Resolution::Held(None));
        assert!(arp.hear(at(0), 8, false, true).is_empty());
        assert_eq!(arp.resolve(at(0), 8, "b"), Resolution::Send("b"));
        arp.hear(at(59_000), 8, false, false);
        assert_eq!(arp.resolve(at(118_000), 8, "c"), Resolution::Send("c"));
        let mut visited = Vec::new();
        arp.visit(|packet| visited.push(*packet));
        assert_eq!(visited, ["a"]);
    }

    /// ns-3 learns from a reply to this node alone, and only while it waits for one.
    #[test]
    fn replies_to_others_teach_nothing() {
        for (is_reply, is_for_this, learns) in
            [(true, true, true), (true, false, false), (false, true, false), (false, false, false)]
        {
            let mut arp = table(ArpConfig::ns3());
            assert!(arp.hear(at(0), 7, is_reply, is_for_this).is_empty(), "nobody waits");
            assert_eq!(arp.resolve(at(1), 7, "a"), Resolution::Held(None));
            let freed = arp.hear(at(2), 7, is_reply, is_for_this);
            assert_eq!(freed.len(), usize::from(learns), "{is_reply} {is_for_this}");
        }
    }

    /// An address ends at its time, 60 s after it was heard; who is known for ever has none.
    #[test]
    fn an_address_lives_to_its_end() {
        for (config, ends) in [(ArpConfig::rfc(), true), (ArpConfig::ns2(), false)] {
            let mut arp = table(config);
            arp.hear(at(5), 7, true, true);
            assert_eq!(arp.resolve(at(60_004), 7, "a"), Resolution::Send("a"));
            assert_eq!(arp.resolve(at(60_005), 7, "b") == Resolution::Held(None), ends);
        }
        let mut none = table(ArpConfig { held_packets: 0, ..ArpConfig::rfc() });
        assert_eq!(none.resolve(at(0), 7, "a"), Resolution::Held(Some("a")), "no room for any");
        assert_eq!(none.handle_timeout(at(999)), []);
        assert_eq!(none.next_change(), at(0), "the request");
        assert_eq!((none.poll_request(at(0)), none.next_change()), (Some(7), at(1000)));
    }
}
