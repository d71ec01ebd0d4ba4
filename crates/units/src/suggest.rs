//! The names that somebody probably meant.

use strsim::osa_distance;

/// "`a`, `b` or `c`".
pub fn list<T: AsRef<str>>(names: &[T]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{}\"", name.as_ref())).collect();
    match quoted.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// The one of `names` that is nearest to `found`, when it is near enough for a slip of the pen.
pub fn nearest<'a, T: AsRef<str>>(found: &str, names: &'a [T]) -> Option<&'a str> {
    // Names are short. A found text need not be, and the effort grows with its length.
    let simple = |text: &str| -> String {
        // Separators are the usual slip: names that differ in them alone are the same name here.
        text.to_lowercase().replace(['-', ' ', '.'], "_").chars().take(64).collect()
    };
    let found = simple(found);
    // About one letter in three may be wrong, in any name at least one.
    let most = (found.chars().count() / 3).clamp(1, 4);
    names
        .iter()
        .map(|name| {
            let simple = simple(name.as_ref());
            // A word cut short is near whatever is missing.
            let cut = found.len() >= 2 && simple.starts_with(&found);
            (osa_distance(&found, &simple), cut, name.as_ref())
        })
        .filter(|(distance, cut, _)| *cut || *distance <= most)
        .min_by_key(|(distance, ..)| *distance)
        .map(|(.., name)| name)
}

/// "did you mean ...?" where one of `names` is near, and what there is.
pub fn among<T: AsRef<str>>(found: &str, names: &[T]) -> String {
    if names.is_empty() {
        return "there is none".to_owned();
    }
    // A long list helps nobody: the first names stand for the rest.
    const MOST: usize = 30;
    let all = if names.len() > MOST {
        format!("{}, ... ({} in all)", list(&names[..MOST]).replace(" or ", ", "), names.len())
    } else {
        list(names)
    };
    match nearest(found, names) {
        Some(name) => format!("did you mean \"{name}\"? (one of {all})"),
        None => format!("write one of {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let names = ["newreno", "reno", "sack", "tahoe"];
        assert_eq!(nearest("New-Reno", &names), Some("newreno"));
        assert_eq!(nearest("sakc", &names), Some("sack"));
        assert_eq!(nearest("ta", &names), Some("tahoe"));
        assert_eq!(nearest("cubic", &names), None);
    }
}
