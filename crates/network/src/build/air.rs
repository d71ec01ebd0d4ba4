//! Primary users, and where the nodes of an ad hoc network are.

use cogtcp_layout::{AdHocSpec, Motion, NetworkSpec, Reception, UsersSpec};
use cogtcp_mobility::Mobility;
use cogtcp_spectrum::PuActivity;
use cogtcp_spectrum::activity::{LawError, scatter};
use cogtcp_spectrum::air::Air;
use cogtcp_units::{Duration, RandomStream};
use cogtcp_wireless::PrimaryUsers;
use std::sync::Arc;

/// Builds the air of the run of seed `seed`, with the activity of primary users up to `horizon`. Returns
/// `None` for a layout without spectrum.
///
/// # Errors
///
/// What is wrong with the laws of primary users; the scenario has checked them.
pub fn air(layout: &NetworkSpec, horizon: Duration, seed: u64) -> Result<Option<Arc<Air>>, LawError> {
    let Some(spectrum) = &layout.spectrum else { return Ok(None) };
    let mut activity = match &spectrum.users {
        UsersSpec::Generated(specs) => PuActivity::generate(specs, horizon, seed)?,
        UsersSpec::Logged(activity) => activity.clone(),
    };
    if let Some(area) = spectrum.scattered {
        let places = scatter(activity.users.len() as u32, area.width, area.height, seed);
        activity.users.iter_mut().zip(places).for_each(|(user, place)| user.position = place);
    }
    let mut air = Air::new(activity, spectrum.channels.clone());
    air.propagation = spectrum.propagation;
    air.leaks_across_bands = spectrum.leaks_across_bands;
    Ok(Some(Arc::new(air)))
}

/// Builds what tells which frames of nodes the primary users of `air` destroy.
pub(crate) fn primary_users(spec: &AdHocSpec, air: &Arc<Air>, seed: u64) -> PrimaryUsers {
    match spec.reception {
        Reception::Sinr => PrimaryUsers::new(Arc::clone(air)),
        Reception::AsReleased => {
            let stream = |number| RandomStream::new(seed, &format!("escape/interface {number}"), 0);
            // Three interfaces a node at most.
            let streams = (0..3 * spec.nodes).map(stream).collect();
            PrimaryUsers::as_released(Arc::clone(air), spec.sensitivity.watts(), streams)
        }
    }
}

/// Works out where nodes are at which time up to `duration`, in the run of seed `seed`.
///
/// # Errors
///
/// What is wrong with placement or movement; the scenario has checked them.
pub fn mobility(spec: &AdHocSpec, duration: Duration, seed: u64) -> Result<Arc<Mobility>, String> {
    match &spec.motion {
        Motion::Still(placement) => {
            let places = placement.place(spec.nodes, seed).map_err(|error| error.to_string())?;
            Ok(Arc::new(Mobility::still(&places)))
        }
        Motion::Waypoint(waypoint) => {
            let made = waypoint.generate(spec.nodes, duration, seed);
            made.map(Arc::new).map_err(|error| error.to_string())
        }
        Motion::Given(mobility) => Ok(Arc::clone(mobility)),
    }
}
