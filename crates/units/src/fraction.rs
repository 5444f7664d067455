//! Fractions without a unit.

use crate::gcd;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A fraction: "6/12", or 0.25. The fraction is stored exactly, in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction {
    pub parts: u128,
    pub of: u128,
}

impl Fraction {
    fn reduced(parts: u128, of: u128) -> Self {
        let common = gcd(parts, of).max(1);
        Self { parts: parts / common, of: of / common }
    }
}

impl FromStr for Fraction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("\"{text}\" is not a fraction\nwrite it as 1/12 or 0.25");
        let digits = |part: &str| {
            let is_number = !part.is_empty() && part.len() <= 12 && part.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| part.parse::<u128>().ok()).flatten().ok_or_else(refuse)
        };
        if let Some((parts, of)) = text.split_once('/') {
            return match digits(of.trim())? {
                0 => Err(format!("\"{text}\" divides by 0\nwrite it as 1/12 or 0.25")),
                of => Ok(Self::reduced(digits(parts.trim())?, of)),
            };
        }
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let scale = 10_u128.pow(decimals.len().min(12) as u32);
        Ok(Self::reduced(digits(whole)? * scale + digits(decimals)?, scale))
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.of {
            1 => write!(f, "{}", self.parts),
            of => write!(f, "{}/{of}", self.parts),
        }
    }
}

impl Serialize for Fraction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Fraction;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a fraction such as 1/12 or 0.25")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Fraction, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_u64<E: Error>(self, read: u64) -> Result<Fraction, E> {
                self.visit_str(&read.to_string())
            }
            fn visit_i64<E: Error>(self, read: i64) -> Result<Fraction, E> {
                self.visit_str(&read.to_string())
            }
            // The shortest string that parses to this number is the string in the scenario, so its decimal digits give the exact fraction.
            fn visit_f64<E: Error>(self, read: f64) -> Result<Fraction, E> {
                self.visit_str(&read.to_string())
            }
        }
        deserializer.deserialize_any(Text)
    }
}

impl schemars::JsonSchema for Fraction {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Fraction".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["string", "number"],
            "pattern": r"^[0-9]{1,12}( ?/ ?[0-9]{1,12}|\.[0-9]{1,12})?$",
            "examples": ["1/12", 0.25]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_read_exactly_and_written_in_lowest_terms() {
        for (text, written) in
            [("1/12", "1/12"), ("6/12", "1/2"), ("200 / 400", "1/2"), ("0.25", "1/4"), ("1", "1"), ("0", "0")]
        {
            assert_eq!(text.parse::<Fraction>().unwrap().to_string(), written);
        }
        // 0.1 has no exact binary representation, but must be read as exactly 1/10.
        let read: Fraction = serde_json::from_str("0.1").unwrap();
        assert_eq!((read.parts, read.of), (1, 10));
        for (text, expected) in [
            ("a", "not a fraction"),
            ("1/0", "divides by 0"),
            ("-1", "not a fraction"),
            ("1e3", "not a fraction"),
            ("50%", "not a fraction"),
        ] {
            let refused = text.parse::<Fraction>().unwrap_err();
            assert!(refused.contains(expected) && refused.contains("write it as 1/12"), "{refused}");
        }
    }
}
