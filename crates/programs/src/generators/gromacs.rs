//! Molecular dynamics modelled on GROMACS: staged exchanges between particle ranks, and separate mesh ranks. Synthetic.
//!
//! # Source
//! S. Pall et al., "Tackling exascale software challenges in molecular dynamics simulations with GROMACS" (2015). Sizes are
//! taken from a run of GROMACS 2022.5 on 24 particle ranks and 8 mesh ranks. In this run, messages between particle ranks
//! had 4 to 16 KiB. In each step, mesh ranks did two all-to-alls of 11,368 bytes per peer.
//!
//! # Parameters
//! `particle_ranks`, `mesh_ranks`, `steps`, `energy_every`: number of steps from one sum of the energies of all ranks to the
//! next \[counts\]. `halo`: size of an exchange between particle ranks \[bytes\]. `mesh_block`: bytes per peer in a
//! transpose \[bytes\]. `particles`, `mesh`: computation times of a step \[time\].
//!
//! # Guarantees
//! At the start of a step, a particle rank sends positions to its mesh rank. Particle ranks exchange positions in three
//! dimensions, one dimension after the other, in both directions. Then the particle ranks compute, and exchange forces through
//! the dimensions in the reverse order. At the end of the step, a particle rank gets mesh forces from its mesh rank. Particle
//! ranks have the lowest rank numbers.
//!
//! # Not modelled
//! Neighbour search. A new division of the domain among ranks. Constraints.
//!
//! # Validation
//! `programs/tests/programs/generated.rs` compares the messages of a step with counts by hand.

use super::collective::ns;
use super::grid::{coordinates, factors, rank_at};
use super::{Generates, Line, Made, not_too_many, within};
use crate::amounts::Bytes;
use crate::form::{Calls, Comm, Op, Operation, Program, RankProgram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_units::{Refusal, Time};

/// Molecular dynamics with particle ranks and separate mesh ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gromacs {
    pub particle_ranks: u32,
    pub mesh_ranks: u32,
    pub steps: u32,
    /// Number of steps between two sums of energies.
    #[serde(default = "hundred")]
    pub energy_every: u32,
    /// Size of an exchange between particle ranks.
    #[serde(default = "halo")]
    pub halo: Bytes,
    /// Size of the data per peer in a transpose.
    #[serde(default = "mesh_block")]
    pub mesh_block: Bytes,
    /// Computation time of a particle rank in a step.
    pub particles: Time,
    /// Computation time of a mesh rank in a step.
    pub mesh: Time,
}

fn hundred() -> u32 {
    100
}

fn halo() -> Bytes {
    Bytes(8192)
}

fn mesh_block() -> Bytes {
    Bytes(11_368)
}

/// Tags of messages between particle and mesh ranks. Messages between particle ranks have tags from 32.
const TO_MESH: u32 = 16;
const FROM_MESH: u32 = 17;

impl Gromacs {
    fn mesh_rank_of(&self, particle: u32) -> u32 {
        let share = u64::from(particle) * u64::from(self.mesh_ranks) / u64::from(self.particle_ranks);
        self.particle_ranks + share as u32
    }

    /// Size of the positions of a particle rank [bytes]. The estimate assumes that the six messages of a halo exchange
    /// together have about as many particles as the rank itself.
    fn positions(&self) -> u64 {
        6 * self.halo.0
    }

    fn shift(&self, rank: u32, is_back: bool, calls: &mut Calls) {
        let sides = factors::<3>(self.particle_ranks);
        let at = coordinates(rank, sides).map(i64::from);
        let mut dimensions = [0, 1, 2];
        if is_back {
            dimensions.reverse();
        }
        for dimension in dimensions.into_iter().filter(|&dimension| sides[dimension] > 1) {
            for by in [1, -1] {
                let peer = |by: i64| {
                    let mut there = at;
                    there[dimension] += by;
                    rank_at(there, sides)
                };
                let tag = 4 * dimension as u32 + 2 * u32::from(is_back) + u32::from(by > 0) + 32;
                calls.exchange(
                    Op::send(peer(by), self.halo.0, Some(tag)),
                    Op::receive(Some(peer(-by)), self.halo.0, Some(tag)),
                );
            }
        }
    }

    fn particle_rank(&self, rank: u32, compute: u64) -> Calls {
        let (mesh, mut calls) = (self.mesh_rank_of(rank), Calls::default());
        for step in 0..self.steps {
            let sent = calls.start(Op::send(mesh, self.positions(), Some(TO_MESH)));
            self.shift(rank, false, &mut calls);
            calls.blocking(Op::compute(compute));
            self.shift(rank, true, &mut calls);
            calls.wait(sent);
            calls.blocking(Op::receive(Some(mesh), self.positions(), Some(FROM_MESH)));
            self.energy(step, &mut calls);
        }
        calls
    }

    fn mesh_rank(&self, rank: u32, compute: u64) -> Calls {
        let own = (0..self.particle_ranks).filter(|&particle| self.mesh_rank_of(particle) == rank);
        let (own, mut calls) = (own.collect::<Vec<u32>>(), Calls::default());
        for step in 0..self.steps {
            let requests: Vec<_> = own
                .iter()
                .map(|&particle| calls.start(Op::receive(Some(particle), self.positions(), Some(TO_MESH))))
                .collect();
            calls.wait_all(requests);
            for _ in 0..2 {
                calls.blocking(Op::compute(compute / 2));
                calls.collective(Op::collective(Operation::AllToAll, 0, self.mesh_block.0, 0).within(1));
            }
            let requests: Vec<_> = own
                .iter()
                .map(|&particle| calls.start(Op::send(particle, self.positions(), Some(FROM_MESH))))
                .collect();
            calls.wait_all(requests);
            self.energy(step, &mut calls);
        }
        calls
    }

    fn energy(&self, step: u32, calls: &mut Calls) {
        if self.energy_every > 0 && step.is_multiple_of(self.energy_every) {
            calls.collective(Op::collective(Operation::AllReduce, 0, 1024, 0));
        }
    }
}

impl Generates for Gromacs {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        within(path, "particle_ranks", self.particle_ranks.into(), 1, 1 << 18)?;
        within(path, "mesh_ranks", self.mesh_ranks.into(), 1, self.particle_ranks.into())?;
        within(path, "steps", self.steps.into(), 1, 1 << 20)?;
        within(path, "halo", self.halo.0, 1, 1 << 40)?;
        not_too_many(path, u64::from(self.particle_ranks + self.mesh_ranks) * u64::from(self.steps) * 32)?;
        let particles = ns(&format!("{path}.particles"), Some(self.particles))?;
        let mesh = ns(&format!("{path}.mesh"), Some(self.mesh))?;
        let all = self.particle_ranks + self.mesh_ranks;
        let members: Arc<[u32]> = (self.particle_ranks..all).collect();
        let rank = |rank: u32| match rank.checked_sub(self.particle_ranks) {
            None => RankProgram::new(self.particle_rank(rank, particles).finish()),
            Some(me) => {
                let comms = vec![Comm { number: 1, members: Arc::clone(&members), me }];
                RankProgram { ops: Arc::new(self.mesh_rank(rank, mesh).finish()), comms }
            }
        };
        let dimensions = factors::<3>(self.particle_ranks).into_iter().filter(|&side| side > 1).count();
        let arithmetic = vec![
            Line::new(
                "exchanges of a step",
                4.0 * dimensions as f64,
                "",
                "2 directions x dimensions, each for positions and forces",
            ),
            Line::new("positions to the mesh", self.positions() as f64, "B", "6 halos per particle rank"),
            Line::new("transposes of a step", 2.0, "", "all-to-alls of mesh ranks"),
        ];
        Ok(Made { program: Program { ranks: (0..all).map(rank).collect() }, arithmetic })
    }

    fn examples() -> Vec<Self> {
        let [particles, mesh] = [Time::Femtoseconds(2_000_000_000_000), Time::Femtoseconds(1_500_000_000_000)];
        let of = |particle_ranks, mesh_ranks| Self {
            particle_ranks,
            mesh_ranks,
            steps: 3,
            energy_every: 2,
            halo: halo(),
            mesh_block: mesh_block(),
            particles,
            mesh,
        };
        vec![of(24, 8), of(1, 1), of(7, 7), of(45, 15)]
    }
}
