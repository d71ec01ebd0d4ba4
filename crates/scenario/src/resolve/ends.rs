//! What flows and UDP sources begin with: how many an entry stands for, their names, and their two ends.

use super::Findings;
use super::network::ResolvedNetwork;
use crate::limits::MOST_FLOWS;
use crate::tree::KeyPath;

/// The head of an entry.
pub(super) struct Head<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) count: u32,
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    /// What one without a name is called, before its number.
    pub(super) letter: char,
    /// What one does, as messages say it: "the flow leads".
    pub(super) sends: &'static str,
}

impl Head<'_> {
    /// Refuses an entry that stands for none.
    pub(super) fn check_count(&self, path: &KeyPath, findings: &mut Findings) {
        if self.count == 0 {
            findings.error(&path.key("count"), "0 is out of range", format!("write 1 to {MOST_FLOWS}"));
        }
    }

    /// Name and nodes of the `k`-th (from 0) that the entry stands for, whose first is the `first` (from 1)
    /// of all.
    pub(super) fn nth(
        &self,
        k: u32,
        first: usize,
        network: &ResolvedNetwork,
        path: &KeyPath,
        findings: &mut Findings,
    ) -> Option<(String, usize, usize)> {
        let number = |text: &str| text.replace('*', &(k + 1).to_string());
        let name = match self.name {
            Some(name) if self.count > 1 && !name.contains('*') => format!("{name}-{}", k + 1),
            Some(name) => number(name),
            None => format!("{}{}", self.letter, first + k as usize),
        };
        if self.name.is_some() {
            findings.check_name(&path.key("name"), &name);
        }
        let from = network.node(&number(self.from), &path.key("from"), findings);
        let to = network.node(&number(self.to), &path.key("to"), findings);
        let (from, to) = (from?, to?);
        if from == to {
            let message = format!("{} from \"{}\" to itself", self.sends, network.nodes[from]);
            findings.error(&path.key("to"), message, "name another node");
            return None;
        }
        Some((name, from, to))
    }
}
