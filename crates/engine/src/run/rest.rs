//! Runs a network to rest: until no packet is left in it. All buffers and credits must then be in the same state as at the start.

use super::outcome::Outcome;
use crate::network::simulation::Simulation;
use crate::network::spec::Spec;
use weft_units::{Cycles, Refusal};

impl Simulation {
    /// Advances until no packet is left, but for at most `limit` cycles. The sources must have stopped. Returns the number of packets that
    /// are left. If no packet is left, the function also waits for the last credits.
    ///
    /// # Panics
    /// Panics if no packet is left but the network is not in the same state as at the start ([`Simulation::assert_empty`]).
    pub fn empty_within(&mut self, limit: Cycles) -> usize {
        let end = self.now() + limit;
        while self.packets_under_way() > 0 && self.now() < end {
            self.advance(self.now() + STRIDE);
        }
        let left = self.packets_under_way();
        if left == 0 {
            // The last credits can still be in flight. In addition, a packet is no longer counted once it is granted, although the link to
            // its terminal may then still have to carry a whole buffer of flits.
            let (link, rate) = (&self.net.links[0], self.net.common.rates[0]);
            let last = (u64::from(link.capacity) * u64::from(rate.cycles())).div_ceil(u64::from(rate.flits()));
            self.advance(self.now() + STRIDE + if last > STRIDE { last } else { 0 });
            self.assert_empty();
        }
        left
    }

    /// Stops the sources in cycle `stop`, and measures until no packet is left in the network. Refuses a network that is not empty within
    /// `limit` cycles. `spec`: the spec of the simulation. The window of the spec must begin in cycle 0 and be longer than the whole run.
    pub fn run_to_rest(mut self, spec: &Spec, stop: Cycles, limit: Cycles) -> Result<Outcome, Refusal> {
        self.advance(stop);
        self.stop_sources();
        let left = self.empty_within(limit);
        if left > 0 {
            let what = format!("{left} packets are still in the network {limit} cycles after the sources stopped");
            return Err(Refusal::new("routing", what, "look for packets that wait for each other, or travel forever"));
        }
        let mut spec = spec.clone();
        spec.phases.window = self.now();
        Ok(self.run(&spec, &()))
    }
}

/// Number of cycles between two checks for packets in flight.
const STRIDE: Cycles = 200;
