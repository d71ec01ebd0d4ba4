//! The nearest known name, for messages.

use strsim::osa_distance;

/// The candidate nearest to `name` by edit distance, if it is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name: String = name.to_lowercase().chars().take(64).collect(); // the effort grows with the length
    candidates
        .map(|candidate| (osa_distance(&name, candidate), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| *distance * 2 <= candidate.len().max(2))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let names = ["tahoe", "reno", "newreno", "sack"];
        assert_eq!(nearest("new-reno", names.into_iter()), Some("newreno"));
        assert_eq!(nearest("Sack", names.into_iter()), Some("sack"));
        assert_eq!(nearest("quic", names.into_iter()), None);
    }
}
