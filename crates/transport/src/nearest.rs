//! The nearest known name, for messages.

/// The candidate nearest to `name` by edit distance, if it is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    candidates
        .map(|candidate| (distance(&name, candidate), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| *distance * 2 <= candidate.len().max(2))
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance in bytes.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        assert_eq!(distance("kitten", "sitting"), 3);
        let names = ["tahoe", "reno", "newreno", "sack"];
        assert_eq!(nearest("new-reno", names.into_iter()), Some("newreno"));
        assert_eq!(nearest("Sack", names.into_iter()), Some("sack"));
        assert_eq!(nearest("quic", names.into_iter()), None);
    }
}
