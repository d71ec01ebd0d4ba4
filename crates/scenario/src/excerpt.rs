//! The line of the source that an error is about, with carets under what is wrong.
//!
//! `annotate-snippets` 0.12 puts the same carets in the same columns, and keeps them in place below wide characters. It
//! was not taken: it writes a title and a place of its own, and has no label such as `set` for a line number.

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
    let marked = text
        .get(span.start..span.end)
        .map_or(1, |marked| marked.lines().next().unwrap_or("").chars().count());
    draw(&number.to_string(), text.split('\n').nth(number - 1).unwrap_or(""), column - 1, marked)
}

/// Line number `number`, from 1, of a file of any kind, with carets under `found` if that stands in it, else
/// under all of it.
pub fn line_excerpt(text: &str, number: usize, found: Option<&str>) -> String {
    let line = text.split('\n').nth(number.saturating_sub(1)).unwrap_or("").trim_end();
    let words = line.trim_start();
    let found = found.filter(|found| !found.is_empty());
    let (start, marked) = match found.and_then(|found| Some((line.find(found)?, found))) {
        Some(place) => place,
        None => (line.len() - words.len(), words),
    };
    draw(&number.to_string(), line, line[..start].chars().count(), marked.chars().count())
}

/// What was set after reading, `path = value`, with carets under the value, or under the path where that is
/// wrong.
pub(crate) fn change_excerpt(path: &str, value: &str, is_path_wrong: bool) -> String {
    let value = value.lines().next().unwrap_or("");
    let (before, marked) =
        if is_path_wrong { (0, path) } else { (path.chars().count() + " = ".len(), value) };
    draw("set", &format!("{path} = {value}"), before, marked.chars().count())
}

/// `line` behind `label`, with carets under the `marked` characters after the first `at`.
fn draw(label: &str, line: &str, at: usize, marked: usize) -> String {
    let line: Vec<char> = line.trim_end().chars().map(shown).collect();
    let at = at.min(line.len());
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
    let margin = " ".repeat(label.chars().count());
    let indent = " ".repeat(at - first + left.chars().count());
    format!("{margin} |\n{label} | {left}{part}{right}\n{margin} | {indent}{carets}")
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
    use super::{WIDEST, change_excerpt, excerpt, line_excerpt};

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

    /// A line of 100 characters is shown whole, one of 101 is not. The part begins 40 characters before the place, a
    /// sign on either side says that there is more.
    #[test]
    fn a_part_of_a_line_says_where_there_is_more() {
        let shown = |before: usize, after: usize| {
            let shown = of(&format!("{}7{}", "k".repeat(before), "x".repeat(after)), "7");
            let lines: Vec<&str> = shown.lines().collect();
            let part = lines[1].strip_prefix("1 | ").unwrap().to_owned();
            assert_eq!(part.chars().nth(lines[2].find('^').unwrap() - 4), Some('7'), "{part}");
            let ends = (part.starts_with('…'), part.ends_with('…'));
            (part.trim_matches('…').chars().count(), ends)
        };
        assert_eq!((shown(50, 49), shown(50, 50)), ((100, (false, false)), (91, (true, false))));
        assert_eq!((shown(40, 60), shown(41, 59)), ((100, (false, true)), (100, (true, false))));
        assert_eq!((shown(41, 60), shown(0, 100)), ((100, (true, true)), (60, (false, true))));
    }

    #[test]
    fn a_terminal_is_told_nothing() {
        let shown = of("a\t= \"\u{1b}[2J\u{202e}b\"", "\"\u{1b}[2J\u{202e}b\"");
        assert_eq!(shown, "  |\n1 | a = \"\u{fffd}[2J\u{fffd}b\"\n  |     ^^^^^^^^");
    }

    #[test]
    fn a_line_of_any_file_is_marked_where_the_word_stands() {
        assert_eq!(line_excerpt("a\n  1, x ,3\n", 2, Some("x")), "  |\n2 |   1, x ,3\n  |      ^");
        assert_eq!(line_excerpt("a\n  1, x\n", 2, Some("y")), "  |\n2 |   1, x\n  |   ^^^^");
        assert_eq!(line_excerpt("a\n", 7, None), "  |\n7 | \n  | ^");
        assert_eq!(line_excerpt("µ 5q", 1, Some("5q")), "  |\n1 | µ 5q\n  |   ^^");
    }

    #[test]
    fn what_was_set_is_shown_as_it_was_written() {
        assert_eq!(
            change_excerpt("run.duration", "5q", false),
            "    |\nset | run.duration = 5q\n    |                ^^"
        );
        assert_eq!(change_excerpt("run.d", "5 s", true), "    |\nset | run.d = 5 s\n    | ^^^^^");
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
