//! Congestion controls from outside the registry.

/// Returns true if `name` has the form of a control from outside, `module:Class`: dotted identifiers on both
/// sides of one colon. Only the form is known here; the driver of the experiment finds the class.
pub fn is_external(name: &str) -> bool {
    name.split_once(':').is_some_and(|(module, class)| is_dotted(module) && is_dotted(class))
}

fn is_dotted(path: &str) -> bool {
    path.split('.').all(|part| {
        let mut letters = part.chars();
        letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
    })
}
