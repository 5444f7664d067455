//! Exact energies. Energies are stored in whole yoctojoules (1 yJ is 10^-24 J), and are written in femtojoules.
//!
//! Powers are in nanowatts and cycle times in femtoseconds. The product of power and time is a whole number of yoctojoules, because 1 nW *
//! 1 fs is 1 yJ. The energy of a flit is also a whole number, because the energy per bit is in attojoules of 10^6 yJ.

/// Largest number of decimal places of an energy in femtojoules: 9, because 1 fJ is 10^9 yJ.
pub const ENERGY_DECIMALS: u32 = 9;
const YJ_PER_FJ: u128 = 10u128.pow(ENERGY_DECIMALS);

/// An energy [yJ] as an exact decimal number of femtojoules, in the shortest form: "300000" or "0.45".
pub fn fj_text(yj: u128) -> String {
    let (whole, rest) = (yj / YJ_PER_FJ, yj % YJ_PER_FJ);
    match rest {
        0 => whole.to_string(),
        _ => format!("{whole}.{rest:09}").trim_end_matches('0').to_owned(),
    }
}

/// An energy [yJ] as a floating-point number of femtojoules. Whole femtojoules below 2^53 are exact.
pub fn fj_f64(yj: u128) -> f64 {
    (yj / YJ_PER_FJ) as f64 + (yj % YJ_PER_FJ) as f64 / YJ_PER_FJ as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energies_are_written_in_femtojoules_and_as_short_as_can_be() {
        for (yj, text) in [(0, "0"), (1, "0.000000001"), (450_000_000, "0.45"), (3_000_000_000, "3")] {
            assert_eq!(fj_text(yj), text);
            assert_eq!(fj_f64(yj), text.parse::<f64>().expect("a number"));
        }
        let most = 10u128.pow(38) - 1; // 10^29 fJ minus one yoctojoule
        assert_eq!(fj_text(most), format!("{}.{}", "9".repeat(29), "9".repeat(9)));
    }

    #[test]
    fn whole_femtojoules_are_exact_as_floats() {
        for fj in [1, 3, 1_234_567_891, (1 << 53) - 1] {
            assert_eq!(fj_f64(fj * YJ_PER_FJ), fj as f64);
        }
    }
}
