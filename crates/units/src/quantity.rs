//! Exact quantities read from strings with units: time, flits, bits, energy per bit, power.
//!
//! The message of a parse error is the problem, a line break, then the remedy. Weft shows the problem and the remedy with the key of the
//! value.

use crate::Refusal;
use crate::decimal::{Kind, as_text};
use std::fmt;
use std::str::FromStr;

/// A whole number of simulated cycles.
pub type Cycles = u64;

/// Largest number of cycles of a single delay or phase. The sum of a few such numbers stays within 64 bits, and no real run is as long as
/// this maximum.
pub const MAX_CYCLES: Cycles = 1 << 48;

/// A time: "10us", "2.5ns", or "4cycles". The time is stored exactly, in femtoseconds or in cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Time {
    Femtoseconds(u128),
    Cycles(u64),
}

const TIME: Kind = Kind {
    name: "a time",
    units: &[
        ("d", 86_400_000_000_000_000_000),
        ("h", 3_600_000_000_000_000_000),
        ("min", 60_000_000_000_000_000),
        ("s", 1_000_000_000_000_000),
        ("ms", 1_000_000_000_000),
        ("us", 1_000_000_000),
        ("ns", 1_000_000),
        ("ps", 1_000),
        ("fs", 1),
        ("cycles", 1),
        ("cycle", 1),
    ],
    smallest: "1fs or 1cycle",
    example: "10us",
};

/// The units in which Weft writes times that are not in cycles: s, ms, us, ns, ps and fs. All are decimal multiples of a femtosecond, so
/// every time is exact.
const SECONDS: Kind = Kind { units: TIME.units.split_at(9).0.split_at(3).1, ..TIME };

impl Time {
    /// The time in whole cycles of length `cycle_fs` [fs, above 0]. Refuses, at `path`, a time longer than [`MAX_CYCLES`]. Also refuses a
    /// time that is not a whole number of cycles, and names the nearest possible times.
    pub fn cycles(&self, cycle_fs: u128, path: &str) -> Result<Cycles, Refusal> {
        let long = |cycles: u128| Self::Femtoseconds(cycles.saturating_mul(cycle_fs));
        let whole = match *self {
            Self::Cycles(n) => n.into(),
            Self::Femtoseconds(fs) => fs.checked_div(cycle_fs).unwrap_or(u128::MAX),
        };
        if whole > MAX_CYCLES.into() {
            let what = format!("{self} is {whole} cycles, more than 2^48");
            let longest = long(MAX_CYCLES.into());
            return Err(Refusal::new(path, what, format!("write at most {MAX_CYCLES}cycles, which are {longest}")));
        }
        let whole = whole as u64;
        let Self::Femtoseconds(fs) = *self else { return Ok(whole) };
        if fs % cycle_fs == 0 {
            return Ok(whole);
        }
        let what =
            format!("{self} is {} cycles of {}, not a whole number", ratio(fs, cycle_fs), Self::Femtoseconds(cycle_fs));
        let neighbour = |cycles: Cycles| format!("{} ({})", long(cycles.into()), Self::Cycles(cycles));
        let help = match whole {
            0 => format!("write {}", neighbour(1)),
            MAX_CYCLES => format!("write {}", neighbour(MAX_CYCLES)),
            _ => format!("write {} or {}", neighbour(whole), neighbour(whole + 1)),
        };
        Err(Refusal::new(path, what, help))
    }
}

impl Time {
    /// The time \[fs\] for cycles of length `cycle_fs`. Returns the greatest number of the type if the time exceeds it.
    pub fn femtoseconds(self, cycle_fs: u128) -> u128 {
        match self {
            Self::Femtoseconds(fs) => fs,
            Self::Cycles(cycles) => cycle_fs.saturating_mul(cycles.into()),
        }
    }

    /// This time, rounded up to a whole number of cycles of length `cycle_fs` [fs]. This rounding is for limits and means, which need not
    /// be exact.
    #[must_use]
    pub fn rounded_up(self, cycle_fs: u128) -> Self {
        let Self::Femtoseconds(fs) = self else { return self };
        match fs.checked_rem(cycle_fs) {
            None | Some(0) => self,
            Some(over) => Self::Femtoseconds(fs.saturating_add(cycle_fs - over)),
        }
    }
}

impl Time {
    /// Converts this time (a limit or a mean) into whole cycles, rounded up. Refuses 0 cycles at `path`.
    pub fn cycles_above_zero(self, cycle_fs: u128, path: &str) -> Result<Cycles, Refusal> {
        Ok(self.rounded_up(cycle_fs).duration(cycle_fs, path)?.above_zero(path)?.cycles)
    }
}

/// A time in cycles that also stores the user's unit, so that a refusal can use the same unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duration {
    pub cycles: Cycles,
    written: Time,
    cycle_fs: u128,
}

impl Time {
    /// Converts the time as [`Time::cycles`] does, and also stores its unit for later refusals.
    pub fn duration(&self, cycle_fs: u128, path: &str) -> Result<Duration, Refusal> {
        Ok(Duration { cycles: self.cycles(cycle_fs, path)?, written: *self, cycle_fs })
    }
}

impl Duration {
    /// Refuses a duration of 0 cycles at `path`.
    pub fn above_zero(self, path: &str) -> Result<Self, Refusal> {
        match self.cycles {
            0 => Err(Refusal::new(
                path,
                format!("expected a time above 0, found {self}"),
                format!("write at least {}", self.like(1)),
            )),
            _ => Ok(self),
        }
    }

    /// A duration of `cycles` cycles, in the unit in which this duration was written.
    pub fn like(&self, cycles: Cycles) -> Self {
        let written = match self.written {
            Time::Cycles(_) => Time::Cycles(cycles),
            Time::Femtoseconds(_) => Time::Femtoseconds(u128::from(cycles).saturating_mul(self.cycle_fs)),
        };
        Self { cycles, written, ..*self }
    }
}

impl Duration {
    /// The duration as a scenario writes it, in its original unit: "96ns" or "160cycles".
    pub fn short(&self) -> Time {
        self.written
    }
}

impl fmt::Display for Duration {
    /// The duration for a message: "96ns (160 cycles of 0.6ns)", or "160 cycles" if the user wrote the duration in cycles.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let cycles = format!("{} cycle{}", self.cycles, if self.cycles == 1 { "" } else { "s" });
        match self.written {
            Time::Cycles(_) => f.write_str(&cycles),
            Time::Femtoseconds(_) => {
                write!(f, "{} ({cycles} of {})", self.written, Time::Femtoseconds(self.cycle_fs))
            }
        }
    }
}

/// Writes `part / whole` as a decimal number: exact if four digits or fewer are enough, otherwise "about" and four digits.
fn ratio(part: u128, whole: u128) -> String {
    let (mut digits, mut rest) = (String::new(), part % whole);
    while rest > 0 && digits.len() < 4 {
        // A scenario can't contain a cycle time beyond 10^37 fs, but a caller can pass one, and the arithmetic must not overflow.
        rest = rest.saturating_mul(10);
        digits.push(char::from(b'0' + (rest / whole).min(9) as u8));
        rest %= whole;
    }
    let about = if rest > 0 { "about " } else { "" };
    format!("{about}{}.{digits}", part / whole)
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (value, unit) = TIME.read(text)?;
        match unit.starts_with("cycle") {
            true => Ok(Self::Cycles(narrow(value, text)?)),
            false => Ok(Self::Femtoseconds(value)),
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Self::Femtoseconds(fs) => f.write_str(&SECONDS.write(fs)),
            Self::Cycles(1) => f.write_str("1cycle"),
            Self::Cycles(n) => write!(f, "{n}cycles"),
        }
    }
}

as_text!(
    Time,
    TIME,
    r"^[0-9]+(\.[0-9]+)? ?(d|h|min|s|ms|us|ns|ps|fs|cycles?)$",
    "A time.",
    ["10us", "1.6ns", "4cycles"]
);

/// A count of flits: "32flits" or "1flit".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flits(pub u32);

const FLITS: Kind =
    Kind { name: "a number of flits", units: &[("flits", 1), ("flit", 1)], smallest: "1flit", example: "32flits" };

impl FromStr for Flits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self(narrow(FLITS.read(text)?.0, text)?))
    }
}

impl fmt::Display for Flits {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}flit{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

as_text!(Flits, FLITS, r"^[0-9]+(\.0+)? ?flits?$", "A number of flits.", ["1flit", "32flits"]);

/// A size in bits: "48b", "16B".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bits(pub u64);

const BITS: Kind = Kind {
    name: "a size",
    units: &[("MiB", 8 << 20), ("MB", 8_000_000), ("KiB", 8 << 10), ("KB", 8000), ("B", 8), ("b", 1)],
    smallest: "1b",
    example: "48b\" (bits) or \"6B",
};

impl FromStr for Bits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self(narrow(BITS.read(text)?.0, text)?))
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}b", self.0)
    }
}

as_text!(
    Bits,
    BITS,
    r"^[0-9]+(\.[0-9]+)? ?(b|[KM]?B|[KM]iB)$",
    "A size in bits (b) or bytes (B, KB, KiB, MB, MiB).",
    ["48b", "6B", "4KiB"]
);

/// Energy per bit, stored in attojoules per bit (10^-18 J): "31.25pJ/bit".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EnergyPerBit(pub u64);

const ENERGY_PER_BIT: Kind = Kind {
    name: "an energy per bit",
    units: &[("nJ/bit", 1_000_000_000), ("pJ/bit", 1_000_000), ("fJ/bit", 1_000)],
    smallest: "0.001fJ/bit",
    example: "31.25pJ/bit",
};

impl FromStr for EnergyPerBit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self(narrow(ENERGY_PER_BIT.read(text)?.0, text)?))
    }
}

impl fmt::Display for EnergyPerBit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&ENERGY_PER_BIT.write(u128::from(self.0)))
    }
}

as_text!(
    EnergyPerBit,
    ENERGY_PER_BIT,
    r"^[0-9]+(\.[0-9]+)? ?[npf]J/bit$",
    "An energy per bit.",
    ["31.25pJ/bit", "0.5nJ/bit"]
);

/// Power, stored in nanowatts: "0.342W", "25mW".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Power(pub u64);

const POWER: Kind = Kind {
    name: "a power",
    units: &[
        ("MW", 1_000_000_000_000_000),
        ("kW", 1_000_000_000_000),
        ("W", 1_000_000_000),
        ("mW", 1_000_000),
        ("uW", 1_000),
        ("nW", 1),
    ],
    smallest: "1nW",
    example: "0.342W",
};

/// The units in which Weft writes powers: all units of `POWER` except MW and kW, which older versions of Weft could not read. Resolved
/// scenarios therefore have the same text as in older versions, for example 500000W for 0.5MW.
const WATTS: Kind = Kind { units: POWER.units.split_at(2).1, ..POWER };

impl FromStr for Power {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self(narrow(POWER.read(text)?.0, text)?))
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&WATTS.write(u128::from(self.0)))
    }
}

as_text!(Power, POWER, r"^[0-9]+(\.[0-9]+)? ?(MW|kW|W|mW|uW|nW)$", "A power.", ["0.342W", "25mW"]);

/// The constant power of a channel: a power, or an energy per bit that the channel could carry at full rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    PerBit(EnergyPerBit),
    Power(Power),
}

const STANDING: Kind = Kind {
    name: "a power or an energy per bit",
    units: &[
        ("MW", 1_000_000_000_000_000),
        ("kW", 1_000_000_000_000),
        ("W", 1_000_000_000),
        ("mW", 1_000_000),
        ("uW", 1_000),
        ("nW", 1),
        ("nJ/bit", 1_000_000_000),
        ("pJ/bit", 1_000_000),
        ("fJ/bit", 1_000),
    ],
    smallest: "1nW or 0.001fJ/bit",
    example: "0.342W\" or \"23.44pJ/bit",
};

impl FromStr for Standing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (value, unit) = STANDING.read(text)?;
        let value = narrow(value, text)?;
        Ok(if unit.ends_with('W') { Self::Power(Power(value)) } else { Self::PerBit(EnergyPerBit(value)) })
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::PerBit(price) => price.fmt(f),
            Self::Power(power) => power.fmt(f),
        }
    }
}

as_text!(
    Standing,
    STANDING,
    r"^[0-9]+(\.[0-9]+)? ?([npf]J/bit|MW|kW|W|mW|uW|nW)$",
    "A power, or an energy per bit at the full rate.",
    ["23.44pJ/bit", "0.342W"]
);

fn narrow<T: TryFrom<u128>>(value: u128, text: &str) -> Result<T, String> {
    T::try_from(value).map_err(|_| format!("\"{text}\" is too large\nwrite a smaller value"))
}
