//! Comments that begin with `//:`, which say what packetdrill's language cannot: settings of the end under test,
//! steps of one plane, and why the planes differ.

use super::Fault;
use crate::script::PlaneName;
use std::collections::BTreeMap;

const MARK: &str = "//:";

/// A script without its marks.
#[derive(Debug, Default)]
pub(super) struct Marked {
    /// The script. Steps of the model are no comments here.
    pub(super) text: String,
    /// The settings, each in its line of the file.
    pub(super) head: String,
    /// Lines of one plane's steps.
    pub(super) planes: BTreeMap<usize, PlaneName>,
    /// Reasons for these steps, with their lines.
    pub(super) differences: Vec<(usize, String)>,
}

impl Marked {
    /// Reads a script. An error has its line.
    pub(super) fn read(text: &str) -> Result<Self, (usize, Fault)> {
        let mut found = Self::default();
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let (step, mark) = line.split_once(MARK).unwrap_or((line, ""));
            let mark = mark.trim();
            let (mut step, mut setting) = (step, "");
            if step.trim().is_empty() {
                if let Some(reason) = mark.strip_prefix("differ:") {
                    found.differences.push((number, reason.trim().to_owned()));
                } else if let Some(of_model) = mark.strip_prefix("sim ") {
                    step = of_model;
                    found.planes.insert(number, PlaneName::Sim);
                } else {
                    setting = mark;
                }
            } else if mark == "kernel" {
                found.planes.insert(number, PlaneName::Kernel);
            } else if !mark.is_empty() {
                let message = format!("behind a step write {MARK} kernel, not \"{mark}\"");
                return Err((number, Fault::wrong(message)));
            }
            if found.planes.contains_key(&number) && found.differences.is_empty() {
                let message = format!("say why the planes differ in a line before: {MARK} differ: REASON");
                return Err((number, Fault::wrong(message)));
            }
            found.text.extend([step, "\n"]);
            found.head.extend([setting, "\n"]);
        }
        Ok(found)
    }

    /// Whether the script has settings of its own.
    pub(super) fn has_settings(&self) -> bool {
        !self.head.trim().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stand_in_their_lines() {
        let text = "//: transport = \"x\"\n0 a\n//: differ: why \n1 b //: kernel\n//: sim 1 c\n2 d //: \n";
        let found = Marked::read(text).unwrap_or_else(|(line, _)| panic!("line {line}"));
        assert_eq!(found.text, "\n0 a\n\n1 b \n1 c\n2 d \n");
        assert_eq!(found.head, "transport = \"x\"\n\n\n\n\n\n");
        assert!(found.has_settings());
        let planes: Vec<_> = found.planes.into_iter().collect();
        assert_eq!(planes, [(4, PlaneName::Kernel), (5, PlaneName::Sim)]);
        assert_eq!(found.differences, [(3, "why".to_owned())]);
        assert!(Marked::read("0 a\n").is_ok_and(|found| !found.has_settings()));
        // A reason stands before the steps, and behind a step there is one word.
        for (text, line) in [("0 a\n1 b //: kernel\n", 2), ("//: sim 1 b\n", 1), ("0 a //: x\n", 1)] {
            assert_eq!(Marked::read(text).unwrap_err().0, line, "{text}");
        }
    }
}
