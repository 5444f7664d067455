//! The bandwidth of a link, in bits per second or in flits per cycle.

use crate::decimal::{Kind, as_text};
use crate::{Refusal, gcd};
use std::fmt;
use std::str::FromStr;

/// A bandwidth: "200Gb/s", "0.5flits/cycle" or "2/3flits/cycle". Stored exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bandwidth {
    BitsPerSecond(u128),
    /// A number of flits per number of cycles, e.g. 2 flits in 3 cycles.
    Flits {
        flits: u128,
        cycles: u128,
    },
}

/// Denominator of the smallest bandwidth that can be written as a decimal number: 1 / `PARTS` of a flit per cycle.
const PARTS: u128 = 1_000_000_000;
const FEMTOSECONDS_PER_SECOND: u128 = 1_000_000_000_000_000;

const BANDWIDTH: Kind = Kind {
    name: "a bandwidth",
    units: &[
        ("Tb/s", 1_000_000_000_000),
        ("Gb/s", 1_000_000_000),
        ("Mb/s", 1_000_000),
        ("kb/s", 1_000),
        ("b/s", 1),
        ("flits/cycle", PARTS),
        ("flit/cycle", PARTS),
    ],
    smallest: "1b/s or 0.000000001flits/cycle",
    example: "200Gb/s\" or \"2/3flits/cycle",
};

/// The units of bits per second in which Weft writes a bandwidth.
const BITS_PER_SECOND: Kind = Kind { units: BANDWIDTH.units.split_at(5).0, ..BANDWIDTH };
const FLITS_PER_CYCLE: Kind = Kind { units: &[("flits/cycle", PARTS)], ..BANDWIDTH };

impl Bandwidth {
    /// The bandwidth of one flit per cycle: the default of a link class.
    pub const ONE_FLIT: Self = Self::Flits { flits: 1, cycles: 1 };

    /// The total bandwidth of `links` links.
    #[must_use]
    pub fn times(self, links: u32) -> Self {
        match self {
            Self::BitsPerSecond(bits) => Self::BitsPerSecond(bits.saturating_mul(links.into())),
            Self::Flits { flits, cycles } => {
                Self::Flits { flits: flits.saturating_mul(links.into()), cycles }.reduced()
            }
        }
    }

    /// The bandwidth as (flits, cycles), not in lowest terms. `flit`: bits of a flit; `cycle_fs`: length of a cycle [fs]. Refuses, at
    /// `path`, a bandwidth that is too large for the arithmetic.
    pub fn flits_in_cycles(&self, flit: u64, cycle_fs: u128, path: &str) -> Result<(u128, u128), Refusal> {
        match *self {
            Self::Flits { flits, cycles } => Ok((flits, cycles)),
            Self::BitsPerSecond(bits) => {
                let flits = bits.checked_mul(cycle_fs);
                let help = "write a bandwidth that a link can have, such as 200Gb/s";
                let flits = flits.ok_or_else(|| Refusal::new(path, format!("{self} is too large"), help))?;
                Ok((flits, FEMTOSECONDS_PER_SECOND * u128::from(flit)))
            }
        }
    }
}

impl FromStr for Bandwidth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fraction = text.split_once('/').filter(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()));
        let Some((flits, rest)) = fraction else {
            let (value, unit) = BANDWIDTH.read(text)?;
            return Ok(match unit.ends_with("/cycle") {
                true => Self::Flits { flits: value, cycles: PARTS }.reduced(),
                false => Self::BitsPerSecond(value),
            });
        };
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (cycles, unit) = rest.split_at(digits);
        let unit = unit.strip_prefix(' ').unwrap_or(unit);
        match (flits.parse(), cycles.parse(), unit) {
            (Ok(flits), Ok(cycles), "flits/cycle" | "flit/cycle") if cycles > 0 => {
                Ok(Self::Flits { flits, cycles }.reduced())
            }
            _ => Err(format!("\"{text}\" is not a fraction of flits per cycle\nwrite it as \"2/3flits/cycle\"")),
        }
    }
}

impl Bandwidth {
    /// Reduces the fraction of flits per cycles to lowest terms.
    fn reduced(self) -> Self {
        let Self::Flits { flits, cycles } = self else { return self };
        let common = gcd(flits, cycles);
        Self::Flits { flits: flits / common, cycles: cycles / common }
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Self::BitsPerSecond(bits) => f.write_str(&BITS_PER_SECOND.write(bits)),
            Self::Flits { flits: 1, cycles: 1 } => f.write_str("1flit/cycle"),
            Self::Flits { flits, cycles } => match flits.checked_mul(PARTS).filter(|parts| parts % cycles == 0) {
                Some(parts) => f.write_str(&FLITS_PER_CYCLE.write(parts / cycles)),
                None => write!(f, "{flits}/{cycles}flits/cycle"),
            },
        }
    }
}

as_text!(
    Bandwidth,
    BANDWIDTH,
    r"^([0-9]+(\.[0-9]+)? ?([TGMk]?b/s|flits?/cycle)|[0-9]+/[0-9]+ ?flits?/cycle)$",
    "A bandwidth.",
    ["200Gb/s", "0.5flits/cycle", "2/3flits/cycle"]
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_are_exact_and_written_as_they_are_read() {
        for text in ["200Gb/s", "1.5Tb/s", "0.5flits/cycle", "2/3flits/cycle", "1flit/cycle", "2flits/cycle", "0b/s"] {
            assert_eq!(text.parse::<Bandwidth>().unwrap().to_string(), text);
        }
        assert_eq!("4/6 flits/cycle".parse::<Bandwidth>().unwrap().to_string(), "2/3flits/cycle");
        assert_eq!("0.5 flit/cycle".parse(), Ok(Bandwidth::Flits { flits: 1, cycles: 2 }));
    }

    #[test]
    fn a_bandwidth_in_bits_is_flits_by_the_size_of_a_flit_and_the_cycle() {
        // A flit of 48 bits in each cycle of 1.6 ns is 30 Gb/s, so 20 Gb/s are 2/3 flits per cycle.
        let (flits, cycles) = "20Gb/s".parse::<Bandwidth>().unwrap().flits_in_cycles(48, 1_600_000, "x").unwrap();
        assert_eq!(flits * 3, cycles * 2);
    }

    #[test]
    fn what_is_no_bandwidth_is_refused() {
        for text in ["200", "200G", "200GB/s", "1/0flits/cycle", "2/3Gb/s", "-1flit/cycle", "1/2", "/2flits/cycle"] {
            assert!(text.parse::<Bandwidth>().is_err(), "{text}");
        }
    }
}
