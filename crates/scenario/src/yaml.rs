//! Writes a resolved scenario as YAML. A reader gets the same values from this text.

use serde_json::Value;

/// Maximum length of a collection that is written on one line [characters].
const FLOW_WIDTH: usize = 90;

/// A value as a block of YAML lines.
pub(crate) fn write(value: &Value) -> String {
    let mut out = String::new();
    block(value, 0, &mut out);
    out
}

fn block(value: &Value, indent: usize, out: &mut String) {
    let Value::Object(entries) = value else {
        out.push_str(&flow(value));
        out.push('\n');
        return;
    };
    for (key, value) in entries {
        let line = flow(value);
        out.push_str(&" ".repeat(indent));
        out.push_str(&text(key));
        out.push(':');
        // at the top level, each key below a section has its own line, which is clearest; at deeper levels, short collections are written
        // on one line
        let nested = matches!(value, Value::Object(inner) if inner.values().any(is_collection));
        let long = line.chars().count() + indent > FLOW_WIDTH;
        match value {
            Value::Object(inner) if !inner.is_empty() && (long || nested || (indent == 0 && inner.len() > 1)) => {
                out.push('\n');
                block(value, indent + 2, out);
            }
            _ => {
                out.push(' ');
                out.push_str(&line);
                out.push('\n');
            }
        }
    }
}

fn is_collection(value: &Value) -> bool {
    matches!(value, Value::Object(inner) if !inner.is_empty())
}

/// A value as YAML on one line, in the form that a scenario uses.
pub(crate) fn flow(value: &Value) -> String {
    match value {
        Value::String(string) => text(string),
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{}: {}", text(key), flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        scalar => scalar.to_string(),
    }
}

/// Writes a string without quotes if every YAML reader reads it as the same string, otherwise in double quotes.
fn text(string: &str) -> String {
    // YAML 1.1 readers would read these words as booleans or nulls, so they need quotes
    let taken = ["true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf", "infinity"];
    let quantity =
        string.starts_with(|c: char| c.is_ascii_digit()) && string.ends_with(|c: char| c.is_ascii_alphabetic());
    let word = string.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = string.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-'));
    // "1e5b" does not need quotes because it is not a number; "0x1f" and "1e5" are numbers
    let number_like = string.starts_with("0x") || string.starts_with("0o") || string.parse::<f64>().is_ok();
    match (word || quantity) && plain && !number_like && !taken.contains(&string.to_lowercase().as_str()) {
        true => string.to_owned(),
        false => quoted(string),
    }
}

fn quoted(string: &str) -> String {
    let mut out = String::from("\"");
    for c in string.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            ' '..='~' => out.push(c),
            c if c.is_alphanumeric() => out.push(c),
            c => out.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    out + "\""
}
