//! Divides the network into other blocks if the threads of a run share the work unevenly.
//!
//! Before a run, only the ports of the blocks can be counted, not the traffic. The traffic can use only a part of the ports. For example, a
//! job may run on some of the nodes, or a hot spot may attract the packets. Therefore the first cycles of a run on several threads are a
//! trial. If one thread has many more flit-hops than the mean, the run starts again from cycle 0. The new blocks share the flit-hops
//! evenly, by the numbers counted for each router in the trial. The decision does not depend on the clock of the machine. Results are the
//! same for any division into blocks.

use crate::network::assemble::{self, Division};
use crate::network::scaling::{Shares, units};
use crate::network::simulation::Simulation;
use crate::network::spec::Spec;
use weft_api::state::ChannelEnd;
use weft_kernel::face::AnyBlock;

/// Shortest trial [cycles].
pub(crate) const TRIAL: u64 = 1000;

/// After this cycle a run is not started again.
const LATE: u64 = 10 * TRIAL;

/// Mean number of flit-hops per router that a trial needs for a decision.
const FEWEST_HOPS: u64 = 4;

/// An idle port costs as much time in this number of cycles as one flit-hop.
const IDLE_CYCLES: u64 = 1024;

/// A restart is worth its cost if the busiest thread has at least this share more flit-hops than it would have with the new blocks.
const WORTH: f64 = 0.1;

/// The decision about the blocks after a trial.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Trial {
    /// Too few cycles or too few flit-hops have passed for a decision.
    TooEarly,
    /// The blocks share the work evenly enough; the run continues.
    Even,
    /// The run starts again with these blocks, because the threads then share the flit-hops more evenly.
    Uneven(Division),
}

impl Simulation {
    /// The result of the trial, from the flit-hops counted so far.
    pub(crate) fn trial(&self, spec: &Spec) -> Trial {
        if self.threads() == 1 || self.now > LATE {
            return Trial::Even;
        }
        let fewest = FEWEST_HOPS * u64::from(spec.graph.routers());
        if self.now < TRIAL || self.flit_hops() < fewest {
            return Trial::TooEarly;
        }
        self.evener_division(spec).map_or(Trial::Even, Trial::Uneven)
    }

    /// A more even division of the flit-hops counted so far among blocks. `None` if the search finds no division whose gain is worth the
    /// cost of a restart ([`WORTH`]).
    pub(crate) fn evener_division(&self, spec: &Spec) -> Option<Division> {
        let by_router = self.hops_by_router(spec);
        let work: Vec<u64> = by_router
            .iter()
            .zip(0..)
            .map(|(hops, router)| {
                let ports = u64::from(spec.graph.port_base(router + 1) - spec.graph.port_base(router));
                hops * IDLE_CYCLES + ports * self.now
            })
            .collect();
        let other = assemble::partition_by(spec, self.blocks.len(), self.net.needs.reads_group, &work);
        let imbalance = |division: &Division| {
            let of_block = |b: usize| division.routers(b).iter().map(|&router| by_router[router as usize]).sum();
            let hops: Vec<u64> = (0..division.blocks()).map(of_block).collect();
            Shares::of(&hops, self.threads(), units(&spec.graph)).imbalance()
        };
        let (now, then) = (imbalance(&self.division)?, imbalance(&other)?);
        (now + 1.0 > (then + 1.0) * (1.0 + WORTH)).then_some(other)
    }

    /// Number of flits that each router has sent so far, by router.
    fn hops_by_router(&self, spec: &Spec) -> Vec<u64> {
        let mut hops = vec![0; spec.graph.routers() as usize];
        for block in &self.blocks {
            add_hops(&**block, &mut hops);
        }
        hops
    }
}

fn add_hops(block: &dyn AnyBlock, hops: &mut [u64]) {
    let ids: Vec<usize> = block.places().map(|place| place.id as usize).collect();
    for out in block.outs().filter(|out| out.kind != ChannelEnd::Injection) {
        hops[ids[out.router as usize]] += u64::from(out.flits);
    }
}
