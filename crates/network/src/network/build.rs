//! From a layout to its network at time zero.

use super::notices::Notices;
use super::radios::GatedLinks;
use super::{AdHoc, BuildError, Looks, Network};
use crate::agenda::Agenda;
use crate::boards::Boards;
use crate::budget::Budget;
use crate::build;
use crate::hop::LinkHop;
use crate::observer::Observer;
use crate::payload::Payload;
use cogtcp_layout::NetworkSpec;
use cogtcp_units::{Duration, Time};
use std::collections::{BTreeMap, VecDeque};

/// What is recorded of an ad hoc network while it runs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Recording {
    /// Every frame, for [`Observer::air`].
    pub frames: bool,
    /// Places of nodes, and the routes that packets take.
    pub places: bool,
    /// Least time between two records of places.
    pub interval: Duration,
    /// Counts begin at the end of a warm-up, not with the run.
    pub has_warmup: bool,
}

impl<P: Payload> Network<P> {
    /// The network of `layout` in the run of seed `seed`, without streams; journeys, movements and
    /// primary users are worked out up to `until`.
    ///
    /// # Errors
    ///
    /// What cannot be built, and why.
    pub fn build(
        layout: &NetworkSpec,
        seed: u64,
        until: Time,
        recording: Recording,
    ) -> Result<Self, BuildError> {
        let horizon = until.saturating_since(Time::ZERO);
        let (pairs, mut spectrum) = build::station_pairs(layout, horizon, seed)?;
        let mut air = None;
        if let Some(spec) = &layout.adhoc {
            let wrong = |error: &dyn ToString| BuildError::AdHoc(error.to_string());
            spectrum = build::air(layout, horizon, seed).map_err(|error| wrong(&error))?;
            let made = AdHoc::new(spec, layout, spectrum.as_ref(), seed, until, recording);
            air = Some(Box::new(made.map_err(|error| wrong(&error))?));
        }
        let is_unshared = layout.radios.iter().any(|radio| radio.kind.user_without_mac().is_some());
        if spectrum.is_none() && is_unshared {
            let made = build::air(layout, horizon, seed);
            spectrum = made.map_err(|error| BuildError::AdHoc(error.to_string()))?;
        }
        let directions: Vec<_> =
            layout.links.iter().flat_map(|spec| build::link(spec, seed)).map(LinkHop::from).collect();
        let mut network = Self {
            agenda: Agenda::new(directions.len()),
            directions,
            routes: Vec::new(),
            route_starts: Vec::new(),
            ends: Vec::new(),
            air_hops: Vec::new(),
            stamping: BTreeMap::new(),
            dropped: Vec::new(),
            hops: 0,
            inlets: Vec::new(),
            horizon: Time::ZERO,
            looks: Looks::default(),
            window: Duration::MAX,
            merged: 0,
            stale: 0,
            has_news: false,
            radios: GatedLinks::all(layout, seed, until, spectrum.as_ref())?,
            pairs: Vec::new(),
            cells: Vec::new(),
            pair_events: VecDeque::new(),
            boards: Boards::new(layout),
            notices: Notices::default(),
            budget: Budget::default(),
            air,
            outgoing: VecDeque::new(),
            arrived: VecDeque::new(),
            spectrum,
            baselines: Vec::new(),
            warm_at: Time::ZERO,
        };
        // Before links are marked: a cell knows itself which of its frames primary users meet.
        network.add_cells(layout, seed);
        network.mark_unshared();
        pairs.into_iter().for_each(|placed| network.add_pair(placed));
        Ok(network)
    }

    /// Time zero: gates and rates are as the radios have them, and the first changes of links are on the
    /// agenda. To be called once, when all streams are there, and followed by [`begin_air`](Self::begin_air).
    pub fn begin(&mut self, observer: &mut impl Observer<P>) {
        self.begin_pairs();
        self.begin_radios(observer);
    }
}
