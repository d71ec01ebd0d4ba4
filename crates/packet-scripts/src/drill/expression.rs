//! The text between `%{` and `}%`: assertions on the fields of `tcp_info`. The program packetdrill hands
//! these lines to Python; here a small reader takes comparisons, arithmetic and names, and nothing is run.

use std::collections::BTreeMap;
use std::fmt;

/// Names that packetdrill defines beside the fields (linux/tcp.h, net/tcp_states.h).
const CONSTANTS: [(&str, f64); 20] = [
    ("TCP_CA_Open", 0.0),
    ("TCP_CA_Disorder", 1.0),
    ("TCP_CA_CWR", 2.0),
    ("TCP_CA_Recovery", 3.0),
    ("TCP_CA_Loss", 4.0),
    ("TCPI_OPT_TIMESTAMPS", 1.0),
    ("TCPI_OPT_SACK", 2.0),
    ("TCPI_OPT_WSCALE", 4.0),
    ("TCPI_OPT_ECN", 8.0),
    ("TCP_ESTABLISHED", 1.0),
    ("TCP_SYN_SENT", 2.0),
    ("TCP_SYN_RECV", 3.0),
    ("TCP_FIN_WAIT1", 4.0),
    ("TCP_FIN_WAIT2", 5.0),
    ("TCP_TIME_WAIT", 6.0),
    ("TCP_CLOSE", 7.0),
    ("TCP_CLOSE_WAIT", 8.0),
    ("TCP_LAST_ACK", 9.0),
    ("TCP_LISTEN", 10.0),
    ("TCP_CLOSING", 11.0),
];

/// Fields of `tcp_info` that both planes have.
const FIELDS: [&str; 17] = [
    "tcpi_advmss",
    "tcpi_backoff",
    "tcpi_ca_state",
    "tcpi_delivered",
    "tcpi_last_data_recv",
    "tcpi_lost",
    "tcpi_min_rtt",
    "tcpi_options",
    "tcpi_probes",
    "tcpi_reordering",
    "tcpi_retrans",
    "tcpi_rtt",
    "tcpi_sacked",
    "tcpi_snd_cwnd",
    "tcpi_snd_mss",
    "tcpi_snd_ssthresh",
    "tcpi_unacked",
];

/// Fields of `tcp_info` with their values.
pub type Fields = BTreeMap<String, f64>;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `assert CONDITION, MESSAGE`, with its text.
    Assert(Expression, String),
    /// `NAME = VALUE`.
    Set(String, Expression),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Number(f64),
    Name(String),
    Not(Box<Expression>),
    Minus(Box<Expression>),
    Binary(char, Box<Expression>, Box<Expression>),
    /// `a < b <= c`: all of them hold.
    Compare(Box<Expression>, Vec<(Comparison, Expression)>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Expression {
    /// The fields that it reads.
    pub(crate) fn fields(&self, into: &mut Vec<String>) {
        match self {
            Self::Number(_) => {}
            Self::Name(name) => {
                if name.starts_with("tcpi_") {
                    into.push(name.clone());
                }
            }
            Self::Not(inner) | Self::Minus(inner) => inner.fields(into),
            Self::Binary(_, left, right) | Self::And(left, right) | Self::Or(left, right) => {
                left.fields(into);
                right.fields(into);
            }
            Self::Compare(first, rest) => {
                first.fields(into);
                rest.iter().for_each(|(_, each)| each.fields(into));
            }
        }
    }

    /// Its value; a truth is 0 or 1.
    pub(crate) fn value(&self, known: &Fields) -> Result<f64, String> {
        Ok(match self {
            Self::Number(number) => *number,
            Self::Name(name) => {
                let constant = || CONSTANTS.iter().find(|(each, _)| each == name).map(|(_, value)| *value);
                let value = known.get(name).copied().or_else(constant);
                value.ok_or_else(|| format!("\"{name}\" has no value here"))?
            }
            Self::Not(inner) => truth(inner.value(known)? == 0.0),
            Self::Minus(inner) => -inner.value(known)?,
            Self::Binary(operator, left, right) => {
                let (left, right) = (left.value(known)?, right.value(known)?);
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    '/' => left / right,
                    // As Python's `%`, whose result has the divisor's sign (for a divisor above zero).
                    '%' => left.rem_euclid(right),
                    // All values are numbers of 64-bit floats; flags of `tcp_info` fit exactly.
                    '&' => (left as i64 & right as i64) as f64,
                    _ => (left as i64 | right as i64) as f64,
                }
            }
            Self::Compare(first, rest) => {
                let mut left = first.value(known)?;
                for (comparison, right) in rest {
                    let right = right.value(known)?;
                    let holds = match comparison {
                        Comparison::Equal => left == right,
                        Comparison::NotEqual => left != right,
                        Comparison::Less => left < right,
                        Comparison::AtMost => left <= right,
                        Comparison::Greater => left > right,
                        Comparison::AtLeast => left >= right,
                    };
                    // As in Python: a chain of comparisons ends at the first that fails.
                    if !holds {
                        return Ok(0.0);
                    }
                    left = right;
                }
                1.0
            }
            Self::And(left, right) => truth(left.value(known)? != 0.0 && right.value(known)? != 0.0),
            Self::Or(left, right) => truth(left.value(known)? != 0.0 || right.value(known)? != 0.0),
        })
    }
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// The first field of the statements that no plane has.
pub(super) fn unknown_field(statements: &[Statement]) -> Option<String> {
    let mut fields = Vec::new();
    for Statement::Assert(expression, _) | Statement::Set(_, expression) in statements {
        expression.fields(&mut fields);
    }
    fields.into_iter().find(|field| !FIELDS.contains(&field.as_str()))
}

/// Reads statements, one a line or separated by `;`.
pub(super) fn statements(text: &str) -> Result<Vec<Statement>, String> {
    // A line that ends in a backslash goes on in the next, as in Python.
    let joined = text.replace("\\\n", " ");
    let mut found = Vec::new();
    for line in joined.lines() {
        // Messages of these scripts hold neither of the two.
        let line = line.split('#').next().unwrap_or_default();
        for text in line.split(';').map(str::trim).filter(|text| !text.is_empty()) {
            found.extend(statement(text)?);
        }
    }
    Ok(found)
}

fn statement(text: &str) -> Result<Option<Statement>, String> {
    // Output of a script is no test.
    if text.starts_with("print") {
        return Ok(None);
    }
    if let Some(rest) = text.strip_prefix("assert").filter(|rest| rest.starts_with([' ', '(', '\t'])) {
        let mut reader = Reader { tokens: tokens(rest)?, at: 0 };
        let condition = reader.or()?;
        // What follows a comma is shown where the assertion fails: here the values of its fields are.
        if !reader.is_at_end() && !reader.take(",") {
            return Err(reader.unexpected());
        }
        return Ok(Some(Statement::Assert(condition, text.to_owned())));
    }
    let (name, value) = text.split_once('=').ok_or_else(|| unknown(text))?;
    let name = name.trim();
    if name.is_empty() || !name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') {
        return Err(unknown(text));
    }
    let mut reader = Reader { tokens: tokens(value)?, at: 0 };
    let value = reader.or()?;
    if !reader.is_at_end() {
        return Err(reader.unexpected());
    }
    Ok(Some(Statement::Set(name.to_owned(), value)))
}

fn unknown(text: &str) -> String {
    format!("\"{text}\" is not a statement; write assert CONDITION, MESSAGE or NAME = NUMBER")
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Mark(&'static str),
    /// The rest from a quote on: of messages.
    Text,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => write!(f, "\"{name}\""),
            Self::Mark(mark) => write!(f, "\"{mark}\""),
            Self::Text => f.write_str("a quotation"),
        }
    }
}

// Longer signs first: `<=` must not be read as `<` and `=`.
const MARKS: [&str; 18] =
    ["==", "!=", "<=", ">=", "//", "<", ">", "(", ")", "+", "-", "*", "/", "%", ",", "&", "|", "="];

/// So many words and signs an assertion may have: reading and evaluation go as deep as an expression is
/// nested.
const MOST_TOKENS: usize = 200;

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut rest = text.trim_start();
    let mut found = Vec::new();
    while let Some(first) = rest.chars().next() {
        if found.len() == MOST_TOKENS {
            return Err(format!("an assertion has more than {MOST_TOKENS} words and signs"));
        }
        let length = if first.is_ascii_digit() {
            let length = rest
                .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.')
                .unwrap_or(rest.len());
            let word = &rest[..length];
            let number = match word.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).map(|number| number as f64).ok(),
                None => word.parse().ok(),
            };
            found.push(Token::Number(number.ok_or_else(|| format!("\"{word}\" is not a number"))?));
            length
        } else if first.is_alphabetic() || first == '_' {
            let length =
                rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
            found.push(Token::Name(rest[..length].to_owned()));
            length
        } else if first == '\'' || first == '"' {
            found.push(Token::Text);
            rest.len()
        } else {
            let mark = MARKS.iter().find(|mark| rest.starts_with(**mark));
            let mark = mark.ok_or_else(|| format!("\"{first}\" is unknown in an assertion"))?;
            found.push(Token::Mark(mark));
            mark.len()
        };
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

/// Reads an expression by Python's precedences.
struct Reader {
    tokens: Vec<Token>,
    at: usize,
}

impl Reader {
    fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn take(&mut self, mark: &str) -> bool {
        let is_here = match self.tokens.get(self.at) {
            Some(Token::Mark(found)) => *found == mark,
            Some(Token::Name(found)) => found == mark,
            _ => false,
        };
        self.at += usize::from(is_here);
        is_here
    }

    fn unexpected(&self) -> String {
        match self.tokens.get(self.at) {
            Some(token) => format!("{token} is unexpected in an assertion"),
            None => "an assertion ends too early".to_owned(),
        }
    }

    fn or(&mut self) -> Result<Expression, String> {
        let mut left = self.and()?;
        while self.take("or") {
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expression, String> {
        let mut left = self.not()?;
        while self.take("and") {
            left = Expression::And(Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Expression, String> {
        if self.take("not") {
            return Ok(Expression::Not(Box::new(self.not()?)));
        }
        let first = self.bits()?;
        let mut rest = Vec::new();
        loop {
            // Longer signs first here too.
            let comparison = [
                ("==", Comparison::Equal),
                ("!=", Comparison::NotEqual),
                ("<=", Comparison::AtMost),
                (">=", Comparison::AtLeast),
                ("<", Comparison::Less),
                (">", Comparison::Greater),
            ];
            let Some((_, comparison)) = comparison.into_iter().find(|(mark, _)| self.take(mark)) else {
                break;
            };
            rest.push((comparison, self.bits()?));
        }
        Ok(if rest.is_empty() { first } else { Expression::Compare(Box::new(first), rest) })
    }

    fn bits(&mut self) -> Result<Expression, String> {
        self.chain(&["&", "|"], Self::sum)
    }

    fn sum(&mut self) -> Result<Expression, String> {
        self.chain(&["+", "-"], Self::product)
    }

    fn product(&mut self) -> Result<Expression, String> {
        self.chain(&["*", "/", "%"], Self::atom)
    }

    fn chain(
        &mut self,
        marks: &[&str],
        next: fn(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let mut left = next(self)?;
        while let Some(mark) = marks.iter().find(|mark| self.take(mark)) {
            let operator = mark.chars().next().unwrap_or('+');
            left = Expression::Binary(operator, Box::new(left), Box::new(next(self)?));
        }
        Ok(left)
    }

    fn atom(&mut self) -> Result<Expression, String> {
        if self.take("-") {
            return Ok(Expression::Minus(Box::new(self.atom()?)));
        }
        if self.take("(") {
            let inner = self.or()?;
            return if self.take(")") { Ok(inner) } else { Err(self.unexpected()) };
        }
        let found = match self.tokens.get(self.at) {
            Some(Token::Number(number)) => Expression::Number(*number),
            Some(Token::Name(name)) => Expression::Name(name.clone()),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let known = Fields::from([("tcpi_rtt".to_owned(), 5.0), ("x".to_owned(), 2.0)]);
        let Statement::Assert(condition, _) = statement(&format!("assert {text}")).unwrap().unwrap() else {
            panic!("no assertion")
        };
        condition.value(&known).unwrap()
    }

    #[test]
    fn conditions_have_pythons_meaning() {
        for (text, wanted) in [
            ("tcpi_rtt == 5, tcpi_rtt", 1.0),
            ("4 <= tcpi_rtt <= 6, 'rtt=%d us' % tcpi_rtt", 1.0),
            ("4 <= tcpi_rtt < 5", 0.0),
            ("1 + 2 * 3 - 8 % 3", 5.0),
            ("-x + 4 / 8", -1.5),
            ("not x == 2 or x > 1 and tcpi_rtt != 5", 0.0),
            ("(tcpi_rtt & 4) != 0", 1.0),
            ("0x10 | 1", 17.0),
            ("TCP_CA_Recovery", 3.0),
        ] {
            assert_eq!(value(text), wanted, "{text}");
        }
    }

    /// A text of any length and depth is refused before the stack ends.
    #[test]
    fn long_and_deep_assertions_are_refused() {
        for text in ["(".repeat(20_000), "not ".repeat(60_000), "1+".repeat(100_000), "-".repeat(100_000)] {
            let error = statement(&format!("assert {text}1")).unwrap_err();
            assert!(error.contains("more than 200 words and signs"), "{error}");
        }
        assert_eq!(value(&format!("{}1{}", "(".repeat(99), ")".repeat(99))), 1.0);
        assert_eq!(statement("assert 1 )").unwrap_err(), "\")\" is unexpected in an assertion");
    }

    #[test]
    fn blocks_are_read_line_by_line() {
        let read =
            statements("\nN = 0x7fffffff\nassert a == 1, a  # why\nprint(a)\nassert b == 2;\\\n assert c\n")
                .unwrap();
        assert_eq!(read.len(), 4);
        assert_eq!(read[0], Statement::Set("N".to_owned(), Expression::Number(2_147_483_647.0)));
        let mut fields = Vec::new();
        Expression::Compare(
            Box::new(Expression::Name("tcpi_lost".to_owned())),
            vec![(Comparison::Equal, Expression::Name("x".to_owned()))],
        )
        .fields(&mut fields);
        assert_eq!(fields, ["tcpi_lost"]);
    }

    #[test]
    fn what_is_no_statement_is_refused() {
        for (text, says) in [
            ("import os", "not a statement"),
            ("assert open('/etc/passwd')", "unexpected"),
            ("assert 1 +", "too early"),
            ("assert (1", "too early"),
            ("assert 1 $", "unknown"),
            ("assert 1x", "not a number"),
            ("a.b = 1", "not a statement"),
        ] {
            let error = statements(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(Expression::Name("y".to_owned()).value(&Fields::new()).is_err());
    }

    /// Each sign by itself, Python's precedences, and what ends a chain of comparisons.
    #[test]
    fn each_sign_has_pythons_meaning() {
        for (text, wanted) in [
            ("7 - 2 - 1", 4.0),
            ("8 / 2 / 2", 2.0),
            ("2 * 3 % 4", 2.0),
            ("6 & 3", 2.0),
            ("6 | 1", 7.0),
            ("1 + 2 & 2", 2.0),
            ("-1 % 5", 4.0),
            ("- - 3", 3.0),
            ("2 * (1 + 2)", 6.0),
            ("2.5 + .5 * 0", f64::NAN),
            ("x == 2", 1.0),
            ("x != 2", 0.0),
            ("x < 2", 0.0),
            ("x <= 2", 1.0),
            ("x > 2", 0.0),
            ("x >= 2", 1.0),
            ("x < 3", 1.0),
            ("x > 1", 1.0),
            ("3 > x > 1", 1.0),
            ("1 > x > 0", 0.0),
            ("3 > x > 2", 0.0),
            ("not 0", 1.0),
            ("not 3", 0.0),
            ("not not 3", 1.0),
            ("1 and 2", 1.0),
            ("1 and 0", 0.0),
            ("0 and 1", 0.0),
            ("0 or 0", 0.0),
            ("0 or 2", 1.0),
            ("2 or 0", 1.0),
            ("1 or 0 and 0", 1.0),
            ("0xff", 255.0),
            ("1.5", 1.5),
        ] {
            if wanted.is_nan() {
                assert!(
                    statement(&format!("assert {text}")).is_err(),
                    "{text}: a number begins with a digit"
                );
            } else {
                assert_eq!(value(text), wanted, "{text}");
            }
        }
    }

    /// linux/tcp.h and net/tcp_states.h. A name that is set counts before a constant.
    #[test]
    fn constants_are_linuxs() {
        for (names, first, factor) in [
            (
                &["TCP_CA_Open", "TCP_CA_Disorder", "TCP_CA_CWR", "TCP_CA_Recovery", "TCP_CA_Loss"][..],
                0.0,
                1.0,
            ),
            (&["TCPI_OPT_TIMESTAMPS", "TCPI_OPT_SACK", "TCPI_OPT_WSCALE", "TCPI_OPT_ECN"], 1.0, 2.0),
            (
                &[
                    "TCP_ESTABLISHED",
                    "TCP_SYN_SENT",
                    "TCP_SYN_RECV",
                    "TCP_FIN_WAIT1",
                    "TCP_FIN_WAIT2",
                    "TCP_TIME_WAIT",
                    "TCP_CLOSE",
                    "TCP_CLOSE_WAIT",
                    "TCP_LAST_ACK",
                    "TCP_LISTEN",
                    "TCP_CLOSING",
                ],
                1.0,
                1.0,
            ),
        ] {
            let mut expected = first;
            for name in names {
                assert_eq!(value(name), expected, "{name}");
                expected = if factor == 2.0 { expected * 2.0 } else { expected + 1.0 };
            }
        }
        let known = Fields::from([("TCP_LISTEN".to_owned(), 77.0)]);
        assert_eq!(Expression::Name("TCP_LISTEN".to_owned()).value(&known), Ok(77.0));
    }

    #[test]
    fn statements_by_their_words() {
        let one = |text: &str| statement(text).map(|found| found.is_some());
        for (text, expected) in [
            ("print(x)", Ok(false)),
            ("assert(x == 2)", Ok(true)),
            ("assert\tx", Ok(true)),
            ("a_1 = 2", Ok(true)),
            ("assert x, 'a message with = and ('", Ok(true)),
            ("assert x, x ==", Ok(true)),
        ] {
            assert_eq!(one(text), expected, "{text}");
        }
        for text in ["assertx = ", "assert x 2", "a = 1 2", "= 2", "a b = 2", "assert", "a == 2", "x"] {
            assert!(one(text).is_err(), "{text}");
        }
        // 200 words and signs are taken.
        let sum = |terms: usize| format!("assert {}1", "1+".repeat(terms));
        assert!(statement(&sum(99)).is_ok() && statement(&sum(100)).is_err());
        let message =
            Token::Text.to_string() + &Token::Number(2.0).to_string() + &Token::Mark("<").to_string();
        assert_eq!(message, "a quotation2\"<\"");
    }

    /// Fields that no plane has are named, wherever they stand.
    #[test]
    fn unknown_fields_are_found_everywhere() {
        for text in [
            "assert tcpi_x",
            "assert not tcpi_x",
            "assert -tcpi_x",
            "assert 1 + tcpi_x",
            "assert tcpi_x + 1",
            "assert 1 < 2 < tcpi_x",
            "assert tcpi_x < 2",
            "assert 1 and tcpi_x",
            "assert tcpi_x or 1",
            "N = tcpi_x",
            "assert tcpi_rtt; assert tcpi_x",
        ] {
            let found = unknown_field(&statements(text).unwrap());
            assert_eq!(found.as_deref(), Some("tcpi_x"), "{text}");
        }
        let all = FIELDS.join(" + ");
        assert_eq!(unknown_field(&statements(&format!("assert {all} + other")).unwrap()), None);
    }
}
