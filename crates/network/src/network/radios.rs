//! Radios that gate links without a MAC: cycles, journeys, and CR users whose channel is their links' own.
//!
//! Their phases become gates of the link directions. The boards of the nodes at the links' ends show what
//! happens to them.

use super::unshared::ChannelUser;
use super::{BuildError, Network};
use crate::agenda::Kind;
use crate::build;
use crate::hop::Mark;
use crate::observer::Observer;
use crate::payload::Payload;
use cogtcp_crosslayer::{LinkEvent, Phase};
use cogtcp_layout::NetworkSpec;
use cogtcp_link::{DropCause, Frame, Gate};
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::{Protection, Radio, RadioStats};
use cogtcp_train::journey::Course;
use cogtcp_units::{Rate, Time};
use cogtcp_wireless::FrameKind;
use std::sync::Arc;

/// What moves a radio without a MAC.
#[derive(Debug)]
enum Mover {
    /// It needs nothing of the links that it gates.
    Alone(Box<dyn Radio>),
    /// Its links' frames meet primary users.
    User(Box<ChannelUser>),
}

impl Mover {
    fn radio(&self) -> &dyn Radio {
        match self {
            Self::Alone(radio) => &**radio,
            Self::User(user) => user.radio(),
        }
    }

    fn radio_mut(&mut self) -> &mut dyn Radio {
        match self {
            Self::Alone(radio) => &mut **radio,
            Self::User(user) => user.radio_mut(),
        }
    }
}

/// A radio and the links it gates.
#[derive(Debug)]
pub(super) struct GatedLinks {
    /// Its place in the layout.
    pub(super) number: usize,
    mover: Mover,
    /// The journey, of a radio that is on one.
    course: Option<Arc<Course>>,
    directions: Vec<u32>,
    /// A link direction that waits out every silence, whatever the others do.
    holding: Option<u32>,
    /// The gate in silence.
    silent: Gate,
    /// Its place among the cells, if the radio is a base station.
    cell: Option<usize>,
    /// The nodes at the ends of its links, each with the first of the links there.
    nodes: Vec<(usize, usize)>,
    /// Rate of its first link, reported in place of "the link's own".
    own_rate: Rate,
    warm: RadioStats,
}

impl GatedLinks {
    /// The radios of `layout` that have no MAC, in the run of seed `seed` that ends at `end`. `air`: what
    /// CR users share with primary users.
    pub(super) fn all(
        layout: &NetworkSpec,
        seed: u64,
        end: Time,
        air: Option<&Arc<Air>>,
    ) -> Result<Vec<Self>, BuildError> {
        let mut owner: Vec<Option<usize>> = vec![None; layout.links.len()];
        let mut all = Vec::new();
        for (number, spec) in layout.radios.iter().enumerate() {
            for &link in &spec.links {
                // Of all radios, those with a MAC too: a link has one gate.
                if let Some(first) = owner[link].replace(number) {
                    return Err(BuildError::TwoRadios {
                        link: layout.links[link].name.clone(),
                        first: layout.radios[first].name.clone(),
                        second: spec.name.clone(),
                    });
                }
            }
            // A CR user with a MAC has no gate: its pair sends its link's packets.
            let Some(gating) = spec.kind.gating() else { continue };
            let course = build::course(spec, end, seed);
            let mover = match (spec.kind.user_without_mac(), air) {
                (Some(cognitive), Some(air)) => {
                    let user = ChannelUser::new(cognitive, spec, air, seed);
                    let wrong = |why| BuildError::Radio { radio: spec.name.clone(), why };
                    Mover::User(Box::new(user.map_err(wrong)?))
                }
                _ => match build::radio(spec, course.as_ref(), seed) {
                    Some(radio) => Mover::Alone(radio),
                    None => continue,
                },
            };
            let mut nodes: Vec<(usize, usize)> = Vec::new();
            for (number, link) in spec.links.iter().map(|link| (*link, &layout.links[*link])) {
                for node in [link.from, link.to] {
                    if nodes.iter().all(|(known, _)| *known != node) {
                        nodes.push((node, number));
                    }
                }
            }
            // Boards are told in the order of nodes, whatever the order in which a scenario lists links.
            nodes.sort_unstable();
            all.push(Self {
                number,
                mover,
                course,
                directions: spec
                    .links
                    .iter()
                    .flat_map(|link| [2 * *link as u32, 2 * *link as u32 + 1])
                    .collect(),
                holding: None,
                silent: gating.silent_gate(),
                cell: None,
                nodes,
                own_rate: spec.links.first().map_or(Rate::ZERO, |link| layout.links[*link].forward.rate),
                warm: RadioStats::default(),
            });
        }
        Ok(all)
    }

    /// The gate of one of its link directions now.
    fn gate(&self, direction: u32) -> Gate {
        if self.cell.is_some() {
            return Gate::of_served(self.mover.radio().phase().is_silent());
        }
        let gate = if self.mover.radio().phase().is_silent() { self.silent } else { Gate::Open };
        let is_held = gate.destroys() && self.holding == Some(direction);
        if is_held { Gate::Hold } else { gate }
    }

    /// The CR user behind a cell.
    pub(super) fn user_mut(&mut self) -> Option<&mut ChannelUser> {
        if let Mover::User(user) = &mut self.mover { Some(user) } else { None }
    }

    /// Metrics count from `now`.
    pub(super) fn end_warmup(&mut self, now: Time) {
        self.warm = self.mover.radio().stats(now);
        if let Mover::User(user) = &mut self.mover {
            user.end_warmup(now);
        }
    }

    /// What the radio did since the end of the warm-up.
    pub(super) fn measured(&self, now: Time) -> RadioStats {
        self.mover.radio().stats(now).since(&self.warm)
    }

    /// Returns how primary users fared since the end of the warm-up, if the radio meets any.
    pub(super) fn protection(&self, now: Time) -> Option<Protection> {
        match &self.mover {
            Mover::Alone(_) => None,
            Mover::User(user) => Some(user.measured(now)),
        }
    }
}

impl<P: Payload> Network<P> {
    /// The radio at this place of the layout is a base station, the cell at `cell`. Returns its place
    /// among those that gate links; `None`: it is no CR user without a MAC of its own.
    pub(super) fn give_cell(&mut self, radio: usize, cell: usize) -> Option<usize> {
        let place = self.radios.iter().position(|it| it.number == radio)?;
        let it = &mut self.radios[place];
        matches!(it.mover, Mover::User(_)).then(|| {
            it.cell = Some(cell);
            place
        })
    }

    /// Marks the links whose frames meet primary users.
    pub(super) fn mark_unshared(&mut self) {
        let users = self.radios.iter().filter(|radio| matches!(radio.mover, Mover::User(_)));
        for radio in users.filter(|radio| radio.cell.is_none()) {
            radio
                .directions
                .iter()
                .for_each(|direction| self.directions[*direction as usize].set(Mark::Settles, true));
        }
    }

    /// A frame has left `direction`, whose channel primary users share: computes the interference between both.
    /// Returns why it is lost.
    #[cold]
    pub(super) fn settle(
        &mut self,
        now: Time,
        direction: u32,
        frame: &mut Frame<P>,
        lost: Option<DropCause>,
        observer: &mut impl Observer<P>,
    ) -> Option<DropCause> {
        if lost.is_none() {
            self.stamp_at(now, direction, frame);
        }
        let link = &mut self.directions[direction as usize];
        // It left the transmitter one propagation delay ago.
        let until = Time::from_nanos(now.as_nanos().saturating_sub(link.delay().as_nanos()));
        // A link has one gate.
        let radio = self.radios.iter_mut().find(|radio| radio.directions.contains(&direction))?;
        let Mover::User(user) = &mut radio.mover else { return None };
        let cause = user.settle(direction as usize % 2, until, frame, lost)?;
        link.lose(cause);
        if cause == DropCause::Interference {
            observer.interference(now, direction, FrameKind::Data.name());
        }
        Some(cause)
    }

    /// What `direction` is offered in a silence of its radio waits, even where silence drops what other links
    /// are offered. To be called before the network begins.
    pub fn hold(&mut self, direction: u32) {
        for radio in self.radios.iter_mut().filter(|radio| radio.directions.contains(&direction)) {
            radio.holding = Some(direction);
        }
    }

    /// The journey of the radio at this place of the layout, if it is on one.
    pub fn course(&self, radio: usize) -> Option<&Arc<Course>> {
        self.radios.iter().find(|it| it.number == radio)?.course.as_ref()
    }

    /// What each radio does that gates links, with its place in the layout.
    pub fn phases(&self) -> Vec<(usize, Phase)> {
        self.radios.iter().map(|it| (it.number, it.mover.radio().phase())).collect()
    }

    /// Gates and rates as the radios have them in the beginning, and the first change of each.
    pub(super) fn begin_radios(&mut self, observer: &mut impl Observer<P>) {
        for number in 0..self.radios.len() {
            self.set_gates(Time::ZERO, number, observer);
            let next = self.radios[number].mover.radio().next_change();
            self.agenda.push(next, Kind::Radio(number as u32));
        }
    }

    /// A radio changes: gates and rates first, then the boards tell of it.
    pub(super) fn change_radio(&mut self, now: Time, number: usize, observer: &mut impl Observer<P>) {
        let radio = self.radios[number].mover.radio_mut();
        let was_open = !radio.phase().is_silent();
        let is_open = !radio.advance(now).is_silent();
        // All links before any board: a sender that hears that the link is up sends at once, and must find it
        // open.
        self.set_gates(now, number, observer);
        let it = &mut self.radios[number];
        let publish = |boards: &mut crate::boards::Boards, time, event| {
            for (node, link) in &it.nodes {
                boards.publish(*node, time, *link, event, it.own_rate);
            }
        };
        while let Some((time, event)) = it.mover.radio_mut().poll_event() {
            observer.radio(time, (it.number, 0), event, it.own_rate);
            publish(&mut self.boards, time, event);
        }
        // From one silent phase to another (sensing, then switching) the link does not change.
        if let Some(event) = LinkEvent::of_change(was_open, is_open) {
            publish(&mut self.boards, now, event);
        }
        observer.phase(it.number, it.mover.radio().phase());
        self.agenda.push(it.mover.radio().next_change(), Kind::Radio(number as u32));
        self.has_news |= self.boards.has_news();
    }

    fn set_gates(&mut self, now: Time, number: usize, observer: &mut impl Observer<P>) {
        if let Some(cell) = self.radios[number].cell {
            return self.set_cell(now, number, cell);
        }
        let it = &mut self.radios[number];
        if let Mover::User(user) = &mut it.mover {
            let has_packets =
                it.directions.iter().any(|direction| !self.directions[*direction as usize].is_empty());
            user.record_channel(now, has_packets);
        }
        for place in 0..self.radios[number].directions.len() {
            let it = &self.radios[number];
            let (direction, rate) = (it.directions[place], it.mover.radio().rate());
            let gate = it.gate(direction);
            if let Some(delay) = it.mover.radio().delay() {
                self.directions[direction as usize].set_delay(now, delay);
            }
            self.set_channel(now, direction, gate, rate, observer);
        }
    }
}
