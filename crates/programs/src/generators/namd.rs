//! Molecular dynamics modelled on NAMD: exchanges with neighbours in space, and transposes of a mesh. Synthetic.
//!
//! # Source
//! J. Phillips et al., "Scalable molecular dynamics with NAMD" (2005): patches with 26 neighbours, particle-mesh Ewald. Sizes
//! follow from geometry. Positions and forces have 24 bytes per atom, and the mesh has a point of 8 bytes per cubic angstrom.
//!
//! # Parameters
//! `ranks`, `atoms`, `steps`, `mesh_every`: number of steps between two uses of the mesh \[counts\]. `density` \[atoms
//! per cubic angstrom\] (default 0.1, water), `cutoff` \[angstrom\] (default 12). `time_per_atom`: computation time per
//! atom and step \[time\].
//!
//! # Guarantees
//! In a step, a rank sends the positions of its atoms within the cutoff to up to 26 neighbours. Half of the computation of a step
//! overlaps with these messages. Then the neighbours send forces back, and an all-reduce of 80 bytes follows. A step that uses
//! the mesh has four transposes before the forces are sent: in rows of ranks, in columns, in columns again, and in rows. The
//! computation on the mesh between the second and third transpose takes no time.
//!
//! # Not modelled
//! The order of execution in Charm++, in which arriving messages decide what runs next. Migration of atoms. Load balancing.
//!
//! # Validation
//! `programs/tests/programs/generated.rs` compares the bytes of a step with values computed by hand.

use super::collective::ns;
use super::grid::{coordinates, factors, rank_at, rows_and_columns};
use super::{Generates, Line, Made, not_too_many, within};
use crate::form::{Calls, Op, Operation, Program, RankProgram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_units::{Refusal, Time};

/// Molecular dynamics in which each rank has 26 neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Namd {
    pub ranks: u32,
    pub atoms: u64,
    pub steps: u32,
    /// Number of steps between two uses of the mesh. With 0 the mesh is not used.
    #[serde(default = "four")]
    pub mesh_every: u32,
    /// Number of atoms per cubic angstrom.
    #[serde(default = "water")]
    pub density: f64,
    /// Radius within which atoms interact [angstrom].
    #[serde(default = "twelve")]
    pub cutoff: f64,
    /// Computation time per atom and step.
    pub time_per_atom: Time,
}

fn four() -> u32 {
    4
}

fn water() -> f64 {
    0.1
}

fn twelve() -> f64 {
    12.0
}

/// Size of a position or a force [bytes]: three numbers of 8 bytes.
const VECTOR: f64 = 24.0;

impl Namd {
    /// Bytes that a rank sends to its neighbour in a direction. The message has the atoms within the cutoff distance of the face,
    /// edge or corner in this direction.
    fn halo(&self, direction: [i64; 3]) -> u64 {
        let side = (self.atoms as f64 / f64::from(self.ranks) / self.density).cbrt();
        let depth = self.cutoff.min(side);
        let volume: f64 = direction.into_iter().map(|by| if by == 0 { side } else { depth }).product();
        (volume * self.density * VECTOR).round() as u64
    }

    /// Bytes that a rank sends to each rank of its row or column in a transpose of the mesh.
    fn transposed(&self, peers: u32) -> u64 {
        let points = self.atoms as f64 / self.density;
        (8.0 * points / f64::from(self.ranks) / f64::from(peers)).round() as u64
    }

    fn directions() -> Vec<[i64; 3]> {
        let all = (0..27).map(|k| [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1]);
        all.filter(|direction| *direction != [0, 0, 0]).collect()
    }

    /// Adds the messages with all neighbours: first the receives, then the sends. `phase` distinguishes messages with
    /// positions from messages with forces.
    fn exchange(&self, rank: u32, phase: u32, calls: &mut Calls) -> Vec<crate::form::Request> {
        let sides = factors::<3>(self.ranks);
        let at = coordinates(rank, sides).map(i64::from);
        let moved = |direction: [i64; 3], by: i64| rank_at([0, 1, 2].map(|k| at[k] + by * direction[k]), sides);
        let mut requests = Vec::new();
        for (is_send, by) in [(false, -1), (true, 1)] {
            for (number, direction) in Self::directions().into_iter().enumerate() {
                let (peer, tag) = (moved(direction, by), phase * 32 + number as u32);
                let bytes = self.halo(direction);
                if peer != rank {
                    let op = if is_send {
                        Op::send(peer, bytes, Some(tag))
                    } else {
                        Op::receive(Some(peer), bytes, Some(tag))
                    };
                    requests.push(calls.start(op));
                }
            }
        }
        requests
    }

    fn rank(&self, rank: u32, per_step: u64) -> RankProgram {
        let sides = factors::<2>(self.ranks);
        let mut calls = Calls::default();
        for step in 0..self.steps {
            let positions = self.exchange(rank, 0, &mut calls);
            // half of the pairs of atoms lie inside the rank, so their computation needs no data of neighbours
            calls.blocking(Op::compute(per_step / 2));
            calls.wait_all(positions);
            calls.blocking(Op::compute(per_step - per_step / 2));
            if self.mesh_every > 0 && step % self.mesh_every == 0 {
                for (comm, peers) in [(1, sides[0]), (2, sides[1]), (2, sides[1]), (1, sides[0])] {
                    let op = Op::collective(Operation::AllToAll, 0, self.transposed(peers), 0);
                    calls.collective(op.within(comm));
                }
            }
            let forces = self.exchange(rank, 1, &mut calls);
            calls.wait_all(forces);
            calls.collective(Op::collective(Operation::AllReduce, 0, 80, 0));
        }
        RankProgram { ops: Arc::new(calls.finish()), comms: rows_and_columns(rank, sides) }
    }
}

impl Generates for Namd {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        within(path, "ranks", self.ranks.into(), 1, 1 << 20)?;
        within(path, "atoms", self.atoms, self.ranks.into(), 1 << 40)?;
        within(path, "steps", self.steps.into(), 1, 1 << 20)?;
        if !(self.density > 0.0 && self.density < 1e3 && self.cutoff > 0.0 && self.cutoff < 1e4) {
            let what = format!(
                "density {} and cutoff {} are not both above 0 and below 1000 and 10000",
                self.density, self.cutoff
            );
            return Err(Refusal::new(path, what, "write density: 0.1 and cutoff: 12"));
        }
        not_too_many(path, u64::from(self.ranks) * u64::from(self.steps) * 112)?;
        let per_atom = ns(&format!("{path}.time_per_atom"), Some(self.time_per_atom))?;
        let per_step = per_atom.saturating_mul(self.atoms / u64::from(self.ranks));
        let program = Program { ranks: (0..self.ranks).map(|rank| self.rank(rank, per_step)).collect() };
        let sent: u64 = Self::directions().into_iter().map(|direction| self.halo(direction)).sum();
        let arithmetic = vec![
            Line::new("atoms of a rank", (self.atoms / u64::from(self.ranks)) as f64, "", "atoms / ranks"),
            Line::new("face", self.halo([1, 0, 0]) as f64, "B", "24 B per atom within the cutoff of a face"),
            Line::new(
                "neighbours",
                sent as f64,
                "B",
                "sent per rank and exchange, to 26 neighbours; two exchanges per step",
            ),
            Line::new("computation of a step", per_step as f64 * 1e-9, "s", "atoms of a rank x time per atom"),
        ];
        Ok(Made { program, arithmetic })
    }

    fn examples() -> Vec<Self> {
        let time_per_atom = Time::Femtoseconds(100_000_000);
        vec![Self {
            ranks: 27,
            atoms: 92_224,
            steps: 2,
            mesh_every: 2,
            density: water(),
            cutoff: twelve(),
            time_per_atom,
        }]
    }
}
