//! Layer shift: layer i of a grid sends to layer i + N, so that the links of one dimension carry all traffic.
//!
//! # Source
//! The analogue for grids of ADV+N (see `group_shift`). With N = 1 every layer sends to the next layer.
//!
//! # Parameters
//! `dimension` \[number of the dimension, from 0\], `shift` N \[layers\], `local`: the choice of the terminal in the destination layer.
//!
//! # Guarantees
//! A layer consists of the terminals of all routers with the same coordinate in the dimension. Layer i sends to layer i + N modulo the
//! width of the dimension, never to itself. With `random`, all terminals of the destination layer are equally likely. With `same`, the
//! destination differs from the source only in the shifted coordinate, so the pattern is a permutation.
//!
//! # Not modelled
//! Shifts in several dimensions at once (`neighbor` and `tornado` provide them).
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities, and that `same` is a
//! bijection. The tests in this file check that `same` changes one coordinate, and that `random` reaches all terminals of the destination
//! layer. The pattern was not compared with another simulator.

use super::group_shift::{Local, shifts};
use super::{Destinations, PatternModel};
use crate::{Population, below};
use rand_pcg::Pcg32;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Every layer i of a grid sends to layer i + N.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayerShift {
    /// Dimension whose coordinate defines the layers, from 0.
    pub dimension: u32,
    /// N: layer i sends to layer i + N, modulo the number of layers.
    pub shift: u32,
    /// Selects the terminal in the destination layer.
    #[serde(default)]
    pub local: Local,
}

impl PatternModel for LayerShift {
    type To = FarLayer;

    fn build(&self, population: &Population, path: &str) -> Result<FarLayer, Refusal> {
        let (Some(widths), Some(each)) = (&population.widths, population.terminals_per_router) else {
            let what = "the routers of these terminals have no coordinates";
            let help = "use a topology whose routers form a grid, and do not use this pattern inside `within`";
            return Err(Refusal::new(path, what, help));
        };
        let Some(&layers) = widths.get(self.dimension as usize) else {
            let what = format!("dimension {} does not exist: the grid has {}, from 0 on", self.dimension, widths.len());
            return Err(Refusal::new(format!("{path}.dimension"), what, "write the number of an existing dimension"));
        };
        let shift = self.shift % layers;
        if shift == 0 {
            let what = format!("{} mod {layers} layers = 0: every layer would send to itself", self.shift);
            return Err(Refusal::new(format!("{path}.shift"), what, shifts(layers)));
        }
        let run = each * widths[..self.dimension as usize].iter().product::<u32>();
        Ok(FarLayer { run, layers, shift, size: population.terminals / layers, local: self.local })
    }

    fn examples() -> Vec<Self> {
        let shifts = [(0, 1, Local::Random), (1, 3, Local::Same), (0, 2, Local::Same)];
        shifts.map(|(dimension, shift, local)| Self { dimension, shift, local }).into()
    }
}

/// The layers of a grid. Each layer consists of one or more ranges of consecutive terminals.
#[derive(Debug, Clone)]
pub struct FarLayer {
    /// Number of terminals in each range of consecutive terminals. The next range belongs to the next layer.
    run: u32,
    layers: u32,
    shift: u32,
    /// Number of terminals in a layer.
    size: u32,
    local: Local,
}

impl Destinations for FarLayer {
    fn draw(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        let place = match self.local {
            Local::Random => below(rng, self.size),
            Local::Same => self.place(source),
        };
        Some(self.terminal(self.far(source), place))
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        let far = self.far(source);
        match self.local {
            Local::Random => (0..self.size).map(|i| (self.terminal(far, i), 1.0 / f64::from(self.size))).collect(),
            Local::Same => vec![(self.terminal(far, self.place(source)), 1.0)],
        }
    }
}

impl FarLayer {
    fn far(&self, source: u32) -> u32 {
        (source / self.run + self.shift) % self.layers
    }

    /// Index of a terminal in its layer.
    fn place(&self, terminal: u32) -> u32 {
        terminal / self.run / self.layers * self.run + terminal % self.run
    }

    /// The terminal with index `place` in a layer.
    fn terminal(&self, layer: u32, place: u32) -> u32 {
        (place / self.run * self.layers + layer) * self.run + place % self.run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Widths of the grid in the tests: 3 x 4 x 2 routers with 2 terminals each.
    const WIDTHS: [u32; 3] = [3, 4, 2];

    fn build(dimension: u32, shift: u32, local: Local) -> Result<FarLayer, Refusal> {
        let population =
            Population { terminals_per_router: Some(2), widths: Some(WIDTHS.into()), ..Population::of(2 * 24) };
        LayerShift { dimension, shift, local }.build(&population, "p")
    }

    /// Coordinates x, y and z of the terminal's router, and the index of the terminal on this router.
    fn coordinates(terminal: u32) -> [u32; 4] {
        let router = terminal / 2;
        [router % 3, router / 3 % 4, router / 12, terminal % 2]
    }

    #[test]
    fn same_changes_one_coordinate() {
        for dimension in 0..3 {
            let layer = build(dimension, 1, Local::Same).unwrap();
            for source in 0..48 {
                let mut expected = coordinates(source);
                let d = dimension as usize;
                expected[d] = (expected[d] + 1) % WIDTHS[d];
                let distribution = layer.distribution(source);
                assert_eq!(distribution.len(), 1);
                assert_eq!(coordinates(distribution[0].0), expected);
            }
        }
    }

    #[test]
    fn random_is_all_of_the_far_layer() {
        let layer = build(1, 3, Local::Random).unwrap();
        for source in 0..48 {
            let far = (coordinates(source)[1] + 3) % 4;
            let expected: Vec<u32> = (0..48).filter(|&t| coordinates(t)[1] == far).collect();
            let distribution = layer.distribution(source);
            assert!(distribution.iter().all(|&(_, probability)| probability == 1.0 / 12.0));
            assert_eq!(distribution.iter().map(|&(t, _)| t).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn refuses_what_is_not_there() {
        assert_eq!(build(3, 1, Local::Same).unwrap_err().path, "p.dimension");
        let refusal = build(2, 4, Local::Same).unwrap_err();
        assert_eq!(refusal.to_string(), "p.shift: 4 mod 2 layers = 0: every layer would send to itself (write 1)");
        let config = LayerShift { dimension: 0, shift: 1, local: Local::Same };
        assert_eq!(config.build(&Population::of(48), "p").unwrap_err().path, "p");
    }
}
