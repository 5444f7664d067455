//! A fixed destination for every source, stored as a table, and helper functions for permutations of the bits of terminal ids.

use super::Destinations;
use crate::Population;
use rand_pcg::Pcg32;
use weft_units::Refusal;

/// A fixed destination for every source.
#[derive(Debug, Clone)]
pub struct Permutation {
    image: Vec<u32>,
}

impl Permutation {
    /// Computes the table: `image(terminal)` is the destination of each terminal.
    pub(crate) fn new(population: &Population, image: impl Fn(u32) -> u32) -> Self {
        Self { image: (0..population.terminals).map(image).collect() }
    }

    /// Computes the table for a permutation of bits: `image(terminal, bits)` is the destination of each terminal. `bits` is the number of
    /// bits of an id, at least 1. Refuses a number of terminals that is not a power of two.
    pub(crate) fn of_bits(population: &Population, path: &str, image: fn(u32, u32) -> u32) -> Result<Self, Refusal> {
        let bits = bits(population, path)?;
        Ok(Self::new(population, |terminal| image(terminal, bits)))
    }

    #[inline]
    pub(crate) fn image(&self, source: u32) -> u32 {
        self.image[source as usize]
    }
}

impl Destinations for Permutation {
    fn draw(&self, source: u32, _: &mut Pcg32) -> Option<u32> {
        Some(self.image(source))
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        vec![(self.image(source), 1.0)]
    }
}

/// Number of bits of a terminal id, if the number of terminals is a power of two, 2 or more.
pub(crate) fn bits(population: &Population, path: &str) -> Result<u32, Refusal> {
    let terminals = population.terminals;
    let bits = terminals.checked_ilog2().unwrap_or(0);
    if bits > 0 && terminals.is_power_of_two() {
        return Ok(bits);
    }
    let (below, above) = (1u64 << bits, 2u64 << bits);
    let what = format!("{terminals} terminals are not a power of two: 2^{bits} = {below}, 2^{} = {above}", bits + 1);
    // The remedy contains text that the user can copy into the scenario.
    let pattern = path.rsplit('.').next().unwrap_or(path);
    let help = format!(
        "permute the ids below a power of two: within: {{terminals: {}, pattern: {pattern}}}",
        if bits == 0 { 2 } else { above }
    );
    Err(Refusal::new(path, what, help))
}
