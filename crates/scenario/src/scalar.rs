//! Converts a scalar of a YAML document to its value.

use crate::diagnostic::{Diagnostic, Span};
use crate::tree::{Kind, Node};
use granit_parser::ScalarStyle;
use serde_json::Value;

/// Reads a scalar by the rules of YAML 1.2's core schema. A quoted scalar is always a string. NaN and infinities are refused.
pub(crate) fn read(text: &str, style: ScalarStyle, span: Span) -> Result<Node, Diagnostic> {
    let value = match (style, text) {
        (ScalarStyle::Plain, "" | "~" | "null" | "Null" | "NULL") => Value::Null,
        (ScalarStyle::Plain, "true" | "True" | "TRUE") => Value::Bool(true),
        (ScalarStyle::Plain, "false" | "False" | "FALSE") => Value::Bool(false),
        (ScalarStyle::Plain, plain) => number(plain, &span)?.unwrap_or_else(|| Value::String(plain.to_owned())),
        (_, quoted) => Value::String(quoted.to_owned()),
    };
    Ok(Node { kind: Kind::Scalar(value), span, swept: None })
}

fn number(text: &str, span: &Span) -> Result<Option<Value>, Diagnostic> {
    let bare = text.trim_start_matches(['-', '+']);
    if matches!(bare.to_ascii_lowercase().as_str(), ".inf" | ".nan" | "inf" | "infinity" | "nan") {
        let what = format!("\"{text}\" is not a number that a scenario can use");
        return Err(Diagnostic::at(span, "", &what, "write a finite number", &[]));
    }
    let numeric = bare.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && bare.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    if !numeric {
        return Ok(None);
    }
    if let Ok(whole) = text.parse::<u64>() {
        return Ok(Some(whole.into()));
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Ok(Some(whole.into()));
    }
    match text.parse::<f64>().ok().map(serde_json::Number::from_f64) {
        None => Ok(None),
        Some(Some(number)) => Ok(Some(Value::Number(number))),
        Some(None) => {
            let what = format!("\"{text}\" is too large for a number");
            Err(Diagnostic::at(span, "", &what, "write a finite number", &[]))
        }
    }
}
