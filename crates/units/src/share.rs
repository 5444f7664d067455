//! Shares, in percent, of a number of things, e.g. of the links.

use crate::decimal::{Kind, as_text};
use std::fmt;
use std::str::FromStr;

/// A share of a whole, written as "1%" or "0.25%".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    /// The share as a number of equal parts. The whole has [`Share::WHOLE`] parts.
    parts: u64,
}

const SHARE: Kind =
    Kind { name: "a share", units: &[("%", 10_000_000)], smallest: "0.0000001%", example: "1%\" or \"0.25%" };

impl Share {
    const WHOLE: u64 = 1_000_000_000;

    /// The product of this share and `number`.
    pub fn of(self, number: usize) -> f64 {
        number as f64 * self.parts as f64 / Self::WHOLE as f64
    }

    /// True if the share is above 0 and at most the whole.
    pub fn is_part(self) -> bool {
        (1..=Self::WHOLE).contains(&self.parts)
    }

    /// The smallest share of `number` things, in whole hundredths of a percent, that rounds to 1 thing. Remedies suggest it.
    pub fn of_one(number: usize) -> Self {
        let hundredth = Self::WHOLE / 10_000;
        let half = (Self::WHOLE / 2).div_ceil((number as u64).max(1));
        Self { parts: half.div_ceil(hundredth).max(1) * hundredth }
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (parts, _) = SHARE.read(text)?;
        let parts = u64::try_from(parts).map_err(|_| format!("\"{text}\" is too large\nwrite at most 100%"))?;
        Ok(Self { parts })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&SHARE.write(self.parts.into()))
    }
}

as_text!(Share, SHARE, r"^[0-9]+(\.[0-9]+)? ?%$", "A share in percent.", ["1%", "0.25%"]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_read_and_written_exactly() {
        let share: Share = "0.25%".parse().unwrap();
        assert_eq!((share.to_string(), share.of(400)), ("0.25%".to_owned(), 1.0));
        assert!(share.is_part());
        assert!(!"0%".parse::<Share>().unwrap().is_part() && !"101%".parse::<Share>().unwrap().is_part());
        assert!("0.01".parse::<Share>().unwrap_err().contains("needs a unit"));
        // From 0.5 / 24 = 2.0834 % on, a share of 24 things rounds to 1 thing.
        assert_eq!(Share::of_one(24).to_string(), "2.09%");
        assert_eq!(Share::of_one(24).of(24).round(), 1.0);
    }
}
