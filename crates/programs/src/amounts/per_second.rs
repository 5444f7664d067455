//! Rates, written as text: floating-point operations and bytes per second.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

const PREFIXES: [(&str, f64); 6] = [("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0)];

fn read(text: &str, unit: &str, example: &str) -> Result<f64, String> {
    let wrong = || format!("\"{text}\" is not a rate in {unit}\nwrite a number and its unit, such as \"{example}\"");
    let number = text.trim().strip_suffix(unit).ok_or_else(wrong)?;
    let (number, factor) = PREFIXES
        .iter()
        .find_map(|(prefix, factor)| number.strip_suffix(prefix).map(|number| (number.trim_end(), *factor)))
        .ok_or_else(wrong)?;
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = number.parse().ok().filter(|_| plain).ok_or_else(wrong)?;
    if value > 0.0 && value < 1e12 { Ok(value * factor) } else { Err(wrong()) }
}

fn written(value: f64, unit: &str, f: &mut fmt::Formatter) -> fmt::Result {
    let (prefix, factor) = PREFIXES.iter().find(|(_, factor)| value >= *factor).unwrap_or(&("", 1.0));
    write!(f, "{}{prefix}{unit}", value / factor)
}

macro_rules! rate {
    ($(#[$about:meta])* $name:ident, $unit:literal, $example:literal, $pattern:literal) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $name(pub f64);

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                read(text, $unit, $example).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                written(self.0, $unit, f)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                weft_units::with_unit(deserializer, (concat!("a rate in ", $unit), $unit, $example), str::parse)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern, "examples": [$example] })
            }
        }
    };
}

rate!(
    /// A number of floating-point operations per second.
    Flops, "FLOP/s", "719TFLOP/s", r"^[0-9]+(\.[0-9]+)? ?[PTGMk]?FLOP/s$"
);
rate!(
    /// Bytes per second.
    ByteRate, "B/s", "3.2TB/s", r"^[0-9]+(\.[0-9]+)? ?[PTGMk]?B/s$"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_written() {
        assert_eq!("719TFLOP/s".parse(), Ok(Flops(719e12)));
        assert_eq!("3.2 TB/s".parse(), Ok(ByteRate(3.2e12)));
        assert_eq!(Flops(719e12).to_string(), "719TFLOP/s");
        for text in ["", "719", "719TB/s", "-1TFLOP/s", "1e3GFLOP/s", "0TFLOP/s", "infFLOP/s"] {
            assert!(text.parse::<Flops>().is_err(), "{text}");
        }
    }
}
