//! The line of the source that an error is about, with carets under what is wrong.

use crate::source::line_and_column;
use crate::tree::Span;

/// Characters of a line that are shown: of one longer, those around the place.
const WIDEST: usize = 100;
/// What of a longer line is shown before the place.
const BEFORE: usize = 40;

/// The line of `text` in which `span` begins, numbered, and carets under what of the span stands in it:
///
/// ```text
///   |
/// 3 | duration = "10 q"
///   |            ^^^^^^
/// ```
///
/// What a terminal would obey, control characters, is shown as a replacement character.
pub(crate) fn excerpt(text: &str, span: &Span) -> String {
    let (number, column) = line_and_column(text, span.start);
    let line: Vec<char> =
        text.split('\n').nth(number - 1).unwrap_or("").trim_end().chars().map(shown).collect();
    let at = (column - 1).min(line.len());
    let marked = text
        .get(span.start..span.end)
        .map_or(1, |marked| marked.lines().next().unwrap_or("").chars().count());
    // A place between characters, as where the file ends too early, has a caret too.
    let end = (at + marked.max(1)).min(line.len().max(at + 1));

    let (first, last) = if line.len() <= WIDEST {
        (0, line.len())
    } else {
        (at.saturating_sub(BEFORE), (at + WIDEST - BEFORE).min(line.len()))
    };
    let (left, right) = (if first > 0 { "…" } else { "" }, if last < line.len() { "…" } else { "" });
    let part: String = line[first..last].iter().collect();
    let carets = "^".repeat(end.min(last.max(at + 1)) - at);
    let (number, margin) = (number.to_string(), " ".repeat(number.to_string().len()));
    let indent = " ".repeat(at - first + left.chars().count());
    format!("{margin} |\n{number} | {left}{part}{right}\n{margin} | {indent}{carets}")
}

fn shown(character: char) -> char {
    match character {
        '\t' => ' ',
        // Controls, and what turns the direction of a text or hides it.
        character if character.is_control() => '\u{fffd}',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
            '\u{fffd}'
        }
        character => character,
    }
}

#[cfg(test)]
mod tests {
    use super::{WIDEST, excerpt};

    /// The excerpt for the first `marked` in `text`.
    fn of(text: &str, marked: &str) -> String {
        let start = text.find(marked).expect("it is there");
        excerpt(text, &(start..start + marked.len()))
    }

    #[test]
    fn carets_stand_under_the_value() {
        assert_eq!(
            of("a = 1\nrate = \"5 Mb\" # µ\n", "\"5 Mb\""),
            "  |\n2 | rate = \"5 Mb\" # µ\n  |        ^^^^^^"
        );
        // Columns are characters, not bytes; the margin is as wide as the number.
        let text = format!("{}x = \"µµ\", y = 3", "\n".repeat(11));
        assert_eq!(of(&text, "3"), "   |\n12 | x = \"µµ\", y = 3\n   |               ^");
    }

    #[test]
    fn of_what_goes_over_several_lines_the_first_is_marked() {
        assert_eq!(of("a = [\n  1,\n]", "[\n  1,\n]"), "  |\n1 | a = [\n  |     ^");
    }

    #[test]
    fn a_place_at_the_end_has_a_caret() {
        assert_eq!(excerpt("a =", &(3..3)), "  |\n1 | a =\n  |    ^");
        assert_eq!(excerpt("", &(0..0)), "  |\n1 | \n  | ^");
        assert_eq!(excerpt("a\n", &(2..2)), "  |\n2 | \n  | ^");
        assert_eq!(excerpt("a = 1\r\n", &(4..99)), "  |\n1 | a = 1\n  |     ^");
    }

    #[test]
    fn of_long_lines_the_part_around_the_place_is_shown() {
        let text = format!("{} = 7{}", "k".repeat(300), " # x".repeat(100));
        let shown = of(&text, "7");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1].chars().count(), "1 | ".len() + WIDEST + 2);
        let at = lines[2].find('^').expect("a caret");
        assert_eq!(lines[1].chars().nth(at), Some('7'), "{shown}");
        // A value wider than what is shown is marked to the end of what is shown.
        let wide = of(&format!("a = {}", "9".repeat(500)), &"9".repeat(500));
        assert_eq!(wide.matches('^').count(), WIDEST - super::BEFORE);
    }

    #[test]
    fn a_terminal_is_told_nothing() {
        let shown = of("a\t= \"\u{1b}[2J\u{202e}b\"", "\"\u{1b}[2J\u{202e}b\"");
        assert_eq!(shown, "  |\n1 | a = \"\u{fffd}[2J\u{fffd}b\"\n  |     ^^^^^^^^");
    }

    #[test]
    fn no_span_panics() {
        let text = "µ = \"é\"\n\nx\ty";
        for start in 0..=text.len() + 2 {
            for end in start..=text.len() + 3 {
                let shown = excerpt(text, &(start..end));
                assert_eq!(shown.lines().count(), 3, "{start}..{end}: {shown}");
                assert!(shown.contains('^'));
            }
        }
    }
}
