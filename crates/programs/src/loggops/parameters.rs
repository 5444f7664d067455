//! The parameters of the LogGOPS model.

use weft_units::{Refusal, Time};

/// The parameters of the model. Times are in units of [`Parameters::unit_fs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// Length of the time unit \[fs\]: a nanosecond, a picosecond or a femtosecond.
    pub unit_fs: u64,
    pub latency: i64,
    pub overhead: i64,
    pub gap: i64,
    pub gap_per_byte: i64,
    pub overhead_per_byte: i64,
    /// Largest eager message \[bytes\].
    pub eager: u64,
}

/// Number of femtoseconds in a nanosecond.
pub(super) const NS: u64 = 1_000_000;

impl Parameters {
    /// Creates parameters from L, o, g, G and O (pairs of name and time), and S. Refuses times in cycles and
    /// times above 2^40 ns.
    pub fn new(times: [(&str, Time); 5], eager: u64) -> Result<Self, Refusal> {
        let (unit_fs, [latency, overhead, gap, gap_per_byte, overhead_per_byte]) = Self::in_units(times)?;
        Ok(Self { unit_fs, latency, overhead, gap, gap_per_byte, overhead_per_byte, eager })
    }

    /// Converts times to the largest unit in which all times are whole numbers. Returns the length of this unit \[fs\],
    /// and the times.
    pub(super) fn in_units<const N: usize>(times: [(&str, Time); N]) -> Result<(u64, [i64; N]), Refusal> {
        let mut fs = [0u128; N];
        for (place, (name, time)) in times.into_iter().enumerate() {
            fs[place] = match time {
                Time::Femtoseconds(fs) if fs <= u128::from(NS) << 40 => fs,
                Time::Femtoseconds(_) => {
                    return Err(Refusal::new(
                        name,
                        format!("{time} is above 2^40 ns, which is 18 minutes"),
                        "write a shorter time",
                    ));
                }
                Time::Cycles(_) => {
                    return Err(Refusal::new(
                        name,
                        format!("{time}: the executor has no cycles"),
                        "write a time such as 2500ns",
                    ));
                }
            };
        }
        let unit_fs =
            [NS, 1000, 1].into_iter().find(|&unit| fs.iter().all(|fs| fs % u128::from(unit) == 0)).unwrap_or(1);
        Ok((unit_fs, fs.map(|fs| (fs / u128::from(unit_fs)) as i64)))
    }

    /// Converts a number of units to nanoseconds.
    pub fn ns(&self, units: i64) -> f64 {
        units as f64 / (NS / self.unit_fs) as f64
    }
}
