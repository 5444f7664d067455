//! Sizes in bytes, written as text: "64B", "32KiB", "1.5MB".

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A size \[bytes\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Bytes(pub u64);

const UNITS: [(&str, u64); 9] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "\"{text}\" is not a size in bytes\nwrite a number and B, kB, MB, GB, TB, KiB, MiB, GiB or TiB, such as \"64KiB\""
            )
        };
        // "kB" is the SI symbol of 1,000 bytes. It is not in `UNITS`, because `UNITS` has the
        // spelling that Weft writes
        let (number, unit) = [("kB", 1000)]
            .iter()
            .chain(&UNITS)
            .find_map(|(name, unit)| text.trim().strip_suffix(name).map(|number| (number.trim_end(), *unit)))
            .ok_or_else(wrong)?;
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || number.contains('.') && !is_number(part) || part.len() > 12 {
            return Err(wrong());
        }
        let scale = 10u128.pow(part.len() as u32);
        let digits: u128 = format!("{whole}{part}").parse().map_err(|_| wrong())?;
        let bytes = digits.checked_mul(unit.into()).ok_or_else(wrong)?;
        if bytes % scale != 0 {
            return Err(format!("\"{text}\" is not a whole number of bytes\nwrite a whole number of bytes"));
        }
        let most = || format!("\"{text}\" is more than 2^62 bytes\nwrite a smaller size");
        u64::try_from(bytes / scale).ok().filter(|&bytes| bytes <= 1 << 62).map(Self).ok_or_else(most)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let fits = UNITS[..8].iter().rev().find(|&&(_, unit)| self.0 > 0 && self.0.is_multiple_of(unit));
        let (name, unit) = fits.copied().unwrap_or(("B", 1));
        write!(f, "{}{name}", self.0 / unit)
    }
}

/// Formats a number of bytes for a message: three digits and a decimal unit, such as "1.50 GB".
pub fn in_words(bytes: f64) -> String {
    // 999.5 of a unit is shown as 1.00 of the next larger unit
    let fits =
        UNITS[4..].iter().copied().filter(|&(_, unit)| bytes >= 0.9995 * unit as f64).max_by_key(|&(_, unit)| unit);
    let (name, unit) = fits.unwrap_or(("B", 1));
    let value = bytes / unit as f64;
    let digits = if unit == 1 || value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {name}")
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        weft_units::with_unit(deserializer, ("a size in bytes", "B", "64KiB"), str::parse)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Bytes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A size in bytes.",
            "pattern": r"^[0-9]+(\.[0-9]+)? ?([KMGT]i?|k)?B$",
            "examples": ["64B", "32KiB", "1.5MB"]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_is_refused_with_the_unit_that_it_lacks() {
        let refused = |json: &str| serde_json::from_str::<Bytes>(json).expect_err("no unit").to_string();
        let bare = "1000 is a bare number, but a size in bytes needs a unit\ngive a unit, such as \"1000B\"";
        assert!(refused("1000").starts_with(bare), "{}", refused("1000"));
        assert_eq!(serde_json::from_str::<Bytes>("\"1000B\"").ok(), Some(Bytes(1000)));
        for number in ["-1", "1.5"] {
            assert!(refused(number).contains("give a unit, such as \"64KiB\""), "{}", refused(number));
        }
        assert!(refused("[1]").contains("expected a size in bytes such as \"64KiB\""), "{}", refused("[1]"));
    }

    #[test]
    fn an_amount_in_words_has_a_unit_that_shows_it() {
        let words = [0.0, 999.0, 1500.0, 81_920_000.0, 80e9, 640e9, 3.25e15].map(in_words);
        assert_eq!(words, ["0 B", "999 B", "1.50 KB", "81.9 MB", "80.0 GB", "640 GB", "3250 TB"]);
        let edges = [9_994.0, 9_996.0, 99_940.0, 99_960.0, 999_400.0, 999_600.0].map(in_words);
        assert_eq!(edges, ["9.99 KB", "10.0 KB", "99.9 KB", "100 KB", "999 KB", "1.00 MB"]);
    }

    #[test]
    fn sizes_are_exact() {
        for (text, bytes) in
            [("64B", 64), ("32KiB", 32_768), ("1.5MB", 1_500_000), ("0.5 KiB", 512), ("2GB", 2_000_000_000)]
        {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
            assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)));
        }
        assert_eq!("10 kB".parse(), Ok(Bytes(10_000)));
        for text in ["", "B", "64", "1.B", "0.3B", "99999999999GiB", "-1B", "1e3B"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }
}
