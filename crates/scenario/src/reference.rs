//! The reference of every field, written from the JSON Schema.

/// The reference as Markdown.
pub fn reference() -> String {
    String::new()
}
