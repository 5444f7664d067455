//! Draws the gaps between packets of a source that creates a packet in each cycle with the same probability (Bernoulli). The length of a
//! gap is drawn at once, without a draw for each cycle.
//!
//! # Source
//! The alias method of `alias.rs`, for outcomes that fit a byte.
//!
//! # Parameters
//! `p`: probability of a packet in a cycle \[1/cycle\].
//!
//! # Guarantees
//! Gaps are geometric: P(gap = k) = p (1 - p)^(k - 1), k >= 1. Each probability of a table is exact to 2^-64 plus the rounding of its f64
//! products. The tables are built only with IEEE multiplication, addition and division, not with `ln`, `exp` or `powf`. So they are the
//! same on every machine. A gap below 256 cycles needs one table look-up. Each further factor of 256 needs two more look-ups.
//! # Not modelled
//! A probability p below 2^-52 is treated as 2^-52 (one packet in 52 days with a clock of 1 ns). Bursts are not modelled here: see the
//! injection processes.

use crate::alias;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

/// Number of outcomes of a table: one for each value of the low byte of a draw. The low byte selects the column.
const OUTCOMES: usize = 256;

/// The integer weight in [`Alias`] that means probability 1.
const ONE: u128 = 1 << 64;

/// Weight of one column of the alias table.
const COLUMN: u128 = ONE / OUTCOMES as u128;

/// Geometric gaps: the number of cycles until the next success of a Bernoulli trial with probability `p`, at least 1.
#[derive(Debug, Clone)]
pub struct GapTable {
    /// For outcome k < 255 the gap is k + 1. Outcome 255 means that none of the first 255 cycles has a success.
    first: Alias,
    /// The distribution of the remaining gap after 255 cycles without a success; `None` if this case is impossible.
    rest: Option<Box<Rest>>,
}

/// The distribution of the remaining gap after 255 cycles without a packet. The remaining gap is also geometric. The remaining gap is drawn
/// in two parts: the number of whole blocks of 256 cycles, and the position of the success in its block. The two parts are independent,
/// since (1 - p)^(256 b + r) is a product.
#[derive(Debug, Clone)]
struct Rest {
    /// Number of the block with the success, counted from 1. The number is drawn like a gap, with the probability of a success in 256
    /// cycles.
    block: GapTable,
    /// Position of the success: outcome r means that the success is in cycle r + 1 of its block.
    place: Alias,
}

impl GapTable {
    /// Creates the table for 0 < p <= 1. (A source with p = 0 has no gaps, so callers need no table for it.)
    ///
    /// # Panics
    /// If p is not above 0 and at most 1.
    pub fn new(p: f64) -> Self {
        assert!(p > 0.0 && p <= 1.0, "{p} is no probability of a success");
        let p = p.max(f64::EPSILON);
        let q = 1.0 - p;
        let mut weights = [0.0; OUTCOMES];
        let mut failures = 1.0;
        for weight in &mut weights[..OUTCOMES - 1] {
            *weight = p * failures;
            failures *= q;
        }
        weights[OUTCOMES - 1] = failures;
        let first = Alias::new(&weights);
        let rest = first.can_be(OUTCOMES - 1).then(|| Box::new(Rest::new(p)));
        Self { first, rest }
    }

    /// Draws a gap \[cycles\], at least 1.
    #[inline]
    pub fn draw(&self, rng: &mut Pcg32) -> u64 {
        let outcome = self.first.draw(rng);
        match &self.rest {
            Some(rest) if outcome == OUTCOMES as u64 - 1 => OUTCOMES as u64 - 1 + rest.draw(rng),
            _ => outcome + 1,
        }
    }
}

impl Rest {
    fn new(p: f64) -> Self {
        // P(success in 2n cycles) = P(in n) * (2 - P(in n)), applied eight times. The formula 1 - (1 - p)^256 would lose precision for
        // small p.
        let in_block = (0..8).fold(p, |p, _| p * (2.0 - p)).min(1.0);
        let q = 1.0 - p;
        let mut weights = [p / in_block; OUTCOMES];
        for r in 1..OUTCOMES {
            weights[r] = weights[r - 1] * q;
        }
        Self { block: GapTable::new(in_block), place: Alias::new(&weights) }
    }

    // Not inlined, to keep the common path of `GapTable::draw` small.
    #[inline(never)]
    fn draw(&self, rng: &mut Pcg32) -> u64 {
        (self.block.draw(rng) - 1) * OUTCOMES as u64 + self.place.draw(rng) + 1
    }
}

/// Walker's alias table. The outcome is c if the fraction of a draw is below the threshold of column c; otherwise it is the alias of c.
#[derive(Debug, Clone)]
struct Alias {
    /// Threshold (56 bits) and alias (8 bits) of each column.
    columns: [u64; OUTCOMES],
}

impl Alias {
    /// Creates the table for weights that sum to 1 except for rounding; the largest weight gets the remainder.
    fn new(weights: &[f64; OUTCOMES]) -> Self {
        let mut left = weights.map(|weight| (weight * ONE as f64) as u128);
        let largest = (0..OUTCOMES).max_by_key(|&c| left[c]).unwrap_or(0);
        let others: u128 = left.iter().sum::<u128>() - left[largest];
        left[largest] = ONE - others;
        let other = alias::pair(&mut left, COLUMN);
        // For a full column, the conversion truncates the threshold to 0, and its alias is the column itself.
        let columns = std::array::from_fn(|c| (left[c] as u64) << 8 | other[c] as u64);
        Self { columns }
    }

    #[inline]
    fn draw(&self, rng: &mut Pcg32) -> u64 {
        let bits = rng.next_u64();
        let column = self.columns[(bits & 0xFF) as usize];
        if bits >> 8 < column >> 8 { bits & 0xFF } else { column & 0xFF }
    }

    fn can_be(&self, outcome: usize) -> bool {
        let alias = self.columns.iter().any(|&column| column as u8 as usize == outcome);
        alias || self.columns[outcome] >> 8 > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream;

    /// The exact probability of each outcome, computed from the entries of the table.
    fn masses(table: &Alias) -> [f64; OUTCOMES] {
        let mut masses = [0u128; OUTCOMES];
        for (c, &column) in table.columns.iter().enumerate() {
            masses[c] += u128::from(column >> 8);
            masses[(column & 0xFF) as usize] += COLUMN - u128::from(column >> 8);
        }
        assert_eq!(masses.iter().sum::<u128>(), ONE);
        masses.map(|mass| mass as f64 / ONE as f64)
    }

    const PROBABILITIES: [f64; 8] = [1.0, 0.999, 0.5, 0.3, 0.05, 0.01, 1e-3, 1e-6];

    #[test]
    fn tables_hold_the_geometric_probabilities() {
        for p in PROBABILITIES {
            let q: f64 = 1.0 - p;
            let table = GapTable::new(p);
            let close = |mass: f64, expected: f64| (mass - expected).abs() < 1e-12 * expected + 2f64.powi(-63);
            let first = masses(&table.first);
            assert!((0..255).all(|k| close(first[k as usize], p * q.powi(k))), "p = {p}");
            assert!((first[255] - q.powi(255)).abs() < 1e-13, "p = {p}");
            let Some(rest) = &table.rest else {
                assert_eq!(first[255], 0.0, "p = {p}");
                continue;
            };
            // P(place r and block b) = p q^(256 b + r), so the place r has the probability p q^r / P(success in 256).
            let in_block = -(256.0 * (-p).ln_1p()).exp_m1();
            let place = masses(&rest.place);
            let sum_to_largest = 1e-12;
            assert!((0..256).all(|r| (place[r as usize] - p * q.powi(r) / in_block).abs() < sum_to_largest), "p = {p}");
            let no_success = masses(&rest.block.first)[0];
            assert!((no_success - in_block).abs() < 1e-12, "p = {p}: {no_success} {in_block}");
        }
    }

    #[test]
    fn certainty_is_every_cycle() {
        let (table, mut rng) = (GapTable::new(1.0), stream(1, 0, 0));
        assert!((0..1000).all(|_| table.draw(&mut rng) == 1));
    }

    #[test]
    fn means_and_variances_are_geometric() {
        const DRAWS: u32 = 200_000;
        for (component, p) in PROBABILITIES.into_iter().chain([1e-9, 1e-12]).enumerate() {
            let (table, mut rng) = (GapTable::new(p), stream(2, component as u64, 0));
            let gaps: Vec<f64> = (0..DRAWS).map(|_| table.draw(&mut rng) as f64).collect();
            let mean = gaps.iter().sum::<f64>() / f64::from(DRAWS);
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / f64::from(DRAWS);
            // A geometric distribution has the mean 1/p and the variance (1-p)/p^2. The standard error of the mean is sqrt(variance / n).
            // The standard error of the variance is about variance * sqrt((kurtosis - 1) / n), with kurtosis 9 + p^2/(1-p). The limit is 5
            // standard errors.
            let (expected, spread) = (1.0 / p, (1.0 - p) / (p * p));
            assert!((mean - expected).abs() <= 5.0 * (spread / f64::from(DRAWS)).sqrt(), "p = {p}: {mean}");
            let fourth = if p < 1.0 { 8.0 + p * p / (1.0 - p) } else { 0.0 };
            let bound = 5.0 * spread * (fourth / f64::from(DRAWS)).sqrt();
            assert!((variance - spread).abs() <= bound, "p = {p}: {variance}, not {spread}");
        }
    }

    #[test]
    fn counts_pass_chi_square() {
        const DRAWS: u32 = 500_000;
        // The bins are ranges of cycles. Several bins end at or next to the borders of the tables at 255 and 511.
        for (component, (p, bins)) in [
            (0.3, vec![1, 2, 3, 4, 5, 8, 12]),
            (0.004, vec![1, 2, 50, 100, 200, 254, 255, 256, 300, 400, 510, 511, 512, 600, 767, 768, 1000]),
        ]
        .into_iter()
        .enumerate()
        {
            let (table, mut rng) = (GapTable::new(p), stream(3, component as u64, 0));
            let mut counts = vec![0u32; bins.len() + 1];
            for _ in 0..DRAWS {
                let gap = table.draw(&mut rng);
                counts[bins.partition_point(|&last| last < gap)] += 1;
            }
            let beyond = |last: u64| (1.0f64 - p).powi(last as i32);
            let borders: Vec<f64> =
                std::iter::once(1.0).chain(bins.iter().map(|&last| beyond(last))).chain([0.0]).collect();
            let chi_square: f64 = counts
                .iter()
                .zip(borders.windows(2))
                .map(|(&count, border)| {
                    let expected = f64::from(DRAWS) * (border[0] - border[1]);
                    (f64::from(count) - expected).powi(2) / expected
                })
                .sum();
            // A chi-square value with n degrees of freedom has the mean n and the standard deviation sqrt(2 n).
            let degrees = bins.len() as f64;
            assert!(chi_square < degrees + 5.0 * (2.0 * degrees).sqrt(), "p = {p}: {chi_square} for {degrees} degrees");
        }
    }
}
