//! Breadth-first searches, modelled on the implementation `replicated-csr` of Graph500. Synthetic.
//!
//! # Source
//! The parameters of Graph500: Kronecker graphs with A, B, C = 0.57, 0.19, 0.19, scale 20 and edge factor 16. A bit map of
//! 2^20 vertices has 128 KB. For the share of edges that each level of a search processes, the generator searches a real
//! Kronecker graph, of scale 14 if `scale` is larger.
//!
//! # Parameters
//! `ranks`; `scale`: the graph has 2^scale vertices; `edge_factor`: edges per vertex; `searches` \[counts\]. `time_per_edge`
//! \[time\]. `seed`.
//!
//! # Guarantees
//! In each level, a rank first processes its edges that begin in the frontier. Then an all-gather sends the bit map of the
//! frontier to all ranks. Then an all-to-all distributes the edges evenly among the other ranks, with 16 bytes for each
//! edge. At the end of the level there is an all-reduce of 8 bytes.
//!
//! # Not modelled
//! Parts of the graph of different sizes. Direction-optimised search.
//!
//! # Validation
//! `programs/tests/programs/generated.rs` checks that the bit map has 128 KB, and that the shares of the levels add up
//! to 1.

use super::collective::ns;
use super::{Generates, Line, Made, not_too_many, within};
use crate::form::{Calls, Op, Operation, Program, RankProgram};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{Refusal, Time};

/// Breadth-first searches in a Kronecker graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Graph500 {
    pub ranks: u32,
    /// The graph has 2^scale vertices.
    #[serde(default = "twenty")]
    pub scale: u32,
    /// Number of edges per vertex.
    #[serde(default = "sixteen")]
    pub edge_factor: u64,
    /// Number of searches, each from a different vertex.
    #[serde(default = "searches")]
    pub searches: u32,
    /// Time to process one edge.
    pub time_per_edge: Time,
    #[serde(default = "seed")]
    pub seed: u64,
}

fn twenty() -> u32 {
    20
}

fn sixteen() -> u64 {
    16
}

fn searches() -> u32 {
    64
}

fn seed() -> u64 {
    1
}

/// Largest scale of the graph that the generator searches to count the edges of each level.
const COUNTED: u32 = 14;
/// Size of an edge in a message [bytes].
const EDGE: u64 = 16;

impl Graph500 {
    /// Generates a Kronecker graph with 2^scale vertices, as lists of neighbours.
    fn graph(&self, scale: u32, random: &mut Pcg32) -> Vec<Vec<u32>> {
        let mut neighbours = vec![Vec::new(); 1 << scale];
        for _ in 0..self.edge_factor << scale {
            let (mut from, mut to) = (0u32, 0u32);
            for _ in 0..scale {
                let quarter = random.next_u32() as f64 / 2f64.powi(32);
                let (down, right) = match quarter {
                    ..0.57 => (0, 0),
                    ..0.76 => (0, 1),
                    ..0.95 => (1, 0),
                    _ => (1, 1),
                };
                (from, to) = (from << 1 | down, to << 1 | right);
            }
            neighbours[from as usize].push(to);
            neighbours[to as usize].push(from);
        }
        neighbours
    }

    /// Returns the share of all edges that each level of a search processes. The search begins at a vertex that has
    /// edges.
    pub fn levels(&self) -> Vec<f64> {
        let mut random = Pcg32::seed_from_u64(self.seed);
        let neighbours = self.graph(self.scale.min(COUNTED), &mut random);
        let ends: usize = neighbours.iter().map(Vec::len).sum();
        let mut seen = vec![false; neighbours.len()];
        let root = loop {
            let vertex = random.next_u32() as usize % neighbours.len();
            if !neighbours[vertex].is_empty() {
                break vertex;
            }
        };
        let (mut frontier, mut levels) = (vec![root as u32], Vec::new());
        seen[root] = true;
        while !frontier.is_empty() {
            let looked: usize = frontier.iter().map(|&vertex| neighbours[vertex as usize].len()).sum();
            levels.push(looked as f64 / ends as f64);
            let mut next = Vec::new();
            for vertex in frontier {
                for &other in &neighbours[vertex as usize] {
                    if !std::mem::replace(&mut seen[other as usize], true) {
                        next.push(other);
                    }
                }
            }
            frontier = next;
        }
        levels
    }
}

impl Generates for Graph500 {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        within(path, "ranks", self.ranks.into(), 1, 1 << 16)?;
        within(path, "scale", self.scale.into(), 4, 40)?;
        within(path, "edge_factor", self.edge_factor, 1, 256)?;
        within(path, "searches", self.searches.into(), 1, 1 << 16)?;
        let levels = self.levels();
        not_too_many(path, 4 * u64::from(self.searches) * levels.len() as u64)?;
        let per_edge = ns(&format!("{path}.time_per_edge"), Some(self.time_per_edge))?;
        let (ranks, vertices) = (u64::from(self.ranks), 1u64 << self.scale);
        let map = (vertices / 8).div_ceil(ranks);
        let ends = 2.0 * (self.edge_factor * vertices) as f64;
        let mut calls = Calls::default();
        for _ in 0..self.searches {
            for share in &levels {
                let looked = ends * share / ranks as f64;
                calls.blocking(Op::compute((looked * per_edge as f64).round() as u64));
                calls.collective(Op::collective(Operation::AllGather, 0, map, 0));
                let block = (looked / ranks as f64).round() as u64 * EDGE;
                calls.collective(Op::collective(Operation::AllToAll, 0, block, 0));
                calls.collective(Op::collective(Operation::AllReduce, 0, 8, 0));
            }
        }
        let program = Program { ranks: vec![RankProgram::new(calls.finish()); self.ranks as usize] };
        let mut arithmetic = vec![
            Line::new("vertices", vertices as f64, "", "2^scale"),
            Line::new(
                "bit map",
                (vertices / 8) as f64,
                "B",
                "1 bit per vertex; each rank gathers the whole map in every level",
            ),
            Line::new("levels", levels.len() as f64, "", format!("of a search at scale {}", self.scale.min(COUNTED))),
        ];
        for (level, share) in levels.iter().enumerate() {
            arithmetic.push(Line::new(format!("edges of level {level}"), *share, "", "share of all edge ends"));
        }
        Ok(Made { program, arithmetic })
    }

    fn examples() -> Vec<Self> {
        let time_per_edge = Time::Femtoseconds(10_000_000);
        vec![Self { ranks: 16, scale: 12, edge_factor: sixteen(), searches: 2, time_per_edge, seed: 1 }]
    }
}
