//! What a network is made of, checked and flat: the input of `cogtcp-network`.
//!
//! A [`NetworkSpec`] lists nodes, links, radios and the spectrum, every name an index. It knows no transport
//! and no file: a scenario's experiment has one, and other transports leave the network as it is.

mod adhoc;
mod chance;
mod cognitive;
mod links;
mod radios;

pub use adhoc::{AdHocSpec, Motion};
pub use cognitive::{
    CellSpec, CognitiveSpec, Ends, Reception, SpectrumSpec, TransmitRadio, UsersSpec, WhilePeerSenses,
};
pub use links::{LinkDirectionSpec, LinkSpec};
pub use radios::{Gating, JourneySpec, RadioKind, RadioSpec};

/// A network, ready to be built.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkSpec {
    /// The names of the nodes; a node's number is its place here.
    pub nodes: Vec<String>,
    /// The links; a link's number is its place here.
    pub links: Vec<LinkSpec>,
    /// The ad hoc network, in which case there are no links.
    pub adhoc: Option<Box<AdHocSpec>>,
    /// Who uses the spectrum, and its channels: where a radio is a CR user in full, or nodes share it.
    pub spectrum: Option<SpectrumSpec>,
    /// The cognitive radios.
    pub radios: Vec<RadioSpec>,
}

impl NetworkSpec {
    /// By link: whether a radio gates it.
    pub fn gated_links(&self) -> Vec<bool> {
        let mut is_gated = vec![false; self.links.len()];
        self.radios.iter().flat_map(|radio| &radio.links).for_each(|link| is_gated[*link] = true);
        is_gated
    }

    /// Returns whose capacity a link's is: the name of the radio whose cell serves it, which its users share,
    /// or the link's own.
    pub fn medium(&self, link: usize) -> &str {
        let cell =
            self.radios.iter().find(|radio| radio.kind.cell().is_some() && radio.links.contains(&link));
        cell.map_or(&self.links[link].name, |radio| &radio.name)
    }

    /// The names of the radios that an entry of the scenario stands for: its own, or one for each end of its
    /// link.
    pub fn radio_names(&self, spec: &RadioSpec) -> Vec<String> {
        let independent = spec.kind.cognitive().is_some_and(|user| user.sensing == Ends::Independent);
        match spec.links.first().filter(|_| independent) {
            Some(link) => {
                let link = &self.links[*link];
                let name = |node: usize| format!("{}/{}", spec.name, self.nodes[node]);
                vec![name(link.from), name(link.to)]
            }
            None => vec![spec.name.clone()],
        }
    }
}
